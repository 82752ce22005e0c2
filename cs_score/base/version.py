"""The version of this tool."""

from typing import Final

VERSION: Final = "0.2.0"
"""Version of cs-score itself (semantic versioning)."""
