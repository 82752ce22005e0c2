"""Check, repair, expand, generate and write query files, and draw resamples of their queries. A query names an entity
by its entry points (mentions in documents), and the slots to fill, one for each hop.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from operator import attrgetter
from random import Random
from typing import Final, NamedTuple, TypeAlias
from xml.sax.saxutils import escape

from cs_score.base.display import join_first
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.base.sources import NO_SPACE, Input, open_source
from cs_score.coldstart.forms import conversion_command
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
    report_unknown_slots,
)
from cs_score.coldstart.tab_files import VALUE_SPANS, read_provenance
from cs_score.problems.log import ProblemLog

LANGUAGES: Final = {"ENG": "ENGLISH", "CMN": "CHINESE", "SPA": "SPANISH"}
"""Language names by the code in document ids."""

_ENTITIES: Final = {"quot": '"', "amp": "&", "apos": "'", "lt": "<", "gt": ">"}
_SENTIMENTS: Final = frozenset({"likes", "dislikes", "is_liked_by", "is_disliked_by"})
_EVENT_TYPES: Final = frozenset(node_type for node_type in NODE_TYPES if "." in node_type)
_QUOTES: Final = {'"': "&quot;", "'": "&apos;"}

# The kinds of places in the names of slots, singular or plural, with their singular.
_PLACES: Final = {
    "city": "city",
    "cities": "city",
    "stateorprovince": "stateorprovince",
    "statesorprovinces": "stateorprovince",
    "country": "country",
    "countries": "country",
}
_PLACE: Final = "|".join(_PLACES)
_PLACE_YIELDED_BY_SLOT: Final = re.compile(r"(.+?)_of_")
_ENDS_IN_OF_PLACE: Final = re.compile(rf"(.*_of_)({_PLACE})", re.DOTALL)
_ENDS_IN_IN_PLACE: Final = re.compile(rf"(.*_in_)({_PLACE})", re.DOTALL)


class MisfitAction(StrEnum):
    """What is done with a query whose slots do not fit together."""

    NONE = "none"
    REPAIR = "repair"
    DELETE_SLOT = "delete-slot"
    DELETE_QUERY = "delete-query"


TYPE_ACTIONS: Final = (MisfitAction.NONE, MisfitAction.DELETE_SLOT, MisfitAction.DELETE_QUERY)


class DuplicateAction(StrEnum):
    """What is done with queries that have the same entry point (place in a document) as an earlier query."""

    NONE = "none"
    IGNORE = "ignore"
    DELETE = "delete"


class QueryOptions(Record):
    """How queries are validated.

    * `type_action`: what is done with queries whose entity types do not fit.
    * `place_action`: what is done with queries whose kinds of places, such as city and country, do not fit.
    * `duplicate_action`: what is done with queries that have the entry point of an earlier query.
    * `expanded_id_base`: the first part of the ids of expanded queries, or None if queries are not expanded.
    * `languages`: the names of the languages whose queries are written, or None for all.
    * `only_slot_filling`: whether slots about events and sentiments are left out.
    """

    type_action: MisfitAction
    place_action: MisfitAction
    duplicate_action: DuplicateAction
    expanded_id_base: str | None
    languages: frozenset[str] | None
    only_slot_filling: bool


def _fit_slots(queries: Iterable[Query], options: QueryOptions, problems: ProblemLog) -> Iterator[Query]:
    """Yield the queries that are kept, with the slots that are kept, and report slots that do not fit.

    A slot fits if it matches what the slot before it yields, both in the type of entity and in the kind of place (such
    as city or country). `options.type_action` and `options.place_action` say what happens to a slot that does not fit.
    Either the whole query is deleted, the query is cut before the slot, the slot is repaired, or it is kept.
    """
    for query in queries:
        fitting_query = _fit_slots_of_query(query, options, problems)
        if fitting_query is None:
            continue
        # The reference scorer reports the slots of the query as it was read, before any cuts.
        report_unknown_slots(query, problems)
        # A query is only cut at its end, so the remaining slots correspond to the first slots that were read.
        for old_slot, new_slot in zip(query.slots, fitting_query.slots):
            is_repaired = old_slot != new_slot
            if is_repaired and find_predicate(new_slot) is None:
                problems.add("UNKNOWN_SLOT_NAME", new_slot)
        yield fitting_query


def _fit_slots_of_query(query: Query, options: QueryOptions, problems: ProblemLog) -> Query | None:
    """Return a query after its slots were checked and made to fit each other, as `options` ask for.

    The types of entities and the kinds of places (city, country) must fit. The result is None if the query is deleted.
    """
    fitting_query: Query | None = query
    if options.type_action is not MisfitAction.NONE:
        fitting_query = _resolve_type_misfits(query, options.type_action, problems)
    if fitting_query is not None and options.place_action is not MisfitAction.NONE:
        fitting_query = _resolve_place_misfits(fitting_query, options.place_action, problems)
    return fitting_query


class _TypeMisfit(NamedTuple):
    """The first slot of a query that does not fit: its hop, from 0, and the entity types that it does not apply to."""

    hop: int
    types: frozenset[str]


def _first_type_misfit(query: Query) -> _TypeMisfit | None:
    """Return the first slot of a query that does not fit the slot before it, or None if all slots fit.

    A slot fits if it applies to entities of a type that the slot before it yields. The first slot must apply to the
    type of the query's entity. An unknown slot never fits.
    """
    types = frozenset({query.entity_type or ""})
    for hop, slot in enumerate(query.slots):
        predicate = find_predicate(slot)
        if predicate is None or not types & predicate.domain:
            return _TypeMisfit(hop, types)
        types = predicate.range
    return None


def _resolve_type_misfits(query: Query, action: MisfitAction, problems: ProblemLog) -> Query | None:
    """Return a query after checking that each slot applies to entities of the types that the slot before it yields.

    For example, `per:employee_or_member_of` and `org:founded_by` fit together in a query about a person. The first slot
    that does not fit is reported. Depending on `action`, the query is then deleted (None is returned), cut before this
    slot, or kept.
    """
    misfit = _first_type_misfit(query)
    if misfit is None:
        return query
    # The arguments after the code fill the template of its message.
    problems.add("MISMATCHED_HOP_TYPES", query.short_id, ":".join(sorted(misfit.types)), query.slots[misfit.hop])
    if action is MisfitAction.DELETE_QUERY:
        return None
    if action is MisfitAction.DELETE_SLOT:
        return replace(query, slots=query.slots[: misfit.hop])
    return query


def remarks_on_types(queries: Iterable[Query], action: MisfitAction, file: str) -> list[str]:
    """Return a remark, as a list, on queries that `-types` deletes or cuts because of capitals in their `<enttype>`.

    The list is empty if there are no such queries. `action` is the value of `-types`, and `file` is the query file. The
    remark gives a command that repairs this file.
    """
    if action is MisfitAction.NONE:
        return []
    queries_with_capitals = [query for query in queries if _fails_by_capitals(query, action)]
    if not queries_with_capitals:
        return []
    count = len(queries_with_capitals)
    effect = "deleted" if action is MisfitAction.DELETE_QUERY else "cut"
    types = join_first(dict.fromkeys(query.entity_type for query in queries_with_capitals))
    command = conversion_command(r"sed -E 's#<enttype>([^<]*)#<enttype>\L\1#'", file, prefix="small")
    return [f"{count} queries are {effect} because their <enttype> ({types}) is not in small letters: {command}"]


def _fails_by_capitals(query: Query, action: MisfitAction) -> bool:
    """Return whether a query is deleted or cut but would be kept if its entity type were in lower case."""
    entity_type = query.entity_type or ""
    query_in_small_letters = replace(query, entity_type=entity_type.lower())
    # A query whose slots all fit is returned unchanged. The problems go into a log that is discarded.
    unread_log = ProblemLog()
    resolved_query = _resolve_type_misfits(query, action, unread_log)
    resolved_query_in_small_letters = _resolve_type_misfits(query_in_small_letters, action, unread_log)
    is_kept = resolved_query == query
    is_kept_in_small_letters = resolved_query_in_small_letters == query_in_small_letters
    return is_kept_in_small_letters and not is_kept


class _PlaceMisfit(NamedTuple):
    """A slot that does not fit: its hop, from 0, and the slot that would fit in its place."""

    hop: int
    fitting_slot: str


def _place_misfits(query: Query) -> list[_PlaceMisfit]:
    """Return the slots of a query that start from a different kind of place than the preceding slot yields."""
    misfits = []
    for hop in range(1, len(query.slots)):
        # This is the same slot, or the corresponding slot for the right kind of place.
        fitting_slot = _slot_from_same_place(query.slots[hop - 1], query.slots[hop])
        if fitting_slot != query.slots[hop]:
            misfits.append(_PlaceMisfit(hop, fitting_slot))
    return misfits


def _resolve_place_misfits(query: Query, action: MisfitAction, problems: ProblemLog) -> Query | None:
    """Return a query in which each slot starts from the kind of place that the slot before it yields.

    For example, `per:city_of_birth` yields a city, so `gpe:residents_of_country` does not fit after it. A slot that
    does not fit is reported. Depending on `action`, the query is then deleted (None is returned), cut before this slot,
    repaired (here to `gpe:residents_of_city`), or kept.
    """
    names_without_type = [slot.partition(":")[2] for slot in query.slots]  # `per:age` -> `age`
    slots = list(query.slots)
    for hop, fitting_slot in _place_misfits(query):
        name_before = names_without_type[hop - 1]  # the slot of the previous hop, which yields the place
        problems.add("MISMATCHED_HOP_SUBTYPES", query.short_id, name_before, names_without_type[hop])
        if action is MisfitAction.DELETE_QUERY:
            return None
        if action is MisfitAction.DELETE_SLOT:
            return replace(query, slots=query.slots[:hop])
        if action is MisfitAction.REPAIR:
            slots[hop] = fitting_slot
    return replace(query, slots=tuple(slots))


def _slot_from_same_place(slot: str, next_slot: str) -> str:
    """Return the next slot, changed to start from the kind of place that the slot before it yields.

    After `per:city_of_birth`, `gpe:residents_of_country` becomes `gpe:residents_of_city`. The next slot is left
    unchanged if it fits, if one of the two slots is not about a kind of place, or if `slot` is not in the inventory.
    """
    name = slot.partition(":")[2]
    # The slot begins with the word for the place that it yields: `cities` in `cities_of_residence`.
    place_match = _PLACE_YIELDED_BY_SLOT.match(name)
    # The next slot ends with the word for the place that it starts from: `country` in `gpe:residents_of_country`.
    next_slot_match = _ENDS_IN_OF_PLACE.fullmatch(next_slot) or _ENDS_IN_IN_PLACE.fullmatch(next_slot)
    if place_match is None or next_slot_match is None or find_predicate(slot) is None:
        return next_slot
    yielded_kind = _PLACES.get(place_match.group(1))  # `city` for `cities` and `city`, None for other words
    text_before_place, place_word = next_slot_match.groups()
    if yielded_kind is None or yielded_kind == _PLACES[place_word]:
        return next_slot
    return f"{text_before_place}{yielded_kind}"


class ValidatedQueries(Record):
    """The queries to write, and the index of expanded queries: pairs of an expanded id and its original id."""

    queries: tuple[Query, ...]
    index: tuple[tuple[str, str], ...]


def repair_queries(loaded: QuerySet, options: QueryOptions, problems: ProblemLog) -> ValidatedQueries:
    """Check and repair queries, and return the queries to write, with an index of the queries made from others.

    Queries that do not meet the `options` are reported to `problems`.
    """
    queries: Iterable[Query] = loaded.by_id.values()
    # A slot may not fit the type of entity or the kind of place that the slot before it yields.
    acts_on_types = options.type_action is not MisfitAction.NONE
    acts_on_places = options.place_action is not MisfitAction.NONE
    if acts_on_types or acts_on_places:
        queries = _fit_slots(queries, options, problems)
    # The order by id matters: if two queries have the same expansion, the last one counts (rule
    # shared-slot-filling-ids).
    sorted_queries = sorted(queries, key=attrgetter("short_id"))
    if options.duplicate_action is not DuplicateAction.NONE:
        sorted_queries = list(_without_duplicates(sorted_queries, options.duplicate_action, problems))
    # If the options ask for expanded queries, they are made here.
    query_set = build_query_set(sorted_queries, options.expanded_id_base, problems)
    chosen_queries = [query for query in query_set.default_queries() if _is_written(query, options)]
    queries_as_written = [_as_written(query, options) for query in chosen_queries]
    index = _expansion_index(query_set, chosen_queries)
    return ValidatedQueries(queries=tuple(queries_as_written), index=tuple(index))


def _expansion_index(query_set: QuerySet, written_queries: Iterable[Query]) -> list[tuple[str, str]]:
    """Return pairs of full ids, of a written query and of the query from which it was made, sorted by short id.

    For example, `("CSX_ENG_00fb79cef8", "CSX_0001")`. Queries that were not made from others are left out.
    """
    full_id_by_query = {query.short_id: query.full_id for query in written_queries}
    index = []
    for short_id, ldc_id in sorted(query_set.ldc_id_by_query.items()):
        if short_id in full_id_by_query:
            index.append((full_id_by_query[short_id], query_set.by_id[ldc_id].full_id))
    return index


def decoded_name(name: str) -> str:
    """Return the name of an entry point with XML entities decoded (`A&amp;B` -> `A&B`) and unknown entities removed."""
    # For `A&amp;B`, the only text before a semicolon is `A&amp`, and the rest is `B`.
    *texts_before_semicolons, rest = name.split(";")
    decoded_texts = []
    for text in texts_before_semicolons:
        # Everything after the first "&" is the name of an entity: `A`, `&` and `amp`.
        before, ampersand, entity = text.partition("&")
        if ampersand:
            decoded_texts.append(before + _ENTITIES.get(entity, ""))
        else:
            decoded_texts.append(f"{text};")
    return "".join(decoded_texts) + rest


def _without_duplicates(queries: Iterable[Query], action: DuplicateAction, problems: ProblemLog) -> Iterator[Query]:
    """Yield the queries that are kept, and warn of queries with the entry point or the name of an earlier query.

    A query with the same slots and entry point as an earlier one is kept only if `action` is `DuplicateAction.IGNORE`.
    """
    id_by_span_and_slots: dict[str, str] = {}
    id_by_name_and_slots: dict[str, str] = {}
    for query in queries:
        # The span of an entry point consists of its document and offsets. Entry points with equal spans are the same.
        earlier_id = _find_or_add_spans(query, id_by_span_and_slots)
        if earlier_id is None:
            _report_earlier_name(query, id_by_name_and_slots, problems)
            yield query
            continue
        problems.add("DUPLICATE_QUERY", earlier_id, query.short_id)
        if action is DuplicateAction.IGNORE:
            yield query


def _find_or_add_spans(query: Query, id_by_span_and_slots: dict[str, str]) -> str | None:
    """Return the short id of an earlier query with the same slots and a common entry point, or None if there is none.

    `id_by_span_and_slots` has the short ids of earlier queries, such as `{"ENG_1:3:4:per:children": "00fb79cef8"}`. The
    spans of this query are added to it, up to the first span that an earlier query also has.
    """
    slots = ":".join(query.slots)
    for point in query.entry_points:
        span_and_slots = f"{point.docid or ''}:{point.start or ''}:{point.end or ''}:{slots}"
        if span_and_slots in id_by_span_and_slots:
            return id_by_span_and_slots[span_and_slots]
        id_by_span_and_slots[span_and_slots] = query.short_id
    return None


def _report_earlier_name(query: Query, id_by_name_and_slots: dict[str, str], problems: ProblemLog) -> None:
    """Report a query that has the same slots and the same name as an earlier query.

    `id_by_name_and_slots` has the short ids of earlier queries. The names of this query are added to it, up to the
    first name that an earlier query also has.
    """
    slots = ":".join(query.slots)
    for point in query.entry_points:
        name = decoded_name(point.name or "")
        earlier_id = id_by_name_and_slots.setdefault(f"{name}:{slots}", query.short_id)
        if earlier_id != query.short_id:
            problems.add("POSSIBLE_DUPLICATE_QUERY", earlier_id, query.short_id, name)
            return


def _is_written(query: Query, options: QueryOptions) -> bool:
    """Return whether a query is written, which depends on its languages and its first slot.

    One of its languages must be among those chosen. With `only_slot_filling`, the first slot must not be about events
    or sentiments.
    """
    if options.only_slot_filling and _is_event_or_sentiment(query.slot_at(0) or ""):
        return False
    if options.languages is None:
        return True
    for entry_point in query.entry_points:
        # If the id of a document does not show its language, English is assumed.
        code = language_code(entry_point.docid or "") or DEFAULT_CODE
        if LANGUAGES[code] in options.languages:
            return True
    return False


def _as_written(query: Query, options: QueryOptions) -> Query:
    """Return a query with the fields that are written to the query file: all except `<slot>` and `<nodeid>`.

    If the options ask for slot filling only, a second slot about events or sentiments is also left out. Fields that are
    None are not written. A slot of the path that is not written remains in `slots`, and its hop is added to
    `hops_without_written_slot`.
    """
    query_as_written = replace(query, slot=None, node_id=None)
    second_slot = query.slot_at(1) or ""
    # As in the reference scorer, the third slot is not checked.
    if options.only_slot_filling and _is_event_or_sentiment(second_slot):
        return replace(query_as_written, hops_without_written_slot=query.hops_without_written_slot | {1})
    return query_as_written


def _is_event_or_sentiment(slot: str) -> bool:
    """Return whether a slot is about events or sentiments (rule retained-slots)."""
    name = slot.partition(":")[2]
    return name in _SENTIMENTS or name.partition("_")[0] in _EVENT_TYPES


def query_file_text(queries: Iterable[Query]) -> str:
    """Return the text of a query file with these queries, sorted by short id.

    Raises InputError for the first required field that is missing; the reference then writes nothing, either.
    """
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<query_set>"]
    for query in sorted(queries, key=attrgetter("short_id")):
        lines += _query_lines(query)
    lines.append("</query_set>\n")
    return "\n".join(lines)


def _query_lines(query: Query) -> Iterator[str]:
    """Yield the lines of a query in a query file, from `<query id="...">` to `</query>`.

    The tags between them have the entry points of the query, its entity type and its slots. Raises InputError if a
    required field is missing.
    """
    full_id = _written_id(query)
    yield f'  <query id="{full_id}">'
    if query.has_mention_tags:
        yield from _mention_lines(query, full_id)
    else:
        for entry_point in query.entry_points:
            yield from _entry_point_lines(entry_point, full_id, " " * 4)
    for tag, value in _written_fields(query, full_id):
        if value is not None:
            yield f"    <{tag}>{value}</{tag}>"
    yield "  </query>"


def _mention_lines(query: Query, full_id: str) -> Iterator[str]:
    """Yield the lines of the entry points of a query between tags `<mentions>`.

    `full_id` is the id of the query, for messages. Raises InputError if a required field is missing.
    """
    yield "    <mentions>"
    for entry_point in query.entry_points:
        yield "      <mention>"
        yield from _entry_point_lines(entry_point, full_id, " " * 10)
        yield "      </mention>"
    yield "    </mentions>"


def _written_id(query: Query) -> str:
    """Return the id of a query in a query file: `CSX_ENG_00fb79cef8`.

    The id of a query about an answer contains its base id before its own id (rule second-round-ids).
    """
    if query.base_id == query.short_id:
        return query.full_id
    return f"{query.prefix or ''}_{query.base_id}_{query.short_id}"


def _written_fields(query: Query, full_id: str) -> list[tuple[str, str | None]]:
    """Return the tags of a query after its entry points, with their values: `[("enttype", "per"), ...]`.

    A tag whose value is None is not written. Raises InputError if a required field is missing.
    """
    if query.entity_type is None:
        raise _missing_field_error("ENTTYPE", full_id)
    if not query.slots or 0 in query.hops_without_written_slot:
        raise _missing_field_error("SLOT0", full_id)
    # <slot> is the slot to be filled in this round, while <slot0>, <slot1> and so on are the slots of all hops.
    fields = [("enttype", query.entity_type), ("nodeid", query.node_id), ("slot", query.slot)]
    for hop, slot in enumerate(query.slots):
        if hop not in query.hops_without_written_slot:
            fields.append((f"slot{hop}", slot))
    return fields


def _entry_point_lines(entry_point: EntryPoint, full_id: str, indent: str) -> Iterator[str]:
    """Yield the lines of an entry point in a query file, such as `<docid>ENG_1</docid>` after the `indent`.

    Raises InputError if a field other than the offset is missing. The error names the query, whose id is `full_id`.
    """
    # The values are in the order of `ENTRY_POINT_FIELDS`.
    values = (entry_point.name, entry_point.docid, entry_point.start, entry_point.end, entry_point.offset)
    for field, value in zip(ENTRY_POINT_FIELDS, values):
        if value is not None:
            yield f"{indent}<{field.lower()}>{value}</{field.lower()}>"
        elif field != "OFFSET":
            raise _missing_field_error(f"<{field}>", full_id)


def _missing_field_error(field: str, full_id: str) -> InputError:
    """Return the error for a query that lacks a required field, such as `SLOT0`; its place is the query."""
    return InputError(
        f"Missing query field: {field}",
        place=f"query {full_id}",
        remedy="no query file can be written without it",
        code="MISSING_QUERY_FIELD",
    )


def queries_of_first_round(queries: Iterable[Query]) -> list[Query]:
    """Return the queries of the first round: all queries, with their first slot in `<slot>`.

    A query without `<slot0>` in its file does not get a `<slot>`.
    """
    first_queries = []
    for query in queries:
        slot = None if 0 in query.hops_without_written_slot else query.slot_at(0)
        first_queries.append(replace(query, slot=slot))
    return first_queries


# The positions of two columns of a run line.
_VALUE_TYPE_COLUMN: Final = 5
_PROVENANCE_COLUMN: Final = 6


def queries_of_second_round(responses: Iterable[Response], *, is_xml: bool) -> list[Query]:
    """Return the queries of the second round. Each asks for the next slot of an answer whose type fits this slot.

    For example, if the answer to a query with the slots `per:children` and `per:title` is a person, the second query
    asks for the `per:title` of this person. If follow-on queries about several answers have the same short id, the last
    one counts. With `is_xml`, names are escaped as in XML. There are also queries about the answers of discarded lines
    (rule queries-of-discarded-lines).
    """
    query_by_id: dict[str, Query] = {}
    for response in responses:
        query = _query_about_answer(response, is_xml=is_xml)
        if query is not None:
            query_by_id[query.short_id] = query
    return list(query_by_id.values())


def _query_about_answer(response: Response, *, is_xml: bool) -> Query | None:
    """Return the query about the answer of a response, with the later slots of the query that was answered.

    The result is None if the answer does not fit the next slot, or if the provenance does not contain a valid span.
    With `is_xml`, the name is escaped as in XML.
    """
    if not _fits_next_slot(response):
        return None
    provenance = response.text.split("\t")[_PROVENANCE_COLUMN]
    span = read_provenance(provenance, VALUE_SPANS).first_span
    if span is None:
        return None
    name = escape(response.value, _QUOTES) if is_xml else response.value
    later_slots = response.query.slots[1:]
    next_slot = later_slots[0]
    return Query(
        # A full id consists of the prefix, the base id if it differs from the short id, and the short id. Here it has
        # only two parts: the id of the answered query and the short id.
        prefix=response.query.full_id,
        short_id=response.follow_on_id,
        base_id=response.follow_on_id,
        slots=later_slots,
        entry_points=(EntryPoint(name, span.docid, span.start, span.end),),
        place=response.place,
        entity_type=_type_of_entities_with(next_slot),
        slot=next_slot,
    )


def _fits_next_slot(response: Response) -> bool:
    """Return whether the query of a response has a next slot, and the answer has the type of entities with this slot.

    An answer of the type `PER` fits `per:title`.
    """
    later_slots = response.query.slots[1:]
    if not later_slots:
        return False
    value_type = response.text.split("\t")[_VALUE_TYPE_COLUMN]
    return value_type.lower() == _type_of_entities_with(later_slots[0])


def _type_of_entities_with(slot: str) -> str:
    """Return the type of the entities that have a slot: `per:title` -> `per`."""
    return slot.partition(":")[0]


Groups: TypeAlias = Mapping[str, Sequence[str]]
"""The ids of the SF queries of each LDC query, by its id; all as written in the file and sorted as text."""

_COLUMN_PATTERN: Final = re.compile(f"{NO_SPACE}+")


def read_groups(file: Input) -> dict[str, list[str]]:
    """Return the groups of queries in a query index: `{"CSX_0001": ["CSX_ENG_00fb79cef8", ...], ...}`.

    A line of the index has an LDC id and the id of a slot-filling query, with white space between them.

    If a slot-filling id is repeated, its last LDC id counts. LDC ids that are left without slot-filling ids are not
    returned. Additional columns and blank lines are ignored. Bytes that are not UTF-8 are kept unchanged.

    Raises InputError if the file cannot be read, if a line has only one column, or if the two columns are swapped.
    """
    with open_source(file) as source:
        text = source.read_bytes().decode("utf-8-sig", "surrogateescape")
    ldc_id_by_query = _read_index(text, source.name)
    if _are_columns_swapped(ldc_id_by_query):
        raise InputError(
            "the columns are the other way round: SF_ID LDC_ID, as validate-queries -index_file writes them",
            file=source.name,
            remedy="every line needs an LDC query id and then an SF query id; awk '{ print $2, $1 }' exchanges them",
        )
    groups: dict[str, list[str]] = defaultdict(list)
    for sf_id, ldc_id in sorted(ldc_id_by_query.items()):
        groups[ldc_id].append(sf_id)
    return dict(sorted(groups.items()))


def _read_index(text: str, file_name: str) -> dict[str, str]:
    """Return the LDC id of each SF query in the text of a query index: `{"CSX_ENG_00fb79cef8": "CSX_0001"}`.

    Raises InputError for a line that has only one column.
    """
    ldc_id_by_query: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        columns = _COLUMN_PATTERN.findall(line)
        if not columns:
            continue
        if len(columns) == 1:
            raise InputError(
                f"{columns[0]} has no SF query id",
                file=file_name,
                place=f"line {number}",
                remedy="every line needs an LDC query id and an SF query id",
            )
        ldc_id, sf_id = columns[:2]
        ldc_id_by_query[sf_id] = ldc_id
    return ldc_id_by_query


def _are_columns_swapped(ldc_id_by_query: Mapping[str, str]) -> bool:
    """Return whether an index has its two columns swapped.

    The first column should have LDC ids, such as CSX_0001, and the second one slot-filling ids, such as
    CSX_ENG_00fb79cef8. They are swapped if all lines have them the other way round. An empty index is not swapped.
    """
    # The keys of `ldc_id_by_query` were read from the second column, whatever it holds.
    for second_column, first_column in ldc_id_by_query.items():
        is_line_swapped = _is_slot_filling(first_column) and not _is_slot_filling(second_column)
        if not is_line_swapped:
            return False
    return bool(ldc_id_by_query)


def _is_slot_filling(text: str) -> bool:
    """Return whether a text is the id of a slot-filling query."""
    parts = parse_query_id(text)
    return parts is not None and parts.is_slot_filling


def resample_lines(groups: Groups, resamples: int, seed: int) -> Iterator[str]:
    """Yield the lines of a file of resamples, numbered from 1: `1 LDC_ID:SF_ID,SF_ID,... ...` with a line feed.

    A resample draws as many LDC queries as there are, uniformly and with replacement. All SF queries of a drawn LDC
    query are written in a random order; the scorer uses the first one as the entry point. `resamples` is the number of
    resamples. Only `random.Random.random` is used, whose numbers Python promises never to change, so that a seed gives
    the same bytes in every release.
    """
    generator = Random(seed)
    ldc_queries = list(groups.items())
    for number in range(1, resamples + 1):
        draws = [_draw(ldc_queries, generator) for _ in ldc_queries]
        yield " ".join([str(number), *draws]) + "\n"


def _draw(ldc_queries: Sequence[tuple[str, Sequence[str]]], generator: Random) -> str:
    """Return a random LDC query with its slot-filling queries in a random order: `CSX_0001:CSX_ENG_00fb79cef8,...`.

    `ldc_queries` has the id of each LDC query, and the ids of its slot-filling queries.
    """
    position = int(generator.random() * len(ldc_queries))
    ldc_id, sf_ids = ldc_queries[position]
    return f"{ldc_id}:{','.join(_shuffle(sf_ids, generator))}"


def _shuffle(ids: Sequence[str], generator: Random) -> list[str]:
    """Return ids in a random order, by the algorithm of Fisher and Yates.

    It draws one random number for each id but the first. All orders have the same probability.
    """
    shuffled_ids = list(ids)
    for last in range(len(shuffled_ids) - 1, 0, -1):
        other = int(generator.random() * (last + 1))
        shuffled_ids[last], shuffled_ids[other] = shuffled_ids[other], shuffled_ids[last]
    return shuffled_ids
