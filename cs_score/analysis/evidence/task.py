"""Why an evidence mode's score is what it is: what each mistake costs, the error budget, groups, two results compared.

A change replaces one prediction and nothing else: its effect is found by scoring the units anew that it is for.
"""

from __future__ import annotations

import json
import math
import operator
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias, overload

from msgspec import UNSET, UnsetType

from cs_score.analysis.evidence.documents import (
    Analysis,
    Answer,
    BudgetRow,
    ConfusionCount,
    Difference,
    ExplainedUnit,
    Explanation,
    Explanations,
    Group,
    GroupDifference,
    Judgment,
    Mistake,
    OutcomeCount,
    PolicyScores,
    Scenario,
    UnitDifference,
    UnitSteps,
    layouts_of,
    text_of_document,
)
from cs_score.analysis.outcomes import Outcome, Side, contributions_of, head_of, members_of, outcome_of
from cs_score.base.display import one_line
from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_collector
from cs_score.evidence.mode import Fault, Mode, Part, Progress, Result, Row, RowsWithout, Unit
from cs_score.evidence.reading import as_key
from cs_score.measures.registry import Ratio, SumsFormula, divide, find, usual
from cs_score.statistics.options import Resampling
from cs_score.tables.layout import TOP, Column, Layout, Table
from cs_score.tasks.task import Statistics

Key: TypeAlias = tuple[Hashable, int]
"""A unit by its id as it is compared, and which of those with the id it is, from 1."""

ASPECT: Final = "aspect"
"""The dimension whose groups are parts of every unit's score, not units; in modes whose measures are means."""

MOST_UNITS: Final = 20_000
"""Units of one run that are explained."""

LARGEST_COSTS: Final = 3
"""Mistakes that an explanation shows of a whole run."""


class Entry:
    """An entry of the predictions file, as it is or as it would be: the units that it is for, and their rows."""

    def __init__(self, at: Examination, positions: Sequence[int], unit: Unit, rows: Sequence[Row]) -> None:
        """`unit` is the first one."""
        self._at, self.positions, self.unit, self.rows = at, positions, unit, rows

    @cached_property
    def faults(self) -> Sequence[Fault]:
        return self._at.mode.faults(self.unit, self._at.measure)

    def corrected(self, faults: Sequence[Fault]) -> Any:
        """The prediction without these faults."""
        return self._at.mode.corrected(self.unit, faults)

    def without(self, faults: Sequence[Fault]) -> Entry:
        """The entry without these faults. Raises InputError where the scorer would refuse that prediction."""
        prediction, units = self._at.mode.reread(self.corrected(faults)), self._at.result.units
        rows = [self._at.mode.row(units[each]._replace(prediction=prediction)) for each in self.positions]
        return Entry(self._at, self.positions, self.unit._replace(prediction=prediction), rows)

    @cached_property
    def rows_without(self) -> RowsWithout:
        """The function from a fault to the rows without it. Raises InputError where the scorer would refuse that."""
        units = [self._at.result.units[each]._replace(prediction=self.unit.prediction) for each in self.positions]
        return self._at.mode.rows_without_each(units, self.rows)

    def without_kind(self, kind: str) -> Entry:
        """The entry without its faults of one kind, as far as the scorer accepts that prediction."""
        faults = [fault for fault in self.faults if fault.kind == kind]
        try:
            return self.without(faults) if faults else self
        except InputError:  # the scorer refuses a part for what is wrong in it, whatever the others are
            left = [fault for fault in faults if self._can_lose(fault)]
            return self.without(left) if left else self

    def _can_lose(self, fault: Fault) -> bool:
        try:
            self.rows_without(fault)
        except InputError:
            return False
        return True


class Cost(NamedTuple):
    """A fault of an entry with its effects; of those with the unknown effect `reason` says why."""

    entry: Entry
    fault: Fault
    gain: float | None
    effects: dict[str, float | None]
    reason: str | UnsetType

    @property
    def position(self) -> int:
        """That of the first unit of gold that the prediction serves."""
        return self.entry.positions[0]


