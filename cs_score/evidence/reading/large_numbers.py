"""Whole numbers of JSON that may be keys: large ones are hashed so that no file can choose many with one hash.

Python hashes an integer to its remainder modulo 2^61 - 1. Ids that are multiples of it would all fall into one place of
a dictionary, and to read a file of them would take time quadratic in its length.
"""

from __future__ import annotations

import sys
from typing import Final

_MODULUS: Final = sys.hash_info.modulus


class _LargeInteger(int):
    """An integer that equals what integers equal."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(hex(self))


class _LargeFloat(float):
    """A number without fraction: from 2^53 on none has one. Its hash is that of the integer that it equals."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(hex(int(self)))


def hashable_integer(text: str | int) -> int:
    """The integer that a text stands for, or an integer itself, fit to be a key beside those of other texts."""
    value = int(text)
    return value if -_MODULUS < value < _MODULUS else _LargeInteger(value)


def hashable_float(text: str) -> float:
    """The number that a text stands for, fit to be a key beside integers that it equals."""
    value = float(text)
    return value if -_MODULUS < value < _MODULUS or value - value else _LargeFloat(value)
