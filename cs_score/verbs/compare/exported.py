"""Read the tables that evaluation frameworks export: delimited tables, JSON lines, and the rows of trec_eval. Each row
is about a unit, such as a question. The column names of a file may differ from ours (`COLUMNS`). In this case,
`name_in_file_by_column` maps our names to those of the file: `{"unit": "doc_id", "score": "metrics.acc"}`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from cs_score.base.errors import InputError, did_you_mean
from cs_score.base.records import replace
from cs_score.base.separators import read_column_names
from cs_score.base.sources import Delimited, Input, name_of, name_without_compression, open_source, read_delimited

COLUMNS: Final = ("unit", "system", "measure", "score", "numerator", "denominator", "cluster", "stratum")
"""The columns of a table with a row for each score; other columns of such a table are not read."""

_TREC_COLUMNS_BY_COUNT: Final[Mapping[int, tuple[str, ...]]] = {
    3: ("measure", "unit", "score"),
    4: ("system", "unit", "measure", "score"),
}
"""The columns of TREC's tables, by their number: `trec_eval -q` writes three, run-topic-measure tables have four."""

_SUMMARY_UNIT: Final = "all"
"""The unit of the rows in which trec_eval writes the means over all units."""


def read_names(text: str) -> dict[str, str]:
    """Return a mapping from our column names to those of a file: `unit=doc_id,score=acc` -> `{"unit": "doc_id", ...}`.

    `text` is the value of `--columns`. If it is empty, so is the result. Raises UsageError for an unknown column, and
    for a column without a name.
    """
    return dict(read_column_names(text, COLUMNS, message_start="nothing is called"))


def read_exported(file: Input, name_in_file_by_column: Mapping[str, str]) -> Delimited:
    """Return an exported table with its columns renamed to our names, such as `unit`, `system` and `score`.

    The file may be a table with tabs or commas, a file of JSON lines if its name ends in `.jsonl`, or a file with the
    rows of trec_eval, which have no header. `name_in_file_by_column` maps our column names to the names used in the
    file, such as `{"score": "metrics.acc"}`. Raises InputError, with the line number, if the file has another format or
    if one of the named columns is missing.
    """
    if name_without_compression(name_of(file)).endswith(".jsonl"):
        return _read_json_lines(file, name_in_file_by_column)
    table = _add_trec_header(read_delimited(file))
    if not name_in_file_by_column:
        return table
    renamed_table = replace(table, columns=_rename_columns(table, name_in_file_by_column))
    # If a table has a column `score`, its other columns are not systems. Columns that we have no name for are left out.
    if "score" in renamed_table.columns:
        return _drop_other_columns(renamed_table)
    return renamed_table


def has_row_per_sample(table: Delimited) -> bool:
    """Return whether a table has a row with a score for each sample of a unit.

    Otherwise it has a row for each unit and a column for each system, or numerators and denominators.
    """
    columns = set(table.columns)
    if "unit" not in columns or "score" not in columns:
        return False
    if "denominator" in columns:
        return False
    return columns.issubset(COLUMNS)  # any other column would be a system


# ---- Delimited tables


