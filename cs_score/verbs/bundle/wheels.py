"""The wheels of a bundle, the files from which pip installs the scorer without a network. cs-score and tasks of other
packages are packed from their installations; wheels of all other packages are found by pip.
"""

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

_WHEEL_FILE_OF_PURE_PACKAGE: Final = (
    "Wheel-Version: 1.0\nGenerator: cs-score\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
)
_OLDEST_GLIBC: Final = 5
"""The second number of the oldest glibc that wheels name: manylinux_2_5."""

_MANYLINUX_ALIAS_BY_MINOR_VERSION: Final = {5: "manylinux1", 12: "manylinux2010", 17: "manylinux2014"}
"""Older names of manylinux platforms, by the second number of their glibc."""


class Platform(Record):
    """Where a bundle will run: the version of Python, such as `3.11`, and the platform tag in the names of wheels."""

    python: str = "3.11"
    platform_tag: str = "manylinux2014_x86_64"

    def check(self) -> None:
        """Raise UsageError if `python` is not a version of Python on which cs-score runs, such as `3.11`."""
        match = re.fullmatch(r"3\.(\d{1,2})", self.python)
        is_new_enough = match is not None and (3, int(match[1])) >= OLDEST_PYTHON
        if not is_new_enough:
            oldest = ".".join([str(number) for number in OLDEST_PYTHON])
            raise UsageError(f"--python {self.python}: a version from {oldest} on is needed, such as {oldest}")

    @property
    def supported_platform_tags(self) -> list[str]:
        """The platform tags of all wheels that run on this platform.

        A manylinux platform also runs wheels for older versions of glibc. For example, `manylinux_2_6_x86_64` runs
        wheels for `manylinux_2_6_x86_64`, `manylinux_2_5_x86_64` and `manylinux1_x86_64`.
        """
        match = re.fullmatch(r"manylinux(?:_2_(\d+)|(1|2010|2014))_(\w+)", self.platform_tag)
        if match is None:
            return [self.platform_tag]
        glibc_text, year, processor = match.groups()
        newest_glibc = int(glibc_text) if glibc_text else _glibc_of_alias(f"manylinux{year}")
        tags = []
        for glibc in range(newest_glibc, _OLDEST_GLIBC - 1, -1):
            tags += _tags_with_glibc(glibc, processor)
        return tags


def _tags_with_glibc(glibc: int, processor: str) -> list[str]:
    """Return the platform tags for the version of glibc with the given minor number.

    For example, the tags for 5 (glibc 2.5) and `x86_64` are `["manylinux_2_5_x86_64", "manylinux1_x86_64"]`.
    """
    names = [f"manylinux_2_{glibc}_{processor}"]
    if glibc in _MANYLINUX_ALIAS_BY_MINOR_VERSION:
        names.append(f"{_MANYLINUX_ALIAS_BY_MINOR_VERSION[glibc]}_{processor}")
    return names


def _glibc_of_alias(alias: str) -> int:
    """Return the minor version of glibc that belongs to an older platform name: 17 (glibc 2.17) for `manylinux2014`."""
    for glibc, name in _MANYLINUX_ALIAS_BY_MINOR_VERSION.items():
        if name == alias:
            return glibc
    raise ValueError(alias)


class Wheel(Record):
    """A wheel, the file from which pip installs a package: the name of the file, and its content."""

    name: str
    content: bytes


# ---- Packages that no index has


