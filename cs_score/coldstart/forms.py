"""Recognise why a file cannot be read, and suggest a remedy: a command line that converts the file, or advice.

Nothing here is called for files of the right form. A test runs each suggested command line, and scores the file that it
writes.
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
from cs_score.coldstart.file_columns import (
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
_COMPRESSION_MARKS: Final = ((b"\x1f\x8b", "gzip", ".gz"), (b"BZh", "bzip2", ".bz2"), (b"\xfd7zXZ", "xz", ".xz"))
_ENCODING_BY_UTF16_MARK: Final = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))
_UTF16_SEARCH_LENGTH: Final = (
    200  # bytes in which UTF-16 is looked for; compressed files are recognised by their first ones
)
_OFFICE_MARKS: Final = (b"[Content_Types].xml", b"mimetypeapplication/vnd")
_WEB_PAGE: Final = re.compile(rb"\s*(<!doctype html|<html)", re.IGNORECASE)
_WEB_PAGE_REMEDY: Final = "it is a web page (HTML), perhaps the sign-in page of a download; get the file itself"
_PYTHON_PROGRAM_READING_CSV: Final = (
    'import csv, sys; [print(*row, sep="\\t") for row in csv.reader(sys.stdin, delimiter="{}")]'
)
_NAME_BY_SEPARATOR: Final = {",": "commas", ";": "semicolons", "|": "vertical bars"}


class FirstLine(NamedTuple):
    """The first line of a run or assessment file that is neither blank nor a comment, for messages about its form.

    `next_text` is the text of the line after it, and `beginning` are the first bytes of the file.
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
    """Return the likely reason why a file is not UTF-8, with a remedy.

    `data` is the block of the file that cannot be decoded, and `beginning` has the first bytes of the file.
    """
    remedy = _remedy_for_binary_file(beginning, file)
    if remedy is not None:
        return remedy
    legal_text = data.decode("utf-8", "ignore")
    if legal_text.isascii():
        command_line = conversion_command("iconv -f WINDOWS-1252 -t UTF-8", file, "utf8")
        return f"if it was written on Windows in a Western European language: {command_line}"
    return "other letters of it are UTF-8, so this one is damaged; correct the line"


def _remedy_for_binary_file(data: bytes, file: str) -> str | None:
    """Return the kind of a file by its first bytes, with a remedy; None if it may be text in an 8-bit encoding."""
    for mark, encoding in _ENCODING_BY_UTF16_MARK:
        if data.startswith(mark):
            return _remedy_for_utf16(encoding, file)
    quoted_file = shlex.quote(file)
    for mark, program, ending in _COMPRESSION_MARKS:
        if data.startswith(mark):
            new_file = shlex.quote(file + ending)
            return f"it is compressed by {program}, which its name must say: mv {quoted_file} {new_file}"
    if data.startswith(b"PK\x03\x04"):
        is_office_document = any(mark in data for mark in _OFFICE_MARKS)
        if is_office_document:
            return "it is a document of an office program; export it as text in UTF-8, with tabs between the columns"
        folder = shlex.quote(f"{file}.files")
        return f"it is a zip archive: python3 -m zipfile -e {quoted_file} {folder} (then name the files in it)"
    if data.startswith(b"%PDF"):
        return "it is a PDF; get the file that it was made from"
    if b"\0" in data[:_UTF16_SEARCH_LENGTH]:
        return _remedy_for_utf16_without_mark(data, file)
    return None


def _remedy_for_utf16(encoding: str, file: str) -> str:
    """Return the remedy for a file in a form of UTF-16, such as `UTF-16LE`: a command line that converts it."""
    return f"it is UTF-16: {conversion_command(f'iconv -f {encoding} -t UTF-8', file, 'utf8')}"


def _remedy_for_utf16_without_mark(data: bytes, file: str) -> str:
    """Return the remedy for a UTF-16 file without a byte-order mark; its second byte tells the order of the bytes."""
    second_byte = data[1:2]
    encoding = "UTF-16LE" if second_byte == b"\0" else "UTF-16BE"
    return _remedy_for_utf16(encoding, file)


