"""What can still be told of a run that cannot be scored: loaded and scored as far as it goes."""

from __future__ import annotations

from collections.abc import Iterable

from cs_score.analysis.coldstart.scored import Scored, score_for_analysis
from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.base.sources import Input
from cs_score.coldstart.gold import Gold, Run, run_of, units_of
from cs_score.coldstart.linking import loading_of
from cs_score.coldstart.options import Policy
from cs_score.coldstart.projection import averaged_table
from cs_score.coldstart.result import PrecisionRecall, RunResult, ScoringStopped, UnitResult
from cs_score.coldstart.scorer import Combining, score_unit
from cs_score.problems.log import ProblemLog


def load_as_far_as_possible(gold: Gold, files: Iterable[Input]) -> tuple[Run, InputError | None]:
    """Load runs and assessments; where that has to stop, what was loaded by then, and why it stopped."""
    loading = loading_of(gold.table, gold.options.justifications, gold.problems.branch(), below=gold.links)
    stop = None
    try:
        loading.load(files)
    except InputError as error:
        stop = error
    return run_of(gold, loading, gold.options.justifications), stop


def score_as_far_as_possible(
    run: Run, policy: Policy, run_id: str | None = None, stop: InputError | None = None
) -> Scored:
    """Score a run, or those of its units that can be scored. `stop` is why loading stopped: then none is.

    Raises UsageError where several runs were loaded and none is named, InputError where there is no such run.
    """
    if stop is None:
        try:
            return score_for_analysis(run, policy, run_id)
        except ScoringStopped as error:
            stop = error
            units_wanted = True
    else:
        units_wanted = False
    found = list(dict.fromkeys(run.run_ids))
    if run_id is None and found:
        run_id = found[0]
    if run_id is not None and run_id not in found:
        raise stop
    units: tuple[UnitResult, ...] = ()
    if run_id is not None and units_wanted:
        units = tuple(score_unit(unit, policy) for unit in units_of(run, run_id))
    nothing = PrecisionRecall(averaged_table([]), None, None)
    result = Combining(replace(run, remarks=()), policy, ProblemLog()).result([])
    scored = RunResult(run_id or "", nothing, units)
    return Scored(run, run_id or "", policy, scored, stop, result.origin, result.signature(scored))
