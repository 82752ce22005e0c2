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

    `second` holds the second assessments, which are the sample. An answer in the sample counts by its second label, any
    other answer by its first one, and both kinds of labels decide which answers are duplicates. If `second` is None,
    the sample consists of all answers with an assessment, and no value is predicted. Raises InputError if assessments
    of a unit contradict each other.
    """
    key = _key_of_sample(units, second)
    answers = []
    for unit in units:
        if second is None:
            answers += _answers_with_first_labels(unit, key)
        else:
            answers += _answers_with_second_labels(unit, second, key)
    return answers


def _answers_with_first_labels(unit: Unit, key: Key) -> list[SampledAnswer]:
    """Return the answers of a run for a unit if its assessments are the sample. Raises InputError for contradictions.

    `key` is the key by which equal answers of different runs are found.
    """
    gold: UnitGold = unit.gold
    answers = []
    for judgment in judge_lines(unit.prediction, gold):
        answer = SampledAnswer(
            unit=gold.unit,
            line=judgment.line,
            identity=(gold.unit, key_of_line(judgment.line, key)),
            first_label=_label_of_assessor(judgment),
            predicted=None,
            is_sampled=judgment.label != UNASSESSED,
            value=judgment.value,
        )
        answers.append(answer)
    return answers


def _answers_with_second_labels(unit: Unit, second: JudgedFile, key: Key) -> list[SampledAnswer]:
    """Return the answers of a run for a unit if the second assessments are the sample.

    `key` is the key by which an answer finds its second assessment. Raises InputError for assessments of the unit that
    contradict each other.
    """
    gold: UnitGold = unit.gold
    first_judgment_by_number = {judgment.line.number: judgment for judgment in judge_lines(unit.prediction, gold)}
    second_by_key = _second_assessments_by_key(second, gold.unit, key)
    answers = []
    for judgment in _judge_with_second_labels(second_by_key, unit.prediction, gold, key):
        first_judgment = first_judgment_by_number[judgment.line.number]
        line_key = key_of_line(judgment.line, key)
        answer = SampledAnswer(
            unit=gold.unit,
            line=judgment.line,
            identity=(gold.unit, line_key),
            first_label=_label_of_assessor(first_judgment),
            predicted=first_judgment.value,
            is_sampled=line_key in second_by_key,
            value=judgment.value,
        )
        answers.append(answer)
    return answers


def _label_of_assessor(judgment: JudgedLine) -> str:
    """Return the label that an assessor has given to an answer; `UNASSESSED` if nobody has assessed it.

    The label of a judged line may be another one: `DUPLICATE`, if a better answer counts for the same class.
    """
    if judgment.assessment is not None:
        return judgment.assessment.label
    has_own_label = judgment.line.label != ""
    return judgment.line.label if has_own_label else UNASSESSED


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
    """Return the second assessments of a unit by their key (`key_of_line`).

    Raises InputError if two of them with the same key have different labels.
    """
    line_by_key: dict[object, LabelledLine] = {}
    for lines_by_unit in second.units_by_run.values():
        for line in lines_by_unit.get(unit, ()):
            first_line = line_by_key.setdefault(key_of_line(line, key), line)
            if first_line.label != line.label:
                problem = f"the answer has another label in line {first_line.number}"
                place = f"line {line.number}"
                raise InputError(problem, file=second.name, place=place, remedy="correct one of the two")
    return line_by_key


def _judge_with_second_labels(
    second_by_key: Mapping[object, LabelledLine], lines: Sequence[LabelledLine], gold: UnitGold, key: Key
) -> list[JudgedLine]:
    """Return the judged lines of a run for a unit if second assessments replace the first ones of the same key.

    `second_by_key` has the second assessments of the unit. In a run whose lines have labels, they replace these labels.
    """
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
