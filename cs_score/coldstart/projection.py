"""Rows of scores: per query and class (SF), projected to LDC queries (LDC-MAX, LDC-MEAN), and their averages.

Source: specification, section 8.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from cs_score.coldstart.counts import Counts, sum_counts
from cs_score.coldstart.queries import QuerySet

ALL_LEVELS: Final = "ALL"
MICRO: Final = "ALL-Micro"
MACRO: Final = "ALL-Macro"

_LEADING_NUMBER: Final = re.compile(r"\s*[-+]?\d+")


class ScoreRow(NamedTuple):
    """One row of a table.

    `name` is the query or class, or `ALL-Micro` / `ALL-Macro`; `level` is the hop as text, or `ALL`; `counts` is None
    where the row is a mean; `ground_truth` decides whether a row counts in the divisor of a macro average.
    """

    name: str
    level: str
    counts: Counts | None
    precision: float
    recall: float
    f1: float
    ground_truth: int


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of one variant in printing order, and its averages: one row a level, `ALL` last."""

    rows: tuple[ScoreRow, ...]
    micro: tuple[ScoreRow, ...]
    macro: tuple[ScoreRow, ...]

    @property
    def averages(self) -> tuple[ScoreRow, ...]:
        """Micro rows, then macro rows."""
        return self.micro + self.macro


def row_order(name: str) -> tuple[str, tuple[int, ...]]:
    """Sort key of rows: query id as text, then class numbers as numbers, then the shorter name (8.1)."""
    query, *components = name.split(":")
    return query, tuple(_number(component) for component in components)


def _number(component: str) -> int:
    match = _LEADING_NUMBER.match(component)
    return int(match.group()) if match else 0


def counted_row(name: str, counts: Counts, level: str | None = None) -> ScoreRow:
    """A row whose scores come from its own counts; the level is the hop that the name tells, unless given."""
    return ScoreRow(
        name,
        str(name.count(":")) if level is None else level,
        counts,
        counts.precision,
        counts.recall,
        counts.f1,
        counts.ground_truth,
    )


def slot_filling_table(rows: Iterable[ScoreRow]) -> Table:
    """The SF variant: every entry point is a query of its own."""
    ordered = tuple(sorted(rows, key=lambda row: row_order(row.name)))
    return Table(ordered, _micro(ordered), _macro(ordered))


def ldc_max_table(table: Table, queries: QuerySet) -> Table:
    """The LDC-MAX variant: each LDC query is represented by its entry point with the highest F1 over both hops.

    Equal F1: the first entry point in query-file order (14, rule 1).
    """
    rows_of = _by_query(table.rows)
    chosen: list[ScoreRow] = []
    for ldc_id, candidates in _candidates(rows_of, queries).items():
        best = candidates[0]
        if len(candidates) > 1:
            best = max(candidates, key=lambda short_id: sum_counts(_counts(rows_of[short_id])).f1)
        for row in rows_of[best]:
            query_id = row.name.partition(":")[0]
            chosen.append(row._replace(name=queries.by_id[ldc_id].full_id + row.name[len(query_id) :]))
    return slot_filling_table(chosen)


def ldc_mean_table(table: Table, queries: QuerySet) -> Table:
    """The LDC-MEAN variant: means over those entry points of an LDC query that have the row."""
    groups: dict[str, list[ScoreRow]] = defaultdict(list)
    for short_id, rows in sorted(_by_query(table.rows).items()):
        ldc_id = queries.ldc_of.get(short_id)
        if ldc_id is not None:
            for row in rows:
                components = row.name.split(":")[1:2]
                groups[":".join((queries.by_id[ldc_id].full_id, *components))].append(row)
    means = [_mean_row(name, groups[name]) for name in sorted(groups, key=row_order)]
    return Table(tuple(means), (), _macro(means))


def _mean_row(name: str, members: Sequence[ScoreRow]) -> ScoreRow:
    size = len(members)
    return ScoreRow(
        name,
        str(name.count(":")),
        None,
        left_sum(row.precision for row in members) / size,
        left_sum(row.recall for row in members) / size,
        left_sum(row.f1 for row in members) / size,
        max(row.ground_truth for row in members),
    )


def left_sum(values: Iterable[float]) -> float:
    """Sum from left to right in double precision; `sum` of newer Pythons compensates, the reference does not."""
    total = 0.0
    for value in values:
        total += value
    return total


def _by_query(rows: Iterable[ScoreRow]) -> dict[str, list[ScoreRow]]:
    """Rows by the short id of their slot-filling query, in printing order."""
    grouped: dict[str, list[ScoreRow]] = defaultdict(list)
    for row in rows:
        grouped[row.name.partition(":")[0].rpartition("_")[2]].append(row)
    return grouped


def _candidates(rows_of: Mapping[str, Sequence[ScoreRow]], queries: QuerySet) -> dict[str, list[str]]:
    """LDC short id -> its slot-filling queries that have rows, in query-file order."""
    candidates: dict[str, list[str]] = {}
    for ldc_id in dict.fromkeys(queries.ldc_of.values()):
        with_rows = [
            short_id
            for short_id in dict.fromkeys(queries.by_id[ldc_id].expansions or ())
            if short_id in rows_of and queries.ldc_of[short_id] == ldc_id
        ]
        if with_rows:
            candidates[ldc_id] = with_rows
    return candidates


def _counts(rows: Iterable[ScoreRow]) -> list[Counts]:
    return [row.counts for row in rows if row.counts is not None]


def _by_level(rows: Sequence[ScoreRow]) -> list[tuple[str, Sequence[ScoreRow]]]:
    """The rows of each level present, `ALL` last; nothing without rows."""
    levels = sorted({row.level for row in rows})
    by_level: list[tuple[str, Sequence[ScoreRow]]] = [
        (level, [row for row in rows if row.level == level]) for level in levels
    ]
    return [*by_level, (ALL_LEVELS, rows)] if rows else []


def _micro(rows: Sequence[ScoreRow]) -> tuple[ScoreRow, ...]:
    """Scores from the sums of the counts."""
    return tuple(counted_row(MICRO, sum_counts(_counts(members)), level) for level, members in _by_level(rows))


def _macro(rows: Sequence[ScoreRow]) -> tuple[ScoreRow, ...]:
    """Sums of the scores of all rows, divided by the number of rows that have something to find."""
    return tuple(_macro_row(level, members) for level, members in _by_level(rows))


def _macro_row(level: str, members: Sequence[ScoreRow]) -> ScoreRow:
    divisor = sum(row.ground_truth > 0 for row in members)

    def mean(values: Iterable[float]) -> float:
        return left_sum(values) / divisor if divisor else 0.0

    return ScoreRow(
        MACRO,
        level,
        None,
        mean(row.precision for row in members),
        mean(row.recall for row in members),
        mean(row.f1 for row in members),
        0,
    )
