"""Runs scored without what only their team brought into the pool: held against the scorer on edited pools."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import cs_score as cs
from tests.coldstart.command import json_in, score_in
from tests.documents import copy_samples
from tests.verbs.preparation.invented import QUERY, Inputs, Judged, RunLine

SAMPLES = "-expand ISLE26 queries/ldc-queries.xml".split()
POOL = "assessments/pool-2016.tab"
RUNS = ("submissions/tide-kb.tab.txt", "submissions/gull-sf.tab.txt")


def found_in(folder: Path, *words: str) -> Any:
    return json_in(folder, "pool-bias", *words)


def score_of(folder: Path, measure: str, *words: str) -> float:
    (run,) = json_in(folder, "score", "--measure", measure, *words)["runs"]
    return float(run["scores"][measure])


@pytest.mark.parametrize("measure", ["LDC-MEAN-ALL-Macro-F1", "SF-ALL-Micro-F1", "SF-AP"])
def test_left_out_scores_are_those_of_the_edited_pool(measure: str, tmp_path: Path) -> None:
    folder = copy_samples(tmp_path)
    found = found_in(folder, *SAMPLES, POOL, *RUNS, "--measure", measure)
    pool = (folder / POOL).read_text("utf-8").splitlines(keepends=True)
    for file, run in zip(RUNS, found["runs"]):
        assert run["score"] == score_of(folder, measure, *SAMPLES, POOL, file)
        assert {each["file"] for each in run["removed"]} == {POOL}
        gone = {each["line"] for each in run["removed"]}
        assert len(gone) >= run["unique"] > 0
        edited = "".join(line for number, line in enumerate(pool, 1) if number not in gone)
        (folder / "edited.tab").write_text(edited, "utf-8")
        assert run["left_out"]["score"] == score_of(folder, measure, *SAMPLES, "edited.tab", file)
        assert run["scenarios"][measure] == {key: run[key] for key in ("pessimistic", "score", "optimistic")}
    assert [run["rank"] for run in found["runs"]] == [1, 2]
    assert found["tau_b"] == 1.0


def answers(numbers: Sequence[int], run_id: str) -> list[RunLine]:
    return [RunLine(f"Bo{each}", f"ENG_{each}", node=f":E{each}", run_id=run_id) for each in numbers]


@pytest.fixture
def planted(tmp_path: Path) -> Inputs:
    """Run A has classes 1 to 4, B 1 to 7, C 1 to 4 and a wrong answer of its own; class 8 nobody has."""
    inputs = Inputs(tmp_path)
    inputs.queries()
    judged = [
        Judged(value=f"Bo{at}", docid=f"ENG_{at}", value_class=f"{QUERY}:{at}", id=f"a{at}") for at in range(1, 9)
    ]
    inputs.lines(*judged, Judged("W", "0", value="Bo9", docid="ENG_9", id="a9"), name="pool.tab")
    for name, numbers in (("A", range(1, 5)), ("B", range(1, 8)), ("C", (1, 2, 3, 4, 9))):
        inputs.lines(*answers([*numbers], name), name=name)
    return inputs


FILES = ("q.xml", "pool.tab", "A", "B", "C")


def test_a_run_loses_just_what_it_alone_brought(planted: Inputs) -> None:
    found = found_in(planted.folder, "--measure", "SF-ALL-Micro-R", *FILES)
    a, b, c = found["runs"]
    assert (a["unique"], a["unique_classes"], a["removed"]) == (0, 0, [])
    assert (a["score"], a["rank"]) == (a["left_out"]["score"], a["rank"]) == (4 / 8, 2)
    assert (b["unique"], b["unique_classes"], len(b["removed"])) == (3, 3, 3)
    assert (b["score"], b["left_out"]["score"]) == (7 / 8, 4 / 5)
    assert (c["unique"], c["unique_classes"]) == (1, 0)
    assert [run["left_out"]["rank"] for run in found["runs"]] == [2, 1, 2]
    assert found["tau_b"] == 1.0
    precision = found_in(planted.folder, "--measure", "SF-ALL-Micro-P", *FILES)["runs"][2]
    assert (precision["score"], precision["left_out"]["score"]) == (4 / 5, 1.0)


def test_a_team_loses_what_all_its_runs_brought(planted: Inputs) -> None:
    planted.lines(*answers([5, 6, 7, 1], "D"), name="D")
    planted.write("teams", "run\tteam\nB\tlab\nD\tlab\n")
    alone = found_in(planted.folder, *FILES, "D")["runs"]
    assert [run["unique"] for run in alone] == [0, 0, 1, 0]
    found = found_in(planted.folder, "--teams", "teams", *FILES, "D")["runs"]
    assert [(run["team"], run["unique"]) for run in found] == [("A", 0), ("lab", 3), ("C", 1), ("lab", 3)]


def test_what_stands_below_goes_with_it(tmp_path: Path) -> None:
    inputs = Inputs(tmp_path)
    inputs.queries()
    parent, other = RunLine(run_id="A"), RunLine("Zoë", "ENG_2", node=":E2", run_id="B")
    child = parent.child(run_id="A")
    below = Judged(value="Yale", docid="ENG_9", query=child.query, slot=child.slot, value_class=f"{QUERY}:1:1", id="a3")
    inputs.lines(
        Judged(), Judged(value="Zoë", docid="ENG_2", value_class=f"{QUERY}:2", id="a2"), below, name="pool.tab"
    )
    inputs.lines(parent, name="A")  # the answer below was given by nobody here
    inputs.lines(other, name="B")
    a, b = found_in(tmp_path, "q.xml", "pool.tab", "A", "B")["runs"]
    assert (a["unique"], a["unique_classes"], [each["line"] for each in a["removed"]]) == (1, 2, [1, 3])
    assert [each["line"] for each in b["removed"]] == [2]


@pytest.mark.parametrize(
    ("teams", "line"),
    [
        ("A\tx\nE\ty\n", "teams: line 2: no run is called E"),
        ("A\tx\ty\n", "teams: line 1: not a run and its team, with a tab between them"),
        ("A\tx\nB\n", "teams: line 2: not a run and its team, with a tab between them"),
        ("A\tx\n\nA\ty\n", "teams: line 3: A is in x already"),
        ("run\tteam\n", "teams: names no run"),
    ],
)
def test_teams_that_cannot_be(planted: Inputs, teams: str, line: str) -> None:
    planted.write("teams", teams)
    outcome = score_in(planted.folder, ["pool-bias", "--teams", "teams", *FILES])
    assert (outcome.status, outcome.stdout) == (1, b"")
    assert outcome.stderr.decode().startswith(f"cs-score: {line}")


def test_one_run_is_no_pool(planted: Inputs) -> None:
    for words in (["q.xml", "pool.tab", "A"], ["q.xml", "pool.tab", "A", "A"]):
        outcome = score_in(planted.folder, ["pool-bias", *words])
        assert outcome.status == 2
        assert b"pool-bias needs at least two runs with ids of their own, not A" in outcome.stderr


def test_files_in_memory_serve_as_those_on_disk(planted: Inputs) -> None:
    found = found_in(planted.folder, *FILES)
    queries, pool, *runs = (io.BytesIO((planted.folder / name).read_bytes()) for name in FILES)
    scores = {run["run"]: run["left_out"]["score"] for run in found["runs"]}
    assert {row["run"]: row["left_out"] for row in cs.pool_bias(queries, runs, pool).rows()} == scores
