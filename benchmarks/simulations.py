"""The simulations behind the figures in docs/statistics: `make simulations` prints all of them, some minutes of work.

Each has a seed, and the limits that its figure keeps; `tests/statistics/test_simulations.py` holds them (`make
test-slow`). Sets are drawn from distributions of which the truth is known.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from scipy import stats

from cs_score.statistics.planning import equivalence_p, needed_units
from cs_score.statistics.sampling import Items, estimated, interval_of
from cs_score.statistics.sequential import Checks


@dataclass(frozen=True, slots=True)
class Simulation:
    """A figure between two limits: the page that has it, what it is, and how it is found."""

    page: str
    figure: str
    low: float
    high: float
    find: Callable[[], float]


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
        p = equivalence_p(float(drawn.mean()), float(drawn.std(ddof=1)), 40, 0.1)
        wrong += p is not None and p <= 0.05
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


# ---- Repeated checks


def ever_rejected(sequences: int = 1000, seed: int = 26) -> float:
    """The share of sequences of 100 checks of runs as good as the baseline in which any is significant.

    Runs on one test set of 60 units are alike: their differences from the baseline share half of their variance.
    """
    rng, rejected = np.random.default_rng(seed), 0
    for _ in range(sequences):
        shared = rng.normal(size=60)
        p_values = stats.ttest_1samp(shared + rng.normal(size=(100, 60)), 0, axis=1).pvalue
        checks = Checks(task="", gold="", alpha=0.05)
        for number, p in enumerate(p_values):
            checks = checks.after(str(number), "b", "F1", float(p))
        rejected += any(each.significant for each in checks.asked)
    return rejected / sequences


SIMULATIONS: Final = (
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
    Simulation("repeated-checks", "sequences of 100 null checks with any rejected", 0.0, 0.05, ever_rejected),
)  # fmt: skip


def main() -> int:
    """Print all figures; 1 where one leaves its limits."""
    is_kept = True
    print("| page | figure | found | limits |\n|---|---|---|---|")
    for each in SIMULATIONS:
        found = each.find()
        is_kept = is_kept and each.low <= found <= each.high
        print(f"| {each.page} | {each.figure} | {found:.4f} | {each.low:g} to {each.high:g} |", flush=True)
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
