"""The page of a result, in a notebook or as a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from html import escape

from cs_score.base.outputs import encoded, write_packed


class Report:
    """A page of what mistakes cost: scores, error budget, groups, every mistake, and how to make it again.

    Made by `report` of a result. A notebook shows it in a frame of its own, which may run the page's script and nothing
    else.
    """

    def __init__(self, analysis: Mapping[str, object]) -> None:
        """`analysis`: what `analyze --json` writes. Raises MissingExtraError without jinja2."""
        from cs_score.report.documents import document_of, page_of

        self._html = page_of(document_of(analysis))

    @property
    def html(self) -> str:
        """The page, one file that loads nothing from elsewhere; the text that `cs-score report` writes."""
        return self._html

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page into a file, compressed where its name ends like that; an earlier file is replaced.

        Raises OutputError where it cannot be written.
        """
        write_packed(os.fspath(path), encoded([self._html]))

    def __repr__(self) -> str:
        return f"<page of {len(self._html)} characters>"

    def _repr_html_(self) -> str:
        frame = 'sandbox="allow-scripts" width="100%" height="720" title="cs-score report"'
        return f'<iframe srcdoc="{escape(self._html)}" {frame}></iframe>'
