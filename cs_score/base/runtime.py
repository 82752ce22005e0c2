"""What a process does beside its work: it ends at signals, pauses its garbage collector, imports late."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any, Final, TypeAlias

_Handler: TypeAlias = Callable[[int, FrameType | None], object]

STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, a termination signal, a terminal that is closed."""

_PATIENCE: Final = 0.5
"""Seconds for cleaning up after a second signal."""

_SOON: Final = 0.01


def stop_on_signals() -> None:
    """Let the first signal raise KeyboardInterrupt or SystemExit with the status of the process."""
    sys.unraisablehook = _stop_again
    _handle_signals_with(_stop)


def ignore_signals() -> None:
    """Ignore signals from now on: all work is done, and the process is about to end by itself."""
    _handle_signals_with(lambda number, frame: None)
    signal.setitimer(signal.ITIMER_REAL, 0)


def _handle_signals_with(handler: _Handler) -> None:
    for number in STOP_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # ignored already, as for a background job of a script
            signal.signal(number, handler)


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)


def _stop(number: int, frame: FrameType | None) -> None:
    _handle_signals_with(lambda second, frame: _handle_after(_PATIENCE, _leave, number))
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _handle_after(seconds: float, handler: _Handler, number: int) -> None:
    signal.signal(signal.SIGALRM, lambda alarm, frame: handler(number, frame))
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _stop_again(dropped: sys.UnraisableHookArgs) -> None:
    """Python drops exceptions in some places, such as destructors: the signal is then acted on a little later."""
    if not isinstance(dropped.exc_value, (KeyboardInterrupt, SystemExit)):
        sys.__unraisablehook__(dropped)
        return
    code = getattr(dropped.exc_value, "code", None)
    _handle_after(_SOON, _stop, code - 128 if isinstance(code, int) else signal.SIGINT)


@contextmanager
def paused_collector() -> Iterator[None]:
    """Switch the cyclic collector off for the block; it would walk all living rows again and again.

    What was made in the block counts as old afterwards, so that the collector does not walk it at once. Ctrl-C comes
    after any call, also after those made here, and leaves the collector on all the same.
    """
    if not gc.isenabled():
        yield
        return
    try:
        gc.disable()
        yield
    finally:
        try:
            if not gc.get_freeze_count():  # somebody else's frozen objects stay so
                try:
                    gc.freeze()
                finally:
                    gc.unfreeze()
        finally:
            gc.enable()


class Late:
    """Stands for a package that is imported when something of it is first used.

    Type checkers see the package itself:

        if TYPE_CHECKING:
            import numpy as np
        else:
            np = Late("numpy")
    """

    def __init__(self, package: str) -> None:
        self._package = package

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._package), name)
        setattr(self, name, found)  # the next time it is an attribute like any other
        return found
