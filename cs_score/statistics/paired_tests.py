"""Is one system better than another on the same units? Two paired tests, Holm's correction, and a count per unit.

Both tests are two-sided, both count a resample whose difference is *at least as* extreme as the observed one, and both
report (1 + count) / (1 + N) (Phipson and Smyth 2010). A system tested against its own copy therefore has difference 0
and p = 1 exactly, no p is 0, and exchanging the systems changes nothing.

*Approximate randomisation* (Noreen 1989): if the systems do not differ, either could have produced either row of a
unit. Every resample exchanges the two rows of each unit with probability 1/2 and computes the difference d* anew;
extreme is |d*| >= |d|.

*Paired bootstrap* (Koehn 2004; the shifted two-sided form of Berg-Kirkpatrick et al. 2012): the same draws for both
systems give differences d* scattered around d as d around its expectation; extreme is |d* - d| >= |d|. With one unit
there is no scatter and nothing can be told: p = 1.

Equal within rounding counts as equal (`arithmetic.TIE_TOLERANCE`, relative to the larger of the two scores).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cs_score.statistics.arithmetic import Floats, Formula, noise
from cs_score.statistics.draws import CHUNK_CELLS, swap_flags
from cs_score.statistics.exact_sums import ExactStatistics
from cs_score.statistics.options import Resampling
from cs_score.statistics.resampling import digit_sums, over_resamples, point_scores, scores_of

Pair: TypeAlias = tuple[int, int]
"""Two systems by their position."""


@dataclass(frozen=True, slots=True)
class UnitRecord:
    """On how many units the first of two systems scores higher, the same, or lower than the second."""

    wins: int
    ties: int
    losses: int


def add_one(extreme: int, resamples: int) -> float:
    """The p-value of `extreme` resamples out of `resamples`: (1 + extreme) / (1 + resamples)."""
    return (1 + extreme) / (1 + resamples)


def paired_bootstrap_p(first: float, second: float, resampled_difference: Floats, units: int) -> float:
    """The two-sided p-value of `first - second`, given that difference in each bootstrap resample (N,)."""
    if units == 1:
        return 1.0
    difference = first - second
    extreme = np.abs(resampled_difference - difference) >= abs(difference) - noise(first, second)
    return add_one(int(np.count_nonzero(extreme)), len(resampled_difference))


def randomisation_p(
    statistics: ExactStatistics,
    formula: Formula,
    pairs: Sequence[Pair],
    resampling: Resampling,
    *,
    executor: Executor | None = None,
    cells: int = CHUNK_CELLS,
) -> list[list[float]]:
    """The two-sided p-values of approximate randomisation: per pair, per measure.

    All pairs share the random swaps, so that the p-values of a pair do not depend on the other systems. `executor`
    and `cells` are as in `bootstrap_scores`.
    """
    observed = point_scores(statistics, formula)
    task = partial(_swap_task, statistics, formula, observed, tuple(pairs), resampling.seed, cells)
    extreme = np.zeros((len(pairs), observed.shape[1]), dtype=np.int64)
    for _, counted in over_resamples(task, resampling.resamples, executor):
        extreme += counted
    return [[add_one(int(count), resampling.resamples) for count in row] for row in extreme]


def _swap_task(
    statistics: ExactStatistics,
    formula: Formula,
    observed: Floats,
    pairs: tuple[Pair, ...],
    seed: int,
    cells: int,
    resamples: range,
) -> NDArray[np.int64]:
    """How many of the swaps `resamples` are extreme: (pairs, measures)."""
    extreme = np.zeros((len(pairs), observed.shape[1]), dtype=np.int64)
    total = statistics.total()
    draws = swap_flags(seed, statistics.units, resamples, cells=cells)
    for given in digit_sums(statistics, draws):
        kept = total - given
        for row, (first, second) in enumerate(pairs):
            mixed = np.stack([kept[:, first] + given[:, second], kept[:, second] + given[:, first]])
            scores = scores_of(formula, statistics.values(mixed))
            limit = np.abs(observed[first] - observed[second]) - noise(observed[first], observed[second])
            extreme[row] += np.count_nonzero(np.abs(scores[0] - scores[1]) >= limit, axis=0)
    return extreme


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values of a family of tests, adjusted for their number (Holm 1979), in the order given.

    Rejecting where the adjusted value is at most the level keeps the probability of any false rejection at the level.
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def unit_record(first: Floats, second: Floats) -> UnitRecord:
    """Wins, ties and losses of one measure, from the scores of each unit alone (units,)."""
    slack = noise(first, second)
    wins = int(np.count_nonzero(first - second > slack))
    losses = int(np.count_nonzero(second - first > slack))
    return UnitRecord(wins, len(first) - wins - losses, losses)
