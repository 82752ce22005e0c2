"""Count the answers of a unit: judge each line by its assessment, and count the classes that are found and wanted.
A unit is a question or topic. A line of a run is an answer for a unit, and an assessment gives an answer a label and
perhaps an equivalence class, which holds answers that mean the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final, Literal, NamedTuple, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.evidence.reading import quoted
from cs_score.judged.labelled_lines import LabelledLine
from cs_score.judged.policy import DUPLICATE, RESERVED_LABELS, UNASSESSED, Value
from cs_score.measures import divide, f1

KEYS: Final = ("answer", "answer+evidence", "unit")
"""The possible keys: the parts of a line that an assessment and a line of a run must share to belong together."""

Key: TypeAlias = Literal["answer", "answer+evidence", "unit"]


class Rules(Record):
    """The rules for judging lines: the value of each label and the key by which answers are matched to assessments.

    `key` is None if the lines of the run have labels of their own. `file` is the name of the file that contains the
    labels. `has_wanted_column` says whether this file has a column with the number of answers that a unit wants, and
    `has_weight_column` whether it has a column with the weights of classes. `accepted_label` is a label with the value
    1.
    """

    value_by_label: Mapping[str, Value]
    key: Key | None
    file: str
    has_wanted_column: bool = False
    has_weight_column: bool = False
    accepted_label: str = ""

    @property
    def run_has_labels(self) -> bool:
        """True if the lines of the run have labels of their own, so that there are no assessments."""
        return self.key is None


class UnitGold(Record, gc=False):
    """The ground truth of a unit: the lines of its assessments, the number of answers that it wants, and its groups.

    `wanted_count` is None if no file states it; the unit then wants every class of its assessments. `rules` are the
    same for all units of the file. The garbage collector does not track these records (`gc=False`), because they are
    never part of a reference cycle; this saves 16 bytes for each unit.
    """

    unit: str
    lines: Sequence[LabelledLine]
    wanted_count: int | None
    groups: Mapping[str, str]
    rules: Rules


class JudgedLine(NamedTuple):
    """A line of a run with its label and its value: 1 for right, 0.5 for half right, 0 for wrong.

    `label` is the label of the line's assessment, or `UNASSESSED` if nobody has assessed the line. If another line of
    the unit counts for the same equivalence class (answers with the same meaning), `label` is `DUPLICATE` and
    `better_line` is that other line. `value` is None if the line is ignored. `class_name` is None for an unassessed
    line. `assessment` is None for an unassessed line, and for every line of a run that has labels of its own.
    """

    line: LabelledLine
    label: str
    value: Value
    class_name: str | None
    assessment: LabelledLine | None = None
    better_line: LabelledLine | None = None

    @property
    def finds_class(self) -> bool:
        """True if the line is at least half right and no better line of the unit counts for the same class."""
        return bool(self.value) and self.better_line is None


class UnitCount(NamedTuple):
    """The counts of a unit, from which the measures are computed.

    `right` is the sum of the values of the answers, and `answered` the number of answers that are not ignored. `found`
    and `wanted` are numbers of equivalence classes (answers with the same meaning), or sums of their weights; recall is
    `found` divided by `wanted`. `is_wanting` is 1 if the unit wants an answer, `is_answered` is 1 if it has one, and
    `units` is always 1, so that the sums of these fields count units. The last six fields count lines of the run.
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


def index_assessments(gold: UnitGold, key: Key) -> dict[object, LabelledLine]:
    """Return the assessments of a unit by their keys (`key_of_line`), such as `{"Paris": ..., "Rome": ...}`.

    If several assessments have the same key, the first one is returned. Raises InputError, with the numbers of both
    lines, if two assessments with the same key differ in label or class.
    """
    assessment_by_key: dict[object, LabelledLine] = {}
    for line in gold.lines:
        first_line = assessment_by_key.setdefault(key_of_line(line, key), line)
        if first_line is not line:
            _check_agreement(first_line, line, gold, key)
    return assessment_by_key


