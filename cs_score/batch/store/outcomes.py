"""What became of one run under one policy: what the leaderboard shows and what a later `--resume` needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from cs_score.base.records import Record, field
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
