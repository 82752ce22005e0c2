"""The score tables and the AP report as text, columns as wide as the widest cell so far (specification 10.2 on)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from cs_score.base.display import one_line
from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.coldstart.counting import Counts
from cs_score.coldstart.projection import ScoreRow, Table
from cs_score.coldstart.ranking import ApRow
from cs_score.coldstart.result import AveragePrecision, RunResult
from cs_score.measures.registry import RANKED

RUN_ID: Final = "run_id"
"""Attribute of fields that show the run id, which rows do not hold: it is that of the whole table."""


class Field(Record):
    """One column: its header, the attribute of a row that it shows, how it is formatted, and the side of its padding.

    A field of `counts` is blank where a row is a mean and has none.
    """

    header: str
    attribute: str
    format: str
    meaning: str
    pad_left: bool = False


def _count(attribute: str, header: str, meaning: str) -> Field:
    return Field(header, f"counts.{attribute}", "%4d", meaning, pad_left=True)


SCORE_FIELDS: Final[Mapping[str, Field]] = {
    "EC": Field("QID/EC", "name", "%s", "query, or query and class"),
    "RUNID": Field("RunID", RUN_ID, "%s", "run"),
    "LEVEL": Field("Hop", "level", "%s", "hop from 0 on, or ALL"),
    "GT": _count("ground_truth", "GT", "classes to be found"),
    "SUBMITTED": _count("submitted", "Submitted", "responses"),
    "CORRECT": _count("correct", "Correct", "responses assessed as correct, below a right parent"),
    "INCORRECT": _count("incorrect", "Incorrect", "responses assessed as incorrect, below a right parent"),
    "INEXACT": _count("inexact", "Inexact", "responses assessed as inexact, below a right parent"),
    "INCORRECT_PARENT": _count("incorrect_parent", "PIncorrect", "responses below an answer that is not right"),
    "UNASSESSED": _count("unassessed", "Unassessed", "responses without assessment, below a right parent"),
    "REDUNDANT": _count("redundant", "Dup", "duplicates of a right response"),
    "RIGHT": _count("right", "Right", "responses that count as right"),
    "WRONG": _count("wrong", "Wrong", "responses that count as wrong"),
    "IGNORED": _count("ignored", "Ignored", "responses that are left out of precision"),
    "P": Field("Prec", "precision", "%6.4f", "precision"),
    "R": Field("Recall", "recall", "%6.4f", "recall"),
    "F": Field("F1", "f1", "%6.4f", "F1"),
}

AP_FIELDS: Final[Mapping[str, Field]] = {
    "EC": Field("QID/EC", "name", "%s", "query"),
    "RUNID": Field("RunID", RUN_ID, "%s", "run"),
    "LEVEL": Field("Hop", "level", "%s", "hop"),
    "AP": Field("AP", "scores.AP", "%6.4f", "average precision"),
}

DEFAULT_FIELDS: Final = tuple(SCORE_FIELDS)

SUMMARY_FIELDS: Final = ("EC", "RUNID", "LEVEL", "P", "R", "F")
"""The columns of `.ldcmean` and `.summary`, whatever `-fields` says."""


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


Row = TypeVar("Row", ScoreRow, ApRow)

NO_COUNT: Final = "    "
"""What stands in place of a count where a row is a mean."""

# Precision is negative, perhaps zero, where more responses are ignored than submitted (specification 13.18).
_SIGNED: Final = frozenset({"P", "F"})


class TableLayout(Generic[Row]):
    """Column widths of one run's report; they grow with every table that is laid out and never shrink."""

    def __init__(self, fields: Mapping[str, Field], shown: Iterable[str], run_id: str, tabs: bool) -> None:
        """`shown`: the fields that have cells at all; others stay empty. `tabs`: one tab between cells, no padding."""
        self._fields = fields
        self._run_id = run_id
        self._tabs = tabs
        self._separator = "\t" if tabs else " "
        self._widths = {name: len(fields[name].header) for name in shown}

    def table(self, names: Sequence[str], rows: Sequence[Row]) -> list[str]:
        """The lines of rows, after widening all columns to hold the rows' cells."""
        values = self._values(rows)
        columns: dict[str, Sequence[str]] = {}
        for name in self._widths:
            # Most columns repeat few values; each value is formatted and padded once.
            column = values[name]
            if name in _SIGNED and 0.0 in column:  # -0.0 equals 0.0, but its cell has a sign
                column = [self._cell(name, value) if str(value) == "-0.0" else value for value in column]
            cells = {value: self._cell(name, value) for value in set(column)}
            width = self._widths[name] = max(self._widths[name], max(map(len, cells.values()), default=0))
            if not self._tabs:
                pad = str.rjust if self._fields[name].pad_left else str.ljust
                cells = {value: pad(cell, width) for value, cell in cells.items()}
            columns[name] = [cells[value] for value in column]
        blank = [""] * len(rows)
        lines = zip(*(columns.get(name, blank) for name in names)) if names else [()] * len(rows)
        return [f"{line}\n" for line in map(self._separator.join, lines)]

    def header(self, names: Sequence[str]) -> str:
        """The header line of a table with these columns."""
        return self._line(names, [self._fields[name].header for name in names])

    def row(self, names: Sequence[str], row: Row, prefix: str) -> str:
        """One row with `prefix` before its first cell, in the widths found so far."""
        values = self._values([row])
        first, *rest = (self._cell(name, values[name][0]) if name in self._widths else "" for name in names)
        return self._line(names, [prefix + first, *rest])

    def _values(self, rows: Sequence[Row]) -> Mapping[str, Sequence[object]]:
        """The values of each field of rows; a count is `NO_COUNT` where a row has none."""
        columns: dict[str, Sequence[Any]] = {RUN_ID: [self._run_id] * len(rows)}
        columns |= zip(rows[0]._fields if rows else (), zip(*rows))
        if "counts" in columns:
            no_counts = [NO_COUNT] * len(Counts._fields)
            counts = zip(*(no_counts if of_row is None else of_row for of_row in columns["counts"]))
            columns |= zip((f"counts.{field}" for field in Counts._fields), counts)
        if "scores" in columns:
            columns |= zip((f"scores.{name}" for name in RANKED), zip(*columns["scores"]))
        return {name: columns.get(field.attribute, ()) for name, field in self._fields.items()}

    def _cell(self, name: str, value: object) -> str:
        return value if isinstance(value, str) else self._fields[name].format % value

    def _line(self, names: Sequence[str], cells: Sequence[str]) -> str:
        return self._separator.join(map(self._padded, names, cells)) + "\n"

    def _padded(self, name: str, cell: str) -> str:
        """A cell as wide as its column."""
        if self._tabs:
            return cell
        width = self._widths.get(name, 0)
        return cell.rjust(width) if self._fields[name].pad_left else cell.ljust(width)


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


# The spelling of "coressponding" is part of the format.
TITLES: Final = {
    "SF": "SF: Slot-filling score variant considering all entrypoints as a separate query",
    "LDC-MEAN": "LDC-MEAN: LDC level score variant considering averaging scores for all coressponding entrypoints",
}
SUMMARY_TITLE: Final = "SUMMARY: This section provides summary of AP scores"
AP_FOOT: Final = "*ALL-Macro AP refer to mean of corresponding AP values.\n"


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
    yield f"\n{AP_FOOT}"
