"""The wheels of a bundle: cs-score and tasks from outside packed from their installations, others found by pip."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Final

from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record
from cs_score.verbs.bundle.archives import zip_archive

OLDEST_PYTHON: Final = (3, 11)
"""The oldest Python that cs-score runs on."""

_LEFT_OUT: Final = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
"""Files of an installation that a wheel does not have, or that are made anew."""

_PURE_WHEEL: Final = "Wheel-Version: 1.0\nGenerator: cs-score\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_OLDEST_GLIBC: Final = 5
"""The second number of the oldest glibc that wheels name: manylinux_2_5."""

_ALIASES: Final = {5: "manylinux1", 12: "manylinux2010", 17: "manylinux2014"}
"""Older names of manylinux platforms, by the second number of their glibc."""


class Platform(Record):
    """Where a bundle will run: the version of Python, such as `3.11`, and the platform as wheels name it."""

    python: str = "3.11"
    platform: str = "manylinux2014_x86_64"

    def check(self) -> None:
        """Raise UsageError for a version of Python that cs-score does not run on, or that is none."""
        match = re.fullmatch(r"3\.(\d{1,2})", self.python)
        if match is None or (3, int(match[1])) < OLDEST_PYTHON:
            oldest = ".".join([str(number) for number in OLDEST_PYTHON])
            raise UsageError(f"--python {self.python}: a version from {oldest} on is needed, such as {oldest}")

    @property
    def platforms(self) -> list[str]:
        """The platforms whose wheels run there: for a manylinux platform also those with an older glibc."""
        match = re.fullmatch(r"manylinux(?:_2_(\d+)|(1|2010|2014))_(\w+)", self.platform)
        if match is None:
            return [self.platform]
        newest_glibc = int(match[1]) if match[1] else _glibc_of_alias(f"manylinux{match[2]}")
        platforms = []
        for glibc in range(newest_glibc, _OLDEST_GLIBC - 1, -1):
            platforms.append(f"manylinux_2_{glibc}_{match[3]}")
            if glibc in _ALIASES:
                platforms.append(f"{_ALIASES[glibc]}_{match[3]}")
        return platforms


def _glibc_of_alias(alias: str) -> int:
    """Return the second number of the glibc version behind an older platform name: 17 for `manylinux2014`."""
    for glibc, name in _ALIASES.items():
        if name == alias:
            return glibc
    raise ValueError(alias)


class Wheel(Record):
    """A wheel by the name of its file."""

    name: str
    content: bytes


# ---- Packages that no index has


def pack_installed(package: str, modules: Sequence[str] = ()) -> Wheel:
    """Return the wheel of an installed package, made from the files of its installation.

    The files of a package that is installed for development lie elsewhere: its `modules`, and the modules that the
    installation names, are packed from their source. Raises InputError for a package that is not installed.
    """
    distribution = _installed(package)
    name = _normalised(distribution.metadata["Name"]).replace("-", "_")
    stem = f"{name}-{distribution.version}"
    if _is_for_development(distribution):
        top_level = distribution.read_text("top_level.txt") or ""
        files = _source_files(dict.fromkeys([*modules, *top_level.split()]))
        wheel_text = _PURE_WHEEL
    else:
        files = _installed_files(distribution)
        wheel_text = distribution.read_text("WHEEL") or _PURE_WHEEL
    folder = _folder_of_metadata(files) or f"{stem}.dist-info"
    files[f"{folder}/METADATA"] = _metadata_text(distribution).encode()
    files[f"{folder}/WHEEL"] = wheel_text.encode()
    entry_points = distribution.read_text("entry_points.txt")
    if entry_points:
        files[f"{folder}/entry_points.txt"] = entry_points.encode()
    files[f"{folder}/RECORD"] = _record_text(files, f"{folder}/RECORD").encode()
    return Wheel(f"{stem}-{_tag(wheel_text)}.whl", zip_archive(files))


def _folder_of_metadata(files: Iterable[str]) -> str | None:
    """Return the folder among the files of an installation that describes it; None without such a folder."""
    for name in files:
        folder, _, rest = name.partition("/")
        if folder.endswith(".dist-info") and rest:
            return folder
    return None


def _installed(package: str) -> metadata.Distribution:
    """Return an installed package; a real installation comes before a folder of sources that is on Python's path."""
    distributions = list(metadata.distributions(name=package))
    for distribution in distributions:
        if distribution.read_text("WHEEL"):
            return distribution
    if distributions:
        return distributions[0]
    raise InputError(f"the package {package} is not installed, so that no wheel can be made of it")


def _is_for_development(distribution: metadata.Distribution) -> bool:
    """Return whether the files of a package lie elsewhere than where packages are installed."""
    if distribution.read_text("WHEEL") is None:
        return True
    direct_url = json.loads(distribution.read_text("direct_url.json") or "{}")
    return bool(direct_url.get("dir_info", {}).get("editable"))


def _metadata_text(distribution: metadata.Distribution) -> str:
    """Return the description of a package that pip reads."""
    return distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""


