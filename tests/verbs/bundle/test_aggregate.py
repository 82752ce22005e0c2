"""`report --aggregate-only`: the scores of the scorer, counts that are large enough, and nothing else."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cs_score.analysis.aggregate import FEWEST_SHOWN
from tests.coldstart.command import score_in
from tests.documents import ROOT
from tests.verbs.bundle.canaries import TASKS, canaries_in, cold_start_with_canaries, evidence_with_canaries, options_of
from tests.verbs.preparation.invented import Inputs, Judged, RunLine

FORMATS = ("html", "text", "json", "tsv")


def aggregate(folder: Path, *words: str) -> dict[str, Any]:
    """Return the document that a call prints."""
    outcome = score_in(folder, ["report", *words, "--aggregate-only", "--format", "json"])
    assert outcome.status == 0, outcome.stderr
    document: dict[str, Any] = json.loads(outcome.stdout)
    return document


def everything(folder: Path, *words: str) -> str:
    """Return all that a call prints or writes in any format, on standard error, too."""
    texts = []
    for name in FORMATS:
        place = ["-o", f"aggregate.{name}"]
        outcome = score_in(
            folder, ["report", *words, "--aggregate-only", "--format", name, "--bootstrap", "99", *place]
        )
        assert outcome.status == 0, outcome.stderr
        texts.append((folder / f"aggregate.{name}").read_text("utf-8"))
        texts.append((outcome.stdout + outcome.stderr).decode())
    return "\n".join(texts)


@pytest.mark.parametrize("task", TASKS)
def test_scores_and_limits_are_those_of_score(task: str, tmp_path: Path) -> None:
    gold = ROOT / "assessments" / f"{task}-gold.{TASKS[task]}"
    predictions = ROOT / "submissions" / f"{task}-a.{TASKS[task]}"
    words = [task, "--gold", str(gold), "--predictions", str(predictions), *options_of(task)]
    words += ["--bootstrap", "99", "--seed", "4"]
    found = aggregate(tmp_path, *words)
    scored = json.loads(score_in(tmp_path, ["score", *words, "--format", "json"]).stdout)
    intervals = scored["signature"]["intervals"]["scores"]
    assert {row["measure"] for row in found["scores"]} == set(intervals)
    for row in found["scores"]:
        interval = intervals[row["measure"]]
        assert row["score"] == scored["signature"]["scores"][row["measure"]]
        assert (row["low"], row["high"]) == (interval["low"], interval["high"])
    assert found["scores"][0]["measure"] == found["measure"]
    assert "99 resamples of " in found["limits"]
    assert found["limits"].endswith(", seed 4")


@pytest.mark.parametrize("task", TASKS)
def test_counts_are_those_of_the_error_budget_from_ten_on(task: str, tmp_path: Path) -> None:
    gold = ROOT / "assessments" / f"{task}-gold.{TASKS[task]}"
    predictions = ROOT / "submissions" / f"{task}-a.{TASKS[task]}"
    words = [task, "--gold", str(gold), "--predictions", str(predictions), *options_of(task)]
    analysis = json.loads(score_in(tmp_path, ["analyze", *words, "--format", "json"]).stdout)
    totals: Counter[str] = Counter()
    for row in analysis["budget"]:
        totals[row["kind"].partition(":")[0]] += row["count"]
    counts = {kind: count if count >= FEWEST_SHOWN else None for kind, count in totals.items()}
    assert {row["kind"]: row["count"] for row in aggregate(tmp_path, *words)["mistakes"]} == counts


def test_a_run_has_the_scores_and_counts_of_its_analysis(tmp_path: Path) -> None:
    """Eleven wrong answers are counted, and nine are not."""
    inputs = Inputs(tmp_path)
    inputs.queries()
    wrong = [f"W{number}" for number in range(11)]
    unassessed = [f"U{number}" for number in range(9)]
    inputs.lines(*[RunLine(name, node=f":{name}") for name in ("Bo", *wrong, *unassessed)])
    judged = [Judged("W", value=name, id=name, value_class="0") for name in wrong]
    inputs.lines(Judged(), *judged, name="qrel")
    words = ["--policy", "right=CORRECT,wrong=INCORRECT:UNASSESSED,ignore=DUPLICATE", "q.xml", "run.tab", "qrel"]
    found = aggregate(tmp_path, *words)
    counts = {row["kind"]: row["count"] for row in found["mistakes"]}
    assert counts.pop("incorrect") == 11
    assert set(counts.values()) == {None}
    scored = json.loads(score_in(tmp_path, ["score", *words, "--all", "--format", "json"]).stdout)
    (run,) = scored["runs"]
    scores = {row["measure"]: row["score"] for row in found["scores"]}
    assert scores == {name: score for name, score in run["scores"].items() if "@" not in name}
    assert found["measure"] == found["scores"][0]["measure"] == "SF-AP"


def test_a_measure_without_a_value_is_undefined(tmp_path: Path) -> None:
    inputs = Inputs(tmp_path)
    inputs.queries()
    inputs.lines(RunLine(node=None))
    inputs.lines(Judged(), name="qrel")
    words = ["q.xml", "run.tab", "qrel"]
    scores = {row["measure"]: row["score"] for row in aggregate(tmp_path, *words)["scores"]}
    assert scores["SF-AP"] is None
    assert scores["SF-ALL-Micro-F1"] == 1.0
    page = everything(tmp_path, *words)
    assert re.search(r"SF-AP +undefined", page)


def test_every_head_says_how_many_units_were_predicted_where_only_they_count(tmp_path: Path) -> None:
    lines = (ROOT / "submissions/claims-a.jsonl").read_text("utf-8").splitlines()
    (tmp_path / "own.jsonl").write_text("".join([f"{line}\n" for line in lines[:5]]), "utf-8")
    words = ["claims", "--gold", str(ROOT / "assessments/claims-gold.jsonl"), "own.jsonl", "--answered-only"]
    gold_size = len((ROOT / "assessments/claims-gold.jsonl").read_text("utf-8").splitlines())
    answered = f"5 of {gold_size} claims"
    assert aggregate(tmp_path, *words)["answered"] == answered
    everything(tmp_path, *words)
    assert f"over {answered}</title>" in (tmp_path / "aggregate.html").read_text("utf-8")
    text = " ".join((tmp_path / "aggregate.text").read_text("utf-8").split())
    assert f"Scored on {answered}, those that were predicted." in text


@pytest.mark.parametrize("task", TASKS)
def test_no_canary_of_gold_is_shown(task: str, tmp_path: Path) -> None:
    gold, predictions = evidence_with_canaries(task, tmp_path)
    assert len(canaries_in(gold.read_text("utf-8"))) > 50
    words = [task, "--gold", gold.name, "--predictions", predictions.name, *options_of(task, "CANARY")]
    page = everything(tmp_path, *words)
    assert canaries_in(page) == []


def test_no_canary_of_a_pool_or_of_queries_is_shown(tmp_path: Path) -> None:
    words = cold_start_with_canaries(tmp_path)
    assert canaries_in(everything(tmp_path, *words)) == []


def test_single_lines_cannot_be_told_from_what_is_shown(tmp_path: Path) -> None:
    """Every line of a submission has a value of its own in every column that may differ.

    What is shown is the same for whichever of them are right, as long as as many are, with the same ranks.
    """
    numbers = random.Random(5)
    shown = set()
    for _ in range(3):
        folder = tmp_path / str(numbers.random())
        folder.mkdir()
        inputs = Inputs(folder)
        inputs.queries()
        names = [f"N{numbers.randrange(10**9)}" for _ in range(40)]
        lines: list[str] = []
        for place, name in enumerate(names):
            docid, start = f"ENG_{numbers.randrange(10**6)}", numbers.randrange(1, 900)
            span = f"{start}-{start + len(name) - 1}"
            answer = RunLine(name, docid, span=span, node=f":{name}x", confidence=f"0.{999 - place}")
            lines.append(answer.text())
        inputs.write("run.tab", "".join([f"{line}\n" for line in lines]))
        assessed = []
        for place, (name, line) in enumerate(zip(names, lines)):
            docid, span = re.findall(r"(ENG_\d+):(\d+-\d+)", line)[-1]
            code = "W" if place % 2 else "C"
            value_class = "0" if place % 2 else f"{RunLine().query}:{place}"
            assessed.append(Judged(code, value_class, value=name, docid=docid, span=span, id=name))
        inputs.lines(*assessed, name="qrel")
        page = everything(folder, "q.xml", "run.tab", "qrel")
        for own in [value for line in lines for value in re.findall(r"N\d+|ENG_\d+|\d+-\d+", line)]:
            assert not re.search(rf"(?<![\d.]){own}(?!\d)", page), own
        shown.add(page)
    assert len(shown) == 1


@pytest.mark.parametrize("option", ["--top 3", "--by slot,hop", "--also-policy sf", "--compare"])
def test_what_would_show_more_is_refused(option: str, tmp_path: Path) -> None:
    words = cold_start_with_canaries(tmp_path)
    outcome = score_in(tmp_path, ["report", "--aggregate-only", *option.split(), *words, "-o", "page.html"])
    assert outcome.status == 2
    assert b"shows more than --aggregate-only allows" in outcome.stderr
    assert not (tmp_path / "page.html").exists()


def test_the_page_can_be_made_of_the_document_later(tmp_path: Path) -> None:
    words = cold_start_with_canaries(tmp_path)
    everything(tmp_path, *words)
    outcome = score_in(tmp_path, ["report", "aggregate.json", "-o", "again.html"])
    assert outcome.status == 0, outcome.stderr
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "aggregate.html").read_bytes()
    assert Counter(re.findall("<section id=\"(.*?)\"", (tmp_path / "again.html").read_text())) == {
        "scores": 1, "mistakes": 1, "about": 1,
    }  # fmt: skip
