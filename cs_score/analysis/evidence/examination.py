"""Examine a result by a measure: costs of mistakes, error budget, groups, confusions, explanations. A unit is a claim,
an instance or a question, its row the numbers that it adds to sums. An entry is a prediction for one unit or several;
its faults are differences from gold that lower the score.

The cost of a mistake is the gain in score if only this mistake is corrected: its prediction is replaced, and the units
with this prediction are scored again.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias, overload

from msgspec import UNSET, UnsetType

from cs_score.analysis.evidence.mistake_records import (
    ConfusionCount,
    EvidenceBudgetRow,
    EvidenceExplanations,
    EvidenceGroup,
    EvidenceMistake,
    EvidenceScenario,
    ExplainedUnit,
    PolicyScores,
    UnitSteps,
)
from cs_score.analysis.outcomes import positions_of_groups
from cs_score.base.display import one_line
from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.evidence.mode import CorrectionScorer, Fault, Part, Progress, ReportRow, Row, ScoredPredictions, Unit
from cs_score.evidence.reading import as_key
from cs_score.measures import Ratio, divide

UnitKey: TypeAlias = tuple[Hashable, int]
"""The key of a unit's id (`as_key`), and the number of the unit among the units with this id, from 1."""

ASPECT: Final = "aspect"
"""A dimension in tasks whose measures are means. Its groups are the lines of the report, not groups of units."""

MOST_UNITS: Final = 20_000
"""The most units of a run that are explained."""


class UnitName(NamedTuple):
    """A unit as documents name it: its id, and its number among the units with this id, from 1."""

    id: Any
    occurrence: int


class Entry:
    """A prediction of the predictions file, with or without corrections, and the units that share it.

    `positions` are the positions of the units in the result, `rows` are their rows. `unit` is the first of the units,
    with the prediction.
    """

    def __init__(self, examination: Examination, positions: Sequence[int], unit: Unit, rows: Sequence[Row]) -> None:
        """Take a prediction of an examined result; `unit` is the first unit with this prediction.

        `positions` and `rows` are the positions and the rows of all units with this prediction in the table of the
        result.
        """
        self._examination = examination
        self.positions = positions
        self.unit = unit
        self.rows = rows

    @cached_property
    def faults(self) -> Sequence[Fault]:
        """The faults of the prediction for the examined measure."""
        return self._examination.mode.faults(self.unit, self._examination.measure)

    def corrected_prediction(self, faults: Sequence[Fault]) -> Any:
        """Return the prediction with some of its faults corrected, in the form of the predictions file."""
        return self._examination.mode.correct_faults(self.unit, faults)

    def without_faults(self, faults: Sequence[Fault]) -> Entry:
        """Return the entry with some of its faults corrected.

        Raises InputError if the scorer would refuse the corrected prediction.
        """
        mode = self._examination.mode
        prediction = mode.prediction_from_json(self.corrected_prediction(faults))
        rows = [mode.row(unit) for unit in self._units_with(prediction)]
        return Entry(self._examination, self.positions, self.unit._replace(prediction=prediction), rows)

    def _units_with(self, prediction: Any) -> list[Unit]:
        """Return the units of the entry, each with another prediction in the place of its own."""
        units = self._examination.result.units
        return [units[position]._replace(prediction=prediction) for position in self.positions]

    @cached_property
    def rows_after_correction(self) -> CorrectionScorer:
        """A function that returns the rows of the units after the correction of a fault."""
        return self._examination.mode.correction_scorer(self._units_with(self.unit.prediction), self.rows)

    def without_kind(self, kind: str) -> Entry:
        """Return the entry with the faults of a kind corrected, as far as the scorer accepts the corrections."""
        faults = [fault for fault in self.faults if fault.kind == kind]
        if not faults:
            return self
        try:
            return self.without_faults(faults)  # raises if the scorer refuses the correction of any of them
        except InputError:
            # Whether the scorer refuses the correction of a fault does not depend on the other faults.
            correctable_faults = [fault for fault in faults if self._can_correct(fault)]
        return self.without_faults(correctable_faults) if correctable_faults else self

    def _can_correct(self, fault: Fault) -> bool:
        """Return whether the scorer would accept the prediction with a fault corrected."""
        try:
            self.rows_after_correction(fault)  # the rows are not needed, only the error
        except InputError:
            return False
        return True


