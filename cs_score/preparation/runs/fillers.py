"""Whether each answer stands in its document where its line says (specification of the companions, 1.5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from cs_score.base.errors import InputError
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.provenance import VALUE_SPANS, offset_value, read_provenance
from cs_score.coldstart.tab_files import Schema, split_columns
from cs_score.preparation.documents import DocumentList, holds, source_text
from cs_score.problems.log import Detail, Place, ProblemLog


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
            text = source_text(file, of_file[0].place)
        except InputError as error:
            unreadable.append((of_file[0].order, error))
            continue
        for claim in of_file:
            if not holds(text, claim.start, claim.end, claim.value):
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