class Examination:
    """A result looked at by one measure.

    `names` are the units by position: the id, and which of those with the id it is, from 1. What another result is held
    against has them by key.
    """

    def __init__(self, result: Result, measure: str) -> None:
        self.result, self.mode, self.measure = result, result.mode, measure
        self.formula = self.mode.formula_of([measure])
        seen: Counter[Hashable] = Counter()
        self.shown: dict[Key, tuple[Any, int]] = {}
        for unit in result.units:
            key = as_key(unit.id)
            seen[key] += 1
            self.shown[key, seen[key]] = unit.id, seen[key]
        self.names = list(self.shown.values())
        self.rows = dict(zip(self.shown, result.table.rows))
        self.units = dict(zip(self.shown, result.units))

    @cached_property
    def head(self) -> dict[str, Any]:
        """The fields that what is found begins with."""
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
        """The predictions as they are."""
        together: dict[Hashable, list[int]] = {}
        for position, unit in enumerate(self.result.units):
            together.setdefault(as_key(unit.id) if self.mode.shares_predictions else position, []).append(position)
        units, rows = self.result.units, self.result.table.rows
        return [Entry(self, served, units[served[0]], [rows[each] for each in served]) for served in together.values()]

    def costs(self, entries: Iterable[Entry], progress: Progress = iter) -> list[Cost]:
        """Return all faults, the largest gain first, equal ones in the order of gold; last those of unknown effect.

        An effect is the measure of predictions in which the entry alone is replaced, minus the measure as it is.
        `progress` hands the faults back, each with its entry.
        """
        sums = self.result.table.sums()
        now = self.mode.formula(sums, divide)
        faults = [(entry, fault) for entry in entries for fault in entry.faults]
        costs = [self._cost(entry, fault, sums, now) for entry, fault in progress(faults)]
        return sorted(costs, key=lambda cost: (cost.gain is None, -(cost.gain or 0.0), cost.position))

    def _cost(self, entry: Entry, fault: Fault, sums: Sequence[float], now: Sequence[float]) -> Cost:
        """Return the effects of correcting a fault; `sums` are those of the table, `now` the measures made of them."""
        try:
            rows = entry.rows_without(fault)
        except InputError as error:
            return Cost(entry, fault, None, dict.fromkeys(self.mode.measures), str(error))
        after = sums
        for old, new in zip(entry.rows, rows):
            after = tuple([total + (then - before) for total, before, then in zip(after, old, new)])
        changes = map(operator.sub, self.mode.formula(after, divide), now)
        effects: dict[str, float | None] = dict(zip(self.mode.measures, changes))
        return Cost(entry, fault, effects[self.measure], effects, UNSET)

    def mistake(self, cost: Cost) -> Mistake:
        """Return a cost as documents list it."""
        unit, occurrence = self.names[cost.position]
        return Mistake(
            kind=cost.fault.kind,
            unit=unit,
            occurrence=occurrence,
            part=cost.fault.part,
            predicted=cost.fault.predicted,
            gold=cost.fault.gold,
            gain=cost.gain,
            effects=cost.effects,
            prediction=cost.entry.corrected([cost.fault]),
            reason=cost.reason,
        )

    def budget(self, entries: Iterable[Entry]) -> tuple[BudgetRow, ...]:
        """The budget in the order of the kinds. A mistake that the scorer would not let be corrected stays."""
        table, kinds = self.result.table, self.mode.kinds
        alone = {kind: list(table.rows) for kind in kinds}
        cumulated = {kind: list(table.rows) for kind in kinds}
        counts: Counter[str] = Counter()
        for entry in entries:
            counts.update(fault.kind for fault in entry.faults)
            after_all = entry
            for kind in kinds:
                one = entry.without_kind(kind)
                after_all = one if after_all is entry else after_all.without_kind(kind)
                for rows, after in ((alone[kind], one), (cumulated[kind], after_all)):
                    for position, row in zip(entry.positions, after.rows):
                        rows[position] = row

        def score(rows: Sequence[Row]) -> float:
            return self.mode.scores(replace(table, rows=rows).sums())[self.measure]

        now = self.result.scores[self.measure]
        scores = {kind: score(rows) for kind, rows in alone.items()}
        return tuple(
            BudgetRow(kind, counts[kind], then - now, then, score(cumulated[kind])) for kind, then in scores.items()
        )

    def groups(self, costs: Sequence[Cost]) -> dict[str, tuple[Group, ...]]:
        """The groups of each dimension. Each unit is in one group of a dimension, whose totals are the table's."""
        mode, table = self.mode, self.result.table

        def group(
            name: str,
            units: int,
            counts: dict[str, float],
            scores: dict[str, float],
            measure: str,
            mistakes: int,
            is_aspect: bool = False,
        ) -> Group:
            row = next(row for row in mode.rows if measure in row.measures)
            family = dict(zip(mode.headings, (scores[each] for each in row.measures))) if len(row.measures) > 1 else {}
            shown = family.get("precision", family.get("prec")), family.get("recall"), family.get("f1")
            share = None if is_aspect else divide(mistakes, len(costs))
            return Group(name, units, counts, *shown, scores, mistakes, share)

        found: defaultdict[str, list[Group]] = defaultdict(list)
        for dimension, members in members_of(list(map(mode.groups, self.result.units))).items():
            group_of = {position: name for name, positions in members.items() for position in positions}
            often = Counter(group_of[cost.position] for cost in costs)
            for name, positions in members.items():
                sums = replace(table, rows=[table.rows[each] for each in positions]).sums()
                counts = dict(zip(table.columns, sums))
                of_group = group(name, len(positions), counts, mode.scores(sums), self.measure, often[name])
                found[dimension].append(of_group)
        totals = dict(zip(table.columns, table.sums()))
        for row in mode.rows if set(mode.measures) <= totals.keys() else ():
            # A line of the report has the mistakes that one of its measures feels.
            felt = sum(any(cost.effects[name] for name in row.measures) for cost in costs)
            counts, scores = ({name: of_all[name] for name in row.measures} for of_all in (totals, self.result.scores))
            found[ASPECT].append(group(row.name, len(table.ids), counts, scores, row.measures[0], felt, True))
        return {dimension: tuple(groups) for dimension, groups in found.items()}

    def scenarios(self) -> tuple[Scenario, ...] | UnsetType:
        """The scores under the scenarios of the mode; nothing where it has none for this result."""
        rows = []
        for name, assumption, units in self.mode.scenarios(self.result.units):
            scores = self._scores_of(self.mode, units)
            rows.append(Scenario(name, assumption, scores[self.measure], scores))
        return tuple(rows) or UNSET

    def policies(self, policies: Iterable[str]) -> tuple[PolicyScores, ...] | UnsetType:
        """The scores under other policies, of the files as they were read."""
        rows = []
        for text in policies:
            policy, units = self.mode.under_policy(text, self.result.units)
            try:
                scores = self._scores_of(self.mode, units)
            except InputError as error:
                rows.append(PolicyScores(policy, None, None, {}, reason=str(error)))
                continue
            score = scores[self.measure]
            rows.append(PolicyScores(policy, score, score - self.result.scores[self.measure], scores))
        return tuple(rows) or UNSET

    def _scores_of(self, mode: Mode, units: Sequence[Unit]) -> dict[str, float]:
        """The scores of other units than those of the result."""
        rows = mode.rows_of(units, iter)
        return mode.scores(replace(self.result.table, rows=rows).sums())

    def confusions(self) -> tuple[ConfusionCount, ...]:
        """Confusions with their numbers, those of one kind together, the most frequent first."""
        often = Counter(each for unit in self.result.units for each in self.mode.confusions(unit))
        kinds = list(dict.fromkeys(of for of, _, _ in often))
        found = [ConfusionCount(*confusion, count) for confusion, count in often.items()]
        return tuple(sorted(found, key=lambda each: (kinds.index(each.of), -each.count, each.gold, each.predicted)))

    def explanations(self, costs: Sequence[Cost], *, with_others: bool) -> Explanations:
        """How units were scored, at most `MOST_UNITS`: those of the costs first, and without costs `with_others`."""
        everywhere = range(len(self.names)) if with_others else ()
        chosen = sorted([*dict.fromkeys((*(cost.position for cost in costs), *everywhere))][:MOST_UNITS])
        steps = []
        for number, position in enumerate(chosen):
            unit, occurrence = self.names[position]
            steps.append(UnitSteps(unit, occurrence, (number,)))
        texts = tuple("\n".join(map(one_line, self.result.explained(position))) for position in chosen)
        return Explanations(len(self.names) - len(chosen), tuple(steps), texts)

    def explained(self, positions: Sequence[int]) -> tuple[ExplainedUnit, ...]:
        """How the units at these positions were scored, and what their mistakes cost."""
        result, wanted = self.result, frozenset(positions)
        costs: defaultdict[int, list[Cost]] = defaultdict(list)
        for cost in self.costs(each for each in self.entries if not wanted.isdisjoint(each.positions)):
            for position in cost.entry.positions:
                costs[position].append(cost)
        return tuple(
            ExplainedUnit(
                *self.names[position],
                lines=tuple(result.explained(position)),
                statistics=dict(zip(result.table.columns, result.table.rows[position])),
                scores=self.mode.scores(result.table.rows[position]),
                prediction=self.mode.written(result.units[position].prediction),
                mistakes=tuple(map(self.mistake, costs[position])),
            )
            for position in positions
        )

    def score(self, keys: Iterable[Key]) -> float:
        """Of some units; those that were not scored add nothing."""
        nothing = (0.0,) * len(self.mode.columns)
        sums = [math.fsum(column) for column in zip(*(self.rows.get(key, nothing) for key in keys))]
        return float(self.formula(sums, divide)[0])

    def ratio(self, key: Key) -> Ratio | None:
        """The score of a unit as a ratio; None where it was not scored."""
        return self.formula(self.rows[key], Ratio)[0] if key in self.rows else None

    def parts(self, key: Key) -> Mapping[tuple[str, str, int], Part]:
        """The parts of a unit by what they are, their value, and which of equal ones they are."""
        seen: Counter[tuple[str, str]] = Counter()
        found = {}
        for part in self.mode.parts(self.units[key], self.measure) if key in self.units else ():
            named = part.what, json.dumps(part.value, sort_keys=True)
            seen[named] += 1
            found[*named, seen[named]] = part
        return found


