"""Pages and charts of results and findings, which notebooks show and which can be written to files."""

from __future__ import annotations

import os
from html import escape
from typing import Any

from cs_score.base.outputs import utf8_blocks, write_packed
from cs_score.pages.making import chart_of, page_of


class Report:
    """A page that says what mistakes cost: scores, error budget, groups, every mistake, and how to reproduce it.

    Made by `report` of a result. A notebook shows it in a separate frame, in which only the page's own script may run.
    """

    def __init__(self, document: Any) -> None:
        """Make the page of an analysis or a difference from its document.

        Raises MissingExtraError without jinja2.
        """
        self._html = page_of(document)

    @property
    def html(self) -> str:
        """The page as HTML, the text that `cs-score report` writes; it loads no other files."""
        return self._html

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page into a file, and replace an earlier one.

        The file is compressed if its name ends in .gz, .bz2 or .xz. Raises OutputError if it cannot be written.
        """
        write_packed(os.fspath(path), utf8_blocks([self._html]))

    def __repr__(self) -> str:
        return f"<page of {len(self._html)} characters>"

    def _repr_html_(self) -> str:
        """Return a frame with the page, for notebooks; the page's script cannot reach anything outside the frame."""
        attributes = 'sandbox="allow-scripts" width="100%" height="720" title="cs-score report"'
        return f'<iframe srcdoc="{escape(self._html)}" {attributes}></iframe>'


class Chart:
    """A chart of an analysis, a difference or a comparison; made by their method `chart`. A notebook shows it."""

    def __init__(self, document: Any, kind: str, name: str | None) -> None:
        """Draw a chart of a kind, such as `budget`; if there are several of the kind, the one called `name`.

        Raises UsageError for an unknown chart, InputError if there is nothing to draw.
        """
        self._svg = chart_of(document, kind, name).standalone()

    @property
    def svg(self) -> str:
        """The chart as SVG, the text that `cs-score plot` writes."""
        return self._svg

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the SVG into a file, and replace an earlier one. Raises OutputError if it cannot be written."""
        write_packed(os.fspath(path), utf8_blocks([self._svg]))

    def __repr__(self) -> str:
        return f"<chart of {len(self._svg)} characters>"

    def _repr_svg_(self) -> str:
        """Return the chart as SVG, which a notebook shows."""
        return self._svg
