"""Recognises forms of HotpotQA's files, which hold questions with answers and supporting facts.
Files in some forms are converted when they are read. For others a remedy tells the user how to convert them: a change
of the value of the file (`R`) by a Python expression, or advice in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cs_score.evidence.forms.files import Advice
from cs_score.evidence.forms.form import NO_CHANGE, Files, FormChange, Remedy

WANTED_GOLD: Final = (
    'gold is to be a list like [{"_id": "q1", "answer": "Paris", "supporting_facts": [["France", 0], ["Paris", 2]]}]'
)
WANTED_PREDICTIONS: Final = (
    'predictions are to be an object like {"answer": {"q1": "Paris"}, "sp": {"q1": [["France", 0], ["Paris", 2]]}}'
)

_ANSWER_KEY: Final = "answer"
_FACT_KEYS: Final = ("sp", "supporting_facts")
"""The two keys under which a prediction may have its facts."""

_ID_KEYS: Final = ("_id", "id")


# ---- Forms that are converted when they are read


def recognise_predictions(value: object) -> tuple[str, dict[str, dict[Any, Any]]] | None:
    """Return a description of the form of a predictions file, and the predictions as an object that the task can read.

    The task reads {"answer": {"q1": "Paris"}, "sp": {"q1": [["France", 0]]}}. `value` is the JSON value of the file. It
    may be an object with a prediction for each question id, a list of predictions with a key `_id` or `id`, or a single
    prediction of this kind. Return None for any other value.
    """
    form_in_words = "an object with id, answer and facts for each question"
    prediction_by_id: dict[Any, Any] | None
    if not isinstance(value, dict):
        prediction_by_id = _index_by_id(value)
    elif _ANSWER_KEY in value or "sp" in value:  # a single prediction
        prediction_by_id = _index_by_id([value])
    else:
        prediction_by_id = value
        form_in_words = "an object with answer and facts for each question id"
    if not prediction_by_id:
        return None
    if not all(_is_prediction(prediction) for prediction in prediction_by_id.values()):
        return None
    return form_in_words, _separate_answers_and_facts(prediction_by_id)


def _separate_answers_and_facts(prediction_by_id: Mapping[Any, dict[str, Any]]) -> dict[str, dict[Any, Any]]:
    """Return all answers and all facts by question id: {"answer": {"q1": "Paris"}, "sp": {"q1": [["France", 0]]}}.

    A prediction has its facts under the key `sp` or `supporting_facts`.
    """
    answers = {}
    facts = {}
    for question_id, prediction in prediction_by_id.items():
        if _ANSWER_KEY in prediction:
            answers[question_id] = prediction[_ANSWER_KEY]
        for key in _FACT_KEYS:
            if key in prediction:
                facts[question_id] = prediction[key]
    return {_ANSWER_KEY: answers, "sp": facts}


def _index_by_id(objects: object) -> dict[Any, Any] | None:
    """Return the objects of a list by their ids, which are the values of the key `_id` or `id`.

    Return None if the value is not a list of objects, or if an object has no id or the same id as another object.
    """
    if not isinstance(objects, list):
        return None
    object_by_id: dict[Any, Any] = {}
    for value in objects:
        object_id = _id_of(value)
        if object_id is None or object_id in object_by_id:
            return None
        object_by_id[object_id] = value
    return object_by_id


def _id_of(value: object) -> str | int | None:
    """Return the id of an object, which is the value of `_id` or `id`, or None if this is not an object with an id."""
    if not isinstance(value, dict):
        return None
    possible_ids = [value[key] for key in _ID_KEYS if isinstance(value.get(key), (str, int))]
    return possible_ids[0] if possible_ids else None


def _is_prediction(value: object) -> bool:
    """Return whether a value is the prediction for a question, which is an object with an answer, facts, or both."""
    if not isinstance(value, dict):
        return False
    if "context" in value:  # the paragraphs to be searched, which only gold has
        return False
    has_both_lists_of_facts = all(key in value for key in _FACT_KEYS)
    if has_both_lists_of_facts:  # then it is uncertain which of the two is the prediction
        return False
    return any(key in value for key in (_ANSWER_KEY, *_FACT_KEYS))


def questions_of_data_set(rows: list[Any]) -> list[Any] | None:
    """Return rows of the Hugging Face data set as questions in the form of the corpus, which gold must have.

    Return None if a value is not a question with an id, an answer and supporting facts.
    """
    for row in rows:
        if not _has_answer_and_facts(row):
            return None
        has_id = any(key in row for key in _ID_KEYS)
        if not has_id:
            return None
    return [_question_of_row(row) for row in rows]


def _question_of_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the data set as a question of the corpus.

    Its id is under `_id` instead of `id`. Its facts are pairs of title and sentence number, [["France", 0]], instead of
    two lists, {"title": ["France"], "sent_id": [0]}.
    """
    question = dict(row)
    if "_id" not in question:
        question["_id"] = question.pop("id")
    facts = question.get("supporting_facts")
    if isinstance(facts, dict) and _has_lists_of_equal_length(facts):
        question["supporting_facts"] = [list(pair) for pair in zip(facts["title"], facts["sent_id"])]
    return question