def _check_agreement(earlier: LabelledLine, later: LabelledLine, gold: UnitGold, key: Key) -> None:
    """Raise InputError if two assessments of a unit with the same key differ in label or class."""
    contradiction = _contradiction(earlier, later, key)
    if not contradiction:
        return
    remedy = "correct one of the two"
    if key == "answer" and earlier.evidence != later.evidence:
        remedy = "correct one of the two, or join by evidence, too: --key answer+evidence"
    raise InputError(
        f"the same {_COLUMNS_OF_KEY[key]} has {contradiction}",
        file=gold.rules.file,
        place=f"line {later.number}, unit {quoted(gold.unit)}",
        remedy=remedy,
    )


def _contradiction(earlier: LabelledLine, later: LabelledLine, key: Key) -> str:
    """Return a description of how an assessment differs from an earlier assessment with the same key.

    An example is "label 'WRONG', where line 3 says 'CORRECT'". The text is empty if both have the same label and class.
    With the key "unit", all answers of a unit belong to the same class, so class names are not compared.
    """
    if earlier.label != later.label:
        return f"label {quoted(later.label)}, where line {earlier.number} says {quoted(earlier.label)}"
    if earlier.class_name != later.class_name and key != "unit":
        return f"class {quoted(later.class_name)}, where line {earlier.number} says {quoted(earlier.class_name)}"
    return ""


_COLUMNS_OF_KEY: Final[Mapping[Key, str]] = {
    "unit": "unit",
    "answer": "unit and answer",
    "answer+evidence": "unit, answer and evidence",
}
"""The columns that a line of a run and its assessment have in common, in words, by the key."""


def key_of_line(line: LabelledLine, key: Key) -> object:
    """Return the value that a line of a run has in common with its assessment, which is found by this value.

    For the key "answer" it is the answer, such as "Paris". For "answer+evidence" it is ("Paris", "d07:60-110").
    For "unit" it is an empty text, because all lines of a unit then belong to the same assessment.
    """
    if key == "answer":
        return line.answer
    if key == "unit":
        return ""
    return (line.answer, line.evidence)


def class_name_of(line: LabelledLine, key: Key | None) -> str:
    """Return the name of the equivalence class of an assessment, or of a line of a run with labels.

    An equivalence class holds answers that mean the same. Its name is the one that the line gives. If the line gives
    none, its answer is a class of its own, and the answer is the name. With the key "unit", all answers of a unit
    belong to one class, whose name is empty.
    """
    if key == "unit":
        return ""
    return line.class_name or line.answer


# ---- What each line counts

_confidence_of_line: Final = attrgetter("confidence")


def judge_lines(lines: Sequence[LabelledLine], gold: UnitGold) -> list[JudgedLine]:
    """Return the lines of a run for a unit with their labels and values, the highest confidence first.

    Lines of equal confidence keep the order of the file. If several lines are right about the same equivalence class
    (answers with the same meaning), only the best of them counts, and the others are duplicates. Raises InputError if
    assessments of the unit contradict each other.
    """
    assessment_by_key: dict[object, LabelledLine] = {}  # remains empty if the lines of the run have labels
    if gold.rules.key is not None:  # the columns by which answers are matched to assessments
        assessment_by_key = index_assessments(gold, gold.rules.key)
    sorted_lines = sorted(lines, key=_confidence_of_line, reverse=True)
    judgments = [_judge_line(line, gold.rules, assessment_by_key) for line in sorted_lines]
    if len(judgments) < 2:  # the usual case in many runs; a single line cannot be a duplicate
        return judgments
    return _mark_duplicates(judgments, gold.rules.value_by_label[DUPLICATE])


