"""Read tables of judged answers in CSV, TSV or JSON lines.
A column has a meaning, such as "label", and a heading, which is the name of the column in the file, such as "verdict".
"""

from __future__ import annotations

import codecs
import csv
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, Final, TypeAlias

from cs_score.base.errors import InputError, UsageError, did_you_mean
from cs_score.base.separators import read_column_names
from cs_score.base.sources import Source, name_without_compression, reason_of
from cs_score.evidence.reading import kind_of, quoted

COLUMNS: Final = ("unit", "answer", "evidence", "label", "class", "wanted", "weight", "confidence", "run")
"""The meanings that columns can have, in the order of the cells of a `TableRow`.

Every other column of a table groups the units: its cells name the group of each unit.
"""

REQUIRED: Final = ("unit", "answer")

FORMATS: Final = (".csv", ".tsv", ".jsonl")

_LARGEST_FIELD: Final = 1 << 30
"""The most characters of a cell; without it Python's csv module takes at most 131,072."""


TableRow: TypeAlias = tuple[int, tuple[str, ...], list[str]]
"""A row of a table: the line where it begins, its cells of `COLUMNS`, and its cells of the columns that group units.

A cell is empty if the table lacks its column. The row is a tuple and not a record, because a table may have a million.
"""

Headings: TypeAlias = Mapping[str, str]
"""The headings of columns in a file, by the meaning of the column: `{"unit": "question_id"}`.

It holds only columns whose heading differs from their meaning.
"""


def read_headings(text: str) -> Headings:
    """Return the heading of each column that the value of `--columns` names, by the meaning of the column.

    "unit=question_id,label=verdict" gives `{"unit": "question_id", "label": "verdict"}`. Raises UsageError for a column
    without a meaning or a heading, and for a column that is named twice.
    """
    heading_by_meaning: dict[str, str] = {}
    for column, heading in read_column_names(text, COLUMNS, message_start="no column has the meaning"):
        if column in heading_by_meaning:
            raise UsageError(f"--columns names {column} twice")
        heading_by_meaning[column] = heading
    return heading_by_meaning


