"""Rankings in resamples of the units: how far they scatter. Loads numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final

import numpy as np

from cs_score.analysis.many.kendall import TIE_TOLERANCE, Order, order, tau_b
from cs_score.analysis.many.measured import Measured, Unit
from cs_score.analysis.many.stability import Ranked, Ranking, Scores, Stability
from cs_score.base.records import replace
from cs_score.statistics.arithmetic import ColumnFormula, Floats, exact_statistics, noise
from cs_score.statistics.options import Resampling
from cs_score.statistics.resampling import bootstrap_scores, defined
from cs_score.statistics.units import UnitTable

_CELLS: Final = 1 << 20
"""Pairs of runs times resamples that are compared at once; changes no result."""


def resampled_scores(
    tables: Sequence[UnitTable | None], units: Sequence[Unit], measure: Measured, resampling: Resampling
) -> list[Floats]:
    """For each of the measures the scores (runs, N) of runs, given their statistics, in resamples of `units` that are
    the same for all of them; not a number where a run has no statistics, or a resample no score.
    """
    there = [table for table in tables if table is not None]
    found: Floats = np.full((len(measure.names), len(tables), resampling.resamples), np.nan)
    if units and there:
        statistics = exact_statistics([measure.rows(table, units) for table in there])
        places = [place for place, table in enumerate(tables) if table is not None]
        found[:, places] = bootstrap_scores(statistics, ColumnFormula(measure.formula), resampling)
    return list(found)


def with_resamples(found: Stability, scores: Scores, resampled: Mapping[Ranked, Floats], level: float) -> Stability:
    """The same with intervals, and with how often another run is first.

    `resampled` has the scores (runs, N) of each ranking in the same resamples; `level` is what the intervals leave out
    (0.05 for 95 %).
    """
    rankings = [
        replace(ranking, changes=_changes(ranking, scores[ranking.by], resampled[ranking.by]))
        for ranking in found.rankings
    ]
    drawn = _taus(scores, resampled)
    pairs = [
        pair if pair.tau is None else replace(pair, interval=_interval(drawn.get((pair.a, pair.b)), level))
        for pair in found.pairs
    ]
    return Stability(rankings, pairs)


def _changes(ranking: Ranking, scores: Sequence[float | None], resampled: Floats) -> float | None:
    places = [place for place, score in enumerate(scores) if score is not None]
    found = defined(resampled[places])
    if found is None or not ranking.first:
        return None
    best = found.max(axis=0)
    first = [places.index(place) for place in ranking.first]
    stays = (found[first] >= best - noise(best)).any(axis=0)
    return int(np.count_nonzero(~stays)) / len(stays)


def _taus(scores: Scores, resampled: Mapping[Ranked, Floats]) -> dict[tuple[Ranked, Ranked], list[float]]:
    """tau-b of each pair of rankings in each resample, over the runs that have a score in all rankings; not a number
    where it is undefined, and where a run has no score in that resample.
    """
    everywhere = [place for place, of_run in enumerate(zip(*scores.values())) if None not in of_run]
    of_resamples = [_orders(resampled[by][everywhere]) for by in scores]
    taus: dict[tuple[Ranked, Ranked], list[float]] = {}
    for (a, first), (b, second) in combinations(zip(scores, of_resamples), 2):
        found = [None if x is None or y is None else tau_b(x, y) for x, y in zip(first, second)]
        taus[a, b] = [np.nan if tau is None else tau for tau in found]
    return taus


def _orders(scores: Floats) -> list[Order | None]:
    """The order of runs in each resample (runs, N); None where one of them has no score."""
    first, second = np.triu_indices(len(scores), k=1)
    step = max(1, _CELLS // max(1, len(first)))
    orders: list[Order | None] = []
    for start in range(0, scores.shape[1], step):
        drawn = scores[:, start : start + step].T
        ahead, behind = drawn[:, first], drawn[:, second]
        slack, difference = TIE_TOLERANCE * np.maximum(ahead, behind), ahead - behind  # no score is negative
        sides = [np.packbits(side, axis=1) for side in (difference > slack, difference < -slack)]
        lacking = np.isnan(drawn.sum(axis=1))
        orders += [
            None if lacks else order(*(int.from_bytes(side.tobytes(), "big") for side in of_resample))
            for lacks, *of_resample in zip(lacking, *sides)
        ]
    return orders


def _interval(taus: Sequence[float] | None, level: float) -> tuple[float, float] | None:
    """The percentile interval of a tau; None where more than a fifth of the resamples have none."""
    found = None if not taus else defined(np.array(taus))
    if found is None:
        return None
    low, high = np.quantile(found, [level / 2, 1 - level / 2], method="linear").tolist()
    return low, high
