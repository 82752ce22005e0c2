"""Run and assessment files: column layouts, which lines count, what columns hold (rule lines)."""

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
from cs_score.coldstart.forms import FirstLine, decoded_text, why_no_layout
from cs_score.coldstart.layouts import FileKind, Schema, detect_schema
from cs_score.coldstart.options import LATEST, Edition
from cs_score.problems.log import Place, ProblemLog

# Bytes that are decoded and split at a time: few enough to stay in the processor's cache until they are linked.
_BLOCK: Final = 1 << 16
# First characters of lines that need a second look: it may be blank or a comment.
_MAYBE_SKIPPED: Final = frozenset((*WHITE_SPACE, "\x1c", "\x1d", "\x1e", "\x1f", "#", ""))

# What may stand before a comment at the end of a line: text and closed quotations, in which a backslash takes the next
# character with it. Possessive, so that a quotation which is never closed hides every # behind it.
_BEFORE_COMMENT: Final = re.compile(r'(?:[^#"]|"(?:[^"\\]|\\.)*+")*+(?=#)', re.DOTALL)

_BLANK_OR_COMMENT: Final = re.compile(rf"{SPACE}*(?:#.*)?", re.DOTALL)


class UnreadLine(NamedTuple):
    """A line that nothing is taken from: blank, a comment, a repetition, or of another number of columns."""

    file: str
    number: int
    text: str


# A line that has as many columns as its file's layout: its number from 1, its text, its columns.
Line: TypeAlias = tuple[int, str, list[str]]


class TabFile(Record):
    """A run or assessment file of a known layout; `lines` are still to be read, `unread` those passed over so far."""

    name: str
    schema: Schema
    lines: Iterator[Line]
    unread: Sequence[UnreadLine] = ()


def read_tab_file(
    source: Source, log: ProblemLog, edition: Edition = LATEST, allow_comments: bool = False, alone: str | None = None
) -> TabFile | None:
    """Open the lines of a tab file; None for a file of size zero. `allow_comments`: a comment at the end of a line is
    cut off; `alone`: the run whose lines are read. Raises InputError where the layout is unknown, no line counts, or
    the bytes are not UTF-8 (also while the lines are read).
    """
    beginning: list[bytes] = []
    counted: Iterator[tuple[int, str]] = itertools.chain.from_iterable(_counted_blocks(source, beginning))
    if allow_comments:
        counted = ((number, split_comment(text)[0]) for number, text in counted)
    unread: list[UnreadLine] = []
    for number, text in counted:
        if not is_blank_or_comment(text):
            break
        unread.append(UnreadLine(source.name, number, text))
    else:
        if unread:
            remedy = "it has blank and comment lines only"
            raise InputError(f"Empty file: {source.name}", remedy=remedy, code="NO_LINES")
        log.add("EMPTY_FILE", source.name)
        return None
    columns = split_columns(text)
    schema = detect_schema(columns, edition)
    if schema is None:
        next_text = next((text for _, text in counted), "")
        line = FirstLine(source.name, number, text, next_text, beginning[0])
        raise InputError(
            f"Unknown file type: {source.name}",
            file=source.name,
            place=f"line {number}",
            remedy=why_no_layout(line, edition),
            code="UNKNOWN_FILE_TYPE",
        )
    every: Iterator[tuple[int, str]] = itertools.chain([(number, text)], counted)
    if alone is not None and schema.kind is FileKind.RUN:
        every = (line for line in every if split_columns(line[1])[2:3] in ([], [alone]))
    lines = accepted_lines(every, source.name, len(schema.columns), log, unread, edition)
    return TabFile(source.name, schema, lines, unread)


def split_comment(text: str) -> tuple[str, str]:
    """A line without the comment at its end, and that comment from its # on."""
    match = _BEFORE_COMMENT.match(text)
    return (text, "") if match is None else (match.group(), text[match.end() :])


def split_columns(text: str) -> list[str]:
    """The columns of a line; empty ones at the end do not count."""
    return text.rstrip("\t").split("\t")


def is_blank_or_comment(text: str) -> bool:
    return text[:1] in _MAYBE_SKIPPED and _BLANK_OR_COMMENT.fullmatch(text) is not None


