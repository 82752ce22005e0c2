"""Queries: ids and their hashes, languages, the slot inventory, the query table (specification 2, 3.3 to 3.7, A)."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.coldstart.editions import LATEST, Edition
from cs_score.problems.log import Place, ProblemLog

_md5: Callable[[bytes], hashlib._Hash] = functools.partial(hashlib.md5, usedforsecurity=False)
with contextlib.suppress(
    ImportError
):  # OpenSSL's, which hashlib prefers, takes half as long again for texts this short
    _md5 = importlib.import_module("_md5").md5

_NIL_NAMESPACE: Final = bytes(16)

_SLOT_FILLING_ID: Final = re.compile(r"(?:(.+)_)?([0-9a-fA-F]{10})((?:_[0-9a-fA-F]{12})*)")
_LDC_ID: Final = re.compile(r"(?:(.+)_)?(\d+)")

# What a JSON string must escape; every other character is hashed as it is, U+007F and U+2028 included.
_JSON_ESCAPES: Final = {
    **{code: f"\\u{code:04x}" for code in range(0x20)},
    0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0C: "\\f", 0x0D: "\\r", 0x22: '\\"', 0x5C: "\\\\",
}  # fmt: skip


class QueryId(NamedTuple):
    """The parts of a query id.

    `prefix` is the text before the last component's underscore, or None; `base` names the query that the first hop
    answers; `short` is the last component, the key of the query table; `level` is 0 or 1; `expanded` is true for ids
    of the ten-digit form.
    """

    prefix: str | None
    base: str
    short: str
    level: int
    expanded: bool


def parse_query_id(text: str) -> QueryId | None:
    """The parts of `text`, or None if it is no query id (specification 2.1)."""
    if match := _SLOT_FILLING_ID.fullmatch(text):
        prefix, base, follow_on = match.groups()
        return QueryId(prefix, base, follow_on[-12:] or base, 1 if follow_on else 0, True)
    if match := _LDC_ID.fullmatch(text):
        prefix, number = match.groups()
        return QueryId(prefix, number, number, 0, False)
    return None


def name_hash(name: bytes, digits: int) -> str:
    """The last `digits` hexadecimal digits of MD5(sixteen zero bytes, name) (specification 3.5)."""
    return _md5(_NIL_NAMESPACE + name).hexdigest()[-digits:]


def slot_filling_id(docid: str, start: str, end: str, slots: tuple[str, ...]) -> str:
    """The ten-digit id of the query with this entry point and these slots, texts as in the query file."""
    return name_hash(":".join((docid, start, end, *slots)).encode("utf-8", "surrogatepass"), 10)


def follow_on_id(query_id: str, value: str, provenance: str, edition: Edition = LATEST) -> str:
    """The twelve-digit id of the query that asks about an answer (specification 3.5).

    `query_id` is the full id of the query that was answered, `value` the answer, `provenance` the canonical value
    provenance. Non-ASCII text is hashed in a double UTF-8 encoding, as the ids published since 2017 were.
    """
    text = f"{query_id}:{value}:{provenance}"
    if not text.isprintable() or '"' in text or "\\" in text:
        text = text.translate(_JSON_ESCAPES)
    if text.isascii():
        name = text.encode("ascii")
    else:
        name = text.encode("utf-8", "surrogatepass")
        if not edition.hashes_text_once:
            name = name.decode("latin-1").encode("utf-8")
    return _md5(_NIL_NAMESPACE + name).hexdigest()[-12:]


DEFAULT_LANGUAGE: Final = "ENGLISH"
DEFAULT_CODE: Final = "ENG"


def language_code(docid: str, edition: Edition = LATEST) -> str | None:
    """`CMN`, `SPA` or `ENG`, or None where the id does not tell (English is then assumed)."""
    text = docid.upper()
    if text.startswith("CMN"):
        return "CMN"
    if text.startswith("SPA"):
        return "SPA"
    if text.startswith("ENG_") or "_ENG_" in text or (edition.finds_english_anywhere and "ENG" in text):
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
"""Legal value types, lower case (specification 4.4)."""


class Predicate(Record):
    """One slot: `name` for entities of the types in `domain`, filled by the types in `range`.

    `single` is true for slots that take one value; `inverse` is the name of the inverse slot, or None. `usual` is the
    first of the types in `range` as the inventory has them; empty for predicates of users.
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
        rows = file.read().splitlines()[1:]
    for line in rows:
        domain, name, quantity, range_, inverse = line.split("\t")
        types = frozenset(domain.split(","))
        range_types = range_.split(",")
        is_single = quantity == "single"
        predicate = Predicate(name, types, frozenset(range_types), is_single, inverse or None, range_types[0])
        for node_type in types:
            table[node_type, name] = predicate
    return table


