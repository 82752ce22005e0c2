"""Two assessors of the same answers: Cohen's kappa, and limits of scores if the assessor is chosen at random. An
assessor judges an answer, for instance as CORRECT or WRONG. Resamples draw units (queries, claims) with all their
answers.

Sources: docs/statistics/assessors.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from cs_score.base.runtime import Late
from cs_score.measures import SumsFormula
from cs_score.statistics.arithmetic import Floats, ratios_of, scores_of
from cs_score.statistics.draws import bootstrap_counts, count_drawn_units, generator_of
from cs_score.statistics.resampling import defined_resamples
from cs_score.statistics.resampling_settings import Resampling

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray
else:
    np = Late("numpy")

JudgmentPair: TypeAlias = tuple[Hashable, Hashable]
"""The judgments of the first and the second assessor of one answer: `("CORRECT", "WRONG")`."""

_ASSESSORS: Final = 2
"""The key of the generator that draws assessors. The generators of the bootstrap and of tests have other keys."""

_CELLS_AT_ONCE: Final = 1 << 20
"""The number of resamples times units that are drawn at once, at 8 bytes each. The draws depend on it."""


# ---- Agreement


def kappa(pairs: Iterable[JudgmentPair]) -> float | None:
    """Return Cohen's kappa of two assessors, -1 to 1, from their judgments of the same answers.

    kappa = (p_o - p_e) / (1 - p_e), where p_o is the share of answers that both assessors judge alike, and p_e the
    share that they would judge alike by chance. `[("C", "C"), ("W", "W"), ("C", "W"), ("W", "C")]` gives 0.0, because
    the judgments agree as often as by chance. Returns None if there are no answers, or if all judgments are the same.
    """
    judgments = list(pairs)
    answer_count = len(judgments)
    agreed_count = sum(first == second for first, second in judgments)
    first_counts = Counter(first for first, _ in judgments)
    second_counts = Counter(second for _, second in judgments)
    # These are p_o, p_e and 1 times the squared number of answers, so that only the last division is rounded.
    observed = agreed_count * answer_count
    expected = sum(count * second_counts[judgment] for judgment, count in first_counts.items())
    possible = answer_count * answer_count
    if expected == possible:
        return None
    return (observed - expected) / (possible - expected)


class AssessorLimits(NamedTuple):
    """The lower and the upper limit of an interval. Both are None if too many resamples are undefined."""

    low: float | None
    high: float | None


def kappa_limits(pairs_by_unit: Mapping[str, Sequence[JudgmentPair]], resampling: Resampling) -> AssessorLimits:
    """Return percentile bootstrap limits of Cohen's kappa of two assessors.

    `pairs_by_unit` has the judgments of all answers of each unit, by the id of the unit. Resamples draw units, with all
    their answers. Resamples in which all judgments are the same do not have a kappa and are left out. There are no
    limits for a single unit.
    """
    if len(pairs_by_unit) < 2:
        return AssessorLimits(None, None)
    tables = _judgment_tables(list(pairs_by_unit.values()))
    resampled_kappas = _resampled_kappas(tables, resampling)
    return _percentile_limits(resampled_kappas, resampling.significance_level)


def _resampled_kappas(tables: Floats, resampling: Resampling) -> Floats:
    """Return Cohen's kappa in each of N resamples of the units: (N,). It is NaN if kappa is undefined.

    `tables` (units, judgments, judgments) counts the pairs of judgments of two assessors in each unit.
    """
    unit_count, judgment_count, _ = tables.shape
    flat_tables = tables.reshape(unit_count, -1)  # (units, judgments * judgments)
    kappas = []
    for counts in bootstrap_counts(resampling.seed, unit_count, resampling.resamples):
        flat_sums = counts @ flat_tables  # (some resamples, judgments * judgments)
        resampled_tables = flat_sums.reshape(-1, judgment_count, judgment_count)
        kappas.append(_kappas_of_tables(resampled_tables))
    return np.concatenate(kappas)


def _judgment_tables(pairs_of_units: Sequence[Sequence[JudgmentPair]]) -> Floats:
    """Return how often each pair of judgments occurs in each unit: (units, judgments, judgments).

    The second axis is the judgment of the first assessor, and the third axis the judgment of the second assessor.
    """
    index_by_judgment = _index_by_judgment(pairs_of_units)
    judgment_count = len(index_by_judgment)
    tables: Floats = np.zeros((len(pairs_of_units), judgment_count, judgment_count))
    for unit, pairs in enumerate(pairs_of_units):
        for first, second in pairs:
            tables[unit, index_by_judgment[first], index_by_judgment[second]] += 1
    return tables


def _index_by_judgment(pairs_of_units: Sequence[Sequence[JudgmentPair]]) -> dict[Hashable, int]:
    """Return a number for each judgment that occurs, in the order of occurrence: `{"CORRECT": 0, "WRONG": 1}`."""
    index_by_judgment: dict[Hashable, int] = {}
    for pairs in pairs_of_units:
        for pair in pairs:
            for judgment in pair:
                index_by_judgment.setdefault(judgment, len(index_by_judgment))
    return index_by_judgment


def _kappas_of_tables(tables: Floats) -> Floats:
    """Return Cohen's kappa for each of N tables: (N,). An undefined kappa is NaN.

    Each table counts the pairs of judgments by two assessors; `tables` has the shape (N, judgments, judgments).
    """
    answer_counts = tables.sum(axis=(1, 2))  # (N,)
    first_counts = tables.sum(axis=2)  # (N, judgments)
    second_counts = tables.sum(axis=1)
    agreed_counts = np.trace(tables, axis1=1, axis2=2)
    # kappa = (p_o - p_e) / (1 - p_e), as in the function `kappa`. With n answers, p_o is agreed / n, and p_e is the sum
    # of first * second / n^2 over all judgments. The numerator and the denominator are multiplied by n^2 to keep them
    # whole numbers.
    squared_counts = answer_counts * answer_counts
    observed = agreed_counts * answer_counts  # p_o n^2
    expected = (second_counts * first_counts).sum(axis=1)  # p_e n^2
    return _divide_or_nan(observed - expected, squared_counts - expected)


def _divide_or_nan(numerators: Floats, denominators: Floats) -> Floats:
    """Return numerators / denominators (N,), and NaN where the denominator is not above 0, without a numpy warning."""
    is_defined = denominators > 0
    divisors = np.where(is_defined, denominators, 1.0)
    return np.where(is_defined, numerators / divisors, np.nan)


# ---- Scores


def assessor_intervals(
    first: Sequence[ArrayLike], second: Sequence[ArrayLike], formula: SumsFormula, resampling: Resampling
) -> list[AssessorLimits]:
    """Return percentile bootstrap limits of the score of each system that allow for the random choice of an assessor.

    `first` and `second` have the statistics (units, k) of each system, according to the first and the second assessor.
    Each resample draws one of the two assessors, for all units and systems, and then as many units as there are. The
    limits therefore reflect the difference between the assessors, which would average out if an assessor were drawn for
    each unit. The order of the assessors does not matter.
    """
    first_statistics = np.stack([np.asarray(matrix, dtype=np.float64) for matrix in first], axis=1)
    second_statistics = np.stack([np.asarray(matrix, dtype=np.float64) for matrix in second], axis=1)
    # A resample draws the assessor by position. The two arrays are therefore sorted by their numbers (as lists, which
    # can be compared), so that the result does not depend on which assessor was given first.
    statistics_by_assessor = sorted([first_statistics, second_statistics], key=lambda statistics: statistics.tolist())
    scores = _resampled_scores(statistics_by_assessor, formula, resampling)
    return [_percentile_limits(scores[:, system], resampling.significance_level) for system in range(scores.shape[1])]


def _resampled_scores(statistics_by_assessor: Sequence[Floats], formula: SumsFormula, resampling: Resampling) -> Floats:
    """Return the score of each system in each of N resamples of units and assessors: (N, systems).

    `statistics_by_assessor` has an array for each assessor, with the k statistics of each system in each unit: (units,
    systems, k). A score of 0/0 is NaN.
    """
    generator = generator_of(resampling.seed, _ASSESSORS)
    assessor_of_resamples = generator.integers(0, len(statistics_by_assessor), size=resampling.resamples)
    unit_count = len(statistics_by_assessor[0])
    resamples_at_once = max(1, _CELLS_AT_ONCE // unit_count)
    scores = []
    for start in range(0, resampling.resamples, resamples_at_once):
        assessors = assessor_of_resamples[start : start + resamples_at_once]
        draws_of_units = _draw_counts(generator, len(assessors), unit_count)
        scores.append(_scores_by_drawn_assessors(draws_of_units, assessors, statistics_by_assessor, formula))
    return np.concatenate(scores)


def _scores_by_drawn_assessors(
    counts: Floats, assessors: NDArray[np.int64], statistics_by_assessor: Sequence[Floats], formula: SumsFormula
) -> Floats:
    """Return the score of each system in each of N resamples, according to the assessor of the resample: (N, systems).

    `counts` (N, units) has how often each unit was drawn, and `assessors` (N,) the assessor that was drawn: 0 or 1.
    `statistics_by_assessor` has the statistics (units, systems, k) according to each assessor.
    """
    system_count = statistics_by_assessor[0].shape[1]
    scores: Floats = np.empty((len(counts), system_count))
    for assessor, statistics in enumerate(statistics_by_assessor):
        has_assessor = assessors == assessor  # (N,)
        scores[has_assessor] = _scores_or_nan(counts[has_assessor], statistics, formula)
    return scores


def _draw_counts(generator: np.random.Generator, resample_count: int, unit_count: int) -> Floats:
    """Draw units with replacement, and return how often each unit was drawn: (resamples, units)."""
    drawn_units = generator.integers(0, unit_count, size=(resample_count, unit_count))
    return count_drawn_units(drawn_units).astype(np.float64)


def _scores_or_nan(counts: Floats, statistics: Floats, formula: SumsFormula) -> Floats:
    """Return the score of each system in each of N resamples of the units: (N, systems). A score of 0/0 is NaN.

    `counts` (N, units) says how often each unit was drawn, and `statistics` (units, systems, k) has the k statistics of
    each system in each unit. If the formula computes the scores of several measures, only the first measure is used.
    """
    unit_count, system_count, statistic_count = statistics.shape
    flat_statistics = statistics.reshape(unit_count, system_count * statistic_count)
    flat_sums = counts @ flat_statistics  # (N, systems * k)
    sums = flat_sums.reshape(len(counts), system_count, statistic_count)
    first_measure = 0
    denominators = ratios_of(formula, sums).denominator[..., first_measure]  # (N, systems)
    scores = scores_of(formula, sums)[..., first_measure]
    return np.where(denominators == 0, np.nan, scores)


def _percentile_limits(scores: Floats, significance_level: float) -> AssessorLimits:
    """Return the limits between which the central share 1 - level of the resampled scores (N,) lies.

    There are no limits if too many resamples are undefined.
    """
    defined_scores = defined_resamples(scores)
    if defined_scores is None:
        return AssessorLimits(None, None)
    low, high = np.quantile(defined_scores, [significance_level / 2, 1 - significance_level / 2]).tolist()
    return AssessorLimits(low, high)
