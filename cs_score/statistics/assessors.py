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

Judgments: TypeAlias = tuple[Hashable, Hashable]
"""The judgments of the first and of the second assessor about one answer: `("CORRECT", "WRONG")`."""

_ASSESSORS: Final = 2
"""The key of the generator that draws assessors. The bootstrap, swaps and permutations have other keys."""

_CELLS_AT_ONCE: Final = 1 << 20
"""Resamples times units that are drawn at once, at 8 bytes each. The draws depend on it."""


# ---- Agreement


def kappa(pairs: Iterable[Judgments]) -> float | None:
    """Return Cohen's kappa of two assessors, -1 to 1, from their judgments of the same answers.

    kappa = (p_o - p_e) / (1 - p_e), with p_o the share of answers judged alike, and p_e the share that would be judged
    alike by chance. None without answers, and where all judgments are the same.

    `[("C", "C"), ("W", "W"), ("C", "W"), ("W", "C")]` gives 0.0: as many agree as by chance.
    """
    judgments = list(pairs)
    answer_count = len(judgments)
    first_counts = Counter(first for first, _ in judgments)
    second_counts = Counter(second for _, second in judgments)
    # Whole numbers until the last division: both shares times the squared number of answers.
    by_chance = sum(count * second_counts[judgment] for judgment, count in first_counts.items())
    agreed = sum(first == second for first, second in judgments)
    if by_chance == answer_count * answer_count:
        return None
    return (agreed * answer_count - by_chance) / (answer_count * answer_count - by_chance)


class Limits(NamedTuple):
    """The limits of an interval; None where too many resamples are undefined."""

    low: float | None
    high: float | None


def kappa_limits(pairs_by_unit: Mapping[str, Sequence[Judgments]], resampling: Resampling) -> Limits:
    """Return percentile bootstrap limits of Cohen's kappa from resampled units.

    `pairs_by_unit` has the judgments of the answers of each unit, which are drawn together. There are no limits with a
    single unit. A resample in which all judgments are the same has no kappa and is left out.
    """
    unit_count = len(pairs_by_unit)
    if unit_count < 2:
        return Limits(None, None)
    tables = _judgment_tables(list(pairs_by_unit.values()))
    _, judgment_count, _ = tables.shape
    flat_tables = tables.reshape(unit_count, -1)
    kappas = []
    for counts in bootstrap_counts(resampling.seed, unit_count, resampling.resamples):
        resampled_tables = (counts @ flat_tables).reshape(-1, judgment_count, judgment_count)
        kappas.append(_kappas_of_tables(resampled_tables))
    return _percentile_limits(np.concatenate(kappas), resampling.level)


def _judgment_tables(pairs_of_units: Sequence[Sequence[Judgments]]) -> Floats:
    """Return how often each pair of judgments occurs in each unit, (units, judgments, judgments).

    The second axis is the judgment of the first assessor, the third that of the second.
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
    """Return kappa of each table (N, judgments, judgments) of two assessors; not a number where it is undefined."""
    sizes = tables.sum(axis=(1, 2))
    # The shares p_o, p_e and 1 - p_e of `kappa`, each times the squared number of answers.
    observed = np.trace(tables, axis1=1, axis2=2) * sizes
    expected = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
    possible = sizes * sizes - expected
    is_defined = possible > 0
    return np.where(is_defined, (observed - expected) / np.where(is_defined, possible, 1.0), np.nan)


# ---- Scores


def assessor_intervals(
    first: Sequence[ArrayLike], second: Sequence[ArrayLike], formula: SumsFormula, resampling: Resampling
) -> list[Limits]:
    """Return percentile bootstrap limits of the score of each system, over units and over two assessors.

    `first` and `second` have the statistics (units, k) of each system under either assessor. A resample draws one of
    the two assessors, for all units and systems, and as many units as there are. The difference between the assessors
    therefore stays in the limits: drawn unit by unit it would average out. Exchanging the assessors changes nothing.
    """
    first_rows = np.stack([np.asarray(matrix, dtype=np.float64) for matrix in first], axis=1)
    second_rows = np.stack([np.asarray(matrix, dtype=np.float64) for matrix in second], axis=1)
    sides = sorted([first_rows, second_rows], key=lambda rows: rows.tolist())
    scores = _scores_by_assessor(sides, formula, resampling)
    return [_percentile_limits(scores[:, system], resampling.level) for system in range(scores.shape[1])]


def _scores_by_assessor(sides: Sequence[Floats], formula: SumsFormula, resampling: Resampling) -> Floats:
    """Return the score of each system in each resample, (N, systems); not a number where it is 0/0.

    `sides` has the statistics (units, systems, k) under each assessor.
    """
    units, systems, columns = sides[0].shape
    generator = generator_of(resampling.seed, _ASSESSORS)
    assessors = generator.integers(0, len(sides), size=resampling.resamples)
    rows = np.stack(sides).reshape(len(sides), units, systems * columns)
    scores: Floats = np.empty((resampling.resamples, systems))
    resamples_at_once = max(1, _CELLS_AT_ONCE // units)
    for start in range(0, resampling.resamples, resamples_at_once):
        stop = min(start + resamples_at_once, resampling.resamples)
        counts = _draw_units(generator, stop - start, units)
        for assessor in range(len(sides)):
            drawn = np.flatnonzero(assessors[start:stop] == assessor)
            sums = (counts[drawn] @ rows[assessor]).reshape(len(drawn), systems, columns)
            is_undefined = ratios_of(formula, sums).denominator[..., 0] == 0
            scores[start + drawn] = np.where(is_undefined, np.nan, scores_of(formula, sums)[..., 0])
    return scores


def _draw_units(generator: np.random.Generator, resamples: int, units: int) -> Floats:
    """Draw units with replacement, and return how often each was drawn in each resample: (resamples, units)."""
    drawn = generator.integers(0, units, size=(resamples, units))
    drawn += np.arange(0, resamples * units, units)[:, np.newaxis]  # one counter for all resamples
    counts = np.bincount(drawn.ravel(), minlength=resamples * units)
    return counts.reshape(resamples, units).astype(np.float64)


def _percentile_limits(scores: Floats, level: float) -> Limits:
    """Return the limits that leave out the share `level` of the resampled scores (N,), half of it on either side.

    There are none where too many resamples have no score.
    """
    defined_scores = defined_resamples(scores)
    if defined_scores is None:
        return Limits(None, None)
    low, high = np.quantile(defined_scores, [level / 2, 1 - level / 2]).tolist()
    return Limits(low, high)
