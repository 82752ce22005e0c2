"""What a mode gives to the batch: a plan that can travel to a worker, and what the worker prepares from it once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from cs_score.analysis.many.overview import Evaluation
from cs_score.base.records import Record
from cs_score.base.sources import InputDigest
from cs_score.batch.plan.runs import RunFile
from cs_score.batch.store.outcomes import Outcome
from cs_score.problems.occurrences import Occurrence


class Scored(Record):
    """One run under one policy: the outcome but for its files, and these by name, made as they are written."""

    outcome: Outcome
    files: Iterable[tuple[str, Iterable[bytes]]]


class Prepared(Protocol):
    """Gold that is read and indexed. Scoring a run changes nothing in it."""

    @property
    def digests(self) -> Sequence[InputDigest]:
        """The inputs that all runs share."""
        ...

    @property
    def occurrences(self) -> Sequence[Occurrence]:
        """The problems of those inputs with their details, where the plan asks for them."""
        ...

    @property
    def evaluation(self) -> Evaluation:
        """What the tables over many runs ask of gold."""
        ...

    def measures(self) -> Mapping[str, Sequence[str]]:
        """The measures that runs can have on these inputs, the usual one first, each with the hops it exists for."""
        ...

    def score(self, run: RunFile, policies: Sequence[str]) -> Iterator[Scored]:
        """The run as if it were alone, under each of the policies; a run that cannot be scored has a failed outcome."""
        ...

    def signature(self, run: InputDigest, policy: str) -> Mapping[str, object]:
        """What the scores of a run with these bytes would be made from, as JSON."""
        ...


class Plan(Protocol):
    """All that a worker needs to prepare gold; it can be pickled."""

    def prepare(self) -> Prepared:
        """Read and index gold. Raises CsScoreError where that fails, and then no run can be scored."""
        ...

    def measures(self) -> Sequence[str]:
        """The measures that the options allow, the usual one first."""
        ...

    def headline(self) -> Sequence[str]:
        """The measures that readable leaderboards show."""
        ...

    def policy_names(self) -> Sequence[str]:
        """Names of the policies, in order; one empty name where the mode has none or the default is meant."""
        ...

    def travelling(self, ship: bool) -> Plan:
        """The same plan for a worker elsewhere: inputs by absolute path, or with `ship` by their bytes."""
        ...
