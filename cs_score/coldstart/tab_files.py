"""Read run and assessment files: recognise their layout, find the lines that count, and read the columns (rule lines).
The provenance of an answer is its source, as spans of documents in a column: `ENG_1:3-5,ENG_1:8-9`.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import SPACE, WHITE_SPACE, Source, reason_of
from cs_score.coldstart.file_columns import FileKind, Schema, detect_schema
from cs_score.coldstart.forms import FirstLine, decode_or_advise, why_no_layout
from cs_score.coldstart.options import LATEST, Edition
from cs_score.problems.log import Place, ProblemLog

# The number of bytes that are decoded and split at a time. Few enough to stay in the processor's cache until their
# lines are linked.
_BLOCK_SIZE: Final = 1 << 16
# First characters of lines that may be blank or comments, so that a pattern must decide.
_MAYBE_SKIPPED: Final = frozenset((*WHITE_SPACE, "\x1c", "\x1d", "\x1e", "\x1f", "#", ""))

# The text before a comment at the end of a line: text and closed quotations, in which a backslash escapes the next
# character. The quantifiers are possessive: a # after a quotation that is never closed begins no comment.
_BEFORE_COMMENT: Final = re.compile(r'(?:[^#"]|"(?:[^"\\]|\\.)*+")*+(?=#)', re.DOTALL)

_BLANK_OR_COMMENT: Final = re.compile(rf"{SPACE}*(?:#.*)?", re.DOTALL)


class UnreadLine(NamedTuple):
    """A line that is not used since it is blank, a comment, or a repetition, or has the wrong number of columns."""

    file: str
    number: int
    text: str


Line: TypeAlias = tuple[int, str, list[str]]
"""A line that has as many columns as the layout of its file: the line number from 1, the text, and the columns."""


class TabFile(Record):
    """A run or assessment file of a known layout, whose lines have not been read yet.

    `lines` reads the file and yields the lines that count. While it is read, lines that do not count are added to
    `unread_lines`.
    """

    name: str
    schema: Schema
    lines: Iterator[Line]
    unread_lines: Sequence[UnreadLine] = ()


def read_tab_file(
    source: Source,
    problems: ProblemLog,
    edition: Edition = LATEST,
    allow_comments: bool = False,
    only_run_id: str | None = None,
) -> TabFile | None:
    """Return a run or assessment file whose lines are ready to be read, or None for a file of size 0.

    The layout is recognised by the first line that is neither blank nor a comment. If `allow_comments` is set, comments
    at the ends of lines are removed. `only_run_id` is the run whose lines are read, or None to read all runs. Raises
    InputError if the layout is unknown, if all lines are blank or comments, or if the bytes are not valid UTF-8. The
    last of these errors may also be raised later, while the lines are being read.
    """
    # Nothing has been read yet: `_numbered_lines` puts the first block of the file into this list when the first line
    # is requested. Lines that do not count are added to `unread_lines` as they are read.
    first_block: list[bytes] = []
    numbered_lines = _numbered_lines(source, first_block)
    if allow_comments:
        numbered_lines = _without_comments(numbered_lines)
    unread_lines: list[UnreadLine] = []
    first_line = _find_first_line(numbered_lines, source.name, unread_lines)
    if first_line is None:
        _report_empty_file(source.name, unread_lines, problems)
        return None
    number, text = first_line
    schema = detect_schema(split_columns(text), edition)
    if schema is None:
        _, next_text = next(numbered_lines, (0, ""))  # the line after the first one, if there is one
        beginning = FirstLine(file=source.name, number=number, text=text, next_text=next_text, beginning=first_block[0])
        raise _error_of_unknown_layout(beginning, edition)
    lines_to_read: Iterator[tuple[int, str]] = itertools.chain([first_line], numbered_lines)
    if only_run_id is not None and schema.kind is FileKind.RUN:
        lines_to_read = _lines_of_run(lines_to_read, only_run_id)
    column_count = len(schema.columns)
    lines = accepted_lines(lines_to_read, source.name, column_count, problems, unread_lines, edition)
    return TabFile(name=source.name, schema=schema, lines=lines, unread_lines=unread_lines)


def _report_empty_file(file_name: str, unread_lines: Sequence[UnreadLine], problems: ProblemLog) -> None:
    """Report a file of size 0 to `problems`.

    Raises InputError if the file has lines but all of them are blank or comments. These lines are the `unread_lines`.
    """
    if unread_lines:
        explanation = "it has blank and comment lines only"  # shown in the place of a remedy
        raise InputError(f"Empty file: {file_name}", remedy=explanation, code="NO_LINES")
    problems.add("EMPTY_FILE", file_name)


def _error_of_unknown_layout(first_line: FirstLine, edition: Edition) -> InputError:
    """Return the error for a file whose first line has the columns of no layout; the remedy says what may be wrong."""
    return InputError(
        f"Unknown file type: {first_line.file}",
        file=first_line.file,
        place=f"line {first_line.number}",
        remedy=why_no_layout(first_line, edition),
        code="UNKNOWN_FILE_TYPE",
    )


def _without_comments(numbered_lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the numbers and texts of lines without the comments at their ends.

    A comment begins with a `#` outside quotation marks.
    """
    for number, text in numbered_lines:
        text_before_comment, _ = split_comment(text)
        yield number, text_before_comment


