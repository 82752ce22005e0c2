"""What each unit contributes to the difference of two scores."""

from __future__ import annotations

import math

import numpy as np

from cs_score.measures.formulas import Ratio
from cs_score.statistics.arithmetic import Floats


def contributions(first: Ratio, second: Ratio) -> Floats | None:
    """The contribution of each unit to `second - first`, scores whose numerators and denominators are given by unit.

    With q = x / y for either score, D for second minus first, and a bar for the mean of the two, D(q y) is
    mean(q) D(y) + mean(y) D(q). So unit u contributes (D(x_u) - mean(q) D(y_u)) / mean(y), and all together D(q),
    whatever the units. None where either score is undefined, its denominator being 0.
    """
    x, y = (
        np.asarray(parts, dtype=np.float64)
        for parts in ((first.numerator, second.numerator), (first.denominator, second.denominator))
    )
    total_x, total_y = ([math.fsum(side) for side in parts.tolist()] for parts in (x, y))  # the order cannot show
    if not all(total_y):
        return None
    mean_score = (total_x[0] / total_y[0] + total_x[1] / total_y[1]) / 2
    found = (x[1] - x[0]) - mean_score * (y[1] - y[0])
    return np.asarray(found / (math.fsum(total_y) / 2))
