"""The sections of an analysis as tables, which text and TSV files show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from cs_score.analysis.coldstart.analysis import Analysis
from cs_score.analysis.coldstart.budget import BudgetRow
from cs_score.analysis.coldstart.cost_list import Mistake
from cs_score.foundation.record import dataclass

Value: TypeAlias = str | int | float | None


class Gain(float):
    """A difference of scores, which is shown with its sign."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the name of its file, its title, its headings, which of them are about numbers, and its rows."""

    name: str
    title: str
    headings: tuple[str, ...]
    numbers: tuple[bool, ...]
    rows: Sequence[tuple[Value, ...]]


HEADINGS: Final[dict[str, dict[str, bool]]] = {
    "budget": {"kind": False, "count": True, "gain": True, "score": True, "cumulated": True, "reason": False},
    "mistakes": {
        "gain": True, "kind": False, "category": False, "file": False, "line": True, "query": False, "slot": False,
        "hop": True, "value": False, "node": False, "class": False, "removed": True, "added": True, "reason": False,
    },
}  # fmt: skip
"""The headings of each table, by its name, and whether they are about numbers."""


def tables_of(analysis: Analysis) -> list[Table]:
    """Every section as a table."""
    return [
        _table("budget", "Error budget", map(_budget_row, analysis.budget)),
        _table("mistakes", "Costliest mistakes", map(_mistake, analysis.mistakes)),
    ]


def _table(name: str, title: str, rows: Iterable[tuple[Value, ...]]) -> Table:
    return Table(name, title, tuple(HEADINGS[name]), tuple(HEADINGS[name].values()), list(rows))


def _mistake(mistake: Mistake) -> tuple[Value, ...]:
    return (
        _gain(mistake.gain), mistake.kind, mistake.category, mistake.file, mistake.line, mistake.query, mistake.slot,
        mistake.hop, mistake.value, mistake.node, mistake.class_name, len(mistake.change.removal.places),
        len(mistake.change.added), mistake.effect.reason,
    )  # fmt: skip


def _budget_row(row: BudgetRow) -> tuple[Value, ...]:
    return row.kind, row.count, _gain(row.gain), row.score, row.cumulated, row.reason


def _gain(value: float | None) -> Gain | None:
    return None if value is None else Gain(value)
