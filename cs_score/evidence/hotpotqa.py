"""HotpotQA scoring: answers, supporting facts, and both jointly (Yang et al. 2018).

The numbers are those of the official evaluation; section numbers refer to the project's HotpotQA contract.
"""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import ClassVar, Final, NamedTuple, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.runtime import paused_collector
from cs_score.base.signature import RUN
from cs_score.base.sources import Input, Source
from cs_score.evidence import reading
from cs_score.evidence.reading import Gold, plain, quoted
from cs_score.evidence.report import aligned
from cs_score.evidence.result import InputSummary, Mode, Result, counted, means, report_rows, scores_of
from cs_score.measures.registry import divide, names
from cs_score.measures.registry import f1 as harmonic_mean
from cs_score.statistics.units import UnitTable

MEASURES: Final = names("hotpotqa")

COLUMNS: Final = ("questions", *MEASURES)

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
    measures=MEASURES,
    formula=means,
    headings=("em", "f1", "prec", "recall"),
    rows=report_rows(("answer", "sp", "joint"), MEASURES),
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
    answers: Mapping[Hashable, object]
    facts: Mapping[Hashable, object]

    def answered(self) -> tuple[str, ...]:
        predicted = {*self.answers, *self.facts}
        return tuple(unit for unit, question in zip(self.table.ids, self.questions) if question.id in predicted)

    def explained(self, position: int) -> list[str]:
        question = self.questions[position]
        row = dict(zip(COLUMNS, self.table.rows[position]))
        return list(explain(question, row, self.answers.get(question.id), self.facts.get(question.id)))


def read_gold(gold: Input | Sequence[object]) -> Gold[list[Question]]:
    """Read gold once, to score many predictions against it. Raises InputError for what is no gold."""
    with paused_collector(), reading.open_document(gold, "gold") as source:
        return reading.signed(source, _read_gold(source))


def score(
    gold: Input | Sequence[object] | Gold[list[Question]], predictions: Input | Mapping[str, object]
) -> HotpotQAResult:
    """Score predictions against gold; each is a path, an open file, or the parsed JSON value.

    What is not predicted counts as 0 and stands in the result's notices. Raises InputError for what cannot be scored.
    """
    with paused_collector():
        known = gold if isinstance(gold, Gold) else read_gold(gold)
        questions = known.content
        with reading.open_document(predictions, "predictions") as source:
            given = reading.signed(source, _read_predictions(source), RUN)
        answers, facts = given.content
        rows = [count(question, answers, facts, known.name, given.name) for question in questions]
        table = UnitTable(ids=tuple(reading.text_of(question.id) for question in questions), columns=COLUMNS, rows=rows)
    notices = (_missing("answer", questions, answers), _missing("supporting facts", questions, facts))
    return HotpotQAResult(
        table=table,
        scores=scores_of(MODE, table),
        origin=MODE.origin({}, known.digest, given.digest),
        inputs=(
            InputSummary("gold", known.name, ((len(questions), "question"),)),
            InputSummary("predictions", given.name, ((len(answers), "answer"), (len(facts), "fact list"))),
        ),
        notices=tuple(f"{given.name}: {notice}" for notice in notices if notice),
        questions=questions,
        answers=answers,
        facts=facts,
    )


def _read_gold(source: Source) -> list[Question]:
    try:
        values = reading.as_list(reading.json_document(source, json.JSONDecoder(object_pairs_hook=_scored)), "the file")
    except InputError as error:
        raise reading.located(error, source.name) from None
    questions = []
    for number, value in enumerate(values, start=1):
        try:
            fields = reading.as_object(value, "the question")
            questions.append(Question(reading.identifier(fields, "_id"), fields))
        except InputError as error:
            raise reading.located(error, source.name, f"question number {number}") from None
    if not questions:
        raise InputError("no questions, so there is nothing to score", file=source.name)
    return questions


def _scored(members: list[tuple[str, object]]) -> reading.Object:
    """The members that are scored or grouped by; contexts, nine tenths of the file, are dropped as they are read."""
    return {key: value for key, value in members if key in _GOLD_KEYS}


def _read_predictions(source: Source) -> tuple[Mapping[Hashable, object], Mapping[Hashable, object]]:
    try:
        fields = reading.as_object(reading.json_document(source), "the file")
        answers = reading.as_object(reading.member(fields, "answer"), "'answer'")
        facts = reading.as_object(reading.member(fields, "sp"), "'sp'")
    except InputError as error:
        raise reading.located(error, source.name) from None
    return dict(answers.items()), dict(facts.items())


def _missing(what: str, questions: Sequence[Question], predicted: Mapping[Hashable, object]) -> str:
    """Which questions have no prediction; empty where all have one."""
    missing = [plain(question.id) for question in questions if question.id not in predicted]
    if not missing:
        return ""
    named = ", ".join(missing[:NOTICED_IDS]) + (", ..." if len(missing) > NOTICED_IDS else "")
    return f"no {what} for {len(missing)} of {counted(len(questions), 'question')}: {named}"


def count(
    question: Question,
    answers: Mapping[Hashable, object],
    facts: Mapping[Hashable, object],
    gold_name: str,
    predictions_name: str,
) -> tuple[float, ...]:
    """The row of one question; the names are for the InputError raised where what is compared is malformed."""
    answer = supported = joint = NOTHING
    looked_at = predictions_name
    try:
        if has_answer := question.id in answers:
            predicted_answer = answer_text(answers[question.id])
            looked_at = gold_name
            gold_answer = answer_text(reading.member(question.fields, "answer"))
            answer = compare_answers(normalised(predicted_answer), normalised(gold_answer))
        looked_at = predictions_name
        if has_facts := question.id in facts:
            predicted = fact_set(facts[question.id])
            looked_at = gold_name
            gold = fact_set(reading.member(question.fields, "supporting_facts"))
            supported = fact_agreement(len(predicted & gold), len(predicted), len(gold))
    except InputError as error:
        raise reading.located(error, looked_at, f"question {plain(question.id)}") from None
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
    rows = [("", *MODE.headings)]
    rows += [(line.name, *(f"{row[measure]:.4f}" for measure in line.measures)) for line in MODE.rows]
    yield from (f"  {line}" for line in aligned(rows))
