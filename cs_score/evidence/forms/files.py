"""How a file is packed, encoded and laid out, and the Python expressions that read it.

A remedy is a command that a reader can copy: a Python one-liner that reads the file as it is, changes its value and
writes a new file, which can be scored. The records here hold the expressions that the command is put together from.
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

from cs_score.base.records import Record


class _Packer(NamedTuple):
    """A kind of packed file: the module that unpacks it, the first bytes of the file, and the function that unpacks."""

    module: str
    first_bytes: bytes
    unpack: Callable[[bytes], bytes]


_PACKERS: Final = (
    _Packer("gzip", b"\x1f\x8b", gzip.decompress),
    _Packer("bz2", b"BZh", bz2.decompress),
    _Packer("lzma", b"\xfd7zXZ", lzma.decompress),
)

_MODULE_BY_ENDING: Final = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}

_ZIP: Final = b"PK\x03\x04"
_BYTE_ORDER_MARKS: Final = (("utf-16", b"\xff\xfe"), ("utf-16", b"\xfe\xff"), ("utf-8-sig", b"\xef\xbb\xbf"))
MOST_BYTES: Final = 1 << 30
"""The size of the largest file in an archive that is unpacked."""

_WEB_PAGES: Final = ("<!doctype html", "<html")


class Advice(Record):
    """Advice on a file of another form. `diagnosis` says which form it has, `remedy` what the user can do."""

    diagnosis: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.diagnosis}; {self.remedy}" if self.remedy else self.diagnosis


class Text(Record):
    """The text of a file, with the Python expression that opens the file as a text file.

    `modules` are the modules that the expression needs. `diagnosis` says in words how the file is unusual, such as
    `the file is in UTF-16`; it is empty for a usual file.
    """

    text: str
    expression: str
    modules: tuple[str, ...] = ()
    diagnosis: str = ""


class Values(Record):
    """The JSON value of a file, with the Python expression that reads it.

    With `is_lines` the value is the list of the values of the lines. `modules` and `diagnosis` are as in `Text`.
    """

    value: Any
    expression: str
    is_lines: bool
    modules: tuple[str, ...] = ("json",)
    diagnosis: str = ""


# ---- Packing and encoding


def text_of_file(file: str) -> Text | Advice | None:
    """Return the text of a file, however it is packed and encoded; None for a file that is no readable text.

    For a web page and for an archive of several files return advice instead. Raises OSError.
    """
    with open(file, "rb") as handle:
        data = handle.read()
    if data.startswith(_ZIP):
        return _text_in_archive(file, data)
    opener = "open"
    modules: tuple[str, ...] = ()
    oddities = []
    unpacked = _unpack(data)
    module_of_name = _MODULE_BY_ENDING.get(os.path.splitext(file)[1])
    if unpacked is not None:
        module, data = unpacked
        opener = f"{module}.open"
        modules = (module,)
        if module_of_name != module:
            oddities.append(f"is packed with {module}, which its name does not say")
    elif module_of_name is not None:
        oddities.append(f"is not packed with {module_of_name}, as its name says")
    encoding = _guess_encoding(data)
    if encoding != "utf-8":
        encoding_in_words = "UTF-8 with a byte order mark" if encoding == "utf-8-sig" else "UTF-16"
        oddities.append(f"is in {encoding_in_words}")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    if text.lstrip()[:20].lower().startswith(_WEB_PAGES):
        return Advice("the file is a web page and not the file that it shows", "download the file itself")
    expression = f'{opener}({json.dumps(file)}, "rt", encoding="{encoding}")'
    diagnosis = f"the file {' and '.join(oddities)}" if oddities else ""
    return Text(_normalize_line_ends(text), expression, modules, diagnosis)


def _unpack(data: bytes) -> tuple[str, bytes] | None:
    """Return the module that packed the bytes, and the unpacked bytes; None if they are not packed, or damaged."""
    for packer in _PACKERS:
        if data.startswith(packer.first_bytes):
            try:
                return packer.module, packer.unpack(data)
            except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
                return None
    return None


def _text_in_archive(file: str, data: bytes) -> Text | Advice | None:
    """Return the text of the one file in a zip archive; for several files return advice, None if it is damaged."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
        if len(members) != 1:
            return _advice_on_archive(file, members)
        if archive.getinfo(members[0]).file_size > MOST_BYTES:
            return None
        content = archive.read(members[0])
        encoding = _guess_encoding(content)
        text = content.decode(encoding)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, UnicodeDecodeError, zlib.error):
        return None
    member = f"zipfile.ZipFile({json.dumps(file)}).open({json.dumps(members[0])})"
    expression = f'io.TextIOWrapper({member}, "{encoding}")'
    return Text(_normalize_line_ends(text), expression, ("io", "zipfile"), "the file is a zip archive")


