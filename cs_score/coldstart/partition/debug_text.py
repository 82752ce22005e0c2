"""The text of a debug file that is written while it is scored, by several processes at a time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Final, cast

from cs_score.foundation.errors import OutputError
from cs_score.foundation.outputs import NewFile
from cs_score.foundation.sources import reason_of

_BLOCK: Final = 1 << 18


@dataclass(frozen=True, slots=True)
class DebugFiles:
    """Open files for the two parts of a debug file: `begun` is the file itself, with the responses first.

    None: it is not a file of its own, and the responses have a temporary one.
    """

    begun: NewFile | None
    responses: IO[bytes]
    rankings: IO[bytes]


@dataclass(frozen=True, slots=True)
class Stretch:
    """The first `length` bytes of an open file."""

    file: IO[bytes]
    length: int

    def blocks(self) -> Iterator[bytes]:
        """The bytes, in blocks of at most a quarter of a megabyte."""
        position = 0
        while position < self.length:
            block = os.pread(self.file.fileno(), min(_BLOCK, self.length - position), position)
            if not block:
                raise OSError("a temporary file has become shorter")
            position += len(block)
            yield block


@dataclass(frozen=True, slots=True)
class DebugText:
    """Both parts of a run's debug file, as the shares that the run was scored in have left them.

    `begun` is the debug file where the responses stand in it already.
    """

    begun: NewFile | None
    responses: Stretch
    rankings: Stretch


def temporary_file(folder: str | None) -> IO[bytes]:
    """A temporary file without a name in `folder` (None: where temporary files go). Raises OutputError."""
    try:
        return cast(IO[bytes], tempfile.TemporaryFile(dir=folder, buffering=0))
    except OSError as error:
        raise _cannot_write(error) from None


def write_at(file: IO[bytes], start: int, blocks: Sequence[bytes]) -> None:
    """Write blocks into a file, from the byte `start` on. Raises OutputError."""
    try:
        for block in blocks:
            while block:
                written = os.pwrite(file.fileno(), block, start)
                start += written
                block = block[written:]
    except OSError as error:
        raise _cannot_write(error) from None


def _cannot_write(error: OSError) -> OutputError:
    return OutputError(f"Could not write the debug text: {reason_of(error)}")
