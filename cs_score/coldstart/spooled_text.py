"""The text of a debug file that is too large to be kept in memory until it is written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Final, cast

from cs_score.errors import OutputError
from cs_score.sources import reason_of

_BLOCK: Final = 1 << 18


def open_spool(folder: str | None) -> IO[bytes]:
    """A temporary file without a name in `folder` (None: where temporary files go). Raises OutputError."""
    try:
        return cast(IO[bytes], tempfile.TemporaryFile(dir=folder))
    except OSError as error:
        raise _cannot_spool(error) from None


def append(file: IO[bytes], blocks: Iterable[bytes]) -> int:
    """Write blocks at the end of a file; the position behind them. Raises OutputError."""
    try:
        for block in blocks:
            file.write(block)
        file.flush()
        return file.tell()
    except OSError as error:
        raise _cannot_spool(error) from None


def _cannot_spool(error: OSError) -> OutputError:
    return OutputError(f"Could not write a temporary file for the debug text: {reason_of(error)}")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Bytes of an open file from `start` up to `end`."""

    file: IO[bytes]
    start: int
    end: int

    def blocks(self) -> Iterator[bytes]:
        """The bytes, in blocks of at most a quarter of a megabyte."""
        position = self.start
        while position < self.end:
            block = os.pread(self.file.fileno(), min(_BLOCK, self.end - position), position)
            if not block:
                raise OSError("the temporary file of a share has become shorter")
            position += len(block)
            yield block


@dataclass(frozen=True, slots=True)
class SpooledText:
    """Both parts of a run's debug file, as the shares that the run was scored in have left them."""

    responses: Sequence[Stretch]
    rankings: Sequence[Stretch]


def blocks_of(stretches: Sequence[Stretch]) -> Iterator[bytes]:
    """The bytes of all stretches, one after the other."""
    for stretch in stretches:
        yield from stretch.blocks()
