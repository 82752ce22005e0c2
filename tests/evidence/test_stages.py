"""SciFact by stage: recorded cases of the stage evaluators, second implementations, every verb."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cs_score as cs
from cs_score.base.errors import InputError
from cs_score.evidence import stages
from cs_score.evidence.mode import Mode
from tests.evidence.command import cs_score
from tests.evidence.recorded import COMMITTED, SHARED, TOLERANCE

Json = Any

MODES: Final[Mapping[str, Mode]] = {"retrieval": stages.RETRIEVAL, "rationale": stages.RATIONALE, "label": stages.LABEL}
CASES: Final = sorted((COMMITTED / "scifact-stages").glob("*/case.json"))
OTHER_CASES: Final = sorted((SHARED / "scifact-stages").glob("*/case.json"))
FIRST_CASE: Final = {"rationale": CASES[0].parent, "label": CASES[1].parent, "retrieval": CASES[2].parent}


@pytest.mark.parametrize("path", [*CASES, *OTHER_CASES], ids=lambda path: path.parent.name)
def test_recorded_case(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    case = json.loads(path.read_text("utf-8"))
    outcome = cs_score(*case["args"], "--format", "json")
    expected = case["expected"]
    if "refused" in expected:
        assert outcome.status in (1, 2)
        assert outcome.err.count("\n") == 1
        return
    assert outcome.status == 0, outcome.err
    scores = outcome.scores
    assert scores.keys() == expected["scores"].keys()
    for name, score in expected["scores"].items():
        assert scores[name] == pytest.approx(score, abs=TOLERANCE)


def claim(named: Json, **evidence: Json) -> Json:
    return {"id": named, "claim": "A", "evidence": {key.strip("_"): sets for key, sets in evidence.items()}}


def gold_set(label: str, *sentences: int) -> Json:
    return {"label": label, "sentences": list(sentences)}


GOLD: Final = [
    claim(1, _11=[gold_set("SUPPORT", 1, 2), gold_set("SUPPORT", 4)], _12=[gold_set("CONTRADICT", 0)]),
    claim(2),
    claim(3, _13=[gold_set("SUPPORT", 5)]),
]
LEADERBOARD: Final = [
    {"id": 1, "evidence": {"11": gold_set("SUPPORT", 4, 1), "14": gold_set("CONTRADICT", 3)}},
    {"id": 2, "evidence": {}},
    {"id": 3, "evidence": {"13": gold_set("CONTRADICT", 5)}},
]
OF_STAGE: Final[Mapping[str, Json]] = {
    "retrieval": [
        {"claim_id": 1, "doc_ids": [11, 14]},
        {"claim_id": 2, "doc_ids": []},
        {"claim_id": 3, "doc_ids": [13]},
    ],
    "rationale": [
        {"claim_id": 1, "evidence": {"11": [4, 1], "14": [3]}},
        {"claim_id": 2, "evidence": {}},
        {"claim_id": 3, "evidence": {"13": [5]}},
    ],
    "label": [
        {"claim_id": 1, "labels": {"11": {"label": "SUPPORT"}, "14": {"label": "CONTRADICT"}}},
        {"claim_id": 2, "labels": {}},
        {"claim_id": 3, "labels": {"13": {"label": "CONTRADICT"}}},
    ],
}  # fmt: skip

RETRIEVED: Final = OF_STAGE["retrieval"]

# By hand. Retrieval: claim 1 has one of two, claim 2 has none to find, claim 3 has all. Rationales: 4 and 5 are whole
# sets, 1 lacks 2, 3 is in none; gold has five sentences. Labels: one of three is right; 14 has no evidence in gold.
BY_HAND: Final[Mapping[str, Mapping[str, float]]] = {
    "retrieval": {"hit_one": 1, "hit_all": 2 / 3},
    "rationale": {"precision": 2 / 4, "recall": 2 / 5, "f1": 4 / 9},
    "label": {
        "accuracy": 1 / 3, "contradict_precision": 0, "contradict_recall": 0, "contradict_f1": 0,
        "not_enough_info_precision": 0, "not_enough_info_recall": 0, "not_enough_info_f1": 0,
        "support_precision": 1, "support_recall": 1 / 2, "support_f1": 2 / 3,
        "macro_f1": 2 / 9, "macro_f1_without_nei": 1 / 3,
    },
}  # fmt: skip


@pytest.mark.parametrize("stage", MODES)
@pytest.mark.parametrize("form", ["stage", "leaderboard"])
def test_scores_by_hand_from_the_file_of_a_stage_and_from_the_leaderboards(stage: str, form: str) -> None:
    predictions = OF_STAGE[stage] if form == "stage" else LEADERBOARD
    result = MODES[stage].score(GOLD, predictions)
    assert result.scores == pytest.approx(BY_HAND[stage])
    assert cs.scifact(GOLD, predictions, stage=stage).scores == result.scores
    backwards = predictions[::-1]
    assert MODES[stage].score(GOLD, backwards, any_order=True).scores == result.scores
    if stage != "retrieval":
        with pytest.raises(InputError, match=r"line 1: id 3 where <gold> has 1; --any-order matches claims by id"):
            MODES[stage].score(GOLD, backwards)
        return
    assert MODES[stage].score(GOLD, backwards).scores == result.scores


def test_only_labels_that_occur_are_in_the_mean() -> None:
    gold, predictions = GOLD[:1], [{"claim_id": 1, "labels": {"11": {"label": "SUPPORT"}}}]
    scores = stages.LABEL.score(gold, predictions).scores
    assert (scores["macro_f1"], scores["macro_f1_without_nei"]) == (1.0, 0.5)


@pytest.mark.parametrize(
    ("stage", "gold", "predictions", "said"),
    [
        ("retrieval", GOLD, [*RETRIEVED, {"claim_id": 9, "doc_ids": []}], "line 4, claim 9: <gold> has no such claim"),
        ("retrieval", GOLD, [*RETRIEVED, {"claim_id": 3, "doc_ids": []}], "line 4: claim 3 occurs twice"),
        ("retrieval", GOLD, RETRIEVED[:2], "predictions for 2 claims, where <gold> has 3; write a line for every"),
        ("label", GOLD, OF_STAGE["label"][:2], "predictions for 2 claims, where <gold> has 3"),
        ("retrieval", GOLD[:1], [{"claim_id": 1, "doc_ids": ["11"]}], "claim 1: 'doc_ids' holds '11' where a whole"),
        ("retrieval", GOLD[:1], [{"claim_id": 1, "doc_ids": [True]}], "'doc_ids' holds true where a whole number"),
        ("retrieval", GOLD[:1], [{"id": 1, "evidence": {"x": {}}}], "document x: document id is not an integer"),
        ("retrieval", [claim(1, x=[gold_set("SUPPORT", 1)])], [{"claim_id": 1, "doc_ids": []}], "<gold>: claim 1, "),
        ("label", GOLD[:1], [{"claim_id": 1, "labels": {"11": {"label": "REFUTES"}}}], "11: label 'REFUTES' is n"),
        ("label", GOLD[:1], [{"claim_id": 1, "labels": {}}], "no document has a label, so there is nothing to score"),
        (
            "label", [claim(1, _11=[gold_set("SUPPORT", 1), gold_set("CONTRADICT", 2)])],
            [{"claim_id": 1, "labels": {"12": {"label": "SUPPORT"}}}],
            "evidence sets labelled 'SUPPORT' and 'CONTRADICT'",
        ),
        ("rationale", GOLD[:1], [{"claim_id": 1, "evidence": {"11": [[1]]}}], "'sentences' holds a list or an object"),
        ("rationale", GOLD[:1], [{"claim_id": 1}], "claim 1: the key 'evidence' is missing"),
        ("rationale", GOLD[:1], [{"evidence": {}}], "the key 'claim_id' is missing"),
    ],
)  # fmt: skip
def test_what_is_refused(stage: str, gold: Json, predictions: Json, said: str) -> None:
    with pytest.raises(InputError) as raised:
        MODES[stage].score(gold, predictions)
    assert said in str(raised.value)


def test_two_labels_of_a_document_are_refused_for_labels_only() -> None:
    gold = [claim(1, _11=[gold_set("SUPPORT", 1), gold_set("CONTRADICT", 2)])]
    assert stages.RETRIEVAL.score(gold, [{"claim_id": 1, "doc_ids": [11]}]).scores["hit_all"] == 1
    assert stages.RATIONALE.score(gold, [{"claim_id": 1, "evidence": {"11": [2]}}]).scores["f1"] == 2 / 3


# ---- Second implementations

_SENTENCES: Final = st.lists(st.integers(0, 4), max_size=4)
_SETS: Final = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=3), min_size=1, max_size=3)


@given(st.dictionaries(st.sampled_from("12"), _SETS), st.dictionaries(st.sampled_from("123"), _SENTENCES))
def test_rationales_as_counted_one_by_one(gold: Json, predicted: Json) -> None:
    relevant = [sentence for sets in gold.values() for each in sets for sentence in each]
    retrieved = [(document, sentence) for document, sentences in predicted.items() for sentence in sentences]
    correct = 0
    for document, sentence in retrieved:
        for each in gold.get(document, []):
            if sentence in each:
                correct += all(other in predicted[document] for other in each)
                break
    evidence = {document: [gold_set("SUPPORT", *each) for each in sets] for document, sets in gold.items()}
    row = stages.RATIONALE.score(
        [{"id": 1, "evidence": evidence}], [{"claim_id": 1, "evidence": predicted}]
    ).table.rows[0]
    assert row == (len(relevant), len(retrieved), correct)


_PAIRS: Final = st.lists(st.tuples(st.sampled_from(stages.LABELS), st.sampled_from(stages.LABELS)), min_size=1)


@given(_PAIRS)
def test_labels_as_counted_one_by_one(pairs: list[tuple[str, str]]) -> None:
    evidence = {str(number): [gold_set(gold, 1)] for number, (gold, _) in enumerate(pairs) if gold != "NOT_ENOUGH_INFO"}
    labels = {str(number): {"label": predicted} for number, (_, predicted) in enumerate(pairs)}
    scores = stages.LABEL.score([{"id": 1, "evidence": evidence}], [{"claim_id": 1, "labels": labels}]).scores
    f1 = {}
    for label in stages.LABELS:
        both = sum(gold == label and predicted == label for gold, predicted in pairs)
        either = sum(gold == label for gold, _ in pairs) + sum(predicted == label for _, predicted in pairs)
        if either:
            f1[label] = 2 * both / either
            assert scores[f"{label.lower()}_f1"] == pytest.approx(f1[label])
    assert scores["accuracy"] == pytest.approx(sum(gold == predicted for gold, predicted in pairs) / len(pairs))
    assert scores["macro_f1"] == pytest.approx(sum(f1.values()) / len(f1))
    without = [f1.get("SUPPORT", 0), f1.get("CONTRADICT", 0)]
    assert scores["macro_f1_without_nei"] == pytest.approx(sum(without) / 2)


# ---- Every verb


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str) -> Path:
    monkeypatch.chdir(tmp_path)
    worse = [{**line, **emptied} for line, emptied in zip(OF_STAGE[stage], _WORSE[stage])]
    for name, lines in (("gold", GOLD), ("a", OF_STAGE[stage]), ("b", worse)):
        Path(f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return tmp_path


_WORSE: Final[Mapping[str, Json]] = {
    "retrieval": [{"doc_ids": []}, {}, {}],
    "rationale": [{"evidence": {}}, {}, {}],
    "label": [{"labels": {"11": {"label": "CONTRADICT"}}}, {}, {}],
}


@pytest.mark.parametrize("stage", MODES)
def test_every_verb_takes_a_stage(stage: str, files: Path) -> None:
    chosen = ("scifact", "--stage", stage, "--gold", "gold.jsonl")
    measure = next(iter(MODES[stage].measures))
    for words in (
        ("analyze", *chosen, "a.jsonl", "-o", "analysis.json"),
        ("explain", *chosen, "a.jsonl", "--unit", "1"),
        ("diff", *chosen, "a.jsonl", "b.jsonl", "-o", "difference.json"),
        ("compare", *chosen, "a.jsonl", "b.jsonl"),
        ("report", *chosen, "a.jsonl", "-o", "page.html"),
        ("batch", *chosen, "a.jsonl", "b.jsonl", "-o", "scores", "--html"),
        ("power", *chosen, "a.jsonl", "b.jsonl"),
        ("score", *chosen, "a.jsonl", "-o", "score.json", "--bootstrap", "50"),
        ("check", *chosen, "a.jsonl", "--min", f"{measure}=0"),
        ("check", *chosen, "a.jsonl", "--baseline", "score.json"),
        ("verify", "score.json"),
        ("verify", "scores/leaderboard.json"),
    ):
        outcome = cs_score(*words)
        assert outcome.status == 0, (words, outcome.err)
    assert f"--stage {stage}" in Path("page.html").read_text("utf-8")
    text = cs_score(*chosen, "a.jsonl").out
    assert text.startswith(f"scifact-{stage}: 3 claims\n")
    assert ("gold \\ predicted" in text) == (stage == "label")
    loaded: Any = cs.load("score.json")
    assert loaded.scores == pytest.approx(BY_HAND[stage])


@pytest.mark.parametrize("stage", MODES)
def test_gains_are_those_of_scoring_again(stage: str, files: Path) -> None:
    result = cs.scifact("gold.jsonl", "b.jsonl", stage=stage)
    analysis = json.loads(cs_score("analyze", "scifact", "--stage", stage, "gold.jsonl", "b.jsonl", "--json").out)
    assert analysis["mistakes"]
    lines = [json.loads(line) for line in Path("b.jsonl").read_text("utf-8").splitlines()]
    for mistake in analysis["mistakes"]:
        corrected = [mistake["prediction"] if line["claim_id"] == mistake["unit"] else line for line in lines]
        again = cs.scifact("gold.jsonl", corrected, stage=stage)
        for name, effect in mistake["effects"].items():
            assert effect == pytest.approx(again.scores[name] - result.scores[name], abs=TOLERANCE)


def test_files_of_stages_get_the_line_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gold.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in GOLD), "utf-8")
    for stage, lines in OF_STAGE.items():
        Path("p.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
        command = f"cs-score scifact --stage {stage} --gold gold.jsonl --predictions p.jsonl"
        others = [("--stage", other) for other in MODES if other != stage]
        for task, words in [("scifact", ()), ("claims", ()), *(("scifact", words) for words in others)]:
            outcome = cs_score(task, *words, "--gold", "gold.jsonl", "--predictions", "p.jsonl")
            assert outcome.complaint.endswith(f"; write {command}")
        assert cs_score(*command.split()[1:]).status == 0


def test_an_unknown_stage_is_wrong_usage() -> None:
    outcome = cs_score("scifact", "--stage", "retrieve", "--gold", "g", "--predictions", "p")
    assert outcome.status == 2
    assert "--stage takes retrieval, rationale, label, not retrieve; did you mean retrieval?" in outcome.err
