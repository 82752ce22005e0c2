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
from typing import TYPE_CHECKING, Final, TypeAlias

from cs_score.base.errors import UsageError, nearest
from cs_score.base.records import Record
from cs_score.base.runtime import Late
from cs_score.measures.registry import Ratio
from cs_score.statistics.arithmetic import Floats, divide, noise
from cs_score.statistics.draws import all_swaps, digit_sums, permuted_sums, swap_flags
from cs_score.statistics.options import Family, PairedTest, Resampling, add_one, is_enumerated
from cs_score.statistics.resampling import Systems

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

NEAR_COPIES: Final = 0.15
"""The largest share of units in which two near-copies differ."""

# ---- The pairs


def family_pairs(systems: Sequence[str], resampling: Resampling) -> list[Pair]:
    """Return the pairs of a family by the positions of the systems: all pairs, or the pairs with the baseline.

    `["A", "B", "C"]` gives `[(0, 1), (0, 2), (1, 2)]`. Raises UsageError for a baseline that is no system, and
    without a baseline for more than `MOST_SYSTEMS` systems.
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
        hint = nearest(resampling.baseline, systems) or f"; there are {', '.join(systems)}"
        raise UsageError(f"the baseline {resampling.baseline} is none of the systems{hint}")
    baseline = systems.index(resampling.baseline)
    return [(baseline, position) for position in positions if position != baseline]


def near_copies(systems: Systems, pairs: Sequence[Pair], measure: int = 0) -> list[list[int]]:
    """Return the groups of systems that are joined by pairs which differ in at most 15 % of their units.

    Units in which neither system of a pair has anything (0/0) are not counted. A group has the positions of at least
    two systems: `[[0, 3]]`.
    """
    group_by_system = list(range(len(systems.points)))
    for first, second in pairs:
        if _are_near_copies(systems.unit_ratio(first, measure), systems.unit_ratio(second, measure)):
            joined_group = group_by_system[first]
            emptied_group = group_by_system[second]
            group_by_system = [joined_group if group == emptied_group else group for group in group_by_system]
    systems_by_group: dict[int, list[int]] = {}
    for system, group in enumerate(group_by_system):
        systems_by_group.setdefault(group, []).append(system)
    return [group for group in systems_by_group.values() if len(group) > 1]


def _are_near_copies(first: Ratio, second: Ratio) -> bool:
    """Return whether two systems differ in at most 15 % of the units in which one of them has something."""
    has_content = (
        (first.numerator != 0) | (second.numerator != 0) | (first.denominator != 0) | (second.denominator != 0)
    )
    differs = _differ(first.numerator, second.numerator) | _differ(first.denominator, second.denominator)
    return bool(np.count_nonzero(differs) <= NEAR_COPIES * int(np.count_nonzero(has_content)))


def _differ(first: Floats, second: Floats) -> NDArray[np.bool_]:
    """Return for each unit whether two numbers differ by more than rounding."""
    return np.asarray(np.abs(first - second) > noise(first, second))


def groups_of_copies(
    systems: Systems, names: Sequence[str], family: Sequence[Pair], measure: int = 0
) -> list[list[str]]:
    """Return the names of systems that are near-copies of each other: `[["A", "B"]]`.

    All pairs of systems are looked at; if there are too many to test them all, only the pairs of the family.
    """
    pairs = family
    if len(names) <= MOST_SYSTEMS:
        pairs = list(combinations(range(len(names)), 2))
    groups = []
    for group in near_copies(systems, pairs, measure):
        groups.append([names[system] for system in group])
    return groups


def units_with_content(systems: Systems) -> list[int]:
    """Return for each measure the largest number of units in which a system has something, units that are not 0/0."""
    has_content = (systems.ratios.numerator != 0) | (systems.ratios.denominator != 0)
    return [int(count) for count in has_content.any(axis=1).sum(axis=0)]


# ---- Sign flips, and max-T over them


class SignFlips(Record):
    """The p-values of sign flips.

    `flips` is their number, all there are where `is_exact`. `p` tests each pair by itself; `p_max_t` has the p-values
    of max-T over all pairs, if these were asked for.
    """

    flips: int
    is_exact: bool
    p: PValues
    p_max_t: PValues


_CELLS: Final = 1 << 21
"""Pairs times measures times resamples whose differences are held at once, at 8 bytes each; changes no result."""

_FEWEST_ROWS: Final = 32
"""Resamples below which the overhead of each step counts more than memory."""


def sign_flip_tests(systems: Systems, pairs: Sequence[Pair], *, with_max_t: bool = False) -> SignFlips:
    """Return the p-values of pairs of systems by random sign flips of units, or by all of them if they are no more.

    All pairs share the sign flips, so that the p-values of a pair do not depend on the other systems. With `with_max_t`
    there are also p-values that are corrected for the number of pairs.
    """
    units = systems.units
    flips = systems.settings.resamples
    is_exact = is_enumerated(units, flips)
    if is_exact:
        flips = 2**units
        draws = all_swaps(units)
    else:
        draws = swap_flags(systems.settings.seed, units, flips)
    observed = _observed_differences(systems, pairs)
    extreme_counts = np.zeros(observed.shape, dtype=np.int64)
    max_t = _MaxT(observed, _scales(systems.ratios, pairs)) if with_max_t else None
    rows_at_once = max(_FEWEST_ROWS, _CELLS // observed.size)
    for sums in digit_sums(systems.statistics, draws):
        for start in range(0, len(sums), rows_at_once):
            differences = _flipped_differences(systems, pairs, sums[start : start + rows_at_once])
            extreme_counts += np.count_nonzero(differences >= observed[..., np.newaxis], axis=2)
            if max_t is not None:
                max_t.count(differences)
    return SignFlips(
        flips=flips,
        is_exact=is_exact,
        p=_p_values(extreme_counts, flips, is_exact=is_exact),
        p_max_t=[] if max_t is None else max_t.p_values(flips, is_exact=is_exact),
    )


def _observed_differences(systems: Systems, pairs: Sequence[Pair]) -> Floats:
    """Return the size of the difference of each pair, less what rounding may add to it: (pairs, measures)."""
    first_systems, second_systems = np.array(pairs).T
    first = systems.points[first_systems]
    second = systems.points[second_systems]
    return np.asarray(np.abs(first - second) - noise(first, second))


def _flipped_differences(systems: Systems, pairs: Sequence[Pair], swapped: Floats) -> Floats:
    """Return the sizes of the differences of each pair after sign flips: (pairs, measures, resamples).

    `swapped` (resamples, systems, digits) are the sums of the units whose rows are exchanged.
    """
    unswapped = systems.statistics.total() - swapped
    differences: Floats = np.empty((len(pairs), systems.points.shape[1], len(swapped)))
    for place, (first, second) in enumerate(pairs):
        mixed_sums = np.stack([unswapped[:, first] + swapped[:, second], unswapped[:, second] + swapped[:, first]])
        scores = systems.scores(mixed_sums)
        np.abs(scores[0] - scores[1], out=differences[place].T)
    return differences


def _scales(ratios: Ratio, pairs: Sequence[Pair]) -> Floats:
    """Return the root of the sum of the squared contributions of the units to each difference: (pairs, measures).

    A unit contributes as in `arithmetic.contributions`; here a score of 0/0 is 0. The scale is 0 where the units do not
    differ but for rounding. `ratios` has the numerators and denominators (units, systems, measures).
    """
    x = ratios.numerator
    y = ratios.denominator
    total_y = y.sum(axis=0)
    scores = divide(x.sum(axis=0), total_y)
    scales: Floats = np.zeros((len(pairs), x.shape[2]))
    for place, (first, second) in enumerate(pairs):
        mean_score = (scores[first] + scores[second]) / 2
        contributions = (x[:, second] - x[:, first]) - mean_score * (y[:, second] - y[:, first])
        largest = np.abs(contributions).max(axis=0)
        rounding = 4 * noise(x[:, first], x[:, second], mean_score * y[:, first], mean_score * y[:, second]).max(axis=0)
        # Divided by the largest first: the square of a small number may be too small to be represented.
        root = np.sqrt((divide(contributions, largest) ** 2).sum(axis=0))
        mean_y = (total_y[first] + total_y[second]) / 2
        scales[place] = np.where(largest > rounding, divide(largest * root, mean_y), 0.0)
    return scales


class _MaxT:
    """Counts, draw by draw, how often the largest standardised difference reaches that of each pair.

    The pairs of each measure are in the order of their standardised differences, the largest first. A pair whose units
    do not differ is not tested.
    """

    def __init__(self, observed: Floats, scales: Floats) -> None:
        """Order the pairs of each measure.

        `observed` and `scales` (pairs, measures) are the observed differences and what they are divided by.
        """
        self._pair_count = len(observed)
        self._order: list[NDArray[np.intp]] = []
        self._scales: list[Floats] = []
        self._observed: list[Floats] = []
        self._extreme_counts: list[NDArray[np.int64]] = []
        for measure in range(observed.shape[1]):
            tested = np.flatnonzero(scales[:, measure] > 0)
            standardised = observed[tested, measure] / scales[tested, measure]
            order = np.argsort(-standardised, kind="stable")
            self._order.append(tested[order])
            self._scales.append(scales[tested[order], measure, np.newaxis])
            self._observed.append(standardised[order, np.newaxis])
            self._extreme_counts.append(np.zeros(len(order), dtype=np.int64))

    def count(self, differences: Floats) -> None:
        """Count the extreme ones among the differences (pairs, measures, resamples) of some resamples."""
        for measure, order in enumerate(self._order):
            standardised = differences[order, measure]
            standardised /= self._scales[measure]
            # From the last pair to the first, so that each has the largest of itself and of all that come later.
            largest = np.maximum.accumulate(standardised[::-1], axis=0)[::-1]
            self._extreme_counts[measure] += np.count_nonzero(largest >= self._observed[measure], axis=1)

    def p_values(self, flips: int, *, is_exact: bool) -> PValues:
        """Return the p-values by measure and pair: 1 for a pair whose units do not differ."""
        p_by_measure = []
        for order, extreme_counts in zip(self._order, self._extreme_counts):
            # A pair has at least the p-value of the pair before it.
            rising_counts = np.maximum.accumulate(extreme_counts)[:, np.newaxis]
            [tested_p_values] = _p_values(rising_counts, flips, is_exact=is_exact)
            p_by_pair = np.ones(self._pair_count)
            p_by_pair[order] = tested_p_values
            p_by_measure.append(p_by_pair.tolist())
        return p_by_measure


def _p_values(extreme_counts: NDArray[np.int64], resamples: int, *, is_exact: bool) -> PValues:
    """Return p-values by measure and pair from the numbers (pairs, measures) of extreme resamples.

    They are plain shares where all possible resamples were made (`is_exact`), otherwise (1 + count) / (1 + resamples).
    """
    p_by_measure = []
    for counts in extreme_counts.T.tolist():
        if is_exact:
            p_by_measure.append([count / resamples for count in counts])
        else:
            p_by_measure.append([add_one(count, resamples) for count in counts])
    return p_by_measure


# ---- Other tests and corrections


def sign_test_p_values(ratios: Ratio) -> list[float] | None:
    """Return the exact two-sided p-values of the sign test (McNemar) for two systems, by measure.

    `ratios` has the numerators and denominators (units, 2, measures). Of the units in which the two systems differ
    either system wins half, if they are equally good. None where units are not all right or wrong: 0 or 1 over 1.
    """
    values = ratios.numerator
    if not ((values == 0) | (values == 1)).all() or not (ratios.denominator == 1).all():
        return None
    p_values = []
    for differences in (values[:, 1] - values[:, 0]).T:
        wins = int((differences > 0).sum())
        losses = int((differences < 0).sum())
        p_values.append(_sign_test_p(wins, losses))
    return p_values


def _sign_test_p(wins: int, losses: int) -> float:
    """Return the exact two-sided p-value of the sign test: `_sign_test_p(5, 0)` gives 2 / 32."""
    units = wins + losses
    ways = sum(math.comb(units, count) for count in range(min(wins, losses) + 1))
    p: float = 2 * ways / 2**units
    return min(1.0, p)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values of a family, adjusted for their number (Holm 1979), in the order given.

    Of n p-values the smallest is multiplied by n, the next by n - 1 and so on; each is at least the one before and at
    most 1. Rejecting where one is at most the level keeps the probability of any false rejection at the level.
    `[0.04, 0.01]` gives `[0.04, 0.02]`.
    """
    adjusted = [0.0] * len(p_values)
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    largest = 0.0
    for rank, index in enumerate(order):
        factor = len(p_values) - rank
        largest = max(largest, min(1.0, factor * p_values[index]))
        adjusted[index] = largest
    return adjusted


