"""Estimates from a sample: against prediction-powered inference, the score itself, and by simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing
import pytest
from scipy import stats
from scipy.stats import norm
from statsmodels.stats.inter_rater import cohens_kappa, to_table

from cs_score.statistics.arithmetic import Floats, scores_of
from cs_score.statistics.assessments import (
    Estimate,
    Items,
    Numbers,
    assessor_intervals,
    estimated,
    interval_of,
    kappa,
    kappa_limits,
)
from cs_score.statistics.options import Resampling
from cs_score.statistics.resampling import bootstrap_counts
from tests.statistics.cases import FORMULA, MEAN, present, system

Flags: TypeAlias = "np.typing.NDArray[np.bool_]"


def items(
    right: Floats,
    assessed: Sequence[bool] | Floats | Flags,
    chance: Floats | float,
    predicted: Floats | float = 0.0,
    stratum: Numbers | int = 0,
    counted: Floats | float = 1.0,
) -> Items:
    """Answers that stand below no other."""
    size, at = len(right), np.arange(len(right))
    full = [np.broadcast_to(np.asarray(each, np.float64), size) for each in (counted, chance, predicted)]
    strata = np.broadcast_to(np.asarray(stratum, np.intp), size)
    known = np.asarray(assessed, np.bool_)
    return Items(right.astype(np.float64), full[0], known, np.ones(size), at, at, full[1], strata, full[2])


def of_one(given: Items, *, is_total: bool = False) -> Estimate:
    return interval_of([(1.0, estimated(given, is_total=is_total))], 95.0)


def drawn(seed: int, size: int = 500) -> tuple[Floats, Floats]:
    """Predictions, and rights that they predict."""
    rng = np.random.default_rng(seed)
    predicted = rng.random(size)
    return predicted, (rng.random(size) < predicted).astype(np.float64)


def test_uniform_sampling_is_prediction_powered_inference() -> None:
    """`ppi_mean_ci(Y, Yhat, Yhat_unlabeled, alpha=0.05, lam=1)` of ppi_py 0.2.3 as its paper has it."""
    for seed in range(5):
        predicted, right = drawn(seed)
        sample = np.zeros(500, bool)
        sample[np.random.default_rng(seed).permutation(500)[:120]] = True
        point = predicted.mean() + (right - predicted)[sample].mean()
        error = math.sqrt(predicted.var() / 500 + (right - predicted)[sample].var() / 120)
        found = of_one(items(right, sample, 120 / 500, predicted))
        assert found.estimate == pytest.approx(point, abs=1e-12)
        assert found.population_low == pytest.approx(point - norm.ppf(0.975) * error, abs=1e-9)
        assert found.population_high == pytest.approx(point + norm.ppf(0.975) * error, abs=1e-9)
        within = math.sqrt((1 - 120 / 500) * (right - predicted)[sample].var() / 120)
        assert found.standard_error == pytest.approx(within, abs=1e-12)


def test_everything_assessed_gives_the_score() -> None:
    predicted, right = drawn(7)
    counted = np.maximum(right, np.random.default_rng(8).random(500) < 0.8)
    given = items(right, np.ones(500), 1.0, predicted, counted=counted)
    found, total = of_one(given), of_one(given, is_total=True)
    assert found.estimate == pytest.approx(right.sum() / counted.sum(), abs=1e-12)
    assert (found.standard_error, found.low, found.high) == (0.0, found.estimate, found.estimate)
    assert total.estimate == pytest.approx(right.sum(), abs=1e-9)
    assert total.standard_error == 0.0


def test_strata_are_weighted_by_their_size() -> None:
    right = np.array([1, 0, 1, 1, 1, 0, 0, 0, 0, 0], np.float64)
    sample = [True, True, True, False, True, False, False, False, True, False]
    found = of_one(
        items(right, sample, np.where(np.arange(10) < 3, 1.0, 0.3), stratum=(np.arange(10) >= 3).astype(int))
    )
    assert found.estimate == pytest.approx(0.3 * 2 / 3 + 0.7 * 1 / 2)
    assert found.standard_error == pytest.approx(math.sqrt(0.7 * 2 * (0.7 * 0.5 / 2) ** 2))


def test_a_total_does_not_mind_what_counts_without_being_right() -> None:
    """Two residuals of 1/2, each for 5/4 answers; that the last answer known counts for nothing changes no residual."""
    right, sample = np.array([1, 0, 1, 0, 0], np.float64), [True, True, True, True, False]
    found = of_one(items(right, sample, 0.8, counted=np.array([1, 1, 1, 0, 1])), is_total=True)
    assert found.estimate == pytest.approx(2 * 5 / 4)
    assert found.standard_error == pytest.approx(math.sqrt(0.2 * 4 * (5 / 4 * 0.5) ** 2))


def test_a_difference_uses_that_both_runs_were_sampled_together() -> None:
    _, right = drawn(9)
    sample = np.random.default_rng(9).random(500) < 0.3
    first, second = estimated(items(right, sample, 0.3)), estimated(items(1 - right, sample, 0.3))
    nothing = interval_of([(-1.0, first), (1.0, first)], 95.0)
    assert (nothing.estimate, nothing.standard_error, nothing.population_high) == (0.0, 0.0, 0.0)
    twice = interval_of([(-1.0, first), (1.0, second)], 95.0)
    assert twice.estimate == pytest.approx(1 - 2 * first.value)
    assert twice.standard_error == pytest.approx(2 * of_one(items(right, sample, 0.3)).standard_error)


def test_limits_stay_where_scores_can_be() -> None:
    found = interval_of([(1.0, estimated(items(np.array([1.0, 0.0]), [True, True], 0.01)))], 95.0, 1.0)
    assert (found.low, found.high) == (0.0, 1.0)


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
