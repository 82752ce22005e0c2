"""Values of a JSON file that anybody may have written: each is looked at before it is used."""

from __future__ import annotations

from collections.abc import Sequence

from cs_score.base.documents import Json, member_place, read_document
from cs_score.base.errors import InputError


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
        return Told(self.value[key], self.file, member_place(self.place, key)) if key in self.value else None

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
        """A number."""
        if not isinstance(self.value, (int, float)) or isinstance(self.value, bool):
            raise self.wrong("is no number")
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
    return Told(read_document(path, stdin_as_dash=False), path)
