"""The `.ap` file (specification 10.6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cs_score.coldstart.ranking.tables import ApRow
from cs_score.coldstart.result import AveragePrecision
from cs_score.coldstart.writers.fields import AP_FIELDS
from cs_score.coldstart.writers.table_layout import TableLayout

# The spelling of "coressponding" is part of the format.
TITLES: Final = {
    "SF": "SF: Slot-filling score variant considering all entrypoints as a separate query",
    "LDC-MEAN": "LDC-MEAN: LDC level score variant considering averaging scores for all coressponding entrypoints",
}
SUMMARY_TITLE: Final = "SUMMARY: This section provides summary of AP scores"
FOOT: Final = "*ALL-Macro AP refer to mean of corresponding AP values.\n"


def average_precision_text(scores: AveragePrecision, is_primary: bool, tabs: bool = False) -> Iterator[str]:
    """The AP report of one run; only that of the run whose id the rows bear has macro averages (9.8)."""
    fields = tuple(AP_FIELDS)
    layout: TableLayout[ApRow] = TableLayout(AP_FIELDS, fields, scores.run_id, tabs)
    summary: list[tuple[str, ApRow]] = []
    for variant, table in scores.variants:
        macro = table.macro if is_primary else ()
        lines = layout.table(fields, table.rows + macro)
        yield f"{TITLES[variant]}\n\n"
        if table.rows:
            yield layout.header(fields)
        yield from lines
        yield "\n"
        summary += [(f"{variant}-", row) for row in macro]
    yield f"{SUMMARY_TITLE}\n\n"
    yield layout.header(fields)
    for prefix, row in summary:
        yield layout.row(fields, row, prefix)
    yield f"\n{FOOT}"
