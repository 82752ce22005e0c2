"""Measures that have no value for a run: average precision where no node is ranked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

import cs_score as cs
from cs_score.base.errors import InputError
from cs_score.coldstart import parts
from cs_score.coldstart.result import NO_RANKED_NODE
from tests.coldstart.command import Outcome, score_in
from tests.coldstart.lines import Line, query_xml
from tests.in_parts import force_three_parts, note_tries

AP: Final = "SF-AP"
F1: Final = "SF-ALL-Micro-F1"
UNRANKED: Final = "LDC-MEAN-ALL-Macro-F1"


def lines_with(node: str | None, run_id: str = "runA") -> list[Line]:
    """Return a right and a wrong line of a run whose node id is this one; None: eight columns."""
    return [Line("Bo", "N_ENG_1", node=node, run_id=run_id), Line("Al", "N_ENG_2", node=node, run_id=run_id)]


def write(folder: Path, name: str, lines: Sequence[Line | str]) -> None:
    texts = [line if isinstance(line, str) else line.text() for line in lines]
    (folder / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An evaluation with two queries; `without.tab` has no node ids, `with.tab` the same answers with node ids."""
    write(tmp_path, "queries.xml", ["<query_set>", query_xml(), query_xml(2, docids=("N_ENG_R",)), "</query_set>"])
    right, wrong = lines_with(":E1")
    write(tmp_path, "pool.tab", [right.judged("1"), wrong.judged()])
    write(tmp_path, "without.tab", lines_with(None, "NO_NODES"))
    write(tmp_path, "with.tab", lines_with(":E1", "NODES"))
    return tmp_path


def called(folder: Path, command: str, *words: str, status: int = 0) -> Outcome:
    outcome = score_in(folder, (*command.split(), "-expand", "CSX", *words))
    assert outcome.status == status, outcome.stderr.decode()
    return outcome


def document(folder: Path, command: str, *words: str) -> Any:
    return json.loads(called(folder, command, "--format", "json", *words).stdout)


@pytest.mark.parametrize("node", [None, "0", "E1", "E:1"])
@pytest.mark.rule("eight-column-runs")
def test_a_run_without_ranked_node_has_no_average_precision(node: str | None, folder: Path) -> None:
    """The report keeps the zeros of the reference."""
    write(folder, "run.tab", lines_with(node))
    found = document(folder, "score", "--measure", "*", "queries.xml", "pool.tab", "run.tab")["runs"][0]
    assert not [name for name in found["scores"] if "AP" in name]
    assert found["scores"][F1] == pytest.approx(2 / 3)
    assert found["undefined"] == dict.fromkeys(
        (AP, f"{AP}@0", f"{AP}@1", "LDC-MEAN-AP", "LDC-MEAN-AP@0", "LDC-MEAN-AP@1"), NO_RANKED_NODE
    )
    score_in(folder, ("-expand", "CSX", "-output_file", "out", "queries.xml", "pool.tab", "run.tab"))
    assert "0.0000" in (folder / "out.ap").read_text()


def test_one_ranked_node_is_enough(folder: Path) -> None:
    """A run whose only node is wrong has an average precision of 0."""
    write(folder, "run.tab", [*lines_with("0"), Line("Cy", "N_ENG_3", node=":E2")])
    found = document(folder, "score", "--measure", AP, "queries.xml", "pool.tab", "run.tab")["runs"][0]
    assert found["scores"] == {AP: 0.0}
    assert "undefined" not in found


def test_the_nodes_of_another_run_in_the_call_are_not_those_of_the_run(folder: Path) -> None:
    """The reference ranks the nodes of all runs of a call together."""
    words = (
        "-expand",
        "CSX",
        "-output_file",
        "out",
        "--json",
        "-",
        "queries.xml",
        "pool.tab",
        "without.tab",
        "with.tab",
    )
    second, first = json.loads(score_in(folder, words).stdout)["runs"]
    assert (first["run_id"], AP in first["scores"], AP in first["undefined"]) == ("NO_NODES", False, True)
    assert (second["run_id"], AP in second["scores"], "undefined" in second) == ("NODES", True, False)


