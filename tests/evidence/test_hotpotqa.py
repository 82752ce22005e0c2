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


def test_worked_example() -> None:
    result = hotpotqa.MODE.score(GOLD, PREDICTIONS)
    assert list(result.scores.values()) == [
        *(0.25, 0.45, 0.41666666666666663, 0.5),
        *(0.5, 0.7, 0.6666666666666666, 0.75),
        *(0.0, 0.15384615384615383, 0.1111111111111111, 0.25),
    ]
    assert result.notices == (
        "<predictions>: no answer for 1 of 4 questions: q4",
        "<predictions>: no supporting facts for 1 of 4 questions: q3",
    )


def test_repeated_question_counts_twice() -> None:
    gold = [GOLD[2], GOLD[2], GOLD[3]]
    result = hotpotqa.MODE.score(gold, PREDICTIONS)
    assert result.table.ids == ("q3", "q3", "q4")
    assert result.scores["em"] == 2 / 3
    assert result.positions_of("q3") == [0, 1]


def test_unknown_ids_and_other_keys_are_ignored_as_is_gold_without_prediction() -> None:
    more = {"re": 5, "answer": PREDICTIONS["answer"] | {"q9": 4}, "sp": PREDICTIONS["sp"] | {"q9": 4}}
    assert hotpotqa.MODE.score(GOLD, more).scores == hotpotqa.MODE.score(GOLD, PREDICTIONS).scores
    gold: list[Json] = [{"_id": "q1"}, {"_id": "q2", "answer": 5, "supporting_facts": 5}, {"_id": 3}]
    assert set(hotpotqa.MODE.score(gold, {"answer": {}, "sp": {}}).scores.values()) == {0.0}


@pytest.mark.parametrize(
    ("gold", "predictions", "expected"),
    [
        ([], {"answer": {}, "sp": {}}, "<gold>: no questions, so there is nothing to score"),
        ([5], {}, "<gold>: question number 1: the question is a number where an object is expected"),
        ([{"_id": "a"}, {}], {}, "<gold>: question number 2: the key '_id' is missing"),
        ([{"_id": []}], {}, "<gold>: question number 1: '_id' is a list where a number or text is expected"),
        (GOLD, [], "<predictions>: the file is a list where an object is expected"),
        (GOLD, {"sp": {}}, "<predictions>: the key 'answer' is missing"),
        (GOLD, {"answer": {}}, "<predictions>: the key 'sp' is missing"),
        (GOLD, {"answer": {}, "sp": None}, "<predictions>: 'sp' is null where an object is expected"),
        (GOLD, {"answer": {"q1": 3}, "sp": {}}, "<predictions>: question q1: answer is not text but a number"),
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
