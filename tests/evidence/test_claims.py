"""Claim verification: worked examples, what is and is not looked at, messages, explanations."""

from __future__ import annotations

from typing import Any, Final

import pytest

from cs_score.base.errors import InputError
from cs_score.evidence import claims

Json = dict[str, Any]


def entry(label: object, *sentences: object) -> Json:
    return {"sentences": list(sentences), "label": label}


GOLD: list[Json] = [
    {
        "id": 1,
        "label": "SUPPORT",
        "cited_doc_ids": [10, 20, 30],
        "evidence": {"10": [entry("SUPPORT", 0, 1), entry("SUPPORT", 4)], "20": [entry("CONTRADICT", 3)]},
    },
    {"id": 2, "label": "NOT_ENOUGH_INFO", "cited_doc_ids": [40], "evidence": {}},
    {"id": 3, "label": "CONTRADICT", "cited_doc_ids": [50], "evidence": {"50": [entry("CONTRADICT", 7)]}},
]
PREDICTIONS: list[Json] = [
    {
        "id": 1,
        "label": "SUPPORT",
        "evidence": {"10": [entry("SUPPORT", 0, 1, 4, 6)], "20": [entry("SUPPORT", 3, 5)], "60": [entry("SUPPORT", 1)]},
    },
    {"id": 2, "label": "CONTRADICT", "evidence": {"40": [entry("CONTRADICT", 0)]}},
]


def counts(gold: Json, *predictions: Json) -> dict[str, float]:
    """The statistics of one claim."""
    table = claims.MODE.score([{"id": 1, **gold}], [{"id": 1, **prediction} for prediction in predictions]).table
    return dict(zip(table.columns, table.rows[0]))


def level(counted: dict[str, float], name: str) -> tuple[float, ...]:
    return tuple(counted[f"{name}_{outcome}"] for outcome in ("tp", "fp", "fn"))


@pytest.mark.parametrize("cited", [[10], ["10"], ["010"], [" +10 "], [10.9], ["1_0"], ["١٠"]])
def test_document_ids_are_converted_as_python_does(cited: list[object]) -> None:
    assert level(counts({"cited_doc_ids": cited}, {"evidence": {"10": []}}), "abstract") == (1, 0, 0)


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [
        ([], (0, 0, 2)),
        ([entry("S", 1)], (1, 0, 1)),
        ([entry("S", 9), entry("S", 1, 2)], (0, 1, 2)),  # only the first entry with the label
        ([entry("C", 9), entry("S", 1, 2)], (2, 0, 0)),
        ([entry("C", 1, 1, 2)], (0, 3, 2)),  # no entry with the label: lengths of the lists
        ([entry("s", 1)], (0, 1, 2)),
        ([entry("S", 1), {"sentences": "broken"}, 5], (1, 0, 1)),  # later entries are not looked at
    ],
)
def test_first_entry_with_the_label(predicted: list[object], expected: tuple[int, ...]) -> None:
    gold = {"evidence": {"10": [entry("S", 1, 2)]}}
    assert level(counts(gold, {"evidence": {"10": predicted}}), "sentence") == expected


@pytest.mark.parametrize(("predictions", "correct"), [([{"label": None}], 1), ([{}], 0), ([], 0)])
def test_a_label_may_be_null(predictions: list[Json], correct: int) -> None:
    counted = counts({"label": None}, *predictions)
    assert (counted["labelled"], counted["label_correct"]) == (1, correct)


def test_what_is_not_compared_is_not_looked_at() -> None:
    """Documents of claims without prediction, and predicted evidence of documents that gold has none for."""
    counted = counts({"cited_doc_ids": ["PMC7"], "evidence": {"PMC7": [{"sentences": [1]}]}})
    assert (level(counted, "abstract"), level(counted, "sentence")) == ((0, 0, 1), (0, 0, 1))
    gold = {"cited_doc_ids": [10], "evidence": {"10": [entry("S", 1)]}}
    counted = counts(gold, {"evidence": {"10": [entry("S", 1)], "11": None, "12": [{"broken": 1}]}})
    assert (level(counted, "abstract"), level(counted, "sentence")) == ((1, 2, 0), (1, 0, 0))


ONE_SET: Json = {"evidence": {"5": [entry("S", 1)]}}
IN_GOLD, IN_PREDICTIONS = "<gold>: claim 2, document 5: ", "<predictions>: claim 2, document 5: "


