"""How far rankings by different measures and under different policies agree, and how firm their first places are.

Agreement is Kendall's tau-b, ties counted as ties (Kendall 1945).

tau-b = (concordant - discordant) / sqrt((pairs - ties in x) * (pairs - ties in y)). It is 1 for equal rankings, -1 for
opposite ones, and undefined where one of them is a single tie. scipy would compute the same, but is no dependency. The
order of all pairs of things is kept as the bits of two whole numbers, so that comparing two of many rankings is cheap.

Measures of any mode are a formula over the statistics of units, for runs whose tables may lack columns or units.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, cast

from cs_score.analysis.evidence.task import EvidenceTask
from cs_score.base.records import Record
from cs_score.evidence.result import scores_at
from cs_score.measures.registry import COLD_START_MODE, Ratio, formula_of, parse, sums_of
from cs_score.statistics.units import UnitTable
from cs_score.tasks import task_named

if TYPE_CHECKING:  # it loads numpy, which only resampling needs
    from cs_score.statistics.arithmetic import ColumnMeasures

Unit: TypeAlias = tuple[str, int]
"""A unit by its id and which of those with the id it is, from 1: gold may hold an id twice."""

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
        """The measures in each unit by itself, 0..1; None where one is 0/0.

        `known` remembers them by the statistics, which many units have in common.
        """
        found = {}
        units = units_of(table.ids)
        for unit, row in zip(units, self.rows(table, units)):
            values = known.get(row)
            if values is None:
                values = known[row] = self._values(row)
            found[unit] = values
        return found

    def _values(self, row: Sequence[float]) -> Values:
        scores = self.formula(row, Ratio)
        ratios = scores.values() if isinstance(scores, Mapping) else scores
        parts = [each if isinstance(each, Ratio) else Ratio(each, 1.0) for each in ratios]
        return tuple(each.numerator / each.denominator if each.denominator else None for each in parts)


def measured(mode: str, names: Sequence[str]) -> Measured:
    """The measures of a mode called so. Raises UsageError for a name that no measure of the scorer has."""
    if mode == COLD_START_MODE:
        measures = [parse(name) for name in names]
        return Measured(tuple(names), sums_of(measures), formula_of(measures))
    of_mode = cast(EvidenceTask, task_named(mode)).mode
    places = tuple(map(of_mode.measures.index, names))
    return Measured(tuple(names), of_mode.columns, partial(scores_at, of_mode.formula, places))


@lru_cache(maxsize=4)
def units_of(ids: tuple[str, ...]) -> list[Unit]:
    """Units by their ids, which are nearly always those of the run before."""
    seen: Counter[str] = Counter()
    found = []
    for unit in ids:
        seen[unit] += 1
        found.append((unit, seen[unit]))
    return found


def united_units(of_runs: Iterable[tuple[str, ...]]) -> list[Unit]:
    """All units that any run has, given the ids of each, in the order in which they are first met."""
    return list(dict.fromkeys(unit for ids in dict.fromkeys(of_runs) for unit in units_of(ids)))


TIE_TOLERANCE: Final = 1e-12
"""That of `statistics.arithmetic`, whose import takes numpy: scores that are equal but for rounding are equal."""


class Order(NamedTuple):
    """For each pair of things a bit: whether the first is ahead of the second, whether it is behind; none for a tie.

    `untied` is how many pairs are no tie.
    """

    ahead: int
    behind: int
    untied: int


def order(ahead: int, behind: int) -> Order:
    """An order from its bits."""
    return Order(ahead, behind, ahead.bit_count() + behind.bit_count())


def order_of(scores: Sequence[float]) -> Order:
    """The order of things by their scores."""
    sides = [
        0 if math.isclose(one, other, rel_tol=TIE_TOLERANCE) else 1 if one > other else -1
        for one, other in combinations(scores, 2)
    ]
    return order(*(_number(side == wanted for side in sides) for wanted in (1, -1)))


def ranks_of(scores: Sequence[float]) -> list[int]:
    """Ranks from 1; scores that are equal but for rounding share the better one."""
    return [1 + sum(other - score > TIE_TOLERANCE * abs(other) for other in scores) for score in scores]


def tau_b(first: Order, second: Order) -> float | None:
    """tau-b of two orders of the same things, -1..1; None where it is undefined."""
    untied = first.untied * second.untied
    if not untied:
        return None
    concordant = (first.ahead & second.ahead).bit_count() + (first.behind & second.behind).bit_count()
    discordant = (first.ahead & second.behind).bit_count() + (first.behind & second.ahead).bit_count()
    return (concordant - discordant) / math.sqrt(untied)


def _number(flags: Iterable[bool]) -> int:
    """The whole number whose binary digits are these."""
    return int("".join("1" if flag else "0" for flag in flags) or "0", 2)


Ranked: TypeAlias = tuple[str, str]
"""What ranks: a measure, by name, and a policy."""

Scores: TypeAlias = Mapping[Ranked, Sequence[float | None]]
"""The score of each run, by position, under what ranks; None where it has none."""


class Ranking(Record):
    """One ranking: the runs in first place by their position, and the share of resamples in which none of them is first
    (None without resamples, and where too many give a run no score).
    """

    by: Ranked
    first: tuple[int, ...]
    changes: float | None = None


class RankPair(Record):
    """Two rankings: tau-b over the `runs` that both have (None where it is undefined), and its interval where there is
    one.
    """

    a: Ranked
    b: Ranked
    runs: int
    tau: float | None
    interval: tuple[float, float] | None = None


class Stability(Record):
    """All rankings, and all pairs of them."""

    rankings: Sequence[Ranking]
    pairs: Sequence[RankPair]


def stability(scores: Scores) -> Stability:
    """Compare all rankings; `resampled_ranks.with_resamples` adds how much they scatter."""
    return Stability([Ranking(by, _first(of_runs)) for by, of_runs in scores.items()], _pairs(scores))


def _pairs(scores: Scores) -> list[RankPair]:
    pairs = []
    orders = {by: order_of(of_runs) for by, of_runs in scores.items() if None not in of_runs}  # type: ignore[arg-type]
    for a, b in combinations(scores, 2):
        both = [(x, y) for x, y in zip(scores[a], scores[b]) if x is not None and y is not None]
        if a in orders and b in orders:
            tau = tau_b(orders[a], orders[b])
        else:
            tau = tau_b(order_of([x for x, _ in both]), order_of([y for _, y in both]))
        pairs.append(RankPair(a, b, len(both), tau))
    return pairs


def _first(scores: Sequence[float | None]) -> tuple[int, ...]:
    """The runs with the highest score, by position; scores that are equal but for rounding are equal."""
    known = [score for score in scores if score is not None]
    best = max(known, default=0.0)
    least = best - TIE_TOLERANCE * abs(best)
    return tuple(place for place, score in enumerate(scores) if score is not None and score >= least)
