"""The version of this tool, and of the scorer whose bytes it reproduces."""

from typing import Final

VERSION: Final = "0.2.0"
"""Version of cs-score itself (semantic versioning)."""

REFERENCE_VERSION: Final = "2017.2.0"
"""Version of the TAC KBP Cold Start scorer whose output files cs-score reproduces."""
