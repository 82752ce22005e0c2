"""Scoring for HotpotQA: answers, supporting facts, and both jointly (Yang et al. 2018).
A question is answered by an article. A supporting fact names a sentence of an article by its title and sentence number:
["France", 0]. Gold has the right answer and facts. A fault is a mistake in a prediction.

The numbers are those of the official evaluation script.
"""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from cs_score.base.display import number_with_noun
from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.base.runtime import Late
from cs_score.base.sources import Source
from cs_score.evidence import reading
from cs_score.evidence.mismatches import FactsOfQuestion, fact_notices, id_notices
from cs_score.evidence.mode import (
    NONE,
    AnsweredOptions,
    Confusion,
    Contents,
    CorrectionScorer,
    Fault,
    Mode,
    PairedUnit,
    Part,
    Row,
    Unit,
    left_out_notices,
    paired_units_with_prediction,
    report_rows,
)
from cs_score.evidence.reading import InputContent, as_key, quoted, short_text, text_of
from cs_score.evidence.report import score_lines
from cs_score.measures import divide, measure_names
from cs_score.measures import f1 as harmonic_mean
from cs_score.statistics.units import UnitTable

if TYPE_CHECKING:
    from cs_score.evidence.forms import hotpotqa_forms as forms
else:
    forms = Late("cs_score.evidence.forms.hotpotqa_forms")  # only files of other forms need it

WRONG_ANSWER: Final = "wrong_answer"
MISSED_ANSWER: Final = "missed_answer"
EXTRA_FACT: Final = "extra_fact"
MISSED_FACT: Final = "missed_fact"

ANSWER: Final = "answer"
FACTS: Final = "sp"
"""The two keys of a predictions file. The prediction for a single question has the same keys."""

SPECIAL_ANSWERS: Final = frozenset({"yes", "no", "noanswer"})
"""Normalised answers that are either right or wrong. Words that they share with other answers do not count."""

YES_OR_NO: Final = ("yes", "no")

NOTICED_IDS: Final = 5
"""The largest number of questions without a prediction that a notice names."""

TYPES_OF_2WIKI: Final = frozenset({"compositional", "inference", "bridge_comparison"})
"""Types of questions that occur in the data set 2WikiMultihopQA, but not in HotpotQA."""

QUESTIONS_LOOKED_AT: Final = 100
"""The number of questions whose types are compared with those of 2WikiMultihopQA."""

_GOLD_KEYS: Final = frozenset(
    {"_id", "answer", "supporting_facts", "type", "level", "id", "title", "sent_id"}  # the last three: the data set
)
"""The keys of gold that are kept. Some occur in the corpus, others in the Hugging Face data set."""

_WITHOUT_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_ARTICLES_PATTERN: Final = re.compile(r"\b(a|an|the)\b")

FactKey: TypeAlias = tuple[Hashable, ...]
"""The key by which a supporting fact is compared: ("'France'", "0") for ["France", 0] (see `as_key`)."""


class AnswerAgreement(NamedTuple):
    """How well a prediction agrees with gold: exact match, F1, precision and recall, each 0..1."""

    em: float
    f1: float
    precision: float
    recall: float


NO_AGREEMENT: Final = AnswerAgreement(0.0, 0.0, 0.0, 0.0)
"""The agreement of a missing prediction."""


