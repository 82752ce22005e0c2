"""What a table counts, line by line and class by class, and the groups of each (insight specification 4.3).

The table is that of the measure that is asked about, at its hop. LDC-MAX counts the entry points that represent their
LDC queries (specification 8.2). LDC-MEAN and average precision count nothing: what they are means of are the rows of
SF.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, TypeAlias, TypeGuard

from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.coldstart.sections.mistakes import MISSED, MissedClass, Mistakes
from cs_score.analysis.grouping import UNKNOWN
from cs_score.base.records import Record
from cs_score.coldstart.judging import (
    UNASSESSED,
    Counts,
    Labels,
    Tally,
    category_in,
    counts_of,
    is_wrong_bin,
    sum_counts,
)
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.options import RIGHT, WRONG
from cs_score.coldstart.projection import ALL_LEVELS, representatives
from cs_score.coldstart.queries import Query, language_code
from cs_score.coldstart.result import UnitResult
from cs_score.measures.measure import Measure
from cs_score.measures.registry import LDC_MAX, SF

DIMENSIONS: Final = (
    "slot", "hop", "entity_type", "value_type", "language", "judgment", "mention_type", "category", "ldc_query",
)  # fmt: skip
"""What lines and classes are told apart by."""

RUN_ONLY: Final = frozenset({"value_type", "category"})
"""Dimensions that the pool tells nothing about: of a class that was not found nobody knows its group."""

Key: TypeAlias = tuple[str, ...]
"""The group of a line or class in each of the dimensions, in their order."""


class CountedRow(Record):
    """A row of the table: a query or class, and the unit that it was scored in."""

    query: Query
    tally: Tally
    unit: UnitResult

    @property
    def hop(self) -> int:
        """The hop of its answers."""
        return self.tally.name.count(":")

    @property
    def slot(self) -> str:
        """The slot that its answers fill."""
        return self.query.slot_at(self.hop) or UNKNOWN


class Cell(Record):
    """What is counted of the lines and classes that share the groups of all dimensions; and the mistakes among them."""

    counts: Counts
    mistakes: int


class CountedTable(Record):
    """A measure's table: its name (`SF`, `LDC-MAX`, of one hop `SF@1`), its rows, and what they count by groups."""

    name: str
    rows: Sequence[CountedRow]
    cells: Mapping[Key, Cell]


def counted_table(scored: Scored, measure: Measure, mistakes: Iterable[Mistakes]) -> CountedTable:
    """What the measure's table counts; `mistakes` are those of the run."""
    table = LDC_MAX if measure.table == LDC_MAX else SF
    name = table if measure.hop is None else f"{table}@{measure.hop}"
    rows = counted_rows(scored, measure)
    missed = (missed for of_unit in mistakes for missed in of_unit.classes)
    return CountedTable(name, rows, cells_of(scored, rows, missed))


def counted_rows(scored: Scored, measure: Measure) -> list[CountedRow]:
    """The rows of the measure's table and hop, in the order of units."""
    chosen = None
    if measure.table == LDC_MAX:
        chosen = representatives(scored.result.tables.sf, scored.run.gold.table)
    rows = (
        CountedRow(query.query, tally, unit)
        for unit in scored.result.units
        for query in unit.queries
        if chosen is None or query.query.short_id in chosen
        for tally in query.tallies
    )
    return [row for row in rows if measure.level in (ALL_LEVELS, str(row.hop))]


def cells_of(scored: Scored, rows: Sequence[CountedRow], missed: Iterable[MissedClass]) -> Mapping[Key, Cell]:
    """What the rows count, by groups; all cells together are the total of the table.

    `missed` are the classes that the run has missed. A class to be found stands in the groups of the line that found
    it, else in those of the answer of the pool that would (its first correct one).
    """
    missed_in: dict[str, list[MissedClass]] = defaultdict(list)
    for each in missed:
        missed_in[each.row].append(each)
    lines: Counter[tuple[Key, Labels]] = Counter()
    to_find: Counter[Key] = Counter()
    mistakes: Counter[Key] = Counter()
    for row in rows:
        of_row = row.slot, str(row.hop), row.query.entity_type or UNKNOWN
        unit = scored.result.unit_of[row.query.full_id]
        found: dict[str, Key] = {}
        for line, labels, assessment in lines_of(row):
            key = (*of_row, *_of_line(line, labels, assessment), unit)
            lines[key, labels] += 1
            if RIGHT in labels and _finds_class(assessment, row):
                found.setdefault(assessment.value_class, key)
        left = row.tally.counts.ground_truth
        keys = [*islice(found.values(), left)]
        not_found = [(*of_row, *_of_missed(each.assessment), unit) for each in missed_in.get(row.tally.name, ())]
        mistakes.update(not_found)
        keys += not_found
        to_find.update(keys)
        if left > len(keys):
            to_find[*of_row, *_UNTOLD, unit] += left - len(keys)
    return _cells(lines, to_find, mistakes)


def together(cells: Sequence[Cell]) -> Cell:
    """What is counted in several cells."""
    if len(cells) == 1:
        return cells[0]
    return Cell(sum_counts(cell.counts for cell in cells), sum(cell.mistakes for cell in cells))


def lines_of(row: CountedRow) -> Iterator[tuple[Response, Labels, Assessment | None]]:
    """The lines of a row with their labels and the assessments that they met."""
    labels, matched = row.unit.labels, row.unit.matched
    for line in row.tally.responses:
        yield line, labels[line.index], matched.get(line.index)


def _finds_class(assessment: Assessment | None, row: CountedRow) -> TypeGuard[Assessment]:
    """Whether a line with this assessment finds a class of the ground truth, if it counts as right."""
    return (
        assessment is not None
        and assessment.is_accepted
        and not is_wrong_bin(assessment.value_class, row.query.full_id)
    )


def _of_line(line: Response, labels: Labels, assessment: Assessment | None) -> Key:
    language = language_code(line.docid) or UNKNOWN
    value_type = sys.intern(line.text.split("\t", 6)[5].lower())
    if assessment is None:
        return value_type, language, UNASSESSED, UNKNOWN, category_in(labels)
    mention = assessment.value_mention or UNKNOWN
    return value_type, language, assessment.judgment, mention, category_in(labels)


def _of_missed(assessment: Assessment) -> Key:
    language = language_code(assessment.docid) or UNKNOWN
    return UNKNOWN, language, assessment.judgment, assessment.value_mention or UNKNOWN, MISSED


_UNTOLD: Final = (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, MISSED)


def _cells(
    lines: Mapping[tuple[Key, Labels], int], to_find: Mapping[Key, int], missed: Mapping[Key, int]
) -> dict[Key, Cell]:
    counts: dict[Key, Counts] = {}
    mistakes = Counter(missed)
    for (key, labels), times in lines.items():
        more = counts_of(labels, times)
        counts[key] = sum_counts((counts[key], more)) if key in counts else more
        if WRONG in labels:
            mistakes[key] += times
    for key, times in to_find.items():
        counts[key] = counts.get(key, _NOTHING)._replace(ground_truth=times)
    found: dict[Key, Cell] = {}
    shared: dict[Cell, Cell] = {}  # few cells differ from all others: 25 of 50 MB for 300,000 lines
    for key in dict.fromkeys((*counts, *mistakes)):
        cell = Cell(counts.get(key, _NOTHING), mistakes[key])
        found[key] = shared.setdefault(cell, cell)
    return found


_NOTHING: Final = Counts()
