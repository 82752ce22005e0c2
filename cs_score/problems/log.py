"""The log of one job: problems are collected and reported once, in a fixed order."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from typing import ClassVar, Final, NamedTuple, Self, TypeAlias

from cs_score.base.display import one_line
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.problems.codes import CODES, Severity

NO_PLACE: Final = "NO_SOURCE"
"""The place of a problem that belongs to no line; it takes part in the order of places."""


class Place(NamedTuple):
    """Where a problem is: a file as named by the user, and a line number or `In query ID`. `shown` is what the report
    prints where that is not "FILE line LINE".
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


_Noted: TypeAlias = tuple[str, str | tuple[object, ...], Place | None, Detail | None]
"""A problem at one place as it was noted: its code, the message or its arguments, the place and the detail."""


class ProblemLog:
    """Collects problems; every occurrence is counted. Kept is what was noted, and how often."""

    _keeps_details: ClassVar[bool] = False

    def __init__(self) -> None:
        self.ignored: frozenset[str] = frozenset()
        """Codes that are neither noted nor counted."""
        self.wordings: Mapping[str, str] = {}
        """Templates that stand for those of the table of problems, by code."""
        self.fatal: list[InputError] = []
        """Conditions that the program must end with, in load order; whoever loads decides when (see `end_if_fatal`)."""
        self._noted: dict[_Noted, int] = {}

    def add(
        self, code: str, *arguments: object, place: Place | None = None, times: int = 1, detail: Detail | None = None
    ) -> None:
        """Note that a problem occurred `times` times at `place`; the arguments fill the code's template. `detail` is
        kept only by logs that keep details. A fatal problem is noted in `fatal`.
        """
        if times == 0 or code in self.ignored:
            return
        severity = CODES[code].severity
        if severity is Severity.FATAL:
            self.fatal.append(FatalProblem(f"{severity}: {self._message(code, arguments)}", place, code))
        noted: _Noted = (code, arguments, place, detail)
        if not self._keeps_details:
            noted = (code, self._message(code, arguments), place, None)
        if self._keeps_details or severity is not Severity.FATAL:
            self._noted[noted] = self._noted.get(noted, 0) + times

    def end_if_fatal(self, remarks: Iterable[str] = ()) -> None:
        """Raise the first of the fatal conditions, if there is one, with remarks that were made before."""
        if self.fatal:
            self.fatal[0].add_remarks(remarks)
            raise self.fatal[0]

    def branch(self) -> Self:
        """A log of its own that begins with what this one holds."""
        return self.without(())

    def without(self, codes: Collection[str]) -> Self:
        """A log of its own that begins with what this one holds of other codes."""
        other = type(self)()
        other.ignored, other.wordings, other.fatal = self.ignored, self.wordings, list(self.fatal)
        other._noted = {noted: times for noted, times in self._noted.items() if noted[0] not in codes}
        return other

    def take_over(self, other: ProblemLog) -> None:
        """Add all that another log has noted."""
        self.fatal += other.fatal
        for noted, times in other._noted.items():
            self._noted[noted] = self._noted.get(noted, 0) + times

    def count(self, *severities: Severity) -> int:
        """Occurrences of problems of these severities, repeated ones included."""
        return sum(times for (code, *_), times in self._noted.items() if CODES[code].severity in severities)

    @property
    def has_errors(self) -> bool:
        """Whether there is a problem that keeps results from being used."""
        return self.count(Severity.ERROR) > 0

    @property
    def total(self) -> int:
        """Occurrences of warnings and errors, repeated ones included."""
        return self.count(Severity.WARNING, Severity.ERROR)

    def by_place(self) -> Iterator[tuple[Place, Problem]]:
        """Each problem at each of its places, as it was noted."""
        for (code, what, place, _), times in self._noted.items():
            if place is not None:
                yield place, Problem(code, CODES[code].severity, self._message(code, what), (place,), times)

    def __iter__(self) -> Iterator[Problem]:
        """The problems in the order of the report: by code, then by message, both as byte strings; no fatal ones."""

        def alike(noted: _Noted) -> tuple[str, str]:  # texts compare as their bytes in UTF-8 do
            return noted[0], self._message(noted[0], noted[1])

        reported = [noted for noted in self._noted if CODES[noted[0]].severity is not Severity.FATAL]
        for (code, message), found in itertools.groupby(sorted(reported, key=alike), alike):
            places: dict[Place | None, int] = {}
            for noted in found:
                places[noted[2]] = places.get(noted[2], 0) + self._noted[noted]
            yield Problem(code, CODES[code].severity, message, tuple(places), sum(places.values()))

    def _message(self, code: str, what: str | tuple[object, ...]) -> str:
        if isinstance(what, str):
            return what
        return self.wordings[code] % what if code in self.wordings else CODES[code].message(what)


