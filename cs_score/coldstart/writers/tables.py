"""The `.sf`, `.ldcmax`, `.ldcmean` and `.summary` files (specification 10.3 and 10.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from cs_score.base.display import one_line
from cs_score.base.records import Record
from cs_score.coldstart.counting.projection import ScoreRow, Table
from cs_score.coldstart.result import RunResult
from cs_score.coldstart.writers.fields import DEFAULT_FIELDS, SCORE_FIELDS, SUMMARY_FIELDS
from cs_score.coldstart.writers.table_layout import TableLayout

_LONGEST_RUN_ID: Final = 60

FOOT: Final = "\n*ALL-Macro Prec, Recall and F1 refer to mean-precision, mean-recall and mean-F1.\n"


class TableText(Record):
    """The four tables of one run as text; the LDC variants are empty where they do not exist."""

    sf: str
    ldc_max: str
    ldc_mean: str
    summary: str


def table_texts(run: RunResult, fields: Sequence[str] = DEFAULT_FIELDS, tabs: bool = False) -> TableText:
    """Lay out the tables of one run; each table's columns are as wide as those before it needed."""
    layout: TableLayout[ScoreRow] = TableLayout(SCORE_FIELDS, fields, run.run_id, tabs)
    tables = run.tables
    sf = _table(tables.sf, fields, layout)
    ldc_max = _table(tables.ldc_max, fields, layout)
    ldc_mean = _table(tables.ldc_mean, SUMMARY_FIELDS, layout)
    return TableText(sf, ldc_max, ldc_mean, "".join(_summary(run, layout)))


def averages_text(run: RunResult) -> str:
    """The rows of the summary that hold all queries, as a table for people."""
    layout: TableLayout[ScoreRow] = TableLayout(
        SCORE_FIELDS, SUMMARY_FIELDS, one_line(run.run_id, _LONGEST_RUN_ID), False
    )
    rows = [
        row._replace(name=f"{variant}-{row.name}") for variant, table in run.tables.variants for row in table.averages
    ]
    lines = layout.table(SUMMARY_FIELDS, rows)
    return "".join((layout.header(SUMMARY_FIELDS), *lines))


def _table(table: Table | None, fields: Sequence[str], layout: TableLayout[ScoreRow]) -> str:
    if table is None:
        return ""
    lines = layout.table(fields, table.rows + table.averages)
    header = [layout.header(fields)] if table.rows else []
    return "".join((*header, *lines, FOOT))


def _summary(run: RunResult, layout: TableLayout[ScoreRow]) -> Iterator[str]:
    yield layout.header(SUMMARY_FIELDS)
    for variant, table in run.tables.variants:
        for row in table.averages:
            yield layout.row(SUMMARY_FIELDS, row, prefix=f"{variant}-")
    yield FOOT
