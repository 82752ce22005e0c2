"""Tests of equivalence: whether two systems differ by less than a margin. Two one-sided tests have the hypothesis that
one of the systems is worse than the other by the margin or more.

If every unit is right or wrong (1 or 0), the systems are compared by two one-sided score tests (Nam's). Of n units, let
x be the number that only the second system has right, and y the number that only the first system has right. The
hypothesis that the second system is worse by the margin M or more is tested by

    z = (x - y + n M) / sqrt(n (2 q + M (1 - M)))

where q is the maximum-likelihood estimate of the share of units that only the second system has right, if that system
is worse by exactly M:

    q = (sqrt(b^2 + 8 n x M (1 - M)) - b) / (4 n),   b = 2 n M - (x + y) - M (y - x)

All other systems are compared by two one-sided t tests of the contributions of the units.
Source: docs/statistics/power.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.base.runtime import Late
from cs_score.measures import Ratio
from cs_score.statistics.arithmetic import Floats, possible_rounding, unit_contributions
from cs_score.statistics.distributions import normal_tail, t_tail
from cs_score.statistics.resampling_settings import TestOfEquivalence

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

    `p_value` is None if no test is possible. In that case `reason` says why, and `is_equivalent_without_test` says
    whether the systems are equivalent all the same.
    """

    method: TestOfEquivalence
    p_value: float | None
    reason: str = ""
    is_equivalent_without_test: bool = False


def are_right_or_wrong(ratio: Ratio) -> bool:
    """Return whether every unit of a system is right (1/1) or wrong (0/1).

    `ratio` has the numerator and the denominator of each unit.
    """
    numerators = np.asarray(ratio.numerator)
    denominators = np.asarray(ratio.denominator)
    is_binary = ((numerators == 0) | (numerators == 1)) & (denominators == 1)
    return bool(is_binary.all())


def equivalence_test(first: Ratio, second: Ratio, margin: float, *, can_be_binary: bool = True) -> EquivalenceTest:
    """Test whether two systems differ by less than a margin, and return the outcome.

    Each ratio has the numerator and the denominator of every unit. If all units are right or wrong, the systems are
    compared by Nam's score test, otherwise by two one-sided t tests. `can_be_binary` must be False if units are drawn
    in clusters, so that the score test is not used.
    """
    if can_be_binary and are_right_or_wrong(first) and are_right_or_wrong(second):
        return _score_test(first, second, margin)
    contributions = unit_contributions(first, second)  # (units,)
    if contributions is None:
        return EquivalenceTest("t", p_value=None, reason=UNDEFINED)
    differences = contributions * len(contributions)  # their mean is the difference of the scores
    # Differences that vary only by rounding are treated as equal by the t test.
    rounding_error_of_numbers = possible_rounding(
        first.numerator, first.denominator, second.numerator, second.denominator
    )
    return _t_test(differences, float(np.max(rounding_error_of_numbers)), margin)


def _score_test(first: Ratio, second: Ratio, margin: float) -> EquivalenceTest:
    """Return the outcome of Nam's score test of two systems whose units are all right (1/1) or wrong (0/1).

    Each ratio has the numerator and the denominator of every unit.
    """
    differences = np.asarray(second.numerator) - np.asarray(first.numerator)  # (units,)
    wins = int(np.count_nonzero(differences > 0))
    losses = int(np.count_nonzero(differences < 0))
    p_value = binary_equivalence_p(wins, losses, len(differences), margin)
    return EquivalenceTest("score", p_value)


def _t_test(differences: Floats, rounding_error_of_numbers: float, margin: float) -> EquivalenceTest:
    """Return the outcome of two one-sided t tests of the differences (units,) of two systems.

    There is no p-value if the differences do not vary. `rounding_error_of_numbers` is the largest rounding error in the
    numerator or the denominator of a unit.
    """
    largest_rounding_error = _rounding_error_of_differences(differences, rounding_error_of_numbers)
    outcome_without_test = _outcome_without_test(differences, largest_rounding_error, margin)
    if outcome_without_test is not None:
        return outcome_without_test
    standard_deviation = float(differences.std(ddof=1))
    p_value = t_equivalence_p(_mean(differences), standard_deviation, len(differences), margin)
    return EquivalenceTest("t", p_value)


