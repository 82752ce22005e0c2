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
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final, TypeAlias

from cs_score.base.errors import UsageError, nearest
from cs_score.base.records import Record
from cs_score.base.runtime import Late
from cs_score.measures.registry import Ratio
from cs_score.statistics.arithmetic import Floats, divide, noise
from cs_score.statistics.options import Family, PairedTest, Resampling, add_one, is_enumerated
from cs_score.statistics.resampling import Systems, all_swaps, digit_sums, permuted_sums, swap_flags

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
    """Return the pairs of a family: all, or those with the baseline.

    Raises UsageError for a baseline that is no system, and for more systems than all pairs can be tested of.
    """
    places = range(len(systems))
    if not resampling.baseline:
        if len(systems) > MOST_SYSTEMS:
            raise UsageError(
                f"{len(systems):,} systems are {math.comb(len(systems), 2):,} pairs; all pairs are tested of at most "
                f"{MOST_SYSTEMS} systems: --baseline RUN tests each system against one of them"
            )
        return list(combinations(places, 2))
    if resampling.baseline not in systems:
        hint = nearest(resampling.baseline, systems) or f"; there are {', '.join(systems)}"
        raise UsageError(f"the baseline {resampling.baseline} is none of the systems{hint}")
    base = systems.index(resampling.baseline)
    return [(base, place) for place in places if place != base]


def near_copies(systems: Systems, pairs: Sequence[Pair], measure: int = 0) -> list[list[int]]:
    """Return the groups of systems that are joined by pairs which differ in at most 15 % of their units.

    Units in which neither system of a pair has anything (0/0) are not counted.
    """
    group_of = list(range(len(systems.points)))
    for first, second in pairs:
        x = systems.ratios.numerator[:, [first, second], measure].T
        y = systems.ratios.denominator[:, [first, second], measure].T
        units = int(np.count_nonzero((x != 0).any(axis=0) | (y != 0).any(axis=0)))
        differs = (np.abs(x[0] - x[1]) > noise(x[0], x[1])) | (np.abs(y[0] - y[1]) > noise(y[0], y[1]))
        if np.count_nonzero(differs) <= NEAR_COPIES * units:
            joined, left = group_of[first], group_of[second]
            group_of = [joined if group == left else group for group in group_of]
    members: dict[int, list[int]] = {}
    for system, group in enumerate(group_of):
        members.setdefault(group, []).append(system)
    return [group for group in members.values() if len(group) > 1]


def groups_of_copies(
    systems: Systems, names: Sequence[str], family: Sequence[Pair], measure: int = 0
) -> list[list[str]]:
    """Return the names of systems that are near-copies of each other.

    All pairs of systems are looked at; of more systems than all pairs are tested of, those of the family.
    """
    pairs = family
    if len(names) <= MOST_SYSTEMS:
        pairs = list(combinations(range(len(names)), 2))
    return [[names[system] for system in group] for group in near_copies(systems, pairs, measure)]


def units_with_content(systems: Systems) -> list[int]:
    """Return for each measure the largest number of units in which a system has something: those that are not 0/0."""
    has_content = (systems.ratios.numerator != 0) | (systems.ratios.denominator != 0)
    return [int(count) for count in has_content.any(axis=1).sum(axis=0)]


# ---- Sign flips, and max-T over them


class SignFlips(Record):
    """The p-values of sign flips, each pair by itself, and where they were asked for those of max-T over all pairs."""

    flips: int
    is_exact: bool
    p: PValues
    p_max_t: PValues


_CELLS: Final = 1 << 21
"""Pairs times measures times resamples whose differences are held at once, at 8 bytes each; changes no result."""

_FEWEST_ROWS: Final = 32
"""Resamples below which the overhead of each step counts more than memory."""


