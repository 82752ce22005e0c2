"""Analyses, differences, explanations and pages from Python, byte by byte those of the command line; and read back."""

from __future__ import annotations

import html
import json
import pickle
import re
from pathlib import Path
from typing import Any, Final

import pytest

import cs_score as cs
from tests.coldstart.command import score_in
from tests.documents import ROOT
from tests.evidence.test_command import files

QUERIES, POOL, LIST = "queries/ldc-queries.xml", "assessments/pool-2016.tab", "queries/queryids.txt"
KB, SF = "submissions/tide-kb.tab.txt", "submissions/gull-sf.tab.txt"
SWITCHES: Final = ("-expand", "ISLE26", "-queries", LIST)
EVIDENCE: Final = "sentence_label_f1"


@pytest.fixture(autouse=True)
def _in_the_folder_of_the_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def run_of(name: str = KB) -> cs.RunResult:
    return cs.prepare(QUERIES, POOL, expand="ISLE26", query_ids=LIST).score(name)


def printed(*words: str) -> str:
    outcome = score_in(ROOT, words)
    assert outcome.status == 0, outcome.stderr
    return outcome.stdout.decode()


def test_an_analysis_is_that_of_the_command_line() -> None:
    policy = "own:right=CORRECT:INEXACT,wrong=INCORRECT"
    intervals = ("--bootstrap", "9", "--seed", "3")
    words = (
        "analyze",
        *SWITCHES,
        *intervals,
        "--measure",
        "SF-AP",
        "--also-policy",
        policy,
        "--by",
        "slot,hop",
        "--top",
        "4",
    )
    own = cs.Policy(("CORRECT", "INEXACT"), ("INCORRECT",))
    found = cs.analyze(run_of(), "SF-AP", also_policy={"own": own}, by="slot,hop", bootstrap=9, seed=3, top=4)
    assert found.to_json() == printed(*words, "--format=json", QUERIES, POOL, KB)
    assert str(found) + "\n" == printed(*words, QUERIES, POOL, KB)
    told = json.loads(found.to_json())
    assert (found.task, found.measure, found.score) == ("coldstart", "SF-AP", told["score"])
    assert (dict(found.scores), str(found.signature)) == (told["scores"], told["signature"])
    assert (found.scenarios, found.best) == (told["scenarios"], told["best"])
    assert repr(found) == f"<analysis of TIDE_KB: SF-AP {found.score:.4f}, {told['mistake_count']} mistakes>"


@pytest.mark.parametrize("policy", ["sf", None])
def test_a_difference_is_that_of_the_command_line(policy: str | None) -> None:
    run = run_of()
    common = ("diff", *SWITCHES, "--measure", "SF-ALL-Micro-F1", "--bootstrap", "9", "--top", "3")
    if policy is None:
        other, names = run_of(SF), ("tide-kb.tab.txt", "gull-sf.tab.txt")
        words = [*common, QUERIES, POOL, KB, SF]
    else:
        other, names = run.rescore(policy), ("as given", f"policy {policy}")
        words = [*common, "--policy-b", policy, QUERIES, POOL, KB]
    found = cs.diff(run, other, "SF-ALL-Micro-F1", names=names, bootstrap=9, top=3)
    assert found.to_json() == printed(*words, "--format=json")
    assert str(found) + "\n" == printed(*words)
    told = json.loads(found.to_json())
    assert (found.a, found.b, found.difference, found.names) == (told["a"], told["b"], told["difference"], names)
    assert found.notes == tuple(note["text"] for note in told["notes"])
    assert repr(found) == f"<SF-ALL-Micro-F1: {names[1]} - {names[0]} = {found.difference:+.4f}>"


def made() -> list[cs.Analysis | cs.Difference]:
    run, result = run_of(), cs.scifact(*map(str, files("scifact")))
    return [cs.analyze(run), cs.analyze(result), cs.diff(run, run.rescore("sf"), bootstrap=9), cs.diff(result, result)]


def test_what_was_stored_is_read_back(tmp_path: Path) -> None:
    for found in made():
        (tmp_path / "found.json").write_text(found.to_json())
        again = cs.load(tmp_path / "found.json")
        assert isinstance(again, type(found))
        assert (again.to_json(), repr(again), again.tables) == (found.to_json(), repr(found), found.tables)
        assert (str(again), again._repr_html_()) == (str(found), found._repr_html_())
        assert again.report().html == found.report().html
        assert str(pickle.loads(pickle.dumps(found))) == str(found)


def test_rows_and_frames_are_the_tables_of_the_command(tmp_path: Path) -> None:
    analysis, evidence, difference, _ = made()
    assert isinstance(difference, cs.Difference)
    score_in(ROOT, ["analyze", *SWITCHES, "--format", "tsv", "-o", str(tmp_path / "tables"), QUERIES, POOL, KB])
    assert {f"{name}.tsv" for name in analysis.tables} == {path.name for path in (tmp_path / "tables").iterdir()}
    for name in analysis.tables:
        head, *lines = (tmp_path / "tables" / f"{name}.tsv").read_text().splitlines()
        assert list(analysis.to_frame(name).columns) == head.split("\t")
        assert len(analysis.rows(name)) == len(lines)
    told = json.loads(analysis.to_json())
    assert [row["gain"] for row in analysis.rows()] == [row["gain"] for row in told["mistakes"]]
    assert analysis.to_frame("sweep")["f1"].max() == max(row["f1"] for row in told["sweep"])
    assert analysis.to_frame().attrs == {"measure": analysis.measure, "signature": told["signature"]}
    assert list(evidence.to_frame()["kind"]) == [row["kind"] for row in json.loads(evidence.to_json())["mistakes"]]
    assert difference.to_frame()["contribution"].sum() == pytest.approx(difference.difference, abs=1e-12)
    assert difference.to_frame().attrs["signatures"].keys() == {"a", "b"}
    with pytest.raises(cs.UsageError, match=r"no table called 'mistake'; .*; did you mean mistakes\?"):
        analysis.rows("mistake")


