"""Random draws of units: bootstrap resamples, exchanges of two systems, permutations of several systems.

Resample number r belongs to block r // BLOCK, and every block has a generator of its own, PCG64 seeded with (seed,
purpose, block). So the draws do not depend on the size of the chunks in which they are made. All draws are integers of
64 bits from numpy's Generator, hence the same on every platform; a test holds the first of them, because numpy may
change Generator (not PCG64 itself) from one release to another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import permutations as all_permutations
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from cs_score.base.runtime import Late
from cs_score.statistics.arithmetic import ExactStatistics, Floats

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Late("numpy")

Counts: TypeAlias = "NDArray[np.integer[Any]]"

BLOCK: Final = 128
"""Resamples per generator. Part of the meaning of a seed: another value gives other draws."""

CHUNK_CELLS: Final = 1 << 18
"""Resamples times units that are drawn at once, at 16 bytes each; changes no result."""

_MOST_ROWS: Final = 16 * BLOCK
"""Resamples whose sums are made at once; changes no result."""

_SERIAL_PRODUCT: Final = 1 << 18
"""Multiplications in a product of matrices that OpenBLAS does without threads; changes no result."""

_FEWEST_ROWS: Final = 32
"""Rows below which the overhead of a product counts more than its threads."""

_SUM_CELLS: Final = 1 << 21
"""Resamples times units, or times digits, of one product of matrices, at 8 bytes each; changes no result."""

_BOOTSTRAP: Final = 0
_SWAPS: Final = 1
_PERMUTATIONS: Final = 2
"""Keys of generators, which keep the draws of one seed for different purposes apart."""


def generator_of(seed: int, *key: int) -> np.random.Generator:
    """Return the random generator of a seed for a purpose and a part of its draws, which `key` names by numbers."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


# ---- Resamples and exchanges


def bootstrap_counts(seed: int, units: int, resamples: int, strata: Sequence[int] = ()) -> Iterator[Counts]:
    """Yield bootstrap resamples in chunks (rows, units): how often each unit was drawn in each resample.

    A row such as `[2, 0, 1]` sums to `units`. With `strata`, numbers of consecutive units, the units of each stratum
    are drawn for themselves, as many as it has.
    """
    ends: Any = units
    starts: Any = 0
    if strata:
        ends = np.repeat(np.cumsum(strata), strata)
        starts = ends - np.repeat(strata, strata)

    def draw(generator: np.random.Generator, rows: int) -> Counts:
        indices = generator.integers(starts, ends, size=(rows, units), dtype=np.int64)
        indices += np.arange(0, rows * units, units, dtype=np.int64)[:, np.newaxis]  # one counter for all rows
        counts: NDArray[np.intp] = np.bincount(indices.ravel(), minlength=rows * units)
        return counts.reshape(rows, units)

    return _draw_in_chunks(seed, _BOOTSTRAP, units, resamples, draw)