class MistakeCost(NamedTuple):
    """The cost of a fault of an entry: `gain` is what the examined measure gains if only this fault is corrected.

    `effects` has the change of every measure. Gain and effects are None if the scorer would refuse the corrected
    prediction; `reason` then says why.
    """

    entry: Entry
    fault: Fault
    gain: float | None
    effects: dict[str, float | None]
    reason: str | UnsetType

    @property
    def position(self) -> int:
        """The position of the first unit of the entry."""
        return self.entry.positions[0]


class Examination:
    """A result, examined by one of its measures.

    `names` has the names of the units by position. `name_by_key`, `row_by_key` and `unit_by_key` have names,
    rows and units by the keys of the units, so that two results can be compared.
    """

    def __init__(self, result: ScoredPredictions, measure: str) -> None:
        """Take a result and the official name of a measure that has a value in it."""
        self.result = result
        self.mode = result.mode
        self.measure = measure
        self.formula = self.mode.formula_of([measure])
        self.name_by_key = _names_by_key(result.units)
        self.names = list(self.name_by_key.values())
        self.row_by_key = dict(zip(self.name_by_key, result.table.rows))
        self.unit_by_key = dict(zip(self.name_by_key, result.units))

    @cached_property
    def common_fields(self) -> dict[str, Any]:
        """The fields that every document about the result has, by their names: task, measure, signature, scores ..."""
        origin = replace(self.result.origin, measure=self.measure)
        return {
            "task": origin.task,
            "measure": self.measure,
            "signature": str(origin.signature),
            "origin": origin,
            "head": self.result.head or UNSET,
            "score": self.result.scores[self.measure],
            "scores": dict(self.result.scores),
            "undefined": dict(self.result.undefined) or UNSET,
        }

    @cached_property
    def entries(self) -> list[Entry]:
        """The entries of the predictions file, without corrections, in the order of their first units."""
        units = self.result.units
        rows = self.result.table.rows
        entries = []
        for positions in self._positions_of_entries():
            entry_rows = [rows[position] for position in positions]
            entries.append(Entry(self, positions, units[positions[0]], entry_rows))
        return entries

    def _positions_of_entries(self) -> Iterable[list[int]]:
        """Return for each entry of the predictions file the positions of its units in the result.

        In some tasks all units with the same id share a prediction, in all others each unit has its own.
        """
        positions_by_entry: dict[Hashable, list[int]] = {}
        for position, unit in enumerate(self.result.units):
            entry_key = as_key(unit.id) if self.mode.shares_predictions else position
            positions_by_entry.setdefault(entry_key, []).append(position)
        return positions_by_entry.values()

    # ---- Costs and the error budget

    def costs(self, entries: Iterable[Entry], progress: Progress = iter) -> list[MistakeCost]:
        """Return the cost of each fault of the entries, sorted by gain, the largest gain first.

        Faults with equal gains are in the order of gold. Faults that cannot be corrected come last. `progress` gets the
        entries and faults, and shows how many are done.
        """
        sums = self.result.table.sums()
        scores = self.mode.formula(sums, divide)  # ordinary division: the sums are numbers, not arrays
        entries_and_faults = []
        for entry in entries:
            for fault in entry.faults:
                entries_and_faults.append((entry, fault))
        costs = [self._cost(entry, fault, sums, scores) for entry, fault in progress(entries_and_faults)]
        return sorted(costs, key=_cost_order)

    def _cost(self, entry: Entry, fault: Fault, sums: Sequence[float], scores: Sequence[float]) -> MistakeCost:
        """Return the cost of a fault of an entry.

        `sums` are the sums of the table of units, `scores` the values of all measures for these sums. The effect on a
        measure is its value after the correction minus its value before.
        """
        measures = self.mode.measures
        try:
            new_rows = entry.rows_after_correction(fault)
        except InputError as error:
            # The scorer would refuse the corrected prediction, so there is no gain and no effect on any measure.
            no_effects = dict.fromkeys(measures)
            return MistakeCost(entry=entry, fault=fault, gain=None, effects=no_effects, reason=str(error))
        new_sums = _sums_with_other_rows(sums, entry.rows, new_rows)
        new_scores = self.mode.formula(new_sums, divide)
        effects: dict[str, float | None] = {}
        for measure, score, new_score in zip(measures, scores, new_scores):
            effects[measure] = new_score - score
        return MistakeCost(entry=entry, fault=fault, gain=effects[self.measure], effects=effects, reason=UNSET)

    def mistake(self, cost: MistakeCost) -> EvidenceMistake:
        """Return the mistake with this cost, in the form in which documents list it."""
        unit_name = self.names[cost.position]
        return EvidenceMistake(
            kind=cost.fault.kind,
            unit=unit_name.id,
            occurrence=unit_name.occurrence,
            part=cost.fault.part,
            predicted=cost.fault.predicted,
            gold=cost.fault.gold,
            gain=cost.gain,
            effects=cost.effects,
            prediction=cost.entry.corrected_prediction([cost.fault]),
            reason=cost.reason,
        )

    def budget(self, entries: Iterable[Entry]) -> tuple[EvidenceBudgetRow, ...]:
        """Return the error budget: a row for each kind of fault, in the order of the kinds.

        A row has the score if all faults of the kind are corrected, and the score if the faults of earlier kinds are
        corrected as well. Faults whose correction the scorer would refuse are not corrected.
        """
        kinds = self.mode.kinds
        unit_rows_by_kind = {kind: self._uncorrected_rows() for kind in kinds}
        fault_counts: Counter[str] = Counter()
        for entry in entries:
            fault_counts.update([fault.kind for fault in entry.faults])
            # A corrected entry is the same prediction without some faults: it replaces the old rows of its units.
            for corrected_entry in _corrected_entries(entry, kinds):
                unit_rows = unit_rows_by_kind[corrected_entry.kind]
                _replace_rows(unit_rows.without_kind, corrected_entry.without_kind)
                _replace_rows(unit_rows.without_kinds_so_far, corrected_entry.without_kinds_so_far)
        return tuple([self._budget_row(kind, fault_counts[kind], unit_rows_by_kind[kind]) for kind in kinds])

    def _uncorrected_rows(self) -> _CorrectedRows:
        """Return the rows of all units as they are, in two lists in which rows can be replaced by corrected ones."""
        rows = self.result.table.rows
        return _CorrectedRows(without_kind=list(rows), without_kinds_so_far=list(rows))

    def _budget_row(self, kind: str, fault_count: int, rows: _CorrectedRows) -> EvidenceBudgetRow:
        """Return the row of the error budget about a kind of faults: their number, and the gain from correcting them.

        The gain is the difference in the score. `rows` holds the numbers of each unit after the correction.
        """
        score = self._score_of_rows(rows.without_kind)
        return EvidenceBudgetRow(
            kind=kind,
            count=fault_count,
            gain=score - self.result.scores[self.measure],
            score=score,
            cumulated=self._score_of_rows(rows.without_kinds_so_far),
        )

    def _score_of_rows(self, rows: Sequence[Row]) -> float:
        """Return the score of the examined measure if the units have other rows."""
        return self.mode.scores(replace(self.result.table, rows=rows).sums())[self.measure]

    # ---- Groups and confusions

    def groups(self, costs: Sequence[MistakeCost]) -> dict[str, tuple[EvidenceGroup, ...]]:
        """Return the groups of units by dimension, with the number and the share of their mistakes.

        Each unit is in one group of a dimension. If all measures are means, there is also a dimension `ASPECT` with a
        group for each line of the report. `costs` are the costs of all mistakes.
        """
        groups_by_dimension: dict[str, tuple[EvidenceGroup, ...]] = {}
        groups_of_units = [self.mode.groups(unit) for unit in self.result.units]
        for dimension, positions_by_group in positions_of_groups(groups_of_units).items():
            groups_by_dimension[dimension] = self._groups_of_dimension(positions_by_group, costs)
        # Each measure is the mean of a column of its own.
        all_measures_are_means = set(self.mode.measures) <= set(self.result.table.columns)
        if all_measures_are_means:
            aspects = [self._group_of_report_row(row, costs) for row in self.mode.rows]
            groups_by_dimension[ASPECT] = groups_by_dimension.get(ASPECT, ()) + tuple(aspects)
        return groups_by_dimension

    def _groups_of_dimension(
        self, positions_by_group: Mapping[str, Sequence[int]], costs: Sequence[MistakeCost]
    ) -> tuple[EvidenceGroup, ...]:
        """Return the groups of one dimension, such as the gold label, with scores, mistakes and their share.

        `positions_by_group` has the positions of the units in each group, and `costs` are the costs of all mistakes.
        """
        mistake_counts = _count_mistakes(costs, positions_by_group)
        groups = []
        for name, positions in positions_by_group.items():
            share = divide(mistake_counts[name], len(costs))
            groups.append(self._group_of_units(name, positions, mistake_counts[name], share))
        return tuple(groups)

    def _group_of_units(self, name: str, positions: Sequence[int], mistake_count: int, share: float) -> EvidenceGroup:
        """Return the group of the units at these positions, with their totals and scores.

        `mistake_count` is the number of mistakes in the group, `share` their share of all mistakes.
        """
        table = self.result.table
        sums = replace(table, rows=[table.rows[position] for position in positions]).sums()
        scores = self.mode.scores(sums)
        main_scores = self._main_scores(self.measure, scores)
        return EvidenceGroup(
            group=name,
            units=len(positions),
            counts=dict(zip(table.columns, sums)),
            precision=main_scores.precision,
            recall=main_scores.recall,
            f1=main_scores.f1,
            scores=scores,
            mistakes=mistake_count,
            share=share,
        )

    def _group_of_report_row(self, row: ReportRow, costs: Sequence[MistakeCost]) -> EvidenceGroup:
        """Return the group for a line of the report, with the mistakes that change one of its measures.

        Each measure of the line is the mean of the column with the same name in the table of the result. The first
        measure is the main measure of the line.
        """
        table = self.result.table
        totals = dict(zip(table.columns, table.sums()))
        scores = {measure: self.result.scores[measure] for measure in row.measures}
        main_scores = self._main_scores(row.measures[0], scores)
        return EvidenceGroup(
            group=row.name,
            units=len(table.ids),
            counts={measure: totals[measure] for measure in row.measures},
            precision=main_scores.precision,
            recall=main_scores.recall,
            f1=main_scores.f1,
            scores=scores,
            mistakes=sum([_changes_a_measure(cost, row) for cost in costs]),
            share=None,
        )

    def _main_scores(self, measure: str, scores: Mapping[str, float]) -> _MainScores:
        """Return precision, recall and F1 from the report line that contains a measure.

        All three are None for a line with a single measure. `scores` has the scores by measure.
        """
        row = next(row for row in self.mode.rows if measure in row.measures)
        if len(row.measures) == 1:
            return _MainScores(None, None, None)
        measure_by_heading = dict(zip(self.mode.headings, row.measures))
        score_by_heading = {heading: scores[name] for heading, name in measure_by_heading.items()}
        # The heading for precision depends on the task.
        precision = score_by_heading.get("prec", score_by_heading.get("precision"))
        return _MainScores(precision, score_by_heading.get("recall"), score_by_heading.get("f1"))

    def confusions(self) -> tuple[ConfusionCount, ...]:
        """Return how often each label of gold was predicted as each other label, the most frequent pairs first.

        Labels of abstracts, claims ... are counted and listed separately.
        """
        counts: Counter[tuple[str, str, str]] = Counter()
        for unit in self.result.units:
            counts.update(self.mode.confusions(unit))
        nouns = list(dict.fromkeys([noun for noun, _, _ in counts]))
        confusions = [ConfusionCount(*confusion, count) for confusion, count in counts.items()]
        confusions.sort(key=lambda row: (nouns.index(row.of), -row.count, row.gold, row.predicted))
        return tuple(confusions)

    # ---- Other scores of the same files

    def scenarios(self) -> tuple[EvidenceScenario, ...] | UnsetType:
        """Return the scores under the task's scenarios for answers without judgment; UNSET if there are none."""
        rows = []
        for name, assumption, units in self.mode.scenarios(self.result.units):
            scores = self._scores_of_units(units)
            rows.append(EvidenceScenario(name, assumption, scores[self.measure], scores))
        return tuple(rows) or UNSET

    def policies(self, policies: Iterable[str]) -> tuple[PolicyScores, ...] | UnsetType:
        """Return the scores under other policies; UNSET if none are named. Raises UsageError for an unknown policy."""
        rows = [self._scores_under_policy(text) for text in policies]
        return tuple(rows) or UNSET

    def _scores_under_policy(self, text: str) -> PolicyScores:
        """Return the scores under a policy, written as for `--policy`; without scores a reason why there are none.

        Raises UsageError for an unknown policy.
        """
        policy, units = self.mode.units_under_policy(text, self.result.units)
        try:
            scores = self._scores_of_units(units)
        except InputError as error:
            return PolicyScores(policy=policy, score=None, difference=None, scores={}, reason=str(error))
        score = scores[self.measure]
        difference = score - self.result.scores[self.measure]
        return PolicyScores(policy=policy, score=score, difference=difference, scores=scores)

    def _scores_of_units(self, units: Sequence[Unit]) -> dict[str, float]:
        """Return the scores by measure if the result had these units. Raises InputError if they cannot be scored."""
        rows = self.mode.rows_of(units, iter)
        return self.mode.scores(replace(self.result.table, rows=rows).sums())

    # ---- Explanations

    def explanations(self, costs: Sequence[MistakeCost], *, with_others: bool) -> EvidenceExplanations:
        """Return explanations in words of how units were scored, for at most `MOST_UNITS` units.

        These are the units with the mistakes of `costs`. If `with_others`, all other units are explained as well.
        """
        steps = []
        texts = []
        for text_number, position in enumerate(self._positions_to_explain(costs, with_others=with_others)):
            unit_name = self.names[position]
            steps.append(UnitSteps(unit=unit_name.id, occurrence=unit_name.occurrence, steps=(text_number,)))
            texts.append(self._explanation_of_unit(position))
        return EvidenceExplanations(left_out=len(self.names) - len(steps), units=tuple(steps), texts=tuple(texts))

    def _positions_to_explain(self, costs: Iterable[MistakeCost], *, with_others: bool) -> list[int]:
        """Return the sorted positions of at most `MOST_UNITS` units with mistakes, and of others if `with_others`.

        Units with mistakes are preferred, and among them the units with the costliest mistakes.
        """
        positions = [cost.position for cost in costs]  # the costs begin with the largest gain
        if with_others:
            positions += range(len(self.names))
        distinct_positions = list(dict.fromkeys(positions))
        return sorted(distinct_positions[:MOST_UNITS])

    def _explanation_of_unit(self, position: int) -> str:
        """Return the lines that explain how the unit at a position was scored, as one text that is safe to print."""
        return "\n".join([one_line(line) for line in self.result.explain_unit_at(position)])

    def explain_units(self, positions: Sequence[int]) -> tuple[ExplainedUnit, ...]:
        """Return explanations of how the units at these positions were scored, with their mistakes and their costs."""
        costs_by_position = self._costs_by_position(frozenset(positions))
        return tuple([self._explained_unit(position, costs_by_position.get(position, ())) for position in positions])

    def _costs_by_position(self, positions: frozenset[int]) -> dict[int, list[MistakeCost]]:
        """Return the costs of the mistakes of units by the position of the unit, for the units at these positions.

        Units that share their prediction with one of them are also in the result.
        """
        entries = [entry for entry in self.entries if not positions.isdisjoint(entry.positions)]
        costs_by_position: dict[int, list[MistakeCost]] = defaultdict(list)
        for cost in self.costs(entries):
            for position in cost.entry.positions:
                costs_by_position[position].append(cost)
        return costs_by_position

    def _explained_unit(self, position: int, costs: Sequence[MistakeCost]) -> ExplainedUnit:
        """Return the explanation of how the unit at a position was scored; `costs` are the costs of its mistakes."""
        unit_name = self.names[position]  # its id, and its number among the units with this id
        row = self.result.table.rows[position]
        return ExplainedUnit(
            unit=unit_name.id,
            occurrence=unit_name.occurrence,
            lines=tuple(self.result.explain_unit_at(position)),
            statistics=dict(zip(self.result.table.columns, row)),
            scores=self.mode.scores(row),
            prediction=self.mode.prediction_to_json(self.result.units[position].prediction),
            mistakes=tuple([self.mistake(cost) for cost in costs]),
        )

    # ---- For comparisons

    def score(self, keys: Iterable[UnitKey]) -> float:
        """Return the examined score over the units with these keys; units that were not scored are left out."""
        row_of_zeros = (0.0,) * len(self.mode.columns)  # a unit that was not scored adds nothing to the sums
        rows = [self.row_by_key.get(key, row_of_zeros) for key in keys]
        sums = [math.fsum(column) for column in zip(*rows)]
        [score] = self.formula(sums, divide)  # the formula has one measure
        return float(score)

    def ratio(self, key: UnitKey) -> Ratio | None:
        """Return the examined score of a unit as a ratio, or None if the unit was not scored."""
        if key not in self.row_by_key:
            return None
        # A formula takes a division function as its second argument and returns a list with a score for each measure,
        # here a single one. With `Ratio`, it returns numerator and denominator instead of dividing them.
        ratio: Ratio
        [ratio] = self.formula(self.row_by_key[key], Ratio)
        return ratio

    def parts(self, key: UnitKey) -> dict[tuple[str, str, int], Part]:
        """Return the parts of a unit, such as its label and its sentences, by a key for comparing two results.

        The key of a part is the same in both results: its noun, its value as JSON, and its number among equal parts,
        from 1. A unit that was not scored has no parts.
        """
        if key not in self.unit_by_key:
            return {}
        part_by_key: dict[tuple[str, str, int], Part] = {}
        occurrences: Counter[tuple[str, str]] = Counter()
        for part in self.mode.parts(self.unit_by_key[key], self.measure):
            value_text = json.dumps(part.value, sort_keys=True)
            occurrences[part.noun, value_text] += 1
            occurrence = occurrences[part.noun, value_text]
            part_by_key[part.noun, value_text, occurrence] = part
        return part_by_key


