"""Scores of a pool that was assessed in part, estimated from a stratified sample of its answers. A stratum is a group
of answers that were assessed with the same probability. The weight of an assessed answer is the number of answers that
it represents.

Items are the answers of a run. Item i adds x_i to the numerator of a score (1 if it is right) and y_i to the
denominator (1 if it is right or wrong). Both numbers are known if the item was assessed. For every item there is a
prediction f_i of x_i from 0 to 1, which is 0 if nobody made one; the prediction of y_i is 1. The assessed items of
stratum h represent all its N_h items. Their weights w are 1 / probability, scaled so that they sum to N_h. With s for
sums over the assessed items, the estimates are:

    X = sum over all f + sum over h of N_h s(w (x - f)) / s(w)        Y likewise        score = X / Y

The variance of the score is that of the residuals u = N_h w / s(w) (e - mean of e in h) / Y, where the error of an item
is e = (x - f) - score (y - 1):

    this pool            sum over answers of (1 - probability) u^2, which is 0 where everything was assessed
    answers like these   sum of u^2 + sum over all items of ((f - mean of f) / Y)^2

A second-hop answer can be assessed only if its first-hop answer was assessed. It is therefore drawn in two stages.
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
    """The answers of a run, of which a sample was assessed. Every field is an array with a number for each answer.

    `right` is added to the numerator of the score: 1 for a right answer, 0 for any other. `times_counted` is added to
    the denominator: 1 for a right or wrong answer, 0 for an answer that does not count. Both are only used if the item
    was assessed (`is_assessed`). `prediction` (0 to 1) is the predicted value of `right`; it is 0 if nobody made a
    prediction. The predicted value of `times_counted` is 1.

    `answer` is the number of the item's answer, which is the same in all runs. `parent` is the number of the first-hop
    answer on which it depends; a first-hop answer is its own parent. The parent is drawn for assessment with the
    probability `draw_probability_of_parent`. If it was drawn, the item is drawn with the probability
    `draw_probability`. `stratum` is the number of the item's stratum, from 0.
    """

    right: Floats
    times_counted: Floats
    is_assessed: NDArray[np.bool_]
    draw_probability: Floats
    answer: Numbers
    parent: Numbers
    draw_probability_of_parent: Floats
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
    """A score estimated from a sample, with the numbers from which its variance is computed.

    `residuals` has the contribution of each item to the error of the estimate, u in the formulas of this module.
    `prediction_deviations` has the deviation of each prediction from the mean of all predictions. Both arrays are
    divided by the denominator of the score.
    """

    items: SampledItems
    value: float
    residuals: Floats
    prediction_deviations: Floats


def estimate_score(items: SampledItems, *, is_numerator_only: bool = False) -> SampleScore:
    """Return the estimated score of all items (answers of a run), or only its numerator if `is_numerator_only`.

    The numerator of a score is the estimated number of right items. Its denominator is the estimated number of items
    that are right or wrong. At least one item of each stratum must have been assessed. A score of 0/0 counts as 0.
    """
    weights = _weights(items)
    # This is the difference estimator: the predictions of all items, plus the weighted errors of the predictions of
    # assessed items. `prediction` is the guess of `right` for each item, and 1 is the guess of `times_counted`. Items
    # without an assessment have the weight 0.
    errors_of_right = items.right - items.prediction
    errors_of_times_counted = items.times_counted - 1.0
    numerator = float((items.prediction + weights * errors_of_right).sum())
    denominator = float((1.0 + weights * errors_of_times_counted).sum())
    if is_numerator_only:
        return _score_with_residuals(items, numerator, errors_of_right, denominator=1.0)
    if denominator == 0:
        return _score_with_residuals(items, 0.0, errors_of_right, denominator=1.0)
    score = numerator / denominator
    # The error of X / Y is the error of X - score * Y, divided by Y (the linear approximation of a ratio).
    errors_of_score = errors_of_right - score * errors_of_times_counted
    return _score_with_residuals(items, score, errors_of_score, denominator)


def _score_with_residuals(items: SampledItems, value: float, errors: Floats, denominator: float) -> SampleScore:
    """Return an estimated score with the numbers from which its variance is computed.

    `value` is the score, and `denominator` is the denominator from which it was computed. For each item, `errors`
    (items,) has the error that the item's prediction causes in the numerator. The items are all answers of the run;
    answers without an assessment have the weight 0. The residual of an item is its error minus the mean error of its
    stratum, multiplied by its weight and divided by the denominator. The variance for other pools also needs the
    deviations of the predictions from their mean.
    """
    weights = _weights(items)
    sizes_of_strata = np.bincount(items.stratum)
    # These are weighted means: the weights of a stratum's assessed items sum to the number of all its items.
    mean_error_of_strata = np.bincount(items.stratum, weights * errors) / sizes_of_strata
    deviations = errors - mean_error_of_strata[items.stratum]
    return SampleScore(
        items=items,
        value=value,
        residuals=weights * deviations / denominator,
        prediction_deviations=(items.prediction - items.prediction.mean()) / denominator,
    )


def _weights(items: SampledItems) -> Floats:
    """Return the weight of each item: how many items of its stratum it represents, or 0 if it was not assessed.

    The weight is 1 / probability, scaled so that the weights in a stratum sum to the number of its items. Every stratum
    must have an assessed item; `analysis.sampled_pools` checks this.
    """
    probability = items.draw_probability * items.draw_probability_of_parent
    unscaled_weights = np.where(items.is_assessed, 1 / probability, 0.0)
    sums_of_strata = np.bincount(items.stratum, unscaled_weights)  # (strata,)
    sizes_of_strata = np.bincount(items.stratum)
    scale_of_strata = sizes_of_strata / sums_of_strata
    return np.asarray(unscaled_weights * scale_of_strata[items.stratum])


def score_with_limits(score: SampleScore, confidence: float, largest_score: float = math.inf) -> Estimate:
    """Return an estimated score with normal limits at a confidence in percent: `95.0`.

    Limits below 0 are replaced by 0, and limits above `largest_score` by this score.
    """
    return _estimate_of_sum([_Term(1.0, score)], confidence, smallest=0.0, largest=largest_score)


def difference_with_limits(first: SampleScore, second: SampleScore, confidence: float) -> Estimate:
    """Return the estimated score of the second run minus that of the first, with normal limits.

    `confidence` is in percent: `95.0`. Both scores are estimated from the same sample, so the errors of answers that
    both runs give cancel out.
    """
    terms = [_Term(-1.0, first), _Term(1.0, second)]
    return _estimate_of_sum(terms, confidence, smallest=-math.inf, largest=math.inf)


class _Term(NamedTuple):
    """A term of a sum: an estimated score and its factor, which is 1 if it is added and -1 if it is subtracted."""

    factor: float
    score: SampleScore


def _estimate_of_sum(terms: Sequence[_Term], confidence: float, *, smallest: float, largest: float) -> Estimate:
    """Return the sum of the terms (factor * estimated score) with its normal limits at a confidence in percent.

    There are limits for this pool, and wider limits for other answers like those in the pool (`population`). Limits
    below `smallest` are replaced by `smallest`, and limits above `largest` by `largest`.
    """
    value = sum(term.factor * term.score.value for term in terms)
    variances = _variances(terms)
    standard_error = math.sqrt(variances.pool)
    share_below_upper_limit = 0.5 + confidence / 200  # 0.975 for 95 %
    z = statistics.NormalDist().inv_cdf(share_below_upper_limit)
    half_width = z * standard_error
    population_half_width = z * math.sqrt(variances.population)
    return Estimate(
        estimate=value,
        standard_error=standard_error,
        low=_clip(value - half_width, smallest, largest),
        high=_clip(value + half_width, smallest, largest),
        population_low=_clip(value - population_half_width, smallest, largest),
        population_high=_clip(value + population_half_width, smallest, largest),
    )


def _clip(number: float, smallest: float, largest: float) -> float:
    """Return the number from `smallest` to `largest` that is nearest to a number: `_clip(1.2, 0.0, 1.0)` is 1.0."""
    return min(max(number, smallest), largest)


class _Variances(NamedTuple):
    """The variance of an estimate for this pool, and its variance for answers like those in the pool (`population`).

    The first variance comes from the answers of the pool that were not assessed. The second also takes into account
    that another pool would have other answers.
    """

    pool: float
    population: float


class _SampledAnswers(NamedTuple):
    """The answers of all terms of a sum, each once. Every field is an array with a number for each answer: (answers,).

    `residuals` and `prediction_deviations` are sums over the items of an answer. `parents` has the number of its
    first-hop answer, which is drawn with the probability `draw_probability_of_parent`. The answer itself is then drawn
    with the probability `draw_probability`.
    """

    residuals: Floats
    prediction_deviations: Floats
    draw_probability: Floats
    parents: Numbers
    draw_probability_of_parent: Floats


def _answers_of_terms(terms: Sequence[_Term]) -> _SampledAnswers:
    """Return the answers of all terms of a sum. Each answer occurs once, with the sum of its residuals.

    A term is an estimated score of a run, multiplied by a factor. If several runs give the same answer, each of them
    has an item for it. A residual is the contribution of an item to the error of a score; it is multiplied by the
    factor of its term.
    """
    # All arrays have the items of all terms, one term after the other.
    residuals = np.concatenate([term.factor * term.score.residuals for term in terms])
    deviations = np.concatenate([term.factor * term.score.prediction_deviations for term in terms])
    items_of_terms = [term.score.items for term in terms]
    draw_probabilities = np.concatenate([items.draw_probability for items in items_of_terms])
    parents = np.concatenate([items.parent for items in items_of_terms])
    parent_probabilities = np.concatenate([items.draw_probability_of_parent for items in items_of_terms])
    answers = np.concatenate([items.answer for items in items_of_terms])
    # `first_items` has the position of the first item of each answer, and `answer_indices` the answer of each item,
    # numbered from 0: the answers [7, 3, 7] give [1, 0] and [1, 0, 1].
    _, first_items, answer_indices = np.unique(answers, return_index=True, return_inverse=True)
    # All items of an answer have the same probabilities and the same parent, so those of the first item are used.
    return _SampledAnswers(
        residuals=_sums_by_answer(answer_indices, residuals),
        prediction_deviations=_sums_by_answer(answer_indices, deviations),
        draw_probability=draw_probabilities[first_items],
        parents=parents[first_items],
        draw_probability_of_parent=parent_probabilities[first_items],
    )


def _sums_by_answer(answer_indices: Numbers, numbers: Floats) -> Floats:
    """Return the sum of the numbers (items,) over the items of each answer: (answers,).

    `answer_indices` (items,) has the position of each item's answer: `[0, 1, 0]` and `[2.0, 3.0, 4.0]` give `[6.0,
    3.0]`.
    """
    return np.asarray(np.bincount(answer_indices, numbers), dtype=np.float64)


def _variances(terms: Sequence[_Term]) -> _Variances:
    """Return the two variances of a sum of estimated scores: for this pool, and for answers like those in it.

    The residuals u already include the weights. An answer is assessed once for all runs, so its residuals in several
    terms are added up before they are squared. A first-hop answer is drawn with the probability P. If it is drawn, each
    of its second-hop answers is drawn with the probability p. U is the sum of the residuals of the first-hop answer and
    its second-hop answers. The estimates are:

        this pool            sum over first-hop answers of (1 - P) U^2 + sum over answers of P (1 - p) u^2
        answers like these   sum over first-hop answers of U^2 + sum over answers of (deviation of the prediction)^2
    """
    answers = _answers_of_terms(terms)
    # `first_answers` has the position of the first answer of each parent, `parent_indices` the parent of each answer.
    _, first_answers, parent_indices = np.unique(answers.parents, return_index=True, return_inverse=True)
    squares_by_parent = np.bincount(parent_indices, answers.residuals) ** 2  # U^2: (first-hop answers,)
    probability_by_parent = answers.draw_probability_of_parent[first_answers]  # P
    first_stage = ((1 - probability_by_parent) * squares_by_parent).sum()
    share_not_drawn = answers.draw_probability_of_parent * (1 - answers.draw_probability)  # P (1 - p): (answers,)
    second_stage = (share_not_drawn * answers.residuals**2).sum()
    variance_of_population = squares_by_parent.sum() + (answers.prediction_deviations**2).sum()
    return _Variances(pool=float(first_stage + second_stage), population=float(variance_of_population))
