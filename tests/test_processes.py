"""Pools of worker processes: none outlives its pool."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import pytest

from cs_score.processes import process_pool


def test_ctrl_c_while_workers_are_started_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that the executor has not heard of waits for tasks, and the program would wait for the worker."""
    before = multiprocessing.active_children()
    is_idle = multiprocessing.Event()
    spawn = ProcessPoolExecutor._spawn_process  # type: ignore[attr-defined]

    def interrupted(executor: ProcessPoolExecutor) -> None:
        spawn(executor)
        is_idle.wait(10)
        raise KeyboardInterrupt

    monkeypatch.setattr(ProcessPoolExecutor, "_spawn_process", interrupted)
    with pytest.raises(KeyboardInterrupt), process_pool(2, is_idle.set, ()) as executor:
        executor.submit(print)
    left = [worker for worker in multiprocessing.active_children() if worker not in before]
    try:
        for worker in left:
            worker.join(10)
            assert worker.exitcode is not None
    finally:
        for worker in left:
            worker.kill()
