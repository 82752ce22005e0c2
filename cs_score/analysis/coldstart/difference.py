"""`diff`: why one Cold Start run scores higher than another, or than itself under another policy or pool.

A measure is a ratio of sums over rows of a table, so that rows put together in any way contribute to the difference
what they add to both sums (insight specification 5.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, Literal, TypeAlias

import numpy as np

from cs_score.analysis.coldstart.changes import Finding, files_of
from cs_score.analysis.coldstart.groups import (
    DIMENSIONS,
    RUN_ONLY,
    Cell,
    Key,
    cells_of,
    counted_rows,
    members_of,
    together,
)
from cs_score.analysis.coldstart.mistakes import category_of, classes_found, classes_to_find, counted_lines, mistakes_of
from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.outcomes import UNKNOWN, Outcome, outcome_of, significance
from cs_score.base.errors import InputError
from cs_score.base.records import Record, field, replace, to_builtins
from cs_score.base.signing.origin import Origin
from cs_score.coldstart.judging import pre_policy_category
from cs_score.coldstart.lines import Response
from cs_score.coldstart.options import RIGHT, WRONG
from cs_score.coldstart.queries import Query
from cs_score.coldstart.result import ALL_LEVELS, RunResult, UnitResult
from cs_score.coldstart.unit_statistics import resampled_unit, unit_table
from cs_score.measures.formulas import Ratio, divide
from cs_score.measures.measure import MICRO, Measure
from cs_score.measures.registry import formula_of, sums_of
from cs_score.statistics.arithmetic import ColumnFormula, contributions
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.options import Note, Resampling
from cs_score.statistics.results import Comparison
from cs_score.statistics.units import UnitTable

Sums: TypeAlias = tuple[float, ...]

RowKey: TypeAlias = tuple[str, str]
"""A query, by its full id, and a hop."""

GROUPINGS: Final[Mapping[str, Callable[[Query, str], str]]] = {
    "slot": lambda query, hop: (query.slot_at(int(hop)) if hop.isdigit() else None) or UNKNOWN,
    "hop": lambda query, hop: hop,
    "entity_type": lambda query, hop: query.entity_type or UNKNOWN,
}
"""What rows are put together by, from the query and the hop of a row."""

_NEEDS_HOPS: Final = ("slot", "hop")


class Part(Record):
    """A unit or group: its own scores in A and B, 0..1 (None: not scored), and its contribution (None: not defined)."""

    name: str
    a: float | None
    b: float | None
    contribution: float | None
    differs: bool


def unit_parts(tables: tuple[UnitTable, UnitTable], measure: Measure) -> list[Part]:
    """The units of A in their order, then those that only B has."""
    first, second = ({name: tuple(row) for name, row in zip(table.ids, table.rows)} for table in tables)
    return parts_of(first, second, measure)


def groups_of(a: Scored, b: Scored, measure: Measure) -> dict[str, list[Part]]:
    """The rows that the measure averages, put together by each dimension that they can be told apart by."""
    # All hops of a ranking are one row, and belong to no hop.
    has_hops = bool(measure.average) and measure.level == ALL_LEVELS
    sides = [_row_sums(scored, measure, has_hops) for scored in (a, b)]
    found: dict[str, list[Part]] = {}
    for dimension, group_of in GROUPINGS.items():
        if dimension not in _NEEDS_HOPS or has_hops or measure.level != ALL_LEVELS:
            first, second = (_grouped(scored, sums, group_of) for scored, sums in zip((a, b), sides))
            found[dimension] = sorted(parts_of(first, second, measure), key=lambda part: part.name)
    return found


def _row_sums(scored: Scored, measure: Measure, has_hops: bool) -> dict[RowKey, Sums]:
    """What each query adds at each hop to the sums that the measure is made of."""
    result = scored.result
    by_query = replace(result, unit_of={name: name for name in (*result.unit_of, *result.unit_of.values())})
    found: dict[RowKey, Sums] = {}
    for hop in _hops(result, measure) if has_hops else (measure.level,):
        table = unit_table(by_query, [measure.at(hop)])
        found.update(((name, hop), tuple(row)) for name, row in zip(table.ids, table.rows) if any(row))
    return found


def _hops(result: RunResult, measure: Measure) -> list[str]:
    return sorted({row.level for name, table in result.tables.variants if name == measure.table for row in table.rows})


def _grouped(scored: Scored, sums: Mapping[RowKey, Sums], group_of: Callable[[Query, str], str]) -> dict[str, Sums]:
    queries = {query.full_id: query for query in scored.run.gold.table.by_id.values()}
    found: dict[str, Sums] = {}
    for (name, hop), row in sums.items():
        group = group_of(queries[name], hop)
        found[group] = tuple(map(sum, zip(found[group], row))) if group in found else row
    return found


def parts_of(first: Mapping[str, Sums], second: Mapping[str, Sums], measure: Measure) -> list[Part]:
    """What each name adds to the sums of A (`first`) and B, as its part of the difference."""
    names = list(dict.fromkeys((*first, *second)))
    formula = formula_of([measure])
    width = len(next(chain(first.values(), second.values()), ()))
    rows = [[side.get(name, (0.0,) * width) for name in names] for side in (first, second)]
    shares = _shares(rows, measure)

    def score(side: Mapping[str, Sums], name: str) -> float | None:
        return formula(side[name], divide)[0] if name in side else None

    return [
        Part(
            name,
            score(first, name),
            score(second, name),
            None if shares is None else shares[at],
            first.get(name) != second.get(name),
        )
        for at, name in enumerate(names)
    ]


def _shares(rows: Sequence[Sequence[Sums]], measure: Measure) -> list[float] | None:
    if not rows[0]:
        return None
    formula = formula_of([measure])
    ratios = [formula(list(np.array(side, dtype=np.float64).T), Ratio)[0] for side in rows]
    found = contributions(*ratios)
    return None if found is None else found.tolist()


Label: TypeAlias = Literal["right", "wrong", "ignored", "not counted"]

_BEST_FIRST: Final[tuple[Label, ...]] = ("right", "wrong", "ignored", "not counted")

AnswerKey: TypeAlias = tuple[str, str, str]
"""What a line says: its query, value and canonical value provenance (insight specification 1)."""


class AnswerLabel(Record):
    """What an answer counted as in a run: the best label of the lines that give it, with the first line of that."""

    label: Label
    category: str
    class_name: str | None = field(name="class")
    file: str
    line: int
    lines: int = 1

    @property
    def meaning(self) -> tuple[str, str, str | None]:
        """What makes two of them different."""
        return self.label, self.category, self.class_name


class AnswerPair(Record):
    """An answer in A and in B; None where the run does not give it."""

    query: str
    value: str
    provenance: str
    a: AnswerLabel | None
    b: AnswerLabel | None

    @property
    def differs(self) -> bool:
        """Whether it counted differently."""
        return (self.a and self.a.meaning) != (self.b and self.b.meaning)

    @property
    def outcome(self) -> str:
        """In words; `in neither` is an answer that counts as right or wrong in neither run."""
        labels = (self.a and self.a.label), (self.b and self.b.label)
        right, wrong = ((labels[0] == side, labels[1] == side) for side in ("right", "wrong"))
        outcome = outcome_of(right, wrong)
        return "in neither" if outcome is Outcome.MISSED else str(outcome)

    def as_json(self) -> dict[str, object]:
        """The pair with the keys of the specification."""
        return {
            "query": self.query,
            "value": self.value,
            "provenance": self.provenance,
            "a": to_builtins(self.a),
            "b": to_builtins(self.b),
            "outcome": self.outcome,
        }


class ClassPair(Record):
    """A class of the ground truth, the row that it stands below, and whether A and B have found it."""

    name: str
    row: str
    a: bool
    b: bool

    @property
    def outcome(self) -> str:
        """In words."""
        by = "both" if self.a and self.b else "A only" if self.a else "B only" if self.b else "neither"
        return f"found by {by}"

    def as_json(self) -> dict[str, object]:
        """The pair as a JSON object."""
        return {"class": self.name, "row": self.row, "a": self.a, "b": self.b, "outcome": self.outcome}


def answer_pairs(a: Scored, b: Scored) -> list[AnswerPair]:
    """The answers of A in load order, then those that only B gives."""
    ones, others = labels_of(a), labels_of(b)
    return [AnswerPair(*key, ones.get(key), others.get(key)) for key in dict.fromkeys((*ones, *others))]


def labels_of(scored: Scored) -> dict[AnswerKey, AnswerLabel]:
    """What became of each answer of a run."""
    found: dict[AnswerKey, AnswerLabel] = {}
    often: Counter[AnswerKey] = Counter()
    for unit in scored.result.units:
        counted = {line.index for line in counted_lines(unit)}
        for line in _lines(scored, unit):
            key = line.query.full_id, line.value, line.provenance
            labelled = _label_of(line, unit, scored, line.index in counted)
            often[key] += 1
            best = found.get(key)
            if best is None or _BEST_FIRST.index(labelled.label) < _BEST_FIRST.index(best.label):
                found[key] = labelled
    repeated = {key: replace(found[key], lines=times) for key, times in often.items() if times > 1}
    return found | repeated


def _lines(scored: Scored, unit: UnitResult) -> Iterator[Response]:
    lines_of = scored.run.lines.get(scored.run_id, {}).get(unit.id, {})
    return (line for lines in lines_of.values() for line in lines)


def _label_of(line: Response, unit: UnitResult, scored: Scored, is_counted: bool) -> AnswerLabel:
    assessment = unit.matched.get(line.index)
    class_name = None if assessment is None or not assessment.is_accepted else assessment.value_class
    if not is_counted:
        return AnswerLabel("not counted", pre_policy_category(assessment), class_name, line.file, line.number)
    labels = unit.labels[line.index]
    label: Label = "right" if RIGHT in labels else "wrong" if WRONG in labels else "ignored"
    return AnswerLabel(label, category_of(labels, scored.policy), class_name, line.file, line.number)


def class_pairs(a: Scored, b: Scored) -> list[ClassPair]:
    """The classes of the ground truth, by row, in load order of the pool."""
    ones, others = classes_by_row(a), classes_by_row(b)
    return [ClassPair(*key, ones.get(key, False), others.get(key, False)) for key in dict.fromkeys((*ones, *others))]


def classes_by_row(scored: Scored) -> Mapping[tuple[str, str], bool]:
    """Every class that can be found with the row that it stands below, and whether a line was counted right for it."""
    found: dict[tuple[str, str], bool] = {}
    for unit in scored.result.units:
        for query in unit.queries:
            gold = scored.run.gold.of_query(query.query, scored.run.links)
            if gold.tree is not None:
                met = classes_found(query, unit)
                for row, names in classes_to_find(gold.tree, query).items():
                    found.update(((name, row), name in met[row]) for name in names)
    return found


def counted(outcomes: Iterable[str]) -> dict[str, int]:
    """How often each outcome is met, by name."""
    often = Counter(outcomes)
    return {name: often[name] for name in sorted(often)}


LINE_DIMENSIONS: Final = tuple(name for name in DIMENSIONS if name not in (*GROUPINGS, "ldc_query"))
"""What tells lines of the same row apart."""


def line_groups_of(a: Scored, b: Scored, measure: Measure) -> dict[str, list[Part]]:
    """The groups of lines and classes by each dimension, as those of an analysis (insight specification 4.3, 5.5).

    None but for micro averages: no other measure is made of sums over lines. Where the pool does not tell the group of
    a class (`RUN_ONLY`), groups have contributions, but no recall or F1 of their own.
    """
    if measure.average != MICRO:
        return {}
    columns = [column.rpartition(":")[2] for column in sums_of([measure])]
    sides = [_cells(scored, measure) for scored in (a, b)]
    found: dict[str, list[Part]] = {}
    for dimension in LINE_DIMENSIONS:
        first, second = (_sums(cells, dimension, columns) for cells in sides)
        parts = sorted(parts_of(first, second, measure), key=lambda part: part.name)
        has_scores = dimension not in RUN_ONLY or "ground_truth" not in columns
        found[dimension] = parts if has_scores else [replace(part, a=None, b=None) for part in parts]
    return found


def _cells(scored: Scored, measure: Measure) -> Mapping[Key, Cell]:
    finding = Finding(scored.run, scored.run_id, files_of(scored.run))
    missed = (each for mistakes in mistakes_of(scored, finding) for each in mistakes.classes)
    return cells_of(scored, counted_rows(scored, measure), missed)


def _sums(cells: Mapping[Key, Cell], dimension: str, columns: list[str]) -> dict[str, Sums]:
    """What each group adds to the sums that the measure is made of; `columns` are fields of `Counts`."""
    found = {}
    for (group,), members in members_of(cells, (dimension,)).items():
        counts = together(members).counts
        found[group] = tuple(float(getattr(counts, column)) for column in columns)
    return found


SCHEMA_VERSION: Final = 1
"""Raised when a key changes its meaning or goes away; new keys do not raise it."""


class Difference(Record):
    """Why B scores otherwise than A under `measure` (insight specification 5).

    `names` are what people call A and B. `units` are those that count differently, the largest contribution first; all
    contributions add up to the difference. `answers` are those that fared differently, and `classes` those that only
    one of the two has found; `outcomes` and `found` count all of them. `groups` has the rows of the measure's table put
    together by slot, hop and entity type, and for micro averages its lines by what tells them apart. `compared` has
    interval and p-values, None where the two have other units.
    """

    measure: Measure
    names: tuple[str, str]
    a: float
    b: float
    unit: str
    units: Sequence[Part]
    answers: Sequence[AnswerPair]
    outcomes: Mapping[str, int]
    classes: Sequence[ClassPair]
    found: Mapping[str, int]
    groups: Mapping[str, Sequence[Part]]
    compared: Comparison | None
    remarks: Sequence[Note]
    origins: tuple[Origin, Origin]

    def __repr__(self) -> str:
        return f"<{self.measure}: {self.names[1]} - {self.names[0]} = {self.difference:+.4f}>"

    @property
    def difference(self) -> float:
        """The score of B minus that of A."""
        return self.b - self.a

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader must know beside the numbers."""
        if self.compared is None:
            return tuple(self.remarks)
        return (*self.remarks, *self.compared.notes, *self.compared.measures[0].pairs[0].difference.notes)

    def as_json(self, top: int | None = None) -> dict[str, object]:
        """The difference as a JSON object, with at most `top` units, answers and classes."""
        return {
            "schema_version": SCHEMA_VERSION,
            "mode": "coldstart",
            "measure": str(self.measure),
            "a": self.a,
            "b": self.b,
            "difference": self.difference,
            "names": dict(zip("ab", self.names)),
            **({} if top is None else {"top": top}),
            **significance(self.compared),
            "notes": list(to_builtins(self.notes)),
            "unit": self.unit,
            "units": [{"unit": part.name, **_scores(part)} for part in self.units[:top]],
            "answers": [answer.as_json() for answer in self.answers[:top]],
            "outcomes": dict(self.outcomes),
            "classes": [each.as_json() for each in self.classes[:top]],
            "found": dict(self.found),
            "groups": {
                dimension: [{"group": part.name, **_scores(part)} for part in parts]
                for dimension, parts in self.groups.items()
            },
            "signatures": {side: origin.as_json() for side, origin in zip("ab", self.origins)},
        }


