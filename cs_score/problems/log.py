"""Problem codes with their severity and message; problems are collected and reported once, in a fixed order.

Source: specification, section 12; of the companions, 1.4; of knowledge bases, 8.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, Self

from cs_score.foundation.display import one_line
from cs_score.foundation.errors import InputError


class Severity(StrEnum):
    """How bad a problem is: warnings leave the exit status 0, errors make it 255, and fatal ones end the program."""

    WARNING = "WARNING"
    ERROR = "ERROR"
    FATAL = "FATAL_ERROR"


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """A problem code: its severity and the message, in which `%s` and `%d` stand for the arguments."""

    severity: Severity
    template: str


_W: Final = Severity.WARNING
_E: Final = Severity.ERROR
_F: Final = Severity.FATAL

KINDS: Final[dict[str, ProblemKind]] = {
    "AMBIGUOUS_PREDICATE": ProblemKind(_E, "%s: ambiguous predicate"),
    "COLON_OMITTED": ProblemKind(_W, "Initial colon omitted from name of node %s"),
    "DISCARDED_DEPENDENT": ProblemKind(
        _W,
        "Following line has been discarded because all of its parents were discarded due to constraints on multiple "
        "justifications: %s",
    ),
    "DISCARDED_DEPENDENT_DEPTH": ProblemKind(
        _W,
        "Following line has been discarded because all of its parents were discarded due to depth constraints: %s",
    ),
    "DISCARDED_ENTRY": ProblemKind(
        _W, "Following line has been discarded due to constraints on multiple justifications: %s"
    ),
    "DISCARDED_ENTRY_DEPTH": ProblemKind(_W, "Following line has been discarded due to depth constraints: %s"),
    "DUPLICATE_ASSERTION": ProblemKind(_W, "The same assertion is made more than once (%s)"),
    "DUPLICATE_LINE": ProblemKind(
        _W,
        "Following line appears more than once in the submission therefore all copies but one will be removed: %s",
    ),
    "DUPLICATE_QUERY": ProblemKind(_W, "Queries %s and %s share entry point(s)"),
    "DUPLICATE_QUERY_FIELD": ProblemKind(_W, "Duplicate <%s> tag"),
    "EMPTY_FIELD": ProblemKind(_W, "Empty value for column %s"),
    "EMPTY_FILE": ProblemKind(_W, "Empty response or assessment file: %s"),
    "FAILED_LANG_INFERENCE": ProblemKind(_W, "Unable to infer language from DOCID %s. Using %s by default."),
    "ILLEGAL_CONFIDENCE_VALUE": ProblemKind(_E, "Illegal confidence value: %s"),
    "ILLEGAL_DOCID": ProblemKind(_F, "DOCID %s is not a valid DOCID for this task"),
    "ILLEGAL_LINK_SPECIFICATION": ProblemKind(_W, "Illegal link specification: %s"),
    "ILLEGAL_NODE_NAME": ProblemKind(
        _E,
        "Illegal node name: %s. (Accepted: :Entity..., :Event..., :String...; A dash '-' is not acceptable as part of "
        "the name)",
    ),
    "ILLEGAL_NODE_TYPE": ProblemKind(_E, "Illegal node type: %s"),
    "ILLEGAL_OFFSET": ProblemKind(_E, "%s is not a valid offset"),
    "ILLEGAL_OFFSET_IN_DOC": ProblemKind(_E, "%s is not a valid offset for DOCID %s"),
    "ILLEGAL_OFFSET_PAIR": ProblemKind(_E, "(%s, %s) is not a valid offset pair"),
    "ILLEGAL_OFFSET_TRIPLE_STRING": ProblemKind(_E, "%s is not a valid docid/offset pair string"),
    "ILLEGAL_PREDICATE": ProblemKind(_E, "Illegal predicate: %s"),
    "ILLEGAL_PREDICATE_TYPE": ProblemKind(_E, "Illegal predicate type: %s"),
    "ILLEGAL_REALIS": ProblemKind(_E, "Illegal realis: %s"),
    "ILLEGAL_VALUE_TYPE": ProblemKind(_E, "Illegal value type: %s"),
    "IMPROPER_CONFIDENCE_VALUE": ProblemKind(_W, "Confidence value in scientific format: %s"),
    # Spelt like this by the reference; the spelling decides its place in the report.
    "INACCURACTE_MENTION_STRING": ProblemKind(_W, "Mention (or filler) string '%s' not found at %s"),
    "INCOMPATIBLE_NODE_NAME": ProblemKind(_E, "Node name %s is not compatible with type %s"),
    "MALFORMED_QUERY": ProblemKind(_E, "Malformed query %s"),
    "MISMATCHED_HOP_SUBTYPES": ProblemKind(_W, "In %s, range of %s does not match domain of %s"),
    "MISMATCHED_HOP_TYPES": ProblemKind(_W, "In %s, type of %s does not match domain of %s"),
    "MISMATCHED_RUNID": ProblemKind(_F, "Multiple runids were used: %s"),
    "MISMATCHED_TAGS": ProblemKind(_W, "<%s> tag closed with </%s>"),
    "MISSING_CANONICAL": ProblemKind(_W, "Entity %s has no canonical mention in document %s"),
    "MISSING_DECIMAL_POINT": ProblemKind(_W, "Decimal point missing in confidence value: %s"),
    # Misspelt by the reference.
    "MISSING_FILLER_STRING_PROV": ProblemKind(_E, "Filler string missing in provencance: %s"),
    "MISSING_INVERSE": ProblemKind(_W, "No inverse relation asserted for %s(%s, %s)"),
    "MISSING_MENTION_E": ProblemKind(_E, "%s: '%s' is not a mention of node %s"),
    "MISSING_RUNID": ProblemKind(_E, "The first line of the file does not contain a legal runid"),
    "MISSING_TYPEDEF": ProblemKind(_E, "No type asserted for Node %s"),
    "MULTIPLE_CANONICAL": ProblemKind(_E, "More than one canonical mention for Node %s in document %s"),
    "MULTIPLE_CORRECT_GROUND_TRUTH": ProblemKind(_W, "More than one correct choice for ground truth for query %s"),
    "MULTIPLE_DOCIDS_IN_PROV": ProblemKind(_E, "%s contains multiple DOCIDs"),
    "MULTIPLE_DOCIDS_IN_RESPONSE": ProblemKind(_E, "Multiple DOCIDs used in response: %s"),
    "MULTIPLE_FILLS_ENTITY": ProblemKind(_W, "Node %s has multiple %s fills, but should be single-valued"),
    "MULTIPLE_MENTIONS_NO_CANONICAL": ProblemKind(
        _E, "Node %s has more than one named/nominal mention in document %s but has no canonical mention"
    ),
    "MULTIPLE_RUNIDS": ProblemKind(_W, "File contains multiple run IDs (%s, %s)"),
    "MULTIPLE_STRINGS_FOR_PROV": ProblemKind(_E, "Multiple strings provided for provenance: %s (%s)"),
    "MULTITYPED_ENTITY": ProblemKind(_E, "Node %s has more than one type: %s"),
    "NO_MENTIONS": ProblemKind(_W, "Node %s has no mentions"),
    "NO_QUERIES_LOADED": ProblemKind(_W, "No queries found"),
    "OFF_TASK_SLOT": ProblemKind(_W, "%s slot is not valid for task %s"),
    "POSSIBLE_DUPLICATE_QUERY": ProblemKind(_W, "Queries %s and %s are possibly duplicates, based on entrypoint %s"),
    "PREDICATE_ALIAS": ProblemKind(_W, "Use of %s predicate; %s replaced with %s"),
    "SEMICOLON_AS_SEPARATOR": ProblemKind(
        _W,
        "A semicolon is used as a triple separator in the provenance %s. The semicolon will be replaced with a comma. ",
    ),
    "SEMICOLON_IN_PROVENANCE_E": ProblemKind(_E, "A semicolon is used in the provenance %s"),
    "STRING_USED_FOR_ENTITY": ProblemKind(_E, "Expecting a node, but got string %s"),
    "SUBJECT_PREDICATE_MISMATCH": ProblemKind(_E, "Type of subject (%s) does not match type of predicate (%s)"),
    "TOO_MANY_CHARS": ProblemKind(_W, "Provenance contains too many characters; only the first %d will be used"),
    "TOO_MANY_PROVENANCES_IN_LIST": ProblemKind(
        _E, "Unexpected number of provenances in the list: %s. provided=(%d) expected=(%d)"
    ),
    "TOO_MANY_PROVENANCE_TRIPLES_E": ProblemKind(
        _E, "Unexpected number of provenance triples: provided=(%d) expected=(%d)"
    ),
    "TOO_MANY_TOTAL_CHARS": ProblemKind(_E, "All provenance strings contain a total of more than %d characters"),
    "UNASSERTED_MENTION": ProblemKind(_W, "Failed to assert that %s in document %s is also a mention"),
    "UNATTESTED_RELATION_ENTITY": ProblemKind(
        _E, "Relation %s uses node %s, but that node has no mentions in provenance %s"
    ),
    "UNEXPECTED_ASSESSMENT_ENTRY": ProblemKind(_E, "Child with no correct parent found in assessment file. %s %s"),
    "UNEXPECTED_BASE_FILLER": ProblemKind(
        _E, "%s is not an allowed value for BASE_FILLER provenance for event assertions"
    ),
    "UNEXPECTED_PROVENANCE": ProblemKind(_E, "Only PREDICATE_JUSTIFICATION is expected in the provenance: %s"),
    "UNEXPECTED_REALIS": ProblemKind(_E, "Unexpected value of realis (expected %s, got %s)"),
    "UNKNOWN_QUERY_FIELD": ProblemKind(_W, "<%s> is not a recognized query field"),
    "UNKNOWN_QUERY_ID_WARNING": ProblemKind(_W, "Unknown query: %s"),
    "UNKNOWN_SLOT_NAME": ProblemKind(_E, "Unknown slot name: %s"),
    "UNKNOWN_TYPE": ProblemKind(_E, "Cannot infer type for Node %s"),
    "UNQUOTED_STRING": ProblemKind(_W, "String %s not surrounded by double quotes"),
    "WRONG_NUM_ENTRIES": ProblemKind(_E, "Wrong number of entries on line (expected %d, got %d)"),
    "WRONG_SLOT_NAME": ProblemKind(_W, "Slot %s is not the requested slot for query %s (expected %s)"),
}

NO_PLACE: Final = "NO_SOURCE"
"""The place of a problem that belongs to no line; it takes part in the order of places (specification 12.2)."""


class Place(NamedTuple):
    """Where a problem is: a file as named by the user, and a line number or `In query ID`.

    `shown` is what the report prints where that is not "FILE line LINE".
    """

    file: str
    line: int | str
    shown: str | None = None

    def __str__(self) -> str:
        return self.shown or f"{self.file} line {self.line}"


class Detail(NamedTuple):
    """What a report for programs and editors adds to a problem's message.

    `column` is the column it is in, `text` the offending text as written, `repaired` what stands for it from now on.
    """

    column: str | None = None
    text: str | None = None
    repaired: str | None = None


class Problem(NamedTuple):
    """One message with the places where it was met."""

    code: str
    severity: Severity
    message: str
    places: tuple[Place | None, ...]
    """Distinct places in the order in which they were met; None stands for "no place"."""
    occurrences: int


class FatalProblem(InputError):
    """A problem that ends the program; printed with its place behind the message, as problems are in a report."""

    def __init__(self, problem: str, at: Place | None, code: str) -> None:
        file, place = (None, None) if at is None else (at.file, f"line {at.line}")
        super().__init__(problem, file=file, place=place, code=code)
        self.at = at

    def __reduce__(self) -> tuple[object, ...]:
        return FatalProblem, (self.problem, self.at, self.code)

    def __str__(self) -> str:
        return one_line(f"{self.problem} ({NO_PLACE if self.at is None else self.at})")


class ProblemLog:
    """Collects problems: code, then message, then the distinct places; every occurrence is counted."""

    def __init__(self) -> None:
        self.ignored: frozenset[str] = frozenset()
        """Codes that are neither noted nor counted."""
        self.fatal: list[InputError] = []
        """Conditions that the program must end with, in load order; whoever loads decides when (see `end_if_fatal`)."""
        self._found: dict[tuple[str, str], tuple[dict[Place | None, None], list[int]]] = {}
        self._totals = {Severity.WARNING: 0, Severity.ERROR: 0}

    def add(
        self, code: str, *arguments: object, place: Place | None = None, times: int = 1, detail: Detail | None = None
    ) -> None:
        """Note that a problem occurred `times` times at `place`; the arguments fill the code's template.

        `detail` is kept only by logs that record every occurrence. A fatal problem is only noted in `fatal`.
        """
        if times == 0 or code in self.ignored:
            return
        kind = KINDS[code]
        if kind.severity is Severity.FATAL:
            self.fatal.append(FatalProblem(f"{kind.severity}: {kind.template % arguments}", place, code))
            return
        places, count = self._found.setdefault((code, kind.template % arguments), ({}, [0]))
        places[place] = None
        count[0] += times
        self._totals[kind.severity] += times

    def end_if_fatal(self) -> None:
        """Raises the first of the fatal conditions, if there is one."""
        if self.fatal:
            raise self.fatal[0]

    def branch(self) -> Self:
        """A log of its own that begins with what this one holds."""
        other = type(self)()
        other.ignored = self.ignored
        other._found = {key: (dict(places), list(count)) for key, (places, count) in self._found.items()}
        other._totals = dict(self._totals)
        other.fatal = list(self.fatal)
        return other

    def without(self, codes: Collection[str]) -> Self:
        """A log of its own that begins with what this one holds of other codes."""
        other = self.branch()
        for key in [key for key in other._found if key[0] in codes]:
            _, count = other._found.pop(key)
            other._totals[KINDS[key[0]].severity] -= count[0]
        return other

    def take_over(self, other: ProblemLog) -> None:
        """Add all that another log has noted."""
        self.fatal += other.fatal
        for key, (places, count) in other._found.items():
            known, sum_so_far = self._found.setdefault(key, ({}, [0]))
            known.update(places)
            sum_so_far[0] += count[0]
        for severity, total in other._totals.items():
            self._totals[severity] += total

    def count(self, severity: Severity) -> int:
        """Occurrences of problems of this severity, repeated ones included."""
        return self._totals[severity]

    @property
    def has_errors(self) -> bool:
        """Whether there is a problem that keeps results from being used."""
        return self._totals[Severity.ERROR] > 0

    @property
    def total(self) -> int:
        """Occurrences of warnings and errors, repeated ones included."""
        return sum(self._totals.values())

    def __iter__(self) -> Iterator[Problem]:
        """The problems in the order of the report: by code, then by message, both as byte strings."""
        for (code, message), (places, count) in sorted(self._found.items(), key=lambda item: _byte_order(item[0])):
            yield Problem(code, KINDS[code].severity, message, tuple(places), count[0])


def _byte_order(key: tuple[str, str]) -> tuple[bytes, bytes]:
    code, message = key
    return code.encode(), message.encode("utf-8", "surrogatepass")