def _advice_on_archive(file: str, members: Sequence[str]) -> Advice:
    """Return the advice to unpack an archive that does not hold exactly one file, and to name one of its files."""
    folder = os.path.splitext(file)[0] + "-unpacked"
    command = shlex.join(["python3", "-m", "zipfile", "-e", file, folder])
    files = ", ".join([os.path.join(folder, member) for member in members[:5]])
    return Advice(f"the file is a zip archive of {len(members)} files", f"{command} unpacks {files}: name one")


def _guess_encoding(data: bytes) -> str:
    """Return the encoding that the first bytes of a file show; UTF-8 if they show none."""
    for encoding, mark in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding
    if data[1:2] == b"\0":
        return "utf-16-le"
    return "utf-16-be" if data[:1] == b"\0" else "utf-8"


def _normalize_line_ends(text: str) -> str:
    """Return a text with LF in the place of CR LF and CR."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


# ---- Layouts

Layout: TypeAlias = Callable[[str, str], Values | None]
"""Reads a text in one layout, given the expression that opens the file; None if the text has another layout."""


def values_of(text: Text, *, has_lines: bool) -> Values | Advice | None:
    """Return the value of a file, whatever its layout; None for a file that is no JSON in any layout.

    `has_lines` says that the task wants an object on each line. For an empty file return advice instead.
    """
    content = text.text
    if not content.strip():
        return Advice("the file is empty")
    layouts: list[Layout] = [_read_document, _read_lines, _read_pretty_printed, _read_with_heading, _read_literals]
    if has_lines:
        layouts[:2] = [_read_lines, _read_document]
    for read_layout in layouts:
        values = read_layout(content, text.expression)
        if values is not None:
            return Values(
                value=values.value,
                expression=values.expression,
                is_lines=values.is_lines,
                modules=(*values.modules, *text.modules),
                diagnosis=_diagnose(text, values, has_lines=has_lines),
            )
    return None


def _diagnose(text: Text, values: Values, *, has_lines: bool) -> str:
    """Return the oddities of a file in words: packing, encoding, and a layout that the task does not read."""
    diagnoses = []
    if text.diagnosis:
        diagnoses.append(text.diagnosis)
    layout = values.diagnosis
    if not layout and values.is_lines != has_lines:
        layout = _describe_layout(values)
    if layout:
        wanted = "an object a line is expected" if has_lines else "one JSON value is expected"
        diagnoses.append(f"{layout}, where {wanted}")
    return ", and ".join(diagnoses)


def _describe_layout(values: Values) -> str:
    """Return the layout of a file in words."""
    if values.is_lines:
        return "the file has one JSON value a line"
    return "the file is a JSON list" if isinstance(values.value, list) else "the file is one JSON object"


def _read_lines(text: str, opening: str) -> Values | None:
    """Return the values of a file with a JSON value on each line; None for another layout.

    A single line with a list is no such file. `opening` is the Python expression that opens the file.
    """
    lines = text.split("\n")
    filled_lines = [line for line in lines if line.strip()]
    values = _parse_all(filled_lines)
    if values is None or (len(filled_lines) == 1 and isinstance(values[0], list)):
        return None
    if not lines[-1]:
        lines.pop()  # the end of the last line is no blank line
    if len(filled_lines) < len(lines):
        expression = f"[json.loads(line) for line in {opening} if line.strip()]"
        return Values(values, expression, is_lines=True, diagnosis="the file has blank lines")
    return Values(values, f"[json.loads(line) for line in {opening}]", is_lines=True)


def _read_document(text: str, opening: str) -> Values | None:
    """Return the value of a file that is one JSON value; `opening` is the expression that opens it. None otherwise."""
    values = _parse_all([text])
    return None if values is None else Values(values[0], f"json.load({opening})", is_lines=False)


def _read_pretty_printed(text: str, opening: str) -> Values | None:
    """Return the values of a file with JSON objects that take several lines each; None for another layout.

    `opening` is the Python expression that opens the file.
    """
    between_objects = "\n}\n{"
    with_commas = text.strip().replace(between_objects, "\n},\n{")
    values = _parse_all([f"[{with_commas}]"])
    if values is None or between_objects not in text:
        return None
    expression = rf'json.loads("[" + {opening}.read().strip().replace("\n}}\n{{", "\n}},\n{{") + "]")'
    return Values(values[0], expression, is_lines=True, diagnosis="the file has objects that take several lines each")


def _read_with_heading(text: str, opening: str) -> Values | None:
    """Return the values of a file with a JSON value on each line but the first, a heading; None for another layout.

    `opening` is the Python expression that opens the file.
    """
    lines = text.strip().split("\n")
    values = _parse_all(lines[1:])
    if not values:
        return None
    expression = f"[json.loads(line) for line in list({opening})[1:]]"
    return Values(values, expression, is_lines=True, diagnosis="the first line is a heading and no JSON")


def _read_literals(text: str, opening: str) -> Values | None:
    """Return the values of a file with what Python prints, such as {'id': 1}, once or on each line; None otherwise.

    `opening` is the Python expression that opens the file.
    """
    diagnosis = "the file is what Python prints and no JSON"
    modules = ("ast", "json")
    try:
        values = [ast.literal_eval(line) for line in text.strip().split("\n")]
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if len(values) == 1:
        return Values(values[0], f"ast.literal_eval({opening}.read())", False, modules, diagnosis)
    return Values(values, f"[ast.literal_eval(line) for line in {opening}]", True, modules, diagnosis)


def _parse_all(texts: Sequence[str]) -> list[Any] | None:
    """Return the JSON value of each text; None if one of them is no JSON."""
    try:
        return [json.loads(text) for text in texts]
    except (ValueError, RecursionError):
        return None


# ---- The command that writes a file anew


def converted_name(file: str, *, has_lines: bool) -> str:
    """Return the name of the file that a conversion writes: "gold.json" -> "gold-converted.jsonl"."""
    stem = os.path.splitext(file)[0]
    for ending in (".json", ".jsonl"):
        stem = stem.removesuffix(ending)
    return f"{stem}-converted.{'jsonl' if has_lines else 'json'}"


def conversion(file: str, values: Values, change: str, *, has_lines: bool) -> str:
    """Return the advice to convert a file, with the command that reads it, changes its value and writes a new file.

    `change` is the Python expression for the new value, in which `R` is the value that is read.
    """
    target = converted_name(file, has_lines=has_lines)
    open_target = f'open({json.dumps(target)}, "w")'
    read = f"R = {values.expression}"
    if has_lines:
        write = rf'{open_target}.writelines(json.dumps(c) + "\n" for c in {change})'
    else:
        write = f"json.dump({change}, {open_target})"
    program = f"import {', '.join(dict.fromkeys(values.modules))}; {read}; {write}"
    return f"convert it to {target}: {shlex.join(['python3', '-c', program])}"
