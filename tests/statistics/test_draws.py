"""Draws belong to a seed alone: not to the chunks in which they are made, nor to what was made before."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest

from cs_score.statistics import resampling
from cs_score.statistics.arithmetic import Floats, exact_statistics
from cs_score.statistics.resampling import bootstrap_counts, digit_sums, permuted_sums, swap_flags

Draw: TypeAlias = Callable[..., Floats]


def counts(seed: int, units: int, resamples: int) -> Floats:
    return np.concatenate([*bootstrap_counts(seed, units, resamples)])


def flags(seed: int, units: int, resamples: int) -> Floats:
    return np.concatenate([*swap_flags(seed, units, resamples)])


def test_first_bootstrap_draws_of_seed_0() -> None:
    """Recorded once: numpy may change Generator, and published numbers must then not change unnoticed."""
    assert counts(0, 6, 4).tolist() == [[1, 0, 1, 1, 0, 3], [1, 0, 1, 0, 3, 1], [3, 1, 0, 0, 0, 2], [1, 0, 1, 2, 2, 0]]


@pytest.mark.parametrize("units", [1, 2, 63, 64, 65, 1000])
@pytest.mark.parametrize("draw", [counts, flags])
def test_chunks_and_their_number_change_nothing(draw: Draw, units: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = draw(3, units, 300)
    assert len(whole) == 300
    for cells in (1, units, 3 * units + 1, 10**9):
        monkeypatch.setattr(resampling, "CHUNK_CELLS", cells)
        assert all((draw(3, units, fewer) == whole[:fewer]).all() for fewer in (1, 128, 130, 256, 300))


@pytest.mark.parametrize(("units", "columns"), [(1, 1), (30, 3), (700, 20), (3000, 5), (3, 9000)])
def test_gathered_sums_are_those_of_each_draw_alone(units: int, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws are gathered into products of matrices of several sizes, which no result may show."""
    exact = exact_statistics([np.random.default_rng(1).random((units, columns))])
    draws = [*bootstrap_counts(2, units, 900)]
    expected = np.concatenate([exact.weighted(counts.astype(np.float64)) for counts in draws])
    for cells in (units, 100 * units, 10**7):
        monkeypatch.setattr(resampling, "CHUNK_CELLS", cells)
        assert (np.concatenate(list(digit_sums(exact, bootstrap_counts(2, units, 900)))) == expected).all()


def test_a_swap_is_a_fair_coin_for_every_unit() -> None:
    drawn = flags(1, 130, 2000)
    assert set(np.unique(drawn)) == {0.0, 1.0}
    assert (np.abs(drawn.mean(axis=0) - 0.5) < 5 * 0.5 / math.sqrt(2000)).all()
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 64])[0, 1]) < 0.15


def test_first_permutations_of_seed_0() -> None:
    """Recorded as the draws above: what the places of three systems add up to over five units of powers of ten."""
    rows = [[[system * 10**unit] for unit in range(5)] for system in range(3)]
    drawn = next(permuted_sums(exact_statistics(rows), 4, 0))
    assert drawn[..., 0].tolist() == [
        [20101.0, 11212.0, 2020.0],
        [12200.0, 20112.0, 1021.0],
        [12010.0, 221.0, 21102.0],
        [11122.0, 0.0, 22211.0],
    ]
