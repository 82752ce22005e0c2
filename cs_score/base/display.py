"""Untrusted text on its way to a terminal, a table, Markdown or LaTeX: it is shown as it is and does nothing."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Final

# What moves a cursor, turns text around or is not seen: controls, format characters, separators of lines and
# paragraphs, lone surrogates (the Unicode categories Cc, Cf, Zl, Zp, Cs), but for tab, line feed and the byte order
# mark, which does nothing to a terminal and stands in messages of the reference.
_HIDDEN: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u2064\u2066-\u206f\ud800-\udfff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
_UNSAFE: Final = re.compile(f"[\t\n{_HIDDEN}]")
_UNSAFE_BUT_TAB: Final = re.compile(f"[\n{_HIDDEN}]")
_UNSAFE_IN_TEXT: Final = re.compile(f"[{_HIDDEN}]")

# A text that a spreadsheet would take for a formula, perhaps marked as text already.
_FORMULA: Final = re.compile("'*[=+@\t\r-]")

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


class JsonText(str):
    """Text that is JSON: its backslashes are those of JSON, which no table doubles."""

    __slots__ = ()


def json_value(value: object) -> JsonText:
    """Return a value as JSON on one line, non-ASCII characters as they are.

    Characters that are not seen or could break a line are escaped as JSON does it, so that the text can be read back.
    """
    return JsonText(_UNSAFE.sub(_escaped_in_json, json.dumps(value, ensure_ascii=False)))


def _escaped_in_json(match: re.Match[str]) -> str:
    return json.dumps(match.group())[1:-1]


def cell(text: str, limit: int = LONGEST_LINE) -> str:
    """`text` for a table cell: on one line, with its backslashes doubled so that no two texts look alike; JSON as it
    stands, in which no two values do.
    """
    if isinstance(text, JsonText):
        return one_line(text, limit)
    return one_line(text.replace("\\", "\\\\"), limit)


def spreadsheet_cell(text: str) -> str:
    """`text` in a table that a spreadsheet may open: an apostrophe keeps it from being a formula. Not for numbers, nor
    for JSON, which is no formula and would be none any more.
    """
    if isinstance(text, JsonText):
        return cell(text, sys.maxsize)
    return ("'" if _FORMULA.match(text) else "") + cell(text, sys.maxsize)


def terminal_safe(text: str) -> str:
    """`text` with control characters other than tab and line feed escaped; its lines stay lines."""
    return _UNSAFE_IN_TEXT.sub(_escaped, text)


SCREEN: Final = 80
"""Columns of a first screen."""

WIDEST_TEXT: Final = 120
"""Columns of sentences that go to no terminal."""


def prose_width(terminal_width: int | None, *, is_screen: bool) -> int:
    """Return how wide sentences are, where a terminal has this width (None: there is none).

    What is a first screen (`is_screen`) is at most 80 columns wide.
    """
    width = WIDEST_TEXT if terminal_width is None else terminal_width
    return min(width, SCREEN) if is_screen else width


def wrapped(text: str, indent: str = "") -> list[str]:
    """Text in lines of a screen, those after the first indented; no word is broken."""
    return textwrap.wrap(text, SCREEN, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]


_MINUS_OF_NUMBER: Final = re.compile(r"(?<![\w.])-(?=\d)| - (?=[A-Z]\b)")


def with_minus_signs(text: str) -> str:
    """Return a text whose numbers, and the difference `B - A`, have minus signs in the place of hyphens."""
    return _MINUS_OF_NUMBER.sub(lambda match: match.group().replace("-", "\u2212"), text)


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


def some(items: Iterable[object], most: int = 3, separator: str = ", ") -> str:
    """The first `most` items, and how many more there are."""
    shown = [str(item) for item in items]
    return separator.join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")


def columns_of(text: str) -> int:
    """Columns that the text takes on a terminal: two for a wide character, none for a combining mark."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text
    )


# Every sign that may begin markup inside a line or end a cell, and those of links that are recognised without markup.
_MARKUP: Final = re.compile(r"([\\`*_{}\[\]()<>#!|~&$@:.^=+-])")

_LATEX: Final = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "{}$&#%_"},
        **{sign: f"{{{sign}}}" for sign in "[]*"},  # [ and * are arguments where they follow two backslashes
        **{sign: rf"\char{ord(sign)}{{}}" for sign in '"`'},  # " is active in babel's German
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
    }
)
_LIGATURE: Final = re.compile(r"([-',])(?=\1)")


def escape_markdown(text: str) -> str:
    """`text` such that Markdown shows it as it is, in one line."""
    return _MARKUP.sub(r"\\\1", cell(text))


def escape_latex(text: str) -> str:
    """`text` such that LaTeX sets it as it is, in one line."""
    return _LIGATURE.sub(r"\1{}", cell(text).translate(_LATEX))
