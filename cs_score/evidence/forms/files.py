"""What a file is as a file: how it is packed, encoded and laid out, and the Python expressions that read it.

A remedy is a command that a reader can copy: a Python one-liner reads the file as it is, changes what has to be changed
and writes a new file that is scored. It is put together from the expressions of these records.
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
from typing import Any, Final

from cs_score.base.records import Record

_UNPACKERS: Final[tuple[tuple[str, bytes, Callable[[bytes], bytes]], ...]] = (
    ("gzip", b"\x1f\x8b", gzip.decompress),
    ("bz2", b"BZh", bz2.decompress),
    ("lzma", b"\xfd7zXZ", lzma.decompress),
)
"""Modules that unpack a file, how its bytes begin, and the function that does it."""

_ENDINGS: Final = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}

_ZIP: Final = b"PK\x03\x04"
_MARKS: Final = (("utf-16", b"\xff\xfe"), ("utf-16", b"\xfe\xff"), ("utf-8-sig", b"\xef\xbb\xbf"))
MOST_BYTES: Final = 1 << 30
"""The largest file in an archive that is looked at."""

_WEB_PAGES: Final = ("<!doctype html", "<html")


class Advice(Record):
    """What a user can do about a file of another form; `what` says which form it is, as a sentence."""

    what: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.what}; {self.remedy}" if self.remedy else self.what


class Text(Record):
    """The text of a file with the Python expression that opens it as a text file.

    `modules` are those that the expression needs; `what` says in words what is unusual about the file, empty where
    nothing is.
    """

    text: str
    expression: str
    modules: tuple[str, ...] = ()
    what: str = ""


class Values(Record):
    """The JSON values of a file with the Python expression that reads them, which has the value `value`.

    `is_lines`: the value is a list of what stands in the lines.
    """

    value: Any
    expression: str
    is_lines: bool
    modules: tuple[str, ...] = ("json",)
    what: str = ""


def text_of_file(file: str) -> Text | Advice | None:
    """Return the text of a file, however it is packed and encoded; None where it is no text that can be read."""
    with open(file, "rb") as handle:
        data = handle.read()
    name = json.dumps(file)
    opener, modules, words = "open", tuple[str, ...](), list[str]()
    if data.startswith(_ZIP):
        return _text_in_archive(file, data)
    unpacked = _unpacked(data)
    by_name = _ENDINGS.get(os.path.splitext(file)[1])
    if unpacked is not None:
        module, data = unpacked
        opener, modules = f"{module}.open", (module,)
        if by_name != module:
            words.append(f"is packed with {module}, which its name does not say")
    elif by_name is not None:
        words.append(f"is not packed with {by_name}, as its name says")
    encoding = _encoding_of(data)
    if encoding != "utf-8":
        shown = "UTF-8 with a byte order mark" if encoding == "utf-8-sig" else "UTF-16"
        words.append(f"is in {shown}")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    if text.lstrip()[:20].lower().startswith(_WEB_PAGES):
        return Advice("the file is a web page and not the file that it shows", "download the file itself")
    what = f"the file {' and '.join(words)}" if words else ""
    return Text(_with_plain_line_ends(text), f'{opener}({name}, "rt", encoding="{encoding}")', modules, what)


def _unpacked(data: bytes) -> tuple[str, bytes] | None:
    """Return the module that packed the bytes and what is in them; None where they are not packed, or damaged."""
    for module, beginning, unpack in _UNPACKERS:
        if data.startswith(beginning):
            try:
                return module, unpack(data)
            except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
                return None
    return None


def _text_in_archive(file: str, data: bytes) -> Text | Advice | None:
    """Return the text of the one file in a zip archive, or what to do where there are several."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
        if len(members) != 1:
            folder = os.path.splitext(file)[0] + "-unpacked"
            unpack = shlex.join(["python3", "-m", "zipfile", "-e", file, folder])
            shown = ", ".join(os.path.join(folder, member) for member in members[:5])
            return Advice(f"the file is a zip archive of {len(members)} files", f"{unpack} unpacks {shown}: name one")
        if archive.getinfo(members[0]).file_size > MOST_BYTES:
            return None
        content = archive.read(members[0])
        text = content.decode(_encoding_of(content))
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, UnicodeDecodeError, zlib.error):
        return None
    member = f"zipfile.ZipFile({json.dumps(file)}).open({json.dumps(members[0])})"
    expression = f'io.TextIOWrapper({member}, "{_encoding_of(content)}")'
    return Text(_with_plain_line_ends(text), expression, ("io", "zipfile"), "the file is a zip archive")


