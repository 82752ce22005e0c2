"""A check whether a text that somebody typed is a number."""

from __future__ import annotations

import re
from typing import Final

_DECIMAL_PATTERN: Final = r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?"  # compiled when a number is read

_MOST_CHARACTERS: Final = 1000
"""The most characters of a number. The time to read a number grows with the square of its length."""


def is_decimal_number(text: str) -> bool:
    """Return whether a text is a decimal number of at least 0, perhaps with an exponent: `3`, `0.5`, `.5`, `1e-3`."""
    return len(text) <= _MOST_CHARACTERS and re.fullmatch(_DECIMAL_PATTERN, text) is not None
