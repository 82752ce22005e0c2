"""Recognises how a file is packed, encoded and laid out, and returns the Python code that reads it.
A task that refuses a file tells the user a command to copy: a line of Python that reads the file, changes its value and
writes a new file. This module returns the parts of this command.
"""

from __future__ import annotations

import ast
import bz2
import gzip
import io
import json
import lzma
import os
import shlex
import zipfile
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from cs_score.base.records import Record, replace


class _Packer(NamedTuple):
    """A kind of packed file: the module that unpacks it, its first bytes, and the function that unpacks it."""

    module: str
    first_bytes: bytes
    unpack: Callable[[bytes], bytes]


_PACKERS: Final = (
    _Packer("gzip", b"\x1f\x8b", gzip.decompress),
    _Packer("bz2", b"BZh", bz2.decompress),
    _Packer("lzma", b"\xfd7zXZ", lzma.decompress),
)

_MODULE_BY_ENDING: Final = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}

_BEGINNING_OF_ZIP_FILE: Final = b"PK\x03\x04"
_BYTE_ORDER_MARKS: Final = (("utf-16", b"\xff\xfe"), ("utf-16", b"\xfe\xff"), ("utf-8-sig", b"\xef\xbb\xbf"))
MOST_BYTES: Final = 1 << 30
"""The size of the largest file in an archive that is unpacked."""

_WEB_PAGES: Final = ("<!doctype html", "<html")


class Advice(Record):
    """Advice on a file that does not have the form that a task reads.

    `diagnosis` says which form the file has, and `action` what the user can do. At least one of them is not empty. If
    the form is not recognised, there is no diagnosis, and the action shows an example of the right form.
    """

    diagnosis: str = ""
    action: str = ""

    def __str__(self) -> str:
        """Return the advice in words, such as "the file is a zip archive of 2 files; ... unpacks a.json: name one"."""
        return "; ".join([text for text in (self.diagnosis, self.action) if text])


class Text(Record):
    """The text of a file, and the Python expression that opens the file as a text file.

    `opening_code` is this expression, such as `open("gold.json", "rt", encoding="utf-8")`. It uses the `modules`.
    `diagnosis` says in words what is unusual about the file, such as `the file is in UTF-16`, or is empty.
    """

    content: str
    opening_code: str
    modules: tuple[str, ...] = ()
    diagnosis: str = ""


class Values(Record):
    """The content of a file as a JSON value, and the Python expression that reads this value.

    `reading_code` is this expression, such as `json.load(open("gold.json"))`, and `modules` are the modules that it
    uses. If `has_line_values` is true, the file has a JSON value on each line, and the content is the list of these
    values. `diagnosis` describes what is unusual about the file, and is empty if nothing is.
    """

    content: Any
    reading_code: str
    has_line_values: bool
    modules: tuple[str, ...] = ("json",)
    diagnosis: str = ""


# ---- Packing and encoding


def text_of_file(file: str) -> Text | Advice | None:
    """Return the unpacked and decoded text of a file, or None if the file is damaged or is not text.

    The packing and the encoding are recognised by the first bytes. If the file is a web page, or an archive that does
    not contain exactly one file, advice is returned instead. Raises OSError if the file cannot be opened.
    """
    with open(file, "rb") as handle:
        data = handle.read()
    if data.startswith(_BEGINNING_OF_ZIP_FILE):
        return _text_in_archive(file, data)
    unpacked = _unpack(data)
    if unpacked is None:  # the file is not packed, so no module is needed to unpack it
        unpacked = _UnpackedBytes(module=None, data=data)
    return _decode(file, unpacked)


def _decode(file: str, unpacked: _UnpackedBytes) -> Text | Advice | None:
    """Return the text in the bytes of a file, advice if they are a web page, or None if they are not text."""
    encoding = _guess_encoding(unpacked.data)
    try:
        text = unpacked.data.decode(encoding)
    except UnicodeDecodeError:
        return None
    if _is_web_page(text):
        return Advice("the file is a web page and not the file that it shows", "download the file itself")
    return Text(
        content=_normalize_line_ends(text),
        opening_code=f'{unpacked.open_function}({json.dumps(file)}, "rt", encoding="{encoding}")',
        modules=() if unpacked.module is None else (unpacked.module,),
        diagnosis=_describe_unusual_properties(file, unpacked.module, encoding),
    )


