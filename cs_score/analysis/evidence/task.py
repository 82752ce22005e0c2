"""The tasks of evidence: gold and predictions, units that are scored one by one, and what their mistakes cost.

A change replaces one unit's prediction and nothing else, so that its effect is found by scoring that unit again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.evidence.difference import diff
from cs_score.analysis.evidence.documents import (
    Analysis,
    BudgetRow,
    ConfusionCount,
    Difference,
    ExplainedUnit,
    Explanation,
    Explanations,
    Group,
    Mistake,
    UnitSteps,
    layouts_of,
    text_of_document,
)
from cs_score.analysis.outcomes import members_of
from cs_score.base.display import one_line
from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_collector
from cs_score.evidence.result import Mode, Result, scores_of
from cs_score.measures.registry import divide, find, usual
from cs_score.statistics.options import Resampling
from cs_score.tables.layout import TOP, Layout, Table
from cs_score.tasks.task import Confusion, Examiner, Fault, Progress, Row, Statistics

if TYPE_CHECKING:  # it brings numpy
    from cs_score.statistics.arithmetic import ColumnMeasures

AnyExaminer: TypeAlias = Examiner[Any]


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
    """Costs as documents list them; `names` as `Examiner.numbered` gives them."""
    found = []
    for unit, fault, gain, effects, reason in costs:
        about = *names[unit.positions[0]], fault.part, fault.predicted, fault.gold
        found.append(Mistake(fault.kind, *about, gain, effects, unit.corrected([fault]), reason))
    return tuple(found)


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

    found: defaultdict[str, list[Group]] = defaultdict(list)
    for dimension, members in members_of([examiner.groups(each) for each in range(len(table.ids))]).items():
        group_of = {position: name for name, positions in members.items() for position in positions}
        often = Counter(group_of[cost.position] for cost in costs)
        for name, positions in members.items():
            part = replace(table, rows=[table.rows[each] for each in positions])
            counts = dict(zip(table.columns, part.sums()))
            of_group = group(name, len(positions), counts, scores_of(mode, part), examiner.measure, often[name])
            found[dimension].append(of_group)
    totals = dict(zip(table.columns, table.sums()))
    for row in mode.rows if set(mode.measures) <= totals.keys() else ():
        # A line of the report has the mistakes that one of its measures feels.
        felt = sum(any(cost.effects[name] for name in row.measures) for cost in costs)
        counts, scores = ({name: of_all[name] for name in row.measures} for of_all in (totals, result.scores))
        found[ASPECT].append(group(row.name, len(table.ids), counts, scores, row.measures[0], felt))
    return {dimension: tuple(groups) for dimension, groups in found.items()}


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
) -> tuple[ExplainedUnit, ...]:
    """How the units at these positions were scored, and what their mistakes cost."""
    result, wanted = examiner.result, frozenset(positions)
    costs: defaultdict[int, list[Cost]] = defaultdict(list)
    for cost in costs_of(examiner, (each for each in units_of(examiner) if not wanted.isdisjoint(each.positions))):
        for position in cost.unit.positions:
            costs[position].append(cost)
    return tuple(
        ExplainedUnit(
            *names[position],
            lines=tuple(result.explained(position)),
            statistics=dict(zip(result.table.columns, result.table.rows[position])),
            scores=dict(zip(result.mode.measures, result.mode.formula(result.table.rows[position], divide))),
            prediction=examiner.written(position),
            mistakes=mistakes_of(costs[position], names),
        )
        for position in positions
    )


# ---- The task

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
        names, units = examiner.numbered(), units_of(examiner)
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
        names = examiner.numbered()
        positions = [position for unit in units for position in result.positions_of(unit)]
        costs = [] if units else costs_of(examiner, progress(units_of(examiner)))
        return Explanation(
            **_head(examiner),
            units=explained_units(examiner, names, positions) if units else (),
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