def pack_installed(package: str, modules: Sequence[str] = ()) -> Wheel:
    """Return a wheel of an installed package, made from the files of its installation.

    If the package is installed in development mode, its files have not been copied into the installation. In this case,
    its `modules` and the modules listed by the installation are packed from their source. Raises InputError if the
    package is not installed.
    """
    distribution = _find_distribution(package)
    wheel_text = _WHEEL_FILE_OF_PURE_PACKAGE
    if _is_for_development(distribution):
        files = _source_files(_modules_of(distribution, modules))
    else:
        files = _installed_files(distribution)
        wheel_text = distribution.read_text("WHEEL") or _WHEEL_FILE_OF_PURE_PACKAGE
    stem = _name_and_version(distribution)
    # The metadata files are added to `files`. The platforms that they mention become part of the wheel's name.
    _add_metadata(files, distribution, wheel_text, folder=_folder_of_metadata(files) or f"{stem}.dist-info")
    return Wheel(name=f"{stem}-{_platform_tag(wheel_text)}.whl", content=zip_archive(files))


def _name_and_version(distribution: metadata.Distribution) -> str:
    """Return the beginning of the names of a package's wheel and folder: its name and version, `cs_score-3.7.0`."""
    name = _normalised_name(distribution.metadata["Name"]).replace("-", "_")
    return f"{name}-{distribution.version}"


def _modules_of(distribution: metadata.Distribution, modules: Iterable[str]) -> list[str]:
    """Return the names of modules to pack from their source: `modules`, then those that the installation lists."""
    top_level_modules = (distribution.read_text("top_level.txt") or "").split()
    distinct_modules = dict.fromkeys([*modules, *top_level_modules])
    return list(distinct_modules)


def _add_metadata(files: dict[str, bytes], distribution: metadata.Distribution, wheel_text: str, folder: str) -> None:
    """Add the files that describe a package to the files of its wheel, below a folder such as `click-8.1.7.dist-info`.

    `wheel_text` is the file WHEEL, which says on which platforms the package runs. The file RECORD, by which pip checks
    all others, is made last.
    """
    files[f"{folder}/METADATA"] = _metadata_text(distribution).encode()
    files[f"{folder}/WHEEL"] = wheel_text.encode()
    entry_points = distribution.read_text("entry_points.txt")
    if entry_points:
        files[f"{folder}/entry_points.txt"] = entry_points.encode()
    record_name = f"{folder}/RECORD"
    files[record_name] = _record_text(files, record_name).encode()


def _folder_of_metadata(files: Iterable[str]) -> str | None:
    """Return the folder with the description of an installation, such as `click-8.1.7.dist-info`, from its files.

    Return None if there is no such folder.
    """
    for name in files:
        folder, _slash, name_in_folder = name.partition("/")
        if folder.endswith(".dist-info") and name_in_folder:
            return folder
    return None


def _find_distribution(package: str) -> metadata.Distribution:
    """Return the installation of a package (a distribution, as Python calls it): its version, files and requirements.

    An installation made by pip takes precedence over a source folder on Python's path. Raises InputError if the package
    is not installed.
    """
    distributions = list(metadata.distributions(name=package))
    for distribution in distributions:
        was_installed_by_pip = bool(distribution.read_text("WHEEL"))  # a folder with sources has no such file
        if was_installed_by_pip:
            return distribution
    if distributions:
        return distributions[0]
    raise InputError(f"the package {package} is not installed, so that no wheel can be made of it")


def _is_for_development(distribution: metadata.Distribution) -> bool:
    """Return whether a package is installed in development mode, with Python reading its source folder."""
    if distribution.read_text("WHEEL") is None:  # a folder with sources on Python's path, which pip did not install
        return True
    direct_url_text = distribution.read_text("direct_url.json") or "{}"
    direct_url = json.loads(direct_url_text)
    folder_info = direct_url.get("dir_info", {})
    return bool(folder_info.get("editable"))


def _metadata_text(distribution: metadata.Distribution) -> str:
    """Return the metadata of an installed package (name, version, requirements), which its wheel must have."""
    return distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""