def _judge_line(line: LabelledLine, rules: Rules, assessment_by_key: Mapping[object, LabelledLine]) -> JudgedLine:
    """Return a line of a run with its label and its value, as if it were the only line of its unit.

    A line with its own label keeps that label. This applies to every line of a run without assessments, and to lines
    that an analysis has corrected. Any other line gets the label of its assessment, or `UNASSESSED` if it has no
    assessment.
    """
    match_columns = rules.key  # such as "answer+evidence"; None if lines of runs have labels of their own
    if match_columns is None or line.label:
        return JudgedLine(line, line.label, rules.value_by_label[line.label], class_name_of(line, match_columns))
    assessment = assessment_by_key.get(key_of_line(line, match_columns))
    if assessment is None:
        return JudgedLine(line, UNASSESSED, rules.value_by_label[UNASSESSED], None)
    value = rules.value_by_label[assessment.label]
    return JudgedLine(line, assessment.label, value, class_name_of(assessment, match_columns), assessment)


def _mark_duplicates(judgments: list[JudgedLine], value_of_duplicate: Value) -> list[JudgedLine]:
    """Return the judged lines of a unit, in which every line of a class except the best one is a duplicate.

    The best line of a class is the first line with the highest value. Lines that count nothing, because they are wrong,
    ignored or unassessed, are not duplicates and are returned unchanged.
    """
    best_judgment_by_class = _best_judgments(judgments)
    marked_lines = []
    for judgment in judgments:
        best_judgment = None
        if judgment.class_name is not None:
            best_judgment = best_judgment_by_class.get(judgment.class_name)
        if best_judgment is None or best_judgment is judgment or not judgment.value:
            marked_lines.append(judgment)
        else:
            duplicate = judgment._replace(label=DUPLICATE, value=value_of_duplicate, better_line=best_judgment.line)
            marked_lines.append(duplicate)
    return marked_lines


def _best_judgments(judgments: Sequence[JudgedLine]) -> dict[str, JudgedLine]:
    """Return the best judged line of each class: the first line with the highest value above 0.

    Unassessed lines belong to no class and are left out.
    """
    best_judgment_by_class: dict[str, JudgedLine] = {}
    highest_value_by_class: dict[str, float] = {}
    for judgment in judgments:
        name = judgment.class_name
        if name is None or not judgment.value:
            continue
        if judgment.value > highest_value_by_class.get(name, 0.0):
            highest_value_by_class[name] = judgment.value
            best_judgment_by_class[name] = judgment
    return best_judgment_by_class


def unassessed_lines(lines: Sequence[LabelledLine], gold: UnitGold) -> list[LabelledLine]:
    """Return the lines of a run for a unit that have no assessment, the highest confidence first."""
    return [judgment.line for judgment in judge_lines(lines, gold) if judgment.label == UNASSESSED]


def gold_with_unassessed_accepted(lines: Sequence[LabelledLine], gold: UnitGold) -> UnitGold:
    """Return the gold of a unit as if an assessor had judged all unassessed answers of a run as right.

    `lines` are the answers of the run for the unit. Each unassessed answer becomes an equivalence class of its own. The
    number of answers that the unit wants grows by the number of these classes.
    """
    new_assessments = []
    for line in unassessed_lines(lines, gold):
        class_name = f"(unassessed answer in line {line.number})"
        assessment = LabelledLine(
            number=0, answer=line.answer, evidence=line.evidence, label=gold.rules.accepted_label, class_name=class_name
        )
        new_assessments.append(assessment)
    wanted_count = gold.wanted_count
    if wanted_count is not None:
        wanted_count += len(new_assessments)
    return replace(gold, lines=[*gold.lines, *new_assessments], wanted_count=wanted_count)


# ---- The answers that a unit wants, and its counts

_LARGEST_ROUNDING_ERROR: Final = 1e-9
"""The largest relative difference between two sums of weights that counts as a rounding error."""


def weight_by_class(gold: UnitGold) -> dict[str, float]:
    """Return the weight of each equivalence class of a unit, by the name of the class, such as `{"Paris": 1.0}`.

    A class has weight 1 if no assessment gives it a weight. A class that an assessment names belongs to the unit,
    whatever the label of the assessment. An answer without a class name forms a class of its own if the value of its
    label is greater than 0. Raises InputError if two assessments give a class different weights.
    """
    weight_by_name: dict[str, float | None] = {}
    for line in gold.lines:
        if not _has_wanted_class(line, gold.rules):
            continue
        name = class_name_of(line, gold.rules.key)
        # Until a line gives a weight, it does not matter whether this is the first line of the class.
        earlier_weight = weight_by_name.get(name)
        if earlier_weight is None:
            weight_by_name[name] = line.weight
        elif line.weight is not None and line.weight != earlier_weight:
            raise _different_weights_error(name, line, earlier_weight, gold)
    return {name: 1.0 if weight is None else weight for name, weight in weight_by_name.items()}