def test_what_cannot_be_analysed_is_wrong_usage() -> None:
    run, result = run_of(), cs.scifact(*map(str, files("scifact")))
    stored = cs.load(run.to_json())
    assert isinstance(stored, cs.RunResult)
    for call, said in (
        (lambda: cs.analyze(stored), "analyze needs the lines of the run"),
        (lambda: cs.diff(run, stored), "diff needs the lines of the run"),
        (lambda: cs.analyze(run, "chess"), "no measure called chess"),
        (lambda: cs.analyze(run, top=0), "top takes a number from 1, not 0"),
        (lambda: cs.analyze(run, also_policy="nosuch"), "no such preset"),
        (lambda: cs.analyze(run, by="slot,moon"), "moon"),
        (lambda: cs.diff(run, run, top=-1), "top takes a number from 1, not -1"),
        (lambda: cs.diff(run, run, names="ab"), "names takes what the two are called"),  # type: ignore[arg-type]
        (lambda: cs.analyze(result, run="x"), "are for Cold Start runs"),
        (lambda: cs.analyze("run.tab"), "analyze takes a result, not 'run.tab'"),  # type: ignore[arg-type]
        (lambda: cs.diff(run, result), "diff takes results of one kind"),
    ):
        with pytest.raises(cs.UsageError, match=said):
            call()


def test_a_notebook_shows_a_table() -> None:
    analysis, difference = cs.analyze(run_of()), cs.diff(run_of(), run_of().rescore("sf"), bootstrap=9)
    assert "<td>missed</td>" in analysis._repr_html_()
    assert "<caption>analysis of " in analysis._repr_html_()
    assert '<th scope="col" data-key="contribution" class="number">Contribution</th>' in difference._repr_html_()


def test_print_shows_what_the_command_shows() -> None:
    run, other = run_of(), run_of(SF)
    names = ("tide-kb.tab.txt", "gull-sf.tab.txt")
    files = (*SWITCHES, QUERIES, POOL, KB)
    for shown, words in (
        (run, ("score", *files)),
        (cs.analyze(run), ("analyze", *files)),
        (run.explain(), ("explain", *files)),
        (cs.diff(run, other, names=names, bootstrap=9), ("diff", *files, SF, "--bootstrap", "9")),
        (cs.compare(dict(zip(names, (run, other))), bootstrap=9), ("compare", *files, SF, "--bootstrap", "9")),
    ):
        assert f"{shown}\n" == printed(*words)


# ---- Explanations and pages


def test_an_explanation_is_that_of_the_command_line() -> None:
    told = run_of().explain("ISLE26_0002", line=[7, "tide-kb.tab.txt:14"], node=":E20", answer="Corin*")
    chosen = ("--line=7", "--line=tide-kb.tab.txt:14", "--unit=ISLE26_0002", "--node=:E20", "--answer=Corin*")
    words = ("explain", *SWITCHES, *chosen, QUERIES, POOL, KB)
    assert told.to_json() == printed(*words, "--format=json")
    assert f"{told}\n" == printed(*words)
    assert repr(told) == "<explanation of TIDE_KB: 7 lines, 2 queries, 0 classes, 1 nodes>"


def test_what_cannot_be_explained_is_refused() -> None:
    run = run_of()
    with pytest.raises(cs.InputError, match="there is no line 99"):
        run.explain(line=99)
    with pytest.raises(cs.UsageError, match="F2"):
        run.explain(line=1, measure="F2")
    loaded: Any = cs.load(run.to_json())
    with pytest.raises(cs.UsageError, match="explain needs the lines of the run"):
        loaded.explain(line=1)


def test_a_result_gives_the_page_of_the_command_line(tmp_path: Path) -> None:
    result, ours, theirs = run_of(), tmp_path / "ours.html", tmp_path / "theirs.html"
    result.report("SF-AP").write(ours)
    printed("report", *SWITCHES, "--measure", "SF-AP", QUERIES, POOL, KB, "-o", str(theirs))
    assert ours.read_bytes() == theirs.read_bytes() == result.report("SF-AP").html.encode()
    with pytest.raises(cs.UsageError, match="no measure called chess"):
        result.report("chess")
    stored: Any = cs.load(result.to_json())
    with pytest.raises(cs.UsageError, match="report needs the lines of the run"):
        stored.report()


def test_predictions_give_the_page_of_the_command_line(tmp_path: Path) -> None:
    gold, predictions = map(str, files("scifact"))
    page = cs.scifact(gold, predictions).report("sentence_label_f1")
    words = ["report", "scifact", "--gold", gold, "--predictions", predictions, "--measure", "sentence_label_f1"]
    assert score_in(tmp_path, [*words, "-o", "theirs.html"]).status == 0
    assert page.html.encode() == (tmp_path / "theirs.html").read_bytes()


def test_a_notebook_shows_it_in_a_frame_that_may_do_nothing_but_run_its_script() -> None:
    page = cs.scifact(*map(str, files("scifact"))).report()
    (shown,) = re.findall(r'^<iframe srcdoc="([^"]*)" sandbox="allow-scripts" [^<>]*></iframe>$', page._repr_html_())
    assert html.unescape(shown) == page.html
