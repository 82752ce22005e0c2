"""What all other rooms use: errors, inputs and outputs, display, processes, signatures."""

from typing import Final

VERSION: Final = "1.0.0"
"""Version of cs-score itself (semantic versioning)."""