def swap_flags(seed: int, units: int, resamples: int) -> Iterator[Counts]:
    """Yield random exchanges in chunks (rows, units): 1 where two systems exchange their rows of a unit, else 0.

    Each unit is exchanged with probability 1/2.
    """
    words = -(-units // 64)  # words of 64 bits, a bit for each unit

    def draw(generator: np.random.Generator, rows: int) -> Counts:
        bits = generator.integers(0, 2**64 - 1, size=(rows, words), dtype=np.uint64, endpoint=True)
        return np.unpackbits(bits.astype("<u8").view(np.uint8), axis=1, count=units, bitorder="little")

    return _draw_in_chunks(seed, _SWAPS, units, resamples, draw)


def _draw_in_chunks(
    seed: int, purpose: int, units: int, resamples: int, draw: Callable[[np.random.Generator, int], Counts]
) -> Iterator[Counts]:
    """Yield the resamples of a seed in chunks (rows, units).

    `draw` makes a number of rows from the generator of a block.
    """
    chunk_rows = max(1, CHUNK_CELLS // units)
    for start_of_block in range(0, resamples, BLOCK):
        generator = generator_of(seed, purpose, start_of_block // BLOCK)
        end_of_block = min(start_of_block + BLOCK, resamples)
        for start in range(start_of_block, end_of_block, chunk_rows):
            yield draw(generator, min(chunk_rows, end_of_block - start))


def all_swaps(units: int) -> Iterator[Counts]:
    """Yield all 2^units exchanges of two systems in chunks (rows, units), 1 where a unit is exchanged.

    Row n has the binary digits of n, the lowest first: for two units 00, 10, 01, 11.
    """
    chunk_rows = max(1, CHUNK_CELLS // units)
    places = np.arange(units, dtype=np.int64)
    for start in range(0, 2**units, chunk_rows):
        numbers = np.arange(start, min(start + chunk_rows, 2**units), dtype=np.int64)
        yield (numbers[:, np.newaxis] >> places) & 1


def digit_sums(statistics: ExactStatistics, draws: Iterable[Counts]) -> Iterator[Floats]:
    """Yield the digit sums (N, systems, digits) of consecutive draws, in order.

    Draws are gathered into products of matrices that are either so small that a BLAS library does not use threads, or
    large: its threads wait for one another at every product, and on a busy machine each wait can last as long as
    another process is let run.
    """
    rows = _SERIAL_PRODUCT // statistics.digits.size
    if rows < _FEWEST_ROWS:
        rows = max(1, _SUM_CELLS // max(statistics.units, statistics.digits[0].size))
    weights: Floats = np.empty((min(rows, _MOST_ROWS), statistics.units))
    filled_rows = 0
    for chunk in draws:
        used_rows = 0
        while used_rows < len(chunk):
            row_count = min(len(weights) - filled_rows, len(chunk) - used_rows)
            weights[filled_rows : filled_rows + row_count] = chunk[used_rows : used_rows + row_count]
            filled_rows += row_count
            used_rows += row_count
            if filled_rows == len(weights):
                yield statistics.weighted(weights)
                filled_rows = 0
    if filled_rows:
        yield statistics.weighted(weights[:filled_rows])


# ---- Permutations

_PERMUTATIONS_AT_ONCE: Final = 1 << 14
"""Permutations whose sums are held in memory at the same time. Part of the meaning of a seed, like the next two."""

_UNIT_PERMUTATIONS: Final = 1 << 18
"""Permutations of single units that are drawn, but at least 256 for each unit."""

_GROUPS: Final = 64
"""Groups that the units are divided into, as far as there are so many."""


class _PermutedGroup(NamedTuple):
    """Consecutive units whose rows are permuted together.

    `sums` (M, systems, digits) are the sums of their rows in M joint permutations, `choices` (N,) says which of them
    each of the N permutations of all units takes.
    """

    sums: NDArray[Any]
    choices: NDArray[np.integer[Any]]


def permuted_sums(statistics: ExactStatistics, permutations: int, seed: int | None) -> Iterator[Floats]:
    """Yield digit sums (N, systems, digits) where the rows of each unit are permuted among the systems at random.

    Without a seed each of the (systems!)^units permutations is made once; `permutations` must be their number.

    Otherwise consecutive units form some 64 groups. For each group joint permutations are drawn, at least 256 and more
    for fewer units; each permutation of all units takes one of them. So each permutation is uniform, and two have
    hardly anything in common.
    """
    systems = statistics.digits.shape[1]
    varying = np.flatnonzero((statistics.digits != statistics.digits[:, :1]).any(axis=(0, 1)))
    rows = statistics.digits[..., varying]
    largest_sum = int(np.abs(rows).max(initial=0)) * statistics.units
    rows = np.ascontiguousarray(rows, dtype=np.min_scalar_type(-largest_sum - 1))  # small numbers are moved faster
    for first in range(0, permutations, _PERMUTATIONS_AT_ONCE):
        numbers = np.arange(first, min(first + _PERMUTATIONS_AT_ONCE, permutations), dtype=np.int64)
        groups = _all_permuted_units(rows, numbers) if seed is None else _draw_permuted_groups(rows, numbers, seed)
        sums = np.zeros((len(numbers), systems, len(varying)), dtype=rows.dtype)
        for group in groups:
            # No choice is out of range: `clip` saves the check.
            sums += np.take(group.sums, group.choices, axis=0, mode="clip")
        for start in range(0, len(sums), _MOST_ROWS):
            varying_sums = sums[start : start + _MOST_ROWS]
            whole_sums = np.repeat(statistics.total()[np.newaxis], len(varying_sums), axis=0)
            whole_sums[..., varying] = varying_sums
            yield whole_sums


def _all_permuted_units(rows: NDArray[Any], numbers: NDArray[np.int64]) -> Iterator[_PermutedGroup]:
    """Yield each unit as a group: all permutations of its rows, and which of them the permutations `numbers` take.

    The digits of a number to the base (systems!) say which permutation it takes of each unit.
    """
    units, systems, _ = rows.shape
    orders = np.array(list(all_permutations(range(systems))))
    for unit in range(units):
        yield _PermutedGroup(rows[unit][orders], numbers // len(orders) ** unit % len(orders))


def _draw_permuted_groups(rows: NDArray[Any], numbers: NDArray[np.int64], seed: int) -> Iterator[_PermutedGroup]:
    """Yield groups of consecutive units with random joint permutations, and one of these for each of `numbers`."""
    units, systems, _ = rows.shape
    generator = generator_of(seed, _PERMUTATIONS, int(numbers[0]))
    joint_count = max(256, min(_UNIT_PERMUTATIONS // units, len(numbers)))
    orders = generator.permuted(np.tile(np.arange(systems), (4 * joint_count, 1)), axis=1)
    group_size = max(1, units // _GROUPS)
    for first in range(0, units, group_size):
        sums = np.zeros((joint_count, *rows.shape[1:]), dtype=rows.dtype)
        for row in rows[first : first + group_size]:
            drawn_orders = orders[generator.integers(0, len(orders), joint_count)]
            sums += np.take(row, drawn_orders, axis=0, mode="clip")
        yield _PermutedGroup(sums, generator.integers(0, joint_count, len(numbers)))
