"""The predicates of knowledge bases (`KbPredicate`), including those of users, and the meaning of a predicate column. A
column such as `per:spouse` consists of a domain (the type of the subject) and a name. The column of an event, such as
`life.marry_person.actual`, ends with a realis, which says whether the event took place. A use is the way in which a
predicate uses a node: as its subject or as its object, with the types that the node may have."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
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
_RANK_BY_NAME: Final = {"type": 0, "link": 1, "mention": 2, "canonical_mention": 2}

_CORRECTIONS_BY_NODE_TYPE: Final[dict[str, dict[str, tuple[str, str]]]] = {
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
    """A way in which lines use a node: its role, such as SUBJECT, and the types that a node in this role can have.

    For example, per:spouse uses its subject as a subject with the type "per". `types` is empty if all types are
    allowed. If only one type is allowed, `single_type` is this type.
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
def use_by_declaration(type_text: str) -> Use:
    """Return the use of a node by a line that declares its type, such as "PER"; the type need not be legal."""
    return use_as(TYPEDEF, frozenset((type_text.lower(),)))


class KbPredicate(Record, eq=False):
    """A predicate and its properties that matter for assertions.

    * `definition`: its name, domain, range and inverse, as defined by the inventory of the evaluation or by a user.
    * `subject_use` and `object_use`: the uses of the subject and of the object of an assertion.
    * `label`: the label of the file that defines the predicate; it is `TAC` for predicates of the evaluation.
    * `order`: the sort key of the predicate in a validated knowledge base.
    * `has_provenance`: its assertions have a provenance column.
    * `has_domain`: the predicate is written with the type of the subject before it, as in per:spouse.
    * `is_mention`: its name contains "mention".
    * `has_text_object`: its object is a text in quotes. `has_node_object`: its object is a node.
    * `has_inverse`: the object may be the subject of an inverse predicate.
    * `several_spans_report_count`: how often a provenance with several spans is reported; 0 if this is allowed.
    * `is_repeatable`: assertions may be repeated.
    * `is_compared_with_earlier`: assertions are compared with earlier ones.
    """

    name: str
    definition: Predicate
    subject_use: Use
    object_use: Use
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
    is_compared_with_earlier: bool


def inverse_of(predicate: Predicate) -> str:
    """Return the name of the inverse of a predicate, "none" if it has no inverse."""
    return NONE if predicate.inverse is None else predicate.inverse


class PredicateProblem(NamedTuple):
    """A problem of a predicate column: its code and the arguments of its message."""

    code: str
    arguments: tuple[str, ...]


class Reading(NamedTuple):
    """The meaning of a predicate column: the predicate, the realis and the problems.

    `predicate` is None if the column is rejected, and `realis` is None if the column has no realis.
    """

    predicate: KbPredicate | None
    realis: str | None
    problems: tuple[PredicateProblem, ...]


