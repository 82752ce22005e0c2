"""The averages of a run by measure, as its tables show them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cs_score.coldstart.counting.projection import ALL_LEVELS, Table
from cs_score.coldstart.ranking.average_precision import ApTable
from cs_score.measures.measure import Measure
from cs_score.measures.registry import RANKED

_ROW_PREFIX: Final = f"{ALL_LEVELS}-"


def counted_scores(tables: Iterable[tuple[str, Table]]) -> dict[Measure, float]:
    """Those of the score tables, given with their names, in the order of `.summary`."""
    return {
        Measure(statistic, name, row.name.removeprefix(_ROW_PREFIX)).at(row.level): score
        for name, table in tables
        for row in table.averages
        for statistic, score in (("P", row.precision), ("R", row.recall), ("F1", row.f1))
    }


def ranked_scores(tables: Iterable[tuple[str, ApTable]]) -> dict[Measure, float]:
    """Those of rankings, in the order of `.ap`."""
    return {
        Measure(statistic, name).at(row.level): score
        for name, table in tables
        for row in table.macro
        for statistic, score in zip(RANKED, row.scores)
    }
