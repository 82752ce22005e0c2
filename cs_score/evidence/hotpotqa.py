"""HotpotQA scoring: answers, supporting facts, and both jointly (Yang et al. 2018).

The numbers are those of the official evaluation; section numbers refer to the project's HotpotQA contract.
"""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.runtime import paused_collector
from cs_score.base.sources import Input, Source
from cs_score.evidence import reading
from cs_score.evidence.reading import Gold, plain, quoted
from cs_score.evidence.report import score_lines
from cs_score.evidence.result import Mode, Result, counted, means, report_rows
from cs_score.measures.registry import divide, names
from cs_score.measures.registry import f1 as harmonic_mean
from cs_score.statistics.units import UnitTable

COLUMNS: Final = ("questions", *names("hotpotqa"))

SPECIAL_ANSWERS: Final = frozenset({"yes", "no", "noanswer"})
"""Answers that are right or wrong as a whole."""

NOTICED_IDS: Final = 5
"""Questions without prediction that a notice names."""

_GOLD_KEYS: Final = frozenset({"_id", "answer", "supporting_facts", "type", "level"})
_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")

MODE: Final = Mode(
    name="hotpotqa",
    unit="question",
    columns=COLUMNS,
    formula=means,
    headings=("em", "f1", "prec", "recall"),
    rows=report_rows(("answer", "sp", "joint"), COLUMNS[1:]),
)

FactKey: TypeAlias = tuple[Hashable, ...]
"""A supporting fact as it is compared: the keys (`as_key`) of title and sentence number."""


class Question(NamedTuple):
    """A gold question; of `fields` the official evaluation looks only at those for which there is a prediction."""

    id: Hashable
    fields: reading.Object


class Agreement(NamedTuple):
    """Exact match, F1, precision and recall of one prediction, each 0..1."""

    em: float
    f1: float
    precision: float
    recall: float


NOTHING: Final = Agreement(0.0, 0.0, 0.0, 0.0)
"""What a missing prediction adds."""


class HotpotQAResult(Result):
    """Scores of a HotpotQA run, with the gold questions and the predicted answers and facts by question id."""

    mode: ClassVar[Mode] = MODE

    questions: Sequence[Question]
    answers: Mapping[Any, object]
    facts: Mapping[Any, object]

    def answered(self) -> tuple[str, ...]:
        predicted = {*self.answers, *self.facts}
        return tuple(unit for unit, question in zip(self.table.ids, self.questions) if question.id in predicted)

    def explained(self, position: int) -> list[str]:
        question = self.questions[position]
        row = dict(zip(COLUMNS, self.table.rows[position]))
        return list(explain(question, row, self.answers.get(question.id), self.facts.get(question.id)))


def read_gold(gold: Input | Sequence[object]) -> Gold[list[Question]]:
    """Read gold once, to score many predictions against it. Raises InputError for what is no gold."""
    return reading.read(gold, "gold", _questions)


@paused_collector()
def score(
    gold: Input | Sequence[object] | Gold[list[Question]], predictions: Input | Mapping[str, object]
) -> HotpotQAResult:
    """Score predictions against gold; each is a path, an open file, or the parsed JSON value.

    What is not predicted counts as 0 and stands in the result's notices. Raises InputError for what cannot be scored.
    """
    known = gold if isinstance(gold, Gold) else read_gold(gold)
    given = reading.read(predictions, "predictions", _predictions)
    questions, (answers, facts) = known.content, given.content
    rows = [count(question, answers, facts, (known.name, given.name)) for question in questions]
    notices = []
    for what, predicted in (("answer", answers), ("supporting facts", facts)):
        if missing := [plain(question.id) for question in questions if question.id not in predicted]:
            shown = ", ".join(missing[:NOTICED_IDS]) + (", ..." if len(missing) > NOTICED_IDS else "")
            number = f"{len(missing)} of {counted(len(questions), 'question')}"
            notices.append(f"{given.name}: no {what} for {number}: {shown}")
    return HotpotQAResult.of(
        UnitTable(tuple(reading.text_of(question.id) for question in questions), COLUMNS, rows),
        known,
        given,
        read=(((len(questions), "question"),), ((len(answers), "answer"), (len(facts), "fact list"))),
        notices=tuple(notices),
        questions=questions,
        answers=answers,
        facts=facts,
    )


def _questions(source: Source) -> list[Question]:
    # What is neither scored nor grouped by, nine tenths of the file, is dropped as it is read.
    decoder = json.JSONDecoder(object_pairs_hook=lambda pairs: {key: each for key, each in pairs if key in _GOLD_KEYS})
    questions = []
    for number, value in enumerate(reading.as_list(reading.json_document(source, decoder), "the file"), start=1):
        with reading.located(place={"question number": number}):
            fields = reading.as_object(value, "the question")
            questions.append(Question(reading.identifier(fields, "_id"), fields))
    if not questions:
        raise InputError("no questions, so there is nothing to score")
    return questions


