"""Which rule of an edition makes a row of one run different: each rule that two editions differ in, changed alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.coldstart.editions import Edition
from cs_score.coldstart.options import Options

POLICY = "policy"
"""The rule that stands for both sides of an edition's own policy: what leaves one side comes to the other."""

_Key: TypeAlias = tuple[str, str, str]


class RowDifference(Record):
    """A row of a table (`SF`, `SF-AP`) at its level: F1 or average precision on both sides, None where it lacks."""

    table: str
    row: str
    level: str
    a: float | None
    b: float | None


class Rule(Record, kw_only=True):
    """A rule as A and B have it, and the rows of A that change by it alone; `reason`: why nothing could be scored so.

    Without a name: the rows that differ between A and B, and that no rule changes alone.
    """

    rule: str | None
    a: Any = None
    b: Any = None
    reason: str | UnsetType = UNSET
    rows: Sequence[RowDifference] = ()


class _Mixed(Options):
    """Options under an edition that nobody has published."""

    rules: Edition | None = None

    @property
    def edition(self) -> Edition:
        return super().edition if self.rules is None else self.rules


def rules_of(a: Scored, b: Scored) -> list[Rule]:
    """The rules that two editions differ in, scored one by one where `a` can be scored again; B follows the other."""
    one, other = a.run.gold.options, b.run.gold.options
    if a.again is None or one.edition == other.edition:
        return []
    names = [each for each in Edition.__struct_fields__ if each not in ("name", "scored", "wrong", "ignore")]
    values = {name: (getattr(one.edition, name), getattr(other.edition, name)) for name in names}
    values[POLICY] = a.policy.texts(), b.policy.texts()
    given = {name: getattr(one, name) for name in Options.__struct_fields__}
    before, found = _rows(a), []
    for name, (first, second) in values.items():
        if first == second:
            continue
        changes = {"policy": b.policy} if name == POLICY else {"rules": replace(one.edition, **{name: second})}
        try:
            rows = _differences(before, _rows(a.again(_Mixed(**{**given, **changes}))))
            found.append(Rule(rule=name, a=first, b=second, rows=rows))
        except InputError as stop:
            found.append(Rule(rule=name, a=first, b=second, reason=str(stop)))
    explained = {(row.table, row.row, row.level) for rule in found for row in rule.rows}
    left = [row for row in _differences(before, _rows(b)) if (row.table, row.row, row.level) not in explained]
    return [*(rule for rule in found if rule.rows or rule.reason), *([Rule(rule=None, rows=left)] if left else [])]


def _rows(scored: Scored) -> dict[_Key, tuple[Any, float]]:
    """The rows of the SF tables: what makes two of them different, and the score."""
    rows: dict[_Key, tuple[Any, float]] = {
        ("SF", row.name, row.level): (row.counts, row.f1) for row in scored.result.tables.sf.rows
    }
    if (ranked := scored.result.average_precision) is not None:
        rows.update((("SF-AP", row.name, row.level), (row.score, row.score)) for row in ranked.sf.rows)
    return rows


def _differences(before: dict[_Key, tuple[Any, float]], after: dict[_Key, tuple[Any, float]]) -> list[RowDifference]:
    nothing = None, None
    return [
        RowDifference(*key, before.get(key, nothing)[1], after.get(key, nothing)[1])
        for key in dict.fromkeys((*before, *after))
        if before.get(key) != after.get(key)
    ]
