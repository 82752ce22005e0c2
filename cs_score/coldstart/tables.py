"""The score tables and the AP report as text, columns as wide as the widest cell so far (specification 10.2 on)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final

from cs_score.base.display import one_line
from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.coldstart.projection import ScoreRow, Table
from cs_score.coldstart.ranking import ApRow
from cs_score.coldstart.result import AveragePrecision, RunResult


class Field(Record):
    """One column: its header, the attribute that it shows (of a row, or of the row's counts), its meaning."""

    header: str
    attribute: str
    meaning: str
    is_count: bool = False


SCORE_FIELDS: Final[Mapping[str, Field]] = {
    "EC": Field("QID/EC", "name", "query, or query and class"),
    "RUNID": Field("RunID", "run_id", "run"),
    "LEVEL": Field("Hop", "level", "hop from 0 on, or ALL"),
    "GT": Field("GT", "ground_truth", "classes to be found", is_count=True),
    "SUBMITTED": Field("Submitted", "submitted", "responses", is_count=True),
    "CORRECT": Field("Correct", "correct", "responses assessed as correct, below a right parent", is_count=True),
    "INCORRECT": Field(
        "Incorrect", "incorrect", "responses assessed as incorrect, below a right parent", is_count=True
    ),
    "INEXACT": Field("Inexact", "inexact", "responses assessed as inexact, below a right parent", is_count=True),
    "INCORRECT_PARENT": Field(
        "PIncorrect", "incorrect_parent", "responses below an answer that is not right", is_count=True
    ),
    "UNASSESSED": Field(
        "Unassessed", "unassessed", "responses without assessment, below a right parent", is_count=True
    ),
    "REDUNDANT": Field("Dup", "redundant", "duplicates of a right response", is_count=True),
    "RIGHT": Field("Right", "right", "responses that count as right", is_count=True),
    "WRONG": Field("Wrong", "wrong", "responses that count as wrong", is_count=True),
    "IGNORED": Field("Ignored", "ignored", "responses that are left out of precision", is_count=True),
    "P": Field("Prec", "precision", "precision"),
    "R": Field("Recall", "recall", "recall"),
    "F": Field("F1", "f1", "F1"),
}

AP_FIELDS: Final[Mapping[str, Field]] = {
    "EC": Field("QID/EC", "name", "query"),
    "RUNID": Field("RunID", "run_id", "run"),
    "LEVEL": Field("Hop", "level", "hop"),
    "AP": Field("AP", "score", "average precision"),
}

DEFAULT_FIELDS: Final = tuple(SCORE_FIELDS)

SUMMARY_FIELDS: Final = ("EC", "RUNID", "LEVEL", "P", "R", "F")
"""The columns of `.ldcmean` and `.summary`, whatever `-fields` says."""

_LONGEST_RUN_ID: Final = 60

FOOT: Final = "\n*ALL-Macro Prec, Recall and F1 refer to mean-precision, mean-recall and mean-F1.\n"
AP_FOOT: Final = "\n*ALL-Macro AP refer to mean of corresponding AP values.\n"
# The spelling of "coressponding" is part of the format.
AP_TITLES: Final = {
    "SF": "SF: Slot-filling score variant considering all entrypoints as a separate query",
    "LDC-MEAN": "LDC-MEAN: LDC level score variant considering averaging scores for all coressponding entrypoints",
}
AP_SUMMARY: Final = "SUMMARY: This section provides summary of AP scores"


def check_fields(names: Iterable[str]) -> None:
    """Raises InputError for a name that is no field."""
    for name in names:
        if name not in SCORE_FIELDS:
            raise InputError(f"Unknown field: {name}", remedy=f"the fields are {':'.join(SCORE_FIELDS)}")


def resampled_metrics(fields: Collection[str]) -> tuple[str, ...]:
    """The metrics that resamples have values of, by the fields shown: cells are found by their row's name and hop."""
    if not {"EC", "LEVEL"} <= set(fields):
        return ()
    return tuple(metric for metric in ("P", "R", "F") if metric in fields)


class TableLayout:
    """Column widths of one run's report; they grow with every table that is laid out and never shrink."""

    def __init__(self, fields: Mapping[str, Field], shown: Iterable[str], run_id: str, tabs: bool) -> None:
        """`shown`: the fields that have cells at all; others stay empty. `tabs`: one tab between cells, no padding."""
        self._fields = fields
        self._run_id = run_id
        self._tabs = tabs
        self._widths = {name: len(fields[name].header) for name in shown}

    def table(self, names: Sequence[str], rows: Sequence[ScoreRow | ApRow]) -> list[str]:
        """The lines of rows, after widening all columns to hold the rows' cells."""
        columns: dict[str, list[str]] = {}
        for name in self._widths:
            # Most columns repeat few values; each value is formatted and padded once.
            values = self._values(name, rows)
            cells = {value: _cell(value) for value in set(values)}
            self._widths[name] = max(self._widths[name], max(map(len, cells.values()), default=0))
            cells = {value: self._padded(name, cell) for value, cell in cells.items()}
            columns[name] = [cells[value] for value in values]
        blank = [""] * len(rows)
        lines = zip(*(columns.get(name, blank) for name in names)) if names else [()] * len(rows)
        separator = "\t" if self._tabs else " "
        return [f"{separator.join(line)}\n" for line in lines]

    def header(self, names: Sequence[str]) -> str:
        """The header line of a table with these columns."""
        return self._line(names, [self._fields[name].header for name in names])

    def row(self, names: Sequence[str], row: ScoreRow | ApRow, prefix: str) -> str:
        """One row with `prefix` before its first cell, in the widths found so far."""
        first, *rest = (_cell(self._values(name, [row])[0]) if name in self._widths else "" for name in names)
        return self._line(names, [prefix + first, *rest])

    def _values(self, name: str, rows: Sequence[ScoreRow | ApRow]) -> list[object]:
        field = self._fields[name]
        if field.attribute == "run_id":
            return [self._run_id] * len(rows)
        value_of = attrgetter(field.attribute)
        if field.is_count:  # four blanks where a row is a mean
            return ["    " if row.counts is None else value_of(row.counts) for row in rows]  # type: ignore[union-attr]
        values = list(map(value_of, rows))
        if 0.0 in values:  # -0.0 equals 0.0, but its cell has a sign
            values = ["-0.0000" if value == 0 and str(value) == "-0.0" else value for value in values]
        return values

    def _line(self, names: Sequence[str], cells: Sequence[str]) -> str:
        return ("\t" if self._tabs else " ").join(map(self._padded, names, cells)) + "\n"

    def _padded(self, name: str, cell: str) -> str:
        if self._tabs:
            return cell
        width = self._widths.get(name, 0)
        return cell.rjust(width) if self._fields[name].is_count else cell.ljust(width)


def _cell(value: object) -> str:
    if isinstance(value, str):
        return value
    return f"{value:4d}" if isinstance(value, int) else f"{value:6.4f}"


class TableText(Record):
    """The four tables of one run as text; the LDC variants are empty where they do not exist."""

    sf: str
    ldc_max: str
    ldc_mean: str
    summary: str


def table_texts(run: RunResult, fields: Sequence[str] = DEFAULT_FIELDS, tabs: bool = False) -> TableText:
    """Lay out the tables of one run; each table's columns are as wide as those before it needed."""
    layout = TableLayout(SCORE_FIELDS, fields, run.run_id, tabs)

    def text(table: Table | None, names: Sequence[str]) -> str:
        if table is None:
            return ""
        lines = layout.table(names, table.rows + table.averages)
        return "".join(([layout.header(names)] if table.rows else []) + lines) + FOOT

    tables = run.tables
    texts = text(tables.sf, fields), text(tables.ldc_max, fields), text(tables.ldc_mean, SUMMARY_FIELDS)
    summary = [
        layout.row(SUMMARY_FIELDS, row, f"{variant}-") for variant, table in tables.variants for row in table.averages
    ]
    return TableText(*texts, layout.header(SUMMARY_FIELDS) + "".join(summary) + FOOT)


def averages_text(run: RunResult) -> str:
    """The rows of the summary that hold all queries, as a table for people."""
    layout = TableLayout(SCORE_FIELDS, SUMMARY_FIELDS, one_line(run.run_id, _LONGEST_RUN_ID), False)
    rows = [
        row._replace(name=f"{variant}-{row.name}") for variant, table in run.tables.variants for row in table.averages
    ]
    lines = layout.table(SUMMARY_FIELDS, rows)
    return layout.header(SUMMARY_FIELDS) + "".join(lines)


def average_precision_text(scores: AveragePrecision, is_primary: bool, tabs: bool = False) -> Iterator[str]:
    """The AP report of one run; only that of the run whose id the rows bear has macro averages (9.8)."""
    fields = tuple(AP_FIELDS)
    layout = TableLayout(AP_FIELDS, fields, scores.run_id, tabs)
    tables = [(variant, table, table.macro if is_primary else ()) for variant, table in scores.variants]
    for variant, table, macro in tables:
        lines = layout.table(fields, table.rows + macro)
        yield f"{AP_TITLES[variant]}\n\n"
        if table.rows:
            yield layout.header(fields)
        yield from lines
        yield "\n"
    summary = [layout.row(fields, row, f"{variant}-") for variant, _, macro in tables for row in macro]
    yield f"{AP_SUMMARY}\n\n{layout.header(fields)}{''.join(summary)}{AP_FOOT}"
