"""The benchmark's inputs are what they claim to be, and its figures are computed from what it measured."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from benchmarks import coldstart
from benchmarks.generate import BASE, Evaluation, Shape, generate
from tests.coldstart.command import Outcome, score_in


def _score(files: Evaluation, folder: Path) -> Outcome:
    return score_in(folder, ["-output_file", "out", "-error_file", "out.errlog", *files.words()])


def _digest(files: Evaluation) -> list[str]:
    return [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in (files.queries, files.pool, files.run)]


SHAPES = [
    Shape(10, lines_per_query=5),
    Shape(2000),
    Shape(2000, seed=1),
    Shape(2000, lines_per_query=1000),
    Shape(2000, lines_per_query=1000, answers_per_class=500),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_run_has_its_lines_and_scores_without_a_warning(shape: Shape, tmp_path: Path) -> None:
    files = generate(shape, str(tmp_path), query_list=True)
    assert Path(files.run).read_bytes().count(b"\n") == shape.lines
    outcome = _score(files, tmp_path)
    assert (outcome.status, outcome.files["out.errlog"]) == (0, b"No warnings encountered\n")


def test_equal_seeds_make_equal_files(tmp_path: Path) -> None:
    made = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / name).mkdir()
        made.append(_digest(generate(Shape(500, seed=seed), str(tmp_path / name))))
    assert made[0] == made[1] != made[2]


def test_a_small_benchmark_prints_and_writes_its_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    words = ["--sizes", "100", "--repeats", "1", "--keep", str(tmp_path / "kept"), "--json", str(report)]
    assert coldstart.main(words) == 0
    assert "ten-line run" in capsys.readouterr().out
    figures = json.loads(report.read_text(encoding="utf-8"))
    assert [size["lines"] for size in figures["sizes"]] == [10, 100]
    assert all(size["scorer"]["seconds"] > 0 and size["scorer"]["peak"] > 10**6 for size in figures["sizes"])
    outputs = tmp_path / "kept" / "100-24-3"
    assert figures["sizes"][1]["written"] == sum(path.stat().st_size for path in outputs.glob("out.*"))
    assert BASE in (outputs / "out.sf").read_text(encoding="utf-8")
