"""Query files as they are written (specification of the companions, 3.7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.coldstart.queries import ENTRY_POINT_FIELDS, EntryPoint, Query

_REQUIRED_OF_ENTRY_POINT: Final = 4
"""Name, document, start and end; the offset may be missing."""


class WrittenQuery(Record):
    """A query with the fields that are written, texts as they stand in the file; None where there is no such field.

    `short_id` decides its place in the file; `slots` are the slots by hop.
    """

    full_id: str
    short_id: str
    entry_points: tuple[EntryPoint, ...]
    entity_type: str | None
    slots: tuple[str | None, ...]
    node_id: str | None = None
    slot: str | None = None
    has_mention_tags: bool = False


def written_query(query: Query) -> WrittenQuery:
    """A query as it was read, without `<slot>` and `<nodeid>`."""
    # A query about an answer has the id of its parent before its own (quirk 21).
    is_follow_on = query.base_id != query.short_id
    full_id = f"{query.prefix or ''}_{query.base_id}_{query.short_id}" if is_follow_on else query.full_id
    return WrittenQuery(
        full_id,
        query.short_id,
        query.entry_points,
        query.entity_type,
        tuple(None if hop in query.absent_slots else slot for hop, slot in enumerate(query.slots)),
        has_mention_tags=query.has_mention_tags,
    )


def query_file_text(queries: Iterable[WrittenQuery]) -> str:
    """A whole query file, queries sorted by short id.

    Raises InputError for the first required field that is missing; the reference writes nothing then.
    """
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<query_set>"]
    for query in sorted(queries, key=lambda query: query.short_id):
        lines += _query_lines(query)
    lines.append("</query_set>\n")
    return "\n".join(lines)


def _query_lines(query: WrittenQuery) -> Iterator[str]:
    yield f'  <query id="{query.full_id}">'
    if query.has_mention_tags:
        yield "    <mentions>"
        for entry_point in query.entry_points:
            yield "      <mention>"
            yield from _entry_point_lines(entry_point, query, " " * 10)
            yield "      </mention>"
        yield "    </mentions>"
    else:
        for entry_point in query.entry_points:
            yield from _entry_point_lines(entry_point, query, " " * 4)
    if query.entity_type is None:
        raise _missing("ENTTYPE", query)
    if not query.slots or query.slots[0] is None:
        raise _missing("SLOT0", query)
    fields = [("enttype", query.entity_type), ("nodeid", query.node_id), ("slot", query.slot)]
    fields += [(f"slot{hop}", slot) for hop, slot in enumerate(query.slots)]
    for tag, value in fields:
        if value is not None:
            yield f"    <{tag}>{value}</{tag}>"
    yield "  </query>"


def _entry_point_lines(entry_point: EntryPoint, query: WrittenQuery, indent: str) -> Iterator[str]:
    values = (entry_point.name, entry_point.docid, entry_point.start, entry_point.end, entry_point.offset)
    for number, (field, value) in enumerate(zip(ENTRY_POINT_FIELDS, values)):
        if value is not None:
            yield f"{indent}<{field.lower()}>{value}</{field.lower()}>"
        elif number < _REQUIRED_OF_ENTRY_POINT:
            raise _missing(f"<{field}>", query)


def _missing(field: str, query: WrittenQuery) -> InputError:
    return InputError(
        f"Missing query field: {field}",
        place=f"query {query.full_id}",
        remedy="no query file can be written without it",
        code="MISSING_QUERY_FIELD",
    )
