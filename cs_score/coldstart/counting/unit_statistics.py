"""A run reduced to one row of sufficient statistics per unit of resampling, and the summary computed from their sums.

The unit is the LDC query, with all its entry points, hops and answers: the one that was expanded, or that the
file of `-queries` lists a slot-filling query under; where neither tells, the slot-filling query. Every unit that is
scored has a row, one of zeros where the run and the pool say nothing about it, so that the runs of one evaluation have
the same units.

A row holds what the averages are made of: the counts behind the micro averages, and the sums of P, R, F1 and AP with
the number of rows that they are divided by (those that have something to find) behind the macro averages. The rows are
read off the projected tables. LDC-MAX has chosen an entry point and LDC-MEAN has averaged over the entry points of each
LDC query by then; neither is linear, but both look at nothing outside their LDC query. A resample that contains the
query - once or several times - contains the same entry points, so the choice and the means come out the same: reducing
first and resampling afterwards is exact.

Source: specification 8 and 9.8 (averages).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from cs_score.coldstart.counting.projection import ALL_LEVELS, MACRO, MICRO, ScoreRow
from cs_score.coldstart.ranking.tables import ApRow
from cs_score.coldstart.result import Result, RunResult
from cs_score.statistics.ratios import f1

LDC_QUERY: Final = "LDC query"
SF_QUERY: Final = "SF query"

Divide: TypeAlias = Callable[[Any, Any], Any]
"""Division in which a zero denominator gives 0, of numbers or of arrays element by element."""

_Statistic: TypeAlias = Callable[[Any], float]

# What a row of a table adds to each statistic of its level and of ALL.
_OF_SCORE_ROW: Final[dict[str, Callable[[ScoreRow], float]]] = {
    "right": lambda row: row.counts.right if row.counts else 0,
    "answered": lambda row: row.counts.submitted - row.counts.ignored if row.counts else 0,
    "ground_truth": lambda row: row.counts.ground_truth if row.counts else 0,
    "precision": lambda row: row.precision,
    "recall": lambda row: row.recall,
    "f1": lambda row: row.f1,
    "rows": lambda row: int(row.ground_truth > 0),
}
# An AP table has rows of level ALL of its own.
_OF_AP_ROW: Final[dict[str, Callable[[ApRow], float]]] = {
    "average_precision": lambda row: row.score,
    "rankings": lambda row: int(row.ground_truth > 0),
}


def _ratio(divide: Divide, numerator: Any, denominator: Any) -> Any:
    return divide(numerator, denominator)


def _f1(divide: Divide, right: Any, answered: Any, ground_truth: Any) -> Any:
    return f1(divide(right, answered), divide(right, ground_truth), divide)


# (average, score) -> the statistics that it is made of, and how.
_SCORES: Final[dict[tuple[str, str], tuple[tuple[str, ...], Callable[..., Any]]]] = {
    (MICRO, "P"): (("right", "answered"), _ratio),
    (MICRO, "R"): (("right", "ground_truth"), _ratio),
    (MICRO, "F1"): (("right", "answered", "ground_truth"), _f1),
    (MACRO, "P"): (("precision", "rows"), _ratio),
    (MACRO, "R"): (("recall", "rows"), _ratio),
    (MACRO, "F1"): (("f1", "rows"), _ratio),
    (MACRO, "AP"): (("average_precision", "rankings"), _ratio),
}


class SummaryMeasure(NamedTuple):
    """One number of the summaries: variant (`SF`, `LDC-MAX`, `LDC-MEAN`), average (`ALL-Micro`, `ALL-Macro`), level
    (a hop or `ALL`) and score (`P`, `R`, `F1`, `AP`)."""

    variant: str
    average: str
    level: str
    score: str

    @property
    def row(self) -> str:
        """The name of its row in the summary."""
        return f"{self.variant}-{self.average}"

    @property
    def name(self) -> str:
        """All of it as one word, as leaderboards have it: `LDC-MAX-ALL-Micro-F1`, `SF-AP`, of one hop `SF-AP@0`."""
        hop = "" if self.level == ALL_LEVELS else f"@{self.level}"
        return f"{self.variant}-AP{hop}" if self.score == "AP" else f"{self.row}-{self.score}{hop}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The statistics that it is made of."""
        return tuple(f"{self.variant}:{self.level}:{statistic}" for statistic in _SCORES[self.average, self.score][0])


