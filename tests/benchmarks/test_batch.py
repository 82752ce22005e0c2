"""The benchmark of batches: its goals, the comparison of bytes, and the file of results."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import __main__ as benchmarks
from benchmarks import batch


@pytest.mark.slow
def test_the_whole_benchmark(tmp_path: Path) -> None:
    found, different = batch.measure(str(tmp_path), runs=3, lines=200, rounds=2)
    assert [set(of_round) for of_round in found] == [{"single", "one job", "two jobs", "dask"}] * 2
    assert different == []


def test_every_name_is_a_module() -> None:
    for name in benchmarks.NAMES:
        module = __import__(f"benchmarks.{name}", fromlist=["main"])
        assert isinstance(module, ModuleType)
        assert callable(module.main)
