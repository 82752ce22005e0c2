"""A tree of texts, wrapped to the width that there is, and how texts and places of the inputs are shown in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from cs_score.base.display import columns_of, one_line
from cs_score.base.records import Record

_STEP: Final = "  "
_ON: Final = "    "
_NARROWEST: Final = 20
_LONGEST: Final = 60
_MOST_PLACES: Final = 5


class At(Record):
    """A line by its file and its number there, from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file} line {self.line}"


class Item(Record):
    """A text with what stands below it."""

    text: str
    below: Sequence[Item] = ()


def wrapped(item: Item, width: int, indent: str = "") -> Iterator[str]:
    """The lines of a tree, of at most `width` columns (20 at least); a line that goes on is indented further."""
    most = max(width, _NARROWEST)
    begin = indent[: most // 2]  # what is deep in a narrow tree stays where there is room for it
    line = begin
    for word in one_line(item.text).replace("(CS ", "(CS\0").split(" "):  # a rule stays together
        word = word.replace("\0", " ")
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


def short(text: str, most: int = _LONGEST) -> str:
    """A text of an input, cut where it is long."""
    return text if len(text) <= most else f"{text[:most]}..."


def quoted(text: str | None) -> str:
    """A text of an input between quotation marks, cut where it is long."""
    return f'"{short(text or "")}"'


def with_category(side: str, category: str | None) -> str:
    """What a line counts as: `wrong (INCORRECT)`."""
    return f"{side} ({category})" if category else side


def numbers(counts: Mapping[str, int]) -> str:
    """Counts by name: `3 right, 2 wrong`."""
    return ", ".join(f"{number} {name}" for name, number in counts.items()) or "none"


def gain_text(gain: float | None) -> str:
    """A difference that something would make to a score."""
    return "unknown" if gain is None else f"{gain:+.4f}"


def listed(places: Sequence[At]) -> str:
    """Files with numbers of lines, those of one file together, the first few of them."""
    by_file: dict[str, list[str]] = {}
    for at in places[:_MOST_PLACES]:
        by_file.setdefault(at.file, []).append(str(at.line))
    shown = [f"{file} line{'s' if len(lines) > 1 else ''} {', '.join(lines)}" for file, lines in by_file.items()]
    more = len(places) - _MOST_PLACES
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
