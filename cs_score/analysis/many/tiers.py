"""Which rows of a ranking differ by more than chance: the corrected tests of `cs-score compare` over all of its pairs.

A row is not compared with the one above it because the two were drawn, but because the scores put them side by side.
So the p-value of such a pair is that of two named systems, corrected for all pairs that might have become neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from cs_score.analysis.many.measured import Measured, united_units
from cs_score.base.records import Record
from cs_score.statistics.arithmetic import ColumnFormula, exact_statistics
from cs_score.statistics.options import Note, Resampling, never_significant
from cs_score.statistics.paired_tests import holm, randomisation_p, tiers
from cs_score.statistics.units import UnitTable


class Standing(Record):
    """The tier of a row, from 1, and the corrected p-value of its difference from the row above; None for the first."""

    tier: int
    p_above: float | None


def standings(
    tables: Sequence[UnitTable], measure: Measured, resampling: Resampling
) -> tuple[list[Standing], tuple[Note, ...]]:
    """The standing of rows from best to worst under one measure, from the statistics of their units.

    The family of tests are all pairs of rows: approximate randomisation, corrected by Holm. Tiers are those of
    `paired_tests.tiers`. A unit that a run was not scored on is nothing in it. Without units nothing differs.
    The notes say so where no difference could have been significant.
    """
    units = united_units(table.ids for table in tables)
    if not units or len(tables) < 2:
        return [Standing(1, 1.0 if row else None) for row in range(len(tables))], ()
    statistics = exact_statistics([measure.rows(table, units) for table in tables])
    pairs = list(combinations(range(len(tables)), 2))
    found = randomisation_p(statistics, ColumnFormula(measure.formula), pairs, resampling)
    adjusted = dict(zip(pairs, holm([p for (p,) in found])))
    of_row = tiers(range(len(tables)), lambda best, row: adjusted[best, row] <= resampling.level)
    rows = [Standing(of_row[row], adjusted[row - 1, row] if row else None) for row in range(len(tables))]
    return rows, never_significant("randomisation", len(units), len(tables), resampling)
