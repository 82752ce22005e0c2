"""Tails, limits and probabilities of distributions without scipy, the same on every platform. The tail of a
distribution at a value is the probability of larger values.

Numpy is not used: its last digits differ from version to version.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

_STEPS_PER_UNIT: Final = 16
"""The number of nodes of the quadrature per unit of its variable t."""

_LARGEST_T: Final = 3
"""The variable t of the quadrature goes from minus this number to this number; the weights beyond are below 1e-12."""

_NORMAL_RANGE: Final = 9
"""Less than 1e-18 of a normal distribution lies more than this many standard deviations from its mean."""

_HALVINGS: Final = 100
"""An interval that is halved so often has no floating-point number inside."""


class QuadratureNode(NamedTuple):
    """A point between -1 and 1 at which quadrature evaluates a function, and the weight of the value there."""

    abscissa: float
    weight: float


def normal_tail(value: float) -> float:
    """Return P(Z > value) for the standard normal distribution."""
    return math.erfc(value / math.sqrt(2)) / 2


def t_tail(value: float, degrees_of_freedom: float, noncentrality: float = 0.0) -> float:
    """Return P(T > value) for a noncentral t distribution, exact to 1e-12: `t_tail(2.0, 10)` is 0.0367.

    If the noncentrality is 0, this is Student's t distribution. T is (Z + noncentrality) / S, where Z is standard
    normal, and S^2 is chi-squared divided by its degrees of freedom. For a given S = s, T > value means
    Z > value * s - noncentrality. With the density f of S,

        P(T > value) = integral of P(Z > value * s - noncentrality) f(s) ds / integral of f(s) ds

    Both integrals are computed as sums over the same values s, the nodes of tanh-sinh quadrature, on intervals in which
    the functions change slowly. A constant factor in f or in the weights of the nodes cancels out.
    """
    weights: list[float] = []
    weighted_tails: list[float] = []
    for low, high in pairwise(_interval_ends(value, degrees_of_freedom, noncentrality)):
        width = high - low
        for node in _quadrature_nodes():
            s = low + width * (node.abscissa + 1) / 2  # maps the node from -1...1 to the interval
            weight = node.weight * width * _relative_density(s, degrees_of_freedom)
            weights.append(weight)
            weighted_tails.append(weight * normal_tail(value * s - noncentrality))
    return math.fsum(weighted_tails) / math.fsum(weights)


def _relative_density(s: float, degrees_of_freedom: float) -> float:
    """Return the density of S at `s`, up to a constant factor; S^2 is chi-squared divided by its degrees of freedom."""
    log_density = (degrees_of_freedom - 1) * math.log(s) - degrees_of_freedom * (s**2 - 1) / 2
    return math.exp(log_density)


def _interval_ends(value: float, degrees_of_freedom: float, noncentrality: float) -> list[float]:
    """Return the ends of the intervals over which `t_tail` computes its mean, in ascending order: `[0.2, 1.0, 1.8]`.

    Nearly all values of S lie between the first and the last end. P(Z > value S - noncentrality) falls from 1 to 0 as
    value S - noncentrality goes from -9 to 9, and it is one half at 0. The values of S for -9, 0 and 9 are also ends,
    so that the probability changes slowly in each interval.
    """
    half_range = _NORMAL_RANGE / math.sqrt(degrees_of_freedom)
    smallest_s = max(0.0, 1 - half_range)
    largest_s = 1 + half_range
    ends = {smallest_s, 1.0, largest_s}
    if value:
        for deviations in (-_NORMAL_RANGE, 0, _NORMAL_RANGE):
            turning_point = (noncentrality + deviations) / value  # solves value S - noncentrality = deviations
            if smallest_s < turning_point < largest_s:
                ends.add(turning_point)
    return sorted(ends)


@cache
def _quadrature_nodes() -> Sequence[QuadratureNode]:
    """Return the nodes of tanh-sinh quadrature between -1 and 1.

    The abscissas are x = tanh(pi/2 sinh(t)) at equal steps of t, and the weight of a node is its derivative
    dx/dt = pi/2 cosh(t) / cosh(pi/2 sinh(t))^2. The factor pi/2 and the length of the step are omitted, because
    `t_tail` divides one weighted sum by another.
    """
    nodes = []
    step_count = _LARGEST_T * _STEPS_PER_UNIT
    for step in range(-step_count, step_count + 1):
        t = step / _STEPS_PER_UNIT
        argument = math.pi / 2 * math.sinh(t)
        nodes.append(QuadratureNode(abscissa=math.tanh(argument), weight=math.cosh(t) / math.cosh(argument) ** 2))
    return nodes


@cache
def t_limit(tail: float, degrees_of_freedom: float) -> float:
    """Return the critical value that Student's t exceeds with the probability `tail`: `t_limit(0.025, 10)` is 2.228.

    The probability is at most one half.
    """
    return root_of(lambda value: tail - t_tail(value, degrees_of_freedom), start=1.0)


def root_of(increasing_function: Callable[[float], float], start: float) -> float:
    """Return the non-negative number at which an increasing function is 0, to the last digit.

    The search begins at `start`. `root_of(lambda x: x * x - 2, start=1.0)` returns the square root of 2.
    """
    low = 0.0
    high = start
    while increasing_function(high) < 0:
        low = high
        high = 2 * high
    return _root_between(low, high, increasing_function)


def _root_between(low: float, high: float, increasing_function: Callable[[float], float]) -> float:
    """Return the number from `low` to `high` at which an increasing function is 0, to the last digit."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break  # there is no floating-point number between them
        if increasing_function(middle) < 0:
            low = middle
        else:
            high = middle
    return high


def smallest_sufficient(is_sufficient: Callable[[int], bool], start: int, largest: int) -> int | None:
    """Return the smallest sufficient whole number, or None if the search does not find one up to `largest`.

    `is_sufficient` says whether a number is sufficient. If it is, all larger numbers must be sufficient as well. The
    search begins at `start`, the smallest number that is considered, and doubles the number until it is sufficient. The
    smallest number is then found by bisection. If doubling would exceed `largest`, the search ends, even though a
    number in between may be sufficient.
    """
    too_small = start - 1
    sufficient = start
    while not is_sufficient(sufficient):
        too_small = sufficient
        sufficient = 2 * sufficient
        if sufficient > largest:
            return None
    return _smallest_between(too_small, sufficient, is_sufficient)


def _smallest_between(too_small: int, sufficient: int, is_sufficient: Callable[[int], bool]) -> int:
    """Return the smallest number that suffices, between a number that is too small and one that suffices."""
    while sufficient - too_small > 1:
        middle = (too_small + sufficient) // 2
        if is_sufficient(middle):
            sufficient = middle
        else:
            too_small = middle
    return sufficient


def binomial_probability(successes: int, trials: int, success_probability: float) -> float:
    """Return the binomial probability of a number of successes: `binomial_probability(1, 2, 0.5)` is 0.5."""
    if success_probability in (0.0, 1.0):
        is_certain = successes == trials * success_probability
        return float(is_certain)
    # Logarithms are used because factorials of large numbers cannot be represented.
    failures = trials - successes
    log_coefficient = math.lgamma(trials + 1) - math.lgamma(successes + 1) - math.lgamma(failures + 1)
    log_of_successes = successes * math.log(success_probability)
    log_of_failures = failures * math.log1p(-success_probability)
    return math.exp(log_coefficient + log_of_successes + log_of_failures)
