"""What a pool would give were all of it assessed, estimated from a sample of known probabilities.

Items are the answers of a run. Each adds x to what is divided and y to what divides (right; right or wrong), known
where it was assessed, and has a prediction f of x in [0, 1], 0 where nobody predicts; y is predicted as 1. Within
stratum h of N_h items, those assessed stand for all with weights w = 1 / probability, normalised to N_h:

    X = sum over all f + sum over h of N_h sum(w (x - f)) / sum(w),     Y likewise,     score = X / Y

With one probability to a stratum this is the stratified mean, with predictions the difference estimator, whose variance
shrinks with how well they predict; with one stratum for all, prediction-powered inference. The variance is that of the
linearised residuals u = N_h w / sum(w) (e - mean of e in h) / Y, e = (x - f) - score (y - 1):

    this pool         sum over answers of (1 - probability) u^2, which is 0 where everything was assessed
    answers like it   sum of u^2 + sum over all of ((f - mean of f) / Y)^2

What stands below another answer can be known only where that was assessed; it is drawn in two stages.

Sources: C.-E. Sarndal, B. Swensson and J. Wretman, *Model Assisted Survey Sampling*, 1992 (difference estimator ch. 6,
two stages ch. 4, linearised ratios ch. 5). A. N. Angelopoulos et al., "Prediction-powered inference", Science 382,
2023.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

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


class Items(Record, eq=False):
    """The items of a run, an array each; what is counted of those that were not assessed does not matter.

    `chance` is the probability of being assessed, below another answer once that was assessed; `answer` and `above`
    number the answer itself and the one that it stands below, itself where there is none, alike in all runs;
    `chance_above` is the probability of the latter. `stratum` numbers the strata from 0.
    """

    right: Floats
    counted: Floats
    assessed: NDArray[np.bool_]
    chance: Floats
    answer: Numbers
    above: Numbers
    chance_above: Floats
    stratum: Numbers
    predicted: Floats


class Estimate(Record):
    """An estimate with its standard error and limits for this pool, and the limits for answers like those in it."""

    estimate: float
    standard_error: float
    low: float
    high: float
    population_low: float
    population_high: float


class Estimated(Record, eq=False):
    """A score and its parts: each item's residual, and its prediction's distance from their mean."""

    items: Items
    value: float
    residuals: Floats
    spread: Floats


def estimated(items: Items, *, is_total: bool = False) -> Estimated:
    """The score of all items, or with `is_total` what is divided; something of each stratum has to be assessed."""
    weights = _weights(items)
    right = items.predicted + weights * (items.right - items.predicted)
    counted = 1.0 + weights * (items.counted - 1.0)
    total, divisor = float(right.sum()), 1.0 if is_total else float(counted.sum())
    value = total / divisor if divisor else 0.0
    error = items.right - items.predicted - (0.0 if is_total else value * (items.counted - 1.0))
    means = np.bincount(items.stratum, weights * error) / np.bincount(items.stratum)
    return Estimated(
        items,
        value,
        weights * (error - means[items.stratum]) / (divisor or 1.0),
        (items.predicted - items.predicted.mean()) / (divisor or 1.0),
    )


def _weights(items: Items) -> Floats:
    """How many items each assessed one stands for; 0 for the others."""
    raw = np.where(items.assessed, 1 / (items.chance * items.chance_above), 0.0)
    sums = np.bincount(items.stratum, raw)
    return np.asarray(raw * (np.bincount(items.stratum) / sums)[items.stratum])


def interval_of(parts: Sequence[tuple[float, Estimated]], confidence: float, largest: float = math.inf) -> Estimate:
    """A sum of estimates, each times its factor (1; for a difference -1 and 1), with normal limits at the level.

    Limits that a score up to `largest` cannot have are cut there.
    """
    value = sum(factor * part.value for factor, part in parts)
    joined = [[factor * getattr(part, name) for factor, part in parts] for name in ("residuals", "spread")]
    answers = np.concatenate([part.items.answer for _, part in parts])
    _, first, place = np.unique(answers, return_index=True, return_inverse=True)
    residuals, spread = (np.bincount(place, np.concatenate(each)) for each in joined)
    chance, above, chance_above = (
        np.concatenate([getattr(part.items, name) for _, part in parts])[first]
        for name in ("chance", "above", "chance_above")
    )
    _, first_above, place_above = np.unique(above, return_index=True, return_inverse=True)
    groups = np.bincount(place_above, residuals) ** 2
    own = float(((1 - chance_above[first_above]) * groups).sum() + (chance_above * (1 - chance) * residuals**2).sum())
    wide = float(groups.sum() + (spread**2).sum())
    z = statistics.NormalDist().inv_cdf(0.5 + confidence / 200)
    error, reach = math.sqrt(own), z * math.sqrt(wide)
    least = sum(largest * factor for factor, _ in parts if factor < 0)
    most = sum(largest * factor for factor, _ in parts if factor > 0)
    limits = (value - z * error, value + z * error, value - reach, value + reach)
    return Estimate(value, error, *(min(max(limit, least), most) for limit in limits))
