"""The predicates of knowledge bases (`PredicateVerb`), including those of users, and the meaning of a predicate column.
A column such as `per:spouse` has a domain (type of the subject) and a name. That of an event, such as
`life.marry_person.actual`, ends with a realis: whether the event took place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import decode_text, open_source
from cs_score.coldstart.queries import NODE_TYPES, Predicate, inventory

TAC: Final = "TAC"
"""The label of the predicates that the evaluation defines."""

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
    """Return the record of a way to use a node: its role, such as SUBJECT, and the types that it may have.

    The subject of per:spouse has the types {"per"}. The empty set allows all types. Equal arguments return the same
    object, so that uses can be compared by identity.
    """
    single_type: str | None = None
    if len(types) == 1:
        (single_type,) = types
    return Use(role, types, single_type)


@lru_cache(maxsize=1 << 10)
def declaration(type_text: str) -> Use:
    """Return the use of a node by a line that declares its type, such as "PER"; the type need not be legal."""
    return use_as(TYPEDEF, frozenset((type_text.lower(),)))


class PredicateVerb(Record, eq=False):
    """A predicate, with its properties that matter for assertions.

    * `as_subject` and `as_object`: the uses of the subject and of the object of an assertion.
    * `label`: the label of the file that defines the predicate, `TAC` for those of the evaluation.
    * `order`: the sort key of the predicate in a validated knowledge base.
    * `has_provenance`: its assertions have a provenance column.
    * `has_domain`: it is written with the type of the subject before it, such as per:spouse.
    * `is_mention`: its name contains "mention".
    * `has_text_object`: its object is a text in quotes. `has_node_object`: its object is a node.
    * `has_inverse`: its object may be the subject of its inverse.
    * `several_spans_report_count`: how often a provenance with several spans is reported; 0 if it may have several.
    * `is_repeatable`: assertions may be repeated.
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
    has_text_object: bool
    has_node_object: bool
    has_inverse: bool
    several_spans_report_count: int
    is_repeatable: bool
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


class PredicateTable:
    """The predicates that a knowledge base may use."""

    def __init__(self) -> None:
        """Make a table with the predicates that the evaluation defines, such as per:spouse, under the label "TAC"."""
        self._verbs_by_name: dict[str, list[PredicateVerb]] = {}
        # The meanings of the columns that were read before. Many lines have the same few columns.
        self._reading_by_column: dict[tuple[str, str | None, bool], Reading] = {}
        for predicate in _predicates_of_evaluation():
            self.define(predicate, TAC)

    def verbs_named(self, name: str) -> list[PredicateVerb]:
        """Return all predicates with a name such as "spouse"; those with the same name differ in their domains."""
        return self._verbs_by_name.get(name, [])

    def define(self, predicate: Predicate, label: str) -> None:
        """Add a predicate to the table.

        `label` is the label of the file that defines the predicate; it is "TAC" for predicates of the evaluation.
        """
        verb = _make_verb(predicate, label)
        self._verbs_by_name.setdefault(predicate.name, []).append(verb)

    def read(self, text: str, subject_type: str | None, is_event: bool) -> Reading:
        """Return the meaning of a predicate column, such as "per:spouse" or "conflict.attack_attacker.actual".

        `subject_type` is the type of the subject, None if it is not known. `is_event` says that the subject or the
        object is an event.
        """
        column = (text, subject_type, is_event)
        reading = self._reading_by_column.get(column)
        if reading is None:
            reading = self._read_new_column(text, subject_type, is_event)
            self._reading_by_column[column] = reading
        return reading

    def _read_new_column(self, text: str, subject_type: str | None, is_event: bool) -> Reading:
        """Return the meaning of a predicate column that was not read before, such as "per:spouse".

        `subject_type` is the type of the subject, None if it is not known. `is_event` says that the subject or the
        object is an event.
        """
        domain, name_with_realis = _split_domain(text)
        name, realis, problems = self._split_realis(name_with_realis, is_event)
        domain_problem = _domain_problem(domain, subject_type)
        if domain_problem is not None:
            return Reading(verb=None, realis=realis, problems=(*problems, domain_problem))
        node_type = domain or subject_type
        alias = _alias_of(name, node_type)
        if alias is None:
            return self._find_verb(name, node_type, realis, problems)
        # A deprecated or misspelled name is reported, and replaced by the right one.
        reason, right_name = alias
        alias_problem = PredicateProblem("PREDICATE_ALIAS", (reason, name, right_name))
        return self._find_verb(right_name, node_type, realis, (*problems, alias_problem))

    def _find_verb(
        self, name: str, node_type: str | None, realis: str | None, problems: tuple[PredicateProblem, ...]
    ) -> Reading:
        """Return the meaning of a predicate column, after looking up its name among the predicates.

        `node_type` is the type of the subject, None if it is not known. `realis` and `problems` were found in the
        column before. If the name is that of no predicate, or of several, this is a further problem, and the column is
        rejected.
        """
        verbs = self.verbs_named(name)
        if node_type is not None:
            verbs = [verb for verb in verbs if node_type in verb.predicate.domain]
        if len(verbs) == 1:
            return Reading(verb=verbs[0], realis=realis, problems=problems)
        code = "AMBIGUOUS_PREDICATE" if verbs else "ILLEGAL_PREDICATE"
        name_problem = PredicateProblem(code, (name,))
        return Reading(verb=None, realis=realis, problems=(*problems, name_problem))

    def _split_realis(self, text: str, is_event: bool) -> _NameWithRealis:
        """Return the name and the realis of a predicate without its domain, and their problems.

        `"life.injure_victim.actual"` -> the name `"life.injure_victim"` and the realis `"actual"`. A relation with an
        event (`is_event`) should have a realis, another relation should not.
        """
        full_name = text.rstrip(".")
        name, dot, last_part = full_name.rpartition(".")
        problems: tuple[PredicateProblem, ...] = ()
        if not dot:
            needs_realis = is_event and text != "type"
            if needs_realis:
                problems = (_MISSING_REALIS,)
            return _NameWithRealis(text, realis=None, problems=problems)
        if name == "type":
            return _NameWithRealis(name, last_part, problems=_realis_problems_of_type(last_part))
        if last_part in REALIS:
            problems = _realis_problems(last_part, is_event, is_defined=self._is_defined(name))
            return _NameWithRealis(name, last_part, problems)
        # The last part is no realis: it belongs to the name, as in "life.injure_victim".
        problems = _absent_realis_problems(last_part, is_event, is_defined=self._is_defined(full_name))
        return _NameWithRealis(full_name, realis=None, problems=problems)

    def _is_defined(self, name: str) -> bool:
        """Return whether the table has a predicate with a name such as "spouse"."""
        return name in self._verbs_by_name


