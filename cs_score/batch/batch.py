"""Many runs against one gold standard: gold is prepared once, and each run is scored as if it were alone.

`plan` asks a task what there is to score, without knowing where it is computed (`coldstart`, `evidence`); `execution`
scores runs here, in a pool of processes or on a Dask cluster; `store` keeps the output folder in order; outcomes become
a `leaderboard` and an `overview`, whose records stand in `documents`. Here all of it comes together.
"""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import TextIO

from cs_score.analysis.many.overview import Overview
from cs_score.base.documents import json_text
from cs_score.base.errors import CsScoreError, InputError, OutputError, UsageError
from cs_score.base.outputs import encoded, folder_made, write_whole
from cs_score.base.processes import processes_for
from cs_score.base.records import Record, replace, to_builtins
from cs_score.base.runtime import paused_collector
from cs_score.base.signature import RUN
from cs_score.batch.documents import FAILED, Leaderboard, Outcome
from cs_score.batch.execution import Backend, Delivery, Job, Progress, dask_backend, failures, local_backend, run_jobs
from cs_score.batch.leaderboard import LEADERBOARD, WRITERS, make_leaderboard
from cs_score.batch.overview import PROBLEMS, TABLES, document_of, overview_of, problem_lines, write_problem_report
from cs_score.batch.plan import MakePage, Plan, Prepared, is_page
from cs_score.batch.runs import INDEX, InputFile, RunFile
from cs_score.batch.store import (
    SIGNATURE,
    UnfitError,
    clear,
    clear_leftovers,
    folder_of_run,
    locked,
    read_whole_run,
    write_run,
)
from cs_score.tables.layout import tsv


class BatchOptions(Record):
    """What a batch may choose beside the scoring.

    `out` is the output folder, `measure` ranks the leaderboard (None: the usual one of the task), `resume` keeps runs
    that are scored already. Runs are scored in `jobs` processes (None: one for each processor) or on the Dask cluster
    at `dask`; with `ships` its workers receive the bytes of all inputs and return those of all outputs. `problems`
    names a file for all problems with their details, which the plan then has to ask for; `index` makes the page of the
    whole batch, where the plan makes the pages of runs. Progress is shown on the stream `progress`. `mix_editions`
    allows one leaderboard for runs that follow several editions.
    """

    out: str
    measure: str | None = None
    resume: bool = False
    ships: bool = False
    problems: str | None = None
    index: MakePage | None = None
    jobs: int | None = 1
    dask: str | None = None
    progress: TextIO | None = None
    mix_editions: bool = False


class BatchResult(Record):
    """The outcomes in the order of runs and policies, the leaderboard, and how many runs were kept from before."""

    outcomes: tuple[Outcome, ...]
    leaderboard: Leaderboard
    kept: int

    @property
    def failed(self) -> int:
        """How many scorings did not come to their end, or met problems that are errors."""
        return sum(outcome.state == FAILED or outcome.errors > 0 for outcome in self.outcomes)


def run_batch(plan: Plan, runs: Sequence[RunFile], options: BatchOptions, remark: Callable[[str], None]) -> BatchResult:
    """Score all runs into `options.out`; what is wrong with one of them stands in its outcome.

    `remark` prints a line. Raises CsScoreError where nothing can be scored: gold is unusable, the folder cannot be
    written or is in use, no executor answers; UsageError for runs of several editions that may not be mixed.
    """
    editions = _editions(plan, runs, options.mix_editions)
    policies = plan.policy_names()
    with folder_made(options.out, "-o"), locked(options.out) as taken_over:
        if taken_over is not None:
            remark(taken_over)
        clear_leftovers(options.out)
        with paused_collector():
            prepared = plan.prepare()
        measure = _measure(options.measure, prepared.measures())
        folders = {folder_of_run(options.out, plan, run.name, policy) for run in runs for policy in policies}
        if others := _other_results(options.out, folders):
            remark(f"{options.out} holds results of other runs, too ({others}); the leaderboard has those of this call")
        found: dict[tuple[str, str], Outcome] = {}
        jobs = [job for run in runs if (job := _job(run, plan, prepared, options, found, remark)) is not None]
        kept = len(found)
        if jobs:
            _run(jobs, plan, prepared, options, found)
        outcomes = tuple(found[run.name, policy] for run in runs for policy in policies)
        board = make_leaderboard(outcomes, plan.task, measure, plan.headline(), editions)
        if not any(measure in row.scores for row in board.rows) and any(row.scores for row in board.rows):
            remark(f"no run has a score {measure}, so none has a rank")
        own = plan.edition_of(replace(runs[0], follow=""))
        of_batch = [outcome for outcome in outcomes if editions.get(outcome.run, own) == own]
        _write(options, prepared, outcomes, board, overview_of(of_batch, board, prepared.evaluation))
        return BatchResult(outcomes, board, kept)


def _editions(plan: Plan, runs: Sequence[RunFile], may_mix: bool) -> dict[str, str]:
    """The editions of runs by name where they follow several, else none. Raises UsageError where that may not be."""
    editions = {run.name: plan.edition_of(run) for run in runs}
    if len(names := dict.fromkeys(editions.values())) == 1:
        return {}
    if not may_mix:
        raise UsageError(
            f"the runs follow {' and '.join(names)}, whose scores cannot be compared; make a batch of each, or say "
            "--mix-editions for one leaderboard"
        )
    return editions


def _measure(wanted: str | None, known: Mapping[str, Sequence[str]]) -> str:
    """The measure that ranks the runs. Raises UsageError where none of them can have it."""
    if wanted is None:
        return next(iter(known))
    name, at, hop = wanted.partition("@")
    if name in known and (not at or hop in known[name]):
        return wanted
    there = ", ".join(f"{name} (@{', @'.join(hops)})" if hops else name for name, hops in known.items())
    raise UsageError(f"--measure {wanted}: no run can have this measure here; there are {there}")


