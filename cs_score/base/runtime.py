"""Signals, the garbage collector and late imports: how a process ends cleanly, and starts and works quickly."""

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

from cs_score.base.errors import UsageError, missing_part_message

_Handler: TypeAlias = Callable[[int, FrameType | None], object]

STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that end the process: by Ctrl-C, by a request to terminate, and when the terminal is closed."""

_SECONDS_TO_CLEAN_UP: Final = 0.5
"""Seconds that the process has to clean up after a second signal."""

_SECONDS_TO_REPEAT: Final = 0.01
"""Seconds after which a signal is handled again, if Python dropped the exception of its handler."""


def stop_on_signals() -> None:
    """Let the first stop signal raise KeyboardInterrupt (Ctrl-C) or SystemExit with the status 128 + its number.

    A second signal ends the process after half a second, whatever the process is doing then.
    """
    # Python drops an exception that is raised inside a destructor, also the exception of a signal: the hook handles it
    # again.
    sys.unraisablehook = _repeat_dropped_signal
    _handle_signals_with(_raise_for_signal)  # it sets the handler for the second signal


def ignore_signals() -> None:
    """Ignore stop signals from now on. It is called when all work is done and the process is about to end."""
    _handle_signals_with(lambda number, frame: None)
    signal.setitimer(signal.ITIMER_REAL, 0)  # stops a timer that an earlier signal has set


def _handle_signals_with(handler: _Handler) -> None:
    """Set the handler of all stop signals, except for ignored ones, such as Ctrl-C in a background job of a script."""
    for number in STOP_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _exit_at_once(number: int, frame: FrameType | None) -> None:
    """End the process without any cleaning up, with the exit status of a signal."""
    os._exit(128 + number)


def _raise_for_signal(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt or SystemExit for a signal; the next signal ends the process after half a second."""

    def exit_soon(number_of_second: int, frame_of_second: FrameType | None) -> None:
        """End the process, after some time to clean up, with the exit status of the first signal."""
        _handle_after(_SECONDS_TO_CLEAN_UP, _exit_at_once, number)

    _handle_signals_with(exit_soon)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _handle_after(seconds: float, handler: _Handler, number: int) -> None:
    """Call a handler for a signal after some seconds. A timer then sends another signal, which calls the handler."""
    signal.signal(signal.SIGALRM, lambda alarm, frame: handler(number, frame))
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _repeat_dropped_signal(dropped: sys.UnraisableHookArgs) -> None:
    """Handle a signal again, a little later, if Python dropped the exception of its handler.

    Python calls this for every exception that it cannot raise, such as one inside a destructor.
    """
    if not isinstance(dropped.exc_value, (KeyboardInterrupt, SystemExit)):
        sys.__unraisablehook__(dropped)
        return
    exit_status = getattr(dropped.exc_value, "code", None)  # 128 + the number; KeyboardInterrupt has none
    number = exit_status - 128 if isinstance(exit_status, int) else signal.SIGINT
    _handle_after(_SECONDS_TO_REPEAT, _raise_for_signal, number)


@contextmanager
def delayed_signals() -> Iterator[None]:
    """Delay stop signals that arrive during the block until the block has ended.

    A signal mask would not suffice: the system may hand a signal to any thread, such as one of numpy, and Python
    handles it in the main thread. In any other thread this context manager does nothing, since no signal is handled
    there.
    """
    received: list[int] = []
    handler_by_signal = _collect_signals_in(received)  # empty outside the main thread
    try:
        yield
    finally:
        for stop_signal, handler in handler_by_signal.items():
            signal.signal(stop_signal, handler)
        for number in received:
            signal.raise_signal(number)


def _collect_signals_in(received: list[int]) -> dict[signal.Signals, Any]:
    """Make stop signals only add their numbers to a list, and return their earlier handlers by signal.

    Signals that are ignored stay ignored, and a handler that was not set by Python stays. In any thread except the main
    thread, nothing changes and the result is empty.
    """
    handler_by_signal: dict[signal.Signals, Any] = {}
    for stop_signal in STOP_SIGNALS:
        handler = signal.getsignal(stop_signal)
        is_set_outside_python = handler is None
        if is_set_outside_python or handler is signal.SIG_IGN:
            continue
        try:
            signal.signal(stop_signal, lambda number, frame: received.append(number))
        except ValueError:  # not in the main thread
            break
        handler_by_signal[stop_signal] = handler
    return handler_by_signal


@contextmanager
def paused_garbage_collection() -> Iterator[None]:
    """Pause Python's cyclic garbage collector during the block, to save time where many objects are made and kept.

    The collector would look at all of these objects again and again. Afterwards they count as old, so that it does not
    look at them soon. The collector is switched on again even if Ctrl-C interrupts one of the calls made here.
    """
    if not gc.isenabled():
        yield
        return
    try:
        gc.disable()
        yield
    finally:
        try:
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
        gc.unfreeze()  # it moves all frozen objects to the oldest generation


class Late:
    """A package or module that is imported when something of it is first used.

    Type checkers see the package itself:

        if TYPE_CHECKING:
            import numpy as np
        else:
            np = Late("numpy")
    """

    def __init__(self, package: str) -> None:
        """Stand for the package or module of this name, such as `numpy`; it is not imported yet."""
        self._package = package

    def __getattr__(self, name: str) -> Any:
        """Return a value of the module, such as a function. The module is imported if it was not imported before."""
        value = getattr(import_module(self._package), name)
        setattr(self, name, value)  # from now on an ordinary attribute, for which Python does not call this method
        return value


def load_value(path: str, needed_by: str = "this") -> Any:
    """Return the value in a module to which a `path` leads, such as "cs_score.evidence.r4c:MODE".

    The module is imported if need be. Raises UsageError if it is a module of cs-score that is not installed. The
    message says that `needed_by`, such as a command, needs it.
    """
    module_name, _, value_name = path.partition(":")
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        message = missing_part_message(error, needed_by=needed_by)
        if not message:
            raise
        raise UsageError(message) from None
    return getattr(module, value_name)
