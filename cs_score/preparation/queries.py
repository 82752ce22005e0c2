"""Query files checked, repaired, expanded, generated and written; and resamples of their queries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from operator import attrgetter
from random import Random
from typing import Final, TypeAlias
from xml.sax.saxutils import escape

from cs_score.base.display import some
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.base.sources import NO_SPACE, Input, open_source
from cs_score.coldstart.forms import line_to_type
from cs_score.coldstart.lines import Response
from cs_score.coldstart.queries import (
    DEFAULT_CODE,
    ENTRY_POINT_FIELDS,
    NODE_TYPES,
    EntryPoint,
    Query,
    QuerySet,
    build_query_set,
    find_predicate,
    language_code,
    parse_query_id,
    report_slots,
)
from cs_score.coldstart.tab_files import VALUE_SPANS, read_provenance
from cs_score.problems.log import ProblemLog

LANGUAGES: Final = {"ENG": "ENGLISH", "CMN": "CHINESE", "SPA": "SPANISH"}
"""Language names by the code in document ids."""

_ENTITIES: Final = {"quot": '"', "amp": "&", "apos": "'", "lt": "<", "gt": ">"}
_SENTIMENTS: Final = frozenset({"likes", "dislikes", "is_liked_by", "is_disliked_by"})
_EVENT_TYPES: Final = frozenset(node_type for node_type in NODE_TYPES if "." in node_type)
_QUOTES: Final = {'"': "&quot;", "'": "&apos;"}

# What the names of slots call a kind of place -> its singular.
_PLACES: Final = {
    "city": "city",
    "cities": "city",
    "stateorprovince": "stateorprovince",
    "statesorprovinces": "stateorprovince",
    "country": "country",
    "countries": "country",
}
_PLACE: Final = "|".join(_PLACES)
_YIELDS: Final = re.compile(r"(.+?)_of_")
_STARTS_FROM: Final = (re.compile(rf"(.*_of_)({_PLACE})", re.DOTALL), re.compile(rf"(.*_in_)({_PLACE})", re.DOTALL))


class Misfit(StrEnum):
    """What is done with a query whose slots do not fit."""

    NONE = "none"
    REPAIR = "repair"
    DELETE_SLOT = "delete-slot"
    DELETE_QUERY = "delete-query"


TYPE_ACTIONS: Final = (Misfit.NONE, Misfit.DELETE_SLOT, Misfit.DELETE_QUERY)


class Duplicates(StrEnum):
    """What is done with queries that share an entry point."""

    NONE = "none"
    IGNORE = "ignore"
    DELETE = "delete"


class QueryOptions(Record):
    """How queries are validated.

    `types` and `places` say what is done where entity types do not fit, and where kinds of places do not. `base`: of
    the names of expanded queries, None for no expansion; `languages`: names of those that are written, None for all;
    `only_slot_filling`: event and sentiment slots are left out.
    """

    types: Misfit
    places: Misfit
    duplicates: Duplicates
    base: str | None
    languages: frozenset[str] | None
    only_slot_filling: bool


def _fitting(queries: Iterable[Query], options: QueryOptions, problems: ProblemLog) -> Iterator[Query]:
    """The queries that are kept, with the slots that are left; misfits become warnings."""
    for query in queries:
        fitting: Query | None = query
        if options.types is not Misfit.NONE:
            fitting = _fitting_types(query, options.types, problems)
        if fitting is not None and options.places is not Misfit.NONE:
            fitting = _fitting_places(fitting, options.places, problems)
        if fitting is None:
            continue
        report_slots(query, problems)  # the reference copies the query as it was read, then cuts and repairs it
        for before, after in zip(query.slots, fitting.slots):
            if before != after and find_predicate(after) is None:
                problems.add("UNKNOWN_SLOT_NAME", after)
        yield fitting


def _fitting_types(query: Query, action: Misfit, problems: ProblemLog) -> Query | None:
    """The query as far as each slot applies to what comes before it; None where it is deleted."""
    types = frozenset({query.entity_type or ""})
    for hop, slot in enumerate(query.slots):
        predicate = find_predicate(slot)
        if predicate is None or not types & predicate.domain:
            problems.add("MISMATCHED_HOP_TYPES", query.short_id, ":".join(sorted(types)), slot)
            if action is Misfit.DELETE_QUERY:
                return None
            return replace(query, slots=query.slots[:hop]) if action is Misfit.DELETE_SLOT else query
        types = predicate.range
    return query


def remarks_on_types(queries: Iterable[Query], action: Misfit, file: str) -> list[str]:
    """Return a remark on queries that `-types` deletes or shortens because types are not in small letters."""
    if action is Misfit.NONE:
        return []
    capitals = []
    for query in queries:
        entity_type = query.entity_type or ""
        in_small_letters = replace(query, entity_type=entity_type.lower())
        is_cut = _fitting_types(query, action, ProblemLog()) != query
        if is_cut and _fitting_types(in_small_letters, action, ProblemLog()) == in_small_letters:
            capitals.append(query)
    if not capitals:
        return []
    effect = "deleted" if action is Misfit.DELETE_QUERY else "cut"
    types = some(dict.fromkeys(query.entity_type for query in capitals))
    line = line_to_type(r"sed -E 's#<enttype>([^<]*)#<enttype>\L\1#'", file, "small")
    return [f"{len(capitals)} queries are {effect} because their <enttype> ({types}) is not in small letters: {line}"]


def _fitting_places(query: Query, action: Misfit, problems: ProblemLog) -> Query | None:
    """The query with slots for the same kind of place; None where it is deleted."""
    slots = list(query.slots)
    for hop, (slot, following) in enumerate(zip(query.slots, query.slots[1:])):
        if find_predicate(slot) is None:
            continue
        name = slot.partition(":")[2]
        yields = _YIELDS.match(name)
        starts_from = _STARTS_FROM[0].fullmatch(following) or _STARTS_FROM[1].fullmatch(following)
        if yields is None or yields.group(1) not in _PLACES or starts_from is None:
            continue
        place = _PLACES[yields.group(1)]
        if place == _PLACES[starts_from.group(2)]:
            continue
        problems.add("MISMATCHED_HOP_SUBTYPES", query.short_id, name, following.partition(":")[2])
        if action is Misfit.DELETE_QUERY:
            return None
        if action is Misfit.DELETE_SLOT:
            return replace(query, slots=query.slots[: hop + 1])
        if action is Misfit.REPAIR:
            slots[hop + 1] = starts_from.group(1) + place
    return replace(query, slots=tuple(slots))


class ValidatedQueries(Record):
    """The queries to write, and the index: full id of each expanded query with that of the query it comes from."""

    queries: tuple[Query, ...]
    index: tuple[tuple[str, str], ...]


def validate_queries(loaded: QuerySet, options: QueryOptions, problems: ProblemLog) -> ValidatedQueries:
    """Check queries as they were read, and choose and shape those to write."""
    queries: Iterable[Query] = loaded.by_id.values()
    if options.types is not Misfit.NONE or options.places is not Misfit.NONE:
        queries = _fitting(queries, options, problems)
    by_short_id = sorted(queries, key=attrgetter("short_id"))
    if options.duplicates is not Duplicates.NONE:
        by_short_id = list(_without_duplicates(by_short_id, options.duplicates, problems))
    # In the order of their ids, so that of two queries with the same expansion the last one counts (rule
    # shared-slot-filling-ids).
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
    decoded = ""
    for text in ended:  # what begins at its first "&" is an entity
        before, ampersand, entity = text.partition("&")
        decoded += before + _ENTITIES.get(entity, "") if ampersand else f"{text};"
    return decoded + rest


def _without_duplicates(queries: Iterable[Query], action: Duplicates, problems: ProblemLog) -> Iterator[Query]:
    """The queries that are kept; those that share an entry point with an earlier one, or a name, are warned of."""
    spans: dict[str, str] = {}
    names: dict[str, str] = {}
    for query in queries:
        slots = ":".join(query.slots)
        is_duplicate = False
        for point in query.entry_points:
            span = f"{point.docid or ''}:{point.start or ''}:{point.end or ''}:{slots}"
            if is_duplicate := span in spans:
                problems.add("DUPLICATE_QUERY", spans[span], query.short_id)
                break
            spans[span] = query.short_id
        for point in query.entry_points if not is_duplicate else ():
            name = decoded_name(point.name or "")
            known = names.setdefault(f"{name}:{slots}", query.short_id)
            if known != query.short_id:
                problems.add("POSSIBLE_DUPLICATE_QUERY", known, query.short_id, name)
                break
        if not is_duplicate or action is Duplicates.IGNORE:
            yield query


def _is_chosen(query: Query, options: QueryOptions) -> bool:
    if options.languages is not None:
        # English for those whose document gives none.
        codes = (language_code(entry_point.docid or "") or DEFAULT_CODE for entry_point in query.entry_points)
        if options.languages.isdisjoint(LANGUAGES[code] for code in codes):
            return False
    return not (options.only_slot_filling and _is_event_or_sentiment(query.slots[0] if query.slots else ""))


def _shaped(query: Query, options: QueryOptions) -> Query:
    """The query as it is written, without `<slot>` and `<nodeid>`."""
    query = replace(query, slot=None, node_id=None)
    if options.only_slot_filling and _is_event_or_sentiment(query.slot_at(1) or ""):
        return replace(query, absent_slots=query.absent_slots | {1})  # the third slot is not looked at
    return query


def _is_event_or_sentiment(slot: str) -> bool:
    name = slot.partition(":")[2]
    return name in _SENTIMENTS or name.partition("_")[0] in _EVENT_TYPES


def query_file_text(queries: Iterable[Query]) -> str:
    """A whole query file, queries sorted by short id.

    Raises InputError for the first required field that is missing; the reference writes nothing then.
    """
    lines = [line for query in sorted(queries, key=attrgetter("short_id")) for line in _query_lines(query)]
    return "\n".join(('<?xml version="1.0" encoding="UTF-8"?>', "<query_set>", *lines, "</query_set>\n"))


def _query_lines(query: Query) -> Iterator[str]:
    # A query about an answer has the id of its parent before its own (rule second-round-ids).
    is_follow_on = query.base_id != query.short_id
    full_id = f"{query.prefix or ''}_{query.base_id}_{query.short_id}" if is_follow_on else query.full_id
    yield f'  <query id="{full_id}">'
    if query.has_mention_tags:
        yield "    <mentions>"
        for entry_point in query.entry_points:
            yield "      <mention>"
            yield from _entry_point_lines(entry_point, full_id, " " * 10)
            yield "      </mention>"
        yield "    </mentions>"
    else:
        for entry_point in query.entry_points:
            yield from _entry_point_lines(entry_point, full_id, " " * 4)
    if query.entity_type is None:
        raise _missing("ENTTYPE", full_id)
    if not query.slots or 0 in query.absent_slots:
        raise _missing("SLOT0", full_id)
    fields = [("enttype", query.entity_type), ("nodeid", query.node_id), ("slot", query.slot)]
    fields += [(f"slot{hop}", slot) for hop, slot in enumerate(query.slots) if hop not in query.absent_slots]
    for tag, value in fields:
        if value is not None:
            yield f"    <{tag}>{value}</{tag}>"
    yield "  </query>"


def _entry_point_lines(entry_point: EntryPoint, full_id: str, indent: str) -> Iterator[str]:
    values = (entry_point.name, entry_point.docid, entry_point.start, entry_point.end, entry_point.offset)
    for number, (field, value) in enumerate(zip(ENTRY_POINT_FIELDS, values)):
        if value is not None:
            yield f"{indent}<{field.lower()}>{value}</{field.lower()}>"
        elif number < 4:  # the offset may be missing
            raise _missing(f"<{field}>", full_id)


def _missing(field: str, full_id: str) -> InputError:
    problem, remedy = f"Missing query field: {field}", "no query file can be written without it"
    return InputError(problem, place=f"query {full_id}", remedy=remedy, code="MISSING_QUERY_FIELD")


def first_round(queries: Iterable[Query]) -> list[Query]:
    """All queries, asking for their first slot."""
    return [replace(query, slot=None if 0 in query.absent_slots else query.slot_at(0)) for query in queries]


def second_round(responses: Iterable[Response], *, is_xml: bool) -> list[Query]:
    """A query about each answer whose type fits the next slot; of answers with one id the last.

    With `is_xml` the names are escaped, otherwise they are written as they are. Discarded lines have queries, too
    (rule queries-of-discarded-lines).
    """
    queries: dict[str, Query] = {}
    for response in responses:
        slots = response.query.slots[1:]
        columns = response.text.split("\t")
        if not slots or slots[0].partition(":")[0] != columns[5].lower():
            continue
        span = read_provenance(columns[6], VALUE_SPANS).first
        if span is None:
            continue
        name = escape(response.value, _QUOTES) if is_xml else response.value
        queries[response.target] = Query(
            response.query.full_id,
            response.target,
            response.target,
            slots,
            (EntryPoint(name, span.docid, span.start, span.end),),
            response.place,
            entity_type=slots[0].partition(":")[0],
            slot=slots[0],
        )
    return list(queries.values())


Groups: TypeAlias = Mapping[str, Sequence[str]]
"""LDC id -> its SF ids; both sorted as strings, as written in the file."""

_COLUMN: Final = re.compile(f"{NO_SPACE}+")


def read_groups(given: Input) -> dict[str, list[str]]:
    """Read a query index: lines `LDC_ID SF_ID`, separated by white space, further columns ignored.

    A repeated SF id belongs to the last LDC id that it appears with, and an LDC id that loses all its SF ids that way
    is no longer drawn. Blank lines are skipped. Bytes that are not UTF-8 are carried over as they are.

    Raises InputError where the file cannot be read, a line has one column only, or the columns are the other way round.
    """
    with open_source(given) as source:
        text = source.read_bytes().decode("utf-8-sig", "surrogateescape")
    ldc_of: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        ldc_id, sf_id, *_ = (*_COLUMN.findall(line), "", "")
        if ldc_id and not sf_id:
            remedy = "every line needs an LDC query id and an SF query id"
            raise InputError(f"{ldc_id} has no SF query id", file=source.name, place=f"line {number}", remedy=remedy)
        if ldc_id:
            ldc_of[sf_id] = ldc_id
    if ldc_of and all(_is_slot_filling(ldc) and not _is_slot_filling(sf) for sf, ldc in ldc_of.items()):
        raise InputError(
            "the columns are the other way round: SF_ID LDC_ID, as validate-queries -index_file writes them",
            file=source.name,
            remedy="every line needs an LDC query id and then an SF query id; awk '{ print $2, $1 }' exchanges them",
        )
    groups: dict[str, list[str]] = {}
    for sf_id in sorted(ldc_of):
        groups.setdefault(ldc_of[sf_id], []).append(sf_id)
    return dict(sorted(groups.items()))


def _is_slot_filling(text: str) -> bool:
    parts = parse_query_id(text)
    return parts is not None and parts.expanded


def resample_lines(groups: Groups, resamples: int, seed: int) -> Iterator[str]:
    """The lines of a resample file, numbered from 1, each with its line feed: `NUMBER LDC_ID:SF_ID,SF_ID,... ...`.

    As many LDC queries are drawn as there are, uniformly and with replacement. A draw brings all SF queries of its LDC
    query in a random order: the scorer takes the first as its entry point. The draws come from `random.Random.random`,
    the one method whose stream Python promises never to change: a seed gives the same bytes in every release.
    """
    random = Random(seed).random
    members = list(groups.items())
    for number in range(1, resamples + 1):
        columns = [str(number)]
        for _ in members:
            ldc_id, sf_ids = members[int(random() * len(members))]
            order = list(sf_ids)
            for last in range(len(order) - 1, 0, -1):  # Fisher and Yates
                other = int(random() * (last + 1))
                order[last], order[other] = order[other], order[last]
            columns.append(f"{ldc_id}:{','.join(order)}")
        yield " ".join(columns) + "\n"
