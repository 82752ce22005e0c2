"""A run reduced to one row of sufficient statistics per unit of resampling, of which its averages are made.

The unit is the LDC query, with all its entry points, hops and answers, that was expanded or that the file of `-queries`
lists a query under; otherwise the slot-filling query. Every unit that is scored has a row, if need be of zeros.

A row holds counts, and sums of P, R, F1 and AP with the number of rows that they are divided by. LDC-MAX has chosen an
entry point and LDC-MEAN has averaged by then; both look at nothing outside their LDC query, of which a resample has all
entry points, so that reducing first and resampling afterwards is exact. Source: docs/background/scoring.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

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


class RowSums:
    """The sums that rows of tables add to, by `columns` TABLE:LEVEL:NAME; `row` and `ranking` are numbers of rows."""

    def __init__(self, columns: Iterable[str]) -> None:
        self.columns = tuple(columns)
        # (Table, is it one that counts) -> level -> places of the columns and of the values that a row adds to them.
        self._wanted: dict[tuple[str, bool], dict[str, list[tuple[int, int]]]] = {}
        for place, column in enumerate(self.columns):
            table, level, name = column.split(":")
            is_counted = name in _OF_COUNTS
            at = (_OF_COUNTS if is_counted else _OF_RANKINGS).index(name)
            self._wanted.setdefault((table, is_counted), {}).setdefault(level, []).append((place, at))

    def add(self, sums: list[float], table: str, rows: Iterable[ScoreRow], is_counted: bool, with_total: bool) -> None:
        """Add rows of a table to `sums`, `with_total` also to those of all levels."""
        of_level = self._wanted.get((table, is_counted), {})
        for row in rows if of_level else ():
            values: tuple[float, ...] = (*row.scores, row.ground_truth > 0, 1)
            if row.counts is not None:
                values += (row.counts.right, row.counts.answered, row.counts.ground_truth)
            for level in (row.level, ALL_LEVELS) if with_total else (row.level,):
                for place, at in of_level.get(level, ()):
                    sums[place] += values[at]


def unit_name(result: Result) -> str:
    """What is resampled: LDC queries where they are known, be it only from the list of queries to score."""
    has_clusters = any(unit != query for run in result.runs for query, unit in run.unit_of.items())
    return resampled_unit(result.has_ldc_index or has_clusters)


def resampled_unit(has_clusters: bool) -> str:
    """What is resampled where the LDC queries of queries are known, and where not."""
    return LDC_QUERY if has_clusters else SF_QUERY


def summary_scores(run: RunResult) -> dict[Measure, float]:
    """The numbers that the run's summaries show, in their order: those of `.summary`, then those of `.ap`, which has
    averages for the run only whose id its rows bear (rule average-precision).
    """
    if run.average_precision is not None and run.average_precision.run_id == run.run_id:
        return run.measures
    return run.tables.measures


def drawn_units(run: RunResult) -> list[str]:
    """The units that a resample draws from, by full id, in the order of their statistics."""
    return sorted(set(run.unit_of.values()))


def unit_table(run: RunResult, measures: Iterable[Measure]) -> UnitTable:
    """The statistics of each unit that `measures` are made of; a level that the run does not have gives zeros."""
    of_rows = RowSums(sums_of(measures))
    sums: dict[str, list[float]] = {unit: [0] * len(of_rows.columns) for unit in drawn_units(run)}
    tables = [(variant, table, True, True) for variant, table in run.tables.variants]
    if (ranked := run.average_precision) is not None:
        tables += [(variant, table, False, ranked.averages_all_levels) for variant, table in ranked.variants]
    for variant, table, is_counted, with_total in tables:
        for row in table.rows:
            query = row.name.partition(":")[0]
            of_rows.add(sums[run.unit_of.get(query, query)], variant, [row], is_counted, with_total)
    return UnitTable(tuple(sums), of_rows.columns, [tuple(row) for row in sums.values()])


def answered_units(run: RunResult) -> list[str]:
    """The units that the run has a counted response to."""
    answered = (row.name.partition(":")[0] for row in run.tables.sf.rows if row.counts and row.counts.submitted)
    return list(dict.fromkeys(run.unit_of[query] for query in answered))


def intervals(result: Result, resampling: Resampling | None = None) -> tuple[ScoreIntervals, ...]:
    """The intervals of every run, from resamples of its LDC queries (SF queries where none are known)."""
    settings = replace(resampling or Resampling(), unit=unit_name(result))
    return tuple(intervals_of_run(run, settings) for run in result.runs)


def intervals_of_run(run: RunResult, resampling: Resampling) -> ScoreIntervals:
    measures = list(summary_scores(run))
    return resampled.score_intervals(
        unit_table(run, measures), list(map(str, measures)), formula_of(measures), resampling
    )
