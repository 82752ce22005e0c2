"""An analysis as text: a headline, then its sections as aligned tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from cs_score.analysis.coldstart.analysis import Analysis
from cs_score.analysis.writers.tables import Gain, Table, Value, tables_of
from cs_score.foundation.display import aligned, cell, one_line

SHOWN: Final = 20
"""Rows of a table that are shown; files have all."""

_LONGEST_CELL: Final = 40

# What a table shows here, by its name; files have all columns.
_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "mistakes": ("gain", "kind", "category", "file", "line", "slot", "value", "removed", "added"),
}


def analysis_text(analysis: Analysis, width: int | None) -> str:
    """The sections one after the other; texts of the inputs are made safe for a terminal.

    `width`: the columns at which lines are cut; None: lines are as long as they are.
    """
    return "\n".join(line[:width] for line in _lines(analysis)) + "\n"


def _lines(analysis: Analysis) -> Iterator[str]:
    yield f"{one_line(analysis.run_id)}  {analysis.measure}  {analysis.score:.4f}"
    for table in tables_of(analysis):
        yield ""
        yield from _section(table, analysis)
    structure = analysis.structure
    yield ""
    yield f"{structure.merged_nodes} node(s) merge several classes, {structure.split_classes} class(es) are split over "
    yield f"several nodes, {structure.discarded_lines} line(s) are beyond a limit on justifications."


def _section(table: Table, analysis: Analysis) -> Iterator[str]:
    rows = table.rows[:SHOWN]
    total = analysis.mistake_count if table.name == "mistakes" else len(table.rows)
    yield table.title if len(rows) == total else f"{table.title} ({len(rows)} of {total})"
    wanted = _COLUMNS.get(table.name, table.headings)
    shown = [table.headings.index(name) for name in wanted if _has_values(table, name)]
    cells = [[table.headings[at] for at in shown], *([_text(row[at]) for at in shown] for row in rows)]
    yield from aligned(cells, [table.numbers[at] for at in shown]) if rows else ("none",)


def _has_values(table: Table, name: str) -> bool:
    """Whether a column says anything; that of reasons mostly does not."""
    return name != "reason" or any(row[table.headings.index(name)] is not None for row in table.rows[:SHOWN])


def _text(value: Value) -> str:
    if value is None:
        return "-"
    if isinstance(value, Gain):
        return f"{value:+.4f}"
    return f"{value:.4f}" if isinstance(value, float) else cell(str(value), _LONGEST_CELL)
