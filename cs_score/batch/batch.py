"""Many runs against one gold standard: gold is prepared once, and each run is scored as if it were alone.

`plan` and `coldstart` say what there is to score, `execution` where; `store` keeps the output folder in order, and
`tables` has what is over all runs.
"""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import TextIO

from cs_score.base.documents import json_text
from cs_score.base.errors import CsScoreError, InputError, OutputError, UsageError
from cs_score.base.outputs import encoded, folder_made, write_whole
from cs_score.base.processes import processes_for
from cs_score.base.records import Record, replace, to_builtins
from cs_score.base.runtime import paused_collector
from cs_score.base.signature import RUN
from cs_score.batch import store
from cs_score.batch.documents import FAILED, Leaderboard, Outcome
from cs_score.batch.execution import Backend, Job, Progress, dask_backend, failures, local_backend, run_jobs
from cs_score.batch.plan import MakePage, Plan, Prepared, Scored, failed, is_page
from cs_score.batch.runs import INDEX, InputFile, RunFile
from cs_score.batch.tables import (
    PROBLEMS,
    document_of,
    files_of,
    make_leaderboard,
    overview_of,
    problem_lines,
    write_problem_report,
)


class BatchOptions(Record):
    """What a batch may choose beside the scoring.

    `out` is the output folder, `measure` ranks the leaderboard (None: the usual one), `resume` keeps runs that are
    scored already. Runs are scored in `jobs` processes (None: one for each processor) or on the Dask cluster at `dask`,
    whose workers with `ships` receive the bytes of all inputs. `problems` names a file for all problems with details;
    `index` makes the page of the whole batch. Progress is shown on the stream `progress`. `mix_editions` allows one
    leaderboard for runs that follow several editions.
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
    with folder_made(options.out, "-o"), store.locked(options.out) as taken_over:
        if taken_over is not None:
            remark(taken_over)
        store.clear_leftovers(options.out)
        with paused_collector():
            prepared = plan.prepare()
        measure = _measure(options.measure, prepared.measures())
        batch = _Batch(prepared, options, remark)
        folders = {(run.name, policy): batch.folder(run.name, policy) for run in runs for policy in plan.policy_names()}
        if others := _other_results(options.out, {*folders.values()}):
            remark(f"{options.out} holds results of other runs, too ({others}); the leaderboard has those of this call")
        jobs = [job for run in runs if (job := batch.job(run)) is not None]
        kept = len(batch.found)
        if jobs:
            batch.run(jobs)
        outcomes = tuple(batch.found[key] for key in folders)
        board = make_leaderboard(outcomes, plan.task, measure, plan.headline(), editions)
        if not any(measure in row.scores for row in board.rows) and any(row.scores for row in board.rows):
            remark(f"no run has a score {measure}, so none has a rank")
        own = plan.edition_of(replace(runs[0], follow=""))
        of_batch = [outcome for outcome in outcomes if editions.get(outcome.run, own) == own]
        overview = overview_of(of_batch, board, prepared.evaluation)
        document = document_of(overview, board, pages=options.index is not None)
        files = files_of(board, overview) | {PROBLEMS: iter(problem_lines(outcomes))}
        documents = {"leaderboard.json": board, "batch.json": document}
        files |= {name: encoded([json_text(each)]) for name, each in documents.items()}
        if options.index is not None:
            files[INDEX] = encoded([options.index(to_builtins(document))])
        for name, blocks in files.items():
            write_whole(os.path.join(options.out, name), blocks)
        if options.problems is not None:
            write_problem_report(options.problems, prepared.occurrences, outcomes)
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
    patterns = (os.path.join(glob.escape(out), *depth, store.SIGNATURE) for depth in ("*", ("*", "*")))
    found = sorted({os.path.dirname(path) for pattern in patterns for path in glob.glob(pattern)} - folders)
    names = [os.path.relpath(folder, out) for folder in found]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


class _Batch:
    """The scoring of runs into the output folder; outcomes are `found` by run and policy as they come."""

    def __init__(self, prepared: Prepared, options: BatchOptions, remark: Callable[[str], None]) -> None:
        self._plan: Plan = prepared.plan
        self._prepared = prepared
        self._options = options
        self._remark = remark
        self.found: dict[tuple[str, str], Outcome] = {}

    def folder(self, run: str, policy: str) -> str:
        return store.folder_of_run(self._options.out, self._plan, run, policy)

    def job(self, run: RunFile) -> Job | None:
        """What is left to do for a run; whole outcomes of an earlier batch are found."""
        options, folders = self._options, dict[str, str | None]()
        digest = None
        if options.resume:
            with contextlib.suppress(InputError):
                digest = run.file.digest(RUN)
        for policy in self._plan.policy_names():
            folder = self.folder(run.name, policy)
            earlier = None
            if digest is not None:
                try:
                    earlier = store.read_whole_run(folder, self._prepared.origin(run, digest, policy))
                except store.UnfitError as error:
                    self._remark(f"{error} is not as this version writes it; {run.name} is scored again")
            lacks_problems = options.problems is not None and (earlier is None or earlier.occurrences is None)
            has_page = earlier is not None and any(is_page(written.name) for written in earlier.files)
            if earlier is None or lacks_problems or (options.index is not None and not has_page):
                folders[policy] = None if options.ships else os.path.abspath(folder)
            else:
                self.found[run.name, policy] = earlier
        return Job(self._plan.task, run, folders) if folders else None

    def run(self, jobs: Sequence[Job]) -> None:
        """Score runs."""
        progress = Progress(self._options.progress, len(jobs))
        try:
            with self._backend(len(jobs)) as backend:
                todo = list(self._loaded(jobs)) if self._options.ships else jobs
                for scored in run_jobs(todo, backend, progress):
                    self._take(scored)
        finally:  # no worker writes any more
            progress.close()
            for job in jobs:
                for policy in job.folders:
                    store.clear_leftovers(self.folder(job.run.name, policy))

    def _backend(self, runs: int) -> contextlib.AbstractContextManager[Backend]:
        batch, options = os.urandom(16).hex(), self._options
        if options.dask is not None:
            return dask_backend(batch, self._plan.travelling(options.ships), options.dask)
        return local_backend(batch, self._prepared, min(processes_for(options.jobs), runs))

    def _loaded(self, jobs: Sequence[Job]) -> Iterator[Job]:
        """The runs with their bytes; one that cannot be read has failed here already."""
        for job in jobs:
            try:
                yield replace(job, run=replace(job.run, file=job.run.file.loaded()))
            except CsScoreError as error:
                for scored in failures(job, str(error)):
                    self._take(scored)

    def _take(self, scored: Scored) -> None:
        """Put the files of an outcome into the output folder.

        It failed if its worker prepared something else: another file may lie under the same path there.
        """
        outcome, reason = scored.outcome, None
        seen = {(given.name, given.sha256) for given in outcome.origin.inputs} if outcome.origin else set()
        for digest in self._prepared.digests if seen else ():
            if (digest.name, digest.sha256) not in seen:
                reason = (
                    f"the worker read another {digest.name} than this machine; put it on shared storage or ship inputs"
                )
                break
        folder = self.folder(outcome.run, outcome.policy)
        try:
            if reason is None and scored.files:
                outcome = store.write_run(folder, outcome, scored.files)
        except OutputError as error:
            reason = str(error)
        if reason is not None:
            run = RunFile(outcome.run, InputFile(outcome.file))
            outcome = failed(outcome.task, run, outcome.policy, reason)
        if outcome.state == FAILED and not outcome.files:
            store.clear(folder)  # files of an earlier batch are out of date
        self.found[outcome.run, outcome.policy] = outcome
