"""Every problem with its place, text and repair, for the reports that programs and editors read."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Collection, Iterable, Iterator, Set
from typing import Self, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.problems.codes import CODES, Severity
from cs_score.problems.log import Detail, FatalProblem, Place, ProblemLog


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
    column: str | None
    text: str | None
    repaired: str | None
    times: int


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
        if times == 0 or code in self.ignored:
            return
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
        noted = []
        for key, times in self._times.items():
            before = earlier._times.get(key, 0)
            if times > before:
                one = _occurrence(key, times)
                noted.append(one if one.file is not None else replace(one, file=file, times=times - before))
        for error in self._other_errors():
            noted.append(replace(error, file=error.file or file))
        return sorted(noted, key=_order)

    def occurrences(self) -> Iterator[Occurrence]:
        """All that was noted, in the order of files, lines and codes; fatal conditions that have no line come last."""
        return heapq.merge(self._in_order(), sorted(self._other_errors(), key=_order), key=_order)

    def codes(self) -> Set[str]:
        """The codes of all that was noted."""
        return {code for code, *_ in self._times} | {error.code for error in self._other_errors()}

    def _in_order(self) -> Iterator[Occurrence]:
        for _, alike in itertools.groupby(sorted(self._times, key=_order_of_noted), _order_of_noted):
            yield from sorted((_occurrence(noted, self._times[noted]) for noted in alike), key=_order)

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
    line = _line_of(place)
    return Occurrence(
        code=code,
        severity=kind.severity,
        message=kind.message(arguments).rstrip(),
        file=None if place is None else place.file,
        line=line,
        within=None if place is None or line is not None else place.shown or str(place.line),
        column=detail.column or column,
        text=text,
        repaired=detail.repaired,
        times=times,
    )


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
    return Occurrence(
        code=error.code or "FATAL",
        severity=Severity.FATAL,
        message=error.problem if error.remedy is None else f"{error.problem}; {error.remedy}",
        file=error.file,
        line=line,
        within=error.place if line is None else None,
        column=None,
        text=None,
        repaired=None,
        times=1,
    )


def _order(one: Occurrence) -> tuple[bool, str, float, str, str]:
    return one.file is None, one.file or "", one.line or 0, one.code, one.message


def _order_of_noted(noted: _Noted) -> tuple[bool, str, int, str]:
    """As `_order`, save for the message."""
    code, place = noted[0], _place_of(noted)
    return place is None, "" if place is None else place.file, _line_of(place) or 0, code


def merged(occurrences: Iterable[Occurrence]) -> list[Occurrence]:
    """Occurrences in order; of those that differ only in how often they were counted, the one that was most often."""
    most: dict[Occurrence, Occurrence] = {}
    for one in occurrences:
        known = most.setdefault(replace(one, times=0), one)
        if known.times < one.times:
            most[replace(one, times=0)] = one
    return sorted(most.values(), key=_order)
