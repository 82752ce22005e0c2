"""Compute the power of the exact two-sided sign test (McNemar's) for units that are right or wrong.

With the share w of units that only the second system has right and l of those that only the first has, the number of
units in which they differ is binomial, and of m such units the test looks at how many are won:

    power(n) = sum over m of Binomial(m; n, w + l) P(the test rejects | m),   wins ~ Binomial(m, w / (w + l))

The test rejects where twice the probability of so few of the rarer outcome, were both as likely, is at most the level.
Source: docs/statistics/power.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from cs_score.statistics.distributions import binomial_probability

SIZES_IN_A_ROW: Final = 10
"""Numbers of units that must all reach a power, since that of a test of counts falls now and then as they grow."""

MOST_EXACT: Final = 20_000
"""Units up to which power is computed exactly. With more the t test has the same power within .005."""

_REACH: Final = 9
"""Standard deviations of a binomial distribution beyond which less than 1e-12 of it lies."""


class Shares(NamedTuple):
    """The shares of units that only the second system has right, and that only the first has."""

    wins: float
    losses: float

    @property
    def deviation(self) -> float:
        """The standard deviation of the units' differences, which are 1, 0 and -1."""
        return math.sqrt(self.wins + self.losses - (self.wins - self.losses) ** 2)


def shares_of(difference: float, differing: float) -> Shares:
    """Return the shares for a difference of the scores where the systems differ in the share `differing` of the units.

    A difference that is larger than this needs more units that differ, all of them won.
    """
    differing = max(difference, differing)
    losses = (differing - difference) / 2
    return Shares(difference + losses, losses)


class SignTest:
    """The power of the test at a level for systems with given shares of wins and losses, by the number of units."""

    def __init__(self, shares: Shares, level: float) -> None:
        self.shares = shares
        self._level = level
        self._differing = min(1.0, shares.wins + shares.losses)
        self._rejections: list[float] = []

    def power(self, units: int) -> float:
        """Return the probability that the test calls the difference significant."""
        mean = units * self._differing
        reach = _REACH * math.sqrt(mean * (1 - self._differing)) + _REACH
        fewest = max(0, math.floor(mean - reach))
        most = min(units, math.ceil(mean + reach))
        if most >= len(self._rejections):
            self._rejections = _rejections(self.shares.wins / self._differing, 2 * most, self._level)
        probabilities = _binomial_probabilities(fewest, most, units, self._differing)
        return math.fsum(
            chance * rejection for chance, rejection in zip(probabilities, self._rejections[fewest : most + 1])
        )

    def needed_units(self, power: float) -> int | None:
        """Return the smallest number from which ten in a row reach the power; None above `MOST_EXACT`."""
        few, many = 0, 1
        while not self._holds(many, power):
            few, many = many, 2 * many
            if few > MOST_EXACT:
                return None
        while many - few > 1:
            middle = (few + many) // 2
            if self._holds(middle, power):
                many = middle
            else:
                few = middle
        # Power falls now and then as units are added, so that a smaller number may do as well.
        window = math.ceil(3 * math.sqrt(many / self._differing)) + 2 * SIZES_IN_A_ROW
        in_a_row = 0
        for units in range(max(1, many - window), many):
            in_a_row = in_a_row + 1 if self.power(units) >= power else 0
            if in_a_row == SIZES_IN_A_ROW:
                return units - SIZES_IN_A_ROW + 1
        return many - in_a_row

    def _holds(self, units: int, power: float) -> bool:
        """Return whether this and the next numbers of units all reach the power."""
        return all(self.power(number) >= power for number in range(units, units + SIZES_IN_A_ROW))


def _binomial_probabilities(fewest: int, most: int, trials: int, share: float) -> list[float]:
    """Return the probabilities of `fewest` to `most` successes."""
    if share == 1.0:
        return [float(successes == trials) for successes in range(fewest, most + 1)]
    mode = min(most, max(fewest, math.floor((trials + 1) * share)))
    odds = share / (1 - share)
    probabilities = {mode: binomial_probability(mode, trials, share)}
    for successes in range(mode, most):
        probabilities[successes + 1] = probabilities[successes] * odds * (trials - successes) / (successes + 1)
    for successes in range(mode, fewest, -1):
        probabilities[successes - 1] = probabilities[successes] * successes / (odds * (trials - successes + 1))
    return [probabilities[successes] for successes in range(fewest, most + 1)]


def _rejections(share_won: float, most: int, level: float) -> list[float]:
    """Return the probability that the test rejects by the number of units that differ, from 0 to `most`."""
    limits = _largest_rejected(most, level)
    few_won = _lower_tails(limits, share_won)
    few_lost = _lower_tails(limits, 1 - share_won)
    return [won + lost for won, lost in zip(few_won, few_lost)]


def _largest_rejected(most: int, level: float) -> list[int]:
    """Return the largest number of the rarer outcome with which the test rejects, by the number of units that differ.

    It is -1 where none rejects. Another unit raises it by at most 1.
    """
    limits = []
    limit, tail = -1, 0.0
    for trials in range(most + 1):
        if limit >= 0:
            tail -= 0.5 * binomial_probability(limit, trials - 1, 0.5)
        more = tail + binomial_probability(limit + 1, trials, 0.5)
        if 2 * more <= level:
            limit, tail = limit + 1, more
        limits.append(limit)
    return limits


def _lower_tails(limits: Sequence[int], share: float) -> list[float]:
    """Return the probability of at most `limits[m]` successes in m trials, for all m; limits rise by at most 1."""
    tails = []
    tail, before = 0.0, -1
    for trials, limit in enumerate(limits):
        if before >= 0:
            tail -= share * binomial_probability(before, trials - 1, share)
        if limit > before:
            tail += binomial_probability(limit, trials, share)
        before = limit
        tails.append(max(0.0, tail))
    return tails
