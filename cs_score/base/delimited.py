"""Tables that people hand over: tab-separated or comma-separated text with a header line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.runtime import Late
from cs_score.base.sources import Input, open_source

if TYPE_CHECKING:
    import csv
else:
    csv = Late("csv")


class Delimited(Record):
    """The names of the columns, and the rows with the numbers of their lines, a cell for each column."""

    file: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[int, tuple[str, ...]]]

    def named(self, *columns: str) -> Iterator[tuple[int, tuple[str, ...]]]:
        """The line and the cells of these columns of each row, none of them empty. Raises InputError where there is no
        such column, and for an empty cell.
        """
        for column in columns:
            if column not in self.columns:
                problem = f"no column {column}; there are {', '.join(self.columns)}"
                raise InputError(problem, file=self.file, place="line 1")
        places = [self.columns.index(column) for column in columns]
        for line, row in self.rows:
            cells = tuple([row[place] for place in places])
            if "" in cells:
                column = columns[cells.index("")]
                raise InputError(f"column {column} is empty", file=self.file, place=f"line {line}")
            yield line, cells


def read_delimited(given: Input) -> Delimited:
    """A table whose columns are separated by tabs where its header has any, otherwise by commas (CSV with quotes).
    Blank lines are skipped, and white space around cells. Raises InputError with the line for what is none.
    """
    with open_source(given) as source:
        name, data = source.name, source.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8", file=name, place=f"byte {error.start + 1}") from None
    lines = text.splitlines()
    if "\t" in next((line for line in lines if line.strip()), ""):
        reader = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE, strict=True)
    else:
        reader = csv.reader(lines, strict=True)
    rows: list[tuple[int, tuple[str, ...]]] = []
    try:
        for cells in reader:
            row = tuple([cell.strip() for cell in cells])
            if any(row):
                rows.append((reader.line_num, row))
            if any(row) and len(row) != len(rows[0][1]):
                problem = f"{len(row)} cells, where the header names {len(rows[0][1])} columns"
                raise InputError(problem, file=name, place=f"line {reader.line_num}")
    except csv.Error as error:
        raise InputError(f"no CSV: {error}", file=name, place=f"line {reader.line_num}") from None
    if not rows:
        raise InputError("empty: a table begins with a line that names its columns", file=name)
    (_, columns), *rows = rows
    twice = next((column for at, column in enumerate(columns) if column in columns[:at] or not column), None)
    if twice is not None:
        problem = f"two columns are called {twice}" if twice else "a column has no name"
        raise InputError(problem, file=name, place="line 1")
    return Delimited(name, columns, rows)
