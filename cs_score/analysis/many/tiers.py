"""Whether neighbours in a ranking differ by more than chance, and groups of runs that cannot be told apart.

Each test is the one of `cs-score compare` for these two runs, so that anybody can look it up there: approximate
randomisation with the same number of resamples and seed, whose p-value does not depend on other runs. The p-values are
of single tests; nothing is corrected for the number of rows, because which rows are tested depends on the ranking
itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from cs_score.analysis.many.measured import Measured, united_units
from cs_score.base.record import dataclass
from cs_score.statistics.arithmetic import column_formula
from cs_score.statistics.exact_sums import exact_statistics
from cs_score.statistics.options import Resampling
from cs_score.statistics.paired_tests import Pair, randomisation_p
from cs_score.statistics.ranking import tiers
from cs_score.statistics.unit_table import UnitTable

_AHEAD: Final = 8
"""Rows that are tested at once against the first row of a tier; changes no result."""


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
    if not units:
        return [Standing(1, 1.0 if row else None) for row in range(len(tables))]
    statistics = exact_statistics([measure.rows(table, units) for table in tables])
    formula = column_formula(measure.formula)
    rows = range(len(tables))
    known: dict[Pair, float] = {}

    def test(pairs: Iterable[Pair]) -> None:
        new = [pair for pair in pairs if pair not in known]
        known.update(zip(new, (p for (p,) in randomisation_p(statistics, formula, new, resampling))))

    def differ(best: int, row: int) -> bool:
        if (best, row) not in known:  # those behind it are asked for next, and cost less together
            test((best, other) for other in rows[row : row + _AHEAD])
        return known[best, row] <= resampling.level

    test(pairwise(rows))
    of_row = tiers(rows, differ)
    return [Standing(of_row[row], known[row - 1, row] if row else None) for row in rows]
