"""Units and measures that the tests of the statistics share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from cs_score.measures import f1
from cs_score.statistics.arithmetic import Floats
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.resampling_settings import Resampling
from cs_score.statistics.results import SystemComparison
from cs_score.statistics.units import UnitTable

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


def mean(sums: Sequence[Any], divide: Callable[[Any, Any], Any]) -> list[Any]:
    return [divide(sums[0], sums[1])]


def rounding(sums: Sequence[Any], divide: Callable[[Any, Any], Any]) -> list[Any]:
    """A ratio by a road on which equal ratios come out differently in the last digit."""
    return [divide(0.7 * sums[0], 0.7 * sums[1])]


FORMULA, MEAN, ROUNDING = precision_recall_f1, mean, rounding


def table(matrix: ArrayLike, ids: Sequence[str] = ()) -> UnitTable:
    """The statistics of a system by unit, which are numbered unless they have ids."""
    rows = np.asarray(matrix)
    columns = tuple(map(str, range(rows.shape[-1])))
    return UnitTable(tuple(ids) or tuple(map(str, range(len(rows)))), columns, list(map(tuple, rows.tolist())))


def compared(
    systems: Mapping[str, ArrayLike], settings: Resampling | None = None, ids: Sequence[str] = (), **how: Any
) -> SystemComparison:
    """The comparison of systems by name, by precision, recall and F1 unless measures and a formula are given."""
    measures, formula = how.pop("measures", MEASURES), how.pop("formula", FORMULA)
    return compare_tables(
        {name: table(each, ids) for name, each in systems.items()}, measures, formula, settings, **how
    )


def tiled(row: Sequence[float], units: int) -> Floats:
    """The same statistics for every unit."""
    return np.tile(np.array(row, dtype=np.float64), (units, 1))


def system(quality: float, *, units: int = 60, seed: int = 1) -> Floats:
    """Random counts of a system that gets each answer right with probability `quality`."""
    rng = np.random.default_rng(seed)
    retrieved, relevant = rng.integers(0, 4, units), rng.integers(1, 4, units)
    correct = rng.binomial(np.minimum(retrieved, relevant), quality)
    return np.stack([correct, retrieved, relevant], axis=1).astype(np.float64)
