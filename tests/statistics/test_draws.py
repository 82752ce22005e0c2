"""Draws belong to a seed alone: not to the chunks in which they are made, nor to what was made before."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest

from cs_score.statistics.arithmetic import Floats
from cs_score.statistics.draws import BLOCK, bootstrap_counts, swap_flags

Draw: TypeAlias = Callable[..., Floats]


def counts(seed: int, units: int, resamples: range, cells: int = 1 << 18) -> Floats:
    return np.concatenate([rows for _, rows in bootstrap_counts(seed, units, resamples, cells=cells)])


def flags(seed: int, units: int, resamples: range, cells: int = 1 << 18) -> Floats:
    return np.concatenate([rows for _, rows in swap_flags(seed, units, resamples, cells=cells)])


def test_first_bootstrap_draws_of_seed_0() -> None:
    """Recorded once: numpy may change Generator, and published numbers must then not change unnoticed."""
    assert counts(0, 6, range(4)).tolist() == [
        [1, 0, 1, 1, 0, 3],
        [1, 0, 1, 0, 3, 1],
        [3, 1, 0, 0, 0, 2],
        [1, 0, 1, 2, 2, 0],
    ]


def test_first_swaps_of_seed_0() -> None:
    assert flags(0, 6, range(4)).tolist() == [
        [0, 0, 1, 0, 0, 0],
        [0, 1, 0, 0, 1, 1],
        [0, 1, 1, 1, 0, 0],
        [1, 0, 0, 1, 1, 0],
    ]


def test_draws_follow_their_definition() -> None:
    """PCG64 seeded with (seed, purpose, block) draws one row of indices per resample."""
    for block in (0, 2):
        generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(9, spawn_key=(0, block))))
        indices = generator.integers(0, 7, size=(BLOCK, 7), dtype=np.int64)
        expected = np.stack([np.bincount(row, minlength=7) for row in indices])
        assert (counts(9, 7, range(block * BLOCK, (block + 1) * BLOCK)) == expected).all()


@pytest.mark.parametrize("units", [1, 2, 63, 64, 65, 1000])
@pytest.mark.parametrize("draw", [counts, flags])
def test_chunks_and_ranges_change_nothing(draw: Draw, units: int) -> None:
    whole = draw(3, units, range(300))
    assert len(whole) == 300
    for cells in (1, units, 3 * units + 1, 10**9):
        assert (draw(3, units, range(300), cells) == whole).all()
    for part in (range(0), range(1), range(5, 130), range(128, 256), range(299, 300)):
        for cells in (units, 10**9):
            if part:
                assert (draw(3, units, part, cells) == whole[part.start : part.stop]).all()


def test_chunks_are_bounded_and_numbered() -> None:
    chunks = [(first, len(rows)) for first, rows in bootstrap_counts(0, 10, range(70, 140), cells=500)]
    assert all(0 < size <= 50 for _, size in chunks)
    ends = [first + size for first, size in chunks]
    assert [first for first, _ in chunks] == [70, *ends[:-1]]
    assert ends[-1] == 140


def test_every_resample_draws_as_many_units_as_there_are() -> None:
    drawn = counts(1, 37, range(500))
    assert (drawn.sum(axis=1) == 37).all()
    spread = math.sqrt(37 * 500 * (1 / 37) * (36 / 37))
    assert (np.abs(drawn.sum(axis=0) - 500) < 5 * spread).all()


def test_a_swap_is_a_fair_coin_for_every_unit() -> None:
    drawn = flags(1, 130, range(2000))
    assert set(np.unique(drawn)) == {0.0, 1.0}
    assert (np.abs(drawn.mean(axis=0) - 0.5) < 5 * 0.5 / math.sqrt(2000)).all()
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 64])[0, 1]) < 0.15


def test_seeds_and_purposes_differ() -> None:
    assert (counts(0, 50, range(20)) != counts(1, 50, range(20))).any()
    assert (counts(0, 50, range(BLOCK))[:20] != counts(0, 50, range(BLOCK, BLOCK + 20))).any()
