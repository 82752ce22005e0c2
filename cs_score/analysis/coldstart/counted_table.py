"""Count the lines and equivalence classes of a measure's table by groups, such as slot or language. A row of the table
counts the lines that answer a query, and the classes (answers of the pool that mean the same) to be found there. Each
line or class is an entry with its groups and labels.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from cs_score.analysis.coldstart.faults import MISSED, RunFault
from cs_score.analysis.coldstart.scored import AnalysedRun, ScoredLine
from cs_score.analysis.outcomes import UNKNOWN
from cs_score.base.records import Record, replace
from cs_score.coldstart import judging
from cs_score.coldstart.judging import Counts, Labels
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.options import RIGHT, WRONG
from cs_score.coldstart.queries import Query, language_code
from cs_score.coldstart.result import ALL_LEVELS, QueryResult, UnitResult, best_entry_point
from cs_score.measures import LDC_MAX, SF, Measure

DIMENSIONS: Final = (
    "slot", "hop", "entity_type", "value_type", "language", "judgment", "mention_type", "category", "ldc_query",
)  # fmt: skip
"""The dimensions by which lines and classes are grouped."""

DIMENSIONS_OF_RUNS_ONLY: Final = frozenset({"value_type", "category"})
"""Dimensions that the pool does not know: a class that was not found has no group there."""

GroupNames: TypeAlias = tuple[str, ...]
"""The names of the groups that something belongs to, one for each of some dimensions: `("per:children", "0")`."""


class CountedRow(Record):
    """A row of the table with the query, hop and slot of the answers that it counts, and the unit of the query."""

    query: Query
    hop: int
    slot: str
    tally: judging.Tally
    unit: UnitResult

    def lines(self) -> Iterator[ScoredLine]:
        """Yield the lines that are counted in the row, each with its unit and its assessment if it has one."""
        for line in self.tally.responses:
            yield ScoredLine(self.unit, line, self.unit.assessment_by_index.get(line.index))


_TO_FIND: Final[Labels] = ("TO_FIND",)
"""The labels of an entry for a class of the ground truth. `Labels` is a tuple of one label or several."""

_NOT_FOUND: Final[Labels] = (MISSED,)
"""The labels of a second entry for such a class, if it was not found."""


class _EntryGroups(NamedTuple):
    """The names of the groups of a table entry, one for each dimension, in the order of the dimensions."""

    slot: str
    hop: str
    entity_type: str
    value_type: str
    language: str
    judgment: str
    mention_type: str
    category: str
    ldc_query: str


class TableEntry(NamedTuple):
    """A line or an equivalence class of a table, with its group in each dimension and its labels.

    A class of the ground truth has the labels `_TO_FIND`; if it was not found, it has a second entry with the labels
    `_NOT_FOUND`.
    """

    groups: GroupNames
    labels: Labels


EntryCounts: TypeAlias = Mapping[TableEntry, int]
"""How many lines or classes have the same groups and labels."""


class CountedTable(Record):
    """The table of a measure with everything that it counts.

    Its `name` is `SF` or `LDC-MAX`, `SF@1` for one hop. All `entry_counts` together are the totals of the table.
    """

    name: str
    rows: Sequence[CountedRow]
    entry_counts: EntryCounts


def count_table(scored: AnalysedRun, measure: Measure, faults: Iterable[RunFault]) -> CountedTable:
    """Return the table of a measure with the lines and classes that it counts; `faults` are all faults of the run.

    The LDC-MAX table counts the entry point that represents each LDC query. For LDC-MEAN and average precision the SF
    table is returned, since these are means over rows of it and count nothing themselves.
    """
    missed_by_row = _missed_classes_by_row(faults)
    table = LDC_MAX if measure.table == LDC_MAX else SF
    # A measure without a hop is about all hops; its level is `ALL`.
    name = table if measure.hop is None else f"{table}@{measure.hop}"
    rows = _rows_of_table(scored, table, measure.level)
    entry_counts: Counter[TableEntry] = Counter()
    for row in rows:
        ldc_query = scored.result.cluster_by_query[row.query.full_id]
        entry_counts.update(_entries_of_row(row, ldc_query, missed_by_row.get(row.tally.name, ())))
    return CountedTable(name, rows, entry_counts)


def _missed_classes_by_row(faults: Iterable[RunFault]) -> dict[str, list[RunFault]]:
    """Return the classes that were not found, by the name of the row that would count them: `CS17_ENG_0001:2`."""
    missed_by_row: dict[str, list[RunFault]] = defaultdict(list)
    for fault in faults:
        if fault.kind == "class":
            missed_by_row[fault.row].append(fault)
    return missed_by_row


def _rows_of_table(scored: AnalysedRun, table: str, level: str) -> list[CountedRow]:
    """Return the rows of the SF or LDC-MAX table at a hop.

    The `level` is the hop, or `ALL` for the rows of all hops.
    """
    best_entry_points = _best_entry_points(scored)
    rows: list[CountedRow] = []
    for unit in scored.result.units:
        for result in unit.queries:
            if table == SF or result.query.short_id in best_entry_points:
                rows += _rows_of_query(result, unit, level)
    return rows


def _best_entry_points(scored: AnalysedRun) -> set[str]:
    """Return the short ids of the entry points with the highest F1, one for each LDC query (rule ldc-max)."""
    ldc_queries = scored.result.tables.ldc_queries
    return {best_entry_point(ldc_query.entry_points).short_id for ldc_query in ldc_queries}


def _rows_of_query(result: QueryResult, unit: UnitResult, level: str) -> list[CountedRow]:
    """Return the rows of a query at a hop, or at all hops if the `level` is `ALL`."""
    rows = []
    for tally in result.tallies:
        hop = tally.name.count(":")  # `CS17_ENG_0001` is the row of hop 0, `CS17_ENG_0001:2` one of hop 1
        if level in (ALL_LEVELS, str(hop)):
            slot = result.query.slot_at(hop) or UNKNOWN
            rows.append(CountedRow(result.query, hop, slot, tally, unit))
    return rows


def _entries_of_row(row: CountedRow, ldc_query: str, missed_classes: Iterable[RunFault]) -> list[TableEntry]:
    """Return the entries of a row: one for each line, each class that was not found, and each class to find.

    A class that was not found has two entries, one as a mistake and one as a class of the ground truth.
    `missed_classes` are the classes that were not found. `ldc_query` is the group of all entries in the dimension
    `ldc_query`.
    """
    # The groups of all entries of the row, such as its slot. Groups of single entries, such as languages, are UNKNOWN.
    groups_from_row = _groups_known_from_row(row, ldc_query)
    counted_lines = [_counted_line(scored_line, row, groups_from_row) for scored_line in row.lines()]
    groups_of_missed = [_groups_of_missed_class(fault, groups_from_row) for fault in missed_classes]
    # The classes to find are the found classes, the missed classes with an answer in the pool, and all others.
    groups_to_find = _groups_of_found_classes(counted_lines, row) + groups_of_missed
    # The others have no answer in the pool from which their groups could be known.
    unknown_count = row.tally.counts.ground_truth - len(groups_to_find)
    groups_to_find += [groups_from_row] * unknown_count
    entries = [line.entry for line in counted_lines]
    entries += [TableEntry(groups, _NOT_FOUND) for groups in groups_of_missed]
    entries += [TableEntry(groups, _TO_FIND) for groups in groups_to_find]
    return entries


def _groups_known_from_row(row: CountedRow, ldc_query: str) -> _EntryGroups:
    """Return the groups of a missed class about which only its row and its LDC query are known."""
    return _EntryGroups(
        slot=row.slot,
        hop=str(row.hop),
        entity_type=row.query.entity_type or UNKNOWN,
        value_type=UNKNOWN,
        language=UNKNOWN,
        judgment=UNKNOWN,
        mention_type=UNKNOWN,
        category=MISSED,
        ldc_query=ldc_query,
    )


def _groups_of_missed_class(fault: RunFault, groups_from_row: _EntryGroups) -> GroupNames:
    """Return the groups of a class that was not found, from the answer of the pool that would find it.

    `groups_from_row` are the groups of the class that are known from its row.
    """
    answer = fault.missed_answer
    assert answer is not None  # the fault is a missed class
    return groups_from_row._replace(
        language=language_code(answer.docid) or UNKNOWN,
        judgment=answer.judgment,
        mention_type=answer.value_mention or UNKNOWN,
    )


class _CountedLine(NamedTuple):
    """The entry of a line in a table, and the class of the ground truth that the line found (None for no class)."""

    entry: TableEntry
    found_class: str | None


def _counted_line(scored_line: ScoredLine, row: CountedRow, groups_of_row: _EntryGroups) -> _CountedLine:
    """Return the entry of a line in the table, with the class that the line found (None if it found no class).

    The line is counted in the `row`; `groups_of_row` has the slot, the hop and the other groups of the row.
    """
    _, line, assessment = scored_line
    labels = row.unit.labels_by_index[line.index]
    _, _, _, _, _, value_type, _ = line.text.split("\t", 6)  # the value type is in column 6 of a run
    language, judgment, mention_type = _line_groups(line, assessment)
    groups = _EntryGroups(
        slot=groups_of_row.slot,
        hop=groups_of_row.hop,
        entity_type=groups_of_row.entity_type,
        value_type=sys.intern(value_type.lower()),  # lines share few value types; one text for each saves memory
        language=language,
        judgment=judgment,
        mention_type=mention_type,
        category=judging.category_in(labels),
        ldc_query=groups_of_row.ldc_query,
    )
    found_class = None
    if RIGHT in labels and assessment is not None and _is_of_ground_truth(assessment, row.query):
        found_class = assessment.value_class
    return _CountedLine(TableEntry(groups, labels), found_class)


def _is_of_ground_truth(assessment: Assessment, query: Query) -> bool:
    """Return whether an assessment accepts its answer, and puts it in a class of the query's ground truth."""
    return assessment.is_accepted and not judging.is_wrong_bin(assessment.value_class, query.full_id)


