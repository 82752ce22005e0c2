"""Queries for the rounds of an evaluation: those of the file, then those about a run's answers (companions, 5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape

from cs_score.coldstart.lines import Response
from cs_score.coldstart.provenance import VALUE_SPANS, read_provenance
from cs_score.coldstart.queries import EntryPoint, Query
from cs_score.preparation.queries.query_writing import WrittenQuery, written_query

_QUOTES: Final = {'"': "&quot;", "'": "&apos;"}


def first_round(queries: Iterable[Query]) -> list[WrittenQuery]:
    """All queries, asking for their first slot."""
    from cs_score.base.records import replace

    return [
        replace(written, slot=written.slots[0] if written.slots else None, node_id=query.node_id)
        for query in queries
        for written in (written_query(query),)
    ]


def second_round(responses: Iterable[Response], *, is_xml: bool) -> list[WrittenQuery]:
    """A query about each answer whose type fits the next slot; of answers with one id the last.

    With `is_xml` the names are escaped, otherwise they are written as they are. Discarded lines have queries, too
    (quirk 22).
    """
    queries: dict[str, WrittenQuery] = {}
    for response in responses:
        slots = response.query.slots[1:]
        columns = response.text.split("\t")
        if not slots or slots[0].partition(":")[0] != columns[5].lower():
            continue
        span = read_provenance(columns[6], VALUE_SPANS).first
        if span is None:
            continue
        name = escape(response.value, _QUOTES) if is_xml else response.value
        queries[response.target] = WrittenQuery(
            response.target_full_id,
            response.target,
            (EntryPoint(name, span.docid, span.start, span.end),),
            slots[0].partition(":")[0],
            slots,
            slot=slots[0],
        )
    return list(queries.values())
