"""Reads JSON files of gold and predictions, checks the values in them, and shows values in messages.

A file has a JSON object on each line, or it is one document. If it cannot be read, an InputError says where and why.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, Final, Self, TypeAlias

from cs_score.base.display import one_line, safe_cell
from cs_score.base.errors import InputError
from cs_score.base.records import Record, Struct, field
from cs_score.base.runtime import paused_garbage_collection
from cs_score.base.signature import GOLD, RUN
from cs_score.base.sources import Input, InputDigest, Source, open_source, reason_of

Object: TypeAlias = dict[str, object]
"""A JSON object."""

BYTE_ORDER_MARK: Final = "\ufeff"
_HAS_MARK: Final = "a byte order mark"
_MARK_REMEDY: Final = "save the file as UTF-8 without it"

_DECODER: Final = json.JSONDecoder()


class InputContent(Record):
    """The content of a file of gold or of predictions, as a task reads it. Scoring never changes it.

    `notices` tell the user how a file was read that does not have the usual form.
    """

    name: str
    content: Any
    digest: InputDigest
    notices: tuple[str, ...] = ()


class ConvertedContent(Record):
    """The content of a file that does not have the usual form. `notice` tells the user how it was read."""

    content: Any
    notice: str


# ---- Files and values from memory


@paused_garbage_collection()
def read_input(
    file_or_value: Input | object, role: str, read_content: Callable[[Source], Any], *, has_lines: bool = False
) -> InputContent:
    """Return the content of gold or predictions, read from a path, an open file, or a JSON value.

    `role` is "gold" or "predictions". `read_content` is a function that returns the content of a source as the task
    reads it. If `has_lines` is true, a file has a JSON value on each line, and a value from memory is an iterable of
    JSON values. Raises InputError, with the name of the file, if the file or the value cannot be read.
    """
    role_in_signature = GOLD if role == "gold" else RUN
    with open_input(file_or_value, role, has_lines=has_lines) as source, ErrorLocation(source.name):
        content_or_converted = read_content(source)
        digest = source.digest(role_in_signature)
    if isinstance(content_or_converted, ConvertedContent):
        converted = content_or_converted
        return InputContent(source.name, converted.content, digest, notices=(f"{source.name}: {converted.notice}",))
    return InputContent(source.name, content_or_converted, digest)


def open_input(file_or_value: Input | object, role: str, *, has_lines: bool = False) -> Source:
    """Return a source that reads a path, an open file, or a JSON value.

    A JSON value is first written as text, which is then read like a file. The name of this file is the `role` in angle
    brackets, such as `<gold>`. Values are therefore subject to the same rules as files, and the caller may modify them
    afterwards. If `has_lines` is true, the value is an iterable, and each of its items is written on a separate line.
    Raises InputError for a value that cannot be written as JSON.
    """
    is_path = isinstance(file_or_value, (str, os.PathLike))
    if is_path or hasattr(file_or_value, "read"):
        return open_source(file_or_value)  # type: ignore[arg-type]  # an object with a method `read` is a file
    name = f"<{role}>"
    text = _to_json_lines(file_or_value, name) if has_lines else _to_json_text(file_or_value, name)
    return Source(name, io.BytesIO(text.encode("ascii")))


def _to_json_lines(values: object, name: str) -> str:
    r"""Return values as lines of JSON in ASCII characters: [{"id": 1}, {"id": 2}] -> '{"id": 1}\n{"id": 2}\n'.

    Raises InputError, with `name` as the name of the file, for anything but an iterable of values that can be written
    as JSON.
    """
    if not isinstance(values, Iterable):
        raise InputError(f"neither a file nor a sequence of claims: {type(values).__name__}", file=name)
    lines = [_to_json_text(value, name) + "\n" for value in values]
    return "".join(lines)


def _to_json_text(value: object, name: str) -> str:
    """Return a value as JSON in ASCII characters.

    Raises InputError, with `name` as the name of the file, if the value cannot be written as JSON.
    """
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"cannot be written as JSON: {error}", file=name) from None


class ErrorLocation(Struct):
    """A context manager that adds a file and a place to every InputError that is raised in its block.

    The place `{"line": 3, "claim": 5}` adds "line 3, claim 5" in front of the place that the error already has. A value
    that is a list or an object is left out. The block may change `file` and `place`, so that one context manager is
    enough for all lines of a file:

        with ErrorLocation("gold.jsonl") as location:
            for number, line in enumerate(lines, start=1):
                location.place = {"line": number}
                ...
    """

    file: str | None = None
    place: dict[str, object] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Raise an InputError of the block again, with the file and the place of this context manager.

        Other errors of the block are not changed.
        """
        if not isinstance(error, InputError):
            return
        place = self._place_of(error)
        raise InputError(error.problem, file=self.file or error.file, place=place, remedy=error.remedy) from None

    def _place_of(self, error: InputError) -> str | None:
        """Return a description of the places of the context manager and of an error: "line 3, claim 5, abstract 11".

        Return None if neither has a place.
        """
        places = []
        for noun, value in self.place.items():
            is_shown = not isinstance(value, (dict, list))  # a list represents an id that is missing or malformed
            if is_shown:
                places.append(f"{noun} {short_text(value)}")
        if error.place:
            places.append(error.place)
        return ", ".join(places) or None


