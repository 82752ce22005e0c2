"""Random draws of units: bootstrap resamples, exchanges of two systems, permutations of several systems. A bootstrap
resample draws as many units as there are, with replacement. Statistics of units are written in digits: whole numbers,
which are summed without rounding.

Resample r belongs to block r // RESAMPLES_PER_BLOCK. Every block has its own generator, PCG64 seeded with (seed,
purpose, block), so that the draws do not depend on the size of the chunks in which they are made. All draws are 64-bit
integers from numpy's Generator and therefore the same on every platform. A test compares the first draws with recorded
ones, because a new release of numpy may change Generator (but not PCG64 itself).
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

RESAMPLES_PER_BLOCK: Final = 128
"""The number of resamples that one generator draws. Another value would give other draws for the same seed."""

CELLS_PER_CHUNK: Final = 1 << 18
"""The number of resamples times units that are drawn at once, at 16 bytes each. The value changes no result."""

_MOST_ROWS: Final = 16 * RESAMPLES_PER_BLOCK
"""The largest number of resamples whose sums are computed at once. The value changes no result."""

_SERIAL_PRODUCT: Final = 1 << 18
"""OpenBLAS computes matrix products of up to so many multiplications without threads. The value changes no result."""

_FEWEST_ROWS: Final = 32
"""With fewer rows the overhead of a matrix product costs more time than its threads save."""

_SUM_CELLS: Final = 1 << 21
"""The largest number of resamples times units, or times digits, in one matrix product. It changes no result."""

_BOOTSTRAP: Final = 0
_EXCHANGES: Final = 1
_PERMUTATIONS: Final = 2
"""Keys of generators. With different keys the same seed gives independent draws."""


def generator_of(seed: int, *key: int) -> np.random.Generator:
    """Return a random generator for a seed and a key; different keys give independent generators.

    The key is made of numbers that name the purpose of the draws, and perhaps a part of them: `(_BOOTSTRAP, 3)`.
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


# ---- Resamples and exchanges


def bootstrap_counts(seed: int, unit_count: int, resamples: int, stratum_sizes: Sequence[int] = ()) -> Iterator[Counts]:
    """Yield bootstrap resamples in chunks (resamples, units): how often each unit was drawn in each resample.

    A row of three units is `[2, 0, 1]`, for instance. `stratum_sizes` has the number of consecutive units in each
    stratum. Each stratum is resampled separately, so that it has as many units as before. Without sizes all units are
    in the same stratum.
    """
    starts, ends = _limits_of_draws(unit_count, stratum_sizes)
    for generator, row_count in _chunks_of_resamples(seed, _BOOTSTRAP, unit_count, resamples):
        drawn_units = generator.integers(starts, ends, size=(row_count, unit_count), dtype=np.int64)
        yield count_drawn_units(drawn_units)


def _limits_of_draws(unit_count: int, stratum_sizes: Sequence[int]) -> tuple[Any, Any]:
    """Return the number of the first unit that a draw can return, and the number of the last such unit plus 1.

    Without strata these are two numbers: `(0, 3)` for three units. With strata they are two arrays (units,), because
    the draws of a resample have different limits. Each stratum is drawn as often as it has units.
    """
    if not stratum_sizes:
        return 0, unit_count
    ends = np.repeat(np.cumsum(stratum_sizes), stratum_sizes)
    size_of_own_stratum = np.repeat(stratum_sizes, stratum_sizes)
    return ends - size_of_own_stratum, ends


def count_drawn_units(drawn_units: NDArray[np.int64]) -> Counts:
    """Return how often each unit was drawn in each resample: (resamples, units).

    `drawn_units` (resamples, units) has the units that were drawn for each resample: `[[0, 0, 2]]` gives `[[2, 0, 1]]`.
    The array is used as working memory and must not be used afterwards.
    """
    resamples, unit_count = drawn_units.shape
    # Unit u of resample r gets the number r * unit_count + u, so that one call counts the units of all resamples.
    first_number_of_resample = np.arange(0, resamples * unit_count, unit_count, dtype=np.int64)
    drawn_units += first_number_of_resample[:, np.newaxis]
    counts: NDArray[np.intp] = np.bincount(drawn_units.ravel(), minlength=resamples * unit_count)
    return counts.reshape(resamples, unit_count)


