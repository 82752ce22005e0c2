"""Query files: XML by name, read by the reference scorer's rules; and which queries are scored (specification 3, 1.5).

The recorded scorer never parsed these files as XML: it takes every stretch from `<query ` to `</query>`, comments
included, and its tag pairs from left to right, values verbatim. Ids are hashed from those verbatim texts, so a parser
that decodes or repairs would give other ids. Beside that it is asked whether the file is well-formed, and what lxml
says of one that is not becomes a warning with a line number; it expands no entity and fetches nothing.
"""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.signing.origin import QUERIES
from cs_score.base.sources import Input, InputDigest, Source, is_pipe, name_of, open_source, plain_name
from cs_score.base.white_space import SPACE
from cs_score.coldstart.editions import LATEST, Edition
from cs_score.coldstart.provenance import DocumentLengths, Span, SpanProblem, cut_span, outside_document
from cs_score.coldstart.queries import (
    ENTRY_POINT_FIELDS,
    EntryPoint,
    Query,
    QuerySet,
    build_query_set,
    parse_query_id,
    query_id,
    report_languages,
)
from cs_score.problems.log import Detail, Place, ProblemLog

SINGLE_FIELDS: Final = ("ENTTYPE", "NODEID", "SLOT", "SLOT0", "SLOT1", "SLOT2")
SLOT_FIELDS: Final = ("SLOT0", "SLOT1", "SLOT2")

_QUERY_HEAD: Final = re.compile(rf'<query{SPACE}+id="')
_MENTION_TAGS: Final = re.compile("</?mentions?>")
_KNOWN_TAGS: Final = frozenset((*SINGLE_FIELDS, *ENTRY_POINT_FIELDS, "ENTRYPOINTS"))
# Possessive throughout, so that a pair which never closes is given up after one look, and begun at the first "<" only:
# where no pair begins there, none begins behind it.
_TAG_PAIR: Final = re.compile("[^<]*+<([^>]*+)>((?:[^<]++|<(?!/))*+)</([^>]*+)>")
_USUAL_DECLARATIONS: Final = (b"", b'<?xml version="1.0"', b'<?xml version="1.0" encoding="utf-8"')
_DIGITS: Final = re.compile(r"\d+")


class QueryFile(Record):
    """What one query file held: its queries in file order, a note on its XML where that is not well-formed."""

    queries: tuple[Query, ...]
    note: str | None
    digest: InputDigest


def is_query_file(name: str) -> bool:
    """Whether a file that is given beside runs and assessments holds queries: `*.xml`, perhaps compressed."""
    return plain_name(name).endswith(".xml")


def read_query_file(
    source: Source, problems: ProblemLog, documents: DocumentLengths | None = None, edition: Edition = LATEST
) -> QueryFile:
    """Read the queries of one file, whose spans are checked against `documents` where those are given.

    Raises InputError where the file is not UTF-8 or a query id cannot be parsed; other faults become problems.
    """
    data = source.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("not UTF-8", file=source.name, place=f"line {line}") from None
    queries = tuple(_queries(text, source.name, problems, documents, edition))
    return QueryFile(queries, _not_well_formed(data, source.name), source.digest(QUERIES))


def _not_well_formed(data: bytes, name: str) -> str | None:
    if _is_usual_xml(data):
        return None
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False)
    try:
        etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        return f"{name}: not well-formed XML ({error.msg}); its queries were read as far as they can be told"
    return None


def _is_usual_xml(data: bytes) -> bool:
    """Whether a file is surely well-formed; False where that is for lxml to say, which takes long to import.

    Expat may judge in another way what the first condition excludes.
    """
    from xml.parsers.expat import ExpatError, ParserCreate

    text = data.removeprefix(BOM_UTF8)
    declaration = text.partition(b"?>")[0].strip() if text.startswith(b"<?xml") else b""
    if declaration.lower() not in _USUAL_DECLARATIONS or b"<!DOCTYPE" in data or b"xml:id" in data:
        return False
    try:
        ParserCreate(namespace_separator=" ").Parse(data, True)
    except ExpatError:
        return False
    return True


def _queries(
    text: str, name: str, problems: ProblemLog, documents: DocumentLengths | None, edition: Edition
) -> Iterator[Query]:
    end = 0
    line, counted = 1, 0  # the line of the last query that was complained of, and where that query starts
    while (start := text.find("<query ", end)) >= 0:
        end = text.find("</query>", start)
        if end < 0:
            return
        body, end = text[start:end], end + len("</query>")
        head = _QUERY_HEAD.match(body)
        id_end = body.find('">', head.end()) if head else -1
        if head is None or id_end < 0:
            beginning = text[start:end][:25]
            line, counted = line + text.count("\n", counted, start), start
            problems.add(
                "MALFORMED_QUERY",
                f'Query starting with "{beginning}" in text beginning <<{beginning}>>',
                place=Place(name, line, "In file $filename"),
            )
            continue
        query = _read_query(body[head.end() : id_end], body[id_end + 2 :], name, problems, documents, edition)
        if query is not None:
            yield query


