"""Spans of documents, and the provenance of lines in canonical form (specification 4.6)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from cs_score.base.white_space import SPACE
from cs_score.coldstart.editions import LATEST, Edition

_LEADING_NUMBER: Final = re.compile(r"\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)

DocumentLengths: TypeAlias = Mapping[str, float]
"""The documents of the task: length in characters by document id (specification of the companions, 1.5)."""


class SpanProblem(NamedTuple):
    """A problem code with its arguments, to be reported at the place of the line that holds the provenance.

    `text` is the offending text as written, `repaired` what is read in its place, where something is.
    """

    code: str
    arguments: tuple[object, ...]
    text: str
    repaired: str | None = None


class Span(NamedTuple):
    """A stretch of a document: character offsets as written, both inclusive."""

    docid: str
    start: str
    end: str

    def __str__(self) -> str:
        return f"{self.docid}:{self.start}-{self.end}"


def offset_value(text: str) -> float:
    """The number that an offset stands for; one of thousands of digits is as good as infinite."""
    if len(text) <= 15 and text.isdecimal() and text.isascii():
        return int(text)
    return leading_number(text)


def leading_number(text: str) -> float:
    """The number that a text begins with, as the reference reads texts as numbers; 0 where it begins with none."""
    match = _LEADING_NUMBER.match(text)
    return float(match.group()) if match else 0.0


def cut_span(span: Span, longest: int = LATEST.longest_span) -> tuple[Span | None, tuple[SpanProblem, ...]]:
    """`span` cut to the longest legal length, or None where it ends before it starts; with the problem, if any."""
    start, end = offset_value(span.start), offset_value(span.end)
    if end < start:
        return None, (SpanProblem("ILLEGAL_OFFSET_PAIR", (span.start, span.end), str(span)),)
    if end - start + 1 > longest:
        cut = Span(span.docid, span.start, f"{start + longest - 1:.15g}")
        return cut, (SpanProblem("TOO_MANY_CHARS", (longest,), str(span), str(cut)),)
    return span, ()


def outside_document(span: Span, offsets: tuple[str, ...], documents: DocumentLengths) -> tuple[SpanProblem, ...]:
    """Problems of a span whose document is not one of the task's, or ends before one of the offsets."""
    length = documents.get(span.docid)
    if length is None:
        return (SpanProblem("ILLEGAL_DOCID", (span.docid,), str(span)),)
    return tuple(
        SpanProblem("ILLEGAL_OFFSET_IN_DOC", (offset, span.docid), str(span))
        for offset in offsets
        if offset_value(offset) > length
    )


RELATION_SPANS: Final = 4
VALUE_SPANS: Final = LATEST.most_value_spans

NO_DOCUMENT: Final = "NO DOCUMENT"
"""Document id of a provenance without any valid span."""

_SEPARATED_BY_SEMICOLON: Final = re.compile(r"([^:;]+:\d+-\d+[,;]){0,3}[^:;]+:\d+-\d+")
# Possessive, so that a column of white space is looked at once; a document id that is nothing else is its last
# character.
_SPAN: Final = re.compile(rf"(?:{SPACE}*+(?=[^:])|{SPACE}*(?={SPACE}:))([^:]++):(\d+)-(\d+){SPACE}*")
# A relation and a value provenance of one document, a blank between them: a span each, and several spans each.
_ONE_SPAN_EACH: Final = re.compile(r"([A-Za-z0-9_.+-]++):([0-9]{1,15})-([0-9]{1,15}) \1:([0-9]{1,15})-([0-9]{1,15})")
_SPANS_EACH: Final = re.compile(
    r"([A-Za-z0-9_.+-]++):[0-9]{1,15}-[0-9]{1,15}(?:,\1:[0-9]{1,15}-[0-9]{1,15}){0,3} "
    r"\1:[0-9]{1,15}-[0-9]{1,15}(?:,\1:[0-9]{1,15}-[0-9]{1,15})?"
)
_PLAIN_SPAN: Final = re.compile(r"([A-Za-z0-9_.+-]++):([0-9]{1,15})-([0-9]{1,15})")
_ONE_COLUMN: Final = re.compile(
    r"([A-Za-z0-9_.+-]++):([0-9]{1,15})-([0-9]{1,15})((?:,\1:[0-9]{1,15}-[0-9]{1,15}){0,2})"
)
_OFFSETS: Final = re.compile(":([0-9]+)-([0-9]+)")