def _names_by_key(units: Iterable[Unit]) -> dict[UnitKey, UnitName]:
    """Return the names of units by the keys of the units.

    The second unit with the id 7 has the name `UnitName(7, 2)`.
    """
    name_by_key: dict[UnitKey, UnitName] = {}
    occurrences: Counter[Hashable] = Counter()
    for unit in units:
        id_key = as_key(unit.id)
        occurrences[id_key] += 1
        name_by_key[id_key, occurrences[id_key]] = UnitName(unit.id, occurrences[id_key])
    return name_by_key


class _MainScores(NamedTuple):
    """Precision, recall and F1 in a line of the report; a value is None if the line does not have it."""

    precision: float | None
    recall: float | None
    f1: float | None


class _CorrectedRows(NamedTuple):
    """The rows of all units without the faults of a kind, and without the faults of this and all earlier kinds."""

    without_kind: list[Row]
    without_kinds_so_far: list[Row]


class _CorrectedEntry(NamedTuple):
    """An entry without faults of a kind, and the entry without faults of this kind and of all kinds before it."""

    kind: str
    without_kind: Entry
    without_kinds_so_far: Entry


def _corrected_entries(entry: Entry, kinds: Iterable[str]) -> Iterator[_CorrectedEntry]:
    """Yield two corrected versions of an entry for each kind of fault, in the order of the kinds.

    In the first version, only the faults of this kind are corrected. In the second version, the faults of this kind and
    of all earlier kinds are corrected.
    """
    without_kinds_so_far = entry
    for kind in kinds:
        without_kind = entry.without_kind(kind)
        # As long as nothing has been corrected, scoring the correction again would have the same result.
        is_first_correction = without_kinds_so_far is entry
        without_kinds_so_far = without_kind if is_first_correction else without_kinds_so_far.without_kind(kind)
        yield _CorrectedEntry(kind, without_kind, without_kinds_so_far)