class HotpotQA(Mode):
    """Questions with an answer and supporting facts. A prediction has the key `answer`, the key `sp` (facts), or both.

    As in the official evaluation, the answer of gold is read only if an answer is predicted, and the facts of gold are
    read only if facts are predicted.
    """

    name = "hotpotqa"
    unit = "question"
    columns = ("questions", *measure_names("hotpotqa"))
    headings = ("em", "f1", "prec", "recall")
    rows = report_rows(("answer", "sp", "joint"), columns[1:])
    kinds = (WRONG_ANSWER, MISSED_ANSWER, EXTRA_FACT, MISSED_FACT)
    shares_predictions = True
    options = AnsweredOptions
    summary = "Score HotpotQA answers, supporting facts, and both jointly"
    files = (
        "Gold is the corpus's JSON list of questions; predictions hold answers and supporting facts by question id "
        'under the keys "answer" and "sp".'
    )

    # ---- Files

    def gold(self, source: Source) -> list[Any] | reading.ConvertedContent:
        """Return the questions of a gold file, which contains a list of questions or one question per line.

        Questions of the Hugging Face data set are converted to the form of the HotpotQA corpus. Raises InputError for a
        file of any other form, and for a question without an id.
        """
        decoder = json.JSONDecoder(object_pairs_hook=_keep_gold_keys)
        text = reading.document_text(source)
        try:
            value = reading.document_in(text, source.name, decoder)
        except InputError:
            questions = _questions_on_lines(text, decoder)
            if questions is None:
                raise
            return _to_corpus_form(questions, has_lines=True)
        return _to_corpus_form(reading.as_list(value, "the file"))

    def predictions(self, source: Source) -> dict[str, Any] | reading.ConvertedContent:
        """Return the answers and the facts of a predictions file by question id, under the keys `answer` and `sp`.

        A file in one of the other common forms is converted. Raises InputError for a file of any other form.
        """
        text = reading.document_text(source)
        try:
            return _answers_and_facts(reading.document_in(text, source.name))
        except InputError:
            converted = _predictions_of_other_form(text)
            if converted is None:
                raise
            return converted

    def is_gold(self, first: object) -> bool | None:
        """Return whether the value of a file is a list, as gold is; predictions are an object."""
        return isinstance(first, list)

    def pair_units(
        self, gold: InputContent, predictions: InputContent, options: Any
    ) -> tuple[Iterable[PairedUnit], Iterable[str]]:
        """Return each question of gold with its prediction, and the notices for the user.

        The prediction is None if it is missing. Missing answers and missing facts score 0, and notices report how many
        questions are affected.
        """
        pairs = _pair_questions(gold.content, predictions.content)
        notices: list[str] = []
        if options.answered_only:
            answered_pairs = paired_units_with_prediction(pairs)
            notices += left_out_notices(predictions.name, len(answered_pairs), len(pairs), self.unit)
            pairs = answered_pairs
        ids = [question_id for question_id, _, _ in pairs]
        notices += _missing_notices(ids, predictions, ANSWER, "answer")
        notices += _missing_notices(ids, predictions, FACTS, "supporting facts")
        return pairs, notices

    def mismatches(
        self, gold: InputContent, predictions: InputContent, units: Sequence[Unit], table: UnitTable
    ) -> Iterator[str]:
        """Yield notices about gold of another data set, and about ids and facts that are spelled differently in gold.

        `table` contains the statistics of the questions, which show which questions have wrong facts.
        """
        files = (gold.name, predictions.name)
        yield from _other_data_set_notices(units[:QUESTIONS_LOOKED_AT], gold.name)
        ids_without_prediction = [unit.id for unit in units if unit.prediction is None]
        if ids_without_prediction:
            predicted_ids = [*predictions.content[ANSWER], *predictions.content[FACTS]]
            yield from id_notices(ids_without_prediction, predicted_ids, files, "question")
        questions = _questions_with_wrong_facts(units, table)
        yield from fact_notices(questions, files)

    def contents(self, gold: Any, predictions: Any, table: UnitTable) -> tuple[Contents, Contents]:
        """Return how many questions gold has, and how many answers and lists of facts the predictions have.

        An example is `(((300, "question"),), ((300, "answer"), (298, "fact list")))`.
        """
        answers = (len(predictions[ANSWER]), "answer")
        fact_lists = (len(predictions[FACTS]), "fact list")
        return ((len(gold), "question"),), (answers, fact_lists)

    # ---- Scoring

    def row(self, unit: Unit) -> Row:
        """Return 1 for the question, then exact match, F1, precision and recall of the answer, the facts, and both.

        Raises InputError if an answer is not a text, or if facts are not lists, in gold or in the prediction.
        """
        prediction = unit.prediction or {}
        answer_agreement = NO_AGREEMENT
        facts_agreement = NO_AGREEMENT
        joint = NO_AGREEMENT
        with self.error_location(unit) as location:
            if ANSWER in prediction:
                answer_agreement = _agreement_of_answer(unit, location)
            if FACTS in prediction:
                facts_agreement = _agreement_of_facts(unit, location)
        if ANSWER in prediction and FACTS in prediction:
            joint = joint_agreement(answer_agreement, facts_agreement)
        question_count = 1  # the first column counts the questions
        # Each agreement has the fields em, f1, precision and recall.
        return question_count, *answer_agreement, *facts_agreement, *joint

    def explain_unit(self, unit: Unit, row: Row) -> Iterator[str]:
        """Yield the lines that explain a question, with its answers, its facts, and the twelve values of its row.

        The values are exact match, F1, precision and recall of the answer, of the facts, and of both jointly.
        """
        prediction = unit.prediction or {}
        yield f"question {short_text(unit.id)}"
        if ANSWER in prediction:
            yield _explain_answer("gold", unit.gold["answer"])
            yield _explain_answer("predicted", prediction[ANSWER])
        else:
            yield "  answer: none predicted"
        if FACTS in prediction:
            yield from _explain_facts(unit.gold["supporting_facts"], prediction[FACTS])
        else:
            yield "  facts: none predicted"
        value_by_measure = dict(zip(self.columns, row))
        no_totals: Mapping[str, float] = {}  # the report shows no totals for this task
        for line in score_lines(self, value_by_measure, no_totals):
            yield f"  {line}"

    # ---- Faults of predictions

    def parts(self, unit: Unit, measure: str) -> list[Part]:
        """Return the judged parts of a question: its answer, its facts in gold, and predicted facts that gold lacks.

        The parts of a question have no faults if its id is not a text. Predictions are found by id in a JSON object,
        whose keys are texts, so that no prediction could correct these faults.
        """
        parts = _judge_parts(unit)
        can_be_predicted = isinstance(unit.id, str)
        if can_be_predicted:
            return parts
        return [replace(part, faults=()) for part in parts]

    def correction_scorer(self, units: Sequence[Unit], rows: Sequence[Row]) -> CorrectionScorer:
        """Return a function that scores questions again after the correction of a single fault.

        The function takes the fault and returns the new rows of the questions. If a fact is wrong or missing, it only
        adjusts the numbers of facts, which is quick. Otherwise it scores the whole corrected prediction.
        """
        score_whole_prediction = super().correction_scorer(units, rows)
        fact_correction_scorer = FactCorrectionScorer(units, rows, score_whole_prediction)
        return fact_correction_scorer.rows_after_correction

    def correct_faults(self, unit: Unit, faults: Iterable[Fault]) -> object:
        """Return the prediction for a question after the correction of these faults, as a JSON object."""
        prediction = dict(unit.prediction or {})
        fact_faults = []
        for fault in faults:
            if fault.kind in (WRONG_ANSWER, MISSED_ANSWER):
                prediction[ANSWER] = fault.gold
            else:
                fact_faults.append(fault)
        if fact_faults:
            prediction[FACTS] = _correct_facts(prediction.get(FACTS, ()), fact_faults)
        return prediction

    def groups(self, unit: Unit) -> Mapping[str, str]:
        """Return the groups of a question. Analyses show the scores of each group.

        They are its type, its level, its kind of answer and its number of facts in gold. An example is
        `{"type": "bridge", "level": "hard", "answer_kind": "yes/no", "supporting_facts": "2"}`. The first three are
        left out if gold does not have them.
        """
        groups = {key: text_of(unit.gold[key]) for key in ("type", "level") if key in unit.gold}
        answer = _gold_answer(unit)
        if answer is not None:
            kind = _kind_of_answer(answer)
            groups["answer_kind"] = "yes/no" if kind in YES_OR_NO else kind
        groups["supporting_facts"] = str(len(_gold_facts(unit)))
        return groups

    def confusions(self, unit: Unit) -> Iterator[Confusion]:
        """Yield ("answer", kind of gold's answer, kind of the predicted answer) for a question."""
        gold_answer = _gold_answer(unit)
        predicted_answer = (unit.prediction or {}).get(ANSWER)
        gold_kind = NONE if gold_answer is None else _kind_of_answer(gold_answer)
        predicted_kind = _kind_of_answer(predicted_answer) if isinstance(predicted_answer, str) else NONE
        yield "answer", gold_kind, predicted_kind


