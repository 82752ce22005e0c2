"""SciFact: worked examples, the corners of the rules, messages, explanations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from cs_score.base.errors import InputError
from cs_score.evidence import scifact

Json = dict[str, Any]

# The claim of the published guideline's scoring example, and the same with its prediction.
GUIDELINE_GOLD: Json = {
    "id": 52,
    "evidence": {
        "11": [{"sentences": [0, 1], "label": "SUPPORT"}, {"sentences": [11], "label": "SUPPORT"}],
        "15": [{"sentences": [4], "label": "SUPPORT"}],
    },
}
GUIDELINE_PREDICTION: Json = {
    "id": 52,
    "evidence": {
        "11": {"sentences": [1, 11, 13], "label": "SUPPORT"},
        "16": {"sentences": [18, 20], "label": "CONTRADICT"},
    },
}

GOLD: list[Json] = [
    {
        "id": 7,
        "evidence": {
            "101": [{"sentences": [2, 3], "label": "SUPPORT"}, {"sentences": [6], "label": "SUPPORT"}],
            "102": [{"sentences": [0], "label": "CONTRADICT"}],
        },
    },
    {"id": 8, "evidence": {}},
    {"id": 9, "evidence": {"103": [{"sentences": [1, 2, 3, 4], "label": "CONTRADICT"}]}},
]
PREDICTIONS: list[Json] = [
    {
        "id": 7,
        "evidence": {
            "101": {"label": "SUPPORT", "sentences": [6, 2, 9]},
            "102": {"label": "SUPPORT", "sentences": [0]},
        },
    },
    {"id": 8, "evidence": {"104": {"label": "SUPPORT", "sentences": [5]}}},
    {"id": 9, "evidence": {"103": {"label": "CONTRADICT", "sentences": [4, 3, 2, 1, 0]}}},
]


def problem(gold: Sequence[object], predictions: Sequence[object], **options: bool) -> str:
    with pytest.raises(InputError) as raised:
        scifact.score(gold, predictions, **options)
    return str(raised.value)


def test_guideline_example() -> None:
    scores = scifact.score([GUIDELINE_GOLD], [GUIDELINE_PREDICTION]).scores
    for group in ("abstract_label_only", "abstract_rationalized"):
        assert [scores[f"{group}_{measure}"] for measure in ("precision", "recall", "f1")] == [0.5, 0.5, 0.5]
    for group in ("sentence_selection", "sentence_label"):
        assert [scores[f"{group}_{measure}"] for measure in ("precision", "recall")] == [0.2, 0.25]
        assert scores[f"{group}_f1"] == pytest.approx(2 / 9, abs=1e-15)


def test_guideline_example_with_its_own_label_is_refused() -> None:
    evidence = GUIDELINE_PREDICTION["evidence"] | {"16": {"sentences": [18, 20], "label": "REFUTES"}}
    assert problem([GUIDELINE_GOLD], [{"id": 52, "evidence": evidence}]) == (
        "<predictions>: line 1, claim 52, abstract 16: label 'REFUTES' is not one of SUPPORT, CONTRADICT; "
        "write CONTRADICT"
    )


def test_worked_example() -> None:
    result = scifact.score(GOLD, PREDICTIONS)
    assert result.table.ids == ("7", "8", "9")
    assert result.table.columns == scifact.COLUMNS
    assert list(result.table.rows) == [(2, 2, 4, 4, 1, 1, 2, 1), (0, 1, 0, 1, 0, 0, 0, 0), (1, 1, 4, 5, 1, 1, 4, 4)]
    assert list(result.scores.values()) == [
        *(0.5, 0.6666666666666666, 0.5714285714285715),
        *(0.5, 0.6666666666666666, 0.5714285714285715),
        *(0.6, 0.75, 0.6666666666666665),
        *(0.5, 0.625, 0.5555555555555556),
    ]


@pytest.mark.parametrize(
    ("gold", "predicted", "rationalized"),
    [
        ([1, 1, 1, 1, 2], [5, 6, 7, 1, 2], 0),  # the size of a set, not the length of its list
        ([2.0], [2], 1),
        (["2"], [2], 0),
    ],
)
def test_sentences_are_sets_of_values(gold: list[object], predicted: list[object], rationalized: int) -> None:
    claim = {"id": 1, "evidence": {"11": [{"sentences": gold, "label": "SUPPORT"}]}}
    given = {"id": 1, "evidence": {"11": {"sentences": predicted, "label": "SUPPORT"}}}
    table = scifact.score([claim], [given]).table
    assert table.rows[0][table.columns.index("rationalized_correct")] == rationalized


@pytest.mark.parametrize("gold_label", ["SUPPORT", None])
@pytest.mark.parametrize("label", scifact.LABELS)
def test_overlapping_sets_are_an_error_of_gold_whatever_the_labels(gold_label: object, label: str) -> None:
    gold = {"id": 3, "evidence": {"11": [{"sentences": each, "label": gold_label} for each in ([1, 2], [2, 3])]}}
    prediction = {"id": 3, "evidence": {"11": {"sentences": [7, 2], "label": label}}}
    text = problem([gold], [prediction])
    assert text.startswith("<gold>: line 1, claim 3, abstract 11: the predicted sentence 2 lies in two evidence sets")


@pytest.mark.parametrize(
    ("label", "shown", "remedy"),
    [
        ("SUPPORTS", "'SUPPORTS'", "; write SUPPORT"),
        ("support", "'support'", "; write SUPPORT"),
        ("refutes", "'refutes'", "; write CONTRADICT"),
        ("NOT_ENOUGH_INFO", "'NOT_ENOUGH_INFO'", "; leave out abstracts without a verdict"),
        ("maybe", "'maybe'", ""),
        (None, "null", ""),
        (1, "1", ""),
        (["SUPPORT"], "a list", ""),
    ],
)
def test_bad_label(label: object, shown: str, remedy: str) -> None:
    prediction = {"id": 8, "evidence": {"99": {"label": label, "sentences": []}}}
    assert problem([GOLD[1]], [prediction]) == (
        f"<predictions>: line 1, claim 8, abstract 99: label {shown} is not one of SUPPORT, CONTRADICT{remedy}"
    )


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        ({"evidence": {}}, "line 1: the key 'id' is missing"),
        ({"id": 6}, "line 1, claim 6: the key 'evidence' is missing"),
        ({"id": [6], "evidence": {}}, "line 1: 'id' is a list where a number or text is expected"),
        ({"id": 6, "evidence": []}, "line 1, claim 6: 'evidence' is a list where an object is expected"),
        ({"id": 6, "evidence": None}, "line 1, claim 6: 'evidence' is null where an object is expected"),
        ([6], "line 1: the line is a list where an object is expected"),
        ({"id": 6, "evidence": {"11": []}}, "abstract 11: no evidence sets are listed; leave out abstracts"),
        ({"id": 6, "evidence": {"11": {}}}, "abstract 11: the gold evidence is an object where a list is expected"),
        ({"id": 6, "evidence": {"11": [3]}}, "abstract 11: an evidence set is a number where an object is expected"),
        ({"id": 6, "evidence": {"11": [{"label": "SUPPORT"}]}}, "abstract 11: the key 'sentences' is missing"),
        ({"id": 6, "evidence": {"11": [{"sentences": [1]}]}}, "abstract 11: the key 'label' is missing"),
        (
            {"id": 6, "evidence": {"11": [{"sentences": [1], "label": "SUPPORT"}, {"sentences": [2], "label": None}]}},
            "line 1, claim 6, abstract 11: evidence sets labelled 'SUPPORT' and null",
        ),
    ],
)
def test_bad_gold(gold: object, expected: str) -> None:
    text = problem([gold], [{"id": 6, "evidence": {}}])
    assert text.startswith("<gold>: line 1")
    assert expected in text


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"label": "SUPPORT"}, "the key 'sentences' is missing"),
        ({"sentences": [1]}, "the key 'label' is missing"),
        ({"label": "SUPPORT", "sentences": None}, "'sentences' is null where a list is expected"),
        ({"label": "SUPPORT", "sentences": "1"}, "'sentences' is text where a list is expected"),
        ({"label": "SUPPORT", "sentences": True}, "'sentences' is true where a list is expected"),
        ({"label": "SUPPORT", "sentences": [[1]]}, "'sentences' holds a list or an object"),
        (
            [{"label": "SUPPORT", "sentences": [1]}],
            "a list of entries where one object with label and sentences is expected; "
            "files in this shape are scored with cs-score claims",
        ),
        (7, "the prediction is a number where an object is expected"),
    ],
)
def test_bad_prediction_of_an_abstract_outside_gold(given: object, expected: str) -> None:
    text = problem([GOLD[1]], [{"id": 8, "evidence": {"77": given}}])
    assert text.startswith("<predictions>: line 1, claim 8, abstract 77: ")
    assert expected in text


@pytest.mark.parametrize(
    ("ids", "any_order", "expected"),
    [
        ([7, 8], False, "no prediction for claim 9 of <gold>"),
        ([7, 8], True, "no prediction for claim 9 of <gold>"),
        ([7, 8, 9, 3], False, "line 4, claim 3: <gold> ends before this line"),
        ([3, 7, 8, 9], True, "line 1, claim 3: <gold> has no such claim (or fewer of them)"),
        ([7, 7, 8, 9], True, "line 1, claim 7: <gold> has no such claim (or fewer of them)"),
        ([7, 8, 3], False, "line 3, claim 3: id 3 where <gold> has 9"),
        (
            [8, 7, 9],
            False,
            "line 1, claim 8: id 8 where <gold> has 7; "
            "the claims are those of gold in another order: --any-order matches them by id",
        ),
        (
            ["7", "8", "9"],
            False,
            "line 1, claim 7: id '7' where <gold> has 7; ids are text in one file and numbers in the other",
        ),
    ],
)
def test_id_mismatch(ids: list[object], any_order: bool, expected: str) -> None:
    predictions = [{"id": each, "evidence": {}} for each in ids]
    assert problem(GOLD, predictions, any_order=any_order) == f"<predictions>: {expected}"


def test_any_order_matches_occurrences_of_an_id_one_by_one_and_ids_are_compared_by_value() -> None:
    result = scifact.score(GOLD, [line | {"id": float(line["id"])} for line in reversed(PREDICTIONS)], any_order=True)
    assert result.scores == scifact.score(GOLD, PREDICTIONS).scores
    assert result.table.ids == ("7", "8", "9")
    assert result.origin.options == {"any_order": True}
    first, second = ({"id": 1, "evidence": {key: PREDICTIONS[0]["evidence"][key]}} for key in ("101", "102"))
    gold = [GOLD[0] | {"id": 1}, GOLD[0] | {"id": 1}]
    in_order = scifact.score(gold, [first, second])
    assert in_order.table.ids == ("1", "1")
    assert scifact.score(gold, [first, second], any_order=True).table.rows == in_order.table.rows


def test_explanation_of_a_claim() -> None:
    assert scifact.score([GUIDELINE_GOLD], [GUIDELINE_PREDICTION]).explained(0) == [
        "claim 52",
        "",
        "abstract 11: relevant",
        "  gold       SUPPORT  {0, 1} {11}",
        "  predicted  SUPPORT  [1, 11, 13]",
        "  label only       correct: labels agree",
        "  rationalized     correct: labels agree, the first 3 sentences contain {11}",
        "  sentence 1: wrong: its gold set also needs {0}",
        "  sentence 11: correct",
        "  sentence 13: wrong: in no gold set",
        "",
        "abstract 16: not relevant",
        "  gold       -",
        "  predicted  CONTRADICT  [18, 20]",
        "  wrong      1 abstract, 2 sentences",
        "",
        "abstract 15: not predicted",
        "  gold       SUPPORT  {4}",
        "  missed     1 abstract, 1 sentence",
    ]
    assert scifact.score([GOLD[1]] * 2, [PREDICTIONS[1]] * 2).positions_of(8) == [0, 1]
