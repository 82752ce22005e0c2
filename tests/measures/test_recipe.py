"""A new measure of rankings is a row of the table and a formula: every program then knows it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.batch.command import leaderboard
from tests.documents import ROOT

ROW: Final = '    _mean_of_rankings("RR", formulas.reciprocal_rank),\n'
FORMULA: Final = '''

def reciprocal_rank(values: Iterable[float], ground_truth: int | None) -> float:
    """One over the rank of the first node that is worth anything."""
    return next((1 / rank for rank, value in enumerate(values, 1) if value > 0), 0.0) if ground_truth else 0.0
'''
SCORING: Final = ("-expand", "ISLE26")
FILES: Final = ("queries/ldc-queries.xml", "assessments/pool-2016.tab", "submissions/tide-kb.tab.txt")
OTHER: Final = "submissions/gull-sf.tab.txt"


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """A copy of the package with the measure added, and the samples."""
    for name in ("cs_score", "queries", "assessments", "submissions"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    registry, formulas = (tmp_path / "cs_score" / "measures" / name for name in ("registry.py", "formulas.py"))
    before, ap, after = registry.read_text().partition('    _mean_of_rankings("AP", formulas.average_precision),\n')
    registry.write_text(before + ap + ROW + after)
    formulas.write_text(formulas.read_text() + FORMULA)
    return tmp_path


def cs_score(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "cs_score", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_measure_of_rankings_is_one_row_and_one_formula(scratch: Path) -> None:
    cs_score(scratch, *SCORING, "-output_file", "run", "--bootstrap", "20", "--json", "run.json", *FILES)
    (run,) = json.loads((scratch / "run.json").read_text())["runs"]
    assert 0 < run["scores"]["SF-RR"] <= 1
    assert {"SF-RR", "SF-RR@0", "SF-RR@1", "LDC-MEAN-RR"} <= run["intervals"]["scores"].keys()
    assert "SF-RR@0 " in (scratch / "run.intervals").read_text()

    batch = (*SCORING, "--sort-by", "sf-rr", "--bootstrap", "20", "--out", "out")
    cs_score(scratch, "batch", *batch, *FILES, OTHER)
    (row,) = [row for row in leaderboard(scratch / "out") if row["run"] == "tide-kb"]
    assert list(row)[4:7] == ["SF-RR", "SF-RR:low", "SF-RR:high"]
    assert float(row["SF-RR"]) == run["scores"]["SF-RR"]

    compared = json.loads(
        cs_score(scratch, "compare", "coldstart", *SCORING, "--json", "--measure", "*-RR", *FILES, OTHER)
    )
    assert [measure["measure"] for measure in compared["measures"]] == ["SF-RR", "LDC-MEAN-RR"]


def test_the_files_of_the_reference_do_not_know_it(scratch: Path) -> None:
    cs_score(scratch, *SCORING, "-output_file", "with", *FILES)
    shutil.rmtree(scratch / "cs_score")
    shutil.copytree(ROOT / "cs_score", scratch / "cs_score", ignore=shutil.ignore_patterns("__pycache__"))
    cs_score(scratch, *SCORING, "-output_file", "without", *FILES)
    for ending in ("sf", "ldcmax", "ldcmean", "summary", "ap", "debug"):
        assert (scratch / f"with.{ending}").read_bytes() == (scratch / f"without.{ending}").read_bytes()
