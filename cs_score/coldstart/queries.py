"""Queries: read query files, compute and parse query ids, look up slots, and select the queries that are scored.
A query names an entity by its entry points (mentions in documents), and the slots to fill, one for each hop: first
`per:children`, then the `per:age` of each child.

Query files are not parsed as XML, because the reference scorer does not do so either. It takes every stretch from
`<query ` to `</query>`, even in comments. In each stretch it reads the pairs of tags from left to right, and leaves the
texts between them unchanged. Query ids are hashes of these texts: a parser that decodes or repairs them would give
other ids. If a file is not well-formed XML, a remark with the message of lxml says so.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import os
import re
from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from json.encoder import encode_basestring
from typing import Final, NamedTuple

from cs_score.base import sources
from cs_score.base.display import join_first
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.base.signature import QUERIES
from cs_score.base.sources import SPACE, Input, InputDigest
from cs_score.coldstart.forms import command_removing_blanks, decode_or_advise, why_no_queries
from cs_score.coldstart.options import LATEST, Edition, split_at_colons
from cs_score.coldstart.tab_files import DocumentLengths, Span, SpanProblem, cut_span, outside_document
from cs_score.problems.log import Detail, Place, ProblemLog

_md5: Callable[[bytes], hashlib._Hash] = functools.partial(hashlib.md5, usedforsecurity=False)
# hashlib prefers the function of OpenSSL, which takes 50 % more time for short texts.
with contextlib.suppress(ImportError):
    _md5 = importlib.import_module("_md5").md5

_NIL_NAMESPACE: Final = bytes(16)  # as in a UUID of version 3, these bytes precede the hashed text

_SLOT_FILLING_ID: Final = re.compile(r"(?:(.+)_)?([0-9a-fA-F]{10})((?:_[0-9a-fA-F]{12})*)")
_LDC_ID: Final = re.compile(r"(?:(.+)_)?(\d+)")


class QueryId(NamedTuple):
    """The parts of a query id, such as `CSX_ENG_00fb79cef8_efa464516d81`.

    `prefix` is the text before the digits (`CSX_ENG`), `base_id` is the id of the query of the first hop
    (`00fb79cef8`), `short_id` is the last component (`efa464516d81`), which is the key of the query table. `level` is 0
    for a query of the first hop and 1 for a follow-on query. `is_slot_filling` says whether the id has the form of
    slot-filling queries, with ten hexadecimal digits; otherwise it has the form of LDC queries (`CSX_0001`).
    """

    prefix: str | None
    base_id: str
    short_id: str
    level: int
    is_slot_filling: bool


def parse_query_id(text: str) -> QueryId | None:
    """Return the parts of a query id such as `CSX_ENG_00fb79cef8_efa464516d81`, or None if the text is not one."""
    match = _SLOT_FILLING_ID.fullmatch(text)
    if match is not None:
        prefix, base_id, follow_ons = match.groups()
        if not follow_ons:
            return QueryId(prefix, base_id, short_id=base_id, level=0, is_slot_filling=True)
        last_follow_on = follow_ons.rpartition("_")[2]  # each hop adds the hash of an answer to the id
        # Level 1 means any follow-on query, however many answers lead to it.
        return QueryId(prefix, base_id, short_id=last_follow_on, level=1, is_slot_filling=True)
    match = _LDC_ID.fullmatch(text)
    if match is not None:
        prefix, number = match.groups()
        return QueryId(prefix, base_id=number, short_id=number, level=0, is_slot_filling=False)
    return None


def read_query_id(
    text: str, remedy: str, *, file: str | None = None, place: str | None = None, code: str | None = None
) -> QueryId:
    """Return the parts of a query id, such as its prefix and its level. Raises InputError for any other text.

    The other arguments are for the error: the remedy for the user, the file and the place in it, and the problem code.
    """
    parts = parse_query_id(text)
    if parts is None:
        problem = f'unexpected argument: "{text}" sent to parse_queryid'
        raise InputError(problem, file=file, place=place, remedy=remedy, code=code)
    return parts


def follow_on_id(query_id: str, value: str, provenance: str, edition: Edition = LATEST) -> str:
    """Return the short id of the query about an answer, twelve hexadecimal digits (rule follow-on-queries).

    `query_id` is the full id of the query that was answered, `value` is the text of the answer, and `provenance` is the
    provenance of the value in canonical form (`ENG_1:10-20`). The three texts are combined into a JSON string. The id
    consists of the last digits of its MD5 hash in the nil namespace, as in a UUID of version 3. Text outside ASCII is
    encoded to UTF-8 twice, as in the ids that have been published since 2017.
    """
    json_string = encode_basestring(f"{query_id}:{value}:{provenance}")
    without_quotes = json_string[1:-1]
    hashed_bytes = without_quotes.encode("utf-8", "surrogatepass")
    if not (edition.hashes_text_once or hashed_bytes.isascii()):
        hashed_bytes = hashed_bytes.decode("latin-1").encode("utf-8")  # the second encoding
    return _md5(_NIL_NAMESPACE + hashed_bytes).hexdigest()[-12:]


DEFAULT_LANGUAGE: Final = "ENGLISH"
DEFAULT_CODE: Final = "ENG"


def language_code(docid: str, edition: Edition = LATEST) -> str | None:
    """Return the language that a document id names: `CMN`, `SPA` or `ENG`. Return None if it names no language.

    For `CMN_NW_001` the result is `CMN`. Without a language, callers assume English.
    """
    text = docid.upper()
    if text.startswith(("CMN", "SPA")):
        return text[:3]
    if text.startswith("ENG_") or "_ENG_" in text:
        return "ENG"
    if edition.finds_english_anywhere and "ENG" in text:
        return "ENG"
    return None


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
    """A predicate of the inventory, such as `children`, which entities of some types have as a slot (`per:children`).

    `domain` has the types of the entities with this slot, and `range` the types of the entities that fill it.
    `is_single_valued` says whether the slot takes only one value. `inverse` is the predicate in the other direction
    (`parents`). `usual_type` is the first type of the range in the inventory; it is empty for predicates that users
    define.
    """

    name: str
    domain: frozenset[str]
    range: frozenset[str]
    is_single_valued: bool
    inverse: str | None
    usual_type: str = ""


@functools.cache
def inventory() -> dict[tuple[str, str], Predicate]:
    """Return the inventory: all predicates (relations that queries may ask for), such as `children`.

    They are given by the type of the entity and the name of the predicate. The slot `per:children` has the key
    `("per", "children")`.
    """
    path = os.path.join(os.path.dirname(__file__), "predicates.tsv")
    with open(path, encoding="utf-8") as file:
        _, *lines = file.readlines()  # the first line is the header
    predicate_by_slot: dict[tuple[str, str], Predicate] = {}
    for line in lines:
        predicate = _read_predicate(line)
        for node_type in predicate.domain:
            predicate_by_slot[node_type, predicate.name] = predicate
    return predicate_by_slot


def _read_predicate(line: str) -> Predicate:
    """Return the predicate in a line of the inventory: domain, name, quantity, range and inverse, separated by tabs."""
    domain, name, quantity, range_, inverse = line.rstrip("\n").split("\t")
    range_types = range_.split(",")
    return Predicate(
        name=name,
        domain=frozenset(domain.split(",")),
        range=frozenset(range_types),
        is_single_valued=quantity == "single",
        inverse=inverse or None,
        usual_type=range_types[0],  # the most common type comes first in the inventory
    )


@functools.lru_cache(maxsize=4096)
def find_predicate(slot: str) -> Predicate | None:
    """Return the predicate of a slot such as `per:children`, or None if the inventory does not have the slot.

    A line feed at the end of the text is ignored, as in the reference scorer.
    """
    node_type, _, name = slot.removesuffix("\n").partition(":")
    return inventory().get((node_type, name))


_LATER_PREDICATES: Final = frozenset(
    ("likes", "dislikes", "is_liked_by", "is_disliked_by", "pronominal_mention", "normalized_mention")
)
"""The predicates of entities that were added together with events.

