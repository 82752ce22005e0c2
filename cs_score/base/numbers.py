"""Numbers that somebody typed, recognised without raising errors."""

from __future__ import annotations

import re
from typing import Final

_DECIMAL: Final = r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?"  # compiled when a number is read

_LONGEST: Final = 1000
"""Characters of a number; none that means something has more, and the time to read one grows with their square."""


def is_decimal_number(text: str) -> bool:
    """Return whether a text is a number of at least 0, with any number of decimals and perhaps an exponent."""
    return len(text) <= _LONGEST and re.fullmatch(_DECIMAL, text) is not None
