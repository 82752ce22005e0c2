"""What is wrong in a result: mistakes with what correcting each would bring, the error budget, groups, confusions."""

from __future__ import annotations

import importlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from cs_score.analysis.evidence.examiner import (
    AnyExaminer,
    Confusion,
    Correction,
    Examiner,
    Fault,
    Row,
    Unit,
    correction_of_kind,
    numbered_units,
    rows_without_each,
    scores_with,
)
from cs_score.analysis.outcomes import UNKNOWN, place
from cs_score.base.errors import InputError, UsageError
from cs_score.base.nearest import nearest
from cs_score.base.records import Record, replace
from cs_score.evidence.result import Mode, Result, scores_of
from cs_score.measures.formulas import divide
from cs_score.measures.registry import find, names, usual


def measure_of(mode: str, wanted: str | None = None) -> str:
    """The measure of a mode that is meant: that which ranks leaderboards unless one is named, in any letter case.

    Raises UsageError for a measure that the mode lacks.
    """
    if wanted is None:
        return str(usual(mode))
    known = names(mode)
    found = find(wanted, known)
    if found not in known:
        raise UsageError(f"no measure called {wanted}; there are {', '.join(known)}{nearest(wanted, known)}")
    return str(found)


def examiner_of(result: Result, measure: str | None = None) -> Examiner[Any]:
    """What examines a result. Raises UsageError as `measure_of`."""
    mode = result.mode.name
    made: Examiner[Any] = importlib.import_module(f"cs_score.analysis.evidence.{mode}").EXAMINER(
        result, measure_of(mode, measure)
    )
    return made


class Mistake(Record):
    """One fault of a prediction, and what it costs.

    `unit` is the id of the claim, instance or question as it stands in gold, `occurrence` which of those with the id it
    is (from 1). `effects` has the difference that correcting it makes to each measure, None where the scorer would
    refuse that prediction, and `reason` says why; `gain` is the effect on the measure that was asked about. `corrected`
    makes the prediction when it is asked for, for it takes memory in proportion to its unit.
    """

    unit: object
    occurrence: int
    position: int
    fault: Fault
    gain: float | None
    effects: Mapping[str, float | None]
    reason: str | None
    corrected: Callable[[], object]

    @property
    def prediction(self) -> object:
        """The unit's new value in the predictions file (JSON); None: the unit is left out."""
        return self.corrected()

    def as_json(self) -> dict[str, object]:
        """The mistake as a JSON object."""
        return {
            "kind": self.fault.kind,
            "unit": self.unit,
            "occurrence": self.occurrence,
            "part": self.fault.part,
            "predicted": self.fault.predicted,
            "gold": self.fault.gold,
            "gain": self.gain,
            "effects": dict(self.effects),
            **({} if self.reason is None else {"reason": self.reason}),
            "prediction": self.prediction,
        }


def mistakes_of(examiner: AnyExaminer, units: Iterable[Unit]) -> list[Mistake]:
    """All mistakes, the largest gain first, equal ones in the order of gold; last those whose effect is unknown.

    The effect of a mistake is the measure of predictions in which the unit alone is replaced by `prediction`, minus the
    measure as it is (specification, section 8).
    """
    sums = examiner.result.table.sums()
    now = examiner.result.mode.formula(sums, divide)
    names = numbered_units(examiner)
    found = [mistake for unit in units for mistake in _of_unit(examiner, unit, names[unit.positions[0]], sums, now)]
    return sorted(found, key=lambda mistake: (mistake.gain is None, -(mistake.gain or 0.0), mistake.position))


def _of_unit(
    examiner: AnyExaminer, unit: Unit, name: tuple[object, int], sums: tuple[float, ...], now: Sequence[float]
) -> Iterator[Mistake]:
    measures = examiner.result.mode.measures
    position = unit.positions[0]
    for fault, rows in zip(unit.faults, rows_without_each(examiner, unit, unit.faults)):
        effects: dict[str, float | None] = dict.fromkeys(measures)
        reason = None
        if isinstance(rows, InputError):
            reason = str(rows)
        else:
            then = scores_with(examiner.result, sums, unit.rows, rows)
            effects = {name: new - old for name, new, old in zip(measures, then, now)}
        yield Mistake(
            *name,
            position,
            fault,
            effects[examiner.measure],
            effects,
            reason,
            partial(examiner.corrected, position, unit.prediction, [fault]),
        )


class BudgetRow(Record):
    """A kind of mistakes: how many there are, the score if they and no others were corrected, and what that gains.

    `cumulated` is the score if they and those of all kinds before were corrected, one kind after the other: what that
    uncovers is corrected with its own kind.
    """

    kind: str
    count: int
    gain: float
    score: float
    cumulated: float


def error_budget(examiner: AnyExaminer, units: Iterable[Unit]) -> list[BudgetRow]:
    """The budget in the order of the mode's kinds. A mistake that the scorer would not let be corrected stays.

    The score as it is plus the `gain` is the `score`; the last row's `cumulated` is that of the fully corrected run.
    """
    as_it_is = examiner.result.table.rows
    alone = {kind: list(as_it_is) for kind in examiner.kinds}
    cumulated = {kind: list(as_it_is) for kind in examiner.kinds}
    counts: Counter[str] = Counter()
    for unit in units:
        counts.update(fault.kind for fault in unit.faults)
        corrected = unit
        for kind in examiner.kinds:
            correction = correction_of_kind(examiner, unit, kind)
            _enter(alone[kind], unit, correction)
            if corrected is not unit:
                correction = correction_of_kind(examiner, corrected, kind)
            _enter(cumulated[kind], unit, correction)
            corrected = correction.of(examiner, corrected)
    now = examiner.result.scores[examiner.measure]
    scores = {kind: _score(examiner, alone[kind]) for kind in examiner.kinds}
    return [
        BudgetRow(kind, counts[kind], score - now, score, _score(examiner, cumulated[kind]))
        for kind, score in scores.items()
    ]


