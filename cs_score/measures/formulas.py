"""The arithmetic of scores: written once, for the numbers of a run and for arrays with one element per resample.

Every measure but a ranking's own is a ratio of two sums over units, x / y. Formulas divide by a function that they are
given; given `Ratio` instead, they give x and y, from which can be seen whether the quotient is defined and what each
unit contributes to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, Self, TypeAlias, TypeVar

from cs_score.base.records import Record


class Arithmetic(Protocol):
    """What formulas ask of a number."""

    def __add__(self, other: Self, /) -> Self: ...
    def __mul__(self, other: Self, /) -> Self: ...
    def __rmul__(self, other: int, /) -> Self: ...


Number = TypeVar("Number", bound=Arithmetic)
"""A sum over units: one float for the score itself, a numpy array with one element per resample otherwise."""

Divide: TypeAlias = Callable[[Number, Number], Number]
"""Division in which a zero denominator gives 0, element by element."""


class Ratio(Record):
    """A quotient that is not yet divided; both parts are numbers, or arrays of one shape."""

    numerator: Any
    denominator: Any


def divide(numerator: float, denominator: float) -> float:
    """`numerator / denominator`, 0.0 where the denominator is 0."""
    return numerator / denominator if denominator else 0.0


def f1(precision: Any, recall: Any, divide: Callable[[Any, Any], Any] = divide) -> Any:
    """The harmonic mean of a precision and a recall that `divide` has made of the same number of right answers.

    The product is doubled first, as the official evaluators do. As a ratio, of c/r and c/g, it is 2c / (r + g).
    """
    if isinstance(precision, Ratio):
        return Ratio(precision.numerator + recall.numerator, precision.denominator + recall.denominator)
    return divide(2 * precision * recall, precision + recall)


def precision_recall_f1(
    correct: Number, retrieved: Number, relevant: Number, divide: Divide[Number]
) -> tuple[Number, Number, Number]:
    """Precision, recall and their harmonic mean."""
    precision, recall = divide(correct, retrieved), divide(correct, relevant)
    return precision, recall, f1(precision, recall, divide)


def ratio(divide: Callable[[Any, Any], Any], numerator: Any, denominator: Any) -> Any:
    """A measure that is one quotient of sums."""
    return divide(numerator, denominator)


def f1_of_counts(divide: Callable[[Any, Any], Any], right: Any, answered: Any, ground_truth: Any) -> Any:
    """F1 from sums of counts."""
    return f1(divide(right, answered), divide(right, ground_truth), divide)


def average_precision(values: Iterable[float], ground_truth: int | None) -> float:
    """Graded average precision of values in rank order (rule average-precision).

    Each value above 0 adds the sum of the values so far, divided by its rank; the total is divided by `ground_truth`,
    and is 0 where that is 0 or None.
    """
    gained = total = 0.0
    for rank, value in enumerate(values, 1):
        if value > 0:
            gained += value
            total += gained / rank
    return divide(total, ground_truth or 0)