def _read_query(
    text_id: str, body: str, name: str, problems: ProblemLog, documents: DocumentLengths | None, edition: Edition
) -> Query | None:
    place = Place(name, f"In query {text_id}")
    parts = query_id(text_id, place)
    body, mention_tags = _MENTION_TAGS.subn("", body)
    fields, entry_points = _fields(body, place, problems, documents, edition)
    last_slot = max((hop for hop, tag in enumerate(SLOT_FIELDS) if tag in fields), default=None)
    query = Query(
        parts.prefix,
        parts.short,
        parts.base,
        slots=() if last_slot is None else tuple(fields.get(tag, "") for tag in SLOT_FIELDS[: last_slot + 1]),
        absent_slots=frozenset(hop for hop in range(last_slot or 0) if SLOT_FIELDS[hop] not in fields),
        entry_points=tuple(entry_points),
        place=place,
        entity_type=fields.get("ENTTYPE"),
        node_id=fields.get("NODEID"),
        slot=fields.get("SLOT"),
        has_mention_tags=mention_tags > 0,
    )
    report_languages(query, problems, edition=edition)
    if last_slot is None:
        return None
    for slot in query.unknown_slots(edition):
        if slot:  # a first slot that is missing is complained of only when the query is expanded
            problems.add("UNKNOWN_SLOT_NAME", slot)
    return query


def _fields(
    body: str, place: Place, problems: ProblemLog, documents: DocumentLengths | None, edition: Edition
) -> tuple[dict[str, str], list[EntryPoint]]:
    fields: dict[str, str] = {}
    entry_points: list[EntryPoint] = []
    current: dict[str, str] = {}
    for tag, value in _tag_pairs(body, place, problems):
        if tag in ENTRY_POINT_FIELDS:
            if tag in current:
                entry_points.append(_entry_point(current, place, problems, documents, edition))
                current = {}
            current[tag] = value
        elif tag == "ENTRYPOINTS" or tag in fields:
            problems.add("DUPLICATE_QUERY_FIELD", tag, place=place)
        else:
            fields[tag] = value
            if tag == "SLOT0":  # also the query's current slot, whatever <slot> said before
                fields["SLOT"] = value
    if current:
        entry_points.append(_entry_point(current, place, problems, documents, edition))
    return fields, entry_points


def _tag_pairs(body: str, place: Place, problems: ProblemLog) -> Iterator[tuple[str, str]]:
    at = 0
    while (pair := _TAG_PAIR.match(body, at)) is not None:
        at = pair.end()
        opening, value, closing = pair.groups()
        tag = opening.upper()
        if opening != closing and tag != closing.upper():
            problems.add("MISMATCHED_TAGS", tag, closing.upper(), place=place)
        if tag in _KNOWN_TAGS:
            yield tag, value
        else:
            problems.add("UNKNOWN_QUERY_FIELD", tag, place=place)


def _entry_point(
    fields: dict[str, str], place: Place, problems: ProblemLog, documents: DocumentLengths | None, edition: Edition
) -> EntryPoint:
    entry_point = EntryPoint(*map(fields.get, ENTRY_POINT_FIELDS))
    offsets = (entry_point.start or "", entry_point.end or "")
    span = Span(entry_point.docid or "", *offsets)
    bad = [offset for offset in offsets if not _DIGITS.fullmatch(offset)]
    found = [SpanProblem("ILLEGAL_OFFSET", (offset,), offset) for offset in bad]
    if not bad:
        cut, of_length = cut_span(span, edition.longest_span)
        found += of_length
        offsets = (cut or span)[1:]
    if documents is not None:
        found += outside_document(span, tuple(offset for offset in offsets if offset not in bad), documents)
    for code, arguments, text, repaired in found:
        problems.add(code, *arguments, place=place, detail=Detail(None, text, repaired))
    return entry_point


class QueryFiles(Record):
    """The queries of some files: the query table, remarks on the files, and their digests."""

    table: QuerySet
    remarks: list[str]
    digests: list[InputDigest]


