"""Repeated checks against one test set: a level for each, so that all of them err with probability alpha at most.

Check number k = 1, 2, ... is made at the level

    alpha(k) = alpha / (2.11 (k + 1) ln(k + 1)^2),     whose sum over all k is at most alpha

(the sum of 1 / (n ln(n)^2) from n = 2 on is 2.1097...). By Bonferroni's inequality the probability that any check calls
a difference significant where there is none is at most alpha, however many checks are made, however alike the runs are,
and whenever somebody stops. The limits of the differences at these levels are a confidence sequence: all of them hold
their differences at once with probability 1 - alpha. A check that is repeated with the same run, baseline and measure
is the same check. What it cannot make good: runs that were fitted to the test set by means of the answers.

Source: D. A. Darling and H. Robbins, "Confidence sequences for mean, variance, and median", PNAS 58, 1967; D. P. Foster
and R. A. Stine, "Alpha-investing", J. R. Statist. Soc. B 70, 2008 (spending a level over an endless row of tests).
"""

from __future__ import annotations

import math
from typing import Literal

from cs_score.base.documents import Document
from cs_score.base.records import Record, replace


class Asked(Record):
    """One check: the contents of run and baseline (digests), the measure, the level, and what came of it."""

    number: int
    run: str
    baseline: str
    measure: str
    level: float
    p: float
    significant: bool


class Checks(Document, frozen=True, kw_only=True, tag="checks"):
    """All checks against one test set so far; `gold` is the digest of that, `alpha` the level of all together."""

    schema_version: Literal[1] = 1
    gold: str
    alpha: float
    asked: tuple[Asked, ...] = ()

    def next(self, run: str, baseline: str, measure: str) -> tuple[int, float]:
        """The number and level of a check, which are those of the same check where it was made before."""
        for each in self.asked:
            if (each.run, each.baseline, each.measure) == (run, baseline, measure):
                return each.number, each.level
        number = len(self.asked) + 1
        return number, level_of(number, self.alpha)

    def after(self, run: str, baseline: str, measure: str, p: float) -> Checks:
        """With this check made."""
        number, level = self.next(run, baseline, measure)
        if number <= len(self.asked):
            return self
        return replace(self, asked=(*self.asked, Asked(number, run, baseline, measure, level, p, p <= level)))


def level_of(number: int, alpha: float) -> float:
    """The level of a check by its number, from 1."""
    return alpha / (2.11 * (number + 1) * math.log(number + 1) ** 2)