def _enter(rows: list[Row], unit: Unit, correction: Correction) -> None:
    for position, row in zip(unit.positions, correction.rows):
        rows[position] = row


def _score(examiner: AnyExaminer, rows: Sequence[Row]) -> float:
    """The measure that is asked about, of these rows."""
    return scores_of(examiner.result.mode, replace(examiner.result.table, rows=rows))[examiner.measure]


ASPECT: Final = "aspect"
"""The dimension whose groups are parts of every unit's score, not units; in modes whose measures are means."""


class Group(Record):
    """Units that have something in common: the totals of their statistics, their scores, their mistakes.

    `precision`, `recall` and `f1` are those that belong to the measure that was asked about, None where it has none.
    `share` is that of all mistakes, 0..1. `units` is the number of units.
    """

    group: str
    units: int
    counts: Mapping[str, float]
    precision: float | None
    recall: float | None
    f1: float | None
    scores: Mapping[str, float]
    mistakes: int
    share: float


class ConfusionCount(Record):
    """How often a label of gold stands beside a predicted label."""

    of: str
    gold: str
    predicted: str
    count: int


def groups_of(examiner: AnyExaminer, mistakes: Sequence[Mistake]) -> dict[str, list[Group]]:
    """The groups of each dimension. Each unit is in one group of a dimension, so that their totals are the table's."""
    members = members_of([examiner.groups(position) for position in range(len(examiner.result.table.ids))])
    found = {}
    for dimension, groups in members.items():
        group_of = {position: name for name, positions in groups.items() for position in positions}
        often = Counter(group_of[mistake.position] for mistake in mistakes)
        found[dimension] = [
            _group(examiner, name, positions, often[name], len(mistakes)) for name, positions in groups.items()
        ]
    if aspects := _aspects(examiner, mistakes):
        found[ASPECT] = aspects
    return found


def members_of(of_units: Sequence[Mapping[str, str]]) -> dict[str, dict[str, list[int]]]:
    """The positions of the units in each group of each dimension, the groups in order (numbers by value).

    `of_units` has the groups of each unit.
    """
    members: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for dimension in dict.fromkeys(name for groups in of_units for name in groups):
        for position, groups in enumerate(of_units):
            members[dimension][groups.get(dimension, UNKNOWN)].append(position)
    return {name: {group: groups[group] for group in sorted(groups, key=place)} for name, groups in members.items()}


def counted_confusions(confusions: Iterable[Confusion]) -> list[ConfusionCount]:
    """Confusions with their numbers, those of one kind together, the most frequent first."""
    often = Counter(confusions)
    kinds = list(dict.fromkeys(confusion.of for confusion in often))
    found = [ConfusionCount(each.of, each.gold, each.predicted, count) for each, count in often.items()]
    return sorted(found, key=lambda each: (kinds.index(each.of), -each.count, each.gold, each.predicted))


def _group(examiner: AnyExaminer, name: str, positions: Sequence[int], mistakes: int, of: int) -> Group:
    table = examiner.result.table
    of_group = replace(table, rows=[table.rows[position] for position in positions])
    mode = examiner.result.mode
    scores = scores_of(mode, of_group)
    family = {part: scores[measure] for part, measure in family_of(mode, examiner.measure).items()}
    return Group(
        group=name,
        units=len(positions),
        counts=dict(zip(table.columns, of_group.sums())),
        scores=scores,
        precision=family.get("precision"),
        recall=family.get("recall"),
        f1=family.get("f1"),
        mistakes=mistakes,
        share=divide(mistakes, of),
    )


def family_of(mode: Mode, measure: str) -> dict[str, str]:
    """The measures called precision, recall and f1 in the line of the mode's report that a measure stands in."""
    row = next(row for row in mode.rows if measure in row.measures)
    if len(row.measures) == 1:
        return {}
    headings = {"prec": "precision"}
    return {headings.get(heading, heading): name for heading, name in zip(mode.headings, row.measures)}


def _aspects(examiner: AnyExaminer, mistakes: Sequence[Mistake]) -> list[Group]:
    """The lines of the report as groups, each with the mistakes whose effect on one of its measures is not 0."""
    result = examiner.result
    totals = dict(zip(result.table.columns, result.table.sums()))
    if not all(measure in totals for measure in result.mode.measures):
        return []
    groups = []
    for row in result.mode.rows:
        family = {part: result.scores[name] for part, name in family_of(result.mode, row.measures[0]).items()}
        concerned = sum(any(mistake.effects[measure] for measure in row.measures) for mistake in mistakes)
        groups.append(
            Group(
                group=row.name,
                units=len(result.table.ids),
                counts={measure: totals[measure] for measure in row.measures},
                scores={measure: result.scores[measure] for measure in row.measures},
                precision=family.get("precision"),
                recall=family.get("recall"),
                f1=family.get("f1"),
                mistakes=concerned,
                share=divide(concerned, len(mistakes)),
            )
        )
    return groups
