"""Families of tests: paired tests of several pairs of systems, and the correction for their number. The corrections are
max-T, HSD and Holm's method. A resample is extreme if its difference is at least as large as the observed difference.
Statistics are summed as integers, without rounding (`arithmetic.ExactStatistics`).

All tests are two-sided. They count the resamples whose difference is *at least as* extreme as the observed difference.
With N random resamples, the p-value is (1 + count) / (1 + N). As a consequence, no p-value is 0; a system and its copy
have the difference 0 and a p-value of exactly 1; and the order of the systems does not matter. Differences that are
equal within rounding count as equal (`arithmetic.TIE_TOLERANCE`, relative to the larger of the two scores).

*Randomisation*: every resample exchanges the rows of the two systems in each unit with probability 1/2, which flips the
sign of the unit's difference. This kind of resample is called a sign flip. A sign flip with the difference d* is
extreme if |d*| >= |d|. With n units there are 2^n possible sign flips. If this number is at most N, each sign flip is
made once, and the p-value is the share of extreme sign flips. A score of 0/0 counts as 0 here; the test is valid for
any statistic.

*max-T* (step-down, Westfall and Young 1993): all pairs share the same sign flips. The difference of a pair is divided
by its scale, the square root of the sum of the squared contributions of the units. Sign flips do not change the scale.
Pairs are ordered by |d| / scale, the largest first. The p-value of a pair is the share of resamples in which |d*| /
scale of this pair or of any later pair reaches the observed value of this pair. It is at least as large as the p-value
of the preceding pair.

*HSD* (Tukey's honestly significant difference): every resample permutes the rows of all systems in each unit and
computes the largest difference of two scores, or the largest difference from the baseline if there is one. The p-value
of a pair is the share of permutations in which this largest difference reaches the observed difference of the pair. If
there are at most N permutations, each is made once.

Formulas, conditions and sources: docs/statistics/families.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from cs_score.base.errors import UsageError, did_you_mean
from cs_score.base.records import Record
from cs_score.base.runtime import Late
from cs_score.measures import Ratio
from cs_score.statistics.arithmetic import Floats, divide, possible_rounding
from cs_score.statistics.draws import (
    Counts,
    all_sign_flips,
    permuted_integer_sums,
    random_sign_flips,
    resampled_integer_sums,
)
from cs_score.statistics.resampling import ResampledSystems
from cs_score.statistics.resampling_settings import (
    Family,
    PairedTest,
    Resampling,
    can_make_all_sign_flips,
    monte_carlo_p_value,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Late("numpy")

Pair: TypeAlias = tuple[int, int]
"""The positions of two systems: `(0, 2)`."""

PValues: TypeAlias = list[list[float]]
"""P-values by measure and pair: `p_values[measure_index][pair_index]`."""

MOST_SYSTEMS: Final = 100
"""The largest number of systems of which all pairs are tested: 100 systems have 4,950 pairs."""

LARGEST_SHARE_OF_DIFFERING_UNITS: Final = 0.15
"""The largest share of units in which two systems differ that count as near-copies."""

# ---- The pairs


def family_pairs(systems: Sequence[str], resampling: Resampling) -> list[Pair]:
    """Return the pairs of systems in a family of tests: all pairs, or all pairs with the baseline if there is one.

    A pair has the positions of its systems. For `["A", "B", "C"]` the result is `[(0, 1), (0, 2), (1, 2)]`, and with
    the baseline B it is `[(1, 0), (1, 2)]`. Raises UsageError if the baseline is not among the systems, or if there is
    no baseline and more than `MOST_SYSTEMS` systems.
    """
    if resampling.baseline:
        return _pairs_with_baseline(systems, resampling.baseline)
    if len(systems) > MOST_SYSTEMS:
        raise UsageError(
            f"{len(systems):,} systems are {math.comb(len(systems), 2):,} pairs; all pairs are tested of at most "
            f"{MOST_SYSTEMS} systems: --baseline RUN tests each system against one of them"
        )
    return list(combinations(range(len(systems)), 2))


def _pairs_with_baseline(systems: Sequence[str], baseline: str) -> list[Pair]:
    """Return the pairs of the baseline with each other system: `[(1, 0), (1, 2)]` for the baseline B of A, B and C.

    Raises UsageError if the baseline is not among the systems.
    """
    if baseline not in systems:
        hint = did_you_mean(baseline, systems) or f"; there are {', '.join(systems)}"
        raise UsageError(f"the baseline {baseline} is none of the systems{hint}")
    baseline_position = systems.index(baseline)
    return [(baseline_position, position) for position in range(len(systems)) if position != baseline_position]


def near_copies(systems: ResampledSystems, pairs: Sequence[Pair], measure_index: int = 0) -> list[list[int]]:
    """Return groups of systems that are nearly the same, as lists of their positions: `[[0, 3]]`.

    Two systems are near-copies if they differ in at most 15 % of their units. Units in which both systems have 0/0 are
    not counted. A system belongs to a group if it is a near-copy of at least one member. Only the given pairs are
    compared.
    """
    groups = [{system} for system in range(len(systems.observed_scores))]
    for first, second in pairs:
        first_ratio = systems.unit_ratios_of(first, measure_index)
        second_ratio = systems.unit_ratios_of(second, measure_index)
        if _are_near_copies(first_ratio, second_ratio):
            groups = _join_groups(groups, first, second)
    return sorted(sorted(group) for group in groups if len(group) > 1)


def _join_groups(groups: Sequence[set[int]], first: int, second: int) -> list[set[int]]:
    """Return groups of systems in which the groups of two systems, `first` and `second`, have become one group.

    `[{0}, {1}, {2}]` gives `[{1}, {0, 2}]` for the systems 0 and 2.
    """
    joined_group = {first, second}
    other_groups = []
    for group in groups:
        if first in group or second in group:
            joined_group = joined_group | group
        else:
            other_groups.append(group)
    return [*other_groups, joined_group]


def _are_near_copies(first: Ratio, second: Ratio) -> bool:
    """Return whether two systems differ in at most 15 % of their units, ignoring units in which both have 0/0.

    Each ratio has the numerator and the denominator of every unit.
    """
    either_has_content = _has_content(first) | _has_content(second)  # (units,); content is anything but 0/0
    compared_count = int(np.count_nonzero(either_has_content))
    numerators_differ = _differ_beyond_rounding(first.numerator, second.numerator)
    denominators_differ = _differ_beyond_rounding(first.denominator, second.denominator)
    differing_count = int(np.count_nonzero(numerators_differ | denominators_differ))
    return differing_count <= LARGEST_SHARE_OF_DIFFERING_UNITS * compared_count


def _has_content(ratio: Ratio) -> NDArray[np.bool_]:
    """Return for each score of a unit whether it is anything but 0/0, in an array of the shape of the numerators."""
    return np.asarray((ratio.numerator != 0) | (ratio.denominator != 0))


def _differ_beyond_rounding(first: Floats, second: Floats) -> NDArray[np.bool_]:
    """Return for each unit whether the numbers of two systems differ by more than rounding: (units,).

    `first` and `second` (units,) are the numerators of the two systems, or their denominators.
    """
    return np.asarray(np.abs(first - second) > possible_rounding(first, second))


def groups_of_copies(
    systems: ResampledSystems, system_names: Sequence[str], family: Sequence[Pair], measure_index: int = 0
) -> list[list[str]]:
    """Return groups of near-copies as lists of the names of systems: `[["A", "B"]]`.

    Near-copies are systems that differ in at most 15 % of their units by the measure at the position `measure_index`.
    All pairs of systems are compared, unless there are too many systems; in that case only the pairs of the `family` of
    tests are compared.
    """
    if len(system_names) <= MOST_SYSTEMS:
        pairs: Sequence[Pair] = list(combinations(range(len(system_names)), 2))
    else:
        pairs = family
    groups_of_names = []
    for positions in near_copies(systems, pairs, measure_index):
        groups_of_names.append([system_names[position] for position in positions])
    return groups_of_names


def count_units_with_content(systems: ResampledSystems) -> list[int]:
    """Return for each measure the number of units that affect a test.

    In such a unit at least one system has a numerator or a denominator other than 0.
    """
    has_content = _has_content(systems.unit_ratios)  # (units, systems, measures)
    some_system_has_content = has_content.any(axis=1)  # (units, measures)
    return [int(count) for count in some_system_has_content.sum(axis=0)]


# ---- Sign flips, and max-T over them


class SignFlipTests(Record):
    """The p-values of pairs of systems by the randomisation test, which flips signs of the differences of units.

    `flip_count` is the number of sign flips, and `is_exact` says whether these are all possible sign flips.
    `uncorrected` has the p-value of each pair, and `corrected_by_max_t` the p-values corrected by max-T. The latter is
    empty if they were not requested.
    """

    flip_count: int
    is_exact: bool
    uncorrected: PValues
    corrected_by_max_t: PValues


_DIFFERENCES_AT_ONCE: Final = 1 << 21
"""The number of differences in memory at once (pairs times measures times resamples). It changes no result."""

_FEWEST_ROWS: Final = 32
"""With fewer resamples at once the overhead of each step takes more time than the computation."""


class _SignFlips(NamedTuple):
    """The sign flips that a randomisation test makes, their number, and whether they are all possible sign flips.

    `draws` yields the sign flips in chunks (flips, units), with 1 where two systems are exchanged and 0 elsewhere.
    """

    flip_count: int
    is_exact: bool
    draws: Iterator[Counts]


def _sign_flips(unit_count: int, settings: Resampling) -> _SignFlips:
    """Return the sign flips of a test. Each sign flip exchanges two systems in some of the units.

    If the settings ask for at least 2^units resamples, all 2^units sign flips are made. Otherwise they are random.
    """
    if can_make_all_sign_flips(unit_count, settings.resamples):
        return _SignFlips(flip_count=2**unit_count, is_exact=True, draws=all_sign_flips(unit_count))
    random_flips = random_sign_flips(settings.seed, unit_count, settings.resamples)
    return _SignFlips(flip_count=settings.resamples, is_exact=False, draws=random_flips)


def sign_flip_tests(systems: ResampledSystems, pairs: Sequence[Pair], *, with_max_t: bool = False) -> SignFlipTests:
    """Return the p-values of pairs of systems by the randomisation test, which exchanges the systems unit by unit.

    A sign flip exchanges the systems in some of the units. The settings give the number of random sign flips. If at
    most this number are possible, each possible sign flip is made once. All pairs share the same sign flips, so the
    p-value of a pair does not depend on the other systems. If `with_max_t` is true, p-values that are corrected for the
    number of pairs by max-T are also computed.
    """
    flips = _sign_flips(systems.unit_count, systems.settings)
    observed = _observed_differences(systems, pairs)  # (pairs, measures); absolute, as are all differences below
    max_t = None
    if with_max_t:
        scales = _difference_scales(systems.unit_ratios, pairs)
        max_t = _MaxT(observed, scales)
    extreme_counts = np.zeros(observed.shape, dtype=np.int64)
    for differences in _flipped_differences(systems, pairs, flips.draws):
        is_extreme = differences >= observed[..., np.newaxis]  # (pairs, measures, resamples)
        extreme_counts += np.count_nonzero(is_extreme, axis=2)
        if max_t is not None:
            max_t.count_extremes(differences)
    p_values = _p_values(extreme_counts, flips.flip_count, is_exact=flips.is_exact)
    corrected = [] if max_t is None else max_t.p_values(flips.flip_count, is_exact=flips.is_exact)
    return SignFlipTests(flips.flip_count, flips.is_exact, uncorrected=p_values, corrected_by_max_t=corrected)


def _flipped_differences(systems: ResampledSystems, pairs: Sequence[Pair], draws: Iterable[Counts]) -> Iterator[Floats]:
    """Yield the absolute score differences of pairs after sign flips, in chunks (pairs, measures, resamples).

    `draws` has the sign flips in chunks (resamples, units). The chunks are cut into pieces small enough for the
    differences of all pairs and measures to fit in memory.
    """
    _, measure_count = systems.observed_scores.shape
    rows_at_once = max(_FEWEST_ROWS, _DIFFERENCES_AT_ONCE // (len(pairs) * measure_count))
    # These are sums over the units that a sign flip exchanges, which have the number 1 in `draws`.
    for exchanged_sums in resampled_integer_sums(systems.statistics, draws):
        for start in range(0, len(exchanged_sums), rows_at_once):
            yield _differences_after_flips(systems, pairs, exchanged_sums[start : start + rows_at_once])


def _observed_differences(systems: ResampledSystems, pairs: Sequence[Pair]) -> Floats:
    """Return the absolute difference of the scores of each pair: (pairs, measures).

    The largest possible rounding error is subtracted, so that a resample with the same difference counts as extreme.
    """
    first_systems = [first for first, _ in pairs]
    second_systems = [second for _, second in pairs]
    first_scores = systems.observed_scores[first_systems]  # (pairs, measures)
    second_scores = systems.observed_scores[second_systems]
    differences = np.abs(first_scores - second_scores)
    return np.asarray(differences - possible_rounding(first_scores, second_scores))


def _differences_after_flips(systems: ResampledSystems, pairs: Sequence[Pair], exchanged_sums: Floats) -> Floats:
    """Return the absolute score difference of each pair after sign flips: (pairs, measures, resamples).

    `exchanged_sums` (resamples, systems, integers) has the integer sums of each system over the units that a sign flip
    exchanges. After the sign flip, a system has the statistics of the other system in these units and its own
    statistics in all other units.
    """
    kept_sums = systems.statistics.total_integer_sums() - exchanged_sums  # over all other units
    _, measure_count = systems.observed_scores.shape
    differences: Floats = np.empty((len(pairs), measure_count, len(exchanged_sums)))
    for pair_index, (first, second) in enumerate(pairs):
        first_sums = kept_sums[:, first] + exchanged_sums[:, second]  # (resamples, integers)
        second_sums = kept_sums[:, second] + exchanged_sums[:, first]
        sums_of_pair = np.stack([first_sums, second_sums])  # one call of the formula is faster than two
        first_scores, second_scores = systems.scores_of_integer_sums(sums_of_pair)  # (resamples, measures) each
        absolute_differences = np.abs(first_scores - second_scores)
        differences[pair_index] = absolute_differences.T  # (measures, resamples)
    return differences


def _difference_scales(ratios: Ratio, pairs: Sequence[Pair]) -> Floats:
    """Return the scales by which max-T divides the differences of pairs: (pairs, measures).

    The scale is the square root of the sum of the squared contributions of the units to the difference, which
    `arithmetic.unit_contributions` defines. A score of 0/0 counts as 0 here. The scale is 0 if the systems differ in no
    unit by more than rounding. `ratios` has the numerators and denominators (units, systems, measures).
    """
    systems = _ratios_of_systems(ratios)
    measure_count = ratios.numerator.shape[2]
    scales: Floats = np.zeros((len(pairs), measure_count))
    for pair_index, (first, second) in enumerate(pairs):
        scales[pair_index] = _scales_of_pair(systems[first], systems[second])
    return scales


class _SystemRatios(NamedTuple):
    """The scores of a system under each measure, and the numbers from which they are computed.

    `numerators` and `denominators` (units, measures) have one number for each unit. `total_denominators` (measures,)
    are the sums of the denominators, and `scores` (measures,) are the scores.
    """

    numerators: Floats
    denominators: Floats
    total_denominators: Floats
    scores: Floats


def _ratios_of_systems(ratios: Ratio) -> list[_SystemRatios]:
    """Return the numerators, denominators and scores of each system, taken from the `ratios` of all systems.

    Numerators and denominators have the shape (units, systems, measures) in `ratios`.
    """
    total_denominators = ratios.denominator.sum(axis=0)  # (systems, measures)
    scores = divide(ratios.numerator.sum(axis=0), total_denominators)
    systems = []
    for system in range(len(scores)):
        system_ratios = _SystemRatios(
            numerators=ratios.numerator[:, system],
            denominators=ratios.denominator[:, system],
            total_denominators=total_denominators[system],
            scores=scores[system],
        )
        systems.append(system_ratios)
    return systems


def _scales_of_pair(first: _SystemRatios, second: _SystemRatios) -> Floats:
    """Return the scale of the difference of two systems under each measure: (measures,).

    The scale is the square root of the sum of the squared contributions of the units to the difference. Let x_u and y_u
    be the numerator and the denominator of unit u, and D the value of the second system minus that of the first. Then

        scale = sqrt(sum over u of (D(x_u) - mean score * D(y_u))^2) / (mean sum of the denominators)

    The scale is 0 if no contribution is larger than its possible rounding error.
    """
    mean_score = (first.scores + second.scores) / 2
    numerator_differences = second.numerators - first.numerators  # (units, measures)
    denominator_differences = second.denominators - first.denominators
    contributions = numerator_differences - mean_score * denominator_differences
    largest = np.abs(contributions).max(axis=0)
    rounding_of_units = possible_rounding(
        first.numerators, second.numerators, mean_score * first.denominators, mean_score * second.denominators
    )
    largest_rounding_error = 4 * rounding_of_units.max(axis=0)  # a contribution is computed from four numbers
    mean_total_denominators = (first.total_denominators + second.total_denominators) / 2
    scales = divide(_root_of_squares(contributions, largest), mean_total_denominators)
    return np.where(largest > largest_rounding_error, scales, 0.0)


def _root_of_squares(contributions: Floats, largest: Floats) -> Floats:
    """Return the square root of the sum of the squared contributions (units, measures) under each measure: (measures,).

    `largest` (measures,) has the largest absolute contribution. The contributions are divided by it before squaring,
    because the square of a tiny number may be rounded to 0.
    """
    relative_contributions = divide(contributions, largest)  # 0 where all contributions are 0
    sum_of_squares = (relative_contributions**2).sum(axis=0)
    return np.asarray(largest * np.sqrt(sum_of_squares))


class _OrderedPairs(NamedTuple):
    """The pairs that max-T tests under one measure, ordered by their standardised differences, the largest first.

    `pair_indices` (tested pairs,) are their positions among all pairs. `scales` (tested pairs, 1) are their scales, and
    `standardised_differences` (tested pairs, 1) are their observed differences divided by these scales.
    """

    pair_indices: NDArray[np.intp]
    scales: Floats
    standardised_differences: Floats


def _ordered_pairs(observed: Floats, scales: Floats) -> _OrderedPairs:
    """Return the pairs whose scale is not 0, ordered by observed difference / scale, the largest first.

    The scale of a pair measures how much its two systems differ in individual units.

    `observed` (pairs,) are the observed differences under one measure, and `scales` (pairs,) their scales.
    """
    tested_pairs = np.flatnonzero(scales > 0)
    standardised_differences = observed[tested_pairs] / scales[tested_pairs]
    order = np.argsort(-standardised_differences, kind="stable")
    pair_indices = tested_pairs[order]
    scales_in_order = scales[pair_indices]
    differences_in_order = standardised_differences[order]
    return _OrderedPairs(
        pair_indices=pair_indices,
        scales=scales_in_order[:, np.newaxis],
        standardised_differences=differences_in_order[:, np.newaxis],
    )


class _MaxT:
    """The correction max-T, which counts extreme resamples for each pair and computes p-values from the counts. The
    standardised difference of a pair is the difference of its scores, divided by the scale of the pair.

    A resample is extreme for a pair if the largest standardised difference (|difference| / scale) of this pair and all
    later pairs reaches the observed standardised difference of the pair. Pairs whose units do not differ are not
    tested.
    """

    def __init__(self, observed: Floats, scales: Floats) -> None:
        """Order the pairs under each measure by their standardised differences, and set all counts to 0.

        `observed` (pairs, measures) are the observed differences, and `scales` (pairs, measures) their scales.
        """
        self._pair_count = len(observed)
        self._pairs_of_measures: list[_OrderedPairs] = []
        self._extreme_counts: list[NDArray[np.int64]] = []
        _, measure_count = observed.shape
        for measure_index in range(measure_count):
            pairs = _ordered_pairs(observed[:, measure_index], scales[:, measure_index])
            self._pairs_of_measures.append(pairs)
            tested_count = len(pairs.pair_indices)  # without the pairs whose scale is 0
            self._extreme_counts.append(np.zeros(tested_count, dtype=np.int64))

    def count_extremes(self, differences: Floats) -> None:
        """Count the extreme resamples for each pair, and add their numbers to the earlier counts.

        `differences` (pairs, measures, resamples) are the absolute differences in some resamples. The pairs of a
        measure are ordered by their observed standardised difference, the largest first. A resample is extreme for a
        pair if the largest standardised difference of this pair and all later pairs reaches the observed standardised
        difference of this pair.
        """
        for measure_index, pairs in enumerate(self._pairs_of_measures):
            standardised_differences = differences[pairs.pair_indices, measure_index]  # (tested pairs, resamples)
            standardised_differences /= pairs.scales  # the array is a copy, in the order of `pairs`
            largest_differences = _largest_of_this_and_later_pairs(standardised_differences)
            is_extreme = largest_differences >= pairs.standardised_differences
            self._extreme_counts[measure_index] += np.count_nonzero(is_extreme, axis=1)

    def p_values(self, flip_count: int, *, is_exact: bool) -> PValues:
        """Return the p-values by measure and pair, after counting `flip_count` sign flips.

        `is_exact` says whether these were all possible sign flips. A pair whose units do not differ has the p-value 1.
        """
        p_by_measure = []
        for pairs, extreme_counts in zip(self._pairs_of_measures, self._extreme_counts):
            # The counts are in the order of `_OrderedPairs`, by decreasing observed difference. The p-value of a pair
            # is at least that of the preceding pair, so that a smaller difference never has a smaller p-value.
            non_decreasing_counts = np.maximum.accumulate(extreme_counts)
            p_by_pair = [1.0] * self._pair_count
            for pair_index, count in zip(pairs.pair_indices.tolist(), non_decreasing_counts.tolist()):
                p_by_pair[pair_index] = _p_value(count, flip_count, is_exact=is_exact)
            p_by_measure.append(p_by_pair)
        return p_by_measure


def _largest_of_this_and_later_pairs(standardised_differences: Floats) -> Floats:
    """Return for each pair and resample the largest difference of this pair and all later pairs: (pairs, resamples).

    `standardised_differences` (pairs, resamples) of three pairs, `[[1.0], [3.0], [2.0]]`, give `[[3.0], [3.0], [2.0]]`.
    """
    from_last_pair = standardised_differences[::-1]
    running_maximum = np.maximum.accumulate(from_last_pair, axis=0)
    return np.asarray(running_maximum[::-1])


def _p_values(extreme_counts: NDArray[np.int64], resample_count: int, *, is_exact: bool) -> PValues:
    """Return p-values by measure and pair, computed from the numbers of extreme resamples.

    `extreme_counts` (pairs, measures) has these numbers, out of `resample_count`. `is_exact` says whether all possible
    resamples were made.
    """
    p_by_measure = []
    for counts_of_measure in extreme_counts.T.tolist():
        p_by_measure.append([_p_value(count, resample_count, is_exact=is_exact) for count in counts_of_measure])
    return p_by_measure


def _p_value(extreme_count: int, resample_count: int, *, is_exact: bool) -> float:
    """Return the p-value of a test in which `extreme_count` of the resamples are extreme.

    If all possible resamples were made (`is_exact`), the p-value is the share of extreme resamples. Otherwise it is (1
    + extreme_count) / (1 + resample_count), because the observed difference counts as an additional resample.
    """
    if is_exact:
        return extreme_count / resample_count
    return monte_carlo_p_value(extreme_count, resample_count)


# ---- Other tests and corrections


def sign_test_p_values(ratios: Ratio) -> list[float] | None:
    """Return the p-value of the exact two-sided sign test (McNemar's) of two systems under each measure.

    `ratios` has the numerators and denominators (units, 2, measures). If the systems are equally good, each of them
    wins a unit in which they differ with the probability 1/2. Returns None unless all units are right (1/1) or wrong
    (0/1).
    """
    values = ratios.numerator
    is_right_or_wrong = ((values == 0) | (values == 1)) & (ratios.denominator == 1)
    if not is_right_or_wrong.all():
        return None
    differences = values[:, 1] - values[:, 0]  # (units, measures)
    wins = (differences > 0).sum(axis=0).tolist()  # for each measure
    losses = (differences < 0).sum(axis=0).tolist()
    p_values = []
    for wins_of_measure, losses_of_measure in zip(wins, losses):
        p_values.append(_sign_test_p(wins_of_measure, losses_of_measure))
    return p_values


def _sign_test_p(wins: int, losses: int) -> float:
    """Return the p-value of the exact two-sided sign test: `_sign_test_p(5, 0)` gives 2 / 32.

    It is twice the probability that the rarer outcome is at most as frequent as observed.
    """
    differing_count = wins + losses
    rarer_count = min(wins, losses)
    # There are 2^differing_count outcomes. In the following number of outcomes, the first system wins at most
    # `rarer_count` units.
    extreme_outcomes = sum(math.comb(differing_count, count) for count in range(rarer_count + 1))
    p: float = 2 * extreme_outcomes / 2**differing_count
    return min(1.0, p)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values of a family of tests, adjusted by Holm's method (1979): `[0.04, 0.01]` gives `[0.04, 0.02]`.

    Of n p-values the smallest is multiplied by n, the next by n - 1 and so on. Each product is raised to the one before
    it if necessary, and is at most 1. If all hypotheses whose adjusted p-value is at most the level are rejected, the
    probability of any false rejection is at most the level.
    """
    adjusted = [0.0] * len(p_values)
    from_smallest = sorted(range(len(p_values)), key=lambda index: p_values[index])
    previous = 0.0
    for rank, index in enumerate(from_smallest):
        factor = len(p_values) - rank
        product = min(1.0, factor * p_values[index])
        adjusted[index] = max(previous, product)
        previous = adjusted[index]
    return adjusted


def _hsd_p_values(
    systems: ResampledSystems, pairs: Sequence[Pair], permutation_count: int, *, is_exact: bool
) -> PValues:
    """Return the p-values by measure and pair, corrected by HSD (Tukey's honestly significant difference).

    A permutation of the systems is extreme for a pair if the largest difference between two systems in the permutation
    is at least the observed difference of the pair. If all pairs share a baseline, only differences from the baseline
    count. If `is_exact` is true, all possible permutations are made, and `permutation_count` must be their number.
    Otherwise it is the number of random permutations.
    """
    observed = _observed_differences(systems, pairs)  # (pairs, measures)
    extreme_counts = np.zeros(observed.shape, dtype=np.int64)
    baseline = _baseline_of_pairs(pairs, len(systems.observed_scores))  # None if there is no baseline
    seed = None if is_exact else systems.settings.seed
    # The statistics of each permutation are summed as integers, which is exact, and then scored.
    for integer_sums in permuted_integer_sums(systems.statistics, permutation_count, seed):
        scores = systems.scores_of_integer_sums(integer_sums)  # (some permutations, systems, measures)
        largest_differences = _largest_differences(scores, baseline)
        extreme_counts += _count_extreme_permutations(largest_differences, observed)
    return _p_values(extreme_counts, permutation_count, is_exact=is_exact)


def _baseline_of_pairs(pairs: Sequence[Pair], system_count: int) -> int | None:
    """Return the position of the baseline with which all other systems are paired, or None if all pairs are tested.

    Two systems form a single pair, so all pairs are tested even if one of the systems is the baseline.
    """
    if len(pairs) == math.comb(system_count, 2):
        return None
    baseline, _ = pairs[0]  # the baseline is the first system of each pair
    return baseline


def _count_extreme_permutations(largest_differences: Floats, observed: Floats) -> NDArray[np.int64]:
    """Return for each pair how many of N permutations are extreme: (pairs, measures).

    `largest_differences` (N, measures) has the largest difference of two systems in each permutation, and `observed`
    (pairs, measures) the observed difference of each pair. A permutation is extreme for a pair if the largest
    difference is at least the observed one.
    """
    counts = np.zeros(observed.shape, dtype=np.int64)
    for measure_index in range(observed.shape[1]):
        sorted_differences = np.sort(largest_differences[:, measure_index])
        smaller_counts = np.searchsorted(sorted_differences, observed[:, measure_index])
        counts[:, measure_index] = len(sorted_differences) - smaller_counts
    return counts


def _largest_differences(scores: Floats, baseline: int | None) -> Floats:
    """Return the largest difference of two systems in each of N permutations: (N, measures).

    `scores` are the scores (N, systems, measures) in the permutations. If `baseline` is the position of a system, only
    the differences of the other systems from this system are compared.
    """
    if baseline is None:
        return np.asarray(scores.max(axis=1) - scores.min(axis=1))
    baseline_scores = scores[:, [baseline]]  # (N, 1, measures)
    differences = np.abs(scores - baseline_scores)
    return np.asarray(differences.max(axis=1))


# ---- A family


class FamilyTests(Record):
    """The tests of a family of pairs: their p-values by measure and pair, before and after the correction."""

    family: Family
    pairs: Sequence[Pair]
    p: PValues
    p_adjusted: PValues

    def adjusted_p_by_pair(self, measure_index: int = 0) -> dict[frozenset[int], float]:
        """Return the corrected p-values under one measure: `{frozenset({0, 1}): 0.03}` for the systems 0 and 1."""
        p_by_pair = {}
        for pair, p in zip(self.pairs, self.p_adjusted[measure_index]):
            p_by_pair[frozenset(pair)] = p
        return p_by_pair


def family_tests(systems: ResampledSystems, pairs: Sequence[Pair], *, with_sign_test: bool = False) -> FamilyTests:
    """Test all pairs of a family under each measure, and return their p-values before and after the correction.

    The same test is used for the whole family. It is the exact sign test if `with_sign_test` is true and that test is
    possible (see `_sign_tests_if_possible`). Otherwise it is the randomisation test.
    """
    sign_tests = _sign_tests_if_possible(systems) if with_sign_test else None
    test: PairedTest
    if sign_tests is None:
        test = "randomisation"
        with_max_t = systems.settings.correction_in_force == "maxt"
        tests = sign_flip_tests(systems, pairs, with_max_t=with_max_t)
    else:
        test = "sign"
        tests = sign_tests
    corrected = _correct_for_pairs(systems, pairs, tests)
    family = _describe_family(systems, len(pairs), corrected, test)
    return FamilyTests(family=family, pairs=pairs, p=tests.uncorrected, p_adjusted=corrected.p_values)


def _describe_family(
    systems: ResampledSystems, pair_count: int, corrected: _CorrectedTests, test: PairedTest
) -> Family:
    """Return a description of a family of tests for documents: its correction, resamples, systems and pairs.

    `test` is the test of each pair, and `corrected` has the outcome of its correction.
    """
    settings = systems.settings
    # If units are drawn in clusters, `systems` counts clusters as units.
    cluster_count = systems.unit_count if settings.clusters else None
    return Family(
        correction=settings.correction_in_force,
        pairs=pair_count,
        permutations=corrected.resample_count,  # sign flips, or permutations by HSD
        clusters=cluster_count,
        systems=len(systems.observed_scores),
        test=test,
        exact=corrected.is_exact,
        baseline=settings.baseline,
    )


def _sign_tests_if_possible(systems: ResampledSystems) -> SignFlipTests | None:
    """Return the p-values of two systems by the exact sign test under each measure, without any sign flips.

    Returns None if the test is impossible, that is, if there are more than two systems, if units are drawn in clusters,
    or if some units are neither right (1/1) nor wrong (0/1).
    """
    is_single_pair = len(systems.observed_scores) == 2
    if not is_single_pair or systems.settings.clusters:
        return None
    p_values = sign_test_p_values(systems.unit_ratios)
    if p_values is None:
        return None
    p_by_measure = [[p] for p in p_values]  # for the only pair
    return SignFlipTests(flip_count=0, is_exact=True, uncorrected=p_by_measure, corrected_by_max_t=p_by_measure)


class _CorrectedTests(NamedTuple):
    """P-values corrected for the number of pairs, and the number of resamples from which they were computed.

    `is_exact` says whether these are all possible resamples.
    """

    p_values: PValues
    resample_count: int
    is_exact: bool


def _correct_for_pairs(systems: ResampledSystems, pairs: Sequence[Pair], tests: SignFlipTests) -> _CorrectedTests:
    """Return the p-values of a family by measure and pair, after the correction that the settings name.

    `tests` has the p-values before the correction. HSD does not use them, because it makes its own permutations.
    """
    correction = systems.settings.correction_in_force
    if correction == "hsd":
        return _correct_by_hsd(systems, pairs)
    if correction == "maxt":
        p_values = tests.corrected_by_max_t
    elif correction == "holm":
        p_values = [holm(p_of_pairs) for p_of_pairs in tests.uncorrected]
    else:
        p_values = tests.uncorrected
    return _CorrectedTests(p_values, tests.flip_count, tests.is_exact)


def _correct_by_hsd(systems: ResampledSystems, pairs: Sequence[Pair]) -> _CorrectedTests:
    """Return the p-values of a family by measure and pair, corrected by HSD.

    The settings give the number of random permutations of the systems. If at most this number are possible, each
    possible permutation is made once.
    """
    resample_count = systems.settings.resamples
    orders_per_unit = math.factorial(len(systems.observed_scores))
    # There are orders_per_unit^units permutations. Logarithms are compared, because this number has thousands of digits
    # if there are many units. The small addend compensates for rounding.
    log_of_all_permutations = systems.unit_count * math.log(orders_per_unit)
    is_exact = log_of_all_permutations <= math.log(resample_count) + 1e-9
    permutation_count = orders_per_unit**systems.unit_count if is_exact else resample_count
    p_values = _hsd_p_values(systems, pairs, permutation_count, is_exact=is_exact)
    return _CorrectedTests(p_values, permutation_count, is_exact)
