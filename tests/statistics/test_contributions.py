"""Contributions of units to a difference: they sum to it, whatever the units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.measures.registry import Ratio
from cs_score.statistics.arithmetic import contributions
from tests.statistics.cases import FORMULA, MEASURES

Counts = list[tuple[int, int, int]]

UNITS = st.lists(st.tuples(*[st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 9))] * 2), min_size=1)


def ratios(rows: Counts) -> list[Ratio]:
    """Precision, recall and F1, by unit."""
    found = FORMULA.ratios(np.array([[min(row), *row[1:]] for row in rows], dtype=np.float64))
    return [Ratio(found.numerator[:, column], found.denominator[:, column]) for column in range(len(MEASURES))]


@given(UNITS)
def test_contributions_sum_to_the_difference(units: list[tuple[tuple[int, int, int], tuple[int, int, int]]]) -> None:
    firsts, seconds = ([pair[side] for pair in units] for side in (0, 1))
    scores = [
        FORMULA(np.array([[min(row), *row[1:]] for row in rows], dtype=np.float64).sum(axis=0, keepdims=True))[0]
        for rows in (firsts, seconds)
    ]
    for first, second, difference in zip(ratios(firsts), ratios(seconds), scores[1] - scores[0]):
        found, turned = contributions(first, second), contributions(second, first)
        if not (first.denominator.sum() and second.denominator.sum()):
            assert found is None
            continue
        assert found is not None
        assert turned is not None
        assert found.sum() == pytest.approx(difference, rel=0, abs=1e-12)
        assert (found == -turned).all()
        copy = contributions(first, first)
        assert copy is not None
        assert not copy.any()


def test_contributions_by_hand() -> None:
    """Precision of 2/4 and 3/4: a right answer more; the unit that both have wrong changes nothing."""
    first = Ratio([1, 1, 0, 0], [1, 1, 1, 1])
    second = Ratio([1, 1, 1, 0], [1, 1, 1, 1])
    found = contributions(first, second)
    assert found is not None
    assert found.tolist() == [0, 0, 0.25, 0]
    # A false alarm less: 2/4 against 2/3, of which the alarm is all.
    less = contributions(first, Ratio([1, 1, 0, 0], [1, 1, 1, 0]))
    assert less is not None
    assert less.tolist() == pytest.approx([0, 0, 0, 1 / 6])
