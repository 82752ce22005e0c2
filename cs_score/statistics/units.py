"""Runs reduced to one row of statistics per unit, and systems that are brought onto the same units. A *unit* is what a
test set is made of and what a resample draws: a claim, an instance, a question, a query. Every measure is a function of
the sums of the statistics over all units. Loads no numpy.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, reduce
from itertools import chain
from typing import Any, Final, TypeAlias

from cs_score.base.display import join_first, number_with_noun, one_line
from cs_score.base.errors import InputError
from cs_score.base.records import Record, field
from cs_score.base.sources import Delimited, Input, read_delimited

_MOST_NAMED: Final = 5
"""The most units that a message names; of others it says how many there are."""

_LONGEST_NAME: Final = 80
"""The most characters of a unit's id in a message."""

# ---- Units

Unit: TypeAlias = tuple[str, int]
"""The id of a unit, and its number among the units with this id, from 1.

The gold standard may have several units with the same id, and all of them count.
"""


@lru_cache(maxsize=4)  # most calls have the same ids as the call before
def units_of(ids: tuple[str, ...]) -> list[Unit]:
    """Return a unit for each id: `("a", "b", "a")` gives `[("a", 1), ("b", 1), ("a", 2)]`."""
    occurrences: Counter[str] = Counter()
    units = []
    for unit_id in ids:
        occurrences[unit_id] += 1
        units.append((unit_id, occurrences[unit_id]))
    return units


def unique_ids(ids: Sequence[str]) -> list[str]:
    """Return the ids with a number after each repeated one: `["a", "b", "a"]` gives `["a", "b", "a (2)"]`."""
    distinct_ids = []
    for unit_id, number in units_of(tuple(ids)):
        distinct_ids.append(unit_id if number == 1 else f"{unit_id} ({number})")
    return distinct_ids


def named_units(ids: Sequence[str]) -> str:
    """Return how many units there are, with at most five of their ids: `2 units (a, b)`."""
    short_ids = [one_line(unit_id, _LONGEST_NAME) for unit_id in ids]
    return f"{number_with_noun(len(ids), 'unit')} ({join_first(short_ids, _MOST_NAMED)})"


# ---- Tables of statistics


class UnitTable(Record, dict=True):
    """The statistics of a run: one row per unit.

    `ids` are the ids of the units; an id that occurs twice in the gold standard occurs twice here. `columns` are the
    names of the statistics. `rows` has a tuple of statistics for each unit, in the order of `ids`. Every measure is a
    function of the column sums.
    """

    ids: tuple[str, ...]
    columns: tuple[str, ...]
    rows: Sequence[tuple[int | float, ...]]

    def __repr__(self) -> str:
        """Return a short text, because a table may have a million rows: `UnitTable(300 units, 5 columns)`."""
        return f"UnitTable({len(self.ids)} units, {len(self.columns)} columns)"

    def sums(self) -> tuple[float, ...]:
        """Return the sum of each column, added from the first row to the last. Sums of integers are integers.

        Python's `sum` is not used: since Python 3.12 it compensates for rounding errors, so scores would depend on the
        version of the interpreter.
        """
        return self._sums

    @cached_property
    def _sums(self) -> tuple[float, ...]:
        """The sum of each column. It is cached, because it takes a second for a million units and is needed often."""
        sums: list[float] = []
        for column in range(len(self.columns)):
            values = map(operator.itemgetter(column), self.rows)
            # `sum` rounds differently since Python 3.12 (see `sums`), and a plain loop takes twice as long.
            sums.append(reduce(operator.add, values, 0))
        return tuple(sums)


class Units(UnitTable, frozen=True):
    """The statistics of each unit as documents have them. `unit` says what a row is about: `claim`."""

    unit: str = ""

    def __post_init__(self) -> None:
        if len(self.ids) != len(self.rows) or any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("does not have a row for each of ids with a number for each of columns")


# ---- Systems on the same units


class AlignedUnits(Record):
    """The statistics of several systems on the same units: `rows[system][i]` is about the unit `ids[i]`.

    `dropped` has for each system the ids of its units that were left out because another system lacks them.
    """

    ids: tuple[str, ...]
    rows: Mapping[str, Sequence[Any]]
    dropped: Mapping[str, tuple[str, ...]]


