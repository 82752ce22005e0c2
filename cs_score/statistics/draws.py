"""Random draws of units: bootstrap resamples, exchanges of two systems, permutations of several systems.

Resample number r belongs to block r // BLOCK, and every block has a generator of its own, PCG64 seeded with (seed,
purpose, block). So the draws do not depend on the size of the chunks in which they are made. All draws are integers of
64 bits from numpy's Generator, hence the same on every platform; a test holds the first of them, because numpy may
change Generator (not PCG64 itself) from one release to another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
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
"""The number of resamples that one generator draws. Another value would give other draws for the same seed."""

CHUNK_CELLS: Final = 1 << 18
"""Resamples times units that are drawn at once, at 16 bytes each. The value changes no result."""

_MOST_ROWS: Final = 16 * BLOCK
"""The most resamples whose sums are made at once. The value changes no result."""

_SERIAL_PRODUCT: Final = 1 << 18
"""The most multiplications of a matrix product that OpenBLAS does without threads. The value changes no result."""

_FEWEST_ROWS: Final = 32
"""The number of rows below which the overhead of a product costs more than its threads."""

_SUM_CELLS: Final = 1 << 21
"""Resamples times units, or times digits, of one matrix product, at 8 bytes each. The value changes no result."""

_BOOTSTRAP: Final = 0
_SWAPS: Final = 1
_PERMUTATIONS: Final = 2
"""Keys of generators, which keep the draws of one seed for different purposes apart."""


def generator_of(seed: int, *key: int) -> np.random.Generator:
    """Return a random generator for one purpose of a seed; different keys give independent generators.

    `key` are numbers that name the purpose and perhaps a part of its draws: `(_BOOTSTRAP, 3)`.
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


# ---- Resamples and exchanges


def bootstrap_counts(seed: int, units: int, resamples: int, strata: Sequence[int] = ()) -> Iterator[Counts]:
    """Yield bootstrap resamples in chunks (rows, units): how often each unit was drawn in each resample.

    A row such as `[2, 0, 1]` sums to `units`. `strata` are the numbers of consecutive units in each stratum; each
    stratum is then resampled apart from the others, so that it has as many units as before.
    """
    # The units that a draw may give: from `starts` to before `ends`. With strata each draw of a row has its own limits.
    starts: Any = 0
    ends: Any = units
    if strata:
        size_of_draws = np.repeat(strata, strata)  # the size of the stratum that each draw belongs to
        ends = np.repeat(np.cumsum(strata), strata)
        starts = ends - size_of_draws

    for generator, rows in _chunks_of_resamples(seed, _BOOTSTRAP, units, resamples):
        drawn_units = generator.integers(starts, ends, size=(rows, units), dtype=np.int64)
        # Unit u of row r is counted as r * units + u, so that one call counts all rows.
        first_number_of_row = np.arange(0, rows * units, units, dtype=np.int64)
        drawn_units += first_number_of_row[:, np.newaxis]
        counts: NDArray[np.intp] = np.bincount(drawn_units.ravel(), minlength=rows * units)
        yield counts.reshape(rows, units)


def swap_flags(seed: int, units: int, resamples: int) -> Iterator[Counts]:
    """Yield random exchanges of two systems in chunks (rows, units): 1 if they exchange their rows of a unit, else 0.

    Each unit is exchanged with probability 1/2.
    """
    word_count = math.ceil(units / 64)  # words of 64 bits, a bit for each unit
    for generator, rows in _chunks_of_resamples(seed, _SWAPS, units, resamples):
        words = generator.integers(0, 2**64 - 1, size=(rows, word_count), dtype=np.uint64, endpoint=True)
        bytes_of_words = words.astype("<u8").view(np.uint8)  # in the same order on all machines
        yield np.unpackbits(bytes_of_words, axis=1, count=units, bitorder="little")


class _Chunk(NamedTuple):
    """Resamples that are drawn at once: the random generator that draws them, and their number."""

    generator: np.random.Generator
    rows: int


