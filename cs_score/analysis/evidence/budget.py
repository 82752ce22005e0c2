"""The error budget: the score without all faults of a kind, and without those of the kinds before it as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from cs_score.analysis.evidence.mending import AnyExaminer, Mending, Unit, mending_of_kind
from cs_score.analysis.evidence.modes.examiner import Row
from cs_score.base.records import Record, asdict, replace
from cs_score.evidence.result import scores_of


class BudgetRow(Record):
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


def error_budget(examiner: AnyExaminer, units: Iterable[Unit]) -> list[BudgetRow]:
    """The budget in the order of the mode's kinds. A mistake that cannot be mended (the scorer would refuse it) stays.

    The score as it is plus the `gain` is the `score`; the last row's `cumulated` is that of the fully mended run.
    """
    as_it_is = examiner.result.table.rows
    alone = {kind: list(as_it_is) for kind in examiner.kinds}
    cumulated = {kind: list(as_it_is) for kind in examiner.kinds}
    counts: Counter[str] = Counter()
    for unit in units:
        counts.update(fault.kind for fault in unit.faults)
        mended = unit
        for kind in examiner.kinds:
            mending = mending_of_kind(examiner, unit, kind)
            _enter(alone[kind], unit, mending)
            if mended is not unit:
                mending = mending_of_kind(examiner, mended, kind)
            _enter(cumulated[kind], unit, mending)
            mended = mending.of(examiner, mended)
    now = examiner.result.scores[examiner.measure]
    scores = {kind: _score(examiner, alone[kind]) for kind in examiner.kinds}
    return [
        BudgetRow(kind, counts[kind], score - now, score, _score(examiner, cumulated[kind]))
        for kind, score in scores.items()
    ]


def _enter(rows: list[Row], unit: Unit, mending: Mending) -> None:
    for position, row in zip(unit.positions, mending.rows):
        rows[position] = row


def _score(examiner: AnyExaminer, rows: Sequence[Row]) -> float:
    """The measure that is asked about, of these rows."""
    return scores_of(examiner.result.mode, replace(examiner.result.table, rows=rows))[examiner.measure]
