"""Signals, the garbage collector and late imports: how a process ends in order, and starts and works quickly."""

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
"""Seconds after which a signal is acted on again, where Python dropped its exception."""


def stop_on_signals() -> None:
    """Let the first stop signal raise KeyboardInterrupt or SystemExit with the status 128 + its number.

    A second signal ends the process after half a second, whatever it does.
    """
    sys.unraisablehook = _stop_again
    _handle_signals_with(_stop)


def ignore_signals() -> None:
    """Ignore stop signals from now on: all work is done, and the process is about to end by itself."""
    _handle_signals_with(lambda number, frame: None)
    signal.setitimer(signal.ITIMER_REAL, 0)


def _handle_signals_with(handler: _Handler) -> None:
    """Set the handler of all stop signals; ignored signals stay ignored, as in a background job of a script."""
    for number in STOP_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _leave(number: int, frame: FrameType | None) -> None:
    """End the process at once, with the status of a signal."""
    os._exit(128 + number)


def _stop(number: int, frame: FrameType | None) -> None:
    """Raise the exception of a signal; a second signal leaves half a second for cleaning up."""
    _handle_signals_with(lambda second, frame: _handle_after(_PATIENCE, _leave, number))
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _handle_after(seconds: float, handler: _Handler, number: int) -> None:
    """Call the handler of a signal once more, after some seconds."""
    signal.signal(signal.SIGALRM, lambda alarm, frame: handler(number, frame))
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _stop_again(dropped: sys.UnraisableHookArgs) -> None:
    """Handle a signal once more, a little later, where Python dropped its exception, as it does in destructors."""
    if not isinstance(dropped.exc_value, (KeyboardInterrupt, SystemExit)):
        sys.__unraisablehook__(dropped)
        return
    status = getattr(dropped.exc_value, "code", None)
    number = status - 128 if isinstance(status, int) else signal.SIGINT
    _handle_after(_SOON, _stop, number)


@contextmanager
def delayed_signals() -> Iterator[None]:
    """Let stop signals wait until the block has ended.

    A mask would not do: the system may hand a signal to any thread, such as one of numpy, and Python handles it in the
    main thread. Outside the main thread no signal is handled, so that nothing has to wait.
    """
    received: list[int] = []
    handler_by_signal: dict[signal.Signals, Any] = {}
    for stop_signal in STOP_SIGNALS:
        handler = signal.getsignal(stop_signal)
        if handler is None or handler is signal.SIG_IGN:
            continue
        try:
            signal.signal(stop_signal, lambda number, frame: received.append(number))
        except ValueError:  # not in the main thread
            break
        handler_by_signal[stop_signal] = handler
    try:
        yield
    finally:
        for stop_signal, handler in handler_by_signal.items():
            signal.signal(stop_signal, handler)
        for number in received:
            signal.raise_signal(number)


@contextmanager
def paused_collector() -> Iterator[None]:
    """Pause the cyclic garbage collector during the block; it would walk all living rows again and again.

    Objects made in the block count as old afterwards, so that the collector does not walk them at once. Ctrl-C may
    interrupt any call, also the calls made here, and leaves the collector on all the same.
    """
    if not gc.isenabled():
        yield
        return
    try:
        gc.disable()
        yield
    finally:
        try:  # whatever happens, the collector is switched on again
            _make_objects_old()
        finally:
            gc.enable()


def _make_objects_old() -> None:
    """Move all objects to the oldest generation of the collector, unless somebody else has frozen objects."""
    if gc.get_freeze_count():
        return
    try:
        gc.freeze()
    finally:
        gc.unfreeze()


class Late:
    """A package or module that is imported when something of it is first used.

    Type checkers see the package itself:

        if TYPE_CHECKING:
            import numpy as np
        else:
            np = Late("numpy")
    """

    def __init__(self, package: str) -> None:
        self._package = package

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._package), name)
        setattr(self, name, value)  # the next time it is an attribute like any other
        return value