def _is_web_page(text: str) -> bool:
    """Return whether a text begins like a page in HTML."""
    beginning = text.lstrip()[:20].lower()
    return beginning.startswith(_WEB_PAGES)


def _describe_unusual_properties(file: str, module: str | None, encoding: str) -> str:
    """Return the unusual properties of the packing and the encoding of a file in words: "the file is in UTF-16".

    `module` is the name of the module that unpacks the file, such as gzip, or None if the file is not packed. The text
    is empty if nothing is unusual.
    """
    properties = []
    module_of_name = _MODULE_BY_ENDING.get(os.path.splitext(file)[1])
    if module is None and module_of_name is not None:
        properties.append(f"is not packed with {module_of_name}, as its name says")
    if module is not None and module_of_name != module:
        properties.append(f"is packed with {module}, which its name does not say")
    if encoding != "utf-8":
        encoding_in_words = "UTF-8 with a byte order mark" if encoding == "utf-8-sig" else "UTF-16"
        properties.append(f"is in {encoding_in_words}")
    return f"the file {' and '.join(properties)}" if properties else ""


class _UnpackedBytes(NamedTuple):
    """The bytes of a file after unpacking, and the name of the module that unpacks them, such as gzip.

    The module is None if the file is not packed.
    """

    module: str | None
    data: bytes

    @property
    def open_function(self) -> str:
        """The name of the Python function that opens the file as a text file: "gzip.open", or "open"."""
        return "open" if self.module is None else f"{self.module}.open"


def _unpack(data: bytes) -> _UnpackedBytes | None:
    """Return the unpacked bytes of a file, given its bytes. Return None if they are not packed, or are damaged."""
    for packer in _PACKERS:
        if data.startswith(packer.first_bytes):
            try:
                return _UnpackedBytes(packer.module, packer.unpack(data))
            except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
                return None
    return None


def _text_in_archive(file: str, data: bytes) -> Text | Advice | None:
    """Return the text of the only file in a zip archive, or None if this file is damaged, too large or not text.

    `data` contains the bytes of the archive. If the archive does not contain exactly one file, advice is returned
    instead.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = [name for name in archive.namelist() if not _is_folder_or_metadata(name)]
        if len(members) != 1:
            return _advice_on_archive(file, members)
        return _text_of_member(file, archive, members[0])
    except (zipfile.BadZipFile, zlib.error):  # the archive or the file in it is damaged
        return None
    except (RuntimeError, NotImplementedError):  # the file is encrypted, or packed in an unknown way
        return None
    except UnicodeDecodeError:  # the file is not text
        return None


def _text_of_member(file: str, archive: zipfile.ZipFile, member: str) -> Text | None:
    """Return the text of a zip archive member with the Python code that opens it, or None if the member is too large.

    `file` is the name of the archive. The caller catches the errors raised if the member is damaged (BadZipFile,
    zlib.error), encrypted (RuntimeError), compressed in an unknown way (NotImplementedError), or not text
    (UnicodeDecodeError).
    """
    if archive.getinfo(member).file_size > MOST_BYTES:
        return None
    content = archive.read(member)
    encoding = _guess_encoding(content)
    binary_opening = f"zipfile.ZipFile({json.dumps(file)}).open({json.dumps(member)})"
    return Text(
        content=_normalize_line_ends(content.decode(encoding)),
        opening_code=f'io.TextIOWrapper({binary_opening}, "{encoding}")',
        modules=("io", "zipfile"),
        diagnosis="the file is a zip archive",
    )


def _is_folder_or_metadata(member: str) -> bool:
    """Return whether a member of a zip archive is a folder, or a file that macOS adds to an archive."""
    return member.endswith("/") or member.startswith("__MACOSX")


def _advice_on_archive(file: str, members: Sequence[str]) -> Advice:
    """Return the advice to unpack an archive and to pass one of its files to cs-score.

    `members` are the names of the files in the archive.
    """
    folder = os.path.splitext(file)[0] + "-unpacked"
    command = shlex.join(["python3", "-m", "zipfile", "-e", file, folder])
    unpacked_files = ", ".join([os.path.join(folder, member) for member in members[:5]])
    return Advice(
        diagnosis=f"the file is a zip archive of {len(members)} files",
        action=f"{command} unpacks {unpacked_files}: name one",
    )


def _guess_encoding(data: bytes) -> str:
    """Return the encoding that the first bytes of a file suggest, which is UTF-8 or a variant of UTF-16."""
    for encoding, mark in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding
    # JSON begins with an ASCII character. In UTF-16 the other byte of that character is zero.
    first_byte = data[:1]
    second_byte = data[1:2]
    if second_byte == b"\0":
        return "utf-16-le"
    if first_byte == b"\0":
        return "utf-16-be"
    return "utf-8"


def _normalize_line_ends(text: str) -> str:
    """Return a text in which every line ends with LF instead of CR LF or CR."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


