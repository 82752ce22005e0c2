"""Problem reports for programs and editors: every problem with its code, place, text and repair, as JSON, TSV or SARIF.

The text report of the reference is `cs_score.coldstart.outputs`; these stand beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Final, Literal
from urllib.parse import quote

from cs_score.base.display import spreadsheet_cell
from cs_score.base.documents import Document
from cs_score.base.outputs import OwnOption, ending_of, write_packed
from cs_score.base.records import Record, asdict, to_builtins
from cs_score.base.version import VERSION
from cs_score.problems.codes import CODES, Severity
from cs_score.problems.log import Occurrence, RecordingLog


class ReportedProblem(Occurrence):
    """A problem with what cs-score does about it, and what the author of the input can do."""

    action: str = ""
    remedy: str = ""


class ProblemReport(Document, frozen=True, kw_only=True, tag="problems"):
    """Problems with their places, in the order of files, lines and codes."""

    schema_version: Literal[3] = 3
    task: Literal["coldstart"]
    tool: Literal["cs-score"]
    version: str
    problems: tuple[ReportedProblem, ...]


class ProblemCode(Record):
    """A code: how bad it is, what is wrong, what reports say of it (`%s`, `%d`: its details), what to do about it."""

    code: str
    severity: Severity
    meaning: str
    message: str | None
    column: str | None
    example: str
    action: str
    remedy: str


class ProblemCodes(Document, frozen=True, kw_only=True, tag="problem-codes"):
    """Codes of problems."""

    schema_version: Literal[2] = 2
    task: Literal["coldstart"]
    codes: tuple[ProblemCode, ...]


def problem_codes(codes: Iterable[str] = ()) -> ProblemCodes:
    """These codes, all of them unless some are named."""
    found = []
    for code in tuple(codes) or CODES:
        kind = CODES[code]
        message, column = kind.template and kind.template.strip(), kind.column if isinstance(kind.column, str) else None
        about = (kind.severity, kind.meaning, message, column, kind.example, kind.action, kind.remedy)
        found.append(ProblemCode(code, *about))
    return ProblemCodes(task="coldstart", codes=tuple(found))


def _entries(before: str, entries: Iterable[Mapping[str, object]], after: str) -> Iterator[str]:
    """An array of JSON, its entries one by one, on a line each: there may be a million of them."""
    yield before
    separator = "\n"
    for entry in entries:
        yield separator + json.dumps(entry, ensure_ascii=False)
        separator = ",\n"
    yield after


def _as_json(occurrences: Iterable[Occurrence], codes: Set[str]) -> Iterator[str]:
    """A `ProblemReport`."""
    empty = ProblemReport(task="coldstart", tool="cs-score", version=VERSION, problems=())
    entries = (
        {**asdict(one), "action": CODES[one.code].action, "remedy": CODES[one.code].remedy} for one in occurrences
    )
    return _entries(json.dumps(to_builtins(empty)).removesuffix("]}"), entries, "\n]}\n")


_TSV_COLUMNS: Final = ("code", "severity", "file", "line", "within", "column", "text", "repaired", "times", "message")


def _as_tsv(occurrences: Iterable[Occurrence], codes: Set[str]) -> Iterator[str]:
    yield "\t".join(_TSV_COLUMNS) + "\n"
    for one in occurrences:
        values = [getattr(one, column) for column in _TSV_COLUMNS]
        yield "\t".join(_tsv_cell(value) for value in values) + "\n"


def _tsv_cell(value: object) -> str:
    """Return a value as a cell of a table, which a spreadsheet takes for no formula."""
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else spreadsheet_cell(str(value))


_SARIF_LEVELS: Final = {Severity.WARNING: "warning", Severity.ERROR: "error", Severity.FATAL: "error"}


def _as_sarif(occurrences: Iterable[Occurrence], codes: Set[str]) -> Iterator[str]:
    kinds = {code: CODES[code] for code in sorted(codes)}
    rules = [
        {
            "id": code,
            "shortDescription": {"text": kind.meaning},
            "fullDescription": {"text": f"{kind.meaning} For example: {kind.example}."},
            "help": {"text": f"{kind.action} {kind.remedy}"},
            "defaultConfiguration": {"level": _SARIF_LEVELS[kind.severity]},
        }
        for code, kind in kinds.items()
    ]
    driver = {"name": "cs-score", "version": VERSION, "rules": rules}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": []}],
    }
    before, _, after = json.dumps(log, ensure_ascii=False, indent=1).rpartition("]\n  }")
    numbers = {code: number for number, code in enumerate(kinds)}
    results = (_sarif_result(one, numbers[one.code]) for one in occurrences)
    return _entries(before, results, f"\n]\n  }}{after}\n")


def _sarif_result(one: Occurrence, rule: int) -> dict[str, object]:
    result: dict[str, object] = {
        "ruleId": one.code,
        "ruleIndex": rule,
        "level": _SARIF_LEVELS[one.severity],
        "message": {"text": one.message},
    }
    if one.file is not None:
        uri = quote(one.file.encode("utf-8", "surrogateescape"))
        physical: dict[str, object] = {"artifactLocation": {"uri": uri}}
        location: dict[str, object] = {"physicalLocation": physical}
        if one.line is not None:
            physical["region"] = {"startLine": one.line}
        if one.within is not None:
            location["logicalLocations"] = [{"name": one.within}]
        result["locations"] = [location]
    properties = {"column": one.column, "text": one.text, "repaired": one.repaired, "times": one.times}
    return {**result, "properties": properties}


_WRITERS: Final[dict[str, Callable[[Iterable[Occurrence], Set[str]], Iterator[str]]]] = {
    ".json": _as_json,
    ".tsv": _as_tsv,
    ".sarif": _as_sarif,
}

OPTION: Final = OwnOption(
    "--problems",
    {
        ".json": rb'\{\s*"kind":\s*"problems"',
        ".tsv": "\t".join(_TSV_COLUMNS).encode() + b"\n",
        ".sarif": rb'\{\s*"\$schema":\s*"[^"]*sarif[^"]*",\s*"version":\s*"[^"]*",\s*"runs":\s*\[\s*\{\s*"tool":'
        rb'\s*\{\s*"driver":\s*\{\s*"name":\s*"cs-score"',
    },
    "problems.json",
)
"""The option that names a problem report."""


def write_problems(log: RecordingLog, path: str) -> None:
    """Write all problems of a log as `write_occurrences` does."""
    write_occurrences(log.occurrences(), path, log.codes())


def write_occurrences(occurrences: Iterable[Occurrence], path: str, codes: Set[str] | None = None) -> None:
    """Write problems to a file, in the format that its name ends in. Raises OutputError. `codes` are theirs; needed
    where `occurrences` can be gone through only once.
    """
    texts = _WRITERS[ending_of(path)](occurrences, {one.code for one in occurrences} if codes is None else codes)
    write_packed(path, (text.encode("utf-8", "backslashreplace") for text in texts))
