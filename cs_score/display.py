"""Untrusted text on its way to a terminal: runs and predictions may hold escape sequences."""

from __future__ import annotations

import re
from typing import Final

# C0 and C1 controls, DEL, line and paragraph separators, bidirectional overrides and isolates, lone surrogates.
_UNSAFE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSAFE_BUT_TAB: Final = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSAFE_IN_TEXT: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

LONGEST_LINE: Final = 2000
"""Characters of a message that are shown; a megabyte field must not fill a terminal."""


def _escaped(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape").decode("ascii")


def one_line(text: str, limit: int = LONGEST_LINE, *, keep_tabs: bool = False) -> str:
    """`text` with every character that could move a cursor or break the line written as an escape, cut to `limit`.

    `keep_tabs` leaves tabs as they are: messages quote the lines of tab files.
    """
    if len(text) > limit:
        text = f"{text[:limit]}... ({len(text) - limit} more characters)"
    return (_UNSAFE_BUT_TAB if keep_tabs else _UNSAFE).sub(_escaped, text)


def terminal_safe(text: str) -> str:
    """`text` with control characters other than tab and line feed escaped; its lines stay lines."""
    return _UNSAFE_IN_TEXT.sub(_escaped, text)
