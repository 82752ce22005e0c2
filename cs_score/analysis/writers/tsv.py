"""The tables of an analysis as files of a folder, separated by tabs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cs_score.analysis.writers.tables import HEADINGS, Table, Value
from cs_score.foundation.display import spreadsheet_cell
from cs_score.foundation.planned_outputs import Existing, Format, PlannedOutput

OPTION: Final = "--tsv"


def planned_tables(folder: str) -> Iterator[PlannedOutput]:
    """The files that the option writes into its folder, recognised by their headings."""
    for name, headings in HEADINGS.items():
        beginning = re.compile(re.escape("\t".join(headings).encode()) + rb"\r?\n")
        yield PlannedOutput(OPTION, table_path(folder, name), Existing.RECOGNISED, Format(beginning))


def table_path(folder: str, name: str) -> str:
    """The file of a table."""
    return f"{folder}/{name}.tsv"


def table_text(table: Table) -> Iterator[str]:
    """The headings, then a line for each row. Numbers are exact; what is not known is empty."""
    yield "\t".join(table.headings) + "\n"
    for row in table.rows:
        yield "\t".join(map(_cell, row)) + "\n"


def _cell(value: Value) -> str:
    if value is None:
        return ""
    return (
        spreadsheet_cell(value)
        if isinstance(value, str)
        else repr(float(value))
        if isinstance(value, float)
        else str(value)
    )
