"""Load and score a run as far as that is possible: after an error that stops the scorer earlier results are kept."""

from __future__ import annotations

from collections.abc import Iterable

from cs_score.analysis.coldstart.scored import AnalysedRun, score_for_analysis
from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.base.sources import Input
from cs_score.coldstart.gold import ColdStartGold, Run, run_of, units_of
from cs_score.coldstart.linking import Loading
from cs_score.coldstart.options import Policy
from cs_score.coldstart.result import PrecisionRecall, ScoredRun, ScoringStopped, UnitResult, averaged_table
from cs_score.coldstart.scorer import CallScorer, score_unit
from cs_score.problems.log import ProblemLog


def load_as_far_as_possible(gold: ColdStartGold, files: Iterable[Input]) -> tuple[Run, InputError | None]:
    """Load runs and assessments over gold. Return the loaded run, and the error that stopped loading, if any."""
    limits = gold.options.justifications
    loading = Loading(gold.query_set, limits, gold.problems.copy(), gold_links=gold.links, only_run_id=gold.only_run_id)
    stop = None
    try:
        loading.load(files)
    except InputError as error:
        stop = error
    return run_of(gold, loading, limits), stop


def score_as_far_as_possible(run: Run, policy: Policy, stop: InputError | None = None) -> AnalysedRun:
    """Return a run scored under a policy; if scoring stops, it has the results of the units that can be scored.

    `stop` is the error that stopped loading, or None if loading was complete. If loading was stopped, no unit is
    scored.
    """
    if stop is not None:
        return _analysed_in_part(run, policy, (), stop)
    try:
        return score_for_analysis(run, policy)
    except ScoringStopped as error:
        run_id = _first_run_id(run)
        # `score_unit` does not raise: the result of a unit has the error that stopped its scoring.
        units = [score_unit(unit, policy) for unit in units_of(run, run_id)] if run_id else []
        return _analysed_in_part(run, policy, units, error)


def _first_run_id(run: Run) -> str:
    """Return the id of the first run of a call; an empty text if there is none."""
    return next(iter(run.run_ids), "")


def _analysed_in_part(run: Run, policy: Policy, units: Iterable[UnitResult], stop: InputError) -> AnalysedRun:
    """Return a run that was not scored to the end, with the results of some of its units and with empty tables.

    `stop` is the error that stopped loading or scoring.
    """
    run_result = ScoredRun(_first_run_id(run), PrecisionRecall(averaged_table([]), None, None), tuple(units))
    # A scorer can make the origin (options and digests of the inputs) without scoring any runs. The origin does not
    # need the remarks.
    result_without_runs = CallScorer(replace(run, remarks=()), policy, ProblemLog()).result([])
    return AnalysedRun(
        run=run,
        run_id=run_result.run_id,
        policy=policy,
        result=run_result,
        stopping_error=stop,
        origin=result_without_runs.origin,
        signature=result_without_runs.signature(run_result),
    )