def _has_lists_of_equal_length(facts: Mapping[str, Any]) -> bool:
    """Return whether the facts of a row are two lists of the same length, the titles and the sentence numbers."""
    titles = facts.get("title")
    numbers = facts.get("sent_id")
    return isinstance(titles, list) and isinstance(numbers, list) and len(titles) == len(numbers)


# ---- Remedies for other forms


def find_remedy(value: Any, files: Files) -> Remedy:
    """Return the remedy for a refused file, given its JSON value (of any type); `files` tells whether it is gold."""
    if files.gold_is_refused:
        return _find_gold_remedy(value, files)
    return _find_predictions_remedy(value, files)


def _find_gold_remedy(value: Any, files: Files) -> Remedy:
    """Return the remedy for a file that should be gold. Its JSON value may have any type."""
    remedy: Remedy | None = None
    if isinstance(value, dict) and value:
        remedy = _find_remedy_for_gold_object(value, files)
    elif isinstance(value, list) and value:
        remedy = _find_remedy_for_gold_list(value)
    return remedy or Advice(action=WANTED_GOLD)


def _find_remedy_for_gold_object(value: dict[Any, Any], files: Files) -> Remedy | None:
    """Return the remedy for an object where gold should be a list, or None if its form is not recognised."""
    if all(_has_answer_and_facts(question) for question in value.values()):
        # Each question `q` gets its id `i` under the key "_id".
        expression = '[{**q, "_id": i} for i, q in R.items()]'
        return FormChange(expression, "the file is an object with questions by their id")
    data = value.get("data")
    if isinstance(data, list) and all(_is_question(question) for question in data):
        return FormChange('R["data"]', 'the questions are below the key "data"')
    action = files.action_to_score_as("r4c")
    if action is not None:
        return Advice("this is gold of R4C", action)
    return None


def _find_remedy_for_gold_list(questions: list[Any]) -> Remedy | None:
    """Return the remedy for a list that should be gold, or None if the form of its values is not recognised.

    The remedy is `NO_CHANGE` if all values are questions of gold. In this case, the task refused the file for another
    reason.
    """
    if all(_is_question(question) for question in questions):
        return NO_CHANGE
    if all(isinstance(question, dict) and _ANSWER_KEY not in question for question in questions):
        return Advice("no question has an answer, as in the public test set", WANTED_GOLD)
    return None


def _has_answer_and_facts(value: object) -> bool:
    """Return whether a value is an object with an answer and supporting facts."""
    return isinstance(value, dict) and _ANSWER_KEY in value and "supporting_facts" in value


def _is_question(value: object) -> bool:
    """Return whether a value is a question of gold: an object with an id, an answer and supporting facts."""
    return isinstance(value, dict) and "_id" in value and _has_answer_and_facts(value)


def _find_predictions_remedy(value: Any, files: Files) -> Remedy:
    """Return the remedy for a file that should be predictions. Its JSON value may have any type."""
    if not isinstance(value, dict):
        return Advice(action=WANTED_PREDICTIONS)
    remedy = _find_remedy_for_answers_and_facts(value)
    if remedy is not None:
        return remedy
    if "re" in value:  # the key of predicted derivations
        action = files.action_to_score_as("r4c")
        if action is not None:
            return Advice("these are predictions for R4C", action)
    has_only_texts = all(isinstance(answer, str) for answer in value.values())
    if value and has_only_texts:
        return FormChange('{"answer": R, "sp": {}}', "the file is an object with answers by question id")
    return Advice(action=WANTED_PREDICTIONS)


def _find_remedy_for_answers_and_facts(value: Mapping[str, Any]) -> FormChange | None:
    """Return the change for predictions that have answers or facts by question id under the keys of the task.

    If they have both, nothing needs to be changed. Return None for any other object.
    """
    has_answers = isinstance(value.get(_ANSWER_KEY), dict)
    has_facts = isinstance(value.get("sp"), dict)
    if has_answers and has_facts:
        return NO_CHANGE
    if has_answers and isinstance(value.get("supporting_facts"), dict):
        expression = '{"answer": R["answer"], "sp": R["supporting_facts"]}'
        return FormChange(expression, "the facts are called supporting_facts, where sp is expected")
    if has_answers and "sp" not in value:
        return FormChange('{**R, "sp": {}}', 'there are answers only: add "sp": {} to score answers only')
    if has_facts and _ANSWER_KEY not in value:
        return FormChange('{**R, "answer": {}}', 'there are facts only: add "answer": {} to score facts only')
    return None
