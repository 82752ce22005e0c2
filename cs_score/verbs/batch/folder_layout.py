"""The names of the files in the output folder of a batch."""

from __future__ import annotations

import re
from typing import Final

INDEX: Final = "index.html"

PROBLEMS: Final = "problems.tsv"

BEGINNINGS: Final = {
    "leaderboard.tsv": rb"rank\tpolicy\trun\t",
    "leaderboard.json": rb'\{\s*"kind": "leaderboard",\s',
    "leaderboard.md": rb"\| Rank \| ",
    "leaderboard.tex": rb"% \\usepackage\{booktabs\}",
    "answers.tsv": rb"policy\tpart\tunit\t",
    "agreement.tsv": rb"policy\twhat\trun\t",
    "stability.tsv": rb"what\tmeasure\tpolicy\t",
    "batch.json": rb'\{\s*"kind": "batch",\s',
    INDEX: rb'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="generator" content="cs-sc',
    PROBLEMS: rb"run\tpolicy\tseverity\tcode\t",
}
"""How the tables of batches begin: a file of such a name that begins otherwise is not replaced without --force."""

LOCK: Final = ".batch.lock"

BATCH_FILES: Final = (LOCK, *BEGINNINGS)
"""The files of every batch, in its output folder."""

RESERVED_NAMES: Final = frozenset({"", ".", "..", *BATCH_FILES})
"""Names that no run and no policy can have: they would hide a file of the batch, or no folder can have them."""

_PAGE_NAME_PATTERN: Final = re.compile(r"out(\.[1-9][0-9]*)?\.html", re.ASCII)


def page_name(position: int, run_count: int) -> str:
    """Return the name of the page of a run: `out.html`, or `out.1.html`, `out.2.html` ... if its file holds several.

    `position` is the place of the run among the `run_count` runs of the file, counted from 0.
    """
    if run_count == 1:
        return "out.html"
    return f"out.{position + 1}.html"


def is_page(name: str) -> bool:
    """Return whether a file of this name in the folder of a run is a page: `out.html`, `out.2.html`."""
    return _PAGE_NAME_PATTERN.fullmatch(name) is not None