def conversion_command(program: str, file: str, prefix: str) -> str:
    """Return a command line that converts a file with a program and writes the result into a new file, `PREFIX-NAME`.

    The new file is in the same folder and is not compressed. For `runs/a.tab.gz` and the prefix `utf8` the command line
    is `gzip -dc runs/a.tab.gz | PROGRAM > runs/utf8-a.tab`.
    """
    uncompressed_file = plain_name(file)
    folder, name = os.path.split(uncompressed_file)
    new_file = os.path.join(folder, f"{prefix}-{name}")
    compression_ending = file.removeprefix(uncompressed_file)
    decompression_program = _PROGRAM_BY_ENDING.get(compression_ending)
    if decompression_program is not None:
        return f"{decompression_program} {shlex.quote(file)} | {program} > {shlex.quote(new_file)}"
    return f"{program} < {shlex.quote(file)} > {shlex.quote(new_file)}"


# ---- Runs and assessments of no known layout


def why_no_layout(line: FirstLine, edition: Edition = LATEST) -> str:
    """Return the likely reason why the first line of a file fits no layout, with a remedy."""
    # The line may have no columns, or columns that are not separated by tabs.
    for find_remedy in (_remedy_for_other_kind, _remedy_for_other_line_ends, _remedy_for_other_separators):
        remedy = find_remedy(line, edition)
        if remedy is not None:
            return remedy
    columns = line.text.rstrip("\t").split("\t")
    if len(columns) == len(RUN_2017.columns) and not RUN_2017.is_known_to(edition):
        return f"{edition.name} reads runs of eight columns, and this line has nine; leave the last one out"
    # The line may have tabs, but not be a line of a run or of assessments.
    for find_remedy in (_remedy_for_nil_line, _remedy_for_misplaced_line, _remedy_for_empty_last_column):
        remedy = find_remedy(line, edition)
        if remedy is not None:
            return remedy
    # The line has the right form, but a column does not fit the layout that is nearest to the line.
    schemas = layouts_of_width(len(columns), edition)
    if not schemas:
        return _why_wrong_width(len(columns))
    nearest_schema = min(schemas, key=lambda schema: len(schema.misfitting_columns(columns, edition)))
    misfitting_columns = nearest_schema.misfitting_columns(columns, edition)
    number, name = misfitting_columns[0]
    text = columns[number - 1]  # columns are numbered from 1
    return f"column {number}, {text!r}, is no {name} of a line of the layout '{nearest_schema.name}' {_GUIDE}"


def _why_wrong_width(width: int) -> str:
    """Return the message that no layout has `width` columns, and how many columns runs and assessments have."""
    columns = "1 column" if width == 1 else f"{width} columns"
    widths_of_runs = _widths_of(FileKind.RUN)
    widths_of_assessments = _widths_of(FileKind.ASSESSMENTS)
    return f"it has {columns}, where runs have {widths_of_runs} and assessments {widths_of_assessments} {_GUIDE}"


def _widths_of(kind: FileKind) -> str:
    """Return the numbers of columns that files of a kind may have, in words: `7, 8 or 9` for runs."""
    widths = sorted(len(schema.columns) for schema in SCHEMAS if schema.kind is kind)
    texts = [str(width) for width in widths]
    return f"{', '.join(texts[:-1])} or {texts[-1]}"


def _remedy_for_other_kind(line: FirstLine, edition: Edition) -> str | None:
    """Return the kind of a file without columns, with a remedy; None if it may be a run or assessments."""
    if "\0" in line.text:
        return _remedy_for_utf16_without_mark(line.beginning, line.file)
    text = line.text.lstrip("\ufeff ")
    if _WEB_PAGE.match(text.encode()):
        return _WEB_PAGE_REMEDY
    if text.startswith(("<?xml", "<query")):
        new_file = shlex.quote(f"{line.file}.xml")
        return f"it is XML; query files are known by the end of their names: mv {shlex.quote(line.file)} {new_file}"
    if text.startswith(("{", "[")):
        return "it is JSON, which the tasks of evidence read; a run has a line of tab-separated columns for each answer"
    return None


