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
    """Return the estimated score X / Y of all items, or its numerator X if `is_total`.

    Some item of each stratum must have been assessed. A score of 0/0 is 0.
    """
    weights = _weights(items)
    # x - f and y - 1 of each item; only those of assessed items count, since the others have the weight 0.
    error_of_right = items.right - items.prediction
    error_of_count = items.count - 1.0
    numerator = float((items.prediction + weights * error_of_right).sum())
    if is_total:
        return _sample_score(items, numerator, error_of_right, denominator=1.0)
    denominator = float((1.0 + weights * error_of_count).sum())
    if not denominator:
        return _sample_score(items, 0.0, error_of_right, denominator=1.0)
    score = numerator / denominator
    return _sample_score(items, score, error_of_right - score * error_of_count, denominator)


def _sample_score(items: SampledItems, value: float, errors: Floats, denominator: float) -> SampleScore:
    """Return an estimated score of this value with the parts of its variance.

    `errors` (items,) are the errors e of the module's formula, and `denominator` is Y.
    """
    weights = _weights(items)
    sizes_of_strata = np.bincount(items.stratum)
    means_of_strata = np.bincount(items.stratum, weights * errors) / sizes_of_strata
    deviations = errors - means_of_strata[items.stratum]
    return SampleScore(
        items=items,
        value=value,
        residuals=weights * deviations / denominator,
        spread=(items.prediction - items.prediction.mean()) / denominator,
    )


def _weights(items: SampledItems) -> Floats:
    """Return how many items of its stratum each assessed item represents; 0 for the items that were not assessed.

    It is 1 / probability, scaled so that the weights of a stratum sum to the number of its items.
    """
    inverse_chance = np.where(items.is_assessed, 1 / (items.chance * items.chance_of_parent), 0.0)
    sums_of_strata = np.bincount(items.stratum, inverse_chance)
    sizes_of_strata = np.bincount(items.stratum)
    scale_of_strata = sizes_of_strata / sums_of_strata
    return np.asarray(inverse_chance * scale_of_strata[items.stratum])


def score_with_limits(score: SampleScore, confidence: float, largest: float = math.inf) -> Estimate:
    """Return an estimated score with normal limits at `confidence` percent, cut to 0 and `largest`."""
    return _with_limits([_Term(1.0, score)], confidence, 0.0, largest)


def difference_with_limits(first: SampleScore, second: SampleScore, confidence: float) -> Estimate:
    """Return the estimated score of `second` less that of `first`, with normal limits at `confidence` percent.

    Both are estimated from the same sample, so that the error of an answer that both runs give cancels out.
    """
    return _with_limits([_Term(-1.0, first), _Term(1.0, second)], confidence, -math.inf, math.inf)


class _Term(NamedTuple):
    """An estimated score in a sum of scores, times a factor: 1 to add it, -1 to subtract it."""

    factor: float
    score: SampleScore


def _with_limits(terms: Sequence[_Term], confidence: float, least: float, most: float) -> Estimate:
    """Return a sum of estimated scores with normal limits, which are cut to `least` and `most`."""
    value = sum(term.factor * term.score.value for term in terms)
    variances = _variances(terms)
    standard_error = math.sqrt(variances.pool)
    share_below_upper_limit = 0.5 + confidence / 200
    z = statistics.NormalDist().inv_cdf(share_below_upper_limit)
    half_width = z * standard_error
    population_half_width = z * math.sqrt(variances.population)
    return Estimate(
        estimate=value,
        standard_error=standard_error,
        low=min(max(value - half_width, least), most),
        high=min(max(value + half_width, least), most),
        population_low=min(max(value - population_half_width, least), most),
        population_high=min(max(value + population_half_width, least), most),
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
    # The items of all terms, one after the other.
    items = [term.score.items for term in terms]
    answer_of_items = np.concatenate([items_of_term.answer for items_of_term in items])
    residual_of_items = np.concatenate([term.factor * term.score.residuals for term in terms])
    spread_of_items = np.concatenate([term.factor * term.score.spread for term in terms])

    # One value for each different answer: sums over its items, or the value of its first item, which all share.
    _, first_items, answer_of_item = np.unique(answer_of_items, return_index=True, return_inverse=True)
    residuals = np.bincount(answer_of_item, residual_of_items)
    spread = np.bincount(answer_of_item, spread_of_items)
    chance = np.concatenate([items_of_term.chance for items_of_term in items])[first_items]
    parents = np.concatenate([items_of_term.parent for items_of_term in items])[first_items]
    chance_of_parent = np.concatenate([items_of_term.chance_of_parent for items_of_term in items])[first_items]

    # One value for each first-hop answer, with the residuals of the answers that depend on it.
    _, first_answers, parent_of_answer = np.unique(parents, return_index=True, return_inverse=True)
    squares_by_parent = np.bincount(parent_of_answer, residuals) ** 2
    first_stage = ((1 - chance_of_parent[first_answers]) * squares_by_parent).sum()
    second_stage = (chance_of_parent * (1 - chance) * residuals**2).sum()
    variance_of_population = squares_by_parent.sum() + (spread**2).sum()
    return _Variances(pool=float(first_stage + second_stage), population=float(variance_of_population))
