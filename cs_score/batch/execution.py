"""Many runs against one gold standard: each is scored as if it were alone, in this process, in several or on Dask."""

from __future__ import annotations

import contextlib
import glob
import logging
import os
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from typing import Any, Final, TypeAlias

from cs_score.base.display import one_line, some
from cs_score.base.documents import json_text
from cs_score.base.errors import CsScoreError, InputError, MissingExtraError, OutputError, UsageError
from cs_score.base.outputs import encoded, folder_made, outputs_at_once, outputs_together, write_whole
from cs_score.base.processes import Pool, WorkerDiedError, processes_for
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_collector
from cs_score.base.signature import RUN
from cs_score.base.sources import InputDigest
from cs_score.base.version import VERSION
from cs_score.batch import store
from cs_score.batch.documents import FAILED, Leaderboard, Outcome
from cs_score.batch.plan import INDEX, BatchOptions, InputFile, Plan, Prepared, RunFile, Scored, is_page, outcome_of
from cs_score.batch.tables import (
    PROBLEMS,
    document_of,
    files_of,
    make_leaderboard,
    overview_of,
    problem_lines,
    write_problem_report,
)

CONNECT_SECONDS: Final = 8
WORKER_SECONDS: Final = 15
"""How long a Dask scheduler is waited for, and then a worker of it."""

_TICK_SECONDS: Final = 0.5

# ---- One run in a worker


class Job(Record):
    """One run to score, and the folder for each policy; None where the outputs travel back with the outcome."""

    task: str
    run: RunFile
    folders: dict[str, str | None]

    def failed(self, reason: str) -> list[Scored]:
        """The outcomes of a run that could not be scored."""
        return [Scored(outcome_of(self.task, self.run, policy, failure=reason)) for policy in self.folders]


class Scorer:
    """Scores runs. Gold is prepared when it is needed unless it is given; copies elsewhere prepare their own."""

    def __init__(self, plan: Plan, prepared: Prepared | None = None) -> None:
        self._plan, self._prepared, self._preparing = plan, prepared, threading.Lock()

    def __reduce__(self) -> tuple[type[Scorer], tuple[Plan]]:
        return Scorer, (self._plan,)

    def __call__(self, job: Job) -> list[Scored]:
        """Score one run under its policies. Whatever is wrong with it becomes its outcome, never an exception."""
        found: list[Scored] = []
        try:
            with paused_collector():
                with self._preparing:
                    self._prepared = self._prepared or self._plan.prepare()
                for scored in self._prepared.score(job.run, list(job.folders)):
                    folder = job.folders[scored.outcome.policy]
                    if folder is None:
                        files = [(name, [b"".join(blocks)]) for name, blocks in scored.files]
                        found.append(Scored(scored.outcome, files))
                    else:
                        found.append(Scored(store.write_run(folder, scored.outcome, scored.files)))
            return found
        except CsScoreError as error:  # gold as this worker sees it, or a disk that is full
            return job.failed(str(error))
        except Exception as error:  # a defect of cs-score fails one run, not the batch
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{place.filename.rpartition('/')[2]} line {place.lineno}"
            return job.failed(f"defect of cs-score: {type(error).__name__}: {error} ({where}); please report it")


# ---- Workers

Scores: TypeAlias = Future[list[Scored]]
"""A run under its policies, with what its files hold where the worker did not write them."""


class Backend(Record):
    """Where runs are scored: at most `width` of them are handed out at a time.

    `wait` gives those of some futures that are done, after so many seconds at most. `died` are the exceptions of a
    future whose worker died; a backend that `retries` has tried the task again by itself.
    """

    submit: Callable[[Job], Scores]
    wait: Callable[[Collection[Scores], float], Collection[Scores]]
    width: int
    died: tuple[type[BaseException], ...] = ()
    retries: bool = False


