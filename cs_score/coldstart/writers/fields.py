"""The columns of the score tables: names, headers, formats, widths (specification 10.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, Generic, TypeVar

from cs_score.coldstart.counting.counts import Counts
from cs_score.coldstart.counting.projection import ScoreRow
from cs_score.coldstart.ranking.tables import ApRow
from cs_score.foundation.errors import InputError
from cs_score.foundation.record import dataclass
from cs_score.measures.registry import RANKED

Row = TypeVar("Row", ScoreRow, ApRow)

NO_COUNT: Final = "    "
"""What stands in place of a count where a row is a mean."""

NAME: Final = "EC"
"""The field that tells rows apart."""

_NAME_HERE: Final = "\n\0"
"""No cell holds this: what comes from files has no line feed, what comes from a command line no NUL."""

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
        # Few rows differ from all others in more than their name: each kind of row is laid out once.
        kinds: dict[tuple[object, ...], int] = {}
        kind_of = [kinds.setdefault(row[1:], len(kinds)) for row in rows]
        values = self._values([*kinds], rows[0]._fields[1:] if rows else ())
        columns: dict[str, list[str]] = {}
        for field in self._widths:
            cells = {value: self._cell(field, value) for value in set(values[field])}
            self._widen(field, cells.values())
            padded = {value: self._padded(field, cell) for value, cell in cells.items()}
            columns[field] = [padded[value] for value in values[field]]
        row_names = [row.name for row in rows]
        if NAME in self._widths:
            self._widen(NAME, row_names)
            columns[NAME] = [_NAME_HERE] * len(kinds)
            row_names = [self._padded(NAME, name) for name in row_names]
        blank = [""] * len(kinds)
        lines = zip(*(columns.get(field, blank) for field in names)) if names else [()] * len(kinds)
        around = [f"{self._separator.join(line)}\n".split(_NAME_HERE) for line in lines]
        return [name.join(around[number]) for name, number in zip(row_names, kind_of)]

    def header(self, names: Sequence[str]) -> str:
        """The header line of a table with these columns."""
        return self._line(names, [self._fields[name].header for name in names])

    def row(self, names: Sequence[str], row: Row, prefix: str) -> str:
        """One row with `prefix` before its first cell, in the widths found so far."""
        values = self._values([row], row._fields)
        first, *rest = (self._cell(name, values[name][0]) if name in self._widths else "" for name in names)
        return self._line(names, [prefix + first, *rest])

    def _widen(self, field: str, cells: Iterable[str]) -> None:
        self._widths[field] = max(self._widths[field], max(map(len, cells), default=0))

    def _values(self, rows: Sequence[tuple[object, ...]], attributes: Sequence[str]) -> Mapping[str, Sequence[object]]:
        """The values of each field of rows with these attributes; a count is `NO_COUNT` where a row has none."""
        columns: dict[str, Sequence[object]] = {RUN_ID: [self._run_id] * len(rows)}
        columns |= zip(attributes, zip(*rows))
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