@dataclass(frozen=True, slots=True, repr=False)
class QueryTable:
    """One row of statistics per unit: `rows[i]` holds the sums `columns` of the unit `ids[i]`, a full query id."""

    ids: tuple[str, ...]
    columns: tuple[str, ...]
    rows: Sequence[tuple[float, ...]]

    def __repr__(self) -> str:
        return f"QueryTable({len(self.ids)} units, {len(self.columns)} columns)"


def unit_name(result: Result) -> str:
    """What is resampled: LDC queries where anything tells them, be it only the list of queries to score."""
    has_clusters = any(unit != query for run in result.runs for query, unit in run.unit_of.items())
    return resampled_unit(result.has_ldc_index or has_clusters)


def resampled_unit(has_clusters: bool) -> str:
    """What is resampled where the LDC queries of queries are known, and where not."""
    return LDC_QUERY if has_clusters else SF_QUERY


def average_scores(run: RunResult) -> dict[SummaryMeasure, float]:
    """Every average of a run: those of the score tables, then those of the AP tables."""
    scores: dict[SummaryMeasure, float] = {}
    for variant, table in run.tables.variants:
        for row in table.averages:
            for score, value in (("P", row.precision), ("R", row.recall), ("F1", row.f1)):
                scores[SummaryMeasure(variant, row.name, row.level, score)] = value
    for variant, ap_table in run.average_precision.variants if run.average_precision is not None else ():
        for ap_row in ap_table.macro:
            scores[SummaryMeasure(variant, ap_row.name, ap_row.level, "AP")] = ap_row.score
    return scores


def summary_scores(run: RunResult) -> dict[SummaryMeasure, float]:
    """The numbers that the run's summaries show, in their order: those of `.summary`, then those of `.ap`.

    The AP report has averages for the run only whose id its rows bear (specification 9.8).
    """
    scores = average_scores(run)
    if run.average_precision is not None and run.average_precision.run_id == run.run_id:
        return scores
    return {measure: value for measure, value in scores.items() if measure.score != "AP"}


def query_table(run: RunResult, measures: Iterable[SummaryMeasure]) -> QueryTable:
    """The statistics of each unit that `measures` are made of; a level that the run does not have gives zeros."""
    columns = _columns(measures)
    place = {column: position for position, column in enumerate(columns)}
    sums: dict[str, list[float]] = {unit: [0] * len(columns) for unit in sorted(set(run.unit_of.values()))}

    def add(variant: str, rows: Iterable[ScoreRow] | Iterable[ApRow], statistics: dict[str, Any], total: bool) -> None:
        wanted: dict[str, list[tuple[int, _Statistic]]] = {}
        for row in rows:
            query = row.name.partition(":")[0]
            of_unit = sums[run.unit_of.get(query, query)]
            for level in (row.level, ALL_LEVELS) if total else (row.level,):
                if level not in wanted:
                    named = ((f"{variant}:{level}:{name}", value) for name, value in statistics.items())
                    wanted[level] = [(place[column], value) for column, value in named if column in place]
                for position, value in wanted[level]:
                    of_unit[position] += value(row)

    for variant, table in run.tables.variants:
        add(variant, table.rows, _OF_SCORE_ROW, total=True)
    for variant, ap_table in run.average_precision.variants if run.average_precision is not None else ():
        add(variant, ap_table.rows, _OF_AP_ROW, total=False)
    return QueryTable(tuple(sums), columns, [tuple(row) for row in sums.values()])


def answered_units(run: RunResult) -> list[str]:
    """The units that the run has a counted response to."""
    answered = (row.name.partition(":")[0] for row in run.tables.sf.rows if row.counts and row.counts.submitted)
    return list(dict.fromkeys(run.unit_of[query] for query in answered))


def summary_formula(measures: Iterable[SummaryMeasure]) -> Callable[[Sequence[Any], Divide], list[Any]]:
    """The function from the sums of `query_table`'s columns, in their order, and `divide` to the scores of `measures`.

    The sums are numbers, or arrays with one element per resample. The function can be sent to another process.
    """
    return partial(_summary, tuple(measures))


def _summary(measures: Sequence[SummaryMeasure], sums: Sequence[Any], divide: Divide) -> list[Any]:
    column = dict(zip(_columns(measures), sums))
    return [
        _SCORES[measure.average, measure.score][1](divide, *(column[name] for name in measure.columns))
        for measure in measures
    ]


def _columns(measures: Iterable[SummaryMeasure]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column for measure in measures for column in measure.columns))
