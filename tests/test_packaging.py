"""What the distributions hold, that they are made of the same bytes each time, and what an index page shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from cs_score.base import VERSION
from tests.coldstart.command import score_in
from tests.documents import ROOT

# What belongs to a checkout or to the machine and not to the project.
NOT_DISTRIBUTED = shutil.ignore_patterns(
    ".*", "__pycache__", "*.pyc", "*.egg-info", "build", "dist", "demo-out", "mutants"
)

FOLDERS = ("assessments", "benchmarks", "cs_score", "docs", "queries", "share", "submissions", "tests")
FILES = {
    *("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "Containerfile", "LICENSE", "Makefile", "README-Usage.md"),
    *("README.md", "SECURITY.md", "pyproject.toml", "ruff.toml", "setup.cfg"),
}
SHARED = {
    "man/man1/cs-score.1": ["man"],
    "bash-completion/completions/cs-score": ["completion", "bash"],
    "zsh/site-functions/_cs-score": ["completion", "zsh"],
    "fish/vendor_completions.d/cs-score.fish": ["completion", "fish"],
}
"""What a wheel installs below `share`, and the calls that print it."""


def build(what: str, source: Path, out: Path) -> Path:
    """A distribution, built without network from a copy of the folder."""
    copy = out / "copy"
    shutil.copytree(source, copy, ignore=NOT_DISTRIBUTED)
    subprocess.run(
        [sys.executable, "-c", f"from setuptools import build_meta; build_meta.build_{what}('..')"],
        cwd=copy, check=True, capture_output=True, timeout=120, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"},
    )  # fmt: skip
    shutil.rmtree(copy)
    (built,) = out.iterdir()
    return built


@pytest.fixture(scope="module")
def distribution(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source distribution, unpacked."""
    pytest.importorskip("setuptools")
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))) as opened:
        opened.extractall(folder, filter="data")
    (unpacked,) = folder.iterdir()
    return unpacked


def files(folder: Path) -> set[str]:
    ignored = {"__pycache__", "demo-out"}
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path.as_posix() for path in found if not ignored & set(path.parts)}


def test_a_source_distribution_can_be_read_tested_and_tried(distribution: Path) -> None:
    there = files(distribution)
    assert there >= FILES
    for name in FOLDERS:
        visible = {path for path in files(ROOT / name) if not any(part.startswith(".") for part in path.split("/"))}
        assert visible == files(distribution / name), name


def test_a_wheel_has_the_package_and_what_shells_and_man_look_for(distribution: Path, tmp_path: Path) -> None:
    pytest.importorskip("setuptools", minversion="70.1", reason="wheels were made by another package before")
    wheels = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        wheels.append(build("wheel", distribution, tmp_path / name))
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    with zipfile.ZipFile(wheels[0]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        (metadata,) = (wheel.read(name).decode() for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    shared = {name for name in names if not name.startswith("cs_score/")}
    assert {name.partition("/data/share/")[2] for name in shared} == set(SHARED)
    assert names - shared == {f"cs_score/{name}" for name in files(ROOT / "cs_score")}
    for line in ("Name: cs-score", f"Version: {VERSION}", "Requires-Python: >=3.11", "Provides-Extra: report"):
        assert line in metadata.splitlines()


@pytest.mark.parametrize("name", SHARED)
def test_what_a_wheel_installs_for_shells_and_man_is_what_the_command_prints(name: str) -> None:
    kept = (ROOT / "share" / name).read_bytes()
    assert kept == score_in(ROOT, SHARED[name]).stdout, "make share writes it anew"


def test_the_version_to_cite_is_the_version() -> None:
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {VERSION}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_text_of_an_index_page_has_no_link_that_breaks_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    pictures = dict(re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", text))  # an index page has what they show as text
    assert all(len(shown.split()) > 3 and (ROOT / picture).is_file() for shown, picture in pictures.items())
    links = set(re.findall(r"\]\(([^)]*)\)", text)) - set(pictures.values())
    assert [link for link in links if not link.startswith("https://")] == []
