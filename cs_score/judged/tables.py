"""Read tables of judged answers: CSV, TSV or JSON lines, each row with the cells of the columns that have a meaning."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NoReturn, TypeAlias

from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.sources import Source, plain_name, reason_of
from cs_score.evidence.reading import kind_of, quoted
from cs_score.judged.policy import split_escaped, unescaped

COLUMNS: Final = ("unit", "answer", "evidence", "label", "class", "wanted", "weight", "confidence", "run")
"""The columns that have a meaning, in the order of the cells of a row; all others are groups of the unit."""

REQUIRED: Final = ("unit", "answer")

FORMATS: Final = (".csv", ".tsv", ".jsonl")

_LARGEST_FIELD: Final = 1 << 30
"""Characters of a cell; Python's csv module takes 131,072 unless it is told otherwise."""


TableRow: TypeAlias = tuple[int, tuple[str, ...], list[str]]
"""A row of a table: the line where it begins, the cells of `COLUMNS`, and those of all other columns known so far.

A cell of a column that the table does not have is empty. A plain tuple, as a million of them are made.
"""

Names: TypeAlias = Mapping[str, str]
"""What a file calls the columns, where it does not call them as in `COLUMNS`."""


def read_names(text: str) -> Names:
    """Return the names of `--columns unit=question_id,label=verdict`. Raise UsageError for a text of another form."""
    names: dict[str, str] = {}
    if not text:
        return names
    for part in split_escaped(text, ","):
        column, *rest = [unescaped(piece) for piece in split_escaped(part, "=")]
        if column not in COLUMNS:
            known = ", ".join(COLUMNS)
            raise UsageError(
                f"--columns: no column has the meaning {column}; there are {known}{nearest(column, COLUMNS)}"
            )
        if len(rest) != 1 or not rest[0]:
            raise UsageError(f"--columns {column}: write {column}=NAME, the name that the file has for it")
        if column in names:
            raise UsageError(f"--columns names {column} twice")
        names[column] = rest[0]
    return names


class JudgedTable:
    """A table that is being read: `columns` are those of its header, or the keys of JSON lines met so far.

    `other_columns` are those among them that have no meaning of their own.
    """

    def __init__(self, source: Source, names: Names, ignored: Sequence[str] = ()) -> None:
        """Cells of columns that are `ignored` are not read: they are empty in every row."""
        self.name = source.name
        self.columns: list[str] = []
        self.other_columns: list[str] = []
        self._source = source
        self._names = names
        self._ignored = frozenset(ignored)

    def rows(self) -> Iterator[TableRow]:
        """Yield the rows in order; blank lines are skipped. Raise InputError with the line for what is no table."""
        form, lines = self._form_and_lines()
        if form == ".jsonl":
            return self._json_rows(lines)
        if form == ".csv":
            return self._cell_rows(_csv_cells(self.name, lines))
        return self._cell_rows(_tsv_cells(lines))

    def column_of(self, meaning: str) -> str:
        """Return what the table calls a column: the name of `--columns` where it has such a column."""
        own = self._names.get(meaning, meaning)
        return own if own in self.columns else meaning

    def _form_and_lines(self) -> tuple[str, Iterator[str]]:
        """Return the format of the file and its lines. Raise InputError for a file that is something else."""
        lines = _text_lines(self._source)
        first = next(lines, "")
        form = os.path.splitext(plain_name(self.name))[1].lower()
        if self.name in ("-", "<gold>", "<predictions>"):
            form = _form_of(first)
        if form not in FORMATS:
            problem = f"no table that can be read: its name ends in {form}" if form else "its name has no ending"
            raise InputError(
                problem, file=self.name, remedy="tables are .csv, .tsv or .jsonl, perhaps compressed (.gz)"
            )
        self._check_beginning(form, first)
        return form, _with_first(first, lines)

    def _check_beginning(self, form: str, first: str) -> None:
        """Raise InputError where the first line shows another format than the name of the file."""
        beginning = first.lstrip()
        if beginning[:1] == "<":
            self._refuse("HTML or XML, where a table is expected", "export the table as .csv")
        if form == ".jsonl":
            if beginning[:1] == "[":
                self._refuse("one JSON list, where each line is an object", f"jq -c '.[]' {self.name}")
            return
        if beginning[:2] in ('{"', "{ ", "[{"):
            self._refuse(f"JSON in a file that ends in {form}", "name it .jsonl, with one object a line")
        if form == ".csv" and "," not in first:
            for separator, name, remedy in _OTHER_SEPARATORS:
                if separator in first:
                    self._refuse(f"columns are separated by {name}, not by commas", remedy)
        if form == ".tsv" and "\t" not in first:
            if "," in first:
                self._refuse("columns are separated by commas, not by tabs", "name it .csv")
            if len(first.split()) > 1:
                self._refuse("columns are separated by blanks, not by tabs", "separate columns by tabs")

    def _refuse(self, problem: str, remedy: str) -> NoReturn:
        raise InputError(problem, file=self.name, place="line 1", remedy=remedy)

    # ---- Rows with a cell for each column of a header

    def _cell_rows(self, rows: Iterator[tuple[int, list[str]]]) -> Iterator[TableRow]:
        header = next(rows, None)
        if header is None:
            raise InputError("empty: a table begins with a line that names its columns", file=self.name)
        line, self.columns = header
        for number, column in enumerate(self.columns):
            if column in self.columns[:number]:
                problem = f"two columns are called {quoted(column)}" if column else "two columns have no name"
                raise InputError(problem, file=self.name, place=f"line {line}")
        self._require_columns(f"line {line}")
        width = len(self.columns)
        places = [self._place_of(meaning) for meaning in COLUMNS]
        pick = itemgetter(*places)
        meanings = {self.column_of(meaning) for meaning in COLUMNS}
        self.other_columns = [column for column in self.columns if column not in meanings]
        other_places = [self.columns.index(column) for column in self.other_columns]

        for line, cells in rows:
            if len(cells) != width:
                problem = f"{len(cells)} cells, where the header names {width} columns"
                raise InputError(problem, file=self.name, place=f"line {line}")
            cells.append("")  # the cell of every column that the table does not have
            yield line, pick(cells), [cells[place] for place in other_places] if other_places else []

    def _place_of(self, meaning: str) -> int:
        """Return the place of a column; of one that is not read the place behind the last cell, which is empty."""
        column = self.column_of(meaning)
        if column not in self.columns or meaning in self._ignored:
            return len(self.columns)
        return self.columns.index(column)

    def _require_columns(self, place: str) -> None:
        """Raise InputError, with the option to type, where the table lacks a column that every table has."""
        missing = [meaning for meaning in REQUIRED if self.column_of(meaning) not in self.columns]
        if not missing:
            return
        names = [self._names.get(meaning, meaning) for meaning in missing]
        header = ", ".join([quoted(column) for column in self.columns[:20]])
        suggestion = nearest(names[0], self.columns)
        option = ",".join([f"{meaning}=NAME" for meaning in missing])
        remedy = f"--columns {option} says what the file calls {'it' if len(missing) == 1 else 'them'}"
        problem = f"no column {' and no column '.join(names)}; there are {header}{suggestion}"
        raise InputError(problem, file=self.name, place=place, remedy=remedy)

    # ---- Rows of JSON objects

    def _json_rows(self, lines: Iterator[str]) -> Iterator[TableRow]:
        decoder = json.JSONDecoder(
            object_pairs_hook=_unique_pairs, parse_int=_Number, parse_float=_Number, parse_constant=_Number
        )
        known_columns = dict[str, None]()
        for number, text in enumerate(lines, start=1):
            if not text.strip():
                continue
            try:
                value = decoder.decode(text)
                fields = _texts_of(value)
            except (ValueError, RecursionError) as error:
                problem = f"not JSON: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
                raise InputError(problem, file=self.name, place=f"line {number}") from None
            if not fields.keys() <= known_columns.keys():
                known_columns.update(dict.fromkeys(fields))
                self.columns = list(known_columns)
                meanings = {self.column_of(meaning) for meaning in COLUMNS}
                self.other_columns = [column for column in self.columns if column not in meanings]
                names = [None if meaning in self._ignored else self.column_of(meaning) for meaning in COLUMNS]
            if self.column_of("unit") not in self.columns or self.column_of("answer") not in self.columns:
                self._require_columns(f"line {number}")
            cells = tuple(["" if name is None else fields.get(name, "") for name in names])
            yield number, cells, [fields.get(column, "") for column in self.other_columns]


