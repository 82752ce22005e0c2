"""Which node of a knowledge base an entry point means: the one mentioned there (specification 16.3)."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cs_score.base.records import Record
from cs_score.coldstart.provenance import Span, offset_value
from cs_score.coldstart.queries import EntryPoint


class Mention(NamedTuple):
    """A mention by name: where it is, in which line it stands, and of which node."""

    start: float
    end: float
    line: int
    node: str
    text: str

    @classmethod
    def at(cls, span: Span, line: int, node: str, text: str) -> Mention:
        """The mention at a span."""
        return cls(offset_value(span.start), offset_value(span.end), line, node, text)


class Meeting(NamedTuple):
    """A mention that overlaps an entry point: the characters they have in common less one, and those of the rest."""

    mention: Mention
    common: float
    rest: float

    @property
    def rank(self) -> tuple[float, float, int]:
        """The best meeting has the lowest."""
        return -self.common, self.rest, self.mention.line


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

    def meetings(self, start: float, end: float) -> Iterator[Meeting]:
        """All mentions that overlap a span."""
        at = bisect_right(self._starts, end) - 1
        while at >= 0 and self._furthest[at].end >= start:
            mention = self._mentions[at]
            if mention.end >= start:
                common = min(mention.end, end) - max(mention.start, start)
                yield Meeting(mention, common, mention.end - mention.start - common)
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
    """What an entry point has met, the best first; where it has met nothing, the mention `nearest` to it."""

    entry_point: EntryPoint
    meetings: tuple[Meeting, ...]
    nearest: Mention | None

    @property
    def node(self) -> str | None:
        """The node that is meant."""
        return self.meetings[0].mention.node if self.meetings else None


def enter(entry_point: EntryPoint, indexes: Mapping[str, MentionIndex]) -> Entrance:
    """Find the node that an entry point means, among the mentions of its document."""
    index = indexes.get(entry_point.docid or "")
    if index is None:
        return Entrance(entry_point, (), None)
    start, end = offset_value(entry_point.start or ""), offset_value(entry_point.end or "")
    meetings = sorted(index.meetings(start, end), key=lambda meeting: meeting.rank)
    return Entrance(entry_point, tuple(meetings), None if meetings else index.nearest(start, end))
