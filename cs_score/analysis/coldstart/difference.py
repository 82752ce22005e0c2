"""`diff`: why one Cold Start run scores higher than another, or than itself under another policy, pool or edition.

A measure is a ratio of sums over rows of a table: rows put together in any way contribute what they add to both sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from operator import add, attrgetter, itemgetter
from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.changes import Editor
from cs_score.analysis.coldstart.groups import RUN_ONLY, counted_table, grouped
from cs_score.analysis.coldstart.mistakes import category_of, classes_of, counted_lines, mistakes_of
from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.outcomes import (
    UNKNOWN,
    Outcome,
    Side,
    Sides,
    TwoSided,
    contributions_of,
    head_of,
    outcome_of,
    undefined_notes,
)
from cs_score.base.errors import InputError
from cs_score.base.records import Record, asdict, field, replace
from cs_score.coldstart.judging import pre_policy_category
from cs_score.coldstart.options import RIGHT, WRONG, Edition, Options
from cs_score.coldstart.result import ALL_LEVELS
from cs_score.coldstart.unit_statistics import resampled_unit, unit_table
from cs_score.measures.registry import COLD_START_MODE, MICRO, Measure, divide, formula_of, sums_of
from cs_score.statistics.options import Resampling


class UnitShare(Record):
    """A unit: its own scores in A and B, 0..1 (None: not scored), and its contribution (None: not defined)."""

    unit: str
    a: float | None
    b: float | None
    contribution: float | None


class GroupShare(Record, kw_only=True):
    """A group of rows or lines, as a unit; `n` is how many rows of the table are in it, where it is one of rows."""

    group: str
    n: int | UnsetType = UNSET
    a: float | None
    b: float | None
    contribution: float | None


Label: TypeAlias = Literal["right", "wrong", "ignored", "not counted"]

_BEST_FIRST: Final[tuple[Label, ...]] = ("right", "wrong", "ignored", "not counted")


class AnswerLabel(Record):
    """What an answer counted as in a run: the best label of the lines that give it, with the first line of that."""

    label: Label
    category: str
    class_name: str | None = field(name="class")
    file: str
    line: int
    lines: int = 1


class AnswerPair(Record):
    """An answer (query, value and canonical value provenance) in A and in B; None where the run does not give it.

    The outcome `in neither` is that of an answer that counts as right or wrong in neither run.
    """

    query: str
    value: str
    provenance: str
    a: AnswerLabel | None
    b: AnswerLabel | None
    outcome: str


class ClassPair(Record):
    """A class of the ground truth, the row that it stands below, and whether A and B have found it."""

    class_name: str = field(name="class")
    row: str
    a: bool
    b: bool
    outcome: str


class RowDifference(Record):
    """A row of a table (`SF`, `SF-AP`) at its level: F1 or average precision on both sides, None where it lacks."""

    table: str
    row: str
    level: str
    a: float | None
    b: float | None


class Rule(Record, kw_only=True):
    """A rule as A and B have it, and the rows of A that change by it alone; `reason`: why nothing could be scored so.

    Without a name: the rows that differ between A and B, and that no rule changes alone.
    """

    rule: str | None
    a: Any = None
    b: Any = None
    reason: str | UnsetType = UNSET
    rows: Sequence[RowDifference] = ()


class Difference(TwoSided, frozen=True, kw_only=True, tag="difference"):
    """Why B scores otherwise than A under `measure`.

    `units` are those that count differently, the largest contribution first; all contributions add up to the
    difference. `answers` are those that counted differently, and `classes` those that only one of the two has found;
    `outcomes` and `found` count all of them. `groups` has the rows of the measure's table by slot, hop and entity type,
    and for micro averages its lines by their own groups. `rules` say which rows change by which rule alone, where A and
    B are one run under two editions. `undefined` has by side the measures that have no value there, with the reasons.
    """

    schema_version: Literal[3] = 3
    undefined: Mapping[str, Mapping[str, str]] | UnsetType = UNSET
    unit: str
    units: Sequence[UnitShare]
    answers: Sequence[AnswerPair]
    outcomes: Mapping[str, int]
    classes: Sequence[ClassPair]
    found: Mapping[str, int]
    groups: Mapping[str, Sequence[GroupShare]]
    rules: Sequence[Rule] | UnsetType = UNSET

    def __repr__(self) -> str:
        return f"<{self.measure}: {self.names['b']} - {self.names['a']} = {self.difference:+.4f}>"


def diff(
    a: Scored,
    b: Scored,
    measure: str | None = None,
    *,
    names: tuple[str, str] = ("A", "B"),
    resampling: Resampling | None = None,
) -> Difference:
    """Where B differs from A, and what each unit contributes to the difference of their scores.

    `measure`: None for the one that ranks leaderboards; `resampling`: the settings of interval and p-values. Raises
    UsageError for an unknown measure, InputError for one that a run has no score of.
    """
    if measure is None and b.why_unranked is not None:
        measure = str(b.headline)  # the headline measure that both have
    chosen = a.measure(measure)
    b.measure(str(chosen))
    one, other = (
        Side(name, unit_table(each.result, [chosen]), each.result.measures[chosen], each.origin)
        for name, each in zip(names, (a, b))
    )
    first, second = (dict(zip(side.table.ids, side.table.rows)) for side in (one, other))
    units = [UnitShare(*share) for share in _shares((first, second), chosen)]
    has_clusters = any(unit != query for each in (a, b) for query, unit in each.result.unit_of.items())
    unit = resampled_unit(bool(a.run.gold.table.ldc_of) or has_clusters)
    is_defined = all(each.contribution is not None for each in units)
    answers, classes, meaning = _answers(a, b), _classes(a, b), attrgetter("label", "category", "class_name")
    head = head_of((one, other), str(chosen), formula_of([chosen]), resampling, unit, "units", is_defined)
    undefined = {side: scored.result.undefined for side, scored in zip("ab", (a, b)) if scored.result.undefined}
    reasons_by_name = {name: scored.result.undefined for name, scored in zip(names, (a, b))}
    head["notes"] = (*head["notes"], *undefined_notes(reasons_by_name))
    return Difference(
        task=COLD_START_MODE,
        **head,
        undefined=undefined or UNSET,
        unit=unit,
        units=sorted(
            (each for each in units if first.get(each.unit) != second.get(each.unit)),
            key=lambda each: -abs(each.contribution or 0.0),
        ),
        answers=[pair for pair in answers if (pair.a and meaning(pair.a)) != (pair.b and meaning(pair.b))],
        outcomes=dict(sorted(Counter(pair.outcome for pair in answers).items())),
        classes=[pair for pair in classes if pair.a != pair.b],
        found=dict(sorted(Counter(pair.outcome for pair in classes).items())),
        groups=_groups(a, b, chosen),
        rules=rules_of(a, b) or UNSET,
    )


def _shares(sides: Sides[str], measure: Measure) -> Iterator[tuple[str, float | None, float | None, float | None]]:
    """The scores of units or groups in A and B and what they contribute to the difference, from their sums."""
    formula = formula_of([measure])
    for name, share in contributions_of(sides, formula).items():
        a, b = (formula(side[name], divide)[0] if name in side else None for side in sides)
        yield name, a, b, share


# ---- Groups

_Sums: TypeAlias = tuple[str, Sides[str], Mapping[str, int]]
"""A dimension, what each of its groups adds to the sums of the measure in A and in B, and its number of rows."""


def _groups(a: Scored, b: Scored, measure: Measure) -> dict[str, list[GroupShare]]:
    """The groups of each dimension in order of their names. Where the pool does not have the group of a class
    (`RUN_ONLY`), groups have contributions, but no recall or F1 of their own.
    """
    needs_classes = any(column.endswith(":ground_truth") for column in sums_of([measure]))
    found = {}
    for dimension, sums, rows in chain(_sums_of_rows(a, b, measure), _sums_of_lines(a, b, measure)):
        has_scores = not (needs_classes and dimension in RUN_ONLY)
        found[dimension] = [
            GroupShare(group=name, n=rows.get(name, UNSET), a=one, b=other, contribution=share)
            if has_scores
            else GroupShare(group=name, a=None, b=None, contribution=share)
            for name, one, other, share in sorted(_shares(sums, measure), key=itemgetter(0))
        ]
    return found


def _sums_of_rows(a: Scored, b: Scored, measure: Measure) -> Iterator[_Sums]:
    """The rows that the measure averages, put together by each dimension that they differ in."""
    # All hops of a ranking are one row, and belong to no hop.
    has_hops = bool(measure.average) and measure.level == ALL_LEVELS
    sides: list[dict[tuple[str, str], tuple[float, ...]]] = []
    for result in (a.result, b.result):  # what each query adds at each hop
        by_query = replace(result, unit_of={name: name for name in (*result.unit_of, *result.unit_of.values())})
        rows = [row for name, table in result.tables.variants if name == measure.table for row in table.rows]
        hops = sorted({row.level for row in rows}) if has_hops else [measure.level]
        tables = [(hop, unit_table(by_query, [measure.at(hop)])) for hop in hops]
        sides.append({(name, hop): row for hop, each in tables for name, row in zip(each.ids, each.rows) if any(row)})
    queries = {query.full_id: query for scored in (a, b) for query in scored.run.gold.table.by_id.values()}
    groups_of: dict[str, Callable[[str, str], str | None]] = {"entity_type": lambda name, _: queries[name].entity_type}
    if has_hops or measure.level != ALL_LEVELS:
        groups_of = {"slot": lambda name, hop: queries[name].slot_at(int(hop)), "hop": lambda _, hop: hop, **groups_of}
    for dimension, group_of in groups_of.items():
        group = {key: group_of(*key) or UNKNOWN for side in sides for key in side}
        sums: tuple[dict[str, tuple[float, ...]], ...] = {}, {}
        for of_group, side in zip(sums, sides):
            for key, row in side.items():
                of_group[group[key]] = tuple(map(add, of_group.get(group[key], (0,) * len(row)), row))
        yield dimension, (sums[0], sums[1]), Counter(group.values())


def _sums_of_lines(a: Scored, b: Scored, measure: Measure) -> Iterator[_Sums]:
    """The lines and classes by each dimension in which those of one row differ, grouped as in an analysis. Only micro
    averages are made of sums over lines.
    """
    if measure.average != MICRO:
        return
    columns = [column.rpartition(":")[2] for column in sums_of([measure])]
    facts = [counted_table(each, measure, mistakes_of(each, Editor(each.run, each.run_id))).facts for each in (a, b)]
    for dimension in ("value_type", "language", "judgment", "mention_type", "category"):
        first, second = (
            {group: [float(getattr(cell.counts, name)) for name in columns] for (group,), cell in cells.items()}
            for cells in (grouped(side, (dimension,)) for side in facts)
        )
        yield dimension, (first, second), {}


# ---- Rules of editions

POLICY: Final = "policy"
"""The rule that stands for both sides of an edition's own policy: what leaves one side comes to the other."""


