"""Power of the exact two-sided sign test (McNemar's) for units that are right or wrong. The test compares how many
units each of two systems wins. Its power is the probability that it calls their difference significant.

Let w be the share of units that only the second system has right (wins), and l the share of units that only the first
system has right (losses). The number m of units in which the systems differ is binomial, and so is the number of wins
among these units:

    power(n) = sum over m of Binomial(m; n, w + l) P(the test rejects | m),   wins ~ Binomial(m, w / (w + l))

The test compares the rarer of the two outcomes with a fair coin. It rejects if twice the probability that a fair coin
gives so few of them is at most the level.
Source: docs/statistics/power.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from cs_score.statistics.distributions import binomial_probability, smallest_sufficient

SIZES_IN_A_ROW: Final = 10
"""So many consecutive numbers of units must reach a power, because it sometimes falls as units are added."""

MOST_UNITS_COMPUTED_EXACTLY: Final = 20_000
"""Power is computed exactly for up to so many units. For more units that of the t test differs by less than .005."""

_DEVIATIONS: Final = 9
"""Less than 1e-12 of a binomial distribution lies farther from its mean than this number of standard deviations and
`_MARGIN` together."""

_MARGIN: Final = 9
"""A number of successes for distributions with a small standard deviation, which are skewed."""


class OutcomeShares(NamedTuple):
    """The share of the units that only the second system has right (wins), and that only the first has (losses)."""

    wins: float
    losses: float

    @property
    def standard_deviation(self) -> float:
        """The standard deviation of the differences of the units: 1 for a win, 0 for a tie, -1 for a loss."""
        return math.sqrt(self.wins + self.losses - (self.wins - self.losses) ** 2)


def shares_of_outcomes(difference: float, differing_share: float) -> OutcomeShares:
    """Return the shares of units that the second system wins and loses: `(0.1, 0.3)` gives wins 0.2 and losses 0.1.

    `difference` is the difference of the scores of the systems, and `differing_share` the share of units in which they
    differ. If the difference is larger than this share, the second system wins exactly that share of the units and
    loses none.
    """
    differing_share = max(difference, differing_share)
    losses = (differing_share - difference) / 2
    return OutcomeShares(wins=difference + losses, losses=losses)


class SignTest:
    """The exact two-sided sign test of two systems whose units are right or wrong, and its power."""

    def __init__(self, shares: OutcomeShares, significance_level: float) -> None:
        """Prepare the test at a significance level such as 0.05.

        `shares` are the shares of all units that the second system wins and loses.
        """
        self.shares = shares
        self._level = significance_level
        self._differing_share = min(1.0, shares.wins + shares.losses)
        # The probability that the test rejects if 0, 1, 2 ... units differ. The list grows when `power` needs more.
        self._rejection_probabilities: list[float] = []

    def power(self, unit_count: int) -> float:
        """Return the probability that the test finds a significant difference on `unit_count` units.

        This is the expected rejection probability, given the distribution of the number of units that differ: the sum
        over m of P(m units differ) P(the test rejects | m).
        """
        fewest, most = self._range_of_differing_units(unit_count)
        self._prepare_rejection_probabilities(most)
        # The probability of each number of units that differ, from `fewest` to `most`.
        probabilities = _binomial_probabilities(fewest, most, unit_count, self._differing_share)
        products = []
        for differing_count, probability in enumerate(probabilities, start=fewest):
            products.append(probability * self._rejection_probabilities[differing_count])
        return math.fsum(products)

    def _range_of_differing_units(self, unit_count: int) -> tuple[int, int]:
        """Return the smallest and the largest number of units that can be expected to differ: `(12, 88)` of 100.

        All other numbers have a negligible probability.
        """
        mean = unit_count * self._differing_share
        standard_deviation = math.sqrt(mean * (1 - self._differing_share))
        half_range = _DEVIATIONS * standard_deviation + _MARGIN
        fewest = max(0, math.floor(mean - half_range))
        most = min(unit_count, math.ceil(mean + half_range))
        return fewest, most

    def _prepare_rejection_probabilities(self, most_differing: int) -> None:
        """Compute the rejection probabilities for up to `most_differing` units, unless they are already known.

        Only units in which the systems differ are counted.
        """
        if most_differing < len(self._rejection_probabilities):
            return
        win_probability = self.shares.wins / self._differing_share
        # The list is made twice as long as needed, so that later calls with a few more units can use it.
        self._rejection_probabilities = _rejection_probabilities(win_probability, 2 * most_differing, self._level)

    def needed_units(self, power: float) -> int | None:
        """Return the smallest number of units from which ten numbers in a row all reach the power.

        Returns None if the search up to twice `MOST_UNITS_COMPUTED_EXACTLY` finds no such number.
        """
        sufficient_units = smallest_sufficient(
            lambda unit_count: self._reaches(power, unit_count), start=1, largest=2 * MOST_UNITS_COMPUTED_EXACTLY
        )
        if sufficient_units is None:
            return None
        # The power sometimes falls as units are added, so slightly smaller numbers n may reach it as well. It
        # fluctuates by about the probability of one outcome, 1 / sqrt(n * share), where share is the share of units
        # that differ. Its trend rises by about 1 / n with each unit. The fluctuations therefore matter over about
        # sqrt(n / share) units. The search width is three times this number; the second summand is for small numbers.
        search_width = math.ceil(3 * math.sqrt(sufficient_units / self._differing_share)) + 2 * SIZES_IN_A_ROW
        first_candidate = max(1, sufficient_units - search_width)
        return self._first_to_reach(power, first_candidate, sufficient_units)

    def _first_to_reach(self, power: float, first_candidate: int, sufficient_units: int) -> int:
        """Return the smallest number of units from which ten numbers in a row all reach the power.

        The search begins at `first_candidate` and ends at `sufficient_units`, which is known to meet this condition.
        """
        sizes_in_a_row = 0  # the consecutive numbers up to the current one that reach the power
        for unit_count in range(first_candidate, sufficient_units):
            if self.power(unit_count) < power:
                sizes_in_a_row = 0
                continue
            sizes_in_a_row += 1
            if sizes_in_a_row == SIZES_IN_A_ROW:
                return unit_count - SIZES_IN_A_ROW + 1  # the first of these numbers
        # A row of numbers that ends just before `sufficient_units` continues there, so its first number is the result.
        return sufficient_units - sizes_in_a_row

    def _reaches(self, power: float, unit_count: int) -> bool:
        """Return whether this number of units and the next nine numbers all reach the power."""
        return all(self.power(size) >= power for size in range(unit_count, unit_count + SIZES_IN_A_ROW))


def _binomial_probabilities(fewest: int, most: int, trials: int, success_probability: float) -> list[float]:
    """Return the binomial probability of each number of successes from `fewest` to `most`.

    Only the probability of the most likely number is computed from its formula. All others are computed from the
    probability of a neighbouring number, which is faster: P(k + 1) / P(k) = odds (n - k) / (k + 1) for n trials.
    """
    if success_probability == 1.0:
        return [float(successes == trials) for successes in range(fewest, most + 1)]
    mode = min(most, max(fewest, math.floor((trials + 1) * success_probability)))
    odds = success_probability / (1 - success_probability)
    probabilities = {mode: binomial_probability(mode, trials, success_probability)}
    for successes in range(mode, most):  # upwards from the mode
        probabilities[successes + 1] = probabilities[successes] * odds * (trials - successes) / (successes + 1)
    # Downwards from the mode: P(k) = P(k + 1) (k + 1) / (odds (n - k)) with k = successes - 1.
    for successes in range(mode, fewest, -1):
        probabilities[successes - 1] = probabilities[successes] * successes / (odds * (trials - successes + 1))
    return [probabilities[successes] for successes in range(fewest, most + 1)]


def _rejection_probabilities(win_probability: float, most_differing: int, significance_level: float) -> list[float]:
    """Return the probability that the test rejects if 0, 1, ... `most_differing` units differ.

    A unit that differs is a win with the probability `win_probability`. The test rejects if there are few wins or few
    losses.
    """
    critical_counts = _critical_counts(most_differing, significance_level)
    p_of_few_wins = _lower_tails(critical_counts, win_probability)
    p_of_few_losses = _lower_tails(critical_counts, 1 - win_probability)
    return [few_wins + few_losses for few_wins, few_losses in zip(p_of_few_wins, p_of_few_losses)]


def _critical_counts(most_differing: int, significance_level: float) -> list[int]:
    """Return the critical value of the test if 0, 1, ... `most_differing` units differ.

    The test rejects if the smaller of the numbers of wins and losses is at most the critical value. For six units the
    critical value is 0 at the level 0.05, because 2 / 2^6 is at most 0.05. It is -1 if the test never rejects. It rises
    by at most 1 with each further unit, so one comparison for each unit is enough.
    """
    critical_counts = []
    critical_count = -1
    tail = 0.0  # the probability of at most `critical_count` successes of a fair coin
    for trials in range(most_differing + 1):
        if critical_count >= 0:
            # With count c and m trials: P(at most c of m) = P(at most c of m - 1) - 0.5 P(exactly c of m - 1),
            # because the last trial exceeds the count if it succeeds after exactly c successes.
            tail -= 0.5 * binomial_probability(critical_count, trials - 1, 0.5)
        tail_of_next_count = tail + binomial_probability(critical_count + 1, trials, 0.5)
        if 2 * tail_of_next_count <= significance_level:
            critical_count += 1
            tail = tail_of_next_count
        critical_counts.append(critical_count)
    return critical_counts


def _lower_tails(limits: Sequence[int], success_probability: float) -> list[float]:
    """Return the binomial probability of at most `limits[m]` successes for each number of trials m = 0, 1, 2 ...

    Each limit is at most 1 greater than the one before, so each probability can be computed from the previous one.
    """
    tails = []
    tail = 0.0  # the probability of at most `previous_limit` successes
    previous_limit = -1
    for trials, limit in enumerate(limits):
        if previous_limit >= 0:
            # With limit c and success probability p: P(at most c of m) = P(at most c of m - 1) - p P(exactly c of
            # m - 1), because the last trial exceeds the limit if it succeeds after exactly c successes.
            tail -= success_probability * binomial_probability(previous_limit, trials - 1, success_probability)
        if limit > previous_limit:
            tail += binomial_probability(limit, trials, success_probability)
        previous_limit = limit
        tails.append(max(0.0, tail))
    return tails
