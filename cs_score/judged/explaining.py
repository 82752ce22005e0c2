"""Explain to people how the answers of a unit were counted: the text of `explain` for judged answers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from cs_score.base.display import number_with_noun
from cs_score.evidence.reading import short_text
from cs_score.judged.counting import JudgedLine, UnitCount, UnitGold, weight_by_class
from cs_score.judged.faults import SIDES
from cs_score.judged.lines import LabelledLine
from cs_score.judged.policy import DUPLICATE, UNASSESSED

_MOST_SIMILAR: Final = 3
"""The most similar assessments that are shown for an answer: three of the same answer, three of the same evidence."""


def explanation_of(judgments: Sequence[JudgedLine], gold: UnitGold, count: UnitCount) -> Iterator[str]:
    """Yield the lines of the explanation of a unit: its counts, each answer with label and side, the missing classes.

    An answer without assessment is followed by the assessed answers that are like it.
    """
    answers = number_with_noun(count.answered, "answer")
    yield f"unit {short_text(gold.unit)}: {count.right:g} of {answers} right, {_found_of_wanted(count)}"
    rank = 0  # among the answers that are not ignored
    for judgment in judgments:
        if judgment.value is None:
            side = "ignored"
        else:
            rank += 1
            side = f"{SIDES[judgment.value]}, rank {rank}"
        yield ""
        yield _number_and_answer(judgment.line)
        yield f"  {side}: {_reason(judgment)}"
        if judgment.label == UNASSESSED:
            yield from _similar_assessments(judgment.line, gold.lines)
    missing_classes = _missing_classes(judgments, gold)
    if missing_classes:
        yield ""
    for name in missing_classes:
        yield f"class {short_text(name)}: not found"


def _found_of_wanted(count: UnitCount) -> str:
    """Return how many of the classes that a unit wants were found, in words: "2 found of 3 wanted"."""
    if not count.wanted:
        return "nothing is wanted"
    return f"{count.found:g} found of {count.wanted:g} wanted"


def _missing_classes(judgments: Sequence[JudgedLine], gold: UnitGold) -> list[str]:
    """Return the names of the classes of a unit that no answer finds, in the order of the assessments."""
    classes_found = set()
    for judgment in judgments:
        if judgment.value and judgment.better_line is None:
            classes_found.add(judgment.class_name)
    return [name for name in weight_by_class(gold) if name and name not in classes_found]


def _number_and_answer(line: LabelledLine) -> str:
    """Return the heading of an answer, such as "line 7  Paris  [d07:60-110]"; its evidence is in brackets.

    A line that an analysis has added has the word "added" in the place of its number.
    """
    number = f"line {line.number}" if line.number else "added"
    evidence = f"  [{short_text(line.evidence)}]" if line.evidence else ""
    return f"{number}  {short_text(line.answer)}{evidence}"


def _reason(judgment: JudgedLine) -> str:
    """Return why a line counts as it does, such as "CORRECT, class people (line 12 of the assessments)"."""
    if judgment.label == UNASSESSED:
        return "UNASSESSED: no assessment has this answer"
    class_text = f", class {short_text(judgment.class_name)}" if judgment.class_name else ""
    place = ""
    if judgment.assessment is not None:
        place = f" (line {judgment.assessment.number} of the assessments)"
    if judgment.label == DUPLICATE and judgment.better_line is not None:
        return f"DUPLICATE of line {judgment.better_line.number}, which counts for the same class{class_text}{place}"
    return f"{judgment.label}{class_text}{place}"


def _similar_assessments(line: LabelledLine, assessments: Sequence[LabelledLine]) -> Iterator[str]:
    """Yield a line of text for each assessment that resembles an answer without assessment.

    These are the assessments of its unit of the same answer, perhaps in another spelling, and then those with the same
    evidence.
    """
    spelling = _normalise_spelling(line.answer)
    same_answers = [assessment for assessment in assessments if _normalise_spelling(assessment.answer) == spelling]
    for assessment in same_answers[:_MOST_SIMILAR]:
        likeness = "same answer"
        if assessment.answer != line.answer:
            likeness = "differs in blanks, Unicode form or letter case only"
        evidence = f", evidence {short_text(assessment.evidence)}" if assessment.evidence else ""
        answer = f"{short_text(assessment.answer)}{evidence}"
        yield f"    {likeness}: {answer} is {assessment.label} (line {assessment.number})"
    if not line.evidence:
        return
    same_evidence = [assessment for assessment in assessments if assessment.evidence == line.evidence]
    for assessment in same_evidence[:_MOST_SIMILAR]:
        yield f"    same evidence: {short_text(assessment.answer)} is {assessment.label} (line {assessment.number})"


def _normalise_spelling(text: str) -> str:
    """Return a text without blanks, in lower case and one Unicode form, so that spellings of one answer are equal."""
    lower_case_text = unicodedata.normalize("NFKC", text).casefold()
    words = lower_case_text.split()
    return "".join(words)
