"""What a table counts, line by line and class by class, by groups, with intervals; and what wrong lines say instead.

The table is that of the measure that is asked about, at its hop. LDC-MAX counts the entry points that represent their
LDC queries. LDC-MEAN and average precision count nothing: what they are means of are the rows of SF.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.mistakes import MISSED, Fault
from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.outcomes import UNKNOWN, place
from cs_score.base.errors import UsageError, nearest
from cs_score.base.records import Record, asdict, replace
from cs_score.coldstart import judging
from cs_score.coldstart.lines import CORRECT, Assessment, Response
from cs_score.coldstart.options import RIGHT, WRONG
from cs_score.coldstart.queries import Query, language_code
from cs_score.coldstart.result import ALL_LEVELS, UnitResult, representing
from cs_score.measures.registry import LDC_MAX, SF, Measure, divide, precision_recall_f1
from cs_score.statistics.options import Resampling
from cs_score.statistics.resampling import bootstrap_intervals
from cs_score.statistics.results import Interval

DIMENSIONS: Final = (
    "slot", "hop", "entity_type", "value_type", "language", "judgment", "mention_type", "category", "ldc_query",
)  # fmt: skip
"""What lines and classes are grouped by."""

RUN_ONLY: Final = frozenset({"value_type", "category"})
"""Dimensions that the pool does not know: a class that was not found has no group."""

Key: TypeAlias = tuple[str, ...]
"""The group of a line or class in each of the dimensions, in their order."""


class CountedRow(Record):
    """A row of the table: a query or class with the hop of its answers and the slot that they fill, and its unit."""

    query: Query
    hop: int
    slot: str
    tally: judging.Tally
    unit: UnitResult


Facts: TypeAlias = Mapping[tuple[Key, judging.Labels], int]
"""How often each labels were met in each groups; `_TO_FIND` and `_MISSED` stand for classes."""

_TO_FIND: Final = ("TO_FIND",)
_MISSED: Final = (MISSED,)


class CountedTable(Record):
    """A measure's table: its name (`SF`, `LDC-MAX`, of one hop `SF@1`), its rows, and what they count by groups, all of
    which together are the totals of the table.
    """

    name: str
    rows: Sequence[CountedRow]
    facts: Facts


def counted_table(scored: Scored, measure: Measure, mistakes: Iterable[Iterable[Fault]]) -> CountedTable:
    """What the measure's table counts; `mistakes` are those of the run, unit by unit.

    A class to be found stands in the groups of the line that found it, else in those of the answer of the pool that
    would (its first correct one).
    """
    table = LDC_MAX if measure.table == LDC_MAX else SF
    by_ldc = scored.result.tables.by_ldc
    chosen = {representing(points)[0] for _, points in by_ldc} if table == LDC_MAX else None
    rows = [
        CountedRow(query, hop, query.slot_at(hop) or UNKNOWN, tally, unit)
        for unit in scored.result.units
        for query, tallies in ((each.query, each.tallies) for each in unit.queries)
        if chosen is None or query.short_id in chosen
        for hop, tally in ((tally.name.count(":"), tally) for tally in tallies)
        if measure.level in (ALL_LEVELS, str(hop))
    ]
    missed: dict[str, list[Fault]] = defaultdict(list)
    for fault in chain.from_iterable(mistakes):
        if fault.kind == "class":
            missed[fault.row].append(fault)
    facts: Counter[tuple[Key, judging.Labels]] = Counter()
    for row in rows:
        of_row = row.slot, str(row.hop), row.query.entity_type or UNKNOWN
        unit = scored.result.unit_of[row.query.full_id]
        found: dict[str, Key] = {}
        for line, labels, assessment in lines_of(row):
            value_type = sys.intern(line.text.split("\t", 6)[5].lower())
            key: Key = (*of_row, value_type, *_groups_of(assessment, line), judging.category_in(labels), unit)
            facts[key, labels] += 1
            if RIGHT not in labels or assessment is None or not assessment.is_accepted:
                continue
            if not judging.is_wrong_bin(assessment.value_class, row.query.full_id):
                found.setdefault(assessment.value_class, key)
        not_found = [
            (*of_row, UNKNOWN, *_groups_of(fault.line, fault.line), MISSED, unit) for fault in missed[row.tally.name]
        ]
        facts.update((key, _MISSED) for key in not_found)
        ground_truth = row.tally.counts.ground_truth
        to_find = [*islice(found.values(), ground_truth), *not_found]
        unknown = (*of_row, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, MISSED, unit)
        facts.update((key, _TO_FIND) for key in (*to_find, *[unknown] * (ground_truth - len(to_find))))
    return CountedTable(table if measure.hop is None else f"{table}@{measure.hop}", rows, facts)


def lines_of(row: CountedRow) -> Iterator[tuple[Response, judging.Labels, Assessment | None]]:
    """The lines of a row with their labels and the assessments that they met."""
    labels, matched = row.unit.labels, row.unit.matched
    for line in row.tally.responses:
        yield line, labels[line.index], matched.get(line.index)


def _groups_of(assessment: Assessment | Response | None, line: Response | Assessment) -> tuple[str, str, str]:
    """The language of a line's document, and the judgment and mention type of its assessment."""
    language = language_code(line.docid) or UNKNOWN
    if not isinstance(assessment, Assessment):
        return language, judging.UNASSESSED, UNKNOWN
    return language, assessment.judgment, assessment.value_mention or UNKNOWN


