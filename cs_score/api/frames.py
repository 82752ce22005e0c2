"""Results as pandas data frames, which the extra `frames` brings, and as HTML: tables in notebooks, and pages."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

from cs_score.api.records import Values
from cs_score.base.display import one_line
from cs_score.base.errors import MissingExtraError
from cs_score.base.outputs import encoded, write_packed
from cs_score.report.documents import document_of, page_of

if TYPE_CHECKING:
    import pandas

_DISTINCT: Final = frozenset({"name", "node", "value", "message", "id"})
"""Columns of texts most of which stand there once."""

_LONGEST: Final = 200
"""Characters of a cell of HTML that are shown."""


def frame_of_rows(rows: Sequence[Mapping[str, object]], attrs: Mapping[str, object]) -> pandas.DataFrame:
    """Rows of any keys as a frame with these `attrs`. Raises MissingExtraError without pandas."""
    frame = _pandas().DataFrame(list(rows))
    frame.attrs |= attrs
    return frame


def frame_of(fields: Mapping[str, str], values: Iterator[Values], attrs: Mapping[str, object]) -> pandas.DataFrame:
    """The records with these values as a frame with these `attrs`; `fields` are their names with their annotations.

    Texts that repeat are categories in the order in which they were met; numbers that may be missing are `Int64`, or
    NaN. Raises MissingExtraError without pandas.
    """
    frames = _pandas()
    columns: Sequence[Sequence[Any]] = list(zip(*values)) or [()] * len(fields)
    frame = frames.DataFrame(
        {name: _column(frames, name, kind, column) for (name, kind), column in zip(fields.items(), columns)}, copy=False
    )
    frame.attrs |= attrs
    return frame


def _column(frames: Any, name: str, annotation: str, values: Sequence[Any]) -> object:
    kinds = {*annotation.split(" | ")}
    if kinds <= {"float", "None"}:
        return frames.array(values, dtype="float64")
    if kinds <= {"int", "None"}:
        return frames.array(values, dtype="Int64" if "None" in kinds else "int64")
    if kinds <= {"str", "None"} and name not in _DISTINCT:
        known = frames.Index([value for value in dict.fromkeys(values) if value is not None], dtype=object)
        return frames.Categorical(values, categories=known)
    return frames.Series(values, dtype=object)


def _pandas() -> Any:
    try:
        import pandas
    except ModuleNotFoundError:
        raise MissingExtraError("pandas", "frames") from None
    return pandas


def html_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[object]], notes: Iterable[str] = ()) -> str:
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


class Report:
    """A page of what mistakes cost: scores, error budget, groups, every mistake, and how to make it again.

    Made by `report` of a result. A notebook shows it in a frame of its own, which may run the page's script and nothing
    else.
    """

    def __init__(self, analysis: Mapping[str, object]) -> None:
        """`analysis`: what `analyze --format json` prints. Raises MissingExtraError without jinja2."""
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