Predicates of events are not listed here: they can be told by the full stop in their names.
"""


@functools.cache
def slots_before_events() -> frozenset[str]:
    """Return the slots that the inventory had before events and sentiments were added, such as `per:children`.

    Slots of events belong to a node type that is not an entity type, or have a full stop in their name.
    """
    slots = set()
    for node_type, name in inventory():
        is_of_event = node_type not in ENTITY_TYPES or "." in name
        is_of_sentiment_or_mention = name in _LATER_PREDICATES
        if not is_of_event and not is_of_sentiment_or_mention:
            slots.add(f"{node_type}:{name}")
    return frozenset(slots)


def has_slot(slot: str, edition: Edition) -> bool:
    """Return whether the inventory of an edition of the scorer has a slot such as `per:children`.

    The inventory is the list of slots that queries may ask for. The inventory of 2016 does not include slots of events
    and sentiments. A line feed at the end of the slot is ignored, as in the reference scorer.
    """
    if edition.slot_filling_only:
        return slot.removesuffix("\n") in slots_before_events()
    return find_predicate(slot) is not None


ENTRY_POINT_FIELDS: Final = ("NAME", "DOCID", "BEG", "END", "OFFSET")


class EntryPoint(Record):
    """An entry point: a mention of the query's entity, with the texts of its tags in the query file.

    A field whose tag is absent is None.
    """

    name: str | None
    docid: str | None
    start: str | None
    end: str | None
    offset: str | None = None

    def query_id(self, slots: tuple[str, ...]) -> str:
        """Return the short id of the query with this entry point and these slots, such as `00fb79cef8`.

        The id is a hash of the texts of the entry point and the slots, as in a UUID of version 3.
        """
        texts = [self.docid or "", self.start or "", self.end or "", *slots]
        hashed_bytes = ":".join(texts).encode("utf-8", "surrogatepass")
        return _md5(_NIL_NAMESPACE + hashed_bytes).hexdigest()[-10:]


class Query(Record):
    """A query of a query file, or a query that was made from an entry point (a mention of the entity) of such a query.

    `short_id` is its key in the query set, `base_id` the short id of the query of the first hop. `slots` are its slots
    by hop; a slot that is left out before the last one is an empty text. `hops_without_written_slot` are the hops whose
    slot is not written into query files. `slot` is the slot that lines fill at the first hop, None if it is unknown.
    `has_only_slot_tag` says that the file has only a `<slot>` and no `<slot0>`. `expansion_ids` are the short ids of
    the queries that were made from its entry points, None if it was not expanded.
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
    hops_without_written_slot: frozenset[int] = frozenset()
    has_only_slot_tag: bool = False
    expansion_ids: tuple[str, ...] | None = None

    @property
    def full_id(self) -> str:
        """The id that lines name: `CSX_ENG_00fb79cef8`."""
        return f"{self.prefix or ''}_{self.short_id}"

    @property
    def requested_slots(self) -> tuple[str, ...]:
        """The slots that lines fill, in the order of the hops: `("per:children", "per:age")`.

        The slot of the first hop is `slot`, or an empty text if it is unknown. The slots of later hops are in `slots`.
        """
        # slots[0] is the text in the query file. Lines must fill `slot`, which may come from another tag of the file.
        return (self.slot or "", *self.slots[1:])

    def slot_at(self, hop: int) -> str | None:
        """Return the slot of a hop, None if the query has no such hop."""
        return self.slots[hop] if hop < len(self.slots) else None


