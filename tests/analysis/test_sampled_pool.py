"""Estimates for runs of which a part was assessed, and two assessors, from the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import cs_score as cs
from tests.coldstart.command import json_in, score_in
from tests.documents import copy_samples
from tests.verbs.preparation.invented import QUERY, Inputs, Judged, RunLine

SAMPLES = "-expand ISLE26 queries/ldc-queries.xml assessments/pool-2016.tab".split()
TIDE, GULL = "submissions/tide-kb.tab.txt", "submissions/gull-sf.tab.txt"
SECOND = "assessments/pool-2016-second.tab"


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    """Four answers of one run: two assessed of three sure ones, and one that is not sure. The fourth is a parent."""
    inputs = Inputs(tmp_path)
    inputs.queries()
    lines = [
        RunLine(f"Bo{at}", f"ENG_{at}", node=f":E{at}", confidence=c)
        for at, c in enumerate(("0.9", "0.8", "0.7", "0.2"))
    ]
    inputs.lines(*lines, name="run.tab")
    inputs.lines(
        Judged(value="Bo0", docid="ENG_0", value_class=f"{QUERY}:1"),
        Judged("W", "0", value="Bo1", docid="ENG_1", id="a2"),
        Judged(value="Bo3", docid="ENG_3", value_class=f"{QUERY}:2", id="a3"),
        name="pool.tab",
    )
    inputs.write("sample.tsv", "confidence\tprobability\n0.5\t0.6\n\t1\n")
    return inputs


CALL = ("score", "q.xml", "pool.tab", "run.tab", "--inclusion", "sample.tsv")


def test_estimates_of_a_run(inputs: Inputs) -> None:
    (run,) = json_in(inputs.folder, *CALL)["runs"]
    assert (run["run"], run["answers"], run["assessed"]) == ("r1", 4, 3)
    assert run["precision"]["estimate"] == pytest.approx((3 * 1 / 2 + 1) / 4)
    assert run["right"]["estimate"] == pytest.approx(3 * 1 / 2 + 1)
    # Two residuals of 1/2, each standing for 3/2 of 4 answers.
    assert run["precision"]["standard_error"] == pytest.approx((0.4 * 2 * (1.5 * 0.5 / 4) ** 2) ** 0.5)
    assert 0 <= run["precision"]["low"] < run["precision"]["estimate"] < run["precision"]["high"] <= 1


def test_the_ordinary_score_and_the_strata_stand_beside_the_estimate(inputs: Inputs) -> None:
    (run,) = json_in(inputs.folder, *CALL)["runs"]
    ordinary = json_in(inputs.folder, "score", *CALL[1:4], "--measure", "SF-ALL-Micro-P")["runs"][0]["scores"]
    assert (run["score"], run["score_right"]) == (ordinary["SF-ALL-Micro-P"], 2)
    assert run["strata"] == [
        {"line": 2, "probability": 0.6, "answers": 3, "assessed": 2},
        {"line": 3, "probability": 1.0, "answers": 1, "assessed": 1},
    ]
    text = " ".join(inputs.call(*CALL).stdout.decode().split())
    assert "r1 2 0.6000 3 2 r1 3 1.0000 1 1" in text
    assert "fewer than 20 answers of a run were assessed in strata of the table (line 2, 3)" in text


def test_the_signature_says_whether_the_run_was_validated(tmp_path: Path) -> None:
    words = ("score", *SAMPLES, TIDE, "--inclusion", "assessments/inclusion-2016.tsv")
    folder = copy_samples(tmp_path)
    given, validated = (json_in(folder, *words, *more)["signatures"] for more in ([], ["--validate"]))
    expected = {run: text.replace("|gold:", "|validate=true|gold:") for run, text in given.items()}
    assert validated == expected != given


@pytest.mark.parametrize("file", [TIDE, GULL])
def test_everything_assessed_gives_the_score(file: str, tmp_path: Path) -> None:
    folder = copy_samples(tmp_path)
    (folder / "all.tsv").write_text("probability\tprediction\n1\t0.4\n", "utf-8")
    pool = (folder / SAMPLES[3]).read_text("utf-8")
    analysed = json_in(folder, "analyze", *SAMPLES, file)["scenarios"]
    assert analysed["unassessed"]
    (folder / SAMPLES[3]).write_text(pool + "".join(f"{line}\n" for line in analysed["added_pool"]), "utf-8")
    (run,) = json_in(folder, "score", *SAMPLES, file, "--inclusion", "all.tsv")["runs"]
    score_in(folder, ["--json", "scored.json", *SAMPLES, file])
    (scored,) = json.loads((folder / "scored.json").read_text("utf-8"))["runs"]
    assert run["precision"]["estimate"] == pytest.approx(scored["scores"]["SF-ALL-Micro-P"], abs=1e-12)
    assert run["precision"]["standard_error"] == 0
    column = scored["units"]["columns"].index("SF:ALL:right")
    assert run["right"]["estimate"] == pytest.approx(sum(row[column] for row in scored["units"]["rows"]), abs=1e-9)


def test_differences_and_tables(tmp_path: Path) -> None:
    folder = copy_samples(tmp_path)
    words = ["compare", *SAMPLES, TIDE, GULL, "--inclusion", "assessments/inclusion-2016.tsv"]
    found = json_in(folder, *words)
    a, b = found["runs"]
    (pair,) = found["differences"]
    assert (pair["a"], pair["b"]) == ("TIDE_KB", "GULL_SF")
    assert pair["precision"]["estimate"] == pytest.approx(b["precision"]["estimate"] - a["precision"]["estimate"])
    apart = (a["right"]["standard_error"] ** 2 + b["right"]["standard_error"] ** 2) ** 0.5
    assert 0 < pair["right"]["standard_error"] < apart  # some answers are the same
    rows = score_in(folder, [*words, "--format", "tsv"]).stdout.decode().splitlines()
    assert [row.split("\t")[1] for row in rows[1:4]] == ["TIDE_KB", "GULL_SF", "GULL_SF - TIDE_KB"]


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ("probability\n0\n", "sample.tsv: line 2: probability 0: a number above 0 and at most 1 is needed"),
        ("probability\n1.5\n", "sample.tsv: line 2: probability 1.5: a number above 0 and at most 1 is needed"),
        ("probability\n\nnan\n", "sample.tsv: line 3: probability nan: a number above 0 and at most 1 is needed"),
        ("probability\tslot\n\t*\n", "sample.tsv: line 2: probability missing: a number above 0 and at most 1 is"),
        ("probability\tprediction\n1\t2\n", "sample.tsv: line 2: prediction 2: a number from 0 to 1 is needed"),
        ("probability\tslot\n1\n", "sample.tsv: line 2: 1 cells, where the header names 2 columns"),
        ("slot\nper:children\n", "sample.tsv: line 1: columns are query, slot, value, provenance, probability, "),
        ("probability\n1\n", "sample.tsv: line 2: the probability is 1, but run.tab line 3 was not assessed"),
        ("value\tprobability\nBo2\t0.5\n*\t1\n", "sample.tsv: line 2: none of the 1 answers of run r1 was assessed"),
        ("confidence\tprobability\n0.5\t0.6\n", f"sample.tsv: no stratum has run.tab line 4 ({QUERY}, Bo3); an "),
    ],
)  # fmt: skip
def test_probabilities_that_cannot_be(inputs: Inputs, table: str, line: str) -> None:
    inputs.write("sample.tsv", table)
    outcome = inputs.call(*CALL)
    assert (outcome.status, outcome.stdout) == (1, b"")
    (said,) = outcome.stderr.decode().splitlines()
    assert said.startswith(f"cs-score: {line}")
    if "no stratum" in line or "columns are" in line:
        assert said.endswith("without it see the scenarios of cs-score analyze")


@pytest.mark.parametrize("words", [CALL, ("pool-bias", *CALL[1:4], "other.tab"), ("compare", *CALL[1:4], "other.tab")])
def test_errors_in_the_input_are_said_of_each_run(inputs: Inputs, words: tuple[str, ...]) -> None:
    lines = (inputs.folder / "run.tab").read_text("utf-8").splitlines(keepends=True)
    (inputs.folder / "run.tab").write_text("".join([*lines, lines[1].replace("\t0.8\t", "\t2.5\t")]), "utf-8")
    (inputs.folder / "other.tab").write_text("".join(lines[:2]).replace("\tr1\t", "\tr2\t"), "utf-8")
    second = ("--second-assessments", "pool.tab") if words[0] == "compare" else ()
    outcome = inputs.call(*words, *second)
    assert outcome.status == 0
    assert outcome.stderr.decode().count("run.tab: there are errors in the input; score the run to see them") == 1


# ---- Two assessors


def scores_of(comparison: Any, name: str) -> list[float]:
    """The scores of all systems by a measure."""
    (measure,) = [each for each in comparison["measures"] if each["measure"] == name]
    return sorted(each.get("score", each.get("point")) for each in measure["systems"])


def test_swapping_assessors_mirrors_everything(tmp_path: Path) -> None:
    folder = copy_samples(tmp_path)
    pool = SAMPLES[3]
    measure = ("--measure", "LDC-MEAN-ALL-Macro-F1")
    found = json_in(folder, "compare", *measure, *SAMPLES, TIDE, GULL, "--second-assessments", SECOND)
    other = json_in(folder, "compare", *measure, *SAMPLES[:3], SECOND, TIDE, GULL, "--second-assessments", pool)
    assert found["agreement"] == other["agreement"]
    assert found["tau_b"] == other["tau_b"] == 1.0
    for one, mirrored in zip(found["runs"], other["runs"]):
        assert (one["first"], one["second"]) == (mirrored["second"], mirrored["first"])
        assert (one["low"], one["high"]) == (mirrored["low"], mirrored["high"])
    for place, assessed in (("first", pool), ("second", SECOND)):
        compared = json_in(folder, "compare", *SAMPLES[:3], assessed, TIDE, GULL, "--interval", "percentile")
        assert sorted(run[place]["score"] for run in found["runs"]) == scores_of(compared, found["measure"])


def test_what_python_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(copy_samples(tmp_path))
    runs = {name: cs.score(SAMPLES[2], name, SAMPLES[3], expand="ISLE26") for name in (TIDE, GULL)}
    names = ("claims-a", "claims-b")
    evidence = {name: cs.claims("assessments/claims-gold.jsonl", f"submissions/{name}.jsonl") for name in names}
    assert cs.assessors(evidence, evidence, bootstrap=9).rows("agreement") == []
    with pytest.raises(cs.UsageError, match=f"other systems over the second assessments: {TIDE}, not {TIDE}, {GULL}"):
        cs.assessors(runs, {TIDE: runs[TIDE]})
    with pytest.raises(cs.UsageError, match="assessors takes results of one kind"):
        cs.assessors(runs, {TIDE: evidence["claims-a"], GULL: evidence["claims-b"]})
    for given, confidence in ((runs, 0.95), ({}, 95), (runs[TIDE], 95)):
        with pytest.raises(cs.UsageError):
            cs.sampled_pool(given, "assessments/inclusion-2016.tsv", confidence=confidence)  # type: ignore[arg-type]


def test_agreement_by_slot(tmp_path: Path) -> None:
    folder = copy_samples(tmp_path)
    found = json_in(folder, "compare", *SAMPLES, TIDE, GULL, "--second-assessments", SECOND)
    everything, *slots = found["agreement"]
    assert everything["slot"] == "all"
    assert sum(each["both"] for each in slots) == everything["both"] == 28
    assert (everything["units"], everything["kappa_low"] <= everything["kappa"] <= everything["kappa_high"]) == (
        3,
        True,
    )
    assert {each["kappa_low"] for each in slots if each["units"] == 1} == {None}
    assert (found["only_first"], found["only_second"]) == (0, 0)
    partly = (folder / SECOND).read_text("utf-8").splitlines(keepends=True)
    (folder / "partly.tab").write_text("".join(partly[:13]), "utf-8")
    part = json_in(folder, "compare", *SAMPLES, TIDE, GULL, "--second-assessments", "partly.tab")
    assert (part["agreement"][0]["both"], part["only_first"], part["only_second"]) == (13, 15, 0)


def test_a_reader_sees_how_little_few_answers_and_runs_say(tmp_path: Path) -> None:
    folder = copy_samples(tmp_path)
    text = score_in(folder, ["compare", *SAMPLES, TIDE, GULL, "--second-assessments", SECOND]).stdout.decode()
    for said in (
        "tau-b of the two rankings: -1.0000; of two runs it says only whether they change places.",
        "Kappa: of the answers that both have judged; Low, High: 95 % percentile bootstrap limits over the units (LDC "
        "query) that these belong to, 10,000 resamples, seed 0.",
        "Note: 3 units with answers that both have judged: below 20 the limits of kappa are too narrow.",
        "Low, High of a run: 95 % percentile bootstrap limits over 4 units (LDC query) and over assessors, 10,000 "
        "resamples, seed 0: a resample draws units, and one assessor for all of them.",
        "Note: 4 units only: below 20",
    ):
        assert said in " ".join(text.split())


def test_annotators_of_r4c_as_assessors(tmp_path: Path) -> None:
    """Gold of one annotator each: scores are those of comparing against that annotator alone."""
    folder = copy_samples(tmp_path)
    gold = json.loads((folder / "assessments/r4c-gold.json").read_text("utf-8"))
    for number in range(3):
        alone = {each: [annotators[number]] * 3 for each, annotators in gold.items()}
        (folder / f"{number}.json").write_text(json.dumps(alone), "utf-8")
    systems = ["submissions/r4c-a.json", "submissions/r4c-b.json"]
    found = json_in(folder, "compare", "r4c", "--gold", "0.json", "--second-assessments", "2.json", *systems)
    for place, name in (("first", "0.json"), ("second", "2.json")):
        alone = json_in(folder, "compare", "r4c", "--gold", name, *systems)
        assert sorted(run[place]["score"] for run in found["runs"]) == scores_of(alone, found["measure"])
    mirrored = json_in(folder, "compare", "r4c", "--gold", "2.json", "--second-assessments", "0.json", *systems)
    assert [run["low"] for run in found["runs"]] == [run["low"] for run in mirrored["runs"]]


@pytest.mark.parametrize(
    ("words", "status", "line"),
    [
        (["compare", *SAMPLES, TIDE, GULL, "--second-assessments", "none.tab"], 1, "Could not open none.tab"),
        (["compare", *SAMPLES, TIDE, GULL, "--second-assessments", TIDE], 1, "this is a run"),
        (
            ["compare", *SAMPLES, TIDE, GULL, "--second-assessments", os.devnull],
            1,
            "null: there is no assessment in it",
        ),
        (["compare", *SAMPLES, TIDE, GULL, "--second-assessments", "x", "--inclusion", "y"], 2, "give one of them"),
        (
            ["compare", *SAMPLES, TIDE, GULL, "--inclusion", "assessments/inclusion-2016.tsv", "--format", "latex"],
            2,
            "printed as text, json or tsv",
        ),
        (["compare", "scifact", "--second-assessments", "x", "a", "b"], 2, "name the first one with --gold"),
    ],
)
def test_bad_input_of_two_assessors(words: list[str], status: int, line: str, tmp_path: Path) -> None:
    outcome = score_in(copy_samples(tmp_path), words)
    assert (outcome.status, outcome.stdout) == (status, b"")
    (said,) = outcome.stderr.decode().splitlines()
    assert line in said
