"""The equivalence classes of one query: their documents, and how many answers there are to be found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from cs_score.coldstart.counting.projection import ALL_LEVELS
from cs_score.coldstart.lines.records import Assessment


class AssessedClasses:
    """What the assessments of one query say of its classes."""

    def __init__(self, assessments: Iterable[Assessment]) -> None:
        self._members: dict[str, list[Assessment]] = defaultdict(list)
        for assessment in assessments:
            self._members[assessment.value_class].append(assessment)
        self._documents: dict[str, int] = {}
        names = sorted([name for name, members in self._members.items() if members[0].is_accepted])
        by_hop: dict[int, list[str]] = {0: [], 1: []}
        for name in names:
            by_hop.setdefault(name.count(":") - 1, []).append(name)
        self.deeper_levels = tuple([str(hop) for hop in sorted(by_hop) if hop > 1])
        """The levels below the second hop that have a class, in ascending order."""
        self._by_level = {str(hop): tuple(of_hop) for hop, of_hop in by_hop.items()} | {ALL_LEVELS: tuple(names)}

    def documents(self, name: str) -> int:
        """Number of documents in which the class was found."""
        documents = self._documents.get(name)
        if documents is None:
            documents = self._documents[name] = len({assessment.docid for assessment in self._members[name]})
        return documents

    def of_level(self, level: str) -> tuple[str, ...]:
        """The classes of a level, sorted as strings."""
        return self._by_level[level]

    def ground_truth(self, single: Sequence[bool | None]) -> dict[str, int | None]:
        """The number of answers to be found by level (specification 9.7).

        `single` tells for each hop whether its slot takes one value; None: the slot is unknown, and so is the number.
        Below the second hop each class counts, but not for `ALL`.
        """
        first: int | None = len(self.of_level("0"))
        if single and (single[0] is None or (single[0] and first)):
            first = None if single[0] is None else 1
        second: int | None = len(self.of_level("1"))
        if len(single) > 1 and (single[1] is None or (single[1] and second)):
            second = None if single[1] is None else first
        both = first if len(single) == 1 and not second else (first or 0) + (second or 0)
        deeper = {level: len(self.of_level(level)) for level in self.deeper_levels}
        return {"0": first, "1": second, **deeper, ALL_LEVELS: both}
