"""JSON as users have it: one object per line or one document, from a file, standard input or memory.

Everything that can be wrong with the text is an InputError with file and place. What the values mean is the business
of the modes; they take them apart with the small functions at the end.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Final, TypeAlias

from cs_score.base.display import one_line
from cs_score.base.errors import InputError
from cs_score.base.sources import READING_ERRORS, Input, Source, open_source, reason_of
from cs_score.evidence.reading.large_numbers import hashable_float, hashable_integer

Object: TypeAlias = dict[str, object]
"""A JSON object."""

BYTE_ORDER_MARK: Final = "\ufeff"


def json_decoder(objects: Callable[[list[tuple[str, Any]]], Object] | None = None) -> json.JSONDecoder:
    """What turns text into values; `objects` as in `json.JSONDecoder` makes an object of its members."""
    return json.JSONDecoder(object_pairs_hook=objects, parse_int=hashable_integer, parse_float=hashable_float)


_decode: Final = json_decoder().decode


def open_lines(given: Input | Iterable[object], role: str) -> Source:
    """Open JSON lines: a path, an open file, or the values themselves.

    Values from memory are written as JSON and read back like a file named `<role>`: the same rules hold for both,
    the digest is that of the text, and nothing the caller changes later reaches the result.
    """
    if _is_input(given):
        return open_source(given)  # type: ignore[arg-type]  # what _is_input has just found out
    if not isinstance(given, Iterable):
        raise InputError(f"neither a file nor a sequence of claims: {type(given).__name__}", file=f"<{role}>")
    return _in_memory("".join(f"{_json_text(value, role)}\n" for value in given), role)


def open_document(given: Input | object, role: str) -> Source:
    """Open one JSON document: a path, an open file, or the value itself (see open_lines)."""
    if _is_input(given):
        return open_source(given)  # type: ignore[arg-type]  # what _is_input has just found out
    return _in_memory(_json_text(given, role), role)


def _is_input(given: object) -> bool:
    return isinstance(given, (str, os.PathLike)) or hasattr(given, "read")


def _in_memory(text: str, role: str) -> Source:
    return Source(f"<{role}>", io.BytesIO(text.encode("ascii")))


def _json_text(value: object, role: str) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"cannot be written as JSON: {error}", file=f"<{role}>") from None


def json_lines(source: Source, *, skipped_marks: str = "") -> Iterator[tuple[int, object]]:
    """Line number (from 1) and value of each line of `source`.

    Lines end at LF, CR LF or CR and nowhere else. One of the characters `skipped_marks` is passed over at the start
    of a line. Raises InputError for a line that is blank, not UTF-8 or not JSON.
    """
    for number, line in enumerate(_lines(source), start=1):
        try:
            text = line.decode("utf-8")
            if skipped_marks and text[:1] in skipped_marks:
                text = text[1:]
            value = _decode(text)
        except (ValueError, RecursionError) as error:
            raise InputError(_line_problem(line, error), file=source.name, place=f"line {number}") from None
        yield number, value


def _lines(source: Source) -> Iterator[bytes]:
    try:
        for block in source.binary:
            if b"\r" in block:
                yield from block.splitlines()  # of bytes: at LF, CR LF and CR only
            else:
                yield block
    except READING_ERRORS as error:
        raise InputError(f"cannot be read: {reason_of(error)}", file=source.name) from None


def _line_problem(line: bytes, error: ValueError | RecursionError) -> str:
    if not line.strip():
        return "a blank line"
    if line.startswith(BYTE_ORDER_MARK.encode()):
        return "a byte order mark; save the file as UTF-8 without it"
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} (character {error.colno})"
    return decoding_problem(error)


def json_document(source: Source) -> object:
    """The one JSON value of `source`. Raises InputError where the text is not UTF-8 or not JSON."""
    data = source.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"line {data.count(10, 0, error.start) + 1}"
        raise InputError(decoding_problem(error), file=source.name, place=place) from None
    del data  # one copy of the text is enough
    try:
        return _decode(text)
    except json.JSONDecodeError as error:
        if text.startswith(BYTE_ORDER_MARK):
            raise InputError("a byte order mark; save the file as UTF-8 without it", file=source.name) from None
        place = f"line {error.lineno}"
        raise InputError(f"not JSON: {error.msg} (character {error.colno})", file=source.name, place=place) from None
    except (ValueError, RecursionError) as error:
        raise InputError(decoding_problem(error), file=source.name) from None


def decoding_problem(error: ValueError | RecursionError) -> str:
    """What is wrong with a text that cannot be decoded, or with JSON that the interpreter will not hold."""
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8: byte 0x{error.object[error.start]:02x}"
    if isinstance(error, RecursionError):
        return "not usable JSON: lists or objects nested too deeply"
    return "not usable JSON: a whole number with too many digits"  # the interpreter's limit, 4300 unless changed


def located(error: InputError, file: str, place: str | None = None) -> InputError:
    """`error` with the file, and the place in it, that the raising function did not know."""
    places = ", ".join(part for part in (place, error.place) if part)
    return InputError(error.problem, file=file, place=places or None, remedy=error.remedy)


def line_place(number: int, value: object, unit: str = "claim") -> str:
    """Where a line's value stands: `line 2`, or `line 2, claim 52` if its id can be told."""
    unit_id = value.get("id", []) if isinstance(value, dict) else []
    return f"line {number}" if isinstance(unit_id, (dict, list)) else f"line {number}, {unit} {plain(unit_id)}"