class FactChange(NamedTuple):
    """The change of the predicted facts of a question when one fact is added or removed.

    `key` is the key of the fact. `difference` is added to the number of predicted facts: 1 if the fact is
    added, -1 if it is removed, and 0 if it is added but was predicted before.
    """

    key: FactKey
    difference: int


class FactCorrectionScorer:
    """Computes the rows (the statistics) of questions after one fault of their prediction has been corrected.

    An analysis does this for every fault, so it must be quick. If one fact is added or removed, only the number of
    predicted facts and the number of right facts change, and the facts need not be compared again.
    """

    def __init__(self, units: Sequence[Unit], rows: Sequence[Row], score_whole_prediction: CorrectionScorer) -> None:
        """Count the facts of questions that share one prediction, so that they can be scored again quickly.

        `rows` holds the statistics of the questions before any correction. `score_whole_prediction` corrects a fault
        and scores the whole prediction again. It is called for a fault of the answer, and for a missed fact if the
        prediction has no list of facts.
        """
        prediction = units[0].prediction or {}
        self._score_whole_prediction = score_whole_prediction
        self._rows = rows
        self._has_facts = FACTS in prediction
        self._has_answer = ANSWER in prediction
        self._predicted_keys = facts_by_key(prediction.get(FACTS, [])).keys()
        self._gold_keys = [_gold_facts(unit).keys() for unit in units]
        self._right_counts = [len(self._predicted_keys & gold_keys) for gold_keys in self._gold_keys]

    def rows_after_correction(self, fault: Fault) -> Sequence[Row]:
        """Return the rows of all questions that share this prediction after a fault is corrected, in the same order.

        Raises InputError if the corrected prediction cannot be scored.
        """
        is_fault_of_fact = fault.kind in (EXTRA_FACT, MISSED_FACT)
        can_use_counts = is_fault_of_fact and self._has_facts
        if not can_use_counts:
            return self._score_whole_prediction(fault)
        # The scores of facts depend only on the numbers of predicted, right and gold facts. Gold does not change.
        change = self._change_of_facts(fault)  # `difference` is 1 for a new fact, -1 for a removed one, or 0
        predicted_count = len(self._predicted_keys) + change.difference
        rows: list[Row] = []
        for row, gold_keys, old_right_count in zip(self._rows, self._gold_keys, self._right_counts):
            is_in_gold = change.key in gold_keys
            right_count = old_right_count + change.difference if is_in_gold else old_right_count
            facts_agreement = compare_facts(right_count, predicted_count, len(gold_keys))
            rows.append(self._row_with_facts(row, facts_agreement))
        return rows

    def _change_of_facts(self, fault: Fault) -> FactChange:
        """Return the fact that is added or removed by correcting a fault, which is an extra or a missed fact."""
        if fault.kind == EXTRA_FACT:
            return FactChange(fact_key(fault.predicted), -1)
        key = fact_key(fault.gold)
        is_new = key not in self._predicted_keys  # a fact that one question misses may be right for another question
        return FactChange(key, int(is_new))

    def _row_with_facts(self, row: Row, facts_agreement: AnswerAgreement) -> Row:
        """Return a row with new statistics for the facts of a question, and those for its answer copied from `row`."""
        answer_agreement = _answer_agreement_of_row(row)
        joint = NO_AGREEMENT
        if self._has_answer:
            joint = joint_agreement(answer_agreement, facts_agreement)
        question_count = 1  # the first column counts the questions
        return question_count, *answer_agreement, *facts_agreement, *joint


