"""Validating a query file: slots that fit, duplicates, one query for each entry point (companions, 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final

from cs_score.base.records import Record, replace
from cs_score.coldstart.queries import DEFAULT_CODE, NODE_TYPES, Query, QuerySet, build_query_set, language_code
from cs_score.preparation.queries.hop_checks import HopChecks, check_hops
from cs_score.preparation.queries.query_writing import WrittenQuery, written_query
from cs_score.problems.log import ProblemLog

LANGUAGES: Final = {"ENG": "ENGLISH", "CMN": "CHINESE", "SPA": "SPANISH"}
"""Language names by the code in document ids."""

_ENTITIES: Final = {"quot": '"', "amp": "&", "apos": "'", "lt": "<", "gt": ">"}
_SENTIMENTS: Final = frozenset({"likes", "dislikes", "is_liked_by", "is_disliked_by"})
_EVENT_TYPES: Final = frozenset(node_type for node_type in NODE_TYPES if "." in node_type)


class Duplicates(StrEnum):
    """What is done with queries that share an entry point."""

    NONE = "none"
    IGNORE = "ignore"
    DELETE = "delete"


class QueryOptions(Record):
    """How queries are validated.

    `base`: of the names of expanded queries, None for no expansion; `languages`: names of those that are written, none
    for all; `only_slot_filling`: event and sentiment slots are left out.
    """

    checks: HopChecks
    duplicates: Duplicates = Duplicates.NONE
    base: str | None = None
    languages: frozenset[str] = frozenset()
    only_slot_filling: bool = False


class ValidatedQueries(Record):
    """The queries to write, and the index: full id of each expanded query with that of the query it comes from."""

    queries: tuple[WrittenQuery, ...]
    index: tuple[tuple[str, str], ...]


def validate_queries(loaded: QuerySet, options: QueryOptions, problems: ProblemLog) -> ValidatedQueries:
    """Check queries as they were read, and choose and shape those to write."""
    checked = check_hops(loaded.by_id.values(), options.checks, problems)
    by_short_id = sorted(checked, key=lambda query: query.short_id)
    if options.duplicates is not Duplicates.NONE:
        by_short_id = list(_without_duplicates(by_short_id, options.duplicates, problems))
    # In the order of their ids, so that of two queries with the same expansion the last one counts (9, rule 6).
    table = build_query_set(by_short_id, options.base, problems)
    chosen = {query.short_id: query for query in table.scored_by_default() if _is_chosen(query, options)}
    index = tuple(
        (chosen[short_id].full_id, table.by_id[origin].full_id)
        for short_id, origin in sorted(table.ldc_of.items())
        if short_id in chosen
    )
    return ValidatedQueries(tuple(_shaped(query, options) for query in chosen.values()), index)


def decoded_name(name: str) -> str:
    """The name of an entry point with its entities decoded; unknown ones vanish."""
    *ended, rest = name.split(";")
    return "".join(map(_decoded, ended)) + rest


def _decoded(text: str) -> str:
    """A text that a semicolon follows, with that: what begins at its first "&" is an entity."""
    before, ampersand, entity = text.partition("&")
    return before + _ENTITIES.get(entity, "") if ampersand else f"{text};"


def _without_duplicates(queries: Iterable[Query], action: Duplicates, problems: ProblemLog) -> Iterator[Query]:
    spans: dict[str, str] = {}
    names: dict[str, str] = {}
    for query in queries:
        if _shares_span(query, spans, problems):
            if action is Duplicates.IGNORE:
                yield query
            continue
        _warn_of_name(query, names, problems)
        yield query


def _shares_span(query: Query, known: dict[str, str], problems: ProblemLog) -> bool:
    """Whether an entry point is one of an earlier query, or of this one; those before it are remembered."""
    slots = ":".join(query.slots)
    for entry_point in query.entry_points:
        key = f"{entry_point.docid or ''}:{entry_point.start or ''}:{entry_point.end or ''}:{slots}"
        if key in known:
            problems.add("DUPLICATE_QUERY", known[key], query.short_id)
            return True
        known[key] = query.short_id
    return False


def _warn_of_name(query: Query, known: dict[str, str], problems: ProblemLog) -> None:
    """Warn of the first name that another query has with the same slots; names before it are remembered."""
    slots = ":".join(query.slots)
    for entry_point in query.entry_points:
        name = decoded_name(entry_point.name or "")
        key = f"{name}:{slots}"
        if known.get(key, query.short_id) != query.short_id:
            problems.add("POSSIBLE_DUPLICATE_QUERY", known[key], query.short_id, name)
            return
        known[key] = query.short_id


def _is_chosen(query: Query, options: QueryOptions) -> bool:
    if options.languages and options.languages.isdisjoint(_languages_of(query)):
        return False
    return not (options.only_slot_filling and _is_event_or_sentiment(query.slots[0] if query.slots else ""))


def _languages_of(query: Query) -> set[str]:
    """Names of the languages of a query's entry points, English for those whose document does not tell."""
    codes = (language_code(entry_point.docid or "") or DEFAULT_CODE for entry_point in query.entry_points)
    return {LANGUAGES[code] for code in codes}


def _shaped(query: Query, options: QueryOptions) -> WrittenQuery:
    written = written_query(query)
    if options.only_slot_filling and len(written.slots) > 1 and _is_event_or_sentiment(written.slots[1] or ""):
        # The third slot is not looked at (3.6).
        return replace(written, slots=(written.slots[0], None, *written.slots[2:]))
    return written


def _is_event_or_sentiment(slot: str) -> bool:
    name = slot.partition(":")[2]
    return name in _SENTIMENTS or name.partition("_")[0] in _EVENT_TYPES
