"""The arithmetic of measures over units: division by 0, equality within rounding, and sums without rounding.

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
from cs_score.statistics.units import ClusterDesign

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray
else:
    np = Late("numpy")

Floats: TypeAlias = "NDArray[np.float64]"

# ---- Scores of sums


def divide(numerator: ArrayLike, denominator: ArrayLike) -> Floats:
    """Return `numerator / denominator` element by element, and 0 where the denominator is 0, without a numpy warning.

    `divide([1, 2], [4, 0])` gives `[0.25, 0.0]`.
    """
    numerators, denominators = np.broadcast_arrays(
        np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    )
    quotients = np.zeros(numerators.shape, dtype=np.float64)
    np.divide(numerators, denominators, out=quotients, where=denominators != 0)
    return quotients


def scores_of(formula: SumsFormula, sums: Floats) -> Floats:
    """Return the scores (..., m) that a formula of m measures makes of the sums (..., k) of k statistics.

    A score of 0/0 is 0. Raises ValueError where a score is not finite.
    """
    scores = _stack(formula(list(np.moveaxis(sums, -1, 0)), divide), sums)
    if not np.isfinite(scores).all():
        raise ValueError("a formula gave a score that is not a finite number")
    return scores


def ratios_of(formula: SumsFormula, sums: Floats) -> Ratio:
    """Return the numerators and the denominators, (..., m) each, of the scores of sums (..., k)."""
    ratios_by_measure = ratios(formula, list(np.moveaxis(sums, -1, 0)))
    numerators = [ratio.numerator for ratio in ratios_by_measure]
    denominators = [ratio.denominator for ratio in ratios_by_measure]
    return Ratio(_stack(numerators, sums), _stack(denominators, sums))


def _stack(columns: Sequence[Any], sums: Floats) -> Floats:
    """Return m numbers or arrays of the shape (...) as one array (..., m), given the sums (..., k) they come from."""
    stacked = np.empty((*sums.shape[:-1], len(columns)), dtype=np.float64)
    for place, column in enumerate(columns):
        stacked[..., place] = column
    return stacked


# ---- Rounding

TIE_TOLERANCE: Final = 1e-12
"""Two scores count as equal when they differ by at most this much, relative to the larger. Sums are exact, so a score
carries only the rounding of its formula. Scores that really differ do so by far more, unless the denominators reach a
million; those would be called tied, which is the cautious side of a test.
"""


def noise(*scores: ArrayLike) -> Floats:
    """Return the largest difference that rounding may put between scores of this size, element by element.

    It is `TIE_TOLERANCE` times the largest of the scores: `noise([0.5], [-2.0])` gives `[2e-12]`.
    """
    largest = np.abs(np.asarray(scores[0], dtype=np.float64))
    for other_scores in scores[1:]:
        largest = np.maximum(largest, np.abs(np.asarray(other_scores, dtype=np.float64)))
    return np.asarray(TIE_TOLERANCE * largest)


# ---- Contributions of units


def contributions(first: Ratio, second: Ratio) -> Floats | None:
    """Return what each unit contributes to the difference `second - first` of two scores, (units,).

    The ratios have the numerator x and the denominator y of each unit; a score is q = sum(x) / sum(y). With D for the
    second less the first, D(x) = mean(q) D(y) + mean(y) D(q), so that unit u contributes

        (D(x_u) - mean(q) D(y_u)) / mean(sum(y))

    and all units together D(q). None where a score is 0/0. The units 0/1, 1/1 against 1/1, 1/1 give `[0.5, 0.0]`.
    """
    x = np.asarray((first.numerator, second.numerator), dtype=np.float64)
    y = np.asarray((first.denominator, second.denominator), dtype=np.float64)
    # `fsum` does not depend on the order of the units.
    first_x, second_x = [math.fsum(numerators) for numerators in x.tolist()]
    first_y, second_y = [math.fsum(denominators) for denominators in y.tolist()]
    if not first_y or not second_y:
        return None
    mean_score = (first_x / first_y + second_x / second_y) / 2
    mean_y = math.fsum((first_y, second_y)) / 2
    differences = (x[1] - x[0]) - mean_score * (y[1] - y[0])
    return np.asarray(differences / mean_y)


# ---- Exact sums

_LARGEST_EXACT: Final = 2**53
"""The largest integer up to which all integers are floating-point numbers."""

_SUM_BITS: Final = 52
"""Bits of a sum of digits, of which all are exact."""

_LARGEST_EXPONENT: Final = 1023
"""The exponent of the largest floating-point number."""


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
        """The number of units."""
        return int(self.digits.shape[0])

    def total(self) -> Floats:
        """Return the digit sums over all units: (systems, digits)."""
        return np.asarray(self.digits.sum(axis=0))

    def weighted(self, weights: Floats) -> Floats:
        """Return the digit sums for each row of `weights` (N, units): (N, systems, digits)."""
        flat_digits = self.digits.reshape(self.units, -1)
        return np.asarray(weights @ flat_digits).reshape(len(weights), *self.digits.shape[1:])

    def values(self, digit_sums: Floats) -> Floats:
        """Convert digit sums (..., digits) to sums of statistics (..., statistics)."""
        if not len(self.split):
            return digit_sums
        sums = digit_sums[..., : self.columns].copy()
        second_digits = np.ldexp(digit_sums[..., self.columns :], -self.digit_bits)
        sums[..., self.split] = np.ldexp(sums[..., self.split] + second_digits, self.exponents)
        return sums


def exact_statistics(matrices: Sequence[ArrayLike], design: ClusterDesign | None = None) -> ExactStatistics:
    """Return the statistics of one or more systems, split into digits as far as exact sums need it.

    `matrices` has the statistics (units, k) of each system. With a `design` the units of a cluster are added up to one
    unit: every measure is made of sums. The systems share the bases of the digits, so that rows can be exchanged
    between them.

    Raises InputError without units, for a value that is not finite and for sums that would overflow; ValueError for
    matrices of different shapes.
    """
    stacked = _stack_systems(matrices)
    strata: tuple[int, ...] = ()
    if design is not None:
        members = stacked
        stacked = np.zeros((sum(design.strata), *members.shape[1:]))
        np.add.at(stacked, list(design.clusters), members)
        if len(design.strata) > 1:
            strata = design.strata
    units, _, columns = stacked.shape
    largest = np.abs(stacked).max(axis=(0, 1))
    if not np.isfinite(largest).all():
        raise InputError("a statistic is not a finite number")

    is_whole = (np.rint(stacked) == stacked).all(axis=(0, 1)) & (largest <= _LARGEST_EXACT // units)
    split = np.flatnonzero(~is_whole)
    unit_bits = units.bit_length()
    digit_bits = _SUM_BITS - unit_bits
    _, powers = np.frexp(largest[split])
    if len(powers) and int(powers.max()) + unit_bits > _LARGEST_EXPONENT:
        raise InputError("a statistic is too large for its sums to be represented")
    exponents = (powers - digit_bits).astype(np.intc)
    if len(split):
        scaled = np.ldexp(stacked[..., split], -exponents)
        stacked[..., split] = np.rint(scaled)
        second_digits = np.rint(np.ldexp(scaled - stacked[..., split], digit_bits))
        stacked = np.concatenate([stacked, second_digits], axis=-1)
    stacked.setflags(write=False)  # a formula sees these rows
    return ExactStatistics(stacked, columns, split, digit_bits, exponents, strata)


def _stack_systems(matrices: Sequence[ArrayLike]) -> Floats:
    """Return the matrices (units, k) of systems as one array (units, systems, k).

    Raises InputError without units, ValueError for matrices of different shapes.
    """
    arrays = [np.asarray(matrix, dtype=np.float64) for matrix in matrices]
    if any(len(array) == 0 for array in arrays):  # an empty list of rows has no columns either
        raise InputError("there is no unit to resample")
    if arrays[0].ndim != 2 or arrays[0].shape[1] == 0:
        raise ValueError("statistics come as a matrix, units by statistics")
    if any(array.shape != arrays[0].shape for array in arrays):
        raise ValueError("the matrices of the systems differ in shape")
    return np.stack(arrays, axis=1)
