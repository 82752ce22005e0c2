"""What a table shows: its columns, and which rows of a document stand in it. The renderers say how it looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Literal, TypeAlias

from cs_score.base.records import Record

Value: TypeAlias = str | int | float | None
Row: TypeAlias = Mapping[str, Any] | Record
"""Values by the keys of the columns; a key that a row lacks is an empty cell."""

Rows: TypeAlias = Callable[[Any], Iterable[Row]]


class Format(Enum):
    """How people are shown the numbers of a column; files for programs have them in full."""

    PLAIN = "numbers with a fraction have four decimals"
    GAIN = "four decimals with a sign"
    CONTRIBUTION = "six decimals with a sign"
    P = "four decimals; what is smaller but not 0 is <0.0001"
    SHARE = "per cent with one decimal"


class Column(Record):
    """A column: the key of its values, its heading where that is another, and what the values mean."""

    key: str
    heading: str = ""
    format: Format = Format.PLAIN
    meaning: str = ""

    @property
    def title(self) -> str:
        """What stands above it in tables for people."""
        return self.heading or self.key


class Layout(Record):
    """A table of a document. The name is that of its file; `rows` finds its rows in a document.

    For people: `shown` are the keys of the columns, all unless given; there is a table for each value of the column
    `by`, which stands for % in the title; tables of less than `fewest` rows are left out, and the whole table where it
    is not `for_people`; one that is not an `is_file` is for them alone. `most` says which rows they see of many: the
    first ones (top), all (whole), or some at equal distances (spread), `longest` how many characters of a text. `total`
    counts all rows there are where a document does not hold them all.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Rows
    shown: tuple[str, ...] = ()
    by: str = ""
    fewest: int = 0
    for_people: bool = True
    is_file: bool = True
    most: Literal["top", "whole", "spread"] = "top"
    total: Callable[[Any], int] | None = None
    longest: int = 40

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the columns, as the first line of a file for programs names them."""
        return tuple(column.key for column in self.columns)

    def table(self, document: Any) -> Table:
        """The table of one document."""
        keys = self.keys
        rows = [
            tuple(map(row.get, keys)) if isinstance(row, Mapping) else tuple(getattr(row, key, None) for key in keys)
            for row in self.rows(document)
        ]
        return Table(self, rows, len(rows) if self.total is None else self.total(document))


class Table(Record):
    """A layout with the rows of one document, a value for each column (None: an empty cell)."""

    layout: Layout
    rows: Sequence[tuple[Value, ...]]
    total: int

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the layout's columns."""
        return self.layout.keys

    def parts(self) -> Iterator[Table]:
        """A table for each value of the column `by`; the table itself where there is no such column."""
        if not self.layout.by:
            yield self
            return
        at = self.keys.index(self.layout.by)
        parts: dict[Value, list[tuple[Value, ...]]] = {}
        for row in self.rows:
            parts.setdefault(row[at], []).append(row)
        yield from (Table(self.layout, rows, len(rows)) for rows in parts.values())

    def for_people(self, top: int | None = None) -> tuple[list[Column], list[list[Value]]]:
        """The columns that people see, and their values in the rows that they see (None: in all rows).

        Columns without any value are left out.
        """
        rows = self.rows
        if top is not None and self.layout.most == "top":
            rows = rows[:top]
        elif top is not None and self.layout.most == "spread":
            rows = rows[:: max(1, -(-len(rows) // top))]
        shown = [self.keys.index(key) for key in self.layout.shown or self.keys if key != self.layout.by]
        filled = [at for at in shown if not rows or any(row[at] is not None for row in rows)]
        return [self.layout.columns[at] for at in filled], [[row[at] for at in filled] for row in rows]


def columns(*keys: str, **formats: Format) -> tuple[Column, ...]:
    """Columns whose headings are their keys; `formats` by key."""
    return tuple(Column(key, format=formats.get(key, Format.PLAIN)) for key in keys)
