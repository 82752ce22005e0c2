"""Tab files line by line: the years' column layouts, which lines count, their columns (specification 4.1 and 4.2)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Final, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import READING_ERRORS, Source, reason_of
from cs_score.base.white_space import SPACE, WHITE_SPACE
from cs_score.coldstart.editions import LATEST, Edition
from cs_score.coldstart.lines import UnreadLine
from cs_score.problems.log import Place, ProblemLog


class FileKind(Enum):
    RUN = "run"
    ASSESSMENTS = "assessments"


_ANY: Final = r".+"
_SLOT: Final = r"[^:]+:[^:]+"
_TRIPLES: Final = r"([^:]+:\d+-\d+,){0,3}[^:]+:\d+-\d+"
_CODE: Final = r"[CWXISL]"
_MENTION: Final = r"(?i:NAM|NOM|0)"

# Column name -> what the first line of a file must hold there; later lines are not held to it.
COLUMN_PATTERNS: Final = {
    "ASSESSMENT_ID": _ANY,
    "CONFIDENCE": r"\d+(\.\d+(e[-+]?\d\d)?)?",
    "EC_MENTION_TYPE": _MENTION,
    "FULL_QUERY_ID": _ANY,
    "LDC_QUERY_ID": _ANY,
    "NODEID": _ANY,
    "PROVENANCE_ASSESSMENT": _CODE,
    "QUERY_AND_SLOT_NAME": r".+:.+:.+",
    "QUERY_ID": _ANY,
    "RELATION_PROVENANCE_TRIPLES": _TRIPLES,
    "RUNID": _ANY,
    "SLOT_NAME": _SLOT,
    "SUBJECT": _ANY,
    "SUBJECT_PROVENANCE_TRIPLE": r"[^:]+:\d+-\d+",
    "VALUE": _ANY,
    "VALUE_ASSESSMENT": _CODE,
    "VALUE_EC": _ANY,
    "VALUE_MENTION_TYPE": _MENTION,
    "VALUE_PROVENANCE_TRIPLES": _TRIPLES,
    "VALUE_TYPE": _ANY,
}


VALUE_TYPES_2016: Final = frozenset(("per", "org", "gpe", "string"))
"""Legal value types before events, lower case."""


class Schema(Record):
    """One layout: its name for messages, what its lines are, its columns in order."""

    name: str
    kind: FileKind
    columns: tuple[str, ...]

    def position(self, column: str) -> int | None:
        return self.columns.index(column) if column in self.columns else None

    def exists(self, edition: Edition) -> bool:
        return edition.has_nodes or "NODEID" not in self.columns

    def misfits(self, columns: list[str], edition: Edition) -> list[tuple[int, str]]:
        """Numbers and names of the columns that do not hold what this layout has there."""
        return [
            (number, name)
            for number, (name, text) in enumerate(zip(self.columns, columns), 1)
            if not re.fullmatch(COLUMN_PATTERNS[name], text)
            or (name == "VALUE_TYPE" and edition.slot_filling_only and text.lower() not in VALUE_TYPES_2016)
        ]


_RUN_2014: Final = tuple(
    "QUERY_ID SLOT_NAME RUNID RELATION_PROVENANCE_TRIPLES VALUE VALUE_PROVENANCE_TRIPLES CONFIDENCE".split()
)
_RUN_2015: Final = tuple(
    "FULL_QUERY_ID SLOT_NAME RUNID RELATION_PROVENANCE_TRIPLES VALUE VALUE_TYPE "
    "VALUE_PROVENANCE_TRIPLES CONFIDENCE".split()
)
_ASSESSMENTS_2014: Final = tuple(
    "ASSESSMENT_ID QUERY_AND_SLOT_NAME RELATION_PROVENANCE_TRIPLES VALUE VALUE_PROVENANCE_TRIPLES "
    "VALUE_ASSESSMENT PROVENANCE_ASSESSMENT VALUE_EC".split()
)
_ASSESSMENTS_2016: Final = tuple(
    "ASSESSMENT_ID QUERY_AND_SLOT_NAME RELATION_PROVENANCE_TRIPLES VALUE VALUE_PROVENANCE_TRIPLES "
    "VALUE_ASSESSMENT VALUE_MENTION_TYPE PROVENANCE_ASSESSMENT VALUE_EC EC_MENTION_TYPE".split()
)
_ASSESSMENTS_EXPANDED: Final = tuple(
    "ASSESSMENT_ID LDC_QUERY_ID QUERY_AND_SLOT_NAME SUBJECT SUBJECT_PROVENANCE_TRIPLE "
    "RELATION_PROVENANCE_TRIPLES VALUE VALUE_PROVENANCE_TRIPLES VALUE_ASSESSMENT "
    "PROVENANCE_ASSESSMENT VALUE_EC".split()
)

RUN_2014: Final = Schema("2014 run", FileKind.RUN, _RUN_2014)
RUN_2015: Final = Schema("2015 run", FileKind.RUN, _RUN_2015)
RUN_2017: Final = Schema("2017 run", FileKind.RUN, (*_RUN_2015, "NODEID"))
ASSESSMENTS_2016: Final = Schema("2016 assessments", FileKind.ASSESSMENTS, _ASSESSMENTS_2016)

SCHEMAS: Final = (
    RUN_2014,
    RUN_2015,
    RUN_2017,
    Schema("2014-2015 assessments", FileKind.ASSESSMENTS, _ASSESSMENTS_2014),
    ASSESSMENTS_2016,
    Schema("expanded assessments", FileKind.ASSESSMENTS, _ASSESSMENTS_EXPANDED),
)


_FEWEST: Final = min(len(schema.columns) for schema in SCHEMAS)


def detect_schema(columns: list[str], edition: Edition = LATEST) -> Schema | None:
    for schema in _of_width(len(columns), edition):
        if not schema.misfits(columns, edition):
            return schema
    return None


def _of_width(width: int, edition: Edition) -> list[Schema]:
    return [schema for schema in SCHEMAS if len(schema.columns) == width and schema.exists(edition)]


def why_no_schema(columns: list[str], edition: Edition = LATEST) -> str:
    """What keeps the first line of a file from having a layout, in words."""
    if len(columns) == len(RUN_2017.columns) and not RUN_2017.exists(edition):
        return f"{edition.name} reads runs of eight columns, and this line has nine; leave the last one out"
    if len(columns) == 1 and columns[0].count(",") >= _FEWEST - 1:
        return "commas stand between its columns where tabs are needed"
    names = {name for schema in SCHEMAS for name in schema.columns}
    if sum(text.strip("#\ufeff ").upper() in names for text in columns) > 1:
        return "a header stands there; take it out"
    of_width = _of_width(len(columns), edition)
    if not of_width:
        known = sorted({len(schema.columns) for schema in SCHEMAS})
        return f"it has {len(columns)} columns, where layouts have {', '.join(map(str, known[:-1]))} or {known[-1]}"
    nearest = min(of_width, key=lambda schema: len(schema.misfits(columns, edition)))
    number, name = nearest.misfits(columns, edition)[0]
    return f"column {number}, {columns[number - 1]!r}, is no {name} of a line of the layout '{nearest.name}'"


_BLOCK: Final = 1 << 16
"""Bytes that are decoded and split at a time: few enough to stay in the processor's cache until they are linked."""

