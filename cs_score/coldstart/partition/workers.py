"""Working on the parts of a large input, several at a time, each in a process that begins with what this one has."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from cs_score.base.garbage_collection import paused_collector

R = TypeVar("R")


class NeedsWholeError(Exception):
    """This input cannot be divided: it must be worked on whole."""


def map_parts(work: Callable[[int], R], parts: int, jobs: int) -> list[R]:
    """What `work` returns for each part from 0 on, in order; at most `jobs` parts are worked on at a time.

    Parts are begun in order. Raises what `work` raises, and NeedsWholeError where a worker died or none can begin;
    what others work on is given up then.
    """
    from cs_score.base.processes import NoWorkerError, Pool, WorkerDiedError, workers_share_memory

    if jobs == 1 or parts == 1 or not workers_share_memory():
        return [work(part) for part in range(parts)]
    try:
        with Pool(min(jobs, parts), partial(_without_collector, work)) as pool:
            futures = [pool.submit(part) for part in range(parts)]
            left = len(futures)
            while left:
                done = pool.wait()
                left -= len(done)
                for future in done:
                    future.result()
            return [future.result() for future in futures]
    except (NoWorkerError, WorkerDiedError):
        raise NeedsWholeError from None


def _without_collector(work: Callable[[int], R], part: int) -> R:
    with paused_collector():
        return work(part)