def accepted_lines(
    lines: Iterable[tuple[int, str]],
    name: str,
    width: int,
    problems: ProblemLog,
    unread: list[UnreadLine],
    edition: Edition = LATEST,
) -> Iterator[Line]:
    """The lines that count, of numbered ones; the others are `unread`, and reported unless blank or comments."""
    seen: set[str] = set()
    for number, text in lines:
        if text[:1] in _MAYBE_SKIPPED and _BLANK_OR_COMMENT.fullmatch(text):
            pass
        elif text in seen:
            problems.add("DUPLICATE_LINE", f"\n{text}", place=Place(name, number))
        else:
            if not edition.keeps_repeated_lines:
                seen.add(text)
            columns = text.split("\t")
            if len(columns) != width or not columns[-1]:
                columns = split_columns(text)
            if len(columns) == width:
                yield number, text, columns
                continue
            problems.add("WRONG_NUM_ENTRIES", width, len(columns), place=Place(name, number))
        unread.append(UnreadLine(name, number, text))


def _counted_blocks(source: Source, beginning: list[bytes]) -> Iterator[Iterable[tuple[int, str]]]:
    """Yield the lines with their numbers, block by block. Only a line feed ends one: U+0085 and form feeds are data.

    The first block is added to `beginning`, for what is said of a file that cannot be read.
    """
    number = 0
    for block in line_blocks(source, _BLOCK):
        if not number:
            beginning.append(block)
        text = decoded_text(block, source.name, number, beginning[0])
        lines = (text.replace("\r", "") if "\r" in text else text).split("\n")
        yield enumerate(lines, number + 1)
        number += len(lines)


def line_blocks(source: Source, size: int) -> Iterator[bytes]:
    """The bytes of a file in blocks of whole lines, of about `size` bytes, without the line feed at their end."""
    pending: list[bytes] = []
    try:
        while block := source.binary.read(size):
            end = block.rfind(b"\n")
            if end < 0:
                pending.append(block)
                continue
            yield b"".join((*pending, block[:end]))
            pending = [block[end + 1 :]]
    except OSError as error:
        raise InputError(f"cannot be read: {reason_of(error)}", file=source.name) from None
    if last := b"".join(pending):
        yield last


_SCIENTIFIC: Final = re.compile(r"\d+\.\d+e[-+]?\d\d")
_LEGAL: Final = re.compile(r"1\.0*|0?\.0*+[1-9][0-9]*+")

CERTAIN: Final = "1.0"  # what an illegal confidence is replaced with


class Confidence(NamedTuple):
    """A confidence: the text that stands for it from now on, its value in (0, 1], the codes of what was wrong."""

    text: str
    value: float
    codes: tuple[str, ...]


def plain_confidence(written: str) -> float | None:
    """The value of a confidence that is legal as it stands and below 1, as nearly all are; None of others."""
    digits = written[2:]
    if written[:2] == "0." and digits.isdigit() and digits.isascii():
        return float(written) or None
    return None


def without_exponent(written: str) -> str | None:
    """Return the decimals that stand for a confidence with an exponent, or None for one without.

    The pattern takes digits of any script, the number ends before the first one that is not 0 to 9.
    """
    if _SCIENTIFIC.fullmatch(written) is None:
        return None
    return f"{leading_number(written):.12f}"


@functools.lru_cache(maxsize=1 << 10)  # a run may have the same odd one, or 1.0, on all lines
def read_confidence(written: str) -> Confidence:
    """The confidence that a column stands for. Never raises: what is illegal is replaced, and noted in its codes."""
    codes: tuple[str, ...] = ()
    text = written
    if written == "1":
        text, codes = CERTAIN, ("MISSING_DECIMAL_POINT",)
    elif (decimals := without_exponent(written)) is not None:
        text, codes = decimals, ("IMPROPER_CONFIDENCE_VALUE",)
    if not _LEGAL.fullmatch(text):
        text, codes = CERTAIN, (*codes, "ILLEGAL_CONFIDENCE_VALUE")
    return Confidence(text, float(text), codes)


DocumentLengths: TypeAlias = Mapping[str, float]  # the documents of the task: length in characters by document id
RELATION_SPANS: Final = 4
VALUE_SPANS: Final = LATEST.most_value_spans