_DISCARDED: Final = "DISCARDED_"


def causes_first(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems with those last that follow from others: lines that are discarded since their parents are gone.

    The report of the reference is ordered by code, which has them first.
    """
    return sorted(problems, key=lambda problem: problem.code.startswith(_DISCARDED))


def count_of_discarded(problems: Iterable[Problem]) -> int:
    """Return how many lines are called discarded."""
    return sum(problem.occurrences for problem in problems if problem.code.startswith(_DISCARDED))


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


class RecordingLog(ProblemLog):
    """A log that keeps the details of every occurrence, for reports that programs and editors read. A bad line may be
    in the message of each of its problems, so messages are made when they are written.
    """

    _keeps_details = True

    def __init__(self) -> None:
        super().__init__()
        self._reported: dict[_Noted, int] = {}
        """What is in reports of occurrences only."""

    def also_report(self, other: RecordingLog) -> None:
        """Take over what another log has noted, for the report only; nothing is counted."""
        self._reported.update(other._noted)

    def without(self, codes: Collection[str]) -> Self:
        """As `ProblemLog.without`."""
        other = super().without(codes)
        other._reported = {noted: times for noted, times in self._reported.items() if noted[0] not in codes}
        return other

    def noted_since(self, earlier: RecordingLog, file: str) -> list[Occurrence]:
        """What this log, a branch of `earlier`, holds beyond it; what belongs to no file is said to be of `file`. A
        problem that `earlier` has in a file, too, is counted as often as this log does.
        """
        noted = [replace(error, file=error.file or file) for error in self._other_errors()]
        before = earlier._all()
        for key, times in self._all().items():
            if times > (known := before.get(key, 0)):
                one = _occurrence(key, times)
                noted.append(one if one.file is not None else replace(one, file=file, times=times - known))
        return sorted(noted, key=_order)

    def occurrences(self) -> Iterator[Occurrence]:
        """All that was noted, in the order of files, lines and codes; fatal conditions that have no line come last."""

        def order(noted: _Noted) -> tuple[bool, str, int, str]:  # as `_order`, save for the message
            place = _place_of(noted)
            return place is None, "" if place is None else place.file, _line_of(place) or 0, noted[0]

        times = self._all()
        alike = (noted for _, noted in itertools.groupby(sorted(times, key=order), order))
        in_order = (sorted((_occurrence(one, times[one]) for one in noted), key=_order) for noted in alike)
        errors = sorted(self._other_errors(), key=_order)
        return heapq.merge(itertools.chain.from_iterable(in_order), errors, key=_order)

    def codes(self) -> Set[str]:
        """The codes of all that was noted."""
        return {code for code, *_ in self._all()} | {error.code for error in self._other_errors()}

    def _all(self) -> Mapping[_Noted, int]:
        """How often each problem was noted or is to be reported."""
        return {**self._noted, **self._reported} if self._reported else self._noted

    def _other_errors(self) -> list[Occurrence]:
        """The fatal conditions that were not noted as problems."""
        return [of_error(error) for error in self.fatal if not isinstance(error, FatalProblem)]


def _occurrence(noted: _Noted, times: int) -> Occurrence:
    code, what, _, given = noted
    place, detail, kind = _place_of(noted), given or Detail(), CODES[code]
    column, text = detail.column or kind.column, detail.text
    if not isinstance(what, str):
        if isinstance(column, int):
            column = str(what[column])
        if text is None and kind.offender is not None:
            text = str(what[kind.offender]).strip("\n")
    message = (what if isinstance(what, str) else kind.message(what)).rstrip()
    file, line = None if place is None else place.file, _line_of(place)
    within = None if place is None or line is not None else place.shown or str(place.line)
    named = column if isinstance(column, str) else None
    return Occurrence(code, kind.severity, message, file, line, within, named, text, detail.repaired, times)


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
    most: dict[Occurrence, int] = {}
    for one in occurrences:
        alike = replace(one, times=0)
        most[alike] = max(one.times, most.get(alike, 0))
    return sorted((replace(one, times=times) for one, times in most.items()), key=_order)
