from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.statistics.paired_tests import rank_ranges, ranks, tiers


def test_equal_systems_share_the_better_rank() -> None:
    assert ranks(np.array([0.3, 0.9, 0.1 + 0.2, 0.1])).tolist() == [2, 1, 2, 4]
    assert ranks(np.array([[0.0, 1.0], [0.0, 2.0]])).tolist() == [[1, 2], [1, 1]]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_rank_is_one_more_than_the_number_of_better_systems(scores: list[int]) -> None:
    expected = [1 + sum(other > own for other in scores) for own in scores]
    assert ranks(np.array(scores, dtype=float)).tolist() == expected


def test_range_drops_the_same_share_at_either_end() -> None:
    first = np.array([0.0] * 3 + [1.0] * 97)  # second in three resamples of a hundred
    resampled = np.stack([first, np.full(100, 0.5)])
    assert rank_ranges(resampled, 0.05) == [(1, 2), (1, 2)]
    assert rank_ranges(np.stack([np.repeat([0.0, 1.0], [29, 71]), np.full(100, 0.5)]), 0.58) == [(1, 1), (2, 2)]
    assert rank_ranges(resampled, 0.06) == [(1, 1), (2, 2)]


def test_range_of_one_resample_and_of_a_level_near_one() -> None:
    assert rank_ranges(np.array([[0.1], [0.2]]), 0.05) == [(2, 2), (1, 1)]
    assert rank_ranges(np.array([[0.1, 0.3, 0.1], [0.2, 0.2, 0.2]]), 0.999) == [(2, 2), (1, 1)]
    assert rank_ranges(np.array([[0.1, 0.3], [0.2, 0.2]]), 0.9999) == [(1, 2), (1, 2)]


@pytest.mark.parametrize(
    ("systems", "differ", "expected"),
    [
        ([0, 1, 2, 3, 4], {(0, 2), (0, 3), (0, 4), (2, 4), (1, 3)}, [1, 1, 2, 2, 3]),
        # Number 2 differs from 0 and 3 does not; 3 stands below 2 and belongs to the tier of 2.
        ([0, 1, 2, 3], {(0, 2)}, [1, 1, 2, 2]),
        ([5, 3, 1], {(5, 3), (5, 1), (3, 1)}, [1, 2, 3]),
        ([5, 3, 1], set(), [1, 1, 1]),
    ],
)
def test_a_tier_begins_where_a_system_differs_from_the_best_of_the_tier(
    systems: list[int], differ: set[tuple[int, int]], expected: list[int]
) -> None:
    assert tiers(systems, lambda best, system: (best, system) in differ) == dict(zip(systems, expected))
