"""Alignment of predicted with gold facts in R4C (Inoue et al. 2020): string similarity, maximum-weight assignment."""

from __future__ import annotations

import functools
import mmap
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from cs_score.base.errors import CsScoreError, InputError, MissingExtraError

if TYPE_CHECKING:  # numpy is imported with what needs it
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Matrix: TypeAlias = NDArray[np.float64]
    Solve: TypeAlias = Callable[..., tuple[NDArray[np.intp], NDArray[np.intp]]]

EXTRA: Final = "r4c"
"""The extra of the package that brings the edit distance and the assignment solver."""

# Address space that scipy and what it loads take with one thread, and some more to work in.
_ROOM: Final = 224 << 20

_THREADS: Final = "OPENBLAS_NUM_THREADS"


class Fact(NamedTuple):
    """A relational fact."""

    head: str
    relation: str
    tail: str


class Similarities(NamedTuple):
    """Similarities of the parts of predicted facts (rows) with those of gold facts (columns).

    Each is at most 1; below 0 where lower-casing lengthens a string; not a number where both strings are empty.
    """

    head: Matrix
    relation: Matrix
    tail: Matrix


class Pair(NamedTuple):
    """Positions of a predicted and a gold fact that are aligned, and the weight of the pair (above 0)."""

    predicted: int
    gold: int
    weight: float


Weight: TypeAlias = "Callable[[Similarities], Matrix]"


def entity_weight(similarities: Similarities) -> Matrix:
    """Mode `e`: head and tail."""
    return (similarities.head + similarities.tail) / 2


def relation_weight(similarities: Similarities) -> Matrix:
    """Mode `r`: the relation."""
    return similarities.relation


def full_weight(similarities: Similarities) -> Matrix:
    """Mode `er`: head, tail and relation alike, added in this order; not the mean of the other two."""
    return (similarities.head + similarities.tail + similarities.relation) / 3


class Comparer:
    """Compares facts, all of a prediction with all of a reference: of equal pairs of strings only the first.

    Raises MissingExtraError where rapidfuzz is not installed.
    """

    __slots__ = ("_distances",)

    def __init__(self) -> None:
        try:
            from rapidfuzz.distance.Levenshtein import distance
            from rapidfuzz.process import cdist
        except ModuleNotFoundError:
            raise MissingExtraError("rapidfuzz", EXTRA) from None
        self._distances = functools.partial(cdist, scorer=distance)

    def compare(self, predicted: Sequence[Fact], gold: Sequence[Fact]) -> Similarities:
        """The similarities of facts."""
        return Similarities(
            *(
                self.similarities([fact[part] for fact in predicted], [fact[part] for fact in gold])
                for part in range(len(Fact._fields))
            )
        )

    def similarities(self, ones: Sequence[str], others: Sequence[str]) -> Matrix:
        """1 - Levenshtein distance of the lower-cased strings / length of the longer string as given.

        Not a number where both are empty: an error only if an evaluation uses it.
        """
        import numpy as np

        rows, columns = _numbered(ones), _numbered(others)
        if not rows or not columns:
            return np.zeros((len(ones), len(others)))
        distances = self._distances([text.lower() for text in rows], [text.lower() for text in columns])
        # The lengths are those before lower-casing, which turns a capital I with dot into two code points.
        longer = np.maximum.outer([len(text) for text in rows], [len(text) for text in columns])
        with np.errstate(invalid="ignore"):
            known = 1 - distances / longer
        if len(rows) == len(ones) and len(columns) == len(others):
            return known
        return known[np.ix_([rows[text] for text in ones], [columns[text] for text in others])]


def _numbered(texts: Iterable[str]) -> dict[str, int]:
    """Different texts in their order, with their numbers from 0."""
    return {text: number for number, text in enumerate(dict.fromkeys(texts))}


class Aligner:
    """Finds one-to-one alignments of greatest total weight.

    Raises MissingExtraError where scipy is not installed, and CsScoreError where memory is too limited for it.
    """

    __slots__ = ("_solve",)

    def __init__(self) -> None:
        self._solve = _solver()

    def align(self, weights: ArrayLike) -> list[Pair]:
        """The aligned pairs, in the order of the predicted facts.

        `weights` has a row per predicted and a column per gold fact. A pair that is worth nothing, or less, is never
        made: leaving both facts alone is as good. Raises InputError where a weight is not a number.
        """
        import numpy as np

        worth = np.maximum(0.0, weights)
        if not worth.size:
            return []
        if np.isnan(worth).any():
            raise InputError("two empty strings are to be compared, for which no similarity is defined")
        rows, columns = self._solve(worth, maximize=True)
        chosen = zip(rows.tolist(), columns.tolist(), worth[rows, columns].tolist())
        return [Pair(row, column, weight) for row, column, weight in chosen if weight > 0]


def _solver() -> Solve:
    """scipy's solver of assignments. Raises MissingExtraError, and CsScoreError where there is no room for it.

    The library for linear algebra that comes with it is not needed here. It starts a thread for each processor as soon
    as it is loaded and, where memory is limited too tightly for that, may wait for ever, deaf to signals.
    """
    if "scipy.optimize" not in sys.modules:
        try:
            mmap.mmap(-1, _ROOM).close()
        except OSError:
            problem = f"scipy needs {_ROOM >> 20} MB of address space, and there is less; raise the limit (ulimit -v)"
            raise CsScoreError(problem) from None
    is_chosen = _THREADS in os.environ
    os.environ.setdefault(_THREADS, "1")
    try:
        from scipy.optimize import linear_sum_assignment
    except ModuleNotFoundError:
        raise MissingExtraError("scipy", EXTRA) from None
    finally:
        if not is_chosen:
            del os.environ[_THREADS]
    solve: Solve = linear_sum_assignment
    return solve


def total_weight(pairs: Sequence[Pair]) -> float:
    """The weights of the pairs, added in their order starting at 0.0."""
    total = 0.0
    for pair in pairs:
        total += pair.weight
    return total
