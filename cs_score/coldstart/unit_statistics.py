"""Reduce a run to one row of sums for each unit of resampling, from which its averages are computed.

The unit is the LDC query with all its entry points, hops and answers, if LDC queries were expanded or the file of
`-queries` names them; otherwise the slot-filling query. Every unit that is scored has a row, which may be all zeros.

A row holds counts, and sums of P, R, F1 and AP with the number of rows that the sums are divided by. LDC-MAX chooses an
entry point, and LDC-MEAN averages entry points, before the rows are summed. Both depend only on their own LDC query,
and a resample contains all entry points of an LDC query, so that resampling the rows is exact. Source:
docs/background/scoring.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.base.records import replace
from cs_score.base.runtime import Late
from cs_score.coldstart.result import ALL_LEVELS, Result, ScoredRun, ScoreRow
from cs_score.measures.registry import RANKING_FORMULAS, Measure, formula_of, sums_of
from cs_score.statistics.options import Resampling
from cs_score.statistics.results import ScoreIntervals
from cs_score.statistics.units import UnitTable

if TYPE_CHECKING:
    from cs_score.statistics import resampling as resampled
else:
    resampled = Late("cs_score.statistics.resampling")

LDC_QUERY: Final = "LDC query"
SF_QUERY: Final = "SF query"

# The names of the values that a row adds to sums: for tables with counts, and for tables of rankings.
_OF_COUNTS: Final = ("precision", "recall", "f1", "rows", "row", "right", "answered", "ground_truth")
_OF_RANKINGS: Final = (*RANKING_FORMULAS, "rankings", "ranking")


class _Addition(NamedTuple):
    """Which value of a row is added to which column, both by position."""

    column: int
    value: int


class RowSums:
    """Add up the rows of tables in columns `TABLE:LEVEL:NAME`, such as `SF:ALL:right`.

    The columns `row` and `ranking` have the number of rows, `rows` and `rankings` the number of rows that have
    something to find.
    """

    def __init__(self, columns: Iterable[str]) -> None:
        """Prepare to add up rows in these columns, by finding out which value of a row is added to which column."""
        self.columns = tuple(columns)
        # For each table, with counts or rankings, the additions that a row makes, by the level of the row.
        self._additions: dict[tuple[str, bool], dict[str, list[_Addition]]] = {}
        for position, column in enumerate(self.columns):
            table, level, name = column.split(":")
            is_counted = name in _OF_COUNTS
            value_names = _OF_COUNTS if is_counted else _OF_RANKINGS
            addition = _Addition(column=position, value=value_names.index(name))
            additions_by_level = self._additions.setdefault((table, is_counted), {})
            additions_by_level.setdefault(level, []).append(addition)

    def add(self, sums: list[float], table: str, rows: Iterable[ScoreRow], is_counted: bool, with_total: bool) -> None:
        """Add the values of rows of a table to `sums`, which has a number for each column.

        `is_counted` is True for a table with counts, False for a table of rankings. With `with_total` the values are
        added to the columns of level `ALL`, too.
        """
        additions_by_level = self._additions.get((table, is_counted))
        if not additions_by_level:
            return
        for row in rows:
            # The values have the order of `_OF_COUNTS` or of `_OF_RANKINGS`.
            has_truth = row.ground_truth > 0
            values: tuple[float, ...] = (*row.scores, has_truth, 1)
            if row.counts is not None:
                values += (row.counts.right, row.counts.answered, row.counts.ground_truth)
            levels = (row.level, ALL_LEVELS) if with_total else (row.level,)
            for level in levels:
                for column, value in additions_by_level.get(level, ()):
                    sums[column] += values[value]


def unit_name(result: Result) -> str:
    """Return the name of the unit of resampling of a result: `LDC query` if LDC queries are known, else `SF query`.

    LDC queries may also be known from the file of `-queries`: some query of a run then has another unit than itself.
    """
    has_clusters = result.has_ldc_index
    for run in result.runs:
        if any(unit_id != query_id for query_id, unit_id in run.unit_by_query.items()):
            has_clusters = True
    return resampled_unit(has_clusters)


def resampled_unit(has_clusters: bool) -> str:
    """Return the name of the unit of resampling; `has_clusters` says whether the LDC queries are known."""
    return LDC_QUERY if has_clusters else SF_QUERY


def summary_scores(run: ScoredRun) -> dict[Measure, float]:
    """Return the scores that `.summary` and then `.ap` show of a run, by measure, in the order shown.

    `.ap` has averages only for the run whose id its rows have (rule average-precision).
    """
    if run.average_precision is not None and run.average_precision.run_id == run.run_id:
        return run.measures
    return run.tables.measures


def drawn_units(run: ScoredRun) -> list[str]:
    """Return the full ids of the units that a resample draws from, in the order of their rows of statistics."""
    return sorted(set(run.unit_by_query.values()))


def unit_table(run: ScoredRun, measures: Iterable[Measure]) -> UnitTable:
    """Return the sums of each unit of a run from which `measures` are computed; they are 0 for levels without rows."""
    row_sums = RowSums(sums_of(measures))
    sums_by_unit: dict[str, list[float]] = {unit: [0] * len(row_sums.columns) for unit in drawn_units(run)}
    for variant, table in run.tables.variants:
        for row in table.rows:
            sums = sums_by_unit[_unit_of_row(row, run)]
            row_sums.add(sums, variant, [row], is_counted=True, with_total=True)
    average_precision = run.average_precision
    if average_precision is not None:
        for variant, table in average_precision.variants:
            for row in table.rows:
                sums = sums_by_unit[_unit_of_row(row, run)]
                row_sums.add(sums, variant, [row], is_counted=False, with_total=average_precision.are_levels_pooled)
    rows_of_sums = [tuple(sums) for sums in sums_by_unit.values()]
    return UnitTable(tuple(sums_by_unit), row_sums.columns, rows_of_sums)


def _unit_of_row(row: ScoreRow, run: ScoredRun) -> str:
    """Return the full id of the unit of a row: the unit of its query, or the LDC query that the row is named after."""
    query_id = row.name.partition(":")[0]
    return run.unit_by_query.get(query_id, query_id)


def answered_units(run: ScoredRun) -> list[str]:
    """Return the full ids of the units with at least one response of the run that is counted."""
    units: dict[str, None] = {}
    for row in run.tables.sf.rows:
        if row.counts is not None and row.counts.submitted:
            query_id = row.name.partition(":")[0]
            units[run.unit_by_query[query_id]] = None
    return list(units)


def intervals(result: Result, resampling: Resampling | None = None) -> tuple[ScoreIntervals, ...]:
    """Return the confidence intervals of the scores of every run, from resamples of its units.

    `resampling` has the settings, such as the number of resamples, by default `Resampling()`.
    """
    if resampling is None:
        resampling = Resampling()
    settings = replace(resampling, unit=unit_name(result))
    return tuple([intervals_of_run(run, settings) for run in result.runs])


def intervals_of_run(run: ScoredRun, resampling: Resampling) -> ScoreIntervals:
    """Return the confidence intervals of the scores that `.summary` and `.ap` show of a run."""
    measures = list(summary_scores(run))
    names = [str(measure) for measure in measures]
    return resampled.score_intervals(unit_table(run, measures), names, formula_of(measures), resampling)