def _different_weights_error(name: str, line: LabelledLine, earlier_weight: float, gold: UnitGold) -> InputError:
    """Return the error about a class that has another weight in a line of assessments than in an earlier line."""
    problem = f"class {quoted(name)} has weight {line.weight:g} here and {earlier_weight:g} above"
    place = f"line {line.number}, unit {quoted(gold.unit)}"
    return InputError(problem, file=gold.rules.file, place=place, remedy="correct one of the two")


def _has_wanted_class(assessment: LabelledLine, rules: Rules) -> bool:
    """Return whether a run is expected to answer with the equivalence class of an assessment.

    This holds if the assessment names a class, or if its label makes an answer right or partly right. It always holds
    if answers are matched to assessments by their unit alone (the key is "unit").
    """
    if rules.key == "unit":  # all answers of a unit belong to one class, even the wrong ones
        return True
    is_right_or_partly_right = bool(rules.value_by_label[assessment.label])  # 1 or 0.5, not 0 or None
    return bool(assessment.class_name) or is_right_or_partly_right


def recall_divisor(gold: UnitGold, weights: Mapping[str, float]) -> float:
    """Return the divisor of recall: the number of answers that a unit wants, or the sum of the weights of its classes.

    `weights` holds the weight of each class, from `weight_by_class`. If the file has a column `wanted`, the number in
    that column is returned. Otherwise the divisor is the sum of the weights if the classes of the unit are known in
    advance, and 1 if they are not. They are not known if the lines of the run have labels, or if assessments apply to a
    whole unit (the key is "unit").
    """
    if gold.wanted_count is not None:
        return gold.wanted_count
    has_known_classes = not gold.rules.run_has_labels and gold.rules.key != "unit"
    if not has_known_classes:
        return 1
    return sum(weights.values())


class _LineCount(NamedTuple):
    """The contribution of a line to the counts of its unit.

    `found_weight` is the weight of the class that the line finds, or 0 if it does not find one. `reserved_label` is
    `UNASSESSED` or `DUPLICATE`, the labels that cs-score itself assigns. It is empty for a line whose label comes from
    a file.
    """

    value: Value
    found_weight: float
    reserved_label: str


def count_unit(judgments: Sequence[JudgedLine], gold: UnitGold) -> UnitCount:
    """Return the counts of a unit, given its judged lines sorted by confidence, the highest first.

    Raises InputError if the lines find more answers than the unit wants.
    """
    weights = weight_by_class(gold)
    wanted = recall_divisor(gold, weights)  # a number of answers, or the sum of the weights of the unit's classes
    line_counts = [_count_line(judgment, weights) for judgment in judgments]
    unit_count = _add_up(line_counts, wanted)
    if unit_count.found > wanted * (1 + _LARGEST_ROUNDING_ERROR):
        raise _too_many_found_error(unit_count, gold)
    return unit_count


def _too_many_found_error(unit_count: UnitCount, gold: UnitGold) -> InputError:
    """Return the error about a unit whose answers find more classes, or more weight, than the unit wants."""
    remedy = "correct `wanted`" if gold.rules.has_wanted_column else "add a column `wanted`"
    problem = f"unit {quoted(gold.unit)}: {unit_count.found:g} found where {unit_count.wanted:g} is wanted"
    return InputError(problem, file=gold.rules.file, remedy=remedy)