class _NameWithRealis(NamedTuple):
    """The name of a predicate and its realis, with the problems of both. `realis` is None if there is none."""

    name: str
    realis: str | None
    problems: tuple[PredicateProblem, ...]


_MISSING_REALIS: Final = PredicateProblem("UNEXPECTED_REALIS", (_ANY_REALIS, NONE))
"""The problem of a relation with an event that has no realis."""


def _unexpected_realis(realis: str) -> PredicateProblem:
    """Return the problem that a predicate has a realis such as "actual", although it should have none."""
    return PredicateProblem("UNEXPECTED_REALIS", (NONE, realis))


def _illegal_realis(text: str) -> PredicateProblem:
    """Return the problem that the text after the last full stop of a predicate is no legal realis."""
    return PredicateProblem("ILLEGAL_REALIS", (text,))


def _realis_problems_of_type(text: str) -> tuple[PredicateProblem, ...]:
    """Return the problems of the predicate `type` with a text after it, such as "actual" in "type.actual"."""
    if text in REALIS:
        return (_unexpected_realis(text),)
    return (_unexpected_realis(text), _illegal_realis(text))


def _realis_problems(realis: str, is_event: bool, is_defined: bool) -> tuple[PredicateProblem, ...]:
    """Return the problems of a legal realis, such as "actual" in "life.injure_victim.actual".

    `is_event` says that the relation is with an event, `is_defined` that the name before the realis is a predicate.
    """
    if is_defined:
        return () if is_event else (_unexpected_realis(realis),)
    # The reference program finds no predicate before the realis, and takes the realis for illegal.
    if is_event:
        return (_illegal_realis(realis), _unexpected_realis(realis))
    return (_illegal_realis(realis),)


def _absent_realis_problems(last_part: str, is_event: bool, is_defined: bool) -> tuple[PredicateProblem, ...]:
    """Return the problems of a predicate without a realis whose name has a full stop, such as "life.injure_victim".

    `last_part` is the text after the full stop. `is_event` says that the relation is with an event, `is_defined` that
    the whole name is a predicate. If it is not, the last part is taken for an illegal realis.
    """
    if is_defined:
        return (_MISSING_REALIS,) if is_event else ()
    if is_event:
        return (_illegal_realis(last_part),)
    return (_illegal_realis(last_part), _unexpected_realis(last_part))


