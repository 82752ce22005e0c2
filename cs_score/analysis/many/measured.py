"""Measures of any mode as a formula over the statistics of units, for runs whose tables may lack columns or units."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, TypeAlias, cast

from cs_score.base.records import Record
from cs_score.measures.formulas import Ratio
from cs_score.measures.registry import COLD_START_MODE, formula_of, parse, sums_of
from cs_score.statistics.units import UnitTable

if TYPE_CHECKING:  # it loads numpy, which only resampling needs
    from cs_score.statistics.arithmetic import ColumnMeasures

Unit: TypeAlias = tuple[str, int]
"""A unit by its id and which of those with the id it is, from 1: gold may hold an id twice."""

Values: TypeAlias = tuple[float | None, ...]
"""A value of each measure."""


class Measured(Record):
    """Some measures, the columns that they are made of, and how."""

    names: tuple[str, ...]
    columns: tuple[str, ...]
    formula: ColumnMeasures

    def rows(self, table: UnitTable, units: Sequence[Unit]) -> list[tuple[float, ...]]:
        """The statistics of these units; zeros for a unit or a column that the table lacks (a level without rows)."""
        if table.columns == self.columns and list(units) == units_of(table.ids):
            return list(table.rows)
        places = [table.columns.index(column) if column in table.columns else None for column in self.columns]
        known = dict(zip(units_of(table.ids), table.rows))
        nothing = (0.0,) * len(table.columns)
        return [
            tuple(0.0 if place is None else row[place] for place in places)
            for row in (known.get(unit, nothing) for unit in units)
        ]

    def values(self, table: UnitTable, known: dict[tuple[float, ...], Values]) -> dict[Unit, Values]:
        """The measures in each unit by itself, 0..1; None where one is 0/0.

        `known` remembers them by the statistics, which many units have in common.
        """
        found = {}
        units = units_of(table.ids)
        for unit, row in zip(units, self.rows(table, units)):
            values = known.get(row)
            if values is None:
                values = known[row] = self._values(row)
            found[unit] = values
        return found

    def _values(self, row: Sequence[float]) -> Values:
        scores = self.formula(row, Ratio)
        ratios = scores.values() if isinstance(scores, Mapping) else scores
        parts = [each if isinstance(each, Ratio) else Ratio(each, 1.0) for each in ratios]
        return tuple(each.numerator / each.denominator if each.denominator else None for each in parts)


def measured(mode: str, names: Sequence[str]) -> Measured:
    """The measures of a mode called so. Raises UsageError for a name that no measure of the scorer has."""
    if mode == COLD_START_MODE:
        measures = [parse(name) for name in names]
        return Measured(tuple(names), sums_of(measures), formula_of(measures))
    from cs_score.evidence.result import Mode, scores_at

    of_mode = cast(Mode, importlib.import_module(f"cs_score.evidence.{mode}").MODE)
    places = tuple(map(of_mode.measures.index, names))
    return Measured(tuple(names), of_mode.columns, partial(scores_at, of_mode.formula, places))


@lru_cache(maxsize=4)
def units_of(ids: tuple[str, ...]) -> list[Unit]:
    """Units by their ids, which are nearly always those of the run before."""
    seen: Counter[str] = Counter()
    found = []
    for unit in ids:
        seen[unit] += 1
        found.append((unit, seen[unit]))
    return found


def united_units(of_runs: Iterable[tuple[str, ...]]) -> list[Unit]:
    """All units that any run has, given the ids of each, in the order in which they are first met."""
    return list(dict.fromkeys(unit for ids in dict.fromkeys(of_runs) for unit in units_of(ids)))
