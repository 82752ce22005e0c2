"""SciFact: worked examples, the corners of the rules, messages, explanations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from cs_score.base.errors import InputError
from cs_score.evidence import scifact

Json = dict[str, Any]


def entry(label: object, *sentences: object) -> Json:
    return {"label": label, "sentences": list(sentences)}


# The claim of the published guideline's scoring example, and the same with its prediction.
GUIDELINE_GOLD: Json = {
    "id": 52,
    "evidence": {"11": [entry("SUPPORT", 0, 1), entry("SUPPORT", 11)], "15": [entry("SUPPORT", 4)]},
}
GUIDELINE_PREDICTION: Json = {
    "id": 52,
    "evidence": {"11": entry("SUPPORT", 1, 11, 13), "16": entry("CONTRADICT", 18, 20)},
}

GOLD: list[Json] = [
    {"id": 7, "evidence": {"101": [entry("SUPPORT", 2, 3), entry("SUPPORT", 6)], "102": [entry("CONTRADICT", 0)]}},
    {"id": 8, "evidence": {}},
    {"id": 9, "evidence": {"103": [entry("CONTRADICT", 1, 2, 3, 4)]}},
]
PREDICTIONS: list[Json] = [
    {"id": 7, "evidence": {"101": entry("SUPPORT", 6, 2, 9), "102": entry("SUPPORT", 0)}},
    {"id": 8, "evidence": {"104": entry("SUPPORT", 5)}},
    {"id": 9, "evidence": {"103": entry("CONTRADICT", 4, 3, 2, 1, 0)}},
]


def problem(gold: Sequence[object], predictions: Sequence[object], **options: Any) -> str:
    with pytest.raises(InputError) as raised:
        scifact.MODE.score(gold, predictions, **options)
    return str(raised.value)


def test_guideline_example() -> None:
    scores = scifact.MODE.score([GUIDELINE_GOLD], [GUIDELINE_PREDICTION]).scores
    for group in ("abstract_label_only", "abstract_rationalized"):
        assert [scores[f"{group}_{measure}"] for measure in ("precision", "recall", "f1")] == [0.5, 0.5, 0.5]
    for group in ("sentence_selection", "sentence_label"):
        assert [scores[f"{group}_{measure}"] for measure in ("precision", "recall")] == [0.2, 0.25]
        assert scores[f"{group}_f1"] == pytest.approx(2 / 9, abs=1e-15)


@pytest.mark.parametrize(
    ("gold", "predicted", "rationalized"),
    [
        ([1, 1, 1, 1, 2], [5, 6, 7, 1, 2], 0),  # the size of a set, not the length of its list
        ([2.0], [2], 1),
        (["2"], [2], 0),
    ],
)
def test_sentences_are_sets_of_values(gold: list[object], predicted: list[object], rationalized: int) -> None:
    claim = {"id": 1, "evidence": {"11": [entry("SUPPORT", *gold)]}}
    given = {"id": 1, "evidence": {"11": entry("SUPPORT", *predicted)}}
    table = scifact.MODE.score([claim], [given]).table
    assert table.rows[0][table.columns.index("rationalized_correct")] == rationalized


@pytest.mark.parametrize(
    ("label", "shown", "remedy"),
    [
        ("REFUTES", "'REFUTES'", "; write CONTRADICT"),
        ("maybe", "'maybe'", ""),
        (None, "null", ""),
        (["SUPPORT"], "a list", ""),
    ],
)
def test_bad_label(label: object, shown: str, remedy: str) -> None:
    prediction = {"id": 8, "evidence": {"99": entry(label)}}
    assert problem([GOLD[1]], [prediction]) == (
        f"<predictions>: line 1, claim 8, abstract 99: label {shown} is not one of SUPPORT, CONTRADICT{remedy}"
    )


SET = entry("SUPPORT", 1)


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        ({"evidence": {}}, "line 1: the key 'id' is missing"),
        ({"id": [6], "evidence": {}}, "line 1: 'id' is a list where a number or text is expected"),
        ({"id": 6, "evidence": None}, "line 1, claim 6: 'evidence' is null where an object is expected"),
        ([6], "line 1: the line is a list where an object is expected"),
        ({"11": {}}, "abstract 11: the gold evidence is an object where a list is expected"),
        ({"11": [3]}, "abstract 11: an evidence set is a number where an object is expected"),
        ({"11": [{"sentences": [1]}]}, "abstract 11: the key 'label' is missing"),
    ],
)
def test_bad_gold(gold: object, expected: str) -> None:
    line = {"id": 6, "evidence": gold} if isinstance(gold, dict) and "11" in gold else gold
    text = problem([line], [{"id": 6, "evidence": {}}])
    assert text.startswith("<gold>: line 1")
    assert expected in text


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"label": "SUPPORT", "sentences": "1"}, "'sentences' is text where a list is expected"),
        ({"label": "SUPPORT", "sentences": [[1]]}, "'sentences' holds a list or an object"),
        ([SET], "a list of entries where one object with label and sentences is expected; files in this shape are"),
        (7, "the prediction is a number where an object is expected"),
    ],
)
def test_bad_prediction_of_an_abstract_outside_gold(given: object, expected: str) -> None:
    text = problem([GOLD[1]], [{"id": 8, "evidence": {"77": given}}])
    assert text.startswith(f"<predictions>: line 1, claim 8, abstract 77: {expected}")


@pytest.mark.parametrize(
    ("ids", "any_order", "expected"),
    [
        ([7, 8], True, "no prediction for claim 9 of <gold>"),
        ([3, 7, 8, 9], True, "line 1, claim 3: <gold> has no such claim (or fewer of them)"),
        ([7, 7, 8, 9], True, "line 1, claim 7: <gold> has no such claim (or fewer of them)"),
        ([7, 8, 3], False, "line 3, claim 3: id 3 where <gold> has 9"),
    ],
)
def test_id_mismatch(ids: list[object], any_order: bool, expected: str) -> None:
    predictions = [{"id": each, "evidence": {}} for each in ids]
    assert problem(GOLD, predictions, any_order=any_order) == f"<predictions>: {expected}"


def test_any_order_matches_occurrences_of_an_id_one_by_one_and_ids_are_compared_by_value() -> None:
    result = scifact.MODE.score(
        GOLD, [line | {"id": float(line["id"])} for line in reversed(PREDICTIONS)], any_order=True
    )
    assert result.scores == scifact.MODE.score(GOLD, PREDICTIONS).scores
    assert result.table.ids == ("7", "8", "9")
    assert result.positions_of(8) == [1]
    first, second = ({"id": 1, "evidence": {key: PREDICTIONS[0]["evidence"][key]}} for key in ("101", "102"))
    gold = [GOLD[0] | {"id": 1}, GOLD[0] | {"id": 1}]
    in_order = scifact.MODE.score(gold, [first, second])
    assert in_order.table.ids == ("1", "1")
    assert scifact.MODE.score(gold, [first, second], any_order=True).table.rows == in_order.table.rows