class QuerySet(Record, dict=True):
    """All queries of the query files and those made from them; `by_id` has each query by its short id.

    `ldc_id_by_query` has, for each slot-filling query that was made from an LDC query, the short id of the LDC query by
    that of the slot-filling query. `was_expanded` says whether queries were made from entry points.
    """

    by_id: Mapping[str, Query]
    ldc_id_by_query: Mapping[str, str]
    was_expanded: bool
    edition: Edition = LATEST

    def default_queries(self) -> Iterator[Query]:
        """Return the queries that are scored if the user selects none: all except expanded queries."""
        return (query for query in self.by_id.values() if query.expansion_ids is None)

    def would_expand_to(self, short_id: str) -> bool:
        """Return whether expanding the queries would make a query with this id.

        The result is False if the queries have been expanded already.
        """
        return not self.was_expanded and short_id in self._ids_of_entry_points

    @cached_property
    def _ids_of_entry_points(self) -> frozenset[str]:
        """The short ids of the queries that would be made from the entry points if the queries were expanded.

        The ids are computed once, since many lines may need them.
        """
        ids: set[str] = set()
        for query in self.by_id.values():
            for entry_point in query.entry_points:
                ids.add(entry_point.query_id(query.slots))
        return frozenset(ids)


def warn_of_unknown_languages(
    query: Query, problems: ProblemLog, report_count: int = 1, edition: Edition = LATEST
) -> None:
    """Report each entry point of a query whose document id does not identify a language. English is assumed for it.

    `report_count` is the number of times that the reference scorer reports each problem.
    """
    for entry_point in query.entry_points:
        docid = entry_point.docid or ""
        if language_code(docid, edition) is None:
            problems.add("FAILED_LANG_INFERENCE", docid, DEFAULT_LANGUAGE, place=query.place, times=report_count)


def report_unknown_slots(query: Query, problems: ProblemLog, report_count: int = 1, edition: Edition = LATEST) -> None:
    """Report the slots of a query that are not in the inventory.

    `report_count` is the number of times that the reference scorer reports each problem. It reports them each time it
    examines the query, and the counts in our reports must match.
    """
    for slot in query.slots:
        if not has_slot(slot, edition):
            problems.add("UNKNOWN_SLOT_NAME", slot, times=report_count)


def build_query_set(
    loaded_queries: Iterable[Query], id_base: str | None, problems: ProblemLog, edition: Edition = LATEST
) -> QuerySet:
    """Return the query set of some queries. If several queries have the same short id, the last one counts.

    If `id_base` is given, the queries are expanded: a slot-filling query is made from each entry point, and its full id
    begins with `id_base` (rule queries). Problems of expanded queries are added to `problems`.
    """
    query_by_id = {query.short_id: query for query in loaded_queries}
    if id_base is None:
        return QuerySet(by_id=query_by_id, ldc_id_by_query={}, was_expanded=False, edition=edition)
    queries_of_files = list(query_by_id.values())  # the loop below adds queries to the dictionary
    for query in queries_of_files:
        warn_of_unknown_languages(query, problems, edition=edition)
        # The reference scorer reports the slots again for each entry point.
        report_unknown_slots(query, problems, report_count=len(query.entry_points), edition=edition)
        expansion_by_id = _expand_entry_points(query, id_base, edition)
        # An LDC query stays in the dictionary together with its expansions. A slot-filling query has a single expansion
        # with the same id, which must replace it, so the expansions are added last.
        query_by_id[query.short_id] = replace(query, expansion_ids=tuple(expansion_by_id))
        query_by_id.update(expansion_by_id)
    ldc_ids = _ldc_id_by_query(query_by_id)
    return QuerySet(by_id=query_by_id, ldc_id_by_query=ldc_ids, was_expanded=True, edition=edition)


def _ldc_id_by_query(query_by_id: Mapping[str, Query]) -> dict[str, str]:
    """Return the short id of the LDC query from which each query was made: `{"00fb79cef8": "0001"}`.

    If two LDC queries have the same expansion (query made from an entry point), the last LDC query counts (rule
    shared-slot-filling-ids).
    """
    ldc_id_by_query: dict[str, str] = {}
    for ldc_id, query in sorted(query_by_id.items()):
        for expansion_id in query.expansion_ids or ():
            ldc_id_by_query[expansion_id] = ldc_id
    return ldc_id_by_query


def _expand_entry_points(query: Query, id_base: str, edition: Edition) -> dict[str, Query]:
    """Return the slot-filling queries that are made from the entry points of a query, by their short ids.

    Their full ids begin with `id_base`: `BASE_ENG_00fb79cef8`.
    """
    expansions: dict[str, Query] = {}
    for entry_point in query.entry_points:
        expansion = _expand(query, entry_point, id_base, edition)
        expansions[expansion.short_id] = expansion
    return expansions


def _expand(query: Query, entry_point: EntryPoint, id_base: str, edition: Edition) -> Query:
    """Return the slot-filling query that is made from an entry point of a query.

    Its full id consists of `id_base`, the language of the entry point's document, and a hash: `BASE_ENG_00fb79cef8`.
    """
    short_id = entry_point.query_id(query.slots)
    language = language_code(entry_point.docid or "", edition) or DEFAULT_CODE
    first_slot = query.slots[0] if query.slots else None
    return Query(
        prefix=f"{id_base}_{language}",
        short_id=short_id,
        base_id=short_id,  # the follow-on queries of this query are based on it
        slots=query.slots,
        entry_points=(entry_point,),
        place=query.place,
        entity_type=query.entity_type,
        slot=first_slot,
    )


SLOT_FIELDS: Final = ("SLOT0", "SLOT1", "SLOT2")

