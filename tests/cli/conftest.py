"""The folder of files that the forms of all commands are filled in with."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cs_score.verbs.bundle import contents
from tests.cli.forms import copied, fill


@pytest.fixture(autouse=True)
def without_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bundles hold no wheels of other packages here; tests/verbs/bundle is about those."""
    monkeypatch.setattr(contents, "find_wheels", lambda requirements, target, folder: [])


@pytest.fixture(scope="module")
def filled() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        fill(Path(name))
        yield Path(name)


@pytest.fixture
def folder(filled: Path, tmp_path: Path) -> Path:
    return copied(filled, tmp_path / "copy")
