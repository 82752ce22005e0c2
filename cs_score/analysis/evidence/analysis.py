"""`analyze`: what each mistake costs, the error budget, groups, confusions; `explain`: the same of single units.

A change replaces one unit's prediction and nothing else, so that its effect is found by scoring that unit again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.evidence.documents import (
    Analysis,
    BudgetRow,
    ConfusionCount,
    ExplainedUnit,
    Explanation,
    Explanations,
    Group,
    Mistake,
    UnitSteps,
)
from cs_score.analysis.outcomes import UNKNOWN, place
from cs_score.base.display import one_line
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_collector
from cs_score.evidence.reading import as_key
from cs_score.evidence.result import Mode, scores_of
from cs_score.measures.registry import divide
from cs_score.tables.layout import TOP
from cs_score.tasks.task import Confusion, Examiner, Fault, Progress, Row

AnyExaminer: TypeAlias = Examiner[Any]


# ---- Units as they are, and without some of their faults


class Unit(Record):
    """A prediction as it is or as it would be, its faults, and the rows of the units of gold that it serves."""

    positions: tuple[int, ...]
    prediction: Any
    rows: tuple[Row, ...]
    faults: tuple[Fault, ...]


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


def unit_at(examiner: AnyExaminer, positions: tuple[int, ...]) -> Unit:
    """The unit at these positions, as it was predicted."""
    prediction = examiner.written(positions[0])
    rows = tuple(examiner.result.table.rows[each] for each in positions)
    return Unit(positions, prediction, rows, tuple(examiner.faults(positions[0], prediction)))


def without(examiner: AnyExaminer, unit: Unit, faults: Sequence[Fault]) -> Unit:
    """The unit without these faults; what is left or has come to light is not looked for.

    Raises InputError where the scorer would refuse that prediction.
    """
    prediction = examiner.corrected(unit.positions[0], unit.prediction, faults)
    return Unit(unit.positions, prediction, tuple(examiner.row(each, prediction) for each in unit.positions), ())


def rows_without(examiner: AnyExaminer, unit: Unit, fault: Fault) -> tuple[Row, ...] | InputError:
    """The rows of a unit without one of its faults; the error where the scorer would refuse that prediction."""
    try:
        return without(examiner, unit, [fault]).rows
    except InputError as error:
        return error


def without_kind(examiner: AnyExaminer, unit: Unit, kind: str) -> Unit:
    """The unit without its faults of one kind; those without which the scorer would refuse the prediction are left."""
    faults = [fault for fault in unit.faults if fault.kind == kind]
    if not faults:
        return unit
    try:
        return without(examiner, unit, faults)
    except InputError:  # the scorer refuses a part for what is wrong in it, whatever the others are
        left = [fault for fault in faults if not isinstance(rows_without(examiner, unit, fault), InputError)]
        return without(examiner, unit, left) if left else unit


# ---- Mistakes and the budget


class Cost(Record):
    """A fault of a unit with its effects, before it is listed: a list of predictions takes memory."""

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
            rows = rows_without(examiner, unit, fault)
            if isinstance(rows, InputError):
                found.append(Cost(unit, fault, None, dict.fromkeys(measures), str(rows)))
                continue
            after = sums
            for old, new in zip(unit.rows, rows):
                after = tuple([total + (then - before) for total, before, then in zip(after, old, new)])
            then = result.mode.formula(after, divide)
            effects = {name: new - old for name, new, old in zip(measures, then, now)}
            found.append(Cost(unit, fault, effects[examiner.measure], effects, UNSET))
    return sorted(found, key=lambda cost: (cost.gain is None, -(cost.gain or 0.0), cost.position))


def listed(examiner: AnyExaminer, costs: Iterable[Cost]) -> tuple[Mistake, ...]:
    names = numbered_units(examiner)

    def mistake(cost: Cost) -> Mistake:
        fault, prediction = cost.fault, examiner.corrected(cost.position, cost.unit.prediction, [cost.fault])
        return Mistake(
            fault.kind, *names[cost.position], fault.part, fault.predicted, fault.gold, cost.gain, cost.effects,
            prediction, cost.reason,
        )  # fmt: skip

    return tuple(map(mistake, costs))


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
            one = without_kind(examiner, unit, kind)
            corrected = one if after_all is unit else without_kind(examiner, after_all, kind)
            if corrected is not after_all:
                faults = examiner.faults(unit.positions[0], corrected.prediction)
                after_all = replace(corrected, faults=tuple(faults))
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
    result, measure = examiner.result, examiner.measure
    mode, table = result.mode, result.table
    found: dict[str, tuple[Group, ...]] = {}
    for dimension, members in members_of([examiner.groups(each) for each in range(len(table.ids))]).items():
        group_of = {position: name for name, positions in members.items() for position in positions}
        often = Counter(group_of[cost.position] for cost in costs)
        of_groups = []
        for name, positions in members.items():
            part = replace(table, rows=[table.rows[position] for position in positions])
            counts = dict(zip(table.columns, part.sums()))
            of_groups.append(_group(mode, name, measure, counts, scores_of(mode, part), (often[name], len(costs)),
                                    len(positions)))  # fmt: skip
        found[dimension] = tuple(of_groups)
    totals = dict(zip(table.columns, table.sums()))
    if set(mode.measures) <= totals.keys():  # each line of the report with the mistakes that one of its measures feels
        found[ASPECT] = tuple(
            _group(
                mode, row.name, row.measures[0], {name: totals[name] for name in row.measures},
                {name: result.scores[name] for name in row.measures},
                (sum(any(cost.effects[name] for name in row.measures) for cost in costs), len(costs)), len(table.ids),
            )
            for row in mode.rows
        )  # fmt: skip
    return found


def _group(
    mode: Mode, name: str, measure: str, counts: dict[str, float], scores: dict[str, float], often: tuple[int, int],
    units: int,
) -> Group:  # fmt: skip
    family = {part: scores[each] for part, each in family_of(mode, measure).items()}
    return Group(name, units, counts, family.get("precision"), family.get("recall"), family.get("f1"), scores,
                 often[0], divide(*often))  # fmt: skip


def family_of(mode: Mode, measure: str) -> dict[str, str]:
    """The measures called precision, recall and f1 in the line of the mode's report that a measure stands in."""
    row = next(row for row in mode.rows if measure in row.measures)
    if len(row.measures) == 1:
        return {}
    headings = {"prec": "precision"}
    return {headings.get(heading, heading): name for heading, name in zip(mode.headings, row.measures)}


