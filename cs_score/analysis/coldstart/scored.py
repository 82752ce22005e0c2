"""Hold a scored run together with its gold data, from which all analyses are computed. A line is a response of the run;
a unit is an LDC query with its entry points, or a query of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record
from cs_score.base.signature import Origin, Signature
from cs_score.coldstart.gold import Run, run_under_limits
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.options import JustificationLimits, Options, Policy
from cs_score.coldstart.result import Result, ScoredRun, ScoringStopped, UnitResult
from cs_score.coldstart.scorer import score_runs
from cs_score.measures import Measure, default_measure, parse_measure, substitute_remark


class ScoredLine(NamedTuple):
    """A response of the run, the unit that it was scored in, and its assessment if it has one."""

    unit: UnitResult
    line: Response
    assessment: Assessment | None


class AnalysedRun(Record, eq=False):
    """A run over its gold standard, with its result under a policy.

    `run` may have the lines of several runs; `run_id` is the id of this one. `stopping_error` is the error that stopped
    scoring before average precision, or None if there was no such error. `origin` and `signature` say what the scores
    were computed from. `score_again` scores the same files under other options, if they can be read again.
    """

    run: Run
    run_id: str
    policy: Policy
    result: ScoredRun
    stopping_error: InputError | None
    origin: Origin
    signature: Signature
    score_again: Callable[[Options], AnalysedRun] | None = None

    def __repr__(self) -> str:
        return f"<{self.result!r}, scored for analysis>"

    def lines(self) -> Iterator[ScoredLine]:
        """Yield the lines of the run in all scored units, each with its unit and its assessment if it has one."""
        lines_by_unit = self.run.lines_by_run_and_unit.get(self.run_id, {})
        for unit in self.result.units:
            for lines_of_query in lines_by_unit.get(unit.id, {}).values():
                for line in lines_of_query:
                    yield ScoredLine(unit, line, unit.assessment_by_index.get(line.index))

    @property
    def why_unranked(self) -> str | None:
        """The reason why the run has no average precision, or None if it has one."""
        edition = self.run.gold.options.edition
        if not edition.has_rankings:
            return f"edition {edition.name} has no average precision"
        if self.stopping_error is not None:
            return str(self.stopping_error)
        # Only measures of rankings can be undefined, all of them for the same reason.
        reason_by_measure = self.result.undefined
        return next(iter(reason_by_measure.values()), None)

    @property
    def headline(self) -> Measure:
        """The headline measure of this run: an average precision unless the run or its edition has none."""
        has_ldc_queries = bool(self.run.gold.query_set.ldc_id_by_query)
        return default_measure(has_ldc_queries=has_ldc_queries, has_rankings=self.why_unranked is None)

    @property
    def headline_remark(self) -> str | None:
        """A sentence that says which measure replaces average precision, and why, or None if no measure replaces it."""
        if self.why_unranked is None:
            return None
        return substitute_remark(bool(self.run.gold.query_set.ldc_id_by_query), self.why_unranked)

    def measure(self, name: str | None) -> Measure:
        """Return the measure with a name or, without a name, the headline measure of this run.

        Raises UsageError if there is no such measure, and InputError if this run has no score by it.
        """
        measure = self.headline if name is None else parse_measure(name)
        if measure in self.result.score_by_measure:
            return measure
        # The error that stopped scoring only concerns rankings, since it was raised after the tables of counts were
        # made.
        if measure.is_of_rankings and self.stopping_error is not None:
            raise self.stopping_error
        reason = self.result.undefined.get(str(measure))
        if reason is not None:
            raise InputError(f"run {self.run_id} has no {measure}: {reason}")
        names = ", ".join(self.result.scores) or "none"
        raise InputError(f"run {self.run_id} has no score {measure}", remedy=f"it has {names}")

    def under(
        self, policy: Policy, limits: JustificationLimits | None = None, *, with_problems: bool = True
    ) -> AnalysedRun:
        """Return the same run scored under another policy.

        `limits` are other limits on justifications; None keeps the old limits. No file is read again, and lines keep
        their assessments. `with_problems` says whether a problem is recorded for every line that the limits discard.
        Raises InputError if the run cannot be scored under them.
        """
        if policy == self.policy and limits in (None, self.run.limits):
            return self
        run = self.run
        if limits is not None:
            run = run_under_limits(self.run, limits, with_problems=with_problems)
        # The lines take their assessments from the old result, so they need not be looked up again.
        return score_for_analysis(run, policy, self.run_id, results_to_reuse=[self.result])


def score_for_analysis(
    run: Run, policy: Policy, run_id: str | None = None, results_to_reuse: Iterable[ScoredRun] = ()
) -> AnalysedRun:
    """Return one run of a call, scored under a policy.

    `run` has the lines of all runs of the call, and `run_id` names the run to return; it may be None if there is only
    one run. `results_to_reuse` are results of the same lines under another policy or other limits, from which lines
    take their assessments.

    Raises UsageError if there are several runs and none is named, and InputError if the run cannot be scored. However,
    if scoring stops at the rankings, the run is returned with the error and without average precision.
    """
    run_ids = list(dict.fromkeys(run.run_ids))
    chosen_id = _chosen_run_id(run_id, run_ids)
    try:
        result_of_call = score_runs(run, policy, results_to_reuse=results_to_reuse)
    except ScoringStopped as stop:
        run_result = _result_with_tables(stop, chosen_id)
        return _analysed_run(run, policy, stop.partial_result, run_result, stop)
    _require_run(chosen_id, run_ids, result_of_call)
    run_result = next(run_result for run_result in result_of_call.runs if run_result.run_id == chosen_id)
    return _analysed_run(run, policy, result_of_call, run_result)


def _analysed_run(
    run: Run, policy: Policy, result: Result, run_result: ScoredRun, stop: ScoringStopped | None = None
) -> AnalysedRun:
    """Return a run together with its result `run_result`; `result` holds the results of all runs of the call.

    `stop` is the error that stopped scoring, or None for no error. It is kept only if there is no average precision.
    """
    return AnalysedRun(
        run=run,
        run_id=run_result.run_id,
        policy=policy,
        result=run_result,
        stopping_error=stop if run_result.average_precision is None else None,
        origin=result.origin,
        signature=result.signature(run_result),
    )


def _chosen_run_id(run_id: str | None, run_ids: Sequence[str]) -> str | None:
    """Return the id of the run to analyse: the given id or the id of the only run, or None if there is no run.

    Raises UsageError if there are several runs and no id is given.
    """
    if run_id is not None:
        return run_id
    if len(run_ids) > 1:
        raise UsageError(f"there are {len(run_ids)} runs ({', '.join(run_ids)}): say which, with --run")
    return run_ids[0] if run_ids else None


def _require_run(run_id: str | None, run_ids: Sequence[str], result: Result) -> None:
    """Raise InputError if there is no run at all, or if no run with this id has lines."""
    if run_id is None:
        remedy = "name a run with lines"
        if result.remarks:
            remedy = result.remarks[0]  # the remark says why there is no run, and what to do
        raise InputError("there is no run to analyse", remedy=remedy)
    if run_id not in run_ids:
        raise InputError(f"there is no run {run_id}", remedy=f"the lines are of {', '.join(run_ids) or 'no run'}")


def _result_with_tables(stop: ScoringStopped, run_id: str | None) -> ScoredRun:
    """Return the result of the run with this id, even though scoring was stopped.

    The result has tables if only the rankings failed. Otherwise, the error that stopped scoring is raised again.
    """
    for run_result in stop.partial_result.runs:
        has_tables = bool(run_result.tables.sf.rows)  # the SF table has a row for every query with lines or classes
        if run_result.run_id == run_id and has_tables:
            return run_result
    raise stop


Progress: TypeAlias = Callable[[Sequence[Any], str], Iterable[Any]]
"""A function that returns the given items one by one and shows how many are done; its text says what is being done."""


def silent(items: Sequence[Any], doing: str) -> Iterable[Any]:
    """Return the items unchanged, without showing any progress."""
    return items
