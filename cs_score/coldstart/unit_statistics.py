"""A run reduced to one row of sufficient statistics per unit of resampling, of which its averages are made.

The unit is the LDC query, with all its entry points, hops and answers, that was expanded or that the file of `-queries`
lists a query under; otherwise the slot-filling query. Every unit that is scored has a row, if need be of zeros.

A row holds counts, and sums of P, R, F1 and AP with the number of rows that they are divided by. LDC-MAX has chosen an
entry point and LDC-MEAN has averaged by then; both look at nothing outside their LDC query, of which a resample has all
entry points, so that reducing first and resampling afterwards is exact. Source: docs/background/scoring.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.base.records import replace
from cs_score.base.runtime import Late
from cs_score.coldstart.result import ALL_LEVELS, Result, RunResult, ScoreRow
from cs_score.measures.registry import RANKED, Measure, formula_of, sums_of
from cs_score.statistics.options import Resampling
from cs_score.statistics.results import ScoreIntervals
from cs_score.statistics.units import UnitTable

if TYPE_CHECKING:
    from cs_score.statistics import resampling as resampled
else:
    resampled = Late("cs_score.statistics.resampling")

LDC_QUERY: Final = "LDC query"
SF_QUERY: Final = "SF query"

# What a row of a table adds to, where the table counts and where it ranks.
_OF_COUNTS: Final = ("precision", "recall", "f1", "rows", "row", "right", "answered", "ground_truth")
_OF_RANKINGS: Final = (*RANKED, "rankings", "ranking")


class _Addition(NamedTuple):
    """Which value of a row is added to which column, both by position."""

    column: int
    value: int


class RowSums:
    """Add up the rows of tables in columns `TABLE:LEVEL:NAME`, such as `SF:ALL:right`.

    The names `row` and `ranking` are the numbers of rows, `rows` and `rankings` those with something to find.
    """

    def __init__(self, columns: Iterable[str]) -> None:
        self.columns = tuple(columns)
        # By table, and whether its rows are counted: what a row of each level adds.
        self._additions: dict[tuple[str, bool], dict[str, list[_Addition]]] = {}
        for position, column in enumerate(self.columns):
            table, level, name = column.split(":")
            is_counted = name in _OF_COUNTS
            value_names = _OF_COUNTS if is_counted else _OF_RANKINGS
            additions_by_level = self._additions.setdefault((table, is_counted), {})
            additions_by_level.setdefault(level, []).append(_Addition(position, value_names.index(name)))

    def add(self, sums: list[float], table: str, rows: Iterable[ScoreRow], is_counted: bool, with_total: bool) -> None:
        """Add rows of a table to `sums`, which has a number for each column.

        `is_counted` says whether the table has counts or rankings; `with_total` adds to the columns of all levels, too.
        """
        additions_by_level = self._additions.get((table, is_counted))
        if not additions_by_level:
            return
        for row in rows:
            values: tuple[float, ...] = (*row.scores, row.ground_truth > 0, 1)
            if row.counts is not None:
                values += (row.counts.right, row.counts.answered, row.counts.ground_truth)
            levels = (row.level, ALL_LEVELS) if with_total else (row.level,)
            for level in levels:
                for column, value in additions_by_level.get(level, ()):
                    sums[column] += values[value]


def unit_name(result: Result) -> str:
    """Return the unit of resampling: LDC queries where they are known, if only from the list of queries to score."""
    has_clusters = result.has_ldc_index
    for run in result.runs:
        if any(unit != query for query, unit in run.unit_of.items()):
            has_clusters = True
    return resampled_unit(has_clusters)


def resampled_unit(has_clusters: bool) -> str:
    """Return the unit of resampling: LDC queries if queries have known ones (`has_clusters`), else SF queries."""
    return LDC_QUERY if has_clusters else SF_QUERY


def summary_scores(run: RunResult) -> dict[Measure, float]:
    """Return the numbers that the run's summaries show, in their order: first `.summary`, then `.ap`.

    The latter has averages only for the run that its rows name (rule average-precision).
    """
    if run.average_precision is not None and run.average_precision.run_id == run.run_id:
        return run.measures
    return run.tables.measures


def drawn_units(run: RunResult) -> list[str]:
    """Return the units that a resample draws from, by full id, in the order of their statistics."""
    return sorted(set(run.unit_of.values()))


def unit_table(run: RunResult, measures: Iterable[Measure]) -> UnitTable:
    """Return the statistics of each unit that `measures` are made of; a level that the run lacks gives zeros."""
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
                row_sums.add(sums, variant, [row], is_counted=False, with_total=average_precision.averages_all_levels)
    return UnitTable(tuple(sums_by_unit), row_sums.columns, [tuple(sums) for sums in sums_by_unit.values()])


def _unit_of_row(row: ScoreRow, run: RunResult) -> str:
    """Return the unit that a row belongs to: that of its query, or the LDC query that it is about."""
    query_id = row.name.partition(":")[0]
    return run.unit_of.get(query_id, query_id)


def answered_units(run: RunResult) -> list[str]:
    """Return the units that the run has a counted response to."""
    units = []
    for row in run.tables.sf.rows:
        if row.counts and row.counts.submitted:
            units.append(run.unit_of[row.name.partition(":")[0]])
    return list(dict.fromkeys(units))


def intervals(result: Result, resampling: Resampling | None = None) -> tuple[ScoreIntervals, ...]:
    """Return the intervals of every run, from resamples of its LDC queries (SF queries where none are known)."""
    settings = replace(resampling or Resampling(), unit=unit_name(result))
    return tuple([intervals_of_run(run, settings) for run in result.runs])


def intervals_of_run(run: RunResult, resampling: Resampling) -> ScoreIntervals:
    """Return the intervals of the scores that the run's summaries show."""
    measures = list(summary_scores(run))
    names = [str(measure) for measure in measures]
    return resampled.score_intervals(unit_table(run, measures), names, formula_of(measures), resampling)
