"""Read what evaluation frameworks export: tables and JSON lines with a row for each sample, and TREC's rows."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.records import replace
from cs_score.base.sources import Delimited, Input, name_of, open_source, plain_name, read_delimited
from cs_score.judged.policy import split_escaped, unescaped

COLUMNS: Final = ("unit", "system", "measure", "score", "numerator", "denominator", "cluster", "stratum")
"""The columns that have a meaning in a table in long form."""

_TREC: Final[Mapping[int, tuple[str, ...]]] = {
    3: ("measure", "unit", "score"),
    4: ("system", "unit", "measure", "score"),
}
"""The cells of a row of TREC by their number: `trec_eval -q` writes three, run-topic-measure tables four."""


def read_names(text: str) -> dict[str, str]:
    """Return what the file calls each column, from `--columns unit=doc_id,score=acc`. Raise UsageError."""
    names: dict[str, str] = {}
    if not text:
        return names
    for part in split_escaped(text, ","):
        column, *rest = [unescaped(piece) for piece in split_escaped(part, "=")]
        if column not in COLUMNS:
            known = ", ".join(COLUMNS)
            raise UsageError(f"--columns: nothing is called {column}; there are {known}{nearest(column, COLUMNS)}")
        if len(rest) != 1 or not rest[0]:
            raise UsageError(f"--columns {column}: write {column}=NAME, the name that the file has for it")
        names[column] = rest[0]
    return names


def read_exported(file: Input, names: Mapping[str, str]) -> Delimited:
    """Return a table whose columns have our names: of a table, of JSON lines, or of TREC's rows without a header.

    Raise InputError with the line for what is none, and for a column that the file does not have.
    """
    if plain_name(name_of(file)).endswith(".jsonl"):
        return _of_json_lines(file, names)
    table = _with_trec_header(read_delimited(file))
    if not names:
        return table
    columns = list(table.columns)
    for column, own in names.items():
        if own not in columns:
            there = ", ".join(table.columns)
            raise InputError(
                f"no column {own}; there are {there}{nearest(own, columns)}", file=table.file, place="line 1"
            )
        if column != own and column in columns:
            columns[columns.index(column)] = f"{column} (not read)"
        columns[columns.index(own)] = column
    is_long = "score" in columns
    if not is_long:
        return replace(table, columns=tuple(columns))
    kept = [place for place, column in enumerate(columns) if column in COLUMNS]
    rows = [(line, tuple([cells[place] for place in kept])) for line, cells in table.rows]
    return replace(table, columns=tuple([columns[place] for place in kept]), rows=rows)


def is_of_samples(table: Delimited) -> bool:
    """Return whether a table has a row with a score for each sample, and no columns of systems."""
    columns = set(table.columns)
    return {"unit", "score"} <= columns <= set(COLUMNS) and "denominator" not in columns


# ---- TREC


def _with_trec_header(table: Delimited) -> Delimited:
    """Return the table with the header that rows of TREC do not have; other tables as they are.

    Rows called `all` stay: whoever reads the units leaves them out. Rows without a number, such as that of the name of
    the run, are left out.
    """
    rows = [(1, table.columns), *table.rows]
    if len(table.columns) == 1:
        rows = [(line, tuple(cells[0].split())) for line, cells in rows]
    first = rows[0][1]
    if len(first) not in _TREC or "unit" in first or not any(_is_number(cells[-1]) for _, cells in rows if cells):
        return table
    if not _is_number(first[-1]) and first[1] != "all":
        return table
    width = len(first)
    kept = []
    for line, cells in rows:
        if len(cells) != width:
            problem = f"{len(cells)} cells, where the rows before have {width}"
            raise InputError(problem, file=table.file, place=f"line {line}")
        if _is_number(cells[-1]):
            kept.append((line, cells))
    return replace(table, columns=_TREC[width], rows=kept)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


# ---- JSON lines


def _of_json_lines(file: Input, names: Mapping[str, str]) -> Delimited:
    """Return the columns of JSON lines that have a meaning; a name with dots leads into nested objects.

    True and false are 1 and 0.
    """
    rows = []
    columns: list[str] = []
    with open_source(file) as source:
        name = source.name
        for line, fields in _objects(source.read_bytes(), name):
            cells = {column: _member(fields, names.get(column, column)) for column in COLUMNS}
            if not columns:
                columns = [column for column, value in cells.items() if value is not None]
                _check_columns(columns, names, fields, name, line)
            missing = [column for column in columns if cells[column] is None]
            if missing:
                problem = f"no {names.get(missing[0], missing[0])}, which the lines before have"
                raise InputError(problem, file=name, place=f"line {line}")
            rows.append((line, tuple([str(cells[column]) for column in columns])))
    if not rows:
        raise InputError("empty", file=name)
    return Delimited(name, tuple(columns), rows)


def _objects(data: bytes, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the number and the object of each line that is not blank. Raise InputError for what is no object."""
    for line, text in enumerate(data.split(b"\n"), start=1):
        if not text.strip():
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"not JSON: {error}", file=name, place=f"line {line}") from None
        if not isinstance(value, dict):
            raise InputError("no object, which every line should be", file=name, place=f"line {line}")
        yield line, value


def _member(fields: Mapping[str, Any], path: str) -> str | None:
    """Return a member of an object as text; None where there is none, or it is null."""
    value: Any = fields.get(path)
    if path not in fields:
        value = fields
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, bool):
        return str(int(value))
    if value is None or isinstance(value, (dict, list)):
        return None
    return str(value)


def _check_columns(
    columns: Sequence[str], names: Mapping[str, str], fields: Mapping[str, Any], file: str, line: int
) -> None:
    """Raise InputError where the first line lacks what a name stands for, or the unit or the score."""
    for column in ("unit", "score", *names):
        if column not in columns:
            wanted = names.get(column, column)
            there = ", ".join(fields)
            remedy = f"--columns {column}=NAME says what the file calls it"
            problem = f"no {wanted}; there are {there}{nearest(wanted, fields)}"
            raise InputError(problem, file=file, place=f"line {line}", remedy=remedy)