def as_object(value: object, what: str) -> Object:
    """`value` if it is a JSON object. Raises InputError otherwise."""
    if isinstance(value, dict):
        return value
    raise InputError(f"{what} is {kind_of(value)} where an object is expected")


def as_list(value: object, what: str) -> list[object]:
    """`value` if it is a JSON list. Raises InputError otherwise."""
    if isinstance(value, list):
        return value
    raise InputError(f"{what} is {kind_of(value)} where a list is expected")


def member(fields: Object, key: str) -> object:
    """The value of `key`. Raises InputError where it is missing."""
    try:
        return fields[key]
    except KeyError:
        raise InputError(f"the key '{key}' is missing") from None


def identifier(fields: Object, key: str) -> Hashable:
    """The value of `key`, which names a unit. Raises InputError where it is missing, a list or an object."""
    value = member(fields, key)
    if isinstance(value, (dict, list)):
        raise InputError(f"'{key}' is {kind_of(value)} where a number or text is expected")
    return value


def as_key(value: object) -> Hashable:
    """What two JSON values have in common exactly if they are equal.

    Of a list or an object, however deeply nested, a flat tuple: each list as its length, each object as its keys.
    """
    if not isinstance(value, (dict, list)):
        return object() if isinstance(value, float) and math.isnan(value) else value  # NaN is equal to nothing
    key: list[Hashable] = []
    waiting: list[object] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            key.append((list, len(each)))
            waiting += each
        elif isinstance(each, dict):
            names = sorted(each)
            key.append((dict, *names))
            waiting += (each[name] for name in names)
        else:
            key.append(each)
    return tuple(key)


def kind_of(value: object) -> str:
    """What a JSON value is, in words."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return "text"
    return text_of(value) if value is None or isinstance(value, bool) else "a number"


def text_of(value: object) -> str:
    """A JSON value as text: text as it is, everything else as JSON writes it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def plain(value: object) -> str:
    """A JSON value as a message names it: as `text_of`, on one line and shortened; of a list or an object the kind."""
    return kind_of(value) if isinstance(value, (dict, list)) else one_line(text_of(value), 200)


def quoted(value: object) -> str:
    """As `plain`, with text in quotes, so that "2" and 2 can be told apart."""
    return f"'{plain(value)}'" if isinstance(value, str) else plain(value)
