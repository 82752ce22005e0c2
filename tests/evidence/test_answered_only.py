"""Scores over the units that were predicted alone: what counts as predicted, and that every output says so."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

import cs_score as cs
from tests.documents import ROOT
from tests.evidence.command import cs_score
from tests.evidence.test_forms import ANSWERS, CLAIMS, DERIVATIONS, ENTRIES, LEADERBOARD, QUESTIONS, REFERENCES, usual

Json = Any


def three(references: Json) -> Json:
    """References of three instances."""
    return {**references, "q3": references["q1"]}


GOLD: Final[Mapping[str, Json]] = {"scifact": CLAIMS, "claims": CLAIMS, "hotpotqa": QUESTIONS, "r4c": three(REFERENCES)}
PREDICTIONS: Final[Mapping[str, Json]] = {
    "scifact": LEADERBOARD[:2],
    "claims": ENTRIES[:2],
    "hotpotqa": {"answer": {"q1": "paris"}, "sp": {"q2": [["Rome", 1]]}},
    "r4c": DERIVATIONS,
}
OTHERS: Final[Mapping[str, Json]] = {
    "scifact": [{"id": 1, "evidence": {}}, {"id": 2, "evidence": {}}],
    "claims": [{"id": 1, "evidence": {}}, {"id": 2, "evidence": {}}],
    "hotpotqa": {"answer": {"q1": "rome", "q2": "no"}, "sp": {}},
    "r4c": {"re": {named: [] for named in DERIVATIONS["re"]}},
}
UNITS: Final = {"scifact": "claims", "claims": "claims", "hotpotqa": "questions", "r4c": "instances"}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, value in (("gold", GOLD[task]), ("a", PREDICTIONS[task]), ("b", OTHERS[task])):
        Path(name).write_bytes(usual(task, value))
    return tmp_path


@pytest.mark.parametrize("task", GOLD)
def test_scores_are_those_of_gold_without_the_other_units(task: str, files: Path) -> None:
    gold = GOLD[task]
    answered = dict(list(gold.items())[:2]) if isinstance(gold, dict) else gold[:2]
    score = getattr(cs, task)
    found = score(gold, PREDICTIONS[task], answered_only=True)
    assert found.scores == score(answered, PREDICTIONS[task]).scores
    assert found.units == score(answered, PREDICTIONS[task]).units
    assert "|answered-only|" in str(found.signature)
    assert f"<predictions>: 1 of 3 {UNITS[task]} left out, without prediction" in found.remarks


@pytest.mark.parametrize("task", GOLD)
def test_with_all_units_predicted_the_scores_are_the_usual_ones(task: str, files: Path) -> None:
    gold = {**REFERENCES} if task == "r4c" else GOLD[task]
    whole = {"scifact": LEADERBOARD, "claims": ENTRIES, "hotpotqa": ANSWERS, "r4c": DERIVATIONS}[task]
    score = getattr(cs, task)
    assert score(gold, whole, answered_only=True).scores == score(gold, whole).scores


def test_a_question_with_facts_alone_and_a_claim_with_an_empty_line_are_predicted() -> None:
    assert cs.hotpotqa(QUESTIONS, {"answer": {}, "sp": {"q3": []}}, answered_only=True).units == ("q3",)
    assert cs.claims(CLAIMS, [{"id": 2, "evidence": {}}], answered_only=True).units == ("2",)
    assert cs.scifact(CLAIMS, [{"id": 2, "evidence": {}}], answered_only=True).units == ("2",)


@pytest.mark.parametrize("task", GOLD)
def test_nothing_predicted_is_nothing_to_score(task: str, files: Path) -> None:
    nothing = {"scifact": [], "claims": [], "hotpotqa": {"answer": {}, "sp": {}}, "r4c": {"re": {}}}[task]
    with pytest.raises(cs.InputError, match="has a prediction, so there is nothing to score"):
        getattr(cs, task)(GOLD[task], nothing, answered_only=True)


def test_predictions_of_unknown_claims_and_another_order_are_still_refused() -> None:
    with pytest.raises(cs.InputError, match="line 3, claim 9"):
        cs.scifact(CLAIMS, [*LEADERBOARD[:2], {"id": 9, "evidence": {}}], answered_only=True)
    with pytest.raises(cs.InputError, match="--any-order"):
        cs.scifact(CLAIMS, LEADERBOARD[:2][::-1], answered_only=True)
    found = cs.scifact(CLAIMS, LEADERBOARD[:2][::-1], answered_only=True, any_order=True)
    assert found.scores == cs.scifact(CLAIMS, LEADERBOARD[:2], answered_only=True).scores


def test_stages_leave_claims_out_as_well() -> None:
    lines = [{"claim_id": 1, "doc_ids": [11, 12]}, {"claim_id": 3, "doc_ids": []}]
    found = cs.scifact(CLAIMS, lines, "retrieval", answered_only=True)
    assert (found.units, found.scores) == (("1", "3"), {"hit_one": 0.5, "hit_all": 0.5})


VERBS: Final[Sequence[tuple[str, ...]]] = (
    ("score", "a"),
    ("score", "a", "--format", "tsv"),
    ("score", "a", "--format", "markdown"),
    ("score", "a", "--format", "latex"),
    ("score", "a", "--measure", "*"),
    ("score", "a", "--bootstrap", "20"),
    ("analyze", "a"),
    ("analyze", "a", "--format", "tsv"),
    ("analyze", "a", "--format", "markdown"),
    ("analyze", "a", "--format", "latex"),
    ("explain", "a"),
    ("explain", "a", "--unit", "ONE"),
    ("explain", "a", "--unit", "ONE", "--format", "tsv"),
    ("diff", "a", "b"),
    ("diff", "a", "b", "--measure", "MEASURE", "--format", "tsv"),
    ("diff", "a", "b", "--format", "markdown"),
    ("compare", "a", "b", "--common"),
    ("compare", "a", "b", "--common", "--all"),
    ("compare", "a", "b", "--common", "--format", "tsv"),
    ("compare", "a", "b", "--common", "--format", "markdown"),
    ("batch", "a", "b", "-o", "scores"),
    ("batch", "a", "b", "-o", "scores", "--format", "tsv"),
    ("check", "a", "--min", "MEASURE=0"),
    ("check", "a", "--min", "MEASURE=0", "--format", "tsv"),
)


@pytest.mark.parametrize("task", GOLD)
def test_every_output_says_how_many_units_count(task: str, files: Path) -> None:
    one = "q1" if task in ("hotpotqa", "r4c") else "1"
    measure = next(iter(getattr(cs, task)(GOLD[task], PREDICTIONS[task], answered_only=True).scores))
    for verb, *words in VERBS:
        typed = [word.replace("ONE", one).replace("MEASURE", measure) for word in words]
        outcome = cs_score(verb, task, "--gold", "gold", "--answered-only", *typed)
        assert outcome.status == 0, (verb, words, outcome.err)
        assert f"2 of 3 {UNITS[task]}" in outcome.out, (verb, words, outcome.out)


@pytest.mark.parametrize("task", GOLD)
def test_json_says_so_and_is_verified(task: str, files: Path) -> None:
    score = cs_score(task, "gold", "a", "--answered-only", "-o", "score.json")
    assert score.status == 0
    origin = json.loads(Path("score.json").read_text("utf-8"))["signature"]["origin"]
    unit = UNITS[task].removesuffix("s")
    assert origin["options"]["answered"] == {"scored": 2, "of": 3, "unit": unit}
    assert origin["options"]["answered_only"] is True
    assert cs_score("verify", "score.json").status == 0
    assert cs_score("batch", task, "--gold", "gold", "a", "b", "-o", "scores", "--answered-only", "--html").status == 0
    assert cs_score("verify", "scores").status == 0
    assert cs_score("report", task, "gold", "a", "--answered-only", "-o", "page.html").status == 0
    page = Path("page.html").read_text("utf-8")
    assert f"2 of 3 {UNITS[task]}" in page
    assert "--answered-only" in page


def test_both_names_in_r4c_give_the_same_scores() -> None:
    gold = three(REFERENCES)
    found = cs.r4c(gold, DERIVATIONS, ignore_missing=True)
    assert found.scores == cs.r4c(gold, DERIVATIONS, answered_only=True).scores
    assert str(found).startswith("r4c: 2 of 3 instances")


def test_large_numbers_have_commas() -> None:
    gold = [{"_id": f"q{number}", "answer": "x", "supporting_facts": []} for number in range(1234)]
    found = cs.hotpotqa(gold, {"answer": {"q7": "x"}, "sp": {}}, answered_only=True)
    assert str(found).startswith("hotpotqa: 1 of 1,234 questions\n")
    assert found.scores["em"] == 1


def test_power_says_how_many_units_count(tmp_path: Path) -> None:
    names = []
    for letter in "ab":
        lines = (ROOT / f"submissions/scifact-{letter}.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        path = tmp_path / f"{letter}.jsonl"
        path.write_text("".join(lines[:6]), encoding="utf-8")
        names.append(str(path))
    gold = str(ROOT / "assessments/scifact-gold.jsonl")
    outcome = cs_score("power", "scifact", "--gold", gold, "--answered-only", *names)
    assert "a.jsonl: scored on 6 of 12 claims, those it answers; b.jsonl: scored on" in " ".join(outcome.out.split())