def _other_results(out: str, folders: Set[str]) -> str:
    """The runs in the output folder, of a policy or not, that this batch does not score; empty if there are none."""
    patterns = (os.path.join(glob.escape(out), *depth, SIGNATURE) for depth in ("*", ("*", "*")))
    found = sorted({os.path.dirname(path) for pattern in patterns for path in glob.glob(pattern)} - folders)
    names = [os.path.relpath(folder, out) for folder in found]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _job(
    run: RunFile, plan: Plan, prepared: Prepared, options: BatchOptions, found: dict[tuple[str, str], Outcome],
    remark: Callable[[str], None],
) -> Job | None:  # fmt: skip
    """What is left to do for a run; whole outcomes of an earlier batch go into `found`."""
    folders: dict[str, str | None] = {}
    digest = None
    if options.resume:
        with contextlib.suppress(InputError):
            digest = run.file.digest(RUN)
    for policy in plan.policy_names():
        folder = folder_of_run(options.out, plan, run.name, policy)
        earlier = None
        if digest is not None:
            try:
                earlier = read_whole_run(folder, prepared.origin(run, digest, policy))
            except UnfitError as error:
                remark(f"{error} is not as this version writes it; {run.name} is scored again")
        lacks_problems = options.problems is not None and (earlier is None or earlier.occurrences is None)
        has_page = earlier is not None and any(is_page(written.name) for written in earlier.files)
        if earlier is None or lacks_problems or (options.index is not None and not has_page):
            folders[policy] = None if options.ships else os.path.abspath(folder)
        else:
            found[run.name, policy] = earlier
    return Job(plan.task, run, folders) if folders else None


def _run(
    jobs: Sequence[Job], plan: Plan, prepared: Prepared, options: BatchOptions, found: dict[tuple[str, str], Outcome]
) -> None:
    """Score runs, and put their outcomes into `found` as they come."""
    progress = Progress(options.progress, len(jobs))
    try:
        with _backend(plan, prepared, options, len(jobs)) as backend:
            todo = list(_sent(jobs, found)) if options.ships else jobs
            for deliveries in run_jobs(todo, backend, progress):
                for delivery in deliveries:
                    outcome = _stored(_checked(delivery, prepared), options, plan)
                    found[outcome.run, outcome.policy] = outcome
    finally:  # no worker writes any more
        progress.close()
        for job in jobs:
            for policy in job.folders:
                clear_leftovers(folder_of_run(options.out, plan, job.run.name, policy))


def _backend(
    plan: Plan, prepared: Prepared, options: BatchOptions, runs: int
) -> contextlib.AbstractContextManager[Backend]:
    batch = os.urandom(16).hex()
    if options.dask is not None:
        return dask_backend(batch, plan.travelling(options.ships), options.dask)
    return local_backend(batch, plan, prepared, min(processes_for(options.jobs), runs))


def _sent(jobs: Sequence[Job], found: dict[tuple[str, str], Outcome]) -> Iterator[Job]:
    """The runs with their bytes; one that cannot be read has failed here already."""
    for job in jobs:
        try:
            yield Job(job.task, RunFile(job.run.name, job.run.file.loaded(), job.run.follow), job.folders)
        except CsScoreError as error:
            for delivery in failures(job, str(error)):
                found[delivery.outcome.run, delivery.outcome.policy] = delivery.outcome


def _failed(outcome: Outcome, reason: str) -> Delivery:
    run = RunFile(outcome.run, InputFile(outcome.file))
    return failures(Job(outcome.task, run, {outcome.policy: None}), reason)[0]


def _checked(delivery: Delivery, prepared: Prepared) -> Delivery:
    """The delivery, failed if its worker prepared something else: another file may lie under the same path there."""
    origin = delivery.outcome.origin
    seen = {(given.name, given.sha256) for given in origin.inputs} if origin else set()
    for digest in prepared.digests:
        if seen and (digest.name, digest.sha256) not in seen:
            reason = f"the worker read another {digest.name} than this machine; put it on shared storage or ship inputs"
            return _failed(delivery.outcome, reason)
    return delivery


def _stored(delivery: Delivery, options: BatchOptions, plan: Plan) -> Outcome:
    """The outcome once its files are in the output folder."""
    outcome = delivery.outcome
    folder = folder_of_run(options.out, plan, outcome.run, outcome.policy)
    if delivery.contents:
        try:
            return write_run(folder, outcome, [(name, [data]) for name, data in delivery.contents.items()])
        except OutputError as error:
            return _failed(outcome, str(error)).outcome
    if outcome.state == FAILED and not outcome.files:
        clear(folder)  # files of an earlier batch are out of date
    return outcome


def _write(
    options: BatchOptions, prepared: Prepared, outcomes: Sequence[Outcome], board: Leaderboard, overview: Overview
) -> None:
    """Write what is over all runs, each file whole or not at all. Raises OutputError."""
    document = document_of(overview, board, pages=options.index is not None)
    files = {f"{LEADERBOARD}.{ending}": encoded([text(board)]) for ending, text in WRITERS.items()}
    files |= {name: tsv(table(overview)) for name, table in TABLES.items()}
    files |= {"batch.json": encoded([json_text(document)]), PROBLEMS: iter(problem_lines(outcomes))}
    if options.index is not None:
        files[INDEX] = encoded([options.index(to_builtins(document))])
    for name, blocks in files.items():
        write_whole(os.path.join(options.out, name), blocks)
    if options.problems is not None:
        write_problem_report(options.problems, prepared.occurrences, outcomes)
