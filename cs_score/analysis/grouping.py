"""How groups of results are called, and the order in which they stand."""

from __future__ import annotations

from typing import Final

UNKNOWN: Final = "unknown"
"""The group of what nothing tells the group of."""

_LONGEST_NUMBER: Final = 20
"""Digits; longer ones, which only texts of an input have, are ordered as texts."""


def place(group: str) -> tuple[bool, int, str]:
    """Sort key of groups: numbers by value, then texts."""
    is_number = group.isdecimal() and len(group) < _LONGEST_NUMBER
    return (not is_number, int(group) if is_number else 0, group)
