"""Collect the answers of a run from which a sample was assessed, perhaps by a second assessor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.evidence.mode import Unit
from cs_score.judged.counting import JudgedLine, Key, UnitGold, judge_lines, key_of_line
from cs_score.judged.lines import JudgedFile, LabelledLine
from cs_score.judged.policy import UNASSESSED, Value


class SampledAnswer(NamedTuple):
    """An answer of a run, with its value by the labels of the sample and the value that the first labels predict.

    `first_label` is the label without the second assessments, or `UNASSESSED`, and `predicted` is its value.
    `is_sampled` says whether the answer is in the sample; `value` means something only then, and is None if the policy
    ignores the answer. `identity` is equal for equal answers of different runs.
    """

    unit: str
    line: LabelledLine
    identity: tuple[str, object]
    first_label: str
    predicted: Value
    is_sampled: bool
    value: Value


def sampled_answers(units: Sequence[Unit], second: JudgedFile | None) -> list[SampledAnswer]:
    """Return the answers of a run, unit by unit.

    With `second` the sample consists of these second assessments. An answer in the sample counts by its second label,
    any other answer by its first one, and both kinds of labels decide which answers are duplicates. Without `second`
    the sample consists of all answers with an assessment, and no value is predicted. Raises InputError if assessments
    of a unit contradict each other.
    """
    key = _key_of_sample(units, second)
    answers = []
    for unit in units:
        gold: UnitGold = unit.gold
        first_judgments = judge_lines(unit.prediction, gold)
        first_judgment_by_number = {judgment.line.number: judgment for judgment in first_judgments}
        if second is None:
            final_judgments = first_judgments
            second_by_key: Mapping[object, LabelledLine] = {}
        else:
            second_by_key = _second_assessments_by_key(second, gold.unit, key)
            final_judgments = _judge_with_second_labels(second_by_key, unit.prediction, gold, key)
        for judgment in final_judgments:
            line = judgment.line
            first_judgment = first_judgment_by_number[line.number]
            if second is None:
                is_sampled = judgment.label != UNASSESSED
                predicted = None
            else:
                is_sampled = key_of_line(line, key) in second_by_key
                predicted = first_judgment.value
            answers.append(
                SampledAnswer(
                    unit=gold.unit,
                    line=line,
                    identity=(gold.unit, key_of_line(line, key)),
                    first_label=_assessed_label(first_judgment),
                    predicted=predicted,
                    is_sampled=is_sampled,
                    value=judgment.value,
                )
            )
    return answers


def _assessed_label(judgment: JudgedLine) -> str:
    """Return the label that an assessor has given to a line, which a duplicate keeps; else `UNASSESSED`."""
    if judgment.assessment is not None:
        return judgment.assessment.label
    return judgment.line.label or judgment.label


def _key_of_sample(units: Sequence[Unit], second: JudgedFile | None) -> Key:
    """Return the key by which answers find their second assessments: the key of the first assessments, if any.

    A run with labels of its own has no such key: then it is answer and evidence if the second assessments have
    evidence, else the answer alone.
    """
    for unit in units:
        gold: UnitGold = unit.gold
        if gold.rules.key is not None:
            return gold.rules.key
    if second is not None and "evidence" in second.filled_columns:
        return "answer+evidence"
    return "answer"


def _second_assessments_by_key(second: JudgedFile, unit: str, key: Key) -> dict[object, LabelledLine]:
    """Return the second assessments of a unit by key. Raises InputError if two with the same key have other labels."""
    line_by_key: dict[object, LabelledLine] = {}
    for lines_by_unit in second.units_by_run.values():
        for line in lines_by_unit.get(unit, ()):
            first_line = line_by_key.setdefault(key_of_line(line, key), line)
            if first_line.label != line.label:
                problem = f"the answer has another label in line {first_line.number}"
                raise InputError(
                    problem, file=second.name, place=f"line {line.number}", remedy="correct one of the two"
                )
    return line_by_key


def _judge_with_second_labels(
    second_by_key: Mapping[object, LabelledLine], lines: Sequence[LabelledLine], gold: UnitGold, key: Key
) -> list[JudgedLine]:
    """Return the judged lines of a run for a unit if second assessments replace the first ones of the same key."""
    if gold.rules.key is None:
        lines_with_second_labels = [_replace_label(line, second_by_key, key) for line in lines]
        return judge_lines(lines_with_second_labels, gold)
    assessments = [_replace_label(line, second_by_key, key) for line in gold.lines]
    first_keys = {key_of_line(line, key) for line in gold.lines}
    for line_key, second_line in second_by_key.items():
        if line_key not in first_keys:
            assessments.append(second_line)
    return judge_lines(lines, replace(gold, lines=assessments))


def _replace_label(line: LabelledLine, second_by_key: Mapping[object, LabelledLine], key: Key) -> LabelledLine:
    """Return a line with the label of its second assessment, if it has one, and with the class that this one names."""
    second = second_by_key.get(key_of_line(line, key))
    if second is None:
        return line
    return replace(line, label=second.label, class_name=second.class_name or line.class_name)
