"""What a table counts, line by line and class by class, by groups, with intervals (insight specification 4.3, 4.8).

The table is that of the measure that is asked about, at its hop. LDC-MAX counts the entry points that represent their
LDC queries (specification 8.2). LDC-MEAN and average precision count nothing: what they are means of are the rows of
SF.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard

from cs_score.analysis.coldstart.mistakes import MISSED, MissedClass, Mistakes
from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.outcomes import UNKNOWN, place
from cs_score.base.errors import UsageError
from cs_score.base.nearest import nearest
from cs_score.base.records import Record, replace
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
from cs_score.coldstart.queries import Query, language_code
from cs_score.coldstart.result import ALL_LEVELS, UnitResult, representatives
from cs_score.measures.formulas import divide, precision_recall_f1
from cs_score.measures.measure import Measure
from cs_score.measures.registry import LDC_MAX, SF
from cs_score.statistics.options import Resampling

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


if TYPE_CHECKING:
    from cs_score.statistics.results import Interval

BETWEEN: Final = ","
"""What stands between dimensions that are crossed."""


class Group(Record):
    """Lines and classes that have something in common: their counts and micro averages, the mistakes among them.

    `values` are the groups of each dimension that is crossed, `group` is all of them in one text. Precision is right /
    (submitted - ignored) and recall right / ground truth as in tables (specification 7.7), 0 where the denominator is
    0; recall and F1 are None where the pool does not tell the group of a class. `share` is that of all mistakes, 0..1.
    `intervals` are those of precision, recall and F1 where resamples were asked for.
    """

    values: tuple[str, ...]
    counts: Counts
    mistakes: int
    share: float
    has_recall: bool
    intervals: Mapping[str, Interval] | None = None

    @property
    def group(self) -> str:
        """Its name."""
        return ", ".join(self.values)

    @property
    def scores(self) -> dict[str, float | None]:
        """Precision, recall and F1."""
        counts = self.counts
        recall, f1 = (counts.recall, counts.f1) if self.has_recall else (None, None)
        return {"precision": counts.precision, "recall": recall, "f1": f1}

    def as_json(self) -> dict[str, object]:
        """The group as a JSON object."""
        return {
            "group": self.group,
            **({"values": list(self.values)} if len(self.values) > 1 else {}),
            "counts": self.counts._asdict(),
            **self.scores,
            "mistakes": self.mistakes,
            "share": self.share,
            **(
                {}
                if self.intervals is None
                else {"intervals": {name: interval.as_json() for name, interval in self.intervals.items()}}
            ),
        }


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


def groups_of(table: CountedTable, by: Sequence[str] = ()) -> dict[str, list[Group]]:
    """The groups of each dimension, then those of the crossed ones; the most mistakes first, then in order of names.

    The counts of each dimension's groups add up to the totals of the table.
    """
    cells = table.cells
    total = sum(cell.mistakes for cell in cells.values())
    # There are many queries, and few groups of everything else: what is counted is put together for those once.
    without_queries = {key: together(members) for key, members in members_of(cells, DIMENSIONS[:-1]).items()}
    found = {}
    for name in dict.fromkeys((*DIMENSIONS, *by)):
        dimensions = name.split(BETWEEN)
        found[name] = _groups(cells if DIMENSIONS[-1] in dimensions else without_queries, dimensions, total)
    return found


def _groups(cells: Mapping[Key, Cell], dimensions: Sequence[str], total: int) -> list[Group]:
    has_recall = RUN_ONLY.isdisjoint(dimensions)
    found = []
    for values, members in members_of(cells, dimensions).items():
        cell = together(members)
        found.append(Group(values, cell.counts, cell.mistakes, divide(cell.mistakes, total), has_recall))
    return sorted(found, key=lambda group: (-group.mistakes, *map(place, group.values)))


def members_of(cells: Mapping[Key, Cell], dimensions: Sequence[str]) -> dict[tuple[str, ...], list[Cell]]:
    """The cells of each group of some dimensions."""
    columns = list(zip(*cells))
    members: dict[tuple[str, ...], list[Cell]] = defaultdict(list)
    if columns:
        for values, cell in zip(zip(*(columns[DIMENSIONS.index(name)] for name in dimensions)), cells.values()):
            members[values].append(cell)
    return members


if TYPE_CHECKING:
    from cs_score.statistics.results import Interval

_SCORES: Final = ("precision", "recall", "f1")
_AT_ONCE: Final = 64
"""Groups whose resamples are held in memory at the same time."""

Values = tuple[str, ...]


def with_intervals(
    groups: Mapping[str, Sequence[Group]], table: CountedTable, units: Sequence[str], resampling: Resampling
) -> dict[str, Sequence[Group]]:
    """The groups with the intervals of their scores, from the resamples that the intervals of the run are made of.

    `units` are those that are drawn. A group of one LDC query has none: each is drawn as a whole.
    """
    of_unit = DIMENSIONS[-1]
    found: dict[str, Sequence[Group]] = {}
    for name, members in groups.items():
        dimensions = name.split(BETWEEN)
        found[name] = members
        if of_unit not in dimensions and units:
            intervals = dict(_intervals(_by_unit(table.cells, dimensions), units, resampling))
            found[name] = [replace(group, intervals=_told(group, intervals[group.values])) for group in members]
    return found


def _by_unit(cells: Mapping[Key, Cell], dimensions: Sequence[str]) -> dict[Values, dict[str, Cell]]:
    """What each unit adds to each group of some dimensions."""
    found: dict[Values, dict[str, Cell]] = {}
    for (*values, unit), members in members_of(cells, (*dimensions, DIMENSIONS[-1])).items():
        found.setdefault(tuple(values), {})[unit] = together(members)
    return found


def _told(group: Group, intervals: Mapping[str, Interval]) -> dict[str, Interval]:
    return {name: intervals[name] for name, score in group.scores.items() if score is not None}


def _intervals(
    groups: Mapping[Values, Mapping[str, Cell]], units: Sequence[str], resampling: Resampling
) -> Iterator[tuple[Values, dict[str, Interval]]]:
    from cs_score.statistics.arithmetic import ColumnFormula
    from cs_score.statistics.intervals import bootstrap_intervals

    names = list(groups)
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        rows = [[number for name in some for number in _sums(groups[name].get(unit))] for unit in units]
        found = iter(bootstrap_intervals(rows, ColumnFormula(_scores), resampling))
        for name in some:
            yield name, dict(zip(_SCORES, found))


def _sums(cell: Cell | None) -> tuple[int, int, int]:
    if cell is None:
        return 0, 0, 0
    counts = cell.counts
    return counts.right, counts.answered, counts.ground_truth


def _scores(sums: Sequence[Any], divide: Callable[[Any, Any], Any]) -> list[Any]:
    """Precision, recall and F1 of each group, from what `_sums` says of each."""
    found: list[Any] = []
    for at in range(0, len(sums), 3):
        found += precision_recall_f1(sums[at], sums[at + 1], sums[at + 2], divide)
    return found
