"""Runs validated in memory on their way to the scorer: the two steps of an evaluation as one."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cs_score.coldstart.gold import Gold
from cs_score.coldstart.lines.layouts import FileKind
from cs_score.coldstart.lines.loading import kind_of, members
from cs_score.coldstart.options import Justifications
from cs_score.coldstart.queries.loading import QueryFiles
from cs_score.coldstart.queries.query_set import QuerySet
from cs_score.coldstart.run import Run, load_run
from cs_score.coldstart.writers.report import closing_line
from cs_score.foundation.errors import InputError
from cs_score.foundation.outputs import encoded
from cs_score.foundation.sources import Input, InputDigest, name_of, open_source
from cs_score.preparation.runs.run_loading import Limits
from cs_score.preparation.runs.run_validation import check_run
from cs_score.problems.log import ProblemLog, Severity


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """One argument of the scorer whose runs were validated: what was found, and how many lines are left out.

    A run whose `problems` hold errors must not be scored. `digests` are those of its files as they are stored.
    """

    name: str
    problems: ProblemLog
    lines: int
    left_out: int
    digests: tuple[InputDigest, ...]

    @property
    def account(self) -> str:
        """What validation has made of the run, as a remark."""
        return str(InputError(f"validated; {self.left_out} of {self.lines} lines are left out", file=self.name))

    def check(self) -> None:
        """Raises InputError where the run has errors: the validated run would not exist."""
        if errors := self.problems.count(Severity.ERROR):
            raise InputError(
                closing_line(errors, 0).rstrip("\n"),
                file=self.name,
                remedy="a run with errors cannot be validated, and is not scored with --validate; mend them first",
                code="RUN_WITH_ERRORS",
            )


@dataclass(slots=True)
class Preparation:
    """The files to score, in order, with runs replaced by what is left of them, and an account of each run."""

    files: list[Input] = field(default_factory=list)
    runs: list[PreparedRun] = field(default_factory=list)


class _ValidatedRun(io.BytesIO):
    """A validated run that tells what it was made from."""

    def __init__(self, name: str, data: bytes) -> None:
        super().__init__(data)
        self.name = f"{name} (validated)"


def validate_runs(
    files: Iterable[Input],
    queries: QuerySet,
    justifications: Justifications,
    new_log: Callable[[], ProblemLog] = ProblemLog,
) -> Preparation:
    """Validate the runs among files as `validate-run` does, against the queries that are scored.

    `new_log` makes the log of problems of each run. A folder that holds run files is one run. Raises InputError where a
    run cannot be validated at all; one with errors is told by its `check`.
    """
    prepared = Preparation()
    for given in files:
        held = [_rereadable(member) for member in members(given)]
        are_runs = [_is_run(member) for member in held]
        runs = [member for member, is_run in zip(held, are_runs) if is_run]
        others = [member for member, is_run in zip(held, are_runs) if not is_run]
        if not runs:
            prepared.files += held
            continue
        problems = new_log()
        checked = check_run(runs, QueryFiles(queries, [], []), Limits(justifications), problems)
        name = name_of(given)
        text = b"".join(encoded(checked.validated().pieces))
        lines = len(checked.loading.links.responses)
        prepared.files += [*others, _ValidatedRun(name, text)]
        prepared.runs.append(
            PreparedRun(
                name,
                problems,
                lines,
                lines - text.count(b"\n"),
                tuple(checked.loading.digests),
            )
        )
    return prepared


def load_prepared(
    gold: Gold, prepared: Preparation, limits: Justifications | None = None, problems: ProblemLog | None = None
) -> Run:
    """Load what was prepared; the digests are those of the files as stored. Raises InputError as `load_run`."""
    run = load_run(gold, prepared.files, limits, problems)
    return replace(run, digests=_restored_digests(run.digests, prepared.runs))


def signed_options(options: Mapping[str, object]) -> dict[str, object]:
    """Options as a signature has them where the runs were validated."""
    return {**options, "validate": True}


def _restored_digests(digests: Iterable[InputDigest], runs: Sequence[PreparedRun]) -> list[InputDigest]:
    """Digests of what was scored, with those of the files as stored in place of those of validated runs."""
    stored = {f"{run.name} (validated)": run.digests for run in runs}
    return [one for digest in digests for one in stored.get(digest.name, (digest,))]


def _rereadable(given: Input) -> Input:
    """An input that can be opened twice: standard input and open files are held in memory, as they are stored."""
    if isinstance(given, (str, os.PathLike)):
        if name_of(given) != "-":
            return given
        with open_source(given) as source:
            content: str | bytes = source.read_bytes()
    else:
        content = given.read()
    held = io.BytesIO(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
    held.name = name_of(given)
    return held


def _is_run(given: Input) -> bool:
    kind = kind_of(given)
    if hasattr(given, "seek"):
        given.seek(0)
    return kind is FileKind.RUN