class Cell(NamedTuple):
    """What is counted in a group, and the mistakes in it."""

    counts: judging.Counts
    mistakes: int


_NOTHING: Final = judging.Counts()


def grouped(facts: Facts, dimensions: Sequence[str]) -> dict[Key, Cell]:
    """What is counted in each group of some dimensions."""
    places = [DIMENSIONS.index(name) for name in dimensions]
    of_groups: dict[Key, Counter[judging.Labels]] = defaultdict(Counter)
    for (key, labels), times in facts.items():
        of_groups[tuple([key[at] for at in places])][labels] += times
    cells = {}
    for values, of_group in of_groups.items():
        to_find, missed = of_group.pop(_TO_FIND, 0), of_group.pop(_MISSED, 0)
        counts = judging.sum_counts([_NOTHING, *(judging.counts_of(*each) for each in of_group.items())])
        wrong = sum(times for labels, times in of_group.items() if WRONG in labels)
        cells[values] = Cell(replace(counts, ground_truth=to_find), missed + wrong)
    return cells


BETWEEN: Final = ","
"""What stands between dimensions that are crossed."""

_SCORES: Final = ("precision", "recall", "f1")


class Group(Record, kw_only=True):
    """Lines and classes that have something in common: their counts and micro averages, the mistakes among them.

    `values` are the groups of each dimension that is crossed, `group` is all of them in one text. Scores are those of
    tables (rule counts); recall and F1 are None where the pool does not have the group of a class. `share` is that of
    all mistakes, 0..1. There are intervals where resamples were asked for.
    """

    group: str
    values: tuple[str, ...] | UnsetType = UNSET
    counts: Mapping[str, int]
    precision: float
    recall: float | None
    f1: float | None
    mistakes: int
    share: float
    intervals: Mapping[str, Interval] | UnsetType = UNSET


def crossed(texts: Iterable[str]) -> list[str]:
    """What `--by` asks for: dimensions with commas between them, each combination once.

    Raises UsageError for a dimension that there is not, or that is crossed with itself.
    """
    found = []
    for text in texts:
        names = [name.strip() for name in text.split(BETWEEN)]
        for name in names:
            if name not in DIMENSIONS:
                raise UsageError(f"no groups by {name}; there are {', '.join(DIMENSIONS)}{nearest(name, DIMENSIONS)}")
        if len(set(names)) < len(names):
            raise UsageError(f"{text} crosses a dimension with itself")
        found.append(BETWEEN.join(names))
    return list(dict.fromkeys(found))


def groups_of(
    table: CountedTable, by: Sequence[str] = (), units: Sequence[str] = (), resampling: Resampling | None = None
) -> dict[str, list[Group]]:
    """The groups of each dimension, then those of the crossed ones; the most mistakes first, then in order of names.

    With `resampling` they have the intervals of their scores, from the resamples of `units` that those of the run are
    made of; groups of one LDC query have none, since each is drawn as a whole.
    """
    # There are many queries, and few groups of everything else: what is counted is put together for those once.
    without_queries: Counter[tuple[Key, judging.Labels]] = Counter()
    for (key, labels), times in table.facts.items():
        without_queries[key[:-1], labels] += times
    total = sum(cell.mistakes for cell in grouped(without_queries, ()).values())
    found = {}
    for name in dict.fromkeys((*DIMENSIONS, *by)):
        dimensions = name.split(BETWEEN)
        has_queries, has_recall = DIMENSIONS[-1] in dimensions, RUN_ONLY.isdisjoint(dimensions)
        cells = grouped(table.facts if has_queries else without_queries, dimensions)
        intervals: Mapping[Key, Mapping[str, Interval]] = {}
        if resampling is not None and units and not has_queries:
            intervals = dict(_intervals(table.facts, dimensions, units, resampling))
        scored = _SCORES if has_recall else _SCORES[:1]
        found[name] = [
            Group(
                group=", ".join(values),
                values=values if len(values) > 1 else UNSET,
                counts=asdict(counts),
                precision=counts.precision,
                recall=counts.recall if has_recall else None,
                f1=counts.f1 if has_recall else None,
                mistakes=mistakes,
                share=divide(mistakes, total),
                intervals={name: intervals[values][name] for name in scored} if intervals else UNSET,
            )
            for values, (counts, mistakes) in sorted(
                cells.items(), key=lambda item: (-item[1].mistakes, *map(place, item[0]))
            )
        ]
    return found


_AT_ONCE: Final = 64
"""Groups whose resamples are held in memory at the same time."""