def _answer_agreement_of_row(row: Row) -> AnswerAgreement:
    """Return the agreement of the answer, which is part of the row of a question."""
    _question_count, em, f1, precision, recall, *_facts_and_joint = row
    return AnswerAgreement(em, f1, precision, recall)


# ---- Reading


def _keep_gold_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object of gold, given its keys and values, without the keys that are not needed.

    The paragraphs to be searched, which are not needed, make up nine tenths of a file.
    """
    return {key: value for key, value in pairs if key in _GOLD_KEYS}


def _questions_on_lines(text: str, decoder: json.JSONDecoder) -> list[Any] | None:
    """Return the questions of a text that has a row of the Hugging Face data set on each line.

    Return None for any other text.
    """
    questions = reading.json_values_of_lines(text, decoder)
    if questions is None:
        return None
    have_form_of_data_set = forms.questions_of_data_set(questions) is not None
    return questions if have_form_of_data_set else None  # the caller converts them


def _pair_questions(questions: Iterable[Any], predictions: Mapping[str, Any]) -> list[PairedUnit]:
    """Return a triple `(id, question, prediction)` for each question of gold; its prediction is None if it has none.

    `predictions` holds all answers and all facts by question id, under the keys `ANSWER` and `FACTS`.
    """
    pairs: list[PairedUnit] = []
    for question in questions:
        question_id = question["_id"]
        pairs.append((question_id, question, _prediction_for(question_id, predictions)))
    return pairs


def _prediction_for(question_id: Any, predictions: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the prediction for a question: `{"answer": "Paris", "sp": [["France", 0]]}`.

    The object has no key for an answer or for facts that are missing. Return None if both are missing. `predictions`
    holds all answers and all facts by question id, under the same two keys.
    """
    prediction = {}
    for key, value_by_id in predictions.items():
        if question_id in value_by_id:
            prediction[key] = value_by_id[question_id]
    return prediction or None


