"""Power of the exact two-sided sign test (McNemar's) for units that are right or wrong.

Let w be the share of units that only the second system has right, and l the share of units that only the first has.
The number of units in which they differ is binomial, and of m such units the test looks at how many are won:

    power(n) = sum over m of Binomial(m; n, w + l) P(the test rejects | m),   wins ~ Binomial(m, w / (w + l))

The test rejects where the rarer outcome is so rare that twice the probability of this, were both outcomes as likely,
is at most the level.
Source: docs/statistics/power.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from cs_score.statistics.distributions import binomial_probability

SIZES_IN_A_ROW: Final = 10
"""Consecutive numbers of units that must all reach a power, since the power sometimes falls as units are added."""

MOST_UNITS_COMPUTED_EXACTLY: Final = 20_000
"""Units up to which power is computed exactly. With more the t test has the same power within .005."""

_REACH: Final = 9
"""Standard deviations of a binomial distribution beyond which less than 1e-12 of it lies."""


class OutcomeShares(NamedTuple):
    """The share of units that only the second system has right (wins), and that only the first has (losses)."""

    wins: float
    losses: float

    @property
    def deviation(self) -> float:
        """The standard deviation of the units' differences, which are 1, 0 and -1."""
        return math.sqrt(self.wins + self.losses - (self.wins - self.losses) ** 2)


def shares_of_outcomes(difference: float, differing: float) -> OutcomeShares:
    """Return the shares of units that are won and lost: `shares_of(0.1, 0.3)` gives wins 0.2 and losses 0.1.

    The systems differ in the share `differing` of the units, and `difference` is the difference of their scores. If it
    is larger than `differing`, so many units differ, and all of them are won.
    """
    differing = max(difference, differing)
    losses = (differing - difference) / 2
    return OutcomeShares(wins=difference + losses, losses=losses)


class SignTest:
    """The exact two-sided sign test at a level, for two systems of which each wins a certain share of the units."""

    def __init__(self, shares: OutcomeShares, level: float) -> None:
        """Make the test of two systems that win and lose these shares of the units, at a level such as 0.05."""
        self.shares = shares
        self._level = level
        self._differing = min(1.0, shares.wins + shares.losses)
        # The probability that the test rejects for 0, 1, 2 ... units that differ, as far as it was needed until now.
        self._rejection_probabilities: list[float] = []

    def power(self, units: int) -> float:
        """Return the probability that the test calls the difference significant with so many units."""
        mean_differing = units * self._differing
        # The number of units that differ lies between `fewest` and `most`, but for a negligible probability.
        reach = _REACH * math.sqrt(mean_differing * (1 - self._differing)) + _REACH
        fewest = max(0, math.floor(mean_differing - reach))
        most = min(units, math.ceil(mean_differing + reach))
        if most >= len(self._rejection_probabilities):
            share_won = self.shares.wins / self._differing
            # Twice as far as this call needs, so that calls with a few more units find them made.
            self._rejection_probabilities = _rejection_probabilities(share_won, 2 * most, self._level)
        # For each number of units that differ, its probability times the probability that the test rejects then.
        probabilities = _binomial_probabilities(fewest, most, units, self._differing)
        products = []
        for differing_units, probability in enumerate(probabilities, fewest):
            products.append(probability * self._rejection_probabilities[differing_units])
        return math.fsum(products)

    def needed_units(self, power: float) -> int | None:
        """Return the smallest number of units such that it and the next nine numbers all reach the power.

        Returns None if that is more than `MOST_UNITS_COMPUTED_EXACTLY`.
        """
        enough = self._sufficient_units(power)
        if enough is None:
            return None
        # The power sometimes falls as units are added, so that a somewhat smaller number may reach it as well.
        window = math.ceil(3 * math.sqrt(enough / self._differing)) + 2 * SIZES_IN_A_ROW
        in_a_row = 0  # how many numbers reach the power, up to the present one, without a gap
        for units in range(max(1, enough - window), enough):
            if self.power(units) < power:
                in_a_row = 0
                continue
            in_a_row += 1
            if in_a_row == SIZES_IN_A_ROW:
                return units - SIZES_IN_A_ROW + 1  # the first of them
        return enough - in_a_row

    def _sufficient_units(self, power: float) -> int | None:
        """Return a number of units such that it and the next nine numbers all reach the power.

        It is nearly the smallest: the number is doubled until it is enough, and then the interval between a number that
        is too small and one that is enough is halved. Returns None if `MOST_UNITS_COMPUTED_EXACTLY` units are too few.
        """
        too_few = 0
        enough = 1
        while not self._reaches(power, enough):
            too_few = enough
            enough *= 2
            if too_few > MOST_UNITS_COMPUTED_EXACTLY:
                return None
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            if self._reaches(power, middle):
                enough = middle
            else:
                too_few = middle
        return enough

    def _reaches(self, power: float, units: int) -> bool:
        """Return whether this number of units and the next nine numbers all reach the power."""
        return all(self.power(number) >= power for number in range(units, units + SIZES_IN_A_ROW))


def _binomial_probabilities(fewest: int, most: int, trials: int, share: float) -> list[float]:
    """Return the probability of each number of successes from `fewest` to `most` in so many trials.

    A trial succeeds with the probability `share`. Each probability is computed from the next one, beginning with the
    most likely number; that is faster than computing each from its formula.
    """
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


def _rejection_probabilities(share_won: float, most: int, level: float) -> list[float]:
    """Return the probability that the test rejects for 0, 1, ... `most` units that differ.

    `share_won` is the probability that a differing unit is won. The test rejects if few units are won or few are lost.
    """
    limits = _rejection_limits(most, level)
    few_won = _lower_tails(limits, share_won)
    few_lost = _lower_tails(limits, 1 - share_won)
    return [p_few_won + p_few_lost for p_few_won, p_few_lost in zip(few_won, few_lost)]


def _rejection_limits(most: int, level: float) -> list[int]:
    """Return for 0, 1, ... `most` units that differ how often the rarer outcome may occur if the test is to reject.

    The limit is -1 if the test never rejects. At the level 0.05 six units give 0: 2 / 2^6 is at most 0.05. Another unit
    raises the limit by at most 1.
    """
    limits = []
    limit = -1
    tail = 0.0  # the probability of at most `limit` successes in so many trials
    for trials in range(most + 1):
        if limit >= 0:
            # Another trial exceeds the limit if it succeeds after exactly `limit` successes.
            tail -= 0.5 * binomial_probability(limit, trials - 1, 0.5)
        tail_of_next_limit = tail + binomial_probability(limit + 1, trials, 0.5)
        if 2 * tail_of_next_limit <= level:
            limit += 1
            tail = tail_of_next_limit
        limits.append(limit)
    return limits


def _lower_tails(limits: Sequence[int], share: float) -> list[float]:
    """Return for m = 0, 1, 2 ... trials the probability of at most `limits[m]` successes.

    A trial succeeds with the probability `share`. From one limit to the next there is a rise of at most 1, so that each
    probability is computed from the one before.
    """
    tails = []
    tail = 0.0
    previous_limit = -1
    for trials, limit in enumerate(limits):
        if previous_limit >= 0:
            # Another trial exceeds the limit if it succeeds after exactly `previous_limit` successes.
            tail -= share * binomial_probability(previous_limit, trials - 1, share)
        if limit > previous_limit:
            tail += binomial_probability(limit, trials, share)
        previous_limit = limit
        tails.append(max(0.0, tail))
    return tails
