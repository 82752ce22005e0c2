"""Kendall's tau-b: how far two rankings of the same things agree, ties counted as ties (Kendall 1945).

tau-b = (concordant - discordant) / sqrt((pairs - ties in x) * (pairs - ties in y)). It is 1 for equal rankings, -1 for
opposite ones, and undefined where one of them is a single tie. scipy would compute the same, but is no dependency. The
order of all pairs of things is kept as the bits of two whole numbers, so that comparing two of many rankings is cheap.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final, NamedTuple

TIE_TOLERANCE: Final = 1e-12
"""That of `statistics.arithmetic`, whose import takes numpy: scores that are equal but for rounding are equal."""


class Order(NamedTuple):
    """For each pair of things a bit: whether the first is ahead of the second, whether it is behind; none for a tie.

    `told` is how many pairs are no tie.
    """

    ahead: int
    behind: int
    told: int


def order(ahead: int, behind: int) -> Order:
    """An order from its bits."""
    return Order(ahead, behind, ahead.bit_count() + behind.bit_count())


def order_of(scores: Sequence[float]) -> Order:
    """The order of things by their scores."""
    sides = [
        0 if math.isclose(one, other, rel_tol=TIE_TOLERANCE) else 1 if one > other else -1
        for one, other in combinations(scores, 2)
    ]
    return order(*(_number(side == wanted for side in sides) for wanted in (1, -1)))


def tau_b(first: Order, second: Order) -> float | None:
    """tau-b of two orders of the same things, -1..1; None where it is undefined."""
    told = first.told * second.told
    if not told:
        return None
    concordant = (first.ahead & second.ahead).bit_count() + (first.behind & second.behind).bit_count()
    discordant = (first.ahead & second.behind).bit_count() + (first.behind & second.ahead).bit_count()
    return (concordant - discordant) / math.sqrt(told)


def _number(flags: Iterable[bool]) -> int:
    """The whole number whose binary digits are these."""
    return int("".join("1" if flag else "0" for flag in flags) or "0", 2)
