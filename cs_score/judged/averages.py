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
    divides two sums and returns 0 for 0/0. It may instead return both of them as a `Ratio` that is divided later.
    """
    return (
        divide(sums.right, sums.answered),
        divide(sums.found, sums.wanted),
        _micro_f1(sums, divide),
        divide(sums.precision, sums.is_wanting),
        divide(sums.recall, sums.is_wanting),
        divide(sums.f1, sums.is_wanting),
        divide(sums.is_answered, sums.units),
        divide(sums.average_precision, sums.is_wanting),
    )


def _micro_f1(sums: UnitCount, divide: Divide) -> Any:
    """Return the harmonic mean of micro precision and micro recall, as a number, an array or a `Ratio`.

    If `divide` returns a `Ratio`, the caller needs the numerator and the denominator that each unit contributes. `f1`
    can compute them if precision and recall have the same numerator. Their numerators differ if classes have weights
    or if duplicates count as right; `_ratio_of_micro_f1` handles that case.
    """
    precision = divide(sums.right, sums.answered)
    recall = divide(sums.found, sums.wanted)
    if isinstance(precision, Ratio):
        has_same_numerator = bool(np.all(sums.right == sums.found))
        if not has_same_numerator:
            return _ratio_of_micro_f1(sums)
    return f1(precision, recall, divide)


def _ratio_of_micro_f1(counts: Any) -> Ratio:
    """Return micro F1 as a ratio to which each unit adds a numerator and a denominator.

    Each field of `counts` is an array with a count for each unit along its first axis, or a number for a single unit.

    With r right of a answered, f found of w wanted and c = r / f, micro F1 is 2 r / (a + c w). A unit u adds

        to the numerator    2 (a r_u + c c w f_u) / (a + c w)
        to the denominator  a_u + c w_u

    The quotient of both sums is F1, and a small change of a unit changes it as much as it changes F1.
    """
    # In the formula these are r_u, a_u, f_u and w_u: (units, ...)
    right_counts = np.asarray(counts.right, np.float64)
    answer_counts = np.asarray(counts.answered, np.float64)
    found_weights = np.asarray(counts.found, np.float64)
    wanted_weights = np.asarray(counts.wanted, np.float64)

    # In the formula these are a, w and c, without the axis of the units: (...)
    sum_of_answered = _sum_over_units(answer_counts)
    sum_of_wanted = _sum_over_units(wanted_weights)
    right_per_found = _right_per_found(_sum_over_units(right_counts), _sum_over_units(found_weights))

    denominator_of_unit = answer_counts + right_per_found * wanted_weights  # (units, ...)
    denominator = sum_of_answered + right_per_found * sum_of_wanted  # (...)
    divisor = np.where(denominator > 0, denominator, 1.0)  # a denominator of 0 has a numerator of 0
    numerator_of_unit = (
        2 * (sum_of_answered * right_counts + right_per_found**2 * sum_of_wanted * found_weights) / divisor
    )
    return Ratio(numerator_of_unit, denominator_of_unit)


def _right_per_found(sum_of_right: Any, sum_of_found: Any) -> Any:
    """Return the sums of right answers, divided by the weights of classes found, as an array of the same shape.

    The quotient is set to 1 where nothing is right or nothing is found.
    """
    has_quotient = (sum_of_right > 0) & (sum_of_found > 0)
    dividend = np.where(has_quotient, sum_of_right, 1.0)
    divisor = np.where(has_quotient, sum_of_found, 1.0)
    return dividend / divisor


def _sum_over_units(counts: np.ndarray) -> Any:
    """Return the sum of the counts of all units, which are along the first axis. A single number is its own sum."""
    return counts.sum(axis=0) if counts.ndim else counts
