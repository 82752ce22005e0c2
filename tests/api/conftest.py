"""Fixtures of the tests of the Python API."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.coldstart.handmade import Inputs


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    """An evaluation with the one query of two list-valued slots, and no pool and run yet."""
    made = Inputs(tmp_path)
    made.queries()
    return made
