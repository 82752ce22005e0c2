"""Cold Start as a task: its runs, analyses and differences under the names that all tasks have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from cs_score.analysis.coldstart.analysis import Analysis, analyze
from cs_score.analysis.coldstart.difference import Difference, diff
from cs_score.analysis.coldstart.explanation.explanation import STEPS
from cs_score.analysis.coldstart.scored import Progress, Scored, silent
from cs_score.analysis.coldstart.tables import LAYOUTS, OF_DIFFERENCE, text_of
from cs_score.base.display import SCREEN
from cs_score.coldstart.result import Result
from cs_score.coldstart.unit_statistics import answered_units, summary_scores, unit_name, unit_table
from cs_score.measures.registry import COLD_START_MODE, formula_of, parse
from cs_score.statistics.options import Resampling
from cs_score.tables.layout import Layout, Table
from cs_score.tasks.task import Statistics

if TYPE_CHECKING:  # they bring numpy
    from cs_score.statistics.arithmetic import ColumnMeasures


class ColdStartTask:
    """The task; a result that is analysed is a run with its gold (`Scored`), one that is compared has one run."""

    name = COLD_START_MODE

    def measure_of(self, wanted: str | None) -> str | None:
        """The measure that is meant; which one ranks leaderboards, the queries decide. Raises UsageError."""
        return None if wanted is None else str(parse(wanted))

    def analyze(
        self, result: Scored, measure: str | None = None, *, top: int | None = None, is_whole: bool = True,
        progress: Progress = silent, **settings: Any,
    ) -> Analysis:  # fmt: skip
        return analyze(result, measure, top, progress=progress, with_explanations=is_whole, **settings)

    def diff(
        self, a: Scored, b: Scored, measure: str | None = None, *, names: tuple[str, str] = ("A", "B"),
        top: int | None = None, resampling: Resampling | None = None,
    ) -> Difference:  # fmt: skip
        return diff(a, b, measure, names=names, resampling=resampling)

    def headers(self, kind: str) -> dict[str, Sequence[str]]:
        return {f"{layout.name}.tsv": layout.keys for layout in (LAYOUTS if kind == "analysis" else OF_DIFFERENCE)}

    def layouts(self, document: Any) -> Sequence[Layout]:
        is_analysis = isinstance(document, Analysis)
        return LAYOUTS if is_analysis else OF_DIFFERENCE if isinstance(document, Difference) else (STEPS,)

    def tables(self, document: Any) -> list[Table]:
        return [layout.table(document) for layout in self.layouts(document)]

    def text(self, document: Any, width: int, top: int | None = None) -> str:
        if isinstance(document, Analysis | Difference):
            return text_of(document, width, top)
        return str(document.text(min(width, SCREEN)))

    def measures(self, results: Iterable[Result]) -> list[str]:
        """The measures of the summaries of results of one run each, the levels of a row together and sorted.

        A level that only some of the runs have counts as 0 for the others. Raises ValueError for several runs.
        """
        once = dict.fromkeys(measure for result in results for measure in summary_scores(_one(result)))
        blocks = list(dict.fromkeys((each.table, each.average) for each in once))
        # A measure that needs no average is one of rankings, whose rows come last.
        place = {each: (not each.average, blocks.index((each.table, each.average)), each.level) for each in once}
        return [str(each) for each in sorted(once, key=place.__getitem__)]

    def statistics(self, result: Result, measures: Sequence[str]) -> Statistics:
        run = _one(result)
        table, known = unit_table(run, map(parse, measures)), tuple(dict.fromkeys(run.unit_of.values()))
        return Statistics(unit_name(result), table, answered_units(run), known, result.origin)

    def formula(self, measures: Sequence[str]) -> ColumnMeasures:
        return formula_of(map(parse, measures))


def _one(result: Result) -> Any:
    if len(result.runs) != 1:
        raise ValueError(f"the result has {len(result.runs)} runs instead of one")
    return result.runs[0]


TASK = ColdStartTask()