def _rename_columns(table: Delimited, name_in_file_by_column: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns of a table with our names in place of the file's names.

    `name_in_file_by_column` maps our column names to the names used in the file, such as `{"score": "accuracy"}`. If
    another column already has one of our names, it is renamed to `NAME (not read)`. Raises InputError if a named column
    is missing from the table.
    """
    columns = list(table.columns)
    for column, name_in_file in name_in_file_by_column.items():
        if name_in_file not in columns:
            all_columns = ", ".join(table.columns)
            problem = f"no column {name_in_file}; there are {all_columns}{did_you_mean(name_in_file, columns)}"
            raise InputError(problem, file=table.file, place="line 1")
        if column != name_in_file and column in columns:
            columns[columns.index(column)] = f"{column} (not read)"
        columns[columns.index(name_in_file)] = column
    return tuple(columns)


def _drop_other_columns(table: Delimited) -> Delimited:
    """Return a table with only the columns that we have a name for (`COLUMNS`)."""
    positions = [position for position, column in enumerate(table.columns) if column in COLUMNS]
    columns = tuple([table.columns[position] for position in positions])
    rows = []
    for line, cells in table.rows:
        kept_cells = tuple([cells[position] for position in positions])
        rows.append((line, kept_cells))
    return replace(table, columns=columns, rows=rows)


# ---- TREC


def _add_trec_header(table: Delimited) -> Delimited:
    """Add a header to a table with the rows of trec_eval, which have none. Any other table is returned unchanged.

    Rows without a number, such as the row with the name of the run, are left out. Rows for the unit `all` are kept.
    Raises InputError if a row has the wrong number of cells.
    """
    rows = _rows_including_first(table)
    if not _are_trec_rows(rows):
        return table
    _, first_cells = rows[0]  # the first row, which was read as a header, always exists
    columns = _TREC_COLUMNS_BY_COUNT[len(first_cells)]
    rows_with_number = []
    for line, cells in rows:
        _require_cells(cells, len(columns), table.file, line)
        if _is_number(cells[-1]):
            rows_with_number.append((line, cells))
    return replace(table, columns=columns, rows=rows_with_number)


def _require_cells(cells: Sequence[str], count: int, file: str, line: int) -> None:
    """Raise InputError if a row has another number of cells than the rows before."""
    if len(cells) != count:
        raise InputError(f"{len(cells)} cells, where the rows before have {count}", file=file, place=f"line {line}")


def _rows_including_first(table: Delimited) -> list[tuple[int, tuple[str, ...]]]:
    """Return the rows of a table whose first row was taken for a header, each a line number with cells.

    If the rows have no tabs or commas, spaces separate the cells.
    """
    rows = [(1, table.columns), *table.rows]
    if len(table.columns) > 1:
        return rows
    return [(line, tuple(cells[0].split())) for line, cells in rows]


def _are_trec_rows(rows: Sequence[tuple[int, tuple[str, ...]]]) -> bool:
    """Return whether rows, each a line number with cells, come from trec_eval rather than from a table with a header.

    Rows of trec_eval have three or four cells. The last cell is a number, as in `map  q1  0.5`. The only exception is a
    first row with the name of the run, `runid  all  NAME`.
    """
    _, first_cells = rows[0]
    if len(first_cells) not in _TREC_COLUMNS_BY_COUNT or "unit" in first_cells:
        return False
    has_numbers = any(cells and _is_number(cells[-1]) for _, cells in rows)
    if not has_numbers:
        return False
    is_name_of_run = first_cells[1] == _SUMMARY_UNIT
    return is_name_of_run or _is_number(first_cells[-1])


def _is_number(text: str) -> bool:
    """Return whether a text is a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


# ---- JSON lines


class _JsonLine(NamedTuple):
    """A line of a file of JSON lines: its number, and its members by name."""

    number: int
    members: Mapping[str, Any]


def _read_json_lines(file: Input, name_in_file_by_column: Mapping[str, str]) -> Delimited:
    """Return a file of JSON lines as a table with our columns. Columns missing from its first line are left out.

    `name_in_file_by_column` maps our column names to the names used in the file, such as `{"score": "metrics.acc"}`. A
    name with dots refers to a member of a nested object. True and false become 1 and 0. Raises InputError if a line is
    not an object or a column is missing, or if the file has no lines.
    """
    with open_source(file) as source:
        file_name = source.name
        data = source.read_bytes()
    columns: list[str] = []
    names_in_file: list[str] = []
    rows: list[tuple[int, tuple[str, ...]]] = []
    for line in _json_objects(data, file_name):
        if not columns:  # this is the first line
            columns = _columns_of_line(line, name_in_file_by_column, file_name)
            names_in_file = [name_in_file_by_column.get(column, column) for column in columns]
        rows.append((line.number, _cells_of_line(line, names_in_file, file_name)))
    if not rows:
        raise InputError("empty", file=file_name)
    return Delimited(file_name, tuple(columns), rows)


def _cells_of_line(line: _JsonLine, names_in_file: Sequence[str], file_name: str) -> tuple[str, ...]:
    """Return the cells of a line of JSON, as texts: `("q1", "0.5")` for the columns `id` and `metrics.acc`.

    `names_in_file` are the names of the columns in the file. Raises InputError if one of them is missing from the line.
    """
    cells = []
    for name_in_file in names_in_file:
        text = _member_text(line.members, name_in_file)
        if text is None:
            problem = f"no {name_in_file}, which the lines before have"
            raise InputError(problem, file=file_name, place=f"line {line.number}")
        cells.append(text)
    return tuple(cells)


def _json_objects(data: bytes, file_name: str) -> Iterator[_JsonLine]:
    """Yield the object of each line that is not blank. Raises InputError for a line that is not a JSON object."""
    for number, text in enumerate(data.split(b"\n"), start=1):
        if not text.strip():
            continue
        try:
            members = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"not JSON: {error}", file=file_name, place=f"line {number}") from None
        if not isinstance(members, dict):
            raise InputError("no object, which every line should be", file=file_name, place=f"line {number}")
        yield _JsonLine(number, members)


def _columns_of_line(line: _JsonLine, name_in_file_by_column: Mapping[str, str], file_name: str) -> list[str]:
    """Return our names for the columns found in the first line of a file, such as `["unit", "score"]`.

    `name_in_file_by_column` maps our column names to the names used in the file, such as `{"score": "metrics.acc"}`.
    Raises InputError if the unit, the score, or one of the columns in `name_in_file_by_column` is missing.
    """
    columns = []
    for column in COLUMNS:
        name_in_file = name_in_file_by_column.get(column, column)
        if _member_text(line.members, name_in_file) is not None:
            columns.append(column)
    for required_column in ["unit", "score", *name_in_file_by_column]:
        if required_column not in columns:
            name_in_file = name_in_file_by_column.get(required_column, required_column)
            raise _missing_column_error(line, required_column, name_in_file, file_name)
    return columns


def _missing_column_error(line: _JsonLine, column: str, name_in_file: str, file_name: str) -> InputError:
    """Return the error to raise if a column is missing from the first line of a file.

    `column` is our name for the column, which is used in the remedy. `name_in_file` is its name in the file according
    to the user.
    """
    member_names = ", ".join(line.members)
    return InputError(
        f"no {name_in_file}; there are {member_names}{did_you_mean(name_in_file, line.members)}",
        file=file_name,
        place=f"line {line.number}",
        remedy=f"--columns {column}=NAME says what the file calls it",
    )


def _member_text(members: Mapping[str, Any], path: str) -> str | None:
    """Return a member of a JSON object as text, or None if it is missing, null, an object or a list.

    `path` is the name of the member. For a member of a nested object, it is a sequence of names separated by dots, such
    as `metrics.acc`. True and false become "1" and "0", so that they are read as numbers.
    """
    member = _find_member(members, path)
    if isinstance(member, bool):
        return "1" if member else "0"
    if member is None or isinstance(member, (dict, list)):
        return None
    return str(member)


def _find_member(members: Mapping[str, Any], path: str) -> Any:
    """Return the member of a JSON object at a path such as `metrics.acc`, or None if there is none."""
    if path in members:  # the name itself may have dots
        return members[path]
    member: Any = members
    for name in path.split("."):
        if not isinstance(member, dict):
            return None
        member = member.get(name)
    return member
