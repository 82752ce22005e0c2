"""The columns of the score tables: names, headers, formats, widths (specification 10.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from cs_score.coldstart.counts import Counts
from cs_score.coldstart.projection import ScoreRow
from cs_score.coldstart.ranking import ApRow
from cs_score.errors import InputError

Row = TypeVar("Row", ScoreRow, ApRow)

NO_COUNT: Final = "    "
"""What stands in place of a count where a row is a mean."""

RUN_ID: Final = "run_id"
"""Stands for the run, which rows do not name because all rows of a table have the same."""


@dataclass(frozen=True, slots=True)
class Field:
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
    "EC": Field("QID/EC", "name", "%s", "query or equivalence class"),
    "RUNID": Field("RunID", RUN_ID, "%s", "run"),
    "LEVEL": Field("Hop", "level", "%s", "hop"),
    "GT": _count("ground_truth", "GT", "classes to be found"),
    "SUBMITTED": _count("submitted", "Submitted", "responses"),
    "CORRECT": _count("correct", "Correct", "responses assessed as correct"),
    "INCORRECT": _count("incorrect", "Incorrect", "responses assessed as incorrect"),
    "INEXACT": _count("inexact", "Inexact", "responses assessed as inexact"),
    "INCORRECT_PARENT": _count("incorrect_parent", "PIncorrect", "responses below a response that is not right"),
    "UNASSESSED": _count("unassessed", "Unassessed", "responses without assessment"),
    "REDUNDANT": _count("redundant", "Dup", "duplicates of a right response"),
    "RIGHT": _count("right", "Right", "responses that the policies count as right"),
    "WRONG": _count("wrong", "Wrong", "responses that the policies count as wrong"),
    "IGNORED": _count("ignored", "Ignored", "responses that the policies leave out"),
    "P": Field("Prec", "precision", "%6.4f", "precision"),
    "R": Field("Recall", "recall", "%6.4f", "recall"),
    "F": Field("F1", "f1", "%6.4f", "F1"),
}

AP_FIELDS: Final[Mapping[str, Field]] = {
    "EC": Field("QID/EC", "name", "%s", "query"),
    "RUNID": Field("RunID", RUN_ID, "%s", "run"),
    "LEVEL": Field("Hop", "level", "%s", "hop"),
    "AP": Field("AP", "score", "%6.4f", "average precision"),
}

DEFAULT_FIELDS: Final = tuple(SCORE_FIELDS)

SUMMARY_FIELDS: Final = ("EC", "RUNID", "LEVEL", "P", "R", "F")
"""The columns of `.ldcmean` and `.summary`, whatever `-fields` says."""


def check_fields(names: Iterable[str]) -> None:
    """Raises InputError for a name that is no field."""
    for name in names:
        if name not in SCORE_FIELDS:
            raise InputError(f"Unknown field: {name}", remedy=f"the fields are {':'.join(SCORE_FIELDS)}")


class Layout(Generic[Row]):
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
        cells: dict[str, dict[object, str]] = {}
        for name in self._widths:
            # Most values stand in many rows.
            cells[name] = {value: self._cell(name, value) for value in set(values[name])}
            self._widths[name] = max(self._widths[name], max(map(len, cells[name].values()), default=0))
        columns: list[Iterable[str]] = []
        for name in names:
            padded = {value: self._padded(name, cell) for value, cell in cells.get(name, {}).items()}
            columns.append(map(padded.__getitem__, values[name]) if padded else [""] * len(rows))
        return [f"{self._separator.join(line)}\n" for line in zip(*columns)] if names else ["\n"] * len(rows)

    def header(self, names: Sequence[str]) -> str:
        """The header line of a table with these columns."""
        return self._line(names, [self._fields[name].header for name in names])

    def row(self, names: Sequence[str], row: Row, prefix: str) -> str:
        """One row with `prefix` before its first cell, in the widths found so far."""
        values = self._values([row])
        first, *rest = (self._cell(name, values[name][0]) if name in self._widths else "" for name in names)
        return self._line(names, [prefix + first, *rest])

    def _values(self, rows: Sequence[Row]) -> Mapping[str, Sequence[object]]:
        """The values of each field, row by row; a count is `NO_COUNT` where a row has none."""
        columns: dict[str, Sequence[object]] = {RUN_ID: [self._run_id] * len(rows)}
        if rows:
            columns |= zip(rows[0]._fields, zip(*rows))
        if "counts" in columns:
            no_counts = [NO_COUNT] * len(Counts._fields)
            counts = zip(*(no_counts if of_row is None else of_row for of_row in columns["counts"]))
            columns |= zip((f"counts.{field}" for field in Counts._fields), counts)
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