class PredicateTable:
    """The predicates that a knowledge base may use."""

    def __init__(self) -> None:
        """Make a table with the predicates that the evaluation defines, such as per:spouse, under the label "TAC"."""
        self._predicates_by_name: dict[str, list[KbPredicate]] = {}
        # A cache of column meanings, since many lines share the same few columns. The key consists of the arguments of
        # `read`: the text of the column, the type of the subject, and whether the relation involves an event.
        self._reading_by_column: dict[tuple[str, str | None, bool], Reading] = {}
        for definition in _predicates_of_evaluation():
            self.define(definition, TAC)

    def predicates_named(self, name: str) -> list[KbPredicate]:
        """Return all predicates with a name such as "spouse"; those with the same name differ in their domains."""
        return self._predicates_by_name.get(name, [])

    def define(self, definition: Predicate, label: str) -> None:
        """Add the predicate with this definition (name, domain, range, inverse) to the table.

        `label` is the label of the file that defines the predicate; it is "TAC" for predicates of the evaluation.
        """
        predicate = _make_kb_predicate(definition, label)
        self._predicates_by_name.setdefault(predicate.name, []).append(predicate)

    def read(self, text: str, subject_type: str | None, involves_event: bool) -> Reading:
        """Return the meaning of a predicate column, such as "per:spouse" or "conflict.attack_attacker.actual".

        `subject_type` is the type of the subject, or None if it is not known. `involves_event` is true if the subject
        or the object is an event.
        """
        key = (text, subject_type, involves_event)
        reading = self._reading_by_column.get(key)
        if reading is None:
            reading = self._read_new_column(text, subject_type, involves_event)
            self._reading_by_column[key] = reading
        return reading

    def _read_new_column(self, text: str, subject_type: str | None, involves_event: bool) -> Reading:
        """Return the meaning of a predicate column that has not been read before, such as "per:spouse".

        `subject_type` is the type of the subject, or None if it is not known. `involves_event` is true if the subject
        or the object is an event. The column is rejected if its domain is wrong, or if its name is not the name of
        exactly one predicate.
        """
        domain, name_with_realis = _split_domain(text)
        name, realis, realis_problems = self._split_realis(name_with_realis, involves_event)
        problems = list(realis_problems)
        domain_problem = _domain_problem(domain, subject_type)
        if domain_problem is not None:
            problems.append(domain_problem)
            return Reading(predicate=None, realis=realis, problems=tuple(problems))
        node_type = domain or subject_type
        correction = _correction_of(name, node_type)
        if correction is not None:
            # A deprecated or misspelled name is reported, and replaced by the right one.
            reason, right_name = correction
            problems.append(PredicateProblem("PREDICATE_ALIAS", (reason, name, right_name)))
            name = right_name
        candidates = self.predicates_named(name)
        if node_type is not None:
            candidates = [predicate for predicate in candidates if node_type in predicate.definition.domain]
        if len(candidates) != 1:
            code = "AMBIGUOUS_PREDICATE" if candidates else "ILLEGAL_PREDICATE"
            problems.append(PredicateProblem(code, (name,)))
            return Reading(predicate=None, realis=realis, problems=tuple(problems))
        return Reading(predicate=candidates[0], realis=realis, problems=tuple(problems))

    def _split_realis(self, text: str, involves_event: bool) -> _NameWithRealis:
        """Return the name and the realis of a predicate without its domain, and their problems.

        A relation that involves an event (`involves_event`) should have a realis; other relations should not. Examples:

            spouse                      name spouse, no realis
            spouse.                     name spouse. (no predicate has this name), no realis
            life.injure_victim          name life.injure_victim, no realis
            life.injure_victim.         name life.injure_victim, no realis
            life.injure_victim.actual   name life.injure_victim, realis actual
            type.actual                 name type, realis actual
        """
        text_without_end = text.rstrip(".")
        name_before_last, dot, last_part = text_without_end.rpartition(".")
        if not dot:
            # The whole text is the name. Trailing dots are kept, so that no predicate matches it.
            needs_realis = involves_event and text != "type"
            return _NameWithRealis(text, realis=None, problems=(_MISSING_REALIS,) if needs_realis else ())
        if name_before_last == "type":
            return _NameWithRealis("type", realis=last_part, problems=_realis_problems_of_type(last_part))
        if last_part in REALIS:
            problems = _realis_problems(last_part, involves_event, is_defined=self._is_defined(name_before_last))
            return _NameWithRealis(name_before_last, realis=last_part, problems=problems)
        # The last part is not a realis but belongs to the name, as in "life.injure_victim". Trailing dots do not.
        problems = _absent_realis_problems(last_part, involves_event, is_defined=self._is_defined(text_without_end))
        return _NameWithRealis(text_without_end, realis=None, problems=problems)

    def _is_defined(self, name: str) -> bool:
        """Return whether the table has a predicate with a name such as "spouse"."""
        return name in self._predicates_by_name


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
    """Return the problems of a text after the predicate `type`, such as "actual" in "type.actual".

    Any text is unexpected there. A text that is not a realis is also illegal.
    """
    if text in REALIS:
        return (_unexpected_realis(text),)
    return (_unexpected_realis(text), _illegal_realis(text))


def _realis_problems(realis: str, involves_event: bool, is_defined: bool) -> tuple[PredicateProblem, ...]:
    """Return the problems of a realis, such as "actual" in "life.injure_victim.actual".

    `is_defined` is true if the name before the realis is a predicate. In this case, a realis is right for a relation
    that involves an event (`involves_event`), and unexpected for any other relation. If the name is not a predicate,
    the reference program calls even a legal realis illegal.
    """
    if is_defined:
        return () if involves_event else (_unexpected_realis(realis),)
    if involves_event:
        return (_illegal_realis(realis), _unexpected_realis(realis))
    return (_illegal_realis(realis),)


