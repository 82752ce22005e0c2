"""The folder of files that the forms of all commands are filled in with."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.forms import copied, fill


@pytest.fixture(scope="module")
def filled() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        fill(Path(name))
        yield Path(name)


@pytest.fixture
def folder(filled: Path, tmp_path: Path) -> Path:
    return copied(filled, tmp_path / "copy")
