"""The predicates of knowledge bases, including those that users define, and the meaning of a predicate column."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import decode_text, open_source
from cs_score.coldstart.queries import NODE_TYPES, Predicate, inventory

TAC: Final = "TAC"
"""The label of the predicates of the task."""

REALIS: Final = frozenset(("actual", "generic", "other"))
_ANY_REALIS: Final = "actual, generic, or other"
NONE: Final = "none"
"""The word for a missing realis in messages, and for a missing inverse."""

# Predicates that allow one span only. A name that contains several of these is reported for each of them.
_ONE_SPAN: Final = (
    "mention", "canonical_mention", "nominal_mention", "normalized_mention", "pronominal_mention",
    "likes", "dislikes", "is_liked_by", "is_disliked_by",
)  # fmt: skip
_MAY_REPEAT: Final = frozenset(
    ("mention", "nominal_mention", "canonical_mention", "normalized_mention", "type", "link")
)
_WITHOUT_DOMAIN: Final = _MAY_REPEAT | {"pronominal_mention"}
_RANKS: Final = {"type": 0, "link": 1, "mention": 2, "canonical_mention": 2}

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
"""Names of predicates that are replaced, by domain: each with the reason and the replacement.

The names under "any" are replaced in every domain.
"""

# The roles of a node in a line, the most specific one first, which says most about the type of the node.
TYPEDEF: Final = 0
SUBJECT: Final = 1
OBJECT: Final = 2


class Use(Record, eq=False):
    """A way in which lines use a node: its role, and the types that a node in this role can have.

    `types` is empty if all types are allowed. `single_type` is the type if only one is allowed.
    """

    role: int
    types: frozenset[str]
    single_type: str | None


@lru_cache(maxsize=1 << 10)
def use_as(role: int, types: frozenset[str] = frozenset()) -> Use:
    """Return the use of a node in a role that allows these types. Equal uses are the same object."""
    single_type: str | None = None
    if len(types) == 1:
        (single_type,) = types
    return Use(role, types, single_type)


@lru_cache(maxsize=1 << 10)
def declaration(type_text: str) -> Use:
    """Return the use of a node by a line that declares its type; the type need not be legal."""
    return use_as(TYPEDEF, frozenset((type_text.lower(),)))


class PredicateVerb(Record, eq=False):
    """A predicate, with its properties that matter for assertions.

    * `as_subject` and `as_object`: the uses of the subject and of the object of an assertion.
    * `label`: the label of the file that defines the predicate, `TAC` for those of the task.
    * `order`: the sort key of the predicate in a validated knowledge base.
    * `has_provenance`: its assertions have a provenance column.
    * `has_domain`: it is written with the type of the subject before it, such as per:spouse.
    * `is_mention`: its name contains "mention".
    * `takes_text`: its object is a text in quotes. `takes_nodes`: its object is a node.
    * `has_inverse`: its object may be the subject of its inverse.
    * `span_complaints`: the number of times that several spans are reported if it allows only one.
    * `may_repeat`: assertions may be repeated.
    * `is_compared`: assertions are compared with earlier ones.
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
    span_complaints: int
    may_repeat: bool
    is_compared: bool


def inverse_of(predicate: Predicate) -> str:
    """Return the name of the inverse of a predicate, "none" if it has no inverse."""
    return NONE if predicate.inverse is None else predicate.inverse


class PredicateProblem(NamedTuple):
    """A problem of a predicate column: its code and the arguments of its message."""

    code: str
    arguments: tuple[str, ...]


class Reading(NamedTuple):
    """The meaning of a predicate column: the predicate, the realis and the problems.

    `verb` is the predicate, None if the column is rejected. `realis` is None if there is none.
    """

    verb: PredicateVerb | None
    realis: str | None
    problems: tuple[PredicateProblem, ...]

    def reject(self, code: str, *arguments: str) -> Reading:
        """Return the reading of a column that is rejected for a further problem."""
        return Reading(None, self.realis, (*self.problems, PredicateProblem(code, arguments)))


