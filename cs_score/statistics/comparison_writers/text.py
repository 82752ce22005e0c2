"""A comparison as aligned text for a terminal."""

from __future__ import annotations

from typing import Final

from cs_score.base.display import aligned, cell, columns_of, one_line
from cs_score.statistics.comparison_result import Comparison
from cs_score.statistics.comparison_writers.tables import Kind, Table, explanation, pair_table, system_table
from cs_score.statistics.notes import sentences

_LONGEST_CELL: Final = 200
_LEFT: Final = (Kind.NAME, Kind.NOTE)


def comparison_text(comparison: Comparison) -> str:
    """Two aligned tables per measure, then the explanation; names are made safe for a terminal."""
    blocks = []
    for measure in comparison.measures:
        blocks += [one_line(measure.measure), *_lines(system_table(measure)), ""]
        blocks += [*_lines(pair_table(measure)), ""]
    blocks += [one_line(sentence) for sentence in (*explanation(comparison), *sentences(comparison.notes))]
    signatures = [one_line(f"{system}: {origin.signature}") for system, origin in comparison.origins.items()]
    blocks += ["", *signatures] if signatures else []
    return "\n".join(blocks) + "\n"


def _lines(table: Table) -> list[str]:
    rows = [table.headings, *table.rows]
    cells = [[cell(text, _LONGEST_CELL) for text in row] for row in rows]
    return aligned(cells, [kind not in _LEFT for kind in table.kinds], width_of=columns_of)
