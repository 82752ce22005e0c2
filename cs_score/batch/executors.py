"""The executors: this process, a pool of processes, the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from typing import ParamSpec, TypeVar

from cs_score.batch.execution import Backend
from cs_score.batch.scoring import Plan, Prepared
from cs_score.batch.tasks import forget, install
from cs_score.processes import process_pool, workers_share_memory

_P = ParamSpec("_P")
_T = TypeVar("_T")


class InProcess(Executor):
    """Computes each task when it is submitted."""

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        future: Future[_T] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def local_backend(batch: str, plan: Plan, prepared: Prepared, jobs: int) -> Backend:
    """`jobs` processes on this machine; one job is this process itself."""
    if jobs == 1:
        return Backend(lambda: _in_process(batch, plan, prepared), width=1)
    return Backend(
        lambda: _pool(batch, plan, prepared, jobs), width=jobs + 1, broken=(BrokenProcessPool,), reopens=True
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
def _pool(batch: str, plan: Plan, prepared: Prepared, jobs: int) -> Iterator[Executor]:
    """Forked workers find gold prepared in their memory; others receive the plan once and prepare gold themselves."""
    shared = prepared if workers_share_memory() else None
    with process_pool(jobs, install, (batch, plan, shared)) as executor:
        yield executor
