"""White space as the reference sees it: Unicode's, without the separators U+001C to U+001F that Python adds."""

from __future__ import annotations

from typing import Final

SPACE: Final = r"[^\S\x1c-\x1f]"
"""The pattern of one such character."""

NO_SPACE: Final = r"[\S\x1c-\x1f]"
"""The pattern of any other character."""
