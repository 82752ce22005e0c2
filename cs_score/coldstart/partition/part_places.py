"""Agreeing on where each part of a text stands, between processes that make the parts at the same time."""

from __future__ import annotations

import mmap
import time
from collections.abc import Sequence
from typing import Final

_UNKNOWN: Final = -1

_PATIENCE: Final = 0.001
"""Seconds after which a process looks again whether the parts before its own have been placed."""


class PartPlaces:
    """Where the parts of some texts begin and end, for processes that are forked when this has been made.

    How long a part is, is known only once it has been made, so each waits here until those before it have been placed;
    processes must begin the parts in their order, and whoever started them kills those that wait for a part that will
    not come. There is no lock, because a process that is killed would keep it: each number is written once, by the
    process that makes the part.
    """

    def __init__(self, parts: int, texts: int) -> None:
        shared = memoryview(mmap.mmap(-1, 8 * (1 + parts) * texts)).cast("q")
        # Where each part ends in each text; the first row is where the first part begins.
        self._ends = [shared[row * texts : (row + 1) * texts] for row in range(1 + parts)]
        for row in self._ends[1:]:
            for text in range(texts):
                row[text] = _UNKNOWN

    def place(self, part: int, lengths: Sequence[int]) -> list[int]:
        """The first byte of a part, numbered from 0, in each text, by its length in each."""
        before, own = self._ends[part], self._ends[part + 1]
        while _UNKNOWN in before:
            time.sleep(_PATIENCE)
        starts = list(before)
        for text, length in enumerate(lengths):
            own[text] = starts[text] + length
        return starts

    @property
    def lengths(self) -> list[int]:
        """The length of each text, once all parts have been placed; in bytes."""
        return list(self._ends[-1])