@pytest.mark.parametrize("run", ["without.tab", "with.tab"])
def test_a_run_that_is_scored_in_parts_has_the_same_scores(
    run: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--measure", "*", "queries.xml", "pool.tab", run)
    whole = document(folder, "score", *words)
    force_three_parts(monkeypatch)
    tried = note_tries(monkeypatch, parts, "score_in_parts")
    assert document(folder, "score", *words) == whole
    assert tried == [True]


def test_text_says_it_once(folder: Path) -> None:
    text = called(folder, "score", "queries.xml", "pool.tab", "without.tab").stdout.decode()
    assert "undefined  SF-AP, LDC-MEAN-AP: no node is ranked" in " ".join(text.split("\n"))
    table = called(folder, "score", "--format", "tsv", "queries.xml", "pool.tab", "without.tab")
    assert b"undefined: SF-AP, LDC-MEAN-AP: no node is ranked" in table.stderr
    for form in ("markdown", "latex"):
        shown = called(folder, "score", "--format", form, "queries.xml", "pool.tab", "without.tab").stdout
        assert b"undefined" in shown


@pytest.mark.parametrize(
    "words",
    [
        ("score", "queries.xml", "pool.tab", "without.tab"),
        ("analyze", "queries.xml", "pool.tab", "without.tab"),
        ("explain", "queries.xml", "pool.tab", "without.tab"),
        ("diff", "queries.xml", "without.tab", "with.tab", "pool.tab"),
        ("compare", "queries.xml", "without.tab", "with.tab", "pool.tab"),
        ("pool-bias", "queries.xml", "without.tab", "with.tab", "pool.tab"),
    ],
)
def test_who_asks_for_it_is_told_why_there_is_none(words: tuple[str, ...], folder: Path) -> None:
    outcome = called(folder, words[0], "--measure", AP, *words[1:], status=1)
    assert outcome.stdout == b""
    assert NO_RANKED_NODE.encode() in outcome.stderr
    assert f"has no {AP}".encode() in outcome.stderr


def test_analyses_and_explanations_name_it(folder: Path) -> None:
    files = ("queries.xml", "pool.tab", "without.tab")
    for command in ("analyze", "explain"):
        assert document(folder, command, *files)["undefined"][AP] == NO_RANKED_NODE
        text = " ".join(called(folder, command, *files).stdout.decode().split())
        assert "Undefined for this run: SF-AP, LDC-MEAN-AP: no node is ranked" in text
    called(folder, "report", "-o", "page.html", *files)
    assert "Undefined for this run: SF-AP, LDC-MEAN-AP" in (folder / "page.html").read_text()


def test_two_runs_are_compared_by_what_both_have(folder: Path) -> None:
    files = ("queries.xml", "without.tab", "with.tab", "pool.tab")
    compared = document(folder, "compare", *files)
    assert compared["undefined"]["NO_NODES"][AP] == NO_RANKED_NODE
    assert "NODES" not in compared["undefined"]
    assert F1 in [each["measure"] for each in compared["measures"]]
    assert not [each["measure"] for each in compared["measures"] if "AP" in each["measure"]]
    assert "UNDEFINED_MEASURE" in [note["code"] for note in compared["notes"]]
    differing = document(folder, "diff", *files)
    assert differing["undefined"].keys() == {"a"}
    assert "UNDEFINED_MEASURE" in [note["code"] for note in differing["notes"]]


def test_a_batch_gives_it_no_rank(folder: Path) -> None:
    called(
        folder,
        "batch",
        "--measure",
        AP,
        "--bootstrap",
        "20",
        "-o",
        "out",
        "queries.xml",
        "pool.tab",
        "without.tab",
        "with.tab",
    )
    board = json.loads((folder / "out/leaderboard.json").read_bytes())
    ranked, unranked = board["rows"]
    assert (ranked["run"], ranked["rank"], "undefined" in ranked) == ("with", 1, False)
    assert (unranked["run"], unranked["rank"], unranked["undefined"][AP]) == ("without", None, NO_RANKED_NODE)
    assert "without has no SF" in (folder / "out/leaderboard.md").read_text().replace("\\", "")
    whole = json.loads((folder / "out/batch.json").read_bytes())
    assert [row.get("undefined", {}).get(AP) for row in whole["leaderboard"]] == [None, NO_RANKED_NODE]


def test_a_limit_on_it_cannot_be_kept(folder: Path) -> None:
    files = ("queries.xml", "pool.tab", "without.tab")
    checked = json.loads(called(folder, "check", "--format", "json", "--min", f"{AP}=0", *files, status=3).stdout)
    (check,) = checked["checks"]
    assert (check["passed"], check["score"], check["undefined"]) == (False, None, NO_RANKED_NODE)
    (folder / "base").mkdir()
    called(folder, "", "-output_file", "base/out", "--json", "base.json", "queries.xml", "pool.tab", "with.tab")
    failed = called(folder, "check", "--baseline", "base.json", *files, status=3).stdout.decode()
    assert "LDC-MEAN-AP has no value" in failed
    # From nothing nothing can drop: without an average precision of the baseline F1 is held against it.
    called(folder, "", "-output_file", "base/own", "--json", "own.json", *files)
    kept = called(folder, "check", "--baseline", "own.json", *files)
    assert kept.stdout.decode().startswith(f"ok    {UNRANKED} is ")
    assert f"the headline measure is {UNRANKED} in the place of LDC-MEAN-AP" in kept.stderr.decode()


@pytest.mark.parametrize("command", ["score", "analyze", "explain", "report --format json"])
def test_a_run_without_it_goes_by_f1_which_is_said_once(command: str, folder: Path) -> None:
    files = ("queries.xml", "pool.tab", "without.tab")
    outcome = called(folder, command, *files)
    assert (
        outcome.stderr.decode().count(f"the headline measure is {UNRANKED} in the place of LDC-MEAN-AP: no node") == 1
    )
    assert UNRANKED in outcome.stdout.decode()
    assert b"headline" not in called(folder, command, "--measure", F1, *files).stderr
    assert b"headline" not in called(folder, command, *files[:2], "with.tab").stderr
    of_2016 = called(folder, f"{command} --follow 3.0", *files).stderr.decode()
    assert of_2016.count("in the place of LDC-MEAN-AP: edition 3.0 has no average precision") == 1


def test_what_comes_first_in_every_format_is_the_headline_measure(folder: Path) -> None:
    for run, first in (("with.tab", "LDC-MEAN-AP"), ("without.tab", UNRANKED)):
        shown = {
            form: called(folder, f"score --format {form}", "queries.xml", "pool.tab", run).stdout.decode()
            for form in ("text", "tsv", "markdown", "latex")
        }
        assert shown["text"].splitlines()[1].split()[0] == first
        assert shown["tsv"].splitlines()[1].split("\t")[1] == first
        for form in ("markdown", "latex"):
            assert min(shown[form].find(name) for name in (first, F1, "LDC-MAX-ALL-Micro-F1")) == shown[form].find(
                first
            )


def test_of_three_runs_the_two_that_have_it_are_compared_by_it(folder: Path) -> None:
    write(folder, "again.tab", [Line("Bo", "N_ENG_1", node=":E1", run_id="AGAIN")])
    files = ("queries.xml", "pool.tab", "with.tab", "without.tab", "again.tab")
    compared = document(folder, "compare", *files)
    primary, *others = compared["measures"]
    assert (compared["measure"], compared["systems"]) == ("LDC-MEAN-AP", ["NODES", "NO_NODES", "AGAIN"])
    primary = next(each for each in (primary, *others) if not each["exploratory"])
    assert primary["measure"] == "LDC-MEAN-AP"
    assert primary["unranked"] == ["NO_NODES"]
    assert {row["name"] for row in primary["systems"]} == {"NODES", "AGAIN"}
    assert [(pair["a"], pair["b"]) for pair in primary["pairs"]] == [("NODES", "AGAIN")]
    of_f1 = next(each for each in compared["measures"] if each["measure"] == F1)
    assert (len(of_f1["systems"]), len(of_f1["pairs"]), "unranked" in of_f1) == (3, 3, False)
    # It is the comparison of the two alone.
    of_two = document(folder, "compare", *files[:3], "again.tab")
    alone = next(each for each in of_two["measures"] if each["measure"] == "LDC-MEAN-AP")
    assert alone["systems"] == primary["systems"]
    assert alone["pairs"] == primary["pairs"]
    text = " ".join(called(folder, "compare", *files).stdout.decode().split())
    assert "NO_NODES has no SF-AP, LDC-MEAN-AP: no node is ranked" in text
    assert "it has no rank by these" in text
    row = next(line for line in called(folder, "compare", *files).stdout.decode().splitlines() if "NO_NODES" in line)
    assert row.split()[:4] == ["-", "-", "NO_NODES", "-"]


def test_a_baseline_without_it_is_compared_by_f1(folder: Path) -> None:
    write(folder, "again.tab", [Line("Bo", "N_ENG_1", node=":E1", run_id="AGAIN")])
    files = ("queries.xml", "pool.tab", "without.tab", "with.tab", "again.tab")
    compared = document(folder, "compare", "--baseline", "without.tab", *files)
    assert compared["measure"] == UNRANKED


def test_python_has_the_reason_in_the_place_of_the_score(folder: Path) -> None:
    names = [str(folder / name) for name in ("queries.xml", "pool.tab", "without.tab", "with.tab")]
    without, with_nodes = (cs.score(queries=names[:1], pool=names[1:2], run=name, expand="CSX") for name in names[2:])
    assert AP not in without.scores
    assert without.undefined[AP] == NO_RANKED_NODE
    assert with_nodes.undefined == {}
    loaded = cs.load(without.to_json())
    assert isinstance(loaded, cs.RunResult)
    assert loaded.undefined == without.undefined
    with pytest.raises(InputError, match="has no SF-AP: no node is ranked"):
        cs.analyze(without, AP)


def test_a_change_that_takes_the_last_ranked_node_leaves_no_average_precision(folder: Path) -> None:
    """The effect is not defined, as the score of the changed files is not."""
    write(folder, "run.tab", [Line("Bo", "N_ENG_1", node="0"), Line("Al", "N_ENG_2", node=":E1")])
    found = document(folder, "analyze", "--measure", F1, "queries.xml", "pool.tab", "run.tab")
    (line,) = [each for each in found["mistakes"] if each["kind"] == "line"]
    assert line["effects"][F1] > 0
    assert line["effects"][AP] is None
