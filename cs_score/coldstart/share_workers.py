"""Working on the shares of a large input, several at a time, each in a process that begins with what this one has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from cs_score.collector import paused_collector
from cs_score.interruption import expendable

R = TypeVar("R")


class NeedsWholeError(Exception):
    """The input is one that only work on all of it can tell everything of."""


def nothing_to_stop() -> None:
    """The shares do not wait for each other."""


def map_shares(work: Callable[[int], R], shares: int, jobs: int, stop: Callable[[], None] = nothing_to_stop) -> list[R]:
    """What `work` returns for each share from 0 on, in order; at most `jobs` shares are worked on at a time.

    Shares are begun in order. Raises what `work` raises, and NeedsWholeError where a worker died; `stop` is called
    before the others are waited for.
    """
    from concurrent.futures.process import BrokenProcessPool

    from cs_score.processes import process_pool, workers_share_memory

    if jobs == 1 or shares == 1 or not workers_share_memory():
        return [work(share) for share in range(shares)]
    try:
        with process_pool(min(jobs, shares), _install, (work,)) as executor:
            try:
                return list(executor.map(_work_on, range(shares)))
            except BaseException:
                stop()
                raise
    except BrokenProcessPool:
        raise NeedsWholeError from None


_installed: Final[list[Callable[[int], Any]]] = []


def _install(work: Callable[[int], Any]) -> None:
    _installed[:] = [work]


def _work_on(share: int) -> Any:
    with expendable(), paused_collector():
        return _installed[0](share)
