"""Exit statuses: that of failures, and one that keeps results in memory until the process ends."""

from __future__ import annotations

import gc
from typing import Final

FAILED: Final = 255
"""Errors, fatal conditions and wrong usage, as the reference has it; also where a command cannot be loaded."""


class Finished(int):
    """An exit status that keeps what was computed in memory as long as it is kept itself.

    A process that ends while it has the status saves the time to free millions of rows one by one, or to walk them once
    more to find cycles.
    """

    def __new__(cls, status: int, kept: object) -> Finished:
        finished = super().__new__(cls, status)
        finished._kept = kept
        gc.freeze()
        return finished

    _kept: object
