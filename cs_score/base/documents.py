"""The one reader of the package's own JSON, which anybody may have written.

A document is an object whose numbers are finite, whose members have different names, and that is nested no deeper than
any of ours. Strings may hold single surrogates: names of files that are not UTF-8 are written so.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from cs_score.base.errors import InputError, UsageError
from cs_score.base.sources import Input, open_source

Json: TypeAlias = Any
"""A value as `json` reads it."""

Kind = TypeVar("Kind")

DEEPEST: Final = 50
"""Levels of objects and arrays; a result has fifteen."""

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]', re.DOTALL)


class _Fault:
    """Stands in a decoded value where something was refused, so that its place can be found."""

    def __init__(self, problem: str) -> None:
        self.problem = problem


def read_document(given: Input, *, stdin_as_dash: bool = True) -> dict[str, Json]:
    """The object in a file. Raises InputError for a file that cannot be read, and as `document_in` does."""
    with open_source(given, stdin_as_dash=stdin_as_dash) as source:
        name, data = source.name, source.read_bytes()
    return document_in(data, name)


def document_in(data: bytes | str, file: str) -> dict[str, Json]:
    """The object that JSON text is. Raises InputError with the place for what is no document."""
    value = value_in(data, file)
    if not isinstance(value, dict):
        raise InputError("no JSON object", file=file)
    return value


def value_in(data: bytes | str, file: str) -> Json:
    """The value that JSON text is. Raises InputError with the place for what no document may hold."""
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8", file=file, place=f"byte {error.start + 1}") from None
    faults: list[_Fault] = []

    def refused(problem: str) -> _Fault:
        faults.append(_Fault(problem))
        return faults[-1]

    def real(digits: str) -> float | _Fault:
        number = float(digits)
        return number if math.isfinite(number) else refused(f"{_short(digits)} is too large a number")

    def whole(digits: str) -> int | _Fault:
        return int(digits) if len(digits) < 300 else refused(f"{_short(digits)} is too large a number")

    def members(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json] | _Fault:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        names = [name for name, _ in pairs]
        return refused(f"an object has two members {next(name for name in names if names.count(name) > 1)!r}")

    try:
        value = json.loads(
            text,
            parse_float=real,
            parse_int=whole,
            parse_constant=lambda name: refused(f"{name} is no number of JSON"),
            object_pairs_hook=members,
        )
    except RecursionError:
        raise _too_deep(text, file) from None
    except json.JSONDecodeError as error:
        raise InputError(f"no JSON: {error.msg}", file=file, place=_position(text, error.pos)) from None
    if not _is_shallow(value):
        raise _too_deep(text, file)
    if faults:
        place = next(_places(value, faults[0], ""), "")
        raise InputError(f"no JSON: {faults[0].problem}", file=file, place=place or None)
    return value


def member_place(place: str, name: str) -> str:
    """The place of a member of the object at a place: `signature.inputs[2].sha256`."""
    return f"{place}.{name}".lstrip(".")


def _is_shallow(value: Json) -> bool:
    """Whether a value can be walked through without a thought for the depth of calls."""
    level = [value]
    for _ in range(DEEPEST + 1):
        below = [
            list(each.values()) if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)
        ]
        if not below:
            return True
        level = [each for values in below for each in values if isinstance(each, dict | list)]
    return False


def _too_deep(text: str, file: str) -> InputError:
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
        if depth > DEEPEST:
            break
    problem = f"no JSON that can be read: it is nested more than {DEEPEST} levels deep"
    return InputError(problem, file=file, place=_position(text, token.start()))


def _position(text: str, at: int) -> str:
    before = text[:at]
    return f"line {before.count(chr(10)) + 1}, column {at - before.rfind(chr(10))}"


def _places(value: Json, wanted: _Fault, place: str) -> Iterator[str]:
    """Where a value stands; that of a refused object is the object's own."""
    if value is wanted:
        yield place
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _places(each, wanted, member_place(place, name))
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _places(each, wanted, f"{place}[{at}]")


def _short(digits: str) -> str:
    return digits if len(digits) <= 20 else f"a number of {len(digits)} characters"


def converted(value: Json, kind: type[Kind], file: str, place: str = "") -> Kind:
    """A value of a document as a record or another type. Raises InputError with the place where it is none."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        problem, _, within = str(error).partition(" - at `$")
        problem = re.sub("^Object missing required field `(.*)`$", r"has no \1", problem)
        raise InputError(problem, file=file, place=f"{place}{within[:-1]}".lstrip(".") or "the whole") from None
    except UsageError as error:
        raise InputError(str(error), file=file, place=place or "the whole") from None
