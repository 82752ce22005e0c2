"""Recognise the form of a file that cannot be read, and suggest a command line that converts it, or the form needed.

Nothing here is called for files of the right form. Every suggested command line is run by a test, which scores the file
that it makes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.base.display import join_first
from cs_score.base.errors import InputError
from cs_score.base.runtime import Late
from cs_score.base.sources import decode_text, plain_name
from cs_score.coldstart.layouts import (
    COLUMN_PATTERNS,
    RUN_2017,
    SCHEMAS,
    FileKind,
    Schema,
    detect_schema,
    layouts_of_width,
)
from cs_score.coldstart.options import LATEST, Edition

if TYPE_CHECKING:
    import csv
    import shlex
else:
    csv, shlex = Late("csv"), Late("shlex")

_GUIDE: Final = "(page input-files of the documentation)"

_PROGRAM_BY_ENDING: Final = {".gz": "gzip -dc", ".bz2": "bzip2 -dc", ".xz": "xz -dc"}
_COMPRESSIONS: Final = ((b"\x1f\x8b", "gzip", ".gz"), (b"BZh", "bzip2", ".bz2"), (b"\xfd7zXZ", "xz", ".xz"))
_UTF16: Final = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))
_SAMPLE: Final = 200  # bytes in which UTF-16 is looked for; compressed files are recognised by their first ones
_OFFICE: Final = (b"[Content_Types].xml", b"mimetypeapplication/vnd")
_WEB_PAGE: Final = re.compile(rb"\s*(<!doctype html|<html)", re.IGNORECASE)
_WEB_PAGE_REMEDY: Final = "it is a web page (HTML), perhaps the sign-in page of a download; get the file itself"
_READ_CSV: Final = 'import csv, sys; [print(*row, sep="\\t") for row in csv.reader(sys.stdin, delimiter="{}")]'
_NAME_BY_SEPARATOR: Final = {",": "commas", ";": "semicolons", "|": "vertical bars"}


class FirstLine(NamedTuple):
    """The first line of a run or assessment file that is neither blank nor a comment, as far as messages need it.

    It is given by its number and text, with the text of the next line and the first bytes of the file.
    """

    file: str
    number: int
    text: str
    next_text: str
    beginning: bytes


# ---- Files that are not text in UTF-8


def decoded_text(data: bytes, name: str, lines_before: int = 0, beginning: bytes | None = None) -> str:
    """Return the text of a file, or of a block of it.

    For a block, `lines_before` is the number of lines before it, and `beginning` are the first bytes of the file.
    Raises InputError for a line that is not UTF-8, with a remedy for the form that the bytes seem to have.
    """
    try:
        return decode_text(data, name, lines_before)
    except InputError as error:
        remedy = _why_not_utf8(data, name, data if beginning is None else beginning)
        raise InputError(error.problem, file=name, place=error.place, remedy=remedy, code=error.code) from None


def _why_not_utf8(data: bytes, file: str, beginning: bytes) -> str:
    """Return a guess at the form of bytes that are not UTF-8, with the remedy; `beginning` begins the file."""
    remedy = _remedy_of_binary_file(beginning, file)
    if remedy is not None:
        return remedy
    if data.decode("utf-8", "ignore").isascii():
        line = line_to_type("iconv -f WINDOWS-1252 -t UTF-8", file, "utf8")
        return f"if it was written on Windows in a Western European language: {line}"
    return "other letters of it are UTF-8, so this one is damaged; correct the line"


def _remedy_of_binary_file(data: bytes, file: str) -> str | None:
    """Return the kind of a file by its first bytes, with the remedy; None if it may be text in an 8-bit encoding."""
    for beginning, encoding in _UTF16:
        if data.startswith(beginning):
            return f"it is {encoding}: {line_to_type(f'iconv -f {encoding} -t UTF-8', file, 'utf8')}"
    for beginning, program, ending in _COMPRESSIONS:
        if data.startswith(beginning):
            quoted = shlex.quote(file)
            return f"it is compressed by {program}, which its name must say: mv {quoted} {shlex.quote(file + ending)}"
    if data.startswith(b"PK\x03\x04"):
        if any(mark in data for mark in _OFFICE):
            return "it is a document of an office program; export it as text in UTF-8, with tabs between the columns"
        folder = shlex.quote(f"{file}.files")
        return f"it is a zip archive: python3 -m zipfile -e {shlex.quote(file)} {folder} (then name the files in it)"
    if data.startswith(b"%PDF"):
        return "it is a PDF; get the file that it was made from"
    if b"\0" in data[:_SAMPLE]:
        return _utf16_without_mark(data, file)
    return None


def _utf16_without_mark(data: bytes, file: str) -> str:
    """Return the remedy for UTF-16 that lacks a byte-order mark."""
    encoding = "UTF-16LE" if data[1:2] == b"\0" else "UTF-16BE"
    return f"it is UTF-16: {line_to_type(f'iconv -f {encoding} -t UTF-8', file, 'utf8')}"


def line_to_type(program: str, file: str, prefix: str) -> str:
    """Return a command line that writes the output of a program on a file into a new file, `PREFIX-NAME`.

    The new file is in the same folder and is not compressed.
    """
    stored_as = plain_name(file)
    folder, name = os.path.split(stored_as)
    target = shlex.quote(os.path.join(folder, f"{prefix}-{name}"))
    decompress = _PROGRAM_BY_ENDING.get(file.removeprefix(stored_as))
    if decompress is not None:
        return f"{decompress} {shlex.quote(file)} | {program} > {target}"
    return f"{program} < {shlex.quote(file)} > {target}"


# ---- Runs and assessments of no known layout


def why_no_layout(line: FirstLine, edition: Edition = LATEST) -> str:
    """Return the likely reason why the first line of a file fits no layout, with the remedy."""
    for recognize in (_of_another_kind, _with_other_line_ends, _with_other_separators):
        remedy = recognize(line, edition)
        if remedy is not None:
            return remedy
    columns = line.text.rstrip("\t").split("\t")
    if len(columns) == len(RUN_2017.columns) and not RUN_2017.exists(edition):
        return f"{edition.name} reads runs of eight columns, and this line has nine; leave the last one out"
    for recognize in (_of_nil_answers, _with_header, _with_empty_end):
        remedy = recognize(line, edition)
        if remedy is not None:
            return remedy
    schemas = layouts_of_width(len(columns), edition)
    if not schemas:
        return _why_wrong_width(len(columns))
    nearest = min(schemas, key=lambda schema: len(schema.misfits(columns, edition)))
    number, name = nearest.misfits(columns, edition)[0]
    return f"column {number}, {columns[number - 1]!r}, is no {name} of a line of the layout '{nearest.name}' {_GUIDE}"


def _why_wrong_width(width: int) -> str:
    """Return the reason that no layout has this number of columns, with the numbers that runs and assessments have."""
    columns = "1 column" if width == 1 else f"{width} columns"
    runs = _widths_of(FileKind.RUN)
    return f"it has {columns}, where runs have {runs} and assessments {_widths_of(FileKind.ASSESSMENTS)} {_GUIDE}"


def _widths_of(kind: FileKind) -> str:
    """Return the numbers of columns that files of a kind may have, such as `7, 8 or 9`."""
    *widths, widest = sorted(len(schema.columns) for schema in SCHEMAS if schema.kind is kind)
    return f"{', '.join(map(str, widths))} or {widest}"


def _of_another_kind(line: FirstLine, edition: Edition) -> str | None:
    """Return the kind of a file that is not a table of text, with the remedy; None if it may be a table."""
    if "\0" in line.text:
        return _utf16_without_mark(line.beginning, line.file)
    text = line.text.lstrip("\ufeff ")
    if _WEB_PAGE.match(text.encode()):
        return _WEB_PAGE_REMEDY
    if text.startswith(("<?xml", "<query")):
        quoted = shlex.quote(line.file)
        return (
            f"it is XML; query files are known by the end of their names: mv {quoted} {shlex.quote(line.file + '.xml')}"
        )
    if text.startswith(("{", "[")):
        return "it is JSON, which the tasks of evidence read; a run has a line of tab-separated columns for each answer"
    return None


def _with_other_line_ends(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for a file whose lines end in carriage returns only; None for another file."""
    if b"\n" in line.beginning or b"\r" not in line.beginning.rstrip(b"\r"):
        return None
    remedy = line_to_type(r"tr '\r' '\n'", line.file, "lines")
    return f"its lines end in carriage returns only: {remedy}"