class JudgedTable:
    """Reads the rows of a table, one after the other.

    `columns` are the headings of all columns of the table, or the keys of the JSON lines that were read so far.
    `group_columns` are the headings of those columns that group the units.
    """

    def __init__(self, source: Source, heading_by_meaning: Headings, ignored_columns: Sequence[str] = ()) -> None:
        """Prepare to read a file.

        `heading_by_meaning` holds the headings that the file uses for columns with a meaning, such as
        `{"label": "verdict"}`. The cells of `ignored_columns` are returned as empty in every row.
        """
        self.name = source.name
        self.columns: list[str] = []
        self.group_columns: list[str] = []
        self._source = source
        self._heading_by_meaning = heading_by_meaning
        self._ignored_columns = frozenset(ignored_columns)

    def rows(self) -> Iterator[TableRow]:
        """Return an iterator over the rows in order, without blank lines.

        Raises InputError, with the line number, if the file is not a table.
        """
        decoded_lines = _decoded_lines(self._source)
        first_line = next(decoded_lines, "")  # shows the format of the file
        lines = chain([first_line], decoded_lines)  # puts the first line back
        file_format = self._format_of_file(first_line)
        self._check_first_line(first_line, file_format)
        if file_format == ".jsonl":
            return self._json_rows(lines)
        cells_of_lines = _csv_cells(self.name, lines) if file_format == ".csv" else _tsv_cells(lines)
        return self._cell_rows(cells_of_lines)

    def heading_of(self, meaning: str) -> str:
        """Return the heading of the column with a meaning in this table.

        With `--columns label=verdict` the column "label" has the heading "verdict" if the table has such a column;
        otherwise its heading is the meaning itself, "label".
        """
        heading = self._heading_by_meaning.get(meaning, meaning)
        return heading if heading in self.columns else meaning

    # ---- The format of the file

    def _format_of_file(self, first_line: str) -> str:
        """Return the format of the file, such as ".csv", from the ending of its name.

        Standard input and objects in memory do not have a name, so their first line decides. Raises InputError for a
        name with any other ending.
        """
        if self.name in ("-", "<gold>", "<predictions>"):
            return _guess_format(first_line)
        ending = os.path.splitext(name_without_compression(self.name))[1].lower()
        if ending not in FORMATS:
            problem = f"no table that can be read: its name ends in {ending}" if ending else "its name has no ending"
            remedy = "tables are .csv, .tsv or .jsonl, perhaps compressed (.gz)"
            raise InputError(problem, file=self.name, remedy=remedy)
        return ending

    def _check_first_line(self, first_line: str, file_format: str) -> None:
        """Raise InputError if the first line of the file shows that it has a different format than `file_format`."""
        if first_line.lstrip().startswith("<"):
            raise self._first_line_error("HTML or XML, where a table is expected", "export the table as .csv")
        if file_format == ".jsonl":
            self._check_first_json_line(first_line)
        elif file_format == ".csv":
            self._refuse_json(first_line, ".csv")
            self._check_csv_header(first_line)
        else:
            self._refuse_json(first_line, ".tsv")
            self._check_tsv_header(first_line)

    def _check_first_json_line(self, first_line: str) -> None:
        """Raise InputError if the file is one JSON list, and not a JSON object on each line."""
        if first_line.lstrip().startswith("["):
            raise self._first_line_error("one JSON list, where each line is an object", f"jq -c '.[]' {self.name}")

    def _refuse_json(self, first_line: str, ending: str) -> None:
        """Raise InputError if the file is JSON, although its name ends in `ending`, which is .csv or .tsv."""
        if first_line.lstrip().startswith(('{"', "{ ", "[{")):
            raise self._first_line_error(
                f"JSON in a file that ends in {ending}", "name it .jsonl, with one object a line"
            )

    def _check_csv_header(self, header: str) -> None:
        """Raise InputError if the columns of a CSV file are separated by semicolons or tabs."""
        if "," in header:
            return
        if ";" in header:
            raise self._first_line_error("columns are separated by semicolons, not by commas", "save it with commas")
        if "\t" in header:
            raise self._first_line_error("columns are separated by tabs, not by commas", "name it .tsv")

    def _check_tsv_header(self, header: str) -> None:
        """Raise InputError if the columns of a TSV file are separated by commas or blanks."""
        if "\t" in header:
            return
        if "," in header:
            raise self._first_line_error("columns are separated by commas, not by tabs", "name it .csv")
        if len(header.split()) > 1:
            raise self._first_line_error("columns are separated by blanks, not by tabs", "separate columns by tabs")

    def _first_line_error(self, problem: str, remedy: str) -> InputError:
        """Return the error about the first line of the file."""
        return InputError(problem, file=self.name, place="line 1", remedy=remedy)

    # ---- Rows with a cell for each column of a header

    def _cell_rows(self, rows: Iterator[tuple[int, list[str]]]) -> Iterator[TableRow]:
        """Yield the rows of a table in CSV or TSV.

        `rows` yields the line number and the cells of each row. The first row is the header, from which `columns` and
        `group_columns` are set. Raises InputError, with the line, if the header names a column twice or lacks a
        required one, and if a row has too few or too many cells.
        """
        self._read_header(rows)
        width = len(self.columns)
        positions = [self._position_of(meaning) for meaning in COLUMNS]
        pick_cells_with_meaning = itemgetter(*positions)  # much faster than a loop over the positions of each row
        group_positions = [self.columns.index(column) for column in self.group_columns]
        group_cells: list[str] = []
        for line_number, cells in rows:
            if len(cells) != width:
                raise self._width_error(line_number, len(cells))
            cells.append("")  # the cell of every column that the table lacks: `_position_of` points to it
            if group_positions:
                group_cells = [cells[position] for position in group_positions]
            yield line_number, pick_cells_with_meaning(cells), group_cells

    def _read_header(self, rows: Iterator[tuple[int, list[str]]]) -> None:
        """Take the first row from `rows`, which is the header, and set `columns` and `group_columns`.

        Raises InputError if there are no rows, or if the header names a column twice or lacks a required column.
        """
        header = next(rows, None)
        if header is None:
            raise InputError("empty: a table begins with a line that names its columns", file=self.name)
        header_line, self.columns = header
        self._check_header(header_line)
        self.group_columns = self._columns_without_meaning()

    def _width_error(self, line_number: int, cell_count: int) -> InputError:
        """Return the error about a row with too few or too many cells, which begins in this line."""
        problem = f"{cell_count} cells, where the header names {len(self.columns)} columns"
        return InputError(problem, file=self.name, place=f"line {line_number}")

    def _check_header(self, line_number: int) -> None:
        """Raise InputError if the header in this line names a column twice, or lacks a column that is required."""
        for position, column in enumerate(self.columns):
            if column in self.columns[:position]:
                problem = f"two columns are called {quoted(column)}" if column else "two columns have no name"
                raise InputError(problem, file=self.name, place=f"line {line_number}")
        self._require_columns(f"line {line_number}")

    def _columns_without_meaning(self) -> list[str]:
        """Return the headings of the columns that group the units: all columns without a meaning in `COLUMNS`."""
        columns_with_meaning = {self.heading_of(meaning) for meaning in COLUMNS}
        return [column for column in self.columns if column not in columns_with_meaning]

    def _position_of(self, meaning: str) -> int:
        """Return the position of a column's cell in a row. `meaning` is the meaning of the column, such as "label".

        If the table lacks the column, or if the column is ignored, the position is the one after the last cell of the
        row, where `_cell_rows` adds an empty cell.
        """
        column = self.heading_of(meaning)
        if column not in self.columns or meaning in self._ignored_columns:
            return len(self.columns)
        return self.columns.index(column)

    def _require_columns(self, place: str) -> None:
        """Raise InputError if the table lacks the column of the unit or of the answer.

        The message has the `place` in the file, and an option to type, such as `--columns unit=NAME`.
        """
        missing_meanings = [meaning for meaning in REQUIRED if self.heading_of(meaning) not in self.columns]
        if not missing_meanings:
            return
        missing_headings = [self._heading_by_meaning.get(meaning, meaning) for meaning in missing_meanings]
        headings_there = ", ".join([quoted(column) for column in self.columns[:20]])
        suggestion = did_you_mean(missing_headings[0], self.columns)
        problem = f"no column {' and no column '.join(missing_headings)}; there are {headings_there}{suggestion}"
        option = ",".join([f"{meaning}=NAME" for meaning in missing_meanings])
        pronoun = "it" if len(missing_meanings) == 1 else "them"
        remedy = f"--columns {option} says what the file calls {pronoun}"
        raise InputError(problem, file=self.name, place=place, remedy=remedy)

    # ---- Rows of JSON objects

    def _json_rows(self, lines: Iterator[str]) -> Iterator[TableRow]:
        """Yield the rows of a table in JSON lines.

        Keys that occur for the first time are added to `columns` before the row is yielded. Raises InputError, with the
        line number, if a line is not a JSON object whose values are texts, numbers, true, false or null. Also raises
        InputError if the keys for unit and answer occur neither in the line nor before it.
        """
        headings_to_read: list[str | None] = []  # in the order of `COLUMNS`; None for an ignored column
        columns_so_far: dict[str, None] = {}  # the distinct keys of all lines
        for line_number, text in enumerate(lines, start=1):
            if not text.strip():
                continue
            cell_by_key = self._cells_of_json_line(text, line_number)
            has_new_keys = not cell_by_key.keys() <= columns_so_far.keys()
            is_first_row = not headings_to_read
            if has_new_keys or is_first_row:  # the table has more columns than before
                columns_so_far.update(dict.fromkeys(cell_by_key))
                self._set_columns(list(columns_so_far), line_number)
                headings_to_read = self._headings_to_read()  # new keys may be headings
            cells = tuple(["" if heading is None else cell_by_key.get(heading, "") for heading in headings_to_read])
            group_cells = [cell_by_key.get(column, "") for column in self.group_columns]
            yield line_number, cells, group_cells

    def _set_columns(self, columns: list[str], line_number: int) -> None:
        """Set `columns`, and set `group_columns` to the columns among them that group the units.

        Raises InputError, with the number of the line that was read last, if the column for the unit or for the answer
        is missing.
        """
        self.columns = columns
        self.group_columns = self._columns_without_meaning()
        self._require_columns(f"line {line_number}")

    def _cells_of_json_line(self, text: str, line_number: int) -> dict[str, str]:
        """Return the cells of a line with a JSON object, by their keys. Raises InputError with the line's number.

        `{"unit": "q1", "rank": 2, "note": null}` gives `{"unit": "q1", "rank": "2", "note": ""}`.
        """
        place = f"line {line_number}"
        try:
            return _cells_of_object(_DECODER.decode(text))
        except json.JSONDecodeError as error:
            raise InputError(f"not JSON: {error.msg}", file=self.name, place=place) from None
        except (ValueError, RecursionError) as error:
            raise InputError(str(error), file=self.name, place=place) from None

    def _headings_to_read(self) -> list[str | None]:
        """Return the heading of each column of `COLUMNS` in this table, or None for a column that is ignored."""
        return [None if meaning in self._ignored_columns else self.heading_of(meaning) for meaning in COLUMNS]


