"""Batches from Python: the files of the command, and its leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cs_score as cs
from tests.coldstart.command import score_in
from tests.verbs.batch.command import contents, leaderboard, without_call


def _batch(world: Path, out: str, **options: Any) -> cs.Leaderboard:
    given: dict[str, Any] = {
        "queries": world / "queries.xml",
        "pool": world / "pool.tab",
        "expand": "CSSF17",
        "jobs": 1,
    }
    return cs.batch(world / "runs", world / out, **(given | options))


def test_a_batch_is_that_of_the_command(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("pandas")
    monkeypatch.chdir(world)
    words = "batch -expand CSSF17 --jobs 1 --policy kb --also-policy sf --html --bootstrap 99 --seed 3 -o command"
    score_in(world, [*words.split(), "queries.xml", "pool.tab", "runs"])
    board = _batch(Path(), "python", also_policy="sf", html=True, bootstrap=99, seed=3)
    ours, theirs = contents(world / "python"), contents(world / "command")
    assert set(ours) == set(theirs)
    for name in ours:
        if not name.endswith("signature.json"):  # it has digests of the parameters, which tell the call
            assert without_call(ours[name]) == without_call(theirs[name]), name
    rows = board.rows()
    assert [
        {key: row[key] for key in line} for row, line in zip(rows, leaderboard(world / "command"), strict=True)
    ] == [
        {key: None if text == "" else type(row[key])(text) for key, text in line.items()}
        for row, line in zip(rows, leaderboard(world / "command"))
    ]
    assert repr(board) == f"<leaderboard by {board.measure}: 6 scored, 0 failed>"
    loaded: Any = cs.load(board.to_json())
    assert (loaded.rows(), repr(loaded), str(loaded)) == (rows, repr(board), str(board))
    frame = board.to_frame()
    assert (list(frame["run"]), frame.attrs) == ([row["run"] for row in rows], {"measure": board.measure})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"policy": "fs"}, "no policy called fs; there are kb, sf"),
        ({"also_policy": "fs"}, "also_policy fs: no such preset; there are kb, sf"),
        ({"also_policy": "kb"}, "also_policy kb is the policy in force already"),
        ({"also_policy": ["problems.tsv:right=CORRECT"]}, "also_policy problems.tsv: that is a file of every batch"),
        ({"also_policy": {"own": "CORRECT"}}, "also_policy takes a Policy for each name; own is 'CORRECT'"),
        ({"jobs": 0}, "jobs takes a number from 1, not 0"),
        ({"measure": "F2"}, "measure: no measure called F2; there are LDC-MEAN-AP"),
        ({"discipline": "X"}, "No matcher called X"),
        ({"queries": 5}, "queries takes paths or open files, not 5"),
    ],
)
def test_arguments_are_checked_before_anything_is_written(world: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(cs.UsageError, match=said):
        _batch(world, "out", **options)
    assert not (world / "out").exists()
