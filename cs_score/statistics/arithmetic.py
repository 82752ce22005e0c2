"""The arithmetic that all measures share: a division that knows 0/0, and what it means that two scores are equal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cs_score.base.records import Record
from cs_score.measures.formulas import Ratio

Floats: TypeAlias = NDArray[np.float64]

Formula: TypeAlias = Callable[[Floats], Floats]
"""Sums to scores: (N, k) -> (N, m). Row i of the result depends on row i of the argument alone, and is finite."""

ColumnMeasures: TypeAlias = Callable[[Any, Callable[[Any, Any], Any]], Sequence[Any] | Mapping[str, Any]]
"""Measures written once for numbers and for arrays: (sums by column, divide) -> the scores, one per measure."""

TIE_TOLERANCE: Final = 1e-12
"""Two scores count as equal when they differ by at most this much, relative to the larger.

Sums are exact (`exact_sums`), so a score carries only the rounding of its formula, a few units in the sixteenth
digit: 1/3 by way of 2PR/(P+R) may miss 1/3 by way of 2c/(g+s). Scores that really differ differ by far more than the
tolerance, unless the denominators reach a million; those would be called tied, which is the cautious side of a test.
"""


def divide(numerator: ArrayLike, denominator: ArrayLike) -> Floats:
    """`numerator / denominator` element by element, and 0 where the denominator is 0; raises no numpy warning."""
    above, below = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    quotient = np.zeros(above.shape, dtype=np.float64)
    np.divide(above, below, out=quotient, where=below != 0)
    return quotient


class ColumnFormula(Record):
    """What `column_formula` makes."""

    measures: ColumnMeasures

    def __call__(self, sums: Floats) -> Floats:
        return _columns(self._named(sums, divide), len(sums))

    def ratios(self, sums: Floats) -> Ratio:
        """What is divided and what divides, each (N, m). Raises TypeError where measures reckon with quotients."""
        found = [part if isinstance(part, Ratio) else Ratio(part, 1.0) for part in self._named(sums, Ratio)]
        numerators = _columns([ratio.numerator for ratio in found], len(sums))
        return Ratio(numerators, _columns([ratio.denominator for ratio in found], len(sums)))

    def _named(self, sums: Floats, divide_by: Callable[[Any, Any], Any]) -> list[Any]:
        given = self.measures(sums.T, divide_by)
        return list(given.values() if isinstance(given, Mapping) else given)


def column_formula(measures: ColumnMeasures) -> ColumnFormula:
    """The vectorised formula of `measures`, which get the columns of the sums as a sequence of arrays, and `divide`.

    The columns of the result are the scores in the order in which `measures` gives them. The formula can be sent to
    another process if `measures` can.
    """
    return ColumnFormula(measures)


def ratios_of(formula: Formula, sums: Floats) -> Ratio:
    """The ratios (N, m) that a formula divides. One that does not tell them is defined everywhere: x is its score."""
    if isinstance(formula, ColumnFormula):
        return formula.ratios(sums)
    scores = formula(sums)
    return Ratio(scores, np.ones_like(scores))


def _columns(columns: Sequence[Any], rows: int) -> Floats:
    result = np.empty((rows, len(columns)), dtype=np.float64)
    for place, column in enumerate(columns):
        result[:, place] = column
    return result


def noise(*scores: ArrayLike) -> Floats:
    """The largest difference that rounding may put between scores of this size: the tolerance times the largest."""
    largest = np.abs(np.asarray(scores[0], dtype=np.float64))
    for other in scores[1:]:
        largest = np.maximum(largest, np.abs(np.asarray(other, dtype=np.float64)))
    return np.asarray(TIE_TOLERANCE * largest)
