"""The workers that score the runs of a batch: processes of this machine, or those of a Dask cluster. A *job* is a run
that a worker scores under some policies. A *backend* hands jobs to workers, and returns a future of their outcomes.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import traceback
from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from typing import Any, Final, TypeAlias

from cs_score.base import VERSION
from cs_score.base.errors import CsScoreError, InputError, MissingExtraError
from cs_score.base.processes import ProcessPool, WorkerDiedError
from cs_score.base.records import Record
from cs_score.base.runtime import paused_garbage_collection
from cs_score.verbs.batch import store
from cs_score.verbs.batch.input_files import BatchRunFile
from cs_score.verbs.batch.plan import Plan, PreparedGold, RunFiles, ScoredInBatch, outcome_of
from cs_score.verbs.batch.progress import Progress

CONNECT_SECONDS: Final = 8
"""How long to wait for an answer of a Dask scheduler."""

WORKER_SECONDS: Final = 15
"""How long to wait for the first worker of a Dask cluster."""

_TICK_SECONDS: Final = 0.5
"""How long to wait for a finished run before the progress is looked at again."""

# ---- One run in a worker


class Job(Record):
    """A run that a worker scores under some policies, and the folder for its files under each of them.

    The folder is None if the worker cannot write to it: the files are then returned with the outcome.
    """

    task: str
    run: BatchRunFile
    folder_by_policy: dict[str, str | None]

    def failed_outcomes(self, reason: str) -> list[ScoredInBatch]:
        """Return a failed outcome of the run under each of its policies; `reason` says why it failed."""
        results = []
        for policy in self.folder_by_policy:
            outcome = outcome_of(self.task, self.run, policy, failure=reason)
            results.append(ScoredInBatch(outcome))
        return results


class Scorer:
    """Scores runs in a worker, against gold that it reads only once. A *plan* has the files of gold and the options.

    A scorer that is sent to another process prepares gold there, when the first run comes.
    """

    def __init__(self, plan: Plan, prepared_gold: PreparedGold | None = None) -> None:
        """Prepare to score by `plan`; `prepared_gold` is its gold if that has been read already."""
        self._plan = plan
        self._prepared_gold = prepared_gold
        self._preparation_lock = threading.Lock()

    def __reduce__(self) -> tuple[type[Scorer], tuple[Plan]]:
        """Return the values from which pickle makes a scorer: only the plan, because gold is large.

        The lock belongs to its process, and cannot be sent to another one.
        """
        return Scorer, (self._plan,)

    def __call__(self, job: Job) -> list[ScoredInBatch]:
        """Score a run under its policies, and return an outcome for each policy.

        Errors are turned into failed outcomes, so that no exception is raised.
        """
        try:
            with paused_garbage_collection():
                return self._score(job)
        except CsScoreError as error:  # for example, the worker cannot read gold, or the disk is full
            return job.failed_outcomes(str(error))
        except Exception as error:  # a bug in cs-score makes one run fail, not the batch
            place = traceback.extract_tb(error.__traceback__)[-1]  # where the error was raised
            module = os.path.basename(place.filename)
            text = f"{type(error).__name__}: {error} ({module} line {place.lineno})"
            return job.failed_outcomes(f"defect of cs-score: {text}; please report it")

    def _score(self, job: Job) -> list[ScoredInBatch]:
        """Score a run under its policies, and return an outcome for each policy.

        The files of the run are written into the folder that the job names. If it names none, they are returned with
        the outcome. Raises CsScoreError if gold cannot be read or a file cannot be written.
        """
        results = []
        for scored_run in self._gold().score(job.run, list(job.folder_by_policy)):
            folder = job.folder_by_policy[scored_run.outcome.policy]
            if folder is None:
                results.append(ScoredInBatch(scored_run.outcome, _files_in_memory(scored_run.files)))
            else:
                results.append(ScoredInBatch(store.write_run(folder, scored_run.outcome, scored_run.files)))
        return results

    def _gold(self) -> PreparedGold:
        """Return the gold against which runs are scored. It is read on the first call.

        Raises CsScoreError if it cannot be read.
        """
        with self._preparation_lock:
            if self._prepared_gold is None:
                self._prepared_gold = self._plan.prepare()
            return self._prepared_gold


def _files_in_memory(files: RunFiles) -> list[tuple[str, list[bytes]]]:
    """Return the name and the content of each file of a run, with contents that can be sent to another process."""
    contents = []
    for name, blocks in files:
        content = b"".join(blocks)
        contents.append((name, [content]))
    return contents


# ---- All runs

OutcomesFuture: TypeAlias = Future[list[ScoredInBatch]]
"""The future of a job: the outcomes of its run, with the files of the run if the worker does not write them."""


class Backend:
    """The processes that score runs.

    `most_jobs_at_once` is the number of jobs that are handed out at the same time. `death_errors` are the exceptions
    that a future raises if its worker died. If `retries_crashed_jobs` is true, the backend itself retries the job of a
    dead worker before it reports the error.
    """

    most_jobs_at_once: int
    death_errors: tuple[type[BaseException], ...] = ()
    retries_crashed_jobs: bool = False

    @abstractmethod
    def submit(self, job: Job) -> OutcomesFuture:
        """Hand a job to a worker, and return the future of its outcomes."""

    @abstractmethod
    def wait(self, running: Collection[OutcomesFuture], seconds: float) -> Collection[OutcomesFuture]:
        """Wait at most `seconds` until one of the `running` futures is done, and return all that are done."""


def run_jobs(jobs: Sequence[Job], backend: Backend, progress: Progress) -> Iterator[ScoredInBatch]:
    """Score runs, and yield their outcomes in the order in which they become available.

    If the worker of a run dies, the run is scored once more after all others. No other run is scored at the same time,
    since there may be enough memory for one large run but not for two. If the worker dies again, the run has failed.
    Runs are not repeated here if the backend retries crashed jobs itself.
    """
    crashed_jobs: list[Job] = []
    for job, future in _complete_jobs(jobs, backend, backend.most_jobs_at_once, progress):
        if not backend.retries_crashed_jobs and _has_crashed(future, backend):
            crashed_jobs.append(job)
            continue
        progress.finished()
        yield from _outcomes(job, future, backend)
    for job, future in _complete_jobs(crashed_jobs, backend, 1, progress):
        progress.finished()
        yield from _outcomes(job, future, backend)


def _complete_jobs(
    jobs: Sequence[Job], backend: Backend, most_jobs_at_once: int, progress: Progress
) -> Iterator[tuple[Job, OutcomesFuture]]:
    """Hand jobs to the workers, and yield each job with its future as soon as the future is done.

    The workers never have more than `most_jobs_at_once` jobs.
    """
    waiting_jobs = list(jobs)
    job_by_future: dict[OutcomesFuture, Job] = {}
    while waiting_jobs or job_by_future:
        free_count = most_jobs_at_once - len(job_by_future)
        for job in waiting_jobs[:free_count]:
            progress.starts(job.run.name)
            job_by_future[backend.submit(job)] = job
        waiting_jobs = waiting_jobs[free_count:]
        done_futures = backend.wait(job_by_future, _TICK_SECONDS)
        progress.show_if_due()
        for future in done_futures:
            yield job_by_future.pop(future), future


def _has_crashed(future: OutcomesFuture, backend: Backend) -> bool:
    """Return whether a future, which is done, has no outcomes because its worker died."""
    if future.cancelled():
        return False
    return isinstance(future.exception(), backend.death_errors)


def _outcomes(job: Job, future: OutcomesFuture, backend: Backend) -> list[ScoredInBatch]:
    """Return the outcomes of a job whose future is done. They are failed outcomes if the future has an exception."""
    try:
        return future.result()
    except CancelledError:
        return job.failed_outcomes("the executor gave the run up: the connection to it was lost")
    except backend.death_errors as error:
        name = type(error).__name__
        return job.failed_outcomes(f"the worker died at it each time it was tried (out of memory?): {name}")
    except Exception as error:
        return job.failed_outcomes(f"the executor could not run it: {type(error).__name__}: {error}")


# ---- Processes of this machine


class _LocalBackend(Backend):
    """Processes of this machine."""

    death_errors = (WorkerDiedError,)

    def __init__(self, pool: ProcessPool[Job, list[ScoredInBatch]], most_jobs_at_once: int) -> None:
        """Hand jobs to the processes of `pool`."""
        self.most_jobs_at_once = most_jobs_at_once
        self._pool = pool

    def submit(self, job: Job) -> OutcomesFuture:
        """Hand a job to a process of the pool, and return the future of its outcomes."""
        return self._pool.submit(job)

    def wait(self, running: Collection[OutcomesFuture], seconds: float) -> Collection[OutcomesFuture]:
        """Wait at most `seconds` until a job is done, and return all futures that are done.

        The pool itself knows which futures are `running`.
        """
        return self._pool.wait(seconds)


@contextlib.contextmanager
def local_backend(scorer: Scorer, process_count: int) -> Iterator[Backend]:
    """Yield a backend with `process_count` processes on this machine; they are ended when the context is left."""
    with ProcessPool[Job, list[ScoredInBatch]](process_count, scorer) as pool:
        yield _LocalBackend(pool, process_count)


# ---- A Dask cluster


class _DaskBackend(Backend):
    """The workers of a Dask cluster, which hold the scorer of the batch as a plugin."""

    retries_crashed_jobs = True

    def __init__(self, executor: Any, batch_id: str, most_jobs_at_once: int, death_error: type[BaseException]) -> None:
        """Hand jobs to a Dask `executor`.

        `batch_id` is the name of the plugin with the scorer. `death_error` is the exception of a future whose worker
        died.
        """
        self.most_jobs_at_once = most_jobs_at_once
        self.death_errors = (death_error,)
        self._executor = executor
        self._batch_id = batch_id

    def submit(self, job: Job) -> OutcomesFuture:
        """Hand a job to a worker of the cluster, and return the future of its outcomes."""
        future: OutcomesFuture = self._executor.submit(_score_on_dask, self._batch_id, job)
        return future

    def wait(self, running: Collection[OutcomesFuture], seconds: float) -> Collection[OutcomesFuture]:
        """Wait at most `seconds` until one of the `running` futures is done, and return all that are done."""
        return wait(running, timeout=seconds, return_when=FIRST_COMPLETED).done


@contextlib.contextmanager
def dask_backend(scorer: Scorer, address: str) -> Iterator[Backend]:
    """Yield a backend that uses the workers of the Dask cluster with a scheduler at `address`.

    Each worker receives the plan once, including workers that join later. Raises MissingExtraError if the package
    distributed (extra `dask`) is not installed. Raises InputError if the scheduler does not respond or has no workers,
    or if a worker does not have this version of cs-score.
    """
    distributed = _package_of_dask()
    batch_id = os.urandom(16).hex()
    with _connect(distributed, address) as client:
        _check_workers(client, address)
        # A plugin is an object that Dask sends to each worker once. This one holds the scorer with the plan.
        client.register_plugin(_plugin_with_scorer(distributed, scorer), name=batch_id)
        # pure=False: a job that is submitted again is computed again instead of reusing an earlier result.
        executor = client.get_executor(pure=False)
        try:
            yield _DaskBackend(
                executor,
                batch_id,
                most_jobs_at_once=_jobs_to_hand_out(client),
                death_error=distributed.scheduler.KilledWorker,
            )
        finally:
            executor.shutdown(wait=False)
            with contextlib.suppress(Exception):  # the scheduler may be gone
                client.unregister_worker_plugin(batch_id)  # so that the workers forget the gold


def _jobs_to_hand_out(client: Any) -> int:
    """Return how many jobs the workers of a Dask cluster get at once: two for each thread, so that none has to wait."""
    thread_count: int = sum(client.nthreads().values())
    return 2 * max(1, thread_count)


def _package_of_dask() -> Any:
    """Return the package `distributed`, which logs nothing from now on: errors are reported in one line of our own.

    Raises MissingExtraError if it is not installed.
    """
    try:
        import distributed
    except ModuleNotFoundError:
        raise MissingExtraError("distributed", "dask") from None
    for name in ("distributed", "tornado"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return distributed


def _connect(distributed: Any, address: str) -> Any:
    """Return a client of the Dask scheduler at `address`; `distributed` is the package of Dask.

    Raises InputError if no scheduler answers.
    """
    try:
        return distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # whatever the transport raises
        raise InputError(
            f"no Dask scheduler answers at {address} ({_last_line(error)})",
            remedy="start one (dask scheduler) and check address, port and firewall",
        ) from None


def _plugin_with_scorer(distributed: Any, scorer: Scorer) -> Any:
    """Return a plugin for Dask workers that holds the scorer.

    Its class is defined in this function since the package is imported only if a batch uses Dask.
    """

    class ScorerPlugin(distributed.WorkerPlugin):  # type: ignore[misc]
        """Holds the scorer of a batch in a Dask worker."""

    plugin = ScorerPlugin()
    plugin.scorer = scorer
    return plugin


def _score_on_dask(batch_id: str, job: Job) -> list[ScoredInBatch]:
    """Score a run in a Dask worker, with the scorer that the plugin of this batch holds there."""
    from distributed import get_worker

    plugin: Any = get_worker().plugins[batch_id]
    results: list[ScoredInBatch] = plugin.scorer(job)
    return results


def _check_workers(client: Any, address: str) -> None:
    """Raise InputError if the Dask cluster has no worker, or one without this version of cs-score."""
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except Exception:
        raise InputError(
            f"the Dask scheduler at {address} has no worker", remedy=f"start one: dask worker {address} --nthreads 1"
        ) from None
    for worker, version in _version_by_worker(client, address).items():
        if version != VERSION:
            raise InputError(f"the Dask worker {worker} has cs-score {version}, this is {VERSION}")


def _version_by_worker(client: Any, address: str) -> dict[str, str]:
    """Return the version of cs-score of each Dask worker, by the address of the worker: `{"tcp://10.0.0.2:1": "2.1"}`.

    Raises InputError if a worker cannot run cs-score.
    """
    try:
        version_by_worker: dict[str, str] = client.run(_version_of_worker)
    except Exception as error:
        raise InputError(
            f"a Dask worker at {address} cannot run cs-score ({_last_line(error)})",
            remedy=f"install cs-score {VERSION} and the same Python for all workers",
        ) from None
    return version_by_worker


def _version_of_worker() -> str:
    """Return the version of cs-score in the process that calls this function, which is a worker."""
    return VERSION


def _last_line(error: Exception) -> str:
    """Return the last line of an error's text, or the name of its class if it has no text."""
    lines = str(error).strip().splitlines()
    if not lines:
        return type(error).__name__
    return lines[-1]
