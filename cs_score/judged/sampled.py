"""Answers of a run of which a sample was assessed, perhaps by a second assessor who checks the labels of the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.evidence.mode import Unit
from cs_score.judged.counting import JudgedLine, Key, UnitGold, judged_lines, key_of
from cs_score.judged.lines import JudgedFile, Line
from cs_score.judged.policy import UNASSESSED, Value


class SampledAnswer(NamedTuple):
    """An answer of a run: the value that the first labels predict, and the value by the labels of the sample.

    `first_label` is the label without the second assessments, `UNASSESSED` where there is none, and `predicted` its
    value. `is_sampled` says that the answer is in the sample; only then `value` is known: None where the policy ignores
    the answer. `identity` is the same for the same answer of another run.
    """

    unit: str
    line: Line
    identity: tuple[str, object]
    first_label: str
    predicted: Value
    is_sampled: bool
    value: Value


def sampled_answers(units: Sequence[Unit], second: JudgedFile | None) -> list[SampledAnswer]:
    """Return the answers of a run, unit by unit.

    With `second` the sample is what these assessments hold, and their labels are the ones that count; all other answers
    keep their first labels, which decide with them what is a duplicate. Without `second` the sample is what was
    assessed at all, and nothing is predicted. Raises InputError where assessments of a unit contradict each other.
    """
    key = _key_of_sample(units, second)
    answers = []
    for unit in units:
        gold: UnitGold = unit.gold
        first_judgments = judged_lines(unit.prediction, gold)
        label_by_number = {judgment.line.number: judgment for judgment in first_judgments}
        if second is None:
            final_judgments = first_judgments
            second_by_key: Mapping[object, Line] = {}
        else:
            second_by_key = _lines_by_key(second, gold.unit, key)
            final_judgments = _judged_with(second_by_key, unit.prediction, gold, key)
        for judgment in final_judgments:
            line = judgment.line
            first_judged = label_by_number[line.number]
            is_sampled = judgment.label != UNASSESSED if second is None else key_of(line, key) in second_by_key
            answers.append(
                SampledAnswer(
                    unit=gold.unit,
                    line=line,
                    identity=(gold.unit, key_of(line, key)),
                    first_label=_label_of(first_judged),
                    predicted=None if second is None else first_judged.value,
                    is_sampled=is_sampled,
                    value=judgment.value,
                )
            )
    return answers


def _label_of(judgment: JudgedLine) -> str:
    """Return the label that a line was given by an assessor, also where it counts as a duplicate."""
    if judgment.assessment is not None:
        return judgment.assessment.label
    return judgment.line.label or judgment.label


def _key_of_sample(units: Sequence[Unit], second: JudgedFile | None) -> Key:
    """Return the key by which answers find their assessment in the sample: that of the first assessments, if any."""
    for unit in units:
        gold: UnitGold = unit.gold
        if gold.rules.key is not None:
            return gold.rules.key
    if second is not None and "evidence" in second.filled:
        return "answer+evidence"
    return "answer"


def _lines_by_key(second: JudgedFile, unit: str, key: Key) -> dict[object, Line]:
    """Return the second assessments of a unit by key. Raise InputError where two of them differ in their label."""
    line_by_key: dict[object, Line] = {}
    for lines_by_unit in second.systems.values():
        for line in lines_by_unit.get(unit, ()):
            first = line_by_key.setdefault(key_of(line, key), line)
            if first.label != line.label:
                problem = f"the answer has another label in line {first.number}"
                raise InputError(
                    problem, file=second.name, place=f"line {line.number}", remedy="correct one of the two"
                )
    return line_by_key


def _judged_with(
    second_by_key: Mapping[object, Line], lines: Sequence[Line], gold: UnitGold, key: Key
) -> list[JudgedLine]:
    """Return the lines of a run as they count with the second assessments in the place of the first ones."""
    if gold.rules.key is None:
        return judged_lines([_with_labels_of(second_by_key, line, key) for line in lines], gold)
    assessments = [_with_labels_of(second_by_key, line, key) for line in gold.lines]
    first_keys = {key_of(line, key) for line in gold.lines}
    further = [line for line_key, line in second_by_key.items() if line_key not in first_keys]
    return judged_lines(lines, replace(gold, lines=[*assessments, *further]))


def _with_labels_of(second_by_key: Mapping[object, Line], line: Line, key: Key) -> Line:
    """Return a line with the label of its second assessment, and its class where that names one."""
    second = second_by_key.get(key_of(line, key))
    if second is None:
        return line
    return replace(line, label=second.label, class_name=second.class_name or line.class_name)
