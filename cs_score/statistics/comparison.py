"""Two or more systems on the same units: paired tests, corrections of families, effects, ranks and tiers.

Both tests are two-sided, both count a resample whose difference is *at least as* extreme as the observed one, and of N
random resamples both report (1 + count) / (1 + N). A system tested against its own copy therefore has difference 0 and
p = 1 exactly, no p is 0, and exchanging the systems changes nothing. Equal within rounding counts as equal
(`arithmetic.TIE_TOLERANCE`, relative to the larger of the two scores).

*Approximate randomisation*: every resample exchanges the two rows of each unit with probability 1/2 and computes the
difference d* anew; extreme is |d*| >= |d|. Where all 2^n exchanges of n units are no more than N, each is made once,
and p is the share of extreme ones. A score of 0/0 is 0 here as everywhere; any statistic makes the test honest.

*Paired bootstrap*: the same draws for both systems; extreme is |d* - d| >= |d|. Resamples in which a score is 0/0 are
left out. With one unit, or too few resamples left, nothing can be concluded: p = 1.

*HSD*: every resample permutes the rows of each unit and computes the largest difference of two scores, with a baseline
that from the baseline; p is the share of permutations (add-one) in which that reaches the difference of the pair. Where
all permutations are no more than N, each is made once.

*Effects and equivalence* rest on what each unit adds to a difference, times the number of units.
Sources: docs/statistics/intervals-and-tests.md, families.md, power.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import UNSET

from cs_score.base.errors import UsageError, nearest
from cs_score.base.records import Record, asdict, replace
from cs_score.base.runtime import Late
from cs_score.measures.registry import Ratio, SumsFormula
from cs_score.statistics.arithmetic import Floats, contributions, noise
from cs_score.statistics.equivalence import EquivalenceTest, are_right_or_wrong, equivalence_test
from cs_score.statistics.options import (
    Family,
    PairedTest,
    Resampling,
    add_one,
    common_only,
    governed,
    is_enumerated,
    never_significant,
)
from cs_score.statistics.resampling import Systems, all_swaps, defined, digit_sums, permuted_sums, swap_flags
from cs_score.statistics.results import (
    Comparison,
    Equivalence,
    Interval,
    MeasureComparison,
    PairedSystems,
    RankedSystem,
)
from cs_score.statistics.units import UnitTable, aligned

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Late("numpy")

Pair: TypeAlias = tuple[int, int]
"""Two systems by their position."""

# ---- Tests


def paired_bootstrap_p(first: float, second: float, resampled_difference: Floats, units: int) -> float:
    """The two-sided p-value of `first - second`, given that difference in each bootstrap resample (N,)."""
    resampled = defined(resampled_difference)
    if units == 1 or resampled is None:
        return 1.0
    difference = first - second
    extreme = np.abs(resampled - difference) >= abs(difference) - noise(first, second)
    return add_one(int(np.count_nonzero(extreme)), len(resampled))


def _differences(systems: Systems, pairs: Sequence[Pair]) -> Floats:
    """How far apart the scores of each pair are, but for rounding: (pairs, measures)."""
    first, second = (systems.points[side] for side in np.array(pairs).T)
    return np.asarray(np.abs(first - second) - noise(first, second))


def randomisation_p(systems: Systems, pairs: Sequence[Pair]) -> list[list[float]]:
    """The two-sided p-values of randomisation: per pair, per measure. All pairs share the random swaps, so that the
    p-values of a pair do not depend on the other systems.
    """
    units, ways = systems.units, systems.settings.resamples
    is_exact = is_enumerated(units, ways)
    draws = all_swaps(units) if is_exact else swap_flags(systems.settings.seed, units, ways)
    ways = 2**units if is_exact else ways
    limits, total = _differences(systems, pairs), systems.statistics.total()
    extreme = np.zeros(limits.shape, dtype=np.int64)
    for given in digit_sums(systems.statistics, draws):
        kept = total - given
        for row, (first, second) in enumerate(pairs):
            mixed = np.stack([kept[:, first] + given[:, second], kept[:, second] + given[:, first]])
            one, other = systems.scores(mixed)
            extreme[row] += np.count_nonzero(np.abs(one - other) >= limits[row], axis=0)
    return [[int(count) / ways if is_exact else add_one(int(count), ways) for count in row] for row in extreme]


def _hsd_p(systems: Systems, pairs: Sequence[Pair], permutations: int, seed: int | None) -> list[list[float]]:
    """The p-values of HSD: per measure, per pair; without a seed from all permutations."""
    limits = _differences(systems, pairs)
    has_baseline = len(pairs) < math.comb(len(systems.points), 2)
    extreme = np.zeros(limits.shape, dtype=np.int64)
    for sums in permuted_sums(systems.statistics, permutations, seed):
        scores = systems.scores(sums)
        if has_baseline:
            largest = np.abs(scores - scores[:, [pairs[0][0]]]).max(axis=1)
        else:
            largest = scores.max(axis=1) - scores.min(axis=1)
        largest.sort(axis=0)
        for measure in range(limits.shape[1]):
            extreme[:, measure] += len(largest) - np.searchsorted(largest[:, measure], limits[:, measure])
    shares = extreme / permutations if seed is None else (1 + extreme) / (1 + permutations)
    return [list(map(float, of_measure)) for of_measure in shares.T]


def signs_p(of_units: Ratio) -> list[float] | None:
    """The exact two-sided p-values of the sign test (McNemar) for two systems, by measure; None where units are no 0 or
    1. Of the units in which the two differ either side has half.
    """
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


class FamilyTests(Record):
    """A family of tests: the p-values of each measure in the order of the pairs, as they are and corrected."""

    family: Family
    pairs: Sequence[Pair]
    p: list[list[float]]
    p_adjusted: list[list[float]]

    def adjusted(self, measure: int = 0) -> dict[frozenset[int], float]:
        """The corrected p-values of a measure by the two systems."""
        return dict(zip(map(frozenset, self.pairs), self.p_adjusted[measure]))


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


def family_tests(systems: Systems, pairs: Sequence[Pair], *, has_signs: bool = False) -> FamilyTests:
    """Test all pairs of a family under each measure, and correct the p-values for their number.

    `has_signs`: two systems whose units are right or wrong get the exact sign test.
    """
    settings, units, count = systems.settings, systems.units, len(systems.points)
    correction = settings.correction_of(count)
    test: PairedTest = "randomisation"
    signs = signs_p(systems.ratios) if has_signs and count == 2 and not settings.clusters else None
    if signs is not None:
        test, exact, permutations, raw = "sign", True, 0, [[p] for p in signs]
    else:
        exact = is_enumerated(units, settings.resamples)
        permutations = 2**units if exact else settings.resamples
        raw = [list(of_measure) for of_measure in zip(*randomisation_p(systems, pairs))]
    if correction == "hsd":
        exact = units * math.log(math.factorial(count)) <= math.log(settings.resamples) + 1e-9
        permutations = math.factorial(count) ** units if exact else settings.resamples
        adjusted = _hsd_p(systems, pairs, permutations, None if exact else settings.seed)
    else:
        adjusted = [holm(each) for each in raw] if correction == "holm" else raw
    clusters = units if settings.clusters else None
    family = Family(correction, len(pairs), permutations, clusters, count, test, exact, settings.baseline)
    return FamilyTests(family, pairs, raw, adjusted)


# ---- Effects, ranks and tiers


def effect_of(first: Ratio, second: Ratio) -> dict[str, Any]:
    """The size of `second - first` in fields of `PairedSystems`; those that do not exist are left out.

    Wins, ties and losses of the second go by the sign of what each unit adds to the difference. The score of a unit
    alone would not do: a system that is right where the other says nothing has 1 against 0/0, and a false alarm scores
    0 like silence. None where a score is undefined.
    """
    shares = contributions(first, second)
    if shares is None:
        return {"wins": None, "ties": None, "losses": None}
    largest = noise(first.numerator, first.denominator, second.numerator, second.denominator)
    slack = 2 * largest / (np.sum(first.denominator) + np.sum(second.denominator))
    units = len(shares)
    wins, losses = int(np.count_nonzero(shares > slack)), int(np.count_nonzero(-shares > slack))
    ties = units - wins - losses
    found = {"wins": wins, "ties": ties, "losses": losses, "superiority": (wins + ties / 2) / units}
    if units < 2:
        return found
    differences = shares * units
    deviation = float(differences.std(ddof=1))
    if deviation <= 4 * float(np.max(noise(differences))):  # all the same, but for rounding
        return {**found, "standard_deviation": 0.0}
    return {**found, "standard_deviation": deviation, "effect_size": float(differences.mean()) / deviation}


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
    best of that tier, which is its first; then it opens the next one. Members may differ from one another, and a system
    may be indistinguishable from members of the tier above: "indistinguishable" is not transitive, and tiers do not
    pretend that it is.
    """
    assigned: dict[int, int] = {}
    best, tier = -1, 0
    for system in order:
        if not tier or differ(best, system):
            best, tier = system, tier + 1
        assigned[system] = tier
    return assigned