# ---- Layouts

Layout: TypeAlias = Callable[[str, str], Values | None]
"""A function that reads the values in a text that has a certain layout. It returns None for any other layout.

Its arguments are the text and the Python expression that opens the file.
"""


def values_of(text: Text, *, has_lines: bool) -> Values | Advice | None:
    """Return the values in the text of a file, according to the first layout that fits, or None if no layout fits.

    `has_lines` says that the task expects an object on each line, so that this layout is tried first. If the file is
    empty, advice is returned instead.
    """
    if not text.content.strip():
        return Advice("the file is empty")
    usual_layouts = _LAYOUTS_OF_LINES if has_lines else _LAYOUTS_OF_DOCUMENT
    for read_layout in (*usual_layouts, *_UNUSUAL_LAYOUTS):
        values = read_layout(text.content, text.opening_code)
        if values is not None:
            all_modules = values.modules + text.modules
            diagnosis = _diagnosis_of(text, values, has_lines=has_lines)
            return replace(values, modules=all_modules, diagnosis=diagnosis)
    return None


def _diagnosis_of(text: Text, values: Values, *, has_lines: bool) -> str:
    """Return a description of how the packing, encoding or layout of a file differs from what a task expects.

    An example is "the file is in UTF-16, and the file is a JSON list, where an object a line is expected". `has_lines`
    is true if the task expects an object on each line. The description is empty if nothing differs.
    """
    packing_in_words = text.diagnosis
    layout_in_words = values.diagnosis
    if not layout_in_words and values.has_line_values != has_lines:
        layout_in_words = _describe_layout(values)
    diagnoses = []
    if packing_in_words:
        diagnoses.append(packing_in_words)
    if layout_in_words:
        expectation = "an object a line is expected" if has_lines else "one JSON value is expected"
        diagnoses.append(f"{layout_in_words}, where {expectation}")
    return ", and ".join(diagnoses)


def _describe_layout(values: Values) -> str:
    """Return the layout of a file in words, such as `the file is a JSON list`."""
    if values.has_line_values:
        return "the file has one JSON value a line"
    if isinstance(values.content, list):
        return "the file is a JSON list"
    return "the file is one JSON object"


def _read_lines(text: str, opening_code: str) -> Values | None:
    """Return the values of a file with a JSON value on each line, or None if the file has another layout.

    A file with a list on its only line counts as one JSON value, so that it has another layout. `opening_code` is the
    Python expression that opens the file.
    """
    lines = text.removesuffix("\n").split("\n")
    filled_lines = [line for line in lines if line.strip()]
    values = _parse_all(filled_lines)
    if values is None:
        return None
    has_only_list = len(values) == 1 and isinstance(values[0], list)
    if has_only_list:
        return None
    has_blank_lines = len(filled_lines) < len(lines)
    if has_blank_lines:
        reading_code = f"[json.loads(line) for line in {opening_code} if line.strip()]"
        return Values(values, reading_code, has_line_values=True, diagnosis="the file has blank lines")
    return Values(values, f"[json.loads(line) for line in {opening_code}]", has_line_values=True)


def _read_document(text: str, opening_code: str) -> Values | None:
    """Return the value of a file that is a single JSON value, or None if the file has another layout.

    `opening_code` is the Python expression that opens the file.
    """
    values = _parse_all([text])
    if values is None:
        return None
    return Values(values[0], f"json.load({opening_code})", has_line_values=False)


