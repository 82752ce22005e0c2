"""Check, repair, expand, generate and write query files, and draw resamples of their queries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from operator import attrgetter
from random import Random
from typing import Final, TypeAlias
from xml.sax.saxutils import escape

from cs_score.base.display import join_first
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
_YIELDS: Final = re.compile(r"(.+?)_of_")
_STARTS_FROM: Final = (re.compile(rf"(.*_of_)({_PLACE})", re.DOTALL), re.compile(rf"(.*_in_)({_PLACE})", re.DOTALL))


class Misfit(StrEnum):
    """The treatment of a query whose slots do not fit."""

    NONE = "none"
    REPAIR = "repair"
    DELETE_SLOT = "delete-slot"
    DELETE_QUERY = "delete-query"


TYPE_ACTIONS: Final = (Misfit.NONE, Misfit.DELETE_SLOT, Misfit.DELETE_QUERY)


class Duplicates(StrEnum):
    """The treatment of queries that share an entry point."""

    NONE = "none"
    IGNORE = "ignore"
    DELETE = "delete"


class QueryOptions(Record):
    """How queries are validated.

    `types` is the treatment of queries whose entity types do not fit, `places` that of queries whose kinds of places do
    not fit, `duplicates` that of queries with the same entry point. `base` is the first part of the names of expanded
    queries, None for no expansion. `languages` are the names of the languages whose queries are written, None for all.
    With `only_slot_filling` slots about events and sentiments are left out.
    """

    types: Misfit
    places: Misfit
    duplicates: Duplicates
    base: str | None
    languages: frozenset[str] | None
    only_slot_filling: bool


def _fit_slots(queries: Iterable[Query], options: QueryOptions, problems: ProblemLog) -> Iterator[Query]:
    """Yield the queries that are kept, with the slots that are kept; slots that do not fit are reported."""
    for query in queries:
        fitting_query: Query | None = query
        if options.types is not Misfit.NONE:
            fitting_query = _fitting_types(query, options.types, problems)
        if fitting_query is not None and options.places is not Misfit.NONE:
            fitting_query = _fitting_places(fitting_query, options.places, problems)
        if fitting_query is None:
            continue
        report_slots(query, problems)  # the reference reports the slots of the query as it was read, before cuts
        for old_slot, new_slot in zip(query.slots, fitting_query.slots):
            if old_slot != new_slot and find_predicate(new_slot) is None:
                problems.add("UNKNOWN_SLOT_NAME", new_slot)
        yield fitting_query


def _fitting_types(query: Query, action: Misfit, problems: ProblemLog) -> Query | None:
    """Return a query after checking that each slot applies to entities of the types that the slot before it yields.

    If a slot does not, it is reported. Depending on `action` the query is then deleted (None), cut, or kept.
    """
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
    """Return a list with a remark on queries that `-types` deletes or cuts because of capitals in their `<enttype>`."""
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
    types = join_first(dict.fromkeys(query.entity_type for query in capitals))
    line = line_to_type(r"sed -E 's#<enttype>([^<]*)#<enttype>\L\1#'", file, "small")
    return [f"{len(capitals)} queries are {effect} because their <enttype> ({types}) is not in small letters: {line}"]


def _fitting_places(query: Query, action: Misfit, problems: ProblemLog) -> Query | None:
    """Return a query after checking that each slot is about the kind of place that the slot before it yields.

    If a slot is not, it is reported. Depending on `action` the query is then deleted (None), cut, repaired, or kept.
    """
    slots = list(query.slots)
    for hop, slot in enumerate(query.slots[:-1]):
        next_slot = query.slots[hop + 1]
        if find_predicate(slot) is None:
            continue
        name = slot.partition(":")[2]
        yields = _YIELDS.match(name)
        starts_from = _STARTS_FROM[0].fullmatch(next_slot) or _STARTS_FROM[1].fullmatch(next_slot)
        if yields is None or yields.group(1) not in _PLACES or starts_from is None:
            continue
        place = _PLACES[yields.group(1)]
        if place == _PLACES[starts_from.group(2)]:
            continue
        problems.add("MISMATCHED_HOP_SUBTYPES", query.short_id, name, next_slot.partition(":")[2])
        if action is Misfit.DELETE_QUERY:
            return None
        if action is Misfit.DELETE_SLOT:
            return replace(query, slots=query.slots[: hop + 1])
        if action is Misfit.REPAIR:
            slots[hop + 1] = starts_from.group(1) + place
    return replace(query, slots=tuple(slots))


class ValidatedQueries(Record):
    """The queries to write, and the index: the full id of each expanded query with that of its original query."""

    queries: tuple[Query, ...]
    index: tuple[tuple[str, str], ...]


def validate_queries(loaded: QuerySet, options: QueryOptions, problems: ProblemLog) -> ValidatedQueries:
    """Check and repair queries, and return those to write with the index of the expanded ones."""
    queries: Iterable[Query] = loaded.by_id.values()
    if options.types is not Misfit.NONE or options.places is not Misfit.NONE:
        queries = _fit_slots(queries, options, problems)
    # Sorted by id: of two queries with the same expansion the last one counts (rule shared-slot-filling-ids).
    ordered = sorted(queries, key=attrgetter("short_id"))
    if options.duplicates is not Duplicates.NONE:
        ordered = list(_without_duplicates(ordered, options.duplicates, problems))
    table = build_query_set(ordered, options.base, problems)
    chosen = {query.short_id: query for query in table.scored_by_default() if _is_chosen(query, options)}
    index = []
    for short_id, ldc_id in sorted(table.ldc_id_by_query.items()):
        if short_id in chosen:
            index.append((chosen[short_id].full_id, table.by_id[ldc_id].full_id))
    written_queries = tuple([_as_written(query, options) for query in chosen.values()])
    return ValidatedQueries(written_queries, tuple(index))


def decoded_name(name: str) -> str:
    """Return the name of an entry point with its XML entities decoded: `A&amp;B` -> `A&B`; unknown ones are removed."""
    *texts, rest = name.split(";")
    decoded = ""
    for text in texts:  # the text from its first "&" on is an entity
        before, ampersand, entity = text.partition("&")
        decoded += before + _ENTITIES.get(entity, "") if ampersand else f"{text};"
    return decoded + rest


def _without_duplicates(queries: Iterable[Query], action: Duplicates, problems: ProblemLog) -> Iterator[Query]:
    """Yield the queries that are kept; warn of queries with the entry point or the name of an earlier query."""
    query_by_span: dict[str, str] = {}
    query_by_name: dict[str, str] = {}
    for query in queries:
        is_duplicate = _has_earlier_span(query, query_by_span, problems)
        if not is_duplicate:
            _report_earlier_name(query, query_by_name, problems)
        if not is_duplicate or action is Duplicates.IGNORE:
            yield query


def _has_earlier_span(query: Query, query_by_span: dict[str, str], problems: ProblemLog) -> bool:
    """Return whether a query has the slots and an entry point of an earlier query; report it if so.

    `query_by_span` has the short ids of earlier queries by span and slots. The spans of this query are added, up to the
    first one that an earlier query has.
    """
    slots = ":".join(query.slots)
    for point in query.entry_points:
        span = f"{point.docid or ''}:{point.start or ''}:{point.end or ''}:{slots}"
        if span in query_by_span:
            problems.add("DUPLICATE_QUERY", query_by_span[span], query.short_id)
            return True
        query_by_span[span] = query.short_id
    return False


def _report_earlier_name(query: Query, query_by_name: dict[str, str], problems: ProblemLog) -> None:
    """Report a query with the slots and the name of an earlier query.

    `query_by_name` has the short ids of earlier queries by name and slots; the names of this query are added.
    """
    slots = ":".join(query.slots)
    for point in query.entry_points:
        name = decoded_name(point.name or "")
        earlier_id = query_by_name.setdefault(f"{name}:{slots}", query.short_id)
        if earlier_id != query.short_id:
            problems.add("POSSIBLE_DUPLICATE_QUERY", earlier_id, query.short_id, name)
            return


def _is_chosen(query: Query, options: QueryOptions) -> bool:
    """Return whether a query is written: the options include its first slot and one of its languages."""
    if options.only_slot_filling and _is_event_or_sentiment(query.slot_at(0) or ""):
        return False
    if options.languages is None:
        return True
    for entry_point in query.entry_points:
        # A document whose id does not tell the language is taken for English.
        code = language_code(entry_point.docid or "") or DEFAULT_CODE
        if LANGUAGES[code] in options.languages:
            return True
    return False


def _as_written(query: Query, options: QueryOptions) -> Query:
    """Return a query in the form in which it is written, without `<slot>` and `<nodeid>`.

    With `only_slot_filling` a second slot about events or sentiments is left out.
    """
    query = replace(query, slot=None, node_id=None)
    if options.only_slot_filling and _is_event_or_sentiment(query.slot_at(1) or ""):
        return replace(query, absent_slots=query.absent_slots | {1})  # the third slot is not looked at
    return query


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
    """Yield the lines of a query in a query file. Raises InputError if a required field is missing."""
    full_id = query.full_id
    if query.base_id != query.short_id:
        # The id of a query about an answer contains its base id before its own id (rule second-round-ids).
        full_id = f"{query.prefix or ''}_{query.base_id}_{query.short_id}"
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
        raise _missing_field("ENTTYPE", full_id)
    if not query.slots or 0 in query.absent_slots:
        raise _missing_field("SLOT0", full_id)
    fields = [("enttype", query.entity_type), ("nodeid", query.node_id), ("slot", query.slot)]
    for hop, slot in enumerate(query.slots):
        if hop not in query.absent_slots:
            fields.append((f"slot{hop}", slot))
    for tag, value in fields:
        if value is not None:
            yield f"    <{tag}>{value}</{tag}>"
    yield "  </query>"


def _entry_point_lines(entry_point: EntryPoint, full_id: str, indent: str) -> Iterator[str]:
    """Yield the lines of an entry point. Raises InputError if a field other than the offset is missing."""
    values = (entry_point.name, entry_point.docid, entry_point.start, entry_point.end, entry_point.offset)
    for field, value in zip(ENTRY_POINT_FIELDS, values):
        if value is not None:
            yield f"{indent}<{field.lower()}>{value}</{field.lower()}>"
        elif field != "OFFSET":
            raise _missing_field(f"<{field}>", full_id)


def _missing_field(field: str, full_id: str) -> InputError:
    """Return the error of a query that lacks a field."""
    return InputError(
        f"Missing query field: {field}",
        place=f"query {full_id}",
        remedy="no query file can be written without it",
        code="MISSING_QUERY_FIELD",
    )


def first_round(queries: Iterable[Query]) -> list[Query]:
    """Return the queries of the first round: all queries, with their first slot as `<slot>`."""
    first_queries = []
    for query in queries:
        slot = None if 0 in query.absent_slots else query.slot_at(0)
        first_queries.append(replace(query, slot=slot))
    return first_queries


def second_round(responses: Iterable[Response], *, is_xml: bool) -> list[Query]:
    """Return the queries of the second round: a query about each answer whose value type fits the next slot.

    If several answers have the same follow-on id, the last one counts. With `is_xml` names are escaped as in XML.
    Discarded lines have queries, too (rule queries-of-discarded-lines).
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
            prefix=response.query.full_id,
            short_id=response.target,
            base_id=response.target,
            slots=slots,
            entry_points=(EntryPoint(name, span.docid, span.start, span.end),),
            place=response.place,
            entity_type=slots[0].partition(":")[0],
            slot=slots[0],
        )
    return list(queries.values())