# ---- JSON text


def json_lines(
    source: Source, location: ErrorLocation, *, skipped_marks: str = "", skips_blank: bool = False
) -> Iterator[object]:
    """Yield the JSON value of each line of a source.

    `location` is the caller's context manager. Before a value is yielded, its place is set to the line number, starting
    from 1, so that errors in the caller's block name the line. Only LF, CR LF and CR end a line. At the start of a
    line, one of the characters in `skipped_marks` is ignored. Raises InputError if a line is not UTF-8 or not JSON, if
    a line is blank (unless `skips_blank` is true), or if the source cannot be read.
    """
    try:
        for number, line in enumerate(_split_lines(source), start=1):
            location.place = {"line": number}  # errors in the caller's block name this line until the next is read
            if skips_blank and not line.strip():
                continue
            yield _parse_line(line, skipped_marks)
    except OSError as error:
        location.place = {}  # otherwise the message would name the line that was read before the error
        raise InputError(f"cannot be read: {reason_of(error)}") from None


def _parse_line(line: bytes, skipped_marks: str) -> object:
    """Return the JSON value of a line. Raises InputError for a line that is blank, not UTF-8 or not JSON.

    At the start of the line, one of the characters in `skipped_marks` is ignored.
    """
    try:
        text = line.decode("utf-8")
        if skipped_marks and text.startswith(tuple(skipped_marks)):
            text = text[1:]
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise _error_of_line(line, error) from None


def _error_of_line(line: bytes, error: ValueError | RecursionError) -> InputError:
    """Return the error for a line that could not be decoded as UTF-8 or as JSON, given the error of decoding it."""
    if not line.strip():
        return InputError("a blank line")
    if line.startswith(BYTE_ORDER_MARK.encode()):
        return InputError(_HAS_MARK, remedy=_MARK_REMEDY)
    return InputError(_describe_decoding_error(error))


def _split_lines(source: Source) -> Iterator[bytes]:
    """Yield the lines of a source, which end with LF, CR LF or CR.

    Some lines keep their line end, which JSON ignores. Raises OSError if the source cannot be read.
    """
    for line_up_to_lf in source.binary:
        if b"\r" in line_up_to_lf:
            yield from line_up_to_lf.splitlines()  # for bytes this splits at LF, CR LF and CR, and nowhere else
        else:
            yield line_up_to_lf


def document_text(source: Source) -> str:
    """Return the whole text of `source`. Raises InputError, with the line, unless the text is UTF-8."""
    data = source.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line_number = data.count(b"\n", 0, error.start) + 1
        problem = _describe_decoding_error(error)
        raise InputError(problem, file=source.name, place=f"line {line_number}") from None


def document_in(text: str, file: str, decoder: json.JSONDecoder = _DECODER) -> object:
    """Return the JSON value of a text. Raises InputError unless the text is one JSON value.

    `file` is the name of the file that the text is from, for the message.
    """
    try:
        return decoder.decode(text)
    except (ValueError, RecursionError) as error:
        if text.startswith(BYTE_ORDER_MARK):
            raise InputError(_HAS_MARK, file=file, remedy=_MARK_REMEDY) from None
        place = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else None
        raise InputError(_describe_decoding_error(error), file=file, place=place) from None


def json_document(source: Source, decoder: json.JSONDecoder = _DECODER) -> object:
    """Return the JSON value of `source`. Raises InputError unless its text is UTF-8 and one JSON value."""
    return document_in(document_text(source), source.name, decoder)


