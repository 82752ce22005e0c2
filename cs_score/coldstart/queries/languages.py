"""The language of a document, told by its id (specification 3.4)."""

from __future__ import annotations

from typing import Final

DEFAULT_LANGUAGE: Final = "ENGLISH"
DEFAULT_CODE: Final = "ENG"


def language_code(docid: str) -> str | None:
    """`CMN`, `SPA` or `ENG`, or None where the id does not tell (English is then assumed)."""
    text = docid.upper()
    if text.startswith("CMN"):
        return "CMN"
    if text.startswith("SPA"):
        return "SPA"
    if text.startswith("ENG_") or "_ENG_" in text:
        return "ENG"
    return None
