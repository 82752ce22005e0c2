from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cs_score.statistics.arithmetic import column_formula, divide, noise
from tests.statistics.cases import FORMULA, precision_recall_f1

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


@given(st.lists(st.tuples(COUNTS, COUNTS, COUNTS), min_size=1, max_size=20))
def test_one_formula_for_numbers_and_arrays(rows: list[tuple[int, int, int]]) -> None:
    assert FORMULA(np.array(rows, dtype=np.float64)).tolist() == [
        list(precision_recall_f1(row, plain_divide)) for row in rows
    ]


def test_formula_takes_mappings_and_constants() -> None:
    def named(sums: Any, divide: Any) -> dict[str, Any]:
        return {"a": sums[0] + sums[1], "one": 1.0}

    assert column_formula(named)(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist() == [[3.0, 1.0], [7.0, 1.0]]


def test_noise_is_relative_to_the_largest_score() -> None:
    assert noise([0.0, 2.0, -8.0], [0.0, -4.0, 1.0]).tolist() == [0.0, 4e-12, 8e-12]
    precision, recall = 1 / 1, 1 / 5
    by_one_road, by_another = 2 * precision * recall / (precision + recall), 2 * 1 / (1 + 5)
    assert by_one_road != by_another
    assert math.isclose(by_one_road, by_another, rel_tol=0, abs_tol=float(noise(by_one_road, by_another)))
