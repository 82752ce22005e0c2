"""A line told in full, step by step, and lines in short."""

from __future__ import annotations

from collections.abc import Iterator

from cs_score.analysis.coldstart.explanation.case import Case, sides_text
from cs_score.analysis.coldstart.explanation.facts import Fate, LineFacts
from cs_score.analysis.coldstart.explanation.steps.asking import asked_of
from cs_score.analysis.coldstart.explanation.steps.counting import rows_of
from cs_score.analysis.coldstart.explanation.steps.judging import category_of, label_of
from cs_score.analysis.coldstart.explanation.steps.limiting import kept_of
from cs_score.analysis.coldstart.explanation.steps.meeting import met_of
from cs_score.analysis.coldstart.explanation.steps.ranking import ranked_of
from cs_score.analysis.coldstart.explanation.steps.reading import read_of
from cs_score.analysis.coldstart.explanation.steps.worth import worth_of_absence
from cs_score.base.records import replace
from cs_score.coldstart.judging import Tally
from cs_score.coldstart.lines import Response, SkippedLine, UnreadLine

AnyLine = Response | SkippedLine | UnreadLine


def explain_line(line: AnyLine, case: Case, *, with_worth: bool = True) -> LineFacts:
    """All steps of a line; without its worth, which takes the longest, where that is not wanted."""
    read = read_of(line, case)
    if isinstance(line, UnreadLine):
        return LineFacts(fate_of(line, None, case), line.text, read)
    asked = asked_of(line.query, case)
    if isinstance(line, SkippedLine):
        # One that creates a query that others depend on takes them with it.
        worth = worth_of_absence([line], case) if with_worth else None
        return LineFacts(fate_of(line, None, case), line.text, read, asked, worth=worth)
    tally = case.tally_of(line)
    told = LineFacts(fate_of(line, tally, case), line.text, read, asked)
    if case.units:  # limits are applied when a file has been read
        told = replace(told, kept=kept_of(line, case))
    if (untold := _why_untold(line, case)) is not None:
        return replace(told, untold=untold)
    category = category_of(line, case)
    ranked, not_ranked = ranked_of(line.node, line.query.base_id, case)
    return replace(
        told,
        met=met_of(line, case),
        category=category,
        label=label_of(line, category, case),
        rows=() if tally is None else rows_of(tally, line.query.base_id, case),
        ranked=ranked,
        not_ranked=not_ranked,
        worth=worth_of_absence([line], case) if with_worth else None,
    )


def _why_untold(line: Response, case: Case) -> str | None:
    """Why nothing more is known of a line than how it was read; None where there is more."""
    if not case.is_of_run(line):
        return f"it belongs to run {line.run_id}; this is about run {case.scored.run_id} (--run {line.run_id})"
    unit = case.unit_of(line)
    if unit is None:
        return (
            f"nothing was scored: {case.fatal}" if case.fatal is not None else "its query is not among those to score"
        )
    if unit.unmatched is not None:
        return f"it could not be matched: {unit.unmatched}"
    result = case.query_result(line.query.base_id)
    if result is not None and result.uncounted is not None:
        return f"its query could not be counted: {result.uncounted}"
    return None


def fate_of(line: AnyLine, tally: Tally | None, case: Case) -> Fate:
    """A line in short; `tally` is the row that has it."""
    if isinstance(line, UnreadLine):
        return Fate(line.file, line.number, "unread", None, None, None, "not read", (), None, None)
    query = line.query.full_id
    if isinstance(line, SkippedLine):
        return Fate(line.file, line.number, "skipped", query, None, None, "skipped", (), None, None)
    status = "outside" if tally is None else "counted"
    labels = case.labels_of(line)
    return Fate(
        line.file,
        line.number,
        status,
        query,
        line.value,
        case.category_of(line),
        sides_text(labels) if labels else "not scored",
        tuple(labels),
        None if tally is None else tally.name,
        line.node,
    )


def all_fates(case: Case) -> Iterator[Fate]:
    """Every line of the run's files in order; those of other runs in the same call are left out."""
    for file in case.files.files.values():
        lines: list[AnyLine] = [*file.responses, *file.skipped, *file.unread]
        for line in sorted(lines, key=lambda each: each.number):
            if not isinstance(line, Response) or case.is_of_run(line):
                yield fate_of(line, case.tally_of(line) if isinstance(line, Response) else None, case)
