"""Any table of units by systems: read, compared, and the file of --per-unit of every task through it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import cs_score as cs
from tests.documents import copy_samples
from tests.evidence.command import cs_score

Json = dict[str, Any]

TASKS = {
    "coldstart": ("-expand", "ISLE26", "queries/ldc-queries.xml", "assessments/pool-2016.tab"),
    "scifact": ("--gold", "assessments/scifact-gold.jsonl"),
    "claims": ("--gold", "assessments/claims-gold.jsonl"),
    "r4c": ("--gold", "assessments/r4c-gold.json"),
    "hotpotqa": ("--gold", "assessments/hotpotqa-gold.json"),
}


@pytest.fixture(autouse=True)
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_samples(tmp_path)
    monkeypatch.chdir(tmp_path)


def compared(*words: str) -> Json:
    outcome = cs_score("compare", *words, "--format", "json", "--bootstrap", "200")
    assert outcome.status == 0, outcome
    found: Json = json.loads(outcome.out)
    return found


def runs_of(task: str) -> tuple[str, str]:
    if task == "coldstart":
        return "submissions/tide-kb.tab.txt", "submissions/gull-sf.tab.txt"
    ending = TASKS[task][1].rpartition(".")[2]
    return f"submissions/{task}-a.{ending}", f"submissions/{task}-b.{ending}"


def same(ours: Any, theirs: Any) -> None:
    """All numbers are equal but for rounding."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key in theirs:
            same(ours[key], theirs[key])
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs):
            same(one, other)
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, abs=1e-12)
    else:
        assert ours == theirs


@pytest.mark.parametrize("task", TASKS)
def test_the_file_of_units_of_every_task_gives_its_own_numbers(task: str) -> None:
    runs = runs_of(task)
    expected = compared(task, *TASKS[task], *runs, "--per-unit", "both.tsv")
    tables = [f"{system}.tsv" for system in expected["systems"]]
    for run, table in zip(runs, tables):
        outcome = cs_score("score", task, *TASKS[task], run, "--per-unit", table)
        assert outcome.status == 0, outcome
        assert Path(table).read_text().startswith("unit\tcluster\tmeasure\tnumerator\tdenominator\n")
    both = compared("table", "both.tsv")
    assert both["measure"] == expected["measure"]
    same(both["measures"], expected["measures"])
    several = compared("table", *tables)
    for measure in (*several["measures"], *expected["measures"]):
        for each in (*measure["systems"], *measure["pairs"]):
            for key in {"name", "a", "b"} & each.keys():
                each[key] = each[key].removesuffix(".tsv")
        measure["verdict"] = measure["verdict"].replace(".tsv", "")
        measure["notes"] = [note["code"] for note in measure["notes"]]
    same(several["measures"], expected["measures"])


def test_clusters_are_in_the_file_and_are_honoured() -> None:
    gold, (a, b) = TASKS["scifact"], runs_of("scifact")
    ids = [json.loads(line)["id"] for line in Path(gold[1]).read_text("utf-8").splitlines()]
    rows = "".join(f"{unit},c{at // 3},s{at // 6}\n" for at, unit in enumerate(ids))
    Path("clusters.csv").write_text(f"unit,cluster,stratum\n{rows}")
    words = ("--clusters", "clusters.csv", "--per-unit", "u.tsv")
    expected = compared("scifact", *gold, a, b, *words)
    assert Path("u.tsv").read_text().startswith("unit\tcluster\tstratum\tsystem\tmeasure\tnumerator\tdenominator\n")
    found = compared("table", "u.tsv")
    same(found["measures"], expected["measures"])
    assert found["measures"][0]["family"]["clusters"] == len(ids) // 3


def test_wide_and_long_and_csv_are_one() -> None:
    values = {"A": [1, 0, 0.5, 1, 0.25], "B": [0, 0, 1, 1, 0.75]}
    wide = [f"u{at}\t{a}\t{b}" for at, (a, b) in enumerate(zip(*values.values()))]
    Path("wide.tsv").write_text("\n".join(["unit\tA\tB", *wide, ""]))
    Path("wide.csv").write_text("\r\n".join(["unit,A,B", *(line.replace("\t", ",") for line in wide), "", ""]))
    long = [f"u{at},{name},{2 * each},2" for name, column in values.items() for at, each in enumerate(column)]
    Path("long.csv").write_text("\n".join(["unit,system,numerator,denominator", *long]))
    first, *others = (compared("table", name) for name in ("wide.tsv", "wide.csv", "long.csv"))
    assert [each["score"] for each in first["measures"][0]["systems"]] == [0.55, 0.55]
    assert first["measures"][0]["measure"] == "score"
    for other in others:
        same(other["measures"], first["measures"])


