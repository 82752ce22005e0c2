"""The benchmark of batches: its goals, the comparison of bytes, and the file of results."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import __main__ as benchmarks
from benchmarks import batch

SECONDS = {"single": 20.0, "one job": 9.0, "two jobs": 6.0, "dask": 9.0}


def test_goals_are_judged_by_ratio() -> None:
    text = batch.report([SECONDS], runs=10, lines=1000)
    assert "single calls / one job: 2.22  (at least 2: met; by rounds 2.22)" in text
    assert "one job / two jobs: 1.50  (at least 1.7: MISSED; by rounds 1.50)" in text
    assert "two Dask workers / two jobs: 1.50  (at most 1.3: MISSED; by rounds 1.50)" in text
    assert "one job          9.00    0.900" in text


def test_the_median_of_the_rounds_is_judged_and_the_fastest_shown() -> None:
    slow = {name: 2 * took for name, took in SECONDS.items()}
    disturbed = {**SECONDS, "one job": 45.0}
    text = batch.report([disturbed, slow, SECONDS], runs=10, lines=1000)
    assert "single calls / one job: 2.22  (at least 2: met; by rounds 0.44, 2.22, 2.22)" in text
    assert "one job          9.00    0.900" in text


def test_a_batch_has_the_bytes_of_single_calls(tmp_path: Path) -> None:
    folder = str(tmp_path)
    paths = batch.make_inputs(folder, 2, 50)
    batch.single_calls(folder, paths)
    batch.batch(folder, "one job", "--jobs", "1")
    expected = batch.outputs(f"{folder}/single")
    assert len(expected) == 2 * 8
    assert batch.outputs(f"{folder}/one job") == expected
    path = tmp_path / "one job" / "R0002" / "out.sf"
    path.write_bytes(path.read_bytes() + b" ")
    assert batch.outputs(f"{folder}/one job") != expected


def test_there_are_no_more_rounds_than_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "dask_cluster", lambda folder: contextlib.nullcontext("nowhere"))
    for way in ("single_calls", "batch"):
        monkeypatch.setattr(batch, way, lambda *arguments: None)
    found, _ = batch.measure(str(tmp_path), runs=2, lines=50, rounds=3)
    assert len(found) == 2


@pytest.mark.slow
def test_the_whole_benchmark(tmp_path: Path) -> None:
    found, different = batch.measure(str(tmp_path), runs=3, lines=200, rounds=2)
    assert [set(of_round) for of_round in found] == [{"single", "one job", "two jobs", "dask"}] * 2
    assert different == []


def test_results_are_kept_as_markdown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(benchmarks, "REPOSITORY", str(tmp_path))
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "good.py").write_text("def main(words):\n    print('figures')\n    return 1\n")
    (tmp_path / "benchmarks" / "bad.py").write_text("def main(words):\n    raise SystemExit(3)\n")
    results = tmp_path / "benchmarks" / "RESULTS.md"
    assert benchmarks.record(str(results), ["good"]) == 1
    text = results.read_text(encoding="utf-8")
    assert text.startswith("# Benchmarks\n\n")
    assert f"Python {sys.version_info[0]}.{sys.version_info[1]}" in text
    assert "Made by `python -m benchmarks --results benchmarks/RESULTS.md good`" in text
    assert text.endswith("\n## good\n\n```text\nfigures\n```\n")
    assert benchmarks.record(str(results), ["good", "bad"]) == 3
    assert results.read_text(encoding="utf-8") == text
    assert "== good\nfigures\n" in capsys.readouterr().out


def test_every_name_is_a_module() -> None:
    for name in benchmarks.NAMES:
        module = __import__(f"benchmarks.{name}", fromlist=["main"])
        assert isinstance(module, ModuleType)
        assert callable(module.main)