def _answers_and_facts(value: object) -> dict[str, Any]:
    """Return the answers and the facts in the JSON value of a predictions file in the official form.

    The value is an object such as {"answer": {"q1": "Paris"}, "sp": {"q1": [["France", 0]]}}. Raises InputError for any
    other value.
    """
    fields = reading.as_object(value, "the file")
    return {
        ANSWER: reading.as_object(reading.member(fields, ANSWER), f"'{ANSWER}'"),
        FACTS: reading.as_object(reading.member(fields, FACTS), f"'{FACTS}'"),
    }


def _predictions_of_other_form(text: str) -> reading.ConvertedContent | None:
    """Return predictions with an object per question, converted to the official form, or None for any other text.

    `text` is the text of the file, which has each object on a line or all objects in one JSON value.
    """
    form_and_content = forms.recognise_predictions(_value_of_text(text))
    if form_and_content is None:
        return None
    form, content = form_and_content
    return reading.ConvertedContent(content, f"read as {form}")


def _value_of_text(text: str) -> Any:
    """Return the JSON value of a text, the list of its values if each line has one, or None if it is not JSON."""
    line_values = reading.json_values_of_lines(text)
    if line_values is None:  # perhaps a JSON value over several lines
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None
    has_one_line = len(line_values) == 1
    return line_values[0] if has_one_line else line_values


def _to_corpus_form(questions: list[Any], *, has_lines: bool = False) -> list[Any] | reading.ConvertedContent:
    """Return the questions of gold in the form of the HotpotQA corpus, which is the form that scoring reads.

    If the file has another form, the questions are converted and returned with a notice. `has_lines` says that the file
    has a question on each line. Raises InputError if there is no question, and for a question without an id.
    """
    if not questions:
        raise InputError("no questions, so there is nothing to score")
    forms_of_file = ["one question a line"] if has_lines else []
    converted_questions = _convert_rows(questions)
    if converted_questions is not None:
        forms_of_file.append("rows of the Hugging Face data set")
    questions_of_corpus = questions if converted_questions is None else converted_questions
    _check_ids(questions_of_corpus)
    if not forms_of_file:
        return questions_of_corpus
    return reading.ConvertedContent(questions_of_corpus, f"read as {', '.join(forms_of_file)}")


def _convert_rows(questions: list[Any]) -> list[Any] | None:
    """Return rows of the Hugging Face data set as questions of the corpus. Return None for any other questions."""
    if _have_corpus_form(questions):
        return None
    return forms.questions_of_data_set(questions)


def _check_ids(questions: Iterable[object]) -> None:
    """Raise InputError, naming the number of the question, if a question of gold is not an object or has no id."""
    for number, value in enumerate(questions, start=1):
        with reading.ErrorLocation(place={"question number": number}):
            question = reading.as_object(value, "the question")
            reading.identifier(question, "_id")