_QUERY_PATTERN: Final = re.compile("(<query .*?)</query>", re.DOTALL)
_QUERY_HEAD: Final = re.compile(rf'<query{SPACE}+id="(.*?)">', re.DOTALL)
_MENTION_TAGS: Final = re.compile("</?mentions?>")
_KNOWN_TAGS: Final = frozenset(("ENTTYPE", "NODEID", "SLOT", *SLOT_FIELDS, *ENTRY_POINT_FIELDS, "ENTRYPOINTS"))
# All quantifiers are possessive, so that a tag that is never closed is searched only once. The pattern can begin only
# at the first "<": if there is no pair of tags at this place, there is none after it.
_TAG_PAIR: Final = re.compile("[^<]*+<([^>]*+)>((?:[^<]++|<(?!/))*+)</([^>]*+)>")
_USUAL_DECLARATIONS: Final = (b"", b'<?xml version="1.0"', b'<?xml version="1.0" encoding="utf-8"')
_DIGITS_PATTERN: Final = re.compile(r"\d+")
_REMEDY_FOR_QUERY_ID: Final = "a query id ends in ten hexadecimal digits (slot filling) or in decimal digits (LDC)"


def is_query_file(name: str) -> bool:
    """Return whether a file is a query file by its name: `queries.xml`, or `queries.xml.gz` if it is compressed."""
    return sources.name_without_compression(name).endswith(".xml")


def _fault_of_xml(data: bytes) -> str | None:
    """Return the message of lxml about a file that is not well-formed XML, None for a well-formed file.

    Here lxml does not expand entities or fetch files. Since importing lxml takes long, it parses only files that expat,
    the parser of the standard library, rejects or might judge in another way.
    """
    if _is_well_formed_for_expat(data):
        return None
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False)
    try:
        etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        return error.msg
    return None


def _is_well_formed_for_expat(data: bytes) -> bool:
    """Return whether a file is well-formed XML according to expat, and lxml certainly agrees.

    If the two parsers may disagree, the result is False. Then lxml must parse the file.
    """
    from xml.parsers.expat import ExpatError, ParserCreate

    if _may_differ_between_parsers(data):
        return False
    try:
        ParserCreate(namespace_separator=" ").Parse(data, True)
    except ExpatError:
        return False
    return True


def _may_differ_between_parsers(data: bytes) -> bool:
    """Return whether expat and lxml may disagree about a file.

    They may disagree if the file has an encoding other than UTF-8, a document type, or `xml:id`.
    """
    text = data.removeprefix(BOM_UTF8)
    declaration = b""  # files without a declaration are also common
    if text.startswith(b"<?xml"):
        declaration, _, _ = text.partition(b"?>")
    is_usual_declaration = declaration.strip().lower() in _USUAL_DECLARATIONS
    return not is_usual_declaration or b"<!DOCTYPE" in data or b"xml:id" in data


def _remarks_on_xml(data: bytes, name: str) -> list[str]:
    """Return a list with a remark on a file that is not well-formed XML; it is empty for a well-formed file."""
    fault = _fault_of_xml(data)
    if fault is None:
        return []
    return [f"{name}: not well-formed XML ({fault}); its queries were read as far as possible"]


class _LineCounter:
    """Count the lines of a text up to positions that only grow, so that no line feed is counted twice."""

    def __init__(self, text: str) -> None:
        """Begin to count at the first line of a text."""
        self._text = text
        self._line_number = 1
        self._counted_to = 0

    def line_number_at(self, position: int) -> int:
        """Return the number, from 1, of the line that contains this position.

        The position must not be smaller than in the previous call.
        """
        self._line_number += self._text.count("\n", self._counted_to, position)
        self._counted_to = position
        return self._line_number


def _query_matches(text: str) -> Iterator[re.Match[str]]:
    """Return an iterator over the queries of a text, each as a match whose group 1 is the query without its end tag."""
    # The search stops at the last end tag. Otherwise it would continue to the end of the text for each unclosed query.
    # If there is no end tag, `rfind` returns -1, and the few characters that are searched do not contain a query.
    search_end = text.rfind("</query>") + len("</query>")
    return _QUERY_PATTERN.finditer(text, 0, search_end)


def _tag_pairs(body: str) -> Iterator[tuple[str, str, str]]:
    """Yield the elements inside a query, each as three texts: `<name>Bo</name>` -> `("name", "Bo", "name")`.

    The texts are the name in the opening tag, the text between the tags, and the name in the closing tag. Reading stops
    at the first text that is not a pair of tags.
    """
    pair = _TAG_PAIR.match(body)
    while pair is not None:
        opening, value, closing = pair.groups()
        yield opening, value, closing
        pair = _TAG_PAIR.match(body, pair.end())


