"""Implement the interface of a task for Cold Start: its measures, and the statistics that comparisons need. A result
has the scores of one or several runs; a unit is an LDC query with its entry points, or a query of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cs_score.coldstart.result import Result, ScoredRun
from cs_score.coldstart.unit_statistics import answered_units, summary_scores, unit_name, unit_table
from cs_score.measures import COLD_START_MODE, Measure, SumsFormula, formula_of, parse_measure
from cs_score.tasks.task import UnitStatistics


class ColdStartTask:
    """Cold Start as a task; the results that are compared have one run each."""

    name = COLD_START_MODE

    def measure_of(self, name: str | None) -> str | None:
        """Return the official name of a measure. Raises UsageError for an unknown measure.

        None stays None, since the headline measure depends on the queries.
        """
        return None if name is None else str(parse_measure(name))

    def measures(self, results: Iterable[Result]) -> list[str]:
        """Return the measures by which results of one run each can be compared, in the order of their summaries.

        A hop that only some of the runs answer counts as 0 for the others. A measure by which one of the runs has no
        score is left out. Raises ValueError for a result of several runs.
        """
        runs = [_only_run(result) for result in results]
        undefined: set[str] = set()
        for run in runs:
            undefined.update(run.undefined)
        measures: list[Measure] = []
        for run in runs:
            for measure in summary_scores(run):
                if str(measure) not in undefined and measure not in measures:
                    measures.append(measure)
        return [str(measure) for measure in _in_summary_order(measures)]

    def headline_of(self, results: Iterable[Any]) -> str | None:
        """Return None: the registry of measures knows the headline measures of Cold Start."""
        return None

    def undefined_measures(self, result: Result) -> Mapping[str, str]:
        """Return the measures by which the run of a result has no score, with the reasons."""
        return _only_run(result).undefined

    def statistics(self, result: Result, measures: Sequence[str]) -> UnitStatistics:
        """Return the counts and other summands of each unit of a result, from which resamples compute its scores.

        A resample draws units and adds up their summands. The scores by the `measures` are computed from the sums.
        """
        run = _only_run(result)
        unit_by_query = run.cluster_by_query  # queries with the same starting entity form one unit: drawn together
        return UnitStatistics(
            unit=unit_name(result),
            table=unit_table(run, [parse_measure(name) for name in measures]),
            answered_units=answered_units(run),
            gold_units=tuple(dict.fromkeys(unit_by_query.values())),
            origin=result.origin,
        )

    def formula(self, measures: Sequence[str]) -> SumsFormula:
        """Return the function that computes the scores by these measures from the sums over units."""
        return formula_of([parse_measure(name) for name in measures])


def _in_summary_order(measures: Iterable[Measure]) -> list[Measure]:
    """Return measures in the order of summaries: levels of a table and average together, measures of rankings last.

    A level is one hop or all hops. Pairs of a table and an average, such as `SF` with `Micro`, keep the order of their
    first measures.
    """
    all_measures = list(measures)
    table_average_pairs = list(dict.fromkeys([(measure.table, measure.average) for measure in all_measures]))
    sort_keys: dict[Measure, tuple[bool, int, str]] = {}
    for measure in all_measures:
        position = table_average_pairs.index((measure.table, measure.average))
        sort_keys[measure] = (measure.is_of_rankings, position, measure.level)
    return sorted(all_measures, key=lambda measure: sort_keys[measure])


def _only_run(result: Result) -> ScoredRun:
    """Return the only run of a result. Raises ValueError if it has several runs or none."""
    if len(result.runs) != 1:
        raise ValueError(f"the result has {len(result.runs)} runs instead of one")
    return result.runs[0]


TASK = ColdStartTask()
