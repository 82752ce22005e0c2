"""Reads gold and predictions as users have them: a JSON object on each line or one document, from a file or memory.

Whatever is wrong with the text is an InputError with file and place. The second half checks JSON values, and shows them
in messages.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, Final, Self, TypeAlias

from cs_score.base.display import cell, one_line
from cs_score.base.errors import InputError
from cs_score.base.records import Record, Struct, field
from cs_score.base.runtime import paused_collector
from cs_score.base.signature import GOLD, RUN
from cs_score.base.sources import Input, InputDigest, Source, open_source, reason_of

Object: TypeAlias = dict[str, object]
"""A JSON object."""

BYTE_ORDER_MARK: Final = "\ufeff"
_HAS_MARK: Final = "a byte order mark"
_MARK_REMEDY: Final = "save the file as UTF-8 without it"

_DECODER: Final = json.JSONDecoder()


class Gold(Record):
    """The content of a file, gold or predictions, as a task reads it; scoring never changes it.

    `notices` say how a file of another form was read.
    """

    name: str
    content: Any
    digest: InputDigest
    notices: tuple[str, ...] = ()


class Converted(Record):
    """The content of a file that has another form than the usual one; `notice` tells the user how it was read."""

    content: Any
    notice: str


# ---- Files and values from memory


@paused_collector()
def read(
    file_or_value: Input | object, role: str, read_content: Callable[[Source], Any], *, has_lines: bool = False
) -> Gold:
    """Read gold or predictions (`role`) from a path, an open file, or the JSON value itself.

    `read_content` returns the content of the source. With `has_lines` the file has a JSON value on each line, and a
    value from memory is an iterable of these. Raises InputError, with the file, for what cannot be read.
    """
    with opened(file_or_value, role, has_lines=has_lines) as source, located(source.name):
        content = read_content(source)
        notices: tuple[str, ...] = ()
        if isinstance(content, Converted):
            notices = (f"{source.name}: {content.notice}",)
            content = content.content
        return Gold(source.name, content, source.digest(GOLD if role == "gold" else RUN), notices)


def opened(file_or_value: Input | object, role: str, *, has_lines: bool = False) -> Source:
    """Open a path, an open file, or a JSON value, which is written as JSON and read back like a file named `<role>`.

    So the same rules hold for files and values, the digest is that of the text, and later changes of a value do not
    reach the result. Raises InputError for a value that cannot be written as JSON.
    """
    if isinstance(file_or_value, (str, os.PathLike)) or hasattr(file_or_value, "read"):
        return open_source(file_or_value)  # type: ignore[arg-type]  # an object with a method `read` is a file
    if not has_lines:
        text = _write_json(file_or_value, role)
    elif isinstance(file_or_value, Iterable):
        text = "".join([_write_json(value, role) + "\n" for value in file_or_value])
    else:
        raise InputError(f"neither a file nor a sequence of claims: {type(file_or_value).__name__}", file=f"<{role}>")
    return Source(f"<{role}>", io.BytesIO(text.encode("ascii")))


def _write_json(value: object, role: str) -> str:
    """Return a value as JSON in ASCII characters. Raises InputError for a value that JSON does not have."""
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"cannot be written as JSON: {error}", file=f"<{role}>") from None


class located(Struct):  # noqa: N801  # a context, read as `with located(name, {"claim": 5}):`
    """A context that adds its file and its place to an InputError that is raised within.

    The place stands in front of the place that the error has: {"line": 3, "claim": 5} is "line 3, claim 5". Both may be
    changed within, so that one context serves all lines of a file. A list or an object names no place.
    """

    file: str | None = None
    place: dict[str, object] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Raise an InputError anew, with the file and the place of the context."""
        if isinstance(error, InputError):
            places = [
                f"{noun} {plain(value)}" for noun, value in self.place.items() if not isinstance(value, (dict, list))
            ]
            if error.place:
                places.append(error.place)
            file = self.file or error.file
            place = ", ".join(places) or None
            raise InputError(error.problem, file=file, place=place, remedy=error.remedy) from None


# ---- JSON text


def json_lines(
    source: Source, location: located, *, skipped_marks: str = "", skips_blank: bool = False
) -> Iterator[object]:
    """Yield the value of each line; the place of `location` becomes the number of the line, from 1.

    Lines end at LF, CR LF or CR and nowhere else. One of the characters `skipped_marks` may stand at the start of a
    line. Raises InputError for a line that is not UTF-8, not JSON, or blank unless the task `skips_blank` ones.
    """
    for number, line in enumerate(_split_lines(source, location), start=1):
        location.place = {"line": number}
        if skips_blank and not line.strip():
            continue
        try:
            text = line.decode("utf-8")
            if skipped_marks and text[:1] in skipped_marks:
                text = text[1:]
            value = _DECODER.decode(text)
        except (ValueError, RecursionError) as error:
            if not line.strip():
                raise InputError("a blank line") from None
            if line.startswith(BYTE_ORDER_MARK.encode()):
                raise InputError(_HAS_MARK, remedy=_MARK_REMEDY) from None
            raise InputError(_describe_decoding_error(error)) from None
        yield value


def _split_lines(source: Source, location: located) -> Iterator[bytes]:
    """Yield the lines of a source, which end at LF, CR LF and CR only. Raises InputError if it cannot be read."""
    try:
        for block in source.binary:
            if b"\r" in block:
                yield from block.splitlines()  # of bytes: at LF, CR LF and CR only
            else:
                yield block
    except OSError as error:
        location.place = {}
        raise InputError(f"cannot be read: {reason_of(error)}") from None


