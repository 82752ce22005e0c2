"""Values of a JSON file that anybody may have written: each is looked at before it is used."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from cs_score.base.errors import InputError
from cs_score.base.sources import open_source

Json = Any
"""A value as `json` reads it."""


_DEEPEST: Final = 50
"""Levels of objects and arrays; a result has fifteen."""


class Told:
    """A value, and where it stands: `file`, and in it `place`, such as `signature.inputs[2].sha256`.

    Its methods raise InputError, which names the place, where the value is not of the kind that is asked for.
    """

    __slots__ = ("file", "place", "value")

    def __init__(self, value: Json, file: str, place: str = "") -> None:
        self.value = value
        self.file = file
        self.place = place

    def __getitem__(self, key: str) -> Told:
        """A member of an object."""
        found = self.get(key)
        if found is None:
            raise self.wrong(f"has no {key}")
        return found

    def get(self, key: str) -> Told | None:
        """A member of an object; None where it has none of that name."""
        if not isinstance(self.value, dict):
            raise self.wrong("is no object")
        return Told(self.value[key], self.file, f"{self.place}.{key}".lstrip(".")) if key in self.value else None

    def members(self) -> dict[str, Told]:
        """The members of an object by name."""
        if not isinstance(self.value, dict):
            raise self.wrong("is no object")
        return {key: self[key] for key in self.value}

    def entries(self) -> list[Told]:
        """The entries of an array."""
        if not isinstance(self.value, list):
            raise self.wrong("is no array")
        return [Told(value, self.file, f"{self.place}[{at}]") for at, value in enumerate(self.value)]

    def text(self, choices: Sequence[str] = ()) -> str:
        """A text, one of `choices` where there are any."""
        if not isinstance(self.value, str) or (choices and self.value not in choices):
            raise self.wrong(f"is none of {', '.join(choices)}" if choices else "is no text")
        return self.value

    def optional_text(self) -> str | None:
        """A text, or null."""
        return None if self.value is None else self.text()

    def texts(self) -> tuple[str, ...]:
        """An array of texts."""
        return tuple(entry.text() for entry in self.entries())

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.wrong("is neither true nor false")
        return self.value

    def number(self) -> float:
        """A finite number."""
        is_number = isinstance(self.value, (int, float)) and not isinstance(self.value, bool)
        if not is_number or abs(self.value) > 1e300 or math.isnan(self.value):
            raise self.wrong("is no finite number")
        return float(self.value)

    def whole_number(self, least: int, most: int) -> int:
        """A whole number within limits."""
        if not isinstance(self.value, int) or isinstance(self.value, bool) or not least <= self.value <= most:
            raise self.wrong(f"is no whole number from {least} to {most}")
        return self.value

    def wrong(self, problem: str) -> InputError:
        """The error that says what is wrong with this value."""
        return InputError(problem, file=self.file, place=self.place or "the whole")


def read_told(path: str) -> Told:
    """The JSON object in a file. Raises InputError where there is none."""
    with open_source(path, stdin_as_dash=False) as source:
        data = source.read_bytes()
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_refused, object_pairs_hook=_members)
    except UnicodeDecodeError:
        raise InputError("not UTF-8", file=path) from None
    except RecursionError:
        raise InputError("no JSON that can be read: it is nested too deeply", file=path) from None
    except ValueError as error:
        raise InputError(f"no JSON: {error}", file=path) from None
    if not isinstance(value, dict):
        raise InputError("no JSON object", file=path)
    if not _is_shallow(value):
        raise InputError(f"no result of cs-score: it is nested more than {_DEEPEST} levels deep", file=path)
    return Told(value, path)


def _is_shallow(value: Json) -> bool:
    """Whether a value can be walked through without a thought for the depth of calls."""
    level = [value]
    for _ in range(_DEEPEST):
        below = [list(each.values()) if isinstance(each, dict) else each for each in level]
        level = [each for values in below for each in values if isinstance(each, (dict, list))]
        if not level:
            return True
    return False


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _members(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    """An object, in which no name may stand twice: a reader could see another value than is looked at here."""
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = next(name for at, (name, _) in enumerate(pairs) if name in dict(pairs[:at]))
        raise ValueError(f"an object has two members {twice!r}")
    return members
