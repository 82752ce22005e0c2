"""Where a program's files and its problem report go: a prefix or a file, standard output, standard error."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO

from cs_score.display import terminal_safe
from cs_score.errors import OutputError

STREAMS = ("stdout", "stderr")


@dataclass(frozen=True, slots=True)
class Destination:
    """The value of an output switch: a stream, in any letter case, or a path or prefix."""

    text: str

    @property
    def stream(self) -> str | None:
        """`stdout` or `stderr`, or None for a path."""
        return self.text.lower() if self.text.lower() in STREAMS else None

    def binary_stream(self) -> IO[bytes]:
        """The stream itself; only for a destination that is one."""
        text_stream = sys.stdout if self.stream == "stdout" else sys.stderr
        text_stream.flush()
        return text_stream.buffer


def write_to_stream(destination: Destination, blocks: Iterable[bytes]) -> None:
    """Write to standard output or standard error. Raises OutputError, or BrokenPipeError where nobody reads."""
    stream = destination.binary_stream()
    try:
        for block in blocks:
            stream.write(block)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"Could not write to {destination.stream}: {error.strerror}") from None


def write_text_to_terminal(text: str) -> None:
    """Text on standard error; control characters are escaped where it is a terminal."""
    sys.stderr.write(terminal_safe(text) if sys.stderr.isatty() else text)
    sys.stderr.flush()


def why_not_writable(path: str) -> str | None:
    """Why a new file `path` cannot be made, in the operating system's words; None where it can."""
    if os.path.isdir(path):
        return os.strerror(errno.EISDIR)
    if os.path.exists(path):
        return None if os.access(path, os.W_OK) else os.strerror(errno.EACCES)
    folder = os.path.dirname(path) or "."
    if not os.path.exists(folder):
        return os.strerror(errno.ENOENT)
    if not os.path.isdir(folder):
        return os.strerror(errno.ENOTDIR)
    return None if os.access(folder, os.W_OK | os.X_OK) else os.strerror(errno.EACCES)
