"""Make text from inputs safe to show on a terminal, in a table, in Markdown or in LaTeX, and lay out text in columns.

A text is unsafe if a character of it could move the cursor, break the line or hide other text. Such a character is
written as an escape: `\\x1b`.
"""

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
_HIDDEN_CHARACTERS: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u2064\u2066-\u206f\ud800-\udfff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
_UNSAFE_PATTERN: Final = re.compile(f"[\t\n{_HIDDEN_CHARACTERS}]")
_UNSAFE_PATTERN_WITHOUT_TAB: Final = re.compile(f"[\n{_HIDDEN_CHARACTERS}]")
_UNSAFE_PATTERN_IN_TEXT: Final = re.compile(f"[{_HIDDEN_CHARACTERS}]")

# A text that a spreadsheet would take for a formula, perhaps marked as text already.
_FORMULA_PATTERN: Final = re.compile("'*[=+@\t\r-]")

LONGEST_LINE: Final = 2000
"""The most characters of a message that are shown, so that a field of a megabyte does not fill a terminal."""


def _escape(match: re.Match[str]) -> str:
    """Return the matched character as an escape of Python: `\\x1b`."""
    return match.group().encode("unicode_escape").decode("ascii")


def one_line(text: str, limit: int = LONGEST_LINE, *, keep_tabs: bool = False) -> str:
    """Return a text on one line, with control characters replaced by escapes such as `\\x1b`.

    Every character that could move a cursor or break the line is written as a Python escape, and only the first `limit`
    characters are shown; a note says how many more there are. If `keep_tabs` is true, tabs are not escaped; this is for
    messages that quote lines of tab-separated files.
    """
    if len(text) > limit:
        text = f"{text[:limit]}... ({len(text) - limit} more characters)"
    unsafe = _UNSAFE_PATTERN_WITHOUT_TAB if keep_tabs else _UNSAFE_PATTERN
    return unsafe.sub(_escape, text)


class JsonText(str):
    """Text that is JSON. Tables leave its backslashes as they are: no two values look alike."""

    __slots__ = ()


def json_value(value: object) -> JsonText:
    """Return a value as JSON on one line, with letters such as é as they are: `["café"]`.

    Characters that are invisible or could break a line are written as JSON escapes, so that the text can be read back.
    """
    json_text = json.dumps(value, ensure_ascii=False)
    return JsonText(_UNSAFE_PATTERN.sub(_escape_as_json, json_text))


def _escape_as_json(match: re.Match[str]) -> str:
    """Return the matched character as an escape of JSON: `\\u001b`."""
    quoted = json.dumps(match.group())
    return quoted.strip('"')


def safe_cell(text: str, limit: int = LONGEST_LINE) -> str:
    """Return a text for a cell of a table, on one line. A text of more than `limit` characters is cut.

    Unsafe characters are escaped. Backslashes are doubled, so that a backslash in the text does not look like an
    escape. In JSON, which has its own escapes, backslashes are left unchanged.
    """
    if isinstance(text, JsonText):
        return one_line(text, limit)
    return one_line(text.replace("\\", "\\\\"), limit)


def spreadsheet_cell(text: str) -> str:
    """Return a text for a cell of a table that a spreadsheet may open.

    A text that the spreadsheet would take for a formula gets an apostrophe: `=1+1` gives `'=1+1`. JSON never begins
    like a formula. Do not use this function for numbers: `-1` would get an apostrophe, too.
    """
    safe_text = safe_cell(text, limit=sys.maxsize)  # whole
    if not isinstance(text, JsonText) and _FORMULA_PATTERN.match(text):
        return f"'{safe_text}"
    return safe_text


def terminal_safe(text: str) -> str:
    """Return a text with its control characters escaped, except for tabs and line feeds."""
    return _UNSAFE_PATTERN_IN_TEXT.sub(_escape, text)


SCREEN_WIDTH: Final = 80
"""The number of columns of the summary that a command shows unless the user asks for more."""

WIDEST_TEXT: Final = 120
"""The number of columns of sentences that are not shown on a terminal."""


