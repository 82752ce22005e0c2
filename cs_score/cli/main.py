"""The entry point `cs-score`: the command that the first words name, the Cold Start scorer otherwise."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import Final

from cs_score.base.display import one_line
from cs_score.base.errors import CsScoreError, OutputError, UsageError
from cs_score.base.sources import pipes_are_kept
from cs_score.cli.core import (
    COMPLETION_VARIABLE,
    FIRST_PAGE,
    Command,
    Misuse,
    Status,
    find,
    first_page,
    root,
    version_text,
)
from cs_score.cli.output import write_text

_NO_MEMORY: Final = "not enough memory"
_NO_MEMORY_LINE: Final = f"cs-score: {_NO_MEMORY}\n".encode()
"""Made while there was memory for it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run cs-score and return its exit status (see README-Usage); `arguments` default to those of the process.

    What goes wrong is one line on standard error, never a traceback.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    failed: int = Status.REFERENCE
    wrong_usage: int = Status.WRONG_USAGE
    command: Command | None = None
    try:
        if COMPLETION_VARIABLE in os.environ:
            root().main([], "cs-score", COMPLETION_VARIABLE)
        if (page := _page(words)) is not None:
            write_text("stdout", page)
            return Status.DONE
        command, rest = find(words)
        failed, wrong_usage = command.failed, command.wrong_usage
        with pipes_are_kept():
            status = command.run(rest)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except Misuse as error:
        return _misused(command, error, wrong_usage, help_text=None if words else first_page())
    except CsScoreError as error:
        return _complain(str(error), wrong_usage if isinstance(error, UsageError) else failed)
    except BrokenPipeError:
        return _complain("standard output was closed before everything was written", failed)
    except (OSError, ImportError) as error:  # no descriptors, no working folder, a full device
        return _complain(_reason(error), failed)
    except MemoryError:
        pass  # only behind this statement is released what its traceback holds
    except KeyboardInterrupt:
        return interrupted()
    return _complain(_NO_MEMORY, failed)


def _page(words: Sequence[str]) -> str | None:
    """The first page or the version, where one of them is asked for by an option without command."""
    if len(words) != 1:
        return None
    return first_page() if words[0] in FIRST_PAGE else version_text() if words[0] in ("-V", "--version") else None


def _misused(command: Command | None, error: Misuse, status: int, help_text: str | None) -> int:
    """Wrong usage that the reference has a text for, and its usage text, on standard output; our line on the other."""
    advice = str(error)
    if command is not None:
        if command.options_first:
            try:
                write_text("stdout", f"{error.printed}\n\n{help_text or command.help_text()}")
            except CsScoreError as closed:
                return _complain(str(closed), command.failed)
        advice = advice if advice.endswith("?") else f"{advice}; see {command.called} -help"
    return _complain(advice, status)


def interrupted() -> int:
    """One line and the status for Ctrl-C."""
    return _complain("interrupted", 128 + signal.SIGINT)


def _reason(error: OSError | ImportError) -> str:
    if isinstance(error, ImportError) and "failed to map segment" in str(error):  # a library that is there
        return _NO_MEMORY
    try:
        os.getcwd()
    except OSError:
        return "the working folder does not exist any more; change to another one"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    # Packages hide what the system says behind advice of their own.
    return _reason(error.__context__) if isinstance(error.__context__, ImportError) else str(error)


def _complain(message: str, status: int) -> int:
    try:
        with contextlib.suppress(OutputError):
            write_text("stderr", f"cs-score: {one_line(message, keep_tabs=True)}\n")
    except MemoryError:
        with contextlib.suppress(OSError):
            os.write(2, _NO_MEMORY_LINE)
    return status
