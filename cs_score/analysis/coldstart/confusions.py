"""What wrong lines say instead: categories by slot, frequent wrong values, near misses (insight specification 4.4)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import groupby
from typing import Final, TypeAlias

from cs_score.analysis.coldstart.groups import CountedRow, CountedTable, lines_of, members_of
from cs_score.analysis.coldstart.mistakes import MISSED
from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.records import Record
from cs_score.coldstart.judging import category_in
from cs_score.coldstart.lines import CORRECT
from cs_score.coldstart.options import RIGHT, WRONG
from cs_score.coldstart.result import UnitResult

MOST_VALUES: Final = 100
"""Wrong values that are listed."""


PoolAnswer: TypeAlias = tuple[int, str, str]
"""A hop, a value, and its canonical value provenance: the place."""


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
        SlotCategory(slot, category, sum(cell.counts.submitted for cell in members))
        for (slot, category), members in members_of(table.cells, ("slot", "category")).items()
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
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
    for _, of_unit in groupby(rows, key=lambda row: row.unit.id):
        members = list(of_unit)
        pool = _answers(scored, members[0].unit)
        at_place = [Counter((level, place) for level, _, place in answers) for answers in pool]
        of_value = [Counter((level, value) for level, value, _ in answers) for answers in pool]
        for line, labels in ((line, labels) for row in members for line, labels, _ in lines_of(row)):
            category = category_in(labels)
            if RIGHT in labels or category == CORRECT:
                continue
            level, (_, value, place) = line.query.level, line.answer
            found = counts[category]
            found[0] += 1
            for at, answers in enumerate(pool):  # all, then the accepted ones
                own = (level, value, place) in answers
                found[1 + at] += at_place[at].get((level, place), 0) > own
                found[3 + at] += of_value[at].get((level, value), 0) > own
    ordered = sorted(counts.items(), key=lambda item: (-item[1][0], item[0]))
    return [NearMisses(category, *found) for category, found in ordered]


def _answers(scored: Scored, unit: UnitResult) -> tuple[set[PoolAnswer], set[PoolAnswer]]:
    """What the pool has for the queries of a unit: all answers, and those that are correct or inexact."""
    known: set[PoolAnswer] = set()
    accepted: set[PoolAnswer] = set()
    for query in unit.queries:
        for assessment in scored.run.gold.assessed.get(query.query.base_id, ()):
            _, value, place = assessment.answer
            answer = assessment.query.level, value, place
            known.add(answer)
            if assessment.is_accepted:
                accepted.add(answer)
    return known, accepted


class Structure(Record):
    """Nodes whose lines are of several classes, classes whose lines are in several nodes, lines beyond a limit."""

    merged_nodes: int
    split_classes: int
    discarded_lines: int


def structure_of(scored: Scored) -> Structure:
    """Count the nodes that merge classes, the classes that are split, and the lines discarded by a limit.

    A line belongs to the class of its assessment where that is accepted.
    """
    classes: dict[str, set[str]] = defaultdict(set)
    nodes: dict[str, set[str]] = defaultdict(set)
    discarded = 0
    for unit in scored.result.units:
        for lines in scored.run.lines.get(scored.run_id, {}).get(unit.id, {}).values():
            for line in lines:
                discarded += line.index in scored.run.discarded
                assessment = unit.matched.get(line.index)
                if assessment is not None and assessment.is_accepted and line.node is not None:
                    classes[line.node].add(assessment.value_class)
                    nodes[assessment.value_class].add(line.node)
    return Structure(
        sum(len(of_node) > 1 for of_node in classes.values()),
        sum(len(of_class) > 1 for of_class in nodes.values()),
        discarded,
    )
