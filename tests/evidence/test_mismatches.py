"""Differences of writing that can only lower a score: one notice each, the scores as the official evaluator's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

import cs_score as cs
from cs_score.evidence.mismatches import is_same_id
from tests.evidence.command import cs_score
from tests.evidence.test_forms import ANSWERS, CLAIMS, ENTRIES, LEADERBOARD, QUESTIONS, rows_of_data_set, usual

Json = Any


def replaced(value: Json, *pairs: tuple[str, str]) -> Json:
    """A JSON value with parts of its text replaced."""
    text = json.dumps(value)
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return json.loads(text)


LABELLED: Final = [{**claim, "label": "SUPPORT"} for claim in CLAIMS]
TEXT_NUMBERS: Final = "sentence numbers are text where <gold> has numbers (claim 1, "
WIKI: Final = [{**question, "type": "compositional"} for question in QUESTIONS]

NOTICED: Final[Json] = [
    (
        "scifact",
        CLAIMS,
        replaced(LEADERBOARD, ("[1, 2, 5]", '["1", "2", "5"]')),
        f"<predictions>: {TEXT_NUMBERS}abstract",
    ),
    (
        "scifact",
        replaced(CLAIMS, ("[1, 2]", '["1", "2"]')),
        LEADERBOARD,
        "are numbers where <gold> has text (claim 1, ",
    ),
    ("scifact", replaced(CLAIMS, ('"SUPPORT"', '"SUPPORTS"')), LEADERBOARD, "<gold>: labels 'SUPPORTS', which no pred"),
    (
        "scifact",
        CLAIMS,
        replaced(LEADERBOARD, ('"11"', '"0011"')),
        "of abstracts are written otherwise than in gold (cl",
    ),
    ("scifact", CLAIMS, replaced(LEADERBOARD, ('"11"', '"PMC11"')), "(claim 1: 'PMC11', in <gold> '11'), so that they"),
    (
        "scifact",
        replaced(CLAIMS, ('"11"', '"S2:11"')),
        LEADERBOARD,
        "(claim 1: '11', in <gold> 'S2:11'), so that they ",
    ),
    ("scifact", [{**claim, "evidence": {}} for claim in CLAIMS], LEADERBOARD, "<gold>: no claim has evidence, so that"),
    (
        "claims",
        LABELLED,
        replaced(ENTRIES, ("[1, 2, 5]", '["1", "2", "5"]')),
        f"<predictions>: {TEXT_NUMBERS}document 1",
    ),
    (
        "claims",
        LABELLED,
        replaced(ENTRIES, ('"11"', '"011"')),
        "ids of documents are written otherwise than in gold (cl",
    ),
    (
        "claims",
        LABELLED,
        replaced(ENTRIES, ('"SUPPORT"', '"SUPPORTS"'), ('"CONTRADICT"', '"REFUTES"')),
        "<gold>: labels 'CONTRADICT', 'SUPPORT', where <predictions> has 'REFUTES', 'SUPPORTS': never equal",
    ),
    (
        "claims",
        LABELLED,
        [{**line, "id": str(line["id"])} for line in ENTRIES],
        "<predictions>: ids are text where <gold> has numbers (claim 1), so that they are not matched",
    ),
    ("claims", CLAIMS, ENTRIES, "<gold>: no claim has a label, so that label_accuracy is 0"),
    (
        "claims",
        [{"id": 1, "claim": "A", "label": "SUPPORT"}],
        ENTRIES,
        "<gold>: no claim has evidence or cites documents, so that only labels count",
    ),
    ("claims", ENTRIES, LABELLED, "no claim cites documents, where <predictions> does: are the files swapped?"),
    ("claims", rows_of_data_set(LABELLED), ENTRIES, "<gold>: the rows of the Hugging Face data set have no evidence"),
    (
        "hotpotqa",
        QUESTIONS,
        replaced(ANSWERS, ('"France", 0', '"France", "0"')),
        "sentence numbers of facts are text in",
    ),
    (
        "hotpotqa",
        QUESTIONS,
        replaced(ANSWERS, ('"France"', '"france"')),
        "titles of facts have another letter case or o",
    ),
    (
        "hotpotqa",
        [{**question, "_id": number} for number, question in enumerate(QUESTIONS)],
        {"answer": {"0": "Paris"}, "sp": {}},
        "<predictions>: ids are text where <gold> has numbers (question 0)",
    ),
    (
        "hotpotqa",
        WIKI,
        ANSWERS,
        "<gold> looks like gold of 2WikiMultihopQA, whose own evaluation also accepts the aliases",
    ),
]


@pytest.mark.parametrize(("task", "gold", "predictions", "said"), NOTICED)
def test_a_mismatch_is_noticed_once(task: str, gold: Json, predictions: Json, said: str) -> None:
    result = getattr(cs, task)(gold, predictions)
    found = [remark for remark in result.remarks if said in remark]
    assert len(found) == 1, result.remarks


@pytest.mark.parametrize(
    ("task", "gold", "predictions"),
    [
        ("scifact", CLAIMS, LEADERBOARD),
        (
            "scifact",
            CLAIMS,
            [{"id": line["id"], "evidence": {"7": LEADERBOARD[0]["evidence"]["11"]}} for line in CLAIMS],
        ),
        ("claims", LABELLED, ENTRIES),
        ("hotpotqa", QUESTIONS, ANSWERS),
    ],
)
def test_files_as_wanted_get_no_notice(task: str, gold: Json, predictions: Json) -> None:
    assert getattr(cs, task)(gold, predictions).remarks == ()


def test_the_notice_goes_to_standard_error_and_the_scores_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    as_text = replaced(LEADERBOARD, ("[1, 2, 5]", '["1", "2", "5"]'))
    Path("gold").write_bytes(usual("scifact", CLAIMS))
    Path("a").write_bytes(usual("scifact", as_text))
    outcome = cs_score("scifact", "gold", "a", "--json")
    assert outcome.err.startswith("cs-score: a: sentence numbers are text where gold has numbers")
    assert outcome.err.count("\n") == 1
    assert outcome.scores["sentence_selection_f1"] == pytest.approx(2 * 1 / (4 + 4))
    compared = cs_score("compare", "scifact", "--gold", "gold", "a", "a")
    assert compared.err.count("sentence numbers are text") == 1


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("11", "11.0", True),
        ("PMC11", "pmc11", True),
        ("PMC11", "11", True),
        ("0011", "11", True),
        (" 11", "11", True),
        ("111", "11", False),
        ("2020-11", "11", True),
        ("2020-11", "2021-11", False),
        ("11", "12", False),
        ("", "0", False),
        ("ab", "b", False),
    ],
)
def test_ids_that_differ_in_writing_alone(one: str, other: str, is_same: bool) -> None:
    assert is_same_id(one, other) is is_same_id(other, one) is is_same


def test_incomplete_predictions_say_how_many_and_the_line_to_write() -> None:
    for predictions in (LEADERBOARD[:1], [LEADERBOARD[0], LEADERBOARD[2]]):
        with pytest.raises(cs.InputError) as raised:
            cs.scifact(CLAIMS, predictions)
        said = str(raised.value)
        lacking = len(CLAIMS) - len(predictions)
        assert f"({lacking} of 3 claims have none)" in said
        assert said.endswith(
            '; write {"id": 2, "evidence": {}} for a claim without evidence, or score the others with --answered-only'
        )
    line = json.loads(said[said.index("write ") + len("write ") : said.index(" for a claim")])
    cs.scifact(CLAIMS, [LEADERBOARD[0], line, LEADERBOARD[2]])
    cs.scifact(CLAIMS, LEADERBOARD[:1], answered_only=True)
