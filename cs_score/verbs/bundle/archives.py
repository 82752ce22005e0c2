"""Zip archives that have the same bytes whenever they are made of the same files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Final

_MADE: Final = (1980, 1, 1, 0, 0, 0)
"""The time that every file of an archive has: the first that a zip archive can name."""

_PACKED_ALREADY: Final = (".whl", ".zip", ".png", ".gz", ".bz2", ".xz")
"""Endings of files that would hardly become smaller."""


def zip_archive(files: Mapping[str, bytes]) -> bytes:
    """Return a zip archive of files by their names in it, in the order of the names."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _MADE)
            entry.external_attr = 0o644 << 16
            is_packed = name.endswith(_PACKED_ALREADY)
            entry.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return buffer.getvalue()
