"""Is one system better than another on the same units? Paired tests, corrections of families, ranks, tiers.

Both tests are two-sided, both count a resample whose difference is *at least as* extreme as the observed one, and of N
random resamples both report (1 + count) / (1 + N) (Phipson and Smyth 2010). A system tested against its own copy
therefore has difference 0 and p = 1 exactly, no p is 0, and exchanging the systems changes nothing.

*Approximate randomisation* (Noreen 1989): if the systems do not differ, either could have produced either row of a
unit. Every resample exchanges the two rows of each unit with probability 1/2 and computes the difference d* anew;
extreme is |d*| >= |d|. Where all 2^n exchanges of n units are no more than N, each is made once, and p is the share of
extreme ones: exact, whatever the seed. A score of 0/0 is 0 here as everywhere; any statistic makes the test honest.

*Paired bootstrap* (Koehn 2004; the shifted two-sided form of Berg-Kirkpatrick et al. 2012): the same draws for both
systems give differences d* scattered around d as d around its expectation; extreme is |d* - d| >= |d|. Resamples in
which a score is 0/0 are left out. With one unit, or too few resamples left, nothing can be concluded: p = 1.

*HSD*, the randomised test of the honestly significant difference (Tukey 1953; randomised by Carterette 2012): if no
system differs from another, the rows of a unit could stand in any order. Every resample permutes them within each unit
and computes the largest difference of two scores; the p of a pair is the share of permutations (add-one) in which that
reaches the difference of the pair. So the probability of any false rejection is the level. With a baseline the largest
difference is that from the baseline. Where all permutations are no more than N, each is made once.

*Sign test* (McNemar): for units that are right or wrong, of the units in which two systems differ either side has half.

Equal within rounding counts as equal (`arithmetic.TIE_TOLERANCE`, relative to the larger of the two scores).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from cs_score.base.errors import UsageError, nearest
from cs_score.base.records import Record
from cs_score.base.runtime import Late
from cs_score.measures.registry import Ratio
from cs_score.statistics.arithmetic import ColumnFormula, ExactStatistics, Floats, noise
from cs_score.statistics.options import Family, PairedTest, Resampling, add_one, is_enumerated
from cs_score.statistics.resampling import (
    all_swaps,
    defined,
    digit_sums,
    permuted_sums,
    point_scores,
    scores_of,
    swap_flags,
    unit_ratios,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Late("numpy")

Pair: TypeAlias = tuple[int, int]
"""Two systems by their position."""


def paired_bootstrap_p(first: float, second: float, resampled_difference: Floats, units: int) -> float:
    """The two-sided p-value of `first - second`, given that difference in each bootstrap resample (N,)."""
    resampled = defined(resampled_difference)
    if units == 1 or resampled is None:
        return 1.0
    difference = first - second
    extreme = np.abs(resampled - difference) >= abs(difference) - noise(first, second)
    return add_one(int(np.count_nonzero(extreme)), len(resampled))


def randomisation_p(
    statistics: ExactStatistics, formula: ColumnFormula, pairs: Sequence[Pair], resampling: Resampling
) -> list[list[float]]:
    """The two-sided p-values of randomisation: per pair, per measure. All pairs share the random swaps, so that the
    p-values of a pair do not depend on the other systems.
    """
    observed, total, units = point_scores(statistics, formula), statistics.total(), statistics.units
    is_exact = is_enumerated(units, resampling.resamples)
    ways = 2**units if is_exact else resampling.resamples
    draws = all_swaps(units) if is_exact else swap_flags(resampling.seed, units, ways)
    extreme = np.zeros((len(pairs), observed.shape[1]), dtype=np.int64)
    for given in digit_sums(statistics, draws):
        kept = total - given
        for row, (first, second) in enumerate(pairs):
            mixed = np.stack([kept[:, first] + given[:, second], kept[:, second] + given[:, first]])
            scores = scores_of(formula, statistics.values(mixed))
            limit = np.abs(observed[first] - observed[second]) - noise(observed[first], observed[second])
            extreme[row] += np.count_nonzero(np.abs(scores[0] - scores[1]) >= limit, axis=0)
    return [[int(count) / ways if is_exact else add_one(int(count), ways) for count in row] for row in extreme]


class FamilyTests(Record):
    """A family of tests: the p-values of each measure in the order of the pairs, as they are and corrected."""

    family: Family
    p: list[list[float]]
    p_adjusted: list[list[float]]


def family_pairs(systems: Sequence[str], resampling: Resampling) -> list[Pair]:
    """The pairs of a family: all, or those with the baseline. Raises UsageError for a baseline that is no system."""
    places = range(len(systems))
    if not resampling.baseline:
        return list(combinations(places, 2))
    if resampling.baseline not in systems:
        known = nearest(resampling.baseline, systems) or f"; there are {', '.join(systems)}"
        raise UsageError(f"the baseline {resampling.baseline} is none of the systems{known}")
    base = systems.index(resampling.baseline)
    return [(base, place) for place in places if place != base]


def family_tests(
    statistics: ExactStatistics,
    formula: ColumnFormula,
    pairs: Sequence[Pair],
    resampling: Resampling,
    *,
    has_signs: bool = False,
) -> FamilyTests:
    """Test all pairs of a family under each measure, and correct the p-values for their number.

    `has_signs`: two systems whose units are right or wrong get the exact sign test.
    """
    systems, units = statistics.digits.shape[1], statistics.units
    correction = resampling.correction_of(systems)
    has_signs = has_signs and systems == 2 and not resampling.clusters
    signs = signs_p(unit_ratios(statistics, formula)) if has_signs else None
    if signs is not None:
        exact, permutations, raw = True, 0, [[p] for p in signs]
    else:
        exact = is_enumerated(units, resampling.resamples)
        permutations = 2**units if exact else resampling.resamples
        found = randomisation_p(statistics, formula, pairs, resampling)
        raw = [list(of_measure) for of_measure in zip(*found)]
    if correction == "hsd":
        exact = units * math.log(math.factorial(systems)) <= math.log(resampling.resamples) + 1e-9
        permutations = math.factorial(systems) ** units if exact else resampling.resamples
        adjusted = _hsd_p(statistics, formula, pairs, permutations, None if exact else resampling.seed)
    else:
        adjusted = [holm(each) for each in raw] if correction == "holm" else raw
    clusters = units if resampling.clusters else None
    test: PairedTest = "randomisation" if signs is None else "sign"
    family = Family(correction, len(pairs), permutations, clusters, systems, test, exact, resampling.baseline)
    return FamilyTests(family, raw, adjusted)


def _hsd_p(
    statistics: ExactStatistics, formula: ColumnFormula, pairs: Sequence[Pair], permutations: int, seed: int | None
) -> list[list[float]]:
    """The p-values of HSD: per measure, per pair; without a seed from all permutations."""
    observed = point_scores(statistics, formula)
    first, second = np.array(pairs).T
    limits = np.abs(observed[first] - observed[second]) - noise(observed[first], observed[second])
    is_star = len(pairs) < math.comb(len(observed), 2)
    extreme = np.zeros(limits.shape, dtype=np.int64)
    for sums in permuted_sums(statistics, permutations, seed):
        scores = scores_of(formula, statistics.values(sums))
        if is_star:
            largest = np.abs(scores - scores[:, first[:1]]).max(axis=1)
        else:
            largest = scores.max(axis=1) - scores.min(axis=1)
        largest.sort(axis=0)
        for measure in range(limits.shape[1]):
            extreme[:, measure] += len(largest) - np.searchsorted(largest[:, measure], limits[:, measure])
    shares = extreme / permutations if seed is None else (1 + extreme) / (1 + permutations)
    return [list(map(float, of_measure)) for of_measure in shares.T]


def signs_p(of_units: Ratio) -> list[float] | None:
    """The exact two-sided p-values of the sign test for two systems, by measure; None where units are no 0 or 1."""
    values = of_units.numerator
    if not ((values == 0) | (values == 1)).all() or not (of_units.denominator == 1).all():
        return None
    found = []
    for differences in (values[:, 1] - values[:, 0]).T:
        more, less = int((differences > 0).sum()), int((differences < 0).sum())
        below = sum(math.comb(more + less, count) for count in range(min(more, less) + 1))
        found.append(min(1.0, 2 * below / 2 ** (more + less)))
    return found


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values of a family of tests, adjusted for their number (Holm 1979), in the order given: rejecting where one
    is at most the level keeps the probability of any false rejection at the level.
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def ranks(scores: Floats) -> NDArray[np.int64]:
    """The ranks of scores (systems, ...) along the first axis, one more than the number of systems with a higher score;
    scores that are equal within rounding share the better rank.
    """
    better = np.ones(scores.shape, dtype=np.int64)
    for rival in scores:
        better += rival - scores > noise(rival, scores)
    return better


def rank_ranges(resampled: Floats, level: float) -> list[tuple[int, int]]:
    """Per system the lowest and the highest rank over the resamples (systems, N) in which all scores are defined; where
    these are too few, any rank. Of the N sorted ranks floor(N * level / 2) are dropped at either end: the central 95 %
    at 0.05.
    """
    found = defined(resampled)
    if found is None:
        return [(1, len(resampled))] * len(resampled)
    ordered = np.sort(ranks(found), axis=1)
    count = ordered.shape[1]
    dropped = min(int(count * level / 2 + 1e-9), (count - 1) // 2)  # 100 * 0.58 is 57.99999999999999
    return [(int(row[dropped]), int(row[count - 1 - dropped])) for row in ordered]


def tiers(order: Sequence[int], differ: Callable[[int, int], bool]) -> dict[int, int]:
    """The tier of each system, from 1, for systems listed from best to worst.

    A system joins the current tier unless it differs (`differ(best, system)`: significantly, after correction) from the
    best of that tier, which is its first; then it opens the next one. So every member of a tier is indistinguishable
    from its best. Members may differ from one another, and a system may be indistinguishable from members of the tier
    above: "indistinguishable" is not transitive, and tiers do not pretend that it is.
    """
    assigned: dict[int, int] = {}
    best, tier = -1, 0
    for system in order:
        if not tier or differ(best, system):
            best, tier = system, tier + 1
        assigned[system] = tier
    return assigned
