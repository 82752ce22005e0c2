"""Compute tails, limits and probabilities of distributions without scipy, the same on every platform.

They do not use numpy, whose last digits differ from version to version.
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
    """Where quadrature between -1 and 1 evaluates a function, and with which weight."""

    place: float
    weight: float


def normal_tail(value: float) -> float:
    """Return P(Z > value) for the standard normal distribution."""
    return math.erfc(value / math.sqrt(2)) / 2


def t_tail(value: float, freedom: float, shift: float = 0.0) -> float:
    """Return P(T > value) for the noncentral t distribution, within 1e-12; central where nothing shifts it.

    T is (Z + shift) / S, where Z is normal and S^2 is chi-squared over its degrees of freedom. So the tail is the
    expectation of P(Z > value S - shift): tanh-sinh quadrature over S in panels within which nothing changes quickly,
    normalised by the same sum over its density.
    """
    reach = _REACH / math.sqrt(freedom)
    lowest, highest = max(0.0, 1 - reach), 1 + reach
    ends = {lowest, 1.0, highest}
    if value:
        turns = [(shift + step) / value for step in (-_REACH, 0, _REACH)]
        ends.update(turn for turn in turns if lowest < turn < highest)
    densities: list[float] = []
    tails: list[float] = []
    for low, high in pairwise(sorted(ends)):
        for node in _nodes():
            scale = low + (high - low) * (node.place + 1) / 2
            log_density = (freedom - 1) * math.log(scale) - freedom * (scale**2 - 1) / 2
            density = node.weight * (high - low) * math.exp(log_density)
            densities.append(density)
            tails.append(density * math.erfc((value * scale - shift) / math.sqrt(2)) / 2)
    return math.fsum(tails) / math.fsum(densities)


@cache
def _nodes() -> Sequence[Node]:
    """Return the nodes of tanh-sinh quadrature."""
    nodes = []
    for step in range(-3 * _STEPS, 3 * _STEPS + 1):
        turn = math.pi / 2 * math.sinh(step / _STEPS)
        slope = math.cosh(step / _STEPS)
        nodes.append(Node(math.tanh(turn), slope / math.cosh(turn) ** 2))
    return nodes


@cache
def t_limit(tail: float, freedom: float) -> float:
    """Return the value that T exceeds with the probability `tail`, at most one half."""
    return root_of(lambda value: tail - t_tail(value, freedom), 1.0)


def root_of(rising: Callable[[float], float], start: float) -> float:
    """Return where a rising function of a number of at least 0 becomes 0, to the last digits."""
    low, high = 0.0, start
    while rising(high) < 0:
        low, high = high, 2 * high
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
    """Return the probability of so many successes in so many trials, each with the probability `share`."""
    if share in (0.0, 1.0):
        return float(successes == trials * share)
    log_ways = math.lgamma(trials + 1) - math.lgamma(successes + 1) - math.lgamma(trials - successes + 1)
    return math.exp(log_ways + successes * math.log(share) + (trials - successes) * math.log1p(-share))
