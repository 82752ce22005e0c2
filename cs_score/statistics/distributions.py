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


class Node(NamedTuple):
    """A place between -1 and 1 at which quadrature evaluates a function, and the weight of the value."""

    place: float
    weight: float


def normal_tail(value: float) -> float:
    """Return P(Z > value) for the standard normal distribution."""
    return math.erfc(value / math.sqrt(2)) / 2


def t_tail(value: float, freedom: float, shift: float = 0.0) -> float:
    """Return P(T > value) for the noncentral t distribution, within 1e-12; with the shift 0 for Student's t.

    T is (Z + shift) / S, where Z is normal and S^2 is chi-squared over its degrees of freedom. So the tail is the
    expectation of P(Z > value S - shift): tanh-sinh quadrature over S in panels within which nothing changes quickly,
    normalised by the same sum over its density. `t_tail(2.0, 10)` is 0.0367.
    """
    reach = _REACH / math.sqrt(freedom)
    lowest = max(0.0, 1 - reach)
    highest = 1 + reach
    panel_ends = {lowest, 1.0, highest}
    if value:
        for step in (-_REACH, 0, _REACH):
            turn = (shift + step) / value
            if lowest < turn < highest:
                panel_ends.add(turn)
    densities: list[float] = []
    tails: list[float] = []
    for low, high in pairwise(sorted(panel_ends)):
        for node in _nodes():
            scale = low + (high - low) * (node.place + 1) / 2
            log_density = (freedom - 1) * math.log(scale) - freedom * (scale**2 - 1) / 2
            density = node.weight * (high - low) * math.exp(log_density)
            densities.append(density)
            tails.append(density * math.erfc((value * scale - shift) / math.sqrt(2)) / 2)
    return math.fsum(tails) / math.fsum(densities)


@cache
def _nodes() -> Sequence[Node]:
    """Return the places and weights of tanh-sinh quadrature between -1 and 1."""
    nodes = []
    for step in range(-3 * _STEPS, 3 * _STEPS + 1):
        turn = math.pi / 2 * math.sinh(step / _STEPS)
        slope = math.cosh(step / _STEPS)
        nodes.append(Node(math.tanh(turn), slope / math.cosh(turn) ** 2))
    return nodes


@cache
def t_limit(tail: float, freedom: float) -> float:
    """Return the value that Student's t exceeds with the probability `tail`, at most one half.

    `t_limit(0.025, 10)` is 2.228.
    """
    return root_of(lambda value: tail - t_tail(value, freedom), 1.0)


def root_of(rising: Callable[[float], float], start: float) -> float:
    """Return the number of at least 0 at which a rising function becomes 0, to the last digits.

    The search begins at `start`: `root_of(lambda x: x * x - 2, 1.0)` is the root of 2.
    """
    low = 0.0
    high = start
    while rising(high) < 0:
        low = high
        high = 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return high


def binomial_probability(successes: int, trials: int, share: float) -> float:
    """Return the probability of so many successes in independent trials, each a success with the probability `share`.

    `binomial_probability(1, 2, 0.5)` is 0.5.
    """
    if share in (0.0, 1.0):
        return float(successes == trials * share)
    log_ways = math.lgamma(trials + 1) - math.lgamma(successes + 1) - math.lgamma(trials - successes + 1)
    return math.exp(log_ways + successes * math.log(share) + (trials - successes) * math.log1p(-share))
