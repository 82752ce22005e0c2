from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cs_score.statistics.arithmetic import divide

COUNTS = st.integers(0, 10**6)


def plain_divide(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else 0.0


@given(st.lists(st.tuples(COUNTS, COUNTS), min_size=1))
def test_division_agrees_with_that_of_numbers_bit_by_bit(pairs: list[tuple[int, int]]) -> None:
    above, below = np.array(pairs).T
    assert divide(above, below).tolist() == [plain_divide(a, b) for a, b in pairs]


def test_division_by_zero_is_zero_without_a_warning() -> None:
    with np.errstate(all="raise"):
        assert divide([0, 3, -2.5], [0, 0.0, -0.0]).tolist() == [0.0, 0.0, 0.0]
        assert float(divide(1, 0)) == 0.0
        assert divide([[1], [2]], [2, 0]).tolist() == [[0.5, 0.0], [1.0, 0.0]]