def _installed_files(distribution: metadata.Distribution) -> dict[str, bytes]:
    """Return the files of an installation that belong into its wheel, by their names there.

    Scripts and what else lies outside the folder of packages is left out. Raises InputError where the installation does
    not say what its files are.
    """
    name = distribution.metadata["Name"]
    if distribution.files is None:
        raise InputError(f"the installation of {name} does not list its files", remedy=f"install {name} anew with pip")
    files = {}
    for path in distribution.files:
        is_inside = ".." not in path.parts and not os.path.isabs(str(path))
        if is_inside and path.suffix != ".pyc" and path.name not in _LEFT_OUT:
            files[path.as_posix()] = Path(str(path.locate())).read_bytes()
    return files


def _source_files(modules: Iterable[str]) -> dict[str, bytes]:
    """Return the files of modules and packages, by their names in a wheel.

    Raises InputError for a module that is not found.
    """
    files = {}
    for module in modules:
        spec = importlib.util.find_spec(module)
        if spec is None or (not spec.submodule_search_locations and spec.origin is None):
            raise InputError(f"the source of the module {module} is not found")
        if not spec.submodule_search_locations:
            path = Path(str(spec.origin))
            files[path.name] = path.read_bytes()
            continue
        for folder in spec.submodule_search_locations:
            for path in _files_below(Path(folder)):
                files[path.relative_to(Path(folder).parent).as_posix()] = path.read_bytes()
    return files


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files of a package, without what Python has compiled and without hidden files."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        is_hidden = any(part.startswith(".") or part == "__pycache__" for part in parts)
        if path.is_file() and not is_hidden and path.suffix != ".pyc":
            yield path


def _record_text(files: dict[str, bytes], record: str) -> str:
    """Return the list of a wheel's files with their hashes, by which pip checks them; it names itself without one."""
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        quoted = f'"{name}"' if "," in name else name
        lines.append(f"{quoted},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{record},,\n"])


def _tag(wheel_text: str) -> str:
    """Return the part of a wheel's name that says where it runs, such as `cp311-cp311-manylinux_2_17_x86_64`."""
    tags = [line.partition(":")[2].strip().split("-") for line in wheel_text.splitlines() if line.startswith("Tag:")]
    parts = []
    for place in range(3):
        parts.append(".".join(dict.fromkeys([tag[place] for tag in tags])))
    return "-".join(parts)


# ---- Packages that an index has


def requirements_of(package: str, extras: Iterable[str] = ()) -> list[str]:
    """Return the requirements of an installed package and of some of its extras, as pip takes them.

    `lxml>=4.9.1; extra == "x"` becomes `lxml>=4.9.1`. Raises InputError for a package that is not installed.
    """
    chosen_extras = set(extras)
    requirements = []
    for requirement in _installed(package).requires or ():
        need, _, condition = requirement.partition(";")
        extra = re.search(r"""extra\s*==\s*['"]([\w.-]+)['"]""", condition)
        if extra is not None and extra[1] not in chosen_extras:
            continue
        rest = re.sub(r"""(\s*and\s*)?\(?extra\s*==\s*['"][\w.-]+['"]\)?(\s*and\s*)?""", "", condition).strip()
        requirements.append(f"{need.strip()}; {rest}" if rest else need.strip())
    return requirements


def is_requirement_of(requirement: str, package: str) -> bool:
    """Return whether a requirement such as `cs-score[r4c]>=1` is about a package."""
    name = re.match(r"[\w.-]+", requirement)
    return name is not None and _normalised(name[0]) == _normalised(package)


def _normalised(package: str) -> str:
    """Return the name of a package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", package).lower()


def find_wheels(requirements: Sequence[str], target: Platform, folder: str | None) -> list[Wheel]:
    """Return wheels of packages and of their own requirements, for the target of the bundle.

    pip looks in its index, or with `folder` in that folder alone. Raises InputError that names what is missing.
    """
    if folder is not None and not os.path.isdir(folder):
        raise UsageError(f"--wheels {folder}: no such folder")
    with tempfile.TemporaryDirectory() as place:
        command = _pip_download(target, folder)
        command += ["--dest", place, *requirements]
        process = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if process.returncode != 0:
            raise _missing(process.stderr, target, folder)
        return [Wheel(path.name, path.read_bytes()) for path in sorted(Path(place).glob("*.whl"))]


def _pip_download(target: Platform, folder: str | None) -> list[str]:
    """Return the command that downloads wheels for a target."""
    abi = f"cp{target.python.replace('.', '')}"
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download"]
    command += ["--only-binary", ":all:", "--implementation", "cp", "--python-version", target.python, "--abi", abi]
    for platform in target.platforms:
        command += ["--platform", platform]
    if folder is not None:
        command += ["--no-index", "--find-links", folder]
    return command


def _missing(report: str, target: Platform, folder: str | None) -> InputError:
    """Return the error that names a missing wheel, from the report of pip on standard error."""
    where = "the index of pip" if folder is None else folder
    if "No module named pip" in report:
        return InputError("pip is needed to find wheels", remedy=f"{sys.executable} -m ensurepip")
    match = re.search(r"No matching distribution found for (.+)", report)
    if match is None:
        errors = re.findall(r"ERROR: (.+)", report) or report.split("\n") or ["no reason given"]
        return InputError(f"pip could not find the wheels: {errors[0]}", file=where)
    return InputError(
        f"no wheel of {match[1].strip()} for Python {target.python} on {target.platform}",
        file=where,
        remedy="put it into a folder and name that with --wheels, or name another --python or --platform",
    )
