"""Families of tests: paired tests of several pairs of systems, and the correction for their number.

All tests are two-sided and count a resample whose difference is *at least as* extreme as the observed one; of N random
resamples they report (1 + count) / (1 + N). A system tested against its own copy therefore has difference 0 and p = 1
exactly, no p is 0, and exchanging the systems changes nothing. Equal within rounding counts as equal
(`arithmetic.TIE_TOLERANCE`, relative to the larger of the two scores).

*Randomisation*: every resample exchanges the two rows of each unit with probability 1/2 (flips the sign of the unit's
difference) and computes the difference d* anew; extreme is |d*| >= |d|. Where all 2^n sign flips of n units are no more
than N, each is made once, and p is the share of extreme ones. A score of 0/0 is 0 here; any statistic makes the test
honest.

*max-T* (step-down, Westfall and Young 1993): all pairs share the sign flips. Differences are divided by the scale of
their pair, the root of the sum of the squared contributions of the units, which no sign flip changes. Pairs are taken
in the order of |d| / scale, the largest first; the p of a pair is the share of resamples in which the largest
|d*| / scale of this pair and of all that come later reaches its own, and at least the p of the pair before.

*HSD*: every resample permutes the rows of each unit and computes the largest difference of two scores, with a baseline
that from the baseline; p is the share of permutations in which that reaches the difference of the pair. Where all
permutations are no more than N, each is made once.

Formulas, conditions and sources: docs/statistics/families.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from cs_score.base.errors import UsageError, did_you_mean
from cs_score.base.records import Record
from cs_score.base.runtime import Late
from cs_score.measures.registry import Ratio
from cs_score.statistics.arithmetic import Floats, divide, possible_rounding
from cs_score.statistics.draws import all_exchanges, permuted_digit_sums, random_exchanges, resampled_digit_sums
from cs_score.statistics.options import Family, PairedTest, Resampling, can_make_all_exchanges, monte_carlo_p_value
from cs_score.statistics.resampling import ResampledSystems

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Late("numpy")

Pair: TypeAlias = tuple[int, int]
"""Two systems by their position."""

PValues: TypeAlias = list[list[float]]
"""P-values by measure and pair."""

MOST_SYSTEMS: Final = 100
"""Systems of which all pairs are tested; 100 are 4,950 pairs, and time and memory grow with the square."""

MOST_DIFFERING: Final = 0.15
"""The largest share of units in which two near-copies differ."""

# ---- The pairs


def family_pairs(systems: Sequence[str], resampling: Resampling) -> list[Pair]:
    """Return the pairs of a family by the positions of the systems: all pairs, or the pairs with the baseline.

    `["A", "B", "C"]` gives `[(0, 1), (0, 2), (1, 2)]`, with the baseline B `[(1, 0), (1, 2)]`. Raises UsageError for a
    baseline that is no system, and without a baseline for more than `MOST_SYSTEMS` systems.
    """
    positions = range(len(systems))
    if not resampling.baseline:
        if len(systems) > MOST_SYSTEMS:
            raise UsageError(
                f"{len(systems):,} systems are {math.comb(len(systems), 2):,} pairs; all pairs are tested of at most "
                f"{MOST_SYSTEMS} systems: --baseline RUN tests each system against one of them"
            )
        return list(combinations(positions, 2))
    if resampling.baseline not in systems:
        hint = did_you_mean(resampling.baseline, systems) or f"; there are {', '.join(systems)}"
        raise UsageError(f"the baseline {resampling.baseline} is none of the systems{hint}")
    baseline = systems.index(resampling.baseline)
    return [(baseline, position) for position in positions if position != baseline]


def near_copies(systems: ResampledSystems, pairs: Sequence[Pair], measure: int = 0) -> list[list[int]]:
    """Return the groups of systems that are nearly the same, each as the positions of its systems: `[[0, 3]]`.

    Two systems are near-copies if they differ in at most 15 % of the units, without the units in which neither has
    anything (0/0). A system belongs to a group if it is a near-copy of any member. A group has at least two systems.
    """
    group_by_system = list(range(len(systems.observed_scores)))
    for first, second in pairs:
        first_ratio = systems.unit_ratios_of(first, measure)
        second_ratio = systems.unit_ratios_of(second, measure)
        if _are_near_copies(first_ratio, second_ratio):
            # All systems of the second system's group change to the group of the first system.
            joined_group = group_by_system[first]
            emptied_group = group_by_system[second]
            group_by_system = [joined_group if group == emptied_group else group for group in group_by_system]
    systems_by_group: dict[int, list[int]] = {}
    for system, group in enumerate(group_by_system):
        systems_by_group.setdefault(group, []).append(system)
    return [group for group in systems_by_group.values() if len(group) > 1]


def _are_near_copies(first: Ratio, second: Ratio) -> bool:
    """Return whether two systems differ in at most 15 % of the units in which one of them has something."""
    first_has_content = (first.numerator != 0) | (first.denominator != 0)
    second_has_content = (second.numerator != 0) | (second.denominator != 0)
    content_count = int(np.count_nonzero(first_has_content | second_has_content))
    differs = _differ(first.numerator, second.numerator) | _differ(first.denominator, second.denominator)
    differing_count = int(np.count_nonzero(differs))
    return differing_count <= MOST_DIFFERING * content_count


def _differ(first: Floats, second: Floats) -> NDArray[np.bool_]:
    """Return for each unit whether the numbers of two systems for it differ by more than rounding.

    `first` and `second` (units,) are numerators of the two systems, or denominators.
    """
    return np.asarray(np.abs(first - second) > possible_rounding(first, second))


def groups_of_copies(
    systems: ResampledSystems, names: Sequence[str], family: Sequence[Pair], measure: int = 0
) -> list[list[str]]:
    """Return the names of systems that are near-copies of each other: `[["A", "B"]]`.

    All pairs of systems are compared; if there are too many for that, only the pairs of the `family`.
    """
    if len(names) <= MOST_SYSTEMS:
        pairs: Sequence[Pair] = list(combinations(range(len(names)), 2))
    else:
        pairs = family
    groups = []
    for group in near_copies(systems, pairs, measure):
        groups.append([names[system] for system in group])
    return groups


def units_with_content(systems: ResampledSystems) -> list[int]:
    """Return for each measure the number of units that decide something: in which some system is not 0/0."""
    has_content = (systems.unit_ratios.numerator != 0) | (
        systems.unit_ratios.denominator != 0
    )  # (units, systems, measures)
    some_system_has_content = has_content.any(axis=1)  # (units, measures)
    return [int(count) for count in some_system_has_content.sum(axis=0)]


# ---- Sign flips, and max-T over them


class SignFlipTests(Record):
    """The p-values of pairs of systems, made of sign flips.

    `flip_count` is the number of sign flips; if `is_exact`, these are all possible ones. `single` has the p-value of
    each pair without correction, `max_t` the p-values after the correction max-T: empty unless they were asked for.
    """

    flip_count: int
    is_exact: bool
    uncorrected: PValues
    corrected_by_max_t: PValues


_CELLS: Final = 1 << 21
"""Pairs times measures times resamples whose differences are held at once, at 8 bytes each; changes no result."""

_FEWEST_ROWS: Final = 32
"""Resamples below which the overhead of each step counts more than memory."""


def sign_flip_tests(systems: ResampledSystems, pairs: Sequence[Pair], *, with_max_t: bool = False) -> SignFlipTests:
    """Return the p-values of pairs of systems by the randomisation test, which exchanges the systems unit by unit.

    There are as many random exchanges (sign flips) as the settings say; all 2^units are made instead if they are no
    more. All pairs share them, so that the p-value of a pair does not depend on the other systems. If `with_max_t`,
    there are also p-values that are corrected for the number of pairs.
    """
    units = systems.unit_count
    is_exact = can_make_all_exchanges(units, systems.settings.resamples)
    if is_exact:
        flip_count = 2**units
        draws = all_exchanges(units)
    else:
        flip_count = systems.settings.resamples
        draws = random_exchanges(systems.settings.seed, units, flip_count)
    observed = _observed_differences(systems, pairs)  # (pairs, measures)
    extreme_counts = np.zeros(observed.shape, dtype=np.int64)
    max_t = None
    if with_max_t:
        max_t = _MaxT(observed, _scales(systems.unit_ratios, pairs))

    # Each flip is counted as extreme or not, some flips at a time so that memory suffices.
    rows_at_once = max(_FEWEST_ROWS, _CELLS // observed.size)
    for sums in resampled_digit_sums(systems.statistics, draws):
        for start in range(0, len(sums), rows_at_once):
            differences = _flipped_differences(systems, pairs, sums[start : start + rows_at_once])
            is_extreme = differences >= observed[..., np.newaxis]  # (pairs, measures, resamples)
            extreme_counts += np.count_nonzero(is_extreme, axis=2)
            if max_t is not None:
                max_t.count_extremes(differences)

    return SignFlipTests(
        flip_count=flip_count,
        is_exact=is_exact,
        uncorrected=_p_values(extreme_counts, flip_count, is_exact=is_exact),
        corrected_by_max_t=[] if max_t is None else max_t.p_values(flip_count, is_exact=is_exact),
    )


def _observed_differences(systems: ResampledSystems, pairs: Sequence[Pair]) -> Floats:
    """Return how far the scores of each pair differ, as (pairs, measures).

    The largest possible effect of rounding is subtracted, so that a resample with the same difference counts as
    extreme.
    """
    first_systems = [first for first, _ in pairs]
    second_systems = [second for _, second in pairs]
    first_scores = systems.observed_scores[first_systems]  # (pairs, measures)
    second_scores = systems.observed_scores[second_systems]
    return np.asarray(np.abs(first_scores - second_scores) - possible_rounding(first_scores, second_scores))


def _flipped_differences(systems: ResampledSystems, pairs: Sequence[Pair], swapped: Floats) -> Floats:
    """Return how far the scores of each pair differ after sign flips: (pairs, measures, resamples).

    `swapped` (resamples, systems, digits) are the sums over the units whose rows the two systems exchange in each
    resample. A system then has its own rows of all other units, and the rows of the other system of these.
    """
    unswapped = systems.statistics.total_digit_sums() - swapped
    differences: Floats = np.empty((len(pairs), systems.observed_scores.shape[1], len(swapped)))
    for place, (first, second) in enumerate(pairs):
        first_sums = unswapped[:, first] + swapped[:, second]
        second_sums = unswapped[:, second] + swapped[:, first]
        sums_of_pair = np.stack([first_sums, second_sums])  # one call of the formula takes less time than two
        first_scores, second_scores = systems.scores_of_digit_sums(sums_of_pair)  # (resamples, measures) each
        np.abs(first_scores - second_scores, out=differences[place].T)
    return differences


def _scales(ratios: Ratio, pairs: Sequence[Pair]) -> Floats:
    """Return the scale of each pair's difference, by which max-T divides it: (pairs, measures).

    The scale is the square root of the sum of the squared contributions of the units to the difference, which
    `arithmetic.unit_contributions` defines. A score of 0/0 counts as 0 here. The scale is 0 if the systems differ in no
    unit by more than rounding. `ratios` has the numerators and denominators (units, systems, measures).
    """
    x = ratios.numerator
    y = ratios.denominator
    total_y = y.sum(axis=0)  # (systems, measures)
    scores = divide(x.sum(axis=0), total_y)
    measure_count = x.shape[2]
    scales: Floats = np.zeros((len(pairs), measure_count))
    for place, (first, second) in enumerate(pairs):
        mean_score = (scores[first] + scores[second]) / 2
        first_x = x[:, first]  # (units, measures)
        second_x = x[:, second]
        first_y = y[:, first]
        second_y = y[:, second]
        # The division by the mean denominator follows at the end.
        contributions = (second_x - first_x) - mean_score * (second_y - first_y)
        largest = np.abs(contributions).max(axis=0)
        rounding_of_units = possible_rounding(first_x, second_x, mean_score * first_y, mean_score * second_y)
        rounding = 4 * rounding_of_units.max(axis=0)  # a contribution is made of four numbers
        # Divided by the largest first: the square of a small number may be too small to be represented.
        relative_contributions = divide(contributions, largest)
        root_of_squares = np.sqrt((relative_contributions**2).sum(axis=0))
        mean_y = (total_y[first] + total_y[second]) / 2
        scale = divide(largest * root_of_squares, mean_y)
        scales[place] = np.where(largest > rounding, scale, 0.0)
    return scales


class _OrderedPairs(NamedTuple):
    """The pairs that max-T tests under a measure, in the order of their standardised differences, the largest first.

    `places` (tested,) are their places among all pairs. `scales` and `observed` (tested, 1) are their scales and their
    standardised observed differences.
    """

    places: NDArray[np.intp]
    scales: Floats
    observed: Floats


def _order_pairs(observed: Floats, scales: Floats) -> _OrderedPairs:
    """Return the pairs whose scale is above 0 in the order of observed difference / scale; both are (pairs,)."""
    tested_places = np.flatnonzero(scales > 0)
    standardised = observed[tested_places] / scales[tested_places]
    order = np.argsort(-standardised, kind="stable")
    places = tested_places[order]
    ordered_scales = scales[places]
    ordered_differences = standardised[order]
    return _OrderedPairs(
        places=places, scales=ordered_scales[:, np.newaxis], observed=ordered_differences[:, np.newaxis]
    )


class _MaxT:
    """The correction max-T: it counts in how many resamples the largest standardised difference reaches a pair's own.

    A standardised difference is |difference| / scale. A pair whose units do not differ is not tested.
    """

    def __init__(self, observed: Floats, scales: Floats) -> None:
        """Order the pairs under each measure by their standardised differences, and begin to count at 0.

        `observed` (pairs, measures) are the observed differences, `scales` (pairs, measures) their scales.
        """
        self._pair_count = len(observed)
        self._pairs_of_measures: list[_OrderedPairs] = []
        self._counts_of_measures: list[NDArray[np.int64]] = []
        for measure in range(observed.shape[1]):
            pairs = _order_pairs(observed[:, measure], scales[:, measure])
            self._pairs_of_measures.append(pairs)
            self._counts_of_measures.append(np.zeros(len(pairs.places), dtype=np.int64))

    def count_extremes(self, differences: Floats) -> None:
        """Add to the count of each pair the resamples that are at least as extreme as its observed difference.

        `differences` (pairs, measures, resamples) are those of some resamples. A resample is extreme for a pair if the
        largest standardised difference of this pair and of all pairs after it reaches the observed one of this pair.
        """
        for measure, pairs in enumerate(self._pairs_of_measures):
            standardised = differences[pairs.places, measure]  # (tested pairs, resamples)
            standardised /= pairs.scales
            from_last_pair = standardised[::-1]
            largest_from_last_pair = np.maximum.accumulate(from_last_pair, axis=0)
            largest_of_later_pairs = largest_from_last_pair[::-1]  # in the order of the pairs again
            is_extreme = largest_of_later_pairs >= pairs.observed
            self._counts_of_measures[measure] += np.count_nonzero(is_extreme, axis=1)

    def p_values(self, flip_count: int, *, is_exact: bool) -> PValues:
        """Return the p-values by measure and pair, after all `flip_count` sign flips have been counted.

        A pair whose units do not differ has the p-value 1. If `is_exact`, all possible sign flips were made.
        """
        p_by_measure = []
        for pairs, extreme_counts in zip(self._pairs_of_measures, self._counts_of_measures):
            # A pair has at least the p-value of the pair before it.
            rising_counts = np.maximum.accumulate(extreme_counts)
            p_by_pair = [1.0] * self._pair_count
            for place, count in zip(pairs.places.tolist(), rising_counts.tolist()):
                p_by_pair[place] = _p_value(count, flip_count, is_exact=is_exact)
            p_by_measure.append(p_by_pair)
        return p_by_measure


def _p_values(extreme_counts: NDArray[np.int64], resamples: int, *, is_exact: bool) -> PValues:
    """Return p-values by measure and pair from `extreme_counts` (pairs, measures), the numbers of extreme resamples.

    If `is_exact`, all possible resamples were made.
    """
    p_by_measure = []
    for counts_of_measure in extreme_counts.T.tolist():
        p_by_measure.append([_p_value(count, resamples, is_exact=is_exact) for count in counts_of_measure])
    return p_by_measure


def _p_value(extreme_count: int, resamples: int, *, is_exact: bool) -> float:
    """Return the p-value if so many of the resamples are extreme.

    It is their share if all possible resamples were made (`is_exact`), otherwise (1 + count) / (1 + resamples).
    """
    if is_exact:
        return extreme_count / resamples
    return monte_carlo_p_value(extreme_count, resamples)


# ---- Other tests and corrections


def sign_test_p_values(ratios: Ratio) -> list[float] | None:
    """Return the exact two-sided p-values of the sign test (McNemar) for two systems, by measure.

    `ratios` has the numerators and denominators (units, 2, measures). If the systems are equally good, each of them
    wins a unit in which they differ with the probability 1/2. Returns None unless all units are right or wrong: 0 or 1
    over a denominator of 1.
    """
    values = ratios.numerator
    is_right_or_wrong = ((values == 0) | (values == 1)) & (ratios.denominator == 1)
    if not is_right_or_wrong.all():
        return None
    differences = values[:, 1] - values[:, 0]  # (units, measures)
    p_values = []
    for differences_of_measure in differences.T:
        wins = int((differences_of_measure > 0).sum())
        losses = int((differences_of_measure < 0).sum())
        p_values.append(_sign_test_p(wins, losses))
    return p_values


def _sign_test_p(wins: int, losses: int) -> float:
    """Return the exact two-sided p-value of the sign test: `_sign_test_p(5, 0)` gives 2 / 32.

    It is twice the probability that the rarer outcome is at most as frequent as it was.
    """
    differing_units = wins + losses
    rarer_count = min(wins, losses)
    # How many of all 2^differing_units outcomes have at most so many wins; as many have at most so many losses.
    ways = sum(math.comb(differing_units, count) for count in range(rarer_count + 1))
    p: float = 2 * ways / 2**differing_units
    return min(1.0, p)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values of a family, adjusted for their number (Holm 1979), in the order given.

    Of n p-values the smallest is multiplied by n, the next by n - 1 and so on; each is at least the one before and at
    most 1. `[0.04, 0.01]` gives `[0.04, 0.02]`. If all hypotheses with an adjusted p-value of at most the level are
    rejected, the probability of any false rejection is at most the level.
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


def _hsd_p_values(systems: ResampledSystems, pairs: Sequence[Pair], permutations: int, *, is_exact: bool) -> PValues:
    """Return the p-values of the correction HSD by measure and pair.

    A permutation counts for a pair if its largest difference is at least that of the pair. If `is_exact`, all possible
    permutations are made, and `permutations` must be their number; otherwise so many are drawn at random.
    """
    observed = _observed_differences(systems, pairs)
    extreme_counts = np.zeros(observed.shape, dtype=np.int64)
    baseline = None
    if len(pairs) < math.comb(len(systems.observed_scores), 2):
        baseline, _ = pairs[0]  # the family is not all pairs: each pair has the baseline first
    seed = None if is_exact else systems.settings.seed
    for sums in permuted_digit_sums(systems.statistics, permutations, seed):
        scores = systems.scores_of_digit_sums(sums)  # (some permutations, systems, measures)
        largest_differences = _largest_differences(scores, baseline)
        largest_differences.sort(axis=0)
        for measure in range(observed.shape[1]):
            # How many of the sorted differences are smaller than that of each pair; all others are as extreme.
            smaller_counts = np.searchsorted(largest_differences[:, measure], observed[:, measure])
            extreme_counts[:, measure] += len(largest_differences) - smaller_counts
    return _p_values(extreme_counts, permutations, is_exact=is_exact)


def _largest_differences(scores: Floats, baseline: int | None) -> Floats:
    """Return the largest difference of two systems in each of N permutations, as (N, measures).

    With the position of a `baseline`, only the differences of the other systems from it count. `scores` are the scores
    (N, systems, measures) in the permutations.
    """
    if baseline is None:
        return np.asarray(scores.max(axis=1) - scores.min(axis=1))
    baseline_scores = scores[:, [baseline]]  # (N, 1, measures)
    differences = np.abs(scores - baseline_scores)
    return np.asarray(differences.max(axis=1))


# ---- A family


class FamilyTests(Record):
    """The tests of a family of pairs: the p-values by measure and pair, without correction and corrected."""

    family: Family
    pairs: Sequence[Pair]
    p: PValues
    p_adjusted: PValues

    def adjusted_p_by_pair(self, measure: int = 0) -> dict[frozenset[int], float]:
        """Return the corrected p-values under a measure by pair: `{frozenset({0, 1}): 0.03}` for systems 0 and 1."""
        p_by_pair = {}
        for pair, p in zip(self.pairs, self.p_adjusted[measure]):
            p_by_pair[frozenset(pair)] = p
        return p_by_pair


def family_tests(systems: ResampledSystems, pairs: Sequence[Pair], *, with_sign_test: bool = False) -> FamilyTests:
    """Test all pairs of a family under each measure, and return their p-values, also corrected for their number.

    If `with_sign_test`, two systems whose units are all right or wrong are compared by the exact sign test. All other
    systems are compared by the randomisation test.
    """
    settings = systems.settings
    test: PairedTest = "randomisation"
    flips = None
    is_single_pair = len(systems.observed_scores) == 2
    if with_sign_test and is_single_pair and not settings.clusters:
        flips = _sign_test_of_pair(systems)
    if flips is not None:
        test = "sign"
    else:
        flips = sign_flip_tests(systems, pairs, with_max_t=settings.correction_in_force == "maxt")
    corrected = _correct_for_pairs(systems, pairs, flips)
    family = Family(
        correction=settings.correction_in_force,
        pairs=len(pairs),
        permutations=corrected.resample_count,
        clusters=systems.unit_count if settings.clusters else None,
        systems=len(systems.observed_scores),
        test=test,
        exact=corrected.is_exact,
        baseline=settings.baseline,
    )
    return FamilyTests(family=family, pairs=pairs, p=flips.uncorrected, p_adjusted=corrected.p_values)


def _sign_test_of_pair(systems: ResampledSystems) -> SignFlipTests | None:
    """Return the p-values of the exact sign test of two systems; no sign flips are made for them.

    Returns None unless all units are right or wrong.
    """
    p_values = sign_test_p_values(systems.unit_ratios)
    if p_values is None:
        return None
    p_by_measure = [[p] for p in p_values]  # by measure and pair, of which there is one
    return SignFlipTests(flip_count=0, is_exact=True, uncorrected=p_by_measure, corrected_by_max_t=p_by_measure)


class _Corrected(NamedTuple):
    """P-values that are corrected for the number of pairs, and the number of resamples that they are made of.

    If `is_exact`, these are all possible resamples.
    """

    p_values: PValues
    resample_count: int
    is_exact: bool


def _correct_for_pairs(systems: ResampledSystems, pairs: Sequence[Pair], flips: SignFlipTests) -> _Corrected:
    """Return the p-values of a family by measure and pair, corrected as the settings of the systems say.

    `flips` has the p-values before correction. HSD does not use them: it makes permutations of its own.
    """
    correction = systems.settings.correction_in_force
    if correction == "hsd":
        return _correct_by_hsd(systems, pairs)
    if correction == "maxt":
        p_values = flips.corrected_by_max_t
    elif correction == "holm":
        p_values = [holm(p_of_pairs) for p_of_pairs in flips.uncorrected]
    else:
        p_values = flips.uncorrected
    return _Corrected(p_values, flips.flip_count, flips.is_exact)


def _correct_by_hsd(systems: ResampledSystems, pairs: Sequence[Pair]) -> _Corrected:
    """Return the p-values of HSD, from all permutations of the systems in each unit if these are few enough."""
    resamples = systems.settings.resamples
    permutations_of_unit = math.factorial(len(systems.observed_scores))
    # Compared as logarithms: for many units the number itself has thousands of digits. The addend covers rounding.
    log_of_all_permutations = systems.unit_count * math.log(permutations_of_unit)
    is_exact = log_of_all_permutations <= math.log(resamples) + 1e-9
    permutations = permutations_of_unit**systems.unit_count if is_exact else resamples
    p_values = _hsd_p_values(systems, pairs, permutations, is_exact=is_exact)
    return _Corrected(p_values, permutations, is_exact)
