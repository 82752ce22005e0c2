"""The problems of the input, as an analysis tells them by code."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

from tests.coldstart.command import score_in
from tests.documents import ROOT


def test_problems_are_counted_as_the_report_counts_them(tmp_path: Path) -> None:
    for name in ("queries", "submissions", "assessments"):
        shutil.copytree(ROOT / name, tmp_path / name)
    run = tmp_path / "submissions/gull-sf.tab.txt"
    lines = run.read_text(encoding="utf-8").splitlines()
    damaged = ["\t".join([*line.split("\t")[:7], "often", *line.split("\t")[8:]]) for line in lines[2:4]]
    run.write_text("\n".join([*lines[:2], *damaged, *lines[4:], "no line"]) + "\n", encoding="utf-8")
    files = ["-expand", "ISLE26", "queries/ldc-queries.xml", "submissions/gull-sf.tab.txt", "assessments/pool-2016.tab"]
    assert score_in(tmp_path, ["analyze", "-o", "a.json", *files]).status == 0
    score_in(tmp_path, ["-output_file", "o", "-error_file", "o.log", "--problems", "p.json", *files])
    told = json.loads((tmp_path / "a.json").read_bytes())["problems"]
    reported = Counter(each["code"] for each in json.loads((tmp_path / "p.json").read_bytes())["problems"])
    assert len(reported) > 1
    assert {row["code"]: row["count"] for row in told} == reported
    assert [row["code"] for row in told] == sorted(reported)
