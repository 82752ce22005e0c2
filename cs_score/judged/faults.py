"""Find the faults of the answers of a unit, such as wrong answers and missed classes, and correct them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from cs_score.base.records import replace
from cs_score.evidence.mode import Fault, Part
from cs_score.judged.counting import JudgedLine, UnitGold, class_name_of, wanted_total, weight_by_class
from cs_score.judged.lines import LabelledLine
from cs_score.judged.policy import DUPLICATE, RESERVED, UNASSESSED, LabelPolicy

WRONG: Final = "wrong_answer"
HALF: Final = "half"
REPEATED: Final = "duplicate"
NOT_ASSESSED: Final = "unassessed"
MISSED: Final = "missed_class"

SIDES: Final = {1.0: "right", 0.5: "half", 0.0: "wrong", None: "ignored"}
"""The sides of a policy, as texts for people name them, by the value of a line."""


def kinds_of(policy: LabelPolicy) -> tuple[str, ...]:
    """Return the kinds of faults in the order of the error budget; each label on the wrong side is a kind of its own.

    With the wrong label INCORRECT they are "wrong_answer:INCORRECT", "half", "duplicate", "unassessed", "missed_class".
    """
    wrong_kinds = [f"{WRONG}:{label}" for label in policy.labels_on("wrong") if label not in RESERVED]
    return (*wrong_kinds, HALF, REPEATED, NOT_ASSESSED, MISSED)


def parts_of(judgments: Sequence[JudgedLine], gold: UnitGold) -> Iterator[Part]:
    """Yield the answers of a unit that are not ignored, then its classes, each with its faults.

    A last class without a name has the fault of wanted answers that no class names, if such answers are missing.
    """
    for judgment in judgments:
        if judgment.value is None:
            continue
        yield Part(
            noun="answer",
            value=_answer_and_evidence(judgment.line),
            is_right=judgment.value > 0,
            judgment=f"{judgment.label}, {SIDES[judgment.value]}",
            faults=_faults_of_line(judgment),
        )
    classes_found = _classes_found(judgments)
    fault_by_class = {fault.part: fault for fault in _faults_of_missed_classes(classes_found, gold)}
    for name in weight_by_class(gold):
        is_found = name in classes_found
        faults = (fault_by_class[name],) if name in fault_by_class else ()
        yield Part("class", name, is_found, "found" if is_found else None, faults)
    if None in fault_by_class:
        yield Part("class", None, False, None, (fault_by_class[None],))


def _answer_and_evidence(line: LabelledLine) -> dict[str, Any]:
    """Return the answer of a line and its evidence, if it has any, as documents have them."""
    if line.evidence:
        return {"answer": line.answer, "evidence": line.evidence}
    return {"answer": line.answer}


def _faults_of_line(judgment: JudgedLine) -> tuple[Fault, ...]:
    """Return the fault of an answer that counts less than 1; none for other answers and those that are ignored."""
    if judgment.value is None or judgment.value == 1:
        return ()
    if judgment.value > 0:
        kind = HALF
    elif judgment.label == DUPLICATE:
        kind = REPEATED
    elif judgment.label == UNASSESSED:
        kind = NOT_ASSESSED
    else:
        kind = f"{WRONG}:{judgment.label}"
    predicted = {**_answer_and_evidence(judgment.line), "label": judgment.label}
    return (Fault(kind, judgment.line.number, predicted, None),)


def _classes_found(judgments: Iterable[JudgedLine]) -> frozenset[str]:
    """Return the names of the classes that the answers of a unit find; duplicates find none."""
    names = set()
    for judgment in judgments:
        finds_class = judgment.value and judgment.better_line is None
        if finds_class and judgment.class_name is not None:
            names.add(judgment.class_name)
    return frozenset(names)


def _faults_of_missed_classes(classes_found: frozenset[str], gold: UnitGold) -> Iterator[Fault]:
    """Yield a fault for each class that a unit wants and no answer finds, in the order of the assessments.

    A unit may want fewer answers than it has classes: then there are no more faults than missing answers. It may also
    want more: then a last fault, without a class, has the number of further answers that are missing.
    """
    classes = weight_by_class(gold)
    missed_names = [name for name in classes if name and name not in classes_found]
    further_answer_count = 0
    if not gold.rules.has_weight_column:
        missing_count = max(int(wanted_total(gold, classes)) - len(classes_found), 0)
        missed_names = missed_names[:missing_count]
        further_answer_count = missing_count - len(missed_names)
    for name in missed_names:
        yield Fault(MISSED, name, None, {"class": name, **_accepted_answer(name, gold)})
    if further_answer_count:
        yield Fault(MISSED, None, None, {"answers": further_answer_count})


def _accepted_answer(class_name: str, gold: UnitGold) -> dict[str, Any]:
    """Return the first assessed answer of a class that counts more than 0, as documents have it; empty without one."""
    rules = gold.rules
    for line in gold.lines:
        if rules.value_by_label[line.label] and class_name_of(line, rules.key) == class_name:
            return _answer_and_evidence(line)
    return {}


# ---- Answers without their faults


def corrected_lines(lines: Sequence[LabelledLine], faults: Iterable[Fault], gold: UnitGold) -> list[LabelledLine]:
    """Return the lines of a run for a unit without these faults.

    Wrong answers, duplicates and unassessed answers are left out. Half right answers get the label of a right answer. A
    missed class gets a new line with that label, after all others.
    """
    numbers_left_out = set()
    numbers_accepted = set()
    new_lines = []
    for fault in faults:
        if fault.kind == MISSED:
            new_lines += _lines_for_missed_class(fault)
        elif fault.kind == HALF:
            numbers_accepted.add(fault.part)
        else:
            numbers_left_out.add(fault.part)
    label = gold.rules.accepted_label
    lowest_confidence = min((line.confidence for line in lines), default=1.0)
    lines_without_faults = []
    for line in lines:
        # Lines that an earlier correction has added have the number 0 and no faults.
        if line.number and line.number in numbers_left_out:
            continue
        if line.number and line.number in numbers_accepted:
            line = replace(line, label=label, class_name=_judged_class(line, gold))
        lines_without_faults.append(line)
    for line in new_lines:
        lines_without_faults.append(replace(line, label=label, confidence=lowest_confidence))
    return lines_without_faults


def _judged_class(line: LabelledLine, gold: UnitGold) -> str:
    """Return the class that a line of a run or its assessment names; an empty text if neither names one."""
    if line.class_name or gold.rules.key is None:
        return line.class_name
    for assessment in gold.lines:
        if assessment.answer == line.answer and (gold.rules.key == "answer" or assessment.evidence == line.evidence):
            return assessment.class_name
    return ""


def _lines_for_missed_class(fault: Fault) -> list[LabelledLine]:
    """Return new lines of a run, still without a label, that find the class or the further answers of a fault."""
    class_name = fault.part
    if isinstance(class_name, str):
        answer = fault.gold.get("answer", class_name)
        return [LabelledLine(0, answer, fault.gold.get("evidence", ""), class_name=class_name)]
    return [LabelledLine(0, f"(answer {number + 1} that is wanted)") for number in range(fault.gold["answers"])]
