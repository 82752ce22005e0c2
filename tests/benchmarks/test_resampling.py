"""The benchmark of resampling at a small size: its systems differ, and what it measures is what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import resampling
from benchmarks.generate import Shape, generate


def test_systems_are_scored_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "SYSTEMS", 3)
    monkeypatch.setattr(resampling, "RESAMPLES", 50)
    generate(Shape(200), str(tmp_path), samples=3)
    names = resampling.write_systems(str(tmp_path))
    sizes = [len((tmp_path / name).read_text(encoding="utf-8").splitlines()) for name in names]
    assert sizes[0] == 200
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[2] < 200
    found = resampling.compare_here(str(tmp_path))
    assert found.units > 1
    assert found.measures == 51
    assert min(found.scoring, found.comparing) > 0
    switches = ("-samples", "samples.txt")
    assert resampling.whole_process(str(tmp_path), switches, 1).seconds > 0
    assert len((tmp_path / "out.sample").read_text(encoding="utf-8").splitlines()) == 3
