"""The table of statistics, and the one formula per mode that scalars and arrays share."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt
import pytest

from cs_score.evidence import claims, hotpotqa, r4c, scifact
from cs_score.evidence.mode import Mode
from cs_score.measures.registry import divide
from cs_score.statistics.units import UnitTable

MODES = (scifact.MODE, claims.MODE, r4c.MODE, hotpotqa.MODE)

Array = npt.NDArray[np.float64]


def divide_arrays(numerator: Array, denominator: Array) -> Array:
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator != 0)


def resampled(mode: Mode, draws: int) -> Array:
    """Sums of columns by draws, zeros among them."""
    generator = np.random.default_rng(5)
    sums = generator.integers(0, 4, size=(len(mode.columns), draws)).astype(np.float64)
    sums[:, 0] = 0
    return sums


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_arrays_score_as_scalars_do(mode: Mode) -> None:
    sums = resampled(mode, draws=200)
    vectorised = np.array(mode.formula(list(sums), divide_arrays))
    one_by_one = np.array([mode.formula([float(cell) for cell in draw], divide) for draw in sums.T]).T
    assert vectorised.shape == (len(mode.measures), 200)
    assert np.array_equal(vectorised, one_by_one)


def test_sums_keep_integers_and_add_floats_from_the_top() -> None:
    addends = [random.Random(1).random() for _ in range(1000)]
    table = UnitTable(tuple(map(str, addends)), ("one", "float"), [(1, addend) for addend in addends])
    ones, total = table.sums()
    assert (ones, type(ones)) == (1000, int)
    expected = 0.0
    for addend in addends:
        expected += addend
    assert total == expected
