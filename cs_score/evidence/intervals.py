"""Bootstrap intervals for the measures of an evidence mode."""

from __future__ import annotations

from concurrent.futures import Executor

from cs_score.base.records import replace
from cs_score.evidence.result import Result
from cs_score.statistics.intervals import score_intervals
from cs_score.statistics.options import Resampling
from cs_score.statistics.results import ScoreIntervals


def intervals(
    result: Result, resampling: Resampling | None = None, *, executor: Executor | None = None
) -> ScoreIntervals:
    """The intervals of every measure of `result`, from resamples of its units (claims, instances, questions).

    The name of the unit in `resampling` is set here. The executor spreads the resamples and changes no number. Raises
    InputError where there is no unit.
    """
    mode = result.mode
    settings = replace(resampling or Resampling(), unit=mode.unit)
    return score_intervals(result.table, mode.measures, mode.formula, settings, executor)
