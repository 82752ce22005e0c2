"""The predicates of knowledge bases, those of users among them, and what a predicate column means."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import decoded, open_source
from cs_score.coldstart.queries import NODE_TYPES, Predicate, inventory

TAC: Final = "TAC"
"""The label of the predicates of the task."""

REALIS: Final = frozenset(("actual", "generic", "other"))
_ANY_REALIS: Final = "actual, generic, or other"
NONE: Final = "none"
"""What stands for a missing realis in messages, and for a missing inverse."""

# Names that allow one span only. A verb that contains several of them is complained of for each.
_ONE_SPAN: Final = (
    "mention", "canonical_mention", "nominal_mention", "normalized_mention", "pronominal_mention",
    "likes", "dislikes", "is_liked_by", "is_disliked_by",
)  # fmt: skip
_MAY_REPEAT: Final = frozenset(
    ("mention", "nominal_mention", "canonical_mention", "normalized_mention", "type", "link")
)
_WITHOUT_DOMAIN: Final = _MAY_REPEAT | {"pronominal_mention"}
_RANKS: Final = {"type": 0, "link": 1, "mention": 2, "canonical_mention": 2}

# Domain (any: none is known) -> alias -> why it is no good, and what to use.
_ALIASES: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "org": {
        "dissolved": ("deprecated", "date_dissolved"),
        "employees": ("deprecated", "employees_or_members"),
        "founded": ("deprecated", "date_founded"),
        "membership": ("deprecated", "employees_or_members"),
        "number_of_employees/members": ("deprecated", "number_of_employees_members"),
        "political/religious_affiliation": ("deprecated", "political_religious_affiliation"),
        "top_members/employees": ("deprecated", "top_members_employees"),
    },
    "gpe": {"employees": ("deprecated", "employees_or_members"), "membership": ("deprecated", "employees_or_members")},
    "per": {
        "employee_of": ("deprecated", "employee_or_member_of"),
        "member_of": ("deprecated", "employee_or_member_of"),
        "stateorprovinces_of_residence": ("deprecated", "statesorprovinces_of_residence"),
        "ages": ("misspelled", "age"),
        "city_of_residence": ("misspelled", "cities_of_residence"),
        "country_of_residence": ("misspelled", "countries_of_residence"),
        "spouses": ("misspelled", "spouse"),
        "stateorprovince_of_residence": ("misspelled", "statesorprovinces_of_residence"),
        "titles": ("misspelled", "title"),
    },
    "any": {"canonical_mentions": ("misspelled", "canonical_mention"), "mentions": ("misspelled", "mention")},
}

# What a use says of the node, the most specific first.
TYPEDEF: Final = 0
SUBJECT: Final = 1
OBJECT: Final = 2


class Use(Record, eq=False):
    """A way in which a line uses a node: its role there, and what that says of its type.

    `types` are those that it may have by that, `only` the one where there is no choice; none where nothing is said.
    """

    role: int
    types: frozenset[str]
    only: str | None


@lru_cache(maxsize=1 << 10)
def use_as(role: int, types: frozenset[str] = frozenset()) -> Use:
    """The use of a node in a role; equal uses are one."""
    return Use(role, types, next(iter(types)) if len(types) == 1 else None)


@lru_cache(maxsize=1 << 10)
def declaration(written: str) -> Use:
    """The use of a node whose type is declared, with the type as it is written, legal or not."""
    return use_as(TYPEDEF, frozenset((written.lower(),)))


class Verb(Record, eq=False):
    """A predicate as assertions use it.

    `as_subject`, `as_object`: how it uses its nodes. `label`: of the file that defines it. `order`: its place in a
    validated knowledge base. `has_provenance`: its fourth column counts. `has_domain`: it is written with the type of
    its subject. `is_mention`: so its name says. `takes_text`, `takes_nodes`: its object is text in quotes, or a node.
    `has_inverse`: its object may be the subject of its inverse. `one_span`: how often a second span is complained of.
    `may_repeat`: the same assertion may be made twice. `is_compared`: it matters what was said before.
    """

    name: str
    predicate: Predicate
    as_subject: Use
    as_object: Use
    label: str
    order: tuple[int, str]
    has_provenance: bool
    has_domain: bool
    is_mention: bool
    takes_text: bool
    takes_nodes: bool
    has_inverse: bool
    one_span: int
    may_repeat: bool
    is_compared: bool


def inverse_of(predicate: Predicate) -> str:
    """The name of the inverse, `NONE` where there is none."""
    return NONE if predicate.inverse is None else predicate.inverse


PredicateProblem: TypeAlias = tuple[str, tuple[str, ...]]
"""A code with its arguments."""


class Reading(NamedTuple):
    """What a predicate column means: the verb, None where it is rejected; the realis; what is wrong with it."""

    verb: Verb | None
    realis: str | None
    problems: tuple[PredicateProblem, ...]


class PredicateTable:
    """The predicates that a knowledge base may use."""

    def __init__(self) -> None:
        self._by_name: dict[str, list[Verb]] = {}
        self._readings: dict[tuple[str, str | None, bool], Reading] = {}
        for predicate in dict.fromkeys(inventory().values()):
            if predicate.name != "type":  # which the inventory has once for each kind of node
                self.define(predicate, TAC)
        self.define(Predicate("type", NODE_TYPES, frozenset(("type",)), False, None), TAC)

    def named(self, name: str) -> list[Verb]:
        """All predicates of this name."""
        return self._by_name.get(name, [])

    def define(self, predicate: Predicate, label: str) -> None:
        """Add a predicate."""
        self._by_name.setdefault(predicate.name, []).append(_verb(predicate, label))

    def read(self, written: str, subject_type: str | None, is_event: bool) -> Reading:
        """The meaning of a predicate column for a subject of this type, None for one that is not known.

        `is_event`: whether the subject or the object is an event.
        """
        key = (written, subject_type, is_event)
        if (reading := self._readings.get(key)) is None:
            reading = self._readings[key] = self._read(*key)
        return reading

    def _read(self, written: str, subject_type: str | None, is_event: bool) -> Reading:
        before, colon, rest = written.partition(":")
        domain = before.lower() if colon and before != "0" else ""
        name, realis, problems = self._split_realis(rest if colon else written, is_event)

        def rejected(code: str, *arguments: str) -> Reading:
            return Reading(None, realis, (*problems, (code, arguments)))

        if domain and domain not in NODE_TYPES:
            return rejected("ILLEGAL_PREDICATE_TYPE", domain)
        if domain and subject_type is not None and subject_type != domain:
            return rejected("SUBJECT_PREDICATE_MISMATCH", subject_type, domain)
        known = domain or subject_type
        aliases = _ALIASES["any"] | _ALIASES.get(known or "any", {})
        if name in aliases:
            why, replacement = aliases[name]
            problems = (*problems, ("PREDICATE_ALIAS", (why, name, replacement)))
            name = replacement
        verbs = [verb for verb in self.named(name) if known is None or known in verb.predicate.domain]
        if len(verbs) != 1:
            return rejected("AMBIGUOUS_PREDICATE" if verbs else "ILLEGAL_PREDICATE", name)
        return Reading(verbs[0], realis, problems)

    def _split_realis(self, text: str, is_event: bool) -> tuple[str, str | None, tuple[PredicateProblem, ...]]:
        """Name and realis of a predicate without its domain."""
        whole = text.rstrip(".")
        before, dot, last = whole.rpartition(".")
        missing = (("UNEXPECTED_REALIS", (_ANY_REALIS, NONE)),) if is_event else ()
        illegal, unexpected = ("ILLEGAL_REALIS", (last,)), ("UNEXPECTED_REALIS", (NONE, last))
        if not dot:
            return text, None, () if text == "type" else missing
        if before == "type":
            return before, last, (unexpected,) if last in REALIS else (unexpected, illegal)
        if last in REALIS:
            if self.named(before):
                return before, last, () if is_event else (unexpected,)
            return before, last, (illegal, unexpected) if is_event else (illegal,)
        if self.named(whole):
            return whole, None, missing
        return whole, None, (illegal,) if is_event else (illegal, unexpected)


def _verb(predicate: Predicate, label: str) -> Verb:
    name = predicate.name
    is_mention, may_repeat = "mention" in name, name in _MAY_REPEAT
    has_provenance = name not in ("type", "link")
    takes_text = "string" in predicate.range and is_mention
    takes_nodes = not takes_text and has_provenance
    return Verb(
        name,
        predicate,
        as_subject=use_as(SUBJECT, predicate.domain if takes_text or takes_nodes else frozenset()),
        as_object=use_as(OBJECT, predicate.range),
        label=label,
        order=(_RANKS.get(name, 3), name),
        has_provenance=has_provenance,
        has_domain=name not in _WITHOUT_DOMAIN,
        is_mention=is_mention,
        takes_text=takes_text,
        takes_nodes=takes_nodes,
        has_inverse=takes_nodes and predicate.range <= NODE_TYPES,
        one_span=sum(one in name for one in _ONE_SPAN),
        may_repeat=may_repeat,
        is_compared=predicate.single or not may_repeat,
    )


_FILE_NAME: Final = re.compile(r"(\w+)\.predicates\.txt")


def load_predicates(path: str, table: PredicateTable) -> None:
    """Add the predicates of a file LABEL.predicates.txt, each with its inverse. Raises InputError for what cannot be
    added.
    """

    def rejected(problem: str, line: int | None = None) -> InputError:
        place = None if line is None else f"line {line}"
        return InputError(problem, file=path, place=place, code="ILLEGAL_USER_PREDICATES")

    name = _FILE_NAME.fullmatch(os.path.basename(path))
    if name is None:
        raise rejected("Filename for predicates files should be <label>.predicates.txt")
    with open_source(path, stdin_as_dash=False) as source:
        text = decoded(source.read_bytes(), path).lower()
    for line, line_text in enumerate(text.split("\n"), 1):
        columns = line_text.split()
        if not columns or columns[0].startswith("#"):
            continue
        try:
            for domain, predicate in _defined(*(*columns, "", "", "")[:4]):  # missing columns are empty
                if not _is_known(predicate, domain, table):
                    table.define(predicate, name.group(1).upper())
        except ValueError as error:
            raise rejected(str(error), line) from None


def _defined(domains: str, name: str, ranges: str, inverse: str) -> Iterator[tuple[str, Predicate]]:
    """The predicate of a line and its inverse, each with its domain as written. Raises ValueError for illegal types."""
    domain, range_ = ([one for one in text.split(",") if one] for text in (domains, ranges))
    for what, types, legal in (("domain", domain, NODE_TYPES), ("range", range_, NODE_TYPES | {"type"})):
        for node_type in types:
            if node_type not in legal:
                raise ValueError(f"Illegal {what} type: {node_type}")

    def made(starred: str, of: list[str], to: list[str], back: str) -> Predicate:
        inverse = None if back.removesuffix("*") == NONE else back.removesuffix("*")
        return Predicate(starred.removesuffix("*"), frozenset(of), frozenset(to), starred.endswith("*"), inverse)

    yield domains, made(name, domain, range_, inverse)
    nodes = [node_type for node_type in range_ if node_type != "string"]
    if inverse.removesuffix("*") != NONE and nodes:
        yield ",".join(nodes), made(inverse, nodes, domain, name)


def _is_known(predicate: Predicate, domain: str, table: PredicateTable) -> bool:
    """Whether a predicate agrees with one there is. Raises ValueError where it would change that one."""
    for known in (verb.predicate for verb in table.named(predicate.name)):
        if not (predicate.domain <= known.domain and predicate.range <= known.range):
            continue
        what = f"of predicate {domain}:{predicate.name} from"
        if predicate.inverse != known.inverse:
            raise ValueError(f"Attempt to redefine inverse {what} {inverse_of(known)} to {inverse_of(predicate)}")
        if predicate.single != known.single:
            before, after = ("single" if one.single else "list" for one in (known, predicate))
            raise ValueError(f"Attempt to redefine quantity {what} {before} to {after}")
        return True
    return False
