"""Pages and charts: what `analyze` and `diff` write as JSON, to look at instead of to read.

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

MOST_ROWS: Final = 20_000
"""Rows of a table that a page keeps."""
