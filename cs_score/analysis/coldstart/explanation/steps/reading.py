"""Step 1: what was read of a line, or why it was not (specification 4.2 to 4.4, 4.6)."""

from __future__ import annotations

from collections.abc import Iterator

from cs_score.analysis.coldstart.explanation.case import Case
from cs_score.analysis.coldstart.explanation.facts import At, Noted, Read
from cs_score.coldstart.lines import CODES, Response, SkippedLine, UnreadLine
from cs_score.coldstart.tab_files import is_blank_or_comment, split_columns
from cs_score.problems.log import Place


def read_of(line: Response | SkippedLine | UnreadLine, case: Case) -> Read:
    """What was read of a line."""
    names = case.run.layouts[line.file].columns
    columns = dict(zip(names, split_columns(line.text)))
    problems = tuple(_problems(line.file, line.number, case))
    if isinstance(line, UnreadLine):
        columns = {} if is_blank_or_comment(line.text) else columns
        reason, rests_on = _why_unread(line, len(names), case)
        return Read("4.2", columns, {}, problems, reason, rests_on)
    if isinstance(line, SkippedLine):
        return Read("4.2", columns, {}, problems, _why_skipped(line, columns), None)
    return Read("4.2", columns, _mended(line, columns), problems, None, None)


def _problems(file: str, number: int, case: Case) -> Iterator[Noted]:
    for problem in case.problems.get(Place(file, number), ()):
        if problem.code not in CODES:  # told where it is kept or discarded
            yield Noted(problem.code, str(problem.severity), problem.message.strip())


def _mended(line: Response, columns: dict[str, str]) -> dict[str, str]:
    """The columns that count as something else than what is written."""
    relation, _, provenance = line.answer
    counted = {"RELATION_PROVENANCE_TRIPLES": relation, "VALUE_PROVENANCE_TRIPLES": provenance}
    mended = {name: text for name, text in counted.items() if columns[name] != text}
    written = columns["CONFIDENCE"]
    try:
        is_as_written = float(written) == line.confidence
    except ValueError:
        is_as_written = False
    return mended if is_as_written else {**mended, "CONFIDENCE": repr(line.confidence)}


def _why_skipped(line: SkippedLine, columns: dict[str, str]) -> str:
    empty = next((name for name, text in columns.items() if not text.strip()), None)
    creates = "it was read, and has created the query that asks about its answer, but it is not scored"
    if empty is not None:
        return f"skipped, since its column {empty} is empty; {creates}"
    expected = line.query.slots[0] if line.query.slots else None
    asked = f"its query asks for {expected}" if expected is not None else "its query asks for nothing more"
    return f"skipped, since its slot is {columns.get('SLOT_NAME', '')} and {asked}; {creates}"


def _why_unread(line: UnreadLine, width: int, case: Case) -> tuple[str, At | None]:
    if is_blank_or_comment(line.text):
        return ("not read: a comment" if line.text.strip() else "not read: a blank line"), None
    first = case.first_lines.get((line.file, line.text), line.number)
    if first < line.number:
        return "not read: it repeats an earlier line of its file", At(line.file, first)
    found = len(split_columns(line.text))
    return f"not read: it has {found} columns, where lines of this layout have {width}", None
