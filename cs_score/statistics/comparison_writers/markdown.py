"""A comparison as Markdown (CommonMark with GitHub's tables)."""

from __future__ import annotations

from typing import Final

from cs_score.base.display import one_line
from cs_score.base.markup import escape_markdown
from cs_score.statistics.comparison_result import Comparison
from cs_score.statistics.comparison_writers.tables import Kind, Table, explanation, pair_table, system_table
from cs_score.statistics.notes import sentences

_RULES: Final = {Kind.NAME: ":---", Kind.NOTE: ":---", Kind.NUMBER: "---:", Kind.RANGE: "---:"}


def comparison_markdown(comparison: Comparison) -> str:
    """A heading and two tables per measure, then the explanation as a list."""
    blocks = []
    for measure in comparison.measures:
        blocks += [f"### {escape_markdown(measure.measure)}", ""]
        blocks += [*_lines(system_table(measure)), "", *_lines(pair_table(measure)), ""]
    blocks += [f"- {one_line(sentence)}" for sentence in explanation(comparison)]
    blocks += [f"- {escape_markdown(note)}" for note in sentences(comparison.notes)]  # they may quote names
    blocks += [f"- {escape_markdown(system)}: `{origin.signature}`" for system, origin in comparison.origins.items()]
    return "\n".join(blocks) + "\n"


def _lines(table: Table) -> list[str]:
    rule = [_RULES[kind] for kind in table.kinds]
    rows = [[_cell(cell, kind) for cell, kind in zip(row, table.kinds)] for row in table.rows]
    return [f"| {' | '.join(cells)} |" for cells in (table.headings, rule, *rows)]


def _cell(cell: str, kind: Kind) -> str:
    """Numbers hold no markup but the sign of `<0.0001` and stay readable in the source."""
    return escape_markdown(cell) if kind is Kind.NAME else cell.replace("<", "&lt;")
