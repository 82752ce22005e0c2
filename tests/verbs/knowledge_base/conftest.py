"""The folder that tests of knowledge bases write into."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verbs.knowledge_base.invented import Inputs


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    """A folder with the usual knowledge base and queries."""
    made = Inputs(tmp_path)
    made.kb()
    made.queries()
    return made
