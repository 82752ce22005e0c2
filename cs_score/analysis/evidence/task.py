"""The commands of a task of evidence on results: analyze, diff and explain, with tables and texts, and comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET, UnsetType

from cs_score.analysis.evidence.documents import (
    EvidenceAnalysis,
    EvidenceDifference,
    EvidenceExplanation,
    EvidenceExplanations,
)
from cs_score.analysis.evidence.examination import CostedMistakes, Examination
from cs_score.analysis.evidence.layouts import layouts_of, text_of_document
from cs_score.analysis.evidence.pair import ExaminedPair
from cs_score.analysis.outcomes import Side, Sides, head_of
from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_collector
from cs_score.evidence.mode import Mode, Progress, ScoredPredictions
from cs_score.measures.registry import SumsFormula, default_measure, find
from cs_score.statistics.options import Resampling
from cs_score.tables.layout import TOP, Column, Layout, Table
from cs_score.tasks.task import UnitStatistics

LARGEST_COSTS: Final = 3
"""The number of mistakes that an explanation of a whole run shows."""


class EvidenceTask(Record):
    """The commands of a task of evidence on results; `mode` has the rules of the task."""

    mode: Mode

    @property
    def name(self) -> str:
        """The name of the task."""
        return self.mode.name

    def measure_of(self, name: str | None) -> str | None:
        """Return the official name of a measure; `name` may be in any letter case. None stays None.

        Raises UsageError if the task has no such measure.
        """
        if name is None:
            return None
        measures = self.mode.measures
        measure = find(name, measures)
        if measure not in measures:
            suggestion = nearest(name, measures)
            raise UsageError(f"no measure called {name}; there are {', '.join(measures)}{suggestion}")
        return str(measure)

    def _measure_for(self, name: str | None, *results: ScoredPredictions) -> str:
        """Return the measure by which results are examined: the one with this name, or else their headline measure.

        If the headline measures of the results differ, it is the usual one of the task. Raises UsageError if the task
        has no such measure, InputError if the measure has no value for a result.
        """
        measure = self.measure_of(name) or self.headline_of(results) or str(default_measure(self.name))
        for result in results:
            if measure in result.undefined:
                raise InputError(f"there is no {measure}: {result.undefined[measure]}", file=result.names[1])
        return measure

    # ---- Analyses

    @paused_collector()
    def analyze(
        self,
        result: ScoredPredictions,
        measure: str | None = None,
        *,
        top: int | None = None,
        is_whole: bool = True,
        progress: Progress = iter,
        policies: Sequence[str] = (),
    ) -> EvidenceAnalysis:
        """Return the analysis of a result: mistakes, error budget, groups, confusions, scores under other policies.

        It lists the `top` mistakes, or else all of them, and explains units in words. If it is not `is_whole`, it has
        no explanations and only the mistakes that a text shows. `progress` gets first the predictions, for the budget,
        and then the mistakes, and shows how many are done. Raises UsageError for an unknown measure.
        """
        examination = Examination(result, self._measure_for(measure, result))
        budget = examination.budget(progress(examination.entries))
        costs = examination.costs(examination.entries, progress)
        mistake_count = top if is_whole else top or TOP
        explanations: EvidenceExplanations | UnsetType = UNSET
        if is_whole:
            explanations = examination.explanations(costs[:top], with_others=top is None)
        return EvidenceAnalysis(
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
        self,
        a: ScoredPredictions,
        b: ScoredPredictions,
        measure: str | None = None,
        *,
        names: tuple[str, str] = ("A", "B"),
        top: int | None = None,
        resampling: Resampling | None = None,
    ) -> EvidenceDifference:
        """Return the difference of two results, with the contribution of each unit to the difference of their scores.

        `names` are the names of A and B in texts. At most `top` units and answers are listed. `resampling` has the
        settings of the interval and the p-values, as in a comparison. Raises UsageError for results of different tasks
        and for an unknown measure.
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
        return EvidenceDifference(
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
        self,
        result: ScoredPredictions,
        units: Sequence[str | int] = (),
        measure: str | None = None,
        *,
        progress: Progress = iter,
    ) -> EvidenceExplanation:
        """Return the explanation of how units were scored, with the costs of their mistakes.

        `units` are ids; if gold repeats an id, all its units are explained. Without ids the explanation has the largest
        costs of the run, and `progress` gets all mistakes and shows how many are done. Raises UsageError for an unknown
        measure, InputError for an unknown unit.
        """
        examination = Examination(result, self._measure_for(measure, result))
        positions: list[int] = []
        for unit in units:
            positions += result.positions_of(unit)
        costs = [] if units else examination.costs(examination.entries, progress)
        return EvidenceExplanation(
            **examination.head,
            units=examination.explain_units(positions) if units else (),
            mistakes=tuple([examination.mistake(cost) for cost in costs[:LARGEST_COSTS]]),
            statistics=dict(zip(result.table.columns, result.table.sums())),
        )

    # ---- Tables and texts

    def headers(self, kind: str) -> dict[str, Sequence[str]]:
        """Return the columns of the table files of an `analysis` or a `difference`, by the name of the file."""
        layouts = layouts_of(self.mode)[EvidenceAnalysis if kind == "analysis" else EvidenceDifference]
        return {f"{layout.name}.tsv": layout.keys for layout in layouts if layout.is_file}

    def layouts(self, document: Any) -> Sequence[Layout]:
        """Return the layouts of the tables of a document."""
        return layouts_of(self.mode)[type(document)]

    def tables(self, document: Any) -> list[Table]:
        """Return the tables of a document.

        If only answered units were scored, table files have a column with the number of these units.
        """
        tables = [layout.table(document) for layout in self.layouts(document)]
        answered = answered_count_text(document)
        return [add_answered_column(table, answered) for table in tables] if answered else tables

    def text(self, document: Any, width: int | None, top: int | None = None) -> str:
        """Return a document as text for a terminal of this width, with at most `top` rows of each list."""
        return text_of_document(self.mode, document, width, top)

    # ---- Comparisons

    def measures(self, results: Iterable[ScoredPredictions]) -> Sequence[str]:
        """Return the measures that have a value in all results. Raises UsageError for results of another task."""
        compared = list(results)
        names = list(dict.fromkeys([result.mode.name for result in compared]))
        if names != [self.name]:
            raise UsageError(f"results of different tasks cannot be compared: {', '.join(names)}")
        return [measure for measure in self.mode.measures if all(measure in result.scores for result in compared)]

    def headline_of(self, results: Iterable[ScoredPredictions]) -> str | None:
        """Return the headline measure of results; None if they have different headline measures."""
        headlines = {result.origin.measure for result in results}
        return headlines.pop() if len(headlines) == 1 else None

    def undefined_measures(self, result: ScoredPredictions) -> Mapping[str, str]:
        """Return the measures that have no value for a result, each with the reason."""
        return result.undefined

    def statistics(self, result: ScoredPredictions, measures: Sequence[str]) -> UnitStatistics:
        """Return the statistics of the units of a result, from which comparisons compute the measures."""
        ids = result.table.ids
        answered = [unit_id for unit_id, unit in zip(ids, result.units) if unit.prediction is not None]
        return UnitStatistics(self.mode.unit, result.table, answered, tuple(dict.fromkeys(ids)), result.origin)

    def formula(self, measures: Sequence[str]) -> SumsFormula:
        """Return a function that computes some of the measures from the sums of the columns."""
        return self.mode.formula_of(measures)


def answered_count_text(document: Any) -> str:
    """Return how many units were scored if only answered units were; an empty text if all were.

    For a difference the text has both sides, such as `A: 250 of 300 claims; B: 280 of 300 claims`.
    """
    if isinstance(document, EvidenceDifference):
        sides = []
        for name, side in (("A", "a"), ("B", "b")):
            answered = document.origins[side].answered_count_text
            if answered is not None:
                sides.append(f"{name}: {answered}")
        return "; ".join(sides)
    if not document.origin:
        return ""
    return document.origin.answered_count_text or ""


def add_answered_column(table: Table, answered: str) -> Table:
    """Return a table with a last column `answered`, the number of units that were scored, in its file.

    The text for people does not show the column, since it has the number above its tables. A table without a file is
    returned unchanged.
    """
    layout = table.layout
    if not layout.is_file:
        return table
    shown_keys = layout.shown or layout.keys
    layout = replace(layout, columns=(*layout.columns, Column("answered")), shown=shown_keys)
    return replace(table, layout=layout, rows=[(*row, answered) for row in table.rows])
