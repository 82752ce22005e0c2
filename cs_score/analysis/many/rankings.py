"""How far rankings by different measures and under different policies agree, and which of their rows differ.

Agreement is Kendall's tau-b (1945): (concordant - discordant) / sqrt((pairs - ties in x) * (pairs - ties in y)).

A row is not compared with the one above it because the two were drawn, but because the scores put them side by side.
So the p-value of such a pair is that of two named systems, corrected for all pairs that might have become neighbours.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from cs_score.base.records import Record
from cs_score.base.runtime import Late
from cs_score.measures.registry import COLD_START_MODE, Ratio, SumsFormula, formula_of, parse, ratios, sums_of
from cs_score.statistics.arithmetic import TIE_TOLERANCE, Floats, noise
from cs_score.statistics.comparison import effect_of, tiers
from cs_score.statistics.families import MOST_SYSTEMS, family_pairs, family_tests, groups_of_copies, units_with_content
from cs_score.statistics.options import Family, Note, Resampling, copies, never_significant
from cs_score.statistics.resampling import Systems, defined
from cs_score.statistics.units import Unit, UnitTable, units_of
from cs_score.statistics.verdicts import verdict_of
from cs_score.tasks import mode_named

if TYPE_CHECKING:
    import numpy as np
else:
    np = Late("numpy")

# ---- Measures of runs by their units

Values: TypeAlias = tuple[float | None, ...]
"""A value of each measure."""


class Measured(Record):
    """Some measures of a task as a formula over the statistics of units, for tables that may lack columns or units."""

    names: tuple[str, ...]
    columns: tuple[str, ...]
    formula: SumsFormula

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
                parts = ratios(self.formula, row)
                known[row] = tuple(each.numerator / each.denominator if each.denominator else None for each in parts)
        return {unit: known[row] for unit, row in zip(units, rows)}

    def systems(self, tables: Iterable[UnitTable], units: Sequence[Unit], resampling: Resampling) -> Systems:
        """Runs on these units, to be resampled."""
        rows = [self.rows(table, units) for table in tables]
        return Systems(rows, self.formula, resampling, [unit for unit, _ in units])


def measured(mode: str, names: Sequence[str]) -> Measured:
    """The measures of a mode called so. Raises UsageError for a name that no measure of the scorer has."""
    if mode == COLD_START_MODE:
        measures = [parse(name) for name in names]
        return Measured(tuple(names), sums_of(measures), formula_of(measures))
    of_mode = mode_named(mode)
    return Measured(tuple(names), of_mode.columns, of_mode.formula_of(names))


def united_units(of_runs: Iterable[tuple[str, ...]]) -> list[Unit]:
    """All units that any run has, given the ids of each, in the order in which they are first met."""
    return list(dict.fromkeys(unit for ids in dict.fromkeys(of_runs) for unit in units_of(ids)))


# ---- Which rows of a ranking differ by more than chance


class TestedRow(Record):
    """The tier of a row, from 1, and the corrected p-value of its difference from the row above, None for the first;
    where the pairs with a baseline alone are tested, that from the baseline, and no tiers.

    `effect_size` is the standardised difference from the row above or the baseline; `wins` are the units that speak for
    this row, `losses` those against it.
    """

    tier: int | None = None
    p_above: float | None = None
    p_baseline: float | None = None
    effect_size: float | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None


class RowTests(Record):
    """The tests of the rows of a ranking: their family, a verdict in words, and what a reader must know.

    Without a family nothing was tested; `verdict` is empty then.
    """

    rows: Sequence[TestedRow]
    family: Family | None = None
    verdict: str = ""
    notes: tuple[Note, ...] = ()


class _RowPair(Record):
    """Two rows of a ranking: their names, the score of `b` minus that of `a`, the corrected p-value."""

    a: str
    b: str
    difference: float
    p_adjusted: float


def row_tests(names: Sequence[str], tables: Sequence[UnitTable], measure: Measured, resampling: Resampling) -> RowTests:
    """Test rows from best to worst under one measure, as a comparison of these runs does.

    A unit that a run was not scored on is nothing in it; without units nothing differs. Of too many rows nothing is
    tested, unless there is a baseline.
    """
    units = united_units(table.ids for table in tables)
    if not units or len(tables) < 2:
        return RowTests([TestedRow(1, 1.0 if row else None) for row in range(len(tables))])
    if len(tables) > MOST_SYSTEMS and not resampling.baseline:
        text = (
            f"no tests of pairs: all pairs are tested of at most {MOST_SYSTEMS} runs, and there are {len(tables):,}; "
            "--baseline RUN tests each run against one of them"
        )
        return RowTests([TestedRow() for _ in tables], notes=(Note("TOO_MANY_PAIRS", text),))
    pairs = family_pairs(names, resampling)
    systems = measure.systems(tables, units, resampling)
    tested = family_tests(systems, pairs)
    level = systems.settings.level
    adjusted = tested.adjusted()
    if resampling.baseline:
        baseline = pairs[0][0]
        rows = [TestedRow()] * len(tables)
        for _, row in pairs:
            p = adjusted[frozenset((baseline, row))]
            rows[row] = TestedRow(p_baseline=p, **_effect(systems, baseline, row))
    else:
        tier = tiers(range(len(tables)), lambda best, row: adjusted[frozenset((best, row))] <= level)
        rows = [TestedRow(tier[0])]
        for row in range(1, len(tables)):
            p = adjusted[frozenset((row - 1, row))]
            rows.append(TestedRow(tier[row], p, **_effect(systems, row - 1, row)))
    row_pairs = []
    for (first, second), p in zip(pairs, tested.p_adjusted[0]):
        difference = float(systems.points[second, 0] - systems.points[first, 0])
        row_pairs.append(_RowPair(names[first], names[second], difference, p))
    (units_with_something,) = units_with_content(systems)
    return RowTests(
        rows=rows,
        family=tested.family,
        verdict=verdict_of(row_pairs, tested.family, measure.names[0], level),
        notes=(
            *never_significant(tested.family, units_with_something, level),
            *copies(groups_of_copies(systems, names, pairs)),
        ),
    )


def _effect(systems: Systems, other: int, row: int) -> dict[str, Any]:
    """Return the size of the difference of a row from another one in fields of `TestedRow`."""
    numerator, denominator = systems.ratios.numerator[..., 0], systems.ratios.denominator[..., 0]
    sides = [Ratio(numerator[:, place], denominator[:, place]) for place in (other, row)]
    effect = effect_of(*sides)
    return {name: effect.get(name) for name in EFFECT}


EFFECT: Final = ("effect_size", "wins", "ties", "losses")
"""The fields of a row that say how large its difference from another one is."""

# ---- tau-b


@lru_cache(maxsize=256)
def _signs(scores: tuple[float, ...]) -> list[int]:
    """For each pair of runs whether the first is ahead (1), behind (-1), or neither."""
    return [
        0 if math.isclose(one, other, rel_tol=TIE_TOLERANCE) else 1 if one > other else -1
        for one, other in combinations(scores, 2)
    ]


def tau_b(first: Iterable[float], second: Iterable[float]) -> float | None:
    """Kendall's tau-b of the scores of the same runs, -1..1; None where one of the rankings is a single tie."""
    x, y = _signs(tuple(first)), _signs(tuple(second))
    untied = sum(map(abs, x)) * sum(map(abs, y))
    return sum(map(operator.mul, x, y)) / math.sqrt(untied) if untied else None


