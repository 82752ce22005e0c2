"""Two assessors of the same answers: Cohen's kappa, and limits of scores if the assessor is chosen at random.

Sources: docs/statistics/assessors.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from cs_score.base.runtime import Late
from cs_score.measures.registry import SumsFormula
from cs_score.statistics.arithmetic import Floats, ratios_of, scores_of
from cs_score.statistics.draws import bootstrap_counts, generator_of
from cs_score.statistics.resampling import defined_resamples
from cs_score.statistics.resampling_settings import Resampling

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike
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
    the judgments agree as often as by chance. Returns None if there is no answer, or if all judgments are the same.
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
    their answers. Resamples in which all judgments are the same have no kappa and are left out. There are no limits for
    a single unit.
    """
    unit_count = len(pairs_by_unit)
    if unit_count < 2:
        return AssessorLimits(None, None)
    tables = _judgment_tables(list(pairs_by_unit.values()))
    _, judgment_count, _ = tables.shape
    flat_tables = tables.reshape(unit_count, -1)  # (units, judgments * judgments)
    kappas = []
    for counts in bootstrap_counts(resampling.seed, unit_count, resampling.resamples):
        resampled_tables = (counts @ flat_tables).reshape(-1, judgment_count, judgment_count)
        kappas.append(_kappas_of_tables(resampled_tables))
    return _percentile_limits(np.concatenate(kappas), resampling.level)


def _judgment_tables(pairs_of_units: Sequence[Sequence[JudgmentPair]]) -> Floats:
    """Return how often each pair of judgments occurs in each unit: (units, judgments, judgments).

    The second axis has the judgments of the first assessor, and the third axis those of the second assessor.
    """
    index_by_judgment: dict[Hashable, int] = {}
    for pairs in pairs_of_units:
        for first, second in pairs:
            index_by_judgment.setdefault(first, len(index_by_judgment))
            index_by_judgment.setdefault(second, len(index_by_judgment))
    judgment_count = len(index_by_judgment)
    tables: Floats = np.zeros((len(pairs_of_units), judgment_count, judgment_count))
    for unit, pairs in enumerate(pairs_of_units):
        for first, second in pairs:
            tables[unit, index_by_judgment[first], index_by_judgment[second]] += 1
    return tables


def _kappas_of_tables(tables: Floats) -> Floats:
    """Return Cohen's kappa for each of N tables: (N,). It is NaN if kappa is undefined.

    A table counts the pairs of judgments of two assessors; `tables` has the shape (N, judgments, judgments).
    """
    answer_counts = tables.sum(axis=(1, 2))
    first_counts = tables.sum(axis=2)  # (N, judgments)
    second_counts = tables.sum(axis=1)
    agreed_counts = np.trace(tables, axis1=1, axis2=2)
    # These are p_o, p_e and 1 - p_e of `kappa`, times the squared number of answers.
    observed = agreed_counts * answer_counts
    expected = (second_counts * first_counts).sum(axis=1)
    unexpected = answer_counts * answer_counts - expected
    is_defined = unexpected > 0
    divisors = np.where(is_defined, unexpected, 1.0)
    return np.where(is_defined, (observed - expected) / divisors, np.nan)


# ---- Scores


def assessor_intervals(
    first: Sequence[ArrayLike], second: Sequence[ArrayLike], formula: SumsFormula, resampling: Resampling
) -> list[AssessorLimits]:
    """Return percentile bootstrap limits of the score of each system that include the choice of the assessor.

    `first` and `second` have the statistics (units, k) of each system, according to the first and the second assessor.
    A resample draws one of the two assessors for all units and systems, and it draws as many units as there are. The
    limits therefore include the difference between the assessors, which would average out if an assessor were drawn for
    each unit. The order of the assessors does not matter.
    """
    first_statistics = np.stack([np.asarray(matrix, dtype=np.float64) for matrix in first], axis=1)
    second_statistics = np.stack([np.asarray(matrix, dtype=np.float64) for matrix in second], axis=1)
    # The order of the assessors must not matter, so that their statistics are sorted.
    statistics_by_assessor = sorted([first_statistics, second_statistics], key=lambda rows: rows.tolist())
    scores = _resampled_scores(statistics_by_assessor, formula, resampling)
    return [_percentile_limits(scores[:, system], resampling.level) for system in range(scores.shape[1])]


def _resampled_scores(statistics_by_assessor: Sequence[Floats], formula: SumsFormula, resampling: Resampling) -> Floats:
    """Return the score of each system in each of N resamples of units and assessors: (N, systems).

    `statistics_by_assessor` has the statistics (units, systems, k) according to each assessor. A score of 0/0 is NaN.
    """
    assessor_count = len(statistics_by_assessor)
    units, systems, columns = statistics_by_assessor[0].shape
    generator = generator_of(resampling.seed, _ASSESSORS)
    drawn_assessors = generator.integers(0, assessor_count, size=resampling.resamples)
    flat_statistics = np.stack(statistics_by_assessor).reshape(assessor_count, units, systems * columns)

    # Units are drawn for some resamples at a time. Resamples with the same assessor are scored together.
    scores: Floats = np.empty((resampling.resamples, systems))
    resamples_at_once = max(1, _CELLS_AT_ONCE // units)
    for start in range(0, resampling.resamples, resamples_at_once):
        stop = min(start + resamples_at_once, resampling.resamples)
        counts = _draw_counts(generator, stop - start, units)
        for assessor in range(assessor_count):
            resamples = np.flatnonzero(drawn_assessors[start:stop] == assessor)  # those with this assessor
            flat_sums = counts[resamples] @ flat_statistics[assessor]
            sums = flat_sums.reshape(len(resamples), systems, columns)
            # Only the first score of the formula is used.
            denominators = ratios_of(formula, sums).denominator[..., 0]
            scores_of_resamples = scores_of(formula, sums)[..., 0]
            scores[start + resamples] = np.where(denominators == 0, np.nan, scores_of_resamples)
    return scores


def _draw_counts(generator: np.random.Generator, resamples: int, units: int) -> Floats:
    """Draw units with replacement, and return how often each unit was drawn: (resamples, units)."""
    drawn_units = generator.integers(0, units, size=(resamples, units))
    # Unit u of resample r gets the number r * units + u, so that one call counts the units of all resamples.
    first_number_of_resample = np.arange(0, resamples * units, units)
    drawn_units += first_number_of_resample[:, np.newaxis]
    counts = np.bincount(drawn_units.ravel(), minlength=resamples * units)
    return counts.reshape(resamples, units).astype(np.float64)


def _percentile_limits(scores: Floats, level: float) -> AssessorLimits:
    """Return the limits between which the central share 1 - level of the resampled scores (N,) lies.

    There are no limits if too many resamples are undefined.
    """
    defined_scores = defined_resamples(scores)
    if defined_scores is None:
        return AssessorLimits(None, None)
    low, high = np.quantile(defined_scores, [level / 2, 1 - level / 2]).tolist()
    return AssessorLimits(low, high)
