"""White space as the reference sees it: Unicode's, without the separators U+001C to U+001F that Python adds."""

from __future__ import annotations

from typing import Final

WHITE_SPACE: Final = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""All such characters."""

SPACE: Final = r"[^\S\x1c-\x1f]"
"""The pattern of one such character."""

NO_SPACE: Final = r"[\S\x1c-\x1f]"
"""The pattern of any other character."""
