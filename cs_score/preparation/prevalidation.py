"""Runs validated in memory on their way to the scorer: the two steps of an evaluation as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from cs_score.base.errors import InputError
from cs_score.base.outputs import encoded
from cs_score.base.records import Record, Struct, field, replace
from cs_score.base.sources import InMemory, Input, InputDigest, name_of, rereadable
from cs_score.coldstart.gold import Gold, Run, load_run
from cs_score.coldstart.linking import kind_of, members
from cs_score.coldstart.options import Justifications
from cs_score.coldstart.outputs import closing_line
from cs_score.coldstart.queries import QueryFiles, QuerySet
from cs_score.coldstart.tab_files import FileKind
from cs_score.preparation.runs import Limits, check_run
from cs_score.problems.codes import Severity
from cs_score.problems.log import ProblemLog


class PreparedRun(Record):
    """One argument of the scorer that was prepared: what was found, and what became of it.

    `scored_as` is the name of what is scored in its place, `account` says what was done. One whose `problems` hold
    errors must not be scored; `code` and `remedy` say so. `digests` are those of its files as they were given.
    """

    name: str
    scored_as: str
    problems: ProblemLog
    what: str
    digests: tuple[InputDigest, ...]
    code: str = "RUN_WITH_ERRORS"
    remedy: str = "a run with errors cannot be validated, and is not scored with --validate; correct them first"

    @property
    def account(self) -> str:
        return str(InputError(self.what, file=self.name))

    def check(self) -> None:
        """Raises InputError where there are errors: nothing could be written, so nothing is scored."""
        if errors := self.problems.count(Severity.ERROR):
            problem = closing_line(errors, 0).rstrip("\n")
            raise InputError(problem, file=self.name, remedy=self.remedy, code=self.code)


class Preparation(Struct):
    """The files to score, in order, with runs replaced by what was made of them, and an account of each."""

    files: list[Input] = field(default_factory=list)
    runs: list[PreparedRun] = field(default_factory=list)


def validate_runs(
    files: Iterable[Input],
    queries: QuerySet,
    justifications: Justifications,
    new_log: Callable[[], ProblemLog] = ProblemLog,
) -> Preparation:
    """Validate the runs among files as `validate-run` does, against the queries that are scored.

    `new_log` makes the log of problems of each run. A folder that holds run files is one run. Raises InputError where a
    run cannot be validated at all; its `check` refuses one with errors.
    """
    prepared = Preparation()
    for given in files:
        runs: list[Input] = []
        others: list[Input] = []
        for member in map(rereadable, members(given)):
            (runs if kind_of(member) is FileKind.RUN else others).append(member)
        prepared.files += others
        if not runs:
            continue
        problems = new_log()
        checked = check_run(runs, QueryFiles(queries, [], []), Limits(justifications), problems)
        name = name_of(given)
        text = b"".join(encoded(checked.validated().pieces))
        lines = len(checked.loading.links.responses)
        scored_as = f"{name} (validated)"
        prepared.files.append(InMemory(scored_as, text))
        left_out = lines - text.count(b"\n")
        what = f"validated; {left_out} of {lines} lines are left out"
        prepared.runs.append(PreparedRun(name, scored_as, problems, what, tuple(checked.loading.digests)))
    return prepared


def load_prepared(
    gold: Gold, prepared: Preparation, limits: Justifications | None = None, problems: ProblemLog | None = None
) -> Run:
    """Load what was prepared; the digests are those of the files as given. Raises InputError as `load_run`."""
    run = load_run(gold, prepared.files, limits, problems)
    digests: Sequence[InputDigest] = run.digests
    for one in reversed(prepared.runs):  # what a knowledge base gave may have been validated after that
        digests = [
            given for digest in digests for given in (one.digests if digest.name == one.scored_as else (digest,))
        ]
    return replace(run, digests=list(digests))