def _intervals(
    facts: Facts, dimensions: Sequence[str], units: Sequence[str], resampling: Resampling
) -> Iterator[tuple[Key, dict[str, Interval]]]:
    of_group: dict[Key, dict[str, judging.Counts]] = defaultdict(dict)
    for (*values, unit), cell in grouped(facts, (*dimensions, DIMENSIONS[-1])).items():
        of_group[tuple(values)][unit] = cell.counts
    names = list(of_group)
    for some in (names[start : start + _AT_ONCE] for start in range(0, len(names), _AT_ONCE)):
        counts = [[of_group[name].get(unit, _NOTHING) for name in some] for unit in units]
        rows = [[n for each in row for n in (each.right, each.answered, each.ground_truth)] for row in counts]
        found = iter(bootstrap_intervals(rows, _scores, resampling, units=units))
        for name in some:
            yield name, dict(zip(_SCORES, found))


def _scores(sums: Sequence[Any], divide: Callable[[Any, Any], Any]) -> list[Any]:
    """Precision, recall and F1 of each group, from its right and answered lines and its ground truth."""
    groups = zip(sums[::3], sums[1::3], sums[2::3])
    return [score for group in groups for score in precision_recall_f1(*group, divide)]


# ---- What wrong lines say instead

MOST_VALUES: Final = 100
"""Wrong values that are listed."""


class SlotCategory(Record):
    """How many lines of a slot are of a category before the policies."""

    slot: str
    category: str
    count: int


class WrongValue(Record):
    """How many lines of a slot that count as wrong give a value."""

    slot: str
    value: str
    count: int


class NearMisses(Record):
    """Of the lines of a category that are neither right nor correct, how many are near to what the pool has.

    `same_place`: the pool has their value provenance with another value; `same_value`: it has their value with another
    value provenance, both for the same LDC query and hop. `..._accepted`: such an answer of the pool is correct or
    inexact. A line may be both.
    """

    category: str
    lines: int
    same_place: int
    same_place_accepted: int
    same_value: int
    same_value_accepted: int


class Confusions(Record):
    """Lines by slot and category; the most frequent wrong values; lines near to what the pool has."""

    slots: Sequence[SlotCategory]
    wrong_values: Sequence[WrongValue]
    near: Sequence[NearMisses]


def confusions_of(scored: Scored, table: CountedTable) -> Confusions:
    """The confusions of the lines of a table."""
    slots = [
        SlotCategory(slot, category, cell.counts.submitted)
        for (slot, category), cell in grouped(table.facts, ("slot", "category")).items()
        if category != MISSED
    ]
    often = Counter(
        (row.slot, line.value) for row in table.rows for line, labels, _ in lines_of(row) if WRONG in labels
    )
    values = [WrongValue(slot, value, count) for (slot, value), count in often.items()]
    return Confusions(
        sorted(slots, key=lambda each: (each.slot, -each.count, each.category)),
        sorted(values, key=lambda each: (-each.count, each.slot, each.value))[:MOST_VALUES],
        _near_misses(scored, table.rows),
    )


def _near_misses(scored: Scored, rows: Sequence[CountedRow]) -> list[NearMisses]:
    """The near misses of each category, the one with the most lines first."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
    for _, of_unit in groupby(rows, key=lambda row: row.unit.id):
        members = list(of_unit)
        queries = (query.query.base_id for query in members[0].unit.queries)
        pool = [each for base_id in queries for each in scored.run.gold.assessed.get(base_id, ())]
        # Hop, value and canonical value provenance (the place) of all answers, then of the accepted ones.
        known = [
            {(each.query.level, each.value, each.provenance) for each in pool if each.is_accepted or not accepted}
            for accepted in (False, True)
        ]
        at_place = [Counter((level, place) for level, _, place in answers) for answers in known]
        of_value = [Counter((level, value) for level, value, _ in answers) for answers in known]
        for line, labels in ((line, labels) for row in members for line, labels, _ in lines_of(row)):
            category = judging.category_in(labels)
            if RIGHT in labels or category == CORRECT:
                continue
            level, (_, value, place) = line.query.level, line.answer
            found[category][0] += 1
            for at, answers in enumerate(known):
                own = (level, value, place) in answers
                found[category][1 + at] += at_place[at][level, place] > own
                found[category][3 + at] += of_value[at][level, value] > own
    ordered = sorted(found.items(), key=lambda item: (-item[1][0], item[0]))
    return [NearMisses(category, *counts) for category, counts in ordered]


class Structure(Record):
    """Nodes whose lines are of several classes, classes whose lines are in several nodes, lines beyond a limit."""

    merged_nodes: int
    split_classes: int
    discarded_lines: int


def structure_of(scored: Scored) -> Structure:
    """Count these; a line belongs to the class of its assessment where that is accepted."""
    classes: dict[str, set[str]] = defaultdict(set)
    nodes: dict[str, set[str]] = defaultdict(set)
    discarded = 0
    for _, line, assessment in scored.lines():
        discarded += line.index in scored.run.discarded
        if assessment is not None and assessment.is_accepted and line.node is not None:
            classes[line.node].add(assessment.value_class)
            nodes[assessment.value_class].add(line.node)
    merged, split = (sum(len(of_one) > 1 for of_one in groups.values()) for groups in (classes, nodes))
    return Structure(merged, split, discarded)