def test_units_that_are_right_or_wrong_have_the_sign_test() -> None:
    rows = ["0\t1"] * 33 + ["1\t0"] * 31 + ["1\t1"] * 9
    Path("t.tsv").write_text("unit\tA\tB\n" + "".join(f"u{at}\t{row}\n" for at, row in enumerate(rows)))
    (measure,) = compared("table", "t.tsv")["measures"]
    assert (measure["family"]["test"], f"{measure['pairs'][0]['p']:.3f}") == ("sign", "0.901")


@pytest.mark.parametrize(
    ("text", "status", "problem"),
    [
        ("unit\tA\tB\nq\t1\tno\n", 1, "t.tsv: line 2: column B: no is no number"),
        ("unit\tA\tB\nq\t1\tnan\n", 1, "t.tsv: line 2: column B: nan is no number"),
        ("unit\tA\tB\nq\t1\t1\nq\t1\t0\n", 1, "t.tsv: line 3: unit q of A occurs twice"),
        ("unit\tA\tB\nall\t1\t1\n", 1, "t.tsv: has no unit"),
        ("unit\tA\tB\nx\t1e200\t0\ny\t0\t1\nz\t1\t1\n", 1, "t.tsv: line 2: column A: 1e200 is too large"),
        (
            "unit\tsystem\tnumerator\tdenominator\nq\tA\t1\t1e-300\nq\tB\t1\t1\n",
            1,
            "t.tsv: line 2: the denominator 1e-300 is too small to divide by; multiply",
        ),
        ("unit\tA\nq\t1\n", 2, "a comparison needs at least two systems; there is A only"),
        ("unit\tA\tB\n", 1, "t.tsv: has no unit"),
        ("id\tA\tB\nq\t1\t1\n", 1, "t.tsv: line 1: no column unit; there are id, A, B"),
        ("unit\tsystem\tnumerator\tdenominator\nq\tA\t1\t-1\nq\tB\t1\t1\n", 1, "line 2: the denominator -1 is below 0"),
        (
            "unit\tsystem\tnumerator\tdenominator\nq\tA\t1\t1\nr\tB\t1\t1\n",
            1,
            "system B lacks 1 unit (q), which system A has; compare them on the units that all systems have (--common)",
        ),
        (
            "unit\tsystem\tmeasure\tnumerator\tdenominator\nq\tA\tP\t1\t1\nq\tA\tR\t1\t1\nq\tB\tP\t1\t1\n",
            1,
            "unit q of B has no R",
        ),
    ],
)
def test_what_is_no_table_is_refused_in_a_line(text: str, status: int, problem: str) -> None:
    Path("t.tsv").write_text(text)
    outcome = cs_score("compare", "table", "t.tsv")
    assert (outcome.status, outcome.out) == (status, "")
    assert problem in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_the_page_is_made_of_the_json_and_names_do_no_harm() -> None:
    Path("t.tsv").write_text("unit\t<script>A\tB&amp\nq\t1\t0.25\nr\t0.5\t0\n")
    for name in ("p.html", "c.json"):
        assert cs_score("compare", "table", "t.tsv", "-o", name).status == 0
    assert cs_score("report", "c.json", "-o", "again.html").status == 0
    page = Path("p.html").read_text("utf-8")
    assert page == Path("again.html").read_text("utf-8")
    assert "<script>A" not in page
    assert "B&amp;amp" in page
    found = json.loads(Path("c.json").read_text("utf-8"))["measures"][0]
    for system in found["systems"]:
        assert f"{system['score']:.4f}" in page
    assert "max-T over 2 systems" in page
    assert "Verdict: " in page