def _predictions(source: Source) -> tuple[reading.Object, reading.Object]:
    fields = reading.as_object(reading.json_document(source), "the file")
    answers = reading.as_object(reading.member(fields, "answer"), "'answer'")
    return answers, reading.as_object(reading.member(fields, "sp"), "'sp'")


def count(
    question: Question, answers: Mapping[Any, object], facts: Mapping[Any, object], files: tuple[str, str]
) -> tuple[float, ...]:
    """The row of one question; `files` are named in the InputError raised where what is compared is malformed."""
    answer = supported = joint = NOTHING
    in_gold, in_predictions = (reading.located(file, {"question": question.id}) for file in files)
    if has_answer := question.id in answers:
        with in_predictions:
            predicted_answer = answer_text(answers[question.id])
        with in_gold:
            gold_answer = answer_text(reading.member(question.fields, "answer"))
        answer = compare_answers(normalised(predicted_answer), normalised(gold_answer))
    if has_facts := question.id in facts:
        with in_predictions:
            predicted = fact_set(facts[question.id])
        with in_gold:
            gold = fact_set(reading.member(question.fields, "supporting_facts"))
        supported = fact_agreement(len(predicted & gold), len(predicted), len(gold))
    if has_answer and has_facts:
        joint = combine(answer, supported)
    return 1, *answer, *supported, *joint


def answer_text(answer: object) -> str:
    """A predicted or gold answer. Raises InputError where it is not text."""
    if not isinstance(answer, str):
        raise InputError(f"answer is not text but {reading.kind_of(answer)}")
    return answer


def normalised(answer: str) -> str:
    """An answer as it is compared: lower case, without ASCII punctuation, articles and spare space (section 3)."""
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def compare_answers(predicted: str, gold: str) -> Agreement:
    """How well a predicted answer agrees with the gold answer, both normalised (section 3)."""
    em = float(predicted == gold)
    if not em and (predicted in SPECIAL_ANSWERS or gold in SPECIAL_ANSWERS):
        return NOTHING
    words, gold_words = predicted.split(), gold.split()
    common = (Counter(words) & Counter(gold_words)).total()
    if not common:
        return Agreement(em, 0.0, 0.0, 0.0)
    precision, recall = common / len(words), common / len(gold_words)
    return Agreement(em, harmonic_mean(precision, recall), precision, recall)


def fact_set(facts: object) -> frozenset[FactKey]:
    """Supporting facts as they are compared. Raises InputError where they are not a list of flat lists."""
    return frozenset(fact_key(fact) for fact in reading.as_list(facts, "the list of facts"))


def fact_key(fact: object) -> FactKey:
    """One supporting fact as it is compared. Raises InputError where it is no flat list."""
    parts = reading.as_list(fact, "a supporting fact")
    if any(isinstance(part, (list, dict)) for part in parts):
        raise InputError("a supporting fact holds a list or an object")
    return tuple(map(reading.as_key, parts))


def fact_agreement(right: int, predicted: int, gold: int) -> Agreement:
    """How well so many facts agree with so many of gold, of which both have some (`right`; section 4)."""
    precision, recall = divide(right, predicted), divide(right, gold)
    return Agreement(float(right == predicted == gold), harmonic_mean(precision, recall), precision, recall)


def combine(answer: Agreement, facts: Agreement) -> Agreement:
    """Joint agreement of a question that has both an answer and supporting facts (section 5)."""
    precision, recall = answer.precision * facts.precision, answer.recall * facts.recall
    return Agreement(answer.em * facts.em, harmonic_mean(precision, recall), precision, recall)


def explain(question: Question, row: Mapping[str, float], answer: object, facts: object) -> Iterator[str]:
    """How a question was scored: answers as given and as compared, facts right, wrong and missed, its twelve values.

    `row` holds the question's statistics; `answer` and `facts` are what was predicted, None where nothing was.
    """
    yield f"question {plain(question.id)}"
    if answer is None:
        yield "  answer: none predicted"
    else:
        for role, text in (("gold", question.fields["answer"]), ("predicted", answer)):
            given = answer_text(text)
            yield f"  answer {role:9}  {plain(given)}  (compared as {quoted(normalised(given))})"
    if facts is None:
        yield "  facts: none predicted"
    else:
        gold, predicted = fact_set(question.fields["supporting_facts"]), fact_set(facts)
        for outcome, some in (("right", gold & predicted), ("wrong", predicted - gold), ("missed", gold - predicted)):
            shown = "; ".join(sorted(map(reading.listed, some)))
            yield f"  facts {outcome:6}  {len(some)}  {shown}".rstrip()
    yield from (f"  {line}" for line in score_lines(MODE, row, {}))
