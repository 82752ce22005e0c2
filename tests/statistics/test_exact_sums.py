"""Sums are exact: their bits depend on no order, no chunk and no library."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.base.errors import InputError
from cs_score.statistics.arithmetic import Floats, exact_statistics

# Of one size, as statistics of one column are: two digits hold all bits of such values.
FRACTIONS = st.floats(-1.0, 1.0, allow_subnormal=False).filter(lambda value: value == 0 or abs(value) > 1e-6)


def sums(matrix: Floats, weights: Floats) -> Floats:
    exact = exact_statistics([matrix])
    return exact.values(exact.weighted(weights))[:, 0, :]


@given(
    st.integers(1, 40).flatmap(
        lambda units: st.tuples(
            st.lists(FRACTIONS, min_size=units, max_size=units),
            st.lists(st.integers(0, units - 1), min_size=units, max_size=units),
        )
    )
)
def test_sums_of_fractions_are_rounded_once(drawn: tuple[list[float], list[int]]) -> None:
    column, indices = drawn
    matrix = np.array(column)[:, np.newaxis]
    weights = np.bincount(indices, minlength=len(column))[np.newaxis].astype(np.float64)
    assert sums(matrix, weights).item() == float(sum(Fraction(column[index]) for index in indices))


def test_order_of_the_units_and_how_many_are_summed_at_once_cannot_be_seen() -> None:
    rng = np.random.default_rng(4)
    matrix = rng.random((999, 7))
    counts = rng.multinomial(999, np.full(999, 1 / 999), size=33).astype(np.float64)
    expected = sums(matrix, counts)
    for order in (rng.permutation(999) for _ in range(5)):
        assert (sums(matrix[order], counts[:, order]) == expected).all()
    for row in range(33):
        assert (sums(matrix, counts[row : row + 1]) == expected[row]).all()
    for column in range(7):
        assert (sums(matrix[:, [column]], counts)[:, 0] == expected[:, column]).all()


@pytest.mark.parametrize(
    ("matrices", "error", "said"),
    [
        *(([[[1.0], [value]]], InputError, "not a finite number") for value in (math.nan, math.inf, -math.inf)),
        ([[[1.7e308], [1.0]]], InputError, "too large"),
        ([np.empty((0, 3))], InputError, "no unit to resample"),
        ([[]], InputError, "no unit to resample"),
        ([[[1.0]], [[1.0], [2.0]]], ValueError, "^the matrices of the systems differ in shape$"),
        ([[1.0, 2.0]], ValueError, "units by statistics"),
    ],
)
def test_what_cannot_be_summed_is_refused(matrices: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        exact_statistics(matrices)
