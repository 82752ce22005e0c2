"""The benchmark of the Python API: its targets, and that it ends where the bytes differ."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks import api
from benchmarks.batch import outputs
from benchmarks.process import FailedRunError


def test_a_target_is_met_up_to_its_limit() -> None:
    assert str(api.Figure("import", 20.0, 20, " ms")) == "import: 20 ms  (at most 20 ms: met)"
    assert str(api.Figure("memory", 1.234, 1.2)) == "memory: 1.23  (at most 1.2: MISSED)"


def test_scoring_again_and_frames_are_measured(tmp_path: Path) -> None:
    again = api.rescoring(str(tmp_path), 60)
    assert [figure.limit for figure in again] == [0.4, 0.4]
    assert all(figure.value > 0 for figure in again)
    pytest.importorskip("pandas")
    (framed,) = api.frames(str(tmp_path), 60)
    assert framed.value >= 1


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


def test_a_program_that_fails_ends_the_benchmark(tmp_path: Path) -> None:
    with pytest.raises(FailedRunError, match="rescore"):
        api._printed("rescore", str(tmp_path))
