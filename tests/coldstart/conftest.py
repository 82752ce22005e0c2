"""Fixtures of the Cold Start tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.coldstart.handmade import Inputs
from tests.coldstart.recorded import copy_of


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    """An evaluation with the one query of two list-valued slots, and no pool and run yet."""
    made = Inputs(tmp_path)
    made.queries()
    return made


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """A folder with the files of a sound evaluation."""
    return copy_of("multi_ep_011", tmp_path)
