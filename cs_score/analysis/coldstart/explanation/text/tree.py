"""A tree of texts as lines. Here, and nowhere else, texts are made safe for terminals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from cs_score.base.display import columns_of, one_line
from cs_score.base.records import Record

_STEP: Final = "  "
_ON: Final = "    "
_NARROWEST: Final = 20


class Item(Record):
    """A text with what stands below it."""

    text: str
    below: Sequence[Item] = ()


def _words(text: str) -> list[str]:
    """The words of a text that is made safe; a rule stays together."""
    glued = one_line(text).replace("(CS ", "(CS\0").split(" ")
    return [word.replace("\0", " ") for word in glued]


def wrapped(item: Item, width: int, indent: str = "") -> Iterator[str]:
    """The lines of a tree, of at most `width` columns (20 at least); a line that goes on is indented further."""
    most = max(width, _NARROWEST)
    begin = indent[: most // 2]  # what is deep in a narrow tree stays where there is room for it
    line = begin
    for word in _words(item.text):
        space = "" if line in (begin, f"{begin}{_ON}") else " "
        if columns_of(line + space + word) <= most:
            line += space + word
            continue
        if space:
            yield line.rstrip()
            line = f"{begin}{_ON}"
        for sign in word:  # it may be longer than a line
            if columns_of(line + sign) > most:
                yield line
                line = f"{begin}{_ON}"
            line += sign
    yield line.rstrip()
    for each in item.below:
        yield from wrapped(each, width, indent + _STEP)


def unwrapped(item: Item, indent: str = "") -> Iterator[str]:
    """The lines of a tree, one for each text, however long."""
    yield indent + one_line(item.text)
    for each in item.below:
        yield from unwrapped(each, indent + _STEP)
