"""Provenance: the document spans of a line and their canonical form (specification 4.6)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

LONGEST_SPAN: Final = 200
"""Characters of a span that count; a longer one is cut."""

RELATION_SPANS: Final = 4
VALUE_SPANS: Final = 2

NO_DOCUMENT: Final = "NO DOCUMENT"
"""Document id of a provenance without any valid span."""

_SEPARATED_BY_SEMICOLON: Final = re.compile(r"([^:;]+:\d+-\d+[,;]){0,3}[^:;]+:\d+-\d+")
# The separators U+001C to U+001F are no white space here, though they are to Python.
_SPACE: Final = r"[^\S\x1c-\x1f]*"
_SPAN: Final = re.compile(rf"{_SPACE}([^:]+):(\d+)-(\d+){_SPACE}")
_PLAIN_PAIR: Final = re.compile(r"([A-Za-z0-9_.+-]+):([0-9]{1,15})-([0-9]{1,15}) \1:([0-9]{1,15})-([0-9]{1,15})")


class SpanProblem(NamedTuple):
    """A problem code with its arguments, to be reported at the place of the line that holds the provenance."""

    code: str
    arguments: tuple[object, ...]


class Span(NamedTuple):
    """A stretch of a document: character offsets as written, both inclusive."""

    docid: str
    start: str
    end: str


class Provenance(NamedTuple):
    """A provenance as read.

    `canonical` is the text used for matching and hashing (empty without valid span), `docid` the document
    (`NO_DOCUMENT` without valid span), `first` the first valid span as written, `problems` what was wrong.
    """

    canonical: str
    docid: str
    first: Span | None
    problems: tuple[SpanProblem, ...]


def offset_value(digits: str) -> float:
    """The number that a text of digits stands for; a text of thousands of digits is as good as infinite."""
    if len(digits) <= 15 and digits.isascii():
        return int(digits)
    leading = re.match("[0-9]*", digits)
    return float((leading.group() if leading else "") or 0)


def cut_span(span: Span) -> tuple[Span | None, tuple[SpanProblem, ...]]:
    """`span` cut to the longest legal length, or None where it ends before it starts; with the problem, if any."""
    start, end = offset_value(span.start), offset_value(span.end)
    if end < start:
        return None, (SpanProblem("ILLEGAL_OFFSET_PAIR", (span.start, span.end)),)
    if end - start + 1 > LONGEST_SPAN:
        cut = Span(span.docid, span.start, f"{start + LONGEST_SPAN - 1:.15g}")
        return cut, (SpanProblem("TOO_MANY_CHARS", (LONGEST_SPAN,)),)
    return span, ()


def are_plain(relation: str, provenance: str) -> bool:
    """Whether two columns are one span each, of legal length, canonical as they stand, and of one document.

    Nearly all lines are like this, and nothing needs to be reported or rewritten for them.
    """
    match = _PLAIN_PAIR.fullmatch(f"{relation} {provenance}")
    if match is None:
        return False
    _, relation_start, relation_end, start, end = match.groups()
    return 0 <= int(relation_end) - int(relation_start) < LONGEST_SPAN and 0 <= int(end) - int(start) < LONGEST_SPAN


def document_of(canonical: str) -> str:
    """The document of a canonical provenance; `NO_DOCUMENT` of an empty one."""
    return canonical.partition(":")[0] if canonical else NO_DOCUMENT


def read_provenance(text: str, most: int) -> Provenance:
    """Read a column of at most `most` spans.

    Returns the canonical form with the problems found; never raises.
    """
    problems: list[SpanProblem] = []
    if ";" in text:
        if _SEPARATED_BY_SEMICOLON.fullmatch(text):
            problems.append(SpanProblem("SEMICOLON_AS_SEPARATOR", (text,)))
            text = text.replace(";", ",")
        else:
            problems.append(SpanProblem("SEMICOLON_IN_PROVENANCE_E", (text,)))
    parts = text.rstrip(",").split(",") if text.rstrip(",") else []
    if len(parts) > most:
        problems.append(SpanProblem("TOO_MANY_PROVENANCE_TRIPLES_E", (len(parts), most)))
        del parts[most:]
    spans: list[Span] = []
    for part in parts:
        match = _SPAN.fullmatch(part)
        if match is None:
            problems.append(SpanProblem("ILLEGAL_OFFSET_TRIPLE_STRING", (part,)))
            continue
        span, found = cut_span(Span(*match.groups()))
        problems.extend(found)
        if span is None:
            continue
        if spans and span.docid != spans[0].docid:
            problems.append(SpanProblem("MULTIPLE_DOCIDS_IN_PROV", (text,)))
            span = span._replace(docid=spans[0].docid)
        spans.append(span)
    if not spans:
        return Provenance("", NO_DOCUMENT, None, tuple(problems))
    ordered = sorted(spans, key=lambda span: (offset_value(span.start), span.end))
    canonical = ",".join(f"{span.docid}:{span.start}-{span.end}" for span in ordered)
    return Provenance(canonical, spans[0].docid, spans[0], tuple(problems))