@pytest.mark.parametrize(
    ("gold", "prediction", "expected"),
    [
        ({"cited_doc_ids": ["x"]}, {}, "<gold>: claim 2, document x: document id is not an integer"),
        ({"cited_doc_ids": [[1]]}, {}, "<gold>: claim 2, document a list: document id is not an integer"),
        ({"cited_doc_ids": [float("inf")]}, {}, "<gold>: claim 2, document Infinity: document id is not an integer"),
        ({"cited_doc_ids": ["9" * 5000]}, {}, "document id is not an integer"),
        ({"evidence": {"x": []}}, {}, "<gold>: claim 2, document x: document id is not an integer"),
        ({"cited_doc_ids": None}, {}, "<gold>: claim 2: 'cited_doc_ids' is null where a list is expected"),
        ({"evidence": [1]}, {}, "<gold>: claim 2: 'evidence' is a list where an object is expected"),
        ({"evidence": {"5": 8}}, {}, f"{IN_GOLD}the evidence of the document is a number"),
        (
            ONE_SET,
            {"evidence": {"5": entry("S", 1)}},
            f"{IN_PREDICTIONS}one object where a list of entries is expected; "
            "files in this shape are scored with cs-score scifact",
        ),
        (ONE_SET, {"evidence": {"5": None}}, f"{IN_PREDICTIONS}the evidence of the document is null where a list"),
        (ONE_SET, {"evidence": {"5": ["S"]}}, f"{IN_PREDICTIONS}an entry is text where an object is expected"),
        (ONE_SET, {"evidence": {"5": [{"sentences": []}]}}, f"{IN_PREDICTIONS}the key 'label' is missing"),
        (ONE_SET, {"evidence": {"5": [entry("S", [1])]}}, f"{IN_PREDICTIONS}'sentences' holds a list or an object"),
    ],
)
def test_bad_claim(gold: Json, prediction: Json, expected: str) -> None:
    with pytest.raises(InputError) as raised:
        claims.MODE.score([{"id": 2, **gold}], [{"id": 2, "evidence": {}, **prediction}])
    assert expected in str(raised.value)


@pytest.mark.parametrize("line", [{"label": "S"}, [1], {"id": {}}])
def test_bad_line(line: object) -> None:
    for role, gold, predictions in (("gold", [GOLD[1], line], []), ("predictions", [], [GOLD[1], line])):
        with pytest.raises(InputError, match=f"^<{role}>: line 2: "):
            claims.MODE.score(gold, predictions)


def test_explanation_where_no_entry_has_the_label_of_a_set() -> None:
    lines = claims.MODE.score(GOLD, PREDICTIONS).explained(0)
    at = lines.index("document 20, gold set CONTRADICT {3}")
    assert lines[at + 1 :] == [
        "  predicted  no predicted entry has this label, so every listed sentence (2) is wrong",
        "  sentences  tp 0, fp 2, fn 1",
        "",
        "label: correct, gold SUPPORT, predicted SUPPORT",
    ]


DEVELOPMENT_SETS: Final = (
    ("SUPPORT", 1, False, 191), ("SUPPORT", 1, True, 8), ("SUPPORT", 2, False, 15),
    ("SUPPORT", 3, False, 1), ("SUPPORT", 3, True, 1),
    ("CONTRADICT", 1, False, 111), ("CONTRADICT", 1, True, 3), ("CONTRADICT", 2, False, 7), ("CONTRADICT", 3, False, 1),
)  # fmt: skip
"""The 338 gold sets of SciFact's public development file: label, sentences, whether the first of the abstract is one of
them, how many sets are so. Its 300 claims cite 339 abstracts."""


def test_published_baseline_of_perfect_retrieval_and_the_majority_label() -> None:
    """The guide's row "Oracle + Majority", 2.56 % and 100 %: of each cited abstract the first sentence, as SUPPORT.

    Every set is compared anew, so that it does not matter how the sets are spread over the abstracts.
    """
    sets = [
        entry(label, *range(0 if has_first else 1, size if has_first else size + 1))
        for label, size, has_first, times in DEVELOPMENT_SETS
        for _ in range(times)
    ]
    gold: list[Json] = [{"id": number, "cited_doc_ids": [], "evidence": {}} for number in range(300)]
    for document in range(339):
        claim = gold[document % 300]
        claim["cited_doc_ids"].append(document)
        claim["evidence"].update({str(document): [each] for each in sets[document : document + 1]})
    baseline = [
        {"id": claim["id"], "evidence": {str(each): [entry("SUPPORT", 0)] for each in claim["cited_doc_ids"]}}
        for claim in gold
    ]
    result = claims.MODE.score(gold, baseline)
    assert result.table.sums() == (339, 0, 0, 9, 329, 357, 0, 0)
    shown = [round(result.scores[f"sentence_{name}"], 4) for name in ("precision", "recall", "f1")]
    assert shown == [0.0266, 0.0246, 0.0256]
    assert [result.scores[f"abstract_{name}"] for name in ("precision", "recall", "f1")] == [1, 1, 1]
