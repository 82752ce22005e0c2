"""Count wrong lines by slot and category, by value, and by their nearness to answers of the pool. A line is a response
of a run, and its category says what is wrong. The pool holds the answers that people assessed, each with its value and
its place in a document.

Nodes that merge several equivalence classes are counted, too, and classes that are split over several nodes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from cs_score.analysis.coldstart.counted_table import CountedRow, CountedTable, count_groups
from cs_score.analysis.coldstart.faults import MISSED
from cs_score.analysis.coldstart.scored import AnalysedRun
from cs_score.base.records import Record
from cs_score.coldstart.judging import category_in
from cs_score.coldstart.lines import CORRECT, Assessment, Response
from cs_score.coldstart.options import RIGHT, WRONG
from cs_score.coldstart.result import UnitResult

MOST_VALUES: Final = 100
"""The most wrong values that are listed."""


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


def confusions_of(scored: AnalysedRun, table: CountedTable) -> Confusions:
    """Return the counts of wrong lines among the lines that a table counts."""
    return Confusions(_slot_categories(table), _wrong_values(table.rows), _near_misses(scored, table.rows))


def _slot_categories(table: CountedTable) -> list[SlotCategory]:
    """Return the number of lines of each slot and category, sorted by slot, its most frequent category first."""
    slot_categories = []
    for (slot, category), group_counts in count_groups(table.entry_counts, ["slot", "category"]).items():
        if category != MISSED:  # missed classes are no lines
            line_count = group_counts.counts.submitted
            slot_categories.append(SlotCategory(slot, category, line_count))
    return sorted(slot_categories, key=lambda row: (row.slot, -row.count, row.category))


def _wrong_values(rows: Iterable[CountedRow]) -> list[WrongValue]:
    """Return the values of wrong lines with their slot and number of lines, the most frequent ones first.

    At most `MOST_VALUES` values are returned.
    """
    count_by_value: Counter[tuple[str, str]] = Counter()
    for row in rows:
        for scored_line in row.lines():
            line = scored_line.line
            if WRONG in scored_line.unit.labels_by_index[line.index]:
                count_by_value[row.slot, line.value] += 1
    wrong_values = [WrongValue(slot, value, count) for (slot, value), count in count_by_value.items()]
    wrong_values.sort(key=lambda wrong_value: (-wrong_value.count, wrong_value.slot, wrong_value.value))
    return wrong_values[:MOST_VALUES]


# ---- Near misses


class _PoolAnswer(NamedTuple):
    """An answer by its hop, its value, and its canonical value provenance, which is called its place."""

    hop: int
    value: str
    place: str


class _PoolIndex:
    """Answers of the pool to the queries of a unit, with their numbers at each place and of each value."""

    def __init__(self, assessments: Iterable[Assessment]) -> None:
        """Count the assessed answers at each place and of each value, so that near answers can be looked up.

        An answer that was assessed several times counts once.
        """
        self._answers: set[_PoolAnswer] = set()
        for assessment in assessments:
            hop = assessment.query.level
            self._answers.add(_PoolAnswer(hop, value=assessment.value, place=assessment.value_provenance))
        self._count_by_place = Counter([(answer.hop, answer.place) for answer in self._answers])
        self._count_by_value = Counter([(answer.hop, answer.value) for answer in self._answers])

    def has_place_with_other_value(self, answer: _PoolAnswer) -> bool:
        """Return whether the pool has another value at the place of an answer."""
        own_count = 1 if answer in self._answers else 0
        return self._count_by_place[answer.hop, answer.place] > own_count

    def has_value_at_other_place(self, answer: _PoolAnswer) -> bool:
        """Return whether the pool has the value of an answer at another place."""
        own_count = 1 if answer in self._answers else 0
        return self._count_by_value[answer.hop, answer.value] > own_count


def _near_misses(scored: AnalysedRun, rows: Iterable[CountedRow]) -> list[NearMisses]:
    """Return how many wrong lines of each category are near answers of the pool.

    A line is near an answer if both have the same place or the same value. `rows` are the rows of the score table; each
    row has the lines that it counts and the unit of its query. The category with the most lines comes first. Two kinds
    of lines are not counted: those with the label RIGHT under the policy, and those of the category CORRECT, even if
    the policy counts them as wrong.
    """
    rows_by_unit: dict[str, list[CountedRow]] = defaultdict(list)
    for row in rows:
        rows_by_unit[row.unit.id].append(row)
    counter_by_category: dict[str, _NearMissCounter] = defaultdict(_NearMissCounter)
    for rows_of_unit in rows_by_unit.values():
        pool = _pool_of_unit(scored, rows_of_unit[0].unit)
        for category, line in _wrong_lines(rows_of_unit):
            counter_by_category[category].add(line, pool)
    near_misses = [counter.near_misses(category) for category, counter in counter_by_category.items()]
    return sorted(near_misses, key=lambda row: (-row.lines, row.category))


def _wrong_lines(rows: Iterable[CountedRow]) -> Iterator[tuple[str, Response]]:
    """Yield the category and the response of each line in the rows, except for right lines and correct lines.

    A right line has the label RIGHT under the policy. A correct line was assessed as correct: its category is CORRECT,
    but the policy may count it as wrong, for example as redundant.
    """
    for row in rows:
        for scored_line in row.lines():
            labels = scored_line.unit.labels_by_index[scored_line.line.index]
            category = category_in(labels)
            if RIGHT not in labels and category != CORRECT:
                yield category, scored_line.line


class _PoolOfUnit(NamedTuple):
    """What the pool has about the queries of a unit: all answers, and those that are correct or inexact."""

    all_answers: _PoolIndex
    accepted_answers: _PoolIndex


def _pool_of_unit(scored: AnalysedRun, unit: UnitResult) -> _PoolOfUnit:
    """Return two indexes of the pool's answers to the queries of a unit: one of all answers, one of accepted answers.

    Answers to follow-on queries are included, because these have the same base id as the queries of the unit.
    """
    assessments: list[Assessment] = []
    for result in unit.queries:
        assessments += scored.run.gold.assessments_by_query.get(result.query.base_id, ())
    accepted_assessments = [assessment for assessment in assessments if assessment.is_accepted]
    return _PoolOfUnit(_PoolIndex(assessments), _PoolIndex(accepted_assessments))


class _NearMissCounter:
    """Counts the lines of one category, and how many of them are near to answers of the pool."""

    def __init__(self) -> None:
        """Begin with no lines; `add` counts them."""
        self._line_count = 0
        self._same_place_count = 0
        self._same_place_accepted_count = 0
        self._same_value_count = 0
        self._same_value_accepted_count = 0

    def add(self, line: Response, pool: _PoolOfUnit) -> None:
        """Count a line, and whether it is near an answer of the pool and near an accepted answer.

        A line is near an answer that has the same place but a different value, or the same value at a different place.
        """
        _, value, place = line.answer
        answer = _PoolAnswer(hop=line.query.level, value=value, place=place)
        self._line_count += 1
        self._same_place_count += pool.all_answers.has_place_with_other_value(answer)
        self._same_place_accepted_count += pool.accepted_answers.has_place_with_other_value(answer)
        self._same_value_count += pool.all_answers.has_value_at_other_place(answer)
        self._same_value_accepted_count += pool.accepted_answers.has_value_at_other_place(answer)

    def near_misses(self, category: str) -> NearMisses:
        """Return the counts as a row for the category, such as `INCORRECT`."""
        return NearMisses(
            category=category,
            lines=self._line_count,
            same_place=self._same_place_count,
            same_place_accepted=self._same_place_accepted_count,
            same_value=self._same_value_count,
            same_value_accepted=self._same_value_accepted_count,
        )


# ---- Nodes and classes


class Structure(Record):
    """Nodes whose lines are of several classes, classes whose lines are in several nodes, lines beyond a limit."""

    merged_nodes: int
    split_classes: int
    discarded_lines: int


def structure_of(scored: AnalysedRun) -> Structure:
    """Return how many nodes merge classes, how many classes are split over nodes, and how many lines are discarded.

    A node merges classes if its lines belong to several; a class is split if its lines are on several nodes. A line
    belongs to the class of its assessment if the assessment accepts it.
    """
    classes_by_node: dict[str, set[str]] = defaultdict(set)
    nodes_by_class: dict[str, set[str]] = defaultdict(set)
    discarded_lines = 0
    for _, line, assessment in scored.lines():
        if line.index in scored.run.discard_by_index:
            discarded_lines += 1
        if assessment is not None and assessment.is_accepted and line.node is not None:
            classes_by_node[line.node].add(assessment.value_class)
            nodes_by_class[assessment.value_class].add(line.node)
    return Structure(_count_several(classes_by_node), _count_several(nodes_by_class), discarded_lines)


def _count_several(members_by_name: Mapping[str, set[str]]) -> int:
    """Return how many names have more than one member: `{"a": {1, 2}, "b": {1}}` gives 1."""
    return len([members for members in members_by_name.values() if len(members) > 1])