def _find_first_line(
    numbered_lines: Iterator[tuple[int, str]], file_name: str, unread_lines: list[UnreadLine]
) -> tuple[int, str] | None:
    """Return the first line that is neither blank nor a comment, with its number, or None if there is no such line.

    The lines before it are added to `unread_lines`. `file_name` is the name of the file.
    """
    for number, text in numbered_lines:
        if not is_blank_or_comment(text):
            return number, text
        unread_lines.append(UnreadLine(file_name, number, text))
    return None


def _lines_of_run(numbered_lines: Iterable[tuple[int, str]], run_id: str) -> Iterator[tuple[int, str]]:
    """Yield the numbers and texts of the lines of a run file whose third column is this run id.

    Lines without a third column are also yielded, so that they are reported.
    """
    for number, text in numbered_lines:
        columns = split_columns(text)
        if len(columns) < 3 or columns[2] == run_id:
            yield number, text


def split_comment(text: str) -> tuple[str, str]:
    """Return a line without the comment at its end, and the comment, which begins with `#` or is empty.

    A `#` in quotation marks begins no comment.
    """
    match = _BEFORE_COMMENT.match(text)
    if match is None:
        return text, ""
    return text[: match.end()], text[match.end() :]


def split_columns(text: str) -> list[str]:
    """Return the columns of a line without the empty columns at its end."""
    return text.rstrip("\t").split("\t")


def is_blank_or_comment(text: str) -> bool:
    """Return whether a line is blank or a comment. The first character of a comment other than blanks is `#`."""
    return text[:1] in _MAYBE_SKIPPED and _BLANK_OR_COMMENT.fullmatch(text) is not None


def accepted_lines(
    lines: Iterable[tuple[int, str]],
    file_name: str,
    column_count: int,
    problems: ProblemLog,
    unread_lines: list[UnreadLine],
    edition: Edition = LATEST,
) -> Iterator[Line]:
    """Yield the lines that count, which have `column_count` columns and are neither comments nor repetitions.

    `lines` are the numbers and texts of the lines in the file `file_name`. Lines that do not count are added to
    `unread_lines`, and are reported unless they are blank or comments.
    """
    new_lines = _new_lines(lines, file_name, problems, unread_lines, keeps_repetitions=edition.keeps_repeated_lines)
    for number, text in new_lines:
        columns = text.split("\t")
        # Empty columns at the end do not count. Nearly all lines have none, so they need not be split a second time.
        if len(columns) != column_count or not columns[-1]:
            columns = split_columns(text)
        if len(columns) == column_count:
            yield number, text, columns
        else:
            problems.add("WRONG_NUM_ENTRIES", column_count, len(columns), place=Place(file_name, number))
            unread_lines.append(UnreadLine(file_name, number, text))


