"""The text of a debug file that is too large to be kept in memory until it is written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Final

_BLOCK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Stretch:
    """Bytes of an open file from `start` up to `end`."""

    file: IO[bytes]
    start: int
    end: int

    def blocks(self) -> Iterator[bytes]:
        """The bytes, in blocks of at most a megabyte."""
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
