"""Paired tests: scipy and enumeration as oracles, and the laws that a two-sided test keeps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cs_score.statistics import resampling
from cs_score.statistics.arithmetic import Floats, exact_statistics
from cs_score.statistics.options import Resampling, add_one
from cs_score.statistics.paired_tests import holm, paired_bootstrap_p, randomisation_p, rank_ranges, ranks, tiers
from cs_score.statistics.resampling import swap_flags
from tests.statistics.cases import FORMULA, MEASURES, system, tiled


def randomisation(first: Floats, second: Floats, settings: Resampling) -> list[float]:
    [p_values] = randomisation_p(exact_statistics([first, second]), FORMULA, [(0, 1)], settings)
    return p_values


def scores(matrix: Floats) -> Floats:
    return np.asarray(FORMULA(matrix.sum(axis=0, keepdims=True))[0])


def test_randomisation_follows_its_definition() -> None:
    first, second = system(0.5, units=13), system(0.3, units=13, seed=2)
    observed = np.abs(scores(first) - scores(second))
    extreme = np.zeros(3)
    for flags in swap_flags(6, 13, 700):
        for row in flags.astype(bool)[:, :, np.newaxis]:
            swapped = scores(np.where(row, second, first)) - scores(np.where(row, first, second))
            extreme += np.abs(swapped) >= observed - 1e-12
    assert randomisation(first, second, Resampling(700, seed=6)) == [(1 + count) / 701 for count in extreme]


@pytest.mark.parametrize("column", range(3), ids=MEASURES)
def test_randomisation_agrees_with_scipys_enumeration(column: int) -> None:
    """Eleven units can be swapped in 2,048 ways; scipy walks them all."""
    first, second = system(0.8, units=11, seed=3), system(0.3, units=11, seed=4)
    rows = np.concatenate([first, second])

    def difference(one: Any, other: Any, axis: int) -> Any:
        both = [FORMULA(rows[which].sum(axis=-2).reshape(-1, 3))[:, column] for which in (one, other)]
        return (both[0] - both[1]).reshape(np.asarray(one).shape[:-1])

    samples = np.arange(11), np.arange(11, 22)
    how: Any = {"permutation_type": "samples", "vectorized": True, "n_resamples": np.inf, "axis": -1}
    exact = stats.permutation_test(samples, difference, **how).pvalue
    assert 0.01 < exact < 1.0
    assert randomisation(first, second, Resampling(2048))[column] == exact
    drawn = 2047
    ours = randomisation(first, second, Resampling(drawn))[column]
    assert ours == pytest.approx(exact, rel=0, abs=5 * math.sqrt(exact * (1 - exact) / drawn) + 2 / drawn)


def test_bootstrap_p_agrees_with_the_normal_distribution() -> None:
    """The difference of two means is nearly normal with a known standard error."""
    rng = np.random.default_rng(1)
    first, second = rng.random(400), rng.random(400) - 0.03
    counts = rng.multinomial(400, np.full(400, 1 / 400), size=50_000)
    p = paired_bootstrap_p(first.mean(), second.mean(), counts @ (first - second) / 400, 400)
    z = abs(first.mean() - second.mean()) / ((first - second).std() / 20)
    assert p == pytest.approx(2 * stats.norm.sf(z), abs=0.01)


def test_bootstrap_p_counts_shifted_differences() -> None:
    resampled = np.array([0.1, 0.2, 0.3, 0.4, 0.41, -0.01, 0.0, 0.39, 0.395])
    # Shifted by 0.2: -0.1, 0, 0.1, 0.2, 0.21, -0.21, -0.2, 0.19, 0.195; at least 0.2 away: four, two of them ties.
    assert paired_bootstrap_p(0.5, 0.3, resampled, 9) == 5 / 10
    assert paired_bootstrap_p(0.3, 0.5, -resampled, 9) == 5 / 10
    assert paired_bootstrap_p(1.0, 0.0, np.ones(99), 1) == 1.0  # one unit tells nothing


@given(st.integers(1, 30), st.integers(0, 2**32), st.sampled_from([1.0, 1 / 3, 0.1]))
def test_swapping_the_systems_keeps_p(units: int, seed: int, scale: float) -> None:
    first, second = system(0.6, units=units, seed=seed) * scale, system(0.4, units=units, seed=seed + 1) * scale
    one = randomisation(first, second, Resampling(300, seed=seed))
    assert one == randomisation(second, first, Resampling(300, seed=seed))
    assert all(min(1 / 301, 2.0 ** (1 - units)) <= p <= 1 for p in one)


def test_p_of_a_pair_does_not_depend_on_the_others_nor_on_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = system(0.5), system(0.45, seed=2), system(0.9, seed=3) / 7
    exact = exact_statistics([first, second, third])
    settings = Resampling(5000, seed=4)
    pairs = [(0, 1), (1, 2)]
    expected = randomisation_p(exact, FORMULA, pairs, settings)
    assert expected[0] == randomisation(first, second, settings)
    monkeypatch.setattr(resampling, "CHUNK_CELLS", 100)
    assert randomisation_p(exact, FORMULA, pairs, settings) == expected


def test_p_is_never_zero() -> None:
    assert randomisation(tiled((1, 1, 1), 40), tiled((0, 1, 1), 40), Resampling(99)) == [0.01, 0.01, 0.01]
    assert add_one(0, 99) == 0.01
    assert add_one(99, 99) == 1.0


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == [0.03, 0.06, 0.06, 0.02]
    assert holm([]) == []
    assert holm([0.2]) == [0.2]
    assert holm([0.9, 0.8]) == [1.0, 1.0]


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=12))
def test_holm_lies_between_the_raw_and_bonferronis(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    for raw, corrected in zip(p_values, adjusted):
        assert raw <= corrected <= min(1.0, len(p_values) * raw)
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert [adjusted[index] for index in order] == sorted(adjusted)
    assert holm(p_values[::-1]) == adjusted[::-1]


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
