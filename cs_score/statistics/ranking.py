"""Ranks of several systems under one measure, how far they vary over the resamples, and tiers.

A higher score is better. The rank of a system is one more than the number of systems with a higher score, so that equal
systems share the better rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from cs_score.statistics.arithmetic import Floats, noise
from cs_score.statistics.resampling import defined


def ranks(scores: Floats) -> NDArray[np.int64]:
    """The ranks of scores (systems, ...) along the first axis, from 1; scores equal within rounding rank equally."""
    better = np.ones(scores.shape, dtype=np.int64)
    for rival in scores:
        better += rival - scores > noise(rival, scores)
    return better


def rank_ranges(resampled: Floats, level: float) -> list[tuple[int, int]]:
    """Per system the lowest and the highest rank over the resamples (systems, N), the extremes left out.

    Resamples in which a score is undefined are left out; where that leaves too few, any rank is possible. Of the N
    sorted ranks of a system, floor(N * level / 2) are dropped at either end: the central 95 % where level is 0.05.
    """
    found = defined(resampled)
    if found is None:
        return [(1, len(resampled))] * len(resampled)
    ordered = np.sort(ranks(found), axis=1)
    count = ordered.shape[1]
    dropped = min(int(count * level / 2 + 1e-9), (count - 1) // 2)  # 100 * 0.58 is 57.99999999999999
    return [(int(row[dropped]), int(row[count - 1 - dropped])) for row in ordered]


def tiers(order: Sequence[int], differ: Callable[[int, int], bool]) -> dict[int, int]:
    """The tier of each system, from 1, for systems listed from best to worst.

    The first system opens a tier and is its best. Going down the list, a system joins the current tier unless it
    differs (`differ(best, system)`: significantly, after correction) from the best of that tier; the first one that
    does opens the next tier and becomes its best. So every member of a tier cannot be told apart from the best of the
    tier. Members may differ from one another, and a system may be indistinguishable from members of the tier above:
    "cannot be told apart" is not transitive, and tiers do not pretend that it is.
    """
    assigned: dict[int, int] = {}
    best, tier = -1, 0
    for system in order:
        if not tier or differ(best, system):
            best, tier = system, tier + 1
        assigned[system] = tier
    return assigned
