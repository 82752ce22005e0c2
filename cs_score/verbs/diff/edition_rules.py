"""Find out which rule of an edition changes which rows, for one run that was scored under two editions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.scored import AnalysedRun
from cs_score.base.errors import InputError
from cs_score.base.records import Record, asdict, replace
from cs_score.coldstart.judging import Counts
from cs_score.coldstart.options import Edition, Options

POLICY: Final = "policy"
"""The rule that means both sides of an edition's own policy: a category that leaves one side comes to the other."""

_NO_RULES: Final = ("name", "evaluation", "wrong", "ignore")
"""The fields of an edition that are no rules of their own."""


class RowDifference(Record):
    """A row of a table (`SF`, `SF-AP`) at its level: F1 or average precision on both sides, None where it lacks."""

    table: str
    row: str
    level: str
    a: float | None
    b: float | None


class EditionRule(Record, kw_only=True):
    """A rule as A and B have it, and the rows of A that change by it alone; `reason`: why nothing could be scored so.

    Without a name: the rows that differ between A and B, and that no rule changes alone.
    """

    rule: str | None
    a: Any = None
    b: Any = None
    reason: str | UnsetType = UNSET
    rows: Sequence[RowDifference] = ()


class _MixedOptions(Options):
    """Options with an edition that is mixed from two published ones: `rules` replaces the edition named by `follow`."""

    rules: Edition | None = None

    @property
    def edition(self) -> Edition:
        """The mixed edition if there is one, otherwise the one that `follow` names."""
        return super().edition if self.rules is None else self.rules


def rules_of(a: AnalysedRun, b: AnalysedRun) -> list[EditionRule]:
    """Return the rules in which the editions of A and B differ, with the rows of A that each rule changes alone.

    The list ends with the rows that differ between A and B, but that no rule changes alone. It is empty if A cannot be
    scored again, or if both follow the same edition.
    """
    if a.again is None or a.run.gold.options.edition == b.run.gold.options.edition:
        return []
    # The rules that change something each by itself
    rules = _edition_rules(a, b)
    if a.policy.texts() != b.policy.texts():
        rules.append(_rule_alone(a, POLICY, a.policy.texts(), b.policy.texts(), {"policy": b.policy}))
    # The other rows that differ
    explained_rows: set[tuple[str, str, str]] = set()
    for rule in rules:
        explained_rows.update([(row.table, row.row, row.level) for row in rule.rows])
    unexplained_rows = []
    for row in _row_differences(a, b):
        if (row.table, row.row, row.level) not in explained_rows:
            unexplained_rows.append(row)
    rules.append(EditionRule(rule=None, rows=unexplained_rows))
    return [rule for rule in rules if rule.rows or rule.reason]


def _edition_rules(a: AnalysedRun, b: AnalysedRun) -> list[EditionRule]:
    """Return the rules in which the editions of A and B differ, each with the rows of A that it changes alone."""
    edition_a = a.run.gold.options.edition
    edition_b = b.run.gold.options.edition
    rules = []
    for name in Edition.__struct_fields__:
        value_a = getattr(edition_a, name)
        value_b = getattr(edition_b, name)
        if name not in _NO_RULES and value_a != value_b:
            mixed_edition = replace(edition_a, **{name: value_b})
            rules.append(_rule_alone(a, name, value_a, value_b, {"rules": mixed_edition}))
    return rules


def _rule_alone(
    a: AnalysedRun, name: str, value_a: object, value_b: object, option_changes: dict[str, Any]
) -> EditionRule:
    """Return a rule with the rows of A that change if A is scored again with `option_changes` as the only change.

    `value_a` and `value_b` are the rule as A and B follow it. If A cannot be scored so, the rule has the reason.
    """
    assert a.again is not None
    rule = EditionRule(rule=name, a=value_a, b=value_b)
    option_values = asdict(a.run.gold.options)
    option_values.update(option_changes)
    try:
        scored_again = a.again(_MixedOptions(**option_values))
    except InputError as refusal:
        return replace(rule, reason=str(refusal))
    return replace(rule, rows=_row_differences(a, scored_again))


class _RowScore(NamedTuple):
    """The score of a row: its F1 with the counts behind it, or its average precision without counts."""

    score: float
    counts: Counts | None


_RowId: TypeAlias = tuple[str, str, str]
"""Table, name and level of a row."""


def _row_differences(a: AnalysedRun, b: AnalysedRun) -> list[RowDifference]:
    """Return the rows of the SF tables whose score or counts differ between A and B, or that one of them lacks."""
    rows_a = _score_by_row(a)
    rows_b = _score_by_row(b)
    differences = []
    for row_id in dict.fromkeys([*rows_a, *rows_b]):
        row_a = rows_a.get(row_id)
        row_b = rows_b.get(row_id)
        if row_a != row_b:
            table, name, level = row_id
            differences.append(
                RowDifference(
                    table=table,
                    row=name,
                    level=level,
                    a=None if row_a is None else row_a.score,
                    b=None if row_b is None else row_b.score,
                )
            )
    return differences


def _score_by_row(scored: AnalysedRun) -> dict[_RowId, _RowScore]:
    """Return the scores of the rows of the SF table and of its average precision, by table, row and level."""
    score_by_row: dict[_RowId, _RowScore] = {}
    for row in scored.result.tables.sf.rows:
        score_by_row["SF", row.name, row.level] = _RowScore(row.f1, row.counts)
    if scored.result.average_precision is not None:
        for row in scored.result.average_precision.sf.rows:
            score_by_row["SF-AP", row.name, row.level] = _RowScore(row.score, None)
    return score_by_row
