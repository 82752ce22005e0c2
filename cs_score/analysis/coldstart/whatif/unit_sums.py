"""What one unit adds to the sums that measures are made of, and what it would add were some of its rows others.

The sums are those of `coldstart.unit_statistics`, kept by entry point: LDC-MAX takes those of the entry point with the
highest F1, LDC-MEAN the means over the entry points that have a row (specification 8.2, 8.3, 9.8).
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import add, sub
from typing import Final, NamedTuple, TypeAlias

from cs_score.base.records import Record
from cs_score.coldstart.counting import Tally
from cs_score.coldstart.projection import ALL_LEVELS, left_sum
from cs_score.coldstart.queries import QuerySet
from cs_score.coldstart.ranking import Ranking
from cs_score.coldstart.result import UnitResult
from cs_score.measures.formulas import divide, f1
from cs_score.measures.registry import LDC_MAX, LDC_MEAN, RANKED, SF

Sums: TypeAlias = dict[str, tuple[float, ...]]
"""Sums of rows by level, `ALL` among them, in the order of the columns of a kind of table."""

RowCounts: TypeAlias = Counter[tuple[bool | str, str]]

COUNTED: Final = ("right", "answered", "ground_truth", "precision", "recall", "f1", "rows")
RANKED_COLUMNS: Final = (*RANKED, "rankings")

_NOTHING: Final = (0.0,) * len(COUNTED)


Rankings: TypeAlias = Mapping[str, tuple[tuple[float, ...], int]]
"""By level the scores of a ranking, and the number of answers to be found."""


class Row(NamedTuple):
    """A row of the SF table: its level, and what it adds."""

    level: str
    adds: tuple[float, ...]


def row(level: str, right: int, answered: int, ground_truth: int) -> Row:
    """A row from its counts; `answered` are the lines that are not ignored."""
    precision, recall = divide(right, answered), divide(right, ground_truth)
    adds = (right, answered, ground_truth, precision, recall, f1(precision, recall), int(ground_truth > 0))
    return Row(level, adds)


class QueryScores(Record):
    """The rows of one query by name, and its rankings."""

    rows: Mapping[str, Row]
    rankings: Rankings


def scores_of_query(tallies: Iterable[Tally], rankings: Iterable[Ranking]) -> QueryScores:
    """What a query adds, as it was scored."""
    return QueryScores(
        {
            tally.name: row(
                str(tally.name.count(":")),
                tally.counts.right,
                tally.counts.answered,
                tally.counts.ground_truth,
            )
            for tally in tallies
        },
        {ranking.level: (ranking.scores, ranking.ground_truth or 0) for ranking in rankings},
    )


class UnitSums:
    """What a unit adds, as it is and with other scores of one of its queries.

    `values` are in the order of the columns that were asked for.
    """

    def __init__(self, unit: UnitResult, table: QuerySet, columns: Sequence[str]) -> None:
        """`columns`: names as `sums_of` gives them."""
        self._columns = _by_table(tuple(columns))
        counted = {table for table, _, is_counted, _ in self._columns if is_counted}
        self._has_means, self._has_sums = LDC_MEAN in counted, bool(counted - {LDC_MEAN})
        self.queries = {each.query.short_id: scores_of_query(each.tallies, each.rankings) for each in unit.queries}
        """The scores of each query, by short id."""
        ldc_query = table.by_id.get(unit.id) if any(short_id in table.ldc_of for short_id in self.queries) else None
        of_ldc = () if ldc_query is None else dict.fromkeys(ldc_query.expansions or ())
        self._entry_points = [short_id for short_id in of_ldc if short_id in self.queries]
        self._sums: dict[str, Sums] = {}
        if self._has_sums:
            self._sums = {short_id: _sums(scores.rows.values()) for short_id, scores in self.queries.items()}
        self._groups: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for short_id in sorted(self._entry_points) if self._has_means else ():
            for name in self.queries[short_id].rows:
                self._groups[_group(name)].append((short_id, name))
        self._mean_of = {group: mean for group in self._groups if (mean := self._mean(group, {})) is not None}
        self._means = _sums(self._mean_of.values())
        self.values = self._values(self.queries, self._sums, self._means)

    @functools.cached_property
    def rows(self) -> RowCounts:
        """How many rows there are by level, `ALL` among them; those of rankings are marked with False.

        Those of the entry point that represents the LDC query are counted once more, by the name of LDC-MAX.
        """
        found: RowCounts = Counter(
            (True, row.level) for scores in self.queries.values() for row in scores.rows.values()
        )
        found[True, ALL_LEVELS] = found.total()
        best = (self.queries[short_id] for short_id in self._best(self._sums))
        found.update((LDC_MAX, row.level) for scores in best for row in scores.rows.values())
        found.update((False, level) for scores in self.queries.values() for level in scores.rankings)
        return found

    def after(self, short_id: str, rows: Mapping[str, Row | None], rankings: Rankings) -> list[float]:
        """The values with other scores of one query: some of its rows (None: it is gone), and its rankings."""
        before = self.queries[short_id]
        sums = self._sums
        if self._has_sums and rows:
            of_query = dict(sums[short_id])
            for name, new in rows.items():
                _add(of_query, before.rows[name], sub)
                if new is not None:
                    _add(of_query, new)
            sums = {**sums, short_id: of_query}
        means = self._means
        if self._has_means and rows and short_id in self._entry_points:
            means = dict(means)
            changed = {(short_id, name): new for name, new in rows.items()}
            for group in {_group(name) for name in rows}:
                _add(means, self._mean_of[group], sub)
                if (mean := self._mean(group, changed)) is not None:
                    _add(means, mean)
        queries = {**self.queries, short_id: QueryScores(before.rows, rankings)}
        return self._values(queries, sums, means)

    def _mean(self, group: str, changed: Mapping[tuple[str, str], Row | None]) -> Row | None:
        """The row of LDC-MEAN that a group of rows makes; None without rows."""
        keys = self._groups[group]
        found = (changed[key] if key in changed else self.queries[key[0]].rows[key[1]] for key in keys)
        members = [row.adds for row in found if row is not None]
        if len(members) == 1:  # most LDC queries have one entry point
            (adds,) = members
            return Row("1" if group else "0", (0, 0, 0, *adds[3:]))
        if not members:
            return None
        _, _, ground_truth, *scores, _ = zip(*members)
        means = (left_sum(column) / len(members) for column in scores)
        return Row("1" if group else "0", (0, 0, 0, *means, int(max(ground_truth) > 0)))

    def _best(self, sums: Mapping[str, Sums]) -> list[str]:
        """The entry point that represents the LDC query, where there is one."""
        entry_points = [short_id for short_id in self._entry_points if sums.get(short_id)]
        if len(entry_points) > 1:
            return [max(entry_points, key=lambda short_id: _f1(sums[short_id]))]
        return entry_points

    def _values(self, queries: Mapping[str, QueryScores], sums: Mapping[str, Sums], means: Sums) -> list[float]:
        best = self._best(sums)
        counted = {SF: list(sums.values()), LDC_MAX: [sums[short_id] for short_id in best], LDC_MEAN: [means]}
        rankings = {SF: [scores.rankings for scores in queries.values()]}
        rankings[LDC_MEAN] = [queries[short_id].rankings for short_id in self._entry_points]
        values: list[float] = []
        for table, level, is_counted, places in self._columns:
            if is_counted:
                of_level = [each[level] for each in counted[table] if level in each]
                row = _total(of_level, len(COUNTED))
            else:
                row = _ranked([each[level] for each in rankings[table] if level in each], table == LDC_MEAN)
            values += [row[at] for at in places]
        return values


@functools.lru_cache(maxsize=16)
def _by_table(columns: tuple[str, ...]) -> list[tuple[str, str, bool, list[int]]]:
    """Columns in their order, those of a table and level together: whether it counts, and their places in its rows."""
    found: list[tuple[str, str, bool, list[int]]] = []
    for column in columns:
        table, level, name = column.split(":")
        is_counted = name in COUNTED
        place = (COUNTED if is_counted else RANKED_COLUMNS).index(name)
        if not found or found[-1][:3] != (table, level, is_counted):
            found.append((table, level, is_counted, []))
        found[-1][3].append(place)
    return found


def _total(rows: Sequence[Sequence[float]], width: int) -> Sequence[float]:
    """The sum of rows, column by column."""
    if len(rows) == 1:
        return rows[0]
    return [sum(column) for column in zip(*rows)] if rows else [0] * width


def _group(name: str) -> str:
    """The first component of a row's class, empty for a query: rows that are alike in it are averaged."""
    return name.partition(":")[2].partition(":")[0]


