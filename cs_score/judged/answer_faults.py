"""Find the faults of the answers of a unit, such as wrong answers and missed classes, and correct them.
A unit is a question, claim or topic. Its answers are lines of a run. It requires an answer for each of its equivalence
classes, which hold answers that mean the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from cs_score.base.records import replace
from cs_score.evidence.mode import Fault, Part
from cs_score.judged.counting import JudgedLine, UnitGold, class_name_of, recall_divisor, weight_by_class
from cs_score.judged.labelled_lines import LabelledLine
from cs_score.judged.policy import DUPLICATE, RESERVED_LABELS, UNASSESSED, LabelPolicy

WRONG_ANSWER: Final = "wrong_answer"
HALF_RIGHT_ANSWER: Final = "half"
DUPLICATE_ANSWER: Final = "duplicate"
UNASSESSED_ANSWER: Final = "unassessed"
MISSED_CLASS: Final = "missed_class"

SIDE_BY_VALUE: Final = {1.0: "right", 0.5: "half", 0.0: "wrong", None: "ignored"}
"""The side of the policy to which a line belongs, in words, by the value of the line."""


def fault_kinds_of(policy: LabelPolicy) -> tuple[str, ...]:
    """Return the kinds of faults, in the order in which an analysis corrects them one after the other.

    Each label that the policy counts as wrong makes a kind of its own. If INCORRECT is the only such label, the kinds
    are "wrong_answer:INCORRECT", "half", "duplicate", "unassessed" and "missed_class".
    """
    wrong_kinds = [f"{WRONG_ANSWER}:{label}" for label in policy.labels_on("wrong") if label not in RESERVED_LABELS]
    return (*wrong_kinds, HALF_RIGHT_ANSWER, DUPLICATE_ANSWER, UNASSESSED_ANSWER, MISSED_CLASS)


def parts_of(judgments: Sequence[JudgedLine], gold: UnitGold) -> Iterator[Part]:
    """Yield the answers of a unit that are not ignored, then its equivalence classes, each with its faults.

    `judgments` are the answers of the run with their labels and values. A unit may require more answers than there are
    classes in its assessments, for example, three answers if the only classes are Paris and Rome. If the third answer
    is missing, a final part without a class name has the fault.
    """
    for judgment in judgments:
        is_ignored = judgment.value is None
        if not is_ignored:
            yield _answer_part(judgment)
    yield from _class_parts(_classes_found(judgments), gold)


def _answer_part(judgment: JudgedLine) -> Part:
    """Return an answer of a unit with its judgment, such as "CORRECT, right", and its fault, if any.

    The answer must not be ignored, so the value of the judged line is 0, 0.5 or 1. A right answer has no fault.
    """
    return Part(
        noun="answer",
        value=_answer_and_evidence(judgment.line),
        is_right=bool(judgment.value),
        judgment=f"{judgment.label}, {SIDE_BY_VALUE[judgment.value]}",
        faults=_faults_of_line(judgment),
    )


def _class_parts(classes_found: frozenset[str], gold: UnitGold) -> Iterator[Part]:
    """Yield each equivalence class of a unit, which is right if an answer finds it.

    A unit may require more answers than it has classes. If any of these additional answers are missing, they are
    represented by a final part without a name.
    """
    fault_by_class = {fault.part: fault for fault in _faults_of_missed_classes(classes_found, gold)}
    for name in weight_by_class(gold):
        if name in classes_found:
            yield Part(noun="class", value=name, is_right=True, judgment="found")
        else:
            yield _missed_class_part(name, fault_by_class.get(name))
    fault_without_class = fault_by_class.get(None)  # for answers that are required in addition to the known classes
    if fault_without_class is not None:
        yield _missed_class_part(None, fault_without_class)


def _missed_class_part(class_name: str | None, fault: Fault | None) -> Part:
    """Return an equivalence class that no answer finds, with its fault if the unit requires the class."""
    faults = () if fault is None else (fault,)
    return Part(noun="class", value=class_name, is_right=False, judgment=None, faults=faults)


def _answer_and_evidence(line: LabelledLine) -> dict[str, Any]:
    """Return the answer of a line and its evidence as a JSON object: `{"answer": "Paris", "evidence": "d07:60-110"}`.

    The object has no key `evidence` if the line has no evidence.
    """
    if line.evidence:
        return {"answer": line.answer, "evidence": line.evidence}
    return {"answer": line.answer}


def _faults_of_line(judgment: JudgedLine) -> tuple[Fault, ...]:
    """Return a tuple with the fault of an answer that counts less than 1.

    The tuple is empty if the answer counts 1 or is ignored.
    """
    if judgment.value is None or judgment.value == 1:
        return ()
    kind = HALF_RIGHT_ANSWER if judgment.value > 0 else _kind_of_wrong_answer(judgment.label)
    predicted_answer = {**_answer_and_evidence(judgment.line), "label": judgment.label}
    return (Fault(kind=kind, part=judgment.line.number, predicted=predicted_answer, gold=None),)


def _kind_of_wrong_answer(label: str) -> str:
    """Return the kind of the fault of an answer that counts 0: "duplicate", "unassessed" or "wrong_answer:INCORRECT".

    `label` is the label of the judged answer.
    """
    if label == DUPLICATE:
        return DUPLICATE_ANSWER
    if label == UNASSESSED:
        return UNASSESSED_ANSWER
    return f"{WRONG_ANSWER}:{label}"


def _classes_found(judgments: Iterable[JudgedLine]) -> frozenset[str]:
    """Return the names of the equivalence classes that the answers of a unit find. A duplicate finds no class."""
    names = set()
    for judgment in judgments:
        if judgment.finds_class and judgment.class_name is not None:
            names.add(judgment.class_name)
    return frozenset(names)


def _faults_of_missed_classes(classes_found: frozenset[str], gold: UnitGold) -> Iterator[Fault]:
    """Yield a fault for each required class that no answer finds, in the order of the assessments.

    If a unit requires fewer answers than it has classes, there are only as many faults as missing answers. If it
    requires more answers than it has classes, a final fault without a class name gives the number of additional answers
    that are missing.
    """
    # The class of a whole unit has an empty name and is not a class to be found.
    missed_classes = [name for name in weight_by_class(gold) if name and name not in classes_found]
    missing_answer_count = _count_missing_answers(len(missed_classes), len(classes_found), gold)
    for name in missed_classes[:missing_answer_count]:
        missing_answer = {"class": name, **_accepted_answer(name, gold)}
        yield Fault(kind=MISSED_CLASS, part=name, predicted=None, gold=missing_answer)
    further_answer_count = missing_answer_count - len(missed_classes)
    if further_answer_count > 0:
        yield Fault(kind=MISSED_CLASS, part=None, predicted=None, gold={"answers": further_answer_count})


def _count_missing_answers(missed_class_count: int, found_class_count: int, gold: UnitGold) -> int:
    """Return how many answers a unit requires in addition to the classes that its answers find.

    A unit whose classes have weights requires exactly these classes.
    """
    if gold.rules.has_weight_column:
        return missed_class_count
    wanted_count = int(recall_divisor(gold, weight_by_class(gold)))
    return max(wanted_count - found_class_count, 0)


def _accepted_answer(class_name: str, gold: UnitGold) -> dict[str, Any]:
    """Return the first assessed answer of a class that counts more than 0, with its evidence, as a JSON object.

    The object is empty if no answer of the class counts more than 0.
    """
    rules = gold.rules
    for line in gold.lines:
        if rules.value_by_label[line.label] and class_name_of(line, rules.key) == class_name:
            return _answer_and_evidence(line)
    return {}


# ---- Answers without their faults


def corrected_lines(lines: Sequence[LabelledLine], faults: Iterable[Fault], gold: UnitGold) -> list[LabelledLine]:
    """Return the lines of a run for a unit after correcting these faults.

    Wrong answers, duplicates and unassessed answers are removed. A half right answer is given the label of a right
    answer. For each missed class, a new line with this label is added at the end. An analysis corrects several kinds of
    faults one after the other. Lines added by an earlier correction have the number 0, and are left unchanged.
    """
    new_lines = []
    kind_by_number: dict[object, str] = {}  # the kind of fault of each line, by the number of the line
    for fault in faults:
        line_number = fault.part  # or the name of the class if it was missed
        if fault.kind == MISSED_CLASS:
            new_lines += _lines_for_missed_class(fault)
        elif line_number != 0:  # lines added by an earlier correction are right
            kind_by_number[line_number] = fault.kind
    return _apply_corrections(lines, kind_by_number, gold) + _add_right_labels(new_lines, lines, gold)


def _apply_corrections(
    lines: Iterable[LabelledLine], kind_by_number: Mapping[object, str], gold: UnitGold
) -> list[LabelledLine]:
    """Return the lines of a run for a unit without the wrong lines, and with half right lines made right.

    `kind_by_number` maps the number of each line with a fault to the kind of fault, such as {7: "half"}. All other
    lines are right.
    """
    corrected = []
    for line in lines:
        kind = kind_by_number.get(line.number)
        if kind is None:
            corrected.append(line)
        elif kind == HALF_RIGHT_ANSWER:
            corrected.append(_as_right_line(line, gold))
    return corrected


def _as_right_line(line: LabelledLine, gold: UnitGold) -> LabelledLine:
    """Return a half right line of a run as a right one of the same equivalence class."""
    return replace(line, label=gold.rules.accepted_label, class_name=_judged_class(line, gold))


def _add_right_labels(
    new_lines: Iterable[LabelledLine], lines: Sequence[LabelledLine], gold: UnitGold
) -> list[LabelledLine]:
    """Return new lines for a unit with the label of a right answer and the lowest confidence of its other `lines`."""
    lowest_confidence = min([line.confidence for line in lines], default=1.0)
    right_label = gold.rules.accepted_label
    return [replace(line, label=right_label, confidence=lowest_confidence) for line in new_lines]


def _judged_class(line: LabelledLine, gold: UnitGold) -> str:
    """Return the name of the equivalence class that is given by a line of a run or by its assessment.

    The name is empty if neither the line nor its assessment gives a class. The assessment of a line has the same answer
    and the same evidence, but the evidence is ignored if the rules match lines by their answers alone (the key
    "answer").
    """
    if line.class_name or gold.rules.run_has_labels:  # lines with their own labels have no assessments
        return line.class_name
    is_answer_enough = gold.rules.key == "answer"
    for assessment in gold.lines:
        has_same_answer = assessment.answer == line.answer
        has_same_evidence = assessment.evidence == line.evidence
        if has_same_answer and (has_same_evidence or is_answer_enough):
            return assessment.class_name
    return ""


def _lines_for_missed_class(fault: Fault) -> list[LabelledLine]:
    """Return new lines of a run, still without a label, that correct the fault of a missed class.

    If the part of the fault is the name of a class, one line is returned. Otherwise, the part is None, and the fault
    gives the number of additional answers that the unit requires. A line is returned for each of these answers.
    """
    names_class = isinstance(fault.part, str)
    if names_class:
        class_name = str(fault.part)
        answer = fault.gold.get("answer", class_name)
        evidence = fault.gold.get("evidence", "")
        return [LabelledLine(number=0, answer=answer, evidence=evidence, class_name=class_name)]
    answer_count = fault.gold["answers"]  # a number
    return [LabelledLine(number=0, answer=f"(answer {rank} that is wanted)") for rank in range(1, answer_count + 1)]