def _count_line(judgment: JudgedLine, weights: Mapping[str, float]) -> _LineCount:
    """Return the contribution of a judged line to the counts of its unit.

    A line that is at least half right finds its class, unless a better line of the unit finds this class. `weights`
    holds the weight of each class by its name; a class that is not in it has weight 1.
    """
    found_weight = 0.0
    if judgment.finds_class:
        found_weight = weights.get(judgment.class_name or "", 1.0)
    reserved_label = judgment.label if judgment.label in RESERVED_LABELS else ""
    return _LineCount(judgment.value, found_weight, reserved_label)


def _add_up(line_counts: Sequence[_LineCount], wanted: float) -> UnitCount:
    """Return the counts of a unit, given the contributions of its lines sorted by confidence, the highest first.

    `wanted` is the number of answers that the unit wants, or the sum of the weights of its classes. If it is 0, the
    precision, recall and F1 of the unit are 0, so the unit adds nothing to macro averages.
    """
    # The value of an ignored line is None. UNASSESSED and DUPLICATE are the reserved labels.
    values = [line_count.value for line_count in line_counts if line_count.value is not None]
    reserved_labels = [line_count.reserved_label for line_count in line_counts]
    right = sum(values, 0.0)
    found_weight = _sum_of_found_weights(line_counts)
    precision = divide(right, len(values))
    recall = divide(found_weight, wanted)
    return UnitCount(
        right=right,
        answered=len(values),
        found=found_weight,
        wanted=wanted,
        precision=precision if wanted else 0.0,
        recall=recall,
        f1=f1(precision, recall) if wanted else 0.0,
        average_precision=divide(_sum_of_precisions(values), wanted),
        is_wanting=int(wanted > 0),
        is_answered=int(bool(values)),
        units=1,
        lines_right=values.count(1.0),
        lines_half=values.count(0.5),
        lines_wrong=values.count(0.0),
        lines_ignored=len(line_counts) - len(values),
        unassessed=reserved_labels.count(UNASSESSED),
        duplicates=reserved_labels.count(DUPLICATE),
    )


def _sum_of_found_weights(line_counts: Iterable[_LineCount]) -> float:
    """Return the sum of the weights that the lines of a unit find.

    A line that is half right finds only half of the weight of its class.
    """
    found_weight = 0.0
    for line_count in line_counts:
        if line_count.value is not None:
            found_weight += line_count.value * line_count.found_weight
    return found_weight


def _sum_of_precisions(values: Iterable[float]) -> float:
    """Return the sum of the precision at each line of a unit that is at least half right: [1, 0, 0.5] -> 1 + 0.5.

    `values` holds the value of each line that is not ignored, the highest confidence first. The precision at a line is
    the sum of the values up to this line, divided by their number.
    """
    right = 0.0
    precision_sum = 0.0
    for rank, value in enumerate(values, start=1):
        if value:
            right += value
            precision_sum += right / rank
    return precision_sum


def key_of_counts(lines: Sequence[LabelledLine], gold: UnitGold) -> object:
    """Return a key for a unit with a single answer; units with the same key have the same counts.

    The key allows the counts to be computed only once for all these units. It is a tuple of the values on which the
    counts depend. `lines` are the answers of a run for the unit. Returns None for a unit with more than one answer or
    assessment, since hardly any other unit would have the same key.
    """
    if len(lines) > 1 or len(gold.lines) > 1:
        return None
    has_answer = bool(lines)
    match_columns = gold.rules.key  # such as "answer+evidence"; None if lines of runs have labels of their own
    if match_columns is None or not gold.lines:
        # The answer has no assessment: only its own label and the number of wanted answers matter.
        label_of_answer = lines[0].label if has_answer else ""
        return has_answer, label_of_answer, gold.wanted_count
    # The answer may belong to the only assessment of the unit. Only the label, the class and the weight of this
    # assessment matter, and whether the answer belongs to it.
    assessment = gold.lines[0]
    is_assessed = has_answer and key_of_line(lines[0], match_columns) == key_of_line(assessment, match_columns)
    has_class = bool(assessment.class_name)
    return has_answer, is_assessed, assessment.label, has_class, assessment.weight, gold.wanted_count
