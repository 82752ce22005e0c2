"""The tables of the AP report: a row per query and level, LDC queries, and macro averages (specification 9.8)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cs_score.base.records import Record
from cs_score.coldstart.counting.projection import MACRO, by_ldc_query, left_sum, row_order
from cs_score.coldstart.queries.query_set import QuerySet
from cs_score.coldstart.ranking.average_precision import Ranking
from cs_score.measures.formulas import divide


class ApRow(NamedTuple):
    """One row of the AP report; `ground_truth` decides whether it counts in the divisor of the macro average.

    `scores` are those of the ranking's measures, in the order of their table.
    """

    name: str
    level: str
    scores: tuple[float, ...]
    ground_truth: int

    @property
    def score(self) -> float:
        """Average precision."""
        return self.scores[0]


class ApTable(Record):
    """The rows of one variant of the AP report, and the macro average of each level."""

    rows: tuple[ApRow, ...]
    macro: tuple[ApRow, ...]


def slot_filling_ap(rankings: Iterable[Ranking]) -> list[ApRow]:
    """The rows of the SF variant of the AP report in printing order: every entry point is a query of its own (9.8)."""
    return ap_rows_in_printing_order(
        ApRow(ranking.query, ranking.level, ranking.scores, ranking.ground_truth or 0) for ranking in rankings
    )


def ldc_mean_ap(table: ApTable, queries: QuerySet) -> ApTable:
    """The LDC-MEAN variant: mean over the entry points that have the row; ground truth is the largest of theirs."""
    rows_of: dict[str, list[ApRow]] = defaultdict(list)
    for row in table.rows:
        rows_of[row.name.rpartition("_")[2]].append(row)
    means: list[ApRow] = []
    for full_id, entry_points in by_ldc_query(rows_of, queries):
        members: dict[str, list[ApRow]] = {}
        for _, rows in sorted(entry_points):
            for row in rows:
                members.setdefault(row.level, []).append(row)
        means += (_mean_ap_row(full_id, level, of_level) for level, of_level in members.items())
    return averaged_ap_table(ap_rows_in_printing_order(means))


def _mean_ap_row(name: str, level: str, members: Sequence[ApRow]) -> ApRow:
    if len(members) == 1:  # most LDC queries have one entry point
        return ApRow(name, level, members[0].scores, members[0].ground_truth)
    return ApRow(name, level, _means(members, len(members)), max(row.ground_truth for row in members))


def _means(rows: Sequence[ApRow], divisor: int) -> tuple[float, ...]:
    """The sum of each score, divided by `divisor`."""
    return tuple(divide(left_sum(scores), divisor) for scores in zip(*(row.scores for row in rows)))


def ap_rows_in_printing_order(rows: Iterable[ApRow]) -> list[ApRow]:
    """Rows as the AP report shows them."""
    return sorted(rows, key=lambda row: (row_order(row.name), row.level))


def averaged_ap_table(ordered: Iterable[ApRow]) -> ApTable:
    """Rows in printing order with their macro averages: sum / number of rows that have something to find."""
    rows = tuple(ordered)
    macro: list[ApRow] = []
    for level in sorted({row.level for row in rows}):
        members = [row for row in rows if row.level == level]
        divisor = sum(row.ground_truth > 0 for row in members)
        macro.append(ApRow(MACRO, level, _means(members, divisor), 0))
    return ApTable(rows, tuple(macro))