class _Number(str):
    """A number of a JSON file, kept as the text that the file has for it: 0.50 stays "0.50", as in CSV."""


def _object_of_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the JSON object with these pairs of key and value. Raises ValueError if a key occurs twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {quoted(twice)} occurs twice")
    return fields


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object_of_unique_keys, parse_int=_Number, parse_float=_Number, parse_constant=_Number
)
"""Decodes a JSON object whose keys are distinct; numbers remain the texts that the file has."""


def _cells_of_object(value: Any) -> dict[str, str]:
    """Return the cells of a row that is a JSON object: {"unit": "q1", "note": null} -> {"unit": "q1", "note": ""}.

    Texts are kept unchanged. So are numbers, which the decoder has left as texts (`_Number`). Raises ValueError if the
    value is not an object, or if the object holds a list or another object.
    """
    if not isinstance(value, dict):
        raise ValueError(f"{kind_of(value)} where an object is expected")
    cell_by_key = {}
    for key, member in value.items():
        cell_by_key[key] = member if isinstance(member, str) else _cell_of_member(key, member)
    return cell_by_key


def _cell_of_member(key: str, member: object) -> str:
    """Return the cell for null, true or false, which is a value in a JSON object: null -> "", true -> "true".

    The caller has already handled texts and numbers. Raises ValueError, with the key of the value, for a list or an
    object.
    """
    if member is None:
        return ""
    if isinstance(member, bool):
        return json.dumps(member)
    raise ValueError(f"{quoted(key)} is {kind_of(member)}: a cell is a text, a number, true, false or null")


