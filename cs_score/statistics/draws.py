"""Seeded draws: how often each unit occurs in each bootstrap resample, and which units two systems exchange.

Resample number r belongs to block r // BLOCK, and every block has a generator of its own, PCG64 seeded with (seed,
purpose, block). Any range of resamples can therefore be made by any process without the ones before it, and the
draws depend neither on the size of the chunks in which they are made nor on who makes them. All draws are integers of
64 bits from numpy's Generator, hence the same on every platform; a test holds the first of them, because numpy may
change Generator (not PCG64 itself) from one release to another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Counts: TypeAlias = NDArray[np.integer[Any]]

BLOCK: Final = 128
"""Resamples per generator. Part of the meaning of a seed: another value gives other draws."""

CHUNK_CELLS: Final = 1 << 18
"""Resamples times units that are drawn at once, at 16 bytes each; changes no result."""


class _Purpose(IntEnum):
    BOOTSTRAP = 0
    SWAPS = 1


_Draw: TypeAlias = Callable[[np.random.Generator, int], Counts]


def bootstrap_counts(
    seed: int, units: int, resamples: range, *, cells: int = CHUNK_CELLS
) -> Iterator[tuple[int, Counts]]:
    """The bootstrap resamples numbered `resamples`: chunks of (number of the first, counts).

    `counts` has one row per resample and one column per unit: how often the unit was drawn. Every row sums to `units`.
    """

    def draw(generator: np.random.Generator, rows: int) -> Counts:
        indices = generator.integers(0, units, size=(rows, units), dtype=np.int64)
        indices += np.arange(0, rows * units, units, dtype=np.int64)[:, np.newaxis]  # one counter for all rows
        counts: NDArray[np.intp] = np.bincount(indices.ravel(), minlength=rows * units)
        return counts.reshape(rows, units)

    return _chunks(seed, _Purpose.BOOTSTRAP, units, resamples, cells, draw)


def swap_flags(seed: int, units: int, resamples: range, *, cells: int = CHUNK_CELLS) -> Iterator[tuple[int, Counts]]:
    """The random swaps numbered `resamples`: chunks of (number of the first, flags).

    `flags` has one row per resample and one column per unit: 1 with probability 1/2, where the two systems exchange
    the unit, and 0 elsewhere.
    """
    words = -(-units // 64)

    def draw(generator: np.random.Generator, rows: int) -> Counts:
        drawn = generator.integers(0, 2**64 - 1, size=(rows, words), dtype=np.uint64, endpoint=True)
        return np.unpackbits(drawn.astype("<u8").view(np.uint8), axis=1, count=units, bitorder="little")

    return _chunks(seed, _Purpose.SWAPS, units, resamples, cells, draw)


def all_swaps(units: int, ways: range, *, cells: int = CHUNK_CELLS) -> Iterator[tuple[int, Counts]]:
    """The swaps numbered `ways` of all 2^units, in chunks like those of `swap_flags`: flags are the number's digits."""
    chunk = max(1, cells // units)
    places = np.arange(units, dtype=np.int64)
    for first in range(ways.start, ways.stop, chunk):
        numbers = np.arange(first, min(first + chunk, ways.stop), dtype=np.int64)
        yield first, (numbers[:, np.newaxis] >> places) & 1


def _chunks(
    seed: int, purpose: _Purpose, units: int, resamples: range, cells: int, draw: _Draw
) -> Iterator[tuple[int, Counts]]:
    chunk = max(1, cells // units)
    for block in range(resamples.start // BLOCK, -(-resamples.stop // BLOCK)):
        sequence = np.random.SeedSequence(seed, spawn_key=(purpose, block))
        generator = np.random.Generator(np.random.PCG64(sequence))
        end = min((block + 1) * BLOCK, resamples.stop)
        for first in range(block * BLOCK, end, chunk):
            rows = draw(generator, min(chunk, end - first))
            before = max(0, resamples.start - first)  # drawn only to reach the ones that are wanted
            if before < len(rows):
                yield first + before, rows[before:]
