"""Score groups of lines and classes: by slot, hop, language and others, by several of these at once, with intervals."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.counted_table import (
    DIMENSIONS,
    RUN_ONLY,
    CountedTable,
    EntryCounts,
    GroupCounts,
    GroupNames,
    TableEntry,
    count_groups,
)
from cs_score.analysis.outcomes import group_order
from cs_score.base.errors import UsageError, did_you_mean
from cs_score.base.records import Record, asdict, replace
from cs_score.base.runtime import Late
from cs_score.coldstart.judging import Counts
from cs_score.measures.registry import divide, precision_recall_f1
from cs_score.statistics.resampling_settings import Resampling
from cs_score.statistics.results import Interval

if TYPE_CHECKING:
    from cs_score.statistics import resampling as resampled
else:  # groups without intervals need no resamples
    resampled = Late("cs_score.statistics.resampling")

SEPARATOR: Final = ","
"""The character between the dimensions that are crossed: `slot,language`."""

_UNIT_DIMENSION: Final = "ldc_query"
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


def read_crossings(texts: Iterable[str]) -> list[str]:
    """Return the combinations of dimensions that `--by` asks for, each once: `slot, language` -> `slot,language`.

    Raises UsageError for an unknown dimension, and for one that is crossed with itself.
    """
    crossings: dict[str, None] = {}
    for text in texts:
        names = [name.strip() for name in text.split(SEPARATOR)]
        for name in names:
            if name not in DIMENSIONS:
                raise UsageError(
                    f"no groups by {name}; there are {', '.join(DIMENSIONS)}{did_you_mean(name, DIMENSIONS)}"
                )
        if len(set(names)) < len(names):
            raise UsageError(f"{text} crosses a dimension with itself")
        crossings[SEPARATOR.join(names)] = None
    return list(crossings)


def groups_of(
    table: CountedTable, crossings: Sequence[str] = (), units: Sequence[str] = (), resampling: Resampling | None = None
) -> dict[str, list[Group]]:
    """Return the scored groups of each dimension, then the groups of the `crossings`, such as `slot,language`.

    Groups are sorted by their number of mistakes, the largest first, then by name. With `resampling` they have
    intervals of their scores, from resamples of `units`; but groups by LDC query have none, since a resample draws each
    LDC query as a whole.
    """
    counts_without_units = _drop_units(table.entry_counts)
    mistakes_in_all = sum([group.mistakes for group in count_groups(counts_without_units, ()).values()])
    groups_by_dimension: dict[str, list[Group]] = {}
    for crossing in dict.fromkeys([*DIMENSIONS, *crossings]):
        dimensions = crossing.split(SEPARATOR)
        is_by_unit = _UNIT_DIMENSION in dimensions
        counts_by_group = count_groups(table.entry_counts if is_by_unit else counts_without_units, dimensions)
        intervals_by_group: dict[GroupNames, dict[str, Interval]] = {}
        if resampling is not None and units and not is_by_unit:
            intervals_by_group = dict(_intervals_of_groups(table.entry_counts, dimensions, units, resampling))
        has_recall = RUN_ONLY.isdisjoint(dimensions)
        groups = []
        for names in sorted(counts_by_group, key=lambda names: _order_of_group(names, counts_by_group[names])):
            group = _make_group(names, counts_by_group[names], mistakes_in_all, has_recall=has_recall)
            if intervals_by_group:
                shown_scores = _SCORES if has_recall else _SCORES[:1]
                intervals = {name: intervals_by_group[names][name] for name in shown_scores}
                group = replace(group, intervals=intervals)
            groups.append(group)
        groups_by_dimension[crossing] = groups
    return groups_by_dimension


def _drop_units(entry_counts: EntryCounts) -> EntryCounts:
    """Return the counts of entries added up over all LDC queries, which are the last dimension.

    That leaves far fewer entries, over which the other dimensions are then counted.
    """
    counts_without_units: Counter[TableEntry] = Counter()
    for (groups, labels), count in entry_counts.items():
        counts_without_units[TableEntry(groups[:-1], labels)] += count
    return counts_without_units


def _order_of_group(names: GroupNames, group_counts: GroupCounts) -> tuple[Any, ...]:
    """Return the sort key of a group: minus its number of mistakes, then its names."""
    return -group_counts.mistakes, *[group_order(name) for name in names]


def _make_group(names: GroupNames, group_counts: GroupCounts, mistakes_in_all: int, *, has_recall: bool) -> Group:
    """Return a scored group; recall and F1 are None unless it `has_recall`, that is, if the pool knows its dimensions.

    `mistakes_in_all` is the number of all mistakes, from which the share of the group is computed.
    """
    counts = group_counts.counts
    return Group(
        group=", ".join(names),
        values=names if len(names) > 1 else UNSET,
        counts=asdict(counts),
        precision=counts.precision,
        recall=counts.recall if has_recall else None,
        f1=counts.f1 if has_recall else None,
        mistakes=group_counts.mistakes,
        share=divide(group_counts.mistakes, mistakes_in_all),
    )


_GROUPS_AT_ONCE: Final = 64
"""The number of groups that are resampled together; it limits the memory for their resamples."""


def _intervals_of_groups(
    entry_counts: EntryCounts, dimensions: Sequence[str], units: Sequence[str], resampling: Resampling
) -> Iterator[tuple[GroupNames, dict[str, Interval]]]:
    """Yield the names of each group with the intervals of its precision, recall and F1, from resamples of units."""
    counts_by_unit: dict[GroupNames, dict[str, Counts]] = defaultdict(dict)
    for (*names, unit), group_counts in count_groups(entry_counts, [*dimensions, _UNIT_DIMENSION]).items():
        counts_by_unit[tuple(names)][unit] = group_counts.counts
    groups = list(counts_by_unit)
    for start in range(0, len(groups), _GROUPS_AT_ONCE):
        groups_at_once = groups[start : start + _GROUPS_AT_ONCE]
        unit_rows = []
        for unit in units:
            unit_row: list[int] = []
            for group in groups_at_once:
                counts = counts_by_unit[group].get(unit, _NO_COUNTS)
                unit_row += [counts.right, counts.answered, counts.ground_truth]
            unit_rows.append(unit_row)
        intervals = iter(resampled.bootstrap_intervals(unit_rows, _scores_of_groups, resampling, units=units))
        for group in groups_at_once:
            yield group, dict(zip(_SCORES, intervals))


_NO_COUNTS: Final = Counts()


def _scores_of_groups(sums: Sequence[Any], divide: Callable[[Any, Any], Any]) -> list[Any]:
    """Return precision, recall and F1 of each group, one group after the other.

    `sums` has three numbers for each group: its right lines, its answered lines and its ground truth.
    """
    scores: list[Any] = []
    for first in range(0, len(sums), len(_SCORES)):
        right_lines, answered_lines, ground_truth = sums[first : first + len(_SCORES)]
        scores += precision_recall_f1(right_lines, answered_lines, ground_truth, divide)
    return scores
