"""Which node of a knowledge base an entry point means: the one mentioned there, and why."""

from __future__ import annotations

import functools
import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.base.records import Record
from cs_score.base.runtime import Late
from cs_score.coldstart.queries import EntryPoint
from cs_score.coldstart.tab_files import offset_value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Late("numpy")

_MANY: Final = 100
"""Mentions that overlap an entry point from which on numpy pays."""

_end: Final = attrgetter("end")


class Mention(NamedTuple):
    """A mention by name: where it is, in which line it stands, and of which node."""

    start: float
    end: float
    line: int
    node: str
    text: str


class Overlap(NamedTuple):
    """A mention that overlaps an entry point: the characters they have in common less one, and those of the rest."""

    mention: Mention
    common: float
    rest: float


def _rank(overlap: Overlap) -> tuple[float, float, int]:
    """The best has the lowest."""
    return -overlap.common, overlap.rest, overlap.mention.line


class MentionIndex:
    """The mentions of a document by offset."""

    def __init__(self, mentions: Iterable[Mention]) -> None:
        at_span: dict[tuple[float, float], Mention] = {}
        for mention in mentions:  # of several at one place only the first can be chosen
            at_span.setdefault((mention.start, mention.end), mention)
        self._mentions: Sequence[Mention] = sorted(at_span.values())
        self._starts = [mention.start for mention in self._mentions]
        # Of each mention and those before it the one that ends last.
        self._furthest = list(itertools.accumulate(self._mentions, _later_end))

    @functools.cached_property
    def _offsets(self) -> NDArray[np.float64]:
        """Starts, ends and lines."""
        columns = [(mention.start, mention.end, mention.line) for mention in self._mentions]
        return np.array(columns, dtype=np.float64).T

    def best(self, start: float, end: float) -> Mention | None:
        """The mention that overlaps a span best, None where none does."""
        first = bisect_left(self._furthest, start, key=_end)
        last = bisect_right(self._starts, end)
        if last - first < _MANY:
            met = min(self.overlaps(start, end), key=_rank, default=None)
            return None if met is None else met.mention
        starts, ends, lines = self._offsets[:, first:last]
        with np.errstate(invalid="ignore"):  # offsets may be infinite
            common = np.nan_to_num(np.minimum(ends, end) - np.maximum(starts, start))
            rest = np.nan_to_num(ends - starts - common)
        common[ends < start] = -np.inf
        at = np.flatnonzero(common == common.max())
        at = at[rest[at] == rest[at].min()]
        return self._mentions[first + int(at[lines[at].argmin()])]

    def overlaps(self, start: float, end: float) -> Iterator[Overlap]:
        """All mentions that overlap a span."""
        at = bisect_right(self._starts, end) - 1
        while at >= 0 and self._furthest[at].end >= start:
            mention = self._mentions[at]
            if mention.end >= start:
                common = min(mention.end, end) - max(mention.start, start)
                yield Overlap(mention, common, mention.end - mention.start - common)
            at -= 1

    def nearest(self, start: float, end: float) -> Mention | None:
        """The mention that is closest to a span which none overlaps."""
        at = bisect_right(self._starts, end)
        before = self._furthest[at - 1] if at else None
        after = self._mentions[at] if at < len(self._mentions) else None
        if before is None or after is None:
            return before or after
        return before if start - before.end <= after.start - end else after


def _later_end(first: Mention, second: Mention) -> Mention:
    return second if second.end > first.end else first


class Entrance(Record):
    """The mention that an entry point means, None where it overlaps none; `index` has those of its document."""

    entry_point: EntryPoint
    index: MentionIndex | None
    chosen: Mention | None

    def overlaps(self) -> list[Overlap]:
        """All mentions that it overlaps, the best first. They may be many, so nobody keeps them."""
        return [] if self.index is None else sorted(self.index.overlaps(*_offsets(self.entry_point)), key=_rank)

    def nearest(self) -> Mention | None:
        """The mention that is closest to an entry point which overlaps none."""
        return None if self.index is None else self.index.nearest(*_offsets(self.entry_point))


def enter(entry_point: EntryPoint, indexes: Mapping[str, MentionIndex]) -> Entrance:
    """Find the mention that an entry point means, among those of its document."""
    index = indexes.get(entry_point.docid or "")
    return Entrance(entry_point, index, None if index is None else index.best(*_offsets(entry_point)))


def _offsets(entry_point: EntryPoint) -> tuple[float, float]:
    return offset_value(entry_point.start or ""), offset_value(entry_point.end or "")
