"""The statistics of two runs side by side: what units and groups of rows contribute to the difference of their scores.

A measure is a ratio of sums over rows of a table, so that rows put together in any way contribute to the difference
what they add to both sums (insight specification 5.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Final, TypeAlias

import numpy as np

from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.grouping import UNKNOWN
from cs_score.base.records import Record, replace
from cs_score.coldstart.projection import ALL_LEVELS
from cs_score.coldstart.queries import Query
from cs_score.coldstart.result import RunResult
from cs_score.coldstart.unit_statistics import unit_table
from cs_score.measures.formulas import Ratio, divide
from cs_score.measures.measure import Measure
from cs_score.measures.registry import formula_of
from cs_score.statistics.arithmetic import contributions
from cs_score.statistics.units import UnitTable

Sums: TypeAlias = tuple[float, ...]

RowKey: TypeAlias = tuple[str, str]
"""A query, by its full id, and a hop."""

GROUPINGS: Final[Mapping[str, Callable[[Query, str], str]]] = {
    "slot": lambda query, hop: (query.slot_at(int(hop)) if hop.isdigit() else None) or UNKNOWN,
    "hop": lambda query, hop: hop,
    "entity_type": lambda query, hop: query.entity_type or UNKNOWN,
}
"""What rows are put together by, from the query and the hop of a row."""

_NEEDS_HOPS: Final = ("slot", "hop")


class Part(Record):
    """A unit or group: its own scores in A and B, 0..1 (None: not scored), and its contribution (None: not defined)."""

    name: str
    a: float | None
    b: float | None
    contribution: float | None
    differs: bool


def unit_parts(tables: tuple[UnitTable, UnitTable], measure: Measure) -> list[Part]:
    """The units of A in their order, then those that only B has."""
    first, second = ({name: tuple(row) for name, row in zip(table.ids, table.rows)} for table in tables)
    return parts_of(first, second, measure)


def groups_of(a: Scored, b: Scored, measure: Measure) -> dict[str, list[Part]]:
    """The rows that the measure averages, put together by each dimension that they can be told apart by."""
    # All hops of a ranking are one row, and belong to no hop.
    has_hops = bool(measure.average) and measure.level == ALL_LEVELS
    sides = [_row_sums(scored, measure, has_hops) for scored in (a, b)]
    found: dict[str, list[Part]] = {}
    for dimension, group_of in GROUPINGS.items():
        if dimension not in _NEEDS_HOPS or has_hops or measure.level != ALL_LEVELS:
            first, second = (_grouped(scored, sums, group_of) for scored, sums in zip((a, b), sides))
            found[dimension] = sorted(parts_of(first, second, measure), key=lambda part: part.name)
    return found


def _row_sums(scored: Scored, measure: Measure, has_hops: bool) -> dict[RowKey, Sums]:
    """What each query adds at each hop to the sums that the measure is made of."""
    result = scored.result
    by_query = replace(result, unit_of={name: name for name in (*result.unit_of, *result.unit_of.values())})
    found: dict[RowKey, Sums] = {}
    for hop in _hops(result, measure) if has_hops else (measure.level,):
        table = unit_table(by_query, [measure.at(hop)])
        found.update(((name, hop), tuple(row)) for name, row in zip(table.ids, table.rows) if any(row))
    return found


def _hops(result: RunResult, measure: Measure) -> list[str]:
    return sorted({row.level for name, table in result.tables.variants if name == measure.table for row in table.rows})


def _grouped(scored: Scored, sums: Mapping[RowKey, Sums], group_of: Callable[[Query, str], str]) -> dict[str, Sums]:
    queries = {query.full_id: query for query in scored.run.gold.table.by_id.values()}
    found: dict[str, Sums] = {}
    for (name, hop), row in sums.items():
        group = group_of(queries[name], hop)
        found[group] = tuple(map(sum, zip(found[group], row))) if group in found else row
    return found


def parts_of(first: Mapping[str, Sums], second: Mapping[str, Sums], measure: Measure) -> list[Part]:
    """What each name adds to the sums of A (`first`) and B, as its part of the difference."""
    names = list(dict.fromkeys((*first, *second)))
    formula = formula_of([measure])
    width = len(next(chain(first.values(), second.values()), ()))
    rows = [[side.get(name, (0.0,) * width) for name in names] for side in (first, second)]
    shares = _shares(rows, measure)

    def score(side: Mapping[str, Sums], name: str) -> float | None:
        return formula(side[name], divide)[0] if name in side else None

    return [
        Part(
            name,
            score(first, name),
            score(second, name),
            None if shares is None else shares[at],
            first.get(name) != second.get(name),
        )
        for at, name in enumerate(names)
    ]


def _shares(rows: Sequence[Sequence[Sums]], measure: Measure) -> list[float] | None:
    if not rows[0]:
        return None
    formula = formula_of([measure])
    ratios = [formula(list(np.array(side, dtype=np.float64).T), Ratio)[0] for side in rows]
    found = contributions(*ratios)
    return None if found is None else found.tolist()
