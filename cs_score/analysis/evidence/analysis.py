"""What mistakes cost: units with their faults, the effect of each, the error budget, groups, confusions, explanations.

A change replaces one unit's prediction and nothing else, so that its effect is found by scoring that unit again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.evidence.documents import (
    BudgetRow,
    ConfusionCount,
    ExplainedUnit,
    Explanations,
    Group,
    Mistake,
    UnitSteps,
)
from cs_score.analysis.outcomes import UNKNOWN, place
from cs_score.base.display import one_line
from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.evidence.reading import as_key
from cs_score.evidence.result import scores_of
from cs_score.measures.registry import divide
from cs_score.tasks.task import Confusion, Examiner, Fault, Row

AnyExaminer: TypeAlias = Examiner[Any]


def numbered_units(examiner: AnyExaminer) -> list[tuple[Any, int]]:
    """The id of the unit at each position, and which of those with the id it is, from 1."""
    seen: Counter[Hashable] = Counter()
    found = []
    for position in range(len(examiner.result.table.ids)):
        unit = examiner.unit(position)
        key = as_key(unit)
        seen[key] += 1
        found.append((unit, seen[key]))
    return found


class Unit:
    """A prediction as it is or as it would be, and the rows of the units of gold that it serves."""

    def __init__(
        self, examiner: AnyExaminer, positions: tuple[int, ...], prediction: Any, rows: tuple[Row, ...]
    ) -> None:
        self.examiner, self.positions, self.prediction, self.rows = examiner, positions, prediction, rows

    @cached_property
    def faults(self) -> Sequence[Fault]:
        return self.examiner.faults(self.positions[0], self.prediction)

    def corrected(self, faults: Sequence[Fault]) -> Any:
        """The prediction without these faults."""
        return self.examiner.corrected(self.positions[0], self.prediction, faults)

    def without(self, faults: Sequence[Fault]) -> Unit:
        """The unit without these faults. Raises InputError where the scorer would refuse that prediction."""
        prediction = self.corrected(faults)
        rows = tuple(self.examiner.row(each, prediction) for each in self.positions)
        return Unit(self.examiner, self.positions, prediction, rows)

    def without_kind(self, kind: str) -> Unit:
        """The unit without its faults of one kind, as far as the scorer accepts that prediction."""
        faults = [fault for fault in self.faults if fault.kind == kind]
        try:
            return self.without(faults) if faults else self
        except InputError:  # the scorer refuses a part for what is wrong in it, whatever the others are
            left = [fault for fault in faults if self._can_lose(fault)]
            return self.without(left) if left else self

    def _can_lose(self, fault: Fault) -> bool:
        try:
            self.without([fault])
        except InputError:
            return False
        return True


def units_of(examiner: AnyExaminer) -> list[Unit]:
    """The units as they were predicted."""
    rows = examiner.result.table.rows
    return [
        Unit(examiner, positions, examiner.written(positions[0]), tuple(rows[each] for each in positions))
        for positions in examiner.together()
    ]


class Cost(NamedTuple):
    """A fault of a unit with its effects; of those with the unknown effect `reason` says why."""

    unit: Unit
    fault: Fault
    gain: float | None
    effects: dict[str, float | None]
    reason: str | UnsetType

    @property
    def position(self) -> int:
        """That of the first unit of gold that the prediction serves."""
        return self.unit.positions[0]


def costs_of(examiner: AnyExaminer, units: Iterable[Unit]) -> list[Cost]:
    """All faults, the largest gain first, equal ones in the order of gold; last those whose effect is unknown.

    The effect of a fault is the measure of predictions in which the unit alone is replaced, minus the measure as it is.
    """
    result = examiner.result
    sums, measures = result.table.sums(), result.mode.measures
    now = result.mode.formula(sums, divide)
    found = []
    for unit in units:
        for fault in unit.faults:
            try:
                rows = unit.without([fault]).rows
            except InputError as error:
                found.append(Cost(unit, fault, None, dict.fromkeys(measures), str(error)))
                continue
            after = sums
            for old, new in zip(unit.rows, rows):
                after = tuple([total + (then - before) for total, before, then in zip(after, old, new)])
            then = result.mode.formula(after, divide)
            effects = {name: new - old for name, new, old in zip(measures, then, now)}
            found.append(Cost(unit, fault, effects[examiner.measure], effects, UNSET))
    return sorted(found, key=lambda cost: (cost.gain is None, -(cost.gain or 0.0), cost.position))


def mistakes_of(costs: Iterable[Cost], names: Sequence[tuple[Any, int]]) -> tuple[Mistake, ...]:
    """Costs as documents list them; `names` as `numbered_units` gives them."""
    return tuple(
        Mistake(
            fault.kind,
            *names[unit.positions[0]],
            fault.part,
            fault.predicted,
            fault.gold,
            gain,
            effects,
            unit.corrected([fault]),
            reason,
        )
        for unit, fault, gain, effects, reason in costs
    )


def error_budget(examiner: AnyExaminer, units: Iterable[Unit]) -> tuple[BudgetRow, ...]:
    """The budget in the order of the kinds. A mistake that the scorer would not let be corrected stays."""
    result = examiner.result
    alone = {kind: list(result.table.rows) for kind in examiner.kinds}
    cumulated = {kind: list(result.table.rows) for kind in examiner.kinds}
    counts: Counter[str] = Counter()
    for unit in units:
        counts.update(fault.kind for fault in unit.faults)
        after_all = unit
        for kind in examiner.kinds:
            one = unit.without_kind(kind)
            after_all = one if after_all is unit else after_all.without_kind(kind)
            for rows, after in ((alone[kind], one), (cumulated[kind], after_all)):
                for position, row in zip(unit.positions, after.rows):
                    rows[position] = row

    def score(rows: Sequence[Row]) -> float:
        return scores_of(result.mode, replace(result.table, rows=rows))[examiner.measure]

    now = result.scores[examiner.measure]
    scores = {kind: score(rows) for kind, rows in alone.items()}
    return tuple(
        BudgetRow(kind, counts[kind], then - now, then, score(cumulated[kind])) for kind, then in scores.items()
    )


# ---- Groups and confusions

ASPECT: Final = "aspect"
"""The dimension whose groups are parts of every unit's score, not units; in modes whose measures are means."""