def _predicates_of_evaluation() -> list[Predicate]:
    """Return the predicates that the evaluation defines, such as per:spouse, in the order of its inventory.

    The inventory has a predicate once for each type in its domain, and a predicate "type" for each kind of node. Here
    each predicate occurs once, and a single predicate "type", the last one, serves all nodes.
    """
    distinct_predicates = dict.fromkeys(inventory().values())
    predicates = [predicate for predicate in distinct_predicates if predicate.name != "type"]
    type_of_any_node = Predicate(
        name="type", domain=NODE_TYPES, range=frozenset(("type",)), is_single_valued=False, inverse=None
    )
    return [*predicates, type_of_any_node]


def _domain_problem(domain: str, subject_type: str | None) -> PredicateProblem | None:
    """Return the problem that the domain of a predicate is illegal or another type than that of the subject.

    Return None if there is no such problem. The domain is a text such as "per", empty if the column has none;
    `subject_type` is None if the type of the subject is not known.
    """
    if not domain:
        return None
    if domain not in NODE_TYPES:
        return PredicateProblem("ILLEGAL_PREDICATE_TYPE", (domain,))
    if subject_type is not None and subject_type != domain:
        return PredicateProblem("SUBJECT_PREDICATE_MISMATCH", (subject_type, domain))
    return None


def _alias_of(name: str, node_type: str | None) -> tuple[str, str] | None:
    """Return why a name of a predicate must not be used, and the right name: "spouses" -> ("misspelled", "spouse").

    Return None for any other name. `node_type` is the type of the subjects, such as "per", since wrong names depend on
    it; None if it is not known.
    """
    alias_by_name = _ALIASES["any"]
    if node_type in _ALIASES:
        alias_by_name = alias_by_name | _ALIASES[node_type]
    return alias_by_name.get(name)


def _split_domain(text: str) -> tuple[str, str]:
    """Return the domain of a predicate column, in lower case, and the text after it: `"PER:spouse"` -> "per", "spouse".

    The domain is empty if the column has none, and if it is "0", which the reference program takes for empty.
    """
    domain, colon, name = text.partition(":")
    if not colon:
        return "", text
    if domain == "0":
        return "", name
    return domain.lower(), name


def _make_verb(predicate: Predicate, label: str) -> PredicateVerb:
    """Return a predicate with its properties that matter for assertions; `PredicateVerb` explains these.

    `label` is the label of the file that defines the predicate.
    """
    name = predicate.name
    is_mention = "mention" in name
    is_repeatable = name in _MAY_REPEAT
    has_provenance = name not in ("type", "link")
    has_text_object = "string" in predicate.range and is_mention
    has_node_object = not has_text_object and has_provenance
    # Nodes of all types have a type, and may have a link.
    subject_types = predicate.domain if has_text_object or has_node_object else frozenset()
    one_span_parts = [part for part in _ONE_SPAN if part in name]
    return PredicateVerb(
        name=name,
        predicate=predicate,
        as_subject=use_as(SUBJECT, subject_types),
        as_object=use_as(OBJECT, predicate.range),
        label=label,
        order=(_RANKS.get(name, 3), name),  # relations come after types, links and mentions
        has_provenance=has_provenance,
        has_domain=name not in _WITHOUT_DOMAIN,
        is_mention=is_mention,
        has_text_object=has_text_object,
        has_node_object=has_node_object,
        has_inverse=has_node_object and predicate.range <= NODE_TYPES,
        several_spans_report_count=len(one_span_parts),
        is_repeatable=is_repeatable,
        is_compared=predicate.is_single_valued or not is_repeatable,
    )


# ---- Predicates of users

_FILE_NAME: Final = re.compile(r"(\w+)\.predicates\.txt")


class _Definition(NamedTuple):
    """A predicate that a file defines, with the text of its domain for messages."""

    domain: str
    predicate: Predicate


def load_predicates(path: str, table: PredicateTable) -> None:
    """Add the predicates that a file of a user defines to the table, and the inverse of each of them.

    The file is called LABEL.predicates.txt. A line of it has the domain, the name, the range and the inverse of a
    predicate, such as "per coached_by per coach_of"; an empty line or a comment (#) defines none. Raises InputError if
    the file has another name, and if a line cannot be read or contradicts an earlier definition.
    """
    label = _label_of_file(path)
    for number, columns in _definition_lines(path):
        try:
            _define_missing(_read_definitions(columns), label, table)
        except ValueError as error:
            raise InputError(str(error), file=path, place=f"line {number}", code="ILLEGAL_USER_PREDICATES") from None


