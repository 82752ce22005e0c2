"""Problem codes with their severity and message; problems are collected and reported once, in a fixed order.

Source: specification, section 12.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple


class Severity(StrEnum):
    """How bad a problem is: warnings leave the exit status 0, errors make it 255."""

    WARNING = "WARNING"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """A problem code: its severity and the message, in which `%s` and `%d` stand for the arguments."""

    severity: Severity
    template: str


_W: Final = Severity.WARNING
_E: Final = Severity.ERROR

KINDS: Final[dict[str, ProblemKind]] = {
    "DISCARDED_DEPENDENT": ProblemKind(
        _W,
        "Following line has been discarded because all of its parents were discarded due to constraints on multiple "
        "justifications: %s",
    ),
    "DISCARDED_ENTRY": ProblemKind(
        _W, "Following line has been discarded due to constraints on multiple justifications: %s"
    ),
    "DUPLICATE_LINE": ProblemKind(
        _W,
        "Following line appears more than once in the submission therefore all copies but one will be removed: %s",
    ),
    "DUPLICATE_QUERY_FIELD": ProblemKind(_W, "Duplicate <%s> tag"),
    "EMPTY_FIELD": ProblemKind(_W, "Empty value for column %s"),
    "EMPTY_FILE": ProblemKind(_W, "Empty response or assessment file: %s"),
    "FAILED_LANG_INFERENCE": ProblemKind(_W, "Unable to infer language from DOCID %s. Using %s by default."),
    "ILLEGAL_CONFIDENCE_VALUE": ProblemKind(_E, "Illegal confidence value: %s"),
    "ILLEGAL_OFFSET": ProblemKind(_E, "%s is not a valid offset"),
    "ILLEGAL_OFFSET_PAIR": ProblemKind(_E, "(%s, %s) is not a valid offset pair"),
    "ILLEGAL_OFFSET_TRIPLE_STRING": ProblemKind(_E, "%s is not a valid docid/offset pair string"),
    "ILLEGAL_VALUE_TYPE": ProblemKind(_E, "Illegal value type: %s"),
    "IMPROPER_CONFIDENCE_VALUE": ProblemKind(_W, "Confidence value in scientific format: %s"),
    "MALFORMED_QUERY": ProblemKind(_E, "Malformed query %s"),
    "MISMATCHED_TAGS": ProblemKind(_W, "<%s> tag closed with </%s>"),
    "MISSING_DECIMAL_POINT": ProblemKind(_W, "Decimal point missing in confidence value: %s"),
    "MULTIPLE_CORRECT_GROUND_TRUTH": ProblemKind(_W, "More than one correct choice for ground truth for query %s"),
    "MULTIPLE_DOCIDS_IN_PROV": ProblemKind(_E, "%s contains multiple DOCIDs"),
    "MULTIPLE_DOCIDS_IN_RESPONSE": ProblemKind(_E, "Multiple DOCIDs used in response: %s"),
    "NO_QUERIES_LOADED": ProblemKind(_W, "No queries found"),
    "SEMICOLON_AS_SEPARATOR": ProblemKind(
        _W,
        "A semicolon is used as a triple separator in the provenance %s. The semicolon will be replaced with a comma. ",
    ),
    "SEMICOLON_IN_PROVENANCE_E": ProblemKind(_E, "A semicolon is used in the provenance %s"),
    "TOO_MANY_CHARS": ProblemKind(_W, "Provenance contains too many characters; only the first %d will be used"),
    "TOO_MANY_PROVENANCE_TRIPLES_E": ProblemKind(
        _E, "Unexpected number of provenance triples: provided=(%d) expected=(%d)"
    ),
    "UNEXPECTED_ASSESSMENT_ENTRY": ProblemKind(_E, "Child with no correct parent found in assessment file. %s %s"),
    "UNKNOWN_QUERY_FIELD": ProblemKind(_W, "<%s> is not a recognized query field"),
    "UNKNOWN_QUERY_ID_WARNING": ProblemKind(_W, "Unknown query: %s"),
    "UNKNOWN_SLOT_NAME": ProblemKind(_E, "Unknown slot name: %s"),
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


class Problem(NamedTuple):
    """One message with the places where it was met."""

    code: str
    severity: Severity
    message: str
    places: tuple[Place | None, ...]
    """Distinct places in the order in which they were met; None stands for "no place"."""
    occurrences: int


class ProblemLog:
    """Collects problems: code, then message, then the distinct places; every occurrence is counted."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[dict[Place | None, None], list[int]]] = {}
        self._totals = {Severity.WARNING: 0, Severity.ERROR: 0}

    def add(self, code: str, *arguments: object, place: Place | None = None, times: int = 1) -> None:
        """Note that a problem occurred `times` times at `place`; the arguments fill the code's template."""
        if times == 0:
            return
        kind = KINDS[code]
        places, count = self._found.setdefault((code, kind.template % arguments), ({}, [0]))
        places[place] = None
        count[0] += times
        self._totals[kind.severity] += times

    def branch(self) -> ProblemLog:
        """A log of its own that begins with what this one holds."""
        other = ProblemLog()
        other._found = {key: (dict(places), list(count)) for key, (places, count) in self._found.items()}
        other._totals = dict(self._totals)
        return other

    def count(self, severity: Severity) -> int:
        """Occurrences of problems of this severity, repeated ones included."""
        return self._totals[severity]

    def __iter__(self) -> Iterator[Problem]:
        """The problems in the order of the report: by code, then by message, both as byte strings."""
        for (code, message), (places, count) in sorted(self._found.items(), key=lambda item: _byte_order(item[0])):
            yield Problem(code, KINDS[code].severity, message, tuple(places), count[0])


def _byte_order(key: tuple[str, str]) -> tuple[bytes, bytes]:
    code, message = key
    return code.encode(), message.encode("utf-8", "surrogatepass")