# First characters that make a line worth a second look: it may be blank or a comment.
_MAYBE_SKIPPED: Final = frozenset((*WHITE_SPACE, "\x1c", "\x1d", "\x1e", "\x1f", "#", ""))

# What may stand before a comment at the end of a line: text and closed quotations, in which a backslash takes the next
# character with it. Possessive, so that a quotation which is never closed hides every # behind it.
_BEFORE_COMMENT: Final = re.compile(r'(?:[^#"]|"(?:[^"\\]|\\.)*+")*+(?=#)', re.DOTALL)

_BLANK_OR_COMMENT: Final = re.compile(rf"{SPACE}*(?:#.*)?", re.DOTALL)


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


def read_tab_file(
    source: Source, problems: ProblemLog, *, allow_comments: bool = False, edition: Edition = LATEST
) -> TabFile | None:
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
    schema = detect_schema(columns, edition)
    if schema is None:
        raise InputError(
            f"Unknown file type: {source.name}",
            file=source.name,
            place=f"line {first[0]}",
            remedy=f"{why_no_schema(columns, edition)} (see README-Usage, Input files)",
            code="UNKNOWN_FILE_TYPE",
        )
    every = itertools.chain((first,), counted)
    lines = accepted_lines(every, source.name, len(schema.columns), problems, unread, edition)
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
    lines: Iterable[tuple[int, str]],
    name: str,
    width: int,
    problems: ProblemLog,
    unread: list[UnreadLine],
    edition: Edition = LATEST,
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
        if not edition.keeps_repeated_lines:
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
