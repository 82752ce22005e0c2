"""Whether neighbours in a ranking differ by more than chance, and groups of runs that cannot be told apart.

Each test is the one of `cs-score compare` for two systems, so that anybody can look it up there: approximate
randomisation with the same number of resamples and seed. The p-values are of single tests; nothing is corrected for
the number of rows, because which rows are tested depends on the ranking itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from cs_score.analysis.many.measured import Measured, united_units
from cs_score.foundation.record import dataclass
from cs_score.statistics.arithmetic import column_formula
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.options import Resampling
from cs_score.statistics.ranking import tiers
from cs_score.statistics.unit_table import UnitTable


@dataclass(frozen=True, slots=True)
class Standing:
    """The tier of a row, from 1, and the p-value of its difference from the row above; None for the first row."""

    tier: int
    p_above: float | None


def standings(tables: Sequence[UnitTable], measure: Measured, resampling: Resampling) -> list[Standing]:
    """The standing of rows from best to worst under one measure, from the statistics of their units.

    The first row opens a tier. A row opens the next tier where it differs significantly, at the level of the settings,
    from the first row of the tier above it (`statistics.ranking.tiers`). A unit that a run was not scored on is nothing
    in it. Without units nothing differs.
    """
    units = united_units(table.ids for table in tables)
    names = tuple(name for name, _ in units)
    aligned = [UnitTable(names, measure.columns, measure.rows(table, units)) for table in tables]
    known: dict[tuple[int, int], float] = {}

    def p_of(better: int, row: int) -> float:
        if (better, row) not in known:
            known[better, row] = _p(aligned[better], aligned[row], measure, resampling) if units else 1.0
        return known[better, row]

    of_row = tiers(range(len(aligned)), lambda best, row: p_of(best, row) <= resampling.level)
    return [Standing(of_row[row], p_of(row - 1, row) if row else None) for row in range(len(aligned))]


def _p(first: UnitTable, second: UnitTable, measure: Measured, resampling: Resampling) -> float:
    if first.rows == second.rows:  # as a test of a run against its own copy has it
        return 1.0
    formula = column_formula(measure.formula)
    compared = compare_tables({"a": first, "b": second}, measure.names, formula, resampling)
    return compared.measures[0].pairs[0].randomisation.raw
