"""The version of this tool."""

from typing import Final

VERSION: Final = "1.0.0"
"""Version of cs-score itself (semantic versioning)."""
