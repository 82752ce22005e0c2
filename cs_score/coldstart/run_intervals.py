"""Bootstrap intervals for every number of a run's summaries."""

from __future__ import annotations

from concurrent.futures import Executor

from cs_score.base.records import replace
from cs_score.coldstart.result import Result, RunResult
from cs_score.coldstart.unit_statistics import summary_scores, unit_name, unit_table
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
    return tuple(intervals_of_run(run, settings, executor) for run in result.runs)


def intervals_of_run(run: RunResult, resampling: Resampling, executor: Executor | None = None) -> ScoreIntervals:
    """The intervals of one run; `resampling` names the unit."""
    measures = list(summary_scores(run))
    return score_intervals(
        unit_table(run, measures), list(map(str, measures)), formula_of(measures), resampling, executor
    )
