"""The workers of a Dask cluster. Needs the extra `dask` (package distributed)."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, wait
from typing import Any, Final

from cs_score.base.errors import InputError, MissingExtraError
from cs_score.base.version import VERSION
from cs_score.batch.execution.run_tasks import Backend, Deliveries
from cs_score.batch.execution.tasks import forget, install, run_task
from cs_score.batch.plan.plan import Plan

CONNECT_SECONDS: Final = 8
WORKER_SECONDS: Final = 15


@contextlib.contextmanager
def dask_backend(batch: str, plan: Plan, address: str) -> Iterator[Backend]:
    """The cluster whose scheduler answers at `address`; its workers receive the plan once each.

    Raises InputError where no scheduler answers, where it has no worker, and where a worker lacks this version of
    cs-score; MissingExtraError without the package distributed.
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
        _wait_for_worker(client, address)
        plugin = distributed_plugin(batch, plan)
        client.register_plugin(plugin, name=batch)
        executor = client.get_executor(pure=False)
        try:
            yield Backend(
                lambda task: executor.submit(run_task, batch, task),
                _done,
                width=2 * max(1, sum(client.nthreads().values())),
                died=(distributed.scheduler.KilledWorker,),
                retries=True,
            )
        finally:
            executor.shutdown(wait=False)
            with contextlib.suppress(Exception):  # the scheduler may be gone
                client.unregister_worker_plugin(batch)


def distributed_plugin(batch: str, plan: Plan) -> Any:
    """A Dask plugin that installs the plan on each worker, those that join later included."""
    from distributed import WorkerPlugin

    class InstallPlan(WorkerPlugin):
        name = batch

        def setup(self, worker: object) -> None:
            install(batch, plan)

        def teardown(self, worker: object) -> None:
            forget(batch)

    return InstallPlan()


def _done(running: Collection[Deliveries], seconds: float) -> Collection[Deliveries]:
    return wait(running, timeout=seconds, return_when=FIRST_COMPLETED).done


def _wait_for_worker(client: Any, address: str) -> None:
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
