"""A run reduced to one row of statistics per unit, and the units that several systems share. Loads no numpy."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, reduce
from itertools import chain
from typing import Any, Final, TypeAlias

from cs_score.base.display import one_line
from cs_score.base.errors import InputError
from cs_score.base.records import Record, field
from cs_score.base.sources import Delimited, Input, read_delimited

_NAMED: Final = 5
"""Units that a message names before it only counts."""

Unit: TypeAlias = tuple[str, int]
"""A unit by its id and which of those with the id it is, from 1: gold may hold an id twice, and both rows count."""


@lru_cache(maxsize=4)
def units_of(ids: tuple[str, ...]) -> list[Unit]:
    """Units by their ids, which are nearly always those of the run before."""
    seen: Counter[str] = Counter()
    found = []
    for unit in ids:
        seen[unit] += 1
        found.append((unit, seen[unit]))
    return found


def unique_ids(ids: Sequence[str]) -> list[str]:
    """The ids, those that occur again with their number: `q`, `q (2)`."""
    return [unit if number == 1 else f"{unit} ({number})" for unit, number in units_of(tuple(ids))]


class UnitTable(Record, dict=True):
    """One row of statistics per unit: what a resample draws, a claim, an instance, a question, a query.

    `ids` names the units (an id that occurs twice in gold occurs twice here), `columns` the statistics; `rows` has
    one tuple per unit, in the order of `ids`. Every measure is a function of the column sums.
    """

    ids: tuple[str, ...]
    columns: tuple[str, ...]
    rows: Sequence[tuple[int | float, ...]]

    def __repr__(self) -> str:
        return f"UnitTable({len(self.ids)} units, {len(self.columns)} columns)"

    def sums(self) -> tuple[float, ...]:
        """The sum of each column, added from the first row to the last (integers stay integers): not by `sum`, which
        compensates rounding errors from Python 3.12 on, so that scores would depend on the interpreter.
        """
        return self._sums

    @cached_property
    def _sums(self) -> tuple[float, ...]:
        """The sums, which several parts of a text need: a second for a million units."""
        return tuple(
            reduce(operator.add, map(operator.itemgetter(column), self.rows), 0) for column in range(len(self.columns))
        )


class Units(UnitTable, frozen=True):
    """The statistics of each unit as documents have them; `unit` is what a row is about."""

    unit: str = ""

    def __post_init__(self) -> None:
        if len(self.ids) != len(self.rows) or any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("does not have a row for each of ids with a number for each of columns")


class AlignedUnits(Record):
    """Several systems on the same units: `rows[system][i]` is about the unit `ids[i]`.

    `dropped` are the units of each system that another one lacks.
    """

    ids: tuple[str, ...]
    rows: Mapping[str, Sequence[Any]]
    dropped: Mapping[str, tuple[str, ...]]


def aligned(systems: Mapping[str, UnitTable], *, common: bool = False) -> AlignedUnits:
    """The rows of systems, by name, on the same units, in the order of the first system; `common`: on those that all
    have. Raises InputError where units differ, or none is common; ValueError for tables of different statistics.
    """
    if len({tuple(table.columns) for table in systems.values()}) > 1:
        raise ValueError("the systems have different statistics")
    rows = {name: dict(zip(units_of(table.ids), table.rows)) for name, table in systems.items()}
    first = next(iter(systems))
    units = [unit for unit in rows[first] if all(unit in other for other in rows.values())]
    if common and not units:
        raise InputError("the systems have no unit in common")
    for name in () if common else systems:
        for lacking, having in ((name, first), (first, name)):
            if missing := [unit for unit, number in rows[having] if (unit, number) not in rows[lacking]]:
                raise InputError(
                    f"system {lacking} lacks {named_units(missing)}, which system {having} has",
                    remedy="compare them on the units that all systems have (--common)",
                )
    kept = frozenset(units)
    return AlignedUnits(
        tuple(unit for unit, _ in units),
        {name: [of_system[unit] for unit in units] for name, of_system in rows.items()},
        {name: tuple(each[0] for each in of_system if each not in kept) for name, of_system in rows.items()},
    )


def require_gold_units(system: str, ids: Iterable[str], gold: Collection[str]) -> None:
    """Refuse a system that answers no unit of the gold standard, most likely the run of another data set. Raises
    InputError, naming units of either side.
    """
    answered = list(ids)
    known = frozenset(gold)
    if not any(unit in known for unit in answered):
        wants = named_units(list(gold)) if gold else "none"
        if not answered:
            raise InputError(f"system {system} answers no unit of the gold standard, which has {wants}")
        has = named_units(answered)
        raise InputError(f"system {system} shares no unit with the gold standard: it has {has}, the gold {wants}")


def named_units(units: Sequence[str]) -> str:
    """`3 units (a, b, c)`, with at most five names."""
    names = ", ".join(one_line(unit, 80) for unit in units[:_NAMED])
    more = f" and {len(units) - _NAMED} more" if len(units) > _NAMED else ""
    return f"{counted(len(units))} ({names}{more})"


def counted(number: int, noun: str = "unit") -> str:
    """Return a number with its noun: `1 unit`, `2 units`, `3 LDC queries`."""
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {plural}"


class Drawn(Record):
    """How units are drawn: the cluster of each, by its place, and how many consecutive clusters each stratum has."""

    clusters: tuple[int, ...]
    strata: tuple[int, ...]


class Clusters(Record):
    """Units that are drawn together: the cluster of each unit, and where there are strata that of each cluster.

    `file` is where they were read.
    """

    file: str
    clusters: dict[str, str]
    strata: dict[str, str] = field(default_factory=dict)

    def drawn(self, units: Sequence[str]) -> Drawn | None:
        """How these units are drawn, stratum by stratum; None where each is a cluster of its own and there is one
        stratum. Raises InputError for units without a cluster.
        """
        missing = list(dict.fromkeys(unit for unit in units if unit not in self.clusters))
        if missing:
            raise InputError(f"no cluster for {named_units(missing)}", file=self.file)
        clusters = [self.clusters[unit] for unit in units]
        strata: dict[str, dict[str, None]] = {}
        for cluster in clusters:
            strata.setdefault(self.strata.get(cluster, ""), {})[cluster] = None
        places = {cluster: place for place, cluster in enumerate(chain.from_iterable(strata.values()))}
        if len(places) == len(units) and len(strata) == 1:
            return None
        return Drawn(tuple([places[cluster] for cluster in clusters]), tuple(map(len, strata.values())))


def read_clusters(given: Input) -> Clusters:
    """A table with the columns unit, cluster and perhaps stratum. Raises InputError as `clusters_in` does."""
    return clusters_in(read_delimited(given))


def clusters_in(table: Delimited) -> Clusters:
    """The clusters and strata of the units of a table. Raises InputError with the line for a unit in two clusters, a
    cluster in two strata, and what is no such table.
    """
    clusters: dict[str, str] = {}
    strata: dict[str, str] = {}
    names = ("unit", "cluster", *(name for name in ("stratum",) if name in table.columns))
    for line, (unit, cluster, *stratum) in table.named(*names):
        parents = [(clusters, unit, cluster), *((strata, cluster, each) for each in stratum)]
        for known, name, value in parents:
            if known.setdefault(name, value) != value:
                problem = f"{name} belongs to {value} here, and to {known[name]} above"
                raise InputError(problem, file=table.file, place=f"line {line}")
    if not clusters:
        raise InputError("names no unit", file=table.file)
    return Clusters(table.file, clusters, strata)
