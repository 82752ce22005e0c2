"""The tasks of evidence: gold and predictions, units that are scored one by one, and what examines them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from cs_score.analysis.evidence.analysis import (
    AnyExaminer,
    costs_of,
    counted_confusions,
    error_budget,
    explained_units,
    explanations_of,
    groups_of,
    mistakes_of,
    numbered_units,
    units_of,
)
from cs_score.analysis.evidence.difference import diff
from cs_score.analysis.evidence.documents import Analysis, Difference, Explanation
from cs_score.analysis.evidence.text import layouts_of, text_of_document
from cs_score.base.errors import UsageError, nearest
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_collector
from cs_score.evidence.result import Mode, Result
from cs_score.measures.registry import find, usual
from cs_score.statistics.options import Resampling
from cs_score.tables.layout import TOP, Layout, Table
from cs_score.tasks.task import Progress, Statistics

if TYPE_CHECKING:  # it brings numpy
    from cs_score.statistics.arithmetic import ColumnMeasures


LARGEST_COSTS: Final = 3
"""Mistakes that an explanation shows of a whole run."""


class EvidenceTask(Record):
    """A task of evidence.

    `mode` describes its numbers, `score` takes gold (perhaps as `read_gold` gives it), predictions and the mode's
    `options`, `examiner` a result and a measure. `summary` and `files` stand in the help; with `takes_long` a terminal
    shows how far scoring is.
    """

    mode: Mode
    read_gold: Callable[..., Any]
    score: Callable[..., Result]
    examiner: Callable[[Any, str], AnyExaminer]
    summary: str
    files: str
    takes_long: bool = False

    @property
    def name(self) -> str:
        return self.mode.name

    def measure_of(self, wanted: str | None) -> str:
        """The measure that is meant, in any letter case. Raises UsageError for one that the task lacks."""
        if wanted is None:
            return str(usual(self.name))
        known = self.mode.measures
        found = find(wanted, known)
        if found not in known:
            raise UsageError(f"no measure called {wanted}; there are {', '.join(known)}{nearest(wanted, known)}")
        return str(found)

    @paused_collector()
    def analyze(
        self,
        result: Result,
        measure: str | None = None,
        *,
        top: int | None = None,
        is_whole: bool = True,
        progress: Progress = iter,
    ) -> Analysis:
        """Mistakes, error budget, groups and confusions. Raises UsageError for an unknown measure.

        With `is_whole` all mistakes unless `top`, and how units were scored; otherwise what a text shows. `progress`
        hands back the units twice, once for the budget and once for the mistakes.
        """
        examiner = self.examiner(result, self.measure_of(measure))
        names, units = numbered_units(examiner), units_of(examiner)
        budget = error_budget(examiner, progress(units))
        costs = costs_of(examiner, progress(units))
        confusions = (each for position in range(len(names)) for each in examiner.confusions(position))
        return Analysis(
            **_head(examiner),
            units=len(names),
            top=UNSET if top is None else top,
            mistakes=mistakes_of(costs[: top if is_whole else top or TOP], names),
            budget=budget,
            groups=groups_of(examiner, costs),
            confusions=counted_confusions(confusions),
            explanations=explanations_of(examiner, names, costs[:top], with_others=top is None) if is_whole else UNSET,
        )

    def diff(
        self, a: Result, b: Result, measure: str | None = None, *, names: tuple[str, str] = ("A", "B"),
        top: int | None = None, resampling: Resampling | None = None,
    ) -> Difference:  # fmt: skip
        """Why B scores otherwise than A. Raises UsageError for results of different tasks, an unknown measure."""
        self.measures((a, b))
        wanted = self.measure_of(measure)
        return diff((self.examiner(a, wanted), self.examiner(b, wanted)), names, top, resampling)

    def explain(
        self, result: Result, units: Sequence[str | int] = (), measure: str | None = None, *, progress: Progress = iter
    ) -> Explanation:
        """How units were scored and what their mistakes cost; without units the largest costs of the run.

        A unit is named by its id; where gold repeats it, all that are called so are explained. `progress` hands back
        all units where none is named. Raises UsageError for an unknown measure, InputError for an unknown unit.
        """
        examiner = self.examiner(result, self.measure_of(measure))
        names = numbered_units(examiner)
        explained = [each for unit in units for each in explained_units(examiner, names, result.positions_of(unit))]
        costs = [] if units else costs_of(examiner, progress(units_of(examiner)))
        return Explanation(
            **_head(examiner),
            units=tuple(explained),
            mistakes=mistakes_of(costs[:LARGEST_COSTS], names),
            statistics=dict(zip(result.table.columns, result.table.sums())),
        )

    def headers(self, kind: str) -> dict[str, Sequence[str]]:
        layouts = layouts_of(self.mode)[Analysis if kind == "analysis" else Difference]
        return {f"{layout.name}.tsv": layout.keys for layout in layouts if layout.is_file}

    def layouts(self, document: Any) -> Sequence[Layout]:
        """What the tables of a document are."""
        return layouts_of(self.mode)[type(document)]

    def tables(self, document: Any) -> list[Table]:
        return [layout.table(document) for layout in self.layouts(document)]

    def text(self, document: Any, width: int, top: int | None = None) -> str:
        return text_of_document(self.mode, document, width, top)

    def measures(self, results: Iterable[Result]) -> Sequence[str]:
        """The measures that results are compared by. Raises UsageError for results of other tasks."""
        names = list(dict.fromkeys(result.mode.name for result in results))
        if names != [self.name]:
            raise UsageError(f"results of different tasks cannot be compared: {', '.join(names)}")
        return self.mode.measures

    def statistics(self, result: Result, measures: Sequence[str]) -> Statistics:
        return Statistics(
            self.mode.unit, result.table, result.answered(), tuple(dict.fromkeys(result.table.ids)), result.origin
        )

    def formula(self, measures: Sequence[str]) -> ColumnMeasures:
        return self.mode.formula_of(measures)


def _head(examiner: AnyExaminer) -> dict[str, Any]:
    """The fields that what is found of one result begins with."""
    result, measure = examiner.result, examiner.measure
    origin = replace(result.origin, measure=measure)
    return {
        "task": origin.task,
        "measure": measure,
        "signature": str(origin.signature),
        "origin": origin,
        "score": result.scores[measure],
        "scores": dict(result.scores),
    }
