"""How the answers of a unit were counted, in lines for people."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from cs_score.evidence.reading import counted, short_text
from cs_score.judged.counting import JudgedLine, UnitCount, UnitGold, classes_of
from cs_score.judged.faults import SIDES
from cs_score.judged.lines import Line
from cs_score.judged.policy import DUPLICATE, UNASSESSED

_MOST_SIMILAR: Final = 3
"""Assessed answers that are named beside an answer without assessment."""


def explanation_of(judgments: Sequence[JudgedLine], gold: UnitGold, count: UnitCount) -> Iterator[str]:
    """Yield how a unit was counted: its sums, each line with its label and side, what was not found."""
    yield f"unit {short_text(gold.unit)}: {count.right:g} of {counted(count.answered, 'answer')} right, {_found(count)}"
    rank = 0
    for line in judgments:
        if line.value is not None:
            rank += 1
        yield ""
        yield _heading(line)
        yield f"  {'ignored' if line.value is None else f'{SIDES[line.value]}, rank {rank}'}: {_reason(line)}"
        if line.label == UNASSESSED:
            yield from _similar(line.line, gold.lines)
    classes_found = {line.class_name for line in judgments if line.value and line.better is None}
    classes_missing = [name for name in classes_of(gold) if name not in classes_found and name]
    if classes_missing:
        yield ""
    for name in classes_missing:
        yield f"class {short_text(name)}: not found"


def _found(count: UnitCount) -> str:
    if not count.wanted:
        return "nothing is wanted"
    return f"{count.found:g} found of {count.wanted:g} wanted"


def _heading(line: JudgedLine) -> str:
    number = f"line {line.line.number}" if line.line.number else "added"
    evidence = f"  [{short_text(line.line.evidence)}]" if line.line.evidence else ""
    return f"{number}  {short_text(line.line.answer)}{evidence}"


def _reason(judgment: JudgedLine) -> str:
    """Return why a line counts as it does."""
    if judgment.label == UNASSESSED:
        return "UNASSESSED: no assessment has this answer"
    place = f" (line {judgment.assessment.number} of the assessments)" if judgment.assessment is not None else ""
    name = f", class {short_text(judgment.class_name)}" if judgment.class_name else ""
    if judgment.label == DUPLICATE and judgment.better is not None:
        return f"DUPLICATE of line {judgment.better.number}, which counts for the same class{name}{place}"
    return f"{judgment.label}{name}{place}"


def _similar(line: Line, assessments: Sequence[Line]) -> Iterator[str]:
    """Yield the assessed answers that are spelt otherwise only, and those with the same evidence."""
    spelling = _plain_spelling(line.answer)
    assessments_alike = [assessment for assessment in assessments if _plain_spelling(assessment.answer) == spelling]
    for assessment in assessments_alike[:_MOST_SIMILAR]:
        where = f", evidence {short_text(assessment.evidence)}" if assessment.evidence else ""
        what = "same answer"
        if assessment.answer != line.answer:
            what = "differs in blanks, Unicode form or letter case only"
        yield f"    {what}: {short_text(assessment.answer)}{where} is {assessment.label} (line {assessment.number})"
    assessments_of_evidence = [
        assessment for assessment in assessments if line.evidence and assessment.evidence == line.evidence
    ]
    for assessment in assessments_of_evidence[:_MOST_SIMILAR]:
        yield f"    same evidence: {short_text(assessment.answer)} is {assessment.label} (line {assessment.number})"


def _plain_spelling(text: str) -> str:
    """Return a text without blanks, in one Unicode form and letter case."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())
