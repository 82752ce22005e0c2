"""Where a batch computes on this machine: in its own process, or in a pool of processes."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from concurrent.futures import Future
from functools import partial

from cs_score.base.processes import Pool, WorkerDiedError, workers_share_memory
from cs_score.batch.execution.run_tasks import Backend, Deliveries
from cs_score.batch.execution.tasks import Delivery, Task, forget, install, run_task
from cs_score.batch.plan.plan import Plan, Prepared


@contextlib.contextmanager
def local_backend(batch: str, plan: Plan, prepared: Prepared, jobs: int) -> Iterator[Backend]:
    """`jobs` processes on this machine; one job is this process itself.

    Forked workers find gold prepared in their memory; others receive the plan once and prepare gold themselves.
    """
    if jobs == 1:
        with _installed(batch, plan, prepared):
            yield Backend(partial(_computed, batch), lambda running, seconds: list(running), width=1)
        return
    shared = prepared if workers_share_memory() else None
    with Pool[Task, list[Delivery]](jobs, partial(run_task, batch), partial(install, batch, plan, shared)) as pool:
        yield Backend(pool.submit, lambda running, seconds: pool.wait(seconds), jobs, (WorkerDiedError,))


def _computed(batch: str, task: Task) -> Deliveries:
    future: Deliveries = Future()
    future.set_result(run_task(batch, task))
    return future


@contextlib.contextmanager
def _installed(batch: str, plan: Plan, prepared: Prepared) -> Iterator[None]:
    install(batch, plan, prepared)
    gc.freeze()  # the collector need not walk what all runs use
    try:
        yield
    finally:
        gc.unfreeze()
        forget(batch)
