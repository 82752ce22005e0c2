"""Queries: ids and hashes, languages, slots, the query table; query files and which queries are scored.

The recorded scorer never parsed query files as XML: it takes every stretch from `<query ` to `</query>`, comments
included, and its tag pairs from left to right, values verbatim. Ids are hashed from those verbatim texts, so a parser
that decodes or repairs would give other ids. What lxml says of a file that is not well-formed becomes a remark.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from json.encoder import encode_basestring
from typing import Final, NamedTuple

from cs_score.base import sources
from cs_score.base.display import some
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.base.signature import QUERIES
from cs_score.base.sources import SPACE, Input, InputDigest
from cs_score.coldstart.forms import decoded_text, why_no_queries, without_blanks
from cs_score.coldstart.options import LATEST, Edition, listed
from cs_score.coldstart.tab_files import DocumentLengths, Span, SpanProblem, cut_span, outside_document
from cs_score.problems.log import Detail, Place, ProblemLog

_md5: Callable[[bytes], hashlib._Hash] = functools.partial(hashlib.md5, usedforsecurity=False)
with contextlib.suppress(ImportError):  # OpenSSL's, which hashlib prefers, takes half as long again for short texts
    _md5 = importlib.import_module("_md5").md5

_NIL_NAMESPACE: Final = bytes(16)

_SLOT_FILLING_ID: Final = re.compile(r"(?:(.+)_)?([0-9a-fA-F]{10})((?:_[0-9a-fA-F]{12})*)")
_LDC_ID: Final = re.compile(r"(?:(.+)_)?(\d+)")


class QueryId(NamedTuple):
    """The parts of a query id: `base` names the query of the first hop, `short` is the last component, the key of the
    query table; `level` is 0 or 1; `expanded`: the id has the ten-digit form.
    """

    prefix: str | None
    base: str
    short: str
    level: int
    expanded: bool


def parse_query_id(text: str) -> QueryId | None:
    if match := _SLOT_FILLING_ID.fullmatch(text):
        prefix, base, follow_on = match.groups()
        return QueryId(prefix, base, follow_on[-12:] or base, 1 if follow_on else 0, True)
    if match := _LDC_ID.fullmatch(text):
        prefix, number = match.groups()
        return QueryId(prefix, number, number, 0, False)
    return None


def read_query_id(
    text: str, remedy: str, *, file: str | None = None, place: str | None = None, code: str | None = None
) -> QueryId:
    """The parts of `text`. Raises InputError if it is no query id."""
    parts = parse_query_id(text)
    if parts is None:
        problem = f'unexpected argument: "{text}" sent to parse_queryid'
        raise InputError(problem, file=file, place=place, remedy=remedy, code=code)
    return parts


def follow_on_id(query_id: str, value: str, provenance: str, edition: Edition = LATEST) -> str:
    """The twelve-digit id of the query about an answer with this canonical provenance (rule follow-on-queries). It is
    hashed of a JSON string, text outside ASCII in a double UTF-8 encoding, as the ids published since 2017 were.
    """
    name = encode_basestring(f"{query_id}:{value}:{provenance}")[1:-1].encode("utf-8", "surrogatepass")
    if not (edition.hashes_text_once or name.isascii()):
        name = name.decode("latin-1").encode("utf-8")
    return _md5(_NIL_NAMESPACE + name).hexdigest()[-12:]


DEFAULT_LANGUAGE: Final = "ENGLISH"
DEFAULT_CODE: Final = "ENG"


def language_code(docid: str, edition: Edition = LATEST) -> str | None:
    """`CMN`, `SPA` or `ENG`, or None where the id gives none (English is then assumed)."""
    text = docid.upper()
    if text.startswith(("CMN", "SPA")):
        return text[:3]
    is_english = text.startswith("ENG_") or "_ENG_" in text or (edition.finds_english_anywhere and "ENG" in text)
    return "ENG" if is_english else None


ENTITY_TYPES: Final = frozenset(("per", "gpe", "org", "fac", "loc"))

NODE_TYPES: Final = ENTITY_TYPES | frozenset(
    "string conflict.attack conflict.demonstrate contact.broadcast contact.contact "
    "contact.correspondence contact.meet justice.arrest-jail life.die life.injure manufacture.artifact "
    "movement.transport-artifact movement.transport-person personnel.elect personnel.end-position "
    "personnel.start-position transaction.transaction transaction.transfer-money "
    "transaction.transfer-ownership".split()
)
"""Legal value types, lower case."""


class Predicate(Record):
    """One slot: its name for entities of the types in `domain`, filled by those in `range`, of which `usual` is the
    first in the inventory (empty for predicates of users); `single`: it takes one value.
    """

    name: str
    domain: frozenset[str]
    range: frozenset[str]
    single: bool
    inverse: str | None
    usual: str = ""


@functools.cache
def inventory() -> dict[tuple[str, str], Predicate]:
    table: dict[tuple[str, str], Predicate] = {}
    with open(os.path.join(os.path.dirname(__file__), "predicates.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    for domain, name, quantity, range_, inverse in rows:
        types, filled_by = frozenset(domain.split(",")), range_.split(",")
        predicate = Predicate(name, types, frozenset(filled_by), quantity == "single", inverse or None, filled_by[0])
        table |= {(node_type, name): predicate for node_type in types}
    return table


@functools.lru_cache(maxsize=4096)
def find_predicate(slot: str) -> Predicate | None:
    """Return the predicate of a slot text such as `per:children`, or None if there is none.

    One line feed at the end of the text is ignored here, as the reference's pattern does, and nowhere else.
    """
    domain, _, name = slot.removesuffix("\n").partition(":")
    return inventory().get((domain, name))


@functools.cache
def slots_without_events() -> frozenset[str]:
    """The slots that there were before events and sentiments."""
    later = "likes dislikes is_liked_by is_disliked_by pronominal_mention normalized_mention".split()
    of_entities = ((domain, name) for domain, name in inventory() if domain in ENTITY_TYPES and name not in later)
    return frozenset(f"{domain}:{name}" for domain, name in of_entities if "." not in name)


def has_slot(slot: str, edition: Edition) -> bool:
    """Return whether the inventory of an edition has a slot."""
    if edition.slot_filling_only:
        return slot.removesuffix("\n") in slots_without_events()
    return find_predicate(slot) is not None


ENTRY_POINT_FIELDS: Final = ("NAME", "DOCID", "BEG", "END", "OFFSET")


class EntryPoint(Record):
    """A mention of the query's entity, as it stands in the query file; an absent field is None."""

    name: str | None
    docid: str | None
    start: str | None
    end: str | None
    offset: str | None = None

    def query_id(self, slots: tuple[str, ...]) -> str:
        """The ten-digit id of the query with this entry point and these slots, texts as in the query file."""
        name = ":".join((self.docid or "", self.start or "", self.end or "", *slots)).encode("utf-8", "surrogatepass")
        return _md5(_NIL_NAMESPACE + name).hexdigest()[-10:]


