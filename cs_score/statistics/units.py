"""The table that a mode hands over, and which units several systems share.

Loads no numpy: a mode fills the table with plain numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from cs_score.display import one_line
from cs_score.errors import InputError

_NAMED: Final = 5
"""Units that a message names before it only counts."""


@dataclass(frozen=True, slots=True)
class UnitTable:
    """One system's sufficient statistics: `rows[i]` holds the statistics `columns` of the unit `ids[i]`.

    `rows` is a sequence of rows of numbers, or a numpy matrix. The ids are unique within a table.
    """

    ids: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[Any]


def same_units(tables: Mapping[str, UnitTable]) -> dict[str, UnitTable]:
    """The tables by system name, all with the units of the first one in its order.

    Raises InputError, naming units, where a system lacks a unit that another has.
    """
    _check(tables)
    first, reference = next(iter(tables.items()))
    for name, table in tables.items():
        for lacking, having, units in (
            (name, first, _without(reference.ids, table.ids)),
            (first, name, _without(table.ids, reference.ids)),
        ):
            if units:
                raise InputError(
                    f"system {lacking} lacks {_named(units)}, which system {having} has",
                    remedy="compare them on the units that all systems have (--common)",
                )
    return {name: _in_order(table, reference.ids) for name, table in tables.items()}


def common_units(tables: Mapping[str, UnitTable]) -> dict[str, UnitTable]:
    """The tables by system name, reduced to the units that all have, in the order of the first one.

    Raises InputError where there is none.
    """
    _check(tables)
    shared = set.intersection(*(set(table.ids) for table in tables.values()))
    if not shared:
        raise InputError("the systems have no unit in common")
    order = [unit for unit in next(iter(tables.values())).ids if unit in shared]
    return {name: _in_order(table, order) for name, table in tables.items()}


def require_gold_units(system: str, ids: Iterable[str], gold: Collection[str]) -> None:
    """Refuse a system that answers no unit of the gold standard, most likely the run of another data set.

    Raises InputError, naming units of either side.
    """
    answered = list(ids)
    known = frozenset(gold)
    if not any(unit in known for unit in answered):
        has = _named(answered) if answered else "no unit"
        wants = _named(list(gold)) if gold else "none"
        raise InputError(f"system {system} shares no unit with the gold standard: it has {has}, the gold {wants}")


def _check(tables: Mapping[str, UnitTable]) -> None:
    if len({tuple(table.columns) for table in tables.values()}) > 1:
        raise ValueError("the tables hold different statistics")
    for name, table in tables.items():
        repeated = [unit for unit, count in Counter(table.ids).items() if count > 1]
        if repeated:
            raise InputError(f"system {name} has {_named(repeated)} more than once")


def _without(ids: Sequence[str], others: Sequence[str]) -> list[str]:
    known = frozenset(others)
    return [unit for unit in ids if unit not in known]


def _in_order(table: UnitTable, order: Sequence[str]) -> UnitTable:
    if list(table.ids) == list(order):
        return table
    place = {unit: index for index, unit in enumerate(table.ids)}
    return replace(table, ids=tuple(order), rows=[table.rows[place[unit]] for unit in order])


def _named(units: Sequence[str]) -> str:
    """`3 units (a, b, c)`, with at most five names."""
    names = ", ".join(one_line(unit, 80) for unit in units[:_NAMED])
    more = f" and {len(units) - _NAMED} more" if len(units) > _NAMED else ""
    return f"{len(units)} unit{'s' if len(units) != 1 else ''} ({names}{more})"