def _new_lines(
    lines: Iterable[tuple[int, str]],
    file_name: str,
    problems: ProblemLog,
    unread_lines: list[UnreadLine],
    *,
    keeps_repetitions: bool,
) -> Iterator[tuple[int, str]]:
    """Yield the numbers and texts of the lines of a file, skipping blank lines, comments and repeated lines.

    Skipped lines are added to `unread_lines`, and repeated lines are reported. If `keeps_repetitions` is true, repeated
    lines are not skipped.
    """
    earlier_texts: set[str] = set()  # remains empty if repetitions are kept, so that no line is found in it
    for number, text in lines:
        # This is the body of `is_blank_or_comment`: calling it for each line would take longer than the test.
        if text[:1] in _MAYBE_SKIPPED and _BLANK_OR_COMMENT.fullmatch(text):
            unread_lines.append(UnreadLine(file_name, number, text))
            continue
        if text in earlier_texts:
            problems.add("DUPLICATE_LINE", f"\n{text}", place=Place(file_name, number))
            unread_lines.append(UnreadLine(file_name, number, text))
            continue
        if not keeps_repetitions:
            earlier_texts.add(text)
        yield number, text


def _numbered_lines(source: Source, first_block: list[bytes]) -> Iterator[tuple[int, str]]:
    """Return an iterator over the numbers and texts of the lines of a file: `(1, "CSX_ENG_00fb79cef8...")`, ...

    The file is read block by block. Lines are numbered from 1. When the first block is read, it is put into the
    caller's empty list `first_block`, because messages about unreadable files need it.
    """
    # Chaining the blocks in C saves a step of a Python loop for each line.
    return itertools.chain.from_iterable(_numbered_blocks(source, first_block))


def _numbered_blocks(source: Source, first_block: list[bytes]) -> Iterator[Iterable[tuple[int, str]]]:
    """Yield the numbers and texts of the lines in each block of a file, numbered consecutively across blocks.

    Only a line feed ends a line: form feeds and U+0085 are part of the text. The first block is put into the empty list
    `first_block`, so that the caller has it for messages.
    """
    lines_before = 0
    for block in line_blocks(source, _BLOCK_SIZE):
        if not first_block:
            first_block.append(block)
        text = decode_or_advise(block, source.name, lines_before, first_block[0])
        if "\r" in text:
            text = text.replace("\r", "")
        lines = text.split("\n")  # no empty text at the end, because a block does not include its last line feed
        yield enumerate(lines, lines_before + 1)
        lines_before += len(lines)


def line_blocks(source: Source, size: int) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks of whole lines, each of about `size` bytes and without its last line feed.

    Raises InputError if the file cannot be read.
    """
    beginning_of_line: list[bytes] = []  # the pieces of a line whose end has not been read yet
    for block in _byte_blocks(source, size):
        end_of_last_line = block.rfind(b"\n")
        if end_of_last_line < 0:  # a line that is longer than the block
            beginning_of_line.append(block)
            continue
        whole_lines = block[:end_of_last_line]
        yield b"".join([*beginning_of_line, whole_lines])
        # The next block may begin in the middle of a line, so the beginning of that line is kept.
        beginning_of_line = [block[end_of_last_line + 1 :]]
    last_line = b"".join(beginning_of_line)
    if last_line:
        yield last_line


def _byte_blocks(source: Source, size: int) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks of `size` bytes. Raises InputError if the file cannot be read."""
    try:
        block = source.binary.read(size)
        while block:
            yield block
            block = source.binary.read(size)
    except OSError as error:
        raise InputError(f"cannot be read: {reason_of(error)}", file=source.name) from None


_CONFIDENCE_WITH_EXPONENT: Final = re.compile(r"\d+\.\d+e[-+]?\d\d")
_LEGAL_CONFIDENCE: Final = re.compile(r"1\.0*|0?\.0*+[1-9][0-9]*+")

CERTAIN: Final = "1.0"  # the confidence that replaces an illegal one


class Confidence(NamedTuple):
    """The confidence of a run line: its text after repair, its value in (0, 1], and the codes of its problems."""

    text: str
    value: float
    codes: tuple[str, ...]


def plain_confidence(text: str) -> float | None:
    """Return the value of a confidence that is written like `0.75`, as nearly all confidences are.

    The result is None if the confidence is zero or is written in another way. In this case, `read_confidence` must read
    it.
    """
    digits = text[2:]
    if text[:2] == "0." and digits.isdigit() and digits.isascii():
        return float(text) or None  # None for 0.0
    return None


def without_exponent(text: str) -> str | None:
    """Return a confidence with an exponent as a decimal number, or None if the confidence has no exponent.

    `1.5e-01` -> `0.150000000000`. The text may contain digits of any script, but it is read only up to the first digit
    other than 0 to 9: `1.٥e-01` -> `1.000000000000`.
    """
    if _CONFIDENCE_WITH_EXPONENT.fullmatch(text) is None:
        return None
    return f"{leading_number(text):.12f}"


