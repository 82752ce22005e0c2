"""Implement the interface of a task for Cold Start: analyse its runs, compare them, and show the documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cs_score.analysis.coldstart.analysis import RunAnalysis, analyze
from cs_score.analysis.coldstart.difference import RunDifference, diff
from cs_score.analysis.coldstart.explanation.document import STEPS
from cs_score.analysis.coldstart.layouts import DIFFERENCE_LAYOUTS, LAYOUTS
from cs_score.analysis.coldstart.scored import AnalysedRun, Progress, silent
from cs_score.analysis.coldstart.texts import text_of
from cs_score.base.display import prose_width
from cs_score.coldstart.result import Result, ScoredRun
from cs_score.coldstart.unit_statistics import answered_units, summary_scores, unit_name, unit_table
from cs_score.measures.registry import COLD_START_MODE, Measure, SumsFormula, formula_of, parse
from cs_score.statistics.options import Resampling
from cs_score.tables.layout import TOP, Layout, Table
from cs_score.tasks.task import UnitStatistics


class ColdStartTask:
    """Cold Start as a task. Runs to analyse come with their gold data; results to compare have one run."""

    name = COLD_START_MODE

    def measure_of(self, name: str | None) -> str | None:
        """Return the official name of a measure. Raises UsageError for an unknown measure.

        None stays None, since the headline measure depends on the queries.
        """
        return None if name is None else str(parse(name))

    def analyze(
        self, result: AnalysedRun, measure: str | None = None, *, top: int | None = None, is_whole: bool = True,
        progress: Progress = silent, **settings: Any,
    ) -> RunAnalysis:  # fmt: skip
        """Return the analysis of a run; it has explanations and all mistakes only if it `is_whole`.

        `top` is the number of mistakes to list. Without it an analysis that is not whole lists `TOP` mistakes.
        """
        most = top
        if not is_whole and not top:
            most = TOP
        return analyze(result, measure, most, progress=progress, with_explanations=is_whole, **settings)

    def diff(
        self, a: AnalysedRun, b: AnalysedRun, measure: str | None = None, *, names: tuple[str, str] = ("A", "B"),
        top: int | None = None, resampling: Resampling | None = None,
    ) -> RunDifference:  # fmt: skip
        """Return why B scores differently from A. The document has all answers and classes; `top` is not used."""
        return diff(a, b, measure, names=names, resampling=resampling)

    def headers(self, kind: str) -> dict[str, Sequence[str]]:
        """Return the columns of each table of an `analysis` or a `difference`, by the name of its file: `units.tsv`."""
        layouts = LAYOUTS if kind == "analysis" else DIFFERENCE_LAYOUTS
        return {f"{layout.name}.tsv": layout.keys for layout in layouts}

    def layouts(self, document: Any) -> Sequence[Layout]:
        """Return the layouts of the tables of a document."""
        if isinstance(document, RunAnalysis):
            return LAYOUTS
        if isinstance(document, RunDifference):
            return DIFFERENCE_LAYOUTS
        return (STEPS,)

    def tables(self, document: Any) -> list[Table]:
        """Return the tables of a document."""
        return [layout.table(document) for layout in self.layouts(document)]

    def text(self, document: Any, width: int | None, top: int | None = None) -> str:
        """Return the text of a document for people, in lines of at most `width` columns.

        With `width` None the cells of tables are not cut. `top` is the number of rows of each table; without it only
        the first screen is returned.
        """
        if isinstance(document, RunAnalysis | RunDifference):
            return text_of(document, width, top)
        return str(document.text(prose_width(width, is_screen=True)))

    def measures(self, results: Iterable[Result]) -> list[str]:
        """Return the measures by which results of one run each can be compared, in the order of their summaries.

        A hop that only some of the runs answer counts as 0 for the others. A measure by which one of the runs has no
        score is left out. Raises ValueError for a result of several runs.
        """
        runs = [_only_run(result) for result in results]
        undefined: set[str] = set()
        for run in runs:
            undefined.update(run.undefined)
        measures: dict[Measure, None] = {}
        for run in runs:
            for measure in summary_scores(run):
                if str(measure) not in undefined:
                    measures[measure] = None
        return [str(measure) for measure in _in_summary_order(measures)]

    def headline_of(self, results: Iterable[Any]) -> str | None:
        """Return None: the registry of measures knows the headline measures of Cold Start."""
        return None

    def undefined_measures(self, result: Result) -> Mapping[str, str]:
        """Return the measures by which the run of a result has no score, with the reasons."""
        return _only_run(result).undefined

    def statistics(self, result: Result, measures: Sequence[str]) -> UnitStatistics:
        """Return the summands of each unit, from which the scores of a result by these measures are computed."""
        run = _only_run(result)
        return UnitStatistics(
            unit=unit_name(result),
            table=unit_table(run, [parse(name) for name in measures]),
            answered_units=answered_units(run),
            gold_units=tuple(dict.fromkeys(run.unit_of.values())),
            origin=result.origin,
        )

    def formula(self, measures: Sequence[str]) -> SumsFormula:
        """Return the function that computes the scores by these measures from the sums over units."""
        return formula_of([parse(name) for name in measures])


def _in_summary_order(measures: Iterable[Measure]) -> list[Measure]:
    """Return measures sorted as in summaries: rankings last, the hops of the same table and average together."""
    all_measures = list(measures)
    blocks = list(dict.fromkeys([(measure.table, measure.average) for measure in all_measures]))
    sort_keys: dict[Measure, tuple[bool, int, str]] = {}
    for measure in all_measures:
        is_ranking = not measure.average
        sort_keys[measure] = (is_ranking, blocks.index((measure.table, measure.average)), measure.level)
    return sorted(all_measures, key=lambda measure: sort_keys[measure])


def _only_run(result: Result) -> ScoredRun:
    """Return the only run of a result. Raises ValueError if it has several runs or none."""
    if len(result.runs) != 1:
        raise ValueError(f"the result has {len(result.runs)} runs instead of one")
    return result.runs[0]


TASK = ColdStartTask()