def run_jobs(jobs: Sequence[Job], backend: Backend, progress: Progress) -> Iterator[Scored]:
    """Score runs, and yield them as soon as they are there, in any order.

    A run whose worker dies is tried once more after all others, alone: two large runs may be too much for the memory
    where one is not. If the worker dies again the run has failed.
    """
    suspects: deque[Job] = deque()
    for waiting, width in ((deque(jobs), backend.width), (suspects, 1)):
        running: dict[Scores, Job] = {}
        while waiting or running:
            while waiting and len(running) < width:
                job = waiting.popleft()
                progress.starts(job.run.name)
                running[backend.submit(job)] = job
            done = backend.wait(running, _TICK_SECONDS)
            progress.tick()
            for future in done:
                job = running.pop(future)
                try:
                    scored = future.result()
                except CancelledError:
                    scored = job.failed("the executor gave the run up: the connection to it was lost")
                except backend.died as error:
                    if waiting is not suspects and not backend.retries:
                        suspects.append(job)
                        continue
                    name = type(error).__name__
                    scored = job.failed(f"the worker died at it each time it was tried (out of memory?): {name}")
                except Exception as error:
                    scored = job.failed(f"the executor could not run it: {type(error).__name__}: {error}")
                progress.finished()
                yield from scored


@contextlib.contextmanager
def local_backend(scorer: Scorer, jobs: int) -> Iterator[Backend]:
    """`jobs` processes on this machine."""
    with Pool[Job, list[Scored]](jobs, scorer) as pool:
        yield Backend(pool.submit, lambda running, seconds: pool.wait(seconds), jobs, (WorkerDiedError,))


@contextlib.contextmanager
def dask_backend(scorer: Scorer, address: str) -> Iterator[Backend]:
    """The cluster whose scheduler answers at `address`; its workers receive the plan once each, also those that join.

    Needs the extra `dask`. Raises InputError where no scheduler answers, where it has no worker, and where a worker
    lacks this version of cs-score; MissingExtraError without the package distributed.
    """
    try:
        import distributed as dask
    except ModuleNotFoundError:
        raise MissingExtraError("distributed", "dask") from None
    distributed: Any = dask
    for name in ("distributed", "tornado"):  # errors are reported in one line of our own
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # whatever the transport raises
        raise InputError(
            f"no Dask scheduler answers at {address} ({_reason(error)})",
            remedy="start one (dask scheduler) and check address, port and firewall",
        ) from None

    class HoldScorer(distributed.WorkerPlugin):  # type: ignore[misc]
        def __init__(self) -> None:
            self.scorer = scorer

    batch = os.urandom(16).hex()
    with client:
        _check_workers(client, address)
        client.register_plugin(HoldScorer(), name=batch)
        executor = client.get_executor(pure=False)
        try:
            yield Backend(
                lambda job: executor.submit(_score_on_dask, batch, job),
                lambda running, seconds: wait(running, timeout=seconds, return_when=FIRST_COMPLETED).done,
                width=2 * max(1, sum(client.nthreads().values())),
                died=(distributed.scheduler.KilledWorker,),
                retries=True,
            )
        finally:
            executor.shutdown(wait=False)
            with contextlib.suppress(Exception):  # the scheduler may be gone
                client.unregister_worker_plugin(batch)


def _score_on_dask(batch: str, job: Job) -> list[Scored]:
    from distributed import get_worker

    plugin: Any = get_worker().plugins[batch]
    scored: list[Scored] = plugin.scorer(job)
    return scored


def _check_workers(client: Any, address: str) -> None:
    """Raises InputError where there is no worker, or one with another version."""
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except Exception:
        raise InputError(
            f"the Dask scheduler at {address} has no worker", remedy=f"start one: dask worker {address} --nthreads 1"
        ) from None
    try:
        versions: dict[str, str] = client.run(_worker_version)
    except Exception as error:
        raise InputError(
            f"a Dask worker at {address} cannot run cs-score ({_reason(error)})",
            remedy=f"install cs-score {VERSION} and the same Python for all workers",
        ) from None
    for worker, version in versions.items():
        if version != VERSION:
            raise InputError(f"the Dask worker {worker} has cs-score {version}, this is {VERSION}")


def _worker_version() -> str:
    return VERSION