def _remedy_for_other_line_ends(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for a file whose lines end in carriage returns only; None for another file."""
    has_line_feeds = b"\n" in line.beginning
    has_carriage_returns = b"\r" in line.beginning.rstrip(b"\r")
    if has_line_feeds or not has_carriage_returns:
        return None
    command_line = conversion_command(r"tr '\r' '\n'", line.file, "lines")
    return f"its lines end in carriage returns only: {command_line}"


def _remedy_for_other_separators(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for a line whose columns are separated by commas, blanks and the like; None if it has tabs."""
    if "\t" in line.text:
        return None
    fewest_separators = min(len(schema.columns) for schema in SCHEMAS) - 1
    for separator, name in _NAME_BY_SEPARATOR.items():
        if line.text.count(separator) < fewest_separators:
            continue
        columns = next(csv.reader([line.text], delimiter=separator))
        reason = f"its columns are separated by {name} and not by tabs"
        if detect_schema(columns, edition) is None:
            return reason
        script = _PYTHON_PROGRAM_READING_CSV.format(separator)
        command_line = conversion_command(f"python3 -c {shlex.quote(script)}", line.file, "tabs")
        return f"{reason}: {command_line}"
    return _remedy_for_blanks_between_columns(line, edition)


def _remedy_for_blanks_between_columns(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for a line whose columns are separated by blanks; None if it fits no layout like that."""
    words = line.text.split()
    for schema in SCHEMAS:
        columns = _columns_of_words(words, schema)
        if columns and schema.is_known_to(edition) and not schema.misfitting_columns(columns, edition):
            command_line = conversion_command(_awk_command_for_words(schema), line.file, "tabs")
            return f"its columns are separated by blanks and not by tabs: {command_line}"
    return None


def _columns_of_words(words: Sequence[str], schema: Schema) -> list[str]:
    """Return the columns of a line from its words; the words of the answer, which may be several, are joined.

    The list is empty if the line has fewer words than the layout has columns.
    """
    if len(words) < len(schema.columns):
        return []
    answer_start = schema.columns.index("VALUE")
    column_count_after_answer = len(schema.columns) - answer_start - 1
    answer_end = len(words) - column_count_after_answer
    answer = " ".join(words[answer_start:answer_end])
    return [*words[:answer_start], answer, *words[answer_end:]]


def _awk_command_for_words(schema: Schema) -> str:
    """Return a command with awk that replaces the blanks between columns by tabs, and keeps those in the answer.

    If the answer is the third of five columns, awk first joins the words of the answer, from the third word to the
    third from last, in the variable `v`. It then prints `$1, $2, v, $(NF-1), $NF`.
    """
    count_before_answer = schema.columns.index("VALUE")
    count_after_answer = len(schema.columns) - count_before_answer - 1
    fields_before = [f"${number}" for number in range(1, count_before_answer + 1)]
    fields_after = [f"$(NF-{number})" for number in range(count_after_answer - 1, 0, -1)]
    all_fields = ", ".join([*fields_before, "v", *fields_after, "$NF"])
    first_word = count_before_answer + 1
    next_words = f"i = {first_word + 1}; i <= NF - {count_after_answer}; i++"
    join_answer = f'v = ${first_word}; for ({next_words}) v = v " " $i'
    return f"awk -v OFS='\\t' '{{{join_answer}; print {all_fields}}}'"


NIL: Final = "NIL"
_NIL_COLUMN: Final = 3


def is_nil_line(columns: Sequence[str]) -> bool:
    """Return whether a line says that a query has no answer, as runs of regular slot filling do.

    Such a line has four columns, and the last one is `NIL`.
    """
    return len(columns) == _NIL_COLUMN + 1 and columns[_NIL_COLUMN] == NIL


def command_removing_nil_lines(file: str) -> str:
    """Return a command line that writes a run without its NIL lines into a new file."""
    awk_field = f"${_NIL_COLUMN + 1}"  # awk numbers columns from 1
    return conversion_command(f"awk -F '\\t' '{awk_field} != \"{NIL}\"'", file, "answers")


def _remedy_for_nil_line(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for a NIL line, which says that a query has no answer; None for another line."""
    columns = line.text.rstrip("\t").split("\t")
    if not is_nil_line(columns):
        return None
    reason = "it is a NIL line of regular slot filling (a query without answer), and Cold Start runs have none"
    return f"{reason}: {command_removing_nil_lines(line.file)}"


def _remedy_for_misplaced_line(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for a line that does not belong into the file: a command line that removes it.

    Such a line is a header, or the next line fits a layout although this one does not. The result is None for another
    line.
    """
    columns = line.text.rstrip("\t").split("\t")
    column_names = [text for text in columns if text.strip("#\ufeff ").upper() in COLUMN_PATTERNS]
    is_header = len(column_names) > 1
    if is_header:
        advice = "this line is a header; take it out"
    else:
        columns_of_next_line = line.next_text.rstrip("\t").split("\t")
        if len(columns) == 1 or detect_schema(columns_of_next_line, edition) is None:
            return None
        advice = "the line after it fits, so take this one out"
    command_line = conversion_command(f"sed {line.number}d", line.file, "lines")
    return f"{advice}: {command_line}"


def _remedy_for_empty_last_column(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for assessments whose last column is empty; None for another line.

    If that column is a mention type, the mention type of the answer can be filled in.
    """
    columns = line.text.split("\t")
    if columns[-1]:
        return None
    for schema in layouts_of_width(len(columns), edition):
        if schema.kind is not FileKind.ASSESSMENTS:
            continue
        reason = f"column {len(columns)} ({schema.columns[-1]}) is empty, so that it does not count"
        mention_position = schema.position("VALUE_MENTION_TYPE")
        columns_with_zero = [*columns[:-1], "0"]
        if mention_position is None or schema.misfitting_columns(columns_with_zero, edition):
            return f"{reason}; write 0 where there is no class"
        awk_field = f"${mention_position + 1}"  # awk numbers columns from 1
        awk_program = f'$NF == "" {{$NF = ($(NF-1) == "0") ? "0" : {awk_field}}} 1'
        command_line = conversion_command(f"awk -F '\\t' -v OFS='\\t' '{awk_program}'", line.file, "filled")
        return f"{reason}; to fill in the mention type of each answer: {command_line}"
    return None


# ---- Queries

_WHOLE_QUERY: Final = re.compile(r"<query\s.*?</query>", re.DOTALL)
_SED_PROGRAM_TRIMMING_FIELDS: Final = "s#<(docid|beg|end)>[[:blank:]]*([^<[:blank:]]*)[[:blank:]]*</#<\\1>\\2</#g"


def why_no_queries(text: str, file: str) -> str:
    """Return the likely reason why a query file contains no query that can be used, with a remedy."""
    if "\0" in text:
        return f"{file}: {_remedy_for_utf16_without_mark(text[:2].encode(), file)}"
    beginning = text.lstrip("\ufeff").encode("utf-8", "surrogatepass")
    if _WEB_PAGE.match(beginning):
        return f"{file}: {_WEB_PAGE_REMEDY}"
    # The search stops at the last end tag: otherwise it would run to the end of the text for each unclosed query.
    search_end = text.rfind("</query>") + len("</query>")
    query_count = len(_WHOLE_QUERY.findall(text, 0, search_end))
    if query_count == 0:
        return f'{file}: there is no <query id="...">...</query> in it {_GUIDE}'
    reason = "no query of it asks for a slot" if query_count > 1 else "its query asks for no slot"
    return (
        f"{file}: {reason}; queries of regular slot filling ask for every slot of their entity, a Cold Start query "
        "names its own: <slot0>per:children</slot0>"
    )


def command_removing_blanks(file: str) -> str:
    """Return a command line that removes the blanks around document ids and offsets of a query file.

    The command line writes a new file, and leaves the query file as it is.
    """
    return conversion_command(f"sed -E '{_SED_PROGRAM_TRIMMING_FIELDS}'", file, "trimmed")


# ---- Folders


def describe_folder(folder: str, suffix: str) -> str:
    """Return the contents of a folder without files of this ending, and the folders or files that the user may name.

    For example: `name the folder in it: runs/2017`.
    """
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return "it cannot be read"
    if not names:
        return "it is empty"
    paths = [os.path.join(folder, name) for name in names]
    for path in paths:
        if _has_member(path, suffix):
            return f"name the folder in it: {shlex.quote(path)}"
    files = [shlex.quote(path) for path in paths if os.path.isfile(path)]
    if files:
        return f"name the files in it: {join_first(files, separator=' ')}"
    return f"it holds folders only ({join_first(names)})"


def _has_member(path: str, suffix: str) -> bool:
    """Return whether a path is a folder that contains a file with this ending."""
    if not os.path.isdir(path):
        return False
    return any(plain_name(name).endswith(suffix) for name in os.listdir(path))
