"""Runs of a batch that are validated in memory before they are scored."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

from cs_score.coldstart.outputs import MAY_BE_REPLACED
from tests.batch.command import FILES, batch_in, contents, leaderboard, problems
from tests.coldstart.command import score_in


def _change_confidence(path: Path, confidence: str) -> None:
    """Put another confidence into the second line."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    columns = lines[1].split("\t")
    columns[7] = confidence
    path.write_text("".join([lines[0], "\t".join(columns), *lines[2:]]), encoding="utf-8")


def test_a_run_is_signed_as_validated_from_the_content_of_its_file(world: Path) -> None:
    path = world / "runs" / "beta.tab.txt"
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_suffix(".txt.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert batch_in(world, "--validate", "--with-json").status == 0
    for name in ("out.json", "signature.json"):
        origin = json.loads((world / "out" / "beta" / name).read_text())["origin"]
        assert origin["options"]["validate"] is True
        assert origin["inputs"][-1] == {"role": "run", "name": "runs/beta.tab.txt.gz", "sha256": content}
    assert b"3 of them before" in batch_in(world, "--validate", "--with-json", "--resume").stderr


def test_problems_of_validation_stand_in_the_table_and_errors_fail_their_run_alone(world: Path) -> None:
    _change_confidence(world / "runs" / "alpha.tab.txt", "1")
    _change_confidence(world / "runs" / "beta.tab.txt", "much")
    assert batch_in(world, "--validate").status == 1
    rows = {row["run"]: row for row in leaderboard(world / "out")}
    assert {run: row["state"] for run, row in rows.items()} == {"alpha": "ok", "beta": "failed", "gamma": "ok"}
    assert int(rows["alpha"]["warnings"]) >= 1
    assert rows["beta"]["failure"].startswith("runs/beta.tab.txt: 1 error encountered; a run with errors cannot be")
    assert rows["beta"]["errors"] == "1"
    found = {(row["run"], row["code"]): row for row in problems(world / "out")}
    for run, code in (("alpha", "MISSING_DECIMAL_POINT"), ("beta", "ILLEGAL_CONFIDENCE_VALUE")):
        assert (found[run, code]["file"], found[run, code]["line"]) == (f"runs/{run}.tab.txt", "2")
    assert found["alpha", "REMARK"]["message"].startswith("runs/alpha.tab.txt: validated; ")
    words = ["-expand", "CSSF17", "--validate", "-output_file", "single", "-error_file", "single.errlog"]
    assert score_in(world, [*words, *FILES[:2], "runs/beta.tab.txt"]).status == 255
    report = (world / "single.errlog").read_bytes().removesuffix(MAY_BE_REPLACED.encode())
    assert contents(world / "out" / "beta") == {"out.errlog": report}