def _reason(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[-1]


class Progress:
    """Counts the runs that are done, and shows a line of it `every` so many seconds; none without a way to show it."""

    def __init__(
        self, show: Callable[[str], None] | None, every: float, total: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._show, self._every, self._total, self._clock = show, every, total, clock
        self._started = self._last = clock()
        self._done, self._current = 0, ""

    def starts(self, run: str) -> None:
        self._current = run
        self.tick()

    def finished(self) -> None:
        self._done += 1
        self.tick()

    def tick(self) -> None:
        """Show the progress if enough time has passed."""
        now = self._clock()
        if self._show is not None and now - self._last >= self._every:
            self._last = now
            self._show(self.line(now))

    def line(self, now: float) -> str:
        """The line: runs done, rate, time left, the run handed out last."""
        seconds = now - self._started
        rate = self._done / seconds if seconds > 0 else 0.0
        parts = [f"{self._done}/{self._total} runs"]
        if rate:
            minutes, rest = divmod(round((self._total - self._done) / rate), 60)
            hours, minutes = divmod(minutes, 60)
            parts.append(f"{rate:.1f} runs/s" if rate >= 1 else f"{rate * 60:.1f} runs/min")
            parts.append(f"{hours}:{minutes:02}:{rest:02} left" if hours else f"{minutes}:{rest:02} left")
        return one_line(", ".join((*parts, self._current) if self._current else parts))


# ---- The whole batch


class BatchResult(Record):
    """The outcomes in the order of runs and policies, the leaderboard, and how many runs were kept from before."""

    outcomes: tuple[Outcome, ...]
    leaderboard: Leaderboard
    kept: int


def run_batch(plan: Plan, runs: Sequence[RunFile], options: BatchOptions, remark: Callable[[str], None]) -> BatchResult:
    """Score all runs into `options.out`; what is wrong with one of them stands in its outcome.

    `remark` prints a line. Raises UsageError or OutputError, before anything is changed, for outputs that cannot be,
    and for runs of several editions that may not be mixed; CsScoreError where nothing can be scored: gold is unusable,
    the folder is in use, no executor answers.
    """
    outputs = store.planned_batch(plan, runs, options)
    outputs.check()
    outputs.clear()
    runs = [replace(run, file=InputFile.of(run.file.name)) for run in runs]
    editions = {run.name: run.follow or plan.edition for run in runs}
    if len(names := dict.fromkeys(editions.values())) == 1:
        editions = {}
    elif not options.mix_editions:
        raise UsageError(
            f"the runs follow {' and '.join(names)}, whose scores cannot be compared; make a batch of each, or say "
            "--mix-editions for one leaderboard"
        )
    with outputs_at_once(), folder_made(options.out, "-o"), store.locked(options.out) as taken_over:
        if taken_over is not None:
            remark(taken_over)
        store.clear_leftovers(options.out)
        with paused_collector():
            prepared = plan.prepare()
        measure = _measure(options.measure, prepared.measures())
        batch = _Batch(prepared, runs, options, remark)
        jobs = batch.jobs(runs)
        kept = len(batch.found)
        if jobs:
            batch.run(jobs)
        outcomes = tuple(batch.found[key] for key in batch.folders)
        board = make_leaderboard(outcomes, plan.task, measure, plan.headline(), editions)
        if not any(measure in row.scores for row in board.rows) and any(row.scores for row in board.rows):
            remark(f"no run has a score {measure}, so none has a rank")
        of_batch = [outcome for outcome in outcomes if editions.get(outcome.run, plan.edition) == plan.edition]
        overview = overview_of(of_batch, board, prepared.evaluation)
        document = document_of(overview, board, pages=plan.page is not None)
        files = files_of(board, overview) | {PROBLEMS: iter(problem_lines(outcomes))}
        files |= {"leaderboard.json": encoded([json_text(board)]), "batch.json": encoded([json_text(document)])}
        if plan.page is not None:
            files[INDEX] = encoded([plan.page(document)])
        with outputs_together():
            for name, blocks in files.items():
                write_whole(os.path.join(options.out, name), blocks)
            if options.problems is not None:
                write_problem_report(options.problems, prepared.occurrences, outcomes)
        return BatchResult(outcomes, board, kept)


def _measure(wanted: str | None, known: Mapping[str, Sequence[str]]) -> str:
    """The measure that ranks the runs. Raises UsageError where none of them can have it."""
    if wanted is None:
        return next(iter(known))
    name, at, hop = wanted.partition("@")
    if name in known and (not at or hop in known[name]):
        return wanted
    there = ", ".join(f"{name} (@{', @'.join(hops)})" if hops else name for name, hops in known.items())
    raise UsageError(f"--measure {wanted}: no run can have this measure here; there are {there}")


class _Batch:
    """Runs on their way into the output folder: the `folders` by run and policy, and outcomes `found` as they come."""

    def __init__(
        self, prepared: Prepared, runs: Sequence[RunFile], options: BatchOptions, remark: Callable[[str], None]
    ) -> None:
        self._prepared, self._options, self._remark = prepared, options, remark
        self._plan: Plan = prepared.plan
        places = [(run.name, policy) for run in runs for policy in self._plan.policy_names]
        self.folders = {place: store.folder_of_run(options.out, self._plan, *place) for place in places}
        self.found: dict[tuple[str, str], Outcome] = {}

    def jobs(self, runs: Sequence[RunFile]) -> list[Job]:
        """What is left to do; whole outcomes of an earlier batch are found."""
        options, jobs = self._options, []
        patterns = (os.path.join(glob.escape(options.out), *depth, store.SIGNATURE) for depth in ("*", ("*", "*")))
        there = {os.path.dirname(path) for pattern in patterns for path in glob.glob(pattern)}
        if others := some(os.path.relpath(each, options.out) for each in sorted(there - {*self.folders.values()})):
            self._remark(
                f"{options.out} holds results of other runs, too ({others}); the leaderboard has those of this call"
            )
        for run in runs:
            digest, folders = None, dict[str, str | None]()
            if options.resume:
                with contextlib.suppress(InputError):
                    digest = run.file.digest(RUN)
            for policy in self._plan.policy_names:
                earlier = None if digest is None else self._earlier(run, digest, policy)
                if earlier is not None:
                    self.found[run.name, policy] = earlier
                else:
                    folders[policy] = None if options.ships else os.path.abspath(self.folders[run.name, policy])
            if folders:
                jobs.append(Job(self._plan.task, run, folders))
        return jobs

    def _earlier(self, run: RunFile, digest: InputDigest, policy: str) -> Outcome | None:
        """The outcome of an earlier batch that has all that is wanted now: details of problems, and pages."""
        try:
            earlier = store.read_whole_run(self.folders[run.name, policy], self._prepared.origin(run, digest, policy))
        except store.UnfitError as error:
            self._remark(f"{error} is not as this version writes it; {run.name} is scored again")
            return None
        if earlier is None or (self._options.problems is not None and earlier.occurrences is None):
            return None
        has_pages = self._plan.page is None or any(is_page(each.name) for each in earlier.files)
        return earlier if has_pages else None

    def run(self, jobs: Sequence[Job]) -> None:
        options, plan = self._options, self._plan
        progress = Progress(options.progress, options.every, len(jobs))
        if options.dask is not None:
            executor = dask_backend(Scorer(plan.travelling(options.ships)), options.dask)
        else:
            executor = local_backend(Scorer(plan, self._prepared), min(processes_for(options.jobs), len(jobs)))
        try:
            with executor as backend:
                todo = list(self._travelling(jobs)) if options.dask is not None else jobs
                for scored in run_jobs(todo, backend, progress):
                    self._take(scored)
        finally:  # no worker writes any more
            for job in jobs:
                for policy in job.folders:
                    store.clear_leftovers(self.folders[job.run.name, policy])

    def _travelling(self, jobs: Sequence[Job]) -> Iterator[Job]:
        """The runs for workers elsewhere; one that cannot be read has failed here already."""
        for job in jobs:
            try:
                yield replace(job, run=replace(job.run, file=job.run.file.travelling(self._options.ships)))
            except CsScoreError as error:
                for scored in job.failed(str(error)):
                    self._take(scored)

    def _take(self, scored: Scored) -> None:
        """Put the files of an outcome into the output folder.

        It failed if its worker prepared something else: another file may lie under the same path there.
        """
        outcome = scored.outcome
        seen = {(given.name, given.sha256) for given in outcome.origin.inputs} if outcome.origin else set()
        others = [given.name for given in self._prepared.digests if seen and (given.name, given.sha256) not in seen]
        folder = self.folders[outcome.run, outcome.policy]
        try:
            if others:
                machine = f"the worker read another {others[0]} than this machine"
                raise OutputError(f"{machine}; put it on shared storage or ship inputs")
            if scored.files:
                outcome = store.write_run(folder, outcome, scored.files)
        except OutputError as error:
            known = {name: getattr(outcome, name) for name in ("task", "run", "file", "policy")}
            outcome = Outcome(**known, state=FAILED, failure=str(error))
        if outcome.state == FAILED and not outcome.files:
            store.clear(folder)  # files of an earlier batch are out of date
        self.found[outcome.run, outcome.policy] = outcome
