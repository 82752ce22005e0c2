"""Per-unit statistics and the arithmetic that turns their sums into scores.

A unit is what a resample draws: a claim, an instance, a question. Every measure of every mode is a function of column
sums over units, so one table serves the score, its intervals and its paired tests.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Protocol, Self, TypeAlias, TypeVar

from cs_score.statistics.ratios import f1


class Arithmetic(Protocol):
    """What formulas ask of a number."""

    def __add__(self, other: Self, /) -> Self: ...
    def __mul__(self, other: Self, /) -> Self: ...
    def __rmul__(self, other: int, /) -> Self: ...


Number = TypeVar("Number", bound=Arithmetic)
"""A sum over units: one float for the score itself, a numpy array with one element per resample otherwise."""

Divide: TypeAlias = Callable[[Number, Number], Number]
"""Division in which a zero denominator gives 0, element by element."""


class Formula(Protocol):
    """From the sums of a table's columns, in column order, to the measures in official order."""

    def __call__(self, sums: Sequence[Number], divide: Divide[Number]) -> tuple[Number, ...]: ...


@dataclass(frozen=True, slots=True, repr=False)
class UnitTable:
    """One row of statistics per unit.

    `ids` names the units (an id that occurs twice in gold occurs twice here), `columns` the statistics; `rows` has
    one tuple per unit, in the order of `ids`.
    """

    ids: tuple[str, ...]
    columns: tuple[str, ...]
    rows: Sequence[tuple[float, ...]]

    def __repr__(self) -> str:
        return f"UnitTable({len(self.ids)} units, columns={', '.join(self.columns)})"

    def sums(self) -> tuple[float, ...]:
        """The sum of each column, added from the first row to the last (integers stay integers).

        `sum` is avoided because it compensates rounding errors from Python 3.12 on: scores would depend on the
        interpreter, and differ in the last bit from those of evaluators that add one by one.
        """
        return tuple(
            reduce(operator.add, map(operator.itemgetter(column), self.rows), 0) for column in range(len(self.columns))
        )


def divide(numerator: float, denominator: float) -> float:
    """`numerator / denominator`, 0.0 where the denominator is 0."""
    return numerator / denominator if denominator else 0.0


def precision_recall_f1(
    correct: Number, retrieved: Number, relevant: Number, divide: Divide[Number]
) -> tuple[Number, Number, Number]:
    """Precision, recall and their harmonic mean."""
    precision, recall = divide(correct, retrieved), divide(correct, relevant)
    return precision, recall, f1(precision, recall, divide)
