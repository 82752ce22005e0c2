"""Queries: what they hold, their entry points, and the split into one slot-filling query per entry point.

Source: specification, sections 2, 3.3 to 3.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.coldstart.queries.identifiers import QueryId, parse_query_id, slot_filling_id
from cs_score.coldstart.queries.languages import DEFAULT_CODE, DEFAULT_LANGUAGE, language_code
from cs_score.coldstart.queries.predicates import find_predicate
from cs_score.problems.log import Place, ProblemLog

ENTRY_POINT_FIELDS: Final = ("NAME", "DOCID", "BEG", "END", "OFFSET")


class EntryPoint(Record):
    """A mention of the query's entity, as it stands in the query file; an absent field is None."""

    name: str | None
    docid: str | None
    start: str | None
    end: str | None
    offset: str | None = None


class Query(Record):
    """A query from a file, or one made from an entry point of such a query.

    `short_id` is its key in the query table, `base_id` the id of the query it starts from; `slots` are the slot texts
    by hop, empty also for the `absent_slots` before the last one; `expansions` are the short ids of the queries made
    from its entry points, in their order, or None where the query was not expanded.
    """

    prefix: str | None
    short_id: str
    base_id: str
    slots: tuple[str, ...]
    entry_points: tuple[EntryPoint, ...]
    place: Place
    entity_type: str | None = None
    node_id: str | None = None
    slot: str | None = None
    has_mention_tags: bool = False
    absent_slots: frozenset[int] = frozenset()
    expansions: tuple[str, ...] | None = None

    @property
    def full_id(self) -> str:
        """The id that runs and assessments use: prefix, underscore, short id."""
        return f"{self.prefix or ''}_{self.short_id}"

    def slot_at(self, hop: int) -> str | None:
        """The slot that answers of this hop fill, None where the query does not go so far."""
        return self.slots[hop] if hop < len(self.slots) else None

    @property
    def unknown_slots(self) -> tuple[str, ...]:
        """Slot texts that the inventory lacks."""
        return tuple(slot for slot in self.slots if find_predicate(slot) is None)

    @property
    def unknown_languages(self) -> tuple[str, ...]:
        """Document ids of the entry points, as far as they do not tell a language."""
        docids = (entry_point.docid or "" for entry_point in self.entry_points)
        return tuple(docid for docid in docids if language_code(docid) is None)


class QuerySet(Record):
    """The query table.

    `by_id` holds every query by short id, expanded ones included; `ldc_of` maps the short id of a slot-filling query to
    that of the LDC query it was made from and is empty where nothing was expanded (specification 3.7).
    """

    by_id: Mapping[str, Query]
    ldc_of: Mapping[str, str]
    was_expanded: bool

    def scored_by_default(self) -> Iterator[Query]:
        """The queries that are scored unless others are named: all that were not replaced by their expansions."""
        return (query for query in self.by_id.values() if query.expansions is None)


def report_languages(query: Query, problems: ProblemLog, times: int = 1) -> None:
    """Warn of the entry points whose language is guessed; the reference counts this at every use of a query."""
    for docid in query.unknown_languages:
        problems.add("FAILED_LANG_INFERENCE", docid, DEFAULT_LANGUAGE, place=query.place, times=times)


def report_slots(query: Query, problems: ProblemLog, times: int = 1) -> None:
    """Report the slots that the inventory lacks; the reference counts this at every use of a query."""
    for slot in query.unknown_slots:
        problems.add("UNKNOWN_SLOT_NAME", slot, times=times)


def query_id(text: str, place: Place) -> QueryId:
    """The parts of an id in a query file. Raises InputError where it is none (specification 2.3)."""
    parts = parse_query_id(text)
    if parts is None:
        raise InputError(
            f'unexpected argument: "{text}" sent to parse_queryid',
            file=place.file,
            place=str(place.line),
            remedy="a query id ends in ten hexadecimal digits (slot filling) or in decimal digits (LDC)",
        )
    return parts


def build_query_set(loaded: Iterable[Query], base: str | None, problems: ProblemLog) -> QuerySet:
    """Put the queries of all files into one table and, with `base`, split them by entry point (specification 3.6).

    A later query replaces an earlier one with the same short id. `base` is the first part of the new queries' names.
    """
    by_id = {query.short_id: query for query in loaded}
    if base is None:
        return QuerySet(by_id, {}, was_expanded=False)
    for query in list(by_id.values()):
        report_languages(query, problems)
        expansions = tuple(_expand(query, base))
        for expansion in expansions:
            report_slots(expansion, problems)
        # The query itself first: a slot-filling query makes way for its own expansion.
        by_id[query.short_id] = replace(query, expansions=tuple(expansion.short_id for expansion in expansions))
        by_id.update((expansion.short_id, expansion) for expansion in expansions)
    ldc_of = {expansion: short_id for short_id, query in sorted(by_id.items()) for expansion in query.expansions or ()}
    return QuerySet(by_id, ldc_of, was_expanded=True)


def _expand(query: Query, base: str) -> Iterator[Query]:
    for entry_point in query.entry_points:
        docid = entry_point.docid or ""
        short_id = slot_filling_id(docid, entry_point.start or "", entry_point.end or "", query.slots)
        yield Query(
            prefix=f"{base}_{language_code(docid) or DEFAULT_CODE}",
            short_id=short_id,
            base_id=short_id,
            slots=query.slots,
            entry_points=(entry_point,),
            place=query.place,
            entity_type=query.entity_type,
        )
