"""Predictions with faults mended, scored again: one unit at a time, put together by the mode's formula."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from cs_score.analysis.evidence.examiner import Examiner, Fault, Row
from cs_score.evidence.result import Result
from cs_score.foundation.errors import InputError
from cs_score.measures.formulas import divide

AnyExaminer: TypeAlias = Examiner[Any]


@dataclass(frozen=True, slots=True)
class Unit:
    """A prediction as it is or as it would be, its faults, and the rows of the units of gold that it serves."""

    positions: tuple[int, ...]
    prediction: object
    rows: tuple[Row, ...]
    faults: tuple[Fault, ...]


def units_of(examiner: AnyExaminer) -> list[Unit]:
    """The units of the result that is examined, as they were predicted."""
    rows = examiner.result.table.rows
    return [
        Unit(
            positions,
            prediction := examiner.written(positions[0]),
            tuple(rows[position] for position in positions),
            tuple(examiner.faults(positions[0], prediction)),
        )
        for positions in examiner.together()
    ]


def without(examiner: AnyExaminer, unit: Unit, faults: Iterable[Fault]) -> tuple[Row, ...]:
    """The rows of a unit without these faults. Raises InputError where the scorer would refuse that prediction."""
    prediction = examiner.mended(unit.positions[0], unit.prediction, faults)
    return tuple(examiner.row(position, prediction) for position in unit.positions)


def without_kind(examiner: AnyExaminer, unit: Unit, kind: str) -> Unit:
    """The unit without the faults of one kind; those without which the scorer would refuse it stay."""
    faults = [fault for fault in unit.faults if fault.kind == kind]
    if not faults:
        return unit
    try:
        rows = without(examiner, unit, faults)
    except InputError:
        faults = _mendable(examiner, unit, faults)
        rows = without(examiner, unit, faults)
    first = unit.positions[0]
    prediction = examiner.mended(first, unit.prediction, faults)
    return Unit(unit.positions, prediction, rows, tuple(examiner.faults(first, prediction)))


def _mendable(examiner: AnyExaminer, unit: Unit, faults: Iterable[Fault]) -> list[Fault]:
    """The faults that can be mended together, one taken up after the other."""
    mendable: list[Fault] = []
    for fault in faults:
        try:
            without(examiner, unit, [*mendable, fault])
        except InputError:
            continue
        mendable.append(fault)
    return mendable


def scores_with(result: Result, sums: Row, before: Sequence[Row], after: Sequence[Row]) -> tuple[float, ...]:
    """The measures if rows that went into `sums`, the totals of the result's table, were others."""
    changed = tuple(
        total + (sum(new) - sum(old))
        for total, old, new in zip(sums, zip(*before, strict=True), zip(*after, strict=True))
    )
    return result.mode.formula(changed, divide)
