"""Two assessors of the same answers: Cohen's kappa, and limits of scores that take the assessor for a random choice.

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
from cs_score.statistics.options import Resampling
from cs_score.statistics.resampling import defined_resamples

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike
else:
    np = Late("numpy")

JudgmentPair: TypeAlias = tuple[Hashable, Hashable]
"""The judgments of the first and of the second assessor about one answer: `("CORRECT", "WRONG")`."""

_ASSESSORS: Final = 2
"""The key of the generator that draws assessors. The bootstrap, swaps and permutations have other keys."""

_CELLS_AT_ONCE: Final = 1 << 20
"""Resamples times units that are drawn at once, at 8 bytes each. The draws depend on it."""


# ---- Agreement


def kappa(pairs: Iterable[JudgmentPair]) -> float | None:
    """Return Cohen's kappa of two assessors, -1 to 1, from their judgments of the same answers.

    kappa = (p_o - p_e) / (1 - p_e), with p_o the share of answers judged alike, and p_e the share that would be judged
    alike by chance. `[("C", "C"), ("W", "W"), ("C", "W"), ("W", "C")]` gives 0.0: as many agree as by chance. Returns
    None if there is no answer, or all judgments are the same.
    """
    judgments = list(pairs)
    answer_count = len(judgments)
    agreed_count = sum(first == second for first, second in judgments)
    first_counts = Counter(first for first, _ in judgments)
    second_counts = Counter(second for _, second in judgments)
    # p_o, p_e and 1, each times the squared number of answers: only the last division is rounded.
    observed = agreed_count * answer_count
    expected = sum(count * second_counts[judgment] for judgment, count in first_counts.items())
    possible = answer_count * answer_count
    if expected == possible:
        return None
    return (observed - expected) / (possible - expected)


class AssessorLimits(NamedTuple):
    """The limits of an interval. They are None if too many resamples are undefined."""

    low: float | None
    high: float | None


def kappa_limits(pairs_by_unit: Mapping[str, Sequence[JudgmentPair]], resampling: Resampling) -> AssessorLimits:
    """Return percentile bootstrap limits of Cohen's kappa of two assessors, from resampled units.

    `pairs_by_unit` has the judgments of the answers of each unit; the answers of a unit are drawn together. A single
    unit gives no limits. A resample in which all judgments are the same has no kappa and is left out.
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

    The second axis is the judgment of the first assessor, the third axis that of the second assessor.
    """
    place_by_judgment: dict[Hashable, int] = {}
    for pairs in pairs_of_units:
        for first, second in pairs:
            place_by_judgment.setdefault(first, len(place_by_judgment))
            place_by_judgment.setdefault(second, len(place_by_judgment))
    judgment_count = len(place_by_judgment)
    tables: Floats = np.zeros((len(pairs_of_units), judgment_count, judgment_count))
    for unit, pairs in enumerate(pairs_of_units):
        for first, second in pairs:
            tables[unit, place_by_judgment[first], place_by_judgment[second]] += 1
    return tables


def _kappas_of_tables(tables: Floats) -> Floats:
    """Return Cohen's kappa of each of N tables: (N,), not a number if kappa is undefined.

    `tables` (N, judgments, judgments) count the pairs of judgments of two assessors.
    """
    answer_counts = tables.sum(axis=(1, 2))
    first_counts = tables.sum(axis=2)  # (N, judgments)
    second_counts = tables.sum(axis=1)
    agreed_counts = np.trace(tables, axis1=1, axis2=2)
    # p_o, p_e and 1 - p_e of `kappa`, each times the squared number of answers.
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
    """Return percentile bootstrap limits of the score of each system, over units and over two assessors.

    `first` and `second` have the statistics (units, k) of each system, as the first and as the second assessor judged
    its answers. A resample draws one of the two assessors for all units and systems, and as many units as there are. So
    the limits include the difference between the assessors; if an assessor were drawn for each unit, it would average
    out. Exchanging the assessors changes nothing.
    """
    first_statistics = np.stack([np.asarray(matrix, dtype=np.float64) for matrix in first], axis=1)
    second_statistics = np.stack([np.asarray(matrix, dtype=np.float64) for matrix in second], axis=1)
    # In an order that does not depend on which assessor is called the first.
    statistics_by_assessor = sorted([first_statistics, second_statistics], key=lambda rows: rows.tolist())
    scores = _resampled_scores(statistics_by_assessor, formula, resampling)
    return [_percentile_limits(scores[:, system], resampling.level) for system in range(scores.shape[1])]


def _resampled_scores(statistics_by_assessor: Sequence[Floats], formula: SumsFormula, resampling: Resampling) -> Floats:
    """Return the score of each system in each of N resamples of units and assessors: (N, systems).

    `statistics_by_assessor` has the statistics (units, systems, k) under each assessor. A score of 0/0 is not a number.
    """
    assessor_count = len(statistics_by_assessor)
    units, systems, columns = statistics_by_assessor[0].shape
    generator = generator_of(resampling.seed, _ASSESSORS)
    drawn_assessors = generator.integers(0, assessor_count, size=resampling.resamples)
    flat_statistics = np.stack(statistics_by_assessor).reshape(assessor_count, units, systems * columns)

    # Units are drawn for some resamples at a time. Those that drew the same assessor are scored together.
    scores: Floats = np.empty((resampling.resamples, systems))
    resamples_at_once = max(1, _CELLS_AT_ONCE // units)
    for start in range(0, resampling.resamples, resamples_at_once):
        stop = min(start + resamples_at_once, resampling.resamples)
        counts = _draw_units(generator, stop - start, units)
        for assessor in range(assessor_count):
            resamples = np.flatnonzero(drawn_assessors[start:stop] == assessor)  # those that drew this assessor
            flat_sums = counts[resamples] @ flat_statistics[assessor]
            sums = flat_sums.reshape(len(resamples), systems, columns)
            # The first measure of the formula is the one that is wanted.
            denominators = ratios_of(formula, sums).denominator[..., 0]
            scores_of_resamples = scores_of(formula, sums)[..., 0]
            scores[start + resamples] = np.where(denominators == 0, np.nan, scores_of_resamples)
    return scores


def _draw_units(generator: np.random.Generator, resamples: int, units: int) -> Floats:
    """Draw units with replacement, and return how often each was drawn in each resample: (resamples, units)."""
    drawn_units = generator.integers(0, units, size=(resamples, units))
    # Unit u of resample r is counted as r * units + u, so that one call counts all resamples.
    first_number_of_resample = np.arange(0, resamples * units, units)
    drawn_units += first_number_of_resample[:, np.newaxis]
    counts = np.bincount(drawn_units.ravel(), minlength=resamples * units)
    return counts.reshape(resamples, units).astype(np.float64)


def _percentile_limits(scores: Floats, level: float) -> AssessorLimits:
    """Return the limits that leave out the share `level` of the resampled scores (N,), half of it on either side.

    There are no limits if too many resamples have no score.
    """
    defined_scores = defined_resamples(scores)
    if defined_scores is None:
        return AssessorLimits(None, None)
    low, high = np.quantile(defined_scores, [level / 2, 1 - level / 2]).tolist()
    return AssessorLimits(low, high)
