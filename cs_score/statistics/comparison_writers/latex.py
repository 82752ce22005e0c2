"""A comparison as LaTeX tables, for the package booktabs."""

from __future__ import annotations

from typing import Final

from cs_score.base.markup import escape_latex
from cs_score.statistics.comparison_result import Comparison
from cs_score.statistics.comparison_writers.tables import Kind, Table, explanation, pair_table, system_table
from cs_score.statistics.notes import sentences

_ALIGNMENT: Final = {Kind.NAME: "l", Kind.NOTE: "l", Kind.NUMBER: "r", Kind.RANGE: "r"}


def comparison_latex(comparison: Comparison) -> str:
    """Two `tabular` environments per measure, then the explanation as a paragraph."""
    lines = [r"% \usepackage{booktabs}"]
    for measure in comparison.measures:
        lines += [rf"\paragraph{{{escape_latex(measure.measure)}}}", "", *_tabular(system_table(measure)), ""]
        lines += [*_tabular(pair_table(measure)), ""]
    lines += [escape_latex(sentence) for sentence in (*explanation(comparison), *sentences(comparison.notes))]
    for system, origin in comparison.origins.items():
        lines += ["", escape_latex(f"{system}: {origin.signature}")]
    return "\n".join(lines) + "\n"


def _tabular(table: Table) -> list[str]:
    columns = "".join(_ALIGNMENT[kind] for kind in table.kinds)
    rows = [[_cell(cell, kind) for cell, kind in zip(row, table.kinds)] for row in table.rows]
    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _row([escape_latex(heading) for heading in table.headings]),
        r"\midrule",
        *map(_row, rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _cell(cell: str, kind: Kind) -> str:
    """A number goes into mathematics, where a hyphen is a minus sign; anything else is text."""
    return f"${cell}$" if kind is Kind.NUMBER else escape_latex(cell)


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