def _have_corpus_form(questions: Sequence[Any]) -> bool:
    """Return whether the questions of gold have the form of the HotpotQA corpus: a key `_id` and a list of facts.

    Rows of the Hugging Face data set have their id under another key, or their facts as an object. Only the first
    question is checked for its facts.
    """
    for question in questions:
        if not isinstance(question, dict) or "_id" not in question:
            return False
    facts_of_first_question = questions[0].get("supporting_facts")
    return not isinstance(facts_of_first_question, dict)


def _missing_notices(ids: Sequence[Any], predictions: InputContent, key: str, noun: str) -> list[str]:
    """Return a list with a notice if questions have no predicted answer, or no predicted facts.

    The list is empty if every question has them. `ids` are the ids of the questions that are scored. `key` is `ANSWER`
    or `FACTS`, and `noun` is its name in the notice. The notice names the first of these questions.
    """
    missing_ids = [short_text(question_id) for question_id in ids if question_id not in predictions.content[key]]
    if not missing_ids:
        return []
    shown_ids = ", ".join(missing_ids[:NOTICED_IDS])
    if len(missing_ids) > NOTICED_IDS:
        shown_ids += ", ..."
    missing_in_words = f"{len(missing_ids):,} of {number_with_noun(len(ids), 'question')}"
    return [f"{predictions.name}: no {noun} for {missing_in_words}: {shown_ids}"]


def _other_data_set_notices(units: Iterable[Unit], gold_file: str) -> Iterator[str]:
    """Yield a notice if questions have types that occur only in gold of another data set, 2WikiMultihopQA."""
    types = [str(unit.gold.get("type")) for unit in units]
    if not TYPES_OF_2WIKI.isdisjoint(types):
        yield (
            f"{gold_file} looks like gold of 2WikiMultihopQA, whose own evaluation also accepts the aliases of "
            "answers and compares titles without letter case; here both count as they are written"
        )


def _questions_with_wrong_facts(units: Sequence[Unit], table: UnitTable) -> Iterator[FactsOfQuestion]:
    """Yield the facts in gold and the predicted facts of each question whose predicted facts differ from gold.

    `table` has the rows of the questions `units`.
    """
    exact_match_column = table.columns.index("sp_em")
    for unit, row in zip(units, table.rows):
        is_exact_match = row[exact_match_column] == 1
        if is_exact_match or not unit.prediction or FACTS not in unit.prediction:
            continue
        gold_facts = facts_by_key(unit.gold["supporting_facts"]).values()
        predicted_facts = facts_by_key(unit.prediction[FACTS]).values()
        yield FactsOfQuestion(unit.id, gold_facts, predicted_facts)


# ---- Comparing answers and facts


def _agreement_of_answer(unit: Unit, location: reading.ErrorLocation) -> AnswerAgreement:
    """Return how well the predicted answer to a question agrees with the answer of gold.

    The prediction must have an answer. `location` is the caller's context manager, which adds its file to errors; this
    function sets the file. Raises InputError if one of the answers is not a text or if gold has no answer.
    """
    location.file = unit.predictions_file
    predicted_answer = check_answer(unit.prediction[ANSWER])
    location.file = unit.gold_file
    gold_answer = check_answer(reading.member(unit.gold, "answer"))
    return compare_answers(normalise_answer(predicted_answer), normalise_answer(gold_answer))


def _agreement_of_facts(unit: Unit, location: reading.ErrorLocation) -> AnswerAgreement:
    """Return how well the predicted facts of a question agree with the facts of gold.

    The prediction must have facts. `location` is the caller's context manager, which adds its file to errors; this
    function sets the file. Raises InputError if the facts in a file are not a list of facts or if gold has no facts.
    """
    location.file = unit.predictions_file
    predicted_keys = facts_by_key(unit.prediction[FACTS]).keys()
    location.file = unit.gold_file
    gold_keys = facts_by_key(reading.member(unit.gold, "supporting_facts")).keys()
    right_count = len(predicted_keys & gold_keys)
    return compare_facts(right_count, len(predicted_keys), len(gold_keys))


def check_answer(answer: object) -> str:
    """Return an answer of gold or of the predictions unchanged. Raises InputError if it is not a text."""
    if not isinstance(answer, str):
        raise InputError(f"answer is not text but {reading.kind_of(answer)}")
    return answer