@functools.lru_cache(maxsize=4096)
def find_predicate(slot: str) -> Predicate | None:
    """The predicate of a slot text such as `per:children`, or None if there is none (specification A.2)."""
    domain, _, name = slot.partition(":")
    return inventory().get((domain, name))


_NO_SLOT_FILLING: Final = frozenset(
    "likes dislikes is_liked_by is_disliked_by pronominal_mention normalized_mention".split()
)


@functools.cache
def slots_without_events() -> frozenset[str]:
    """The slots that there were before events and sentiments."""
    return frozenset(
        f"{domain}:{name}"
        for domain, name in inventory()
        if domain in ENTITY_TYPES and "." not in name and name not in _NO_SLOT_FILLING
    )


def has_slot(slot: str, edition: Edition) -> bool:
    """Whether the inventory of an edition has a slot."""
    return slot in slots_without_events() if edition.slot_filling_only else find_predicate(slot) is not None


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
        return f"{self.prefix or ''}_{self.short_id}"

    def slot_at(self, hop: int) -> str | None:
        return self.slots[hop] if hop < len(self.slots) else None

    def unknown_slots(self, edition: Edition) -> tuple[str, ...]:
        """Slot texts that the inventory lacks."""
        return tuple(slot for slot in self.slots if not has_slot(slot, edition))

    def unknown_languages(self, edition: Edition) -> tuple[str, ...]:
        """Document ids of the entry points, as far as they do not tell a language."""
        docids = (entry_point.docid or "" for entry_point in self.entry_points)
        return tuple(docid for docid in docids if language_code(docid, edition) is None)


class QuerySet(Record):
    """The query table.

    `by_id` holds every query by short id, expanded ones included; `ldc_of` maps the short id of a slot-filling query to
    that of the LDC query it was made from and is empty where nothing was expanded (specification 3.7).
    """

    by_id: Mapping[str, Query]
    ldc_of: Mapping[str, str]
    was_expanded: bool
    edition: Edition = LATEST

    def scored_by_default(self) -> Iterator[Query]:
        """The queries that are scored unless others are named: all that were not replaced by their expansions."""
        return (query for query in self.by_id.values() if query.expansions is None)


def report_languages(query: Query, problems: ProblemLog, times: int = 1, edition: Edition = LATEST) -> None:
    """Warn of the entry points whose language is guessed; the reference counts this at every use of a query."""
    for docid in query.unknown_languages(edition):
        problems.add("FAILED_LANG_INFERENCE", docid, DEFAULT_LANGUAGE, place=query.place, times=times)


def report_slots(query: Query, problems: ProblemLog, times: int = 1, edition: Edition = LATEST) -> None:
    """Report the slots that the inventory lacks; the reference counts this at every use of a query."""
    for slot in query.unknown_slots(edition):
        problems.add("UNKNOWN_SLOT_NAME", slot, times=times)


def query_id(text: str, place: Place) -> QueryId:
    parts = parse_query_id(text)
    if parts is None:
        raise InputError(
            f'unexpected argument: "{text}" sent to parse_queryid',
            file=place.file,
            place=str(place.line),
            remedy="a query id ends in ten hexadecimal digits (slot filling) or in decimal digits (LDC)",
        )
    return parts


def build_query_set(
    loaded: Iterable[Query], base: str | None, problems: ProblemLog, edition: Edition = LATEST
) -> QuerySet:
    """Put the queries of all files into one table and, with `base`, split them by entry point (specification 3.6).

    A later query replaces an earlier one with the same short id. `base` is the first part of the new queries' names.
    """
    by_id = {query.short_id: query for query in loaded}
    if base is None:
        return QuerySet(by_id, {}, False, edition)
    for query in list(by_id.values()):
        report_languages(query, problems, edition=edition)
        expansions = tuple(_expand(query, base, edition))
        for expansion in expansions:
            report_slots(expansion, problems, edition=edition)
        # The query itself first: a slot-filling query makes way for its own expansion.
        by_id[query.short_id] = replace(query, expansions=tuple(expansion.short_id for expansion in expansions))
        by_id.update((expansion.short_id, expansion) for expansion in expansions)
    ldc_of = {expansion: short_id for short_id, query in sorted(by_id.items()) for expansion in query.expansions or ()}
    return QuerySet(by_id, ldc_of, True, edition)


def _expand(query: Query, base: str, edition: Edition) -> Iterator[Query]:
    for entry_point in query.entry_points:
        docid = entry_point.docid or ""
        short_id = slot_filling_id(docid, entry_point.start or "", entry_point.end or "", query.slots)
        yield Query(
            prefix=f"{base}_{language_code(docid, edition) or DEFAULT_CODE}",
            short_id=short_id,
            base_id=short_id,
            slots=query.slots,
            entry_points=(entry_point,),
            place=query.place,
            entity_type=query.entity_type,
        )