def _hsd_p_values(systems: Systems, pairs: Sequence[Pair], permutations: int, *, is_exact: bool) -> PValues:
    """Return the p-values of HSD by measure and pair; exact ones are made of all permutations."""
    observed = _observed_differences(systems, pairs)
    extreme_counts = np.zeros(observed.shape, dtype=np.int64)
    has_baseline = len(pairs) < math.comb(len(systems.points), 2)
    baseline = pairs[0][0] if has_baseline else None
    seed = None if is_exact else systems.settings.seed
    for sums in permuted_sums(systems.statistics, permutations, seed):
        largest = _largest_differences(systems.scores(sums), baseline)
        largest.sort(axis=0)
        for measure in range(observed.shape[1]):
            smaller_counts = np.searchsorted(largest[:, measure], observed[:, measure])
            extreme_counts[:, measure] += len(largest) - smaller_counts
    return _p_values(extreme_counts, permutations, is_exact=is_exact)


def _largest_differences(scores: Floats, baseline: int | None) -> Floats:
    """Return the largest difference of two systems, or of one from the baseline, in each permutation: (N, measures).

    `scores` are (N, systems, measures).
    """
    if baseline is None:
        return np.asarray(scores.max(axis=1) - scores.min(axis=1))
    return np.asarray(np.abs(scores - scores[:, [baseline]]).max(axis=1))