class _QueryReader:
    """Read the queries of one file, report their problems, and collect texts for remarks on the file."""

    def __init__(
        self, name: str, problems: ProblemLog, length_by_document: DocumentLengths | None, edition: Edition
    ) -> None:
        """Prepare to read the file `name`.

        If `length_by_document` is given, spans of entry points are checked against it.
        """
        self._name = name
        self._problems = problems
        self._length_by_document = length_by_document
        self._edition = edition
        self._ids_of_queries_without_slots: list[str] = []
        # Document ids and offsets with blanks around them.
        self._texts_with_outer_blanks: list[str] = []

    def remarks(self) -> list[str]:
        """Return remarks on queries without slots, and on blanks that change the ids of expanded queries."""
        remarks = []
        if self._ids_of_queries_without_slots:
            count = len(self._ids_of_queries_without_slots)
            subject_and_verb = "queries name no slot and are" if count > 1 else "query names no slot and is"
            first_ids = join_first(self._ids_of_queries_without_slots)
            remarks.append(f"{self._name}: {count} {subject_and_verb} left out ({first_ids})")
        if self._texts_with_outer_blanks:
            texts = join_first([repr(text) for text in self._texts_with_outer_blanks])
            remarks.append(
                f"{self._name}: there are blanks around document ids or offsets ({texts}); they belong to the hash, "
                f"so that expanded queries get other ids; to take them out: {command_removing_blanks(self._name)}"
            )
        return remarks

    def queries(self, text: str) -> Iterator[Query]:
        """Yield the queries of a text in file order, except those without slots; a query without an id is reported.

        Raises InputError for an id that cannot be parsed.
        """
        line_counter = _LineCounter(text)
        for match in _query_matches(text):
            body = match.group(1)
            head = _QUERY_HEAD.match(body)
            if head is None:
                beginning = match.group()[:25]
                self._report_malformed(beginning, line_counter.line_number_at(match.start()))
                continue
            query_id = head.group(1)
            query = self._read_query(query_id, body[head.end() :])
            if query.slots:
                yield query
            else:
                self._ids_of_queries_without_slots.append(query_id)

    def _report_malformed(self, beginning: str, line_number: int) -> None:
        """Report a query without an id. `beginning` contains its first characters.

        As in the reference scorer, the message repeats the beginning, and contains `$filename` instead of the name of
        the file.
        """
        self._problems.add(
            "MALFORMED_QUERY",
            f'Query starting with "{beginning}" in text beginning <<{beginning}>>',
            place=Place(self._name, line_number, "In file $filename"),
        )

    def _read_query(self, query_id: str, body: str) -> Query:
        """Return the query with this id, read from the text between its tags. The query may be without slots.

        Raises InputError for an illegal id.
        """
        place = Place(self._name, f"In query {query_id}")
        parts = read_query_id(query_id, _REMEDY_FOR_QUERY_ID, file=place.file, place=str(place.line))
        body_without_mentions, mention_tags = _MENTION_TAGS.subn("", body)
        fields, entry_points = self._read_fields(body_without_mentions, place)
        slots = self._slots_of(fields)
        # Query files have <slot0>, <slot1>, ... for the hops. Older files have <slot> for the first hop instead. A
        # query with <slot1> but without <slot0> still has slots, and the first slot is an empty text.
        lacks_slot0 = bool(slots) and "SLOT0" not in fields
        has_only_slot_tag = not slots and "SLOT" in fields
        query = Query(
            prefix=parts.prefix,
            short_id=parts.short_id,
            base_id=parts.base_id,
            slots=(fields["SLOT"],) if has_only_slot_tag else slots,
            entry_points=entry_points,
            place=place,
            entity_type=fields.get("ENTTYPE"),
            node_id=fields.get("NODEID"),
            slot=fields.get("SLOT"),
            has_mention_tags=mention_tags > 0,
            hops_without_written_slot=frozenset({0}) if lacks_slot0 else frozenset(),
            has_only_slot_tag=has_only_slot_tag,
        )
        warn_of_unknown_languages(query, self._problems, edition=self._edition)
        return query

    def _slots_of(self, fields: Mapping[str, str]) -> tuple[str, ...]:
        """Return the slots of a query in the order of the hops, and report slots that are not in the inventory.

        `fields` has the values of the query's tags. For `{"SLOT0": "per:children", "SLOT2": "per:age"}`, the slots are
        `("per:children", "", "per:age")`. The slot of a missing tag, such as `<slot1>` here, is not reported.
        """
        hop_count = 0
        for hop, tag in enumerate(SLOT_FIELDS):
            if tag in fields:
                hop_count = hop + 1  # the last tag determines the number of hops
        slots = []
        for tag in SLOT_FIELDS[:hop_count]:
            slot = fields.get(tag)
            slots.append(slot or "")
            if slot is not None and not has_slot(slot, self._edition):
                self._problems.add("UNKNOWN_SLOT_NAME", slot)
        return tuple(slots)

    def _read_fields(self, body: str, place: Place) -> tuple[dict[str, str], tuple[EntryPoint, ...]]:
        """Return the values of the tags of a query, such as `{"SLOT0": "per:children"}`, and its entry points.

        A repeated tag of an entry point begins the next entry point. Other repeated tags, unknown ones, and opening and
        closing tags that do not match are reported.
        """
        fields: dict[str, str] = {}
        mentions: list[dict[str, str]] = [{}]  # the fields of each entry point
        for opening, value, closing in _tag_pairs(body):
            tag = opening.upper()
            closing_tag = closing.upper()
            if tag != closing_tag:
                self._problems.add("MISMATCHED_TAGS", tag, closing_tag, place=place)
            if tag not in ENTRY_POINT_FIELDS:
                self._add_field(fields, tag, value, place)
                continue
            if tag in mentions[-1]:
                mentions.append({})
            mentions[-1][tag] = value
        entry_points = [self._make_entry_point(mention, place) for mention in mentions if mention]
        return fields, tuple(entry_points)

    def _add_field(self, fields: dict[str, str], tag: str, value: str, place: Place) -> None:
        """Add the value of a tag to the fields of a query, or report an unknown or repeated tag.

        `fields` has the values of the query's earlier tags, by tag in capitals. A known slot in `<slot0>` is also the
        value of the older tag `<slot>`.
        """
        if tag not in _KNOWN_TAGS:
            self._problems.add("UNKNOWN_QUERY_FIELD", tag, place=place)
            return
        # The reference scorer sets the field ENTRYPOINTS before it reads any tag, so a tag with this name counts as
        # repeated.
        if tag == "ENTRYPOINTS" or tag in fields:
            self._problems.add("DUPLICATE_QUERY_FIELD", tag, place=place)
            return
        fields[tag] = value
        if tag == "SLOT0" and has_slot(value, self._edition):
            fields["SLOT"] = value  # this replaces the value of an earlier <slot>

    def _make_entry_point(self, fields: Mapping[str, str], place: Place) -> EntryPoint:
        """Return the entry point with the values of these tags, and report the problems of its span.

        `fields` has the values by tag in capitals: `{"NAME": "Bo", "DOCID": "ENG_1", "BEG": "3", "END": "4"}`. Texts
        with blanks around them are remembered for a remark.
        """
        entry_point = EntryPoint(
            name=fields.get("NAME"),
            docid=fields.get("DOCID"),
            start=fields.get("BEG"),
            end=fields.get("END"),
            offset=fields.get("OFFSET"),
        )
        span = Span(docid=entry_point.docid or "", start=entry_point.start or "", end=entry_point.end or "")
        self._texts_with_outer_blanks += [text for text in span if text != text.strip()]
        for problem in self._span_problems(span):
            detail = Detail(text=problem.text, repaired=problem.repaired_text)
            self._problems.add(problem.code, *problem.arguments, place=place, detail=detail)
        return entry_point

    def _span_problems(self, span: Span) -> list[SpanProblem]:
        """Return the problems with the span of an entry point: illegal offsets, excessive length, or wrong position."""
        offsets = (span.start, span.end)
        problems = []
        for offset in offsets:
            if not _is_number(offset):
                problems.append(SpanProblem("ILLEGAL_OFFSET", arguments=(offset,), text=offset))
        legal_offsets = tuple([offset for offset in offsets if _is_number(offset)])
        if len(legal_offsets) == 2:  # both the start and the end are legal
            shorter_span, length_problems = cut_span(span, self._edition.longest_span)
            problems += length_problems
            if shorter_span is not None:  # None if the span ends before it starts
                legal_offsets = (shorter_span.start, shorter_span.end)
        # A span that is too long is cut first, and the offsets of the shortened span are compared with the document.
        if self._length_by_document is not None:
            problems += outside_document(span, legal_offsets, self._length_by_document)
        return problems


