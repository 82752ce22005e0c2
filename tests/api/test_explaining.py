"""Explanations from Python are those of the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cs_score as cs
from tests.coldstart.command import score_in
from tests.documents import ROOT

EXPAND = "ISLE26"
FILES = ("queries/ldc-queries.xml", "assessments/pool-2016.tab", "submissions/tide-kb.tab.txt")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> cs.RunResult:
    """The sample run, scored in the folder that holds the samples."""
    monkeypatch.chdir(ROOT)
    return cs.prepare(queries=FILES[0], pool=FILES[1], expand=EXPAND).score(FILES[2])


def test_what_is_told_is_that_of_the_command_line(run: cs.RunResult) -> None:
    told = run.explain("ISLE26_0002", line=[7, "tide-kb.tab.txt:14"], node=":E20", answer="Corin*")
    words = ("--line=7", "--line=tide-kb.tab.txt:14", "--unit=ISLE26_0002", "--node=:E20", "--answer=Corin*")
    outcome = score_in(ROOT, ["explain", "-expand", EXPAND, *words, "--format=json", *FILES])
    as_json = json.loads(told.to_json())
    assert {**as_json, "origin": 0} == {**json.loads(outcome.stdout), "origin": 0}
    as_text = score_in(ROOT, ["explain", "-expand", EXPAND, *words, *FILES]).stdout.decode()
    assert f"{told}\n" == as_text
    assert repr(told) == "<explanation of TIDE_KB: 7 lines, 2 queries, 0 classes, 1 nodes>"


def test_what_cannot_be_explained_is_refused(run: cs.RunResult, tmp_path: Path) -> None:
    with pytest.raises(cs.InputError, match="there is no line 99"):
        run.explain(line=99)
    with pytest.raises(cs.UsageError, match="F2"):
        run.explain(line=1, measure="F2")
    (tmp_path / "r.json").write_text(run.to_json())
    loaded = cs.load(tmp_path / "r.json")
    assert isinstance(loaded, cs.RunResult)
    with pytest.raises(cs.UsageError, match="explain needs the lines of the run"):
        loaded.explain(line=1)