class _Mixed(Options):
    """Options under an edition that nobody has published."""

    rules: Edition | None = None

    @property
    def edition(self) -> Edition:
        return super().edition if self.rules is None else self.rules


def rules_of(a: Scored, b: Scored) -> list[Rule]:
    """The rules that two editions differ in, scored one by one where `a` can be scored again; B follows the other."""
    one, other = a.run.gold.options, b.run.gold.options
    if a.again is None or one.edition == other.edition:
        return []
    names = [name for name in Edition.__struct_fields__ if name not in ("name", "scored", "wrong", "ignore")]
    values = {name: (getattr(one.edition, name), getattr(other.edition, name)) for name in names}
    rules: list[Rule] = []
    for name, (first, second) in {**values, POLICY: (a.policy.texts(), b.policy.texts())}.items():
        if first == second:
            continue
        changes = {"policy": b.policy} if name == POLICY else {"rules": replace(one.edition, **{name: second})}
        rule = Rule(rule=name, a=first, b=second)
        try:
            rules.append(replace(rule, rows=_row_differences(a, a.again(_Mixed(**{**asdict(one), **changes})))))
        except InputError as stop:
            rules.append(replace(rule, reason=str(stop)))
    explained = {(row.table, row.row, row.level) for rule in rules for row in rule.rows}
    left = [row for row in _row_differences(a, b) if (row.table, row.row, row.level) not in explained]
    return [rule for rule in (*rules, Rule(rule=None, rows=left)) if rule.rows or rule.reason]


