"""What is wrong in the answers of a unit, and the answers without it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from cs_score.base.records import replace
from cs_score.evidence.mode import Fault, Part
from cs_score.judged.counting import JudgedLine, UnitGold, class_of, classes_of, wanted_of
from cs_score.judged.lines import Line
from cs_score.judged.policy import DUPLICATE, RESERVED, UNASSESSED, Policy

WRONG: Final = "wrong_answer"
HALF: Final = "half"
REPEATED: Final = "duplicate"
NOT_ASSESSED: Final = "unassessed"
MISSED: Final = "missed_class"

SIDES: Final = {1.0: "right", 0.5: "half", 0.0: "wrong", None: "ignored"}
"""What texts call the values of lines."""


def kinds_of(policy: Policy) -> tuple[str, ...]:
    """Return the kinds of mistakes in the order of the error budget: first one for each label on the wrong side."""
    labels = [label for label in policy.labels_on("wrong") if label not in RESERVED]
    return (*(f"{WRONG}:{label}" for label in labels), HALF, REPEATED, NOT_ASSESSED, MISSED)


def parts_of(judgments: Sequence[JudgedLine], gold: UnitGold) -> Iterator[Part]:
    """Yield the answers of a unit that count, and the classes that it wants, each with what is wrong in it."""
    for line in judgments:
        if line.value is None:
            continue
        yield Part(
            what="answer",
            value=_answer(line.line),
            right=line.value > 0,
            judgment=f"{line.label}, {SIDES[line.value]}",
            faults=_faults_of_line(line),
        )
    classes_found = _classes_found(judgments)
    fault_by_class = {fault.part: fault for fault in _missed(classes_found, gold)}
    for name in classes_of(gold):
        faults = (fault_by_class[name],) if name in fault_by_class else ()
        yield Part("class", name, name in classes_found, "found" if name in classes_found else None, faults)
    if None in fault_by_class:
        yield Part("class", None, False, None, (fault_by_class[None],))


def _answer(line: Line) -> dict[str, Any]:
    """Return an answer as documents have it."""
    return {"answer": line.answer, "evidence": line.evidence} if line.evidence else {"answer": line.answer}


def _faults_of_line(judgment: JudgedLine) -> tuple[Fault, ...]:
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
    return (Fault(kind, judgment.line.number, {**_answer(judgment.line), "label": judgment.label}, None),)


def _classes_found(judgments: Iterable[JudgedLine]) -> frozenset[str]:
    names = [
        line.class_name for line in judgments if line.value and line.better is None and line.class_name is not None
    ]
    return frozenset(names)


def _missed(found: frozenset[str], gold: UnitGold) -> Iterator[Fault]:
    """Yield a fault for each class that is wanted and not found; a last one for answers that no class names."""
    classes = classes_of(gold)
    answers_without_class = 0
    names = [name for name in classes if name not in found and name]
    if not gold.rules.has_weights:
        classes_lacking = int(wanted_of(gold, classes)) - len(found)
        names = names[: max(classes_lacking, 0)]
        answers_without_class = max(classes_lacking - len(names), 0)
    for name in names:
        yield Fault(MISSED, name, None, {"class": name, **_accepted_answer(name, gold)})
    if answers_without_class:
        yield Fault(MISSED, None, None, {"answers": answers_without_class})


def _accepted_answer(name: str, gold: UnitGold) -> dict[str, Any]:
    """Return the first accepted answer of a class; nothing where there is none."""
    rules = gold.rules
    for line in gold.lines:
        if rules.values[line.label] and class_of(line, rules.key) == name:
            return _answer(line)
    return {}


# ---- Answers without what is wrong in them


def corrected_lines(lines: Sequence[Line], faults: Iterable[Fault], gold: UnitGold) -> list[Line]:
    """Return the lines of a unit without these faults.

    What counts as wrong is left out, what counts half gets the label of a right answer, and for a missed class a line
    with that label is added behind all others.
    """
    numbers_left_out = set()
    numbers_accepted = set()
    new_lines = []
    for fault in faults:
        if fault.kind == MISSED:
            new_lines += _lines_for(fault, gold)
        elif fault.kind == HALF:
            numbers_accepted.add(fault.part)
        else:
            numbers_left_out.add(fault.part)
    label = gold.rules.accepted
    last = min((line.confidence for line in lines), default=1.0)
    lines_corrected = []
    for line in lines:
        if line.number and line.number in numbers_left_out:
            continue
        if line.number and line.number in numbers_accepted:
            line = replace(line, label=label, class_name=_class_in(line, gold))
        lines_corrected.append(line)
    for line in new_lines:
        lines_corrected.append(replace(line, label=label, confidence=last))
    return lines_corrected


def _class_in(line: Line, gold: UnitGold) -> str:
    """Return the class that a line of the run is judged to have."""
    if line.class_name or gold.rules.key is None:
        return line.class_name
    for assessment in gold.lines:
        if assessment.answer == line.answer and (gold.rules.key == "answer" or assessment.evidence == line.evidence):
            return assessment.class_name
    return ""


def _lines_for(fault: Fault, gold: UnitGold) -> list[Line]:
    """Return the lines that find what was missed."""
    if isinstance(fault.part, str):
        wanted = fault.gold
        return [Line(0, wanted.get("answer", fault.part), wanted.get("evidence", ""), class_name=fault.part)]
    return [Line(0, f"(answer {number + 1} that is wanted)") for number in range(fault.gold["answers"])]