@functools.lru_cache(maxsize=1 << 10)  # a run may have the same illegal confidence, or 1.0, on all lines
def read_confidence(text: str) -> Confidence:
    """Return the confidence in a column: its text, its number, and the codes of its problems.

    `0.75` is returned without problems. An illegal confidence becomes 1.0, and has a problem code.
    """
    decimal_text, code = _as_decimal(text)
    codes = [] if code is None else [code]
    if not _LEGAL_CONFIDENCE.fullmatch(decimal_text):
        decimal_text = CERTAIN
        codes.append("ILLEGAL_CONFIDENCE_VALUE")
    return Confidence(decimal_text, float(decimal_text), tuple(codes))


def _as_decimal(text: str) -> tuple[str, str | None]:
    """Return a confidence with a decimal point and without an exponent, and the code of the problem if it was repaired.

    `1` -> `1.0` and `1.5e-01` -> `0.150000000000`. Any other text is returned as it is, with None.
    """
    if text == "1":
        return CERTAIN, "MISSING_DECIMAL_POINT"
    decimals = without_exponent(text)
    if decimals is not None:
        return decimals, "IMPROPER_CONFIDENCE_VALUE"
    return text, None


DocumentLengths: TypeAlias = Mapping[str, float]
"""The length in characters of each document of the task, by document id."""
RELATION_SPANS: Final = 4
VALUE_SPANS: Final = LATEST.most_value_spans

