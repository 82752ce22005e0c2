"""Spans of documents, as entry points of queries and provenances of lines give them (specification 4.6)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

LONGEST_SPAN: Final = 200
"""Characters of a span that count; a longer one is cut."""

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
        return None, (SpanProblem("ILLEGAL_OFFSET_PAIR", (span.start, span.end), str(span)),)
    if end - start + 1 > LONGEST_SPAN:
        cut = Span(span.docid, span.start, f"{start + LONGEST_SPAN - 1:.15g}")
        return cut, (SpanProblem("TOO_MANY_CHARS", (LONGEST_SPAN,), str(span), str(cut)),)
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
