"""Cohen's kappa against statsmodels, and intervals that draw the assessor by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa, to_table

from cs_score.statistics.arithmetic import scores_of
from cs_score.statistics.assessors import assessor_intervals, kappa, kappa_limits
from cs_score.statistics.draws import bootstrap_counts
from cs_score.statistics.resampling_settings import Resampling
from tests.statistics.cases import FORMULA, MEAN, present, system


def test_kappa_is_that_of_statsmodels() -> None:
    rng = np.random.default_rng(1)
    for size, kinds in ((5, 2), (50, 3), (500, 6)):
        first = rng.integers(0, kinds, size)
        second = np.where(rng.random(size) < 0.6, first, rng.integers(0, kinds, size))
        table, _ = to_table(np.stack([first, second], axis=1), kinds)
        wanted = cohens_kappa(table, return_results=False)
        assert kappa(zip(first.tolist(), second.tolist())) == pytest.approx(float(wanted), abs=1e-12)


def test_limits_of_kappa_are_those_of_resampled_units() -> None:
    """Every resample takes all judged answers of its units; its kappa is that of statsmodels."""
    rng = np.random.default_rng(3)
    judged = {}
    for unit in range(12):
        first = rng.integers(0, 3, 1 + unit % 4)
        second = np.where(rng.random(len(first)) < 0.7, first, rng.integers(0, 3, len(first)))
        judged[str(unit)] = list(zip(first.tolist(), second.tolist()))
    kappas = []
    for counts in np.concatenate([*bootstrap_counts(5, 12, 200)]):
        drawn = [pair for unit, count in enumerate(counts) for pair in judged[str(unit)] * int(count)]
        kappas.append(cohens_kappa(to_table(np.array(drawn), 3)[0], return_results=False))
    wanted = np.quantile(kappas, [0.05, 0.95])
    assert kappa_limits(judged, Resampling(200, 5, 90)) == pytest.approx(tuple(wanted), abs=1e-12)


def test_kappa_of_one_unit_has_no_limits() -> None:
    assert kappa_limits({"q": [("C", "W"), ("C", "C")]}, Resampling(99)) == (None, None)
    assert kappa_limits({"a": [("C", "C")], "b": [("C", "C")]}, Resampling(99)) == (None, None)


def test_where_there_is_no_agreement_to_measure() -> None:
    assert kappa([]) is None
    assert kappa([("C", "C"), ("C", "C")]) is None
    assert (kappa([("C", "W"), ("W", "C")]), kappa([("C", "C"), ("W", "W")])) == (-1.0, 1.0)
    assert kappa([("C", "C"), ("W", "W"), ("C", "W"), ("W", "C")]) == 0.0


def test_intervals_that_draw_the_assessor() -> None:
    """They lie around the mean of both scores; calling the first the second changes nothing."""
    first, second = [system(0.9), system(0.5)], [system(0.5, seed=1), system(0.5)]
    found = assessor_intervals(first, second, FORMULA, Resampling(999))
    assert found == assessor_intervals(second, first, FORMULA, Resampling(999))
    assert found != assessor_intervals(first, second, FORMULA, Resampling(999, seed=1))
    points = [float(scores_of(FORMULA, each.sum(axis=0))[0]) for each in (first[0], second[0])]
    one = assessor_intervals([first[0][:1]], [second[0][:1]], FORMULA, Resampling(99))
    assert one[0] == tuple(sorted(float(scores_of(FORMULA, each[0][:1])[0, 0]) for each in (first, second)))
    low, high = (present(limit) for limit in found[0])
    assert min(points) < (low + high) / 2 < max(points)
    limits = [assessor_intervals([each], [each], FORMULA, Resampling(999))[0] for each in (first[0], second[0])]
    widths = [present(above) - present(below) for below, above in limits]
    assert high - low > min(widths)


def test_the_difference_of_the_assessors_stays_in_the_interval() -> None:
    """400 claims, .6025 right for the first assessor, .7825 for the second, who accepts all that the first accepts.

    Either half of the resamples lies around the score of one assessor, so that the limits are those that leave out
    5 % of the resamples of the one below and of the other above.
    """
    right_claims = {"first": 241, "second": 313}
    sides = {}
    for name, right in right_claims.items():
        sides[name] = [np.column_stack([np.arange(400) < right, np.ones(400)]).astype(np.float64)]
    [(low, high)] = assessor_intervals(sides["first"], sides["second"], MEAN, Resampling(10_000))
    assert present(low) < 0.6025 < 0.7825 < present(high)
    assert low == pytest.approx(stats.binom.ppf(0.05, 400, 0.6025) / 400, abs=0.003)
    assert high == pytest.approx(stats.binom.ppf(0.95, 400, 0.7825) / 400, abs=0.003)
    assert (low, high) == pytest.approx((0.5625, 0.8150), abs=0.003)


def test_a_run_that_is_mostly_undefined_has_no_interval() -> None:
    """One of nine units has a denominator, so that a third of the resamples are 0/0."""
    rows = np.zeros((9, 2))
    rows[0] = 1
    assert assessor_intervals([rows], [rows], MEAN, Resampling(200)) == [(None, None)]
