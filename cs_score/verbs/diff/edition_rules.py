"""Find out which rule of an edition changes which rows, for one run that was scored under two editions, A and B. An
edition is a published version of the scorer; a rule is one thing that editions do differently. A row is a row of the
score tables, such as the query `CS14_0001` at hop 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.scored import AnalysedRun
from cs_score.base.errors import InputError
from cs_score.base.records import Record, asdict, replace
from cs_score.coldstart.judging import Counts
from cs_score.coldstart.options import Edition, Options

POLICY: Final = "policy"
"""The rule that means both sides of an edition's own policy: a category that leaves one side comes to the other."""

_FIELDS_THAT_ARE_NO_RULES: Final = ("name", "evaluation", "wrong", "ignore")
"""The fields of an edition that are no rules: its names, and its policy, which has a rule of its own (`POLICY`)."""


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
    """Options with an edition mixed from two published editions. It replaces the edition named by `follow`."""

    mixed_edition: Edition | None = None

    @property
    def edition(self) -> Edition:
        """The mixed edition if there is one, otherwise the one that `follow` names."""
        return super().edition if self.mixed_edition is None else self.mixed_edition


def rules_of(a: AnalysedRun, b: AnalysedRun) -> list[EditionRule]:
    """Return the rules in which the editions of A and B differ, with the rows of A that each rule changes on its own.

    Rules that do not change any row are left out, unless A could not be scored with them; in this case, they give the
    reason. The last element of the list does not belong to a rule. It holds the rows that differ between A and B but
    are not changed by any single rule. The list is empty if A cannot be scored again, or if A and B follow the same
    edition.
    """
    if a.score_again is None or a.run.gold.options.edition == b.run.gold.options.edition:
        return []
    rules = _edition_rules(a, b) + _policy_rules(a, b)
    rules.append(EditionRule(rule=None, rows=_unexplained_rows(a, b, rules)))
    return [rule for rule in rules if rule.rows or rule.reason]


def _policy_rules(a: AnalysedRun, b: AnalysedRun) -> list[EditionRule]:
    """Return the rule `policy` with the rows of A that change under the policy of B; no rule if both have the same."""
    policy_a = a.policy.texts()
    policy_b = b.policy.texts()
    if policy_a == policy_b:
        return []
    return [_effect_of_one_rule(a, POLICY, policy_a, policy_b, option_changes={"policy": b.policy})]


def _unexplained_rows(a: AnalysedRun, b: AnalysedRun, rules: Iterable[EditionRule]) -> list[RowDifference]:
    """Return the rows that differ between A and B, but that none of these rules changes alone."""
    explained_rows: set[_RowId] = set()
    for rule in rules:
        explained_rows.update([_id_of_row(row) for row in rule.rows])
    return [row for row in _row_differences(a, b) if _id_of_row(row) not in explained_rows]


def _edition_rules(a: AnalysedRun, b: AnalysedRun) -> list[EditionRule]:
    """Return the rules in which the editions of A and B differ, each with the rows of A that it changes on its own."""
    edition_a = a.run.gold.options.edition
    edition_b = b.run.gold.options.edition
    names = [name for name in Edition.__struct_fields__ if name not in _FIELDS_THAT_ARE_NO_RULES]
    rules = []
    for name in names:
        value_a = getattr(edition_a, name)
        value_b = getattr(edition_b, name)
        if value_a != value_b:
            mixed_edition = replace(edition_a, **{name: value_b})  # as A, but this rule as in B
            option_changes = {"mixed_edition": mixed_edition}  # a field of `_MixedOptions`
            rules.append(_effect_of_one_rule(a, name, value_a, value_b, option_changes))
    return rules


def _effect_of_one_rule(
    a: AnalysedRun, name: str, value_a: object, value_b: object, option_changes: dict[str, Any]
) -> EditionRule:
    """Score A again with one rule taken from B, and return the rule with the rows of A that change.

    `value_a` and `value_b` are the values of the rule in A and B. `option_changes` are the fields of `_MixedOptions`
    that switch the rule to its value in B. If A cannot be scored with these changes, the returned rule gives the
    reason.
    """
    assert a.score_again is not None
    rule = EditionRule(rule=name, a=value_a, b=value_b)
    values_by_option = {**asdict(a.run.gold.options), **option_changes}
    options = _MixedOptions(**values_by_option)
    try:
        scored_again = a.score_again(options)
    except InputError as refusal:
        return replace(rule, reason=str(refusal))
    return replace(rule, rows=_row_differences(a, scored_again))


class _RowScore(NamedTuple):
    """The score of a row: its F1 with the counts behind it, or its average precision without counts."""

    score: float
    counts: Counts | None


_RowId: TypeAlias = tuple[str, str, str]
"""Table, name and level of a row."""


def _id_of_row(row: RowDifference) -> _RowId:
    """Return the table, the name and the level of a row: `("SF", "CS17_ENG_0001", "0")`."""
    return row.table, row.row, row.level


def _row_differences(a: AnalysedRun, b: AnalysedRun) -> list[RowDifference]:
    """Return the rows of the SF tables whose score or counts differ between A and B, or that one of them lacks."""
    rows_a = _score_by_row(a)
    rows_b = _score_by_row(b)
    row_ids = dict.fromkeys([*rows_a, *rows_b])
    different_ids = [row_id for row_id in row_ids if rows_a.get(row_id) != rows_b.get(row_id)]
    return [_row_difference(row_id, rows_a.get(row_id), rows_b.get(row_id)) for row_id in different_ids]


def _row_difference(row_id: _RowId, score_a: _RowScore | None, score_b: _RowScore | None) -> RowDifference:
    """Return a row with its scores in A and B; the score of a run that lacks the row is None."""
    table, name, level = row_id
    return RowDifference(
        table=table,
        row=name,
        level=level,
        a=None if score_a is None else score_a.score,
        b=None if score_b is None else score_b.score,
    )


def _score_by_row(scored: AnalysedRun) -> dict[_RowId, _RowScore]:
    """Return the scores of the rows of the SF table and of its average precision, by table, row and level."""
    score_by_row: dict[_RowId, _RowScore] = {}
    for row in scored.result.tables.sf.rows:
        score_by_row["SF", row.name, row.level] = _RowScore(row.f1, row.counts)
    if scored.result.average_precision is not None:
        for row in scored.result.average_precision.sf.rows:
            score_by_row["SF-AP", row.name, row.level] = _RowScore(row.score, None)
    return score_by_row
