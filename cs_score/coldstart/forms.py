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
from cs_score.base.sources import decode_text, name_without_compression
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

_PAGE_TO_READ: Final = "(page input-files of the documentation)"

_PROGRAM_BY_ENDING: Final = {".gz": "gzip -dc", ".bz2": "bzip2 -dc", ".xz": "xz -dc"}
_COMPRESSION_MARKS: Final = ((b"\x1f\x8b", "gzip", ".gz"), (b"BZh", "bzip2", ".bz2"), (b"\xfd7zXZ", "xz", ".xz"))
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_UTF16_SEARCH_LENGTH: Final = 200
"""The number of bytes in which UTF-16 is looked for. Compressed files are recognised by their first bytes."""
_ZIP_MARK: Final = b"PK\x03\x04"
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

    @property
    def columns(self) -> list[str]:
        """The columns of the line, without empty ones at its end: `["CSX_ENG_00fb79cef8", "per:children", ...]`."""
        return self.text.rstrip("\t").split("\t")

    @property
    def columns_of_next_line(self) -> list[str]:
        """The columns of the line after it, without empty ones at its end."""
        return self.next_text.rstrip("\t").split("\t")


# ---- Files that are not text in UTF-8


def decode_or_advise(data: bytes, name: str, lines_before: int = 0, beginning: bytes | None = None) -> str:
    """Return the text of a file, or of a block of it.

    For a block, `lines_before` is the number of lines before it, and `beginning` are the first bytes of the file.
    Raises InputError for a line that is not UTF-8, with a remedy for the form that the bytes seem to have.
    """
    try:
        return decode_text(data, name, lines_before)
    except InputError as error:
        remedy = _why_not_utf8(data, name, data if beginning is None else beginning)
        raise InputError(error.problem, file=name, place=error.place, remedy=remedy, code=error.code) from None


def _why_not_utf8(damaged_block: bytes, file: str, first_bytes: bytes) -> str:
    """Return the likely reason why a file is not UTF-8, with a remedy.

    `damaged_block` is the block of the file that cannot be decoded. `first_bytes` are the bytes at the start of the
    file, which tell its kind.
    """
    remedy = _remedy_for_binary_file(first_bytes, file)
    if remedy is not None:
        return remedy
    has_other_letters = not damaged_block.decode("utf-8", "ignore").isascii()
    if has_other_letters:
        return "other letters of it are UTF-8, so this one is damaged; correct the line"
    command_line = conversion_command("iconv -f WINDOWS-1252 -t UTF-8", file, prefix="utf8")
    return f"if it was written on Windows in a Western European language: {command_line}"


def _remedy_for_binary_file(data: bytes, file: str) -> str | None:
    """Return the kind of a file by its first bytes, with a remedy, or None if it may be text in an 8-bit encoding.

    For a PDF the result is `it is a PDF; get the file that it was made from`.
    """
    if data.startswith(b"%PDF"):
        return "it is a PDF; get the file that it was made from"
    if data.startswith(_ZIP_MARK):
        return _remedy_for_zip_file(data, file)
    remedy = _remedy_for_compressed_file(data, file)
    if remedy is None:
        remedy = _remedy_for_utf16_file(data, file)
    return remedy


def _remedy_for_zip_file(data: bytes, file: str) -> str:
    """Return the remedy for a zip archive, or for a document of an office program, which is also a zip archive.

    `data` are the first bytes of the file, with the name of the first member of the archive.
    """
    is_office_document = any(mark in data for mark in _OFFICE_MARKS)
    if is_office_document:
        return "it is a document of an office program; export it as text in UTF-8, with tabs between the columns"
    folder = shlex.quote(f"{file}.files")
    return f"it is a zip archive: python3 -m zipfile -e {shlex.quote(file)} {folder} (then name the files in it)"


def _remedy_for_compressed_file(data: bytes, file: str) -> str | None:
    """Return the remedy for a compressed file whose name lacks the usual ending, or None for any other file.

    The remedy is a command line that renames the file: `mv run.tab run.tab.gz`. `data` are its first bytes.
    """
    for mark, program, ending in _COMPRESSION_MARKS:
        if data.startswith(mark):
            new_file = shlex.quote(file + ending)
            return f"it is compressed by {program}, which its name must say: mv {shlex.quote(file)} {new_file}"
    return None


