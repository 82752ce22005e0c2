"""Compute the measures of judged answers from the sums of the counts of their units.
A unit is a question, claim or topic, and wants an answer for each of its classes (answers that mean the same).

Micro averages divide sums over all answers; macro averages are means over units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cs_score.base.runtime import Late
from cs_score.judged.counting import UnitCount
from cs_score.measures import Divide, Ratio, f1

if TYPE_CHECKING:
    import numpy as np
else:
    np = Late("numpy")  # only comparisons of runs compute with arrays

MEASURES: Final = ("micro-p", "micro-r", "micro-f1", "macro-p", "macro-r", "macro-f1", "coverage", "ap")
"""The measures in the order in which `measures_of_sums` returns their values."""


def measures_of_sums(sums: UnitCount, divide: Divide) -> tuple[Any, ...]:
    """Return the value of each measure in the order of `MEASURES`.

    `sums` holds the sum of each count over all units. A sum is a number, or an array with one sum for each resample.
    Micro averages divide sums over all answers. Macro averages are means over the units that want an answer. `divide`
    divides one sum by another and returns 0 for 0/0. It may also return both sums as a `Ratio`, to be divided later.
    """
    # The sum of a count that is 1 or 0 for each unit is a number of units.
    wanting_units = sums.is_wanting
    answered_units = sums.is_answered
    return (
        divide(sums.right, sums.answered),
        divide(sums.found, sums.wanted),
        _micro_f1(sums, divide),
        divide(sums.precision, wanting_units),
        divide(sums.recall, wanting_units),
        divide(sums.f1, wanting_units),
        divide(answered_units, sums.units),
        divide(sums.average_precision, wanting_units),
    )


def _micro_f1(sums: UnitCount, divide: Divide) -> Any:
    """Return the harmonic mean of micro precision and micro recall, as a number, an array or a `Ratio`.

    A `Ratio` keeps a numerator and a denominator, to be divided later. The mean is a `Ratio` if `divide` returns one:
    the caller then needs the numerator and the denominator that each unit contributes. If precision and recall have the
    same numerator, `f1` computes the `Ratio`: F1 = 2 right / (answered + wanted). The numerators differ if classes have
    weights or if duplicates count as right.
    """
    precision = divide(sums.right, sums.answered)
    recall = divide(sums.found, sums.wanted)
    if not isinstance(precision, Ratio):
        return f1(precision, recall, divide)
    has_same_numerators = bool(np.all(sums.right == sums.found))
    if has_same_numerators:
        return f1(precision, recall, divide)
    return _ratio_of_micro_f1(sums)


def _ratio_of_micro_f1(counts: Any) -> Ratio:
    """Return micro F1 as a ratio to which each unit adds a numerator and a denominator.

    Each field of `counts` is an array with a count for each unit along its first axis, or a number for a single unit.

    With r right of a answered, f found of w wanted and c = r / f, micro F1 is 2 r / (a + c w). A unit u adds

        to the numerator    2 (a r_u + c^2 w f_u) / (a + c w)
        to the denominator  a_u + c w_u

    The quotient of the two sums is F1: since c f = r, the numerators add up to 2 (a r + c w r) / (a + c w) = 2 r. The
    numerator is chosen so that a small change in a unit changes the quotient by as much as it changes F1. In other
    words, it is the linear part of F1.
    """
    # In the formula these are r_u, a_u, f_u and w_u: (units, ...)
    right_counts = np.asarray(counts.right, np.float64)
    answer_counts = np.asarray(counts.answered, np.float64)
    found_weights = np.asarray(counts.found, np.float64)
    wanted_weights = np.asarray(counts.wanted, np.float64)

    # In the formula these are a, w and c. They do not have the axis of the units: (...)
    sum_of_answered = _sum_over_units(answer_counts)
    sum_of_wanted = _sum_over_units(wanted_weights)
    right_per_found = _right_per_found(_sum_over_units(right_counts), _sum_over_units(found_weights))

    denominator_of_unit = answer_counts + right_per_found * wanted_weights  # (units, ...)
    denominator = sum_of_answered + right_per_found * sum_of_wanted  # a + c w: (...)
    divisor = np.where(denominator > 0, denominator, 1.0)  # a denominator of 0 has a numerator of 0
    summand_of_right = sum_of_answered * right_counts  # a r_u
    summand_of_found = right_per_found**2 * sum_of_wanted * found_weights  # c^2 w f_u
    numerator_of_unit = 2 * (summand_of_right + summand_of_found) / divisor
    return Ratio(numerator_of_unit, denominator_of_unit)


def _right_per_found(sum_of_right: Any, sum_of_found: Any) -> Any:
    """Return the factor c = r / f that scales the weights of classes so that micro recall has the numerator r.

    The arguments are r, the sum of right answers, and f, the sum of the weights of the classes found. The factor is an
    array of the same shape. It is 1 where nothing is right or nothing is found, since F1 is 0 there with any factor.
    """
    has_quotient = (sum_of_right > 0) & (sum_of_found > 0)
    dividend = np.where(has_quotient, sum_of_right, 1.0)
    divisor = np.where(has_quotient, sum_of_found, 1.0)
    return dividend / divisor


def _sum_over_units(counts: np.ndarray) -> Any:
    """Return the sum of the counts of all units, which are along the first axis. A single number is its own sum."""
    return counts.sum(axis=0) if counts.ndim else counts
