"""The benchmark of knowledge bases measures what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import kb_generator, knowledge_base
from benchmarks.process import Cost
from tests.coldstart.command import score_in


def test_what_is_measured_ends_without_an_error_and_answers(tmp_path: Path) -> None:
    assert kb_generator.main(["1000", "20", str(tmp_path)]) == 0
    lines = (tmp_path / "kb.tac").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1001
    assert 150 < sum("\tmention" in line for line in lines) < 320
    assert score_in(tmp_path, ("validate-kb", "-output", "tac", "kb.tac")).status == 0
    assert score_in(tmp_path, ("resolve-queries", "queries.xml", "kb.tac.valid", "out.tab")).status == 0
    assert (tmp_path / "out.tab").read_bytes().count(b"\n") > 5


def _measured(assertions: int, seconds: float, peak: int) -> knowledge_base.Measured:
    return knowledge_base.Measured(assertions, 3, Cost(seconds, peak), Cost(0.5, 10**6), Cost(1.0, 10**6))


def test_the_targets_are_judged_by_the_measured_figures() -> None:
    time, memory = knowledge_base.verdicts([_measured(10, 9.0, 10**6), _measured(1_000_000, 2.0, 3 * 10**9)])
    assert time.endswith("reached 2.50 x, met")
    assert memory.endswith("reached 3.00 GB, MISSED")
    assert knowledge_base.verdicts([_measured(10, 9.0, 10**6)])[0].endswith("not measured")


def test_a_small_benchmark_prints_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert knowledge_base.main(["--sizes", "60", "--repeats", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:2] == ["60", "1"]