def _groups_of_found_classes(counted_lines: Iterable[_CountedLine], row: CountedRow) -> list[GroupNames]:
    """Return the groups of the first line that found a class, for each class that a row counts as found."""
    groups_by_class: dict[str, GroupNames] = {}
    for line in counted_lines:
        if line.found_class is not None:
            groups_by_class.setdefault(line.found_class, line.entry.groups)
    # A row for a single value has a ground truth of 1: it counts one class, no matter how many classes its lines have
    # found. All other rows have at least as many classes in their ground truth as their lines have found.
    class_count = row.tally.counts.ground_truth
    return list(groups_by_class.values())[:class_count]


def _line_groups(line: Response, assessment: Assessment | None) -> tuple[str, str, str]:
    """Return the language of a line's document, and the judgment and mention type of its assessment."""
    language = language_code(line.docid) or UNKNOWN
    if assessment is None:
        return language, judging.UNASSESSED, UNKNOWN
    return language, assessment.judgment, assessment.value_mention or UNKNOWN


class GroupCounts(NamedTuple):
    """The counts of a group, and how many mistakes are in it: wrong lines and classes not found."""

    counts: Counts
    mistakes: int


_NO_COUNTS: Final = Counts()


def count_groups(entry_counts: EntryCounts, dimensions: Sequence[str]) -> dict[GroupNames, GroupCounts]:
    """Return the counts of each group of some dimensions, which are crossed if there are several.

    With the dimensions `["slot", "hop"]` the key of a group is `("per:children", "0")`; without any dimension there is
    one group, `()`, which has everything.
    """
    positions = [DIMENSIONS.index(dimension) for dimension in dimensions]
    label_counts_by_group: dict[GroupNames, Counter[Labels]] = defaultdict(Counter)
    for (groups, labels), count in entry_counts.items():
        names = tuple([groups[position] for position in positions])
        label_counts_by_group[names][labels] += count
    return {names: _sum_labels(label_counts) for names, label_counts in label_counts_by_group.items()}


def _sum_labels(label_counts: Counter[Labels]) -> GroupCounts:
    """Return the counts of a group: its right, wrong and other lines, its classes to find, and its mistakes.

    `label_counts` has the number of its entries with the same labels, which are a tuple: `{("CORRECT", "RIGHT"): 12}`.
    A class of the ground truth has an entry `_TO_FIND`, and a second entry `_NOT_FOUND` if the run missed it. All other
    entries are lines.
    """
    counts_of_lines = _NO_COUNTS
    wrong_line_count = 0
    for labels, entry_count in label_counts.items():
        if labels in (_TO_FIND, _NOT_FOUND):
            continue
        counts_of_lines = judging.sum_counts([counts_of_lines, judging.counts_of(labels, entry_count)])
        if WRONG in labels:
            wrong_line_count += entry_count
    return GroupCounts(
        counts=replace(counts_of_lines, ground_truth=label_counts[_TO_FIND]),
        mistakes=wrong_line_count + label_counts[_NOT_FOUND],
    )
