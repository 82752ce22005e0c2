"""Worker processes of one machine: how many, and a pool of them that goes when its owner goes."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing.process import BaseProcess
from typing import Any

from cs_score.interruption import stop_scoring_on_signals


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def workers_share_memory() -> bool:
    """Whether workers begin with what their owner has in memory: they do where they are forked, as on Linux."""
    return multiprocessing.get_start_method() == "fork"


@contextlib.contextmanager
def process_pool(jobs: int, install: Callable[..., None], arguments: tuple[Any, ...]) -> Iterator[Executor]:
    """`jobs` processes, each of which calls `install(*arguments)` before its first task.

    Where workers share memory the arguments are not copied. When the block is left by an exception the workers are
    told to stop what they do.
    """
    before = multiprocessing.active_children()
    gc.freeze()  # what the workers share need not be walked by their collectors again and again
    executor = ProcessPoolExecutor(jobs, initializer=_start_worker, initargs=(install, arguments))
    try:
        yield executor
    except BaseException:  # Ctrl-C: what is being scored now would be thrown away
        for worker in _since(before):
            worker.terminate()
        raise
    finally:
        executor.shutdown(cancel_futures=True)
        # Ctrl-C while workers were being started: the executor knows nothing of them, and they would wait for ever.
        for worker in _since(before):
            worker.kill()
        gc.unfreeze()


def _since(before: Collection[BaseProcess]) -> list[BaseProcess]:
    """The living child processes that are not among those of before."""
    return [child for child in multiprocessing.active_children() if child not in before]


def _start_worker(install: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    stop_scoring_on_signals()  # Ctrl-C reaches all processes of a terminal
    threading.Thread(target=_end_with_parent, daemon=True).start()
    install(*arguments)


def _end_with_parent() -> None:
    """End this worker when the process that owns the pool is gone, however it ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
