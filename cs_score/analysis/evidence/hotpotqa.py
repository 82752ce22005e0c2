"""HotpotQA: wrong answers, supporting facts that are extra or missed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from cs_score.analysis.evidence.task import EvidenceTask
from cs_score.base.errors import InputError
from cs_score.evidence.hotpotqa import (
    MODE,
    FactKey,
    HotpotQAResult,
    Question,
    count,
    fact_key,
    fact_set,
    normalised,
    read_gold,
    score,
)
from cs_score.evidence.reading import as_key, text_of
from cs_score.tasks.task import NONE, Confusion, Examiner, Fault, Part, Row

WRONG_ANSWER = "wrong_answer"
EXTRA_FACT = "extra_fact"
MISSED_FACT = "missed_fact"

_YES_OR_NO = ("yes", "no")

ANSWER, FACTS = "answer", "sp"
"""The keys of the predictions file, and those of the prediction of one question."""


class HotpotQAExaminer(Examiner[HotpotQAResult]):
    """The faults of answers and supporting facts; a question's prediction is an object with `answer` and `sp`.

    A question that gold repeats has one prediction, which is corrected as its first occurrence has it.
    """

    kinds: ClassVar[tuple[str, ...]] = (WRONG_ANSWER, EXTRA_FACT, MISSED_FACT)

    def together(self) -> Sequence[tuple[int, ...]]:
        positions: dict[Hashable, list[int]] = {}
        for position, question in enumerate(self.result.questions):
            positions.setdefault(as_key(question.id), []).append(position)
        return [tuple(of_question) for of_question in positions.values()]

    def unit(self, position: int) -> object:
        return self.result.questions[position].id

    def written(self, position: int) -> object:
        question = self.result.questions[position].id
        given = ((ANSWER, self.result.answers), (FACTS, self.result.facts))
        return {key: values[question] for key, values in given if question in values} or None

    def row(self, position: int, prediction: Any) -> Row:
        question = self.result.questions[position]
        given = prediction or {}
        answers, facts = ({question.id: given[key]} if key in given else {} for key in (ANSWER, FACTS))
        return count(question, answers, facts, self.result.names)

    def parts(self, position: int, prediction: Any) -> Iterator[Part]:
        question, given = self.result.questions[position], prediction or {}
        can_be_predicted = isinstance(question.id, str)  # keys of JSON are text

        def part(what: str, value: Any, right: bool, judgment: str | None, fault: Fault) -> Part:
            return Part(what, value, right, judgment, () if right or not can_be_predicted else (fault,))

        answer, gold = given.get(ANSWER), _gold_answer(question)
        if gold is not None:
            right = answer is not None and normalised(answer) == normalised(gold)
            yield part("answer", gold, right, answer, Fault(WRONG_ANSWER, ANSWER, answer, gold))
        wanted, predicted = _gold_facts(question), _once(given.get(FACTS, []))
        for key, fact in wanted.items():
            judgment = "supports" if key in predicted else None
            yield part("fact", fact, key in predicted, judgment, Fault(MISSED_FACT, FACTS, None, fact))
        for key, fact in predicted.items():
            if key not in wanted:
                yield part("fact", fact, False, "not in gold", Fault(EXTRA_FACT, FACTS, fact, None))

    def corrected(self, position: int, prediction: Any, faults: Iterable[Fault]) -> object:
        given = dict(prediction or {})
        missed: list[object] = []
        extra: list[Any] = []
        for fault in faults:
            if fault.kind == WRONG_ANSWER:
                given[ANSWER] = fault.gold
            elif fault.kind == MISSED_FACT:
                missed.append(fault.gold)
            else:
                extra.append(fault.predicted)
        if missed or extra:
            gone = _once(extra)
            given[FACTS] = [fact for fact in given.get(FACTS, ()) if fact_key(fact) not in gone] + missed
        return given

    def groups(self, position: int) -> Mapping[str, str]:
        question = self.result.questions[position]
        groups = {str(key): text_of(question.fields[key]) for key in ("type", "level") if key in question.fields}
        answer = _gold_answer(question)
        if answer is not None:
            kind = _kind(answer)
            groups["answer_kind"] = "yes/no" if kind in _YES_OR_NO else kind
        return {**groups, "supporting_facts": str(len(_gold_facts(question)))}

    def confusions(self, position: int) -> Iterator[Confusion]:
        question = self.result.questions[position]
        gold, predicted = _gold_answer(question), self.result.answers.get(question.id)
        shown = _kind(predicted) if isinstance(predicted, str) else NONE
        yield Confusion("answer", NONE if gold is None else _kind(gold), shown)


def _once(facts: object) -> dict[FactKey, list[object]]:
    """Facts in their order by what they are compared by."""
    listed: Any = facts
    found: dict[FactKey, list[object]] = {}
    for fact in listed:
        found.setdefault(fact_key(fact), fact)
    return found


def _gold_answer(question: Question) -> str | None:
    """Gold's answer; None where it has none that can be predicted."""
    answer = question.fields.get("answer")
    return answer if isinstance(answer, str) else None


def _gold_facts(question: Question) -> Mapping[FactKey, list[object]]:
    """Gold's facts in their order; none where they cannot be read, which is no error while nothing is predicted."""
    facts = question.fields.get("supporting_facts", [])
    try:
        fact_set(facts)
    except InputError:
        return {}
    return _once(facts)


def _kind(answer: str) -> str:
    """What kind of answer a text is: yes, no, number (digits alone, once punctuation is gone) or other."""
    text = normalised(answer)
    if text in _YES_OR_NO:
        return text
    return "number" if text.replace(" ", "").isdecimal() else "other"


TASK = EvidenceTask(
    MODE,
    read_gold,
    score,
    HotpotQAExaminer,
    "Score HotpotQA answers, supporting facts, and both jointly",
    "Gold is the corpus's JSON list of questions; predictions hold answers and supporting facts by question id under "
    'the keys "answer" and "sp".',
)
