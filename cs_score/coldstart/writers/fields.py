"""The columns of the score tables: names, headers, formats, widths (specification 10.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, Generic, TypeVar

from cs_score.coldstart.counts import Counts
from cs_score.coldstart.projection import ScoreRow
from cs_score.coldstart.ranking import ApRow
from cs_score.errors import InputError

Row = TypeVar("Row", ScoreRow, ApRow)

NO_COUNT: Final = "    "
"""What stands in place of a count where a row is a mean."""


@dataclass(frozen=True, slots=True)
class Field(Generic[Row]):
    """One column: its header, how a row's cell is made (given the row and the run id), and the side of its padding."""

    header: str
    cell: Callable[[Row, str], str]
    meaning: str
    pad_left: bool = False


def _count(attribute: str, header: str, meaning: str) -> Field[ScoreRow]:
    value_of: Callable[[Counts], int] = attrgetter(attribute)

    def cell(row: ScoreRow, run_id: str) -> str:
        return NO_COUNT if row.counts is None else f"{value_of(row.counts):4d}"

    return Field(header, cell, meaning, pad_left=True)


SCORE_FIELDS: Final[Mapping[str, Field[ScoreRow]]] = {
    "EC": Field("QID/EC", lambda row, run_id: row.name, "query or equivalence class"),
    "RUNID": Field("RunID", lambda row, run_id: run_id, "run"),
    "LEVEL": Field("Hop", lambda row, run_id: row.level, "hop"),
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
    "P": Field("Prec", lambda row, run_id: f"{row.precision:6.4f}", "precision"),
    "R": Field("Recall", lambda row, run_id: f"{row.recall:6.4f}", "recall"),
    "F": Field("F1", lambda row, run_id: f"{row.f1:6.4f}", "F1"),
}

AP_FIELDS: Final[Mapping[str, Field[ApRow]]] = {
    "EC": Field("QID/EC", lambda row, run_id: row.name, "query"),
    "RUNID": Field("RunID", lambda row, run_id: run_id, "run"),
    "LEVEL": Field("Hop", lambda row, run_id: row.level, "hop"),
    "AP": Field("AP", lambda row, run_id: f"{row.score:6.4f}", "average precision"),
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

    def __init__(self, fields: Mapping[str, Field[Row]], shown: Iterable[str], run_id: str, tabs: bool) -> None:
        """`shown`: the fields that have cells at all; others stay empty. `tabs`: one tab between cells, no padding."""
        self._fields: Mapping[str, Field[Row]] = fields
        self._run_id = run_id
        self._tabs = tabs
        self._widths = {name: len(fields[name].header) for name in shown}

    def lay_out(self, rows: Iterable[Row]) -> None:
        """Widen the columns to hold the cells of these rows."""
        widths, run_id = self._widths, self._run_id
        for name in widths:
            cell = self._fields[name].cell
            widths[name] = max(widths[name], max((len(cell(row, run_id)) for row in rows), default=0))

    def header(self, names: Sequence[str]) -> str:
        """The header line of a table with these columns."""
        return self._line(names, [self._fields[name].header for name in names])

    def row(self, names: Sequence[str], row: Row, prefix: str = "") -> str:
        """One row of such a table; `prefix` stands before its first cell."""
        cells = [self._fields[name].cell(row, self._run_id) if name in self._widths else "" for name in names]
        if prefix:
            cells[0] = prefix + cells[0]
        return self._line(names, cells)

    def _line(self, names: Sequence[str], cells: Sequence[str]) -> str:
        if self._tabs:
            return "\t".join(cells) + "\n"
        padded = (
            cell.rjust(self._widths.get(name, 0))
            if self._fields[name].pad_left
            else cell.ljust(self._widths.get(name, 0))
            for name, cell in zip(names, cells)
        )
        return " ".join(padded) + "\n"
