"""Rows of scores: per query and class (SF), projected to LDC queries (LDC-MAX, LDC-MEAN), and their averages.

Source: specification, section 8.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias, TypeVar

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


class Table(Record):
    """The rows of one variant in printing order, and its averages: one row a level, `ALL` last."""

    rows: tuple[ScoreRow, ...]
    micro: tuple[ScoreRow, ...]
    macro: tuple[ScoreRow, ...]

    @property
    def averages(self) -> tuple[ScoreRow, ...]:
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
    return sorted(rows, key=lambda row: row_order(row.name))


def averaged_table(ordered: Iterable[ScoreRow]) -> Table:
    rows = tuple(ordered)
    by_level = _by_level(rows)
    micro = tuple(counted_row(MICRO, _sum(members), level) for level, members in by_level)
    return Table(rows, micro, _macro(by_level))


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
    """LDC-MAX and LDC-MEAN of an SF table (specification 8.2 and 8.3)."""
    chosen: list[ScoreRow] = []
    means: list[ScoreRow] = []
    for full_id, entry_points in by_ldc_query(_by_query(table.rows), queries):
        chosen += ldc_max_rows(full_id, _representing(entry_points)[1])
        members: dict[str, list[ScoreRow]] = {}
        for _, rows in sorted(entry_points):
            for row in rows:
                _, colon, components = row.name.partition(":")
                members.setdefault(f"{full_id}{colon}{components.partition(':')[0]}", []).append(row)
        means += (_mean_row(name, of_name) for name, of_name in members.items())
    ordered = tuple(in_printing_order(means))
    return averaged_table(in_printing_order(chosen)), Table(ordered, (), _macro(_by_level(ordered)))


def _representing(entry_points: Sequence[tuple[str, Sequence[ScoreRow]]]) -> tuple[str, Sequence[ScoreRow]]:
    """The entry point with the highest F1 over all hops, the first in query-file order where equal (14, rule 1)."""
    return entry_points[0] if len(entry_points) == 1 else max(entry_points, key=lambda item: counted_f1(item[1]))


def representatives(table: Table, queries: QuerySet) -> frozenset[str]:
    """The short ids of the entry points that represent their LDC queries in LDC-MAX; `table` is that of SF."""
    return frozenset(_representing(entry_points)[0] for _, entry_points in by_ldc_query(_by_query(table.rows), queries))


def _mean_row(name: str, members: Sequence[ScoreRow]) -> ScoreRow:
    level = str(name.count(":"))
    if len(members) == 1:  # most LDC queries have one entry point; a mean of one is what it is, negative zero too
        return members[0]._replace(name=name, level=level, counts=None)
    *_, precisions, recalls, f1s, ground_truths = zip(*members)
    precision, recall, f1_ = (left_sum(scores) / len(members) for scores in (precisions, recalls, f1s))
    return ScoreRow(name, level, None, precision, recall, f1_, max(ground_truths))


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
    return _sum(rows).f1


def _sum(rows: Iterable[ScoreRow]) -> Counts:
    return sum_counts(row.counts for row in rows if row.counts is not None)


def _by_level(rows: Sequence[ScoreRow]) -> list[tuple[str, Sequence[ScoreRow]]]:
    by_level: dict[str, list[ScoreRow]] = defaultdict(list)
    for row in rows:
        by_level[row.level].append(row)
    return [*sorted(by_level.items()), (ALL_LEVELS, rows)] if rows else []


def _macro(by_level: Iterable[tuple[str, Sequence[ScoreRow]]]) -> tuple[ScoreRow, ...]:
    """Sums of the scores of all rows, divided by the number of rows that have something to find."""
    macro: list[ScoreRow] = []
    for level, members in by_level:
        *_, precisions, recalls, f1s, ground_truths = zip(*members)
        divisor = sum(ground_truth > 0 for ground_truth in ground_truths)
        precision, recall, f1_ = (divide(left_sum(scores), divisor) for scores in (precisions, recalls, f1s))
        macro.append(ScoreRow(MACRO, level, None, precision, recall, f1_, 0))
    return tuple(macro)
