"""A scored run of a call, with everything that its analyses are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record
from cs_score.base.signature import Origin, Signature
from cs_score.coldstart.gold import Run, run_under_limits
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.options import Justifications, Options, Policy
from cs_score.coldstart.result import RunResult, ScoringStopped, UnitResult
from cs_score.coldstart.scorer import score_runs
from cs_score.measures.registry import Measure, parse, substitute_remark, usual


class ScoredLine(NamedTuple):
    """A response of the run, the unit that it was scored in, and its assessment if it has one."""

    unit: UnitResult
    line: Response
    assessment: Assessment | None


class Scored(Record, eq=False):
    """A run over its gold standard, with its result under a policy.

    The lines of `run` may be of several runs; `run_id` names the one meant. `stopped` is the error that has prevented
    average precision, None if there is one. `origin` and `signature` say what the scores were computed from. `again`
    scores the same files under other options, if they can be read again.
    """

    run: Run
    run_id: str
    policy: Policy
    result: RunResult
    stopped: InputError | None
    origin: Origin
    signature: Signature
    again: Callable[[Options], Scored] | None = None

    def __repr__(self) -> str:
        return f"<{self.result!r}, scored for analysis>"

    def lines(self) -> Iterator[ScoredLine]:
        """Yield the lines of the run in the units that were scored, each with its assessment."""
        lines_by_unit = self.run.lines.get(self.run_id, {})
        for unit in self.result.units:
            for lines_of_query in lines_by_unit.get(unit.id, {}).values():
                for line in lines_of_query:
                    yield ScoredLine(unit, line, unit.matched.get(line.index))

    @property
    def why_unranked(self) -> str | None:
        """Return why the run has no average precision; None if it has one."""
        edition = self.run.gold.options.edition
        if not edition.has_rankings:
            return f"edition {edition.name} has no average precision"
        if self.stopped is not None:
            return str(self.stopped)
        return next(iter(self.result.undefined.values()), None)

    @property
    def headline(self) -> Measure:
        """Return the headline measure of this run: an average precision unless the run or its edition has none."""
        return usual(with_ldc=bool(self.run.gold.table.ldc_id_by_query), has_rankings=self.why_unranked is None)

    @property
    def headline_remark(self) -> str | None:
        """Return a sentence on the measure that replaces average precision, and why; None if there is no need."""
        if self.why_unranked is None:
            return None
        return substitute_remark(bool(self.run.gold.table.ldc_id_by_query), self.why_unranked)

    def measure(self, name: str | None) -> Measure:
        """Return the measure of that name; without a name the headline measure of this run.

        Raises UsageError if there is no such measure, InputError if this run has no score by it.
        """
        measure = self.headline if name is None else parse(name)
        if measure in self.result.measures:
            return measure
        if self.stopped is not None and not measure.average:
            raise self.stopped
        reason = self.result.undefined.get(str(measure))
        if reason is not None:
            raise InputError(f"run {self.run_id} has no {measure}: {reason}")
        names = ", ".join(self.result.scores) or "none"
        raise InputError(f"run {self.run_id} has no score {measure}", remedy=f"it has {names}")

    def under(self, policy: Policy, limits: Justifications | None = None, *, with_problems: bool = True) -> Scored:
        """Return the same lines scored under another policy, and under other limits on justifications if given.

        No file is read, and lines keep their assessments. `with_problems` says whether a problem is noted for every
        line that the limits discard. Raises InputError if the run cannot be scored so.
        """
        if policy == self.policy and limits in (None, self.run.limits):
            return self
        run = self.run
        if limits is not None:
            run = run_under_limits(self.run, limits, with_problems=with_problems)
        return score_for_analysis(run, policy, self.run_id, [self.result])


def score_for_analysis(
    run: Run, policy: Policy, run_id: str | None = None, earlier_results: Iterable[RunResult] = ()
) -> Scored:
    """Return one run of a call, scored under a policy.

    `run_id` names it; it may be None if there is only one. `earlier_results` are results of the same lines under
    another policy or other limits, from which the lines have their assessments. Raises UsageError if there are several
    runs and none is named, InputError if the run cannot be scored.
    """
    run_ids = list(dict.fromkeys(run.run_ids))
    if run_id is None and len(run_ids) > 1:
        raise UsageError(f"there are {len(run_ids)} runs ({', '.join(run_ids)}): say which, with --run")
    stop: ScoringStopped | None = None
    try:
        result = score_runs(run, policy, earlier_results=earlier_results)
    except ScoringStopped as stopped:
        stop = stopped
        result = stopped.partial
    if run_id is None and run_ids:
        run_id = run_ids[0]
    if stop is None:
        if run_id is None:
            raise InputError("there is no run to analyse", remedy=next(iter(result.warnings), "name a run with lines"))
        if run_id not in run_ids:
            raise InputError(f"there is no run {run_id}", remedy=f"the lines are of {', '.join(run_ids) or 'no run'}")
    run_result = None
    for scored_run in result.runs:
        if scored_run.run_id == run_id:
            run_result = scored_run
            break
    if run_result is None or (stop is not None and not run_result.tables.sf.rows):
        assert stop is not None
        raise stop
    return Scored(
        run=run,
        run_id=run_result.run_id,
        policy=policy,
        result=run_result,
        stopped=stop if run_result.average_precision is None else None,
        origin=result.origin,
        signature=result.signature(run_result),
    )


Progress: TypeAlias = Callable[[Sequence[Any], str], Iterable[Any]]
"""Passes items on one by one and shows how far they are; the text says what is done with them."""


def silent(items: Sequence[Any], doing: str) -> Iterable[Any]:
    """Return the items; no progress is shown."""
    return items