Groups: TypeAlias = Mapping[str, Sequence[str]]
"""The ids of the SF queries of each LDC query, by its id; all as written in the file and sorted as text."""

_COLUMN: Final = re.compile(f"{NO_SPACE}+")


def read_groups(file: Input) -> dict[str, list[str]]:
    """Return the groups of queries in a query index: lines `LDC_ID SF_ID`, with white space between the columns.

    If an SF id is repeated, the last LDC id counts; an LDC id that is left without SF ids is not returned. Further
    columns and blank lines are ignored. Bytes that are not UTF-8 are kept unchanged.

    Raises InputError if the file cannot be read, if a line has only one column, or if the two columns are exchanged.
    """
    with open_source(file) as source:
        text = source.read_bytes().decode("utf-8-sig", "surrogateescape")
    ldc_id_by_query: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        columns = _COLUMN.findall(line)
        if not columns:
            continue
        if len(columns) == 1:
            raise InputError(
                f"{columns[0]} has no SF query id",
                file=source.name,
                place=f"line {number}",
                remedy="every line needs an LDC query id and an SF query id",
            )
        ldc_id, sf_id = columns[:2]
        ldc_id_by_query[sf_id] = ldc_id
    if _are_columns_exchanged(ldc_id_by_query):
        raise InputError(
            "the columns are the other way round: SF_ID LDC_ID, as validate-queries -index_file writes them",
            file=source.name,
            remedy="every line needs an LDC query id and then an SF query id; awk '{ print $2, $1 }' exchanges them",
        )
    groups: dict[str, list[str]] = {}
    for sf_id in sorted(ldc_id_by_query):
        groups.setdefault(ldc_id_by_query[sf_id], []).append(sf_id)
    return dict(sorted(groups.items()))


