"""The codes that may be ignored when a knowledge base is validated (specification 2.1)."""

from __future__ import annotations

from typing import Final

from cs_score.base.errors import UsageError
from cs_score.problems.codes import CODES, Severity

IGNORED_BY_DEFAULT: Final = "MULTIPLE_FILLS_ENTITY"

# Codes that the reference knows and that nothing reports.
_SILENT_WARNINGS: Final = frozenset(
    (
        "BAD_QUERY",
        "DUPLICATE_QUERY_ID",
        "MISSING_MENTION",
        "MULTIPLE_FILLS_SLOT",
        "MULTIPLE_LINKS",
        "TOO_MANY_PROVENANCE_TRIPLES",
        "UNLOADED_QUERY",
    )
)
_SILENT_ERRORS: Final = frozenset(("ILLEGAL_OFFSET_PAIR_STRING", "MISSING_CANONICAL_E", "MISSING_REALIS"))


def ignored_codes(text: str) -> frozenset[str]:
    """The codes of a list that is separated by colons. Raises UsageError for one that is unknown or no warning."""
    codes = [code for code in text.upper().split(":") if code]
    for code in codes:
        if code in _SILENT_WARNINGS:
            continue
        if code not in _SILENT_ERRORS and (code not in CODES or CODES[code].template is None):
            raise UsageError(f"Unknown warning: {code}")
        if code in _SILENT_ERRORS or CODES[code].severity is not Severity.WARNING:
            raise UsageError(f"{code} is a fatal error; cannot ignore it")
    return frozenset(codes)
