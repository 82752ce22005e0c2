"""The nodes of one level in rank order, and the scores of that ranking after a few of them have gone, come, or changed.

Average precision is told from sums over the nodes between those edits: what is worth something keeps its numerator but
for what was gained or lost before it, and its rank but for the nodes that went or came before it. So an edit costs as
much as its own nodes, however long the ranking is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final, TypeAlias

from cs_score.base.records import Record
from cs_score.coldstart.projection import ALL_LEVELS
from cs_score.measures.formulas import average_precision, divide
from cs_score.measures.registry import RANKED

Place: TypeAlias = tuple[float, int, int]
"""Where a node stands: its confidence, negative, then its first line; these order nodes (specification 9.6)."""

_SHORT: Final = 32
"""Nodes of a ranking that is scored anew, since that is as quick."""

_FEW: Final = 64
"""Edits that sums are told from; they are kept for each number of nodes that may have gone or come."""


class Edit(Record):
    """What becomes of nodes, each with its hop: places that were left or taken again, and what is worth how much where
    now."""

    left: list[tuple[int, Place]]
    worth: dict[Place, tuple[int, float]]


class EditedRanking:
    """The nodes of one level by their places, and what each is worth."""

    def __init__(self, level: str, ground_truth: int | None, worth: Iterable[tuple[int, Place, float]]) -> None:
        """`worth`: hop, place and worth of each node of the query."""
        self._level = level
        self._ground_truth = ground_truth
        ordered = sorted((place, value) for hop, place, value in worth if self._has(hop))
        self._places = [place for place, _ in ordered]
        self._values = [value for _, value in ordered]
        self._sums = _Sums(self._values) if len(ordered) > _SHORT else None

    def _has(self, hop: int) -> bool:
        return self._level in (ALL_LEVELS, str(hop))

    def scores(self, edit: Edit) -> tuple[float, ...]:
        """The scores of the ranking's measures after an edit, in the order of their table."""
        edits = self._edits(edit)
        values: list[float] | None = None
        scores: list[float] = []
        for of_ranking in RANKED.values():
            if of_ranking is average_precision and self._sums is not None and len(edits) <= _FEW:
                scores.append(divide(self._sums.edited(edits), self._ground_truth or 0))
            else:
                values = values or _edited(self._values, edits)
                scores.append(of_ranking(values, self._ground_truth))
        return tuple(scores)

    def _edits(self, edit: Edit) -> list[_Step]:
        """The positions at which nodes go or come, from first to last; at one position what comes stands before."""
        steps: list[_Step] = []
        for hop, place in edit.left:
            if self._has(hop):
                steps.append((bisect_left(self._places, place), True, place, 0.0))
        for place, (hop, value) in edit.worth.items():
            if self._has(hop):
                steps.append((bisect_left(self._places, place), False, place, value))
        return sorted(steps)


_Step: TypeAlias = tuple[int, bool, Place, float]
"""A position, whether the node there goes, and place and worth of one that comes before it."""


def _edited(values: Sequence[float], steps: Iterable[_Step]) -> list[float]:
    """Values in rank order after steps, which are in order."""
    edited: list[float] = []
    at = 0
    for position, goes, _, value in steps:
        edited += values[at:position]
        at = position
        if goes:
            at += 1
        else:
            edited.append(value)
    return [*edited, *values[at:]]


class _Sums:
    """The nodes of a ranking that are worth something, and the sums that average precision is made of (9.7)."""

    def __init__(self, values: Sequence[float]) -> None:
        self._values = values
        self._positions = [at for at, value in enumerate(values) if value > 0]
        self._gained = list(accumulate(values[at] for at in self._positions))
        # By how far nodes have moved: the running sums of gain / rank and of 1 / rank.
        self._running: dict[int, tuple[list[float], list[float]]] = {}

    def edited(self, steps: Iterable[_Step]) -> float:
        """The sum that the number of answers divides, after steps, which are in order."""
        total = gained = 0.0
        at = moved = 0
        for position, goes, _, value in steps:
            total += self._between(at, position, moved, gained)
            at = position
            if goes:
                gained -= self._values[position]
                moved -= 1
                at += 1
            elif value > 0:
                gained += value
                total += (self._gained_before(position) + gained) / (position + 1 + moved)
                moved += 1
            else:
                moved += 1
        return total + self._between(at, len(self._values), moved, gained)

    def _gained_before(self, position: int) -> float:
        index = bisect_left(self._positions, position)
        return self._gained[index - 1] if index else 0.0

    def _between(self, start: int, end: int, moved: int, gained: float) -> float:
        """What the nodes of some positions add, when they have moved so far and so much more was gained before them."""
        first, last = bisect_left(self._positions, start), bisect_left(self._positions, end)
        if first == last:
            return 0.0
        precisions, shares = self._running.get(moved) or self._sums_when(moved)
        return precisions[last] - precisions[first] + gained * (shares[last] - shares[first])

    def _sums_when(self, moved: int) -> tuple[list[float], list[float]]:
        ranks = [max(at + 1 + moved, 1) for at in self._positions]
        precisions = accumulate((gain / rank for gain, rank in zip(self._gained, ranks)), initial=0.0)
        shares = accumulate((1 / rank for rank in ranks), initial=0.0)
        self._running[moved] = list(precisions), list(shares)
        return self._running[moved]
