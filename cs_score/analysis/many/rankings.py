"""How far rankings by different measures and under different policies agree, and which of their rows differ.

Agreement is Kendall's tau-b (Kendall 1945): (concordant - discordant) / sqrt((pairs - ties in x) * (pairs - ties in
y)), 1 for equal rankings, -1 for opposite ones, undefined where one of them is a single tie. scipy would compute the
same, but is no dependency. The order of all pairs is kept as the bits of two whole numbers, so that comparing two of
many rankings is cheap.

A row is not compared with the one above it because the two were drawn, but because the scores put them side by side.
So the p-value of such a pair is that of two named systems, corrected for all pairs that might have become neighbours.

Measures of any mode are a formula over the statistics of units, for runs whose tables may lack columns or units.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from cs_score.analysis.evidence.task import EvidenceTask
from cs_score.base.records import Record
from cs_score.base.runtime import Late
from cs_score.measures.registry import COLD_START_MODE, Ratio, formula_of, parse, sums_of
from cs_score.statistics.arithmetic import (
    TIE_TOLERANCE,
    ColumnFormula,
    ColumnMeasures,
    ExactStatistics,
    Floats,
    exact_statistics,
    noise,
)
from cs_score.statistics.comparison import family_pairs, family_tests, tiers
from cs_score.statistics.options import Family, Note, Resampling, never_significant
from cs_score.statistics.resampling import bootstrap_scores, defined
from cs_score.statistics.units import Unit, UnitTable, units_of
from cs_score.tasks import task_named

if TYPE_CHECKING:
    import numpy as np
else:
    np = Late("numpy")

# ---- Measures of runs by their units

Values: TypeAlias = tuple[float | None, ...]
"""A value of each measure."""


class Measured(Record):
    """Some measures, the columns that they are made of, and how."""

    names: tuple[str, ...]
    columns: tuple[str, ...]
    formula: ColumnMeasures

    def rows(self, table: UnitTable, units: Sequence[Unit]) -> list[tuple[float, ...]]:
        """The statistics of these units; zeros for a unit or a column that the table lacks (a level without rows)."""
        if table.columns == self.columns and list(units) == units_of(table.ids):
            return list(table.rows)
        places = [table.columns.index(column) if column in table.columns else None for column in self.columns]
        known = dict(zip(units_of(table.ids), table.rows))
        nothing = (0.0,) * len(table.columns)
        return [
            tuple(0.0 if place is None else row[place] for place in places)
            for row in (known.get(unit, nothing) for unit in units)
        ]

    def values(self, table: UnitTable, known: dict[tuple[float, ...], Values]) -> dict[Unit, Values]:
        """The measures in each unit by itself, 0..1; None where one is 0/0. `known` remembers them by the statistics,
        which many units have in common.
        """
        units = units_of(table.ids)
        rows = self.rows(table, units)
        for row in dict.fromkeys(rows):
            if row not in known:
                scores = self.formula(row, Ratio)
                ratios = scores.values() if isinstance(scores, Mapping) else scores
                parts = [each if isinstance(each, Ratio) else Ratio(each, 1.0) for each in ratios]
                known[row] = tuple(each.numerator / each.denominator if each.denominator else None for each in parts)
        return {unit: known[row] for unit, row in zip(units, rows)}


def measured(mode: str, names: Sequence[str]) -> Measured:
    """The measures of a mode called so. Raises UsageError for a name that no measure of the scorer has."""
    if mode == COLD_START_MODE:
        measures = [parse(name) for name in names]
        return Measured(tuple(names), sums_of(measures), formula_of(measures))
    of_mode = cast(EvidenceTask, task_named(mode)).mode
    return Measured(tuple(names), of_mode.columns, of_mode.formula_of(names))


def united_units(of_runs: Iterable[tuple[str, ...]]) -> list[Unit]:
    """All units that any run has, given the ids of each, in the order in which they are first met."""
    return list(dict.fromkeys(unit for ids in dict.fromkeys(of_runs) for unit in units_of(ids)))


def _drawn_statistics(
    tables: Iterable[UnitTable], units: Sequence[Unit], measure: Measured, resampling: Resampling
) -> tuple[Resampling, ExactStatistics]:
    """The settings that hold for these units, and the statistics of runs as they are drawn."""
    settings, drawn = resampling.for_units([unit for unit, _ in units])
    return settings, exact_statistics([measure.rows(table, units) for table in tables], drawn)


# ---- Which rows of a ranking differ by more than chance


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
    settings, statistics = _drawn_statistics(tables, units, measure, resampling)
    pairs = family_pairs(names, settings)
    tested = family_tests(statistics, ColumnFormula(measure.formula), pairs, settings)
    notes = never_significant(tested.family, statistics.units, settings.level)
    adjusted = {frozenset(pair): p for pair, p in zip(pairs, tested.p_adjusted[0])}
    places = range(len(tables))
    if settings.baseline:
        rows = [TestedRow(p_baseline=adjusted.get(frozenset((pairs[0][0], row)))) for row in places]
    else:
        of_row = tiers(places, lambda best, row: adjusted[frozenset((best, row))] <= settings.level)
        rows = [TestedRow(of_row[row], adjusted[frozenset((row - 1, row))] if row else None) for row in places]
    return rows, tested.family, notes


# ---- tau-b

Order: TypeAlias = tuple[int, int]
"""For each pair of runs a bit: whether the first is ahead of the second, whether it is behind; none for a tie."""


@lru_cache(maxsize=256)
def order_of(scores: tuple[float, ...]) -> Order:
    """The order of runs by their scores."""
    sides = [
        0 if math.isclose(one, other, rel_tol=TIE_TOLERANCE) else 1 if one > other else -1
        for one, other in combinations(scores, 2)
    ]
    ahead, behind = ("".join("1" if side == wanted else "0" for side in sides) for wanted in (1, -1))
    return int(ahead or "0", 2), int(behind or "0", 2)


def ranks_of(scores: Sequence[float]) -> list[int]:
    """Ranks from 1; scores that are equal but for rounding share the better one."""
    return [1 + sum(other - score > TIE_TOLERANCE * abs(other) for other in scores) for score in scores]


def tau_b(first: Order, second: Order) -> float | None:
    """tau-b of two orders of the same runs, -1..1; None where it is undefined."""
    (ahead, behind), (other_ahead, other_behind) = first, second
    untied = (ahead.bit_count() + behind.bit_count()) * (other_ahead.bit_count() + other_behind.bit_count())
    if not untied:
        return None
    concordant = (ahead & other_ahead).bit_count() + (behind & other_behind).bit_count()
    discordant = (ahead & other_behind).bit_count() + (behind & other_ahead).bit_count()
    return (concordant - discordant) / math.sqrt(untied)


# ---- How firm rankings are


class Limits(Record):
    """The limits of an interval, None where resamples gave none."""

    low: float | None
    high: float | None


class Ranking(Record):
    """A ranking of all runs."""

    measure: str
    policy: str


class RankingPair(Record):
    """Kendall's tau-b of two rankings."""

    a: Ranking
    b: Ranking
    tau: float | None
    interval: Limits | None


