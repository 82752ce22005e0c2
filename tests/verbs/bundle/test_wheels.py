"""Wheels of a bundle: what is packed of an installation, where pip looks, what is said of a missing wheel."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import subprocess
import sys
import zipfile
from base64 import urlsafe_b64decode
from importlib import metadata
from pathlib import Path

import pytest

import cs_score
from cs_score.base.errors import InputError, UsageError
from cs_score.verbs.bundle.wheels import (
    Platform,
    Wheel,
    find_wheels,
    is_requirement_of,
    pack_installed,
    requirements_of,
)


def files_in(wheel: Wheel) -> dict[str, bytes]:
    """Return the files of a wheel by name."""
    with zipfile.ZipFile(io.BytesIO(wheel.content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_cs_score_is_packed_as_it_runs() -> None:
    wheel = pack_installed("cs-score", ["cs_score"])
    version = metadata.version("cs-score")
    assert wheel.name == f"cs_score-{version}-py3-none-any.whl"
    packed = {name: content for name, content in files_in(wheel).items() if ".dist-info/" not in name}
    package = Path(cs_score.__file__).parent
    source = {}
    for path in package.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            source[path.relative_to(package.parent).as_posix()] = path.read_bytes()
    assert packed == source


@pytest.mark.parametrize("package", ["cs-score", "markupsafe"])
def test_a_wheel_records_all_of_its_files(package: str) -> None:
    files = files_in(pack_installed(package, ["cs_score"]))
    (record,) = (name for name in files if name.endswith(".dist-info/RECORD"))
    rows = {name: (digest, size) for name, digest, size in csv.reader(files[record].decode().splitlines())}
    assert rows.pop(record) == ("", "")
    assert rows.keys() == files.keys() - {record}
    for name, (digest, size) in rows.items():
        algorithm, _, value = digest.partition("=")
        assert (algorithm, int(size)) == ("sha256", len(files[name]))
        assert urlsafe_b64decode(f"{value}=") == hashlib.sha256(files[name]).digest()


def test_a_package_with_compiled_parts_keeps_its_platform() -> None:
    wheel = pack_installed("markupsafe")
    text = metadata.distribution("markupsafe").read_text("WHEEL") or ""
    platforms = {line.rpartition("-")[2] for line in text.splitlines() if line.startswith("Tag:")}
    assert set(wheel.name.removesuffix(".whl").rpartition("-")[2].split(".")) == platforms
    assert not [name for name in files_in(wheel) if name.endswith((".pyc", "/INSTALLER", "direct_url.json"))]


def test_a_packed_wheel_can_be_installed_and_imported(tmp_path: Path) -> None:
    for wheel in (pack_installed("markupsafe"), pack_installed("click")):
        (tmp_path / wheel.name).write_bytes(wheel.content)
    wheels = sorted(map(str, tmp_path.glob("*.whl")))
    target = tmp_path / "target"
    words = ["-m", "pip", "--isolated", "--quiet", "install", "--no-index", "--no-deps", "--target", str(target)]
    subprocess.run([sys.executable, *words, *wheels], check=True, capture_output=True)
    script = "import click, markupsafe; print(click.__file__, markupsafe.escape('<'))"
    environment = {**os.environ, "PYTHONPATH": str(target)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(target / "click" / "__init__.py"), "&lt;"]


def test_the_same_installation_gives_the_same_bytes() -> None:
    assert pack_installed("cs-score", ["cs_score"]) == pack_installed("cs-score", ["cs_score"])


def test_what_is_not_installed_is_named() -> None:
    with pytest.raises(InputError, match="the package no-such-package is not installed"):
        pack_installed("no-such-package")


def test_extras_bring_their_requirements() -> None:
    plain = requirements_of("cs-score")
    assert any(need.startswith("numpy") for need in plain)
    assert not any(need.startswith(("jinja2", "scipy")) for need in plain)
    more = set(requirements_of("cs-score", ["report", "r4c"])) - set(plain)
    assert sorted(need.partition(">")[0] for need in more) == ["jinja2", "rapidfuzz", "scipy"]
    assert all(";" not in need for need in more)


@pytest.mark.parametrize(
    ("requirement", "is_ours"), [("cs-score", True), ("CS_Score[r4c]>=1", True), ("cs-score-fever>=1", False)]
)
def test_a_requirement_of_cs_score_is_known_by_its_name(requirement: str, is_ours: bool) -> None:
    assert is_requirement_of(requirement, "cs-score") is is_ours


def test_a_platform_takes_wheels_of_older_ones() -> None:
    platforms = Platform(platform_tag="manylinux2014_x86_64").supported_platform_tags
    assert platforms[:2] == ["manylinux_2_17_x86_64", "manylinux2014_x86_64"]
    assert {"manylinux_2_12_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"} <= set(platforms)
    assert Platform(platform_tag="manylinux_2_28_aarch64").supported_platform_tags[0] == "manylinux_2_28_aarch64"
    assert Platform(platform_tag="win_amd64").supported_platform_tags == ["win_amd64"]


@pytest.mark.parametrize("python", ["3.10", "2.7", "3", "3.x", "cp311", "4.0"])
def test_a_python_that_cs_score_does_not_run_on_is_refused(python: str) -> None:
    with pytest.raises(UsageError, match=r"a version from 3\.11 on is needed"):
        Platform(python=python).check()


def test_wheels_come_from_the_folder_alone(empty_wheels: Path) -> None:
    wheels = find_wheels(["click>=8", "lxml"], Platform(), str(empty_wheels))
    assert [wheel.name for wheel in wheels] == ["click-99.0-py3-none-any.whl", "lxml-99.0-py3-none-any.whl"]


@pytest.mark.parametrize("requirement", ["no-such-package>=1", "click>=100"])
def test_a_wheel_that_is_missing_is_named(requirement: str, empty_wheels: Path) -> None:
    with pytest.raises(InputError) as raised:
        find_wheels(["lxml", requirement], Platform(), str(empty_wheels))
    assert str(raised.value).startswith(
        f"{empty_wheels}: no wheel of {requirement} for Python 3.11 on manylinux2014_x86_64; put it into a folder"
    )


def test_pip_looks_in_its_index_where_no_folder_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skipped only where no index can be reached."""
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "10")
    reached = subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", "download", "--no-deps", "--dest", os.devnull, "no-such-package-99"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if re.search("NewConnectionError|ConnectTimeout|ProxyError|SSLError|ReadTimeout", reached.stderr):
        pytest.skip("no package index can be reached")
    (wheel,) = find_wheels(["markupsafe==3.0.2"], Platform(platform_tag="manylinux2014_aarch64"), None)
    assert wheel.name.startswith("MarkupSafe-3.0.2-cp311-cp311-manylinux")
    assert "aarch64" in wheel.name


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        find_wheels(["click"], Platform(), str(tmp_path / "none"))