def members_of(of_units: Sequence[Mapping[str, str]]) -> dict[str, dict[str, list[int]]]:
    """The positions of the units in each group of each dimension, the groups in order (numbers by value).

    `of_units` has the groups of each unit.
    """
    members: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for dimension in dict.fromkeys(name for groups in of_units for name in groups):
        for position, groups in enumerate(of_units):
            members[dimension][groups.get(dimension, UNKNOWN)].append(position)
    return {name: {group: groups[group] for group in sorted(groups, key=place)} for name, groups in members.items()}


def groups_of(examiner: AnyExaminer, costs: Sequence[Cost]) -> dict[str, tuple[Group, ...]]:
    """The groups of each dimension. Each unit is in one group of a dimension, so that their totals are the table's."""
    result, mode, table = examiner.result, examiner.result.mode, examiner.result.table

    def group(
        name: str, units: int, counts: dict[str, float], scores: dict[str, float], measure: str, mistakes: int
    ) -> Group:
        row = next(row for row in mode.rows if measure in row.measures)
        family = dict(zip(mode.headings, (scores[each] for each in row.measures))) if len(row.measures) > 1 else {}
        precision = family.get("precision", family.get("prec"))
        shown = (precision, family.get("recall"), family.get("f1"))
        return Group(name, units, counts, *shown, scores, mistakes, divide(mistakes, len(costs)))

    found: dict[str, tuple[Group, ...]] = {}
    for dimension, members in members_of([examiner.groups(each) for each in range(len(table.ids))]).items():
        group_of = {position: name for name, positions in members.items() for position in positions}
        often = Counter(group_of[cost.position] for cost in costs)
        parts = {name: replace(table, rows=[table.rows[each] for each in places]) for name, places in members.items()}
        found[dimension] = tuple(
            group(
                name,
                len(part.rows),
                dict(zip(table.columns, part.sums())),
                scores_of(mode, part),
                examiner.measure,
                often[name],
            )
            for name, part in parts.items()
        )
    totals = dict(zip(table.columns, table.sums()))
    if set(mode.measures) <= totals.keys():  # each line of the report with the mistakes that one of its measures feels
        found[ASPECT] = tuple(
            group(
                row.name,
                len(table.ids),
                {name: totals[name] for name in row.measures},
                {name: result.scores[name] for name in row.measures},
                row.measures[0],
                sum(any(cost.effects[name] for name in row.measures) for cost in costs),
            )
            for row in mode.rows
        )
    return found


def counted_confusions(confusions: Iterable[Confusion]) -> tuple[ConfusionCount, ...]:
    """Confusions with their numbers, those of one kind together, the most frequent first."""
    often = Counter(confusions)
    kinds = list(dict.fromkeys(confusion.of for confusion in often))
    found = [ConfusionCount(each.of, each.gold, each.predicted, count) for each, count in often.items()]
    return tuple(sorted(found, key=lambda each: (kinds.index(each.of), -each.count, each.gold, each.predicted)))


# ---- How units were scored

MOST_UNITS: Final = 20_000
"""Units of one run that are explained."""


def explanations_of(
    examiner: AnyExaminer, names: Sequence[tuple[Any, int]], costs: Sequence[Cost], *, with_others: bool
) -> Explanations:
    """How units were scored, at most `MOST_UNITS`: those of the costs first, and without costs `with_others`."""
    wanted = dict.fromkeys((*(cost.position for cost in costs), *(range(len(names)) if with_others else ())))
    chosen = sorted([*wanted][:MOST_UNITS])
    return Explanations(
        len(names) - len(chosen),
        tuple(UnitSteps(names[position][0], names[position][1], (number,)) for number, position in enumerate(chosen)),
        tuple("\n".join(map(one_line, examiner.result.explained(position))) for position in chosen),
    )


def explained_units(
    examiner: AnyExaminer, names: Sequence[tuple[Any, int]], positions: Sequence[int]
) -> list[ExplainedUnit]:
    """How the units at these positions were scored, and what their mistakes cost."""
    result = examiner.result
    costs = costs_of(examiner, [unit for unit in units_of(examiner) if not {*unit.positions}.isdisjoint(positions)])
    return [
        ExplainedUnit(
            *names[position],
            lines=tuple(result.explained(position)),
            statistics=dict(zip(result.table.columns, result.table.rows[position])),
            scores=dict(zip(result.mode.measures, result.mode.formula(result.table.rows[position], divide))),
            prediction=examiner.written(position),
            mistakes=mistakes_of((cost for cost in costs if position in cost.unit.positions), names),
        )
        for position in positions
    ]
