"""The verbs of a task of evidence: analyze, diff and explain, the tables and texts of their documents, comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET, UnsetType

from cs_score.analysis.evidence.documents import Analysis, Difference, Explanation, Explanations
from cs_score.analysis.evidence.examination import CostedMistakes, Examination
from cs_score.analysis.evidence.layouts import layouts_of, text_of_document
from cs_score.analysis.evidence.pair import ExaminedPair
from cs_score.analysis.outcomes import Side, Sides, head_of
from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_collector
from cs_score.evidence.mode import Mode, Progress, Result
from cs_score.measures.registry import SumsFormula, find, usual
from cs_score.statistics.options import Resampling
from cs_score.tables.layout import TOP, Column, Layout, Table
from cs_score.tasks.task import Statistics

LARGEST_COSTS: Final = 3
"""The number of mistakes that an explanation of a whole run shows."""


class EvidenceTask(Record):
    """The verbs of a task of evidence, whose rules are those of its mode."""

    mode: Mode

    @property
    def name(self) -> str:
        """The name of the task."""
        return self.mode.name

    def measure_of(self, name: str | None) -> str | None:
        """Return the official name of a measure, which may be given in any letter case; None for None.

        Raises UsageError for a measure that the task lacks.
        """
        if name is None:
            return None
        measures = self.mode.measures
        measure = find(name, measures)
        if measure not in measures:
            suggestion = nearest(name, measures)
            raise UsageError(f"no measure called {name}; there are {', '.join(measures)}{suggestion}")
        return str(measure)

    def _measure_for(self, name: str | None, *results: Result) -> str:
        """Return the measure that results are examined by: that of the name, or else the headline that they share.

        Raises UsageError for a measure that the task lacks, InputError for one without a value for a result.
        """
        measure = self.measure_of(name) or self.headline_of(results) or str(usual(self.name))
        for result in results:
            if measure in result.undefined:
                raise InputError(f"there is no {measure}: {result.undefined[measure]}", file=result.names[1])
        return measure

    # ---- Analyses

    @paused_collector()
    def analyze(
        self,
        result: Result,
        measure: str | None = None,
        *,
        top: int | None = None,
        is_whole: bool = True,
        progress: Progress = iter,
        policies: Sequence[str] = (),
    ) -> Analysis:
        """Return the mistakes of a result, the error budget, groups and confusions, and scores under other policies.

        With `is_whole` it has the `top` mistakes, or all of them, and how units were scored; otherwise only as much as
        a text shows. `progress` is handed the predictions for the budget, then the mistakes.

        Raises UsageError for an unknown measure.
        """
        examination = Examination(result, self._measure_for(measure, result))
        budget = examination.budget(progress(examination.entries))
        costs = examination.costs(examination.entries, progress)
        mistake_count = top if is_whole else top or TOP
        explanations: Explanations | UnsetType = UNSET
        if is_whole:
            explanations = examination.explanations(costs[:top], with_others=top is None)
        return Analysis(
            **examination.head,
            scenarios=examination.scenarios(),
            policies=examination.policies(policies),
            units=len(result.units),
            top=UNSET if top is None else top,
            mistakes=CostedMistakes(examination, costs[:mistake_count]),
            budget=budget,
            groups=examination.groups(costs),
            confusions=examination.confusions(),
            explanations=explanations,
        )

    def diff(
        self, a: Result, b: Result, measure: str | None = None, *, names: tuple[str, str] = ("A", "B"),
        top: int | None = None, resampling: Resampling | None = None,
    ) -> Difference:  # fmt: skip
        """Return why B scores otherwise than A, and what each unit contributes to the difference of their scores.

        At most `top` units and answers are listed. `resampling` has the settings of interval and p-values, as in a
        comparison. Raises UsageError for results of different tasks and for an unknown measure.
        """
        self.measures((a, b))  # raises UsageError for results of different tasks
        measure = self._measure_for(measure, a, b)
        pair = ExaminedPair(a, b, measure)
        sides = Sides(
            a=Side(names[0], a.table, a.scores[measure], a.origin),
            b=Side(names[1], b.table, b.scores[measure], b.origin),
            measure=measure,
            formula=pair.a.formula,
            unit=self.mode.unit,
            units=f"{self.mode.unit}s",
            has_contributions=pair.has_contributions,
        )
        head = head_of(sides, resampling)
        differing = pair.answers()
        return Difference(
            task=self.mode.name,
            **head,
            heads={"a": a.head, "b": b.head} if a.head or b.head else UNSET,
            top=UNSET if top is None else top,
            units=tuple(pair.units()[:top]),
            answers=tuple(differing.answers[:top]),
            outcomes=differing.outcomes,
            groups=pair.groups(),
        )

    def explain(
        self, result: Result, units: Sequence[str | int] = (), measure: str | None = None, *, progress: Progress = iter
    ) -> Explanation:
        """Return how units were scored and what their mistakes cost; without units the largest costs of the run.

        Units are named by their ids; if gold repeats an id, all units that have it are explained. `progress` is handed
        all mistakes if no unit is named. Raises UsageError for an unknown measure, InputError for an unknown unit.
        """
        examination = Examination(result, self._measure_for(measure, result))
        positions: list[int] = []
        for unit in units:
            positions += result.positions_of(unit)
        costs = [] if units else examination.costs(examination.entries, progress)
        return Explanation(
            **examination.head,
            units=examination.explained(positions) if units else (),
            mistakes=tuple([examination.mistake(cost) for cost in costs[:LARGEST_COSTS]]),
            statistics=dict(zip(result.table.columns, result.table.sums())),
        )

    # ---- Tables and texts

    def headers(self, kind: str) -> dict[str, Sequence[str]]:
        """Return the columns of the table files of an `analysis` or a `difference`, by the name of the file."""
        layouts = layouts_of(self.mode)[Analysis if kind == "analysis" else Difference]
        return {f"{layout.name}.tsv": layout.keys for layout in layouts if layout.is_file}

    def layouts(self, document: Any) -> Sequence[Layout]:
        """Return the layouts of the tables of a document."""
        return layouts_of(self.mode)[type(document)]

    def tables(self, document: Any) -> list[Table]:
        """Return the tables of a document; if only answered units were scored, with a column that says so."""
        tables = [layout.table(document) for layout in self.layouts(document)]
        answered = answered_in(document)
        return [with_answered(table, answered) for table in tables] if answered else tables

    def text(self, document: Any, width: int | None, top: int | None = None) -> str:
        """Return a document as text for a terminal of this width, with at most `top` rows of each list."""
        return text_of_document(self.mode, document, width, top)

    # ---- Comparisons

    def measures(self, results: Iterable[Result]) -> Sequence[str]:
        """Return the measures that all results have. Raises UsageError for results of other tasks."""
        compared = list(results)
        names = list(dict.fromkeys([result.mode.name for result in compared]))
        if names != [self.name]:
            raise UsageError(f"results of different tasks cannot be compared: {', '.join(names)}")
        return [measure for measure in self.mode.measures if all(measure in result.scores for result in compared)]

    def headline_of(self, results: Iterable[Result]) -> str | None:
        """Return the headline measure of results; None if they have different ones."""
        headlines = {result.origin.measure for result in results}
        return headlines.pop() if len(headlines) == 1 else None

    def undefined(self, result: Result) -> Mapping[str, str]:
        """Return the measures that have no value for a result, each with the reason."""
        return result.undefined

    def statistics(self, result: Result, measures: Sequence[str]) -> Statistics:
        """Return the statistics of the units of a result, from which comparisons compute the measures."""
        ids = result.table.ids
        answered = [unit_id for unit_id, unit in zip(ids, result.units) if unit.prediction is not None]
        return Statistics(self.mode.unit, result.table, answered, tuple(dict.fromkeys(ids)), result.origin)

    def formula(self, measures: Sequence[str]) -> SumsFormula:
        """Return the formula from the sums of the columns to some of the measures."""
        return self.mode.formula_of(measures)


def answered_in(document: Any) -> str:
    """Return on how many units the scores of a document are, if only answered units count; empty if all do."""
    if isinstance(document, Difference):
        sides = []
        for name, side in (("A", "a"), ("B", "b")):
            answered = document.origins[side].answered
            if answered is not None:
                sides.append(f"{name}: {answered}")
        return "; ".join(sides)
    return document.origin.answered or "" if document.origin else ""


def with_answered(table: Table, answered: str) -> Table:
    """Return a table file with a last column that says on how many units its scores are.

    Tables for people stay as they are, since the text says it above them.
    """
    layout = table.layout
    if not layout.is_file:
        return table
    shown_keys = layout.shown or layout.keys
    layout = replace(layout, columns=(*layout.columns, Column("answered")), shown=shown_keys)
    return replace(table, layout=layout, rows=[(*row, answered) for row in table.rows])