class Provenance(NamedTuple):
    """A provenance as read.

    `canonical` is the text used for matching and hashing (empty without valid span), `docid` the document
    (`NO_DOCUMENT` without valid span), `spans` the valid spans in the order written, cut to their legal length,
    `problems` what was wrong.
    """

    canonical: str
    docid: str
    spans: tuple[Span, ...]
    problems: tuple[SpanProblem, ...]

    @property
    def first(self) -> Span | None:
        """The first valid span as written."""
        return self.spans[0] if self.spans else None


def are_plain(
    relation: str, provenance: str, documents: DocumentLengths | None = None, edition: Edition = LATEST
) -> bool:
    """Whether two columns hold spans of one document, of legal length, that are canonical as they stand.

    With `documents`, the spans must lie within one of them. Nearly all lines are like this, and nothing needs to be
    reported or rewritten for them.
    """
    both = f"{relation} {provenance}"
    match = _ONE_SPAN_EACH.fullmatch(both)
    if match is not None and documents is None:
        relation_start, relation_end, start, end = match.group(2, 3, 4, 5)
        longest = edition.longest_span
        return 0 <= int(relation_end) - int(relation_start) < longest and 0 <= int(end) - int(start) < longest
    match = _SPANS_EACH.fullmatch(both)
    if match is None or edition.most_characters is not None:
        return False
    length = math.inf if documents is None else documents.get(match.group(1), -1)
    return _ascend(relation, length, edition) and _ascend(provenance, length, edition)


def plain_column(text: str, documents: DocumentLengths | None = None) -> tuple[str, int] | None:
    """Document and first offset of a column that is plain as in `are_plain`, of up to three spans; None of others."""
    match = _ONE_COLUMN.fullmatch(text)
    if match is None:
        return None
    docid, start, end, others = match.groups()
    length = math.inf if documents is None else documents.get(docid, -1)
    first = int(start)
    if others:
        return (docid, first) if _ascend(text, length) else None
    last = int(end)
    return (docid, first) if first <= last < first + LATEST.longest_span and last <= length else None


def _ascend(spans: str, length: float, edition: Edition = LATEST) -> bool:
    before = -1
    for start, end in _OFFSETS.findall(spans):
        if not before < int(start) <= int(end) < int(start) + edition.longest_span or int(end) > length:
            return False
        before = int(start)
    return True


def document_of(canonical: str) -> str:
    """The document of a canonical provenance; `NO_DOCUMENT` of an empty one."""
    return canonical.partition(":")[0] if canonical else NO_DOCUMENT


def read_provenance(
    text: str, most: int, documents: DocumentLengths | None = None, edition: Edition = LATEST
) -> Provenance:
    """Read a column of at most `most` spans, which are checked against `documents` where those are given.

    Returns the canonical form with the problems found; never raises. A span in an unknown document, which is fatal, is
    kept, so that what follows from it is not reported as well.
    """
    plain = _PLAIN_SPAN.fullmatch(text) if documents is None else None
    if plain is not None and 0 <= int(plain[3]) - int(plain[2]) < edition.longest_span:
        return Provenance(text, plain[1], (Span(*plain.groups()),), ())
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
        span, found = _checked(Span(*match.groups()), documents, edition.longest_span)
        problems.extend(found)
        if span is None:
            continue
        if spans and span.docid != spans[0].docid and edition.joins_documents:
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
    canonical = ",".join(map(str, ordered))
    return Provenance(canonical, spans[0].docid, tuple(spans), tuple(problems))


def _checked(
    span: Span, documents: DocumentLengths | None, longest: int
) -> tuple[Span | None, tuple[SpanProblem, ...]]:
    cut, problems = cut_span(span, longest)
    if documents is None:
        return cut, problems
    # The offsets of a span that ends before it starts are checked all the same.
    outside = outside_document(cut or span, (cut or span)[1:], documents)
    is_outside = any(problem.code == "ILLEGAL_OFFSET_IN_DOC" for problem in outside)
    return None if is_outside else cut, (*problems, *outside)
