"""Measures of any mode as a formula over the statistics of units, for runs whose tables may lack columns or units."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

from cs_score.foundation.record import dataclass
from cs_score.measures.formulas import Ratio
from cs_score.measures.registry import COLD_START_MODE, formula_of, parse, sums_of
from cs_score.statistics.unit_table import UnitTable

if TYPE_CHECKING:  # it loads numpy, which only resampling needs
    from cs_score.statistics.arithmetic import ColumnMeasures

Unit: TypeAlias = tuple[str, int]
"""A unit by its id and which of those with the id it is, from 1: gold may hold an id twice."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Some measures, the columns that they are made of, and how."""

    names: tuple[str, ...]
    columns: tuple[str, ...]
    formula: ColumnMeasures

    def rows(self, table: UnitTable, units: Sequence[Unit]) -> list[tuple[float, ...]]:
        """The statistics of these units; zeros for a unit or a column that the table lacks (a level without rows)."""
        places = [table.columns.index(column) if column in table.columns else None for column in self.columns]
        known = dict(zip(units_of(table.ids), table.rows))
        nothing = (0.0,) * len(table.columns)
        return [
            tuple(0.0 if place is None else row[place] for place in places)
            for row in (known.get(unit, nothing) for unit in units)
        ]

    def values(self, table: UnitTable) -> dict[Unit, float | None]:
        """The first measure in each unit by itself, 0..1; None where it is 0/0."""
        units = units_of(table.ids)
        ratios = map(self._first, self.rows(table, units))
        return {
            unit: ratio.numerator / ratio.denominator if ratio.denominator else None
            for unit, ratio in zip(units, ratios)
        }

    def _first(self, row: Sequence[float]) -> Ratio:
        scores = self.formula(row, Ratio)
        first = next(iter(scores.values())) if isinstance(scores, Mapping) else scores[0]
        return first if isinstance(first, Ratio) else Ratio(first, 1.0)


def measured(mode: str, names: Sequence[str]) -> Measured:
    """The measures of a mode called so. Raises UsageError for a name that no measure of the scorer has."""
    if mode == COLD_START_MODE:
        measures = [parse(name) for name in names]
        return Measured(tuple(names), sums_of(measures), formula_of(measures))
    from cs_score.evidence.result import Mode, scores_at

    of_mode = cast(Mode, importlib.import_module(f"cs_score.evidence.modes.{mode}").MODE)
    places = tuple(map(of_mode.measures.index, names))
    return Measured(tuple(names), of_mode.columns, partial(scores_at, of_mode.formula, places))


def units_of(ids: Iterable[str]) -> list[Unit]:
    """Units by their ids."""
    seen: Counter[str] = Counter()
    found = []
    for unit in ids:
        seen[unit] += 1
        found.append((unit, seen[unit]))
    return found


def united_units(of_runs: Iterable[Iterable[str]]) -> list[Unit]:
    """All units that any run has, given the ids of each, in the order in which they are first met."""
    return list(dict.fromkeys(unit for ids in of_runs for unit in units_of(ids)))
