"""Every verb on judged answers, with numbers worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

import cs_score as cs
from tests.evidence.command import cs_score

POLICY: Final = "right=yes,half=partly,wrong=no"

GOLD: Final = """unit,answer,label,class,kind
A,x,yes,c1,old
A,y,partly,c2,old
A,z,no,,old
B,p,yes,,new
"""
RUN: Final = """unit,answer,confidence
A,x,0.9
A,z,0.8
A,y,0.7
A,X,0.6
B,q,0.5
"""
SEVERAL: Final = """unit,answer,label,run
A,x,yes,s1
B,y,no,s1
A,z,no,s2
B,w,no,s2
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, content in (("gold.csv", GOLD), ("run.csv", RUN), ("several.csv", SEVERAL)):
        (tmp_path / name).write_text(content)
    return tmp_path


def _printed(*words: str, policy: str = POLICY) -> str:
    outcome = cs_score(*words, "--policy", policy)
    assert outcome.status == 0, outcome.err
    return outcome.out


def _document(*words: str, policy: str = POLICY) -> Any:
    return json.loads(_printed(*words, "--format", "json", policy=policy))


FILES: Final = ("pool", "--gold", "gold.csv", "--predictions", "run.csv")


def test_the_head_says_the_denominators() -> None:
    """A: x right, z wrong, y half; X and q are unassessed, and ignored unless somebody names them."""
    text = _printed("score", *FILES)
    assert "5 answers: 1 right, 1 half, 1 wrong, 2 ignored (2 unassessed, 0 duplicates)" in text.replace("\n", " ")
    document = _document("score", *FILES)
    assert document["micro-p"] == pytest.approx(1.5 / 3)
    assert document["micro-r"] == pytest.approx(1.5 / 3)
    assert document["coverage"] == 0.5
    assert document["ap"] == pytest.approx((1 + 1.5 / 3) / 2 / 2)
    assert document["signature"]["measure"] == "micro-f1"


def test_accuracy_is_the_headline_where_every_unit_wants_one_answer() -> None:
    document = _document("score", "pool", "several.csv", "--run", "s1")
    assert document["signature"]["measure"] == "micro-r"
    assert "accuracy 0.5000" in _printed("score", "pool", "several.csv", "--run", "s1")


def test_a_file_with_several_runs_has_a_result_for_each() -> None:
    runs = _document("score", "pool", "several.csv")["runs"]
    assert [(run["run"], run["scores"]["micro-r"]) for run in runs] == [("s1", 0.5), ("s2", 0.0)]
    compared = _document("compare", "pool", "several.csv", "--bootstrap", "99")
    assert [system["name"] for system in compared["measures"][0]["systems"]] == ["s1", "s2"]
    difference = _document("diff", "pool", "several.csv", "--bootstrap", "99")
    assert (difference["names"], difference["difference"]) == ({"a": "s1", "b": "s2"}, -0.5)
    outcome = cs_score("analyze", "pool", "several.csv", "--policy", POLICY)
    assert outcome.status == 2
    assert "choose one with --run ID" in outcome.err


def test_what_mistakes_cost() -> None:
    analysis = _document("analyze", *FILES)
    budget = {row["kind"]: (row["count"], row["cumulated"]) for row in analysis["budget"]}
    assert list(budget) == ["wrong_answer:no", "half", "duplicate", "unassessed", "missed_class"]
    assert budget["wrong_answer:no"] == (1, pytest.approx(2 * 0.75 * 0.5 / 1.25))
    assert budget["missed_class"] == (1, 1.0)
    missed = next(each for each in analysis["mistakes"] if each["kind"] == "missed_class")
    assert missed["gold"] == {"class": "p", "answer": "p"}
    assert {row["group"] for row in analysis["groups"]["kind"]} == {"old", "new"}


