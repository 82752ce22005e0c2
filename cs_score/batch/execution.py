"""Runs are scored in this process, a pool of processes or a Dask cluster, each of which prepares gold once."""

from __future__ import annotations

import contextlib
import gc
import logging
import shutil
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from functools import partial
from typing import Any, Final, TextIO, TypeAlias

from cs_score.base.display import one_line
from cs_score.base.errors import CsScoreError, InputError, MissingExtraError
from cs_score.base.processes import Pool, WorkerDiedError, workers_share_memory
from cs_score.base.records import Record
from cs_score.base.runtime import paused_collector
from cs_score.base.version import VERSION
from cs_score.batch.plan import Plan, Prepared, Scored, failed
from cs_score.batch.runs import RunFile
from cs_score.batch.store import write_run

MINUTE: Final = 60.0
TERMINAL_INTERVAL: Final = 0.1

CONNECT_SECONDS: Final = 8
WORKER_SECONDS: Final = 15
"""How long a Dask scheduler is waited for, and then a worker of it."""

_TICK_SECONDS: Final = 0.5


class Job(Record):
    """One run to score, and the folder for each policy; None where the outputs travel back with the outcome."""

    task: str
    run: RunFile
    folders: dict[str, str | None]


Scores: TypeAlias = Future[list[Scored]]
"""A run under its policies, with what its files hold where the worker did not write them."""

_batches: Final[dict[str, Plan | Prepared]] = {}
"""The batches that this process knows; of one whose gold was not needed yet the plan."""

_preparing: Final = threading.Lock()


def install(batch: str, known: Plan | Prepared) -> None:
    """Make a batch known to this process; gold is prepared when needed unless it is given."""
    _batches[batch] = known


def forget(batch: str) -> None:
    """Release what a batch holds in this process."""
    _batches.pop(batch, None)


def run_job(batch: str, job: Job) -> list[Scored]:
    """Score one run under its policies. Whatever is wrong with it becomes its outcome, never an exception."""
    found: list[Scored] = []
    try:
        with paused_collector():
            with _preparing:
                known = _batches[batch]
                if not isinstance(known, Prepared):
                    known = _batches[batch] = known.prepare()
            for scored in known.score(job.run, list(job.folders)):
                folder = job.folders[scored.outcome.policy]
                if folder is None:
                    found.append(Scored(scored.outcome, [(name, [b"".join(blocks)]) for name, blocks in scored.files]))
                else:
                    found.append(Scored(write_run(folder, scored.outcome, scored.files)))
        return found
    except CsScoreError as error:  # gold as this worker sees it, or a disk that is full
        return failures(job, str(error))
    except Exception as error:  # a defect of cs-score fails one run, not the batch
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{place.filename.rpartition('/')[2]} line {place.lineno}"
        return failures(job, f"defect of cs-score: {type(error).__name__}: {error} ({where}); please report it")


def failures(job: Job, reason: str) -> list[Scored]:
    """The outcomes of a run that could not be scored."""
    return [Scored(failed(job.task, job.run, policy, reason)) for policy in job.folders]


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
                    scored = failures(job, "the executor gave the run up: the connection to it was lost")
                except backend.died as error:
                    if waiting is not suspects and not backend.retries:
                        suspects.append(job)
                        continue
                    name = type(error).__name__
                    scored = failures(job, f"the worker died at it each time it was tried (out of memory?): {name}")
                except Exception as error:
                    scored = failures(job, f"the executor could not run it: {type(error).__name__}: {error}")
                progress.finished()
                yield from scored


@contextlib.contextmanager
def local_backend(batch: str, prepared: Prepared, jobs: int) -> Iterator[Backend]:
    """`jobs` processes on this machine; one job is this process itself.

    Forked workers find gold prepared in their memory; others receive the plan once and prepare gold themselves.
    """
    if jobs > 1:
        known = prepared if workers_share_memory() else prepared.plan
        with Pool[Job, list[Scored]](jobs, partial(run_job, batch), partial(install, batch, known)) as pool:
            yield Backend(pool.submit, lambda running, seconds: pool.wait(seconds), jobs, (WorkerDiedError,))
        return

    def computed(job: Job) -> Scores:
        future: Scores = Future()
        future.set_result(run_job(batch, job))
        return future

    install(batch, prepared)
    gc.freeze()  # the collector need not walk what all runs use
    try:
        yield Backend(computed, lambda running, seconds: list(running), width=1)
    finally:
        gc.unfreeze()
        forget(batch)


