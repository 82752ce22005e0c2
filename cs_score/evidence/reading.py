"""Gold and predictions as users have them: one JSON object per line or one document, from a file or from memory.

Everything that can be wrong with the text is an InputError with file and place.
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
_MARKED: Final = "a byte order mark"
_WITHOUT_MARK: Final = "save the file as UTF-8 without it"

_DECODER: Final = json.JSONDecoder()


class Gold(Record):
    """What a mode has made of a file, gold or predictions; scoring never changes it.

    `notices` say how a file of another form was read.
    """

    name: str
    content: Any
    digest: InputDigest
    notices: tuple[str, ...] = ()


class Converted(Record):
    """What a mode has made of a file of another form than the usual one; `notice` says to the user how it was read."""

    content: Any
    notice: str


@paused_collector()
def read(given: Input | object, role: str, content: Callable[[Source], Any], *, has_lines: bool = False) -> Gold:
    """What `content` makes of `gold` or `predictions` (`role`): a path, an open file, or the JSON value itself.

    With lines the value is an iterable of what stands in each. Raises InputError for what cannot be read, and gives the
    file to those that `content` raises.
    """
    with opened(given, role, has_lines=has_lines) as source, located(source.name):
        found, notices = content(source), tuple[str, ...]()
        if isinstance(found, Converted):
            notices = (f"{source.name}: {found.notice}",)
            found = found.content
        return Gold(source.name, found, source.digest(GOLD if role == "gold" else RUN), notices)


def opened(given: Input | object, role: str, *, has_lines: bool = False) -> Source:
    """Open what `read` takes. Values from memory are written as JSON and read back like a file named `<role>`.

    So the same rules hold for both, the digest is that of the text, and nothing changed later reaches the result.
    """
    if isinstance(given, (str, os.PathLike)) or hasattr(given, "read"):
        return open_source(given)  # type: ignore[arg-type]  # what has a method `read` is a file
    if has_lines and not isinstance(given, Iterable):
        raise InputError(f"neither a file nor a sequence of claims: {type(given).__name__}", file=f"<{role}>")
    texts = []
    for value in given if has_lines else [given]:  # type: ignore[attr-defined]  # it is iterable
        try:
            texts.append(json.dumps(value) + ("\n" if has_lines else ""))
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"cannot be written as JSON: {error}", file=f"<{role}>") from None
    return Source(f"<{role}>", io.BytesIO("".join(texts).encode("ascii")))


class located(Struct):  # noqa: N801  # a context, read as `with located(name, {"claim": 5}):`
    """Where an InputError that is raised within gets its file and place, in front of the place that it has.

    Both may be moved on within: one context serves all lines of a file. A list or an object names no place.
    """

    file: str | None = None
    place: dict[str, object] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, InputError):
            known = [f"{what} {plain(each)}" for what, each in self.place.items() if not isinstance(each, (dict, list))]
            place = ", ".join((*known, *([error.place] if error.place else [])))
            file = self.file or error.file
            raise InputError(error.problem, file=file, place=place or None, remedy=error.remedy) from None


def json_lines(source: Source, at: located, *, skipped_marks: str = "", skips_blank: bool = False) -> Iterator[object]:
    """The value of each line; the number of the line (from 1) is all that the place `at` then says.

    Lines end at LF, CR LF or CR and nowhere else. One of the characters `skipped_marks` is passed over at the start
    of a line. Raises InputError for a line that is blank, unless the task `skips_blank` ones, not UTF-8 or not JSON.
    """
    for number, line in enumerate(_lines(source, at), start=1):
        at.place = {"line": number}
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
                raise InputError(_MARKED, remedy=_WITHOUT_MARK) from None
            raise InputError(_decoding_problem(error)) from None
        yield value


def _lines(source: Source, at: located) -> Iterator[bytes]:
    try:
        for block in source.binary:
            if b"\r" in block:
                yield from block.splitlines()  # of bytes: at LF, CR LF and CR only
            else:
                yield block
    except OSError as error:
        at.place = {}
        raise InputError(f"cannot be read: {reason_of(error)}") from None


def document_text(source: Source) -> str:
    """Return the text of `source`. Raises InputError where it is not UTF-8."""
    data = source.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"line {data.count(10, 0, error.start) + 1}"
        raise InputError(_decoding_problem(error), file=source.name, place=place) from None


def document_in(text: str, file: str, decoder: json.JSONDecoder = _DECODER) -> object:
    """Return the one JSON value of a text, which messages say is in `file`. Raises InputError where it is not JSON."""
    try:
        return decoder.decode(text)
    except (ValueError, RecursionError) as error:
        if text.startswith(BYTE_ORDER_MARK):
            raise InputError(_MARKED, file=file, remedy=_WITHOUT_MARK) from None
        at = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else None
        raise InputError(_decoding_problem(error), file=file, place=at) from None


def json_document(source: Source, decoder: json.JSONDecoder = _DECODER) -> object:
    """Return the one JSON value of `source`. Raises InputError where the text is not UTF-8 or not JSON."""
    return document_in(document_text(source), source.name, decoder)


def lines_in(text: str, decoder: json.JSONDecoder = _DECODER) -> list[Any] | None:
    """Return what stands in the lines of a text; None where one of them is no JSON."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    try:
        return [decoder.decode(line) for line in lines if line.strip()]
    except (ValueError, RecursionError):
        return None


