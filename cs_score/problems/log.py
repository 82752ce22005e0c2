"""The log of one job: problems are collected and reported once, in a fixed order."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from typing import Final, NamedTuple, Self, TypeAlias

from cs_score.base.display import one_line
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
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


class Occurrence(Record):
    """A problem at one place.

    `file` and `line` (from 1) where known, `within` a place inside a file that is no line (a query), `column` the name
    of the column, `text` what is wrong as written, `repaired` what stands for it from now on, `times` how often it was
    counted.
    """

    code: str
    severity: Severity
    message: str
    file: str | None
    line: int | None
    within: str | None
    column: str | None = None
    text: str | None = None
    repaired: str | None = None
    times: int = 1


_Noted: TypeAlias = tuple[str, tuple[object, ...], Place | None, Detail | None]
"""A problem at one place as it was noted: its code, the arguments of the message, the place and the detail."""


class RecordingLog(ProblemLog):
    """A log that keeps every occurrence with its details.

    Kept is only what was noted, and how often. A bad line may be in the message of each of its problems, so messages
    are made when they are written.
    """

    def __init__(self) -> None:
        super().__init__()
        self._times: dict[_Noted, int] = {}

    def add(
        self, code: str, *arguments: object, place: Place | None = None, times: int = 1, detail: Detail | None = None
    ) -> None:
        """As `ProblemLog.add`."""
        super().add(code, *arguments, place=place, times=times, detail=detail)
        if times and code not in self.ignored:
            noted = (code, arguments, place, detail)
            self._times[noted] = self._times.get(noted, 0) + times

    def also_report(self, other: RecordingLog) -> None:
        """Take over what another log has noted, for the report only; nothing is counted."""
        self._times.update(other._times)

    def branch(self) -> Self:
        """As `ProblemLog.branch`."""
        other = super().branch()
        other._times = dict(self._times)
        return other

    def without(self, codes: Collection[str]) -> Self:
        """As `ProblemLog.without`."""
        other = super().without(codes)
        other._times = {noted: times for noted, times in other._times.items() if noted[0] not in codes}
        return other

    def noted_since(self, earlier: RecordingLog, file: str) -> list[Occurrence]:
        """What this log, a branch of `earlier`, holds beyond it; what belongs to no file is said to be of `file`.

        A problem that `earlier` has in a file, too, is counted as often as this log does.
        """
        noted = [replace(error, file=error.file or file) for error in self._other_errors()]
        for key, times in self._times.items():
            before = earlier._times.get(key, 0)
            if times > before:
                one = _occurrence(key, times)
                noted.append(one if one.file is not None else replace(one, file=file, times=times - before))
        return sorted(noted, key=_order)

    def occurrences(self) -> Iterator[Occurrence]:
        """All that was noted, in the order of files, lines and codes; fatal conditions that have no line come last."""

        def order(noted: _Noted) -> tuple[bool, str, int, str]:  # as `_order`, save for the message
            place = _place_of(noted)
            return place is None, "" if place is None else place.file, _line_of(place) or 0, noted[0]

        alike = (noted for _, noted in itertools.groupby(sorted(self._times, key=order), order))
        in_order = (sorted((_occurrence(one, self._times[one]) for one in noted), key=_order) for noted in alike)
        errors = sorted(self._other_errors(), key=_order)
        return heapq.merge(itertools.chain.from_iterable(in_order), errors, key=_order)

    def codes(self) -> Set[str]:
        """The codes of all that was noted."""
        return {code for code, *_ in self._times} | {error.code for error in self._other_errors()}

    def _other_errors(self) -> list[Occurrence]:
        """The fatal conditions that were not noted as problems."""
        return [of_error(error) for error in self.fatal if not isinstance(error, FatalProblem)]


def _occurrence(noted: _Noted, times: int) -> Occurrence:
    code, arguments, _, given = noted
    place, detail, kind = _place_of(noted), given or Detail(), CODES[code]
    column = str(arguments[kind.column]) if isinstance(kind.column, int) else kind.column
    text = detail.text
    if text is None and kind.offender is not None:
        text = str(arguments[kind.offender]).strip("\n")
    file, line = None if place is None else place.file, _line_of(place)
    within = None if place is None or line is not None else place.shown or str(place.line)
    message = kind.message(arguments).rstrip()
    column = detail.column or column
    return Occurrence(code, kind.severity, message, file, line, within, column, text, detail.repaired, times)


def _place_of(noted: _Noted) -> Place | None:
    """The place that the message names, or the one to look at."""
    _, _, place, detail = noted
    return place if place is not None or detail is None else detail.place


def _line_of(place: Place | None) -> int | None:
    return place.line if place is not None and isinstance(place.line, int) and place.line > 0 else None


def of_error(error: InputError) -> Occurrence:
    """A fatal condition as a problem."""
    number = error.place.removeprefix("line ") if error.place is not None else ""
    line = int(number) if number.isdecimal() else None
    message = error.problem if error.remedy is None else f"{error.problem}; {error.remedy}"
    within = error.place if line is None else None
    return Occurrence(error.code or "FATAL", Severity.FATAL, message, error.file, line, within)


def _order(one: Occurrence) -> tuple[bool, str, float, str, str]:
    return one.file is None, one.file or "", one.line or 0, one.code, one.message


def merged(occurrences: Iterable[Occurrence]) -> list[Occurrence]:
    """Occurrences in order; of those that differ only in how often they were counted, the one that was most often."""
    most: dict[Occurrence, Occurrence] = {}
    for one in occurrences:
        known = most.setdefault(replace(one, times=0), one)
        if known.times < one.times:
            most[replace(one, times=0)] = one
    return sorted(most.values(), key=_order)
