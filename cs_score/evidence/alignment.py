"""Alignment of predicted with gold facts in R4C (Inoue et al. 2020): string similarity, maximum-weight assignment."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from cs_score.errors import InputError, MissingExtraError

EXTRA: Final = "r4c"
"""The extra of the package that brings the edit distance and the assignment solver."""


class Fact(NamedTuple):
    """A relational fact."""

    head: str
    relation: str
    tail: str


class Similarity(NamedTuple):
    """Similarities of the parts of two facts, each at most 1; below 0 where lower-casing lengthens a string."""

    head: float
    relation: float
    tail: float


class Pair(NamedTuple):
    """Positions of a predicted and a gold fact that are aligned, and the weight of the pair (above 0)."""

    predicted: int
    gold: int
    weight: float


Weight: TypeAlias = Callable[[Similarity], float]


def entity_weight(similarity: Similarity) -> float:
    """Mode `e`: head and tail."""
    return (similarity.head + similarity.tail) / 2


def relation_weight(similarity: Similarity) -> float:
    """Mode `r`: the relation."""
    return similarity.relation


def full_weight(similarity: Similarity) -> float:
    """Mode `er`: head, tail and relation alike, added in this order; not the mean of the other two."""
    return (similarity.head + similarity.tail + similarity.relation) / 3


class Comparer:
    """Compares facts; of equal pairs of strings only the first is computed.

    Raises MissingExtraError where rapidfuzz is not installed.
    """

    __slots__ = ("_distance", "_known")

    def __init__(self) -> None:
        try:
            from rapidfuzz.distance.Levenshtein import distance
        except ImportError:
            raise MissingExtraError("rapidfuzz", EXTRA) from None
        self._distance: Callable[[str, str], int] = distance
        self._known: dict[tuple[str, str], float] = {}

    def compare(self, predicted: Fact, gold: Fact) -> Similarity:
        """The similarities of two facts."""
        return Similarity(*map(self.similarity, predicted, gold))

    def similarity(self, one: str, other: str) -> float:
        """1 - Levenshtein distance of the lower-cased strings / length of the longer string as given.

        Not a number where both are empty: an error only if an evaluation uses it.
        """
        known = self._known.get((one, other))
        if known is None:
            # The lengths are those before lower-casing, which turns a capital I with dot into two code points.
            longer = max(len(one), len(other))
            known = 1 - self._distance(one.lower(), other.lower()) / longer if longer else math.nan
            self._known[one, other] = known
        return known


class Aligner:
    """Finds one-to-one alignments of greatest total weight.

    Raises MissingExtraError where scipy is not installed.
    """

    __slots__ = ("_solve",)

    def __init__(self) -> None:
        try:
            from scipy.optimize import linear_sum_assignment
        except ImportError:
            raise MissingExtraError("scipy", EXTRA) from None
        self._solve = linear_sum_assignment

    def align(self, weights: Sequence[Sequence[float]]) -> list[Pair]:
        """The aligned pairs, in the order of the predicted facts.

        `weights` has a row per predicted and a column per gold fact. A pair that is worth nothing, or less, is never
        made: leaving both facts alone is as good. Raises InputError where a weight is not a number.
        """
        if not weights or not weights[0]:
            return []
        if any(math.isnan(weight) for row in weights for weight in row):
            raise InputError("two empty strings are to be compared, for which no similarity is defined")
        worth = [[max(0.0, weight) for weight in row] for row in weights]
        rows, columns = self._solve(worth, maximize=True)
        return [
            Pair(row, column, worth[row][column])
            for row, column in zip(rows.tolist(), columns.tolist())
            if worth[row][column] > 0
        ]


def total_weight(pairs: Sequence[Pair]) -> float:
    """The weights of the pairs, added in their order starting at 0.0."""
    total = 0.0
    for pair in pairs:
        total += pair.weight
    return total
