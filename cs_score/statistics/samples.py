"""Scores of a pool that was assessed in part, estimated from a stratified sample of its answers.

Items are the answers of a run. Item i adds x_i to the numerator of a score (it is right) and y_i to the denominator (it
is right or wrong). Both are known where the item was assessed. There is a prediction f_i of x_i from 0 to 1, 0 where
nobody predicts; y_i is predicted as 1. In stratum h of N_h items those assessed stand for all, with weights w = 1 /
probability that are scaled to sum to N_h (n_h items were assessed, s sums over these):

    X = sum over all f + sum over h of N_h s(w (x - f)) / s(w)        Y likewise        score = X / Y

The variance is that of the residuals u = N_h w / s(w) (e - mean of e in h) / Y, with e = (x - f) - score (y - 1):

    this pool            sum over answers of (1 - probability) u^2, which is 0 where everything was assessed
    answers like these   sum of u^2 + sum over all items of ((f - mean of f) / Y)^2

A second-hop answer can be known only where its first-hop answer was assessed: it is drawn in two stages.
Sources: docs/statistics/sampled-pools.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cs_score.base.records import Record
from cs_score.base.runtime import Late
from cs_score.statistics.arithmetic import Floats

if TYPE_CHECKING:
    import statistics

    import numpy as np
    from numpy.typing import NDArray
else:
    np, statistics = Late("numpy"), Late("statistics")

Numbers: TypeAlias = "NDArray[np.intp]"


class SampledItems(Record, eq=False):
    """The answers of a run of which a sample was assessed, an array of the same length for each field.

    `right` (0 or 1) is what an item adds to the numerator of the score, `count` (0 or 1) what it adds to the
    denominator; both only matter where `is_assessed`. `prediction` (0 to 1) is the predicted `right`, 0 where nobody
    predicts.

    `answer` is the number of the item's answer, the same in all runs; `parent` that of the first-hop answer that it
    depends on, for a first-hop answer its own number. The parent is assessed with the probability `chance_of_parent`,
    and the item, once its parent is, with the probability `chance`. `stratum` is the number of its stratum, from 0.
    """

    right: Floats
    count: Floats
    is_assessed: NDArray[np.bool_]
    chance: Floats
    answer: Numbers
    parent: Numbers
    chance_of_parent: Floats
    stratum: Numbers
    prediction: Floats


class Estimate(Record):
    """An estimate with its standard error and limits for this pool, and the limits for answers like those in it."""

    estimate: float
    standard_error: float
    low: float
    high: float
    population_low: float
    population_high: float


class SampleScore(Record, eq=False):
    """A score estimated from a sample, with the parts of its variance.

    `residuals` has for each item what it adds to the error of the estimate, `spread` how far its prediction is from
    the mean of all predictions; both are divided by the denominator of the score.
    """

    items: SampledItems
    value: float
    residuals: Floats
    spread: Floats


def estimate_score(items: SampledItems, *, is_total: bool = False) -> SampleScore:
    """Return the estimated score X / Y of all items, or with `is_total` its numerator X.

    Some item of each stratum must have been assessed. A score of 0/0 is 0.
    """
    weights = _weights(items)
    right = items.prediction + weights * (items.right - items.prediction)
    numerator = float(right.sum())
    error = items.right - items.prediction
    if is_total:
        value = numerator
        denominator = 1.0
    else:
        denominator = float((1.0 + weights * (items.count - 1.0)).sum())
        value = numerator / denominator if denominator else 0.0
        denominator = denominator or 1.0
        error = error - value * (items.count - 1.0)
    stratum_means = np.bincount(items.stratum, weights * error) / np.bincount(items.stratum)
    return SampleScore(
        items=items,
        value=value,
        residuals=weights * (error - stratum_means[items.stratum]) / denominator,
        spread=(items.prediction - items.prediction.mean()) / denominator,
    )


def _weights(items: SampledItems) -> Floats:
    """Return for how many items of its stratum each assessed item stands; 0 for the items that were not assessed."""
    inverse_chance = np.where(items.is_assessed, 1 / (items.chance * items.chance_of_parent), 0.0)
    stratum_sizes = np.bincount(items.stratum)
    scale = stratum_sizes / np.bincount(items.stratum, inverse_chance)
    return np.asarray(inverse_chance * scale[items.stratum])


def score_with_limits(score: SampleScore, confidence: float, largest: float = math.inf) -> Estimate:
    """Return an estimated score with normal limits at `confidence` percent, cut to 0 and `largest`."""
    return _with_limits([_Term(1.0, score)], confidence, 0.0, largest)


def difference_with_limits(first: SampleScore, second: SampleScore, confidence: float) -> Estimate:
    """Return the estimated score of `second` less that of `first`, with normal limits at `confidence` percent.

    Both are estimated from the same sample, so that the error of an answer that both runs give cancels out.
    """
    return _with_limits([_Term(-1.0, first), _Term(1.0, second)], confidence, -math.inf, math.inf)


class _Term(NamedTuple):
    """A score in a sum of scores, times a factor."""

    factor: float
    score: SampleScore


def _with_limits(terms: Sequence[_Term], confidence: float, least: float, most: float) -> Estimate:
    """Return a sum of estimated scores with normal limits, which are cut to `least` and `most`."""
    value = sum(term.factor * term.score.value for term in terms)
    variances = _variances(terms)
    z = statistics.NormalDist().inv_cdf(0.5 + confidence / 200)
    standard_error = math.sqrt(variances.pool)
    reach = z * math.sqrt(variances.population)
    limits = [value - z * standard_error, value + z * standard_error, value - reach, value + reach]
    low, high, population_low, population_high = [min(max(limit, least), most) for limit in limits]
    return Estimate(
        estimate=value,
        standard_error=standard_error,
        low=low,
        high=high,
        population_low=population_low,
        population_high=population_high,
    )


class _Variances(NamedTuple):
    """The variance of an estimate for this pool, and that for answers like those in it."""

    pool: float
    population: float


def _variances(terms: Sequence[_Term]) -> _Variances:
    """Return the variances of a sum of estimated scores.

    The residuals of an answer in several terms are added up first, since it was assessed once for all of them. The
    second-hop answers of a first-hop answer were drawn together with it, so their residuals are added up, too.
    """
    answers = np.concatenate([term.score.items.answer for term in terms])
    _, first_places, places = np.unique(answers, return_index=True, return_inverse=True)
    residuals = np.bincount(places, np.concatenate([term.factor * term.score.residuals for term in terms]))
    spread = np.bincount(places, np.concatenate([term.factor * term.score.spread for term in terms]))
    chance = np.concatenate([term.score.items.chance for term in terms])[first_places]
    parents = np.concatenate([term.score.items.parent for term in terms])[first_places]
    chance_of_parent = np.concatenate([term.score.items.chance_of_parent for term in terms])[first_places]

    _, first_of_parent, places_of_parents = np.unique(parents, return_index=True, return_inverse=True)
    squares_by_parent = np.bincount(places_of_parents, residuals) ** 2
    first_stage = ((1 - chance_of_parent[first_of_parent]) * squares_by_parent).sum()
    second_stage = (chance_of_parent * (1 - chance) * residuals**2).sum()
    return _Variances(
        pool=float(first_stage + second_stage), population=float(squares_by_parent.sum() + (spread**2).sum())
    )
