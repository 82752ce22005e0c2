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
from cs_score.statistics.arithmetic import possible_rounding, unit_contributions
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
    """The outcome of a test of the hypothesis that two systems differ by the margin or more.

    `p` is its p-value, or None; then `reason` says why there is none, and `is_certain` whether the systems are
    equivalent nevertheless.
    """

    test: TestOfEquivalence
    p: float | None
    reason: str = ""
    is_certain: bool = False


def are_right_or_wrong(ratio: Ratio) -> bool:
    """Return whether each unit of a system is right or wrong: it has the numerator 0 or 1 and the denominator 1."""
    numerators = np.asarray(ratio.numerator)
    denominators = np.asarray(ratio.denominator)
    is_binary = ((numerators == 0) | (numerators == 1)) & (denominators == 1)
    return bool(is_binary.all())


def equivalence_test(first: Ratio, second: Ratio, margin: float, *, can_be_binary: bool = True) -> EquivalenceTest:
    """Test whether two systems differ by less than a margin, and return the outcome of the test.

    The ratios have the numerator and the denominator of each unit. Units that are right or wrong are tested by Nam's
    score test, all others by two t tests. `can_be_binary` is false for units that are drawn in clusters: they are never
    tested as right or wrong.
    """
    is_binary = are_right_or_wrong(first) and are_right_or_wrong(second)
    if is_binary and can_be_binary:
        differences_of_units = np.asarray(second.numerator) - np.asarray(first.numerator)
        p = binary_equivalence_p(
            wins=int(np.count_nonzero(differences_of_units > 0)),
            losses=int(np.count_nonzero(differences_of_units < 0)),
            units=len(differences_of_units),
            margin=margin,
        )
        return EquivalenceTest("score", p)

    shares = unit_contributions(first, second)
    if shares is None:
        return EquivalenceTest("t", None, UNDEFINED)
    units = len(shares)
    differences = shares * units  # their mean is the difference of the scores
    mean = math.fsum(differences.tolist()) / units

    # Differences and deviations that are no larger than this may come from rounding.
    numbers_of_units = (first.numerator, first.denominator, second.numerator, second.denominator)
    rounding_of_sums = np.max(possible_rounding(*numbers_of_units))
    rounding_of_differences = np.max(possible_rounding(differences))
    rounding = 4 * float(max(rounding_of_differences, rounding_of_sums))
    largest_difference = float(np.abs(differences).max())
    if largest_difference <= rounding:
        return EquivalenceTest("t", None, NO_UNIT_DIFFERS, is_certain=True)
    if units == 1:
        return EquivalenceTest("t", None, ONE_UNIT)
    deviation = float(differences.std(ddof=1))
    if deviation <= rounding:
        return EquivalenceTest("t", None, ALL_DIFFER_ALIKE, is_certain=abs(mean) < margin)
    p = t_equivalence_p(mean, deviation, units, margin)
    return EquivalenceTest("t", p)


def t_equivalence_p(difference: float, deviation: float, units: int, margin: float) -> float:
    """Return the larger p-value of two one-sided t tests: that a system is worse than the other by the margin or more.

    `difference` is the mean of the units' differences, `deviation` their standard deviation.
    """
    standard_error = deviation / math.sqrt(units)
    degrees_of_freedom = units - 1
    p_second_is_worse = t_tail((margin + difference) / standard_error, degrees_of_freedom)
    p_first_is_worse = t_tail((margin - difference) / standard_error, degrees_of_freedom)
    return max(p_second_is_worse, p_first_is_worse)


def binary_equivalence_p(wins: int, losses: int, units: int, margin: float) -> float:
    """Return the larger p-value of two score tests (Nam's): that a system is worse than the other by the margin.

    The units are right or wrong. `wins` counts the units that only the second system has right, `losses` the units
    that only the first has. No two systems can differ by more than 1: with a margin of 1 or more p is 0.
    """
    if margin >= 1:
        return 0.0
    p_second_is_worse = _noninferiority_p(wins, losses, units, margin)
    p_first_is_worse = _noninferiority_p(losses, wins, units, margin)
    return max(p_second_is_worse, p_first_is_worse)


def _noninferiority_p(wins: int, losses: int, units: int, margin: float) -> float:
    """Return the p-value of the hypothesis that losses exceed wins by the margin or more, as a share of the units.

    This is Nam's score test. In the formula of the module wins are x, losses y, units n, the margin M; `b` and `q` are
    called as there.
    """
    b = 2 * units * margin - (wins + losses) - margin * (losses - wins)
    spread = margin * (1 - margin)
    root = math.sqrt(b * b + 8 * units * wins * spread)
    q = max(0.0, (root - b) / (4 * units))  # rounding may make it negative
    standard_error = math.sqrt(units * (2 * q + spread))
    return normal_tail((wins - losses + units * margin) / standard_error)