# ---- All of it

_MOST_SCORES: Final = 1 << 27
"""Scores of resamples, at 8 bytes each, up to which their number grows by itself."""


def compare_tables(
    tables: Mapping[str, UnitTable],
    measures: Sequence[str],
    formula: SumsFormula,
    resampling: Resampling | None = None,
    *,
    common: bool = False,
    primary: str | None = None,
    has_signs: bool = False,
    equivalence: float | None = None,
) -> Comparison:
    """Compare systems by name, on the units that all have where they are `common`; refused if they differ otherwise.

    `formula` gives one score per name in `measures`; `primary` is the one that is not exploratory, the first unless
    given; `equivalence` is the margin of that test. Without settings there are as many resamples as significance needs.
    Raises UsageError for fewer than two systems and a margin that is no number above 0, InputError, naming units, where
    they differ or cannot be resampled.
    """
    if equivalence is not None and not 0 < equivalence < math.inf:
        raise UsageError(f"the margin of an equivalence is a number above 0, not {equivalence:g}")
    if len(tables) < 2:
        raise UsageError("a comparison needs at least two systems")
    of_all = aligned(tables, common=common)
    names, units = tuple(tables), len(of_all.ids)
    settings = resampling or Resampling(can_grow=True)
    pairs = family_pairs(names, settings)
    corrected = len(pairs) if settings.correction_of(len(names)) == "holm" else 1
    settings = settings.enough_for(corrected, _MOST_SCORES // (len(names) * len(measures)))
    systems = Systems(list(of_all.rows.values()), formula, settings, of_all.ids)
    if len(measures) != systems.points.shape[1]:
        raise ValueError(f"{len(measures)} names for {systems.points.shape[1]} measures")
    tested, level = family_tests(systems, pairs, has_signs=has_signs), settings.level
    primary = primary or measures[0]

    def compared(column: int, measure: str) -> MeasureComparison:
        paired = _paired(systems, names, tested, column, equivalence)
        unsure = [f"{pair.a} and {pair.b}" for pair in paired if pair.disagrees(level)]
        ranked = _ranked(systems, names, tested, column)
        return MeasureComparison(measure, measure != primary, tested.family, ranked, paired, governed(unsure))

    return Comparison(
        task="",
        measure=primary,
        systems=names,
        units=units,
        resampling=systems.settings,
        notes=(
            *([common_only(units, of_all.dropped)] if common else ()),
            *never_significant(tested.family, systems.units, level),
            *systems.notes,
        ),
        dropped=of_all.dropped if common else UNSET,
        measures=tuple(compared(column, name) for column, name in enumerate(measures)),
    )


def _paired(
    systems: Systems, names: Sequence[str], tested: FamilyTests, column: int, margin: float | None
) -> tuple[PairedSystems, ...]:
    """Return the pairs of the family under one measure; their tests of equivalence are corrected together."""
    numerator = systems.ratios.numerator[..., column]
    denominator = systems.ratios.denominator[..., column]
    ratio_of = [Ratio(numerator[:, place], denominator[:, place]) for place in range(len(names))]
    can_be_binary = not systems.settings.clusters
    pairs, tests = [], []
    for (first, second), p, p_adjusted in zip(tested.pairs, tested.p[column], tested.p_adjusted[column]):
        one, other = systems.points[[first, second], column].tolist()
        differences = systems.resampled_difference(first, second, column)
        is_binary = are_right_or_wrong(ratio_of[first]) and are_right_or_wrong(ratio_of[second])
        pairs.append(
            PairedSystems(
                a=names[first],
                b=names[second],
                **_named("difference", systems.difference(first, second, column)),
                p=p,
                p_adjusted=p_adjusted,
                p_bootstrap=paired_bootstrap_p(other, one, differences, systems.units),
                are_right_or_wrong=can_be_binary and is_binary,
                **effect_of(ratio_of[first], ratio_of[second]),
            )
        )
        if margin is not None:
            test = equivalence_test(ratio_of[first], ratio_of[second], margin, can_be_binary=can_be_binary)
            tests.append(test)
    if margin is None:
        return tuple(pairs)
    equivalences = _corrected_equivalences(tests, margin, systems.settings.level)
    return tuple(replace(pair, equivalence=own) for pair, own in zip(pairs, equivalences))


def _corrected_equivalences(tests: Sequence[EquivalenceTest], margin: float, level: float) -> list[Equivalence]:
    """Return the outcome of each test of equivalence, p-values corrected by Holm for all that have one."""
    corrected = iter(holm([test.p for test in tests if test.p is not None]))
    found = []
    for test in tests:
        p_adjusted = None if test.p is None else next(corrected)
        is_equivalent = test.is_certain if p_adjusted is None else p_adjusted <= level
        found.append(Equivalence(margin, test.p, p_adjusted, is_equivalent, test.test, test.reason))
    return found


def _ranked(systems: Systems, names: Sequence[str], tested: FamilyTests, column: int) -> tuple[RankedSystem, ...]:
    """The systems from best to worst under one measure."""
    level, adjusted = systems.settings.level, tested.adjusted(column)
    rank = ranks(systems.points[:, column]).tolist()
    order = sorted(range(len(rank)), key=rank.__getitem__)  # equal systems as they were given
    tier: Mapping[int, int | None] = dict.fromkeys(order)
    if not systems.settings.baseline:
        tier = tiers(order, lambda best, system: adjusted[frozenset((best, system))] <= level)
    ranges = rank_ranges(systems.resampled[column], level)
    return tuple(
        RankedSystem(
            name=names[system],
            **_named("score", systems.score(system, column)),
            rank=rank[system],
            rank_low=ranges[system][0],
            rank_high=ranges[system][1],
            tier=tier[system],
        )
        for system in order
    )


def _named(name: str, interval: Interval) -> dict[str, Any]:
    """The fields of an interval, its point by another name."""
    return {name if key == "point" else key: value for key, value in asdict(interval).items()}