def _are_columns_exchanged(ldc_id_by_query: Mapping[str, str]) -> bool:
    """Return whether an index has its two columns exchanged: all its LDC ids, and no SF id, are slot-filling ids."""
    for sf_id, ldc_id in ldc_id_by_query.items():
        if _is_slot_filling(sf_id) or not _is_slot_filling(ldc_id):
            return False
    return bool(ldc_id_by_query)


def _is_slot_filling(text: str) -> bool:
    """Return whether a text is the id of a slot-filling query."""
    parts = parse_query_id(text)
    return parts is not None and parts.expanded


def resample_lines(groups: Groups, resamples: int, seed: int) -> Iterator[str]:
    """Yield the lines of a file of resamples, numbered from 1: `1 LDC_ID:SF_ID,SF_ID,... ...` with a line feed.

    A resample draws as many LDC queries as there are, uniformly and with replacement. All SF queries of a drawn LDC
    query are written in a random order; the scorer uses the first one as the entry point. Only `random.Random.random`
    is used, whose numbers Python promises never to change, so that a seed gives the same bytes in every release.
    """
    random = Random(seed).random
    ldc_queries = list(groups.items())
    for number in range(1, resamples + 1):
        columns = [str(number)]
        for _ in ldc_queries:
            ldc_id, sf_ids = ldc_queries[int(random() * len(ldc_queries))]
            shuffled_ids = list(sf_ids)
            for last in range(len(shuffled_ids) - 1, 0, -1):  # Fisher and Yates
                chosen = int(random() * (last + 1))
                shuffled_ids[last], shuffled_ids[chosen] = shuffled_ids[chosen], shuffled_ids[last]
            columns.append(f"{ldc_id}:{','.join(shuffled_ids)}")
        yield " ".join(columns) + "\n"