def align_systems(tables: Mapping[str, UnitTable], *, common: bool = False) -> AlignedUnits:
    """Return the statistics of systems on the same units, in the unit order of the first system.

    `tables` has the statistics of each system by its name. If `common`, only the units that all systems have are kept;
    otherwise all systems must have the same units. Raises InputError if the units differ, or if there is no common
    unit. Raises ValueError if the tables have different columns.
    """
    distinct_columns = {tuple(table.columns) for table in tables.values()}
    if len(distinct_columns) > 1:
        raise ValueError("the systems have different statistics")
    rows_by_system = {name: dict(zip(units_of(table.ids), table.rows)) for name, table in tables.items()}
    if not common:
        _require_same_units(rows_by_system)
    shared_units = _shared_units(rows_by_system)
    if common and not shared_units:
        raise InputError("the systems have no unit in common")
    return _align_rows(rows_by_system, shared_units)


_RowsBySystem: TypeAlias = Mapping[str, Mapping[Unit, Any]]
"""The rows of several systems: `rows_by_system["A"]["claim1", 1]` is the row of the unit ("claim1", 1) of system A."""


def _align_rows(rows_by_system: _RowsBySystem, shared_units: Sequence[Unit]) -> AlignedUnits:
    """Return the rows of each system for the shared units, in their order, and the ids of its other units."""
    rows = {}
    dropped = {}
    for name, row_by_unit in rows_by_system.items():
        rows[name] = [row_by_unit[unit] for unit in shared_units]
        dropped[name] = _ids_of_other_units(row_by_unit, shared_units)
    shared_ids = tuple([unit_id for unit_id, _number in shared_units])
    return AlignedUnits(ids=shared_ids, rows=rows, dropped=dropped)


def _shared_units(rows_by_system: _RowsBySystem) -> list[Unit]:
    """Return the units that all systems have, in the order of the first system."""
    rows_of_systems = list(rows_by_system.values())
    shared_units = []
    for unit in rows_of_systems[0]:
        if all(unit in row_by_unit for row_by_unit in rows_of_systems):
            shared_units.append(unit)
    return shared_units


def _ids_of_other_units(row_by_unit: Mapping[Unit, object], shared_units: Iterable[Unit]) -> tuple[str, ...]:
    """Return the ids of the units of a system that are not among the units that all systems have."""
    other_units = row_by_unit.keys() - set(shared_units)
    return tuple([unit[0] for unit in row_by_unit if unit in other_units])


def _require_same_units(rows_by_system: _RowsBySystem) -> None:
    """Raise InputError if a system lacks a unit of the first system, or has a unit that the first system lacks."""
    first_system, *other_systems = rows_by_system
    for system in other_systems:
        _require_units(rows_by_system, system, reference_system=first_system)
        _require_units(rows_by_system, first_system, reference_system=system)


def _require_units(rows_by_system: _RowsBySystem, system: str, *, reference_system: str) -> None:
    """Raise InputError if a system does not have all units of the reference system."""
    row_by_unit = rows_by_system[system]
    missing = []
    for unit in rows_by_system[reference_system]:
        if unit not in row_by_unit:
            unit_id, _ = unit  # the second item numbers the units with this id
            missing.append(unit_id)
    if missing:
        raise InputError(
            f"system {system} lacks {named_units(missing)}, which system {reference_system} has",
            remedy="compare them on the units that all systems have (--common)",
        )


def require_gold_units(system: str, ids: Iterable[str], gold: Collection[str]) -> None:
    """Raise InputError if a system does not answer any unit of the gold standard; it was probably run on other data.

    `ids` are the ids of the units that the system answers, and `gold` has the ids of the gold standard. The message
    names some units of both.
    """
    answered_ids = list(ids)
    gold_ids = frozenset(gold)
    if any(unit_id in gold_ids for unit_id in answered_ids):
        return
    gold_units = named_units(list(gold)) if gold else "none"
    if not answered_ids:
        raise InputError(f"system {system} answers no unit of the gold standard, which has {gold_units}")
    raise InputError(
        f"system {system} shares no unit with the gold standard: it has {named_units(answered_ids)}, the gold "
        f"{gold_units}"
    )


# ---- Clusters


class ClusterDesign(Record):
    """The clusters in which units are drawn.

    `cluster_numbers` has the number of each unit's cluster, starting at 0. Clusters are numbered stratum by stratum,
    and `clusters_per_stratum` has the number of clusters in each stratum. For three units in two clusters of one
    stratum, the values are `(0, 0, 1)` and `(2,)`.
    """

    cluster_numbers: tuple[int, ...]
    clusters_per_stratum: tuple[int, ...]

    @property
    def cluster_count(self) -> int:
        """The number of clusters in all strata."""
        return sum(self.clusters_per_stratum)


