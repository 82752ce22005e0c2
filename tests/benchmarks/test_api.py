"""The benchmark of the Python API: its targets, and that it ends where the bytes differ."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks import api
from benchmarks.batch import outputs
from benchmarks.process import FailedRunError


def test_runs_scored_from_python_have_the_bytes_of_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "ROUNDS", 1)
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    assert api.many_runs(str(one), 2, 50)[0].value > 0
    changed = {"api": {"R0001/out.sf": b"other"}}
    monkeypatch.setattr(api, "outputs", lambda folder: outputs(folder) | changed.get(os.path.basename(folder), {}))
    other.mkdir()
    with pytest.raises(FailedRunError, match="the API and the batch write different bytes"):
        api.many_runs(str(other), 2, 50)
