"""Runs of a batch that are validated in memory before they are scored."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

from cs_score.coldstart.outputs import MAY_BE_REPLACED
from tests.batch.command import FILES, batch_in, contents, leaderboard, problems
from tests.coldstart.command import Outcome
from tests.coldstart.command import score_in as cs_score_in


def _batch(world: Path, *more: str) -> Outcome:
    return batch_in(world, "--validate", "--with-json", *more)


def _change_confidence(path: Path, line: int, confidence: str) -> None:
    """Put another confidence into a line, counted from 0."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    columns = lines[line].split("\t")
    columns[7] = confidence
    path.write_text("".join([*lines[:line], "\t".join(columns), *lines[line + 1 :]]), encoding="utf-8")


def test_a_run_is_signed_as_validated_from_the_content_of_its_file(world: Path) -> None:
    path = world / "runs" / "beta.tab.txt"
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_suffix(".txt.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert _batch(world).status == 0
    for name in ("out.json", "signature.json"):
        value = json.loads((world / "out" / "beta" / name).read_text())
        signature = value["origin"] if "origin" in value else value["signature"]
        assert signature["options"]["validate"] is True
        assert signature["inputs"][-1] == {"role": "run", "name": "runs/beta.tab.txt.gz", "sha256": content}
    assert b"3 of them before" in _batch(world, "--resume").stderr


def test_the_problems_of_validation_and_what_it_left_out_are_told(world: Path) -> None:
    _change_confidence(world / "runs" / "alpha.tab.txt", 1, "1")
    assert _batch(world).status == 0
    rows = [row for row in problems(world / "out") if row["run"] == "alpha"]
    [place] = [(row["file"], row["line"]) for row in rows if row["code"] == "MISSING_DECIMAL_POINT"]
    assert place == ("runs/alpha.tab.txt", "2")
    [remark] = [row["message"] for row in rows if row["code"] == "REMARK"]
    assert remark.startswith("runs/alpha.tab.txt: validated; ")
    assert int(next(row for row in leaderboard(world / "out") if row["run"] == "alpha")["warnings"]) >= 1


def test_a_run_with_errors_is_not_scored_and_stops_nothing_else(world: Path) -> None:
    _change_confidence(world / "runs" / "beta.tab.txt", 1, "much")
    done = _batch(world)
    assert done.status == 1
    rows = {row["run"]: row for row in leaderboard(world / "out")}
    assert {run: row["state"] for run, row in rows.items()} == {"alpha": "ok", "beta": "failed", "gamma": "ok"}
    assert rows["beta"]["failure"].startswith("runs/beta.tab.txt: 1 error encountered; a run with errors cannot be")
    assert rows["beta"]["errors"] == "1"
    found = [row["line"] for row in problems(world / "out") if row["code"] == "ILLEGAL_CONFIDENCE_VALUE"]
    assert found == ["2"]
    words = ["-expand", "CSSF17", "--validate", "-output_file", "single", "-error_file", "single.errlog"]
    assert cs_score_in(world, [*words, *FILES[:2], "runs/beta.tab.txt"]).status == 255
    report = (world / "single.errlog").read_bytes().removesuffix(MAY_BE_REPLACED.encode())
    assert contents(world / "out" / "beta") == {"out.errlog": report}
