"""How far assessors agree, and intervals that draw the assessor along with the unit.

Cohen's kappa is (po - pe) / (1 - pe): po the share of items that two assessors judge alike, pe that to be expected
from their own shares of each judgment. Krippendorff's alpha for nominal data is 1 - Do / De over any number of
assessors, items that fewer than two have judged left out; De uses the shares of all together. Neither is defined where
there is only one judgment.

Sources: J. Cohen, "A coefficient of agreement for nominal scales", Educ. Psychol. Meas. 20, 1960. K. Krippendorff,
*Content Analysis*, 2004, ch. 11.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from cs_score.base.runtime import Late
from cs_score.statistics.arithmetic import Floats, Formula
from cs_score.statistics.options import Resampling
from cs_score.statistics.resampling import scores_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike
else:
    np = Late("numpy")

_PURPOSE: Final = 2
"""Keeps the draws apart from those of the bootstrap and of swaps (`resampling._Purpose`)."""

_CELLS: Final = 1 << 20


def kappa(pairs: Iterable[tuple[Hashable, Hashable]]) -> float | None:
    """Cohen's kappa of two assessors, -1 to 1, from their judgments of the same items; None where it is undefined."""
    judged = list(pairs)
    first, second = (Counter(side) for side in zip(*judged)) if judged else (Counter[Hashable](), Counter[Hashable]())
    by_chance = sum(number * second[judgment] for judgment, number in first.items())
    size = len(judged)
    if by_chance == size * size:
        return None
    alike = sum(one == other for one, other in judged)
    return (alike * size - by_chance) / (size * size - by_chance)


def alpha(items: Iterable[Sequence[Hashable | None]]) -> float | None:
    """Krippendorff's alpha from the judgments of each item, None for those not given; None where it is undefined."""
    observed, shares = 0.0, Counter[Hashable]()
    for item in items:
        given = Counter(judgment for judgment in item if judgment is not None)
        size = given.total()
        if size > 1:
            shares += given
            observed += (size * size - sum(number * number for number in given.values())) / (size - 1)
    total = shares.total()
    expected = total * total - sum(number * number for number in shares.values())
    return 1 - observed * (total - 1) / expected if expected else None


def assessor_intervals(
    first: Sequence[ArrayLike], second: Sequence[ArrayLike], formula: Formula, resampling: Resampling
) -> list[tuple[float, float]]:
    """Percentile limits of the score of each system, given its statistics (units, k) under either assessor.

    A resample draws as many units as there are, and for each draw one of the two assessors, alike for all systems. Who
    is called the first changes nothing.
    """
    sides = [np.stack([np.asarray(each, dtype=np.float64) for each in side], axis=1) for side in (first, second)]
    sides.sort(key=lambda side: side.tolist())
    rows = np.concatenate(sides)
    both, systems, columns = rows.shape
    sequence = np.random.SeedSequence(resampling.seed, spawn_key=(_PURPOSE,))
    generator = np.random.Generator(np.random.PCG64(sequence))
    chunk, found = max(1, _CELLS // both), list[Floats]()
    for start in range(0, resampling.resamples, chunk):
        size = min(chunk, resampling.resamples - start)
        drawn = generator.integers(0, both, size=(size, both // 2))
        drawn += np.arange(0, size * both, both)[:, np.newaxis]
        counts = np.bincount(drawn.ravel(), minlength=size * both).reshape(size, both).astype(np.float64)
        sums = (counts @ rows.reshape(both, -1)).reshape(size, systems, columns)
        found.append(scores_of(formula, sums)[..., 0])
    tail = resampling.level / 2
    limits = np.quantile(np.concatenate(found), [tail, 1 - tail], axis=0)
    return [(float(low), float(high)) for low, high in limits.T]