def document_text(source: Source) -> str:
    """Return the text of `source`. Raises InputError unless it is UTF-8."""
    data = source.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line_number = data.count(10, 0, error.start) + 1
        problem = _describe_decoding_error(error)
        raise InputError(problem, file=source.name, place=f"line {line_number}") from None


def document_in(text: str, file: str, decoder: json.JSONDecoder = _DECODER) -> object:
    """Return the one JSON value of a text. Raises InputError, which names `file`, unless it is JSON."""
    try:
        return decoder.decode(text)
    except (ValueError, RecursionError) as error:
        if text.startswith(BYTE_ORDER_MARK):
            raise InputError(_HAS_MARK, file=file, remedy=_MARK_REMEDY) from None
        place = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else None
        raise InputError(_describe_decoding_error(error), file=file, place=place) from None


def json_document(source: Source, decoder: json.JSONDecoder = _DECODER) -> object:
    """Return the one JSON value of `source`. Raises InputError unless the text is UTF-8 and JSON."""
    return document_in(document_text(source), source.name, decoder)


def lines_in(text: str, decoder: json.JSONDecoder = _DECODER) -> list[Any] | None:
    """Return the JSON values of the lines of a text, blank ones left out; None if a line is no JSON."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    try:
        return [decoder.decode(line) for line in lines if line.strip()]
    except (ValueError, RecursionError):
        return None


def _describe_decoding_error(error: ValueError | RecursionError) -> str:
    """Return in words why a text is no UTF-8 or no JSON that can be used."""
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8: byte 0x{error.object[error.start]:02x}"
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} (character {error.colno})"
    if isinstance(error, RecursionError):
        return "not usable JSON: lists or objects nested too deeply"
    return "not usable JSON: a whole number with too many digits"  # the interpreter's limit, 4300 unless changed


# ---- JSON values


def as_object(value: object, noun: str) -> Object:
    """Return a value that must be an object. Raises InputError, which calls the value `noun`, for anything else."""
    if isinstance(value, dict):
        return value
    raise InputError(f"{noun} is {kind_of(value)} where an object is expected")


def as_list(value: object, noun: str) -> list[object]:
    """Return a value that must be a list. Raises InputError, which calls the value `noun`, for anything else."""
    if isinstance(value, list):
        return value
    raise InputError(f"{noun} is {kind_of(value)} where a list is expected")


def member(fields: Mapping[str, object], key: str) -> object:
    """Return the value of a key. Raises InputError if the key is missing."""
    try:
        return fields[key]
    except KeyError:
        raise InputError(f"the key '{key}' is missing") from None


def identifier(fields: Object, key: str) -> Hashable:
    """Return the value of a key that names a unit. Raises InputError if it is missing, a list or an object."""
    value = member(fields, key)
    if isinstance(value, (dict, list)):
        raise InputError(f"'{key}' is {kind_of(value)} where a number or text is expected")
    return value


def as_key(value: object) -> Hashable:
    """Return a key that two JSON values share exactly if they are equal: `2` for 2 and 2.0, `'2'` for the text "2".

    The key is a text, or for a list or an object a tuple of texts. Python hashes these so that no file can choose many
    values with the same hash, which would be possible with whole numbers.
    """
    if type(value) is int:  # as most are
        return str(value)
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(int(value))
    return _nested_key(value)


def _nested_key(value: object) -> Hashable:
    """Return the key of a list or an object: a flat tuple, however deeply the value is nested.

    A list is its length and its values, an object its sorted names and its values.
    """
    key: list[Hashable] = []
    values_left: list[object] = [value]
    while values_left:
        next_value = values_left.pop()
        if isinstance(next_value, list):
            key.append(f"[{len(next_value)}")
            values_left += next_value
        elif isinstance(next_value, dict):
            names = sorted(next_value)
            key.append(("{", *names))
            values_left += [next_value[name] for name in names]
        else:
            key.append(as_key(next_value))
    return tuple(key)


def sentences_of(entry: Object) -> list[object]:
    """Return the sentences of an entry or evidence set, as listed.

    Raises InputError for a missing list, and for a list with anything but numbers and texts.
    """
    sentences = as_list(member(entry, "sentences"), "'sentences'")
    for sentence in sentences:
        if isinstance(sentence, (list, dict)):
            raise InputError("'sentences' holds a list or an object where sentence numbers are expected")
    return sentences


# ---- Values in messages


def kind_of(value: object) -> str:
    """Return the kind of a JSON value in words: "a list", "text", "a number", "null" ..."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return "text"
    return text_of(value) if value is None or isinstance(value, bool) else "a number"


def text_of(value: object) -> str:
    """Return a JSON value as text: text as it is, everything else as JSON writes it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def plain(value: object) -> str:
    """Return a JSON value as messages name it: on one line and shortened; for a list or an object its kind."""
    if isinstance(value, (dict, list)):
        return kind_of(value)
    # Backslashes are doubled: a line end and a backslash with an n after it look different.
    return cell(value, 200) if isinstance(value, str) else one_line(text_of(value), 200)


def quoted(value: object) -> str:
    """Return a JSON value as `plain` does, but with text in quotes, so that "2" and 2 differ."""
    return f"'{plain(value)}'" if isinstance(value, str) else plain(value)


def listed(values: Iterable[object]) -> str:
    """Return values between brackets, each as `plain` shows it: "[1, 2]"."""
    return f"[{', '.join([plain(value) for value in values])}]"


def key_set(keys: Iterable[Hashable]) -> str:
    """Return keys between braces, small numbers first: "{2, 10, 'a'}"."""
    shown_keys = [plain(key) for key in keys]
    shown_keys.sort(key=lambda shown_key: (len(shown_key), shown_key))
    return f"{{{', '.join(shown_keys)}}}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 claim", "2 claims"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