class PredicateTable:
    """The predicates that a knowledge base may use."""

    def __init__(self) -> None:
        """Make a table with the predicates of the task."""
        self._verbs_by_name: dict[str, list[PredicateVerb]] = {}
        self._readings: dict[tuple[str, str | None, bool], Reading] = {}
        for predicate in dict.fromkeys(inventory().values()):
            if predicate.name != "type":  # the inventory has a type predicate for each kind of node
                self.define(predicate, TAC)
        self.define(Predicate("type", NODE_TYPES, frozenset(("type",)), False, None), TAC)

    def verbs_named(self, name: str) -> list[PredicateVerb]:
        """Return all predicates with a name, which differ in their domains."""
        return self._verbs_by_name.get(name, [])

    def define(self, predicate: Predicate, label: str) -> None:
        """Add a predicate under the label of the file that defines it."""
        self._verbs_by_name.setdefault(predicate.name, []).append(_make_verb(predicate, label))

    def read(self, text: str, subject_type: str | None, is_event: bool) -> Reading:
        """Return the meaning of a predicate column, such as "per:spouse" or "conflict.attack_attacker.actual".

        `subject_type` is the type of the subject, None if it is not known. `is_event` says that the subject or the
        object is an event.
        """
        key = (text, subject_type, is_event)
        reading = self._readings.get(key)
        if reading is None:
            reading = self._readings[key] = self._read_column(*key)
        return reading

    def _read_column(self, text: str, subject_type: str | None, is_event: bool) -> Reading:
        """Return the meaning of a predicate column without looking for an earlier reading.

        The method `read` has the same arguments.
        """
        domain_text, colon, name_text = text.partition(":")
        domain = domain_text.lower() if colon and domain_text != "0" else ""
        name, realis, problems = self._split_realis(name_text if colon else text, is_event)
        reading = Reading(None, realis, problems)
        if domain and domain not in NODE_TYPES:
            return reading.reject("ILLEGAL_PREDICATE_TYPE", domain)
        if domain and subject_type is not None and subject_type != domain:
            return reading.reject("SUBJECT_PREDICATE_MISMATCH", subject_type, domain)
        node_type = domain or subject_type
        aliases = _ALIASES["any"] | _ALIASES.get(node_type or "any", {})
        if name in aliases:
            reason, replacement = aliases[name]
            alias_problem = PredicateProblem("PREDICATE_ALIAS", (reason, name, replacement))
            problems = (*problems, alias_problem)
            reading = Reading(None, realis, problems)
            name = replacement
        verbs = [verb for verb in self.verbs_named(name) if node_type is None or node_type in verb.predicate.domain]
        if len(verbs) != 1:
            return reading.reject("AMBIGUOUS_PREDICATE" if verbs else "ILLEGAL_PREDICATE", name)
        return Reading(verbs[0], realis, problems)

    def _split_realis(self, text: str, is_event: bool) -> tuple[str, str | None, tuple[PredicateProblem, ...]]:
        """Return the name, the realis and the problems of a predicate without its domain.

        For "life.injure_victim.actual" the name is "life.injure_victim" and the realis "actual". Relations with events
        should have a realis, other relations should not. If the last part of the text is no realis, or the other parts
        are no name, the problems of the reference program are reported.
        """
        full_name = text.rstrip(".")
        name, dot, last = full_name.rpartition(".")
        illegal = PredicateProblem("ILLEGAL_REALIS", (last,))
        unexpected = PredicateProblem("UNEXPECTED_REALIS", (NONE, last))
        missing = PredicateProblem("UNEXPECTED_REALIS", (_ANY_REALIS, NONE))
        if not dot:
            is_missing = is_event and text != "type"
            return text, None, (missing,) if is_missing else ()
        if name == "type":
            return name, last, (unexpected,) if last in REALIS else (unexpected, illegal)
        if last in REALIS:
            if self.verbs_named(name):
                return name, last, () if is_event else (unexpected,)
            return name, last, (illegal, unexpected) if is_event else (illegal,)
        if self.verbs_named(full_name):
            return full_name, None, (missing,) if is_event else ()
        return full_name, None, (illegal,) if is_event else (illegal, unexpected)


def _make_verb(predicate: Predicate, label: str) -> PredicateVerb:
    """Return a predicate with its properties that matter for assertions; `label` names the file that defines it."""
    name = predicate.name
    is_mention = "mention" in name
    may_repeat = name in _MAY_REPEAT
    has_provenance = name not in ("type", "link")
    takes_text = "string" in predicate.range and is_mention
    takes_nodes = not takes_text and has_provenance
    subject_types = predicate.domain if takes_text or takes_nodes else frozenset()
    return PredicateVerb(
        name=name,
        predicate=predicate,
        as_subject=use_as(SUBJECT, subject_types),
        as_object=use_as(OBJECT, predicate.range),
        label=label,
        order=(_RANKS.get(name, 3), name),
        has_provenance=has_provenance,
        has_domain=name not in _WITHOUT_DOMAIN,
        is_mention=is_mention,
        takes_text=takes_text,
        takes_nodes=takes_nodes,
        has_inverse=takes_nodes and predicate.range <= NODE_TYPES,
        span_complaints=sum([part in name for part in _ONE_SPAN]),
        may_repeat=may_repeat,
        is_compared=predicate.is_single_valued or not may_repeat,
    )


