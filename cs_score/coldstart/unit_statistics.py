"""A run reduced to one row of sufficient statistics per unit of resampling, of which its averages are made.

The unit is the LDC query, with all its entry points, hops and answers, that was expanded or that the file of `-queries`
lists a query under; otherwise the slot-filling query. Every unit that is scored has a row, if need be of zeros.

A row holds counts, and sums of P, R, F1 and AP with the number of rows that they are divided by. LDC-MAX has chosen an
entry point and LDC-MEAN has averaged by then; both look at nothing outside their LDC query, of which a resample has all
entry points, so that reducing first and resampling afterwards is exact. Source: docs/background/scoring.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from cs_score.base.records import replace
from cs_score.base.runtime import Late
from cs_score.coldstart.result import Result, RunResult, ScoreRow, by_level
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

# What a row of a table adds to each sum of its level and of ALL.
_OF_SCORE_ROW: Final[dict[str, Callable[[ScoreRow], float]]] = {
    "right": lambda row: row.counts.right if row.counts else 0,
    "answered": lambda row: row.counts.answered if row.counts else 0,
    "ground_truth": lambda row: row.counts.ground_truth if row.counts else 0,
    "precision": lambda row: row.precision,
    "recall": lambda row: row.recall,
    "f1": lambda row: row.f1,
    "rows": lambda row: int(row.ground_truth > 0),
}


def _score_at(position: int) -> Callable[[ScoreRow], float]:
    return lambda row: row.scores[position]


# An AP table has rows of level ALL of its own; some editions average them together with all others.
_OF_AP_ROW: Final[dict[str, Callable[[ScoreRow], float]]] = {
    **{name: _score_at(position) for position, name in enumerate(RANKED)},
    "rankings": lambda row: int(row.ground_truth > 0),
}


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
    columns = sums_of(measures)
    place = {column: position for position, column in enumerate(columns)}
    sums: dict[str, list[float]] = {unit: [0] * len(columns) for unit in drawn_units(run)}

    def add(
        variant: str, rows: Iterable[ScoreRow], statistics: dict[str, Callable[[ScoreRow], float]], total: bool
    ) -> None:
        for level, of_level in by_level(rows, total).items():
            named = ((f"{variant}:{level}:{name}", value) for name, value in statistics.items())
            wanted = [(place[column], value) for column, value in named if column in place]
            for row in of_level if wanted else ():
                query = row.name.partition(":")[0]
                of_unit = sums[run.unit_of.get(query, query)]
                for position, value in wanted:
                    of_unit[position] += value(row)

    for variant, table in run.tables.variants:
        add(variant, table.rows, _OF_SCORE_ROW, total=True)
    if (ranked := run.average_precision) is not None:
        for variant, ap_table in ranked.variants:
            add(variant, ap_table.rows, _OF_AP_ROW, total=ranked.averages_all_levels)
    return UnitTable(tuple(sums), columns, [tuple(row) for row in sums.values()])


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
