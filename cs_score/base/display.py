"""Untrusted text on its way to a terminal: runs and predictions may hold escape sequences."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import Final

from cs_score.base.patterns import pattern

# What moves a cursor, turns text around or is not seen: controls, format characters, separators of lines and
# paragraphs, lone surrogates (the Unicode categories Cc, Cf, Zl, Zp, Cs), but for tab, line feed and the byte order
# mark, which does nothing to a terminal and stands in messages of the reference.
_HIDDEN: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u2064\u2066-\u206f\ud800-\udfff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
_UNSAFE: Final = pattern(f"[\t\n{_HIDDEN}]")
_UNSAFE_BUT_TAB: Final = pattern(f"[\n{_HIDDEN}]")
_UNSAFE_IN_TEXT: Final = pattern(f"[{_HIDDEN}]")

# A text that a spreadsheet would take for a formula, perhaps marked as text already.
_FORMULA: Final = pattern("'*[=+@\t\r-]")

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


def cell(text: str, limit: int = LONGEST_LINE) -> str:
    """`text` for a table cell: on one line, with its backslashes doubled so that no two texts look alike."""
    return one_line(text.replace("\\", "\\\\"), limit)


def spreadsheet_cell(text: str) -> str:
    """`text` in a table that a spreadsheet may open: an apostrophe keeps it from being a formula. Not for numbers."""
    return ("'" if _FORMULA.match(text) else "") + cell(text, sys.maxsize)


def terminal_safe(text: str) -> str:
    """`text` with control characters other than tab and line feed escaped; its lines stay lines."""
    return _UNSAFE_IN_TEXT.sub(_escaped, text)


def aligned(
    rows: Sequence[Sequence[str]],
    to_the_right: Sequence[bool],
    *,
    gap: str = "  ",
    width_of: Callable[[str], int] = len,
) -> list[str]:
    """Rows of as many cells each as lines with columns of even width; cells must be safe to print already."""
    widths = [max(map(width_of, column)) for column in zip(*rows)]
    lines = []
    for row in rows:
        spaces = (" " * (width - width_of(text)) for text, width in zip(row, widths))
        cells = (space + text if right else text + space for text, space, right in zip(row, spaces, to_the_right))
        lines.append(gap.join(cells).rstrip())
    return lines


def columns_of(text: str) -> int:
    """Columns that the text takes on a terminal: two for a wide character, none for a combining mark."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text
    )