class FirstPlace(Ranking):
    """Who comes first in a ranking, and in what share of resamples another run does."""

    runs: tuple[int, ...]
    changes: float | None


class Stability(Record):
    """How far rankings agree."""

    pairs: tuple[RankingPair, ...]
    first: tuple[FirstPlace, ...]


Scores: TypeAlias = Mapping[Ranking, Sequence[float | None]]
"""The score of each run, by position, in each ranking; None where it has none."""


def stability(scores: Scores, resampled: Mapping[Ranking, Floats] | None = None, level: float = 0.05) -> Stability:
    """Compare all rankings, over the runs that both of a pair have.

    `resampled` has the scores (runs, N) of each ranking in the same resamples, which give intervals of tau-b, without
    the share `level` of the resamples and over the runs that all rankings have, and how often another run is first.
    """
    everywhere = [place for place, of_run in enumerate(zip(*scores.values())) if None not in of_run]
    orders = {by: _orders(resampled[by][everywhere]) for by in scores} if resampled else {}
    pairs = []
    for a, b in combinations(scores, 2):
        both = [(x, y) for x, y in zip(scores[a], scores[b]) if x is not None and y is not None]
        tau = tau_b(order_of(tuple(x for x, _ in both)), order_of(tuple(y for _, y in both)))
        interval = _interval(orders[a], orders[b], level) if orders and tau is not None else None
        pairs.append(RankingPair(a, b, tau, interval))
    first = []
    for by, of_runs in scores.items():
        best = max((score for score in of_runs if score is not None), default=0.0)
        least = best - TIE_TOLERANCE * abs(best)  # scores that are equal but for rounding are equal
        places = tuple(place for place, score in enumerate(of_runs) if score is not None and score >= least)
        changes = _changes(places, of_runs, resampled[by]) if resampled else None
        first.append(FirstPlace(by.measure, by.policy, places, changes))
    return Stability(tuple(pairs), tuple(first))


def resampled_scores(
    tables: Sequence[UnitTable | None], units: Sequence[Unit], measure: Measured, resampling: Resampling
) -> list[Floats]:
    """For each of the measures the scores (runs, N) of runs, given their statistics, in resamples of `units` that are
    the same for all of them; not a number where a run has no statistics, or a resample no score.
    """
    there = [table for table in tables if table is not None]
    found: Floats = np.full((len(measure.names), len(tables), resampling.resamples), np.nan)
    if units and there:
        _, statistics = _drawn_statistics(there, units, measure, resampling)
        places = [place for place, table in enumerate(tables) if table is not None]
        found[:, places] = bootstrap_scores(statistics, ColumnFormula(measure.formula), resampling)
    return list(found)


def _changes(first: Sequence[int], scores: Sequence[float | None], resampled: Floats) -> float | None:
    """The share of resamples in which none of the runs in first place is first; None where too many have no score."""
    places = [place for place, score in enumerate(scores) if score is not None]
    found = defined(resampled[places])
    if found is None or not first:
        return None
    best = found.max(axis=0)
    stays = (found[[places.index(place) for place in first]] >= best - noise(best)).any(axis=0)
    return int(np.count_nonzero(~stays)) / len(stays)


_CELLS: Final = 1 << 20
"""Pairs of runs times resamples that are compared at once; changes no result."""


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
        orders += [
            None if lacks else (int.from_bytes(one.tobytes(), "big"), int.from_bytes(other.tobytes(), "big"))
            for lacks, one, other in zip(np.isnan(drawn.sum(axis=1)), *sides)
        ]
    return orders


def _interval(first: Sequence[Order | None], second: Sequence[Order | None], level: float) -> Limits | None:
    """The percentile interval of tau-b over resamples; None where more than a fifth of them have none."""
    taus = [None if x is None or y is None else tau_b(x, y) for x, y in zip(first, second)]
    found = defined(np.array([np.nan if tau is None else tau for tau in taus])) if taus else None
    return None if found is None else Limits(*np.quantile(found, [level / 2, 1 - level / 2], method="linear").tolist())
