"""Cold Start as a task, under the names that all tasks have: how its runs are analysed, compared and shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cs_score.analysis.coldstart.analysis import Analysis, analyze
from cs_score.analysis.coldstart.difference import Difference, diff
from cs_score.analysis.coldstart.explanation.document import STEPS
from cs_score.analysis.coldstart.layouts import DIFFERENCE_LAYOUTS, LAYOUTS
from cs_score.analysis.coldstart.scored import Progress, Scored, silent
from cs_score.analysis.coldstart.texts import text_of
from cs_score.base.display import prose_width
from cs_score.coldstart.result import Result, RunResult
from cs_score.coldstart.unit_statistics import answered_units, summary_scores, unit_name, unit_table
from cs_score.measures.registry import COLD_START_MODE, Measure, SumsFormula, formula_of, parse
from cs_score.statistics.options import Resampling
from cs_score.tables.layout import TOP, Layout, Table
from cs_score.tasks.task import Statistics


class ColdStartTask:
    """The task. A run is analysed together with its gold (`Scored`); a result to compare has one run."""

    name = COLD_START_MODE

    def measure_of(self, wanted: str | None) -> str | None:
        """Return the name of a measure in its usual spelling. Raises UsageError if there is no such measure.

        None stays None: the headline measure depends on the queries.
        """
        return None if wanted is None else str(parse(wanted))

    def analyze(
        self, result: Scored, measure: str | None = None, *, top: int | None = None, is_whole: bool = True,
        progress: Progress = silent, **settings: Any,
    ) -> Analysis:  # fmt: skip
        """Return the analysis of a run, with explanations if it `is_whole`, and otherwise with few mistakes."""
        most = top
        if not is_whole and not top:
            most = TOP
        return analyze(result, measure, most, progress=progress, with_explanations=is_whole, **settings)

    def diff(
        self, a: Scored, b: Scored, measure: str | None = None, *, names: tuple[str, str] = ("A", "B"),
        top: int | None = None, resampling: Resampling | None = None,
    ) -> Difference:  # fmt: skip
        """Return why B scores otherwise than A; everything, whatever `top` says."""
        return diff(a, b, measure, names=names, resampling=resampling)

    def headers(self, kind: str) -> dict[str, Sequence[str]]:
        """Return the columns of the tables of an `analysis` or a `difference`, by the name of their file."""
        layouts = LAYOUTS if kind == "analysis" else DIFFERENCE_LAYOUTS
        return {f"{layout.name}.tsv": layout.keys for layout in layouts}

    def layouts(self, document: Any) -> Sequence[Layout]:
        """Return the layouts of the tables of a document."""
        if isinstance(document, Analysis):
            return LAYOUTS
        if isinstance(document, Difference):
            return DIFFERENCE_LAYOUTS
        return (STEPS,)

    def tables(self, document: Any) -> list[Table]:
        """Return the tables of a document."""
        return [layout.table(document) for layout in self.layouts(document)]

    def text(self, document: Any, width: int | None, top: int | None = None) -> str:
        """Return a document for people, in lines of at most `width` columns; None: cells of tables are whole."""
        if isinstance(document, Analysis | Difference):
            return text_of(document, width, top)
        return str(document.text(prose_width(width, is_screen=True)))

    def measures(self, results: Iterable[Result]) -> list[str]:
        """Return the measures by which results of one run each can be compared, in the order of their summaries.

        A level that only some of the runs have counts as 0 for the others. A measure that has no value for one of the
        runs is left out. Raises ValueError for several runs.
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
        blocks = list(dict.fromkeys([(measure.table, measure.average) for measure in measures]))

        def order(measure: Measure) -> tuple[bool, int, str]:
            """Return the sort key of a measure: rankings last, the levels of a row together."""
            is_ranked = not measure.average
            return is_ranked, blocks.index((measure.table, measure.average)), measure.level

        return [str(measure) for measure in sorted(measures, key=order)]

    def headline_of(self, results: Iterable[Any]) -> str | None:
        """Return None: the registry of measures knows the headline measures of Cold Start."""
        return None

    def undefined(self, result: Result) -> Mapping[str, str]:
        """Return the measures that have no value for the run, with the reasons."""
        return _only_run(result).undefined

    def statistics(self, result: Result, measures: Sequence[str]) -> Statistics:
        """Return what these measures of a result are made of, unit by unit."""
        run = _only_run(result)
        return Statistics(
            unit=unit_name(result),
            table=unit_table(run, [parse(name) for name in measures]),
            answered=answered_units(run),
            known=tuple(dict.fromkeys(run.unit_of.values())),
            origin=result.origin,
        )

    def formula(self, measures: Sequence[str]) -> SumsFormula:
        """Return the function from the sums over units to the scores by these measures."""
        return formula_of([parse(name) for name in measures])


def _only_run(result: Result) -> RunResult:
    """Return the run of a result that has one. Raises ValueError for another number."""
    if len(result.runs) != 1:
        raise ValueError(f"the result has {len(result.runs)} runs instead of one")
    return result.runs[0]


TASK = ColdStartTask()
