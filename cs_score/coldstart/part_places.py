"""Agreeing on where each part of a text stands, between processes that make the parts at the same time."""

from __future__ import annotations

import mmap
import multiprocessing
from collections.abc import Sequence


class AbandonedError(Exception):
    """A part that others wait for will never come."""


class PartPlaces:
    """Where in some texts each part has its place, for processes that are forked when this has been made.

    Parts are numbered from 0. How long a part is, is known only once it has been made, so each waits here until all
    parts before it have been placed; processes must begin their parts in this order, or they wait for ever.
    """

    def __init__(self, texts: int) -> None:
        self._condition = multiprocessing.Condition()
        # The next part to be placed, -1 when one was abandoned; then the length of each text up to that part.
        self._shared = memoryview(mmap.mmap(-1, 8 * (1 + texts))).cast("q")

    def place(self, part: int, lengths: Sequence[int]) -> list[int]:
        """The first byte of a part in each of the texts, by how long it is in each. Raises AbandonedError."""
        with self._condition:
            self._condition.wait_for(lambda: self._shared[0] in (part, -1))
            if self._shared[0] < 0:
                raise AbandonedError
            starts = self.lengths
            for text, length in enumerate(lengths, 1):
                self._shared[text] += length
            self._shared[0] += 1
            self._condition.notify_all()
        return starts

    def settle(self, part: int) -> None:
        """A part that has no place by now will have none: nobody is to wait for it, nor for those behind it."""
        with self._condition:
            if 0 <= self._shared[0] <= part:
                self._shared[0] = -1
                self._condition.notify_all()

    @property
    def lengths(self) -> list[int]:
        """How long each text is, as far as parts have been placed; in bytes."""
        return list(self._shared[1:])
