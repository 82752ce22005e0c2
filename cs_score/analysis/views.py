"""How the documents of a command are shown: their tables, as text and as files, and their text for people. A document
is a result as it is written to JSON, such as an analysis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import Any, NamedTuple

from cs_score.analysis.outcomes import TwoSided
from cs_score.base.records import Record, replace
from cs_score.base.slices import load_from_command_package
from cs_score.tables.layout import Column, Layout, Table, text_lines
from cs_score.verbs import SLICES


class ScreenTable(NamedTuple):
    """A table on the first screen, and how many of its rows are shown; None means as many as its layout says."""

    layout: Layout
    most_rows: int | None


def first_screen(document: Any, head: Sequence[str], tables: Sequence[ScreenTable], more: str, width: int) -> list[str]:
    """Return the first screen of a document as lines: the `head`, the first rows of some tables, and `more`.

    `tables` are layouts of tables, each with the largest number of rows to show. `more` is a sentence on how to see the
    rest; it follows an empty line. Lines are wrapped to `width` columns.
    """
    lines = list(head)
    for layout, most_rows in tables:
        lines += text_lines(layout.table(document), most_rows, width)
    lines.append("")
    return lines + wrap(more, width)


class DocumentView(Record):
    """How the documents of one kind and one task are shown.

    `layouts` are those of the tables. `text` takes a document, the width of the terminal (None: the cells of tables are
    not cut) and the largest number of rows of a table (None: the text is shortened to a first screen); it returns the
    text for people.
    """

    layouts: Sequence[Layout]
    text: Callable[[Any, int | None, int | None], str]

    def tables(self, document: Any) -> list[Table]:
        """Return the tables of a document.

        If only answered units were scored, the files of these tables have an additional column with the number of
        units.
        """
        tables = [layout.table(document) for layout in self.layouts]
        answered = answered_count_text(document)
        if not answered:
            return tables
        return [_add_answered_column(table, answered) for table in tables]

    def headers(self) -> dict[str, Sequence[str]]:
        """Return the columns of each table file by its name: `units.tsv`."""
        return {f"{layout.name}.tsv": layout.keys for layout in self.layouts if layout.for_files}


def answered_count_text(document: Any) -> str:
    """Return how many units were scored if the score is over answered units alone: `250 of 300 claims`.

    The text is empty if all units were scored. For a difference it has both sides, such as `A: 250 of 300 claims; B:
    280 of 300 claims`.
    """
    if isinstance(document, TwoSided):
        return _answered_counts_of_sides(document)
    if not document.origin:
        return ""
    return document.origin.answered_count_text or ""


def _answered_counts_of_sides(difference: TwoSided) -> str:
    """Return how many units were scored in A and in B: `A: 250 of 300 claims; B: 280 of 300 claims`.

    A side on which all units were scored is left out.
    """
    texts = []
    for name, side in (("A", "a"), ("B", "b")):
        answered = difference.origins[side].answered_count_text
        if answered is not None:
            texts.append(f"{name}: {answered}")
    return "; ".join(texts)


def _add_answered_column(table: Table, answered: str) -> Table:
    """Return a table whose file has a last column `answered` with the number of units that were scored.

    The column is added only to the file, since the text for people shows the number above the tables. A table without a
    file is returned unchanged.
    """
    layout = table.layout
    if not layout.for_files:
        return table
    shown_keys = layout.shown_keys or layout.keys
    layout = replace(layout, columns=(*layout.columns, Column("answered")), shown_keys=shown_keys)
    return replace(table, layout=layout, rows=[(*row, answered) for row in table.rows])


def view_of_kind(kind: str, task: Any) -> DocumentView:
    """Return how documents of a kind, such as `analysis`, are shown for a task.

    A slice is a part of the program that may be left out of an installation. Raises UsageError if the slice of such
    documents is not installed, KeyError for a kind without tables.
    """
    for slice_ in SLICES:
        if kind in slice_.views:
            view_of_task = load_from_command_package(slice_.folder, slice_.views[kind], needed_by=f"the {kind}")
            view: DocumentView = view_of_task(task)
            return view
    raise KeyError(kind)
