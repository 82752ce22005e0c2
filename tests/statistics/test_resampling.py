"""Draws are gathered into products of matrices of several sizes, which no result may show."""

from __future__ import annotations

import numpy as np
import pytest

from cs_score.statistics.draws import bootstrap_counts
from cs_score.statistics.exact_sums import exact_statistics
from cs_score.statistics.options import Resampling
from cs_score.statistics.resampling import bootstrap_scores, defined, digit_sums, jackknife_scores, unit_ratios
from tests.statistics.cases import FORMULA, identity, system


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


def test_jackknife_and_unit_ratios() -> None:
    exact = exact_statistics([[[1, 2], [3, 4], [5, 7]]])
    assert jackknife_scores(exact, identity)[:, 0].tolist() == [[8, 11], [6, 9], [4, 6]]
    assert unit_ratios(exact, identity).numerator[:, 0].tolist() == [[1, 2], [3, 4], [5, 7]]
    assert unit_ratios(exact, identity).denominator[:, 0].tolist() == [[1, 1]] * 3
    counts = exact_statistics([[[1, 2, 3], [0, 0, 1]]])
    found = unit_ratios(counts, FORMULA)
    assert found.numerator[:, 0].tolist() == [[1, 1, 2], [0, 0, 0]]
    assert found.denominator[:, 0].tolist() == [[2, 3, 5], [0, 1, 1]]
    # Without the first unit nothing is retrieved.
    assert np.isnan(jackknife_scores(counts, FORMULA)[:, 0]).tolist() == [[True, False, False], [False] * 3]


def test_resamples_without_a_score_are_undefined_and_not_0() -> None:
    """One of four units has a label: a resample without it has nothing to divide by."""
    labelled = np.array([[1.0, 1.0, 1.0], [0, 0, 1], [0, 0, 1], [0, 0, 1]])
    scores = bootstrap_scores(exact_statistics([labelled]), FORMULA, Resampling(500))[:, 0]
    drawn = np.concatenate([counts for _, counts in bootstrap_counts(0, 4, range(500))])
    assert (np.isnan(scores[0]) == (drawn[:, 0] == 0)).all()
    assert set(scores[0][drawn[:, 0] > 0]) == {1.0}
    assert not np.isnan(scores[1:]).any()


def test_defined_resamples() -> None:
    one = np.array([0.1, np.nan, 0.2, 0.3, 0.4])
    kept = defined(one)
    assert kept is not None
    assert kept.tolist() == [0.1, 0.2, 0.3, 0.4]  # just 20 % are left out
    assert defined(np.array([np.nan, 0.1, 0.2, 0.3])) is None
    both = defined(np.array([[0.1, 0.2, np.nan, 0.4, 0.5], [1, 2, 3, 4, 5]]))
    assert both is not None
    assert both.tolist() == [[0.1, 0.2, 0.4, 0.5], [1, 2, 4, 5]]
    assert defined(np.array([[0.1, 0.2, np.nan, 0.4, 0.5], [1, np.nan, 3, 4, 5]])) is None
