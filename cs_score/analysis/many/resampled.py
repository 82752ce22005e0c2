"""Which rows of a ranking differ by more than chance: the corrected tests of `cs-score compare` over all of its pairs.

A row is not compared with the one above it because the two were drawn, but because the scores put them side by side.
So the p-value of such a pair is that of two named systems, corrected for all pairs that might have become neighbours.

And rankings in resamples of the units: how far they scatter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from cs_score.analysis.many.stability import (
    TIE_TOLERANCE,
    Measured,
    Order,
    Ranked,
    Ranking,
    Scores,
    Stability,
    Unit,
    order,
    tau_b,
    united_units,
)
from cs_score.base.records import Record, replace
from cs_score.base.runtime import Late
from cs_score.statistics.arithmetic import ColumnFormula, Floats, exact_statistics, noise
from cs_score.statistics.options import Family, Note, Resampling, never_significant
from cs_score.statistics.paired_tests import family_pairs, family_tests, tiers
from cs_score.statistics.resampling import bootstrap_scores, defined
from cs_score.statistics.units import UnitTable

if TYPE_CHECKING:
    import numpy as np
else:
    np = Late("numpy")


class TestedRow(Record):
    """The tier of a row, from 1, and the corrected p-value of its difference from the row above, None for the first;
    where the pairs with a baseline alone are tested, that from the baseline, and no tiers.
    """

    tier: int | None = None
    p_above: float | None = None
    p_baseline: float | None = None


def row_tests(
    names: Sequence[str], tables: Sequence[UnitTable], measure: Measured, resampling: Resampling
) -> tuple[list[TestedRow], Family | None, tuple[Note, ...]]:
    """The tests of rows from best to worst under one measure, from the statistics of their units, and their family.

    They are those of a comparison. A unit that a run was not scored on is nothing in it. Without units nothing differs.
    The notes say so where no difference could have been significant.
    """
    units = united_units(table.ids for table in tables)
    if not units or len(tables) < 2:
        return [TestedRow(1, 1.0 if row else None) for row in range(len(tables))], None, ()
    resampling, drawn = resampling.for_units([unit for unit, _ in units])
    statistics = exact_statistics([measure.rows(table, units) for table in tables], drawn)
    pairs = family_pairs(names, resampling)
    tested = family_tests(statistics, ColumnFormula(measure.formula), pairs, resampling)
    notes = never_significant(tested.family, statistics.units, resampling.level)
    adjusted = {frozenset(pair): p for pair, p in zip(pairs, tested.p_adjusted[0])}
    if resampling.baseline:
        base = pairs[0][0]
        rows = [TestedRow(p_baseline=adjusted.get(frozenset((base, row)))) for row in range(len(tables))]
        return rows, tested.family, notes
    of_row = tiers(range(len(tables)), lambda best, row: adjusted[frozenset((best, row))] <= resampling.level)
    rows = [TestedRow(of_row[row], adjusted[frozenset((row - 1, row))] if row else None) for row in range(len(tables))]
    return rows, tested.family, notes


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
        _, drawn = resampling.for_units([unit for unit, _ in units])
        statistics = exact_statistics([measure.rows(table, units) for table in there], drawn)
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