def normalise_answer(answer: str) -> str:
    """Return an answer as the official evaluation compares it: "The U.S. Navy" -> "us navy".

    The answer is changed to lower case. ASCII punctuation, the articles a, an and the, and extra blanks are removed.
    """
    without_punctuation = answer.lower().translate(_WITHOUT_PUNCTUATION)
    words = _ARTICLES_PATTERN.sub(" ", without_punctuation).split()
    return " ".join(words)


def compare_answers(predicted_answer: str, gold_answer: str) -> AnswerAgreement:
    """Return how well a predicted answer agrees with the answer of gold, based on the words they have in common.

    Both answers must already be normalised. The answers "yes", "no" and "noanswer" agree only with themselves.
    """
    exact_match = float(predicted_answer == gold_answer)
    is_special = predicted_answer in SPECIAL_ANSWERS or gold_answer in SPECIAL_ANSWERS
    if is_special and not exact_match:
        return NO_AGREEMENT
    predicted_words = predicted_answer.split()
    gold_words = gold_answer.split()
    common_words = Counter(predicted_words) & Counter(gold_words)  # with the smaller count of each word
    if not common_words:
        return AnswerAgreement(exact_match, 0.0, 0.0, 0.0)
    precision = common_words.total() / len(predicted_words)
    recall = common_words.total() / len(gold_words)
    return AnswerAgreement(exact_match, harmonic_mean(precision, recall), precision, recall)


def facts_by_key(facts: object) -> dict[FactKey, Any]:
    """Return the distinct supporting facts of a list such as [["France", 0]], by the keys that identify them.

    Raises InputError for anything but a list of facts (see `fact_key`).
    """
    fact_by_key: dict[FactKey, Any] = {}
    for fact in reading.as_list(facts, "the list of facts"):
        fact_by_key.setdefault(fact_key(fact), fact)
    return fact_by_key


def fact_key(fact: object) -> FactKey:
    """Return the key by which a supporting fact is compared: ["France", 0] -> ("'France'", "0").

    Raises InputError for anything but a list, and for a list that holds lists or objects.
    """
    parts = reading.as_list(fact, "a supporting fact")
    for part in parts:
        if isinstance(part, (list, dict)):
            raise InputError("a supporting fact holds a list or an object")
    return tuple([as_key(part) for part in parts])


def compare_facts(right_count: int, predicted_count: int, gold_count: int) -> AnswerAgreement:
    """Return how well predicted facts agree with the facts of gold, from three numbers of facts.

    `right_count` is the number of predicted facts that are in gold. `predicted_count` is the number of all predicted
    facts, and `gold_count` the number of all facts of gold.
    """
    precision = divide(right_count, predicted_count)
    recall = divide(right_count, gold_count)
    exact_match = float(right_count == predicted_count == gold_count)
    return AnswerAgreement(exact_match, harmonic_mean(precision, recall), precision, recall)


def joint_agreement(answer: AnswerAgreement, facts: AnswerAgreement) -> AnswerAgreement:
    """Return the joint agreement of the predicted answer and the predicted facts of a question.

    Its exact match is the product of the exact matches of answer and facts. Precision and recall are products, too. F1
    is the harmonic mean of the joint precision and recall.
    """
    precision = answer.precision * facts.precision
    recall = answer.recall * facts.recall
    return AnswerAgreement(answer.em * facts.em, harmonic_mean(precision, recall), precision, recall)


def _gold_answer(unit: Unit) -> str | None:
    """Return the answer of gold to a question, or None if it is missing or not a text."""
    answer = unit.gold.get("answer")
    return answer if isinstance(answer, str) else None


def _gold_facts(unit: Unit) -> Mapping[FactKey, list[object]]:
    """Return the facts of gold for a question by key, or an empty dictionary if the facts are malformed.

    Malformed facts are no error here, because scoring has accepted them: it does not read the facts of gold for a
    question without predicted facts.
    """
    try:
        return facts_by_key(unit.gold.get("supporting_facts", []))
    except InputError:
        return {}


def _kind_of_answer(answer: str) -> str:
    """Return the kind of an answer: "yes", "no", "number" or "other".

    An answer is a number if its normalised text consists of digits and blanks, such as "1 000".
    """
    text = normalise_answer(answer)
    if text in YES_OR_NO:
        return text
    without_blanks = text.replace(" ", "")
    return "number" if without_blanks.isdecimal() else "other"


