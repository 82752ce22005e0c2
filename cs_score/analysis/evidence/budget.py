"""The error budget: the score without all faults of a kind, and without those of the kinds before it as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from cs_score.analysis.evidence.examiner import Row
from cs_score.analysis.evidence.mending import AnyExaminer, Mending, Unit, mending_of_kind
from cs_score.evidence.result import scores_of


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """A kind of mistakes: how many there are, the score if they and no others were mended, and what that gains.

    `cumulated` is the score if they and those of all kinds before were mended, one kind after the other: what mending
    a kind uncovers is mended with its own kind.
    """

    kind: str
    count: int
    gain: float
    score: float
    cumulated: float

    def as_json(self) -> dict[str, object]:
        """The line as a JSON object."""
        return asdict(self)


def error_budget(examiner: AnyExaminer, units: Sequence[Unit]) -> list[BudgetRow]:
    """The budget in the order of the mode's kinds. A mistake that cannot be mended (the scorer would refuse it) stays.

    The score as it is plus the `gain` is the `score`; the last line's `cumulated` is that of the fully mended run.
    """
    lines = []
    rows = list(examiner.result.table.rows)
    cumulated = rows.copy()
    mended = list(units)
    now = _score(examiner, rows)
    for kind in examiner.kinds:
        alone = rows.copy()
        for number, unit in enumerate(units):
            mending = mending_of_kind(examiner, unit, kind)
            _enter(alone, unit, mending)
            if mended[number] is not unit:
                mending = mending_of_kind(examiner, mended[number], kind)
            _enter(cumulated, unit, mending)
            mended[number] = mending.of(examiner, mended[number])
        score = _score(examiner, alone)
        count = sum(fault.kind == kind for unit in units for fault in unit.faults)
        lines.append(BudgetRow(kind, count, score - now, score, _score(examiner, cumulated)))
    return lines


def _enter(rows: list[Row], unit: Unit, mending: Mending) -> None:
    for position, row in zip(unit.positions, mending.rows):
        rows[position] = row


def _score(examiner: AnyExaminer, rows: Sequence[Row]) -> float:
    """The measure that is asked about, of these rows."""
    return scores_of(examiner.result.mode, replace(examiner.result.table, rows=rows))[examiner.measure]