def _is_number(offset: str) -> bool:
    """Return whether the text of an offset consists of digits, as in `12`."""
    return _DIGITS_PATTERN.fullmatch(offset) is not None


class QueryFiles(Record):
    """The queries of some query files, remarks on the files, and their digests."""

    query_set: QuerySet
    remarks: list[str]
    digests: list[InputDigest]


def load_queries(
    files: Iterable[Input],
    id_base: str | None,
    problems: ProblemLog,
    length_by_document: DocumentLengths | None = None,
    edition: Edition = LATEST,
) -> QueryFiles:
    """Return the queries of some query files as one query set, with remarks on the files and their digests.

    If `id_base` is given, queries are expanded as in `build_query_set`. If `length_by_document` is given, spans are
    checked against it. Raises InputError for a file that cannot be read or is not UTF-8, and for an illegal query id.
    """
    loading = _QueryLoading(problems, length_by_document, edition)
    for file in files:
        loading.load(file)
    queries = loading.queries
    if id_base is not None:
        # A query with only a <slot> cannot be expanded.
        queries = [query for query in queries if not query.has_only_slot_tag]
    if loading.names and not queries:
        all_names = ", ".join(loading.names)
        # The problem concerns all files together and not a single line, so the reference scorer prints `files(...)`
        # instead.
        place = Place(all_names, 0, f"files({all_names})")
        problems.add("NO_QUERIES_LOADED", place=place)
    remarks = loading.remarks + _remarks_on_repeated_ids(queries)
    query_set = build_query_set(queries, id_base, problems, edition)
    return QueryFiles(query_set, remarks, loading.digests)


class _QueryLoading:
    """Load query files one after the other.

    `names` are the names of the files that were loaded, `queries` are their queries in file order. `remarks` are on the
    files, and `digests` identify their contents.
    """

    def __init__(self, problems: ProblemLog, length_by_document: DocumentLengths | None, edition: Edition) -> None:
        """Prepare to load files. `length_by_document`, if given, is used to check the spans of entry points."""
        self.names: list[str] = []
        self.queries: list[Query] = []
        self.remarks: list[str] = []
        self.digests: list[InputDigest] = []
        self._problems = problems
        self._length_by_document = length_by_document
        self._edition = edition

    def load(self, file: Input) -> None:
        """Load the queries of one file.

        Raises InputError for a file that cannot be read or is not UTF-8, and for an illegal query id.
        """
        self.names.append(sources.name_of(file))
        with sources.open_source(file) as source:
            data = source.read_bytes()
            text = decode_or_advise(data, source.name)
            self.digests.append(source.digest(QUERIES))
        self._add_queries(source.name, text, _remarks_on_xml(data, source.name))

    def _add_queries(self, name: str, text: str, remarks_on_xml: Sequence[str]) -> None:
        """Add the queries in the text of a file, with remarks on them and on the XML of the file.

        Raises InputError for an illegal query id; the error has the remarks on this file and on those before it.
        """
        reader = _QueryReader(name, self._problems, self._length_by_document, self._edition)
        try:
            queries = list(reader.queries(text))
        except InputError as error:
            error.add_remarks([*self.remarks, *remarks_on_xml])
            raise
        self.queries += queries
        self.remarks += reader.remarks() if queries else [why_no_queries(text, name)]
        self.remarks += remarks_on_xml


def _remarks_on_repeated_ids(loaded_queries: Iterable[Query]) -> list[str]:
    """Return a list with a remark on different queries that have the same id, or an empty list if there are none."""
    groups = _different_queries_with_one_id(loaded_queries)
    if not groups:
        return []
    file_names: dict[str, None] = {}  # its keys are an ordered set
    for queries in groups:
        file_names |= dict.fromkeys(query.place.file for query in queries)
    names = join_first(file_names)
    ids_with_counts = []
    for queries in groups:
        query_id = queries[-1].full_id.removeprefix("_")  # without a prefix, a full id is `_0001`
        ids_with_counts.append(f"{query_id} {len(queries)} times")
    ids = join_first(ids_with_counts)
    return [f"{names}: different queries have one id ({ids}), and of each id the last one counts"]


