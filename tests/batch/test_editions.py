"""Runs that follow another edition than their batch, and leaderboards that mix editions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Final

import pytest

from tests.batch.command import contents, leaderboard, without_call
from tests.coldstart.command import Outcome, score_in
from tests.documents import ROOT

GOLD: Final = ("queries/ldc-queries.xml", "assessments/pool-2016.tab")
SWITCHES: Final = ("-expand", "ISLE26", "--jobs", "1")
LIST: Final = "submissions/tide-kb.tab.txt\nsubmissions/gull-2016.tab\tfollow=3.0\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("queries", "submissions", "assessments"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "list").write_text(LIST)
    return tmp_path


def batch(folder: Path, *more: str) -> Outcome:
    return score_in(folder, ["batch", *SWITCHES, "-o", "out", *more, "--runs-from", "list", *GOLD])


def test_editions_are_mixed_only_when_asked_and_that_is_said(folder: Path) -> None:
    refused = batch(folder)
    assert (refused.status, refused.stdout) == (2, b"")
    assert refused.stderr == (
        b"cs-score: the runs follow 2017.2.0 and 3.0, whose scores cannot be compared; make a batch of each, or say "
        b"--mix-editions for one leaderboard\n"
    )
    mixed = batch(folder, "--mix-editions", "--bootstrap", "20")
    assert mixed.status == 0
    rows = {row["run"]: row for row in leaderboard(folder / "out")}
    assert {run: row["edition"] for run, row in rows.items()} == {"tide-kb": "2017.2.0", "gull-2016": "3.0"}
    assert "|follow=3.0|" in rows["gull-2016"]["signature"]
    assert {row["tier"] for row in rows.values()} == {""}
    for text in (mixed.stdout, *((folder / f"out/leaderboard.{each}").read_bytes() for each in ("md", "tex", "json"))):
        assert b"scores that other rules have made" in b" ".join(text.split())
    assert [each["run"] for each in json.loads((folder / "out/batch.json").read_bytes())["runs"]] == ["tide-kb"]
    assert score_in(folder, ["verify", "out"]).status == 0
    assert b"(2 of them before)" in batch(folder, "--mix-editions", "--bootstrap", "20", "--resume").stderr


def test_a_run_has_the_files_of_a_call_that_follows_its_edition(folder: Path) -> None:
    assert batch(folder, "--mix-editions").status == 0
    (folder / "one").mkdir()
    words = ["-output_file", "one/out", "-error_file", "one/out.errlog", "--follow", "3.0", *SWITCHES[:2]]
    assert score_in(folder, [*words, GOLD[0], "submissions/gull-2016.tab", GOLD[1]]).status == 0
    ours, theirs = contents(folder / "out/gull-2016"), contents(folder / "one")
    del ours["signature.json"]
    assert {name: without_call(data) for name, data in ours.items()} == {
        name: without_call(data) for name, data in theirs.items()
    }


@pytest.mark.parametrize(
    ("lines", "more", "status", "said"),
    [
        ("submissions/gull-2016.tab\tfollow=3.0", (), 0, b""),  # one edition, whatever the batch follows
        (LIST.replace("3.0", "2017.2.0"), (), 0, b""),
        (LIST.replace("3.0", "4"), (), 2, b"no edition 4 to follow; there are 3.0, 2017.1.5, 2017.2.0"),
        (LIST.replace("follow=", ""), (), 2, b"list: line 2: '3.0' is not understood; a tab precedes follow=NAME"),
        (LIST + "submissions/gull-2016.tab", (), 2, b"is to follow the default and 3.0"),
        (LIST, ("-justifications", "1:1"), 2, b"-justifications"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_a_list_may_say(lines: str, more: tuple[str, ...], status: int, said: bytes, folder: Path) -> None:
    (folder / "list").write_text(lines)
    done = batch(folder, *more)
    assert (done.status, said in done.stderr) == (status, True), done.stderr
    if not status:
        assert "edition" not in leaderboard(folder / "out")[0]


def test_other_tasks_have_no_editions(tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("")
    (tmp_path / "list").write_text("predictions\tfollow=3.0\n")
    done = score_in(tmp_path, ["batch", "claims", "--gold", "gold", "-o", "out", "--runs-from", "list"])
    assert (done.status, done.stderr) == (2, b"cs-score: --runs-from: follow=3.0 is for Cold Start runs\n")
