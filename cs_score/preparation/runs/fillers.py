"""Whether each answer stands in its document where its line says (specification of the companions, 1.5)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from cs_score.coldstart.lines.layouts import Schema
from cs_score.coldstart.lines.provenance import VALUE_SPANS, read_provenance
from cs_score.coldstart.lines.reader import split_columns
from cs_score.coldstart.lines.records import Assessment, Response
from cs_score.coldstart.spans import offset_value
from cs_score.foundation.errors import InputError
from cs_score.foundation.sources import open_source
from cs_score.foundation.white_space import SPACE
from cs_score.preparation.documents import DocumentList
from cs_score.problems.log import Detail, Place, ProblemLog

_WHITE_SPACE: Final = re.compile(f"{SPACE}+")


class _Claim(NamedTuple):
    """An answer and the characters of its document that should hold it, both ends inclusive."""

    order: int
    value: str
    start: float
    end: float
    shown: str
    place: Place


def verify_fillers(
    lines: Iterable[Response | Assessment], layouts: Mapping[str, Schema], documents: DocumentList, problems: ProblemLog
) -> None:
    """Warn of every answer that differs from the text of its first value span; each document is opened once.

    Only documents with a file are looked at. Raises InputError where a document's file cannot be read, the one that the
    earliest line needs.
    """
    claims = _claims(lines, layouts, documents)
    unreadable: list[tuple[int, InputError]] = []
    for file, of_file in claims.items():
        try:
            text = _text_of(file, of_file[0].place)
        except InputError as error:
            unreadable.append((of_file[0].order, error))
            continue
        for claim in of_file:
            found = _excerpt(text, claim.start, claim.end)
            if _WHITE_SPACE.sub(" ", found) != _WHITE_SPACE.sub(" ", claim.value):
                problems.add(
                    "INACCURACTE_MENTION_STRING", claim.value, claim.shown, place=claim.place,
                    detail=Detail("VALUE", claim.value, None),
                )  # fmt: skip
    if unreadable:
        raise min(unreadable, key=lambda pair: pair[0])[1]


def _claims(
    lines: Iterable[Response | Assessment], layouts: Mapping[str, Schema], documents: DocumentList
) -> dict[str, list[_Claim]]:
    """The claims about each document's file, in load order."""
    claims: dict[str, list[_Claim]] = defaultdict(list)
    for order, line in enumerate(lines):
        file = documents.files.get(line.docid)
        if file is None or not line.provenance:
            continue
        position = layouts[line.file].columns.index("VALUE_PROVENANCE_TRIPLES")
        written = split_columns(line.text)[position]
        span = read_provenance(written, VALUE_SPANS, documents.lengths).first
        if span is not None:
            start, end = offset_value(span.start), offset_value(span.end)
            claims[file].append(_Claim(order, line.value, start, end, line.provenance, line.place))
    return claims


def _text_of(file: str, needed_at: Place) -> str:
    try:
        with open_source(file, stdin_as_dash=False) as source:
            data = source.read_bytes()
    except InputError as error:
        reason = error.problem.removeprefix(f"Could not open {file}: ")
        raise InputError(
            f"Source document expected at {file}: {reason}",
            file=needed_at.file,
            place=f"line {needed_at.line}",
            code="SOURCE_DOCUMENT_MISSING",
        ) from None
    return data.decode("utf-8", "replace")


def _excerpt(text: str, start: float, end: float) -> str:
    """Characters `start` to `end` of a text, as far as it has them."""
    if start >= len(text):
        return ""
    return text[int(start) : int(min(end, len(text))) + 1]
