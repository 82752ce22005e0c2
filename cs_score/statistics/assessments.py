"""Compute how far assessors agree, and what a sample says of a pool that was assessed in part.

Items are the answers of a run. Each adds x to what is divided and y to what divides (right; right or wrong), known
where it was assessed, and has a prediction f of x in [0, 1], 0 where nobody predicts; y is predicted as 1. Within
stratum h of N_h items, those assessed stand for all with weights w = 1 / probability, normalised to N_h:

    X = sum over all f + sum over h of N_h sum(w (x - f)) / sum(w),     Y likewise,     score = X / Y

The variance is that of the residuals u = N_h w / sum(w) (e - mean of e in h) / Y, e = (x - f) - score (y - 1):

    this pool         sum over answers of (1 - probability) u^2, which is 0 where everything was assessed
    answers like it   sum of u^2 + sum over all of ((f - mean of f) / Y)^2

What stands below another answer can be known only where that was assessed; it is drawn in two stages.
Sources: docs/statistics/sampled-pools.md and assessors.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from cs_score.base.records import Record
from cs_score.base.runtime import Late
from cs_score.measures.registry import SumsFormula
from cs_score.statistics.arithmetic import Floats, parts_of, scores_of
from cs_score.statistics.options import Resampling
from cs_score.statistics.resampling import bootstrap_counts, defined, generator_of

if TYPE_CHECKING:
    import statistics

    import numpy as np
    from numpy.typing import ArrayLike, NDArray
else:
    np, statistics = Late("numpy"), Late("statistics")

Numbers: TypeAlias = "NDArray[np.intp]"

Judgments: TypeAlias = tuple[Hashable, Hashable]
"""What the first and the second assessor said of an answer."""

_ASSESSORS: Final = 2
"""Keeps the draws apart from those of the bootstrap and of swaps; those of permutations have a further key."""

_CELLS: Final = 1 << 20

# ---- Agreement


def kappa(pairs: Iterable[Judgments]) -> float | None:
    """Return Cohen's kappa of two assessors, -1 to 1, from their judgments of the same answers.

    It is None where there is no answer, and where all judgments are the same.
    """
    judgments = list(pairs)
    first_counts = Counter(first for first, _ in judgments)
    second_counts = Counter(second for _, second in judgments)
    answers = len(judgments)
    agreed_by_chance = sum(count * second_counts[judgment] for judgment, count in first_counts.items())
    if agreed_by_chance == answers * answers:
        return None
    agreed = sum(first == second for first, second in judgments)
    return (agreed * answers - agreed_by_chance) / (answers * answers - agreed_by_chance)


class Limits(NamedTuple):
    """The limits of an interval; None where too many resamples are undefined."""

    low: float | None
    high: float | None


def kappa_limits(pairs_by_unit: Mapping[str, Sequence[Judgments]], resampling: Resampling) -> Limits:
    """Return percentile limits of Cohen's kappa from resampled units, each with all of its judged answers.

    There are none with a single unit. A resample in which all judgments are the same has no kappa and is left out.
    """
    if len(pairs_by_unit) < 2:
        return Limits(None, None)
    place_by_judgment: dict[Hashable, int] = {}
    for pairs in pairs_by_unit.values():
        for pair in pairs:
            for judgment in pair:
                place_by_judgment.setdefault(judgment, len(place_by_judgment))
    units, judgments = len(pairs_by_unit), len(place_by_judgment)
    tables = np.zeros((units, judgments, judgments))
    for unit, pairs in enumerate(pairs_by_unit.values()):
        for first, second in pairs:
            tables[unit, place_by_judgment[first], place_by_judgment[second]] += 1
    flat = tables.reshape(units, -1)
    kappas = [
        _kappas_of_tables((counts @ flat).reshape(-1, judgments, judgments))
        for counts in bootstrap_counts(resampling.seed, units, resampling.resamples)
    ]
    return _percentile_limits(np.concatenate(kappas), resampling.level)


def _kappas_of_tables(tables: Floats) -> Floats:
    """Return kappa of each table (N, judgments, judgments) of two assessors; not a number where it is undefined."""
    sizes = tables.sum(axis=(1, 2))
    agreed = np.trace(tables, axis1=1, axis2=2) * sizes
    by_chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
    possible = sizes * sizes - by_chance
    is_defined = possible > 0
    return np.where(is_defined, (agreed - by_chance) / np.where(is_defined, possible, 1.0), np.nan)


def assessor_intervals(
    first: Sequence[ArrayLike], second: Sequence[ArrayLike], formula: SumsFormula, resampling: Resampling
) -> list[Limits]:
    """Return percentile limits of the score of each system, given its statistics (units, k) under either assessor.

    A resample draws one of the two assessors, for all units and systems, and as many units as there are. The
    difference between the assessors therefore stays in the limits: drawn unit by unit it would average out. Who is
    called the first changes nothing.
    """
    sides = [np.stack([np.asarray(matrix, dtype=np.float64) for matrix in side], axis=1) for side in (first, second)]
    sides.sort(key=lambda side: side.tolist())
    scores = _scores_by_assessor(sides, formula, resampling)
    return [_percentile_limits(scores[:, system], resampling.level) for system in range(scores.shape[1])]


def _scores_by_assessor(sides: Sequence[Floats], formula: SumsFormula, resampling: Resampling) -> Floats:
    """Return the score of each system in each resample, (N, systems); not a number where it is 0/0."""
    units, systems, columns = sides[0].shape
    generator = generator_of(resampling.seed, _ASSESSORS)
    assessors = generator.integers(0, len(sides), size=resampling.resamples)
    rows = np.stack(sides).reshape(len(sides), units, systems * columns)
    scores: Floats = np.empty((resampling.resamples, systems))
    chunk = max(1, _CELLS // units)
    for start in range(0, resampling.resamples, chunk):
        end = min(start + chunk, resampling.resamples)
        counts = _unit_counts(generator, end - start, units)
        for assessor in range(len(sides)):
            chosen = np.flatnonzero(assessors[start:end] == assessor)
            sums = (counts[chosen] @ rows[assessor]).reshape(len(chosen), systems, columns)
            is_undefined = parts_of(formula, sums).denominator[..., 0] == 0
            scores[start + chosen] = np.where(is_undefined, np.nan, scores_of(formula, sums)[..., 0])
    return scores


def _unit_counts(generator: np.random.Generator, resamples: int, units: int) -> Floats:
    """Draw units with replacement, and return how often each was drawn in each resample: (resamples, units)."""
    drawn = generator.integers(0, units, size=(resamples, units))
    drawn += np.arange(0, resamples * units, units)[:, np.newaxis]  # one counter for all resamples
    counts = np.bincount(drawn.ravel(), minlength=resamples * units)
    return counts.reshape(resamples, units).astype(np.float64)


def _percentile_limits(scores: Floats, level: float) -> Limits:
    """Return the limits that leave out `level` of the resampled scores, half of it on either side."""
    known = defined(scores)
    if known is None:
        return Limits(None, None)
    low, high = np.quantile(known, [level / 2, 1 - level / 2]).tolist()
    return Limits(low, high)


# ---- Samples


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
    """Return the estimated score of all items, or with `is_total` its numerator.

    Some item of each stratum must have been assessed.
    """
    weights = _weights(items)
    right = items.predicted + weights * (items.right - items.predicted)
    numerator = float(right.sum())
    denominator = 1.0
    if not is_total:
        denominator = float((1.0 + weights * (items.counted - 1.0)).sum())
    value = 0.0
    if denominator:
        value = numerator / denominator
    else:
        denominator = 1.0
    error = items.right - items.predicted
    if not is_total:
        error = error - value * (items.counted - 1.0)
    stratum_means = np.bincount(items.stratum, weights * error) / np.bincount(items.stratum)
    return Estimated(
        items=items,
        value=value,
        residuals=weights * (error - stratum_means[items.stratum]) / denominator,
        spread=(items.predicted - items.predicted.mean()) / denominator,
    )


def _weights(items: Items) -> Floats:
    """Return how many items of its stratum each assessed item stands for; 0 for the others."""
    inverse_chance = np.where(items.assessed, 1 / (items.chance * items.chance_above), 0.0)
    sizes = np.bincount(items.stratum)
    scale = sizes / np.bincount(items.stratum, inverse_chance)
    return np.asarray(inverse_chance * scale[items.stratum])


def interval_of(parts: Sequence[tuple[float, Estimated]], confidence: float, largest: float = math.inf) -> Estimate:
    """Return a sum of estimates, each times its factor (1; for a difference -1 and 1), with normal limits.

    The limits are cut to what a sum of scores from 0 to `largest` can be.
    """
    value = sum(factor * part.value for factor, part in parts)
    own_variance, population_variance = _variances(parts)
    z = statistics.NormalDist().inv_cdf(0.5 + confidence / 200)
    error = math.sqrt(own_variance)
    reach = z * math.sqrt(population_variance)
    least = sum(largest * factor for factor, _ in parts if factor < 0)
    most = sum(largest * factor for factor, _ in parts if factor > 0)

    def cut(limit: float) -> float:
        return min(max(limit, least), most)

    return Estimate(
        estimate=value,
        standard_error=error,
        low=cut(value - z * error),
        high=cut(value + z * error),
        population_low=cut(value - reach),
        population_high=cut(value + reach),
    )


def _variances(parts: Sequence[tuple[float, Estimated]]) -> tuple[float, float]:
    """Return the variance of a sum of estimates for this pool, and that for answers like those in it.

    What several parts say of the same answer is added up first, since it was assessed once for all of them. Answers
    below the same answer were drawn together with it.
    """
    answers = np.concatenate([part.items.answer for _, part in parts])
    _, first_places, places = np.unique(answers, return_index=True, return_inverse=True)
    residuals = np.bincount(places, np.concatenate([factor * part.residuals for factor, part in parts]))
    spread = np.bincount(places, np.concatenate([factor * part.spread for factor, part in parts]))
    chance = np.concatenate([part.items.chance for _, part in parts])[first_places]
    above = np.concatenate([part.items.above for _, part in parts])[first_places]
    chance_above = np.concatenate([part.items.chance_above for _, part in parts])[first_places]
    _, first_above, places_above = np.unique(above, return_index=True, return_inverse=True)
    squares_above = np.bincount(places_above, residuals) ** 2
    drawn_above = ((1 - chance_above[first_above]) * squares_above).sum()
    drawn_below = (chance_above * (1 - chance) * residuals**2).sum()
    return float(drawn_above + drawn_below), float(squares_above.sum() + (spread**2).sum())
