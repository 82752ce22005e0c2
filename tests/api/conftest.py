"""Fixtures of the tests of the Python API."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.coldstart.conftest import inputs as inputs
from tests.coldstart.recorded import COMMITTED
from tests.verbs.batch.command import invented_runs


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """`queries.xml`, `pool.tab`, and three runs in `runs`."""
    source = COMMITTED / "multi_ep_011"
    for name in ("queries.xml", "pool.tab"):
        shutil.copy(source / name, tmp_path / name)
    invented_runs(tmp_path, source / "run.tab", ("alpha", "beta", "gamma"))
    return tmp_path