def _decoding_problem(error: ValueError | RecursionError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8: byte 0x{error.object[error.start]:02x}"
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} (character {error.colno})"
    if isinstance(error, RecursionError):
        return "not usable JSON: lists or objects nested too deeply"
    return "not usable JSON: a whole number with too many digits"  # the interpreter's limit, 4300 unless changed


def as_object(value: object, what: str) -> Object:
    """The value, which is an object. Raises InputError."""
    if isinstance(value, dict):
        return value
    raise InputError(f"{what} is {kind_of(value)} where an object is expected")


def as_list(value: object, what: str) -> list[object]:
    """The value, which is a list. Raises InputError."""
    if isinstance(value, list):
        return value
    raise InputError(f"{what} is {kind_of(value)} where a list is expected")


def member(fields: Mapping[str, object], key: str) -> object:
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
    """What two JSON values have in common exactly if they are equal: `2` for 2 and 2.0, `'2'` for the text.

    A text, or of a list or an object a tuple of texts: Python hashes them so that no file can choose many of one hash,
    which whole numbers would allow.
    """
    if type(value) is int:  # as most are
        return str(value)
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if value is None:
        return "null"
    return str(int(value)) if isinstance(value, bool) else _nested_key(value)


def _nested_key(value: object) -> Hashable:
    """A flat tuple, however deeply a value is nested: each list as its length, each object as its keys."""
    key: list[Hashable] = []
    waiting: list[object] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            key.append(f"[{len(each)}")
            waiting += each
        elif isinstance(each, dict):
            names = sorted(each)
            key.append(("{", *names))
            waiting += (each[name] for name in names)
        else:
            key.append(as_key(each))
    return tuple(key)


def sentences_of(entry: Object) -> list[object]:
    """The sentences of an entry or evidence set, as listed. Raises InputError for what is no list of numbers."""
    sentences = as_list(member(entry, "sentences"), "'sentences'")
    for sentence in sentences:
        if isinstance(sentence, (list, dict)):
            raise InputError("'sentences' holds a list or an object where sentence numbers are expected")
    return sentences


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
    if isinstance(value, (dict, list)):
        return kind_of(value)
    # Backslashes are doubled: a line end and a backslash with an n after it look different.
    return cell(value, 200) if isinstance(value, str) else one_line(text_of(value), 200)


def quoted(value: object) -> str:
    """As `plain`, with text in quotes, so that "2" and 2 differ."""
    return f"'{plain(value)}'" if isinstance(value, str) else plain(value)


def listed(values: Iterable[object]) -> str:
    """Values between brackets, each as `plain`."""
    return f"[{', '.join(map(plain, values))}]"


def key_set(keys: Iterable[Hashable]) -> str:
    """Keys between braces, small numbers first."""
    return f"{{{', '.join(sorted(map(plain, keys), key=lambda shown: (len(shown), shown)))}}}"


def counted(number: int, noun: str) -> str:
    """`1 claim`, `2 claims`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
