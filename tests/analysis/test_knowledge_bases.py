"""A knowledge base in the place of a run: it is analysed, explained and compared as the run that resolving it gives."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from cs_score.base.sources import open_source
from cs_score.coldstart.gold import open_gold
from cs_score.coldstart.options import Options
from cs_score.knowledge_base.validation import resolve_knowledge_bases
from tests.coldstart.command import score_in
from tests.documents import ROOT

KB, RUN, POOL, QUERIES = "tide.tac", "resolved.tab", "pool-2016.tab", "ldc-queries.xml"
SWITCHES: Final = ("-expand", "ISLE26", "-queries", "queryids.txt", QUERIES, POOL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The samples, and the run that resolving the knowledge base gives."""
    for name in ("queries/queryids.txt", f"queries/{QUERIES}", f"assessments/{POOL}", f"submissions/{KB}"):
        shutil.copy(ROOT / name, tmp_path)
    table = open_gold([str(tmp_path / QUERIES)], Options(expand="ISLE26")).table
    [resolved] = resolve_knowledge_bases([str(tmp_path / KB)], table).files
    with open_source(resolved) as source:
        (tmp_path / RUN).write_bytes(source.read_bytes())
    return tmp_path


def found(folder: Path, *words: str) -> Any:
    outcome = score_in(folder, (*words, "--format=json"))
    assert outcome.status == 0, outcome.stderr
    return json.loads(outcome.stdout)


@pytest.mark.parametrize("given", [(*SWITCHES, KB), (*SWITCHES[:-1], "--knowledge-base", "kb.txt", POOL)])
def test_its_analysis_is_that_of_its_run(given: tuple[str, ...], folder: Path) -> None:
    (folder / "kb.txt").write_bytes((folder / KB).read_bytes())
    name = "kb.txt" if "kb.txt" in given else KB
    ours, theirs = (found(folder, "analyze", *words) for words in (given, (*SWITCHES, RUN)))
    assert len(ours["mistakes"]) > 5
    assert ours["added_to"] == f"{name} (resolved)"
    for mistake, of_run in zip(ours["mistakes"], theirs["mistakes"], strict=True):
        assert [place["line"] for place in mistake["removed"]] == [place["line"] for place in of_run["removed"]]
        assert (mistake["effects"], mistake["added"]) == (of_run["effects"], of_run["added"])
    for key in ("score", "scores", "sweep", "scenarios", "policies", "groups"):
        assert ours[key] == theirs[key]
    # What was read is the knowledge base.
    assert name in {each["name"] for each in ours["origin"]["inputs"]}


def test_it_is_explained_when_it_is_named(folder: Path) -> None:
    (folder / "kb.txt").write_bytes((folder / KB).read_bytes())
    ours = found(folder, "explain", "--knowledge-base", "kb.txt", "--line", "1", *SWITCHES)
    theirs = found(folder, "explain", "--line", "1", *SWITCHES, RUN)
    assert ours["lines"][0]["text"] == theirs["lines"][0]["text"]


def test_it_is_compared_as_its_run(folder: Path) -> None:
    shutil.copy(ROOT / "submissions/gull-sf.tab.txt", folder)
    ours = found(folder, "diff", *SWITCHES, KB, "gull-sf.tab.txt")
    theirs = found(folder, "diff", *SWITCHES, RUN, "gull-sf.tab.txt")
    assert ours["difference"] == theirs["difference"] != 0
    assert ours["units"] == theirs["units"]
    assert ours["names"] == {"a": KB, "b": "gull-sf.tab.txt"}
    policy = found(folder, "diff", "--policy-b", "sf", *SWITCHES, KB)
    assert policy["difference"] == found(folder, "diff", "--policy-b", "sf", *SWITCHES, RUN)["difference"]


@pytest.mark.parametrize("command", ["analyze", "explain", "diff"])
def test_one_with_errors_is_not_resolved(command: str, folder: Path) -> None:
    (folder / KB).write_text("KB_1\n:Entity_1\ttype\tNOTHING\n")
    words = ("--policy-b", "sf") if command == "diff" else ()
    outcome = score_in(folder, (command, *words, *SWITCHES, KB))
    assert (outcome.status, outcome.stdout) == (1, b"")
    last = outcome.stderr.decode().splitlines()[-1]
    assert last.startswith(f"cs-score: {KB}: ")
    assert "a knowledge base with errors is not resolved" in last
