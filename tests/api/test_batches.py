"""Batches from Python: the files of the command, and its leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cs_score as cs
from tests.batch.command import contents, leaderboard, without_call
from tests.coldstart.command import score_in


def _batch(world: Path, out: str, **options: Any) -> cs.Leaderboard:
    given: dict[str, Any] = {
        "queries": world / "queries.xml",
        "pool": world / "pool.tab",
        "expand": "CSSF17",
        "jobs": 1,
    }
    return cs.batch(world / "runs", world / out, **(given | options))


def test_a_batch_writes_the_files_of_the_command(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world)
    words = ["batch", "-expand", "CSSF17", "--jobs", "1", "--policy", "kb", "--also-policy", "sf", "-o", "command"]
    score_in(world, [*words, "queries.xml", "pool.tab", "runs"])
    board = cs.batch(
        "runs", "python", queries="queries.xml", pool="pool.tab", expand="CSSF17", also_policy="sf", jobs=1
    )
    ours, theirs = contents(world / "python"), contents(world / "command")
    assert set(ours) == set(theirs)
    for name in ours:
        if not name.endswith("signature.json"):  # it has digests of the parameters, which tell the call
            assert without_call(ours[name]) == without_call(theirs[name]), name
    told = leaderboard(world / "command")
    assert [{key: row[key] for key in line} for row, line in zip(board.rows(), told, strict=True)] == [
        {key: None if text == "" else type(row[key])(text) for key, text in line.items()}
        for row, line in zip(board.rows(), told)
    ]
    assert repr(board) == f"<leaderboard by {board.measure}: 6 scored, 0 failed>"


def test_pages_and_intervals_are_those_of_the_command(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world)
    pytest.importorskip("jinja2")
    words = ["batch", "-expand", "CSSF17", "--jobs", "1", "--policy", "kb", "--also-policy", "sf", "--html"]
    words += ["--bootstrap", "99", "--seed", "3", "-o", "command"]
    score_in(world, [*words, "queries.xml", "pool.tab", "runs"])
    board = cs.batch(
        "runs", "python", queries="queries.xml", pool="pool.tab", expand="CSSF17", also_policy="sf", jobs=1, html=True,
        bootstrap=99, seed=3,
    )  # fmt: skip
    pages = [str(path.relative_to(world / "python")) for path in (world / "python").rglob("out.html")]
    assert len(pages) == 6
    for name in ("leaderboard.tsv", "agreement.tsv", "stability.tsv", "index.html", *pages):
        ours, theirs = ((world / folder / name).read_text() for folder in ("python", "command"))
        assert ours == theirs, name
    told = leaderboard(world / "command")
    for row, line in zip(board.rows(), told, strict=True):
        for side in ("low", "high"):
            assert row[f"{board.measure}:{side}"] == float(line[f"{board.measure}:{side}"])
        assert str(row["tier"]) == line["tier"]
        assert (row["p_above"] is None) == (line["p_above"] == "")


def test_a_leaderboard_as_a_frame(world: Path) -> None:
    pytest.importorskip("pandas")
    board = _batch(world, "out")
    frame = board.to_frame()
    assert list(frame["run"]) == [row["run"] for row in board.rows()]
    assert list(frame[board.measure]) == [row[board.measure] for row in board.rows()]
    assert frame.attrs["measure"] == board.measure
    assert not [name for name in frame.columns if ":" in name]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"policy": "fs"}, "no policy called fs; there are kb, sf"),
        ({"also_policy": "fs"}, "fs: no such preset; there are kb, sf"),
        ({"also_policy": "kb"}, "also_policy kb is the policy in force already"),
        ({"also_policy": {"own": "CORRECT"}}, "also_policy takes a Policy for each name; own is 'CORRECT'"),
        ({"jobs": 0}, "jobs takes a number from 1, not 0"),
        ({"measure": "F2"}, "measure: no measure called F2; there are LDC-MEAN-ALL-Macro-F1"),
        ({"discipline": "X"}, "No matcher called X"),
        ({"queries": 5}, "queries takes paths or open files, not 5"),
    ],
)
def test_arguments_are_checked_before_anything_is_written(world: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(cs.UsageError, match=said):
        _batch(world, "out", **options)
    assert not (world / "out").exists()