def test_scenarios_for_answers_without_assessment() -> None:
    """Wrong: 1.5 of 5 and 1.5 of 3. Right: 3.5 of 5 answers, and 3.5 of 5 classes, as each is wanted, too."""
    scenarios = {row["scenario"]: row["scores"] for row in _document("analyze", *FILES)["scenarios"]}
    assert scenarios["pessimistic"]["micro-p"] == pytest.approx(1.5 / 5)
    assert scenarios["pessimistic"]["micro-r"] == pytest.approx(1.5 / 3)
    assert scenarios["optimistic"]["micro-p"] == pytest.approx(3.5 / 5)
    assert scenarios["optimistic"]["micro-r"] == pytest.approx(3.5 / 5)


def test_other_policies_from_one_reading() -> None:
    other = "right=yes:partly,wrong=no:UNASSESSED"
    analysis = _document("analyze", *FILES, "--also-policy", other)
    [row] = analysis["policies"]
    assert row["score"] == pytest.approx(_document("score", *FILES, policy=other)["micro-f1"])
    difference = _document("diff", *FILES[:3], "run.csv", "--policy-b", other)
    assert difference["b"] == pytest.approx(row["score"])
    assert [unit["unit"] for unit in difference["units"]] == ["A", "B"]


def test_explanation_says_why_a_line_counts() -> None:
    text = _printed("explain", *FILES, "--unit", "A")
    assert "wrong, rank 2: no" in text
    assert "half, rank 3: partly, class c2" in text
    assert "differs in blanks, Unicode form or letter case only: x is yes" in text


def test_a_duplicate_names_the_line_that_counts(folder: Path) -> None:
    (folder / "run.csv").write_text("unit,answer,label,class\nA,x,yes,c\nA,y,yes,c\n")
    text = _printed("explain", "pool", "run.csv", "--unit", "A")
    assert "ignored: DUPLICATE of line 2, which counts for the same class, class c" in text


def test_batch_check_verify_power_and_pages(folder: Path) -> None:
    (folder / "other.csv").write_text(RUN.replace("A,z", "B,p"))
    assert "other" in _printed("batch", *FILES[:3], "run.csv", "other.csv", "-o", "scored", "--html")
    assert cs_score("verify", "scored").status == 0
    assert "kept" in _printed("check", *FILES, "--min", "micro-r=0.5")
    _printed("score", *FILES, "-o", "result.json")
    assert cs_score("verify", "result.json").status == 0
    assert "Detectable" in _printed("power", *FILES[:3], "run.csv", "other.csv")
    _printed("report", *FILES, "-o", "page.html")
    page = (folder / "page.html").read_text()
    assert "every unassessed answer wrong" in page
    assert "5 answers: 1 right" in page


def test_a_labelled_run_is_verified_without_gold() -> None:
    _printed("score", "pool", "several.csv", "--run", "s1", "-o", "result.json")
    assert cs_score("verify", "result.json").status == 0


def test_per_unit_numbers_give_the_scores_again() -> None:
    _printed("score", "pool", "several.csv", "--per-unit", "units.tsv")
    compared = json.loads(cs_score("compare", "table", "units.tsv", "--bootstrap", "9", "--format", "json").out)
    scores = {found["measure"]: [each["score"] for each in found["systems"]] for found in compared["measures"]}
    assert scores["micro-r"] == [0.5, 0.0]


def test_the_policy_may_stand_in_a_file(folder: Path) -> None:
    (folder / "policy.json").write_text(json.dumps({"right": ["yes"], "half": ["partly"], "wrong": ["no"]}))
    assert _document("score", *FILES, policy="policy.json") == _document("score", *FILES)


def test_python() -> None:
    rows = [{"unit": "a", "answer": "x", "label": "yes"}, {"unit": "b", "answer": "y", "label": "no"}]
    result = cs.pool(rows, policy={"right": ["yes"], "wrong": ["no"]})
    assert result.scores["micro-r"] == 0.5
    assert cs.analyze(result).measure == "micro-r"
    joined = cs.pool("run.csv", "gold.csv", policy=POLICY, key="answer")
    assert joined.scores["micro-p"] == 0.5
    assert joined.rescore(policy="right=yes:partly,wrong=no").scores["micro-p"] == pytest.approx(2 / 3)
    weighted = [{"unit": "a", "answer": "x", "label": "yes", "weight": 2}]
    undefined = cs.pool([{"unit": "a", "answer": "x"}], weighted, policy={"right": ["yes"]})
    assert "weights" in undefined.undefined["ap"]
    assert "ap" not in undefined.scores


