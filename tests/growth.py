"""How work grows with the size of an input."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

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
    """Of the process's own work; what earlier tests have left is not walked by the collector meanwhile."""
    gc.collect()
    gc.freeze()
    try:
        start = time.process_time()
        work()
        return time.process_time() - start
    finally:
        gc.unfreeze()


def assert_steps_grow_in_proportion(
    prepared: Callable[[int], Callable[[], object]], size: int, *, factor: int = 4
) -> None:
    """As `assert_grows_in_proportion`, of the lines of Python code that are executed: the same numbers in each run."""
    small, large = steps(prepared(size)), steps(prepared(factor * size))
    assert large < 1.5 * factor * small, f"{small} steps for {size}, {large} for {factor * size}"


def steps(work: Callable[[], object]) -> int:
    """How many lines of Python code are executed; each round of a loop or comprehension counts."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
