"""Bootstrap intervals for every number of a run's summaries."""

from __future__ import annotations

from concurrent.futures import Executor

from cs_score.coldstart.result import Result
from cs_score.coldstart.unit_statistics import summary_scores, unit_name, unit_table
from cs_score.foundation.record import replace
from cs_score.measures.registry import formula_of
from cs_score.statistics.options import Resampling
from cs_score.statistics.score_intervals import ScoreIntervals, score_intervals


def intervals(
    result: Result, resampling: Resampling | None = None, *, executor: Executor | None = None
) -> tuple[ScoreIntervals, ...]:
    """The intervals of every run of `result`, from resamples of its LDC queries (SF queries where none are known).

    The name of the unit in `resampling` is set here. The executor spreads the resamples and changes no number.
    """
    settings = replace(resampling or Resampling(), unit=unit_name(result))
    of_runs: list[ScoreIntervals] = []
    for run in result.runs:
        measures = list(summary_scores(run))
        table, formula = unit_table(run, measures), formula_of(measures)
        of_runs.append(score_intervals(table, list(map(str, measures)), formula, settings, executor))
    return tuple(of_runs)
