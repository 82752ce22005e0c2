"""Run the command `cs-score`, which is also `python -m cs_score`: its streams, its signals, its end.

In the script that pip installs, the package has cared for signals before this module is read; `python -m cs_score` does
so at the beginning of `console`.
"""

import os
import sys

from cs_score import _leave_at_once_on_signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def console() -> "NoReturn":
    """Run the command of this process.

    The process is left at once when everything is written: the operating system takes back millions of rows in one go.
    """
    _leave_at_once_on_signals()
    _open_closed_streams()
    import atexit

    status = _run_command()
    atexit._run_exitfuncs()
    os._exit(status)


def _run_command() -> int:
    """Run the command of this process, and return its exit status, also if a signal or `SystemExit` ends it."""
    from cs_score.base.runtime import ignore_signals, stop_on_signals
    from cs_score.cli.main import interrupted, main

    try:
        stop_on_signals()
        status = main()
        ignore_signals()
    except KeyboardInterrupt:
        return interrupted()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    return status


def _open_closed_streams() -> None:
    """Let nothing that is opened later take the number of a standard stream that was closed when the process began.

    To use such a stream stays an error.
    """
    for number, name, mode in ((0, "stdin", os.O_WRONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_RDONLY)):
        if getattr(sys, name) is None:
            _occupy(number, mode)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0)
    if sys.stderr is None:  # without one, what is printed on it goes to standard output
        sys.stderr = os.fdopen(2, "w")


def _occupy(number: int, mode: int) -> None:
    """Open the null device under a file descriptor, such as 1 for standard output.

    `mode` is the direction in which the stream is never used, such as `os.O_RDONLY`: so to use it stays an error.
    """
    descriptor = os.open(os.devnull, mode)  # the lowest number that is free
    if descriptor != number:
        os.dup2(descriptor, number)


if __name__ == "__main__":
    console()
