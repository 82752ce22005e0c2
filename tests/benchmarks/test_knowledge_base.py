"""The benchmark of knowledge bases measures what it says."""

from __future__ import annotations

from pathlib import Path

from benchmarks import kb_generator
from tests.coldstart.command import score_in


def test_what_is_measured_ends_without_an_error_and_answers(tmp_path: Path) -> None:
    assert kb_generator.main(["1000", "20", str(tmp_path)]) == 0
    lines = (tmp_path / "kb.tac").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1001
    assert 150 < sum("\tmention" in line for line in lines) < 320
    assert score_in(tmp_path, ("validate-kb", "-output", "tac", "kb.tac")).status == 0
    assert score_in(tmp_path, ("resolve-queries", "queries.xml", "kb.tac.valid", "out.tab")).status == 0
    assert (tmp_path / "out.tab").read_bytes().count(b"\n") > 5