def _sums(rows: Iterable[Row]) -> Sums:
    sums: Sums = {}
    for each in rows:
        _add(sums, each)
    return sums


def _add(sums: Sums, row: Row, combine: Callable[[float, float], float] = add) -> None:
    """Add a row to the sums of its level and of all, or take it away."""
    for level in (row.level, ALL_LEVELS):
        sums[level] = tuple(map(combine, sums.get(level, _NOTHING), row.adds))


def _f1(sums: Sums) -> float:
    right, answered, ground_truth, *_ = sums[ALL_LEVELS]
    return float(f1(divide(right, answered), divide(right, ground_truth)))


def _ranked(rankings: Sequence[tuple[tuple[float, ...], int]], as_mean: bool) -> Sequence[float]:
    """What rankings add: each by itself, or as one row with their means and the largest number (specification 9.8)."""
    if len(rankings) == 1:
        ((scores, ground_truth),) = rankings
        return (*scores, ground_truth > 0)
    if not rankings:
        return [0] * len(RANKED_COLUMNS)
    totals = [left_sum(column) for column in zip(*(scores for scores, _ in rankings))]
    if as_mean:
        return (*(total / len(rankings) for total in totals), any(ground_truth > 0 for _, ground_truth in rankings))
    return (*totals, sum(ground_truth > 0 for _, ground_truth in rankings))