def sign_flip_tests(systems: Systems, pairs: Sequence[Pair], *, with_max_t: bool = False) -> SignFlips:
    """Test pairs of systems by random sign flips of units, or by all of them where these are no more.

    All pairs share the sign flips, so that the p-values of a pair do not depend on the other systems.
    """
    units, flips = systems.units, systems.settings.resamples
    is_exact = is_enumerated(units, flips)
    if is_exact:
        flips = 2**units
    draws = all_swaps(units) if is_exact else swap_flags(systems.settings.seed, units, flips)
    limits = _limits(systems, pairs)
    extreme = np.zeros(limits.shape, dtype=np.int64)
    max_t = _MaxT(limits, _scales(systems.ratios, pairs)) if with_max_t else None
    rows = max(_FEWEST_ROWS, _CELLS // limits.size)
    for sums in digit_sums(systems.statistics, draws):
        for start in range(0, len(sums), rows):
            differences = _flipped_differences(systems, pairs, sums[start : start + rows])
            extreme += np.count_nonzero(differences >= limits[..., np.newaxis], axis=2)
            if max_t is not None:
                max_t.count(differences)
    return SignFlips(
        flips=flips,
        is_exact=is_exact,
        p=_shares(extreme, flips, is_exact=is_exact),
        p_max_t=[] if max_t is None else max_t.p_values(flips, is_exact=is_exact),
    )


def _limits(systems: Systems, pairs: Sequence[Pair]) -> Floats:
    """Return how far apart the scores of each pair are, less what rounding may add: (pairs, measures)."""
    first, second = (systems.points[side] for side in np.array(pairs).T)
    return np.asarray(np.abs(first - second) - noise(first, second))


def _flipped_differences(systems: Systems, pairs: Sequence[Pair], swapped: Floats) -> Floats:
    """Return the sizes of the differences of each pair after sign flips: (pairs, measures, resamples).

    `swapped` (resamples, systems, digits) sums the units whose rows are exchanged.
    """
    kept = systems.statistics.total() - swapped
    differences: Floats = np.empty((len(pairs), systems.points.shape[1], len(swapped)))
    for place, (first, second) in enumerate(pairs):
        mixed = np.stack([kept[:, first] + swapped[:, second], kept[:, second] + swapped[:, first]])
        scores = systems.scores(mixed)
        np.abs(scores[0] - scores[1], out=differences[place].T)
    return differences


def _scales(ratios: Ratio, pairs: Sequence[Pair]) -> Floats:
    """Return the root of the sum of the squared contributions of the units to each difference: (pairs, measures).

    A unit contributes as in `arithmetic.contributions`; here a score of 0/0 is 0. The scale is 0 where the units do not
    differ but for rounding.
    """
    x, y = ratios.numerator, ratios.denominator
    scores, total_y = divide(x.sum(axis=0), y.sum(axis=0)), y.sum(axis=0)
    scales: Floats = np.zeros((len(pairs), x.shape[2]))
    for place, (first, second) in enumerate(pairs):
        mean_score = (scores[first] + scores[second]) / 2
        contributions = (x[:, second] - x[:, first]) - mean_score * (y[:, second] - y[:, first])
        size = np.abs(contributions).max(axis=0)
        rounding = 4 * noise(x[:, first], x[:, second], mean_score * y[:, first], mean_score * y[:, second]).max(axis=0)
        # Divided by the largest first: the square of a small number may be too small to be represented.
        root = np.sqrt((divide(contributions, size) ** 2).sum(axis=0))
        mean_y = (total_y[first] + total_y[second]) / 2
        scales[place] = np.where(size > rounding, divide(size * root, mean_y), 0.0)
    return scales


class _MaxT:
    """Counts, draw by draw, how often the largest standardised difference reaches that of each pair."""

    def __init__(self, limits: Floats, scales: Floats) -> None:
        """Put the pairs of each measure in the order of their standardised differences, the largest first.

        `limits` and `scales` (pairs, measures) are the observed differences and what they are divided by.
        """
        self._shape = limits.shape
        self._order: list[NDArray[np.intp]] = []
        self._scales: list[Floats] = []
        self._limits: list[Floats] = []
        self._extreme: list[NDArray[np.int64]] = []
        for measure in range(limits.shape[1]):
            tested = np.flatnonzero(scales[:, measure] > 0)
            standardised = limits[tested, measure] / scales[tested, measure]
            order = np.argsort(-standardised, kind="stable")
            self._order.append(tested[order])
            self._scales.append(scales[tested[order], measure, np.newaxis])
            self._limits.append(standardised[order, np.newaxis])
            self._extreme.append(np.zeros(len(order), dtype=np.int64))

    def count(self, differences: Floats) -> None:
        """Take in the differences (pairs, measures, resamples) of some resamples."""
        for measure, order in enumerate(self._order):
            standardised = differences[order, measure]
            standardised /= self._scales[measure]
            # From the last pair to the first, so that each has the largest of itself and of all that come later.
            largest = np.maximum.accumulate(standardised[::-1], axis=0)[::-1]
            self._extreme[measure] += np.count_nonzero(largest >= self._limits[measure], axis=1)

    def p_values(self, flips: int, *, is_exact: bool) -> PValues:
        """Return the p-values by measure and pair: 1 for a pair whose units do not differ."""
        p_values = []
        for order, extreme in zip(self._order, self._extreme):
            of_measure = np.ones(self._shape[0])
            [shares] = _shares(np.maximum.accumulate(extreme)[:, np.newaxis], flips, is_exact=is_exact)
            of_measure[order] = shares
            p_values.append(of_measure.tolist())
        return p_values


def _shares(extreme: NDArray[np.int64], resamples: int, *, is_exact: bool) -> PValues:
    """Return p-values by measure and pair from counts (pairs, measures): plain shares where all resamples were made."""
    return [
        [count / resamples if is_exact else add_one(count, resamples) for count in of_measure]
        for of_measure in extreme.T.tolist()
    ]


# ---- Other tests and corrections


def signs_p(of_units: Ratio) -> list[float] | None:
    """Return the exact two-sided p-values of the sign test (McNemar) for two systems, by measure.

    Of the units in which the two differ either side has half. None where units are not all 0 or 1.
    """
    values = of_units.numerator
    if not ((values == 0) | (values == 1)).all() or not (of_units.denominator == 1).all():
        return None
    p_values = []
    for differences in (values[:, 1] - values[:, 0]).T:
        more, less = int((differences > 0).sum()), int((differences < 0).sum())
        below = sum(math.comb(more + less, count) for count in range(min(more, less) + 1))
        p_values.append(min(1.0, 2 * below / 2 ** (more + less)))
    return p_values


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values of a family, adjusted for their number (Holm 1979), in the order given.

    Rejecting where one is at most the level keeps the probability of any false rejection at the level.
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def _hsd_p(systems: Systems, pairs: Sequence[Pair], permutations: int, *, is_exact: bool) -> PValues:
    """Return the p-values of HSD by measure and pair; exact ones are made of all permutations."""
    limits = _limits(systems, pairs)
    has_baseline = len(pairs) < math.comb(len(systems.points), 2)
    extreme = np.zeros(limits.shape, dtype=np.int64)
    seed = None if is_exact else systems.settings.seed
    for largest in _largest_differences(systems, pairs[0][0] if has_baseline else None, permutations, seed):
        largest.sort(axis=0)
        for measure in range(limits.shape[1]):
            extreme[:, measure] += len(largest) - np.searchsorted(largest[:, measure], limits[:, measure])
    return _shares(extreme, permutations, is_exact=is_exact)


def _largest_differences(
    systems: Systems, baseline: int | None, permutations: int, seed: int | None
) -> Iterator[Floats]:
    """Yield the largest difference of two systems, or of one from the baseline, in permutations: (N, measures)."""
    for sums in permuted_sums(systems.statistics, permutations, seed):
        scores = systems.scores(sums)
        if baseline is None:
            yield scores.max(axis=1) - scores.min(axis=1)
        else:
            yield np.abs(scores - scores[:, [baseline]]).max(axis=1)


# ---- A family


class FamilyTests(Record):
    """A family of tests: the p-values of each measure in the order of the pairs, as they are and corrected."""

    family: Family
    pairs: Sequence[Pair]
    p: PValues
    p_adjusted: PValues

    def adjusted(self, measure: int = 0) -> dict[frozenset[int], float]:
        """Return the corrected p-values of a measure by the two systems."""
        return dict(zip(map(frozenset, self.pairs), self.p_adjusted[measure]))


def family_tests(systems: Systems, pairs: Sequence[Pair], *, has_signs: bool = False) -> FamilyTests:
    """Test all pairs of a family under each measure, and correct the p-values for their number.

    `has_signs`: two systems whose units are right or wrong get the exact sign test.
    """
    settings, count = systems.settings, len(systems.points)
    correction = settings.correction_in_force
    sign_p = None
    if has_signs and count == 2 and not settings.clusters:
        sign_p = signs_p(systems.ratios)
    test: PairedTest
    if sign_p is not None:
        test, resamples, is_exact = "sign", 0, True
        p: PValues = [[of_measure] for of_measure in sign_p]
        p_max_t = p  # there is one pair only
    else:
        flips = sign_flip_tests(systems, pairs, with_max_t=correction == "maxt")
        test, resamples, is_exact = "randomisation", flips.flips, flips.is_exact
        p, p_max_t = flips.p, flips.p_max_t
    if correction == "maxt":
        p_adjusted = p_max_t
    elif correction == "holm":
        p_adjusted = [holm(of_measure) for of_measure in p]
    elif correction == "hsd":
        is_exact = systems.units * math.log(math.factorial(count)) <= math.log(settings.resamples) + 1e-9
        resamples = math.factorial(count) ** systems.units if is_exact else settings.resamples
        p_adjusted = _hsd_p(systems, pairs, resamples, is_exact=is_exact)
    else:
        p_adjusted = p
    family = Family(
        correction=correction,
        pairs=len(pairs),
        permutations=resamples,
        clusters=systems.units if settings.clusters else None,
        systems=count,
        test=test,
        exact=is_exact,
        baseline=settings.baseline,
    )
    return FamilyTests(family, pairs, p, p_adjusted)