# ---- A family


class FamilyTests(Record):
    """A family of tests: the p-values of each measure in the order of the pairs, as they are and corrected."""

    family: Family
    pairs: Sequence[Pair]
    p: PValues
    p_adjusted: PValues

    def adjusted(self, measure: int = 0) -> dict[frozenset[int], float]:
        """Return the corrected p-values of a measure by the positions of the two systems."""
        p_by_pair = {}
        for pair, p in zip(self.pairs, self.p_adjusted[measure]):
            p_by_pair[frozenset(pair)] = p
        return p_by_pair


def family_tests(systems: Systems, pairs: Sequence[Pair], *, has_signs: bool = False) -> FamilyTests:
    """Test all pairs of a family under each measure, and correct the p-values for their number.

    With `has_signs` two systems whose units are right or wrong get the exact sign test.
    """
    settings = systems.settings
    system_count = len(systems.points)
    sign_p_values = None
    if has_signs and system_count == 2 and not settings.clusters:
        sign_p_values = sign_test_p_values(systems.ratios)
    test: PairedTest = "randomisation"
    if sign_p_values is not None:
        test = "sign"
        p_values = [[p] for p in sign_p_values]  # there is one pair only
        flips = SignFlips(flips=0, is_exact=True, p=p_values, p_max_t=p_values)
    else:
        flips = sign_flip_tests(systems, pairs, with_max_t=settings.correction_in_force == "maxt")

    resamples = flips.flips
    is_exact = flips.is_exact
    match settings.correction_in_force:
        case "maxt":
            p_adjusted = flips.p_max_t
        case "holm":
            p_adjusted = [holm(p_of_measure) for p_of_measure in flips.p]
        case "hsd":
            log_permutations = systems.units * math.log(math.factorial(system_count))
            is_exact = log_permutations <= math.log(settings.resamples) + 1e-9
            resamples = math.factorial(system_count) ** systems.units if is_exact else settings.resamples
            p_adjusted = _hsd_p_values(systems, pairs, resamples, is_exact=is_exact)
        case "none":
            p_adjusted = flips.p
    family = Family(
        correction=settings.correction_in_force,
        pairs=len(pairs),
        permutations=resamples,
        clusters=systems.units if settings.clusters else None,
        systems=system_count,
        test=test,
        exact=is_exact,
        baseline=settings.baseline,
    )
    return FamilyTests(family, pairs, flips.p, p_adjusted)
