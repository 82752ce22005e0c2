"""Bootstrap intervals for every number of a run's summaries."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cs_score.coldstart.counting.unit_statistics import (
    SummaryMeasure,
    query_table,
    summary_formula,
    summary_scores,
    unit_name,
)
from cs_score.coldstart.result import Result
from cs_score.statistics import notes
from cs_score.statistics.notes import Note
from cs_score.statistics.options import Resampling

if TYPE_CHECKING:  # it loads numpy, which only resampling needs
    from cs_score.statistics.intervals import Interval


@dataclass(frozen=True, slots=True, repr=False)
class RunIntervals:
    """The intervals of one run, from `units` resampled queries, in the order of the summaries."""

    run_id: str
    units: int
    resampling: Resampling
    rows: tuple[tuple[SummaryMeasure, Interval], ...]

    def __repr__(self) -> str:
        return f"<{len(self.rows)} intervals of run {self.run_id}, {self.units} units>"

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader must know of all of them; notes on single ones stand with these."""
        return notes.of_resampling(self.units, self.resampling)

    def as_json(self) -> dict[str, object]:
        """The settings, the number of units, notes on all of it, and one object per score."""
        return {
            **self.resampling.as_json(),
            "units": self.units,
            "notes": notes.as_json(self.notes),
            "scores": [
                {"row": measure.row, "level": measure.level, "measure": measure.score, **interval.as_json()}
                for measure, interval in self.rows
            ],
        }


def intervals(
    result: Result, resampling: Resampling | None = None, *, executor: Executor | None = None
) -> tuple[RunIntervals, ...]:
    """The intervals of every run of `result`, from resamples of its LDC queries (SF queries where none are known).

    The name of the unit in `resampling` is set here. The executor spreads the resamples and changes no number.
    """
    from cs_score.statistics.arithmetic import column_formula
    from cs_score.statistics.intervals import bootstrap_intervals

    settings = replace(resampling or Resampling(), unit=unit_name(result))
    of_runs: list[RunIntervals] = []
    for run in result.runs:
        measures = list(summary_scores(run))
        table = query_table(run, measures)
        found: tuple[Interval, ...] = ()
        if measures:
            formula = column_formula(summary_formula(measures))
            found = bootstrap_intervals(table.rows, formula, settings, executor=executor)
        of_runs.append(RunIntervals(run.run_id, len(table.ids), settings, tuple(zip(measures, found))))
    return tuple(of_runs)
