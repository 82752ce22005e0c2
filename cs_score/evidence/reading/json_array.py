"""A long JSON list, element by element: memory holds a block of text and one element, not the file."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.sources import READING_ERRORS, Source, reason_of
from cs_score.evidence.reading.json_reader import BYTE_ORDER_MARK, Object, decoding_problem, json_decoder

BLOCK: Final = 1 << 20
"""Bytes that are read at a time."""

# The text may end inside a number, of which all but `.`, `e` or `e+` can be read as another number.
_LONGEST_CUT: Final = 2

_SPACE: Final = re.compile(r"[ \t\n\r]*")


def json_array(source: Source, objects: Callable[[list[tuple[str, object]]], Object]) -> Iterator[object]:
    """The elements of the JSON list that `source` holds.

    `objects` turns the members of each object, innermost first, into the object that stands for it; what it leaves
    out is gone before the next element is read. Raises InputError where the text is not UTF-8 or not one JSON list.
    """
    window = _Window(source, json_decoder(objects))
    if window.next_character() != "[":
        marked = window.next_character() == BYTE_ORDER_MARK
        raise window.problem("a byte order mark; save the file as UTF-8 without it" if marked else "not a JSON list")
    window.position += 1
    if window.next_character() != "]":
        yield window.value()
        while window.next_character() == ",":
            window.position += 1
            yield window.value()
        if window.next_character() != "]":
            raise window.problem("not JSON: Expecting ',' delimiter")
    window.position += 1
    if window.next_character():
        raise window.problem("not JSON: Extra data")


class _Window:
    """The part of a text that has been read and is not used up; `position` is where the unused part starts."""

    __slots__ = ("_bytes", "_decoder", "_read", "_scan", "_source", "_used", "position", "text")

    def __init__(self, source: Source, scanner: json.JSONDecoder) -> None:
        self._source = source
        self._scan = scanner.raw_decode
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._bytes = BLOCK
        self._read = 0
        self._used = 0
        self.text = ""
        self.position = 0

    def next_character(self) -> str:
        """The next character that is not white space, at `position` then; the empty text at the end."""
        while True:
            space = _SPACE.match(self.text, self.position)
            self.position = space.end() if space else self.position
            if self.position < len(self.text):
                return self.text[self.position]
            if not self._extend():
                return ""

    def value(self) -> object:
        """The next JSON value, and `position` after it."""
        while True:
            self.next_character()
            try:
                value, end = self._scan(self.text, self.position)
            except json.JSONDecodeError as error:
                if self._extend():  # it may only have been cut off
                    continue
                raise self.problem(f"not JSON: {error.msg}", error.pos) from None
            except (ValueError, RecursionError) as error:
                raise self.problem(decoding_problem(error)) from None
            if end + _LONGEST_CUT >= len(self.text) and self._extend():
                continue
            self.position = end
            self._bytes = BLOCK
            return value

    def problem(self, what: str, position: int | None = None) -> InputError:
        """An error at `position` of the window, told as the number of the character in the file."""
        character = self._used + (self.position if position is None else position) + 1
        return InputError(what, file=self._source.name, place=f"character {character}")

    def _extend(self) -> bool:
        """Read on; False at the end. Twice as much each time for one value: the work stays linear in its length."""
        try:
            block = self._source.binary.read(self._bytes)
        except READING_ERRORS as error:
            raise InputError(f"cannot be read: {reason_of(error)}", file=self._source.name) from None
        try:
            more = self._decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            place = f"byte {self._read - (len(error.object) - len(block)) + error.start + 1}"
            raise InputError(decoding_problem(error), file=self._source.name, place=place) from None
        if not block:
            return False
        self._read += len(block)
        self._bytes *= 2
        self._used += self.position
        self.text = self.text[self.position :] + more
        self.position = 0
        return True
