"""Rows of scores: per query and class (SF), projected to LDC queries (LDC-MAX, LDC-MEAN), and their averages.

Source: specification, section 8.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias, TypeVar

from cs_score.base.patterns import pattern
from cs_score.base.records import Record
from cs_score.coldstart.judging import Counts, sum_counts
from cs_score.coldstart.queries import QuerySet
from cs_score.measures import measure
from cs_score.measures.formulas import divide, f1

ALL_LEVELS: Final = measure.ALL_HOPS
MICRO: Final = f"{ALL_LEVELS}-{measure.MICRO}"
MACRO: Final = f"{ALL_LEVELS}-{measure.MACRO}"

Row = TypeVar("Row")

OfLdcQuery: TypeAlias = tuple[str, list[tuple[str, Sequence[Row]]]]
"""Full id of an LDC query; the short ids of its slot-filling queries, in query-file order, with their rows."""

_LEADING_NUMBER: Final = pattern(r"\s*[-+]?\d+")


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


class Table(Record):
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
    query, colon, components = name.partition(":")
    if not colon:
        return name, ()
    if components.isdecimal():  # nearly all rows of classes
        return query, (int(components),)
    return query, tuple(map(_number, components.split(":")))


def _number(component: str) -> int:
    if component.isdecimal():
        return int(component)
    match = _LEADING_NUMBER.match(component)
    return int(match.group()) if match else 0


def counted_row(name: str, counts: Counts, level: str | None = None) -> ScoreRow:
    """A row whose scores come from its own counts; the level is the hop that the name tells, unless given."""
    precision, recall = counts.precision, counts.recall
    return ScoreRow(
        name,
        str(name.count(":")) if level is None else level,
        counts,
        precision,
        recall,
        f1(precision, recall),
        counts.ground_truth,
    )


def in_printing_order(rows: Iterable[ScoreRow]) -> list[ScoreRow]:
    """Rows as a table shows them."""
    return sorted(rows, key=lambda row: row_order(row.name))


def averaged_table(ordered: Iterable[ScoreRow]) -> Table:
    """A table of rows in printing order, with their averages."""
    rows = tuple(ordered)
    by_level = _by_level(rows)
    return Table(rows, _micro(by_level), _macro(by_level))


def ldc_max_rows(full_id: str, rows: Iterable[ScoreRow]) -> list[ScoreRow]:
    """The rows of an entry point in the name of its LDC query, which tells the first class component only (8.2).

    Classes of the second hop so have the name of the class above them, and stand before it.
    """

    def order(row: ScoreRow) -> tuple[str, tuple[float, ...]]:
        query, components = row_order(row.name)
        # What is below a class sorts before the class itself; a query before its classes.
        return query, (*components, math.inf) if components else ()

    return [row._replace(name=":".join((full_id, *row.name.split(":", 2)[1:2]))) for row in sorted(rows, key=order)]


def ldc_tables(table: Table, queries: QuerySet) -> tuple[Table, Table]:
    """The LDC-MAX and the LDC-MEAN variant of an SF table."""
    ldc_queries = list(by_ldc_query(_by_query(table.rows), queries))
    return _ldc_max_table(ldc_queries), _ldc_mean_table(ldc_queries)


def _ldc_max_table(ldc_queries: Iterable[OfLdcQuery[ScoreRow]]) -> Table:
    chosen: list[ScoreRow] = []
    for full_id, entry_points in ldc_queries:
        _, rows = _representing(entry_points)
        chosen += ldc_max_rows(full_id, rows)
    return averaged_table(in_printing_order(chosen))


def _representing(entry_points: Sequence[tuple[str, Sequence[ScoreRow]]]) -> tuple[str, Sequence[ScoreRow]]:
    """The entry point with the highest F1 over all hops.

    Equal F1: the first entry point in query-file order (14, rule 1).
    """
    return entry_points[0] if len(entry_points) == 1 else max(entry_points, key=lambda item: counted_f1(item[1]))


def representatives(table: Table, queries: QuerySet) -> frozenset[str]:
    """The short ids of the entry points that represent their LDC queries in LDC-MAX; `table` is that of SF."""
    return frozenset(_representing(entry_points)[0] for _, entry_points in by_ldc_query(_by_query(table.rows), queries))


def _ldc_mean_table(ldc_queries: Iterable[OfLdcQuery[ScoreRow]]) -> Table:
    means: list[ScoreRow] = []
    for full_id, entry_points in ldc_queries:
        members: dict[str, list[ScoreRow]] = {}
        for _, rows in sorted(entry_points):
            for row in rows:
                _, colon, components = row.name.partition(":")
                members.setdefault(f"{full_id}{colon}{components.partition(':')[0]}", []).append(row)
        means += (_mean_row(name, of_name) for name, of_name in members.items())
    ordered = tuple(in_printing_order(means))
    return Table(ordered, (), _macro(_by_level(ordered)))


def _mean_row(name: str, members: Sequence[ScoreRow]) -> ScoreRow:
    level = str(name.count(":"))
    if len(members) == 1:  # most LDC queries have one entry point
        (row,) = members
        return ScoreRow(name, level, None, row.precision, row.recall, row.f1, row.ground_truth)
    size = len(members)
    *_, precisions, recalls, f1s, ground_truths = zip(*members)
    return ScoreRow(
        name,
        level,
        None,
        left_sum(precisions) / size,
        left_sum(recalls) / size,
        left_sum(f1s) / size,
        max(ground_truths),
    )


def left_sum(values: Iterable[float]) -> float:
    """Sum from left to right in double precision; `sum` of newer Pythons compensates, the reference does not."""
    total = 0.0
    for value in values:
        total += value
    return total


def _by_query(rows: Iterable[ScoreRow]) -> dict[str, list[ScoreRow]]:
    grouped: dict[str, list[ScoreRow]] = defaultdict(list)
    for row in rows:
        grouped[row.name.partition(":")[0].rpartition("_")[2]].append(row)
    return grouped


def by_ldc_query(rows_of: Mapping[str, Sequence[Row]], queries: QuerySet) -> Iterator[OfLdcQuery[Row]]:
    """Each LDC query with the rows of its slot-filling queries, which `rows_of` has by short id.

    Only what has rows is there.
    """
    ldc_of = queries.ldc_of
    for ldc_id in dict.fromkeys(ldc_of.values()):
        query = queries.by_id[ldc_id]
        entry_points = [
            (short_id, rows_of[short_id])
            for short_id in dict.fromkeys(query.expansions or ())
            if short_id in rows_of and ldc_of[short_id] == ldc_id
        ]
        if entry_points:
            yield query.full_id, entry_points


def counted_f1(rows: Iterable[ScoreRow]) -> float:
    """F1 of the counts of all rows together."""
    return sum_counts(_counts(rows)).f1


def _counts(rows: Iterable[ScoreRow]) -> list[Counts]:
    return [row.counts for row in rows if row.counts is not None]


def _by_level(rows: Sequence[ScoreRow]) -> list[tuple[str, Sequence[ScoreRow]]]:
    by_level: dict[str, list[ScoreRow]] = defaultdict(list)
    for row in rows:
        by_level[row.level].append(row)
    return [*sorted(by_level.items()), (ALL_LEVELS, rows)] if rows else []


def _micro(by_level: Iterable[tuple[str, Sequence[ScoreRow]]]) -> tuple[ScoreRow, ...]:
    return tuple(counted_row(MICRO, sum_counts(_counts(members)), level) for level, members in by_level)


def _macro(by_level: Iterable[tuple[str, Sequence[ScoreRow]]]) -> tuple[ScoreRow, ...]:
    return tuple(_macro_row(level, members) for level, members in by_level)


def _macro_row(level: str, members: Sequence[ScoreRow]) -> ScoreRow:
    *_, precisions, recalls, f1s, ground_truths = zip(*members)
    divisor = sum(ground_truth > 0 for ground_truth in ground_truths)

    def mean(values: Iterable[float]) -> float:
        return divide(left_sum(values), divisor)

    return ScoreRow(MACRO, level, None, mean(precisions), mean(recalls), mean(f1s), 0)
