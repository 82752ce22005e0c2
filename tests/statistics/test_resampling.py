"""Draws are gathered into products of matrices of several sizes, which no result may show."""

from __future__ import annotations

import numpy as np
import pytest

from cs_score.statistics.arithmetic import exact_statistics
from cs_score.statistics.resampling import bootstrap_counts, digit_sums


@pytest.mark.parametrize(("units", "columns"), [(1, 1), (30, 3), (700, 20), (3000, 5), (3, 9000)])
def test_gathered_sums_are_those_of_each_draw_alone(units: int, columns: int) -> None:
    exact = exact_statistics([np.random.default_rng(1).random((units, columns))])
    draws = [*bootstrap_counts(2, units, 900)]
    expected = np.concatenate([exact.weighted(counts.astype(np.float64)) for counts in draws])
    for cells in (units, 100 * units, 10**7):
        products = list(digit_sums(exact, bootstrap_counts(2, units, 900, cells=cells)))
        assert (np.concatenate(products) == expected).all()
