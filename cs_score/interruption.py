"""Stopping a worker process in the middle of its work, and never in the middle of handing over what it has done.

A worker that dies while it writes into the pipe to its pool leaves a pool that waits for the rest for ever. So a signal
acts on what is being scored only; between two tasks it does nothing.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


class Interrupted(BaseException):
    """What is being scored is not wanted any more. Not an Exception: nothing on the way may take it for one."""


_stop: Callable[[], NoReturn] | None = None


def stop_scoring_on_signals() -> None:
    """Let interrupt and termination signals end what this process scores; only for worker processes."""
    signal.signal(signal.SIGINT, _stop_scoring)
    signal.signal(signal.SIGTERM, _stop_scoring)


@contextmanager
def interruptible() -> Iterator[None]:
    """A block that a signal may end with Interrupted, in a process that has called `stop_scoring_on_signals`.

    The process goes on in good order, and can say that it has been interrupted.
    """
    with _stopped_by(_interrupt):
        yield


@contextmanager
def expendable() -> Iterator[None]:
    """A block in which a signal ends the whole process, where that has called `stop_scoring_on_signals`.

    For work that leaves nothing behind; its pool notices. No code is left half done that would have to go on.
    """
    with _stopped_by(_leave):
        yield


@contextmanager
def _stopped_by(stop: Callable[[], NoReturn]) -> Iterator[None]:
    global _stop
    _stop = stop
    try:
        yield
    finally:
        _stop = None


def _interrupt() -> NoReturn:
    raise Interrupted


def _leave() -> NoReturn:
    os._exit(1)


def _stop_scoring(signal_number: int, frame: FrameType | None) -> None:
    global _stop
    stop, _stop = _stop, None
    if stop is not None:
        stop()
