"""Pages and charts: what `analyze --json` and `diff --json` write, to look at instead of to read.

A page is a pure function of that JSON. Nothing here computes a score.
"""

from typing import Final

BEGINNING: Final = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="cs-score">
"""
"""How every page begins, by which it is known."""


def page_name(at: int, of: int) -> str:
    """The file of the page of one of the `of` runs that a file of a batch holds, from 0."""
    return "report.html" if of == 1 else f"report-{at + 1}.html"
