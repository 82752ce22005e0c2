"""The simulations behind the figures in docs/statistics: `make simulations` prints all of them, some minutes of work,
`python -m benchmarks.simulations PAGE...` those of some pages.

Each has a seed, and the limits that its figure keeps; `tests/statistics/test_error_rates.py` holds them (`make
test-slow`). Sets are drawn from distributions of which the truth is known.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from msgspec import UNSET
from scipy import stats

from benchmarks.family_worlds import CORRECTIONS, WORLDS, limits, share
from cs_score.statistics.arithmetic import Floats
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.equivalence import binary_equivalence_p, t_equivalence_p
from cs_score.statistics.planning import units_for_t_test
from cs_score.statistics.resampling import ResampledSystems, bootstrap_intervals
from cs_score.statistics.resampling_settings import IntervalMethod, Resampling
from cs_score.statistics.sign_test import OutcomeShares, SignTest
from cs_score.statistics.stratified_samples import SampledItems, estimate_score, score_with_limits
from cs_score.statistics.units import Clusters, UnitTable


@dataclass(frozen=True, slots=True)
class Simulation:
    """A figure between two limits: the page that has it, what it is, and how it is found."""

    page: str
    figure: str
    low: float
    high: float
    find: Callable[[], float]

    @staticmethod
    def shown(found: float) -> str:
        """The figure as its page has it."""
        return f"{100 * found:.1f} %"


# ---- Planning


def power_at_the_needed_units(effect: float, *, is_normal: bool = True, sets: int = 4000) -> float:
    """How often a paired t test at 5 % finds an effect with the units that a power of 0.8 needs.

    Differences of units are normal, or -1, 0 and 1 for answers that are right or wrong.
    """
    rng, units = np.random.default_rng(26), units_for_t_test(effect, 0.05, 0.8) or 0
    if is_normal:
        drawn = rng.normal(effect, 1, (sets, units))
    else:
        # With a share w of wins and l of losses the effect is (w - l) / sqrt(w + l - (w - l)^2).
        gap = effect * math.sqrt(0.3 / (1 + effect**2))
        drawn = rng.choice([-1.0, 0.0, 1.0], (sets, units), p=[0.15 - gap / 2, 0.7, 0.15 + gap / 2])
    return float(np.mean(stats.ttest_1samp(drawn, 0, axis=1).pvalue <= 0.05))


def compared_p(first: Floats, second: Floats, seed: int, *, are_binary: bool) -> float:
    """Return the p-value that a comparison gives two systems by their means."""
    tables = {}
    for name, values in (("a", first), ("b", second)):
        rows = list(zip(values.tolist(), [1.0] * len(values)))
        tables[name] = UnitTable(tuple(map(str, range(len(values)))), ("x", "y"), rows)
    found = compare_tables(tables, ["mean"], _ratio, Resampling(1000, seed), with_sign_test=are_binary)
    return found.measures[0].pairs[0].p


def binary_power_through_compare(wins: float, losses: float, sets: int = 2000) -> float:
    """Return how often a comparison finds systems with these shares of wins and losses, at the units that .8 needs."""
    units = SignTest(OutcomeShares(wins, losses), 0.05).needed_units(0.8) or 0
    found = 0
    for seed in range(sets):
        rng = np.random.default_rng([31, seed])
        outcome = rng.choice(3, units, p=[wins, losses, 1 - wins - losses])
        first, second = (outcome != 0).astype(np.float64), (outcome != 1).astype(np.float64)
        found += compared_p(first, second, seed, are_binary=True) <= 0.05
    return found / sets


def graded_power_through_compare(effect: float, sets: int = 2000) -> float:
    """Return how often a comparison finds a difference of graded units, at the units that .8 needs."""
    units = units_for_t_test(effect, 0.05, 0.8) or 0
    found = 0
    for seed in range(sets):
        rng = np.random.default_rng([32, seed])
        first = rng.beta(2, 2, units)
        found += compared_p(first, first + rng.normal(0.1 * effect, 0.1, units), seed, are_binary=False) <= 0.05
    return found / sets


def wrong_equivalences(sets: int = 4000) -> float:
    """How often systems that differ by the margin are called equivalent within it, at 5 % and on 40 units."""
    rng, wrong = np.random.default_rng(27), 0
    for _ in range(sets):
        drawn = rng.normal(0.1, 0.2, 40)
        wrong += t_equivalence_p(float(drawn.mean()), float(drawn.std(ddof=1)), 40, 0.1) <= 0.05
    return wrong / sets


def wrong_binary_equivalences(units: int, wins: float, losses: float, margin: float) -> float:
    """Return how often right and wrong units that differ by the margin are called equivalent, by enumeration."""
    found = 0.0
    for won in range(units + 1 if wins else 1):
        chance_won = stats.binom.pmf(won, units, wins)
        chances = chance_won * stats.binom.pmf(np.arange(units - won + 1), units - won, losses / (1 - wins))
        for lost in np.flatnonzero(chances > 1e-12).tolist():
            if binary_equivalence_p(won, lost, units, margin) <= 0.05:
                found += float(chances[lost])
    return found


# ---- Sampled pools


def coverage_of_samples(*, is_predicted: bool, of_population: bool, sets: int = 2000) -> float:
    """How often 95 % limits hold the share of right answers: of the pool, or of all such answers.

    A pool has 2,000 answers; those above a confidence of 0.5 are assessed with probability 0.3, others with 0.1.
    """
    rng, held, at = np.random.default_rng(26), 0, np.arange(2000)
    for _ in range(sets):
        confidence = rng.random(2000)
        right = (rng.random(2000) < 0.1 + 0.8 * confidence).astype(np.float64)
        is_sure = confidence > 0.5
        chance = np.where(is_sure, 0.3, 0.1)
        items = SampledItems(
            right, np.ones(2000), rng.random(2000) < chance, np.ones(2000), at, at, chance, is_sure.astype(np.intp),
            confidence if is_predicted else np.zeros(2000),
        )  # fmt: skip
        found = score_with_limits(estimate_score(items), 95.0)
        if of_population:
            held += found.population_low <= 0.5 <= found.population_high
        else:
            held += found.low <= right.mean() <= found.high
    return held / sets


def coverage_in_two_stages(sets: int = 2000) -> float:
    """As before, for 300 answers with up to three below each, either assessed with probability 0.5."""
    rng, held = np.random.default_rng(27), 0
    for _ in range(sets):
        above = np.concatenate([np.arange(300), np.repeat(np.arange(300), rng.integers(0, 4, 300))])
        size, of_parent = len(above), rng.random(300) < 0.7
        right = np.where(of_parent[above], rng.random(size) < 0.6, False).astype(np.float64)
        right[:300] = of_parent
        drawn, is_wrong, is_below = rng.random(size) < 0.5, ~of_parent[above], np.arange(size) >= 300
        known = drawn[above] & (~is_below | is_wrong | drawn)
        chance = np.where(is_below & ~is_wrong, 0.5, 1.0)
        halves = np.full(size, 0.5)
        items = SampledItems(
            right,
            np.ones(size),
            known,
            chance,
            np.arange(size),
            above,
            halves,
            is_below.astype(np.intp),
            np.zeros(size),
        )
        found = score_with_limits(estimate_score(items), 95.0)
        held += found.low <= right.mean() <= found.high
    return held / sets


# ---- Families, intervals, clusters


def _ratio(sums: Sequence[Any], divide: Callable[[Any, Any], Any]) -> list[Any]:
    return [divide(sums[0], sums[1])]


Coverage: TypeAlias = Literal["score", "difference"]
World: TypeAlias = Literal["means", "ratios"]


def _two_systems(world: World, units: int, seed: int) -> tuple[Floats, Floats]:
    """Return numerators and denominators of two equally good systems on the same units: means, or ratios of sums."""
    rng = np.random.default_rng([14, units, seed])
    quality = rng.beta(1.2, 1.2, units)
    if world == "means":
        numbers = [np.column_stack([rng.beta(1 + 4 * quality, 5 - 4 * quality), np.ones(units)]) for _ in range(2)]
        return numbers[0], numbers[1]
    systems = []
    for _ in range(2):
        answered = rng.poisson(3, units)  # of some units a system says nothing
        systems.append(np.column_stack([rng.binomial(answered, quality), answered]).astype(np.float64))
    return systems[0], systems[1]


_TRUE_SCORE: Final = 0.5
"""The mean of a beta distribution with parameters 1 + 4 q and 5 - 4 q is (1 + 4 q) / 6; q is 0.5 on average."""


class Held(NamedTuple):
    """How many intervals there were of scores and differences, and how many of them hold the true value."""

    scores: int
    scores_held: int
    differences: int
    differences_held: int


@cache
def _held(world: World, method: IntervalMethod | None, units: int, sets: int) -> Held:
    """Count the 95 % intervals that hold the truth in sets of two equally good systems; no method: the default."""
    counts = [0, 0, 0, 0]
    for seed in range(sets):
        matrices = _two_systems(world, units, seed)
        systems = ResampledSystems(matrices, _ratio, Resampling(1000, seed, method=method or UNSET))
        intervals = [systems.difference_interval(0, 1, 0)]
        if method is not None:  # that of scores is one of the named methods
            intervals.append(systems.score_interval(0, 0))
        for place, (interval, true_value) in enumerate(zip(intervals, (0.0, _TRUE_SCORE))):
            if interval.low is not None and interval.high is not None:
                counts[2 - 2 * place] += 1
                counts[3 - 2 * place] += interval.low <= true_value <= interval.high
    return Held(*counts)


def coverage(what: Coverage, world: World, method: IntervalMethod | None, units: int, sets: int = 4000) -> float:
    """Return how often 95 % intervals of a score or a difference hold the true one, where they are defined."""
    held = _held(world, method, units, sets)
    if what == "score":
        return held.scores_held / held.scores
    return held.differences_held / held.differences


def coverage_of_clusters(*, by_cluster: bool, sets: int = 2000) -> float:
    """How often 95 % intervals hold the true mean of 20 clusters with five units each, intraclass correlation 0.5."""
    units = [str(number) for number in range(100)]
    clusters = Clusters("", {unit: str(place // 5) for place, unit in enumerate(units)})
    held = 0
    for seed in range(sets):
        rng = np.random.default_rng([13, seed])
        values = (np.repeat(rng.normal(size=20), 5) + rng.normal(size=100)) * math.sqrt(0.5)
        settings = Resampling(1000, seed, clusters=clusters if by_cluster else UNSET)
        [found] = bootstrap_intervals(np.stack([values, np.ones(100)], axis=1), _ratio, settings, units=units)
        held += found.low is not None and found.high is not None and found.low <= 0 <= found.high
    return held / sets


_SIZES: Final = (5, 8, 15, 40, 200)


def _coverage_rows() -> Iterator[Simulation]:
    """Yield the coverage of scores and differences by method and number of units."""
    methods: tuple[tuple[str, IntervalMethod | None], ...] = (
        ("percentile", "percentile"),
        ("BCa", "bca"),
        ("the default", None),
    )
    for what in ("score", "difference"):
        for world in ("means", "ratios"):
            for name, method in methods:
                for units in _SIZES:
                    if method is None and (what == "score" or units >= 20):
                        continue  # there the default is BCa, or percentile
                    low = 0.92 if method is None or units >= 40 else 0.75
                    sets = 4000 if units < 200 else 1000
                    figure = f"coverage of a {what}, {world}, {name}, {units} units"
                    yield Simulation(
                        "intervals-and-tests", figure, low, 0.975, partial(coverage, what, world, method, units, sets)
                    )


SIMULATIONS: Final = (
    *(
        Simulation("families", f"{world.name}, {name}", *limits(world, correction), partial(share, world, correction))
        for world in WORLDS
        for correction, name in CORRECTIONS.items()
    ),
    *_coverage_rows(),
    Simulation(
        "clusters", "coverage by cluster, 20 of five units", 0.92, 0.96, partial(coverage_of_clusters, by_cluster=True)
    ),
    Simulation(
        "clusters", "coverage by unit of the same", 0.0, 0.85, partial(coverage_of_clusters, by_cluster=False)
    ),
    *(
        Simulation("power", f"power at the units that an effect of {effect} needs for 0.8", 0.77, 0.83, find)
        for effect in (0.3, 0.5)
        for find in [partial(power_at_the_needed_units, effect)]
    ),
    Simulation(
        "power", "the same for 0.2, answers right or wrong", 0.77, 0.83,
        partial(power_at_the_needed_units, 0.2, is_normal=False),
    ),
    *(
        Simulation(
            "power", f"power through compare, right or wrong units, wins {wins:g}, losses {losses:g}", 0.77, 0.83,
            partial(binary_power_through_compare, wins, losses),
        )
        for wins, losses in ((0.25, 0.05), (0.2, 0.1), (0.3, 0.1))
    ),
    *(
        Simulation(
            "power", f"power through compare, graded units, effect {effect}", 0.77, 0.83,
            partial(graded_power_through_compare, effect),
        )
        for effect in (0.3, 0.5)
    ),
    Simulation("power", "equivalences found at the margin, graded units", 0.0, 0.055, wrong_equivalences),
    *(
        Simulation(
            "power", f"equivalences at the margin, {units} right or wrong units, wins {wins:g}, margin {margin:g}", 0.0,
            0.062, partial(wrong_binary_equivalences, units, wins, losses, margin),
        )
        for units, wins, losses, margin in (
            (60, 0.0, 0.05, 0.05), (31, 0.0, 0.1, 0.1), (200, 0.01, 0.06, 0.05), (60, 0.02, 0.12, 0.1)
        )
    ),
    *(
        Simulation(
            "sampled-pools", f"coverage of {'such answers' if of_population else 'the pool'}, {how} predictions", 0.935,
            0.965, partial(coverage_of_samples, is_predicted=how == "with", of_population=of_population),
        )
        for of_population in (False, True)
        for how in ("without", "with")
    ),
    Simulation("sampled-pools", "coverage of the pool in two stages", 0.93, 0.97, coverage_in_two_stages),
)  # fmt: skip


def main(pages: Sequence[str]) -> int:
    """Print the figures of these pages, or all; 1 where one leaves its limits."""
    is_kept = True
    print("| page | figure | found | limits |\n|---|---|---|---|")
    for simulation in SIMULATIONS:
        if pages and simulation.page not in pages:
            continue
        found = simulation.find()
        is_kept = is_kept and simulation.low <= found <= simulation.high
        limits = f"{100 * simulation.low:g} to {100 * simulation.high:g} %"
        print(f"| {simulation.page} | {simulation.figure} | {simulation.shown(found)} | {limits} |", flush=True)
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
