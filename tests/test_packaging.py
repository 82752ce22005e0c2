"""What a source distribution holds, and what an index page shows of it."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.documents import ROOT

# What belongs to a checkout or to the machine and not to the project.
NOT_DISTRIBUTED = shutil.ignore_patterns(".*", "__pycache__", "*.pyc", "*.egg-info", "build", "dist", "demo-out")

FOLDERS = ("assessments", "benchmarks", "cs_score", "queries", "submissions", "tests")


@pytest.fixture(scope="module")
def distribution(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source distribution, built without network from a copy of this checkout, and unpacked."""
    if importlib.util.find_spec("setuptools") is None:
        pytest.skip("setuptools is not installed here")
    folder = tmp_path_factory.mktemp("packaging")
    shutil.copytree(ROOT, folder / "copy", ignore=NOT_DISTRIBUTED)
    build = "from setuptools import build_meta; build_meta.build_sdist('..')"
    subprocess.run([sys.executable, "-c", build], cwd=folder / "copy", check=True, capture_output=True, timeout=120)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    return unpacked


def files(folder: Path) -> set[str]:
    ignored = {"__pycache__", "demo-out"}
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path.as_posix() for path in found if not ignored & set(path.parts)}


def test_a_source_distribution_can_be_read_tested_and_tried(distribution: Path) -> None:
    there = files(distribution)
    assert {"README.md", "README-Usage.md", "CHANGELOG.md", "LICENSE", "Makefile", "setup.cfg", "ruff.toml"} <= there
    for name in FOLDERS:
        visible = {path for path in files(ROOT / name) if not any(part.startswith(".") for part in path.split("/"))}
        assert visible == files(distribution / name), name


def test_the_text_of_an_index_page_has_no_link_that_breaks_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    pictures = dict(re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", text))  # an index page has what they show as text
    assert all(len(shown.split()) > 3 and (ROOT / picture).is_file() for shown, picture in pictures.items())
    links = set(re.findall(r"\]\(([^)]*)\)", text)) - set(pictures.values())
    assert [link for link in links if not link.startswith("https://")] == []
