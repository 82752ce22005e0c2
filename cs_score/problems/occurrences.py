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