def load_queries(
    files: Iterable[Input],
    base: str | None,
    problems: ProblemLog,
    documents: DocumentLengths | None = None,
    edition: Edition = LATEST,
) -> QueryFiles:
    """Read query files and expand the queries where a `base` of the new names is given.

    Raises InputError where a file cannot be read or an id cannot be parsed.
    """
    loaded: list[Query] = []
    names: list[str] = []
    remarks: list[str] = []
    digests: list[InputDigest] = []
    for given in files:
        names.append(name_of(given))
        with open_source(given) as source:
            query_file = read_query_file(source, problems, documents, edition)
        loaded += query_file.queries
        digests.append(query_file.digest)
        if query_file.note is not None:
            remarks.append(query_file.note)
    if names and not loaded:
        shown = ", ".join(names)
        problems.add("NO_QUERIES_LOADED", place=Place(shown, 0, f"files({shown})"))
    return QueryFiles(build_query_set(loaded, base, problems, edition), remarks, digests)


_SPACES: Final = re.compile(f"{SPACE}+")
_LEADING_NUMBER: Final = re.compile(r"[-+]?[0-9]{1,9}(\.[0-9]{0,9})?")


class Selection(NamedTuple):
    """Short id of each query to score -> the highest hop that is scored, and -> the LDC id that a file lists it under.

    The last LDC id counts where a file has several, as in the program that draws resamples.
    """

    hop_limits: dict[str, int]
    ldc_ids: dict[str, str]


def select_queries(choice: str | None, queries: QuerySet, problems: ProblemLog) -> Selection:
    """The queries to score.

    `choice` is the value of `-queries`: None for all queries, the name of a file, or a colon-separated list of ids.
    Raises InputError for ids that cannot be parsed and for impossible hop limits.
    """
    if choice is None:
        return Selection({query.short_id: len(query.slots) - 1 for query in queries.scored_by_default()}, {})
    if os.path.isfile(choice):
        return _from_file(choice, queries, problems)
    if is_pipe(choice):
        raise InputError("-queries is read from a file, not from a pipe", file=choice, remedy="write it into a file")
    selected: dict[str, int] = {}
    for text in choice.rstrip(":").split(":") if choice.rstrip(":") else ():
        query = _find(text, queries, problems, "-queries", None)
        if query is not None:
            selected.update(_limits(query, len(query.slots) - 1, selected))
    return Selection(selected, {})


def _from_file(name: str, queries: QuerySet, problems: ProblemLog) -> Selection:
    limits_of: dict[str, float] = {}
    listed: list[tuple[int, str, str, float | None]] = []
    for number, columns in _columns(name):
        ldc_id, text, hops, *_ = (*columns, "", "", "")
        limit = _hop_limit(hops)
        compared = -1.0 if limit is None else limit
        if limits_of.setdefault(ldc_id, compared) != compared:
            raise InputError(f"{ldc_id} has multiple/conflicting num_slots in {name}", place=f"line {number}")
        listed.append((number, ldc_id, text, limit))
    selected: dict[str, int] = {}
    ldc_ids: dict[str, str] = {}
    for number, ldc_id, text, limit in listed:
        query = _find(text, queries, problems, name, number)
        if query is None:
            continue
        most = len(query.slots) - 1
        if limit is None:
            limit = most
        if not 0 <= limit <= most:
            raise InputError(
                f"Unexpected num_slots value {limit:g} for {ldc_id} in {name}",
                place=f"line {number}",
                remedy=f"the hop limit of this query is 0 to {most}",
            )
        limits = _limits(query, int(limit), selected)
        selected.update(limits)
        if ldc_id:
            ldc_ids.update(dict.fromkeys(limits, ldc_id))
    return Selection(selected, ldc_ids)


def _columns(name: str) -> Iterator[tuple[int, list[str]]]:
    try:
        with open(name, encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, 1):
                columns = _SPACES.split(line)
                while columns and not columns[-1]:
                    columns.pop()
                yield number, columns
    except UnicodeDecodeError:
        raise InputError("not UTF-8", file=name) from None


def _hop_limit(text: str) -> float | None:
    if not text:
        return None
    match = _LEADING_NUMBER.match(text)
    return float(match.group()) if match else 0.0


def _find(text: str, queries: QuerySet, problems: ProblemLog, file: str, line: int | None) -> Query | None:
    parts = parse_query_id(text)
    if parts is None:
        raise InputError(
            f'unexpected argument: "{text}" sent to parse_queryid',
            file=file,
            place=None if line is None else f"line {line}",
            remedy="each line needs two columns, an LDC id and a slot-filling query id"
            if line
            else f"no file is called {text}, so it was taken for the id of a query",
        )
    query = queries.by_id.get(parts.short)
    if query is None:
        problems.add("UNKNOWN_QUERY_ID_WARNING", parts.short)
    return query


def _limits(query: Query, limit: int, selected: dict[str, int]) -> dict[str, int]:
    if query.expansions is None:
        return {query.short_id: limit}
    return {short_id: selected.get(short_id, 0) for short_id in query.expansions}