# ---- Predicates of users

_FILE_NAME: Final = re.compile(r"(\w+)\.predicates\.txt")


class _Definition(NamedTuple):
    """A predicate that a file defines, with the text of its domain for messages."""

    domain: str
    predicate: Predicate


def load_predicates(path: str, table: PredicateTable) -> None:
    """Add the predicates of a file, which is called LABEL.predicates.txt, to the table, each with its inverse.

    Raises InputError if the file has another name, and if a predicate cannot be added.
    """
    file_name = _FILE_NAME.fullmatch(os.path.basename(path))
    if file_name is None:
        problem = "Filename for predicates files should be <label>.predicates.txt"
        raise InputError(problem, file=path, code="ILLEGAL_USER_PREDICATES")
    label = file_name.group(1).upper()
    with open_source(path, stdin_as_dash=False) as source:
        text = decode_text(source.read_bytes(), path).lower()
    for number, line in enumerate(text.split("\n"), 1):
        columns = line.split()
        if not columns or columns[0].startswith("#"):
            continue
        try:
            for definition in _define_line(columns):
                if not _is_in_table(definition, table):
                    table.define(definition.predicate, label)
        except ValueError as error:
            place = f"line {number}"
            raise InputError(str(error), file=path, place=place, code="ILLEGAL_USER_PREDICATES") from None


def _define_line(columns: list[str]) -> Iterator[_Definition]:
    """Yield the predicate that a line defines, and then its inverse if it has one. Raises ValueError for illegal types.

    The columns are domain, name, range and inverse; missing ones are empty. A star after a name means that the
    predicate takes a single value.
    """
    domain_text, name, range_text, inverse = [*columns, "", "", ""][:4]
    domain = [node_type for node_type in domain_text.split(",") if node_type]
    range_ = [node_type for node_type in range_text.split(",") if node_type]
    _check_types("domain", domain, NODE_TYPES)
    _check_types("range", range_, NODE_TYPES | {"type"})
    yield _Definition(domain_text, _make_predicate(name, domain, range_, inverse))
    nodes = [node_type for node_type in range_ if node_type != "string"]
    if inverse.removesuffix("*") != NONE and nodes:
        yield _Definition(",".join(nodes), _make_predicate(inverse, nodes, domain, name))


def _check_types(column: str, types: list[str], legal_types: frozenset[str]) -> None:
    """Raise ValueError for a type that is not legal in a column; `column` is "domain" or "range"."""
    for node_type in types:
        if node_type not in legal_types:
            raise ValueError(f"Illegal {column} type: {node_type}")


def _make_predicate(starred_name: str, domain: list[str], range_: list[str], starred_inverse: str) -> Predicate:
    """Return the predicate with this name, domain, range and inverse.

    A star at the end of a name means that the predicate takes a single value.
    """
    inverse = starred_inverse.removesuffix("*")
    return Predicate(
        name=starred_name.removesuffix("*"),
        domain=frozenset(domain),
        range=frozenset(range_),
        is_single_valued=starred_name.endswith("*"),
        inverse=None if inverse == NONE else inverse,
    )


def _is_in_table(definition: _Definition, table: PredicateTable) -> bool:
    """Return whether the table has a predicate of the same name that includes the domain and the range of a new one.

    Raises ValueError if that predicate has another inverse, or takes another number of values.
    """
    predicate = definition.predicate
    for verb in table.verbs_named(predicate.name):
        defined = verb.predicate
        if not (predicate.domain <= defined.domain and predicate.range <= defined.range):
            continue
        predicate_text = f"of predicate {definition.domain}:{predicate.name}"
        if predicate.inverse != defined.inverse:
            change = f"from {inverse_of(defined)} to {inverse_of(predicate)}"
            raise ValueError(f"Attempt to redefine inverse {predicate_text} {change}")
        if predicate.is_single_valued != defined.is_single_valued:
            change = f"from {_quantity(defined)} to {_quantity(predicate)}"
            raise ValueError(f"Attempt to redefine quantity {predicate_text} {change}")
        return True
    return False


def _quantity(predicate: Predicate) -> str:
    """Return the word in messages for the number of values that a predicate takes: "single" or "list"."""
    return "single" if predicate.is_single_valued else "list"
