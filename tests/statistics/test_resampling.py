"""Draws are gathered into products of matrices of several sizes, which no result may show."""

from __future__ import annotations

import numpy as np
import pytest

from cs_score.statistics.arithmetic import exact_statistics
from cs_score.statistics.options import Resampling
from cs_score.statistics.resampling import bootstrap_counts, bootstrap_scores, digit_sums
from tests.statistics.cases import FORMULA, system


@pytest.mark.parametrize(("units", "columns"), [(1, 1), (30, 3), (700, 20), (3000, 5), (3, 9000)])
def test_gathered_sums_are_those_of_each_draw_alone(units: int, columns: int) -> None:
    exact = exact_statistics([np.random.default_rng(1).random((units, columns))])
    draws = [counts for _, counts in bootstrap_counts(2, units, range(900))]
    expected = np.concatenate([exact.weighted(counts.astype(np.float64)) for counts in draws])
    for cells in (units, 100 * units, 10**7):
        products = list(digit_sums(exact, bootstrap_counts(2, units, range(900), cells=cells)))
        assert (np.concatenate(products) == expected).all()


def test_scores_of_resamples_follow_their_definition() -> None:
    matrices = [system(0.5, units=25), system(0.3, units=25, seed=2)]
    scores = bootstrap_scores(exact_statistics(matrices), FORMULA, Resampling(40, seed=9))
    drawn = [row for _, counts in bootstrap_counts(9, 25, range(40)) for row in counts]
    for number, row in enumerate(drawn):
        for place, matrix in enumerate(matrices):
            resample = np.repeat(matrix, row, axis=0)
            sums = resample.sum(axis=0, keepdims=True)
            expected = np.where(FORMULA.ratios(sums).denominator == 0, np.nan, FORMULA(sums))[0]
            assert np.array_equal(scores[:, place, number], expected, equal_nan=True)