def _installed_files(distribution: metadata.Distribution) -> dict[str, bytes]:
    """Return the content of the files of an installation that belong into its wheel, by their names in the wheel.

    Files outside the folder of packages, such as scripts, are left out. Raises InputError if the installation does not
    list its files.
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
    """Return the content of the files of modules and packages, by their names in a wheel: `cs_score/base/errors.py`.

    Raises InputError for a module that is not found.
    """
    files: dict[str, bytes] = {}
    for module in modules:
        files.update(_sources_of_module(module))
    return files


def _sources_of_module(module: str) -> dict[str, bytes]:
    """Return the content of the files of a module, which is a single file or a package, by their names in a wheel.

    Raises InputError for a module that is not found.
    """
    spec = importlib.util.find_spec(module)
    if spec is not None and spec.submodule_search_locations:
        return _files_of_package(spec.submodule_search_locations)
    if spec is None or spec.origin is None:
        raise InputError(f"the source of the module {module} is not found")
    path = Path(spec.origin)
    return {path.name: path.read_bytes()}


def _files_of_package(folders: Iterable[str]) -> dict[str, bytes]:
    """Return the content of the files in the folders of a package, by their names in a wheel: `cs_score/tasks/task.py`.

    A package usually has one folder.
    """
    files = {}
    for folder in folders:
        parent = Path(folder).parent
        for path in _files_below(Path(folder)):
            name = path.relative_to(parent).as_posix()
            files[name] = path.read_bytes()
    return files


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the paths of the files of a package, without compiled and hidden files."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        is_hidden = any(part.startswith(".") or part == "__pycache__" for part in parts)
        if path.is_file() and not is_hidden and path.suffix != ".pyc":
            yield path


def _record_text(files: dict[str, bytes], record: str) -> str:
    """Return the text of the list of a wheel's files with their hashes and sizes, by which pip checks them.

    `record` is the name of the list itself. Its own line has no hash.
    """
    lines = [_record_line(name, content) for name, content in files.items()]
    lines.append(f"{record},,\n")
    return "".join(lines)


def _record_line(name: str, content: bytes) -> str:
    """Return the line on a file in the list of a wheel's files: its name, hash and size in bytes.

    For example `cs_score/cli/main.py,sha256=bQqYk...,7345`, with a line feed.
    """
    sha256 = hashlib.sha256(content).digest()
    encoded_sha256 = base64.urlsafe_b64encode(sha256).rstrip(b"=").decode()
    name_in_quotes = f'"{name}"' if "," in name else name
    return f"{name_in_quotes},sha256={encoded_sha256},{len(content)}\n"


def _platform_tag(wheel_text: str) -> str:
    """Return the part of a wheel's name that says where it runs, such as `cp311-cp311-manylinux_2_17_x86_64`.

    `wheel_text` is the file WHEEL. It has a line `Tag: cp311-cp311-linux_x86_64` for each platform: Python, binary
    interface and platform. Several values of a part are joined by full stops: `py2.py3-none-any`.
    """
    # Dictionaries without values, which keep the order of their keys and have each key once.
    pythons: dict[str, None] = {}
    interfaces: dict[str, None] = {}
    platforms: dict[str, None] = {}
    for line in wheel_text.splitlines():
        if not line.startswith("Tag:"):
            continue
        tag = line.removeprefix("Tag:").strip()
        python, interface, platform = tag.split("-")
        pythons[python] = None
        interfaces[interface] = None
        platforms[platform] = None
    return f"{'.'.join(pythons)}-{'.'.join(interfaces)}-{'.'.join(platforms)}"


# ---- Packages that an index has

_EXTRA_NAME: Final = re.compile(r"""extra\s*==\s*['"]([\w.-]+)['"]""")
_EXTRA_CONDITION: Final = re.compile(r"""(\s*and\s*)?\(?extra\s*==\s*['"][\w.-]+['"]\)?(\s*and\s*)?""")


