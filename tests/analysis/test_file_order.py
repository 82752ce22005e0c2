"""A run before its pool: what is found at the second hop hangs below lines that were added before it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.coldstart.command import score_in
from tests.documents import ROOT

QUERIES, POOL = (str(ROOT / name) for name in ("queries/ldc-queries.xml", "assessments/pool-2016.tab"))
SWITCHES = ("-expand", "ISLE26", "-queries", str(ROOT / "queries/queryids.txt"))


@pytest.mark.parametrize("pool_first", [True, False])
def test_all_that_was_missed_is_found_together(tmp_path: Path, pool_first: bool) -> None:
    run = tmp_path / "run.tab.txt"
    run.write_bytes((ROOT / "submissions/gull-sf.tab.txt").read_bytes())
    files = [QUERIES, *([POOL, str(run)] if pool_first else [str(run), POOL])]
    analysis = json.loads(score_in(tmp_path, ["analyze", *SWITCHES, "--format", "json", *files]).stdout)
    classes = (mistake for mistake in analysis["mistakes"] if mistake["kind"] == "class")
    added = dict.fromkeys(line for mistake in classes for line in mistake["added"])
    run.write_text(run.read_text("utf-8") + "".join(f"{line}\n" for line in added), "utf-8")
    mended = json.loads(score_in(tmp_path, ["score", *SWITCHES, "--format", "json", *files]).stdout)
    (missed,) = (row for row in analysis["budget"] if row["kind"] == "missed")
    assert missed["score"] == pytest.approx(mended["runs"][0]["scores"][analysis["measure"]], abs=1e-12)
