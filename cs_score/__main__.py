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

    The process exits as soon as everything is written: the operating system frees millions of rows in one go.
    """
    _leave_at_once_on_signals()
    _open_closed_streams()
    import atexit  # only after the signal handlers are in place

    status = _run_command()
    atexit._run_exitfuncs()  # `os._exit` would skip the functions that libraries have registered for the end
    os._exit(status)


def _run_command() -> int:
    """Run the command of this process, and return its exit status, also if a signal or `SystemExit` ends it."""
    from cs_score.base.runtime import ignore_signals, stop_on_signals
    from cs_score.cli.main import main, report_interruption

    try:
        stop_on_signals()
        status = main()
        ignore_signals()
    except KeyboardInterrupt:
        return report_interruption()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    return status


def _open_closed_streams() -> None:
    """Reserve the file descriptors of standard streams that were closed when the process began.

    Otherwise, the next file to be opened would become a standard stream.
    """
    # Standard input is opened for writing only, the others for reading only, so that using them is still an error.
    for descriptor, name, mode in ((0, "stdin", os.O_WRONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_RDONLY)):
        if getattr(sys, name) is None:
            _open_null_device(descriptor, mode)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0)
    if sys.stderr is None:  # without it, text printed to standard error would go to standard output
        sys.stderr = os.fdopen(2, "w")


def _open_null_device(descriptor: int, mode: int) -> None:
    """Open the null device under a file descriptor, such as 1 for standard output.

    `mode` says whether it is opened for reading (`os.O_RDONLY`) or for writing (`os.O_WRONLY`).
    """
    opened_descriptor = os.open(os.devnull, mode)  # the lowest number that is free
    if opened_descriptor != descriptor:
        os.dup2(opened_descriptor, descriptor)


if __name__ == "__main__":
    console()