def prose_width(terminal_width: int | None, *, fits_one_screen: bool) -> int:
    """Return the column at which sentences are wrapped: the width of the terminal, or 120 if there is no terminal.

    `terminal_width` is None if the output does not go to a terminal. If `fits_one_screen` is true, the text is a
    summary for one screen, and the width is at most 80.
    """
    width = WIDEST_TEXT if terminal_width is None else terminal_width
    return min(width, SCREEN_WIDTH) if fits_one_screen else width


def wrap_lines(text: str, indent: str = "") -> list[str]:
    """Return a text in lines of at most 80 columns; all lines but the first begin with `indent`. No word is broken."""
    lines = textwrap.wrap(text, SCREEN_WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return lines or [""]  # `wrap` gives no line for an empty text


# A hyphen before a number but not inside a word such as `2014-15`, or one between blanks before a single capital.
_MINUS_OF_NUMBER: Final = re.compile(r"(?<![\w.])-(?=\d)| - (?=[A-Z]\b)")


def with_minus_signs(text: str) -> str:
    """Return a text in which the hyphens before numbers and in a difference such as `B - A` are minus signs."""
    return _MINUS_OF_NUMBER.sub(lambda match: match.group().replace("-", "\u2212"), text)


def align_columns(
    rows: Sequence[Sequence[str]],
    to_the_right: Sequence[bool],
    *,
    gap: str = "  ",
    width_of: Callable[[str], int] = len,
) -> list[str]:
    """Return a line for each row of a table, with the cells padded so that they form columns.

    All rows have the same number of cells. The texts are not escaped; callers have to do so beforehand. `to_the_right`
    says for each column whether it is aligned to the right. `gap` separates the columns. `width_of` returns the width
    of a text.
    """
    widths = []
    for column in zip(*rows):
        widths.append(max(width_of(text) for text in column))
    lines = []
    for row in rows:
        padded_cells = []
        for text, width, is_right in zip(row, widths, to_the_right):
            padding = " " * (width - width_of(text))
            padded_cells.append(padding + text if is_right else text + padding)
        lines.append(gap.join(padded_cells).rstrip())
    return lines


def number_with_noun(number: float, noun: str) -> str:
    """Return a number with its noun, in the plural except for 1: `1 answer`, `1,540 answers`, `3 LDC queries`."""
    if number == 1:
        return f"{number:,} {noun}"
    ends_in_consonant_and_y = re.search("[^aeiou]y$", noun)
    plural = f"{noun[:-1]}ies" if ends_in_consonant_and_y else f"{noun}s"
    return f"{number:,} {plural}"


def join_first(items: Iterable[object], most: int = 3, separator: str = ", ") -> str:
    """Return the texts of the first items, joined, and the number of the others: `a, b, c and 2 more`.

    `most` is the number of items whose texts are returned, `separator` is put between them.
    """
    texts = [str(item) for item in items]
    first_texts = separator.join(texts[:most])
    others_count = len(texts) - most
    if others_count > 0:
        return f"{first_texts} and {others_count} more"
    return first_texts


def columns_of(text: str) -> int:
    """Return the number of columns that a text takes on a terminal.

    A wide character takes two columns, a combining mark none.
    """
    if text.isascii():
        return len(text)
    import unicodedata

    columns = 0
    for character in text:
        if unicodedata.east_asian_width(character) in "WF":  # wide or full width
            columns += 2
        elif not unicodedata.combining(character):
            columns += 1
    return columns


# Every sign that may begin markup inside a line or end a cell, and those of links that are recognised without markup.
_MARKUP_PATTERN: Final = re.compile(r"([\\`*_{}\[\]()<>#!|~&$@:.^=+-])")

_LATEX_BY_CHARACTER: Final = str.maketrans(
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
# Two equal signs from which LaTeX would make one, a dash or a quotation mark; `{}` between them prevents that.
_LIGATURE_PATTERN: Final = re.compile(r"([-',])(?=\1)")


def escape_markdown(text: str) -> str:
    """Return a text on one line with every sign of Markdown escaped: `a*b` gives `a\\\\*b`."""
    return _MARKUP_PATTERN.sub(r"\\\1", safe_cell(text))


def escape_latex(text: str) -> str:
    """Return a text on one line with every special sign of LaTeX escaped: `a_b` gives `a\\\\_b`."""
    return _LIGATURE_PATTERN.sub(r"\1{}", safe_cell(text).translate(_LATEX_BY_CHARACTER))