def _read_pretty_printed(text: str, opening_code: str) -> Values | None:
    """Return the values of a file with JSON objects of several lines each, or None if the file has another layout.

    `opening_code` is the Python expression that opens the file.
    """
    between_objects = "\n}\n{"
    if between_objects not in text:
        return None
    with_commas = text.strip().replace(between_objects, "\n},\n{")
    values = _parse_all([f"[{with_commas}]"])
    if values is None:
        return None
    # For the opening code `open("a.json")`, the reading code is as follows:
    # json.loads("[" + open("a.json").read().strip().replace("\n}\n{", "\n},\n{") + "]")
    replacement_code = r'.replace("\n}\n{", "\n},\n{")'
    reading_code = f'json.loads("[" + {opening_code}.read().strip(){replacement_code} + "]")'
    diagnosis = "the file has objects that take several lines each"
    return Values(values[0], reading_code, has_line_values=True, diagnosis=diagnosis)


def _read_with_heading(text: str, opening_code: str) -> Values | None:
    """Return the values of a file with a heading on its first line and a JSON value on each other line.

    Return None for another layout. `opening_code` is the Python expression that opens the file.
    """
    _heading, *other_lines = text.strip().split("\n")
    values = _parse_all(other_lines)
    if not values:
        return None
    reading_code = f"[json.loads(line) for line in list({opening_code})[1:]]"
    return Values(values, reading_code, has_line_values=True, diagnosis="the first line is a heading and no JSON")


def _read_literals(text: str, opening_code: str) -> Values | None:
    """Return the values of a file written with `print`, such as {'id': 1}, or None if the file has another layout.

    The file has one value, or a value on each line. `opening_code` is the Python expression that opens the file.
    """
    diagnosis = "the file is what Python prints and no JSON"
    modules = ("ast", "json")
    try:
        values = [ast.literal_eval(line) for line in text.strip().split("\n")]
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if len(values) == 1:
        reading_code = f"ast.literal_eval({opening_code}.read())"
        return Values(values[0], reading_code, has_line_values=False, modules=modules, diagnosis=diagnosis)
    reading_code = f"[ast.literal_eval(line) for line in {opening_code}]"
    return Values(values, reading_code, has_line_values=True, modules=modules, diagnosis=diagnosis)


_LAYOUTS_OF_LINES: Final[tuple[Layout, ...]] = (_read_lines, _read_document)
_LAYOUTS_OF_DOCUMENT: Final[tuple[Layout, ...]] = (_read_document, _read_lines)
"""The usual layouts in the order in which they are tried, if an object on each line is expected and if one value is."""

_UNUSUAL_LAYOUTS: Final[tuple[Layout, ...]] = (_read_pretty_printed, _read_with_heading, _read_literals)


def _parse_all(texts: Sequence[str]) -> list[Any] | None:
    """Return the JSON value of each text, or None if one of the texts is not JSON."""
    try:
        return [json.loads(text) for text in texts]
    except (ValueError, RecursionError):
        return None


# ---- The command that converts a file


def converted_name(file: str, *, has_lines: bool) -> str:
    """Return the name of the new file that the conversion of a file writes: "gold.json" -> "gold-converted.jsonl".

    The name ends in `.jsonl` if `has_lines` says that the new file has a JSON value on each line, otherwise in `.json`.
    """
    stem = os.path.splitext(file)[0]
    for ending in (".json", ".jsonl"):  # of a packed file, such as gold.json.gz
        stem = stem.removesuffix(ending)
    new_ending = "jsonl" if has_lines else "json"
    return f"{stem}-converted.{new_ending}"


def conversion_advice(file: str, values: Values, new_value_code: str, *, has_lines: bool) -> str:
    """Return the advice to convert a file, which includes a Python command for this purpose.

    The command reads the file, changes its value and writes a new file. `new_value_code` is the Python expression for
    the new value, in which the variable `R` is the value of the file, such as `R["data"]`. `has_lines` says that the
    new file has a JSON value on each line. An example of a program in a command:

        import json; R = json.load(open("a.json")); json.dump(R["data"], open("a-converted.json", "w"))
    """
    new_file = converted_name(file, has_lines=has_lines)
    new_file_code = f'open({json.dumps(new_file)}, "w")'  # opens the new file
    distinct_modules = dict.fromkeys(values.modules)  # with json, which writes the new file
    import_statement = f"import {', '.join(distinct_modules)}"
    read_statement = f"R = {values.reading_code}"
    if has_lines:
        write_statement = rf'{new_file_code}.writelines(json.dumps(c) + "\n" for c in {new_value_code})'
    else:
        write_statement = f"json.dump({new_value_code}, {new_file_code})"
    program = f"{import_statement}; {read_statement}; {write_statement}"
    command = shlex.join(["python3", "-c", program])
    return f"convert it to {new_file}: {command}"
