"""Tables as aligned text: columns as wide as the widest cell so far (specification 10.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from cs_score.coldstart.counting.counts import Counts
from cs_score.coldstart.counting.projection import ScoreRow
from cs_score.coldstart.ranking.tables import ApRow
from cs_score.coldstart.writers.fields import RUN_ID, Field
from cs_score.measures.registry import RANKED

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
