"""Pools of worker processes: any worker may die at any time, and none outlives its pool."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from cs_score.base.processes import NoWorkerError, ProcessPool, WorkerDiedError

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(autouse=True)
def no_worker_left() -> Iterator[None]:
    before = multiprocessing.active_children()
    yield
    left = [child for child in multiprocessing.active_children() if child not in before]
    for child in left:
        child.kill()
    assert not left


def _all(pool: ProcessPool[int, Any], futures: Collection[Future[Any]]) -> list[Any]:
    left = len(futures)
    while left:
        left -= len(pool.wait())
    return [future.result() for future in futures]


def test_results_and_exceptions_come_back() -> None:
    with ProcessPool[int, Any](3, lambda item: 6 // item) as pool:
        futures = [pool.submit(item) for item in (1, 2, 3, 0)]
        with pytest.raises(ZeroDivisionError):
            _all(pool, futures)
        assert [future.result() for future in futures[:3]] == [6, 3, 2]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
def test_a_worker_that_is_killed_while_it_waits_for_work_costs_nothing(number: signal.Signals) -> None:
    with ProcessPool[int, Any](2, lambda item: os.getpid()) as pool:
        for _ in range(5):
            for pid in set(_all(pool, [pool.submit(item) for item in range(4)])):
                os.kill(pid, number)
                for child in multiprocessing.active_children():
                    if child.pid == pid:
                        child.join(10)


def test_a_worker_that_is_killed_at_its_work_is_told_and_replaced() -> None:
    with ProcessPool[int, Any](2, lambda item: os.kill(os.getpid(), item)) as pool:
        deadly, harmless = pool.submit(signal.SIGKILL), pool.submit(0)
        with pytest.raises(WorkerDiedError):
            _all(pool, [deadly, harmless])
        again = pool.submit(0)
        assert pool.wait() == [again]
        assert harmless.result() is None


def test_a_worker_that_is_killed_while_it_hands_over_is_told() -> None:
    """More than a pipe holds, so that it is killed in the middle of what its owner reads then."""
    with ProcessPool[int, Any](2, lambda item: b"x" * item) as pool:
        future = pool.submit(1 << 22)
        assert pool.wait(0) == []
        [child] = multiprocessing.active_children()
        time.sleep(0.5)
        child.kill()
        assert pool.wait() == [future]
        with pytest.raises(WorkerDiedError):
            future.result()


def test_ctrl_c_while_workers_are_started_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes as soon as the process is there, before its owner could write down anything."""
    start = multiprocessing.Process.start

    def interrupted(process: multiprocessing.Process) -> None:
        start(process)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(multiprocessing.Process, "start", interrupted)
    with ProcessPool[int, None](2, time.sleep) as pool:
        pool.submit(60)
        with pytest.raises(KeyboardInterrupt):
            pool.wait(10)


def test_where_no_process_can_be_made_the_others_do_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[bool] = []
    start = multiprocessing.Process.start

    def limited(process: multiprocessing.Process) -> None:
        if started:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        started.append(True)
        start(process)

    monkeypatch.setattr(multiprocessing.Process, "start", limited)
    with ProcessPool[int, Any](3, abs) as pool:
        assert _all(pool, [pool.submit(-item) for item in range(5)]) == [0, 1, 2, 3, 4]
    with ProcessPool[int, Any](3, abs) as pool:
        pool.submit(1)
        with pytest.raises(NoWorkerError, match=r"^no worker process can be started: Resource"):
            pool.wait()


def test_workers_end_when_their_owner_is_killed() -> None:
    """Its workers hold pipes of each other's; none may keep another one alive."""
    reading, writing = os.pipe()
    if (owner := os.fork()) == 0:
        with ProcessPool[int, None](3, _tell(writing)) as pool:
            for _ in range(3):
                pool.submit(60)
            pool.wait()
        os._exit(0)
    os.close(writing)
    workers = [int.from_bytes(os.read(reading, 4), "big") for _ in range(3)]
    os.kill(owner, signal.SIGKILL)
    os.waitpid(owner, 0)
    with open(reading, "rb") as pipe:
        killer = threading.Timer(20, _kill, [workers])
        killer.start()
        assert pipe.read() == b""  # its end is there when all that have it open are gone
        assert killer.is_alive()
        killer.cancel()


def _tell(descriptor: int) -> Callable[[int], None]:
    def work(seconds: int) -> None:
        os.write(descriptor, os.getpid().to_bytes(4, "big"))
        time.sleep(seconds)

    return work


def _kill(pids: list[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
