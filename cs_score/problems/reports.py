"""Problem reports for programs and editors: every problem with its code, place, text and repair, as JSON, TSV or SARIF.

The text report of the reference is made by `cs_score.coldstart.output_files`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Final, Literal
from urllib.parse import quote

from cs_score.base import VERSION
from cs_score.base.display import spreadsheet_cell
from cs_score.base.documents import Document
from cs_score.base.outputs import OwnOption, ending_of, write_packed
from cs_score.base.records import Record, asdict, to_builtins
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
    """A code: how bad it is, what is wrong, its message (`%s`, `%d`: its details), what to do about it."""

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
    """Return the document that describes some codes of problems, or all codes if none is named.

    Raises KeyError for an unknown code.
    """
    described_codes = tuple(codes) or CODES
    return ProblemCodes(task="coldstart", codes=tuple([_problem_code(code) for code in described_codes]))


def _problem_code(code: str) -> ProblemCode:
    """Return the description of a code, such as `WRONG_SLOT_NAME`, for people and programs."""
    kind = CODES[code]
    no_arguments: tuple[object, ...] = ()  # without a problem there are no message arguments
    column = kind.column_name(no_arguments)  # None if the column is named by a message argument
    return ProblemCode(
        code=code,
        severity=kind.severity,
        meaning=kind.meaning,
        message=None if kind.template is None else kind.template.strip(),
        column=column,
        example=kind.example,
        action=kind.action,
        remedy=kind.remedy,
    )


# ---- Formats


def _json_array(head: str, entries: Iterable[Mapping[str, object]], tail: str) -> Iterator[str]:
    """Yield a JSON text with an array, piece by piece, since the array may have a million entries.

    Each entry is on a line of its own. `head` is the text up to the opening bracket of the array, `tail` the text from
    the closing bracket on, both with the bracket.
    """
    yield head
    separator = "\n"
    for entry in entries:
        yield separator + json.dumps(entry, ensure_ascii=False)
        separator = ",\n"
    yield tail


def _as_json(occurrences: Iterable[Occurrence], codes: Set[str]) -> Iterator[str]:
    """Yield a report of problems as JSON, piece by piece: the document `ProblemReport`.

    `codes` are not needed for this format.
    """
    # The last field of the record ProblemReport is the array of problems, so an empty report ends in `[]}`. It is cut
    # before the bracket that closes the array. The entries are inserted there one by one, so that they are never all in
    # memory.
    tail = "]}"
    empty_report = ProblemReport(task="coldstart", tool="cs-score", version=VERSION, problems=())
    head = json.dumps(to_builtins(empty_report)).removesuffix(tail)
    entries = (_json_entry(occurrence) for occurrence in occurrences)
    return _json_array(head, entries, f"\n{tail}\n")


def _json_entry(occurrence: Occurrence) -> dict[str, object]:
    """Return an occurrence as an object of the JSON report, with the action and remedy of its code."""
    kind = CODES[occurrence.code]
    return {**asdict(occurrence), "action": kind.action, "remedy": kind.remedy}


_TSV_COLUMNS: Final = ("code", "severity", "file", "line", "within", "column", "text", "repaired", "times", "message")


def _as_tsv(occurrences: Iterable[Occurrence], codes: Set[str]) -> Iterator[str]:
    """Yield a report of problems as a table with tabs between columns, line by line.

    `codes` are not needed for this format.
    """
    yield "\t".join(_TSV_COLUMNS) + "\n"
    for occurrence in occurrences:
        values = [getattr(occurrence, column) for column in _TSV_COLUMNS]
        yield "\t".join(_tsv_cell(value) for value in values) + "\n"


def _tsv_cell(value: object) -> str:
    """Return a value as a cell of the table: empty for None.

    A text that a spreadsheet would take for a formula gets an apostrophe.
    """
    if value is None:
        return ""
    if isinstance(value, int):
        return str(value)
    return spreadsheet_cell(str(value))


_SARIF_LEVELS: Final = {Severity.WARNING: "warning", Severity.ERROR: "error", Severity.FATAL: "error"}


def _as_sarif(occurrences: Iterable[Occurrence], codes: Set[str]) -> Iterator[str]:
    """Yield a report of problems as a SARIF log (2.1.0), piece by piece, with a rule for each code.

    SARIF is a format for findings that code hosts and editors can read.
    """
    sorted_codes = sorted(codes)
    # The log is made without results and cut between the brackets of `"results": []`, its last array. The results are
    # then written there one by one.
    text_of_log = json.dumps(_sarif_log_without_results(sorted_codes), ensure_ascii=False, indent=1)
    head, bracket, tail = text_of_log.rpartition('"results": []')
    start_of_results, end_of_results = bracket[:-1], bracket[-1]
    number_by_code = {code: number for number, code in enumerate(sorted_codes)}
    results = (_sarif_result(occurrence, number_by_code[occurrence.code]) for occurrence in occurrences)
    return _json_array(head + start_of_results, results, f"\n{end_of_results}{tail}\n")


def _sarif_log_without_results(codes: Iterable[str]) -> dict[str, object]:
    """Return a SARIF log as an object of JSON, with a rule for each code, and with an empty array of results."""
    rules = [_sarif_rule(code) for code in codes]
    driver = {"name": "cs-score", "version": VERSION, "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": []}],
    }


def _sarif_rule(code: str) -> dict[str, object]:
    """Return the rule of a SARIF log for a code: its meaning, what cs-score does, a remedy, and how bad it is."""
    kind = CODES[code]
    return {
        "id": code,
        "shortDescription": {"text": kind.meaning},
        "fullDescription": {"text": f"{kind.meaning} For example: {kind.example}."},
        "help": {"text": f"{kind.action} {kind.remedy}"},
        "defaultConfiguration": {"level": _SARIF_LEVELS[kind.severity]},
    }


def _sarif_result(occurrence: Occurrence, rule_number: int) -> dict[str, object]:
    """Return the result of a SARIF log for an occurrence: its message, place and offending text.

    `rule_number` is the position of the rule of its code among all rules of the log.
    """
    result: dict[str, object] = {
        "ruleId": occurrence.code,
        "ruleIndex": rule_number,
        "level": _SARIF_LEVELS[occurrence.severity],
        "message": {"text": occurrence.message},
    }
    if occurrence.file is not None:
        result["locations"] = [_sarif_location(occurrence.file, occurrence)]
    result["properties"] = {
        "column": occurrence.column,
        "text": occurrence.text,
        "repaired": occurrence.repaired,
        "times": occurrence.times,
    }
    return result


def _sarif_location(file: str, occurrence: Occurrence) -> dict[str, object]:
    """Return the location of an occurrence in a SARIF log: the file with a line, or with the name of a place in it."""
    uri = quote(file.encode("utf-8", "surrogateescape"))
    physical_location: dict[str, object] = {"artifactLocation": {"uri": uri}}
    location: dict[str, object] = {"physicalLocation": physical_location}
    if occurrence.line is not None:
        physical_location["region"] = {"startLine": occurrence.line}
    if occurrence.within is not None:
        location["logicalLocations"] = [{"name": occurrence.within}]
    return location


_WRITER_BY_FORMAT: Final[dict[str, Callable[[Iterable[Occurrence], Set[str]], Iterator[str]]]] = {
    ".json": _as_json,
    ".tsv": _as_tsv,
    ".sarif": _as_sarif,
}

PROBLEMS_OPTION: Final = OwnOption(
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
    """Write all problems of a log to a file, in the format of its ending. Raises OutputError if that fails."""
    write_occurrences(log.occurrences(), path, log.codes())


def write_occurrences(occurrences: Iterable[Occurrence], path: str, codes: Set[str] | None = None) -> None:
    """Write a report of problems to a file ending in `.json`, `.tsv` or `.sarif`, perhaps compressed (`.json.gz`).

    `codes` are the codes of the occurrences; they must be given if the occurrences can be iterated over only once.
    Raises OutputError if the file cannot be written.
    """
    if codes is None:
        codes = {occurrence.code for occurrence in occurrences}
    writer = _WRITER_BY_FORMAT[ending_of(path)]
    pieces = writer(occurrences, codes)
    write_packed(path, (piece.encode("utf-8", "backslashreplace") for piece in pieces))
