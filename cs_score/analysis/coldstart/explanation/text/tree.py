"""A tree of texts in lines of a given width. Here, and nowhere else, texts are made safe for terminals."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from cs_score.foundation.display import one_line
from cs_score.foundation.record import dataclass

_STEP: Final = "  "
_NARROWEST: Final = 20


@dataclass(frozen=True, slots=True)
class Item:
    """A text with what stands below it."""

    text: str
    below: Sequence[Item] = ()


def wrapped(item: Item, width: int, indent: str = "") -> Iterator[str]:
    """The lines of a tree, of at most `width` columns (20 at least); a line that goes on is indented further."""
    most = max(width, _NARROWEST)
    # What is deep in a narrow tree stays where there is room for it.
    begin = indent if len(indent) <= most // 2 else indent[: most // 2]
    yield from textwrap.wrap(
        one_line(item.text), most, initial_indent=begin, subsequent_indent=f"{begin}{_STEP * 2}", break_on_hyphens=False
    ) or [begin]
    for each in item.below:
        yield from wrapped(each, width, indent + _STEP)