def _scores(part: Part) -> dict[str, object]:
    return {"a": part.a, "b": part.b, "contribution": part.contribution}


def diff(
    a: Scored,
    b: Scored,
    measure: str | None = None,
    *,
    names: tuple[str, str] = ("A", "B"),
    resampling: Resampling | None = None,
) -> Difference:
    """Where B differs from A, and what each unit contributes to the difference of their scores.

    `measure`: its name, None for the one that ranks leaderboards; `resampling`: the settings of interval and p-values,
    as in a comparison. A unit that only one of the two was scored on is nothing in the other. Raises UsageError for an
    unknown measure, InputError for one that a run has no score of.
    """
    chosen = a.measure(measure)
    b.measure(str(chosen))
    tables = unit_table(a.result, [chosen]), unit_table(b.result, [chosen])
    parts = unit_parts(tables, chosen)
    unit = _unit_name(a, b)
    compared, remarks = _compared(tables, chosen, names, replace(resampling or Resampling(can_grow=True), unit=unit))
    if parts and parts[0].contribution is None:
        remarks = (Note("UNDEFINED", f"no contributions: {chosen} is 0/0 for one of the two, and counts 0"), *remarks)
    answers, classes = answer_pairs(a, b), class_pairs(a, b)
    return Difference(
        measure=chosen,
        names=names,
        a=a.result.measures[chosen],
        b=b.result.measures[chosen],
        unit=unit,
        units=sorted((part for part in parts if part.differs), key=lambda part: -abs(part.contribution or 0.0)),
        answers=[pair for pair in answers if pair.differs],
        outcomes=counted(pair.outcome for pair in answers),
        classes=[pair for pair in classes if pair.a != pair.b],
        found=counted(pair.outcome for pair in classes),
        groups=groups_of(a, b, chosen) | line_groups_of(a, b, chosen),
        compared=compared,
        remarks=remarks,
        origins=(replace(a.origin, measure=str(chosen)), replace(b.origin, measure=str(chosen))),
    )


def _unit_name(a: Scored, b: Scored) -> str:
    has_clusters = any(unit != query for scored in (a, b) for query, unit in scored.result.unit_of.items())
    return resampled_unit(bool(a.run.gold.table.ldc_of) or has_clusters)


def _compared(
    tables: tuple[UnitTable, UnitTable], measure: Measure, names: tuple[str, str], settings: Resampling
) -> tuple[Comparison | None, tuple[Note, ...]]:
    """Interval and p-values where both have the same units, or a note that they have not."""
    first, second = tables
    if first.ids != second.ids:
        text = f"no interval: {names[0]} and {names[1]} were not scored on the same units"
        return None, (Note("OTHER_UNITS", text),)
    sides = {"a": first, "b": second}
    try:
        return compare_tables(sides, [str(measure)], ColumnFormula(formula_of([measure])), settings), ()
    except InputError as error:
        return None, (Note("NO_UNITS", f"no interval: {error.problem}"),)