def _outcome_without_test(differences: Floats, largest_rounding_error: float, margin: float) -> EquivalenceTest | None:
    """Return the outcome for differences (units,) that the t test cannot be applied to, or None if it can.

    It cannot be applied to a single unit, or if the differences vary by at most `largest_rounding_error`. Two systems
    are equivalent if no unit differs, and also if all units differ by the same amount and this amount is below the
    margin. If there is only one unit, and it differs, equivalence cannot be determined.
    """
    largest_difference = float(np.abs(differences).max())
    if largest_difference <= largest_rounding_error:
        return EquivalenceTest("t", p_value=None, reason=NO_UNIT_DIFFERS, is_equivalent_without_test=True)
    if len(differences) == 1:
        return EquivalenceTest("t", p_value=None, reason=ONE_UNIT)
    if float(differences.std(ddof=1)) <= largest_rounding_error:
        is_equivalent = abs(_mean(differences)) < margin
        return EquivalenceTest("t", p_value=None, reason=ALL_DIFFER_ALIKE, is_equivalent_without_test=is_equivalent)
    return None


def _mean(differences: Floats) -> float:
    """Return the mean of the differences (units,), which does not depend on the order of the units."""
    return math.fsum(differences.tolist()) / len(differences)


def _rounding_error_of_differences(differences: Floats, rounding_error_of_numbers: float) -> float:
    """Return how large a difference between two systems can become by rounding alone.

    This is also a limit for the standard deviation of the `differences` (units,). A difference is computed from four
    numbers, the numerator and the denominator of each system. The rounding error of each number is assumed to be
    `rounding_error_of_numbers` or the rounding error of the largest difference, whichever is larger.
    """
    rounding_of_largest_difference = float(np.max(possible_rounding(differences)))
    return 4 * max(rounding_of_largest_difference, rounding_error_of_numbers)


def t_equivalence_p(mean_difference: float, standard_deviation: float, unit_count: int, margin: float) -> float:
    """Return the larger p-value of two one-sided t tests of two systems.

    Each test is of the hypothesis that one of the systems is worse than the other by at least the margin.
    `mean_difference` and `standard_deviation` are those of the differences of the units, second system minus first.
    """
    standard_error = standard_deviation / math.sqrt(unit_count)
    degrees_of_freedom = unit_count - 1
    # The hypothesis "second - first <= -margin" is rejected if the mean difference is far above -margin.
    p_second_is_worse = t_tail((mean_difference + margin) / standard_error, degrees_of_freedom)
    # The hypothesis "second - first >= margin" is rejected if the mean difference is far below the margin.
    p_first_is_worse = t_tail((margin - mean_difference) / standard_error, degrees_of_freedom)
    return max(p_second_is_worse, p_first_is_worse)


def binary_equivalence_p(wins: int, losses: int, unit_count: int, margin: float) -> float:
    """Return the larger p-value of two one-sided score tests (Nam's) of two systems whose units are right or wrong.

    Each test is of the hypothesis that one of the systems is worse than the other by at least the margin. `wins` is the
    number of units that only the second system has right, and `losses` the number that only the first system has right.
    Two systems cannot differ by more than 1, so the p-value is 0 if the margin is 1 or more.
    """
    if margin >= 1:
        return 0.0
    p_second_is_worse = _noninferiority_p(wins, losses, unit_count, margin)
    # For the first system the roles are exchanged: its wins are the losses of the second system.
    p_first_is_worse = _noninferiority_p(wins=losses, losses=wins, unit_count=unit_count, margin=margin)
    return max(p_second_is_worse, p_first_is_worse)


def _noninferiority_p(wins: int, losses: int, unit_count: int, margin: float) -> float:
    """Return the p-value of Nam's score test of the hypothesis (losses - wins) / unit_count >= margin.

    With n units and the margin M, the test statistic is

        z = (wins - losses + n M) / sqrt(n (2 q + M (1 - M)))

    where q is the estimated share of wins at the limit of the hypothesis, where the difference equals the margin:

        q = (sqrt(b^2 + 8 n wins M (1 - M)) - b) / (4 n),   b = 2 n M - (wins + losses) - M (losses - wins)
    """
    b = 2 * unit_count * margin - (wins + losses) - margin * (losses - wins)
    margin_term = margin * (1 - margin)
    root = math.sqrt(b * b + 8 * unit_count * wins * margin_term)
    q = max(0.0, (root - b) / (4 * unit_count))  # rounding may make it negative
    standard_error = math.sqrt(unit_count * (2 * q + margin_term))
    z = (wins - losses + unit_count * margin) / standard_error
    return normal_tail(z)