def _absent_realis_problems(last_part: str, involves_event: bool, is_defined: bool) -> tuple[PredicateProblem, ...]:
    """Return the problems of a predicate that has no realis but a full stop in its name: "life.injure_victim".

    `last_part` is the text after the full stop. `involves_event` is true if the relation involves an event, and
    `is_defined` is true if the whole name is a predicate.
    """
    if is_defined:
        return (_MISSING_REALIS,) if involves_event else ()
    # The reference program takes the last part for a realis. For example, it reports "foo" in "life.foo" as an illegal
    # realis, and also as an unexpected one if the relation does not involve an event.
    if involves_event:
        return (_illegal_realis(last_part),)
    return (_illegal_realis(last_part), _unexpected_realis(last_part))


def _predicates_of_evaluation() -> list[Predicate]:
    """Return the predicates that the evaluation defines, such as per:spouse, in the order of its inventory.

    The inventory lists a predicate once for each type in its domain, and has a predicate "type" for each kind of node.
    The result has each predicate once; its last predicate is a single "type" that serves all nodes.
    """
    distinct_predicates = dict.fromkeys(inventory().values())
    predicates = [predicate for predicate in distinct_predicates if predicate.name != "type"]
    # The object of a type line is a type, such as PER, rather than a node, so the range is the made-up type "type".
    type_of_any_node = Predicate(
        name="type", domain=NODE_TYPES, range=frozenset(("type",)), is_single_valued=False, inverse=None
    )
    return [*predicates, type_of_any_node]


def _domain_problem(domain: str, subject_type: str | None) -> PredicateProblem | None:
    """Return a problem if the domain of a predicate is illegal or differs from the type of the subject.

    Return None if there is no problem. The domain is a text such as "per", and is empty if the column has no domain.
    `subject_type` is None if the type of the subject is not known.
    """
    if not domain:
        return None
    if domain not in NODE_TYPES:
        return PredicateProblem("ILLEGAL_PREDICATE_TYPE", (domain,))
    if subject_type is not None and subject_type != domain:
        return PredicateProblem("SUBJECT_PREDICATE_MISMATCH", (subject_type, domain))
    return None


def _correction_of(name: str, node_type: str | None) -> tuple[str, str] | None:
    """Return why the name of a predicate is wrong, and the right name: "spouses" -> ("misspelled", "spouse").

    Return None if the name is not known to be wrong. This depends on `node_type`, the type of the subject, such as
    "per" (None if the type is not known).
    """
    correction_by_name = _CORRECTIONS_BY_NODE_TYPE["any"]
    if node_type in _CORRECTIONS_BY_NODE_TYPE:
        correction_by_name = correction_by_name | _CORRECTIONS_BY_NODE_TYPE[node_type]
    return correction_by_name.get(name)


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


def _make_kb_predicate(definition: Predicate, label: str) -> KbPredicate:
    """Return the predicate with this definition and the properties that `KbPredicate` describes.

    `label` is the label of the file that defines the predicate.
    """
    name = definition.name
    is_mention = "mention" in name
    is_repeatable = name in _MAY_REPEAT
    has_provenance = name not in ("type", "link")
    # The object of a mention is a text such as "Ann", that of a type or a link is a word, and that of any other
    # predicate is a node.
    has_text_object = is_mention and "string" in definition.range
    has_node_object = has_provenance and not has_text_object
    # Any node has a type and may have a link.
    subject_types = definition.domain if has_provenance else frozenset()
    # For example, "nominal_mention" contains this name and "mention", so that several spans are reported twice.
    one_span_names = [one_span_name for one_span_name in _ONE_SPAN if one_span_name in name]
    return KbPredicate(
        name=name,
        definition=definition,
        subject_use=use_as(SUBJECT, subject_types),
        object_use=use_as(OBJECT, definition.range),
        label=label,
        order=(_RANK_BY_NAME.get(name, 3), name),  # relations come after types, links and mentions
        has_provenance=has_provenance,
        has_domain=name not in _WITHOUT_DOMAIN,
        is_mention=is_mention,
        has_text_object=has_text_object,
        has_node_object=has_node_object,
        has_inverse=has_node_object and definition.range <= NODE_TYPES,
        several_spans_report_count=len(one_span_names),
        is_repeatable=is_repeatable,
        is_compared_with_earlier=definition.is_single_valued or not is_repeatable,
    )


# ---- Predicates of users

