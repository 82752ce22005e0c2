"""Query files: XML by name, read by the reference scorer's own rules (specification 3.1 to 3.3).

The recorded scorer never parsed these files as XML: it takes every stretch from `<query ` to `</query>`, comments
included, and its tag pairs from left to right, values verbatim. Ids are hashed from those verbatim texts, so a parser
that decodes or repairs would give other ids. Beside that it is asked whether the file is well-formed, and what lxml
says of one that is not becomes a warning with a line number; it expands no entity and fetches nothing.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.patterns import pattern
from cs_score.base.records import Record
from cs_score.base.signing.origin import QUERIES
from cs_score.base.sources import InputDigest, Source, plain_name
from cs_score.base.white_space import SPACE
from cs_score.coldstart.queries.query_set import (
    ENTRY_POINT_FIELDS,
    EntryPoint,
    Query,
    query_id,
    report_languages,
)
from cs_score.coldstart.spans import DocumentLengths, Span, SpanProblem, cut_span, outside_document
from cs_score.problems.log import Detail, Place, ProblemLog

SINGLE_FIELDS: Final = ("ENTTYPE", "NODEID", "SLOT", "SLOT0", "SLOT1", "SLOT2")
SLOT_FIELDS: Final = ("SLOT0", "SLOT1", "SLOT2")

_QUERY_HEAD: Final = pattern(rf'<query{SPACE}+id="')
_MENTION_TAGS: Final = pattern("</?mentions?>")
_KNOWN_TAGS: Final = frozenset((*SINGLE_FIELDS, *ENTRY_POINT_FIELDS, "ENTRYPOINTS"))
# Possessive throughout, so that a pair which never closes is given up after one look, and begun at the first "<" only:
# where no pair begins there, none begins behind it.
_TAG_PAIR: Final = pattern("[^<]*+<([^>]*+)>((?:[^<]++|<(?!/))*+)</([^>]*+)>")
_USUAL_DECLARATIONS: Final = (b"", b'<?xml version="1.0"', b'<?xml version="1.0" encoding="utf-8"')
_DIGITS: Final = pattern(r"\d+")


class QueryFile(Record):
    """What one query file held: its queries in file order, a note on its XML where that is not well-formed."""

    queries: tuple[Query, ...]
    note: str | None
    digest: InputDigest


def is_query_file(name: str) -> bool:
    """Whether a file that is given beside runs and assessments holds queries: `*.xml`, perhaps compressed."""
    return plain_name(name).endswith(".xml")


def read_query_file(source: Source, problems: ProblemLog, documents: DocumentLengths | None = None) -> QueryFile:
    """Read the queries of one file, whose spans are checked against `documents` where those are given.

    Raises InputError where the file is not UTF-8 or a query id cannot be parsed; other faults become problems.
    """
    data = source.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("not UTF-8", file=source.name, place=f"line {line}") from None
    queries = tuple(_queries(text, source.name, problems, documents))
    return QueryFile(queries, _not_well_formed(data, source.name), source.digest(QUERIES))


def _not_well_formed(data: bytes, name: str) -> str | None:
    """lxml's complaint about a file that is not well-formed XML, or None."""
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


def _queries(text: str, name: str, problems: ProblemLog, documents: DocumentLengths | None) -> Iterator[Query]:
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
        query = _read_query(body[head.end() : id_end], body[id_end + 2 :], name, problems, documents)
        if query is not None:
            yield query


def _read_query(
    text_id: str, body: str, name: str, problems: ProblemLog, documents: DocumentLengths | None
) -> Query | None:
    place = Place(name, f"In query {text_id}")
    parts = query_id(text_id, place)
    body, mention_tags = _MENTION_TAGS.subn("", body)
    fields, entry_points = _fields(body, place, problems, documents)
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
    report_languages(query, problems)
    if last_slot is None:
        return None
    for slot in query.unknown_slots:
        if slot:  # a first slot that is missing is complained of only when the query is expanded
            problems.add("UNKNOWN_SLOT_NAME", slot)
    return query


def _fields(
    body: str, place: Place, problems: ProblemLog, documents: DocumentLengths | None
) -> tuple[dict[str, str], list[EntryPoint]]:
    """The fields of a query, and its entry points: a field that repeats begins another one."""
    fields: dict[str, str] = {}
    entry_points: list[EntryPoint] = []
    current: dict[str, str] = {}
    for tag, value in _tag_pairs(body, place, problems):
        if tag in ENTRY_POINT_FIELDS:
            if tag in current:
                entry_points.append(_entry_point(current, place, problems, documents))
                current = {}
            current[tag] = value
        elif tag == "ENTRYPOINTS" or tag in fields:
            problems.add("DUPLICATE_QUERY_FIELD", tag, place=place)
        else:
            fields[tag] = value
            if tag == "SLOT0":  # also the query's current slot, whatever <slot> said before
                fields["SLOT"] = value
    if current:
        entry_points.append(_entry_point(current, place, problems, documents))
    return fields, entry_points


def _tag_pairs(body: str, place: Place, problems: ProblemLog) -> Iterator[tuple[str, str]]:
    """The known tags of a query body with their values, from left to right, without nesting."""
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
    fields: dict[str, str], place: Place, problems: ProblemLog, documents: DocumentLengths | None
) -> EntryPoint:
    """An entry point from its collected fields; faults of its span are reported and change nothing (3.3)."""
    entry_point = EntryPoint(*map(fields.get, ENTRY_POINT_FIELDS))
    offsets = (entry_point.start or "", entry_point.end or "")
    span = Span(entry_point.docid or "", *offsets)
    bad = [offset for offset in offsets if not _DIGITS.fullmatch(offset)]
    found = [SpanProblem("ILLEGAL_OFFSET", (offset,), offset) for offset in bad]
    if not bad:
        cut, of_length = cut_span(span)
        found += of_length
        offsets = (cut or span)[1:]
    if documents is not None:
        found += outside_document(span, tuple(offset for offset in offsets if offset not in bad), documents)
    for code, arguments, text, repaired in found:
        problems.add(code, *arguments, place=place, detail=Detail(None, text, repaired))
    return entry_point
