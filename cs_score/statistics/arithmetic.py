"""The arithmetic of measures over units: division by 0, equality within rounding, and sums without rounding. A unit is
an item of a test set, such as a query or a claim. A statistic is a number for each unit, and measures are computed from
its sum over all units.

A matrix product adds numbers in an order that depends on the library, the processor and the shape of the matrices. To
make sums independent of this order, statistics are written as integers. A column whose sums could be rounded is written
as two columns of integers, one for the high and one for the low bits of its values. The integers are small enough that
all sums stay below 2^53. Matrix products of the integers are therefore exact, and their sums are rounded only once,
when they are converted back to a number (Ozaki, Ogita, Oishi and Rump, Numerical Algorithms 59, 2012). Two integers
hold the 2 (52 - log2 units) highest bits of the largest value of a column, which is 84 bits for a thousand units. The
lower bits of each value are rounded off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.runtime import Late
from cs_score.measures import Ratio, SumsFormula, ratios
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
    """Return the scores (..., m) of m measures, computed by a formula from the sums (..., k) of k statistics.

    A score of 0/0 counts as 0. Raises ValueError if a score is not a finite number.
    """
    sums_by_statistic = list(np.moveaxis(sums, -1, 0))
    scores_by_measure = formula(sums_by_statistic, divide)
    scores = _stack(scores_by_measure, shape=sums.shape[:-1])
    if not np.isfinite(scores).all():
        raise ValueError("a formula gave a score that is not a finite number")
    return scores


def ratios_of(formula: SumsFormula, sums: Floats) -> Ratio:
    """Return the numerators and the denominators of the scores by m measures, as two arrays of the shape (..., m).

    `formula` computes the scores from `sums` (..., k), the sums of k statistics.
    """
    sums_by_statistic = list(np.moveaxis(sums, -1, 0))
    ratios_by_measure = ratios(formula, sums_by_statistic)
    numerators = [ratio.numerator for ratio in ratios_by_measure]
    denominators = [ratio.denominator for ratio in ratios_by_measure]
    shape = sums.shape[:-1]
    return Ratio(_stack(numerators, shape), _stack(denominators, shape))


def _stack(values_by_measure: Sequence[Any], shape: tuple[int, ...]) -> Floats:
    """Return the values of m measures as one array (..., m), where (...) is the `shape`.

    `values_by_measure` has an array (...) or a number for each measure. A number is repeated to fill an array; a
    formula may return one if its denominator is 1.
    """
    stacked = np.empty((*shape, len(values_by_measure)), dtype=np.float64)
    for measure_index, values in enumerate(values_by_measure):
        stacked[..., measure_index] = values
    return stacked


# ---- Rounding

TIE_TOLERANCE: Final = 1e-12
"""Two scores count as equal if they differ by at most this much, relative to the larger score.