def random_exchanges(seed: int, unit_count: int, resamples: int) -> Iterator[Counts]:
    """Yield random exchanges of two systems, in chunks (resamples, units) of numbers that are 0 or 1.

    The number is 1 if the systems exchange their statistics of the unit, which has the probability 1/2.
    """
    word_count = math.ceil(unit_count / 64)  # words of 64 bits, with a bit for each unit
    for generator, row_count in _chunks_of_resamples(seed, _EXCHANGES, unit_count, resamples):
        words = generator.integers(0, 2**64 - 1, size=(row_count, word_count), dtype=np.uint64, endpoint=True)
        bytes_of_words = words.astype("<u8").view(np.uint8)  # in the same order on all machines
        yield np.unpackbits(bytes_of_words, axis=1, count=unit_count, bitorder="little")


class _Chunk(NamedTuple):
    """Some resamples that are drawn at once: the random generator that draws them, and their number."""

    generator: np.random.Generator
    row_count: int


def _chunks_of_resamples(seed: int, purpose: int, unit_count: int, resamples: int) -> Iterator[_Chunk]:
    """Yield the chunks in which the resamples of a seed are drawn, for a purpose such as `_EXCHANGES`.

    A chunk is small enough that the draws of its units fit in memory. Every block of `RESAMPLES_PER_BLOCK` resamples
    has its own generator, so that the resamples do not depend on the size of the chunks.
    """
    rows_of_chunk = max(1, CELLS_PER_CHUNK // unit_count)
    for start_of_block in range(0, resamples, RESAMPLES_PER_BLOCK):
        generator = generator_of(seed, purpose, start_of_block // RESAMPLES_PER_BLOCK)
        end_of_block = min(start_of_block + RESAMPLES_PER_BLOCK, resamples)
        for start in range(start_of_block, end_of_block, rows_of_chunk):
            yield _Chunk(generator, row_count=min(rows_of_chunk, end_of_block - start))


def all_exchanges(unit_count: int) -> Iterator[Counts]:
    """Yield all 2^unit_count exchanges of two systems, in chunks (exchanges, units) of numbers that are 0 or 1.

    The number is 1 if the systems exchange their statistics of the unit. Row n has the binary digits of n, beginning
    with the lowest digit: 00, 10, 01, 11 for two units.
    """
    rows_of_chunk = max(1, CELLS_PER_CHUNK // unit_count)
    bit_positions = np.arange(unit_count, dtype=np.int64)
    for start in range(0, 2**unit_count, rows_of_chunk):
        stop = min(start + rows_of_chunk, 2**unit_count)
        numbers = np.arange(start, stop, dtype=np.int64)
        yield (numbers[:, np.newaxis] >> bit_positions) & 1


def resampled_digit_sums(statistics: ExactStatistics, draws: Iterable[Counts]) -> Iterator[Floats]:
    """Yield the digit sums of all systems in each resample, in chunks (resamples, systems, digit columns).

    `draws` has how often each unit was drawn, in chunks (resamples, units). Each unit is added as often as it was
    drawn. The chunks are regrouped, so that each matrix product is either so small that the BLAS library uses no
    threads, or large. Threads wait for one another at every product, and on a busy machine each wait can last as long
    as the time slice of another process.
    """
    digits_of_unit = statistics.digits[0].size
    rows_of_product = _SERIAL_PRODUCT // statistics.digits.size
    if rows_of_product < _FEWEST_ROWS:
        rows_of_product = max(1, _SUM_CELLS // max(statistics.unit_count, digits_of_unit))
    for weights in _regroup_rows(draws, min(rows_of_product, _MOST_ROWS), statistics.unit_count):
        yield statistics.weighted_digit_sums(weights)


def _regroup_rows(chunks: Iterable[Counts], rows_of_group: int, unit_count: int) -> Iterator[Floats]:
    """Yield the rows of all chunks (rows, units) in groups of `rows_of_group` rows; the last group may be smaller.

    All groups are written into the same array: a group is valid only until the next one is requested.
    """
    group: Floats = np.empty((rows_of_group, unit_count))
    filled_rows = 0
    for chunk in chunks:
        for piece in _cut_rows(chunk, rows_of_group - filled_rows, rows_of_group):
            group[filled_rows : filled_rows + len(piece)] = piece
            filled_rows += len(piece)
            if filled_rows == rows_of_group:
                yield group
                filled_rows = 0
    if filled_rows:
        yield group[:filled_rows]


def _cut_rows(rows: Counts, rows_of_first_piece: int, rows_of_piece: int) -> Iterator[Counts]:
    """Yield rows (rows, units) in pieces of at most `rows_of_piece` rows, in order.

    The first piece has at most `rows_of_first_piece` rows: 7 rows are cut into 1, 3 and 3 rows if the first piece has
    1 row and the others have 3.
    """
    start = 0
    stop = rows_of_first_piece
    while start < len(rows):
        yield rows[start:stop]
        start = stop
        stop += rows_of_piece


# ---- Permutations

_PERMUTATIONS_AT_ONCE: Final = 1 << 14
"""The number of permutations whose sums are in memory at the same time.

The draws of a seed depend on this constant and the next two.
"""

_UNIT_PERMUTATIONS: Final = 1 << 18
"""The number of permutations drawn for all units together. At least 256 are drawn for each unit."""

_GROUPS: Final = 64
"""The number of groups of units. If there are fewer units, each is a group."""


class _PermutedGroup(NamedTuple):
    """Permutations of the systems in a group of consecutive units.

    `sums` (M, systems, digits) are the digit sums of the systems over the units of the group, in M permutations of the
    group. A permutation of all units is made of one permutation of each group: `choices` (N,) has for N permutations
    of all units the number of the permutation of this group.
    """

    sums: NDArray[Any]
    choices: NDArray[np.integer[Any]]


def permuted_digit_sums(statistics: ExactStatistics, permutations: int, seed: int | None) -> Iterator[Floats]:
    """Yield the digit sums of systems whose statistics are permuted among them within each unit.

    The sums come in chunks (permutations, systems, digits). With a seed the permutations are random, and `permutations`
    is their number. Consecutive units form about 64 groups. At least 256 permutations are drawn for each group. Each
    permutation of all units is put together from these, with a random one for every group. All permutations are
    therefore equally likely, and two of them have hardly anything in common.

    Without a seed each of the (systems!)^units permutations is made once, and `permutations` must be their number.
    """
    # A column in which all systems have the same digits is not permuted: its sums are the same in all permutations.
    differs_from_first = statistics.digits != statistics.digits[:, :1]
    varying_columns = np.flatnonzero(differs_from_first.any(axis=(0, 1)))
    rows = _as_small_integers(statistics.digits[..., varying_columns])
    total = statistics.total_digit_sums()
    for start in range(0, permutations, _PERMUTATIONS_AT_ONCE):
        stop = min(start + _PERMUTATIONS_AT_ONCE, permutations)
        varying_sums = _permuted_sums(rows, np.arange(start, stop, dtype=np.int64), seed)
        # The sums of all columns take more memory. They are therefore made for fewer permutations at once.
        for first in range(0, len(varying_sums), _MOST_ROWS):
            yield _with_other_columns(varying_sums[first : first + _MOST_ROWS], varying_columns, total)


def _as_small_integers(digits: Floats) -> NDArray[Any]:
    """Return digits (units, systems, digits) as the smallest integers that can hold their sums over all units.

    Small numbers are moved faster.
    """
    largest_sum = int(np.abs(digits).max(initial=0)) * len(digits)
    smallest_type = np.min_scalar_type(-largest_sum - 1)
    return np.ascontiguousarray(digits, dtype=smallest_type)


def _permuted_sums(rows: NDArray[Any], numbers: NDArray[np.int64], seed: int | None) -> NDArray[Any]:
    """Return the digit sums of the systems in N permutations of all units: (N, systems, digits).

    `rows` (units, systems, digits) are the digits of all units, and `numbers` (N,) the numbers of the permutations.
    With a seed the permutations are random. Without a seed a number is a position in the list of all permutations.
    """
    groups = _all_permuted_units(rows, numbers) if seed is None else _draw_permuted_groups(rows, numbers, seed)
    sums: NDArray[Any] = np.zeros((len(numbers), *rows.shape[1:]), dtype=rows.dtype)
    for group in groups:
        # No choice is out of range. The mode `clip` skips the check of that, which takes time.
        sums += np.take(group.sums, group.choices, axis=0, mode="clip")
    return sums


def _with_other_columns(varying_sums: NDArray[Any], varying_columns: NDArray[np.intp], total: Floats) -> Floats:
    """Return digit sums (permutations, systems, digits) with the columns that are the same in all permutations.

    `varying_sums` has the sums of the `varying_columns`. The other columns are copied from `total` (systems, digits).
    """
    sums = np.repeat(total[np.newaxis], len(varying_sums), axis=0)
    sums[..., varying_columns] = varying_sums
    return sums


def _all_permuted_units(rows: NDArray[Any], numbers: NDArray[np.int64]) -> Iterator[_PermutedGroup]:
    """Yield each unit as a group of its own, with all permutations of the systems in this unit.

    `rows` (units, systems, digits) are the digits of all units. `numbers` (N,) are the numbers of permutations of all
    units. Written to the base (systems!), a number has a digit for each unit, which is the number of the permutation
    of this unit.
    """
    unit_count, system_count, _ = rows.shape
    all_orders = all_permutations(range(system_count))
    orders = np.array(list(all_orders))  # (systems!, systems)
    order_count = len(orders)
    for unit in range(unit_count):
        digit_of_unit = numbers // order_count**unit % order_count
        yield _PermutedGroup(sums=rows[unit][orders], choices=digit_of_unit)


def _draw_permuted_groups(rows: NDArray[Any], numbers: NDArray[np.int64], seed: int) -> Iterator[_PermutedGroup]:
    """Yield groups of consecutive units with random permutations of the systems in each unit.

    `rows` (units, systems, digits) are the digits of all units. `numbers` (N,) are the numbers of permutations of all
    units; each of them gets a random one of the permutations of every group.
    """
    unit_count, system_count, _ = rows.shape
    generator = generator_of(seed, _PERMUTATIONS, int(numbers[0]))
    permutation_count = max(256, min(_UNIT_PERMUTATIONS // unit_count, len(numbers)))
    # Random orders of the systems. Each unit draws its orders from these, which is faster than shuffling the systems.
    unshuffled_orders = np.tile(np.arange(system_count), (4 * permutation_count, 1))
    orders = generator.permuted(unshuffled_orders, axis=1)
    units_of_group = max(1, unit_count // _GROUPS)
    for first_unit in range(0, unit_count, units_of_group):
        rows_of_group = rows[first_unit : first_unit + units_of_group]
        sums = _draw_group_sums(generator, rows_of_group, orders, permutation_count)
        choices = generator.integers(0, permutation_count, len(numbers))
        yield _PermutedGroup(sums, choices)


def _draw_group_sums(
    generator: np.random.Generator, rows_of_group: NDArray[Any], orders: NDArray[np.int64], permutation_count: int
) -> NDArray[Any]:
    """Return the digit sums of the systems over the units of a group, in random permutations of the systems.

    The result has the shape (permutations, systems, digits). `rows_of_group` (units, systems, digits) are the digits of
    the units. Each unit draws a random one of the `orders` (orders, systems) of the systems for each permutation.
    """
    sums: NDArray[Any] = np.zeros((permutation_count, *rows_of_group.shape[1:]), dtype=rows_of_group.dtype)
    for rows_of_unit in rows_of_group:
        order_numbers = generator.integers(0, len(orders), permutation_count)
        drawn_orders = orders[order_numbers]
        sums += np.take(rows_of_unit, drawn_orders, axis=0, mode="clip")  # no order is out of range
    return sums