def test_the_primary_measure_decides_and_all_others_are_exploratory() -> None:
    gold, runs = TASKS["scifact"], runs_of("scifact")
    words = ("compare", "scifact", *gold, *runs, "--bootstrap", "99", "--primary", "SENTENCE_LABEL_F1")
    screen, whole = cs_score(*words), cs_score(*words, "--all")
    assert screen.out.startswith("sentence_label_f1\n")
    assert "exploratory" not in screen.out
    assert "abstract_label_only_f1 (exploratory)" in whole.out
    assert "signature  sentence_label_f1|scifact" in screen.out
    refused = cs_score(*words[:-1], "F9")
    assert (refused.status, "no measure called F9" in refused.err) == (2, True)


def test_a_table_is_compared_from_python() -> None:
    outcome = cs_score("compare", "table", "assessments/table.tsv", "--baseline", "wren", "--format", "json")
    assert cs.compare("assessments/table.tsv", baseline="wren").to_json() == outcome.out
    with pytest.raises(cs.InputError, match="none"):
        cs.compare("none.tsv")


def test_the_row_that_trec_eval_calls_all_is_no_unit() -> None:
    """Four units, all won by B: 2 of 16 sign flips; with the row of means it would be 2 of 32."""
    wide = "unit\tA\tB\n" + "".join(f"q{at}\t0.{at}\t0.{at + 1}\n" for at in range(1, 5))
    Path("t.tsv").write_text(f"{wide}all\t0.25\t0.35\n")
    found = compared("table", "t.tsv")
    assert (found["units"], found["measures"][0]["pairs"][0]["p"]) == (4, 2 / 16)
    [note] = [note["text"] for note in found["notes"] if note["code"] == "SUMMARY_ROWS"]
    assert note == "1 row called all left out: they sum up the others; a unit needs another name"
    Path("t.tsv").write_text(wide)
    same(compared("table", "t.tsv")["measures"], found["measures"])


@pytest.mark.parametrize("format_", ["text", "json", "tsv", "markdown", "latex"])
def test_large_and_small_numbers_are_compared_without_a_warning(format_: str) -> None:
    Path("t.tsv").write_text("unit\tA\tB\nx\t1e60\t0\ny\t0\t1\nz\t1\t1\nw\t-1e60\t1e-300\n")
    outcome = cs_score("compare", "table", "t.tsv", "--bootstrap", "20", "--format", format_)
    assert (outcome.status, outcome.err) == (0, "")


@pytest.mark.parametrize("format_", ["text", "json", "tsv", "markdown", "latex"])
def test_every_format_says_how_limits_came_about_what_a_tier_is_and_who_differs(format_: str) -> None:
    words = ("compare", "table", "assessments/table.tsv", "--seed", "7", "--format", format_)
    calls = [(*words, "--all")] if format_ == "latex" else [words, (*words, "--all")]  # LaTeX is a table for a paper
    for outcome in [cs_score(*call) for call in calls]:
        text = " ".join(outcome.out.replace("\\", "").split())
        assert "1 of 3 pairs differs significantly in score by max-T, level 0.05: heron is better than wren" in text
        assert "below 20 the bootstrap" in text
        assert re.search(r"\b0\W+6\W+6\b|\"wins\": 0, \"ties\": 6, \"losses\": 6", text)  # of heron and wren
        if format_ != "json":  # its settings are keys
            assert "95 % BCa bootstrap limits, 10,000 resamples of 12 units, seed 7" in text
            assert "not corrected for several pairs" in text
            assert "Tier: systems that do not differ significantly from the best of the tier" in text


def test_too_many_systems_are_refused_and_compared_with_a_baseline() -> None:
    names = [f"s{at}" for at in range(101)]
    rows = [[f"u{unit}", *(str((unit * at) % 7) for at in range(101))] for unit in range(8)]
    Path("t.tsv").write_text("\n".join("\t".join(row) for row in [["unit", *names], *rows]))
    refused = cs_score("compare", "table", "t.tsv")
    assert (refused.status, refused.out, len(refused.err.splitlines())) == (2, "", 1)
    assert "101 systems are 5,050 pairs" in refused.err
    assert "--baseline RUN" in refused.err
    found = compared("table", "t.tsv", "--baseline", "s3")
    assert (found["measures"][0]["family"]["pairs"], len(found["measures"][0]["pairs"])) == (100, 100)