class Clusters(Record):
    """The clusters of units, such as the claims of one document: all units of a cluster are drawn together.

    `clusters` has the cluster of each unit, by the id of the unit. If the clusters belong to strata, which are
    resampled separately, `strata` has the stratum of each cluster. `file` is the file from which they were read.
    """

    file: str
    cluster_by_unit: dict[str, str] = field(name="clusters")  # its name in JSON and its schema
    strata: dict[str, str] = field(default_factory=dict)

    def design(self, units: Sequence[str]) -> ClusterDesign | None:
        """Return the design of the clusters in which units are drawn, given the ids of the units.

        Returns None if every unit is its own cluster and there is only one stratum, because the units are then drawn
        individually. Raises InputError if a unit has no cluster.
        """
        self.require_clusters(units)
        clusters_of_units = [self.cluster_by_unit[unit] for unit in units]
        clusters_by_stratum = self._clusters_by_stratum(clusters_of_units)
        # Clusters are numbered stratum by stratum, so that the clusters of a stratum have consecutive numbers.
        all_clusters = list(chain.from_iterable(clusters_by_stratum.values()))
        if len(all_clusters) == len(units) and len(clusters_by_stratum) == 1:
            return None
        number_by_cluster = {cluster: number for number, cluster in enumerate(all_clusters)}
        return ClusterDesign(
            cluster_numbers=tuple([number_by_cluster[cluster] for cluster in clusters_of_units]),
            clusters_per_stratum=tuple([len(clusters) for clusters in clusters_by_stratum.values()]),
        )

    def require_clusters(self, units: Iterable[str]) -> None:
        """Raise InputError if a unit has no cluster. `units` are the ids of the units."""
        distinct_units = dict.fromkeys(units)
        missing = [unit for unit in distinct_units if unit not in self.cluster_by_unit]
        if missing:
            raise InputError(f"no cluster for {named_units(missing)}", file=self.file)

    def _clusters_by_stratum(self, clusters: Iterable[str]) -> dict[str, list[str]]:
        """Return the given clusters by their stratum, each cluster once: `{"news": ["doc1", "doc2"]}`.

        Clusters without a stratum have the stratum `""`.
        """
        clusters_by_stratum: dict[str, list[str]] = {}
        for cluster in dict.fromkeys(clusters):
            stratum = self.strata.get(cluster, "")
            clusters_by_stratum.setdefault(stratum, []).append(cluster)
        return clusters_by_stratum


def read_clusters(file: Input) -> Clusters:
    """Return the clusters and strata of units from a file with a table: columns unit, cluster and perhaps stratum.

    Raises InputError with the line if a unit is in two clusters or a cluster in two strata, and if a column is
    missing.
    """
    return clusters_of_table(read_delimited(file))


def clusters_of_table(table: Delimited) -> Clusters:
    """Return the clusters and strata of units from a table with the columns unit, cluster and perhaps stratum.

    Raises InputError with the line if a unit is in two clusters or a cluster in two strata, and if a column is
    missing.
    """
    cluster_by_unit: dict[str, str] = {}
    stratum_by_cluster: dict[str, str] = {}
    has_strata = "stratum" in table.columns
    columns = ("unit", "cluster", "stratum") if has_strata else ("unit", "cluster")
    for line, cells in table.cells_of(*columns):
        unit = cells[0]
        cluster = cells[1]
        _add_member(cluster_by_unit, unit, cluster, table.file, line)
        if has_strata:
            stratum = cells[2]
            _add_member(stratum_by_cluster, cluster, stratum, table.file, line)
    if not cluster_by_unit:
        raise InputError("names no unit", file=table.file)
    return Clusters(table.file, cluster_by_unit, stratum_by_cluster)


def _add_member(group_by_member: dict[str, str], member: str, group: str, file: str, line: int) -> None:
    """Add a unit to its cluster, or a cluster to its stratum: `group_by_member[member] = group`.

    Raises InputError with the line if an earlier line of the file names another group.
    """
    earlier_group = group_by_member.setdefault(member, group)
    if earlier_group != group:
        problem = f"{member} belongs to {group} here, and to {earlier_group} above"
        raise InputError(problem, file=file, place=f"line {line}")