def _with_other_separators(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for a line whose columns are separated by commas, blanks and the like; None if it has tabs."""
    if "\t" in line.text:
        return None
    for separator, name in _NAME_BY_SEPARATOR.items():
        if line.text.count(separator) < min(len(schema.columns) for schema in SCHEMAS) - 1:
            continue
        columns = next(csv.reader([line.text], delimiter=separator))
        problem = f"its columns are separated by {name} and not by tabs"
        if detect_schema(columns, edition) is None:
            return problem
        program = f"python3 -c {shlex.quote(_READ_CSV.format(separator))}"
        return f"{problem}: {line_to_type(program, line.file, 'tabs')}"
    words = line.text.split()
    for schema in SCHEMAS:
        columns_of_words = _columns_of_words(words, schema)
        if columns_of_words and schema.exists(edition) and not schema.misfits(columns_of_words, edition):
            problem = "its columns are separated by blanks and not by tabs"
            return f"{problem}: {line_to_type(_awk_of_words(schema), line.file, 'tabs')}"
    return None


def _columns_of_words(words: Sequence[str], schema: Schema) -> list[str]:
    """Return the columns of a line that are separated by blanks; only the answer may contain blanks.

    The list is empty if the line has fewer words than the layout has columns.
    """
    start = schema.columns.index("VALUE")
    count_after = len(schema.columns) - start - 1
    if len(words) < len(schema.columns):
        return []
    end = len(words) - count_after
    return [*words[:start], " ".join(words[start:end]), *words[end:]]


def _awk_of_words(schema: Schema) -> str:
    """Return the call of awk that puts tabs between columns separated by blanks; the answer keeps its blanks."""
    count_before = schema.columns.index("VALUE")
    count_after = len(schema.columns) - count_before - 1
    first = [f"${number}" for number in range(1, count_before + 1)]
    last = [f"$(NF-{number})" for number in range(count_after - 1, 0, -1)]
    join = f'v = ${count_before + 1}; for (i = {count_before + 2}; i <= NF - {count_after}; i++) v = v " " $i'
    return f"awk -v OFS='\\t' '{{{join}; print {', '.join([*first, 'v', *last, '$NF'])}}}'"


NIL: Final = "NIL"
_NIL_COLUMN: Final = 3


def is_nil_line(columns: Sequence[str]) -> bool:
    """Return whether a line says that a query has no answer, as runs of regular slot filling do."""
    return len(columns) == _NIL_COLUMN + 1 and columns[_NIL_COLUMN] == NIL


def without_nil_lines(file: str) -> str:
    """Return a command line that writes a run without its NIL lines into a new file."""
    return line_to_type(f"awk -F '\\t' '${_NIL_COLUMN + 1} != \"{NIL}\"'", file, "answers")


def _of_nil_answers(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for a NIL line, which says that a query has no answer; None for another line."""
    if not is_nil_line(line.text.rstrip("\t").split("\t")):
        return None
    problem = "it is a NIL line of regular slot filling (a query without answer), and Cold Start runs have none"
    return f"{problem}: {without_nil_lines(line.file)}"


def _with_header(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for a header, or for a first line that alone fits no layout; None for another line."""
    columns = line.text.rstrip("\t").split("\t")
    names = sum(text.strip("#\ufeff ").upper() in COLUMN_PATTERNS for text in columns)
    if names < 2 and (len(columns) == 1 or detect_schema(line.next_text.rstrip("\t").split("\t"), edition) is None):
        return None
    problem = "this line is a header; take it out" if names > 1 else "the line after it fits, so take this one out"
    return f"{problem}: {line_to_type(f'sed {line.number}d', line.file, 'lines')}"


def _with_empty_end(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for assessments whose last column is empty; None for another line.

    If that column is a mention type, the mention type of the answer can be filled in.
    """
    columns = line.text.split("\t")
    for schema in layouts_of_width(len(columns), edition):
        if schema.kind is not FileKind.ASSESSMENTS or columns[-1]:
            continue
        problem = f"column {len(columns)} ({schema.columns[-1]}) is empty"
        mention = schema.position("VALUE_MENTION_TYPE")
        if mention is None or schema.misfits([*columns[:-1], "0"], edition):
            return f"{problem}, so that it does not count; write 0 where there is no class"
        assign = f'$NF == "" {{$NF = ($(NF-1) == "0") ? "0" : ${mention + 1}}} 1'
        line_typed = line_to_type(f"awk -F '\\t' -v OFS='\\t' '{assign}'", line.file, "filled")
        return f"{problem}, so that it does not count; to fill in the mention type of each answer: {line_typed}"
    return None


# ---- Queries

_WHOLE_QUERY: Final = re.compile(r"<query\s.*?</query>", re.DOTALL)
_TRIM: Final = "s#<(docid|beg|end)>[[:blank:]]*([^<[:blank:]]*)[[:blank:]]*</#<\\1>\\2</#g"


def why_no_queries(text: str, file: str) -> str:
    """Return the likely reason why a query file contains no query that can be used, with the remedy."""
    if "\0" in text:
        return f"{file}: {_utf16_without_mark(text[:2].encode(), file)}"
    if _WEB_PAGE.match(text.lstrip("\ufeff").encode("utf-8", "surrogatepass")):
        return f"{file}: {_WEB_PAGE_REMEDY}"
    count = len(_WHOLE_QUERY.findall(text, 0, text.rfind("</query>") + len("</query>")))
    if not count:
        return f'{file}: there is no <query id="...">...</query> in it {_GUIDE}'
    problem = "no query of it asks for a slot" if count > 1 else "its query asks for no slot"
    return (
        f"{file}: {problem}; queries of regular slot filling ask for every slot of their entity, a Cold Start query "
        "names its own: <slot0>per:children</slot0>"
    )


def without_blanks(file: str) -> str:
    """Return a command line that writes a query file without blanks around document ids and offsets into a new file."""
    return line_to_type(f"sed -E '{_TRIM}'", file, "trimmed")


# ---- Folders


def describe_folder(folder: str, suffix: str) -> str:
    """Return the contents of a folder without files of this ending, and which folder or files in it to name."""
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return "it cannot be read"
    if not names:
        return "it is empty"
    files = [name for name in names if os.path.isfile(os.path.join(folder, name))]
    inside = [name for name in names if _has_member(os.path.join(folder, name), suffix)]
    if inside:
        return f"name the folder in it: {shlex.quote(os.path.join(folder, inside[0]))}"
    if not files:
        return f"it holds folders only ({join_first(names)})"
    paths = [shlex.quote(os.path.join(folder, name)) for name in files]
    return f"name the files in it: {join_first(paths, separator=' ')}"


def _has_member(path: str, suffix: str) -> bool:
    """Return whether a path is a folder that contains a file with this ending."""
    return os.path.isdir(path) and any(plain_name(name).endswith(suffix) for name in os.listdir(path))
