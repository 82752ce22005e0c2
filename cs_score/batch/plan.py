"""What a mode gives to the batch: a plan that can travel to a worker, what the worker prepares from it, outcomes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias

from cs_score.analysis.many.overview import Evaluation
from cs_score.base.records import Record, field
from cs_score.base.sources import InputDigest
from cs_score.batch.runs import RunFile
from cs_score.problems.log import NO_PLACE, Problem
from cs_score.problems.occurrences import Occurrence

OK: Final = "ok"
WITH_ERRORS: Final = "errors"
FAILED: Final = "failed"
"""States: scored; scored, with problems that are errors; not scored to the end."""


class ProblemPlace(NamedTuple):
    """One problem at one place; `file` and `line` are empty where it belongs to none."""

    severity: str
    code: str
    message: str
    file: str
    line: str


class WrittenFile(NamedTuple):
    """A file in the folder of a run: its name there, its size in bytes, the SHA-256 of its bytes.

    The latter is empty for a file that holds the time of the call, so that equal batches leave equal signatures.
    """

    name: str
    size: int
    sha256: str


class RunScores(NamedTuple):
    """The scores of one run id by measure; a file may hold several run ids."""

    run_id: str
    scores: Mapping[str, float]


class Outcome(Record):
    """One run under one policy.

    `run` is the name of the run in the batch, `file` its file as given, `policy` empty where a mode has none; `state`
    is OK, WITH_ERRORS or FAILED, with the reason of the latter in `failure`. `signature` says what the scores were
    made from, `files` what was written. `occurrences` are the problems of the run itself with their details, None
    where nobody asked for them. `intervals` are those of each of `scores`, as JSON has them; none without resampling.
    `findings` are what each of `scores` tells the tables over many runs, as JSON has them.
    """

    run: str
    file: str
    policy: str
    state: str
    scores: tuple[RunScores, ...] = ()
    errors: int = 0
    warnings: int = 0
    problems: tuple[ProblemPlace, ...] = ()
    remarks: tuple[str, ...] = ()
    failure: str | None = None
    signature: Mapping[str, object] = field(default_factory=dict)
    files: tuple[WrittenFile, ...] = ()
    occurrences: tuple[Occurrence, ...] | None = None
    intervals: tuple[Mapping[str, object], ...] = ()
    findings: tuple[Mapping[str, object], ...] = ()


def problem_places(problem: Problem) -> list[ProblemPlace]:
    """A problem of the scorer, place by place."""
    return [
        ProblemPlace(
            str(problem.severity),
            problem.code,
            problem.message,
            "" if place is None or place.file == NO_PLACE else place.file,
            "" if place is None else str(place.line),
        )
        for place in problem.places
    ]


MakePage: TypeAlias = Callable[[Mapping[str, object]], str]
"""Makes a page of a JSON object: of the analysis of a run, or of what a batch tells of all runs."""

_PAGE: Final = re.compile(r"out(\.[1-9][0-9]*)?\.html", re.ASCII)


def page_name(at: int, of: int) -> str:
    """The file of the page of one of the `of` run ids of a run's file, from 0."""
    return "out.html" if of == 1 else f"out.{at + 1}.html"


def is_page(name: str) -> bool:
    """Whether the page of a run is called like this."""
    return _PAGE.fullmatch(name) is not None


class Scored(Record):
    """One run under one policy: the outcome but for its files, and these by name, made as they are written."""

    outcome: Outcome
    files: Iterable[tuple[str, Iterable[bytes]]]


class Prepared(Protocol):
    """Gold that is read and indexed. Scoring a run changes nothing in it."""

    @property
    def digests(self) -> Sequence[InputDigest]:
        """The inputs that all runs share."""

    @property
    def occurrences(self) -> Sequence[Occurrence]:
        """The problems of those inputs with their details, where the plan asks for them."""

    @property
    def evaluation(self) -> Evaluation:
        """What the tables over many runs ask of gold."""

    def measures(self) -> Mapping[str, Sequence[str]]:
        """The measures that runs can have on these inputs, the usual one first, each with the hops it exists for."""

    def score(self, run: RunFile, policies: Sequence[str]) -> Iterator[Scored]:
        """The run as if it were alone, under each of the policies; a run that cannot be scored has a failed outcome."""

    def signature(self, run: InputDigest, policy: str) -> Mapping[str, object]:
        """What the scores of a run with these bytes would be made from, as JSON."""


class Plan(Protocol):
    """All that a worker needs to prepare gold; it can be pickled."""

    def prepare(self) -> Prepared:
        """Read and index gold. Raises CsScoreError where that fails, and then no run can be scored."""

    def measures(self) -> Sequence[str]:
        """The measures that the options allow, the usual one first."""

    def headline(self) -> Sequence[str]:
        """The measures that readable leaderboards show."""

    def policy_names(self) -> Sequence[str]:
        """Names of the policies, in order; one empty name where the mode has none or the default is meant."""

    def travelling(self, ship: bool) -> Plan:
        """The same plan for a worker elsewhere: inputs by absolute path, or with `ship` by their bytes."""