def _chunks_of_resamples(seed: int, purpose: int, units: int, resamples: int) -> Iterator[_Chunk]:
    """Yield the chunks in which the resamples of a seed are drawn, for a purpose such as `_SWAPS`.

    A chunk is small enough that the draws of its units fit in memory. Every block of `BLOCK` resamples has its own
    generator, so that the resamples do not depend on the size of the chunks.
    """
    rows_of_chunk = max(1, CHUNK_CELLS // units)
    for start_of_block in range(0, resamples, BLOCK):
        generator = generator_of(seed, purpose, start_of_block // BLOCK)
        end_of_block = min(start_of_block + BLOCK, resamples)
        for start in range(start_of_block, end_of_block, rows_of_chunk):
            yield _Chunk(generator, rows=min(rows_of_chunk, end_of_block - start))


def all_swaps(units: int) -> Iterator[Counts]:
    """Yield all 2^units exchanges of two systems in chunks (rows, units): 1 if they exchange their rows of a unit.

    Row n has the binary digits of n, the lowest first: for two units 00, 10, 01, 11.
    """
    rows_of_chunk = max(1, CHUNK_CELLS // units)
    bit_positions = np.arange(units, dtype=np.int64)
    for start in range(0, 2**units, rows_of_chunk):
        stop = min(start + rows_of_chunk, 2**units)
        numbers = np.arange(start, stop, dtype=np.int64)
        yield (numbers[:, np.newaxis] >> bit_positions) & 1


def digit_sums(statistics: ExactStatistics, draws: Iterable[Counts]) -> Iterator[Floats]:
    """Yield the sums of the digits of all units, each as often as it was drawn, in chunks (N, systems, digit columns).

    `draws` are chunks (rows, units) of counts. Their rows are gathered into matrix products of a size of our own:
    either so small that a BLAS library does not use threads, or large. The threads wait for one another at every
    product, and on a busy machine each wait can last as long as the time slice of another process.
    """
    digits_of_unit = statistics.digits[0].size
    rows_of_product = _SERIAL_PRODUCT // statistics.digits.size
    if rows_of_product < _FEWEST_ROWS:
        rows_of_product = max(1, _SUM_CELLS // max(statistics.units, digits_of_unit))
    for weights in _regroup_rows(draws, min(rows_of_product, _MOST_ROWS), statistics.units):
        yield statistics.weighted_digit_sums(weights)


def _regroup_rows(chunks: Iterable[Counts], rows_of_group: int, units: int) -> Iterator[Floats]:
    """Yield the rows of all chunks (rows, units) in groups of `rows_of_group` rows; the last group may be smaller.

    All groups are written into the same array, so that a group is valid only until the next one is made.
    """
    group: Floats = np.empty((rows_of_group, units))
    filled = 0  # the number of rows that the present group has
    for chunk in chunks:
        rest = chunk
        while len(rest):
            fitting = rest[: rows_of_group - filled]
            group[filled : filled + len(fitting)] = fitting
            filled += len(fitting)
            rest = rest[len(fitting) :]
            if filled == rows_of_group:
                yield group
                filled = 0
    if filled:
        yield group[:filled]


# ---- Permutations

_PERMUTATIONS_AT_ONCE: Final = 1 << 14
"""The number of permutations whose sums are in memory at the same time.

Another value of this and the next two constants would give other draws for the same seed.
"""

_UNIT_PERMUTATIONS: Final = 1 << 18
"""The number of permutations of single units that are drawn; for each unit at least 256."""

_GROUPS: Final = 64
"""The number of groups that the units are divided into, if there are so many units."""


class _PermutedGroup(NamedTuple):
    """A group of consecutive units, and some joint permutations of their rows among the systems.

    `sums` (M, systems, digits) are the sums of the group's rows in M joint permutations. `choices` (N,) has for each of
    the N permutations of all units the number of the joint permutation that it includes.
    """

    sums: NDArray[Any]
    choices: NDArray[np.integer[Any]]


def permuted_sums(statistics: ExactStatistics, permutations: int, seed: int | None) -> Iterator[Floats]:
    """Yield the digit sums of systems whose rows are permuted among them in each unit: chunks (N, systems, digits).

    With a seed there are so many random permutations. Consecutive units form about 64 groups. For each group some joint
    permutations are drawn, at least 256, and each permutation of all units includes one of them at random. So all
    permutations are equally likely, and two of them have hardly anything in common.

    Without a seed each of the (systems!)^units permutations is made once; `permutations` must be their number.
    """
    # A column in which all systems have the same digits need not be permuted: its sums are always the total.
    differs_from_first = statistics.digits != statistics.digits[:, :1]
    varying_columns = np.flatnonzero(differs_from_first.any(axis=(0, 1)))
    varying_digits = statistics.digits[..., varying_columns]
    largest_sum = int(np.abs(varying_digits).max(initial=0)) * statistics.units
    smallest_type = np.min_scalar_type(-largest_sum - 1)  # small numbers are moved faster
    rows = np.ascontiguousarray(varying_digits, dtype=smallest_type)

    total = statistics.total_digit_sums()
    for first in range(0, permutations, _PERMUTATIONS_AT_ONCE):
        stop = min(first + _PERMUTATIONS_AT_ONCE, permutations)
        numbers = np.arange(first, stop, dtype=np.int64)
        groups = _all_permuted_units(rows, numbers) if seed is None else _draw_permuted_groups(rows, numbers, seed)
        sums = np.zeros((len(numbers), *rows.shape[1:]), dtype=rows.dtype)
        for group in groups:
            # No choice is out of range; `clip` saves the time to check that.
            sums += np.take(group.sums, group.choices, axis=0, mode="clip")
        # The sums of all columns take more memory, so that they are made for fewer permutations at once.
        for start in range(0, len(sums), _MOST_ROWS):
            varying_sums = sums[start : start + _MOST_ROWS]
            sums_of_all_columns = np.repeat(total[np.newaxis], len(varying_sums), axis=0)
            sums_of_all_columns[..., varying_columns] = varying_sums
            yield sums_of_all_columns


def _all_permuted_units(rows: NDArray[Any], numbers: NDArray[np.int64]) -> Iterator[_PermutedGroup]:
    """Yield each unit as a group of its own, with all permutations of its rows among the systems.

    `rows` (units, systems, digits) are the rows of all units, `numbers` (N,) the numbers of the permutations of all
    units. A number n, written to the base (systems!), has a digit for each unit: the number of its permutation.
    """
    units, systems, _ = rows.shape
    all_orders = all_permutations(range(systems))
    orders = np.array(list(all_orders))  # (systems!, systems)
    order_count = len(orders)
    for unit in range(units):
        digit_of_unit = numbers // order_count**unit % order_count
        yield _PermutedGroup(sums=rows[unit][orders], choices=digit_of_unit)


def _draw_permuted_groups(rows: NDArray[Any], numbers: NDArray[np.int64], seed: int) -> Iterator[_PermutedGroup]:
    """Yield groups of consecutive units with random joint permutations of their rows among the systems.

    `rows` (units, systems, digits) are the rows of all units, `numbers` (N,) the numbers of the permutations of all
    units. Each of these includes one random joint permutation of each group.
    """
    units, systems, _ = rows.shape
    generator = generator_of(seed, _PERMUTATIONS, int(numbers[0]))
    joint_count = max(256, min(_UNIT_PERMUTATIONS // units, len(numbers)))
    # Random orders of the systems, (4 * joint_count, systems). Units draw from these, which is faster than shuffling.
    orders = generator.permuted(np.tile(np.arange(systems), (4 * joint_count, 1)), axis=1)
    units_of_group = max(1, units // _GROUPS)
    for first in range(0, units, units_of_group):
        sums = np.zeros((joint_count, *rows.shape[1:]), dtype=rows.dtype)
        for rows_of_unit in rows[first : first + units_of_group]:
            drawn_orders = orders[generator.integers(0, len(orders), joint_count)]
            sums += np.take(rows_of_unit, drawn_orders, axis=0, mode="clip")  # no order is out of range
        choices = generator.integers(0, joint_count, len(numbers))
        yield _PermutedGroup(sums, choices)
