"""Forms of HotpotQA's files: forms that are read as they are, since nothing is lost, and remedies for the others."""

from __future__ import annotations

from typing import Any, Final

from cs_score.evidence.forms.files import Advice
from cs_score.evidence.forms.form import AS_IT_IS, Files, FormChange, Remedy

WANTED_GOLD: Final = (
    'gold is to be a list like [{"_id": "q1", "answer": "Paris", "supporting_facts": [["France", 0], ["Paris", 2]]}]'
)
WANTED_PREDICTIONS: Final = (
    'predictions are to be an object like {"answer": {"q1": "Paris"}, "sp": {"q1": [["France", 0], ["Paris", 2]]}}'
)

_ANSWER: Final = "answer"
_FACT_KEYS: Final = ("sp", "supporting_facts")
_ID_KEYS: Final = ("_id", "id")


# ---- Forms that are read as they are


def predictions_by_question(value: object) -> tuple[str, dict[str, dict[Any, Any]]] | None:
    """Return the form of a file of predictions in words, and its answers and facts in the form that the task reads.

    That form is {"answer": {"q1": "Paris"}, "sp": {"q1": [["France", 0]]}}. The value of the file is an object with a
    prediction for each question id, or a list of predictions with `_id` or `id`, or a single such prediction. Return
    None for any other value.
    """
    prediction_by_id: dict[Any, Any] | None
    if isinstance(value, dict) and _ANSWER not in value and "sp" not in value:
        prediction_by_id = value
        form = "an object with answer and facts for each question id"
    else:
        prediction_by_id = _index_by_id([value] if isinstance(value, dict) else value)
        form = "an object with id, answer and facts for each question"
    if not prediction_by_id or not all(_is_prediction(prediction) for prediction in prediction_by_id.values()):
        return None
    answers = {}
    facts = {}
    for question_id, prediction in prediction_by_id.items():
        if _ANSWER in prediction:
            answers[question_id] = prediction[_ANSWER]
        for key in _FACT_KEYS:
            if key in prediction:
                facts[question_id] = prediction[key]
    return form, {_ANSWER: answers, "sp": facts}


def _index_by_id(objects: object) -> dict[Any, Any] | None:
    """Return the objects of a list by their ids, which are their values of `_id` or `id`.

    Return None for anything but a list of objects, and if an object has no id or the id of another one.
    """
    if not isinstance(objects, list) or not all(isinstance(value, dict) for value in objects):
        return None
    object_by_id = {}
    for value in objects:
        ids = [value[key] for key in _ID_KEYS if isinstance(value.get(key), (str, int))]
        if not ids or ids[0] in object_by_id:
            return None
        object_by_id[ids[0]] = value
    return object_by_id


def _is_prediction(value: object) -> bool:
    """Return whether a value is the prediction for a question: an object with an answer, with facts, or with both."""
    if not isinstance(value, dict):
        return False
    if "context" in value:  # the paragraphs to be searched, which only gold has
        return False
    if all(key in value for key in _FACT_KEYS):  # it is uncertain which of the two lists of facts is predicted
        return False
    return any(key in value for key in (_ANSWER, *_FACT_KEYS))


def questions_of_data_set(questions: list[Any]) -> list[Any] | None:
    """Return the questions of the Hugging Face data set in the form of the corpus, which is the form of gold.

    Return None if a value is no question with an id, an answer and supporting facts.
    """
    for question in questions:
        is_question = isinstance(question, dict) and _ANSWER in question and "supporting_facts" in question
        has_id = is_question and any(key in question for key in _ID_KEYS)
        if not has_id:
            return None
    return [_question_of_row(row) for row in questions]


def _question_of_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the data set as a question of the corpus.

    Its id is under `_id` instead of `id`. Its facts are pairs of title and sentence number, [["France", 0]], instead of
    two lists, {"title": ["France"], "sent_id": [0]}.
    """
    question = dict(row)
    if "_id" not in question:
        question["_id"] = question.pop("id")
    facts = question.get("supporting_facts")
    if isinstance(facts, dict) and isinstance(facts.get("title"), list) and isinstance(facts.get("sent_id"), list):
        titles = facts["title"]
        numbers = facts["sent_id"]
        if len(titles) == len(numbers):
            question["supporting_facts"] = [list(pair) for pair in zip(titles, numbers)]
    return question


# ---- Remedies for other forms


def find_remedy(value: Any, files: Files) -> Remedy:
    """Return the remedy for a file with this JSON value, which may be of any type."""
    return _find_gold_remedy(value, files) if files.is_gold else _find_predictions_remedy(value, files)


def _find_gold_remedy(value: Any, files: Files) -> Remedy:
    """Return the remedy for the value of a file that should be gold."""
    if isinstance(value, dict) and value:
        if all(_has_answer_and_facts(question) for question in value.values()):
            expression = '[{**q, "_id": i} for i, q in R.items()]'
            return FormChange(expression, "the file is an object with questions by their id")
        if isinstance(value.get("data"), list) and all(_is_question(question) for question in value["data"]):
            return FormChange('R["data"]', 'the questions are below the key "data"')
        command = files.command_for_task("r4c")
        if command is not None:
            return Advice("this is gold of R4C", command)
    if isinstance(value, list) and value:
        if all(_is_question(question) for question in value):
            return AS_IT_IS
        if all(isinstance(question, dict) and _ANSWER not in question for question in value):
            return Advice("no question has an answer, as in the public test set", WANTED_GOLD)
    return Advice("", WANTED_GOLD)


def _has_answer_and_facts(value: object) -> bool:
    """Return whether a value is an object with an answer and supporting facts."""
    return isinstance(value, dict) and _ANSWER in value and "supporting_facts" in value


def _is_question(value: object) -> bool:
    """Return whether a value is a question of gold: an object with an id, an answer and supporting facts."""
    return isinstance(value, dict) and "_id" in value and _has_answer_and_facts(value)


def _find_predictions_remedy(value: Any, files: Files) -> Remedy:
    """Return the remedy for the value of a file that should be predictions."""
    if not isinstance(value, dict):
        return Advice("", WANTED_PREDICTIONS)
    has_answers = isinstance(value.get(_ANSWER), dict)
    has_facts = isinstance(value.get("sp"), dict)
    if has_answers and has_facts:
        return AS_IT_IS
    if has_answers and isinstance(value.get("supporting_facts"), dict):
        expression = '{"answer": R["answer"], "sp": R["supporting_facts"]}'
        return FormChange(expression, "the facts are called supporting_facts, where sp is expected")
    if has_answers and "sp" not in value:
        return FormChange('{**R, "sp": {}}', 'there are answers only: add "sp": {} to score answers only')
    if has_facts and _ANSWER not in value:
        return FormChange('{**R, "answer": {}}', 'there are facts only: add "answer": {} to score facts only')
    if "re" in value:
        command = files.command_for_task("r4c")
        if command is not None:
            return Advice("these are predictions for R4C", command)
    if value and all(isinstance(answer, str) for answer in value.values()):
        return FormChange('{"answer": R, "sp": {}}', "the file is an object with answers by question id")
    return Advice("", WANTED_PREDICTIONS)
