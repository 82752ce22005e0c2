"""Explain how the answers of a unit were counted, in the text that `cs-score explain` prints for judged answers.
A unit is a question, claim or topic. A judged line is an answer of a run with its label and its value. An equivalence
class holds answers that mean the same.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from cs_score.base.display import number_with_noun
from cs_score.evidence.reading import short_text
from cs_score.judged.answer_faults import SIDE_BY_VALUE
from cs_score.judged.counting import JudgedLine, UnitCount, UnitGold, weight_by_class
from cs_score.judged.labelled_lines import LabelledLine
from cs_score.judged.policy import DUPLICATE, UNASSESSED

_MOST_SHOWN_ASSESSMENTS: Final = 3
"""The largest number of assessments with the same answer, and of those with the same evidence, that are shown."""


def explanation_of(judgments: Sequence[JudgedLine], gold: UnitGold, counts: UnitCount) -> Iterator[str]:
    """Yield the lines that explain a unit: its counts, the judgment of each answer, and the classes that are missing.

    An answer that nobody has assessed is followed by the assessed answers that resemble it.
    """
    answers_in_words = number_with_noun(counts.answered, "answer")
    right_of_answers = f"{counts.right:g} of {answers_in_words} right"
    yield f"unit {short_text(gold.unit)}: {right_of_answers}, {_found_of_wanted(counts)}"
    rank = 0  # among the answers that are not ignored
    for judgment in judgments:
        if judgment.value is not None:
            rank += 1
        yield ""
        yield from _explain_answer(judgment, rank, gold.lines)
    missing_classes = _missing_classes(judgments, gold)
    if missing_classes:
        yield ""
    for name in missing_classes:
        yield f"class {short_text(name)}: not found"


def _explain_answer(judgment: JudgedLine, rank: int, assessments: Sequence[LabelledLine]) -> Iterator[str]:
    """Yield the lines that explain an answer of a unit: the answer, how it counts and why, and similar assessments.

    `rank` is the rank of the answer among the answers that are not ignored, from 1. The `assessments` of the unit are
    searched only for an answer that nobody has assessed.
    """
    counted_as = "ignored"
    if judgment.value is not None:
        counted_as = f"{SIDE_BY_VALUE[judgment.value]}, rank {rank}"
    yield _number_and_answer(judgment.line)
    yield f"  {counted_as}: {_reason(judgment)}"
    if judgment.label == UNASSESSED:
        yield from _same_answer_lines(judgment.line, assessments)
        yield from _same_evidence_lines(judgment.line, assessments)


def _found_of_wanted(counts: UnitCount) -> str:
    """Return how many of the classes that a unit wants were found, in words: "2 found of 3 wanted"."""
    if not counts.wanted:
        return "nothing is wanted"
    return f"{counts.found:g} found of {counts.wanted:g} wanted"


def _missing_classes(judgments: Sequence[JudgedLine], gold: UnitGold) -> list[str]:
    """Return the names of the equivalence classes that no answer of a unit finds, in the order of the assessments."""
    classes_found = set()
    for judgment in judgments:
        if judgment.finds_class:
            classes_found.add(judgment.class_name)
    return [name for name in weight_by_class(gold) if name and name not in classes_found]


def _number_and_answer(line: LabelledLine) -> str:
    """Return the heading of an answer, such as "line 7  Paris  [d07:60-110]"; its evidence is in brackets.

    A line that an analysis has added is headed by the word "added", since it has no number.
    """
    number = f"line {line.number}" if line.number else "added"
    evidence = f"  [{short_text(line.evidence)}]" if line.evidence else ""
    return f"{number}  {short_text(line.answer)}{evidence}"


def _reason(judgment: JudgedLine) -> str:
    """Return the reason for the value of a line, such as "CORRECT, class people (line 12 of the assessments)"."""
    if judgment.label == UNASSESSED:
        return "UNASSESSED: no assessment has this answer"
    class_text = f", class {short_text(judgment.class_name)}" if judgment.class_name else ""
    place = ""
    if judgment.assessment is not None:
        place = f" (line {judgment.assessment.number} of the assessments)"
    if judgment.label == DUPLICATE and judgment.better_line is not None:
        return f"DUPLICATE of line {judgment.better_line.number}, which counts for the same class{class_text}{place}"
    return f"{judgment.label}{class_text}{place}"


def _same_answer_lines(line: LabelledLine, assessments: Sequence[LabelledLine]) -> Iterator[str]:
    """Yield a line of text for each assessment with the same answer as a line of a run, perhaps in another spelling.

    At most three assessments are shown.
    """
    spelling = _normalise_spelling(line.answer)
    same_answers = [assessment for assessment in assessments if _normalise_spelling(assessment.answer) == spelling]
    for assessment in same_answers[:_MOST_SHOWN_ASSESSMENTS]:
        likeness = "same answer"
        if assessment.answer != line.answer:
            likeness = "differs in blanks, Unicode form or letter case only"
        evidence = f", evidence {short_text(assessment.evidence)}" if assessment.evidence else ""
        answer = f"{short_text(assessment.answer)}{evidence}"
        yield f"    {likeness}: {answer} is {assessment.label} (line {assessment.number})"


def _same_evidence_lines(line: LabelledLine, assessments: Sequence[LabelledLine]) -> Iterator[str]:
    """Yield a line of text for each assessment with the same evidence as a line of a run, if this line has evidence.

    At most three assessments are shown.
    """
    if not line.evidence:
        return
    same_evidence = [assessment for assessment in assessments if assessment.evidence == line.evidence]
    for assessment in same_evidence[:_MOST_SHOWN_ASSESSMENTS]:
        yield f"    same evidence: {short_text(assessment.answer)} is {assessment.label} (line {assessment.number})"


def _normalise_spelling(text: str) -> str:
    """Return a text in lower case, without blanks and in a standard Unicode form: "New York" -> "newyork"."""
    lower_case_text = unicodedata.normalize("NFKC", text).casefold()
    words = lower_case_text.split()
    return "".join(words)
