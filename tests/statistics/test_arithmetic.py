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
from cs_score.measures import Ratio
from cs_score.statistics.arithmetic import Floats, divide, exact_statistics, ratios_of, scores_of, unit_contributions
from tests.statistics.cases import FORMULA, MEASURES

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


# Of one size, as statistics of one column are: two integers hold all bits of such values.
FRACTIONS = st.floats(-1.0, 1.0, allow_subnormal=False).filter(lambda value: value == 0 or abs(value) > 1e-6)


def sums(matrix: Floats, weights: Floats) -> Floats:
    exact = exact_statistics([matrix])
    return exact.to_statistics(exact.weighted_integer_sums(weights))[:, 0, :]


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


Counts = list[tuple[int, int, int]]

UNITS = st.lists(st.tuples(*[st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 9))] * 2), min_size=1)


def ratios(rows: Counts) -> list[Ratio]:
    """Precision, recall and F1, by unit."""
    found = ratios_of(FORMULA, np.array([[min(row), *row[1:]] for row in rows], dtype=np.float64))
    return [Ratio(found.numerator[:, column], found.denominator[:, column]) for column in range(len(MEASURES))]


@given(UNITS)
def test_contributions_sum_to_the_difference(units: list[tuple[tuple[int, int, int], tuple[int, int, int]]]) -> None:
    firsts, seconds = ([pair[side] for pair in units] for side in (0, 1))
    scores = [
        scores_of(
            FORMULA, np.array([[min(row), *row[1:]] for row in rows], dtype=np.float64).sum(axis=0, keepdims=True)
        )[0]
        for rows in (firsts, seconds)
    ]
    for first, second, difference in zip(ratios(firsts), ratios(seconds), scores[1] - scores[0]):
        found, turned = unit_contributions(first, second), unit_contributions(second, first)
        if not (first.denominator.sum() and second.denominator.sum()):
            assert found is None
            continue
        assert found is not None
        assert turned is not None
        assert found.sum() == pytest.approx(difference, rel=0, abs=1e-12)
        assert (found == -turned).all()
        copy = unit_contributions(first, first)
        assert copy is not None
        assert not copy.any()


def test_contributions_by_hand() -> None:
    """Precision of 2/4 and 3/4: a right answer more; the unit that both have wrong changes nothing."""
    first = Ratio([1, 1, 0, 0], [1, 1, 1, 1])
    second = Ratio([1, 1, 1, 0], [1, 1, 1, 1])
    found = unit_contributions(first, second)
    assert found is not None
    assert found.tolist() == [0, 0, 0.25, 0]
    # A false alarm less: 2/4 against 2/3, of which the alarm is all.
    less = unit_contributions(first, Ratio([1, 1, 0, 0], [1, 1, 1, 0]))
    assert less is not None
    assert less.tolist() == pytest.approx([0, 0, 0, 1 / 6])
