"""The columns of the score tables: names, headers, formats, widths (specification 10.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, Generic, TypeVar

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

    @property
    def is_count(self) -> bool:
        """Whether it shows one of a row's counts."""
        return self.attribute.startswith("counts.")


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
        self._widths = {name: len(fields[name].header) for name in shown}

    def table(self, names: Sequence[str], rows: Sequence[Row]) -> list[str]:
        """The lines of rows, after widening all columns to hold the rows' cells."""
        cells = {name: self._cells(name, rows) for name in self._widths}
        for name, column in cells.items():
            self._widths[name] = max(self._widths[name], max(map(len, column), default=0))
        if not names:
            return ["\n"] * len(rows)
        form, empty = self._form(names), [""] * len(rows)
        return [form % line for line in zip(*(cells.get(name, empty) for name in names))]

    def header(self, names: Sequence[str]) -> str:
        """The header line of a table with these columns."""
        return self._form(names) % tuple(self._fields[name].header for name in names)

    def row(self, names: Sequence[str], row: Row, prefix: str) -> str:
        """One row with `prefix` before its first cell, in the widths found so far."""
        first, *rest = (self._cells(name, [row])[0] if name in self._widths else "" for name in names)
        return self._form(names) % (prefix + first, *rest)

    def _cells(self, name: str, rows: Sequence[Row]) -> list[str]:
        field = self._fields[name]
        if field.attribute == RUN_ID:
            return [self._run_id] * len(rows)
        value_of = attrgetter(field.attribute)
        if not field.is_count:
            return [field.format % value_of(row) for row in rows]
        return [NO_COUNT if getattr(row, "counts", None) is None else field.format % value_of(row) for row in rows]

    def _form(self, names: Sequence[str]) -> str:
        """A line with a place for each cell, padded to the width of its column."""
        if self._tabs:
            return "\t".join(["%s"] * len(names)) + "\n"
        places = (f"%{'' if self._fields[name].pad_left else '-'}{self._widths.get(name, 0) or ''}s" for name in names)
        return " ".join(places) + "\n"