def _row_differences(a: Scored, b: Scored) -> list[RowDifference]:
    """The rows of the SF tables that are not the same."""
    sides = []
    for result in (a.result, b.result):
        ranked = result.average_precision.sf.rows if result.average_precision else ()
        rows = {("SF", row.name, row.level): (row.f1, row.counts) for row in result.tables.sf.rows}
        sides.append({**rows, **{("SF-AP", row.name, row.level): (row.score, None) for row in ranked}})
    before, after = sides
    return [
        RowDifference(*key, before.get(key, (None,))[0], after.get(key, (None,))[0])
        for key in dict.fromkeys((*before, *after))
        if before.get(key) != after.get(key)
    ]


# ---- Answers and classes


def _answers(a: Scored, b: Scored) -> list[AnswerPair]:
    """The answers of A in load order, then those that only B gives."""
    ones, others = _labels_of(a), _labels_of(b)
    pairs = []
    for key in dict.fromkeys((*ones, *others)):
        sides = ones.get(key), others.get(key)
        right, wrong = ([each is not None and each.label == label for each in sides] for label in ("right", "wrong"))
        outcome = outcome_of((right[0], right[1]), (wrong[0], wrong[1]))
        pairs.append(AnswerPair(*key, *sides, "in neither" if outcome is Outcome.MISSED else str(outcome)))
    return pairs