# ---- Lines and cells of files

_MARKS_OF_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _guess_format(first_line: str) -> str:
    """Return the format that the first line of a file shows, as one of `FORMATS`."""
    if first_line.lstrip().startswith(("{", "[")):
        return ".jsonl"
    return ".tsv" if "\t" in first_line else ".csv"


def _decoded_lines(source: Source) -> Iterator[str]:
    """Yield the lines of a file in UTF-8, each with its line end; a byte order mark before the first one is left out.

    Raises InputError if the file is not in UTF-8 or cannot be read.
    """
    line_number = 1  # of the line that is decoded
    try:
        first_line = source.binary.readline()
        if first_line.startswith(_MARKS_OF_UTF_16):
            raise InputError("UTF-16", file=source.name, remedy="save it as UTF-8")
        if first_line:
            yield first_line.removeprefix(codecs.BOM_UTF8).decode("utf-8")
        for line in source.binary:
            line_number += 1
            yield line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _encoding_error(error, source.name, line_number) from None
    except OSError as error:
        raise InputError(f"cannot be read: {reason_of(error)}", file=source.name) from None


def _encoding_error(error: UnicodeDecodeError, file: str, line_number: int) -> InputError:
    """Return the error about the line with this number, which is not in UTF-8. It shows the first wrong byte."""
    wrong_byte = error.object[error.start]
    problem = f"not UTF-8: byte 0x{wrong_byte:02x}"
    return InputError(problem, file=file, place=f"line {line_number}", remedy="save it as UTF-8")


def _csv_cells(file: str, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row in CSV and the number of its first line, first the number. Blank rows are skipped.

    `file` is the name of the file. Raises InputError, with the line number, if quotes are wrong.
    """
    # The limit applies to all CSV readers in the process, so it is restored at the end.
    limit_before = csv.field_size_limit(min(_LARGEST_FIELD, sys.maxsize))
    reader = csv.reader(lines)
    line_number = 1
    try:
        for cells in reader:
            if cells:
                yield line_number, cells
            line_number = reader.line_num + 1  # the first line of the next row (a row may span several lines)
    except csv.Error as error:
        raise InputError(f"no CSV: {error}", file=file, place=f"line {line_number}") from None
    finally:
        csv.field_size_limit(limit_before)


def _tsv_cells(lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line of TSV, without blank lines; quotes are ordinary characters."""
    for line_number, text in enumerate(lines, start=1):
        row = text.removesuffix("\n").removesuffix("\r")
        if row:
            yield line_number, row.split("\t")