class Query(Record):
    """A query from a file, or one made from an entry point of such a query. `short_id` is its key in the query table,
    `base_id` the id of the query it starts from; `slots` by hop are empty for those left out before the last, and
    `absent_slots` those that are not written; `slot` is the one that lines are to fill, None if the first one is
    unknown; `is_of_slot_only`: the file names no other; `expansions` are the short ids of the queries made of its entry
    points, None where it was not expanded.
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
    is_of_slot_only: bool = False
    expansions: tuple[str, ...] | None = None

    @property
    def full_id(self) -> str:
        return f"{self.prefix or ''}_{self.short_id}"

    @property
    def requested_slots(self) -> tuple[str, ...]:
        """Return the slots that lines are to fill, by hop: `slot` and those after the first one."""
        return (self.slot or "", *self.slots[1:])

    def slot_at(self, hop: int) -> str | None:
        return self.slots[hop] if hop < len(self.slots) else None


class QuerySet(Record, dict=True):
    """The query table: every query by short id, and that of the LDC query that a slot-filling query was made from."""

    by_id: Mapping[str, Query]
    ldc_of: Mapping[str, str]
    was_expanded: bool
    edition: Edition = LATEST

    def scored_by_default(self) -> Iterator[Query]:
        """The queries that are scored unless others are named: all that were not replaced by their expansions."""
        return (query for query in self.by_id.values() if query.expansions is None)

    def would_expand_to(self, short_id: str) -> bool:
        """Return whether queries were not expanded, and expanding them would make one of that id."""
        return not self.was_expanded and short_id in self._ids_of_entry_points

    @cached_property
    def _ids_of_entry_points(self) -> frozenset[str]:
        """The ids of the queries that would be made from entry points; made once, since every wrong line asks."""
        ids: set[str] = set()
        for query in self.by_id.values():
            for point in query.entry_points:
                ids.add(point.query_id(query.slots))
        return frozenset(ids)


def report_languages(query: Query, problems: ProblemLog, times: int = 1, edition: Edition = LATEST) -> None:
    """Warn of the entry points whose language is guessed; the reference counts this at every use of a query."""
    for docid in (entry_point.docid or "" for entry_point in query.entry_points):
        if language_code(docid, edition) is None:
            problems.add("FAILED_LANG_INFERENCE", docid, DEFAULT_LANGUAGE, place=query.place, times=times)


def report_slots(query: Query, problems: ProblemLog, times: int = 1, edition: Edition = LATEST) -> None:
    """Report the slots that the inventory lacks; the reference counts this at every use of a query."""
    for slot in query.slots:
        if not has_slot(slot, edition):
            problems.add("UNKNOWN_SLOT_NAME", slot, times=times)


def build_query_set(
    loaded: Iterable[Query], base: str | None, problems: ProblemLog, edition: Edition = LATEST
) -> QuerySet:
    """The query table: later queries take the place of earlier ones with the same short id; with `base`, the first part
    of the new names, they are split by entry point.
    """
    by_id = {query.short_id: query for query in loaded}
    if base is None:
        return QuerySet(by_id, {}, False, edition)
    for query in list(by_id.values()):
        report_languages(query, problems, edition=edition)
        report_slots(query, problems, len(query.entry_points), edition)
        expansions: dict[str, Query] = {}
        for point in query.entry_points:
            short_id, docid = point.query_id(query.slots), point.docid or ""
            prefix = f"{base}_{language_code(docid, edition) or DEFAULT_CODE}"
            expansions[short_id] = Query(
                prefix=prefix,
                short_id=short_id,
                base_id=short_id,
                slots=query.slots,
                entry_points=(point,),
                place=query.place,
                entity_type=query.entity_type,
                slot=query.slots[0] if query.slots else None,
            )
        # The query itself first: a slot-filling query makes way for its own expansion.
        by_id |= {query.short_id: replace(query, expansions=tuple(expansions)), **expansions}
    ldc_of = {expansion: short_id for short_id, query in sorted(by_id.items()) for expansion in query.expansions or ()}
    return QuerySet(by_id, ldc_of, True, edition)


SLOT_FIELDS: Final = ("SLOT0", "SLOT1", "SLOT2")

_QUERY: Final = re.compile("(<query .*?)</query>", re.DOTALL)
_QUERY_HEAD: Final = re.compile(rf'<query{SPACE}+id="(.*?)">', re.DOTALL)
_MENTION_TAGS: Final = re.compile("</?mentions?>")
_KNOWN_TAGS: Final = frozenset(("ENTTYPE", "NODEID", "SLOT", *SLOT_FIELDS, *ENTRY_POINT_FIELDS, "ENTRYPOINTS"))
# Possessive throughout, so that a pair which never closes is given up after one look, and begun at the first "<" only:
# where no pair begins there, none begins behind it.
_TAG_PAIR: Final = re.compile("[^<]*+<([^>]*+)>((?:[^<]++|<(?!/))*+)</([^>]*+)>")
_USUAL_DECLARATIONS: Final = (b"", b'<?xml version="1.0"', b'<?xml version="1.0" encoding="utf-8"')
_DIGITS: Final = re.compile(r"\d+")


def is_query_file(name: str) -> bool:
    """Whether a file that is given beside runs and assessments holds queries: `*.xml`, perhaps compressed."""
    return sources.plain_name(name).endswith(".xml")


def _fault_of_xml(data: bytes) -> str | None:
    """What lxml finds wrong with a file that is not well-formed; it expands no entity and fetches nothing. It takes
    long to import, so expat looks first; what the first condition excludes it may judge in another way.
    """
    from xml.parsers.expat import ExpatError, ParserCreate

    text = data.removeprefix(BOM_UTF8)
    declaration = text.partition(b"?>")[0].strip() if text.startswith(b"<?xml") else b""
    if declaration.lower() in _USUAL_DECLARATIONS and b"<!DOCTYPE" not in data and b"xml:id" not in data:
        with contextlib.suppress(ExpatError):
            ParserCreate(namespace_separator=" ").Parse(data, True)
            return None
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False)
    try:
        etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        return error.msg
    return None


def _remarks_on_xml(data: bytes, name: str) -> list[str]:
    """Return a remark on a file that is not well-formed; none on others."""
    fault = _fault_of_xml(data)
    if fault is None:
        return []
    return [f"{name}: not well-formed XML ({fault}); its queries were read as far as possible"]


class _QueryReader:
    """Reads the queries of one file; their spans are checked against `documents` where those are given."""

    def __init__(self, name: str, problems: ProblemLog, documents: DocumentLengths | None, edition: Edition) -> None:
        self._name, self._problems, self._documents, self._edition = name, problems, documents, edition
        self._ids_without_slots: list[str] = []
        self._blank_texts: list[str] = []

    def remarks(self) -> list[str]:
        """Return remarks on queries that were left out, and on blanks that change the ids of expanded queries."""
        remarks = []
        if self._ids_without_slots:
            count = len(self._ids_without_slots)
            verb = "queries name no slot and are" if count > 1 else "query names no slot and is"
            remarks.append(f"{self._name}: {count} {verb} left out ({some(self._ids_without_slots)})")
        if self._blank_texts:
            shown = some(map(repr, self._blank_texts))
            remarks.append(
                f"{self._name}: there are blanks around document ids or offsets ({shown}); they belong to the hash, "
                f"so that expanded queries get other ids; to take them out: {without_blanks(self._name)}"
            )
        return remarks

    def queries(self, text: str) -> Iterator[Query]:
        """The queries in file order. Raises InputError for an id that cannot be parsed."""
        line, counted = 1, 0  # the line of the last query that was complained of, and where that query starts
        # Up to the last end, lest each query without one be searched for it.
        for found in _QUERY.finditer(text, 0, text.rfind("</query>") + len("</query>")):
            body = found.group(1)
            head = _QUERY_HEAD.match(body)
            if head is None:
                beginning = found.group()[:25]
                line, counted = line + text.count("\n", counted, found.start()), found.start()
                self._problems.add(
                    "MALFORMED_QUERY",
                    f'Query starting with "{beginning}" in text beginning <<{beginning}>>',
                    place=Place(self._name, line, "In file $filename"),
                )
            elif (query := self._query(head.group(1), body[head.end() :])) is not None:
                yield query

    def _query(self, text_id: str, body: str) -> Query | None:
        place = Place(self._name, f"In query {text_id}")
        remedy = "a query id ends in ten hexadecimal digits (slot filling) or in decimal digits (LDC)"
        parts = read_query_id(text_id, remedy, file=place.file, place=str(place.line))
        body, mention_tags = _MENTION_TAGS.subn("", body)
        fields, entry_points = self._fields(body, place)
        slots = self._slots(fields)
        is_without_slot0 = bool(slots) and "SLOT0" not in fields
        is_of_slot_only = not slots and "SLOT" in fields
        query = Query(
            prefix=parts.prefix,
            short_id=parts.short,
            base_id=parts.base,
            slots=(fields["SLOT"],) if is_of_slot_only else slots,
            entry_points=entry_points,
            place=place,
            entity_type=fields.get("ENTTYPE"),
            node_id=fields.get("NODEID"),
            slot=fields.get("SLOT"),
            has_mention_tags=mention_tags > 0,
            absent_slots=frozenset({0} if is_without_slot0 else ()),
            is_of_slot_only=is_of_slot_only,
        )
        report_languages(query, self._problems, edition=self._edition)
        if query.slots:
            return query
        self._ids_without_slots.append(text_id)
        return None

    def _slots(self, fields: Mapping[str, str]) -> tuple[str, ...]:
        """Return the slots by hop, empty for those that are left out before the last; report unknown ones.

        One that is left out is reported when the query is expanded, and not here.
        """
        hops = max((hop for hop, tag in enumerate(SLOT_FIELDS, 1) if tag in fields), default=0)
        slots = []
        for tag in SLOT_FIELDS[:hops]:
            slots.append(fields.get(tag, ""))
            if tag in fields and not has_slot(fields[tag], self._edition):
                self._problems.add("UNKNOWN_SLOT_NAME", fields[tag])
        return tuple(slots)

    def _fields(self, body: str, place: Place) -> tuple[dict[str, str], tuple[EntryPoint, ...]]:
        fields: dict[str, str] = {}
        mentions: list[dict[str, str]] = [{}]
        at = 0
        while (pair := _TAG_PAIR.match(body, at)) is not None:
            at = pair.end()
            opening, value, closing = pair.groups()
            tag = opening.upper()
            if opening != closing and tag != closing.upper():
                self._problems.add("MISMATCHED_TAGS", tag, closing.upper(), place=place)
            if tag in ENTRY_POINT_FIELDS:
                if tag in mentions[-1]:
                    mentions.append({})
                mentions[-1][tag] = value
            elif tag not in _KNOWN_TAGS:
                self._problems.add("UNKNOWN_QUERY_FIELD", tag, place=place)
            elif tag == "ENTRYPOINTS" or tag in fields:
                self._problems.add("DUPLICATE_QUERY_FIELD", tag, place=place)
            else:
                fields[tag] = value
                if tag == "SLOT0" and has_slot(value, self._edition):
                    fields["SLOT"] = value  # whatever <slot> said before; an unknown slot leaves <slot> as it is
        return fields, tuple(self._entry_point(mention, place) for mention in mentions if mention)

    def _entry_point(self, fields: dict[str, str], place: Place) -> EntryPoint:
        entry_point = EntryPoint(*map(fields.get, ENTRY_POINT_FIELDS))
        offsets = (entry_point.start or "", entry_point.end or "")
        self._blank_texts += [text for text in (entry_point.docid or "", *offsets) if text != text.strip()]
        span = Span(entry_point.docid or "", *offsets)
        bad = [offset for offset in offsets if not _DIGITS.fullmatch(offset)]
        found = [SpanProblem("ILLEGAL_OFFSET", (offset,), offset) for offset in bad]
        if not bad:
            cut, of_length = cut_span(span, self._edition.longest_span)
            found += of_length
            offsets = (cut or span)[1:]
        if self._documents is not None:
            good = tuple(offset for offset in offsets if offset not in bad)
            found += outside_document(span, good, self._documents)
        for code, arguments, text, repaired in found:
            self._problems.add(code, *arguments, place=place, detail=Detail(None, text, repaired))
        return entry_point


class QueryFiles(Record):
    """The query table of some files, remarks on them, and their digests."""

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
    """Read query files, expanded where a `base` of the new names is given, with spans checked against `documents` if
    given. Raises InputError for a file that cannot be read or is not UTF-8, and for an id that cannot be parsed.
    """
    loaded, names, remarks, digests = list[Query](), list[str](), list[str](), list[InputDigest]()
    for given in files:
        names.append(sources.name_of(given))
        with sources.open_source(given) as source:
            data = source.read_bytes()
            reader = _QueryReader(source.name, problems, documents, edition)
            text = decoded_text(data, source.name)
            try:
                queries_of_file = list(reader.queries(text))
            except InputError as error:
                error.add_remarks([*remarks, *_remarks_on_xml(data, source.name)])
                raise
            if queries_of_file:
                remarks += reader.remarks()
            else:
                remarks.append(why_no_queries(text, source.name))
            for query in queries_of_file:
                if base is None or not query.is_of_slot_only:  # such a query is not expanded, and so it is lost
                    loaded.append(query)
            digests.append(source.digest(QUERIES))
        remarks += _remarks_on_xml(data, source.name)
    if names and not loaded:
        shown = ", ".join(names)
        problems.add("NO_QUERIES_LOADED", place=Place(shown, 0, f"files({shown})"))
    remarks += _remarks_on_repeated_ids(loaded)
    return QueryFiles(build_query_set(loaded, base, problems, edition), remarks, digests)


def _remarks_on_repeated_ids(loaded: Iterable[Query]) -> list[str]:
    """Return a remark on different queries that bear one id, of which only the last one counts."""
    queries_by_id: dict[str, list[Query]] = {}
    for query in loaded:
        queries_by_id.setdefault(query.short_id, []).append(query)
    repeated = []
    for same_id in queries_by_id.values():
        if any(replace(query, place=same_id[-1].place) != same_id[-1] for query in same_id[:-1]):
            repeated.append(same_id)
    if not repeated:
        return []
    texts = [f"{same_id[-1].full_id.removeprefix('_')} {len(same_id)} times" for same_id in repeated]
    files = some(dict.fromkeys(query.place.file for same_id in repeated for query in same_id))
    return [f"{files}: different queries have one id ({some(texts)}), and of each id the last one counts"]


_SPACES: Final = re.compile(f"{SPACE}+")
_LEADING_NUMBER: Final = re.compile(r"[-+]?[0-9]{1,9}(\.[0-9]{0,9})?")


class Selection(NamedTuple):
    """The queries to score: by short id the highest hop of each, and the LDC id that a list of queries has for it.

    `remarks` name the queries whose second hop is left out though nobody may have meant that.
    """

    hop_limits: dict[str, int]
    ldc_ids: dict[str, str]
    remarks: list[str]


class _ListedQuery(NamedTuple):
    """An item of -queries: the id as written, and in a file its line, its LDC id and its hop limit.

    `hop_limit` is None where the line has no third column; an empty third column is 0 (`has_empty_limit`).
    """

    text: str
    line_number: int | None = None
    ldc_id: str = ""
    hop_limit: float | None = None
    has_empty_limit: bool = False

    @property
    def place(self) -> str | None:
        """Return the line for messages, None where the item is not of a file."""
        return None if self.line_number is None else f"line {self.line_number}"


def select_queries(choice: str | None, queries: QuerySet, problems: ProblemLog, held: Input | None = None) -> Selection:
    """Return the queries to score: all, those that the file `choice` lists, or those of a list of ids with colons.

    `held` is the content of that file. Raises InputError for ids that cannot be parsed and for impossible hop limits.
    """
    if choice is None:
        hop_limits = {query.short_id: len(query.slots) - 1 for query in queries.scored_by_default()}
        return Selection(hop_limits, {}, [])
    if held is None and sources.is_pipe(choice):
        raise InputError("-queries is read from a file, not from a pipe", file=choice, remedy="write it into a file")
    is_file = held is not None or os.path.isfile(choice)
    if is_file:
        return _select(_listed_in_file(held or choice), queries, problems, choice)
    return _select([_ListedQuery(text) for text in listed(choice)], queries, problems, None)


def _select(items: Iterable[_ListedQuery], queries: QuerySet, problems: ProblemLog, file: str | None) -> Selection:
    """Return the queries that items name, those of the file of this name or of a list of ids (None)."""
    selection = Selection({}, {}, [])
    without_limit: list[str] = []
    ldc_queries: list[str] = []
    for item in items:
        if file is None:
            remedy = f"no file is called {item.text}, so it was taken for the id of a query"
        else:
            remedy = "each line needs two columns, an LDC id and a slot-filling query id"
        parts = read_query_id(item.text, remedy, file="-queries" if file is None else file, place=item.place)
        query = queries.by_id.get(parts.short)
        if query is None:
            problems.add("UNKNOWN_QUERY_ID_WARNING", parts.short)
            continue
        most = len(query.slots) - 1
        hops = most if item.hop_limit is None else item.hop_limit
        if file is not None and not 0 <= hops <= most:
            problem = f"Unexpected num_slots value {hops:g} for {item.ldc_id} in {file}"
            raise InputError(problem, place=item.place, remedy=f"the hop limit of this query is 0 to {most}")
        if query.expansions is None:
            limits = {query.short_id: int(hops)}
            if item.has_empty_limit and most > 0:
                without_limit.append(item.ldc_id or item.text)
        else:  # its entry points are not given a limit, unless they are listed themselves
            limits = {short_id: selection.hop_limits.get(short_id, 0) for short_id in query.expansions}
            if most > 0 and not all(limits.values()):
                ldc_queries.append(item.text)
        selection.hop_limits.update(limits)
        if item.ldc_id:
            selection.ldc_ids.update(dict.fromkeys(limits, item.ldc_id))
    if without_limit:
        selection.remarks.append(f"{some(dict.fromkeys(without_limit))}: hop 0 only (the third column of {file})")
    if ldc_queries:
        remark = (
            f"{some(dict.fromkeys(ldc_queries))}: hop 0 only (-queries names an LDC query without its entry points)"
        )
        selection.remarks.append(remark)
    return selection


def _listed_in_file(given: Input) -> list[_ListedQuery]:
    """Return the items of a file of queries. Raises InputError where two limits of an LDC query differ."""
    items: list[_ListedQuery] = []
    limit_by_ldc_id: dict[str, float | None] = {}
    with sources.lines_of(given) as lines:
        for number, line in enumerate(lines, 1):
            # The carriage return of CRLF, or a blank, makes a third column that is empty.
            columns = _SPACES.split(line.removesuffix("\n"))
            item = _ListedQuery(columns[1] if len(columns) > 1 else "", number, columns[0])
            if len(columns) > 2:
                leading = _LEADING_NUMBER.match(columns[2])
                hop_limit = 0.0 if leading is None else float(leading.group())
                item = item._replace(hop_limit=hop_limit, has_empty_limit=not columns[2])
            if limit_by_ldc_id.setdefault(item.ldc_id, item.hop_limit) != item.hop_limit:
                problem = f"{item.ldc_id} has multiple/conflicting num_slots in {sources.name_of(given)}"
                raise InputError(problem, place=item.place)
            items.append(item)
    return items
