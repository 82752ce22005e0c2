"""Colour for status words and differences, on terminals only and never where `NO_COLOR` is set."""

from __future__ import annotations

import os
import re
from typing import IO, Final

from cs_score.base.patterns import pattern

_STATUS: Final = pattern(r"^(?:(?P<mild>WARNING)|(?P<bad>ERROR|FATAL_ERROR))(?=:)", re.MULTILINE)
_DELTA: Final = pattern(r"(?<![\w.+-])(?:(?P<good>\+\d+\.\d+)|(?P<bad>-\d+\.\d+))(?![\w.])")
_CHANGED_LINE: Final = pattern(r"^(?:(?P<good>\+.*)|(?P<bad>-.*))$", re.MULTILINE)
_NUMBERS: Final = {"good": 32, "mild": 33, "bad": 31}


def is_wanted(stream: IO[str] | None) -> bool:
    """Whether what is written there is seen on a terminal that can show colours."""
    if stream is None or os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        return False
    try:
        return os.isatty(stream.fileno())
    except (OSError, ValueError):
        return False


def with_status(text: str) -> str:
    """Warnings and errors at the beginning of a line."""
    return _STATUS.sub(_painted, text)


def with_deltas(text: str) -> str:
    """Differences of scores, which are printed with their sign."""
    return _DELTA.sub(_painted, text)


def with_changes(text: str) -> str:
    """Lines that a unified diff adds or takes away."""
    return _CHANGED_LINE.sub(_painted, text)


def _painted(match: re.Match[str]) -> str:
    return f"\x1b[{_NUMBERS[match.lastgroup or 'mild']}m{match.group()}\x1b[0m"
