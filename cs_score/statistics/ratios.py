"""A measure as what is divided and what divides it. Loads no numpy.

Every measure is a ratio of two sums over units, x / y. Formulas divide by a function that they are given; given `Ratio`
instead, they tell x and y, from which can be seen whether the quotient is defined and what each unit contributes to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Ratio:
    """A quotient that is not yet divided; both parts are numbers, or arrays of one shape."""

    numerator: Any
    denominator: Any


def f1(precision: Any, recall: Any, divide: Callable[[Any, Any], Any]) -> Any:
    """The harmonic mean of a precision and a recall that `divide` has made of the same number of right answers.

    The product is doubled first, as the official evaluators do. As a ratio, of c/r and c/g, it is 2c / (r + g).
    """
    if isinstance(precision, Ratio):
        return Ratio(precision.numerator + recall.numerator, precision.denominator + recall.denominator)
    return divide(2 * precision * recall, precision + recall)
