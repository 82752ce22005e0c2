"""HotpotQA: normalisation, agreement, means over all questions, messages, explanations."""

from __future__ import annotations

from typing import Any

import pytest

from cs_score.base.errors import InputError
from cs_score.evidence import hotpotqa
from cs_score.evidence.hotpotqa import normalised

Json = dict[str, Any]


def question(name: object, answer: object = "x", *facts: object) -> Json:
    return {"_id": name, "answer": answer, "supporting_facts": list(facts), "question": "?", "context": [["T", ["s"]]]}


GOLD: list[Json] = [
    question("q1", "The Eiffel Tower", ["Paris", 0], ["Eiffel Tower", 1]),
    question("q2", "yes", ["A", 0], ["B", 2]),
    question("q3", "1984", ["C", 1]),
    question("q4", "New York City", ["D", 0]),
]
PREDICTIONS: Json = {
    "answer": {"q1": "eiffel tower, Paris", "q2": "no", "q3": "1984"},
    "sp": {
        "q1": [["Paris", 0], ["Paris", 1], ["Eiffel Tower", 1], ["Paris", 0]],
        "q2": [["A", 0], ["B", 2]],
        "q4": [["D", 0]],
    },
}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The Eiffel Tower", "eiffel tower"),
        ("a-b", "ab"),  # punctuation goes before articles do
        ("a.", ""),
        ("ça", "ça"),  # letters of any script make words
        ("an_a", "ana"),
        ("  An   apple,\tthe\u3000end ", "apple end"),
        ("x\u200by", "x\u200by"),  # a zero-width space is no white space
        ("x\x1cy\x85z\u2028w", "x y z w"),
        ("“the” – …", "“ ” – …"),  # only ASCII punctuation is deleted
        ("THEORY of a", "theory of"),
        ("İ", "i̇"),
    ],
)
def test_normalised(answer: str, expected: str) -> None:
    assert normalised(answer) == expected


def test_unknown_ids_and_other_keys_are_ignored_as_is_gold_without_prediction() -> None:
    more = {"re": 5, "answer": PREDICTIONS["answer"] | {"q9": 4}, "sp": PREDICTIONS["sp"] | {"q9": 4}}
    assert hotpotqa.MODE.score(GOLD, more).scores == hotpotqa.MODE.score(GOLD, PREDICTIONS).scores
    gold: list[Json] = [{"_id": "q1"}, {"_id": "q2", "answer": 5, "supporting_facts": 5}, {"_id": 3}]
    assert set(hotpotqa.MODE.score(gold, {"answer": {}, "sp": {}}).scores.values()) == {0.0}


@pytest.mark.parametrize(
    ("gold", "predictions", "expected"),
    [
        ([5], {}, "<gold>: question number 1: the question is a number where an object is expected"),
        ([{"_id": []}], {}, "<gold>: question number 1: '_id' is a list where a number or text is expected"),
        (GOLD, [], "<predictions>: the file is a list where an object is expected"),
        (GOLD, {"answer": {}, "sp": None}, "<predictions>: 'sp' is null where an object is expected"),
        (GOLD, {"answer": {}, "sp": {"q1": "x"}}, "<predictions>: question q1: the list of facts is text where"),
        (GOLD, {"answer": {}, "sp": {"q1": [4]}}, "<predictions>: question q1: a supporting fact is a number where"),
        (GOLD, {"answer": {}, "sp": {"q1": [["T", []]]}}, "<predictions>: question q1: a supporting fact holds a list"),
        ([{"_id": "q"}], {"answer": {"q": "x"}, "sp": {}}, "<gold>: question q: the key 'answer' is missing"),
        ([{"_id": "q"}], {"answer": {}, "sp": {"q": []}}, "<gold>: question q: the key 'supporting_facts' is missing"),
        ([question("q", 5)], {"answer": {"q": "x"}, "sp": {}}, "<gold>: question q: answer is not text but a number"),
        ([question("q", "x", 5)], {"answer": {}, "sp": {"q": []}}, "<gold>: question q: a supporting fact is a number"),
    ],
)
def test_bad_input(gold: Any, predictions: Any, expected: str) -> None:
    with pytest.raises(InputError) as raised:
        hotpotqa.MODE.score(gold, predictions)
    assert str(raised.value).startswith(expected)
