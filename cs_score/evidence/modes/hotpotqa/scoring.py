"""HotpotQA scoring: answers, supporting facts, and both jointly (Yang et al. 2018).

The numbers are those of the official evaluation; section numbers refer to the project's HotpotQA contract.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import ClassVar, Final

from cs_score.base.errors import InputError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.signing.origin import RUN
from cs_score.base.sources import Input, Source
from cs_score.evidence.modes.hotpotqa.explanation import explain
from cs_score.evidence.modes.hotpotqa.judging import (
    NOTHING,
    Question,
    answer_text,
    combine,
    compare_answers,
    compare_facts,
    fact_set,
    normalised,
)
from cs_score.evidence.reading import json_reader as reader
from cs_score.evidence.reading.gold import Gold, signed
from cs_score.evidence.reading.json_array import json_array
from cs_score.evidence.result import InputSummary, Mode, Result, counted, means, report_rows, scores_of
from cs_score.measures.registry import names
from cs_score.statistics.units import UnitTable

MEASURES: Final = names("hotpotqa")

COLUMNS: Final = ("questions", *MEASURES)

# Looked up to itself, so that a hundred thousand questions share the text of five keys.
_GOLD_KEYS: Final = {key: key for key in ("_id", "answer", "supporting_facts", "type", "level")}

NOTICED_IDS: Final = 5
"""Questions without prediction that a notice names."""

MODE: Final = Mode(
    name="hotpotqa",
    unit="question",
    columns=COLUMNS,
    measures=MEASURES,
    formula=means,
    headings=("em", "f1", "prec", "recall"),
    rows=report_rows(("answer", "sp", "joint"), MEASURES),
)


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
        return explain(MODE, question, row, self.answers.get(question.id), self.facts.get(question.id))

    __repr__ = object.__repr__


def read_gold(gold: Input | Sequence[object]) -> Gold[list[Question]]:
    """Read gold once, to score many predictions against it. Raises InputError for what is no gold."""
    with paused_collector(), reader.open_document(gold, "gold") as source:
        return signed(source, _read_gold(source))


def score(
    gold: Input | Sequence[object] | Gold[list[Question]], predictions: Input | Mapping[str, object]
) -> HotpotQAResult:
    """Score predictions against gold; each is a path, an open file, or the parsed JSON value.

    What is not predicted counts as 0 and is told in the result's notices. Raises InputError for what cannot be scored.
    """
    with paused_collector():
        known = gold if isinstance(gold, Gold) else read_gold(gold)
        questions = known.content
        with reader.open_document(predictions, "predictions") as source:
            given = signed(source, _read_predictions(source), RUN)
        answers, facts = given.content
        rows = [count(question, answers, facts, known.name, given.name) for question in questions]
        table = UnitTable(ids=tuple(reader.text_of(question.id) for question in questions), columns=COLUMNS, rows=rows)
    return HotpotQAResult(
        table=table,
        scores=scores_of(MODE, table),
        origin=MODE.origin({}, known.digest, given.digest),
        inputs=(
            InputSummary("gold", known.name, ((len(questions), "question"),)),
            InputSummary("predictions", given.name, ((len(answers), "answer"), (len(facts), "fact list"))),
        ),
        notices=tuple(
            notice
            for what, predicted in (("answer", answers), ("supporting facts", facts))
            for notice in _missing(what, questions, predicted, given.name)
        ),
        questions=questions,
        answers=answers,
        facts=facts,
    )


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
            gold_answer = answer_text(reader.member(question.fields, "answer"))
            answer = compare_answers(normalised(predicted_answer), normalised(gold_answer))
        looked_at = predictions_name
        if has_facts := question.id in facts:
            predicted_facts = fact_set(facts[question.id])
            looked_at = gold_name
            supported = compare_facts(predicted_facts, fact_set(reader.member(question.fields, "supporting_facts")))
    except InputError as error:
        raise reader.located(error, looked_at, f"question {reader.plain(question.id)}") from None
    if has_answer and has_facts:
        joint = combine(answer, supported)
    return 1, *answer, *supported, *joint


def _without_context(members: list[tuple[str, object]]) -> reader.Object:
    """The members that are scored or grouped by; contexts, nine tenths of the file, are dropped once they are read."""
    return {_GOLD_KEYS[key]: value for key, value in members if key in _GOLD_KEYS}


def _read_gold(source: Source) -> list[Question]:
    questions = []
    for number, value in enumerate(json_array(source, _without_context), start=1):
        try:
            fields = reader.as_object(value, "the question")
            question = reader.identifier(fields, "_id")
        except InputError as error:
            raise reader.located(error, source.name, f"question number {number}") from None
        questions.append(Question(question, fields))
    if not questions:
        raise InputError("no questions, so there is nothing to score", file=source.name)
    return questions


def _read_predictions(source: Source) -> tuple[Mapping[Hashable, object], Mapping[Hashable, object]]:
    try:
        fields = reader.as_object(reader.json_document(source), "the file")
        answers = reader.as_object(reader.member(fields, "answer"), "'answer'")
        facts = reader.as_object(reader.member(fields, "sp"), "'sp'")
    except InputError as error:
        raise reader.located(error, source.name) from None
    return dict(answers.items()), dict(facts.items())


def _missing(
    what: str, questions: Sequence[Question], predicted: Mapping[Hashable, object], name: str
) -> tuple[str, ...]:
    """A notice that tells which questions have no prediction, if there are any."""
    missing = [reader.plain(question.id) for question in questions if question.id not in predicted]
    if not missing:
        return ()
    named = ", ".join(missing[:NOTICED_IDS]) + (", ..." if len(missing) > NOTICED_IDS else "")
    return (f"{name}: no {what} for {len(missing)} of {counted(len(questions), 'question')}: {named}",)
