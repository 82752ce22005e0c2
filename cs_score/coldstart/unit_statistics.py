"""Compute the sums of each unit of resampling, from which the averages of a run or of a resample follow. A unit is a
query that a resample draws; its sums are numbers such as the counts of its right responses.

If LDC queries were expanded, or if the file of `-queries` names them, a unit is an LDC query with all its entry points
(mentions of its entity), hops and answers. Otherwise a unit is a slot-filling query. Every unit that is scored has a
row of sums, which may all be 0.

The sums of a unit are counts of responses, sums of P, R, F1 and AP, and the numbers by which these sums are divided.
LDC-MAX chooses an entry point of each LDC query, and LDC-MEAN averages the entry points, before the sums are made. A
resample contains all entry points of an LDC query that it draws. That is why resampling the sums gives exactly the
averages that scoring the resample would give. Source: docs/background/scoring.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.base.records import replace
from cs_score.base.runtime import Late
from cs_score.coldstart.result import ALL_LEVELS, Result, ScoredRun, ScoreRow
from cs_score.measures import RANKING_FORMULAS, Measure, formula_of, sum_columns_of
from cs_score.statistics.resampling_settings import Resampling
from cs_score.statistics.results import ScoreIntervals
from cs_score.statistics.units import UnitTable

if TYPE_CHECKING:
    from cs_score.statistics import resampling as resampled
else:
    resampled = Late("cs_score.statistics.resampling")

LDC_QUERY: Final = "LDC query"
SF_QUERY: Final = "SF query"

# The names of the values that a row of a table adds to sums: rows with counts, and rows of rankings.
_COUNTED_VALUES: Final = ("precision", "recall", "f1", "rows", "row", "right", "answered", "ground_truth")
_RANKED_VALUES: Final = (*RANKING_FORMULAS, "rankings", "ranking")


class _Addition(NamedTuple):
    """The positions of a value of a row, and of the column to whose sum the value is added."""

    column_index: int
    value_index: int


class RowSums:
    """Add up the values of rows of tables in columns that are named `TABLE:LEVEL:NAME`, such as `SF:ALL:right`.

    The columns `row` and `ranking` hold the number of rows. The columns `rows` and `rankings` hold the number of rows
    that have something to be found.
    """

    def __init__(self, columns: Iterable[str]) -> None:
        """Prepare to add up rows in the columns with these names, such as `SF:ALL:right` and `LDC-MEAN:0:f1`."""
        self.columns = tuple(columns)
        # Which value of a row is added to which column, by table (its name and whether it has counts), then by level.
        # The position of a name in _COUNTED_VALUES or _RANKED_VALUES is the position of the value in `_values_of_row`.
        # `SF:ALL:right` as the first column gives {("SF", True): {"ALL": [_Addition(column_index=0, value_index=5)]}}.
        self._additions: dict[tuple[str, bool], dict[str, list[_Addition]]] = {}
        for position, column in enumerate(self.columns):
            table, level, name = column.split(":")
            is_counted = name in _COUNTED_VALUES
            value_names = _COUNTED_VALUES if is_counted else _RANKED_VALUES
            addition = _Addition(column_index=position, value_index=value_names.index(name))
            additions_by_level = self._additions.setdefault((table, is_counted), {})
            additions_by_level.setdefault(level, []).append(addition)

    def add(
        self, sums: list[float], table: str, rows: Iterable[ScoreRow], is_counted: bool, adds_to_level_all: bool
    ) -> None:
        """Add the values in the rows of a table, such as `SF`, to `sums`, which contains a number for each column.

        `is_counted` is True for a table with counts and False for a table of rankings. If `adds_to_level_all` is true,
        values are added to the columns of level `ALL` as well as to those of the row's own level.
        """
        # An addition has the position of a value in the row and the position of its column in `sums`:
        # {"ALL": [_Addition(column_index=0, value_index=5)]}.
        additions_by_level = self._additions.get((table, is_counted))
        if not additions_by_level:
            return
        for row in rows:
            values = _values_of_row(row)
            levels = (row.level, ALL_LEVELS) if adds_to_level_all else (row.level,)
            for level in levels:
                # Only these columns have the level in their names; there may be none.
                for column_index, value_index in additions_by_level.get(level, ()):
                    sums[column_index] += values[value_index]


def _values_of_row(row: ScoreRow) -> tuple[float, ...]:
    """Return the values that a row adds to sums, in the order of `_COUNTED_VALUES` (rows of a score table).

    The values are the scores, 0 or 1 for whether there is anything to find, 1 for the row itself, and the counts. A row
    of a ranking has no counts, and its values are in the order of `_RANKED_VALUES`.
    """
    has_truth = row.ground_truth > 0
    values: tuple[float, ...] = (*row.scores, has_truth, 1)
    if row.counts is None:
        return values
    return (*values, row.counts.right, row.counts.answered, row.counts.ground_truth)


def unit_name(result: Result) -> str:
    """Return the kind of the units of resampling: `LDC query` if LDC queries are known, otherwise `SF query`.

    LDC queries are known from an index, or from the file given with `-queries`. In the second case, at least one query
    of a run is in a unit whose id differs from its own.
    """
    knows_ldc_queries = result.has_ldc_index or any(has_ldc_units(run) for run in result.runs)
    return resampled_unit(knows_ldc_queries)


def has_ldc_units(run: ScoredRun) -> bool:
    """Return whether at least one query of a run is in a unit whose id differs from its own, which is an LDC query."""
    return any(unit_id != query_id for query_id, unit_id in run.cluster_by_query.items())


def resampled_unit(knows_ldc_queries: bool) -> str:
    """Return the unit of resampling: `LDC query` if LDC queries are known (`knows_ldc_queries`), else `SF query`."""
    return LDC_QUERY if knows_ldc_queries else SF_QUERY


def summary_scores(run: ScoredRun) -> dict[Measure, float]:
    """Return the scores that the output files `.summary` and `.ap` show for a run, by measure and in the same order.

    `.summary` contains precision, recall and F1. `.ap` contains average precision, but only averages for the run whose
    id is in its rows (rule average-precision). The scores of other runs are returned without average precision.
    """
    if run.average_precision is not None and run.average_precision.run_id == run.run_id:
        return run.score_by_measure  # with average precision
    return run.tables.score_by_measure


def drawn_units(run: ScoredRun) -> list[str]:
    """Return the full ids of the units among which resamples draw, in the order of the rows of `unit_table`."""
    return sorted(set(run.cluster_by_query.values()))


def unit_table(run: ScoredRun, measures: Iterable[Measure]) -> UnitTable:
    """Return a table of sums from which the `measures` are computed, with a row for each unit of a run.

    A column is, for example, the number of right responses at hop 0. It is 0 for a unit without responses at this hop.
    The sums come from the rows of the run's tables; `RowSums.add` explains how the rows of a table are added.
    """
    row_sums = RowSums(sum_columns_of(measures))
    sums_by_unit: dict[str, list[float]] = {unit: [0] * len(row_sums.columns) for unit in drawn_units(run)}
    for summed_table in _summed_tables(run):
        for row in summed_table.rows:
            sums = sums_by_unit[_unit_of_row(row, run)]
            row_sums.add(
                sums,
                table=summed_table.variant,
                rows=[row],  # each row of the table may belong to another unit
                is_counted=summed_table.is_counted,
                adds_to_level_all=summed_table.adds_to_level_all,
            )
    rows_of_sums = [tuple(sums) for sums in sums_by_unit.values()]
    return UnitTable(tuple(sums_by_unit), row_sums.columns, rows_of_sums)


class _SummedTable(NamedTuple):
    """A table whose rows are added up: its variant, such as `LDC-MAX`, its rows, and how they are added.

    `is_counted` is True for rows with counts, False for rows of rankings. `adds_to_level_all` says whether the rows of
    each level are also added to the sums of level `ALL`.
    """

    variant: str
    rows: Sequence[ScoreRow]
    is_counted: bool
    adds_to_level_all: bool


def _summed_tables(run: ScoredRun) -> Iterator[_SummedTable]:
    """Yield the tables of precision and recall of a run, then its tables of average precision.

    Rankings already have rows of level `ALL`. Therefore, their other rows are added to `ALL` only in editions that pool
    all levels.
    """
    for variant, table in run.tables.variants:
        yield _SummedTable(variant, table.rows, is_counted=True, adds_to_level_all=True)
    if run.average_precision is not None:
        are_levels_pooled = run.average_precision.are_levels_pooled
        for variant, table in run.average_precision.variants:
            yield _SummedTable(variant, table.rows, is_counted=False, adds_to_level_all=are_levels_pooled)


def _unit_of_row(row: ScoreRow, run: ScoredRun) -> str:
    """Return the full id of the unit of a row: `CSX_ENG_00fb79cef8:1` -> `CSX_0001`.

    It is the unit of the query that the row is named after, or the LDC query that the row is named after.
    """
    query_id = row.name.partition(":")[0]
    return run.cluster_by_query.get(query_id, query_id)


def answered_units(run: ScoredRun) -> list[str]:
    """Return the full ids of the units for which the run has at least one response in the tables: `["CSX_0001", ...]`.

    A unit is a cluster of queries that are resampled together. The units are in the order of their first rows with
    responses.
    """
    units: dict[str, None] = {}  # its keys are an ordered set
    for row in run.tables.sf.rows:
        if row.counts is not None and row.counts.submitted:
            query_id = row.name.partition(":")[0]
            units[run.cluster_by_query[query_id]] = None
    return list(units)


def intervals(result: Result, resampling: Resampling | None = None) -> tuple[ScoreIntervals, ...]:
    """Return the bootstrap confidence intervals of the scores of every run.

    `resampling` has the settings, such as the number of resamples; by default these are the settings of `Resampling()`.
    """
    if resampling is None:
        resampling = Resampling()
    settings = replace(resampling, unit=unit_name(result))
    return tuple([intervals_of_run(run, settings) for run in result.runs])


def intervals_of_run(run: ScoredRun, resampling: Resampling) -> ScoreIntervals:
    """Return the bootstrap confidence intervals of the scores of a run that `.summary` and `.ap` show."""
    measures = list(summary_scores(run))
    names = [str(measure) for measure in measures]
    return resampled.score_intervals(unit_table(run, measures), names, formula_of(measures), resampling)
