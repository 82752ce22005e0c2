"""Provenance lists: up to four provenances in one column (specification 5)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

from cs_score.base.records import Record
from cs_score.coldstart.provenance import (
    NO_DOCUMENT,
    DocumentLengths,
    Provenance,
    SpanProblem,
    offset_value,
    plain_column,
    read_provenance,
)

NIL: Final = "NIL"
"""What stands for a part that is absent."""

_MOST_CHARACTERS: Final = 800
_MOST_IN_FILLER: Final = 1
_MOST_IN_JUSTIFICATION: Final = 3
_MOST_IN_BASE_FILLER: Final = 1


class Parts(NamedTuple):
    """The provenances of a list; None where one is absent."""

    filler: Provenance | None = None
    justification: Provenance | None = None
    base_filler: Provenance | None = None
    additional: Provenance | None = None


class ProvenanceList(Record, eq=False):
    """A provenance column as read.

    `docid` is its document (`NO_DOCUMENT` if it has none), `start` the first offset of its predicate justification,
    `place` that in canonical form, by which mentions are found (None where it is absent), `spans` how many valid spans
    it has. Equal lists of one document have the same `key`. `kept` are the parts, where there is more than a plain
    predicate justification; `problems` is what was wrong.
    """

    text: str
    docid: str
    start: float
    place: str | None
    key: str
    spans: int
    kept: Parts | None
    problems: tuple[SpanProblem, ...]

    @property
    def parts(self) -> Parts:
        """All parts."""
        return self.kept or Parts(justification=read_provenance(self.text, _MOST_IN_JUSTIFICATION))


NO_PROVENANCE: Final = ProvenanceList("", NO_DOCUMENT, 0, None, "", 0, Parts(), ())
"""The list of assertions that have none."""


class ListReader:
    """Reads provenance columns; equal ones, which are frequent, are read once."""

    def __init__(self, documents: DocumentLengths | None) -> None:
        self._documents = documents
        self.plain: dict[str, ProvenanceList] = {}
        """Columns that hold a plain predicate justification and nothing else, as mentions and most relations do."""
        self._others: dict[tuple[str, bool, bool, bool], ProvenanceList] = {}

    def read(self, text: str, has_event: bool, has_string: bool, is_mention: bool) -> ProvenanceList:
        """Read a column of a relation with an event, or to a string, or of a mention. Never raises."""
        if not has_string and (is_mention or not has_event):
            known = self.plain.get(text)
            if known is not None:
                return known
            plain = plain_column(text, self._documents)
            if plain is not None:
                known = self.plain[text] = ProvenanceList(
                    text, plain[0], plain[1], text, text, text.count(",") + 1, None, ()
                )
                return known
        key = (text, has_event, has_string, is_mention)
        known = self._others.get(key)
        if known is None:
            known = self._others[key] = _read_list(*key, self._documents)
        return known


def _read_list(
    text: str, has_event: bool, has_string: bool, is_mention: bool, documents: DocumentLengths | None
) -> ProvenanceList:
    if not text or text == "0":
        return ProvenanceList(text, NO_DOCUMENT, 0, None, "", 0, Parts(), ())
    texts = text.rstrip(";").split(";") if text.rstrip(";") else []
    expected = 1 + 2 * has_event + has_string
    problems: list[SpanProblem] = []
    if len(texts) != (1 if is_mention else expected):
        problems.append(SpanProblem("TOO_MANY_PROVENANCES_IN_LIST", (text, len(texts), expected), text))
    parts = _read_parts(texts, has_string, documents, problems)
    docids = [part.docid for part in parts if part is not None]
    if len(set(docids)) != 1:
        problems.append(SpanProblem("MULTIPLE_DOCIDS_IN_PROV", (text,), text))
    docid = docids[0] if docids else NO_DOCUMENT
    spans = parts.justification.spans if parts.justification is not None else ()
    start = offset_value(spans[0].start) if spans else 0
    place = parts.justification.canonical if parts.justification is not None else None
    return ProvenanceList(text, docid, start, place, _key(parts), len(spans), parts, tuple(problems))


def _read_parts(
    texts: list[str], has_string: bool, documents: DocumentLengths | None, problems: list[SpanProblem]
) -> Parts:
    limits: tuple[int, ...] = (_MOST_IN_JUSTIFICATION, _MOST_IN_BASE_FILLER, sys.maxsize)
    if has_string:
        limits = (_MOST_IN_FILLER, *limits)
    read = [_part(part, most, documents, problems) for part, most in zip(texts, limits)]
    read += [None] * (len(limits) - len(read))
    return Parts(*read) if has_string else Parts(None, *read)


def _part(text: str, most: int, documents: DocumentLengths | None, problems: list[SpanProblem]) -> Provenance | None:
    if text == NIL:
        return None
    part = read_provenance(text, most, documents)
    problems += part.problems
    # Spans have no more than 200 characters each.
    if len(part.spans) > 4 and _characters(part) > _MOST_CHARACTERS:
        problems.append(SpanProblem("TOO_MANY_TOTAL_CHARS", (_MOST_CHARACTERS,), text))
    return part


def _characters(part: Provenance) -> float:
    return sum(offset_value(span.end) - offset_value(span.start) + 1 for span in part.spans)


def _key(parts: Parts) -> str:
    filler, justification, base_filler, additional = parts
    if justification is not None and filler is base_filler is additional is None:
        return justification.canonical
    return ";".join(NIL if part is None else part.canonical for part in parts)


def short_form(part: Provenance | None) -> str:
    """The offsets of a part without its document."""
    if part is None:
        return NIL
    return ",".join(_offsets(part))


def _offsets(part: Provenance) -> Iterator[str]:
    for span in part.canonical.split(",") if part.canonical else ():
        yield span.rpartition(":")[2]


def as_written(part: Provenance) -> str:
    """The spans of a part in the order written, each with the document of the part."""
    return ",".join(map(str, part.spans))