# ---- Parts and explanations


def _judge_parts(unit: Unit) -> list[Part]:
    """Return the judged parts of a question, with their faults: its answer, if gold has one, and its facts."""
    prediction = unit.prediction or {}
    parts = []
    gold_answer = _gold_answer(unit)
    if gold_answer is not None:
        parts.append(_answer_part(gold_answer, prediction.get(ANSWER)))
    predicted_facts = facts_by_key(prediction.get(FACTS, []))
    parts += _fact_parts(_gold_facts(unit), predicted_facts)
    return parts


def _correct_facts(facts: Iterable[Any], faults: Sequence[Fault]) -> list[Any]:
    """Return the predicted facts of a question without the extra facts of these faults, followed by the missed ones."""
    missed_facts = [fault.gold for fault in faults if fault.kind == MISSED_FACT]
    extra_keys = {fact_key(fault.predicted) for fault in faults if fault.kind == EXTRA_FACT}
    remaining_facts = [fact for fact in facts if fact_key(fact) not in extra_keys]
    return remaining_facts + missed_facts


def _answer_part(gold_answer: str, predicted_answer: Any) -> Part:
    """Return the answer of gold as a part of the question, which is right if the prediction has the same answer.

    Answers are compared in their normalised form. `predicted_answer` is None if there is no predicted answer.
    """
    if predicted_answer is None:
        missed = Fault(kind=MISSED_ANSWER, part=ANSWER, predicted=None, gold=gold_answer)
        return Part(noun="answer", value=gold_answer, is_right=False, judgment=None, faults=(missed,))
    if normalise_answer(predicted_answer) == normalise_answer(gold_answer):
        return Part(noun="answer", value=gold_answer, is_right=True, judgment=predicted_answer)
    wrong = Fault(kind=WRONG_ANSWER, part=ANSWER, predicted=predicted_answer, gold=gold_answer)
    return Part(noun="answer", value=gold_answer, is_right=False, judgment=predicted_answer, faults=(wrong,))


def _fact_parts(gold_facts: Mapping[FactKey, Any], predicted_facts: Mapping[FactKey, Any]) -> Iterator[Part]:
    """Yield the judged facts of a question: each fact of gold, then each predicted fact that gold lacks.

    Both arguments have the facts by their keys (`fact_key`).
    """
    for key, fact in gold_facts.items():
        if key in predicted_facts:
            yield Part(noun="fact", value=fact, is_right=True, judgment="supports")
        else:
            missed = Fault(kind=MISSED_FACT, part=FACTS, predicted=None, gold=fact)
            yield Part(noun="fact", value=fact, is_right=False, judgment=None, faults=(missed,))
    for key, fact in predicted_facts.items():
        if key not in gold_facts:
            extra = Fault(kind=EXTRA_FACT, part=FACTS, predicted=fact, gold=None)
            yield Part(noun="fact", value=fact, is_right=False, judgment="not in gold", faults=(extra,))


def _explain_answer(role: str, answer: str) -> str:
    """Return the line of an explanation that shows an answer and the normalised form that is compared.

    `role` is "gold" or "predicted".
    """
    return f"  answer {role:9}  {short_text(answer)}  (compared as {quoted(normalise_answer(answer))})"


def _explain_facts(gold_facts: object, predicted_facts: object) -> Iterator[str]:
    """Yield three lines of an explanation, which list the right, the wrong and the missed facts of a question.

    The arguments are lists of facts in the form of the files.
    """
    gold_keys = facts_by_key(gold_facts).keys()
    predicted_keys = facts_by_key(predicted_facts).keys()
    keys_by_outcome = {
        "right": gold_keys & predicted_keys,
        "wrong": predicted_keys - gold_keys,
        "missed": gold_keys - predicted_keys,
    }
    for outcome, keys in keys_by_outcome.items():
        shown_facts = "; ".join(sorted([reading.list_text(key) for key in keys]))
        yield f"  facts {outcome:6}  {len(keys)}  {shown_facts}".rstrip()


MODE: Final = HotpotQA()