def json_values_of_lines(text: str, decoder: json.JSONDecoder = _DECODER) -> list[Any] | None:
    """Return the JSON value of each line of a text. Blank lines are left out.

    Return None if any other line is not JSON.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    try:
        return [decoder.decode(line) for line in lines if line.strip()]
    except (ValueError, RecursionError):
        return None


def _describe_decoding_error(error: ValueError | RecursionError) -> str:
    """Return a message that says why a text is not UTF-8 or not usable JSON, given the error of decoding it."""
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8: byte 0x{error.object[error.start]:02x}"
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} (character {error.colno})"
    if isinstance(error, RecursionError):
        return "not usable JSON: lists or objects nested too deeply"
    return "not usable JSON: a whole number with too many digits"  # the interpreter's limit, 4300 unless changed


# ---- JSON values


def as_object(value: object, noun: str) -> Object:
    """Return `value` if it is a JSON object. Raises InputError otherwise; `noun` names the value in the message."""
    if isinstance(value, dict):
        return value
    raise InputError(f"{noun} is {kind_of(value)} where an object is expected")


def as_list(value: object, noun: str) -> list[object]:
    """Return `value` if it is a list. Raises InputError otherwise; `noun` names the value in the message."""
    if isinstance(value, list):
        return value
    raise InputError(f"{noun} is {kind_of(value)} where a list is expected")


def member(fields: Mapping[str, object], key: str) -> object:
    """Return the value of a key of a JSON object. Raises InputError if the key is missing."""
    try:
        return fields[key]
    except KeyError:
        raise InputError(f"the key '{key}' is missing") from None


def identifier(fields: Object, key: str) -> Hashable:
    """Return the id under a key of a JSON object. Raises InputError if it is missing, a list or an object."""
    value = member(fields, key)
    if isinstance(value, (dict, list)):
        raise InputError(f"'{key}' is {kind_of(value)} where a number or text is expected")
    return value


def as_key(value: object) -> Hashable:
    """Return a key for a JSON value, so that two values have the same key if and only if they are equal.

    2 and 2.0 have the key `2`, and the text "2" has the key `'2'`. The key of a list or an object is a tuple of texts.
    The key of any other value is a text. Numbers are not used as keys, because a file could contain many whole numbers
    with the same hash, which would make dictionaries slow.
    """
    if type(value) is int:  # the most frequent type; this excludes bool, a kind of int, which is handled below
        return str(value)
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(int(value))  # since True equals 1 in Python
    return _nested_key(value)


def _nested_key(value: object) -> Hashable:
    """Return the key of a list or an object, which is always a flat tuple, even if the value is deeply nested.

    The tuple contains an item for the value itself and for each value in it, in reverse order: the key of `[1, "a"]` is
    `("[2", "'a'", "1")`. The function is not recursive, because nested values could exceed the limit of Python's stack.
    """
    key: list[Hashable] = []
    values_left: list[object] = [value]
    while values_left:
        next_value = values_left.pop()
        key.append(_shape_key(next_value))
        values_left += _values_in(next_value)  # the last of them is popped first
    return tuple(key)


def _shape_key(value: object) -> Hashable:
    """Return a key for the shape of a value. Lists of the same length and objects with the same names have equal keys.

    The key is `"[2"` for a list of two values, and `("{", "a", "b")` for an object with these names. For any other
    value, it is the key of the value (`as_key`). The keys of nested values consist of these keys.
    """
    if isinstance(value, list):
        return f"[{len(value)}"
    if isinstance(value, dict):
        return ("{", *sorted(value))
    return as_key(value)


def _values_in(value: object) -> list[object]:
    """Return the values in a list, or the values in an object by sorted names; any other value has none."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return [value[name] for name in sorted(value)]
    return []


def sentences_of(entry: Object) -> list[object]:
    """Return the list `sentences` of an entry or an evidence set.

    Raises InputError if the key is missing, if its value is not a list, or if the list holds a list or an object.
    """
    sentences = as_list(member(entry, "sentences"), "'sentences'")
    for sentence in sentences:
        if isinstance(sentence, (list, dict)):
            raise InputError("'sentences' holds a list or an object where sentence numbers are expected")
    return sentences


# ---- Values in messages


def kind_of(value: object) -> str:
    """Return the kind of a JSON value in words: "a list", "text", "a number", "null", "true" ..."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return "text"
    if value is None or isinstance(value, bool):
        return text_of(value)
    return "a number"


def text_of(value: object) -> str:
    """Return a JSON value as text: a text is returned unchanged, and any other value is written as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def short_text(value: object) -> str:
    """Return a JSON value as shown in messages, on one line of at most 200 characters.

    For a list or an object, return "a list" or "an object".
    """
    if isinstance(value, (dict, list)):
        return kind_of(value)
    if isinstance(value, str):
        # This puts the text on one line of at most 200 characters and escapes unsafe characters. Backslashes are
        # doubled, so that a line end can be distinguished from a backslash followed by an n.
        return safe_cell(value, 200)
    return one_line(text_of(value), 200)


def quoted(value: object) -> str:
    """Return a JSON value as messages show it, with quotes around a text, so that "2" and 2 differ."""
    return f"'{short_text(value)}'" if isinstance(value, str) else short_text(value)


def list_text(values: Iterable[object]) -> str:
    """Return JSON values as messages show them, in brackets and with commas: "[1, 2]"."""
    return f"[{', '.join([short_text(value) for value in values])}]"


def braced_text(keys: Iterable[Hashable]) -> str:
    """Return keys of JSON values (`as_key`) in braces, short ones first: "{2, 10, 'abc'}"."""
    shown_keys = [short_text(key) for key in keys]
    shown_keys.sort(key=lambda shown_key: (len(shown_key), shown_key))
    return f"{{{', '.join(shown_keys)}}}"
