"""Tab files line by line: which layout a file has, which lines count, and their columns (specification 4.1 and 4.2)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.patterns import pattern
from cs_score.base.records import Record
from cs_score.base.sources import READING_ERRORS, Source, reason_of
from cs_score.base.white_space import SPACE, WHITE_SPACE
from cs_score.coldstart.lines.layouts import Schema, detect_schema, why_no_schema
from cs_score.coldstart.lines.records import UnreadLine
from cs_score.problems.log import Place, ProblemLog

_BLOCK: Final = 1 << 16
"""Bytes that are decoded and split at a time: few enough to stay in the processor's cache until they are linked."""

# First characters that make a line worth a second look: it may be blank or a comment.
_MAYBE_SKIPPED: Final = frozenset((*WHITE_SPACE, "\x1c", "\x1d", "\x1e", "\x1f", "#", ""))

# What may stand before a comment at the end of a line: text and closed quotations, in which a backslash takes the next
# character with it. Possessive, so that a quotation which is never closed hides every # behind it.
_BEFORE_COMMENT: Final = pattern(r'(?:[^#"]|"(?:[^"\\]|\\.)*+")*+(?=#)', re.DOTALL)

_BLANK_OR_COMMENT: Final = pattern(rf"{SPACE}*(?:#.*)?", re.DOTALL)


Line: TypeAlias = tuple[int, str, list[str]]
"""A line that has as many columns as its file's layout: its number from 1, its text, its columns."""


class TabFile(Record):
    """A run or assessment file whose layout is known and whose lines are still to be read.

    `unread` are the lines passed over so far.
    """

    name: str
    schema: Schema
    lines: Iterator[Line]
    unread: Sequence[UnreadLine] = ()


def read_tab_file(source: Source, problems: ProblemLog, *, allow_comments: bool = False) -> TabFile | None:
    """Open the lines of a tab file; None for a file of size zero, which is only warned of.

    With `allow_comments` a comment at the end of a line is cut off first, whatever is done with the line then.

    Raises InputError where the layout is unknown, no line counts, or the bytes are not UTF-8 (also while the lines
    are read).
    """
    counted = _counted_lines(source)
    if allow_comments:
        counted = ((number, split_comment(text)[0]) for number, text in counted)
    try:
        number, text = next(counted)
    except StopIteration:
        problems.add("EMPTY_FILE", source.name)
        return None
    first = (number, text)
    unread: list[UnreadLine] = []
    while is_blank_or_comment(first[1]):
        unread.append(UnreadLine(source.name, *first))
        try:
            first = next(counted)
        except StopIteration:
            raise InputError(
                f"Empty file: {source.name}", remedy="it has blank and comment lines only", code="NO_LINES"
            ) from None
    columns = split_columns(first[1])
    schema = detect_schema(columns)
    if schema is None:
        raise InputError(
            f"Unknown file type: {source.name}",
            file=source.name,
            place=f"line {first[0]}",
            remedy=f"{why_no_schema(columns)} (see README-Usage, Input files)",
            code="UNKNOWN_FILE_TYPE",
        )
    lines = accepted_lines(itertools.chain((first,), counted), source.name, len(schema.columns), problems, unread)
    return TabFile(source.name, schema, lines, unread)


def split_comment(text: str) -> tuple[str, str]:
    """A line without the comment at its end, and that comment from its # on."""
    match = _BEFORE_COMMENT.match(text)
    return (text, "") if match is None else (match.group(), text[match.end() :])


def split_columns(text: str) -> list[str]:
    """The columns of a line; empty ones at the end do not count."""
    return text.rstrip("\t").split("\t")


def has_text(column: str) -> bool:
    """Whether a column holds anything but white space."""
    return _BLANK_OR_COMMENT.fullmatch(column) is None or "#" in column


def is_blank_or_comment(text: str) -> bool:
    """Whether a line says nothing."""
    return text[:1] in _MAYBE_SKIPPED and _BLANK_OR_COMMENT.fullmatch(text) is not None


def accepted_lines(
    lines: Iterable[tuple[int, str]], name: str, width: int, problems: ProblemLog, unread: list[UnreadLine]
) -> Iterator[Line]:
    """The lines that count, of the numbered lines of a file with `width` columns.

    The others are added to `unread`, and reported where they are not blank or comments.
    """
    seen: set[str] = set()
    for number, text in lines:
        if text[:1] in _MAYBE_SKIPPED and _BLANK_OR_COMMENT.fullmatch(text):
            unread.append(UnreadLine(name, number, text))
            continue
        if text in seen:
            problems.add("DUPLICATE_LINE", f"\n{text}", place=Place(name, number))
            unread.append(UnreadLine(name, number, text))
            continue
        seen.add(text)
        columns = text.split("\t")
        if len(columns) != width or not columns[-1]:
            columns = split_columns(text)
            if len(columns) != width:
                problems.add("WRONG_NUM_ENTRIES", width, len(columns), place=Place(name, number))
                unread.append(UnreadLine(name, number, text))
                continue
        yield number, text, columns


def _counted_lines(source: Source) -> Iterator[tuple[int, str]]:
    """All lines with their numbers, without line ends and carriage returns."""
    return itertools.chain.from_iterable(_counted_blocks(source))


def _counted_blocks(source: Source) -> Iterator[Iterable[tuple[int, str]]]:
    """The lines with their numbers, block by block.

    Only a line feed ends a line: U+0085, U+2028 and form feeds are data.
    """
    number = 0
    for block in line_blocks(source, _BLOCK):
        try:
            text = block.decode("utf-8")
        except UnicodeDecodeError as error:
            line = number + block.count(b"\n", 0, error.start) + 1
            raise InputError("not UTF-8", file=source.name, place=f"line {line}", code="NOT_UTF8") from None
        if "\r" in text:
            text = text.replace("\r", "")
        lines = text.split("\n")
        yield enumerate(lines, number + 1)
        number += len(lines)


def line_blocks(source: Source, size: int) -> Iterator[bytes]:
    """The bytes of a file in blocks of whole lines, without the line feed at the end of a block.

    `size`: about how many bytes a block has, in so far as no line is longer.
    """
    pending: list[bytes] = []
    try:
        while block := source.binary.read(size):
            end = block.rfind(b"\n")
            if end < 0:
                pending.append(block)
                continue
            pending.append(block[:end])
            yield b"".join(pending)
            pending = [block[end + 1 :]]
    except READING_ERRORS as error:
        raise InputError(f"cannot be read: {reason_of(error)}", file=source.name) from None
    if last := b"".join(pending):
        yield last