@contextlib.contextmanager
def dask_backend(batch: str, plan: Plan, address: str) -> Iterator[Backend]:
    """The cluster whose scheduler answers at `address`; its workers receive the plan once each.

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
    with client:
        _check_workers(client, address)
        client.register_plugin(dask_plugin(batch, plan), name=batch)
        executor = client.get_executor(pure=False)
        try:
            yield Backend(
                lambda job: executor.submit(run_job, batch, job),
                lambda running, seconds: wait(running, timeout=seconds, return_when=FIRST_COMPLETED).done,
                width=2 * max(1, sum(client.nthreads().values())),
                died=(distributed.scheduler.KilledWorker,),
                retries=True,
            )
        finally:
            executor.shutdown(wait=False)
            with contextlib.suppress(Exception):  # the scheduler may be gone
                client.unregister_worker_plugin(batch)


def dask_plugin(batch: str, plan: Plan) -> Any:
    """A Dask plugin that installs the plan on each worker, those that join later included."""
    from distributed import WorkerPlugin

    class InstallPlan(WorkerPlugin):
        name = batch

        def setup(self, worker: object) -> None:
            install(batch, plan)

        def teardown(self, worker: object) -> None:
            forget(batch)

    return InstallPlan()


def _check_workers(client: Any, address: str) -> None:
    """Raises InputError where there is no worker, or one with another version."""
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except Exception:
        raise InputError(
            f"the Dask scheduler at {address} has no worker", remedy=f"start one: dask worker {address} --nthreads 1"
        ) from None
    try:
        versions: dict[str, str] = client.run(worker_version)
    except Exception as error:
        raise InputError(
            f"a Dask worker at {address} cannot run cs-score ({_reason(error)})",
            remedy=f"install cs-score {VERSION} and the same Python for all workers",
        ) from None
    for worker, version in versions.items():
        if version != VERSION:
            raise InputError(f"the Dask worker {worker} has cs-score {version}, this is {VERSION}")


def worker_version() -> str:
    """The version of cs-score where this is called."""
    return VERSION


def _reason(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[-1]


class Progress:
    """Counts the runs that are done: one line that is written over on a terminal, else a plain line a minute.

    Without a stream nothing is shown.
    """

    def __init__(self, stream: TextIO | None, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._total = total
        self._clock = clock
        self._on_terminal = stream is not None and stream.isatty()
        self._started = self._last = clock()
        self._done = 0
        self._current = ""
        self._is_drawn = False

    def starts(self, run: str) -> None:
        """A run has been handed out."""
        self._current = run
        self.tick()

    def finished(self) -> None:
        """A run is done."""
        self._done += 1
        self.tick()

    def tick(self) -> None:
        """Show the progress if enough time has passed."""
        now = self._clock()
        if now - self._last < (TERMINAL_INTERVAL if self._on_terminal else MINUTE):
            return
        self._last = now
        if self._on_terminal:
            self._write(f"\r\x1b[K{self.line(now)[: shutil.get_terminal_size().columns - 1]}")
            self._is_drawn = True
        else:
            self._write(f"cs-score: {self.line(now)}\n")

    def close(self) -> None:
        """Clear the line of a terminal."""
        if self._is_drawn:
            self._write("\r\x1b[K")

    def line(self, now: float) -> str:
        """The line: runs done, rate, time left, the run handed out last."""
        seconds = now - self._started
        rate = self._done / seconds if seconds > 0 else 0.0
        parts = [f"{self._done}/{self._total} runs"]
        if rate:
            minutes, rest = divmod(round((self._total - self._done) / rate), 60)
            hours, minutes = divmod(minutes, 60)
            parts.append(f"{rate:.1f} runs/s" if rate >= 1 else f"{rate * MINUTE:.1f} runs/min")
            parts.append(f"{hours}:{minutes:02}:{rest:02} left" if hours else f"{minutes}:{rest:02} left")
        return one_line(", ".join((*parts, self._current) if self._current else parts))

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):  # a closed terminal does not end the batch
            if self._stream is not None:
                self._stream.write(text)
                self._stream.flush()