class _Number(str):
    """A number of JSON as the file writes it; a class of its own shows that it was no text."""


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these members. Raise ValueError for a key that occurs twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {quoted(twice)} occurs twice")
    return fields


def _texts_of(value: Any) -> dict[str, str]:
    """Return the members of an object as texts; null is an empty cell. Raise ValueError for anything nested."""
    if not isinstance(value, dict):
        raise ValueError(f"{kind_of(value)} where an object is expected")
    texts = {}
    for key, member in value.items():
        if isinstance(member, str):
            texts[key] = member
        elif member is None:
            texts[key] = ""
        elif isinstance(member, bool):
            texts[key] = "true" if member else "false"
        else:
            raise ValueError(f"{quoted(key)} is {kind_of(member)}: a cell is a text, a number, true, false or null")
    return texts


# ---- Lines and cells of files

_OTHER_SEPARATORS: Final = ((";", "semicolons", "save it with commas"), ("\t", "tabs", "name it .tsv"))
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


def _form_of(first: str) -> str:
    """Return the format of standard input or of objects in memory, by the first line."""
    if first.lstrip()[:1] in ("{", "["):
        return ".jsonl"
    return ".tsv" if "\t" in first else ".csv"


def _text_lines(source: Source) -> Iterator[str]:
    """Yield the lines of a file, each with its line end. Raise InputError for what is no UTF-8."""
    number = 0
    try:
        for line in source.binary:
            number += 1
            if number == 1:
                if line.startswith(_UTF_16):
                    raise InputError("UTF-16", file=source.name, remedy="save it as UTF-8")
                line = line.removeprefix(b"\xef\xbb\xbf")
            yield line.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        place = f"line {number}"
        raise InputError(
            f"not UTF-8: byte 0x{byte:02x}", file=source.name, place=place, remedy="save it as UTF-8"
        ) from None
    except OSError as error:
        raise InputError(f"cannot be read: {reason_of(error)}", file=source.name) from None


def _with_first(first: str, lines: Iterator[str]) -> Iterator[str]:
    if first:
        yield first
    yield from lines


def _csv_cells(name: str, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line and the cells of each row, as Python's csv module reads them."""
    limit_before = csv.field_size_limit(min(_LARGEST_FIELD, sys.maxsize))
    reader = csv.reader(lines)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"no CSV: {error}", file=name, place=f"line {line}") from None
    finally:
        csv.field_size_limit(limit_before)


def _tsv_cells(lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line; nothing is quoted."""
    for number, text in enumerate(lines, start=1):
        row = text.removesuffix("\n").removesuffix("\r")
        if row:
            yield number, row.split("\t")