def _sums_with_other_rows(sums: Sequence[float], rows: Iterable[Row], new_rows: Iterable[Row]) -> Sequence[float]:
    """Return the sums of a table of units after some of its rows were replaced by new ones, in the same order."""
    new_sums = sums
    for row, new_row in zip(rows, new_rows):
        new_sums = tuple([total + (after - before) for total, before, after in zip(new_sums, row, new_row)])
    return new_sums


def _changes_a_measure(cost: MistakeCost, row: ReportRow) -> bool:
    """Return whether the correction of a fault changes one of the measures in a line of the report."""
    return any(cost.effects[measure] for measure in row.measures)


def _replace_rows(rows: list[Row], entry: Entry) -> None:
    """Put the rows of an entry into a list of the rows of all units, at the positions of the units of the entry."""
    for position, row in zip(entry.positions, entry.rows):
        rows[position] = row


def _count_mistakes(costs: Iterable[MistakeCost], positions_by_group: Mapping[str, Sequence[int]]) -> Counter[str]:
    """Return the number of mistakes in each group of a dimension.

    A mistake is in the group of the first unit of its entry. `positions_by_group` has the positions of the units.
    """
    group_by_position = {}
    for name, positions in positions_by_group.items():
        for position in positions:
            group_by_position[position] = name
    return Counter([group_by_position[cost.position] for cost in costs])