Sums are exact, so that only the formula of a score is subject to rounding. Scores that really differ do so by far more,
unless their denominators reach a million. A test would call such scores tied, which is the cautious decision.
"""


def possible_rounding(*scores: ArrayLike) -> Floats:
    """Return, element by element, the largest difference that rounding can cause between equal scores of this size.

    This is `TIE_TOLERANCE` times the largest absolute value of the scores: `possible_rounding([0.5], [-2.0])` gives
    `[2e-12]`.
    """
    largest = np.abs(np.asarray(scores[0], dtype=np.float64))
    for other_scores in scores[1:]:
        largest = np.maximum(largest, np.abs(np.asarray(other_scores, dtype=np.float64)))
    return np.asarray(TIE_TOLERANCE * largest)


# ---- Contributions of units


def unit_contributions(first: Ratio, second: Ratio) -> Floats | None:
    """Return the contribution of each unit to the difference `second - first` of the scores of two systems: (units,).

    A contribution is positive if the second system is better in the unit. For example, if the first system scores 0/1
    and 1/1 in two units, and the second scores 1/1 and 1/1, the result is `[0.5, 0.0]`. Returns None if the score of a
    system is 0/0.

    Each ratio has the numerator x and the denominator y of every unit. The score of a system is q = sum(x) / sum(y).
    Let D(v) be the value v of the second system minus that of the first, and let mean(v) be the mean of the two values.
    Then unit u contributes

        (D(x_u) - mean(q) D(y_u)) / mean(sum(y))

    and the contributions of all units sum to D(q). In the example, q is 0.5 for the first system and 1 for the second,
    so mean(q) is 0.75. D(y_u) is 0 for both units, and sum(y) is 2. The first unit contributes (1 - 0.75 * 0) / 2 =
    0.5, and the second (0 - 0.75 * 0) / 2 = 0.
    """
    first_y = _exact_total(first.denominator)
    second_y = _exact_total(second.denominator)
    if first_y == 0 or second_y == 0:
        return None
    first_score = _exact_total(first.numerator) / first_y
    second_score = _exact_total(second.numerator) / second_y
    mean_score = (first_score + second_score) / 2
    mean_y = (first_y + second_y) / 2
    difference_of_x = np.subtract(second.numerator, first.numerator, dtype=np.float64)  # D(x_u): (units,)
    difference_of_y = np.subtract(second.denominator, first.denominator, dtype=np.float64)  # D(y_u)
    # This is the formula of the docstring: `mean_score` is mean(q), and `mean_y` is mean(sum(y)).
    return np.asarray((difference_of_x - mean_score * difference_of_y) / mean_y)


def _exact_total(numbers: ArrayLike) -> float:
    """Return the sum of numbers (units,), rounded only once. It does not depend on the order of the units."""
    values: list[float] = np.asarray(numbers, dtype=np.float64).tolist()
    return math.fsum(values)


# ---- Exact sums

_LARGEST_EXACT: Final = 2**53
"""A floating-point number can represent every integer up to this one."""

_SUM_BITS: Final = 52
"""The number of bits of a sum of integers up to which it is exact."""

_LARGEST_EXPONENT: Final = 1023
"""The exponent of the largest floating-point number."""


class ExactStatistics(Record):
    """The statistics of one or more systems on the same units, written as integers, which can be summed exactly. A
    statistic whose values are small whole numbers stays as it is. Any other statistic is split into a high and a low
    integer.

    If this were done with decimal digits, 0.123456 would be split into 123 and 456, because it is (123 + 456 / 1000) /
    1000. The value of a split statistic is

        (high integer + low integer / 2^low_bits) * 2^exponent

    `integers` (units, systems, integer columns) has one column for each of the `statistic_count` statistics, with its
    values or its high integers. The low integers are in additional columns after these. `split_columns` are the
    positions of the split statistics, in the order of the additional columns, and `exponents` has the exponent of each.
    Weighted sums of integers are exact if the weights are non-negative integers that sum to at most the number of
    units; `to_statistics` converts them to sums of statistics. A stratum is a part of the test set that is resampled
    separately. `stratum_sizes` has the number of consecutive units in each stratum, or is empty if there are no strata.
    """

    integers: Floats
    statistic_count: int
    split_columns: NDArray[np.intp]
    low_bits: int
    exponents: NDArray[np.intc]
    stratum_sizes: tuple[int, ...] = ()

    @property
    def unit_count(self) -> int:
        """The number of units."""
        return int(self.integers.shape[0])

    def total_integer_sums(self) -> Floats:
        """Return the sums of the integers over all units: (systems, integer columns)."""
        return np.asarray(self.integers.sum(axis=0))

    def weighted_integer_sums(self, weights: Floats) -> Floats:
        """Return N weighted sums of the integers over all units: (N, systems, integer columns).

        `weights` (N, units) has the weight of every unit in each sum.
        """
        flat_integers = self.integers.reshape(self.unit_count, -1)
        flat_sums = np.asarray(weights @ flat_integers)
        return flat_sums.reshape(len(weights), *self.integers.shape[1:])

    def to_statistics(self, integers: Floats) -> Floats:
        """Convert integers (..., integer columns), or sums of them, to statistics (..., statistics), or to their sums.

        The integers are whole numbers in an array of floating-point numbers. A statistic that consists of small whole
        numbers is left unchanged. Any other statistic is (high integer + low integer / 2^low_bits) * 2^exponent,
        rounded once.
        """
        has_split_columns = len(self.split_columns) > 0
        if not has_split_columns:
            return integers
        # The low integers follow the columns of all statistics, in the order of `split_columns`.
        statistics = integers[..., : self.statistic_count].copy()
        high_integers = statistics[..., self.split_columns]
        low_integers = integers[..., self.statistic_count :]
        # `ldexp(number, bits)` is number * 2^bits, without rounding.
        mantissas = high_integers + np.ldexp(low_integers, -self.low_bits)
        statistics[..., self.split_columns] = np.ldexp(mantissas, self.exponents)
        return statistics


class _IntegerLayout(NamedTuple):
    """How k statistics are written as integers: which statistics have a high and a low integer, and their bits.

    `split_columns` are the positions of the statistics with two integers, `exponents` has the exponent of each, and
    `low_bits` is the number of bits of a low integer. `ExactStatistics` gives the formula for the value of two
    integers.
    """

    split_columns: NDArray[np.intp]
    low_bits: int
    exponents: NDArray[np.intc]


def exact_statistics(matrices: Sequence[ArrayLike], cluster_design: ClusterDesign | None = None) -> ExactStatistics:
    """Return the statistics of one or more systems in a form in which they can be summed exactly.

    A statistic that consists of small whole numbers stays as it is. Each value of any other statistic is written as a
    high and a low integer; `ExactStatistics` gives the formula. The scale of these integers is the same for all units
    and systems, so that they can be added and exchanged between systems. `matrices` has the statistics (units, k) of
    each system. If units are drawn in clusters (`cluster_design`), the rows of the units of each cluster are added up,
    and the clusters are the units of the result.

    Raises InputError if there are no units, if a value is not finite, or if a sum would overflow. Raises ValueError if
    the matrices differ in shape.
    """
    statistics = _stack_systems(matrices)  # (units, systems, k)
    stratum_sizes: tuple[int, ...] = ()
    if cluster_design is not None:
        statistics = _add_up_clusters(statistics, cluster_design)  # (clusters, systems, k)
        stratum_sizes = _stratum_sizes(cluster_design)
    layout = _integer_layout(statistics)
    integers = _split_into_integers(statistics, layout)
    integers.setflags(write=False)  # no formula may change them
    return ExactStatistics(
        integers=integers,
        statistic_count=statistics.shape[2],
        split_columns=layout.split_columns,
        low_bits=layout.low_bits,
        exponents=layout.exponents,
        stratum_sizes=stratum_sizes,
    )


def _stratum_sizes(cluster_design: ClusterDesign) -> tuple[int, ...]:
    """Return the number of clusters in each stratum: `(12, 30)`. With a single stratum the result is empty."""
    sizes = cluster_design.clusters_per_stratum
    return sizes if len(sizes) > 1 else ()


def _integer_layout(statistics: Floats) -> _IntegerLayout:
    """Return the layout for writing statistics (units, systems, k) as integers with exact sums over all units.

    A statistic that consists of small whole numbers needs one integer. Any other statistic has a high and a low
    integer, and its value is (high + low / 2^low_bits) * 2^exponent. If there is only one unit, both integers have 51
    bits; 0.1 is then (1801439850948198 + 2^50 / 2^51) * 2^-54, for example. Raises InputError if a value is not finite,
    or if a sum would overflow.
    """
    largest = np.abs(statistics).max(axis=(0, 1))  # (k,)
    if not np.isfinite(largest).all():
        raise InputError("a statistic is not a finite number")
    split_columns = np.flatnonzero(~_have_exact_sums(statistics, largest))
    unit_bits = len(statistics).bit_length()
    low_bits = _SUM_BITS - unit_bits  # a sum over all units has at most `unit_bits` more bits than each integer
    # For the largest value of each split statistic `frexp` returns the smallest n with value < 2^n.
    _, powers_of_largest = np.frexp(largest[split_columns])
    if (powers_of_largest + unit_bits > _LARGEST_EXPONENT).any():
        raise InputError("a statistic is too large for its sums to be represented")
    # The high integer is value / 2^exponent. For the largest value it is below 2^low_bits, so it has `low_bits` bits.
    exponents = (powers_of_largest - low_bits).astype(np.intc)
    return _IntegerLayout(split_columns, low_bits, exponents)


def _have_exact_sums(statistics: Floats, largest: Floats) -> NDArray[np.bool_]:
    """Return for each of k statistics whether its sums over units are never rounded: (k,).

    Sums of small whole numbers are exact; all other sums may be rounded. `statistics` has the shape (units, systems,
    k), and `largest` (k,) has the largest absolute value of each statistic.
    """
    are_whole_numbers = (np.rint(statistics) == statistics).all(axis=(0, 1))
    are_small_enough = largest <= _LARGEST_EXACT // len(statistics)
    return np.asarray(are_whole_numbers & are_small_enough)


def _add_up_clusters(statistics: Floats, cluster_design: ClusterDesign) -> Floats:
    """Return the sums of the statistics (units, systems, k) over the units of each cluster: (clusters, systems, k)."""
    sums = np.zeros((cluster_design.cluster_count, *statistics.shape[1:]))
    np.add.at(sums, list(cluster_design.cluster_numbers), statistics)  # adds each unit to the row of its cluster
    return sums


def _split_into_integers(statistics: Floats, layout: _IntegerLayout) -> Floats:
    """Return the integers (units, systems, k + number of split columns) of statistics (units, systems, k).

    In a split column, the high integer of a value is value / 2^exponent, rounded; each column has one exponent. The low
    integer is the remainder times 2^low_bits, rounded, and is stored in an additional column.
    """
    if len(layout.split_columns) == 0:
        return statistics
    values = statistics[..., layout.split_columns]  # (units, systems, split columns)
    scaled = np.ldexp(values, -layout.exponents)  # `ldexp(number, bits)` is number * 2^bits
    high_integers = np.rint(scaled)
    remainders = scaled - high_integers
    low_integers = np.rint(np.ldexp(remainders, layout.low_bits))
    integers = statistics.copy()
    integers[..., layout.split_columns] = high_integers
    return np.concatenate([integers, low_integers], axis=-1)


def _stack_systems(matrices: Sequence[ArrayLike]) -> Floats:
    """Return the matrices (units, k) of systems as one array (units, systems, k).

    Raises InputError if there are no units, and ValueError if the matrices have different shapes.
    """
    arrays = [np.asarray(matrix, dtype=np.float64) for matrix in matrices]
    if any(len(array) == 0 for array in arrays):  # an empty list of rows does not have columns either
        raise InputError("there is no unit to resample")
    if arrays[0].ndim != 2 or arrays[0].shape[1] == 0:
        raise ValueError("statistics come as a matrix, units by statistics")
    if any(array.shape != arrays[0].shape for array in arrays):
        raise ValueError("the matrices of the systems differ in shape")
    return np.stack(arrays, axis=1)