def _definition_lines(path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the columns of each line of a predicates file, such as (3, ["per", "coached_by", ...]).

    The columns are in lower case. Empty lines and comments are left out. Raises InputError if the file cannot be read.
    """
    with open_source(path, stdin_as_dash=False) as source:
        text = decode_text(source.read_bytes(), path).lower()
    for number, line in enumerate(text.split("\n"), start=1):
        columns = line.split()
        is_definition = bool(columns) and not columns[0].startswith("#")
        if is_definition:
            yield number, columns


def _label_of_file(path: str) -> str:
    """Return the label in the name of a predicates file: "my/sports.predicates.txt" -> "SPORTS".

    Raises InputError if the file has another name.
    """
    match = _FILE_NAME.fullmatch(os.path.basename(path))
    if match is None:
        problem = "Filename for predicates files should be <label>.predicates.txt"
        raise InputError(problem, file=path, code="ILLEGAL_USER_PREDICATES")
    return match.group(1).upper()


def _define_missing(definitions: Iterable[_Definition], label: str, table: PredicateTable) -> None:
    """Add the predicates that the table does not have yet, under the label of the file that defines them.

    Raises ValueError for a predicate that the table has with another inverse or another number of values.
    """
    for definition in definitions:
        if not _is_in_table(definition, table):
            table.define(definition.predicate, label)


def _read_definitions(columns: Sequence[str]) -> list[_Definition]:
    """Return the predicate that a line of a predicates file defines, and then its inverse if it has one.

    The columns are domain, name, range and inverse; missing ones are empty. Domain and range are types with commas
    between them, such as "per,org". A star after a name means that the predicate takes a single value. Raises
    ValueError for illegal types.
    """
    padded_columns = (*columns, "", "", "")
    domain_text, name, range_text, inverse = padded_columns[:4]
    domain = _read_types("domain", domain_text, NODE_TYPES)
    range_ = _read_types("range", range_text, NODE_TYPES | {"type"})
    definitions = [_Definition(domain_text, _make_predicate(name, domain, range_, inverse))]
    # Strings are no subjects of an inverse.
    inverse_domain = [node_type for node_type in range_ if node_type != "string"]
    if inverse_domain and inverse.removesuffix("*") != NONE:
        inverse_predicate = _make_predicate(inverse, inverse_domain, domain, name)
        definitions.append(_Definition(",".join(inverse_domain), inverse_predicate))
    return definitions


def _read_types(column: str, text: str, legal_types: frozenset[str]) -> list[str]:
    """Return the types in a text with commas between them: "per,org" -> ["per", "org"].

    Raises ValueError for a type that is not legal in the column, which is "domain" or "range".
    """
    node_types = [node_type for node_type in text.split(",") if node_type]
    for node_type in node_types:
        if node_type not in legal_types:
            raise ValueError(f"Illegal {column} type: {node_type}")
    return node_types


def _make_predicate(starred_name: str, domain: list[str], range_: list[str], starred_inverse: str) -> Predicate:
    """Return the predicate with this name, domain (types of subjects), range (types of objects) and inverse.

    A star at the end of a name means that the predicate takes a single value: "spouse*". An inverse called "none" means
    that there is none.
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
    """Return whether the table has the predicate of a definition already.

    That is so if a predicate in the table has the same name, and its domain and range include the domain and range of
    the definition. Raises ValueError if that predicate has another inverse, or takes another number of values.
    """
    predicate = definition.predicate
    for verb in table.verbs_named(predicate.name):
        earlier = verb.predicate
        includes_definition = predicate.domain <= earlier.domain and predicate.range <= earlier.range
        if includes_definition:
            _check_unchanged(definition, earlier)
            return True
    return False


def _check_unchanged(definition: _Definition, earlier: Predicate) -> None:
    """Raise ValueError if a definition changes the inverse of an earlier predicate or its number of values."""
    predicate = definition.predicate
    predicate_text = f"of predicate {definition.domain}:{predicate.name}"
    if predicate.inverse != earlier.inverse:
        change = f"from {inverse_of(earlier)} to {inverse_of(predicate)}"
        raise ValueError(f"Attempt to redefine inverse {predicate_text} {change}")
    if predicate.is_single_valued != earlier.is_single_valued:
        change = f"from {_quantity_word(earlier)} to {_quantity_word(predicate)}"
        raise ValueError(f"Attempt to redefine quantity {predicate_text} {change}")


def _quantity_word(predicate: Predicate) -> str:
    """Return the word in messages for the number of values that a predicate takes: "single" or "list"."""
    return "single" if predicate.is_single_valued else "list"
