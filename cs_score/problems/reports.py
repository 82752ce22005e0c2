"""Problem reports for programs and editors: every problem with its code, place, text and repair, as JSON, TSV or SARIF.

The text report of the reference is `cs_score.coldstart.writers.report`; these stand beside it.
"""

from __future__ import annotations

import heapq
import itertools
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final, Self, TypeAlias

from cs_score.foundation.errors import InputError
from cs_score.foundation.outputs import write_packed
from cs_score.foundation.planned_outputs import Format, OwnOption, ending_of
from cs_score.foundation.version import VERSION
from cs_score.problems.codes import GUIDE, severity_of
from cs_score.problems.log import KINDS, Detail, Place, ProblemLog, Severity


@dataclass(frozen=True, slots=True)
class Occurrence:
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
        return [of_error(error) for error in self.fatal if error.code not in KINDS]


def _occurrence(noted: _Noted, times: int) -> Occurrence:
    code, arguments, place, given = noted
    detail, guide = given or Detail(), GUIDE[code]
    text = detail.text
    if text is None and guide.offender is not None:
        text = str(arguments[guide.offender]).strip("\n")
    line = _line_of(place)
    return Occurrence(
        code=code,
        severity=KINDS[code].severity,
        message=(KINDS[code].template % arguments).rstrip(),
        file=None if place is None else place.file,
        line=line,
        within=None if place is None or line is not None else place.shown or str(place.line),
        column=str(arguments[0]) if code == "EMPTY_FIELD" else detail.column or guide.column,
        text=text,
        repaired=detail.repaired,
        times=times,
    )


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
    code, _, place, _ = noted
    return place is None, "" if place is None else place.file, _line_of(place) or 0, code


def _as_json(occurrences: Iterable[Occurrence], codes: Set[str]) -> Iterator[str]:
    yield f'{{"tool": "cs-score", "version": {json.dumps(VERSION)}, "problems": ['
    separator = "\n"
    for one in occurrences:
        entry = {
            "code": one.code, "severity": one.severity.value, "message": one.message, "file": one.file,
            "line": one.line, "within": one.within, "column": one.column, "text": one.text, "repaired": one.repaired,
            "times": one.times, "action": GUIDE[one.code].action, "remedy": GUIDE[one.code].remedy,
        }  # fmt: skip
        yield separator + json.dumps(entry, ensure_ascii=False)
        separator = ",\n"
    yield "\n]}\n"


_TSV_COLUMNS: Final = ("code", "severity", "file", "line", "within", "column", "text", "repaired", "times", "message")

# What would break a line or a column is written as an escape.
_TSV_ESCAPES: Final = {ord("\\"): "\\\\", ord("\t"): "\\t", ord("\n"): "\\n", ord("\r"): "\\r"}


def _as_tsv(occurrences: Iterable[Occurrence], codes: Set[str]) -> Iterator[str]:
    yield "\t".join(_TSV_COLUMNS) + "\n"
    for one in occurrences:
        values = (getattr(one, column) for column in _TSV_COLUMNS)
        yield "\t".join("" if value is None else str(value).translate(_TSV_ESCAPES) for value in values) + "\n"


_SARIF_LEVELS: Final = {Severity.WARNING: "warning", Severity.ERROR: "error", Severity.FATAL: "error"}


def _as_sarif(occurrences: Iterable[Occurrence], codes: Set[str]) -> Iterator[str]:
    """Results one by one, on a line each: there may be a million of them."""
    rules = [
        {
            "id": code,
            "shortDescription": {"text": GUIDE[code].meaning},
            "fullDescription": {"text": f"{GUIDE[code].meaning} For example: {GUIDE[code].example}."},
            "help": {"text": f"{GUIDE[code].action} {GUIDE[code].remedy}"},
            "defaultConfiguration": {"level": _SARIF_LEVELS[severity_of(code)]},
        }
        for code in sorted(codes)
    ]
    driver = {"name": "cs-score", "version": VERSION, "rules": rules}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": []}],
    }
    before, _, after = json.dumps(log, ensure_ascii=False, indent=1).rpartition("]\n  }")
    yield before
    numbers = {code: number for number, code in enumerate(sorted(codes))}
    separator = "\n"
    for one in occurrences:
        yield separator + json.dumps(_sarif_result(one, numbers[one.code]), ensure_ascii=False)
        separator = ",\n"
    yield f"\n]\n  }}{after}\n"


def _sarif_result(one: Occurrence, rule: int) -> dict[str, object]:
    return {
        "ruleId": one.code,
        "ruleIndex": rule,
        "level": _SARIF_LEVELS[one.severity],
        "message": {"text": one.message},
        **({} if one.file is None else {"locations": [_sarif_location(one)]}),
        "properties": {"column": one.column, "text": one.text, "repaired": one.repaired, "times": one.times},
    }


def _sarif_location(one: Occurrence) -> dict[str, object]:
    physical: dict[str, object] = {"artifactLocation": {"uri": _uri(one.file or "")}}
    if one.line is not None:
        physical["region"] = {"startLine": one.line}
    location: dict[str, object] = {"physicalLocation": physical}
    if one.within is not None:
        location["logicalLocations"] = [{"name": one.within}]
    return location


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path.encode("utf-8", "surrogateescape"))


_WRITERS: Final[dict[str, Callable[[Iterable[Occurrence], Set[str]], Iterator[str]]]] = {
    ".json": _as_json,
    ".tsv": _as_tsv,
    ".sarif": _as_sarif,
}

# White space is left open, so that a report of another version with other indentation is known again.
OPTION: Final = OwnOption(
    "--problems",
    {
        ".json": Format(re.compile(rb'\{\s*"tool":\s*"cs-score",\s*"version":\s*"[^"]*",\s*"problems":\s*\[')),
        ".tsv": Format(re.compile("\t".join(_TSV_COLUMNS).encode() + rb"\n")),
        ".sarif": Format(
            re.compile(
                rb'\{\s*"\$schema":\s*"[^"]*sarif[^"]*",\s*"version":\s*"[^"]*",\s*"runs":\s*\[\s*\{\s*"tool":'
                rb'\s*\{\s*"driver":\s*\{\s*"name":\s*"cs-score"'
            )
        ),
    },
    "problems.json",
)
"""The option that names a problem report."""


def write_problems(log: RecordingLog, path: str) -> None:
    """Write all problems of a log to a file, in the format that its name ends in."""
    _write(log.occurrences(), log.codes(), path)


def merged(occurrences: Iterable[Occurrence]) -> list[Occurrence]:
    """Occurrences in order; of those that differ only in how often they were counted, the one that was most often."""
    most: dict[Occurrence, Occurrence] = {}
    for one in occurrences:
        known = most.setdefault(replace(one, times=0), one)
        if known.times < one.times:
            most[replace(one, times=0)] = one
    return sorted(most.values(), key=_order)


def write_occurrences(occurrences: Sequence[Occurrence], path: str) -> None:
    """Write problems to a file, in the format that its name ends in. Raises OutputError."""
    _write(occurrences, {one.code for one in occurrences}, path)


def _write(occurrences: Iterable[Occurrence], codes: Set[str], path: str) -> None:
    texts = _WRITERS[ending_of(path)](occurrences, codes)
    write_packed(path, (text.encode("utf-8", "backslashreplace") for text in texts))