def counted_confusions(confusions: Iterable[Confusion]) -> tuple[ConfusionCount, ...]:
    """Confusions with their numbers, those of one kind together, the most frequent first."""
    often = Counter(confusions)
    kinds = list(dict.fromkeys(confusion.of for confusion in often))
    found = [ConfusionCount(each.of, each.gold, each.predicted, count) for each, count in often.items()]
    return tuple(sorted(found, key=lambda each: (kinds.index(each.of), -each.count, each.gold, each.predicted)))


# ---- The whole


MOST_UNITS: Final = 20_000
"""Units of one run that are explained."""


def explanations_of(examiner: AnyExaminer, costs: Sequence[Cost], *, with_others: bool) -> Explanations:
    """How units were scored, at most `MOST_UNITS`: those of the costs first, and without costs `with_others`."""
    result = examiner.result
    positions = range(len(result.table.ids))
    wanted = dict.fromkeys((*(cost.position for cost in costs), *(positions if with_others else ())))
    chosen = set([*wanted][:MOST_UNITS])
    units = [(position, name) for position, name in enumerate(numbered_units(examiner)) if position in chosen]
    return Explanations(
        len(positions) - len(units),
        tuple(UnitSteps(*name, (number,)) for number, (_, name) in enumerate(units)),
        tuple("\n".join(map(one_line, result.explained(position))) for position, _ in units),
    )


def analyze(
    examiner: AnyExaminer, *, top: int | None = None, is_whole: bool = True, progress: Progress = iter
) -> Analysis:
    """Mistakes, error budget, groups and confusions of a result.

    With `is_whole` all mistakes unless `top`, and how units were scored; otherwise what a text shows.

    `progress` hands back the units twice, once for the budget and once for the mistakes.
    """
    result, measure = examiner.result, examiner.measure
    positions = range(len(result.table.ids))
    with paused_collector():
        units = [unit_at(examiner, each) for each in examiner.together()]
        budget = error_budget(examiner, progress(units))
        costs = costs_of(examiner, progress(units))
    origin = replace(result.origin, measure=measure)
    return Analysis(
        task=result.mode.name,
        measure=measure,
        signature=str(origin.signature),
        origin=origin,
        score=result.scores[measure],
        scores=dict(result.scores),
        units=len(positions),
        top=UNSET if top is None else top,
        mistakes=listed(examiner, costs[: top if is_whole else top or TOP]),
        budget=budget,
        groups=groups_of(examiner, costs),
        confusions=counted_confusions(each for position in positions for each in examiner.confusions(position)),
        explanations=explanations_of(examiner, costs[:top], with_others=top is None) if is_whole else UNSET,
    )


# ---- Single units

LARGEST_COSTS: Final = 3
"""Mistakes that are shown of a whole run."""


def explain(examiner: AnyExaminer, units: Sequence[str | int] = (), *, progress: Progress = iter) -> Explanation:
    """How units were scored and what their mistakes cost; without units the largest costs of the run.

    A unit is named by its id; where gold repeats it, all that are called so are explained. `progress` hands back all
    units where none is named. Raises InputError, with the nearest ids, where no unit is called so.
    """
    result, measure = examiner.result, examiner.measure
    explained = tuple(unit for name in units for unit in _explained(examiner, result.positions_of(name)))
    every = [] if units else [unit_at(examiner, each) for each in examiner.together()]
    origin = replace(result.origin, measure=measure)
    return Explanation(
        task=result.mode.name,
        measure=measure,
        signature=str(origin.signature),
        origin=origin,
        units=explained,
        mistakes=listed(examiner, costs_of(examiner, progress(every))[:LARGEST_COSTS]),
        score=result.scores[measure],
        scores=dict(result.scores),
        statistics=dict(zip(result.table.columns, result.table.sums())),
    )


def _explained(examiner: AnyExaminer, positions: Sequence[int]) -> list[ExplainedUnit]:
    result = examiner.result
    names, units = numbered_units(examiner), {}
    for together in examiner.together():
        if not {*together}.isdisjoint(positions):
            units.update(dict.fromkeys(together, unit_at(examiner, together)))
    costs = costs_of(examiner, {unit.positions: unit for unit in units.values()}.values())
    return [
        ExplainedUnit(
            *names[position],
            lines=tuple(result.explained(position)),
            statistics=dict(zip(result.table.columns, result.table.rows[position])),
            scores=dict(zip(result.mode.measures, result.mode.formula(result.table.rows[position], divide))),
            prediction=examiner.written(position),
            mistakes=listed(examiner, (cost for cost in costs if position in cost.unit.positions)),
        )
        for position in positions
    ]