_FILE_NAME: Final = re.compile(r"(\w+)\.predicates\.txt")


class _UserDefinition(NamedTuple):
    """A predicate definition in a user's file. The text of its domain, such as "per,org", is kept for messages."""

    domain_text: str
    definition: Predicate


def load_predicates(path: str, table: PredicateTable) -> None:
    """Add the predicates that a file of a user defines to the table, and the inverse of each of them.

    The file is called LABEL.predicates.txt. A line of it has the domain, the name, the range and the inverse of a
    predicate, such as "per coached_by per coach_of"; an empty line or a comment (#) defines none. Raises InputError if
    the file has another name, and if a line cannot be read or contradicts an earlier definition.
    """
    label = _label_of_file(path)
    for number, columns in _definition_lines(path):
        try:
            for user_definition in _read_definitions(columns):
                _define_unless_known(user_definition, label, table)
        except ValueError as error:
            raise InputError(str(error), file=path, place=f"line {number}", code="ILLEGAL_USER_PREDICATES") from None


def _definition_lines(path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the columns of each line in a predicates file, such as (3, ["per", "coached_by", ...]).

    The columns are in lower case. Empty lines and comments are left out. Raises InputError if the file cannot be read.
    """
    with open_source(path, dash_is_stdin=False) as source:  # "-" is a file with this name, not standard input
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


def _define_unless_known(user_definition: _UserDefinition, label: str, table: PredicateTable) -> None:
    """Add a predicate to the table unless it is there already. `label` is the label of the file that defines it.

    Raises ValueError if the table has the predicate with another inverse, or with another number of values.
    """
    definition = user_definition.definition
    earlier = _find_earlier(definition, table)
    if earlier is None:
        table.define(definition, label)
    else:
        _check_unchanged(user_definition, earlier)


def _read_definitions(columns: Sequence[str]) -> list[_UserDefinition]:
    """Return the predicate that a line of a predicates file defines, followed by its inverse if it has one.

    The columns are domain, name, range and inverse; missing ones are empty. Domain and range are types separated by
    commas, such as "per,org". A star after a name means that the predicate takes a single value. If a predicate has no
    inverse, its inverse column must be "none"; an empty column defines an inverse with an empty name. Raises ValueError
    for illegal types.
    """
    padded_columns = (*columns, "", "", "")
    domain_text, name, range_text, inverse = padded_columns[:4]
    domain = _read_types("domain", domain_text, NODE_TYPES)
    range_ = _read_types("range", range_text, NODE_TYPES | {"type"})
    definitions = [_UserDefinition(domain_text, _make_predicate(name, domain, range_, inverse))]
    # Strings cannot be subjects of an inverse.
    inverse_domain = [node_type for node_type in range_ if node_type != "string"]
    has_inverse = inverse.removesuffix("*") != NONE
    if has_inverse and inverse_domain:
        inverse_definition = _make_predicate(inverse, inverse_domain, domain, name)
        definitions.append(_UserDefinition(",".join(inverse_domain), inverse_definition))
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


def _find_earlier(definition: Predicate, table: PredicateTable) -> Predicate | None:
    """Return the definition in the table that covers a new one, or None if the new one defines a new predicate.

    The earlier definition has the same name, and its domain and range include all types of the new one.
    """
    for predicate in table.predicates_named(definition.name):
        earlier = predicate.definition
        if definition.domain <= earlier.domain and definition.range <= earlier.range:
            return earlier
    return None


def _check_unchanged(user_definition: _UserDefinition, earlier: Predicate) -> None:
    """Raise ValueError if a definition changes the inverse of an earlier predicate or its number of values."""
    definition = user_definition.definition
    predicate_text = f"of predicate {user_definition.domain_text}:{definition.name}"
    if definition.inverse != earlier.inverse:
        change = f"from {inverse_of(earlier)} to {inverse_of(definition)}"
        raise ValueError(f"Attempt to redefine inverse {predicate_text} {change}")
    if definition.is_single_valued != earlier.is_single_valued:
        change = f"from {_quantity_word(earlier)} to {_quantity_word(definition)}"
        raise ValueError(f"Attempt to redefine quantity {predicate_text} {change}")


def _quantity_word(predicate: Predicate) -> str:
    """Return the word in messages for the number of values that a predicate takes: "single" or "list"."""
    return "single" if predicate.is_single_valued else "list"
