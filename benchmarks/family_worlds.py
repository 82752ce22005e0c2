"""Worlds of systems in which corrections of families are tried: how often they err, and how often they find.

Every unit has a difficulty, from a beta distribution (1.2, 1.2). A graded system has it with a normal error of standard
deviation .15; a system that is right or wrong is right with that probability. A near-copy has what the first system
has, save in 5 % of the units, where it is drawn anew. All systems are equal in expectation, unless the last one is
better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any, Final

import numpy as np

from cs_score.statistics.arithmetic import Floats
from cs_score.statistics.families import family_tests, holm
from cs_score.statistics.resampling import ResampledSystems
from cs_score.statistics.resampling_settings import Correction, Resampling

SETS: Final = 600
DRAWS: Final = 1000
LEVEL: Final = 0.05

CORRECTIONS: Final = {"hsd": "HSD", "holm": "Holm", "maxt": "max-T", "none": "uncorrected"}
"""Corrections by their names in the product, with those of tables."""


@dataclass(frozen=True, slots=True)
class World:
    """Systems on a test set: how many there are, how many of them are near-copies of the first, how many units.

    Units are right or wrong, or graded; the last system is better by `gain`.
    """

    name: str
    systems: int
    units: int
    copies: int = 0
    is_graded: bool = True
    gain: float = 0.0

    def drawn(self, rng: np.random.Generator) -> Floats:
        """Return the values of a set: (units, systems)."""
        difficulty = np.repeat(rng.beta(1.2, 1.2, self.units)[:, np.newaxis], self.systems, axis=1)
        difficulty[:, -1] += self.gain
        if self.is_graded:
            values = difficulty + rng.normal(0, 0.15, difficulty.shape)
        else:
            values = rng.binomial(1, np.clip(difficulty, 0, 1)).astype(np.float64)
        if self.copies:
            is_own = rng.random((self.units, self.copies)) < 0.05
            values[:, : self.copies] = np.where(is_own, values[:, : self.copies], values[:, :1])
        return values

    def found(self, rejected: Mapping[tuple[int, int], bool]) -> float:
        """Return what is counted of a set: whether any pair differs, or the share of pairs with the better system."""
        if not self.gain:
            return float(any(rejected.values()))
        with_better = [is_rejected for pair, is_rejected in rejected.items() if self.systems - 1 in pair]
        return sum(with_better) / len(with_better)


WORLDS: Final = (
    World("8 equal systems, 30 units, graded", 8, 30),
    World("8 equal systems, 30 units, right or wrong", 8, 30, is_graded=False),
    World("18 near-copies and 2 others, 50 units, graded", 20, 50, copies=18),
    World("8 near-copies and 2 others, 50 units, right or wrong", 10, 50, copies=8, is_graded=False),
    World("6 near-copies and 2 others, 30 units, right or wrong", 8, 30, copies=6, is_graded=False),
    World("8 near-copies and 2 others, 15 units, right or wrong", 10, 15, copies=8, is_graded=False),
    World("power: 8 systems, one better by .10, 30 units", 8, 30, gain=0.10),
    World("power: 20 systems, one better by .10, 30 units", 20, 30, gain=0.10),
    World("power: 8 systems, one better by .06, 60 units", 8, 60, gain=0.06),
)


def mean(sums: Sequence[Any], divide: Callable[[Any, Any], Any]) -> list[Any]:
    """Return the mean over units from the sum of their values and their number."""
    return [divide(sums[0], sums[1])]


def adjusted_p(values: Floats, correction: Correction, seed: int) -> tuple[list[float], list[float]]:
    """Return the p-values of all pairs of systems, each by itself and corrected, given values (units, systems)."""
    rows = [np.stack([column, np.ones(len(column))], axis=1) for column in values.T]
    systems = ResampledSystems(rows, mean, Resampling(DRAWS, seed, correction=correction))
    tests = family_tests(systems, list(combinations(range(len(rows)), 2)))
    return tests.p[0], tests.p_adjusted[0]


@cache
def shares(world: World, sets: int = SETS) -> Mapping[str, float]:
    """Return for each correction the share of sets in which any pair of equal systems is called different.

    Where one system is better: the mean share of its pairs that are called different.
    """
    found = dict.fromkeys(CORRECTIONS, 0.0)
    pairs = list(combinations(range(world.systems), 2))
    for seed in range(sets):
        values = world.drawn(np.random.default_rng([33, seed]))
        _, hsd = adjusted_p(values, "hsd", seed)
        single, max_t = adjusted_p(values, "maxt", seed)
        for name, p_values in (("hsd", hsd), ("holm", holm(single)), ("maxt", max_t), ("none", single)):
            found[name] += world.found(dict(zip(pairs, [p <= LEVEL for p in p_values])))
    return {name: total / sets for name, total in found.items()}


def share(world: World, correction: str) -> float:
    """Return the share of a world under one correction."""
    return shares(world)[correction]


def limits(world: World, correction: str) -> tuple[float, float]:
    """Return the limits that a share keeps: of equal systems max-T and Holm reject in at most 7 % of the sets."""
    if not world.gain and correction in ("maxt", "holm"):
        return 0.0, 0.07
    return 0.0, 1.0


def main() -> int:
    """Print the table of all worlds."""
    print(f"| world | {' | '.join(CORRECTIONS.values())} |\n|---|{'---|' * len(CORRECTIONS)}")
    for world in WORLDS:
        figures = [f"{shares(world)[name]:.3f}".removeprefix("0") for name in CORRECTIONS]
        print(f"| {world.name} | {' | '.join(figures)} |", flush=True)
    return 0


if __name__ == "__main__":
    main()
