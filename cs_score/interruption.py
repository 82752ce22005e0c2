"""Stopping a worker process in the middle of its work, and never in the middle of handing over what it has done.

A worker that dies while it writes into the pipe to its pool leaves a pool that waits for the rest for ever. So a signal
ends what is being scored, the worker says so, and ends in good order with the pool.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(BaseException):
    """What is being scored is not wanted any more. Not an Exception: nothing on the way may take it for one."""


_is_scoring = False


def stop_scoring_on_signals() -> None:
    """Let interrupt and termination signals end what this process scores; only for worker processes."""
    signal.signal(signal.SIGINT, _stop_scoring)
    signal.signal(signal.SIGTERM, _stop_scoring)


@contextmanager
def interruptible() -> Iterator[None]:
    """A block that a signal may end with Interrupted, in a process that has called `stop_scoring_on_signals`."""
    global _is_scoring
    _is_scoring = True
    try:
        yield
    finally:
        _is_scoring = False


def _stop_scoring(signal_number: int, frame: FrameType | None) -> None:
    global _is_scoring
    if _is_scoring:
        _is_scoring = False
        raise Interrupted
