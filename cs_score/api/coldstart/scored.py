"""What a result holds once it has been scored: the lines, too, so that they can be scored under other policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from cs_score.api.coldstart.rows import ROWS
from cs_score.api.kinds import Values
from cs_score.base.errors import UsageError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.records import replace
from cs_score.base.signing.origin import Origin
from cs_score.coldstart.gold import Run, under_limits
from cs_score.coldstart.options import Justifications, Policy, as_validated
from cs_score.coldstart.result import Result
from cs_score.coldstart.result import RunResult as OneRun
from cs_score.coldstart.scorer import score_runs
from cs_score.problems.log import ProblemLog


class Scored:
    """A result with the lines that it was made from.

    What limits on justifications discard changes no score and is only reported, so it is worked out when somebody asks
    for the problems.
    """

    def __init__(
        self,
        loaded: Run,
        policy: Policy,
        limits: Justifications,
        before: Sequence[OneRun] = (),
        *,
        validated: bool = False,
    ) -> None:
        """Score lines that have been loaded. `before`: results of the same lines under another policy.

        Raises InputError where scoring has to stop.
        """
        self._loaded = loaded
        self._limits = limits
        self._validated = validated
        self._found = ProblemLog()
        with paused_collector():
            if limits.most is None:
                _ = self.run  # such limits may be impossible
            scored = score_runs(replace(loaded, limits=limits), policy, self._found, before)
        self._scores_only = replace(scored, origin=as_validated(scored.origin)) if validated else scored

    def under(self, policy: Policy, limits: Justifications) -> Scored:
        """The same lines under another policy and other limits; no file is read.

        Raises UsageError for other limits than those that the run was validated for: they choose its lines.
        """
        if self._validated and limits != self._limits:
            raise UsageError(
                f"the run was validated for justifications {self._limits}, which leaves out what is beyond; score its "
                f"files again for {limits}, or rescore with justifications={str(self._limits)!r}"
            )
        return Scored(self._loaded, policy, limits, self._scores_only.runs, validated=self._validated)

    @cached_property
    def run(self) -> Run:
        """The lines, held to the limits."""
        with paused_collector():
            return under_limits(self._loaded, self._limits)

    @cached_property
    def result(self) -> Result:
        """The whole result."""
        problems = self.run.problems.branch()
        problems.take_over(self._found)
        return replace(self._scores_only, problems=tuple(problems))

    @property
    def policy(self) -> Policy:
        return self._scores_only.options.policy

    @property
    def limits(self) -> Justifications:
        return self._limits

    @property
    def scores(self) -> Mapping[str, Mapping[str, float]]:
        return {run.run_id: run.scores for run in self._scores_only.runs}

    @property
    def origin(self) -> Origin:
        return self._scores_only.origin

    @property
    def remarks(self) -> Sequence[str]:
        return self._scores_only.warnings

    @property
    def errors(self) -> int:
        return self.result.error_count

    @property
    def warnings(self) -> int:
        return self.result.warning_count

    def values(self, kind: str) -> Iterator[Values]:
        return ROWS[kind](self.result if kind == "problems" else self._scores_only)

    def json(self) -> str:
        from cs_score.coldstart.documents import json_text

        return "".join(json_text(self.result))
