"""Fixtures of the tests of the programs before the scorer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verbs.preparation.invented import Inputs


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    """A folder with the usual query."""
    made = Inputs(tmp_path)
    made.queries()
    return made
