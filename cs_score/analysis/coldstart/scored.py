"""One run of a call, scored, with all that its analyses are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias

from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record
from cs_score.base.signature import Origin, Signature
from cs_score.coldstart.gold import Run, under_limits
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.options import Justifications, Options, Policy
from cs_score.coldstart.result import RunResult, ScoringStopped, UnitResult
from cs_score.coldstart.scorer import score_runs
from cs_score.measures.registry import Measure, parse, substitute_remark, usual


class Scored(Record, eq=False):
    """A run over its gold standard, and what scoring it under a policy gave.

    `run` may hold runs beside the one that `run_id` names. `stopped` is why there is no average precision; None where
    there is. `origin` and `signature` are what the scores were computed from. `again` scores the same files under other
    options, where they can be read again.
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

    def lines(self) -> Iterator[tuple[UnitResult, Response, Assessment | None]]:
        """The lines of the run in the units that were scored, each with the assessment that it met."""
        of_run = self.run.lines.get(self.run_id, {})
        for unit in self.result.units:
            for line in chain.from_iterable(of_run.get(unit.id, {}).values()):
                yield unit, line, unit.matched.get(line.index)

    @property
    def why_unranked(self) -> str | None:
        """Return why the run has no average precision; None where it has one."""
        edition = self.run.gold.options.edition
        if not edition.has_rankings:
            return f"edition {edition.name} has no average precision"
        if self.stopped is not None:
            return str(self.stopped)
        return next(iter(self.result.undefined.values()), None)

    @property
    def headline(self) -> Measure:
        """Return the headline measure of this run: an average precision unless the run or its edition has none."""
        return usual(with_ldc=bool(self.run.gold.table.ldc_of), has_rankings=self.why_unranked is None)

    @property
    def headline_remark(self) -> str | None:
        """Return which measure stands in for average precision, and why; None where nothing has to."""
        if self.why_unranked is None:
            return None
        return substitute_remark(bool(self.run.gold.table.ldc_of), self.why_unranked)

    def measure(self, name: str | None) -> Measure:
        """Return the measure of that name; None stands for the headline measure of this run.

        Raises UsageError where there is none, InputError where this run has no such score.
        """
        wanted = self.headline if name is None else parse(name)
        if wanted not in self.result.measures:
            if self.stopped is not None and not wanted.average:
                raise self.stopped
            reason = self.result.undefined.get(str(wanted))
            if reason is not None:
                raise InputError(f"run {self.run_id} has no {wanted}: {reason}")
            raise InputError(
                f"run {self.run_id} has no score {wanted}", remedy=f"it has {', '.join(self.result.scores) or 'none'}"
            )
        return wanted

    def under(self, policy: Policy, limits: Justifications | None = None, *, with_problems: bool = True) -> Scored:
        """The same lines under another policy, and other limits on justifications where they are given.

        No file is read, and what the lines met is taken over. `with_problems`: whether problems of discarded lines are
        noted. Raises InputError where the run cannot be scored so.
        """
        if policy == self.policy and limits in (None, self.run.limits):
            return self
        run = self.run if limits is None else under_limits(self.run, limits, with_problems=with_problems)
        return score_for_analysis(run, policy, self.run_id, [self.result])


def score_for_analysis(run: Run, policy: Policy, run_id: str | None = None, before: Iterable[RunResult] = ()) -> Scored:
    """Score the runs of a call, and take up the one that `run_id` names; None where there is only one.

    `before`: results of the same lines under another policy or other limits; what they met is taken over. Raises
    UsageError where it has to be named, and InputError where it cannot be scored.
    """
    run_ids = list(dict.fromkeys(run.run_ids))
    if run_id is None and len(run_ids) > 1:
        raise UsageError(f"there are {len(run_ids)} runs ({', '.join(run_ids)}): say which, with --run")
    try:
        result, stop = score_runs(run, policy, earlier_results=before), None
    except ScoringStopped as stopped:
        result, stop = stopped.partial, stopped
    wanted = run_id if run_id is not None else next(iter(run_ids), None)
    if wanted is None and stop is None:
        raise InputError("there is no run to analyse", remedy=next(iter(result.warnings), "name a run with lines"))
    if wanted not in run_ids and stop is None:
        raise InputError(f"there is no run {wanted}", remedy=f"the lines are of {', '.join(run_ids) or 'no run'}")
    found = next((each for each in result.runs if each.run_id == wanted), None)
    if found is None or (stop is not None and not found.tables.sf.rows):
        assert stop is not None
        raise stop
    lost = stop if found.average_precision is None else None
    return Scored(run, found.run_id, policy, found, lost, result.origin, result.signature(found))


Progress: TypeAlias = Callable[[Sequence[Any], str], Iterable[Any]]
"""Passes items on, one after the other, and shows how far they are; the text says what is done with them."""


def silent(items: Sequence[Any], doing: str) -> Iterable[Any]:
    """No progress is shown."""
    return items
