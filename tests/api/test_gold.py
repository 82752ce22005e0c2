"""Gold prepared once: for many runs, for threads, in pickles; pools below runs; and runs validated."""

from __future__ import annotations

import contextlib
import io
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import cs_score as cs
from cs_score.base.records import replace
from tests.coldstart.command import score_in
from tests.coldstart.handmade import Inputs
from tests.coldstart.lines import Line, query_xml, sf_query
from tests.documents import ROOT
from tests.evidence.command import cs_score

BO, CY = Line(), Line("Cy", "N_ENG_2", "0.8", ":E2")
OTHER = sf_query(docid="N_ENG_R")
OWN = cs.Policy(right=("CORRECT", "INEXACT"), wrong=("INCORRECT", "UNASSESSED"), ignore=("DUPLICATE",))


@pytest.fixture(autouse=True)
def folder(inputs: Inputs, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder. Two queries; runA answers the first right and misses the second, runB the opposite."""
    monkeypatch.chdir(inputs.folder)
    inputs.queries(query_xml(), query_xml(2, docids=("N_ENG_R",)))
    other = replace(CY, query=OTHER)
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"), other.judged("1"))
    inputs.run(BO, BO.child(), CY)
    inputs.run(replace(other, run_id="runB"), name="second.tab")
    return inputs.folder


def gold_of(**options: Any) -> cs.Gold:
    return cs.prepare("queries.xml", "pool.tab", expand="CSX", **options)


def as_json(folder: Path, first: str, second: str, *switches: str) -> str:
    """What the command line writes with --json."""
    words = ("-expand", "CSX", "-output_file", "out", *switches, "--json", "out.json", "queries.xml", first, second)
    return score_in(folder, words).files["out.json"].decode()


def from_files(run: str, **options: Any) -> str:
    return cs.score("queries.xml", run, "pool.tab", expand="CSX", **options).to_json()


def test_queries_and_pool_are_read_once(folder: Path) -> None:
    wanted = {name: from_files(name) for name in ("run.tab", "second.tab")}
    gold = gold_of()
    for name in ("queries.xml", "pool.tab"):
        Path(name).unlink()
    for _ in range(2):
        assert {name: gold.score(name).to_json() for name in wanted} == wanted
    assert gold.queries == (BO.query, OTHER)
    assert repr(gold) == "<gold: 2 queries to score, 3 assessments>"


@pytest.mark.parametrize(
    ("options", "switches"),
    [
        ({}, ""),
        ({"discipline": "STRING_CASE"}, "-discipline STRING_CASE"),
        ({"justifications": "M:M"}, "-justifications M:M"),
        ({"query_ids": ["CSX_0002"]}, "-queries CSX_0002"),
        ({"runids": ["runA"]}, "-runids runA"),
        ({"samples": "samples"}, "-samples samples"),
        ({"follow": "2017.1.5"}, "--follow 2017.1.5"),
        ({"mention_types": "assume-name"}, "--mention-types assume-name"),
        ({"policy": "sf"}, "--policy sf"),
        (
            {
                "policy": cs.Policy(
                    right=("CORRECT", "INEXACT"), wrong=("INCORRECT", "UNASSESSED"), ignore=("DUPLICATE",)
                )
            },
            "-right CORRECT:INEXACT -wrong INCORRECT:UNASSESSED -ignore DUPLICATE",
        ),
    ],
    ids=str,
)
def test_a_result_is_that_of_the_command_line(folder: Path, options: dict[str, Any], switches: str) -> None:
    (folder / "samples").write_text(f"1 CSX_0001:{BO.query}\n")
    assert from_files("run.tab", **options) == as_json(folder, "pool.tab", "run.tab", *switches.split())


@pytest.mark.parametrize("discipline", ["ASSESSED", "STRING_CASE"])
def test_threads_score_with_one_gold(inputs: Inputs, discipline: str) -> None:
    names = [f"run{number}.tab" for number in range(40)]
    for number, name in enumerate(names):
        line = replace(BO, confidence=f"0.{number + 10}")
        inputs.run(line, line.child(), replace(CY, value=f"Cy {number}"), name=name)
    wanted = [from_files(name, discipline=discipline) for name in names]
    gold = gold_of(discipline=discipline)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda name: gold.score(name).to_json(), names))
    assert found == wanted


def test_a_pickle_of_gold_scores_the_same_used_or_not(folder: Path) -> None:
    gold = gold_of()
    wanted = from_files("run.tab")
    for _ in range(2):
        copy = pickle.loads(pickle.dumps(gold))
        assert copy.score("run.tab").to_json() == wanted
        result = gold.score("run.tab")  # now it is used
        assert pickle.loads(pickle.dumps(result)).rescore("sf").to_json() == result.rescore("sf").to_json()


def test_a_pool_below_a_run_is_read_with_each_run(folder: Path, inputs: Inputs) -> None:
    """The pool judges an answer about one that it does not judge: only a run that gives that has its query."""
    inputs.pool(CY.judged("1"), BO.child().judged("0"))
    gold = gold_of()
    assert repr(gold) == "<gold: 2 queries to score, 1 files of assessments, read with each run>"
    wanted = json.loads(as_json(folder, "run.tab", "pool.tab"))
    for _ in range(2):
        found = json.loads(gold.score("run.tab").to_json())
        assert found["runs"][0]["scores"] == wanted["runs"][0]["scores"]
        judged = [response["pre_policy"] for response in found["runs"][0]["responses"]]
        assert judged == [response["pre_policy"] for response in wanted["runs"][0]["responses"]]
        assert sorted(judged) == ["CORRECT", "INCORRECT", "UNASSESSED"]
    with pytest.raises(cs.InputError, match="no earlier line has given the answer that it asks about"):
        gold.score("second.tab")


def test_files_are_paths_open_files_and_folders(folder: Path) -> None:
    wanted = gold_of().score("run.tab").scores
    (folder / "runs").mkdir()
    (folder / "runs" / "one.tab.txt").write_bytes(Path("run.tab").read_bytes())
    with open("queries.xml", "rb") as queries:
        gold = cs.prepare([queries], [io.BytesIO(Path("pool.tab").read_bytes())], expand="CSX")
    with open("run.tab", encoding="utf-8") as text:
        for run in ([folder / "run.tab"], folder / "runs", text):
            assert gold.score(run).scores == wanted


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"expand": "CSX", "justifications": "3"}, "must be of the form A:B"),
        ({"expand": "CSX", "justifications": 3}, "justifications takes a text such as 1:3, not 3"),
        ({"expand": "CSX", "policy": "fs"}, "no policy called fs; there are kb, sf$"),
        ({"expand": "CSX", "policy": 1}, "policy takes the name of a policy or a Policy, not 1"),
        ({"expand": "CSX", "discipline": "STRING"}, r"No matcher called STRING; there are .*did you mean STRING_"),
        ({"expand": "CSX", "runids": 5}, "runids takes a list of texts, not 5"),
        ({"expand": "CSX", "query_ids": [5]}, "query_ids takes a list of texts, not 5"),
        ({"expand": "CSX", "samples": 5}, "samples takes a path, not 5"),
        ({"queries": 5}, "queries takes paths or open files, not 5"),
        ({"queries": b"q.xml"}, "queries takes paths or open files, not b'q.xml'"),
        ({"queries": [5]}, "queries takes paths or open files, not 5"),
        ({"queries": []}, "queries takes at least one file"),
        ({"pool": {"pool.tab": 1}.items()}, "pool takes paths or open files"),
    ],
)
def test_arguments_are_checked_where_they_are_given(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(cs.UsageError, match=said):
        cs.prepare(**{"queries": "queries.xml", "pool": ["pool.tab"], **arguments})


def test_validated_runs_are_scored_as_the_command_line_scores_them(folder: Path, inputs: Inputs) -> None:
    inputs.run(BO, replace(BO, confidence="0.5"))
    told = json.loads(as_json(folder, "pool.tab", "run.tab", "--validate"))
    result = cs.score("queries.xml", "run.tab", "pool.tab", expand="CSX", validate=True)
    assert result.remarks[0] == "run.tab: validated; 1 of 2 lines are left out"
    with pytest.raises(cs.UsageError, match="the run was validated for justifications 1:3, which leaves out what"):
        result.rescore("sf")
    again = result.rescore("sf", justifications="1:3")
    assert json.loads(again.to_json())["origin"]["options"]["validate"] is True
    assert json.loads(result.to_json()) == told
    Path("result.json").write_text(result.to_json(), encoding="utf-8")
    assert again.remarks[0] == result.remarks[0]
    outcome = cs_score("verify", "result.json")
    assert (outcome.status, outcome.out.split(" (")[0]) == (0, "result.json: reproduced")


def test_each_run_of_a_file_is_validated_by_itself(folder: Path, inputs: Inputs) -> None:
    answers = (BO, replace(BO, confidence="0.5"), replace(BO, query=OTHER, run_id="runB", confidence="1"))
    inputs.run(*answers, name="both.tab")
    result = gold_of().score("both.tab", validate=True)
    assert result.remarks[:2] == (
        "both.tab: run runA validated; 1 of 2 lines are left out",
        "both.tab: run runB validated; 0 of 1 lines are left out",
    )
    inputs.run(answers[0], replace(answers[2], confidence="1.0"), name="corrected.tab")
    corrected = gold_of().score("corrected.tab")
    assert result.run_ids == corrected.run_ids == ("runA", "runB")
    assert result.scores_by_run == corrected.scores_by_run


def test_knowledge_bases_are_scored_as_the_command_line_scores_them(tmp_path: Path) -> None:
    words = ("-expand", "ISLE26", "-queries", "queries/queryids.txt", "-output_file", str(tmp_path / "out"))
    files = ("queries/ldc-queries.xml", "assessments/pool-2016.tab", "submissions/tide.tac")
    score_in(ROOT, [*words, "--json", str(tmp_path / "out.json"), *files])
    with contextlib.chdir(ROOT):
        gold = cs.prepare(files[0], files[1], expand="ISLE26", query_ids="queries/queryids.txt")
        result = gold.score(files[2])
    told = json.loads((tmp_path / "out.json").read_text())
    assert result.remarks[0].startswith("submissions/tide.tac: validated and resolved; ")
    assert json.loads(result.to_json()) == told
    assert result.rescore("sf").run_id == "TIDE_KB"


# ---- Runs validated


@pytest.fixture
def sf_queries(inputs: Inputs) -> Inputs:
    """Slot-filling queries and a run with a line beyond the limits and a confidence without point."""
    inputs.queries(query_xml().replace("CSX_0001", BO.query))
    inputs.run(BO, replace(BO, confidence="0.5"), Line("Cy", "N_ENG_2", "1", ":E2"))
    return inputs


def test_a_validated_run_is_that_of_the_command(sf_queries: Inputs) -> None:
    folder = sf_queries.folder
    words = ["validate-run", "-output_file", "valid.tab", "-error_file", "log", "--problems", "problems.json"]
    outcome = score_in(folder, [*words, "queries.xml", "run.tab"])
    checked = cs.validate_run("run.tab", "queries.xml")
    assert checked.text.encode() == outcome.files["valid.tab"]
    told = json.loads(outcome.files["problems.json"])["problems"]
    rows = checked.rows()
    keys = ("code", "severity", "line", "text", "repaired", "times")
    assert [[row[key] for key in keys] for row in rows] == [[one[key] for key in keys] for one in told]
    assert (checked.errors, checked.warnings) == (0, len(rows))
    assert repr(checked) == f"<validated run: 2 lines, 0 errors, {len(rows)} warnings>"
    checked.write("python.tab")
    assert Path("python.tab").read_bytes() == outcome.files["valid.tab"]


def test_a_run_with_errors_has_no_text(sf_queries: Inputs) -> None:
    sf_queries.run(BO, replace(BO, confidence="<i>"))
    checked = cs.validate_run("run.tab", "queries.xml")
    assert checked.errors == 1
    for use in (lambda: checked.text, lambda: checked.write("new.tab")):
        with pytest.raises(cs.UsageError, match=r"the run has 1 errors, so there is no validated run; rows\(\) lists"):
            use()
    assert not Path("new.tab").exists()
    assert "<i>" not in checked._repr_html_()
    assert "&lt;i&gt;" in checked._repr_html_()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"run": []}, "validate_run takes at least one run file and one query file"),
        ({"run": 5}, "run takes paths or open files, not 5"),
        ({"justifications": "x"}, "must be of the form A:B"),
        ({"depth": "C:1"}, "depth"),
    ],
)
def test_arguments_of_validation_are_checked(options: dict[str, Any], said: str) -> None:
    with pytest.raises(cs.UsageError, match=said):
        cs.validate_run(**({"run": "run.tab", "queries": "queries.xml"} | options))


def test_a_validated_run_does_not_replace_its_inputs(sf_queries: Inputs) -> None:
    with pytest.raises(cs.UsageError, match="is an input; choose another path"):
        cs.validate_run("run.tab", "queries.xml").write("run.tab")


@pytest.mark.parametrize(
    ("queries", "pool", "problem"),
    [
        ("pool.tab", "queries.xml", "queries: pool.tab is a pool or a run, not a query file"),
        ("runs/alpha.tab.txt", "pool.tab", "queries: runs/alpha.tab.txt is a pool or a run"),
        ("queries.xml", "queries.xml", "pool: queries.xml is a query file: give it as queries"),
        ("queries.xml", "runs/alpha.tab.txt", "this is a run, not a pool; give assessments as pool"),
    ],
)
def test_swapped_arguments_are_named(
    queries: str, pool: str, problem: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world)
    with pytest.raises((cs.UsageError, cs.InputError), match=problem):
        cs.prepare(queries, pool, expand="CSSF17")
