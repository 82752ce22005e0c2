"""Results on standard output: whole, safe for a terminal, and with one line where they cannot be written."""

from __future__ import annotations

import contextlib
import os
import sys

from cs_score.display import terminal_safe
from cs_score.errors import OutputError
from cs_score.sources import reason_of


def print_text(text: str) -> None:
    """Write `text` and a line feed to standard output, control characters escaped.

    What the terminal's encoding lacks is written as an escape. Raises OutputError where the output cannot be written,
    and then lets the interpreter end without trying again.
    """
    stream = getattr(sys, "stdout", None)
    if stream is None:  # the process was started with standard output closed
        raise OutputError("standard output is closed")
    encoding = stream.encoding or "utf-8"
    printable = terminal_safe(text).encode(encoding, "backslashreplace").decode(encoding)
    try:
        stream.write(f"{printable}\n")
        stream.flush()
    except BrokenPipeError:
        _discard_the_rest()
        raise OutputError("standard output was closed before everything was written") from None
    except OSError as error:
        _discard_the_rest()
        raise OutputError(f"Could not write standard output: {reason_of(error)}") from None


def _discard_the_rest() -> None:
    """Point the descriptor elsewhere: the buffer is flushed once more when the interpreter ends."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