class CostedMistakes(Sequence[Mistake]):
    """The mistakes of a run, each made when it is asked for.

    A mistake has the whole prediction of its unit without it, so that all mistakes of one unit together take memory in
    proportion to the square of their number.
    """

    def __init__(self, examined: Examination, costs: Sequence[Cost]) -> None:
        self._examined = examined
        self._costs = costs

    def __len__(self) -> int:
        return len(self._costs)

    @overload
    def __getitem__(self, place: int) -> Mistake: ...

    @overload
    def __getitem__(self, place: slice) -> CostedMistakes: ...

    def __getitem__(self, place: int | slice) -> Mistake | CostedMistakes:
        if isinstance(place, slice):
            return CostedMistakes(self._examined, self._costs[place])
        return self._examined.mistake(self._costs[place])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(len(self._costs))

    def __reduce__(self) -> tuple[type[tuple[Mistake, ...]], tuple[list[Mistake]]]:
        return tuple, (list(self),)


def _answers(
    first: Examination, second: Examination, shown: Mapping[Key, tuple[object, int]]
) -> tuple[list[Answer], tuple[OutcomeCount, ...]]:
    """The parts of each unit that were judged differently, those of A and then those that only B has; all counted."""
    differing = []
    often: Counter[tuple[str, Outcome]] = Counter()
    for unit in dict.fromkeys((*first.shown, *second.shown)):
        ones, others = first.parts(unit), second.parts(unit)
        for key in dict.fromkeys((*ones, *others)):
            known = ones[key] if key in ones else others[key]
            one, other = (
                None if part is None or part.judgment is None else Judgment(part.right, part.judgment)
                for part in (ones.get(key), others.get(key))
            )
            right = one is not None and one.right, other is not None and other.right
            outcome = outcome_of(right, (one is not None, other is not None))
            often[known.what, outcome] += 1
            if (one and one.judgment) != (other and other.judgment):
                differing.append(Answer(*shown[unit], known.what, known.value, one, other, outcome))
    whats = sorted({what for what, _ in often})
    return differing, tuple(OutcomeCount(what, each, often[what, each]) for what in whats for each in Outcome)