NO_DOCUMENT: Final = "NO DOCUMENT"  # document id of a provenance without any valid span
NO_SPAN: Final = ":-"  # the text that such a provenance has as the entry point of a query
_DROPPED_DOCUMENT: Final = "NO_DOCUMENT"  # spans of this document count for nothing
_LEADING_NUMBER: Final = re.compile(r"\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)
_SEPARATED_BY_SEMICOLON: Final = re.compile(r"([^:;]+:\d+-\d+[,;]){0,3}[^:;]+:\d+-\d+")
# The quantifiers are possessive, so that a column of white space is looked at only once. If a document id is nothing
# but white space, it is the last of these characters.
_SPAN_PATTERN: Final = re.compile(rf"(?:{SPACE}*+(?=[^:])|{SPACE}*(?={SPACE}:))([^:]++):(\d+)-(\d+){SPACE}*")
_PLAIN_OFFSETS: Final = ":([0-9]{1,15})-([0-9]{1,15})"
_PLAIN_SPAN: Final = rf"(?!{_DROPPED_DOCUMENT}:)([A-Za-z0-9_.+-]++){_PLAIN_OFFSETS}"
# Matches a relation provenance and a value provenance of one span each, in the same document, with a blank between
# them.
_ONE_SPAN_EACH: Final = re.compile(rf"{_PLAIN_SPAN} \1{_PLAIN_OFFSETS}")
_PLAIN_COLUMN: Final = re.compile(rf"{_PLAIN_SPAN}(?:,\1:[0-9]{{1,15}}-[0-9]{{1,15}}){{0,2}}")
_OFFSETS_PATTERN: Final = re.compile(":([0-9]+)-([0-9]+)")


class Span(NamedTuple):
    """A stretch of a document: character offsets as written, both inclusive."""

    docid: str
    start: str
    end: str

    def __str__(self) -> str:
        return f"{self.docid}:{self.start}-{self.end}"


class SpanProblem(NamedTuple):
    """A problem of a provenance: its code, the arguments of its message, and the text that has the problem.

    `repaired_text` is the text that is used instead of `text`, None if there is none.
    """

    code: str
    arguments: tuple[object, ...]
    text: str
    repaired_text: str | None = None


class Provenance(NamedTuple):
    """A provenance (the passages that an answer was taken from) as it was read, with its problems.

    `canonical_text` is the text for comparisons and hashes, such as `ENG_1:3-5,ENG_1:8-9`. `docid` is the document of
    the provenance, `NO_DOCUMENT` if no span is valid. `spans` are the valid spans in the order in which they were
    written, cut to their legal length.
    """

    canonical_text: str
    docid: str
    spans: tuple[Span, ...]
    problems: tuple[SpanProblem, ...]

    @property
    def first_span(self) -> Span | None:
        """The valid span that was written first, None if no span is valid."""
        return self.spans[0] if self.spans else None


def offset_value(text: str) -> float:
    """Return the value of an offset (`12` -> 12). The value of an offset with hundreds of digits may be infinite."""
    is_usual = len(text) <= 15 and text.isdecimal() and text.isascii()
    if is_usual:  # an int of 15 digits is exact
        return int(text)
    return leading_number(text)  # more digits, digits of other scripts, or no number at all in a query file


def leading_number(text: str) -> float:
    """Return the number with which a text begins: `12x` -> 12, `1.5e1` -> 15, `x` -> 0.

    The reference program takes texts for numbers in this way.
    """
    match = _LEADING_NUMBER.match(text)
    if match is None:
        return 0.0
    return float(match.group())


def cut_span(span: Span, max_span_length: int) -> tuple[Span | None, list[SpanProblem]]:
    """Return a span cut to `max_span_length` characters, and a list with the problem of the span, if any.

    With `max_span_length` 200, `ENG_1:1-500` becomes `ENG_1:1-200`. The span is None if it ends before it starts.
    """
    start = offset_value(span.start)
    end = offset_value(span.end)
    if end < start:
        return None, [SpanProblem("ILLEGAL_OFFSET_PAIR", arguments=(span.start, span.end), text=str(span))]
    # Offsets with hundreds of digits are infinite. If both offsets are infinite, the length is NaN. The comparison is
    # then false, and the span is not cut.
    length = end - start + 1
    if length > max_span_length:
        last_offset = start + max_span_length - 1
        shorter_span = Span(span.docid, span.start, f"{last_offset:.15g}")  # as Perl writes numbers
        problem = SpanProblem(
            "TOO_MANY_CHARS", arguments=(max_span_length,), text=str(span), repaired_text=str(shorter_span)
        )
        return shorter_span, [problem]
    return span, []


def outside_document(span: Span, offsets: tuple[str, ...], length_by_document: DocumentLengths) -> list[SpanProblem]:
    """Return the problems of a span whose document is unknown, or ends before one of its offsets.

    `offsets` are the offsets of the span that are numbers. `length_by_document` contains the lengths of all documents.
    """
    document_length = length_by_document.get(span.docid)
    if document_length is None:
        return [SpanProblem("ILLEGAL_DOCID", arguments=(span.docid,), text=str(span))]
    problems = []
    for offset in offsets:
        if offset_value(offset) > document_length:
            problem = SpanProblem("ILLEGAL_OFFSET_IN_DOC", arguments=(offset, span.docid), text=str(span))
            problems.append(problem)
    return problems


def are_surely_canonical(
    relation_provenance: str,
    value_provenance: str,
    length_by_document: DocumentLengths | None = None,
    edition: Edition = LATEST,
) -> bool:
    """Return True if it is certain that neither provenance of an answer needs repair, as in nearly all lines.

    The provenances are the texts of two columns, such as `ENG_1:3-40` and `ENG_1:8-9`: the passage with the relation,
    and the passage with the answer's value. They must be in canonical form and in the same document. If
    `length_by_document` is given, offsets are checked against the length of the document. The result is False for a few
    unusual columns that in fact need no repair.
    """
    # In most lines each column has one span; a single match finds their offsets.
    match = _ONE_SPAN_EACH.fullmatch(f"{relation_provenance} {value_provenance}")
    if match is not None and length_by_document is None:
        # The pattern matches only if both spans are in the same document, which is its first group.
        _, relation_start, relation_end, value_start, value_end = match.groups()
        longest_span = edition.longest_span
        relation_length = int(relation_end) - int(relation_start) + 1
        value_length = int(value_end) - int(value_start) + 1
        return 1 <= relation_length <= longest_span and 1 <= value_length <= longest_span
    # Columns with more than three spans are not recognised as canonical below. Relations may have four spans, but
    # values only two, so only the spans of the value must be counted here.
    has_too_many_spans = value_provenance.count(",") >= VALUE_SPANS
    # A limit on the total number of characters in all spans is not checked here.
    if edition.most_characters is not None or has_too_many_spans:
        return False
    relation_place = read_canonical_start(relation_provenance, length_by_document, edition)
    value_place = read_canonical_start(value_provenance, length_by_document, edition)
    return relation_place is not None and value_place is not None and relation_place.docid == value_place.docid


class StartPlace(NamedTuple):
    """The place at which a provenance starts: its document, and the offset of its first character."""

    docid: str
    offset: int


def read_canonical_start(
    text: str, length_by_document: DocumentLengths | None = None, edition: Edition = LATEST
) -> StartPlace | None:
    """Return the start of a provenance that is written in canonical form, or None for any other text.

    For `ENG_1:3-5,ENG_1:8-9` this is the document `ENG_1` and the offset 3. If `length_by_document` is given, the
    offsets are checked against the length of the document. A few unusual canonical forms are not recognised: the result
    is then None.
    """
    match = _PLAIN_COLUMN.fullmatch(text)
    if match is None:
        return None
    docid: str = match.group(1)
    # No offset is within an unknown document; without a document list every offset is.
    document_length = math.inf if length_by_document is None else length_by_document.get(docid, -1)
    if not _has_canonical_offsets(text, document_length, edition.longest_span):
        return None
    return StartPlace(docid, offset=int(match.group(2)))


def _has_canonical_offsets(text: str, document_length: float, longest_span: int) -> bool:
    """Return whether the spans of a column (`ENG_1:3-5,ENG_1:8-9`) are in order, short enough and within the document.

    Spans are in order if each span starts after the start of the previous span, and does not end before its own start.
    """
    previous_start = -1
    for start_text, end_text in _OFFSETS_PATTERN.findall(text):
        start = int(start_text)
        end = int(end_text)
        is_in_order = previous_start < start <= end
        is_too_long = end - start + 1 > longest_span
        if not is_in_order or is_too_long or end > document_length:
            return False
        previous_start = start
    return True


def document_of(provenance: str) -> str:
    """Return the document id of a provenance in canonical form: `ENG_1` for `ENG_1:3-5`.

    A provenance without a span has the document id `NO DOCUMENT`.
    """
    has_no_span = provenance in ("", NO_SPAN)
    if has_no_span:
        return NO_DOCUMENT
    docid, _, _ = provenance.partition(":")
    return docid


def read_provenance(
    text: str, max_span_count: int, length_by_document: DocumentLengths | None = None, edition: Edition = LATEST
) -> Provenance:
    """Return the provenance of a column with at most `max_span_count` spans, such as `ENG_1:3-5,ENG_1:8-9`.

    No error is raised; problems are part of the result. If `length_by_document` is given, the spans are checked against
    it. A span in an unknown document is a fatal problem, but the span is kept: without it, the caller would report a
    second, misleading problem of provenances in different documents.
    """
    problems: list[SpanProblem] = []
    spans = _read_spans(text, max_span_count, length_by_document, edition, problems)
    if not spans:
        return Provenance(canonical_text="", docid=NO_DOCUMENT, spans=(), problems=tuple(problems))
    most_characters = edition.most_characters
    if most_characters is not None and _character_count(spans) > most_characters:
        problems.append(SpanProblem("TOO_MANY_TOTAL_CHARS", arguments=(most_characters,), text=text))
    return Provenance(_canonical_text(spans), docid=spans[0].docid, spans=tuple(spans), problems=tuple(problems))


def _read_spans(
    text: str,
    max_span_count: int,
    length_by_document: DocumentLengths | None,
    edition: Edition,
    problems: list[SpanProblem],
) -> list[Span]:
    """Return the valid spans of a column in the order in which they were written; problems are added to `problems`.

    `read_provenance` explains the other arguments. Spans of the document `_DROPPED_DOCUMENT` are dropped silently. In
    editions that join documents, a span in a different document is moved to the document of the first span.
    """
    spans: list[Span] = []
    for part in _parts_of_provenance(text, max_span_count, edition, problems):
        span = _read_span(part, length_by_document, edition, problems)
        if span is None or span.docid == _DROPPED_DOCUMENT:
            continue
        is_in_other_document = bool(spans) and span.docid != spans[0].docid
        if is_in_other_document and edition.joins_documents:
            spans = _append_span_of_other_document(spans, span, text, problems)
        else:
            spans.append(span)
    return spans


def _append_span_of_other_document(
    spans: Sequence[Span], span: Span, text: str, problems: list[SpanProblem]
) -> list[Span]:
    """Return the spans of a provenance with a span from another document added, all moved to the same document.

    The new span is moved to the document of the first span, and a problem of the column `text` is added to `problems`.
    However, if the document of the first span is `0`, which means no document, the other spans are moved to the
    document of the new span, and no problem is reported.
    """
    first_docid = spans[0].docid
    if first_docid == "0":
        moved_spans = [earlier_span._replace(docid=span.docid) for earlier_span in spans]
        return [*moved_spans, span]
    problems.append(SpanProblem("MULTIPLE_DOCIDS_IN_PROV", arguments=(text,), text=text))
    return [*spans, span._replace(docid=first_docid)]


def _character_count(spans: Iterable[Span]) -> float:
    """Return the number of characters in all spans together; a character in two spans is counted twice."""
    return sum([offset_value(span.end) - offset_value(span.start) + 1 for span in spans])


def _canonical_text(spans: Iterable[Span]) -> str:
    """Return the text of a provenance for comparisons and hashes, with the spans in order: `ENG_1:3-5,ENG_1:8-9`."""
    ordered = sorted(spans, key=lambda span: (span.docid, offset_value(span.start), span.end))
    return ",".join([str(span) for span in ordered])


def _parts_of_provenance(text: str, max_span_count: int, edition: Edition, problems: list[SpanProblem]) -> list[str]:
    """Return the texts of the spans of a column, at most `max_span_count` of them: `ENG_1:3-5,ENG_1:8-9` has two.

    Problems of the whole column are added to `problems`.
    """
    if ";" in text and edition.reads_semicolons:
        text = _replace_semicolons(text, problems)
    without_last_commas = text.rstrip(",")
    if not without_last_commas:
        return []
    parts = without_last_commas.split(",")
    first_parts = parts[:max_span_count]
    if len(parts) > max_span_count:
        # The first code causes the line to be refused, but its spans are still checked for other problems.
        code = "TOO_MANY_PROVENANCE_TRIPLES_E" if edition.refuses_further_spans else "TOO_MANY_PROVENANCE_TRIPLES"
        counts = (len(parts), max_span_count)
        problems.append(SpanProblem(code, arguments=counts, text=text, repaired_text=",".join(first_parts)))
    return first_parts


def _replace_semicolons(text: str, problems: list[SpanProblem]) -> str:
    """Return a column with commas in place of the semicolons between spans: `ENG_1:3-5;ENG_1:8-9` gets one comma.

    If the column is more than spans with separators, it is not changed. Its problem is added to `problems`.
    """
    if not _SEPARATED_BY_SEMICOLON.fullmatch(text):
        problems.append(SpanProblem("SEMICOLON_IN_PROVENANCE_E", arguments=(text,), text=text))
        return text
    with_commas = text.replace(";", ",")
    problems.append(SpanProblem("SEMICOLON_AS_SEPARATOR", arguments=(text,), text=text, repaired_text=with_commas))
    return with_commas


def _read_span(
    text: str, length_by_document: DocumentLengths | None, edition: Edition, problems: list[SpanProblem]
) -> Span | None:
    """Return the span in a text such as `ENG_1:3-5`, cut to the longest legal length, or None if it is not valid.

    Its problems are added to `problems`. If `length_by_document` is given, the offsets must be within the document.
    """
    match = _SPAN_PATTERN.fullmatch(text)
    has_illegal_semicolon = ";" in text and not edition.reads_semicolons
    if match is None or has_illegal_semicolon:
        problems.append(SpanProblem("ILLEGAL_OFFSET_TRIPLE_STRING", arguments=(text,), text=text))
        return None
    docid, start, end = match.groups()
    written_span = Span(docid, start, end)
    span, length_problems = cut_span(written_span, edition.longest_span)
    # A span that ends before it starts is not valid, but its offsets are checked against the document, too.
    document_problems = _problems_in_document(span or written_span, length_by_document)
    problems += length_problems
    problems += document_problems
    is_outside = any(problem.code == "ILLEGAL_OFFSET_IN_DOC" for problem in document_problems)
    if is_outside:
        return None
    return span  # None if it ends before it starts


def _problems_in_document(span: Span, length_by_document: DocumentLengths | None) -> list[SpanProblem]:
    """Return the problems of a span whose document is unknown or too short, or [] if no document lengths are given."""
    if length_by_document is None:
        return []
    both_offsets = (span.start, span.end)  # both are numbers, because the span was recognised
    return outside_document(span, both_offsets, length_by_document)