def _labels_of(scored: Scored) -> dict[tuple[str, str, str], AnswerLabel]:
    found: dict[tuple[str, str, str], AnswerLabel] = {}
    often: Counter[tuple[str, str, str]] = Counter()
    counted = {line.index for unit in scored.result.units for line in counted_lines(unit)}
    for unit, line, assessment in scored.lines():
        key = line.query.full_id, line.value, line.provenance
        often[key] += 1
        label: Label = "not counted"
        category = pre_policy_category(assessment)
        if line.index in counted:
            labels = unit.labels[line.index]
            label = "right" if RIGHT in labels else "wrong" if WRONG in labels else "ignored"
            category = category_of(labels, scored.policy)
        if key not in found or _BEST_FIRST.index(label) < _BEST_FIRST.index(found[key].label):
            name = None if assessment is None or not assessment.is_accepted else assessment.value_class
            found[key] = AnswerLabel(label, category, name, line.file, line.number)
    return found | {key: replace(found[key], lines=times) for key, times in often.items() if times > 1}


def _classes(a: Scored, b: Scored) -> list[ClassPair]:
    """The classes of the ground truth by row, in load order of the pool, and whether they were found."""
    ones, others = (
        {
            (name, row): name in found
            for unit in scored.result.units
            for row, _, names, found in classes_of(scored, unit)
            for name in names
        }
        for scored in (a, b)
    )
    pairs = []
    for key in dict.fromkeys((*ones, *others)):
        in_a, in_b = ones.get(key, False), others.get(key, False)
        by = "both" if in_a and in_b else "A only" if in_a else "B only" if in_b else "neither"
        pairs.append(ClassPair(*key, in_a, in_b, f"found by {by}"))
    return pairs
