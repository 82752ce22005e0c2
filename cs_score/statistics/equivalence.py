"""Tests of equivalence: whether two systems differ by less than a margin.

Units that are right or wrong (0 or 1 each) are tested by Nam's score test on either side. Of n units let x be those
that only the second system has right, and y those that only the first has. The hypothesis that the second system is
worse by the margin M or more is tested by

    z = (x - y + n M) / sqrt(n (2 q + M (1 - M)))

where q is the most likely share of units that only the second has right, if it were worse by exactly M:

    q = (sqrt(b^2 + 8 n x M (1 - M)) - b) / (4 n),   b = 2 n M - (x + y) - M (y - x)

All other units are tested by two one-sided t tests of their contributions. Source: docs/statistics/power.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.base.runtime import Late
from cs_score.measures.registry import Ratio
from cs_score.statistics.arithmetic import contributions, noise
from cs_score.statistics.distributions import normal_tail, t_tail
from cs_score.statistics.options import TestOfEquivalence

if TYPE_CHECKING:
    import numpy as np
else:
    np = Late("numpy")

NO_UNIT_DIFFERS: Final = "no unit differs"
ALL_DIFFER_ALIKE: Final = "all units differ alike"
ONE_UNIT: Final = "one unit only"
UNDEFINED: Final = "a score is 0/0"


class EquivalenceTest(NamedTuple):
    """The p-value of the hypothesis that two systems differ by the margin or more; or the reason why there is none.

    Without a p-value `is_certain` says whether they are equivalent.
    """

    test: TestOfEquivalence
    p: float | None
    reason: str = ""
    is_certain: bool = False


def are_right_or_wrong(ratio: Ratio) -> bool:
    """Return whether each unit is 0 or 1 over a denominator of 1."""
    values = np.asarray(ratio.numerator)
    is_binary = ((values == 0) | (values == 1)).all()
    return bool(is_binary and (np.asarray(ratio.denominator) == 1).all())


def equivalence_test(first: Ratio, second: Ratio, margin: float, *, can_be_binary: bool = True) -> EquivalenceTest:
    """Test whether two systems differ by less than a margin, given the numerator and denominator of each unit.

    Units that are drawn in clusters are not right or wrong: for them `can_be_binary` is false.
    """
    if can_be_binary and are_right_or_wrong(first) and are_right_or_wrong(second):
        difference = np.asarray(second.numerator) - np.asarray(first.numerator)
        return EquivalenceTest(
            "score",
            binary_equivalence_p(
                wins=int(np.count_nonzero(difference > 0)),
                losses=int(np.count_nonzero(difference < 0)),
                units=len(difference),
                margin=margin,
            ),
        )
    shares = contributions(first, second)
    if shares is None:
        return EquivalenceTest("t", None, UNDEFINED)
    units = len(shares)
    differences = shares * units
    mean = math.fsum(differences.tolist()) / units
    largest_noise = float(np.max(noise(first.numerator, first.denominator, second.numerator, second.denominator)))
    slack = 4 * max(float(np.max(noise(differences))), largest_noise)
    if float(np.abs(differences).max()) <= slack:
        return EquivalenceTest("t", None, NO_UNIT_DIFFERS, is_certain=True)
    if units == 1:
        return EquivalenceTest("t", None, ONE_UNIT)
    deviation = float(differences.std(ddof=1))
    if deviation <= slack:
        return EquivalenceTest("t", None, ALL_DIFFER_ALIKE, is_certain=abs(mean) < margin)
    return EquivalenceTest("t", t_equivalence_p(mean, deviation, units, margin))


def t_equivalence_p(difference: float, deviation: float, units: int, margin: float) -> float:
    """Return the larger p-value of two one-sided t tests of a difference of the margin or more, in either direction.

    `difference` is the mean of the units' differences, `deviation` their standard deviation.
    """
    error = deviation / math.sqrt(units)
    freedom = units - 1
    return max(t_tail((margin + difference) / error, freedom), t_tail((margin - difference) / error, freedom))


def binary_equivalence_p(wins: int, losses: int, units: int, margin: float) -> float:
    """Return the larger p-value of Nam's score test on either side, for units that are right or wrong.

    `wins` counts the units that only the second system has right, `losses` the units that only the first has. No two
    systems can differ by more than 1: with a margin of 1 or more p is 0.
    """
    if margin >= 1:
        return 0.0
    return max(_noninferiority_p(wins, losses, units, margin), _noninferiority_p(losses, wins, units, margin))


def _noninferiority_p(wins: int, losses: int, units: int, margin: float) -> float:
    """Return the p-value of the hypothesis that losses exceed wins by the margin or more, as a share of the units.

    It is Nam's score test; the formula is that of the module.
    """
    linear = 2 * units * margin - (wins + losses) - margin * (losses - wins)
    spread = margin * (1 - margin)
    root = math.sqrt(linear * linear + 8 * units * wins * spread)
    share_of_wins = max(0.0, (root - linear) / (4 * units))  # rounding may leave less than nothing
    error = math.sqrt(units * (2 * share_of_wins + spread))
    return normal_tail((wins - losses + units * margin) / error)
