"""Estimates from a sample: against prediction-powered inference and against the score itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing
import pytest
from scipy.stats import norm

from cs_score.statistics.arithmetic import Floats
from cs_score.statistics.stratified_samples import (
    Estimate,
    Numbers,
    SampledItems,
    difference_with_limits,
    estimate_score,
    score_with_limits,
)

Flags: TypeAlias = "np.typing.NDArray[np.bool_]"


def items(
    right: Floats,
    assessed: Sequence[bool] | Floats | Flags,
    chance: Floats | float,
    predicted: Floats | float = 0.0,
    stratum: Numbers | int = 0,
    counted: Floats | float = 1.0,
) -> SampledItems:
    """Answers that stand below no other."""
    size, at = len(right), np.arange(len(right))
    full = [np.broadcast_to(np.asarray(each, np.float64), size) for each in (counted, chance, predicted)]
    strata = np.broadcast_to(np.asarray(stratum, np.intp), size)
    known = np.asarray(assessed, np.bool_)
    return SampledItems(right.astype(np.float64), full[0], known, np.ones(size), at, at, full[1], strata, full[2])


def of_one(given: SampledItems, *, is_numerator_only: bool = False) -> Estimate:
    return score_with_limits(estimate_score(given, is_numerator_only=is_numerator_only), 95.0)


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
    found, total = of_one(given), of_one(given, is_numerator_only=True)
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
    found = of_one(items(right, sample, 0.8, counted=np.array([1, 1, 1, 0, 1])), is_numerator_only=True)
    assert found.estimate == pytest.approx(2 * 5 / 4)
    assert found.standard_error == pytest.approx(math.sqrt(0.2 * 4 * (5 / 4 * 0.5) ** 2))


def test_a_difference_uses_that_both_runs_were_sampled_together() -> None:
    _, right = drawn(9)
    sample = np.random.default_rng(9).random(500) < 0.3
    first, second = estimate_score(items(right, sample, 0.3)), estimate_score(items(1 - right, sample, 0.3))
    nothing = difference_with_limits(first, first, 95.0)
    assert (nothing.estimate, nothing.standard_error, nothing.population_high) == (0.0, 0.0, 0.0)
    twice = difference_with_limits(first, second, 95.0)
    assert twice.estimate == pytest.approx(1 - 2 * first.value)
    assert twice.standard_error == pytest.approx(2 * of_one(items(right, sample, 0.3)).standard_error)


def test_limits_stay_where_scores_can_be() -> None:
    found = score_with_limits(estimate_score(items(np.array([1.0, 0.0]), [True, True], 0.01)), 95.0, 1.0)
    assert (found.low, found.high) == (0.0, 1.0)