def answered_in(document: Any) -> str:
    """Return on how many units a document's scores are where only those answered count; empty where all do."""
    if isinstance(document, Difference):
        sides = [document.origins[side].answered for side in "ab"]
        return "; ".join(f"{name}: {answered}" for name, answered in zip("AB", sides) if answered is not None)
    return document.origin.answered or "" if document.origin else ""


def with_answered(table: Table, answered: str) -> Table:
    """Return a table with a last column that says on how many units its scores are; people read that above it."""
    layout = table.layout
    if not layout.is_file:
        return table
    shown = layout.shown or layout.keys
    layout = replace(layout, columns=(*layout.columns, Column("answered")), shown=shown)
    return replace(table, layout=layout, rows=[(*row, answered) for row in table.rows])


# ---- The task


class EvidenceTask(Record):
    """A task of evidence: what is found of the results of its mode."""

    mode: Mode

    @property
    def name(self) -> str:
        return self.mode.name

    def measure_of(self, wanted: str | None) -> str | None:
        """The measure that is meant, in any letter case; None where none is, and the result says which is the headline.

        Raises UsageError for one that the task lacks.
        """
        if wanted is None:
            return None
        known = self.mode.measures
        found = find(wanted, known)
        if found not in known:
            raise UsageError(f"no measure called {wanted}; there are {', '.join(known)}{nearest(wanted, known)}")
        return str(found)

    def _measure_for(self, wanted: str | None, *results: Result) -> str:
        """The measure that is meant, for results: the headline one where they agree in it.

        Raises UsageError for one that the task lacks, InputError for one without a value for a result.
        """
        found = self.measure_of(wanted)
        if found is None:
            headlines = {result.origin.measure for result in results}
            found = headlines.pop() if len(headlines) == 1 else str(usual(self.name))
        for result in results:
            if found in result.undefined:
                raise InputError(f"there is no {found}: {result.undefined[found]}", file=result.names[1])
        return found

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
        """Mistakes, error budget, groups and confusions; scores under other `policies` in tasks that have these.

        Raises UsageError for an unknown measure.

        With `is_whole` all mistakes unless `top`, and how units were scored; otherwise what a text shows. `progress`
        hands back the predictions for the budget, then the mistakes.
        """
        examined = Examination(result, self._measure_for(measure, result))
        budget = examined.budget(progress(examined.entries))
        costs = examined.costs(examined.entries, progress)
        return Analysis(
            **examined.head,
            scenarios=examined.scenarios(),
            policies=examined.policies(policies),
            units=len(result.units),
            top=UNSET if top is None else top,
            mistakes=CostedMistakes(examined, costs[: top if is_whole else top or TOP]),
            budget=budget,
            groups=examined.groups(costs),
            confusions=examined.confusions(),
            explanations=examined.explanations(costs[:top], with_others=top is None) if is_whole else UNSET,
        )

    def diff(
        self, a: Result, b: Result, measure: str | None = None, *, names: tuple[str, str] = ("A", "B"),
        top: int | None = None, resampling: Resampling | None = None,
    ) -> Difference:  # fmt: skip
        """Why B scores otherwise than A, and what each unit contributes to the difference of their scores.

        Every measure is a ratio q = x / y of sums over units. With D for B minus A a unit contributes
        (D(x) - mean(q) D(y)) / mean(y), and all of them together D(q). A unit that only one of the two was scored on is
        nothing in the other. `resampling` has the settings of interval and p-values, as in a comparison. Raises
        UsageError for results of different tasks, an unknown measure.
        """
        self.measures((a, b))
        mode, measure = self.mode, self._measure_for(measure, a, b)
        first, second = sides = [Examination(result, measure) for result in (a, b)]
        formula = first.formula
        shown = second.shown | first.shown
        shares = contributions_of((first.rows, second.rows), formula)
        is_defined = bool(shares) and None not in shares.values()
        units = [
            UnitDifference(*shown[unit], one, other, share)
            for unit, share in shares.items()
            if first.ratio(unit) != second.ratio(unit)
            for one, other in [[side.score([unit]) if unit in side.rows else None for side in sides]]
        ]
        keys = list(shares)

        def group(name: str, places: Iterable[int]) -> GroupDifference:
            members = [keys[place] for place in places]
            share = math.fsum(shares[unit] or 0.0 for unit in members) if is_defined else None
            return GroupDifference(name, first.score(members), second.score(members), share)

        groups = members_of([mode.groups((first if unit in first.rows else second).units[unit]) for unit in keys])
        answers, outcomes = _answers(first, second, shown)
        one, other = (Side(name, each.table, each.scores[measure], each.origin) for name, each in zip(names, (a, b)))
        return Difference(
            task=mode.name,
            **head_of((one, other), measure, formula, resampling, mode.unit, f"{mode.unit}s", is_defined),
            heads={"a": a.head, "b": b.head} if a.head or b.head else UNSET,
            top=UNSET if top is None else top,
            units=tuple(sorted(units, key=lambda unit: -abs(unit.contribution or 0.0))[:top]),
            answers=tuple(answers[:top]),
            outcomes=outcomes,
            groups={name: tuple(group(*each) for each in members.items()) for name, members in groups.items()},
        )

    def explain(
        self, result: Result, units: Sequence[str | int] = (), measure: str | None = None, *, progress: Progress = iter
    ) -> Explanation:
        """How units were scored and what their mistakes cost; without units the largest costs of the run.

        A unit is named by its id; where gold repeats it, all that are called so are explained. `progress` hands back
        all predictions where none is named. Raises UsageError for an unknown measure, InputError for an unknown unit.
        """
        examined = Examination(result, self._measure_for(measure, result))
        positions = [position for unit in units for position in result.positions_of(unit)]
        costs = [] if units else examined.costs(examined.entries, progress)
        return Explanation(
            **examined.head,
            units=examined.explained(positions) if units else (),
            mistakes=tuple(map(examined.mistake, costs[:LARGEST_COSTS])),
            statistics=dict(zip(result.table.columns, result.table.sums())),
        )

    def headers(self, kind: str) -> dict[str, Sequence[str]]:
        layouts = layouts_of(self.mode)[Analysis if kind == "analysis" else Difference]
        return {f"{layout.name}.tsv": layout.keys for layout in layouts if layout.is_file}

    def layouts(self, document: Any) -> Sequence[Layout]:
        """What the tables of a document are."""
        return layouts_of(self.mode)[type(document)]

    def tables(self, document: Any) -> list[Table]:
        tables = [layout.table(document) for layout in self.layouts(document)]
        answered = answered_in(document)
        return [with_answered(table, answered) for table in tables] if answered else tables

    def text(self, document: Any, width: int, top: int | None = None) -> str:
        return text_of_document(self.mode, document, width, top)

    def measures(self, results: Iterable[Result]) -> Sequence[str]:
        """The measures that results are compared by. Raises UsageError for results of other tasks."""
        compared = list(results)
        names = list(dict.fromkeys(result.mode.name for result in compared))
        if names != [self.name]:
            raise UsageError(f"results of different tasks cannot be compared: {', '.join(names)}")
        return [measure for measure in self.mode.measures if all(measure in result.scores for result in compared)]

    def headline_of(self, results: Iterable[Result]) -> str | None:
        """The measure that people are shown first of these results; None where they disagree."""
        headlines = {result.origin.measure for result in results}
        return headlines.pop() if len(headlines) == 1 else None

    def undefined(self, result: Result) -> Mapping[str, str]:
        """Return the measures that have no value for a result, with the reasons."""
        return result.undefined

    def statistics(self, result: Result, measures: Sequence[str]) -> Statistics:
        ids = result.table.ids
        answered = [name for name, unit in zip(ids, result.units) if unit.prediction is not None]
        return Statistics(self.mode.unit, result.table, answered, tuple(dict.fromkeys(ids)), result.origin)

    def formula(self, measures: Sequence[str]) -> SumsFormula:
        return self.mode.formula_of(measures)
