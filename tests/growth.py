"""How work grows with the size of an input."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

FACTOR: Final = 8

MOST: Final = 24
"""Times the work that an input of `FACTOR` times the size may take: quadratic work takes 64 times as much."""

FLOOR: Final = 0.05
"""Seconds of work below which measurements say nothing."""


def assert_grows_in_proportion(prepared: Callable[[int], Callable[[], object]], size: int) -> None:
    """Check that the work of what `prepared` makes for a size grows with the size, and not with its square.

    The time of this process's own work is compared, so that other processes do not matter.
    """
    small = min(_seconds(prepared(size)) for _ in range(2))
    large = _seconds(prepared(FACTOR * size))
    assert large < MOST * max(small, FLOOR), f"{small:.3f} s for {size}, {large:.3f} s for {FACTOR * size}"


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
