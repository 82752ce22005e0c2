"""Several policies in one batch: presets, own ones, and where their files go."""

from __future__ import annotations

from pathlib import Path

import pytest

from cs_score.base.errors import UsageError
from cs_score.batch.coldstart import cold_start_plan
from cs_score.coldstart.options import Options
from tests.batch.command import batch_in, contents, leaderboard, without_call
from tests.coldstart.command import score_in as cs_score_in

TEXTS = {"IGNORE": "UNASSESSED:DUPLICATE", "RIGHT": "CORRECT", "WRONG": "INCORRECT:INCORRECT_PARENT:INEXACT"}
SF_SWITCHES = (
    "-justifications", "1:1", "-ignore", "UNASSESSED", "-wrong", "INCORRECT:INCORRECT_PARENT:INEXACT:DUPLICATE",
)  # fmt: skip


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["nosuch"], "no such preset"),
        (["kb", "KB:right=CORRECT"], "given twice"),
        (["a/b:right=CORRECT"], "a name is made of letters"),
        (["..:right=CORRECT"], "a name is made of letters"),
        (["problems.tsv:right=CORRECT"], "is a file of every batch"),
        (["x:"], "an empty part is not understood"),
        (["x:left=CORRECT"], "left=CORRECT is not understood"),
        (["x:right=INCORRECT"], "Unexpected choice INCORRECT for RIGHT"),
        (["x:justifications=3"], "must be of the form A:B"),
    ],
)
def test_what_is_no_policy(given: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        cold_start_plan((), (), Options(), TEXTS, "kb", given)


def test_each_policy_has_the_bytes_of_a_call_with_its_switches(world: Path) -> None:
    assert batch_in(world, "--policy", "kb", "--also-policy", "sf", out="both").status == 0
    for policy, switches in (("kb", ()), ("sf", SF_SWITCHES)):
        for run in ("alpha", "beta", "gamma"):
            single = world / "single" / policy / run
            single.mkdir(parents=True)
            outputs = ("-output_file", f"{single}/out", "-error_file", f"{single}/out.errlog")
            files = ("queries.xml", "pool.tab", f"runs/{run}.tab.txt")
            assert cs_score_in(world, ["-expand", "CSSF17", *switches, *outputs, *files]).status == 0
            ours = contents(world / "both" / policy / run)
            del ours["signature.json"]
            theirs = contents(single)
            assert {name: without_call(data) for name, data in ours.items()} == {
                name: without_call(data) for name, data in theirs.items()
            }
    rows = leaderboard(world / "both")
    assert [row["policy"] for row in rows] == ["kb"] * 3 + ["sf"] * 3
    assert [row["rank"] for row in rows][::3] == ["1", "1"]