def _remedy_for_utf16_file(data: bytes, file: str) -> str | None:
    """Return the remedy for a file in UTF-16, with or without a byte-order mark, or None for any other file.

    `data` are the first bytes of the file. Text in any other encoding has no zero bytes.
    """
    if data.startswith(_UTF16_MARKS):
        return _command_converting_utf16("UTF-16", file)
    if b"\0" in data[:_UTF16_SEARCH_LENGTH]:
        return _remedy_for_utf16_without_mark(data, file)
    return None


def _command_converting_utf16(encoding: str, file: str) -> str:
    """Return the message that a file is UTF-16, with a command line that converts it from an encoding like `UTF-16LE`.

    For example: `it is UTF-16: iconv -f UTF-16LE -t UTF-8 < run.tab > utf8-run.tab`.
    """
    command_line = conversion_command(f"iconv -f {encoding} -t UTF-8", file, prefix="utf8")
    return f"it is UTF-16: {command_line}"


def _remedy_for_utf16_without_mark(data: bytes, file: str) -> str:
    """Return the remedy for a UTF-16 file without a byte-order mark; its second byte tells the order of the bytes."""
    second_byte = data[1:2]
    encoding = "UTF-16LE" if second_byte == b"\0" else "UTF-16BE"
    return _command_converting_utf16(encoding, file)


def conversion_command(program: str, file: str, prefix: str) -> str:
    """Return a command line that converts a file with a program and writes the result into a new file, `PREFIX-NAME`.

    The new file is in the same folder and is not compressed. For `runs/a.tab.gz` and the prefix `utf8` the command line
    is `gzip -dc runs/a.tab.gz | PROGRAM > runs/utf8-a.tab`.
    """
    uncompressed_file = name_without_compression(file)
    compression_ending = file.removeprefix(uncompressed_file)
    decompression_program = _PROGRAM_BY_ENDING.get(compression_ending)
    quoted_file = shlex.quote(file)
    new_file = shlex.quote(_with_prefixed_name(uncompressed_file, prefix))
    if decompression_program is None:
        return f"{program} < {quoted_file} > {new_file}"
    return f"{decompression_program} {quoted_file} | {program} > {new_file}"


def _with_prefixed_name(file: str, prefix: str) -> str:
    """Return the path of a file with a prefix before its name: `runs/a.tab` and `utf8` give `runs/utf8-a.tab`."""
    folder, name = os.path.split(file)
    return os.path.join(folder, f"{prefix}-{name}")


# ---- Runs and assessments of no known layout


def why_no_layout(line: FirstLine, edition: Edition = LATEST) -> str:
    """Return the likely reason why the first line of a file fits no layout, with a remedy.

    For example: `this line is a header; take it out: sed 1d < run.tab > lines-run.tab`.
    """
    for find_remedy in _REMEDIES_FOR_COMMON_MISTAKES:
        remedy = find_remedy(line, edition)
        if remedy is not None:
            return remedy
    # The line has the form of a run or of assessments, but not its columns.
    return _why_columns_fit_no_layout(line.columns, edition)


def _why_columns_fit_no_layout(columns: list[str], edition: Edition) -> str:
    """Return the reason why the columns of a line fit no layout: their number, or the first column that does not fit.

    That column is looked for in the nearest layout, in which the fewest columns do not fit.
    """
    layouts = layouts_of_width(len(columns), edition)
    if not layouts:
        return _why_wrong_width(len(columns))
    nearest_layout = min(layouts, key=lambda layout: len(layout.misfitting_columns(columns, edition)))
    misfitting_columns = nearest_layout.misfitting_columns(columns, edition)
    number, name = misfitting_columns[0]
    text = columns[number - 1]  # columns are numbered from 1
    return f"column {number}, {text!r}, is no {name} of a line of the layout '{nearest_layout.name}' {_PAGE_TO_READ}"


def _why_wrong_width(width: int) -> str:
    """Return the message that no layout has `width` columns, and how many columns runs and assessments have."""
    columns = "1 column" if width == 1 else f"{width} columns"
    widths_of_runs = _widths_of(FileKind.RUN)
    widths_of_assessments = _widths_of(FileKind.ASSESSMENTS)
    return f"it has {columns}, where runs have {widths_of_runs} and assessments {widths_of_assessments} {_PAGE_TO_READ}"