def _different_queries_with_one_id(loaded_queries: Iterable[Query]) -> list[list[Query]]:
    """Return the queries with the same short id in one list each, if some of them differ in more than their places."""
    queries_by_id: dict[str, list[Query]] = defaultdict(list)
    for query in loaded_queries:
        queries_by_id[query.short_id].append(query)
    return [queries for queries in queries_by_id.values() if _are_different(queries)]


def _are_different(queries: Sequence[Query]) -> bool:
    """Return whether some of the queries differ in more than their places."""
    last_query = queries[-1]
    return any(replace(query, place=last_query.place) != last_query for query in queries)


_SPACES_PATTERN: Final = re.compile(f"{SPACE}+")
_LEADING_NUMBER: Final = re.compile(r"[-+]?[0-9]{1,9}(\.[0-9]{0,9})?")


class Selection(NamedTuple):
    """The queries to score.

    `hop_limit_by_id` has the highest hop that is scored for each query, counted from 0, by the short id of the query.
    `ldc_ids` has the LDC id that the file of `-queries` gives for a query. `remarks` mention queries whose second hop
    is not scored, which may be a mistake by the user.
    """

    hop_limit_by_id: dict[str, int]
    ldc_ids: dict[str, str]
    remarks: list[str]


class _ListedQuery(NamedTuple):
    """An item of the option `-queries`, which contains a query id as it was written (`text`).

    If the item is a line of a file, it also has a line number, an LDC id and a hop limit: the highest hop to score,
    counted from 0. `hop_limit` is None if the line has no third column. If that column is empty, the limit is 0, and
    `has_empty_limit` is True.
    """

    text: str
    line_number: int | None = None
    ldc_id: str = ""
    hop_limit: float | None = None
    has_empty_limit: bool = False

    @property
    def place(self) -> str | None:
        """The line for messages, such as `line 3`; None if the item is not in a file."""
        return None if self.line_number is None else f"line {self.line_number}"


def select_queries(
    query_selection: str | None, queries: QuerySet, problems: ProblemLog, list_file: Input | None = None
) -> Selection:
    """Return the queries to score: the queries that `query_selection` names, or all queries if it is None.

    `query_selection` is the value of `-queries`, which is either the path of a file that lists queries, or ids
    separated by colons. If `list_file` is given, it is read instead of that file. Raises InputError for an illegal id,
    and for a hop limit (highest hop to score) that is not a hop of the query.
    """
    if query_selection is None:
        # All hops are scored. The first hop has the number 0.
        hop_limit_by_id = {query.short_id: len(query.slots) - 1 for query in queries.default_queries()}
        return Selection(hop_limit_by_id=hop_limit_by_id, ldc_ids={}, remarks=[])
    if list_file is None and not _is_list_file(query_selection):
        items = [_ListedQuery(query_id) for query_id in split_at_colons(query_selection)]
        return _select_items(items, queries, problems, file=None)
    items = _listed_in_file(query_selection if list_file is None else list_file)
    # Messages name the file as the user typed it, even if its content came from `list_file`.
    return _select_items(items, queries, problems, file=query_selection)


def _is_list_file(query_selection: str) -> bool:
    """Return whether the value of `-queries` is the path of a file, not a list of ids. Raises InputError for a pipe."""
    if sources.is_pipe(query_selection):
        raise InputError(
            "-queries is read from a file, not from a pipe", file=query_selection, remedy="write it into a file"
        )
    return os.path.isfile(query_selection)


class _SelectedQuery(NamedTuple):
    """A query that is selected by an item of `-queries`, and the resulting hop limits.

    `hop_limit_by_id` has the highest hop to score by the short id of the query. For an LDC query that was expanded
    (replaced by a query for each of its entry points), the limits are those of the queries made from it. 0 means that
    only the first hop is scored.
    """

    item: _ListedQuery
    query: Query
    hop_limit_by_id: Mapping[str, int]

    @property
    def has_second_hop(self) -> bool:
        """Whether the query has a second hop, which may be left out."""
        return len(self.query.slots) > 1

    @property
    def is_expanded(self) -> bool:
        """Whether the query is an LDC query that was replaced by a query for each of its entry points."""
        return self.query.expansion_ids is not None

    @property
    def is_cut_by_empty_limit(self) -> bool:
        """Whether the query is cut (its second hop is not scored) because the column of the hop limit is empty.

        The result is False for an expanded LDC query, because the limit on its line does not affect the queries made
        from it.
        """
        return self.has_second_hop and self.item.has_empty_limit and not self.is_expanded

    @property
    def is_cut_by_expansion(self) -> bool:
        """Whether a query that was made from this LDC query is cut: its second hop is not scored."""
        cuts_a_query = 0 in self.hop_limit_by_id.values()
        return self.has_second_hop and self.is_expanded and cuts_a_query


def _select_items(
    items: Iterable[_ListedQuery], queries: QuerySet, problems: ProblemLog, file: str | None
) -> Selection:
    """Return the queries to score, which are named by the items of `-queries`, and report unknown queries.

    If an LDC query was expanded, the queries made from it are scored instead. `file` is the name of the file that lists
    the items, or None if `-queries` is a list of ids.
    """
    hop_limit_by_id: dict[str, int] = {}
    selected_queries: list[_SelectedQuery] = []
    for item in items:
        query = _listed_query(item, queries, problems, file)
        if query is not None:
            hop_limit = _hop_limit(item, len(query.slots) - 1, file)
            # A query made from an LDC query keeps the limit from an earlier item. However, an item with the query's own
            # id replaces an earlier limit.
            limit_by_selected_id = _hop_limits_of_query(query, hop_limit, hop_limit_by_id)
            hop_limit_by_id.update(limit_by_selected_id)
            selected_queries.append(_SelectedQuery(item, query, limit_by_selected_id))
    return Selection(
        hop_limit_by_id=hop_limit_by_id,
        ldc_ids=_ldc_ids_of(selected_queries),
        remarks=_remarks_on_hops(selected_queries, file),
    )


