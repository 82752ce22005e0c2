"""Zip archives that have the same bytes whenever they are made of the same files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Final

_TIME_OF_FILES: Final = (1980, 1, 1, 0, 0, 0)
"""The time of every file of an archive, so that archives do not depend on the clock. Zip knows no earlier time."""

_ENDINGS_OF_COMPRESSED_FILES: Final = (".whl", ".zip", ".png", ".gz", ".bz2", ".xz")
"""Endings of files that are compressed already."""


def zip_archive(files: Mapping[str, bytes]) -> bytes:
    """Return a zip archive of files, sorted by their names in it; `files` has the content of each file by its name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _TIME_OF_FILES)
            entry.external_attr = 0o644 << 16  # readable by all users, writable by the owner
            is_compressed = name.endswith(_ENDINGS_OF_COMPRESSED_FILES)
            entry.compress_type = zipfile.ZIP_STORED if is_compressed else zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return buffer.getvalue()
