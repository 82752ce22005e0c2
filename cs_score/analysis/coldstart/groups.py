"""Score groups of lines and classes: by slot, hop, language and other dimensions, by several of these at once
(crossed), with intervals. A group counts its right and answered lines, and the equivalence classes of its ground truth.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.counted_table import (
    DIMENSIONS,
    DIMENSIONS_OF_RUNS_ONLY,
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
from cs_score.measures import divide, precision_recall_f1
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
    crossings = [SEPARATOR.join(_dimensions_in(text)) for text in texts]
    return list(dict.fromkeys(crossings))


def _dimensions_in(text: str) -> list[str]:
    """Return the dimensions that a text names: `slot, language` -> `["slot", "language"]`.

    Raises UsageError for an unknown dimension, and for one that is crossed with itself.
    """
    names = [name.strip() for name in text.split(SEPARATOR)]
    for name in names:
        if name not in DIMENSIONS:
            raise UsageError(f"no groups by {name}; there are {', '.join(DIMENSIONS)}{did_you_mean(name, DIMENSIONS)}")
    if len(set(names)) < len(names):
        raise UsageError(f"{text} crosses a dimension with itself")
    return names


def groups_of(
    table: CountedTable, crossings: Sequence[str] = (), units: Sequence[str] = (), resampling: Resampling | None = None
) -> dict[str, list[Group]]:
    """Return the scored groups of each dimension, then the groups of the `crossings`, such as `slot,language`.

    Groups are sorted by their number of mistakes, the largest first, then by name. With `resampling` they have
    intervals of their scores, from resamples of `units`; but groups by LDC query have none, since a resample draws each
    LDC query as a whole.
    """
    scorer = _GroupScorer(table.entry_counts, units, resampling)
    groups_by_dimension: dict[str, list[Group]] = {}
    for crossing in dict.fromkeys([*DIMENSIONS, *crossings]):
        groups_by_dimension[crossing] = scorer.groups(crossing.split(SEPARATOR))
    return groups_by_dimension


class _GroupScorer:
    """Scores the groups of lines and classes in which a table can be divided by dimensions such as slot or hop."""

    def __init__(self, entry_counts: EntryCounts, units: Sequence[str], resampling: Resampling | None) -> None:
        """Take the entries of the table. With `resampling`, groups get intervals from resamples of `units`."""
        self._entry_counts = entry_counts
        self._units = units
        self._resampling = resampling
        self._counts_without_units = _drop_units(entry_counts)
        # Without dimensions there is one group, which has everything, or no group if the table is empty.
        counts_of_everything = count_groups(self._counts_without_units, ()).values()
        self._mistakes_in_all = sum([group_counts.mistakes for group_counts in counts_of_everything])

    def groups(self, dimensions: Sequence[str]) -> list[Group]:
        """Return the scored groups of some crossed dimensions; the groups with the most mistakes come first."""
        counts_by_group = self._counts_by_group(dimensions)
        intervals_by_group = self._intervals_by_group(dimensions)
        # Some dimensions are unknown in the pool, so the classes to be found cannot be counted by their groups.
        has_recall = DIMENSIONS_OF_RUNS_ONLY.isdisjoint(dimensions)
        # A group is identified by its values of the dimensions: ("per:title", "1") for the dimensions slot and hop.
        sorted_keys = sorted(counts_by_group, key=lambda key: _order_of_group(key, counts_by_group[key]))
        groups = []
        for key in sorted_keys:
            group = _make_group(key, counts_by_group[key], self._mistakes_in_all, has_recall=has_recall)
            if key in intervals_by_group:
                group = replace(group, intervals=_shown_intervals(intervals_by_group[key], has_recall=has_recall))
            groups.append(group)
        return groups

    def _counts_by_group(self, dimensions: Sequence[str]) -> dict[GroupNames, GroupCounts]:
        """Return the counts of the groups of some dimensions, by the names of the group: `("per:children", "0")`."""
        is_by_unit = _UNIT_DIMENSION in dimensions
        return count_groups(self._entry_counts if is_by_unit else self._counts_without_units, dimensions)

    def _intervals_by_group(self, dimensions: Sequence[str]) -> dict[GroupNames, dict[str, Interval]]:
        """Return the intervals of precision, recall and F1 of each group; the result is empty without resamples.

        Groups of units (LDC queries) have no intervals: a resample draws units, so a group of this dimension is drawn
        as a whole or not at all. Only a few groups are resampled at a time, since the resamples of all groups may not
        fit into memory.
        """
        if self._resampling is None or not self._units or _UNIT_DIMENSION in dimensions:
            return {}
        counts_by_group_and_unit = _counts_by_group_and_unit(self._entry_counts, dimensions)
        names = list(counts_by_group_and_unit)
        intervals_by_group: dict[GroupNames, dict[str, Interval]] = {}
        for start in range(0, len(names), _GROUPS_AT_ONCE):
            names_at_once = names[start : start + _GROUPS_AT_ONCE]
            rows = [_row_of_unit(unit, names_at_once, counts_by_group_and_unit) for unit in self._units]
            intervals = resampled.bootstrap_intervals(rows, _scores_of_groups, self._resampling, units=self._units)
            intervals_by_group |= _intervals_by_group_and_score(names_at_once, intervals)
        return intervals_by_group


def _shown_intervals(intervals: Mapping[str, Interval], *, has_recall: bool) -> dict[str, Interval]:
    """Return the intervals of the scores that a group has: of precision alone unless it `has_recall`."""
    shown_scores = _SCORES if has_recall else _SCORES[:1]
    return {name: intervals[name] for name in shown_scores}


def _drop_units(entry_counts: EntryCounts) -> EntryCounts:
    """Return the counts of entries added up over all units (LDC queries), which are the last dimension.

    This leaves far fewer entries from which to count the other dimensions.
    """
    counts_without_units: Counter[TableEntry] = Counter()
    for (groups, labels), count in entry_counts.items():
        groups_without_unit = groups[:-1]
        counts_without_units[TableEntry(groups_without_unit, labels)] += count
    return counts_without_units


def _order_of_group(names: GroupNames, group_counts: GroupCounts) -> tuple[Any, ...]:
    """Return the sort key of a group: minus its number of mistakes, then its names."""
    return -group_counts.mistakes, *[group_order(name) for name in names]


def _make_group(names: GroupNames, group_counts: GroupCounts, mistakes_in_all: int, *, has_recall: bool) -> Group:
    """Return a group with its precision, recall and F1, and with its share of all mistakes (`mistakes_in_all`).

    Without `has_recall`, recall and F1 are None. This is the case for dimensions that only lines have, such as the
    value type: the classes to be found cannot be counted by these groups.
    """
    counts = group_counts.counts
    return Group(
        group=", ".join(names),
        values=names if len(names) > 1 else UNSET,  # a single name would only repeat `group`
        counts=asdict(counts),
        precision=counts.precision,
        recall=counts.recall if has_recall else None,
        f1=counts.f1 if has_recall else None,
        mistakes=group_counts.mistakes,
        share=divide(group_counts.mistakes, mistakes_in_all),
    )


_GROUPS_AT_ONCE: Final = 64
"""The number of groups that are resampled together; it limits the memory for their resamples."""


def _intervals_by_group_and_score(
    groups: Iterable[GroupNames], intervals: Sequence[Interval]
) -> dict[GroupNames, dict[str, Interval]]:
    """Return the intervals of each group by score; `intervals` has three for each group: of precision, recall and F1.

    For the group `("NAM",)`: `{("NAM",): {"precision": ..., "recall": ..., "f1": ...}}`.
    """
    intervals_by_group: dict[GroupNames, dict[str, Interval]] = {}
    first = 0
    for group in groups:
        intervals_by_group[group] = dict(zip(_SCORES, intervals[first : first + len(_SCORES)]))
        first += len(_SCORES)
    return intervals_by_group


_CountsByGroupAndUnit: TypeAlias = Mapping[GroupNames, Mapping[str, Counts]]
"""The counts of each unit in each group; units that have nothing in a group are left out."""


def _counts_by_group_and_unit(entry_counts: EntryCounts, dimensions: Sequence[str]) -> _CountsByGroupAndUnit:
    """Return the counts of each unit in the groups of some dimensions, by group and unit.

    The counts are the numbers of the unit's lines (right, answered ...) and classes among these entries of the table.
    """
    # Crossed with the units as the last dimension, each group is divided into its units.
    counts_of_group_and_unit = count_groups(entry_counts, [*dimensions, _UNIT_DIMENSION])
    counts_by_group_and_unit: dict[GroupNames, dict[str, Counts]] = defaultdict(dict)
    for (*group_names, unit), group_counts in counts_of_group_and_unit.items():
        counts_by_group_and_unit[tuple(group_names)][unit] = group_counts.counts
    return counts_by_group_and_unit


def _row_of_unit(unit: str, groups: Iterable[GroupNames], counts_by_group_and_unit: _CountsByGroupAndUnit) -> list[int]:
    """Return the numbers of right lines, answered lines and classes of a unit, one group after the other."""
    row: list[int] = []
    for group in groups:
        counts = counts_by_group_and_unit[group].get(unit, _NO_COUNTS)
        row += [counts.right, counts.answered, counts.ground_truth]
    return row


_NO_COUNTS: Final = Counts()

_SUMS_PER_GROUP: Final = 3
"""The sums from which the scores of a group are computed: right lines, answered lines, and ground truth."""


def _scores_of_groups(sums: Sequence[Any], divide: Callable[[Any, Any], Any]) -> list[Any]:
    """Return precision, recall and F1 of each group, one group after the other.

    `sums` has three numbers for each group: its right lines, its answered lines and its ground truth.
    """
    scores: list[Any] = []
    for first in range(0, len(sums), _SUMS_PER_GROUP):
        right_lines, answered_lines, ground_truth = sums[first : first + _SUMS_PER_GROUP]
        scores += precision_recall_f1(right_lines, answered_lines, ground_truth, divide)
    return scores
