"""How a program ends that has written everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Leave: TypeAlias = Callable[[int], object]
"""What is called with the exit status once everything is written, while the rows are still in memory: a process that
ends there saves the time to free them one by one."""


def stay(status: int) -> None:
    """Do not leave the process: return to the caller."""
