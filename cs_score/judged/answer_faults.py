"""Find the faults of the answers of a unit, such as wrong answers and missed classes, and correct them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from cs_score.base.records import replace
from cs_score.evidence.mode import Fault, Part
from cs_score.judged.counting import JudgedLine, UnitGold, class_name_of, wanted_answers_or_weight, weight_by_class
from cs_score.judged.labelled_lines import LabelledLine
from cs_score.judged.policy import DUPLICATE, RESERVED_LABELS, UNASSESSED, LabelPolicy

WRONG_ANSWER: Final = "wrong_answer"
HALF_RIGHT_ANSWER: Final = "half"
DUPLICATE_ANSWER: Final = "duplicate"
UNASSESSED_ANSWER: Final = "unassessed"
MISSED_CLASS: Final = "missed_class"

SIDE_BY_VALUE: Final = {1.0: "right", 0.5: "half", 0.0: "wrong", None: "ignored"}
"""The side of the policy to which a line belongs, in words, by the value of the line."""


def kinds_of(policy: LabelPolicy) -> tuple[str, ...]:
    """Return the kinds of faults, in the order in which the error budget corrects them.

    Each label that the policy counts as wrong makes a kind of its own. If INCORRECT is the only such label, the kinds
    are "wrong_answer:INCORRECT", "half", "duplicate", "unassessed" and "missed_class".
    """
    wrong_kinds = [f"{WRONG_ANSWER}:{label}" for label in policy.labels_on("wrong") if label not in RESERVED_LABELS]
    return (*wrong_kinds, HALF_RIGHT_ANSWER, DUPLICATE_ANSWER, UNASSESSED_ANSWER, MISSED_CLASS)


def parts_of(judgments: Sequence[JudgedLine], gold: UnitGold) -> Iterator[Part]:
    """Yield the answers of a unit that are not ignored, then its equivalence classes, each with its faults.

    A unit may want more answers than its assessments have classes. If some of these further answers are missing, a last
    part without a name has the fault.
    """
    for judgment in judgments:
        if judgment.value is None:
            continue
        yield Part(
            noun="answer",
            value=_answer_and_evidence(judgment.line),
            is_right=judgment.value > 0,
            judgment=f"{judgment.label}, {SIDE_BY_VALUE[judgment.value]}",
            faults=_faults_of_line(judgment),
        )
    classes_found = _classes_found(judgments)
    fault_by_class = {fault.part: fault for fault in _faults_of_missed_classes(classes_found, gold)}
    for name in weight_by_class(gold):
        if name in classes_found:
            yield Part(noun="class", value=name, is_right=True, judgment="found")
        else:
            faults = (fault_by_class[name],) if name in fault_by_class else ()
            yield Part(noun="class", value=name, is_right=False, judgment=None, faults=faults)
    fault_without_class = fault_by_class.get(None)
    if fault_without_class is not None:
        yield Part(noun="class", value=None, is_right=False, judgment=None, faults=(fault_without_class,))


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
    if judgment.value > 0:
        kind = HALF_RIGHT_ANSWER
    elif judgment.label == DUPLICATE:
        kind = DUPLICATE_ANSWER
    elif judgment.label == UNASSESSED:
        kind = UNASSESSED_ANSWER
    else:
        kind = f"{WRONG_ANSWER}:{judgment.label}"
    predicted_answer = {**_answer_and_evidence(judgment.line), "label": judgment.label}
    return (Fault(kind=kind, part=judgment.line.number, predicted=predicted_answer, gold=None),)


def _classes_found(judgments: Iterable[JudgedLine]) -> frozenset[str]:
    """Return the names of the equivalence classes that the answers of a unit find. A duplicate finds no class."""
    names = set()
    for judgment in judgments:
        finds_class = judgment.value and judgment.better_line is None
        if finds_class and judgment.class_name is not None:
            names.add(judgment.class_name)
    return frozenset(names)


def _faults_of_missed_classes(classes_found: frozenset[str], gold: UnitGold) -> Iterator[Fault]:
    """Yield a fault for each class that a unit wants and no answer finds, in the order of the assessments.

    A unit may want fewer answers than it has classes. There are then only as many faults as answers are missing. It may
    also want more answers than it has classes. A last fault, which names no class, then says how many of these further
    answers are missing.
    """
    weights = weight_by_class(gold)
    missed_classes = [name for name in weights if name and name not in classes_found]
    missed_class_count = len(missed_classes)
    if gold.rules.has_weight_column:  # a unit with weights wants exactly its classes
        missing_answer_count = missed_class_count
    else:
        wanted_count = int(wanted_answers_or_weight(gold, weights))
        missing_answer_count = max(wanted_count - len(classes_found), 0)

    for name in missed_classes[:missing_answer_count]:
        missing_answer = {"class": name, **_accepted_answer(name, gold)}
        yield Fault(kind=MISSED_CLASS, part=name, predicted=None, gold=missing_answer)
    if missing_answer_count > missed_class_count:
        further_answer_count = missing_answer_count - missed_class_count
        yield Fault(kind=MISSED_CLASS, part=None, predicted=None, gold={"answers": further_answer_count})


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
    """Return the lines of a run for a unit, with these faults of the lines corrected.

    Wrong answers, duplicates and unassessed answers are left out. A half right answer gets the label of a right answer.
    For each missed class, a new line with this label is added at the end.
    """
    # The part of a fault of an answer is the number of its line.
    half_right_numbers = set()
    wrong_numbers = set()
    lines_for_missed_classes = []
    for fault in faults:
        if fault.kind == MISSED_CLASS:
            lines_for_missed_classes += _lines_for_missed_class(fault)
        elif fault.kind == HALF_RIGHT_ANSWER:
            half_right_numbers.add(fault.part)
        else:
            wrong_numbers.add(fault.part)

    right_label = gold.rules.accepted_label
    corrected = []
    for line in lines:
        if not line.number:  # an earlier correction has added this line, which is right
            corrected.append(line)
        elif line.number in half_right_numbers:
            corrected.append(replace(line, label=right_label, class_name=_judged_class(line, gold)))
        elif line.number not in wrong_numbers:
            corrected.append(line)
    lowest_confidence = min([line.confidence for line in lines], default=1.0)
    for new_line in lines_for_missed_classes:
        corrected.append(replace(new_line, label=right_label, confidence=lowest_confidence))
    return corrected


def _judged_class(line: LabelledLine, gold: UnitGold) -> str:
    """Return the name of the equivalence class that a line of a run or its assessment gives.

    The name is empty if neither of them gives one.
    """
    key = gold.rules.key
    if line.class_name or key is None:
        return line.class_name
    for assessment in gold.lines:
        has_same_answer = assessment.answer == line.answer
        has_same_evidence = assessment.evidence == line.evidence
        if has_same_answer and (has_same_evidence or key == "answer"):
            return assessment.class_name
    return ""


def _lines_for_missed_class(fault: Fault) -> list[LabelledLine]:
    """Return new lines of a run, still without a label, that correct the fault of a missed class.

    If the fault names a class, there is one line. Otherwise the fault says how many further answers the unit wants, and
    there is a line for each of them.
    """
    class_name = fault.part
    if isinstance(class_name, str):
        answer = fault.gold.get("answer", class_name)
        evidence = fault.gold.get("evidence", "")
        return [LabelledLine(number=0, answer=answer, evidence=evidence, class_name=class_name)]
    answer_count = fault.gold["answers"]
    return [LabelledLine(number=0, answer=f"(answer {rank} that is wanted)") for rank in range(1, answer_count + 1)]
