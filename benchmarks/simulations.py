"""The simulations behind the figures in docs/statistics: `make simulations` prints all of them, some minutes of work.

Each has a seed, and the limits that its figure keeps; `tests/statistics/test_error_rates.py` holds them (`make
test-slow`). Sets are drawn from distributions of which the truth is known.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from msgspec import UNSET
from scipy import stats

from benchmarks.family_worlds import CORRECTIONS, WORLDS, limits, share
from cs_score.statistics.assessments import Items, estimated, interval_of
from cs_score.statistics.equivalence import t_equivalence_p
from cs_score.statistics.options import IntervalMethod, Resampling
from cs_score.statistics.planning import needed_units
from cs_score.statistics.resampling import bootstrap_intervals
from cs_score.statistics.units import Clusters


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
    rng, units = np.random.default_rng(26), needed_units(effect, 0.05, 0.8) or 0
    if is_normal:
        drawn = rng.normal(effect, 1, (sets, units))
    else:
        # With a share w of wins and l of losses the effect is (w - l) / sqrt(w + l - (w - l)^2).
        gap = effect * math.sqrt(0.3 / (1 + effect**2))
        drawn = rng.choice([-1.0, 0.0, 1.0], (sets, units), p=[0.15 - gap / 2, 0.7, 0.15 + gap / 2])
    return float(np.mean(stats.ttest_1samp(drawn, 0, axis=1).pvalue <= 0.05))


def wrong_equivalences(sets: int = 4000) -> float:
    """How often systems that differ by the margin are called equivalent within it, at 5 % and on 40 units."""
    rng, wrong = np.random.default_rng(27), 0
    for _ in range(sets):
        drawn = rng.normal(0.1, 0.2, 40)
        wrong += t_equivalence_p(float(drawn.mean()), float(drawn.std(ddof=1)), 40, 0.1) <= 0.05
    return wrong / sets


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
        items = Items(
            right, np.ones(2000), rng.random(2000) < chance, np.ones(2000), at, at, chance, is_sure.astype(np.intp),
            confidence if is_predicted else np.zeros(2000),
        )  # fmt: skip
        found = interval_of([(1.0, estimated(items))], 95.0)
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
        items = Items(
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
        found = interval_of([(1.0, estimated(items))], 95.0)
        held += found.low <= right.mean() <= found.high
    return held / sets


# ---- Families, intervals, clusters


def _ratio(sums: Sequence[Any], divide: Callable[[Any, Any], Any]) -> list[Any]:
    return [divide(sums[0], sums[1])]


def coverage_of_intervals(method: IntervalMethod, units: int, sets: int = 1000) -> float:
    """How often 95 % intervals hold the true recall of 0.5, for units with one to some ten things to find."""
    held = 0
    for seed in range(sets):
        rng = np.random.default_rng([14, units, seed])
        wanted = 1 + rng.poisson(2, units)
        rows = np.stack([rng.binomial(wanted, rng.beta(2, 2, units)), wanted], axis=1)
        [found] = bootstrap_intervals(rows, _ratio, Resampling(1000, seed, method=method))
        held += found.low is not None and found.high is not None and found.low <= 0.5 <= found.high
    return held / sets


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


_COVERAGE: Final[Mapping[tuple[IntervalMethod, int], tuple[float, float]]] = {
    ("percentile", 5): (0.83, 0.89),
    ("percentile", 10): (0.87, 0.93),
    ("percentile", 30): (0.91, 0.955),
    ("percentile", 200): (0.93, 0.97),
    ("bca", 5): (0.84, 0.9),
    ("bca", 10): (0.88, 0.93),
    ("bca", 30): (0.92, 0.96),
    ("bca", 200): (0.93, 0.97),
}

SIMULATIONS: Final = (
    *(
        Simulation("families", f"{world.name}, {name}", *limits(world, correction), partial(share, world, correction))
        for world in WORLDS
        for correction, name in CORRECTIONS.items()
    ),
    *(
        Simulation(
            "intervals-and-tests", f"coverage of {method} intervals, {units} units", *limits,
            partial(coverage_of_intervals, method, units),
        )
        for (method, units), limits in _COVERAGE.items()
    ),
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
    Simulation("power", "equivalences found at the margin", 0.0, 0.055, wrong_equivalences),
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


def main() -> int:
    """Print all figures; 1 where one leaves its limits."""
    is_kept = True
    print("| page | figure | found | limits |\n|---|---|---|---|")
    for each in SIMULATIONS:
        found = each.find()
        is_kept = is_kept and each.low <= found <= each.high
        print(
            f"| {each.page} | {each.figure} | {each.shown(found)} | {100 * each.low:g} to {100 * each.high:g} % |",
            flush=True,
        )
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
