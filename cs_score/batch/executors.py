"""The executors: this process, a pool of processes, the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, ParamSpec, TypeVar

from cs_score.batch.execution import Backend
from cs_score.batch.interruption import stop_runs_on_signals
from cs_score.batch.scoring import Plan, Prepared
from cs_score.batch.tasks import forget, install

_P = ParamSpec("_P")
_T = TypeVar("_T")


class InProcess(Executor):
    """Computes each task when it is submitted."""

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        future: Future[_T] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def local_backend(batch: str, plan: Plan, prepared: Prepared, jobs: int) -> Backend:
    """`jobs` processes on this machine; one job is this process itself."""
    if jobs == 1:
        return Backend(lambda: _in_process(batch, plan, prepared), width=1)
    return Backend(
        lambda: _process_pool(batch, plan, prepared, jobs), width=jobs + 1, broken=(BrokenProcessPool,), reopens=True
    )


@contextlib.contextmanager
def _in_process(batch: str, plan: Plan, prepared: Prepared) -> Iterator[Executor]:
    install(batch, plan, prepared)
    gc.freeze()  # what all runs share need not be walked by the collector again and again
    try:
        with InProcess() as executor:
            yield executor
    finally:
        gc.unfreeze()
        forget(batch)


@contextlib.contextmanager
def _process_pool(batch: str, plan: Plan, prepared: Prepared, jobs: int) -> Iterator[Executor]:
    """Forked workers find gold prepared in their memory; others receive the plan once and prepare gold themselves."""
    forks = multiprocessing.get_start_method() == "fork"
    before = {child.pid for child in multiprocessing.active_children()}
    arguments: tuple[Any, ...] = (batch, plan, prepared if forks else None)
    gc.freeze()
    executor = ProcessPoolExecutor(jobs, initializer=_start_worker, initargs=arguments)
    try:
        yield executor
    except BaseException:  # Ctrl-C: what is being scored now would be thrown away
        for child in multiprocessing.active_children():
            if child.pid not in before:
                child.terminate()
        raise
    finally:
        executor.shutdown(cancel_futures=True)
        gc.unfreeze()


def _start_worker(batch: str, plan: Plan, prepared: Prepared | None) -> None:
    stop_runs_on_signals()  # Ctrl-C reaches all processes of a terminal
    threading.Thread(target=_end_with_parent, daemon=True).start()
    install(batch, plan, prepared)


def _end_with_parent() -> None:
    """End this worker when the process of the batch is gone, however it ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
