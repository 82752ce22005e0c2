"""An analysis as text for people: a headline, then its sections as aligned tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from cs_score.analysis.coldstart.analysis import Analysis
from cs_score.analysis.coldstart.tables import Gain, Table, Value, tables_of
from cs_score.foundation.display import aligned, cell, one_line

TOP: Final = 20
"""Rows of a table that are shown unless another number of mistakes is asked for."""

_LONGEST_CELL: Final = 40

# What a table shows here, by its name; files have all columns.
_SHOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "mistakes": ("gain", "kind", "category", "file", "line", "slot", "value", "lines", "reason"),
}


def analysis_text(analysis: Analysis, width: int, top: int | None = None) -> str:
    """The sections one after the other in lines of at most `width` columns; the inputs' texts are made safe."""
    return "\n".join(line[:width] for line in _lines(analysis, top or TOP))


def _lines(analysis: Analysis, top: int) -> Iterator[str]:
    yield f"{one_line(analysis.run_id)}: {analysis.measure} = {analysis.score:.4f}"
    for table in tables_of(analysis):
        yield ""
        yield from _section(table, analysis, top)
    structure = analysis.structure
    yield ""
    yield (
        f"{structure.merged_nodes} nodes merge several classes, {structure.split_classes} classes are split over "
        f"several nodes, {structure.discarded_lines} lines are beyond a limit on justifications."
    )


def _section(table: Table, analysis: Analysis, top: int) -> Iterator[str]:
    rows = table.rows[:top]
    total = analysis.mistake_count if table.name == "mistakes" else len(table.rows)
    yield table.title if len(rows) == total else f"{table.title.removesuffix(':')} ({len(rows)} of {total}):"
    places = [table.columns.index(name) for name in _SHOWN.get(table.name, table.columns)]
    # Reasons are rare.
    places = [at for at in places if table.columns[at] != "reason" or any(row[at] is not None for row in rows)]
    cells = [[table.columns[at] for at in places], *([_text(row[at]) for at in places] for row in rows)]
    numbers = [not any(isinstance(row[at], str) for row in rows) for at in places]
    yield from aligned(cells, numbers) if rows else ("none",)


def _text(value: Value) -> str:
    if value is None:
        return "-"
    if isinstance(value, Gain):
        return f"{value:+.4f}"
    return f"{value:.4f}" if isinstance(value, float) else cell(str(value), _LONGEST_CELL)
