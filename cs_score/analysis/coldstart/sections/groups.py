"""Counts, precision, recall and F1 by slot, hop, language and so on (insight specification 4.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from cs_score.analysis.coldstart.sections.counted import DIMENSIONS, RUN_ONLY, Cell, CountedTable, Key, together
from cs_score.analysis.grouping import place
from cs_score.base.errors import UsageError
from cs_score.base.nearest import nearest
from cs_score.base.records import Record
from cs_score.coldstart.judging import Counts
from cs_score.measures.formulas import divide

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
