"""Implement the interface of a task for evidence: its measures, and the statistics that comparisons need. A result has
the predictions for the units of gold (claims, instances or questions) with their scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cs_score.base.errors import InputError, UsageError, did_you_mean
from cs_score.base.records import Record
from cs_score.evidence.mode import Mode, ScoredPredictions
from cs_score.measures import SumsFormula, default_measure, find_name
from cs_score.tasks.task import UnitStatistics


class EvidenceTask(Record):
    """A task whose predictions are labels or answers with evidence, such as SciFact; `mode` has its rules."""

    mode: Mode

    @property
    def name(self) -> str:
        """The name of the task."""
        return self.mode.name

    def measure_of(self, name: str | None) -> str | None:
        """Return the official name of a measure; `name` may be in any letter case. None is returned unchanged.

        Raises UsageError if the task has no such measure.
        """
        if name is None:
            return None
        measures = self.mode.measures
        # None for an unknown name. `find_name` also accepts names such as `f1@0`, which no evidence task has.
        measure = find_name(name, measures)
        if measure not in measures:
            suggestion = did_you_mean(name, measures)
            raise UsageError(f"no measure called {name}; there are {', '.join(measures)}{suggestion}")
        return str(measure)

    def measure_for(self, name: str | None, *results: ScoredPredictions) -> str:
        """Return the measure by which results are examined: the one with this name, or else their headline measure.

        If the headline measures of the results differ, the usual measure of the task is returned. Raises UsageError if
        the task has no such measure, InputError if the measure has no value for a result.
        """
        measure = self.measure_of(name) or self.headline_of(results) or str(default_measure(self.name))
        for result in results:
            if measure in result.undefined:
                _, predictions_name = result.names
                raise InputError(f"there is no {measure}: {result.undefined[measure]}", file=predictions_name)
        return measure

    # ---- Comparisons

    def measures(self, results: Iterable[ScoredPredictions]) -> Sequence[str]:
        """Return the measures that have a value in all results. Raises UsageError for results of another task."""
        compared = list(results)
        names = list(dict.fromkeys([result.mode.name for result in compared]))
        if names != [self.name]:
            raise UsageError(f"results of different tasks cannot be compared: {', '.join(names)}")
        return [measure for measure in self.mode.measures if all(measure in result.scores for result in compared)]

    def headline_of(self, results: Iterable[ScoredPredictions]) -> str | None:
        """Return the headline measure of results, or None if they have different headline measures."""
        headlines = {result.origin.measure for result in results}
        return headlines.pop() if len(headlines) == 1 else None

    def undefined_measures(self, result: ScoredPredictions) -> Mapping[str, str]:
        """Return the measures that have no value for a result, each with the reason."""
        return result.undefined

    def statistics(self, result: ScoredPredictions, measures: Sequence[str]) -> UnitStatistics:
        """Return the numbers that each unit adds to the sums of a result, from which comparisons compute its scores."""
        ids = result.table.ids
        answered = [unit_id for unit_id, unit in zip(ids, result.units) if unit.prediction is not None]
        return UnitStatistics(
            unit=self.mode.unit,
            table=result.table,
            answered_units=answered,
            gold_units=tuple(dict.fromkeys(ids)),
            origin=result.origin,
        )

    def formula(self, measures: Sequence[str]) -> SumsFormula:
        """Return a function that computes some of the measures from the sums of the columns."""
        return self.mode.formula_of(measures)
