"""Collect the answers of a run of which only a sample was assessed.
An answer is right or wrong by the label that an assessor gave it. A unit is a question, claim or topic.

In some studies a first assessor, perhaps a model, labels all answers, and a second assessor labels the sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.evidence.mode import Unit
from cs_score.judged.counting import JudgedLine, Key, UnitGold, judge_lines, key_of_line
from cs_score.judged.labelled_lines import JudgedFile, LabelledLine
from cs_score.judged.policy import UNASSESSED, Value


class SampledAnswer(NamedTuple):
    """An answer of a run whose answers were assessed by sample.

    `first_label` is the label that the first or only assessor gave to the answer, or `UNASSESSED`. If a second assessor
    labelled the sample, `predicted_value` is the value of the first label, which serves as a prediction of the value of
    the second label. It is None if there is no second assessor. `is_sampled` says whether the answer is in the sample.
    `value` is the value of its label in the sample, or None if the policy ignores the answer; it is meaningful only for
    answers in the sample. `identity` is the same for equal answers of different runs.
    """

    unit: str
    line: LabelledLine
    identity: tuple[str, object]
    first_label: str
    predicted_value: Value
    is_sampled: bool
    value: Value


def sampled_answers(units: Sequence[Unit], second_assessments: JudgedFile | None) -> list[SampledAnswer]:
    """Return the answers of a run, unit by unit, and mark those that are in the assessed sample.

    If a second assessor labelled the sample, `second_assessments` holds these labels. An answer in the sample is then
    valued by its second label, and any other answer by its first label. Duplicates are identified afterwards, among all
    answers of a unit. If `second_assessments` is None, the sample consists of all answers that have an assessment.
    Raises InputError if assessments of a unit contradict each other.
    """
    key = _matching_key(units, second_assessments)
    answers = []
    for unit in units:
        if second_assessments is None:
            answers += _answers_of_single_assessor(unit, key)
        else:
            answers += _answers_of_two_assessors(unit, second_assessments, key)
    return answers


def _answers_of_single_assessor(unit: Unit, key: Key) -> list[SampledAnswer]:
    """Return the answers of a run for a unit of which a single assessor has assessed a sample.

    The sample consists of the answers with an assessment. `key` says which parts of two answers from different runs
    must be equal for them to count as the same answer. Raises InputError if assessments of the unit contradict each
    other.
    """
    gold: UnitGold = unit.gold
    answers = []
    for judgment in judge_lines(unit.prediction, gold):
        answer = SampledAnswer(
            unit=gold.unit,
            line=judgment.line,
            identity=(gold.unit, key_of_line(judgment.line, key)),
            first_label=_label_of_assessor(judgment),
            predicted_value=None,  # there is no second assessor
            is_sampled=judgment.label != UNASSESSED,
            value=judgment.value,
        )
        answers.append(answer)
    return answers


def _answers_of_two_assessors(unit: Unit, second_assessments: JudgedFile, key: Key) -> list[SampledAnswer]:
    """Return the answers of a run for a unit of which a second assessor has labelled a sample.

    The sample consists of the answers with a second assessment. `key` says which parts of an answer and its second
    assessment must be equal for the two to match. Raises InputError if assessments of the unit contradict each other.
    """
    gold: UnitGold = unit.gold
    first_judgment_by_number = {judgment.line.number: judgment for judgment in judge_lines(unit.prediction, gold)}
    second_assessment_by_key = _index_second_assessments(second_assessments, gold.unit, key)
    # This covers all lines of the unit. Lines outside the sample are still judged by their first labels.
    final_judgments = _judge_with_second_labels(second_assessment_by_key, unit.prediction, gold, key)
    answers = []
    for final_judgment in final_judgments:
        line = final_judgment.line
        first_judgment = first_judgment_by_number[line.number]
        first_value = first_judgment.value
        line_key = key_of_line(line, key)
        answer = SampledAnswer(
            unit=gold.unit,
            line=line,
            identity=(gold.unit, line_key),
            first_label=_label_of_assessor(first_judgment),
            predicted_value=first_value,
            is_sampled=line_key in second_assessment_by_key,
            value=final_judgment.value,
        )
        answers.append(answer)
    return answers


def _label_of_assessor(judgment: JudgedLine) -> str:
    """Return the label that an assessor has given to an answer, or `UNASSESSED` if nobody has assessed it.

    It can differ from the label of the judged line, which is `DUPLICATE` if a better answer counts for the same class.
    """
    if judgment.assessment is not None:
        return judgment.assessment.label
    label_in_run = judgment.line.label  # given by an assessor if there are no assessments
    return label_in_run or UNASSESSED


def _matching_key(units: Sequence[Unit], second_assessments: JudgedFile | None) -> Key:
    """Return the columns by which answers are matched to second assessments, such as "answer" or "answer+evidence".

    These are the columns by which answers are matched to first assessments. There are no first assessments if the lines
    of the run have labels. In that case the key is "answer+evidence" if the second assessments have evidence, and
    "answer" otherwise.
    """
    for unit in units:
        gold: UnitGold = unit.gold
        if gold.rules.key is not None:
            return gold.rules.key
    if second_assessments is not None and "evidence" in second_assessments.filled_columns:
        return "answer+evidence"
    return "answer"


def _index_second_assessments(second_assessments: JudgedFile, unit: str, key: Key) -> dict[object, LabelledLine]:
    """Return the second assessments of a unit by their key (`key_of_line`): `{"Paris": ..., "Rome": ...}`.

    `key` says which columns make up the key of a line. An assessment applies to an answer in any run, so the
    assessments of all runs of the file are combined. Raises InputError if two assessments with the same key have
    different labels.
    """
    line_by_key: dict[object, LabelledLine] = {}
    for lines_by_unit in second_assessments.units_by_run.values():
        for line in lines_by_unit.get(unit, ()):
            first_line = line_by_key.setdefault(key_of_line(line, key), line)
            if first_line.label != line.label:
                problem = f"the answer has another label in line {first_line.number}"
                place = f"line {line.number}"
                raise InputError(problem, file=second_assessments.name, place=place, remedy="correct one of the two")
    return line_by_key


def _judge_with_second_labels(
    second_assessment_by_key: Mapping[object, LabelledLine], lines: Sequence[LabelledLine], gold: UnitGold, key: Key
) -> list[JudgedLine]:
    """Return the judged lines of a run for a unit, with second assessments in place of first ones with the same key.

    `second_assessment_by_key` holds the second assessments of the unit. `key` says which columns of two lines are
    compared, such as "answer+evidence". If the lines of the run have labels of their own, the second labels replace
    them. Otherwise the second labels replace those of the first assessments, and second assessments of answers that
    have no first assessment are added.
    """
    if gold.rules.run_has_labels:
        lines_with_second_labels = [_replace_label(line, second_assessment_by_key, key) for line in lines]
        return judge_lines(lines_with_second_labels, gold)
    assessments = [_replace_label(line, second_assessment_by_key, key) for line in gold.lines]
    first_keys = {key_of_line(line, key) for line in gold.lines}
    for line_key, second_line in second_assessment_by_key.items():
        if line_key not in first_keys:
            assessments.append(second_line)
    return judge_lines(lines, replace(gold, lines=assessments))


def _replace_label(
    line: LabelledLine, second_assessment_by_key: Mapping[object, LabelledLine], key: Key
) -> LabelledLine:
    """Return a line with the label and class of its second assessment, or the line itself if there is none.

    The line keeps its class if the second assessment does not name one.
    """
    second_assessment = second_assessment_by_key.get(key_of_line(line, key))
    if second_assessment is None:
        return line
    class_name = second_assessment.class_name or line.class_name
    return replace(line, label=second_assessment.label, class_name=class_name)
