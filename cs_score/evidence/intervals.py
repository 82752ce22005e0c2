"""Bootstrap intervals for the measures of an evidence mode."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cs_score.evidence.result import Result
from cs_score.statistics import notes
from cs_score.statistics.notes import Note
from cs_score.statistics.options import Resampling

if TYPE_CHECKING:  # it loads numpy, which only resampling needs
    from cs_score.statistics.intervals import Interval


@dataclass(frozen=True, slots=True, repr=False)
class ScoreIntervals:
    """The interval of each official measure, by name in official order, from `units` resampled units."""

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


def intervals(
    result: Result, resampling: Resampling | None = None, *, executor: Executor | None = None
) -> ScoreIntervals:
    """The intervals of every measure of `result`, from resamples of its units (claims, instances, questions).

    The name of the unit in `resampling` is set here. The executor spreads the resamples and changes no number. Raises
    InputError where there is no unit.
    """
    from cs_score.statistics.arithmetic import column_formula
    from cs_score.statistics.intervals import bootstrap_intervals

    mode = result.mode
    settings = replace(resampling or Resampling(), unit=mode.unit)
    found = bootstrap_intervals(result.table.rows, column_formula(mode.formula), settings, executor=executor)
    return ScoreIntervals(len(result.table.ids), settings, dict(zip(mode.measures, found)))
