"""Units and measures that the tests of the statistics share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from cs_score.measures.registry import f1
from cs_score.statistics.arithmetic import ColumnFormula, Floats

_Value = TypeVar("_Value")

MEASURES = ("P", "R", "F1")
"""Of the statistics correct, retrieved and relevant."""


def precision_recall_f1(sums: Sequence[Any], divide: Callable[[Any, Any], Any]) -> tuple[Any, Any, Any]:
    correct, retrieved, relevant = sums
    precision, recall = divide(correct, retrieved), divide(correct, relevant)
    return precision, recall, f1(precision, recall, divide)


def present(value: _Value | None) -> _Value:
    """A number or record that is there."""
    assert value is not None
    return value


FORMULA = ColumnFormula(precision_recall_f1)


def tiled(row: Sequence[float], units: int) -> Floats:
    """The same statistics for every unit."""
    return np.tile(np.array(row, dtype=np.float64), (units, 1))


def system(quality: float, *, units: int = 60, seed: int = 1) -> Floats:
    """Random counts of a system that gets each answer right with probability `quality`."""
    rng = np.random.default_rng(seed)
    retrieved, relevant = rng.integers(0, 4, units), rng.integers(1, 4, units)
    correct = rng.binomial(np.minimum(retrieved, relevant), quality)
    return np.stack([correct, retrieved, relevant], axis=1).astype(np.float64)


def _rounding(sums: Sequence[Any], divide: Callable[[Any, Any], Any]) -> tuple[Any, ...]:
    return (divide(0.7 * sums[0], 0.7 * sums[1]),)


ROUNDING = ColumnFormula(_rounding)
"""A ratio by a road on which equal ratios come out differently in the last digit."""