def _widths_of(kind: FileKind) -> str:
    """Return the possible numbers of columns of a kind of file as text, for example `7, 8 or 9` for runs."""
    # Each kind has several layouts, and each of them has a different number of columns.
    widths = sorted(len(layout.columns) for layout in SCHEMAS if layout.kind is kind)
    texts = [str(width) for width in widths]
    return f"{', '.join(texts[:-1])} or {texts[-1]}"


def _remedy_for_other_kind(line: FirstLine, edition: Edition) -> str | None:
    """Return the kind of the file, such as XML or JSON, with a remedy, or None if it may be a run or assessments."""
    if "\0" in line.text:
        return _remedy_for_utf16_without_mark(line.beginning, line.file)
    text = line.text.lstrip("\ufeff ")  # without byte-order mark and blanks
    if _WEB_PAGE.match(text.encode()):
        return _WEB_PAGE_REMEDY
    if text.startswith(("<?xml", "<query")):
        new_file = shlex.quote(f"{line.file}.xml")
        return f"it is XML; query files are known by the end of their names: mv {shlex.quote(line.file)} {new_file}"
    if text.startswith(("{", "[")):
        return "it is JSON, which the tasks of evidence read; a run has a line of tab-separated columns for each answer"
    return None


def _remedy_for_other_line_ends(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for a file whose lines end in carriage returns only, or None for any other file."""
    has_line_feeds = b"\n" in line.beginning
    # A carriage return at the end may be the first half of a Windows line ending, `\r\n`.
    has_carriage_returns = b"\r" in line.beginning.rstrip(b"\r")
    if has_line_feeds or not has_carriage_returns:
        return None
    command_line = conversion_command(r"tr '\r' '\n'", line.file, prefix="lines")
    return f"its lines end in carriage returns only: {command_line}"


def _remedy_for_missing_tabs(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for a line with separators such as commas between its columns, or None if it has tabs."""
    if "\t" in line.text:
        return None
    fewest_columns = min(len(layout.columns) for layout in SCHEMAS)
    fewest_separators = fewest_columns - 1  # there is one separator between two columns
    for separator in _NAME_BY_SEPARATOR:
        if line.text.count(separator) >= fewest_separators:
            return _remedy_for_csv_line(line, separator, edition)
    return _remedy_for_blanks_between_columns(line, edition)


def _remedy_for_csv_line(line: FirstLine, separator: str, edition: Edition) -> str:
    """Return the remedy for a line whose columns are separated by `separator`: a comma, a semicolon or a vertical bar.

    It has a command line that replaces the separators by tabs, if the line then fits a layout.
    """
    reason = f"its columns are separated by {_NAME_BY_SEPARATOR[separator]} and not by tabs"
    columns = next(csv.reader([line.text], delimiter=separator))
    if detect_schema(columns, edition) is None:
        return reason
    program = _PYTHON_PROGRAM_READING_CSV.format(separator)
    command_line = conversion_command(f"python3 -c {shlex.quote(program)}", line.file, prefix="tabs")
    return f"{reason}: {command_line}"


def _remedy_for_blanks_between_columns(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for a line whose columns are separated by blanks, or None if its words do not fit a layout."""
    words = line.text.split()
    for layout in SCHEMAS:
        if not layout.is_known_to(edition):
            continue
        columns = _columns_of_words(words, layout)
        is_fitting = bool(columns) and not layout.misfitting_columns(columns, edition)
        if is_fitting:
            command_line = conversion_command(_awk_command_for_words(layout), line.file, prefix="tabs")
            return f"its columns are separated by blanks and not by tabs: {command_line}"
    return None


def _columns_of_words(words: Sequence[str], layout: Schema) -> list[str]:
    """Return the columns of a line from its words. If the answer consists of several words, they are joined.

    The answer is the column `VALUE` of the layout. The list is empty if the line has fewer words than the layout has
    columns.
    """
    if len(words) < len(layout.columns):
        return []
    answer_start = layout.columns.index("VALUE")
    column_count_after_answer = len(layout.columns) - answer_start - 1
    answer_end = len(words) - column_count_after_answer
    answer = " ".join(words[answer_start:answer_end])
    return [*words[:answer_start], answer, *words[answer_end:]]


def _awk_command_for_words(layout: Schema) -> str:
    """Return an awk command that replaces the blanks between columns with tabs, but keeps the blanks in the answer.

    At least one column of the layout follows the answer.
    If the answer is the third of five columns, the program is
    `{v = $3; for (i = 4; i <= NF - 2; i++) v = v " " $i; print $1, $2, v, $(NF-1), $NF}`. The variable `v` is the
    answer: all words from the third one to the third from last.
    """
    count_before_answer = layout.columns.index("VALUE")
    count_after_answer = len(layout.columns) - count_before_answer - 1
    # Fields before the answer are counted from the start, such as `$1, $2`.
    fields_before = [f"${number}" for number in range(1, count_before_answer + 1)]
    # Fields after it are counted from the end, the last but one first: `$(NF-1)`; `$NF` follows them.
    distances_from_end = range(count_after_answer - 1, 0, -1)
    fields_after = [f"$(NF-{distance})" for distance in distances_from_end]
    all_fields = ", ".join([*fields_before, "v", *fields_after, "$NF"])
    first_word = count_before_answer + 1
    # The loop goes over the other words of the answer, up to the field before the last columns.
    next_words = f"i = {first_word + 1}; i <= NF - {count_after_answer}; i++"
    join_answer = f'v = ${first_word}; for ({next_words}) v = v " " $i'
    program = "{" + join_answer + "; print " + all_fields + "}"
    return rf"awk -v OFS='\t' '{program}'"


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
    return conversion_command(f"awk -F '\\t' '{awk_field} != \"{NIL}\"'", file, prefix="answers")


def _remedy_for_column_of_later_edition(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for a run with node ids, its ninth column, which early editions do not read.

    The result is None for another line, and for an edition that reads node ids.
    """
    if RUN_2017.is_known_to(edition) or len(line.columns) != len(RUN_2017.columns):
        return None
    return f"{edition.name} reads runs of eight columns, and this line has nine; leave the last one out"


def _remedy_for_nil_line(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for a NIL line, which says that a query has no answer, or None for any other line."""
    if not is_nil_line(line.columns):
        return None
    reason = "it is a NIL line of regular slot filling (a query without answer), and Cold Start runs have none"
    return f"{reason}: {command_removing_nil_lines(line.file)}"


def _remedy_for_misplaced_line(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for a line that does not belong in the file: a command line that removes it.

    A line is misplaced if it is a header, or if it fits no layout although the next line fits one. The result is None
    for any other line.
    """
    has_columns = len(line.columns) > 1
    if _is_header(line.columns):
        advice = "this line is a header; take it out"
    elif has_columns and detect_schema(line.columns_of_next_line, edition) is not None:
        advice = "the line after it fits, so take this one out"
    else:
        return None
    command_line = conversion_command(f"sed {line.number}d", line.file, prefix="lines")
    return f"{advice}: {command_line}"


def _is_header(columns: Sequence[str]) -> bool:
    """Return whether several columns of a line are names of columns, such as `#QUERY_ID` and `Confidence`."""
    names = [text.strip("#\ufeff ").upper() for text in columns]
    known_names = [name for name in names if name in COLUMN_PATTERNS]
    return len(known_names) > 1


def _remedy_for_empty_last_column(line: FirstLine, edition: Edition) -> str | None:
    """Return the remedy for a line of assessments whose last column is empty, or None for any other line.

    If the last column should hold the mention type of the class, the remedy includes a command. This command fills the
    column with the mention type of the answer, which is in an earlier column of the same line.
    """
    columns = line.text.split("\t")
    layouts = [layout for layout in layouts_of_width(len(columns), edition) if layout.kind is FileKind.ASSESSMENTS]
    if columns[-1] or not layouts:
        return None
    layout = layouts[0]
    reason = f"column {len(columns)} ({layout.columns[-1]}) is empty, so that it does not count"
    advice_to_write_0 = f"{reason}; write 0 where there is no class"
    mention_position = layout.position("VALUE_MENTION_TYPE")
    if mention_position is None:  # the last column is the class
        return advice_to_write_0
    # Filling in the column helps only if nothing else is wrong: with `0` in the last column, the line must fit the
    # layout.
    filled_columns = [*columns[:-1], "0"]
    if layout.misfitting_columns(filled_columns, edition):
        return advice_to_write_0
    command_line = conversion_command(_command_filling_last_column(mention_position), line.file, prefix="filled")
    return f"{reason}; to fill in the mention type of each answer: {command_line}"


def _command_filling_last_column(mention_position: int) -> str:
    """Return an awk command that fills in the last column of assessments where it is empty.

    The command copies the mention type of the answer, whose column is at the zero-based position `mention_position`. If
    the equivalence class in the second to last column is `0`, it writes `0` instead.
    """
    mention_type = f"${mention_position + 1}"  # awk numbers columns from 1
    # `$NF` is the last column; the `1` at the end prints every line, changed or not.
    program = f'$NF == "" {{$NF = ($(NF-1) == "0") ? "0" : {mention_type}}} 1'
    return f"awk -F '\\t' -v OFS='\\t' '{program}'"


_REMEDIES_FOR_COMMON_MISTAKES: Final = (
    # The line has no columns, or columns that are not separated by tabs.
    _remedy_for_other_kind,
    _remedy_for_other_line_ends,
    _remedy_for_missing_tabs,
    # The line has tabs, but is no line of a run or of assessments.
    _remedy_for_column_of_later_edition,
    _remedy_for_nil_line,
    _remedy_for_misplaced_line,
    _remedy_for_empty_last_column,
)
"""Functions that recognise common mistakes in the form of a file by its first line, and return the remedy or None."""


# ---- Queries

_WHOLE_QUERY: Final = re.compile(r"<query\s.*?</query>", re.DOTALL)
_MISSING_SLOT_ADVICE: Final = (
    "queries of regular slot filling ask for every slot of their entity, a Cold Start query names its own: "
    "<slot0>per:children</slot0>"
)
_SED_PROGRAM_TRIMMING_FIELDS: Final = "s#<(docid|beg|end)>[[:blank:]]*([^<[:blank:]]*)[[:blank:]]*</#<\\1>\\2</#g"


def why_no_queries(text: str, file: str) -> str:
    """Return the likely reason why a query file contains no usable query, with a remedy.

    `text` is the content of the file.
    """
    # A NUL character means that UTF-16 was decoded as UTF-8. The first two characters are encoded again, because the
    # bytes `<\0` or `\0<` show the byte order.
    if "\0" in text:
        first_bytes = text[:2].encode()
        return f"{file}: {_remedy_for_utf16_without_mark(first_bytes, file)}"
    text_as_bytes = text.lstrip("\ufeff").encode("utf-8", "surrogatepass")
    if _WEB_PAGE.match(text_as_bytes):
        return f"{file}: {_WEB_PAGE_REMEDY}"
    query_count = _count_of_queries(text)
    if query_count == 0:
        return f'{file}: there is no <query id="...">...</query> in it {_PAGE_TO_READ}'
    reason = "no query of it asks for a slot" if query_count > 1 else "its query asks for no slot"
    return f"{file}: {reason}; {_MISSING_SLOT_ADVICE}"


def _count_of_queries(text: str) -> int:
    """Return the number of queries in the text of a query file: the elements `<query id="...">...</query>`."""
    end_tag = "</query>"
    if end_tag not in text:
        return 0
    # The search stops at the last end tag: otherwise it would run to the end of the text for each unclosed query.
    search_end = text.rfind(end_tag) + len(end_tag)
    return len(_WHOLE_QUERY.findall(text, 0, search_end))


def command_removing_blanks(file: str) -> str:
    """Return a command line that removes the blanks around document ids and offsets of a query file.

    The command line writes a new file, and does not change the query file.
    """
    return conversion_command(f"sed -E '{_SED_PROGRAM_TRIMMING_FIELDS}'", file, prefix="trimmed")


# ---- Folders


def describe_folder(folder: str, suffix: str) -> str:
    """Describe a folder that contains no file ending in `suffix`, and name the folders or files to give instead.

    For example: `name the folder in it: runs/2017`.
    """
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return "it cannot be read"
    if not names:
        return "it is empty"
    paths = [os.path.join(folder, name) for name in names]
    advice = _advice_to_name_members(paths, suffix)
    if advice is None:
        return f"it holds folders only ({join_first(names)})"
    return advice


def _advice_to_name_members(paths: Sequence[str], suffix: str) -> str | None:
    """Return the advice to name the first folder that contains a file with this ending, or else all files.

    `paths` are the paths of the members of a folder. The result is None if they are only other folders.
    """
    for path in paths:
        if _has_member(path, suffix):
            return f"name the folder in it: {shlex.quote(path)}"
    files = [shlex.quote(path) for path in paths if os.path.isfile(path)]
    if not files:
        return None
    return f"name the files in it: {join_first(files, separator=' ')}"


def _has_member(path: str, suffix: str) -> bool:
    """Return whether a path is a folder that contains a file with this ending."""
    if not os.path.isdir(path):
        return False
    return any(name_without_compression(name).endswith(suffix) for name in os.listdir(path))