def _encoding_of(data: bytes) -> str:
    """Return the encoding that the first bytes of a file show; UTF-8 where they show none."""
    for encoding, mark in _MARKS:
        if data.startswith(mark):
            return encoding
    if data[1:2] == b"\0":
        return "utf-16-le"
    return "utf-16-be" if data[:1] == b"\0" else "utf-8"


def _with_plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


# ---- Layouts


def values_of(text: Text, *, has_lines: bool) -> Values | Advice | None:
    """Return the values of a file, laid out in whichever way; None where it is no JSON in any layout.

    `has_lines`: the task wants an object a line.
    """
    content = text.text
    if not content.strip():
        return Advice("the file is empty")
    first_two = (_lines, _document) if has_lines else (_document, _lines)
    for layout in (*first_two, _pretty_printed, _with_header, _python_literals):
        found = layout(content, text.expression)
        if found is None:
            continue
        is_wanted = found.is_lines == has_lines
        wanted = "an object a line is expected" if has_lines else "one JSON value is expected"
        shape = found.what if found.what or is_wanted else _shape(found)
        words = [text.what, f"{shape}, where {wanted}" if shape else ""]
        what = ", and ".join(word for word in words if word)
        return Values(found.value, found.expression, found.is_lines, (*found.modules, *text.modules), what)
    return None


def _shape(found: Values) -> str:
    if found.is_lines:
        return "the file has one JSON value a line"
    return "the file is a JSON list" if isinstance(found.value, list) else "the file is one JSON object"


def _lines(text: str, opened: str) -> Values | None:
    """Return the values of a file of lines; one line alone is taken for a document if it is a list."""
    lines = text.split("\n")
    filled = [line for line in lines if line.strip()]
    values = _parsed(filled)
    if values is None or (len(filled) == 1 and isinstance(values[0], list)):
        return None
    has_blank_lines = len(filled) < len([*lines[:-1], *([lines[-1]] if lines[-1] else [])])
    if has_blank_lines:
        expression = f"[json.loads(line) for line in {opened} if line.strip()]"
        return Values(values, expression, True, what="the file has blank lines")
    return Values(values, f"[json.loads(line) for line in {opened}]", True)


def _document(text: str, opened: str) -> Values | None:
    values = _parsed([text])
    return None if values is None else Values(values[0], f"json.load({opened})", False)


def _pretty_printed(text: str, opened: str) -> Values | None:
    """Return the values of objects that are printed over several lines each, one behind the other."""
    between, comma = "\n}\n{", "\n},\n{"
    values = _parsed([f"[{text.strip().replace(between, comma)}]"])
    if values is None or between not in text:
        return None
    source = rf'json.loads("[" + {opened}.read().strip().replace("\n}}\n{{", "\n}},\n{{") + "]")'
    return Values(values[0], source, True, what="the file has objects that take several lines each")


def _with_header(text: str, opened: str) -> Values | None:
    lines = text.strip().split("\n")
    values = _parsed(lines[1:])
    if not values:
        return None
    expression = f"[json.loads(line) for line in list({opened})[1:]]"
    return Values(values, expression, True, what="the first line is a heading and no JSON")


def _python_literals(text: str, opened: str) -> Values | None:
    """Return what Python prints of objects, with single quotes, line by line or as a whole."""
    what = "the file is what Python prints and no JSON"
    try:
        values = [ast.literal_eval(line) for line in text.strip().split("\n")]
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if len(values) == 1:
        return Values(values[0], f"ast.literal_eval({opened}.read())", False, ("ast", "json"), what)
    return Values(values, f"[ast.literal_eval(line) for line in {opened}]", True, ("ast", "json"), what)


def _parsed(texts: Sequence[str]) -> list[Any] | None:
    try:
        return [json.loads(text) for text in texts]
    except (ValueError, RecursionError):
        return None


# ---- The command that writes a file anew


def converted_name(file: str, *, has_lines: bool) -> str:
    """Return the name of the file that a conversion writes, beside the file that is read."""
    stem = os.path.splitext(file)[0]
    for ending in (".json", ".jsonl"):
        stem = stem.removesuffix(ending)
    return f"{stem}-converted.{'jsonl' if has_lines else 'json'}"


def conversion(file: str, values: Values, change: str, *, has_lines: bool) -> str:
    """Return the command that reads a file, makes of its value `R` what the expression `change` says, and writes it."""
    target = converted_name(file, has_lines=has_lines)
    written = f'open({json.dumps(target)}, "w")'
    read = f"R = {values.expression}"
    if has_lines:
        write = rf'{written}.writelines(json.dumps(c) + "\n" for c in {change})'
    else:
        write = f"json.dump({change}, {written})"
    program = f"import {', '.join(dict.fromkeys(values.modules))}; {read}; {write}"
    return f"convert it to {target}: {shlex.join(['python3', '-c', program])}"