def _hop_limits_of_query(query: Query, hop_limit: int, earlier_limits: Mapping[str, int]) -> dict[str, int]:
    """Return the highest hop to score of each query that an item of `-queries` selects: `{"00fb79cef8": 1}`.

    The item names `query`, and its limit is `hop_limit`. If `query` is an LDC query, the queries made from it are
    selected, with hop 0 only. A query that is listed before on its own keeps its limit, which is in `earlier_limits`.
    """
    if query.expansion_ids is None:
        return {query.short_id: hop_limit}
    return {short_id: earlier_limits.get(short_id, 0) for short_id in query.expansion_ids}


def _ldc_ids_of(selected_queries: Iterable[_SelectedQuery]) -> dict[str, str]:
    """Return the LDC id of each selected query, as given in the file of `-queries`: `{"00fb79cef8": "CS_1"}`."""
    ldc_ids: dict[str, str] = {}
    for selected in selected_queries:
        if selected.item.ldc_id:
            short_ids = list(selected.hop_limit_by_id)  # several queries if the item is an expanded LDC query
            ldc_ids |= dict.fromkeys(short_ids, selected.item.ldc_id)
    return ldc_ids


def _remarks_on_hops(selected_queries: Sequence[_SelectedQuery], file: str | None) -> list[str]:
    """Return remarks on queries with two hops of which only hop 0 is scored: `CS_1: hop 0 only (...)`.

    Only hop 0 is scored if the column of the hop limit is empty, or if `-queries` names an LDC query that was expanded.
    In both cases the user may have intended to score both hops. `file` is the name of the file that lists the queries,
    or None if `-queries` is a list of ids.
    """
    remarks = []
    items_with_empty_limit = [selected.item for selected in selected_queries if selected.is_cut_by_empty_limit]
    if items_with_empty_limit:
        # Only a line of a file can have an empty limit. The line begins with an LDC id, which is used in the remark.
        names = join_first(dict.fromkeys(item.ldc_id or item.text for item in items_with_empty_limit))
        remarks.append(f"{names}: hop 0 only (the third column of {file})")
    expanded_items = [selected.item for selected in selected_queries if selected.is_cut_by_expansion]
    if expanded_items:
        # These items may also be ids typed after the switch, without an LDC id, so the remark shows the text.
        names = join_first(dict.fromkeys(item.text for item in expanded_items))
        remarks.append(f"{names}: hop 0 only (-queries names an LDC query without its entry points)")
    return remarks


def _listed_query(item: _ListedQuery, queries: QuerySet, problems: ProblemLog, file: str | None) -> Query | None:
    """Return the query that an item of `-queries` names. For an unknown query add a warning and return None.

    `file` is the name of the file that lists the item, None if `-queries` is a list of ids. Raises InputError for an
    illegal id.
    """
    if file is None:
        advice = f"no file is called {item.text}, so it was taken for the id of a query"
        parts = read_query_id(item.text, advice, file="-queries")
    else:
        advice = "each line needs two columns, an LDC id and a slot-filling query id"
        parts = read_query_id(item.text, advice, file=file, place=item.place)
    query = queries.by_id.get(parts.short_id)
    if query is None:
        problems.add("UNKNOWN_QUERY_ID_WARNING", parts.short_id)
    return query


def _hop_limit(item: _ListedQuery, highest_hop: int, file: str | None) -> int:
    """Return the highest hop that is scored for a query: the limit of its item, or `highest_hop` if it has no limit.

    `highest_hop` is the last hop of the query, counted from 0. `file` is the name of the file that lists the item, or
    None if the item does not come from a file. Raises InputError if the limit in a file is not between 0 and
    `highest_hop`.
    """
    limit = highest_hop if item.hop_limit is None else item.hop_limit
    if file is not None and not 0 <= limit <= highest_hop:
        problem = f"Unexpected num_slots value {limit:g} for {item.ldc_id} in {file}"
        raise InputError(problem, place=item.place, remedy=f"the hop limit of this query is 0 to {highest_hop}")
    return int(limit)  # files may contain limits such as 0.5, which are rounded down


def _listed_in_file(file: Input) -> list[_ListedQuery]:
    """Return the items of a file for `-queries`. Its lines consist of an LDC id, a query id, and perhaps a hop limit.

    Raises InputError if two lines give different limits for the same LDC query.
    """
    items: list[_ListedQuery] = []
    limit_by_ldc_id: dict[str, float | None] = {}
    with sources.lines_of(file) as lines:
        for line_number, line in enumerate(lines, 1):
            item = _read_listed_query(line, line_number)
            earlier_limit = limit_by_ldc_id.setdefault(item.ldc_id, item.hop_limit)
            if earlier_limit != item.hop_limit:
                problem = f"{item.ldc_id} has multiple/conflicting num_slots in {sources.name_of(file)}"
                raise InputError(problem, place=item.place)
            items.append(item)
    return items


def _read_listed_query(line: str, line_number: int) -> _ListedQuery:
    """Return the query in a line of a file for `-queries`, such as `CSX_0001 CSX_ENG_00fb79cef8 1`.

    The columns are the id of an LDC query, the query to score, and the last hop to score (hop limit). If the line ends
    in a blank or a carriage return, its third column is empty.
    """
    columns = _SPACES_PATTERN.split(line.removesuffix("\n"))
    has_limit = len(columns) > 2
    return _ListedQuery(
        text=columns[1] if len(columns) > 1 else "",
        line_number=line_number,
        ldc_id=columns[0],
        hop_limit=_leading_number(columns[2]) if has_limit else None,
        has_empty_limit=has_limit and not columns[2],
    )


def _leading_number(text: str) -> float:
    """Return the number with which the column of a hop limit begins: `2x` -> 2, an empty text -> 0."""
    match = _LEADING_NUMBER.match(text)
    return 0.0 if match is None else float(match.group())
