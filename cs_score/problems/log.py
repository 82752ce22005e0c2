"""The log of one job: problems are collected and reported once, in a fixed order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple, Self

from cs_score.base.display import one_line
from cs_score.base.errors import InputError
from cs_score.problems.codes import CODES, Severity

NO_PLACE: Final = "NO_SOURCE"
"""The place of a problem that belongs to no line; it takes part in the order of places."""


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

    `column` is the column it is in, `text` the offending text as written, `repaired` what stands for it from now on,
    `place` where to look for it if the message names no place.
    """

    column: str | None = None
    text: str | None = None
    repaired: str | None = None
    place: Place | None = None


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


class _Found:
    """A message: how often it occurred, and its places. Most have one; a large file may have hundreds of thousands."""

    __slots__ = ("_first", "_more", "times")

    def __init__(self, times: int, place: Place | None) -> None:
        self.times = times
        self._first = place
        self._more: dict[Place | None, None] | None = None

    @property
    def places(self) -> tuple[Place | None, ...]:
        """Distinct places in the order in which they were met."""
        return (self._first, *(self._more or ()))

    def add_place(self, place: Place | None) -> None:
        if place != self._first:
            if self._more is None:
                self._more = {}
            self._more[place] = None

    def add(self, other: _Found) -> None:
        self.times += other.times
        for place in other.places:
            self.add_place(place)

    def copy(self) -> _Found:
        other = _Found(self.times, self._first)
        other._more = None if self._more is None else dict(self._more)
        return other


class ProblemLog:
    """Collects problems: code, then message, then the distinct places; every occurrence is counted."""

    def __init__(self) -> None:
        self.ignored: frozenset[str] = frozenset()
        """Codes that are neither noted nor counted."""
        self.wordings: Mapping[str, str] = {}
        """Templates that stand for those of the table of problems, by code."""
        self.fatal: list[InputError] = []
        """Conditions that the program must end with, in load order; whoever loads decides when (see `end_if_fatal`)."""
        self._found: dict[tuple[str, str], _Found] = {}
        self._totals = {Severity.WARNING: 0, Severity.ERROR: 0}

    def add(
        self, code: str, *arguments: object, place: Place | None = None, times: int = 1, detail: Detail | None = None
    ) -> None:
        """Note that a problem occurred `times` times at `place`; the arguments fill the code's template.

        `detail` is kept only by logs that record every occurrence. A fatal problem is only noted in `fatal`.
        """
        if times == 0 or code in self.ignored:
            return
        kind = CODES[code]
        message = self.wordings[code] % arguments if code in self.wordings else kind.message(arguments)
        if kind.severity is Severity.FATAL:
            self.fatal.append(FatalProblem(f"{kind.severity}: {message}", place, code))
            return
        self._totals[kind.severity] += times
        found = self._found.get((code, message))
        if found is None:
            self._found[code, message] = _Found(times, place)
        else:
            found.times += times
            found.add_place(place)

    def end_if_fatal(self) -> None:
        """Raises the first of the fatal conditions, if there is one."""
        if self.fatal:
            raise self.fatal[0]

    def branch(self) -> Self:
        """A log of its own that begins with what this one holds."""
        other = type(self)()
        other.ignored, other.wordings = self.ignored, self.wordings
        other._found = {key: found.copy() for key, found in self._found.items()}
        other._totals = dict(self._totals)
        other.fatal = list(self.fatal)
        return other

    def without(self, codes: Collection[str]) -> Self:
        """A log of its own that begins with what this one holds of other codes."""
        other = self.branch()
        for key in [key for key in other._found if key[0] in codes]:
            other._totals[CODES[key[0]].severity] -= other._found.pop(key).times
        return other

    def take_over(self, other: ProblemLog) -> None:
        """Add all that another log has noted."""
        if not other._found and not other.fatal:
            return
        self.fatal += other.fatal
        for key, found in other._found.items():
            if key in self._found:
                self._found[key].add(found)
            else:
                self._found[key] = found.copy()
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

    def by_place(self) -> Iterator[tuple[Place, Problem]]:
        """Each place of each problem, in the order in which the problems were first met."""
        for (code, message), found in self._found.items():
            for place in found.places:
                if place is not None:
                    yield place, Problem(code, CODES[code].severity, message, (place,), found.times)

    def __iter__(self) -> Iterator[Problem]:
        """The problems in the order of the report: by code, then by message, both as byte strings."""
        for key in sorted(self._found):  # texts compare as their bytes in UTF-8 do
            found = self._found[key]
            yield Problem(key[0], CODES[key[0]].severity, key[1], found.places, found.times)
