"""Folders of wheels for tests, made without network: empty ones, and ones of what is installed."""

from __future__ import annotations

import zipfile
from importlib import metadata
from pathlib import Path
from typing import Final

THIRD_PARTY: Final = ("click", "jinja2", "lxml", "markupsafe", "msgspec", "numpy")
"""Packages that scoring needs, and what these need."""

OF_R4C: Final = ("rapidfuzz", "scipy")


def make_empty_wheels(folder: Path) -> Path:
    """Write wheels that hold nothing under the names of third-party packages, for bundles that nobody runs."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*THIRD_PARTY, *OF_R4C):
        with zipfile.ZipFile(folder / f"{name}-99.0-py3-none-any.whl", "w") as wheel:
            stem = f"{name}-99.0.dist-info"
            wheel.writestr(f"{stem}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 99.0\n")
            wheel.writestr(f"{stem}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{stem}/RECORD", "")
    return folder


def make_installed_wheels(folder: Path) -> Path:
    """Write wheels of the third-party packages that are installed here, which say that they run anywhere.

    So pip takes them for every platform, and they run on this machine.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in THIRD_PARTY:
        distribution = metadata.distribution(name)
        stem = f"{distribution.metadata['Name'].replace('-', '_')}-{distribution.version}"
        with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w", zipfile.ZIP_STORED) as wheel:
            for path in distribution.files or ():
                if ".." not in path.parts and path.suffix != ".pyc":
                    wheel.write(str(path.locate()), path.as_posix())
    return folder