def _cost_order(cost: MistakeCost) -> tuple[bool, float, int]:
    """Return a sort key: known gains come first, from largest to smallest; equal gains are sorted by unit position."""
    return cost.gain is None, -(cost.gain or 0.0), cost.position


class CostedMistakes(Sequence[EvidenceMistake]):
    """A sequence of the mistakes of a run that makes each mistake only when it is accessed.

    A mistake has the whole corrected prediction of its unit. If all mistakes of a unit were in memory together, they
    would take memory in proportion to the square of their number.
    """

    def __init__(self, examination: Examination, costs: Sequence[MistakeCost]) -> None:
        self._examination = examination
        self._costs = costs

    def __len__(self) -> int:
        return len(self._costs)

    @overload
    def __getitem__(self, index: int) -> EvidenceMistake: ...

    @overload
    def __getitem__(self, index: slice) -> CostedMistakes: ...

    def __getitem__(self, index: int | slice) -> EvidenceMistake | CostedMistakes:
        """Return the mistake at an index, or the mistakes of a slice."""
        if isinstance(index, slice):
            return CostedMistakes(self._examination, self._costs[index])
        return self._examination.mistake(self._costs[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(len(self._costs))

    def __reduce__(self) -> tuple[type[tuple[EvidenceMistake, ...]], tuple[list[EvidenceMistake]]]:
        """Return what pickles the mistakes: they are pickled as a tuple of all of them."""
        return tuple, (list(self),)
