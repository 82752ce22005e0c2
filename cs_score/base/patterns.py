"""Regular expressions that are compiled when they are first used: a short run uses few of them."""

from __future__ import annotations

import re
from typing import Any, cast


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, put off. An error in `text` shows when it is used."""
    return cast("re.Pattern[str]", _Pattern(text, flags))


class _Pattern:
    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:  # called for what the object does not have yet
        method = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, method)
        return method
