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

    A score of 0/0 is 0. Raises ValueError if a score is not finite.
    """
    sums_by_statistic = list(np.moveaxis(sums, -1, 0))
    scores = _stack(formula(sums_by_statistic, divide), sums)
    if not np.isfinite(scores).all():
        raise ValueError("a formula gave a score that is not a finite number")
    return scores


def ratios_of(formula: SumsFormula, sums: Floats) -> Ratio:
    """Return the numerators and the denominators, (..., m) each, of the m scores that a formula makes of k sums.

    `sums` (..., k) are the sums of the k statistics.
    """
    sums_by_statistic = list(np.moveaxis(sums, -1, 0))
    ratios_by_measure = ratios(formula, sums_by_statistic)
    numerators = [ratio.numerator for ratio in ratios_by_measure]
    denominators = [ratio.denominator for ratio in ratios_by_measure]
    return Ratio(_stack(numerators, sums), _stack(denominators, sums))


def _stack(columns: Sequence[Any], sums: Floats) -> Floats:
    """Return the m columns, each a number or an array of the shape (...), as one array (..., m).

    The shape is that of `sums` (..., k), which the columns were computed from.
    """
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


def possible_rounding(*scores: ArrayLike) -> Floats:
    """Return the largest difference that rounding may put between scores of this size, element by element.

    It is `TIE_TOLERANCE` times the largest of the scores: `possible_rounding([0.5], [-2.0])` gives `[2e-12]`.
    """
    largest = np.abs(np.asarray(scores[0], dtype=np.float64))
    for other_scores in scores[1:]:
        largest = np.maximum(largest, np.abs(np.asarray(other_scores, dtype=np.float64)))
    return np.asarray(TIE_TOLERANCE * largest)


# ---- Contributions of units


def contributions(first: Ratio, second: Ratio) -> Floats | None:
    """Return what each unit contributes to the difference `second - first` of two scores, (units,).

    The ratios have the numerator x and the denominator y of each unit; a score is q = sum(x) / sum(y). Let D be the
    second system's value minus the first's, and `mean` the mean over the two systems. Then unit u contributes

        (D(x_u) - mean(q) D(y_u)) / mean(sum(y))

    and the contributions of all units sum to D(q). Returns None if a score is 0/0. The units 0/1, 1/1 against 1/1, 1/1
    give `[0.5, 0.0]`.
    """
    x = np.asarray((first.numerator, second.numerator), dtype=np.float64)  # (2, units)
    y = np.asarray((first.denominator, second.denominator), dtype=np.float64)
    # `fsum` does not depend on the order of the units.
    first_x, second_x = [math.fsum(numerators) for numerators in x.tolist()]
    first_y, second_y = [math.fsum(denominators) for denominators in y.tolist()]
    if first_y == 0 or second_y == 0:
        return None
    first_score = first_x / first_y
    second_score = second_x / second_y
    mean_score = (first_score + second_score) / 2
    mean_y = math.fsum((first_y, second_y)) / 2
    difference_of_x = x[1] - x[0]
    difference_of_y = y[1] - y[0]
    return np.asarray((difference_of_x - mean_score * difference_of_y) / mean_y)


# ---- Exact sums

_LARGEST_EXACT: Final = 2**53
"""The largest integer up to which all integers are floating-point numbers."""

_SUM_BITS: Final = 52
"""Bits of a sum of digits, of which all are exact."""

_LARGEST_EXPONENT: Final = 1023
"""The exponent of the largest floating-point number."""


class ExactStatistics(Record):
    """The statistics of one or more systems on the same units, written in integers that can be summed exactly.

    `digits` (units, systems, digit columns) has one column of integers for each of the `statistic_count` statistics. A
    statistic that is not whole is written in two digits: its value is

        (first digit + second digit / 2^digit_bits) * 2^exponent

    `split_columns` are the positions of these statistics, `exponents` has the exponent of each. Their second digits
    follow after the columns of all statistics. Sums of digits with weights that are integers, at least 0, and sum to at
    most `units`, are exact; `from_digit_sums` turns them into sums of statistics. `strata` has the number of
    consecutive units of each stratum, whose units are drawn apart from the others; it is empty if all units are drawn
    together.
    """

    digits: Floats
    statistic_count: int
    split_columns: NDArray[np.intp]
    digit_bits: int
    exponents: NDArray[np.intc]
    strata: tuple[int, ...] = ()

    @property
    def units(self) -> int:
        """The number of units."""
        return int(self.digits.shape[0])

    def total_digit_sums(self) -> Floats:
        """Return the sums of the digits over all units: (systems, digit columns)."""
        return np.asarray(self.digits.sum(axis=0))

    def weighted_digit_sums(self, weights: Floats) -> Floats:
        """Return the sums of the digits, each unit times its weight: (N, systems, digit columns).

        `weights` (N, units) has a row of weights for each of N sums.
        """
        flat_digits = self.digits.reshape(self.units, -1)
        flat_sums = np.asarray(weights @ flat_digits)
        return flat_sums.reshape(len(weights), *self.digits.shape[1:])

    def from_digit_sums(self, digit_sums: Floats) -> Floats:
        """Return the sums of the statistics (..., statistics), made of the sums of their digits (..., digit columns).

        The only digit of a whole statistic is the statistic itself. The sum of a statistic of two digits is
        (first sum + second sum / 2^digit_bits) * 2^exponent, rounded once.
        """
        has_second_digits = len(self.split_columns) > 0
        if not has_second_digits:
            return digit_sums
        sums = digit_sums[..., : self.statistic_count].copy()
        first_digits = sums[..., self.split_columns]
        second_digits = digit_sums[..., self.statistic_count :]
        # `ldexp(number, bits)` is number * 2^bits, without rounding.
        mantissas = first_digits + np.ldexp(second_digits, -self.digit_bits)
        sums[..., self.split_columns] = np.ldexp(mantissas, self.exponents)
        return sums


def exact_statistics(matrices: Sequence[ArrayLike], design: ClusterDesign | None = None) -> ExactStatistics:
    """Return the statistics of one or more systems, written in two digits wherever one is not enough for exact sums.

    `matrices` has the statistics (units, k) of each system. With a `design` the rows of the units of each cluster are
    added up, and the cluster is the unit of the result. All systems have the same exponents, so that a resample can
    exchange rows between them.

    Raises InputError if there is no unit, a value is not finite or a sum would overflow; ValueError for matrices of
    different shapes.
    """
    statistics = _stack_systems(matrices)
    strata: tuple[int, ...] = ()
    if design is not None:
        statistics = _add_up_clusters(statistics, design)
        if len(design.strata) > 1:
            strata = design.strata
    units, _, statistic_count = statistics.shape
    largest = np.abs(statistics).max(axis=(0, 1))
    if not np.isfinite(largest).all():
        raise InputError("a statistic is not a finite number")

    # The columns whose sums could be rounded are split in two digits.
    has_integers = (np.rint(statistics) == statistics).all(axis=(0, 1))
    has_exact_sums = has_integers & (largest <= _LARGEST_EXACT // units)
    split_columns = np.flatnonzero(~has_exact_sums)
    unit_bits = units.bit_length()
    digit_bits = _SUM_BITS - unit_bits
    _, powers = np.frexp(largest[split_columns])  # each largest value is below 2^power
    if int(powers.max(initial=0)) + unit_bits > _LARGEST_EXPONENT:
        raise InputError("a statistic is too large for its sums to be represented")
    exponents = (powers - digit_bits).astype(np.intc)
    digits = statistics
    if len(split_columns):
        digits = _split_into_digits(statistics, split_columns, digit_bits, exponents)
    digits.setflags(write=False)  # a formula sees these rows
    return ExactStatistics(
        digits=digits,
        statistic_count=statistic_count,
        split_columns=split_columns,
        digit_bits=digit_bits,
        exponents=exponents,
        strata=strata,
    )


def _add_up_clusters(statistics: Floats, design: ClusterDesign) -> Floats:
    """Return the sums of the statistics (units, systems, k) over the units of each cluster: (clusters, systems, k)."""
    cluster_count = sum(design.strata)
    sums = np.zeros((cluster_count, *statistics.shape[1:]))
    np.add.at(sums, list(design.clusters), statistics)
    return sums


def _split_into_digits(
    statistics: Floats, split_columns: NDArray[np.intp], digit_bits: int, exponents: NDArray[np.intc]
) -> Floats:
    """Return the statistics (units, systems, k) as digits (units, systems, k + split columns), as ExactStatistics has.

    The first digit of a value of the `split_columns` is value / 2^exponent, rounded to an integer. The second one is
    the remainder, times 2^digit_bits and rounded to an integer.
    """
    scaled = np.ldexp(statistics[..., split_columns], -exponents)
    first_digits = np.rint(scaled)
    second_digits = np.rint(np.ldexp(scaled - first_digits, digit_bits))
    digits = statistics.copy()
    digits[..., split_columns] = first_digits
    return np.concatenate([digits, second_digits], axis=-1)


def _stack_systems(matrices: Sequence[ArrayLike]) -> Floats:
    """Return the matrices (units, k) of systems as one array (units, systems, k).

    Raises InputError if there is no unit, ValueError for matrices of different shapes.
    """
    arrays = [np.asarray(matrix, dtype=np.float64) for matrix in matrices]
    if any(len(array) == 0 for array in arrays):  # an empty list of rows has no columns either
        raise InputError("there is no unit to resample")
    if arrays[0].ndim != 2 or arrays[0].shape[1] == 0:
        raise ValueError("statistics come as a matrix, units by statistics")
    if any(array.shape != arrays[0].shape for array in arrays):
        raise ValueError("the matrices of the systems differ in shape")
    return np.stack(arrays, axis=1)
