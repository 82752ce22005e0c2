"""Count the answers of a unit: judge each line by its assessment, and add up what the unit finds and wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final, Literal, NamedTuple, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.evidence.reading import quoted
from cs_score.judged.lines import LabelledLine
from cs_score.judged.policy import DUPLICATE, RESERVED, UNASSESSED, Value
from cs_score.measures.registry import divide, f1

KEYS: Final = ("answer", "answer+evidence", "unit")
"""The keys by which a line of a run can find its assessment among those of its unit."""

Key: TypeAlias = Literal["answer", "answer+evidence", "unit"]


class Rules(Record):
    """How lines are judged: what each label counts, and by which key a run finds its assessments.

    `key` is None if the lines of the run have labels of their own. `file` is the name of the file that holds the
    labels; `has_wanted_column` and `has_weight_column` describe this file. `accepted_label` is a label that counts 1.
    """

    value_by_label: Mapping[str, Value]
    key: Key | None
    file: str
    has_wanted_column: bool = False
    has_weight_column: bool = False
    accepted_label: str = ""


class UnitGold(Record, gc=False):
    """The ground truth of a unit: the lines of its assessments, the number of answers that it wants, and its groups.

    `wanted_count` is None if the classes of the assessments decide on it; `rules` are those of the whole file. The
    garbage collector leaves out these records (`gc=False`), which saves 16 bytes a unit: they are part of no cycle.
    """

    unit: str
    lines: Sequence[LabelledLine]
    wanted_count: int | None
    groups: Mapping[str, str]
    rules: Rules


class JudgedLine(NamedTuple):
    """A line of the run with its label and what it counts.

    `label` is that of the assessment, or `UNASSESSED` without one. If another line of the unit counts for the same
    class, `label` is `DUPLICATE` and `better_line` is that line. `value` is None if the line is ignored. `class_name`
    is None for an unassessed line, `assessment` is None also in a run with labels.
    """

    line: LabelledLine
    label: str
    value: Value
    class_name: str | None
    assessment: LabelledLine | None = None
    better_line: LabelledLine | None = None


class UnitCount(NamedTuple):
    """The counts of a unit, which measures are computed from, and the numbers of its lines of each side.

    `right` is the sum of the values of the answers, `answered` the number of answers that are not ignored. `found` and
    `wanted` are what recall divides: numbers, or weights, of classes. `is_wanting`, `is_answered` and `units` are 0 or
    1, so that their sums count units.
    """

    right: float
    answered: int
    found: float
    wanted: float
    precision: float
    recall: float
    f1: float
    average_precision: float
    is_wanting: int
    is_answered: int
    units: int
    lines_right: int
    lines_half: int
    lines_wrong: int
    lines_ignored: int
    unassessed: int
    duplicates: int


# ---- From a line to its assessment


def assessments_by_key(gold: UnitGold, key: Key) -> dict[object, LabelledLine]:
    """Return the assessments of a unit by their key; of several with the same key the first one.

    Raises InputError, with the numbers of both lines, if two assessments with the same key differ in label or class.
    """
    assessment_by_key: dict[object, LabelledLine] = {}
    for line in gold.lines:
        first_line = assessment_by_key.setdefault(key_of_line(line, key), line)
        if first_line is line:
            continue
        contradiction = _contradiction(first_line, line, key)
        if not contradiction:
            continue
        remedy = "correct one of the two"
        if key == "answer" and first_line.evidence != line.evidence:
            remedy = "correct one of the two, or join by evidence, too: --key answer+evidence"
        raise InputError(
            f"the same {_COLUMNS_OF_KEY[key]} has {contradiction}",
            file=gold.rules.file,
            place=f"line {line.number}, unit {quoted(gold.unit)}",
            remedy=remedy,
        )
    return assessment_by_key


def _contradiction(first: LabelledLine, second: LabelledLine, key: Key) -> str:
    """Return in which column two assessments with the same key differ, in words; an empty text if they agree."""
    if first.label != second.label:
        return f"label {quoted(second.label)}, where line {first.number} says {quoted(first.label)}"
    if first.class_name != second.class_name and key != "unit":
        return f"class {quoted(second.class_name)}, where line {first.number} says {quoted(first.class_name)}"
    return ""


_COLUMNS_OF_KEY: Final[Mapping[Key, str]] = {
    "unit": "unit",
    "answer": "unit and answer",
    "answer+evidence": "unit, answer and evidence",
}
"""The columns in which an assessment and its line of a run are equal, in words."""


def key_of_line(line: LabelledLine, key: Key) -> object:
    """Return the key of a line among the lines of its unit: its answer, its answer and evidence, or nothing."""
    if key == "answer":
        return line.answer
    if key == "unit":
        return ""
    return (line.answer, line.evidence)


def class_name_of(line: LabelledLine, key: Key | None) -> str:
    """Return the equivalence class of an assessment: the class that it names, else its answer, which is its own class.

    With the key `unit` all answers of a unit are of one class, whose name is empty.
    """
    if key == "unit":
        return ""
    return line.class_name or line.answer


# ---- What each line counts

_CONFIDENCE: Final = attrgetter("confidence")


def judge_lines(lines: Sequence[LabelledLine], gold: UnitGold) -> list[JudgedLine]:
    """Return the lines of a run for a unit with their labels and values, the highest confidence first.

    Lines of equal confidence keep the order of the file. If several lines are right about the same class, only the best
    one counts for it, and the others are duplicates. Raises InputError if assessments of the unit contradict each
    other.
    """
    value_by_label = gold.rules.value_by_label
    key = gold.rules.key
    assessment_by_key = {} if key is None else assessments_by_key(gold, key)
    judgments = []
    for line in _sort_by_confidence(lines):
        # Beside assessments only corrected lines, which an analysis has made, have labels of their own.
        if key is None or line.label:
            judgments.append(JudgedLine(line, line.label, value_by_label[line.label], class_name_of(line, key)))
            continue
        assessment = assessment_by_key.get(key_of_line(line, key))
        if assessment is None:
            judgments.append(JudgedLine(line, UNASSESSED, value_by_label[UNASSESSED], None))
            continue
        value = value_by_label[assessment.label]
        judgments.append(JudgedLine(line, assessment.label, value, class_name_of(assessment, key), assessment))
    if len(judgments) < 2:
        return judgments
    return _mark_duplicates(judgments, value_by_label[DUPLICATE])


def _sort_by_confidence(lines: Sequence[LabelledLine]) -> Sequence[LabelledLine]:
    """Return lines with the highest confidence first; lines of equal confidence keep their order."""
    if len(lines) < 2:
        return lines
    return sorted(lines, key=_CONFIDENCE, reverse=True)


def _mark_duplicates(judgments: list[JudgedLine], value_of_duplicate: Value) -> list[JudgedLine]:
    """Return the judged lines of a unit, in which all lines of a class but the best one are duplicates.

    The best line of a class is the first one of the highest value. Wrong, ignored and unassessed lines stay as they
    are.
    """
    best_line_by_class = _best_lines(judgments)
    marked_lines = []
    for judgment in judgments:
        if judgment.class_name is None or not judgment.value:
            marked_lines.append(judgment)
            continue
        best = best_line_by_class[judgment.class_name]
        if best is not judgment:
            judgment = judgment._replace(label=DUPLICATE, value=value_of_duplicate, better_line=best.line)
        marked_lines.append(judgment)
    return marked_lines


def _best_lines(judgments: Sequence[JudgedLine]) -> dict[str, JudgedLine]:
    """Return for each class the first line of the highest value, among the lines that count more than 0."""
    best_line_by_class: dict[str, JudgedLine] = {}
    for judgment in judgments:
        if judgment.class_name is None or not judgment.value:
            continue
        best = best_line_by_class.get(judgment.class_name)
        if best is None or best.value is None or judgment.value > best.value:
            best_line_by_class[judgment.class_name] = judgment
    return best_line_by_class


def unassessed_lines(lines: Sequence[LabelledLine], gold: UnitGold) -> list[LabelledLine]:
    """Return the lines of a run for a unit that have no assessment, the highest confidence first."""
    return [judgment.line for judgment in judge_lines(lines, gold) if judgment.label == UNASSESSED]


def accept_unassessed(lines: Sequence[LabelledLine], gold: UnitGold) -> UnitGold:
    """Return the gold of a unit with a further assessment as right for each answer of a run that has none.

    Each of these answers is a class of its own, and the unit wants as many answers more.
    """
    new_assessments = []
    for line in unassessed_lines(lines, gold):
        class_name = f"(unassessed answer in line {line.number})"
        new_assessments.append(LabelledLine(0, line.answer, line.evidence, gold.rules.accepted_label, class_name))
    wanted_count = gold.wanted_count
    if wanted_count is not None:
        wanted_count += len(new_assessments)
    return replace(gold, lines=[*gold.lines, *new_assessments], wanted_count=wanted_count)


# ---- What is wanted, and the counts

_ROUNDING: Final = 1e-9
"""The relative difference up to which two sums of weights count as equal, as their last digits may differ."""


def weight_by_class(gold: UnitGold) -> dict[str, float]:
    """Return the weight of each equivalence class of a unit, 1 if the assessments give it none.

    A class that an assessment names is one whatever its label; an answer without a class is one if it counts more than
    0. Raises InputError if two lines give a class different weights.
    """
    rules = gold.rules
    classes: dict[str, float | None] = {}
    for line in gold.lines:
        if not line.class_name and not rules.value_by_label[line.label] and rules.key != "unit":
            continue
        name = class_name_of(line, rules.key)
        weight = classes.setdefault(name, line.weight)
        if line.weight is None or line.weight == weight:
            continue
        if weight is not None:
            problem = f"class {quoted(name)} has weight {line.weight:g} here and {weight:g} above"
            place = f"line {line.number}, unit {quoted(gold.unit)}"
            raise InputError(problem, file=rules.file, place=place, remedy="correct one of the two")
        classes[name] = line.weight
    return {name: 1.0 if weight is None else weight for name, weight in classes.items()}


def wanted_total(gold: UnitGold, classes: Mapping[str, float]) -> float:
    """Return how many answers a unit wants, or the sum of the weights of its classes: what recall divides by.

    `classes` has the weight of each class. A unit without classes of its own wants one answer.
    """
    if gold.wanted_count is not None:
        return gold.wanted_count
    if gold.rules.key is None or gold.rules.key == "unit":
        return 1
    return sum(classes.values())


class _LineCount(NamedTuple):
    """What a line adds to the counts of its unit.

    `found_weight` is the weight of the class that the line finds, 0 if it finds none. `reserved_label` is `UNASSESSED`
    or `DUPLICATE`, and empty for a line with a label of the file.
    """

    value: Value
    found_weight: float
    reserved_label: str


def count_unit(judgments: Sequence[JudgedLine], gold: UnitGold) -> UnitCount:
    """Return the counts of a unit from its judged lines. Raises InputError if they find more than the unit wants."""
    classes = weight_by_class(gold)
    total = wanted_total(gold, classes)
    line_counts = []
    for judgment in judgments:
        found_weight = 0.0
        if judgment.value and judgment.better_line is None:
            found_weight = classes.get(judgment.class_name or "", 1.0)
        reserved_label = judgment.label if judgment.label in RESERVED else ""
        line_counts.append(_LineCount(judgment.value, found_weight, reserved_label))
    unit_count = _add_up(line_counts, total)
    if unit_count.found > total * (1 + _ROUNDING):
        remedy = "correct `wanted`" if gold.rules.has_wanted_column else "add a column `wanted`"
        problem = f"unit {quoted(gold.unit)}: {unit_count.found:g} found where {total:g} is wanted"
        raise InputError(problem, file=gold.rules.file, remedy=remedy)
    return unit_count


def _add_up(lines: Sequence[_LineCount], total: float) -> UnitCount:
    """Return the counts of a unit that wants this total; its lines are in the order of their confidence."""
    right = 0.0
    found_weight = 0.0
    precision_sum = 0.0  # of the precision at each line that is at least half right
    answer_count = 0
    half_count = 0
    wrong_count = 0
    for line in lines:
        if line.value is None:
            continue
        answer_count += 1
        if not line.value:
            wrong_count += 1
            continue
        if line.value < 1:
            half_count += 1
        right += line.value
        precision_sum += right / answer_count
        found_weight += line.value * line.found_weight
    labels = [line.reserved_label for line in lines]
    precision = divide(right, answer_count)
    recall = divide(found_weight, total)
    return UnitCount(
        right=right,
        answered=answer_count,
        found=found_weight,
        wanted=total,
        precision=precision if total else 0.0,
        recall=recall,
        f1=f1(precision, recall) if total else 0.0,
        average_precision=divide(precision_sum, total),
        is_wanting=int(total > 0),
        is_answered=int(answer_count > 0),
        units=1,
        lines_right=answer_count - half_count - wrong_count,
        lines_half=half_count,
        lines_wrong=wrong_count,
        lines_ignored=len(lines) - answer_count,
        unassessed=labels.count(UNASSESSED),
        duplicates=labels.count(DUPLICATE),
    )


def counting_case(lines: Sequence[LabelledLine], gold: UnitGold) -> object:
    """Return the properties of a unit that decide on its counts, so that units with equal ones are counted once.

    It is None for a unit with more than one answer or assessment: few others have the same counts.
    """
    if len(lines) > 1 or len(gold.lines) > 1:
        return None
    key = gold.rules.key
    label = lines[0].label if lines else ""
    if key is None or not gold.lines:
        return bool(lines), label, gold.wanted_count
    assessment = gold.lines[0]
    is_assessed = bool(lines) and key_of_line(lines[0], key) == key_of_line(assessment, key)
    has_class = bool(assessment.class_name)
    return bool(lines), is_assessed, assessment.label, has_class, assessment.weight, gold.wanted_count
