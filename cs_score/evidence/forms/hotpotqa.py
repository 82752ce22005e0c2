"""Forms of HotpotQA's files: those that are read as they are, since nothing is lost, and those that are not."""

from __future__ import annotations

from typing import Any, Final

from cs_score.evidence.forms.files import Advice
from cs_score.evidence.forms.form import AS_IT_IS, Answer, Change, Files

WANTED_GOLD: Final = (
    'gold is to be a list like [{"_id": "q1", "answer": "Paris", "supporting_facts": [["France", 0], ["Paris", 2]]}]'
)
WANTED_PREDICTIONS: Final = (
    'predictions are to be an object like {"answer": {"q1": "Paris"}, "sp": {"q1": [["France", 0], ["Paris", 2]]}}'
)

_ANSWER: Final = "answer"
_FACTS: Final = ("sp", "supporting_facts")
_IDS: Final = ("_id", "id")


# ---- What is read as it is


def predictions_by_question(value: object) -> tuple[str, dict[str, dict[Any, Any]]] | None:
    """Return predictions that have an object for each question, with the form in words; None for another form.

    The value is an object by question id, a list of objects with `_id` or `id`, or the list of what stands in lines.
    """
    if isinstance(value, dict) and not any(key in value for key in (_ANSWER, "sp")):
        entries = dict(value)
        what = "an object with answer and facts for each question id"
    else:
        objects = [value] if isinstance(value, dict) else value
        found = _objects_by_id(objects)
        if found is None:
            return None
        entries, what = found, "an object with id, answer and facts for each question"
    if not entries or not all(_is_prediction(entry) for entry in entries.values()):
        return None
    answers = {named: entry[_ANSWER] for named, entry in entries.items() if _ANSWER in entry}
    facts = {named: entry[key] for named, entry in entries.items() for key in _FACTS if key in entry}
    return what, {_ANSWER: answers, "sp": facts}


def _objects_by_id(objects: object) -> dict[Any, Any] | None:
    """Return objects by their ids; None where one has no id, or an id occurs twice."""
    if not isinstance(objects, list) or not all(isinstance(each, dict) for each in objects):
        return None
    by_id = {}
    for each in objects:
        named = next((each[key] for key in _IDS if isinstance(each.get(key), (str, int))), None)
        if named is None:
            return None
        by_id[named] = each
    return by_id if len(by_id) == len(objects) else None


def _is_prediction(entry: object) -> bool:
    """Return whether a value predicts something for a question; what has the text to be searched is gold."""
    if not isinstance(entry, dict) or "context" in entry:
        return False
    named = [key for key in (_ANSWER, *_FACTS) if key in entry]
    return bool(named) and not all(key in entry for key in _FACTS)


def questions_of_data_set(questions: list[Any]) -> list[Any] | None:
    """Return gold of the Hugging Face data set as the corpus has it; None where it has another form."""
    for each in questions:
        is_question = isinstance(each, dict) and _ANSWER in each and "supporting_facts" in each
        if not is_question or not any(key in each for key in _IDS):
            return None
    return [_question(each) for each in questions]


def _question(row: dict[str, Any]) -> dict[str, Any]:
    """Return a question with `_id`, and its facts as pairs of title and sentence number."""
    question = dict(row)
    if "_id" not in question:
        question["_id"] = question.pop("id")
    facts = question.get("supporting_facts")
    if isinstance(facts, dict) and isinstance(facts.get("title"), list) and isinstance(facts.get("sent_id"), list):
        titles, numbers = facts["title"], facts["sent_id"]
        if len(titles) == len(numbers):
            question["supporting_facts"] = [list(pair) for pair in zip(titles, numbers)]
    return question


# ---- What is not


def form_of(value: Any, files: Files) -> Answer:
    """Return what has to be done about the value of a file, whatever it is."""
    return _form_of_gold(value, files) if files.is_gold else _form_of_predictions(value, files)


def _form_of_gold(value: Any, files: Files) -> Answer:
    if isinstance(value, list) and value and all(map(_is_question, value)):
        return AS_IT_IS
    if isinstance(value, dict) and value:
        entries = list(value.values())
        if all(isinstance(each, dict) and _ANSWER in each and "supporting_facts" in each for each in entries):
            return Change('[{**q, "_id": i} for i, q in R.items()]', "the file is an object with questions by their id")
        if isinstance(value.get("data"), list) and all(map(_is_question, value["data"])):
            return Change('R["data"]', "the questions stand below data")
        command = files.scored_as("r4c")
        if command is not None:
            return Advice("this is gold of R4C", command)
    if isinstance(value, list) and value and all(isinstance(each, dict) and _ANSWER not in each for each in value):
        return Advice("no question has an answer, as in the public test set", WANTED_GOLD)
    return Advice("", WANTED_GOLD)


def _is_question(value: object) -> bool:
    return isinstance(value, dict) and "_id" in value and _ANSWER in value and "supporting_facts" in value


def _form_of_predictions(value: Any, files: Files) -> Answer:
    if not isinstance(value, dict):
        return Advice("", WANTED_PREDICTIONS)
    has = {key: isinstance(value.get(key), dict) for key in (_ANSWER, "sp")}
    if all(has.values()):
        return AS_IT_IS
    if has[_ANSWER] and "sp" not in value:
        return Change('{**R, "sp": {}}', 'there are answers only: add "sp": {} to score answers only')
    if has["sp"] and _ANSWER not in value:
        return Change('{**R, "answer": {}}', 'there are facts only: add "answer": {} to score facts only')
    if "re" in value:
        command = files.scored_as("r4c")
        if command is not None:
            return Advice("these are predictions for R4C", command)
    if value and all(isinstance(each, str) for each in value.values()):
        return Change('{"answer": R, "sp": {}}', "the file is an object with answers by question id")
    return Advice("", WANTED_PREDICTIONS)
