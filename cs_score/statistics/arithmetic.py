"""The arithmetic that all measures share: a division that knows 0/0, equality within rounding, sums without rounding.

A matrix product adds in an order that changes with the library, the processor and the shape of the matrices. A column
whose sums could be rounded is therefore written in two digits to a large base, each an integer so small that all sums
of it stay below 2^53: matrix products of the digits are exact, and one rounding turns their sums back into a number
(Ozaki, Ogita, Oishi and Rump, Numerical Algorithms 59, 2012). Two digits hold 2 (52 - log2 units) bits below the
largest value of a column, 84 bits for a thousand units. What lies below is rounded off, value by value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.runtime import Late
from cs_score.measures.registry import Ratio, SumsFormula, ratios
from cs_score.statistics.units import Drawn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray
else:
    np = Late("numpy")

Floats: TypeAlias = "NDArray[np.float64]"

TIE_TOLERANCE: Final = 1e-12
"""Two scores count as equal when they differ by at most this much, relative to the larger. Sums are exact, so a score
carries only the rounding of its formula. Scores that really differ do so by far more, unless the denominators reach a
million; those would be called tied, which is the cautious side of a test.
"""

_EXACT: Final = 2**53
_SUM_BITS: Final = 52
_LARGEST_EXPONENT: Final = 1023


def divide(numerator: ArrayLike, denominator: ArrayLike) -> Floats:
    """`numerator / denominator` element by element, and 0 where the denominator is 0; raises no numpy warning."""
    above, below = np.broadcast_arrays(np.asarray(numerator, np.float64), np.asarray(denominator, np.float64))
    quotient = np.zeros(above.shape, dtype=np.float64)
    np.divide(above, below, out=quotient, where=below != 0)
    return quotient


def scores_of(formula: SumsFormula, sums: Floats) -> Floats:
    """The scores (..., m) of sums (..., k). Raises ValueError where one is not finite."""
    scores = _stacked(formula(list(np.moveaxis(sums, -1, 0)), divide), sums)
    if not np.isfinite(scores).all():
        raise ValueError("a formula gave a score that is not a finite number")
    return scores


def parts_of(formula: SumsFormula, sums: Floats) -> Ratio:
    """What is divided and what divides in the scores of sums (..., k): (..., m) each."""
    found = ratios(formula, list(np.moveaxis(sums, -1, 0)))
    above, below = [each.numerator for each in found], [each.denominator for each in found]
    return Ratio(_stacked(above, sums), _stacked(below, sums))


def _stacked(columns: Sequence[Any], sums: Floats) -> Floats:
    result = np.empty((*sums.shape[:-1], len(columns)), dtype=np.float64)
    for place, column in enumerate(columns):
        result[..., place] = column
    return result


def noise(*scores: ArrayLike) -> Floats:
    """The largest difference that rounding may put between scores of this size: the tolerance times the largest."""
    largest = np.abs(np.asarray(scores[0], dtype=np.float64))
    for other in scores[1:]:
        largest = np.maximum(largest, np.abs(np.asarray(other, dtype=np.float64)))
    return np.asarray(TIE_TOLERANCE * largest)


def contributions(first: Ratio, second: Ratio) -> Floats | None:
    """The contribution of each unit to `second - first`, scores whose numerators and denominators are given by unit.

    With q = x / y for either score and D for second minus first, D(x) is mean(q) D(y) + mean(y) D(q). So unit u
    contributes (D(x_u) - mean(q) D(y_u)) / mean(y), and all together D(q). None where a score is undefined.
    """
    x, y = (
        np.asarray(parts, dtype=np.float64)
        for parts in ((first.numerator, second.numerator), (first.denominator, second.denominator))
    )
    total_x, total_y = ([math.fsum(side) for side in parts.tolist()] for parts in (x, y))  # the order cannot show
    if not all(total_y):
        return None
    mean_score = (total_x[0] / total_y[0] + total_x[1] / total_y[1]) / 2
    found = (x[1] - x[0]) - mean_score * (y[1] - y[0])
    return np.asarray(found / (math.fsum(total_y) / 2))


class ExactStatistics(Record):
    """The statistics of one or more systems on the same units, ready to be summed exactly.

    `digits` (units, systems, statistics + split columns) holds integers; the second digits of the `split` columns, each
    with its power of two, follow the first digits of all columns. Weighted sums of digits, with non-negative integer
    weights that sum to at most `units`, are exact; `values` turns them into sums of statistics. `strata` are the
    numbers of consecutive units that are drawn for themselves; none where all are drawn together.
    """

    digits: Floats
    columns: int
    split: NDArray[np.intp]
    digit_bits: int
    exponents: NDArray[np.intc]
    strata: tuple[int, ...] = ()

    @property
    def units(self) -> int:
        return int(self.digits.shape[0])

    def total(self) -> Floats:
        """The digit sums over all units: (systems, digits)."""
        return np.asarray(self.digits.sum(axis=0))

    def weighted(self, weights: Floats) -> Floats:
        """The digit sums for each row of `weights` (N, units): (N, systems, digits)."""
        flat = self.digits.reshape(self.units, -1)
        return np.asarray(weights @ flat).reshape(len(weights), *self.digits.shape[1:])

    def values(self, digit_sums: Floats) -> Floats:
        """Sums of statistics (..., statistics) from digit sums (..., digits)."""
        if not len(self.split):
            return digit_sums
        sums = digit_sums[..., : self.columns].copy()
        rest = np.ldexp(digit_sums[..., self.columns :], -self.digit_bits)
        sums[..., self.split] = np.ldexp(sums[..., self.split] + rest, self.exponents)
        return sums


def exact_statistics(matrices: Sequence[ArrayLike], drawn: Drawn | None = None) -> ExactStatistics:
    """The matrices (units, statistics) of one or more systems, split as far as needed.

    With `drawn` the units of a cluster are added up to one: every measure is made of sums. The systems share the bases
    of the digits, so that rows can be exchanged between them. Raises InputError where there is no unit, where a value
    is not finite or where sums would overflow; ValueError where the shapes differ.
    """
    arrays = [np.asarray(matrix, dtype=np.float64) for matrix in matrices]
    if not all(map(len, arrays)):  # an empty list of rows has no columns either
        raise InputError("there is no unit to resample")
    units, columns = arrays[0].shape if arrays[0].ndim == 2 else (0, 0)
    if not columns:
        raise ValueError("statistics come as a matrix, units by statistics")
    if any(array.shape != (units, columns) for array in arrays):
        raise ValueError("the matrices of the systems differ in shape")
    stacked = np.stack(arrays, axis=1)
    if drawn is not None:
        units = sum(drawn.strata)
        members, stacked = stacked, np.zeros((units, *stacked.shape[1:]))
        np.add.at(stacked, list(drawn.clusters), members)
    largest = np.abs(stacked).max(axis=(0, 1))
    if not np.isfinite(largest).all():
        raise InputError("a statistic is not a finite number")
    is_whole = (np.rint(stacked) == stacked).all(axis=(0, 1)) & (largest <= _EXACT // units)
    split = np.flatnonzero(~is_whole)
    size_bits = units.bit_length()
    digit_bits = _SUM_BITS - size_bits
    _, powers = np.frexp(largest[split])
    if len(powers) and int(powers.max()) + size_bits > _LARGEST_EXPONENT:
        raise InputError("a statistic is too large for its sums to be represented")
    exponents = (powers - digit_bits).astype(np.intc)
    if len(split):
        scaled = np.ldexp(stacked[..., split], -exponents)
        stacked[..., split] = np.rint(scaled)
        second = np.rint(np.ldexp(scaled - stacked[..., split], digit_bits))
        stacked = np.concatenate([stacked, second], axis=-1)
    stacked.setflags(write=False)  # a formula sees these rows
    strata = () if drawn is None or len(drawn.strata) < 2 else drawn.strata
    return ExactStatistics(stacked, columns, split, digit_bits, exponents, strata)