NO_DOCUMENT: Final = "NO DOCUMENT"  # document id of a provenance without any valid span
NO_SPAN: Final = ":-"  # what the reference makes of such a provenance where it becomes an entry point
_DROPPED_DOCUMENT: Final = "NO_DOCUMENT"  # spans of this document count for nothing
_LEADING_NUMBER: Final = re.compile(r"\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)
_SEPARATED_BY_SEMICOLON: Final = re.compile(r"([^:;]+:\d+-\d+[,;]){0,3}[^:;]+:\d+-\d+")
# Possessive, so that a column of white space is looked at once; a document id that is nothing else is its last
# character.
_SPAN: Final = re.compile(rf"(?:{SPACE}*+(?=[^:])|{SPACE}*(?={SPACE}:))([^:]++):(\d+)-(\d+){SPACE}*")
_PLAIN_OFFSETS: Final = ":([0-9]{1,15})-([0-9]{1,15})"
_PLAIN_SPAN: Final = rf"(?!{_DROPPED_DOCUMENT}:)([A-Za-z0-9_.+-]++){_PLAIN_OFFSETS}"
# A span of a relation and one of a value in the same document, a blank between them.
_ONE_SPAN_EACH: Final = re.compile(rf"{_PLAIN_SPAN} \1{_PLAIN_OFFSETS}")
_PLAIN_COLUMN: Final = re.compile(rf"{_PLAIN_SPAN}(?:,\1:[0-9]{{1,15}}-[0-9]{{1,15}}){{0,2}}")
_OFFSETS: Final = re.compile(":([0-9]+)-([0-9]+)")


class Span(NamedTuple):
    """A stretch of a document: character offsets as written, both inclusive."""

    docid: str
    start: str
    end: str

    def __str__(self) -> str:
        return f"{self.docid}:{self.start}-{self.end}"


class SpanProblem(NamedTuple):
    """A problem code with its arguments: the offending text as written, and what is read in its place."""

    code: str
    arguments: tuple[object, ...]
    text: str
    repaired: str | None = None


class Provenance(NamedTuple):
    """A provenance as read: the text used for matching and hashing, the document, the valid spans as written, cut to
    their legal length. Without any, `docid` is `NO_DOCUMENT`.
    """

    canonical: str
    docid: str
    spans: tuple[Span, ...]
    problems: tuple[SpanProblem, ...]

    @property
    def first(self) -> Span | None:
        return self.spans[0] if self.spans else None


def offset_value(text: str) -> float:
    """The number that an offset stands for; one of thousands of digits is as good as infinite."""
    return int(text) if len(text) <= 15 and text.isdecimal() and text.isascii() else leading_number(text)


def leading_number(text: str) -> float:
    """The number that a text begins with, as the reference reads texts as numbers; 0 where it begins with none."""
    match = _LEADING_NUMBER.match(text)
    return float(match.group()) if match else 0.0


def cut_span(span: Span, longest: int) -> tuple[Span | None, list[SpanProblem]]:
    """`span` cut to the longest legal length, or None where it ends before it starts; with the problem, if any."""
    start, end = offset_value(span.start), offset_value(span.end)
    if end < start:
        return None, [SpanProblem("ILLEGAL_OFFSET_PAIR", (span.start, span.end), str(span))]
    if end - start + 1 > longest:
        cut = Span(span.docid, span.start, f"{start + longest - 1:.15g}")
        return cut, [SpanProblem("TOO_MANY_CHARS", (longest,), str(span), str(cut))]
    return span, []


def outside_document(span: Span, offsets: tuple[str, ...], documents: DocumentLengths) -> list[SpanProblem]:
    """Problems of a span whose document is not one of the task's, or ends before one of the offsets."""
    length = documents.get(span.docid)
    if length is None:
        return [SpanProblem("ILLEGAL_DOCID", (span.docid,), str(span))]
    beyond = [offset for offset in offsets if offset_value(offset) > length]
    return [SpanProblem("ILLEGAL_OFFSET_IN_DOC", (offset, span.docid), str(span)) for offset in beyond]


def are_plain(
    relation: str, provenance: str, documents: DocumentLengths | None = None, edition: Edition = LATEST
) -> bool:
    """Whether both columns of an answer, in one document, are canonical as they stand, as those of nearly all lines."""
    match = _ONE_SPAN_EACH.fullmatch(f"{relation} {provenance}")
    if match is not None and documents is None:
        relation_start, relation_end, start, end = match.group(2, 3, 4, 5)
        longest = edition.longest_span
        return 0 <= int(relation_end) - int(relation_start) < longest and 0 <= int(end) - int(start) < longest
    if edition.most_characters is not None or provenance.count(",") >= VALUE_SPANS:
        return False
    of_relation, of_value = (plain_column(text, documents, edition) for text in (relation, provenance))
    return of_relation is not None and of_value is not None and of_relation[0] == of_value[0]


def plain_column(
    text: str, documents: DocumentLengths | None = None, edition: Edition = LATEST
) -> tuple[str, int] | None:
    """Document and first offset of a column that is canonical as it stands; None of others, and of one in doubt."""
    match = _PLAIN_COLUMN.fullmatch(text)
    if match is None:
        return None
    docid, first = match.group(1), int(match.group(2))
    length = math.inf if documents is None else documents.get(docid, -1)
    before = -1
    for start, end in _OFFSETS.findall(text):
        if not before < int(start) <= int(end) < int(start) + edition.longest_span or int(end) > length:
            return None
        before = int(start)
    return docid, first


def document_of(canonical: str) -> str:
    """Return the document id of a canonical provenance."""
    if canonical in ("", NO_SPAN):
        return NO_DOCUMENT
    return canonical.partition(":")[0]


def read_provenance(
    text: str, most: int, documents: DocumentLengths | None = None, edition: Edition = LATEST
) -> Provenance:
    """Read a column of at most `most` spans, which are checked against `documents` where those are given. Never raises.
    A span in an unknown document, which is fatal, is kept, so that what follows from it is not reported as well.
    """
    problems: list[SpanProblem] = []
    if ";" in text and edition.reads_semicolons:
        if _SEPARATED_BY_SEMICOLON.fullmatch(text):
            problems.append(SpanProblem("SEMICOLON_AS_SEPARATOR", (text,), text, text.replace(";", ",")))
            text = text.replace(";", ",")
        else:
            problems.append(SpanProblem("SEMICOLON_IN_PROVENANCE_E", (text,), text))
    parts = text.rstrip(",").split(",") if text.rstrip(",") else []
    if len(parts) > most:
        code = "TOO_MANY_PROVENANCE_TRIPLES" + ("_E" if edition.refuses_further_spans else "")
        problems.append(SpanProblem(code, (len(parts), most), text, ",".join(parts[:most])))
        del parts[most:]
    spans: list[Span] = []
    for part in parts:
        match = _SPAN.fullmatch(part)
        if match is None or (";" in part and not edition.reads_semicolons):
            problems.append(SpanProblem("ILLEGAL_OFFSET_TRIPLE_STRING", (part,), part))
            continue
        written = Span(*match.groups())
        span, found = cut_span(written, edition.longest_span)
        problems += found
        if documents is not None:  # the offsets of a span that ends before it starts are checked all the same
            outside = outside_document(span or written, (span or written)[1:], documents)
            problems += outside
            if any(problem.code == "ILLEGAL_OFFSET_IN_DOC" for problem in outside):
                continue
        if span is None or span.docid == _DROPPED_DOCUMENT:
            continue
        if spans and span.docid != spans[0].docid and edition.joins_documents:
            if spans[0].docid == "0":  # it counts as none, so that the next document takes its place
                spans = [earlier._replace(docid=span.docid) for earlier in spans]
            else:
                problems.append(SpanProblem("MULTIPLE_DOCIDS_IN_PROV", (text,), text))
                span = span._replace(docid=spans[0].docid)
        spans.append(span)
    if not spans:
        return Provenance("", NO_DOCUMENT, (), tuple(problems))
    if edition.most_characters is not None:
        total = sum(offset_value(span.end) - offset_value(span.start) + 1 for span in spans)
        if total > edition.most_characters:
            problems.append(SpanProblem("TOO_MANY_TOTAL_CHARS", (edition.most_characters,), text))
    ordered = sorted(spans, key=lambda span: (span.docid, offset_value(span.start), span.end))
    return Provenance(",".join(map(str, ordered)), spans[0].docid, tuple(spans), tuple(problems))
