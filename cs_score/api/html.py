"""Results as notebooks show them. Every text is escaped: it may come from files of others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from cs_score.base.display import one_line

_LONGEST: Final = 200
"""Characters of a cell that are shown."""


def table(caption: str, header: Sequence[str], rows: Iterable[Sequence[object]], notes: Iterable[str] = ()) -> str:
    """A table with its caption, and notes below it. Floats are shown with four decimals."""
    head = "".join(f"<th>{_text(cell)}</th>" for cell in header)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    below = "".join(f"<p>{_text(note)}</p>" for note in notes)
    return (
        f'<table class="cs-score"><caption>{_text(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f'<td style="text-align: right">{value:.4f}</td>'
    return f'<td style="text-align: left">{_text("" if value is None else str(value))}</td>'


def _text(text: str) -> str:
    return escape(one_line(text, _LONGEST))