def ranks_of(scores: Sequence[float]) -> list[int]:
    """Ranks from 1; scores that are equal but for rounding share the better one."""
    return [1 + sum(other - score > TIE_TOLERANCE * abs(other) for other in scores) for score in scores]


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
    """The runs in first place of a ranking, by position, and how firm that is.

    `shares` has for each run of the batch the share of resamples in which it is first, ties split evenly: None for a
    run without a score, and for all where nothing was resampled or too many resamples have no score.
    """

    runs: tuple[int, ...]
    shares: tuple[float | None, ...]


class Stability(Record):
    """How far rankings agree."""

    pairs: tuple[RankingPair, ...]
    first: tuple[FirstPlace, ...]


Scores: TypeAlias = Mapping[Ranking, Sequence[float | None]]
"""The score of each run, by position, in each ranking; None where it has none."""


def stability(scores: Scores, resampled: Mapping[Ranking, Floats] | None = None, level: float = 0.05) -> Stability:
    """Compare all rankings, over the runs that both of a pair have.

    `resampled` has the scores (runs, N) of each ranking in the same resamples, which give intervals of tau-b, without
    the share `level` of the resamples and over the runs that all rankings have, and how often each run is first.
    """
    everywhere = [place for place, of_run in enumerate(zip(*scores.values())) if None not in of_run]
    taus = _taus(np.stack([resampled[by][everywhere] for by in scores])) if resampled else None
    pairs = []
    for (at, a), (other, b) in combinations(enumerate(scores), 2):
        both = [(x, y) for x, y in zip(scores[a], scores[b]) if x is not None and y is not None]
        tau, limits = tau_b((x for x, _ in both), (y for _, y in both)), None
        found = None if taus is None or tau is None else defined(taus[:, at, other])
        if found is not None:
            limits = Limits(*np.quantile(found, [level / 2, 1 - level / 2], method="linear").tolist())
        pairs.append(RankingPair(a, b, tau, limits))
    first = []
    for by, of_runs in scores.items():
        there = {place: score for place, score in enumerate(of_runs) if score is not None}
        best = max(there.values(), default=0.0)
        least = best - TIE_TOLERANCE * abs(best)  # scores that are equal but for rounding are equal
        places = tuple(place for place, score in there.items() if score >= least)
        shares: list[float | None] = [None] * len(of_runs)
        if resampled and there:
            for place, share in zip(there, first_shares(resampled[by][[*there]])):
                shares[place] = share
        first.append(FirstPlace(by.measure, by.policy, places, tuple(shares)))
    return Stability(tuple(pairs), tuple(first))


