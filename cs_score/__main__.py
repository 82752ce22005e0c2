"""Run the command `cs-score`, which is also `python -m cs_score`: its streams, its signals, its end.

Until signals are cared for, nothing is imported that the interpreter has not loaded by itself, not even `typing`:
Ctrl-C finds no module of ours at work, however early it comes.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn


def _leave(number: int, frame: "FrameType | None") -> None:
    os._exit(128 + number)


def _leave_at_once_on_signals() -> None:
    """Let signals end the process, as long as there is nothing to clean up."""
    # `signal` makes classes of the names of all signals when it is imported; this one is part of the interpreter.
    import _signal  # type: ignore[import-not-found]

    for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
        if _signal.getsignal(number) != _signal.SIG_IGN:  # ignored already, as for a background job of a script
            _signal.signal(number, _leave)


# The script that pip installs works on its own name once it has imported this module, and then calls `console`.
if os.path.basename(sys.argv[0]) in ("cs-score", "cs-score.exe", "cs-score-script.py"):
    _leave_at_once_on_signals()


def console() -> "NoReturn":
    """Run the command of this process.

    The process is left at once when everything is written: the operating system takes back millions of rows in one go.
    """
    _leave_at_once_on_signals()
    _open_closed_streams()
    import atexit

    from cs_score.base.runtime import ignore_signals, stop_on_signals
    from cs_score.cli.main import interrupted, main

    try:
        stop_on_signals()
        status = main()
        ignore_signals()
    except KeyboardInterrupt:
        status = interrupted()
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else 1
    atexit._run_exitfuncs()
    os._exit(status)


def _open_closed_streams() -> None:
    """Let nothing that is opened later take the number of a standard stream that was closed when the process began.

    To use such a stream stays an error.
    """
    for number, name, way in ((0, "stdin", os.O_WRONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_RDONLY)):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, way)  # the lowest number that is free
            if descriptor != number:
                os.dup2(descriptor, number)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0)
    if sys.stderr is None:  # without one, what is printed on it goes to standard output
        sys.stderr = os.fdopen(2, "w")


if __name__ == "__main__":
    console()
