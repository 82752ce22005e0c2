"""Tails, limits and probabilities of distributions without scipy, the same on every platform.

Numpy is not used: its last digits differ from version to version.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

_STEPS: Final = 16
"""Nodes of the quadrature for each unit of its variable, three to either side."""

_REACH: Final = 9
"""Standard deviations of a normal distribution beyond which less than 1e-18 of it lies."""

_HALVINGS: Final = 100
"""Halvings of an interval after which no number lies inside."""


class QuadratureNode(NamedTuple):
    """A number between -1 and 1 (`abscissa`) at which quadrature evaluates a function, and the weight of the value."""

    abscissa: float
    weight: float


def normal_tail(value: float) -> float:
    """Return P(Z > value) for the standard normal distribution."""
    return math.erfc(value / math.sqrt(2)) / 2


def t_tail(value: float, freedom: float, shift: float = 0.0) -> float:
    """Return P(T > value) for the noncentral t distribution, within 1e-12; with the shift 0 for Student's t.

    `t_tail(2.0, 10)` is 0.0367. T is (Z + shift) / S, where Z is normal, and S^2 is chi-squared divided by its degrees
    of freedom. So the tail is the mean of P(Z > value S - shift) over S. It is computed by tanh-sinh quadrature over
    S, in panels within which nothing changes quickly, and divided by the quadrature of the density of S.
    """
    reach = _REACH / math.sqrt(freedom)
    lowest = max(0.0, 1 - reach)
    highest = 1 + reach
    panel_ends = {lowest, 1.0, highest}
    if value:
        # P(Z > value S - shift) falls from 1 to 0 between the first and the last of these values of S.
        for deviations in (-_REACH, 0, _REACH):
            turning_point = (shift + deviations) / value
            if lowest < turning_point < highest:
                panel_ends.add(turning_point)
    densities: list[float] = []
    tails: list[float] = []
    for low, high in pairwise(sorted(panel_ends)):
        for node in _quadrature_nodes():
            s = low + (high - low) * (node.abscissa + 1) / 2
            # The density of S but for a constant factor, which the last division cancels.
            log_density = (freedom - 1) * math.log(s) - freedom * (s**2 - 1) / 2
            weighted_density = node.weight * (high - low) * math.exp(log_density)
            densities.append(weighted_density)
            tails.append(weighted_density * math.erfc((value * s - shift) / math.sqrt(2)) / 2)
    return math.fsum(tails) / math.fsum(densities)


@cache
def _quadrature_nodes() -> Sequence[QuadratureNode]:
    """Return the abscissas and weights of tanh-sinh quadrature between -1 and 1, all weights but for the same factor.

    The abscissas are x = tanh(pi/2 sinh(t)) at equal steps of t. The weight is dx/dt = pi/2 cosh(t) / cosh(pi/2
    sinh(t))^2, here without pi/2 and the length of the step: `t_tail` divides one sum of weights by another.
    """
    nodes = []
    for step in range(-3 * _STEPS, 3 * _STEPS + 1):
        t = step / _STEPS
        argument = math.pi / 2 * math.sinh(t)
        nodes.append(QuadratureNode(abscissa=math.tanh(argument), weight=math.cosh(t) / math.cosh(argument) ** 2))
    return nodes


@cache
def t_limit(tail: float, freedom: float) -> float:
    """Return the value that Student's t with `freedom` degrees of freedom exceeds with the probability `tail`.

    `t_limit(0.025, 10)` is 2.228. The probability is at most one half.
    """
    return root_of(lambda value: tail - t_tail(value, freedom), 1.0)


def root_of(rising_function: Callable[[float], float], start: float) -> float:
    """Return the number of at least 0 at which a rising function becomes 0, to the last digits.

    The search begins at `start`: `root_of(lambda x: x * x - 2, 1.0)` is the square root of 2.
    """
    low = 0.0
    high = start
    while rising_function(high) < 0:
        low = high
        high = 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break  # there is no floating-point number between them
        if rising_function(middle) < 0:
            low = middle
        else:
            high = middle
    return high


def binomial_probability(successes: int, trials: int, share: float) -> float:
    """Return the probability of exactly so many successes in independent trials: `(1, 2, 0.5)` gives 0.5.

    Each trial is a success with the probability `share`.
    """
    if share in (0.0, 1.0):
        is_certain = successes == trials * share
        return float(is_certain)
    # As logarithms, since factorials of large numbers cannot be represented.
    failures = trials - successes
    log_ways = math.lgamma(trials + 1) - math.lgamma(successes + 1) - math.lgamma(failures + 1)
    return math.exp(log_ways + successes * math.log(share) + failures * math.log1p(-share))
