"""A small evaluation for tests that are not about the scores themselves."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.coldstart.recorded import COMMITTED
from tests.documents import ROOT
from tests.verbs.batch.command import invented_runs

SOURCE = COMMITTED / "multi_ep_011"


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """`queries.xml`, `pool.tab`, and three runs in `runs`, the first of which has the most lines."""
    for name in ("queries.xml", "pool.tab"):
        shutil.copy(SOURCE / name, tmp_path / name)
    invented_runs(tmp_path, SOURCE / "run.tab", ("alpha", "beta", "gamma"))
    return tmp_path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The evaluation of the documentation."""
    for name in ("queries", "submissions", "assessments"):
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path
