"""The entry point `cs-score`: the command that the first words name, the Cold Start scorer otherwise."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import Final

from cs_score.base.errors import CsScoreError, OutputError, UsageError
from cs_score.cli import registry
from cs_score.cli.leaving import FAILED

_NO_MEMORY: Final = "not enough memory"
_NO_MEMORY_LINE: Final = f"cs-score: {_NO_MEMORY}\n".encode()
"""Made while there was memory for it."""

COMPLETION_VARIABLE: Final = "_CS_SCORE_COMPLETE"
"""With `bash_source` and the like in it the script of `cs-score completion` is printed, as earlier versions did."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run cs-score and return its exit status (see README-Usage); `arguments` default to those of the process.

    What goes wrong is one line on standard error, never a traceback.
    """
    from cs_score.base.sources import pipes_are_kept

    words = list(sys.argv[1:] if arguments is None else arguments)
    if COMPLETION_VARIABLE in os.environ:
        words = ["completion", os.environ[COMPLETION_VARIABLE].removesuffix("_source")]
    command, rest = registry.find(words)
    failed = wrong_usage = FAILED
    try:
        from cs_score.cli.form import load
        from cs_score.cli.running import run_form

        form = load(command)
        failed, wrong_usage = form.contract.failed, form.contract.wrong_usage
        with pipes_are_kept():
            status = run_form(form, rest)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
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
        from cs_score.base.display import one_line
        from cs_score.cli.destinations import write_text

        with contextlib.suppress(OutputError):
            write_text("stderr", f"cs-score: {one_line(message, keep_tabs=True)}\n")
    except MemoryError:
        with contextlib.suppress(OSError):
            os.write(2, _NO_MEMORY_LINE)
    return status
