"""Count a unit of judged answers: what each line counts, what is found, and what is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final, Literal, NamedTuple, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.evidence.reading import quoted
from cs_score.judged.lines import Line
from cs_score.judged.policy import DUPLICATE, RESERVED, UNASSESSED, Value
from cs_score.measures.registry import divide, f1

KEYS: Final = ("answer", "answer+evidence", "unit")
"""By what lines of a run find their assessment; the unit is always a part of it."""

Key: TypeAlias = Literal["answer", "answer+evidence", "unit"]


class Rules(Record):
    """How lines are judged: what each label counts, and by which key a run finds its assessments.

    `key` is None where the lines of the run have labels of their own. `file` is what messages call the file that holds
    the labels, `has_wanted` and `has_weights` say whether it has these columns; `accepted` is a label that counts 1.
    """

    values: Mapping[str, Value]
    key: Key | None
    file: str
    has_wanted: bool = False
    has_weights: bool = False
    accepted: str = ""


class UnitGold(Record, gc=False):
    """What is known of a unit: the lines of its assessments, how many answers it wants, and its groups.

    `wanted` is None where the classes of the assessments say it; `rules` are those of the whole file. No circle leads
    back to it, so that Python need not look for one (`gc=False`): 16 bytes less a unit.
    """

    unit: str
    lines: Sequence[Line]
    wanted: int | None
    groups: Mapping[str, str]
    rules: Rules


class JudgedLine(NamedTuple):
    """A line of the run as it counts.

    `label` is that of the assessment, `UNASSESSED` where there is none, and `DUPLICATE` where `better` is the line that
    has found the class instead. `assessment` is None in a run with labels. `value` is None where the line
    is ignored, `class_name` None where nothing is known of it.
    """

    line: Line
    label: str
    value: Value
    class_name: str | None
    assessment: Line | None = None
    better: Line | None = None


class UnitCount(NamedTuple):
    """The counts of a unit: those of the measures, then those of lines by what they count."""

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


def assessments_by_key(gold: UnitGold, key: Key) -> dict[object, Line]:
    """Return the assessments of a unit by key.

    Raise InputError, with both lines, for two that have one key and another label or class.
    """
    by_key: dict[object, Line] = {}
    for line in gold.lines:
        first = by_key.setdefault(key_of(line, key), line)
        if first is line:
            continue
        if first.label != line.label:
            problem = f"label {quoted(line.label)}, where line {first.number} says {quoted(first.label)}"
        elif first.class_name != line.class_name and key != "unit":
            problem = f"class {quoted(line.class_name)}, where line {first.number} says {quoted(first.class_name)}"
        else:
            continue
        remedy = "correct one of the two"
        if key == "answer" and first.evidence != line.evidence:
            remedy = "correct one of the two, or join by evidence, too: --key answer+evidence"
        place = f"line {line.number}, unit {quoted(gold.unit)}"
        raise InputError(f"the same {_NAMES[key]} has {problem}", file=gold.rules.file, place=place, remedy=remedy)
    return by_key


_NAMES: Final[Mapping[Key, str]] = {
    "unit": "unit",
    "answer": "unit and answer",
    "answer+evidence": "unit, answer and evidence",
}


def key_of(line: Line, key: Key) -> object:
    """Return what a line of a unit is found by."""
    if key == "answer":
        return line.answer
    if key == "unit":
        return ""
    return (line.answer, line.evidence)


def class_of(line: Line, key: Key | None) -> str:
    """Return the class of an assessed line: the one that it names, else its own text; with the key `unit` no text."""
    if key == "unit":
        return ""
    return line.class_name or line.answer


# ---- What each line counts

_CONFIDENCE: Final = attrgetter("confidence")


def judged_lines(lines: Sequence[Line], gold: UnitGold) -> list[JudgedLine]:
    """Return the lines of a unit as they count, the highest confidence first, then in the order of the file.

    Raise InputError where assessments of the unit contradict each other.
    """
    values = gold.rules.values
    key = gold.rules.key
    by_key = {} if key is None else assessments_by_key(gold, key)
    judgments = []
    for line in _by_confidence(lines):
        if key is None or line.label:
            judgments.append(JudgedLine(line, line.label, values[line.label], class_of(line, key)))
            continue
        assessment = by_key.get(key_of(line, key))
        if assessment is None:
            judgments.append(JudgedLine(line, UNASSESSED, values[UNASSESSED], None))
        else:
            value = values[assessment.label]
            judgments.append(JudgedLine(line, assessment.label, value, class_of(assessment, key), assessment))
    return _with_duplicates(judgments, values[DUPLICATE]) if len(judgments) > 1 else judgments


def _by_confidence(lines: Sequence[Line]) -> Sequence[Line]:
    """Return lines with the highest confidence first, equal ones in their order."""
    return lines if len(lines) < 2 else sorted(lines, key=_CONFIDENCE, reverse=True)


def _with_duplicates(judgments: list[JudgedLine], value_of_duplicate: Value) -> list[JudgedLine]:
    """Return the lines in which only the best one of each class counts as judged: the first of the highest value."""
    best: dict[str, JudgedLine] = {}
    for line in judgments:
        if line.class_name is None or not line.value:
            continue
        other = best.get(line.class_name)
        if other is None or other.value is None or line.value > other.value:
            best[line.class_name] = line
    lines_as_they_count = []
    for line in judgments:
        if line.class_name is not None and line.value and best[line.class_name] is not line:
            better = best[line.class_name].line
            line = line._replace(label=DUPLICATE, value=value_of_duplicate, better=better)
        lines_as_they_count.append(line)
    return lines_as_they_count


def unassessed_lines(lines: Sequence[Line], gold: UnitGold) -> list[Line]:
    """Return the lines of a run that have no assessment."""
    return [judgment.line for judgment in judged_lines(lines, gold) if judgment.label == UNASSESSED]


def with_all_accepted(lines: Sequence[Line], gold: UnitGold) -> UnitGold:
    """Return a unit in which every answer without assessment is accepted, as a class of its own that is wanted, too."""
    new_lines = []
    for line in unassessed_lines(lines, gold):
        name = f"(unassessed answer in line {line.number})"
        new_lines.append(Line(0, line.answer, line.evidence, gold.rules.accepted, name))
    wanted = None if gold.wanted is None else gold.wanted + len(new_lines)
    return replace(gold, lines=[*gold.lines, *new_lines], wanted=wanted)


# ---- What is wanted, and the counts

_ROUNDING: Final = 1e-9
"""Sums of weights may differ by their last digits."""


def classes_of(gold: UnitGold) -> dict[str, float]:
    """Return the classes that assessments of a unit name, with their weights, 1 where none is given.

    Those are the classes of the column, whatever the label, and the texts of accepted answers without a class. Raise
    InputError where two lines give a class another weight.
    """
    rules = gold.rules
    classes: dict[str, float | None] = {}
    for line in gold.lines:
        if not line.class_name and not rules.values[line.label] and rules.key != "unit":
            continue
        name = class_of(line, rules.key)
        weight = classes.setdefault(name, line.weight)
        if line.weight is None or line.weight == weight:
            continue
        if weight is not None:
            problem = f"class {quoted(name)} has weight {line.weight:g} here and {weight:g} above"
            place = f"line {line.number}, unit {quoted(gold.unit)}"
            raise InputError(problem, file=rules.file, place=place, remedy="correct one of the two")
        classes[name] = line.weight
    return {name: 1.0 if weight is None else weight for name, weight in classes.items()}


def wanted_of(gold: UnitGold, classes: Mapping[str, float]) -> float:
    """Return how many answers, or what weight of classes, a unit wants."""
    if gold.wanted is not None:
        return gold.wanted
    if gold.rules.key is None or gold.rules.key == "unit":
        return 1
    return sum(classes.values())


class _LineCount(NamedTuple):
    """What a line adds to the counts: its value, whether it finds a class and of what weight, and how it is called."""

    value: Value
    found_weight: float
    label: str


def count_unit(judgments: Sequence[JudgedLine], gold: UnitGold) -> UnitCount:
    """Return the counts of a unit whose lines are judged. Raise InputError where more is found than is wanted."""
    classes = classes_of(gold)
    wanted = wanted_of(gold, classes)
    line_counts = []
    for line in judgments:
        weight = 0.0
        if line.value and line.better is None:
            weight = classes.get(line.class_name or "", 1.0)
        kind = line.label if line.label in RESERVED else ""
        line_counts.append(_LineCount(line.value, weight, kind))
    unit_count = _count_of(line_counts, wanted)
    if unit_count.found > wanted * (1 + _ROUNDING):
        remedy = "correct `wanted`" if gold.rules.has_wanted else "add a column `wanted`"
        problem = f"unit {quoted(gold.unit)}: {unit_count.found:g} found where {wanted:g} is wanted"
        raise InputError(problem, file=gold.rules.file, remedy=remedy)
    return unit_count


def _count_of(lines: Sequence[_LineCount], wanted: float) -> UnitCount:
    """Return the counts of a unit that wants so much."""
    right = found = precision_sum = 0.0
    answered = half = wrong = 0
    for line in lines:
        if line.value is None:
            continue
        answered += 1
        if not line.value:
            wrong += 1
            continue
        if line.value < 1:
            half += 1
        right += line.value
        precision_sum += right / answered
        found += line.value * line.found_weight
    labels = [line.label for line in lines]
    precision = divide(right, answered)
    recall = divide(found, wanted)
    return UnitCount(
        right=right,
        answered=answered,
        found=found,
        wanted=wanted,
        precision=precision if wanted else 0.0,
        recall=recall,
        f1=f1(precision, recall) if wanted else 0.0,
        average_precision=divide(precision_sum, wanted),
        is_wanting=int(wanted > 0),
        is_answered=int(answered > 0),
        units=1,
        lines_right=answered - half - wrong,
        lines_half=half,
        lines_wrong=wrong,
        lines_ignored=len(lines) - answered,
        unassessed=labels.count(UNASSESSED),
        duplicates=labels.count(DUPLICATE),
    )


def case_of_few(lines: Sequence[Line], gold: UnitGold) -> object:
    """Return all that the counts of a unit depend on: equal cases have equal counts.

    None where the unit has more than one answer or assessment, so that others seldom are counted alike.
    """
    if len(lines) > 1 or len(gold.lines) > 1:
        return None
    key = gold.rules.key
    label = lines[0].label if lines else ""
    if key is None or not gold.lines:
        return bool(lines), label, gold.wanted
    assessment = gold.lines[0]
    is_assessed = bool(lines) and key_of(lines[0], key) == key_of(assessment, key)
    has_class = bool(assessment.class_name)
    return bool(lines), is_assessed, assessment.label, has_class, assessment.weight, gold.wanted