def requirements_of(package: str, extras: Iterable[str] = ()) -> list[str]:
    """Return the requirements of an installed package and of its extras called `extras`, in the form that pip takes.

    With the extra `x`, the requirement `lxml>=4.9.1; extra == "x"` is returned as `lxml>=4.9.1`. Without this extra it
    is left out. Raises InputError for a package that is not installed.
    """
    wanted_extras = set(extras)
    requirements = []
    for requirement in _find_distribution(package).requires or ():
        extra = _EXTRA_NAME.search(requirement.partition(";")[2])
        if extra is None or extra.group(1) in wanted_extras:
            requirements.append(_without_extra(requirement))
    return requirements


def _without_extra(requirement: str) -> str:
    """Return a requirement without its condition about an extra: `lxml>=4.9.1` for `lxml>=4.9.1; extra == "x"`.

    Other conditions, such as a version of Python, stay.
    """
    package_and_versions, _, condition = requirement.partition(";")
    package_and_versions = package_and_versions.strip()
    other_conditions = _EXTRA_CONDITION.sub("", condition).strip()
    if not other_conditions:
        return package_and_versions
    return f"{package_and_versions}; {other_conditions}"


def is_requirement_of(requirement: str, package: str) -> bool:
    """Return whether a requirement such as `cs-score[r4c]>=1` is about a package."""
    match = re.match(r"[\w.-]+", requirement)
    if match is None:
        return False
    required_package = match.group()
    return _normalised_name(required_package) == _normalised_name(package)


def _normalised_name(package: str) -> str:
    """Return the name of a package as indexes compare it: `CS_Score` -> `cs-score`."""
    return re.sub(r"[-_.]+", "-", package).lower()


def find_wheels(requirements: Sequence[str], target: Platform, folder: str | None) -> list[Wheel]:
    """Return wheels of the required packages and of all packages that these need, for the platform `target`.

    pip finds them in `folder` or, if this is None, in its index. Raises UsageError if the folder does not exist, and
    InputError with the name of a missing wheel.
    """
    if folder is not None and not os.path.isdir(folder):
        raise UsageError(f"--wheels {folder}: no such folder")
    with tempfile.TemporaryDirectory() as download_folder:
        command = [*_pip_command(target, folder), "--dest", download_folder, *requirements]
        process = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if process.returncode != 0:
            raise _missing_wheel_error(process.stderr, target, folder)
        paths = sorted(Path(download_folder).glob("*.whl"))
        return [Wheel(path.name, path.read_bytes()) for path in paths]


def _pip_command(target: Platform, folder: str | None) -> list[str]:
    """Return the beginning of the command that downloads wheels for a target, from `folder` or from pip's index."""
    abi = f"cp{target.python.replace('.', '')}"
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download"]
    command += ["--only-binary", ":all:", "--implementation", "cp", "--python-version", target.python, "--abi", abi]
    for platform_tag in target.supported_platform_tags:
        command += ["--platform", platform_tag]
    if folder is not None:
        command += ["--no-index", "--find-links", folder]
    return command


def _missing_wheel_error(report: str, target: Platform, folder: str | None) -> InputError:
    """Return the error that names a missing wheel, from the report of pip on standard error.

    The wheel was looked for in `folder`, or in pip's index if it is None.
    """
    if "No module named pip" in report:
        return InputError("pip is needed to find wheels", remedy=f"{sys.executable} -m ensurepip")
    place = "the index of pip" if folder is None else folder
    match = re.search(r"No matching distribution found for (.+)", report)
    if match is None:
        return InputError(f"pip could not find the wheels: {_first_error(report)}", file=place)
    package = match.group(1).strip()
    return InputError(
        f"no wheel of {package} for Python {target.python} on {target.platform_tag}",
        file=place,
        remedy="put it into a folder and name that with --wheels, or name another --python or --platform",
    )


def _first_error(report: str) -> str:
    """Return the text of the first error in a report of pip; if there is none, the first line of the report."""
    error_lines = re.findall(r"ERROR: (.+)", report)
    return error_lines[0] if error_lines else report.partition("\n")[0]
