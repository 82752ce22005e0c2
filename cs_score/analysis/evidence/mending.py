"""Predictions with faults mended, scored again: one unit at a time, put together by the mode's formula."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from cs_score.analysis.evidence.modes.examiner import Examiner, Fault, Row
from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.evidence.result import Result
from cs_score.measures.formulas import divide

AnyExaminer: TypeAlias = Examiner[Any]


class Unit(Record):
    """A prediction as it is or as it would be, its faults, and the rows of the units of gold that it serves."""

    positions: tuple[int, ...]
    prediction: object
    rows: tuple[Row, ...]
    faults: tuple[Fault, ...]


Progress: TypeAlias = Callable[[Sequence[Unit]], Iterable[Unit]]
"""Hands back the units it is given one after the other, and may show how far the work has come."""


def units_of(examiner: AnyExaminer) -> list[Unit]:
    """The units of the result that is examined, as they were predicted."""
    return [unit_at(examiner, positions) for positions in examiner.together()]


def unit_at(examiner: AnyExaminer, positions: tuple[int, ...]) -> Unit:
    """The unit at these positions, as it was predicted."""
    rows = examiner.result.table.rows
    return _unit(examiner, positions, examiner.written(positions[0]), tuple(rows[each] for each in positions))


def _unit(examiner: AnyExaminer, positions: tuple[int, ...], prediction: object, rows: tuple[Row, ...]) -> Unit:
    return Unit(positions, prediction, rows, tuple(examiner.faults(positions[0], prediction)))


def rows_without(examiner: AnyExaminer, unit: Unit, faults: Iterable[Fault]) -> tuple[Row, ...]:
    """The rows of a unit without these faults. Raises InputError where the scorer would refuse that prediction."""
    prediction = examiner.mended(unit.positions[0], unit.prediction, faults)
    return tuple(examiner.row(position, prediction) for position in unit.positions)


def rows_without_each(
    examiner: AnyExaminer, unit: Unit, faults: Sequence[Fault]
) -> Iterator[tuple[Row, ...] | InputError]:
    """The rows of a unit without each of these faults alone; the error where the scorer would refuse that."""
    if len(unit.positions) == 1:
        for row in examiner.rows_without_each(unit.positions[0], unit.prediction, unit.rows[0], faults):
            yield row if isinstance(row, InputError) else (row,)
        return
    for fault in faults:
        try:
            yield rows_without(examiner, unit, [fault])
        except InputError as error:
            yield error


class Mending(Record):
    """Faults of a unit that can be mended together, and the unit's rows without them."""

    faults: tuple[Fault, ...]
    rows: tuple[Row, ...]

    def of(self, examiner: AnyExaminer, unit: Unit) -> Unit:
        """The unit as it is once they are mended, with the faults that are left or have come to light."""
        if not self.faults:
            return unit
        prediction = examiner.mended(unit.positions[0], unit.prediction, self.faults)
        return _unit(examiner, unit.positions, prediction, self.rows)


def mending_of_kind(examiner: AnyExaminer, unit: Unit, kind: str) -> Mending:
    """All faults of one kind; those without which the scorer would refuse the prediction are left out."""
    faults = tuple(fault for fault in unit.faults if fault.kind == kind)
    if not faults:
        return Mending((), unit.rows)
    try:
        return Mending(faults, rows_without(examiner, unit, faults))
    except InputError:  # the scorer refuses a part for what is wrong in it, whatever the others are
        each_alone = zip(faults, rows_without_each(examiner, unit, faults))
        left = tuple(fault for fault, rows in each_alone if not isinstance(rows, InputError))
        return Mending(left, rows_without(examiner, unit, left)) if left else Mending((), unit.rows)


def scores_with(result: Result, sums: Row, before: Sequence[Row], after: Sequence[Row]) -> tuple[float, ...]:
    """The measures if rows that went into `sums`, the totals of the result's table, were others."""
    for old, new in zip(before, after):
        sums = tuple([total + (then - now) for total, now, then in zip(sums, old, new)])
    return result.mode.formula(sums, divide)
