"""Bundles and wheels that several tests look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verbs.bundle.wheelhouse import make_empty_wheels


@pytest.fixture(scope="session")
def empty_wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_empty_wheels(tmp_path_factory.mktemp("wheels"))
