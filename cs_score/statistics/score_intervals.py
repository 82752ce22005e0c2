"""Bootstrap intervals of all scores of one run, by the names of the measures. Loads numpy only to compute them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING

from cs_score.base.records import Record
from cs_score.statistics import notes
from cs_score.statistics.notes import Note
from cs_score.statistics.options import Resampling
from cs_score.statistics.unit_table import UnitTable

if TYPE_CHECKING:  # they load numpy, which only resampling needs
    from cs_score.statistics.arithmetic import ColumnMeasures
    from cs_score.statistics.intervals import Interval


class ScoreIntervals(Record):
    """The interval of each score, by the name of the measure in the order of tables, from `units` resampled units."""

    units: int
    resampling: Resampling
    scores: Mapping[str, Interval]

    def __repr__(self) -> str:
        return f"<{len(self.scores)} intervals, {self.units} units>"

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader must know of all of them; notes on single ones stand with these."""
        return notes.of_resampling(self.units, self.resampling)

    def as_json(self) -> dict[str, object]:
        """The settings, the number of units, notes on all of it, and the intervals by measure."""
        return {
            **self.resampling.as_json(),
            "units": self.units,
            "notes": notes.as_json(self.notes),
            "scores": {measure: interval.as_json() for measure, interval in self.scores.items()},
        }


def score_intervals(
    table: UnitTable,
    measures: Sequence[str],
    formula: ColumnMeasures,
    resampling: Resampling,
    executor: Executor | None = None,
) -> ScoreIntervals:
    """The intervals of `measures`, which `formula` makes of the column sums of `table`.

    The executor spreads the resamples and changes no number. Raises InputError where there is no unit.
    """
    from cs_score.statistics.arithmetic import column_formula
    from cs_score.statistics.intervals import bootstrap_intervals

    found: tuple[Interval, ...] = ()
    if measures:
        found = bootstrap_intervals(table.rows, column_formula(formula), resampling, executor=executor)
    return ScoreIntervals(len(table.ids), resampling, dict(zip(measures, found)))