def test_a_second_judge(folder: Path) -> None:
    """Of four answers the judges agree about three; p_o = 3/4, p_e = (2*2 + 1*2 + 1*0) / 16, kappa = 3/5."""
    (folder / "second.csv").write_text(GOLD.replace("A,y,partly", "A,y,no"))
    document = _document("compare", *FILES[:3], "run.csv", "--second-assessments", "second.csv", "--bootstrap", "99")
    [agreement] = document["agreement"]
    expected = (3 / 4 - 6 / 16) / (1 - 6 / 16)
    assert (agreement["both"], agreement["agreed"], agreement["kappa"]) == (4, 3, pytest.approx(expected))
    assert document["differing"] == [{"unit": "A", "answer": "y", "first": "partly", "second": "no"}]
    assert {"first": "yes", "second": "yes", "count": 2} in document["labels"]
    [run] = document["runs"]
    assert run["first"]["score"] == pytest.approx(0.5)
    text = _printed("compare", *FILES[:3], "run.csv", "--second-assessments", "second.csv", "--bootstrap", "99")
    assert "Labels of the first assessor by those of the second" in text


def test_a_batch_scores_each_run_of_a_file(folder: Path) -> None:
    """s1 has one of two right, s2 neither; each is a run of the batch that can be verified by itself."""
    (folder / "one.csv").write_text("unit,answer,label\nA,x,yes\n")
    (folder / "odd.csv").write_text("unit,answer,label,run\nA,x,yes,a/b\nA,x,no,a b\n")
    _printed("batch", "pool", "several.csv", "-o", "alone")
    rows = [row.split("\t") for row in (folder / "alone" / "leaderboard.tsv").read_text().splitlines()]
    assert [row[2] for row in rows[1:]] == ["s1", "s2"]
    board = json.loads((folder / "alone" / "leaderboard.json").read_text())
    assert [row["scores"]["micro-r"] for row in board["rows"]] == [0.5, 0.0]
    assert cs_score("verify", "alone").status == 0
    kept = cs_score("batch", "pool", "several.csv", "-o", "alone", "--resume", "--policy", POLICY)
    assert "2 scored (2 of them before)" in kept.err
    _printed("batch", "pool", "several.csv", "one.csv", "odd.csv", "-o", "all")
    names = {path.parent.name for path in (folder / "all").glob("*/out.json")}
    assert names == {"several-s1", "several-s2", "one", "odd-a_b", "odd-a_b-2"}
    _printed("batch", "pool", "several.csv", "--run", "s2", "-o", "chosen")
    assert {path.parent.name for path in (folder / "chosen").glob("*/out.json")} == {"s2"}
    unknown = cs_score("batch", "pool", "several.csv", "--run", "s3", "-o", "none", "--policy", POLICY)
    assert (unknown.status, unknown.err) == (1, "cs-score: no run is called s3 in several.csv\n")


def test_python_scores_each_run_of_a_file(folder: Path) -> None:
    results = cs.task("pool").score_each(None, folder / "several.csv", policy={"right": ["yes"], "wrong": ["no"]})
    assert {name: result.scores["micro-r"] for name, result in results.items()} == {"s1": 0.5, "s2": 0.0}
    again = results["s1"].rescore(policy="wrong=yes:no")
    assert again.scores["micro-r"] == 0.0
    assert [row["score"] for row in cs.compare(results).rows("systems") if row["measure"] == "micro-r"] == [0.5, 0.0]
    with pytest.raises(cs.UsageError, match="in Python run="):
        cs.pool(folder / "several.csv", policy=POLICY)
    with pytest.raises(cs.UsageError, match="pool takes policy, key, columns, run, not colour"):
        cs.task("pool").score_each(None, folder / "several.csv", colour="red")
