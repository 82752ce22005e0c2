"""The benchmark of analyses: what it measures, and that a failing program ends it."""

from __future__ import annotations

from pathlib import Path

from benchmarks import insight


def test_commands_are_measured_beside_scoring(tmp_path: Path) -> None:
    figures = insight.small(str(tmp_path), 200, rounds=1)
    assert [figure.limit for figure in figures] == [10, 1.5, 2.5]
    assert all(figure.value > 0 for figure in figures)