def resampled_scores(
    tables: Sequence[UnitTable | None], units: Sequence[Unit], measure: Measured, resampling: Resampling
) -> list[Floats]:
    """For each of the measures the scores (runs, N) of runs, given their statistics, in resamples of `units` that are
    the same for all of them; not a number where a run has no statistics, or a resample no score.
    """
    there = {place: table for place, table in enumerate(tables) if table is not None}
    found: Floats = np.full((len(measure.names), len(tables), resampling.resamples), np.nan)
    if units and there:
        found[:, [*there]] = measure.systems(there.values(), units, resampling).resampled
    return list(found)


def first_shares(resampled: Floats) -> list[float | None]:
    """Return for each run the share of resamples (runs, N) in which it is first; runs that tie for it share it evenly.

    None where too many resamples have no score.
    """
    drawn = defined(resampled)
    if drawn is None:
        return [None] * len(resampled)
    best = drawn.max(axis=0)
    is_first = drawn >= best - noise(best)
    shares = (is_first / is_first.sum(axis=0)).mean(axis=1)
    return [float(share) for share in shares]


_CELLS: Final = 1 << 17
"""Rankings times pairs of runs times resamples that are compared at once; changes no result."""


def _taus(scores: Floats) -> Floats:
    """tau-b of every two rankings in each resample (N, rankings, rankings), from scores (rankings, runs, N); not a
    number where it is undefined, or a run has no score.
    """
    first, second = np.triu_indices(scores.shape[1], k=1)
    step = max(1, _CELLS // max(1, len(scores) * len(first)))
    taus: Floats = np.empty((scores.shape[2], len(scores), len(scores)))
    for start in range(0, len(taus), step):
        drawn = np.ascontiguousarray(scores[..., start : start + step])
        ahead, behind = drawn[:, first], drawn[:, second]
        slack, difference = TIE_TOLERANCE * np.maximum(ahead, behind), ahead - behind  # no score is negative
        signs = ((difference > slack).astype(np.float32) - (difference < -slack)).transpose(2, 0, 1)
        agreement = (signs @ signs.transpose(0, 2, 1)).astype(np.float64)  # whole numbers, exact in any order
        untied = np.diagonal(agreement, axis1=1, axis2=2)
        with np.errstate(invalid="ignore"):
            found = agreement / np.sqrt(untied[:, :, np.newaxis] * untied[:, np.newaxis])
        lacks = np.asarray(np.isnan(drawn).any(axis=1)).T
        found[lacks[:, :, np.newaxis] | lacks[:, np.newaxis]] = np.nan
        taus[start : start + step] = found
    return taus
