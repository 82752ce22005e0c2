"""Bootstrap intervals of the scores of groups (insight specification 4.8). Loads numpy only to compute them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from cs_score.analysis.coldstart.sections.counted import DIMENSIONS, Cell, CountedTable, Key, together
from cs_score.analysis.coldstart.sections.groups import BETWEEN, Group, members_of
from cs_score.base.records import replace
from cs_score.measures.formulas import precision_recall_f1
from cs_score.statistics.options import Resampling

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
