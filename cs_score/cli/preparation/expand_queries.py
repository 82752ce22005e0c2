"""`cs-score expand-queries`, which another program replaces (specification of the companions, 4)."""

from __future__ import annotations

from collections.abc import Sequence

from cs_score.cli.destinations import write_text


def run(words: Sequence[str]) -> int:
    """Say which program to use, whatever the words; returns 0."""
    write_text("stderr", "cs-score expand-queries has been superseded by cs-score validate-queries -expand\n")
    return 0
