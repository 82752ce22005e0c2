"""Random draws of units: bootstrap resamples, sign flips of two systems, and permutations of several systems. A
bootstrap resample draws as many units as there are, with replacement. A sign flip exchanges two systems in some of the
units. Statistics of units are written as integers, which are summed without rounding.

Resample r belongs to block r // RESAMPLES_PER_BLOCK. Every block has its own generator, PCG64 seeded with (seed,
purpose, block), so that the draws do not depend on the size of the chunks in which they are made. All draws are 64-bit
integers from numpy's Generator, so they are the same on every platform. A test compares the first draws with recorded
ones, because a new release of numpy may change Generator (though not PCG64 itself).
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

_MULTIPLICATIONS_WITHOUT_THREADS: Final = 1 << 18
"""OpenBLAS computes matrix products of up to so many multiplications without threads. The value changes no result."""

_FEWEST_ROWS: Final = 32
"""With fewer rows the overhead of a matrix product costs more time than its threads save."""

_CELLS_OF_LARGE_PRODUCT: Final = 1 << 21
"""The largest number of cells of a matrix in a matrix product with threads. The value changes no result."""

_BOOTSTRAP: Final = 0
_SIGN_FLIPS: Final = 1
_PERMUTATIONS: Final = 2
"""Keys of generators. With different keys the same seed gives independent draws."""


def generator_of(seed: int, *key: int) -> np.random.Generator:
    """Return a random generator for a seed and a key; different keys give independent generators.

    The key is made of numbers that name the purpose of the draws, and perhaps a part of them: `(_BOOTSTRAP, 3)`.
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


# ---- Resamples and sign flips


def bootstrap_counts(
    seed: int, unit_count: int, resample_count: int, stratum_sizes: Sequence[int] = ()
) -> Iterator[Counts]:
    """Yield, in chunks (resamples, units), how often each unit was drawn in each bootstrap resample.

    A row for three units is `[2, 0, 1]`, for instance. `stratum_sizes` has the number of consecutive units in each
    stratum. Each stratum is resampled separately, so that it keeps its number of units. If there are no sizes, all
    units are in the same stratum.
    """
    stratum_starts, stratum_ends = _limits_of_draws(unit_count, stratum_sizes)
    for generator, row_count in _chunks_of_resamples(seed, _BOOTSTRAP, unit_count, resample_count):
        # A resample has one draw for each unit, and each draw returns a unit of the same stratum.
        drawn_units = generator.integers(stratum_starts, stratum_ends, size=(row_count, unit_count), dtype=np.int64)
        yield count_drawn_units(drawn_units)


def _limits_of_draws(unit_count: int, stratum_sizes: Sequence[int]) -> tuple[Any, Any]:
    """Return the number of the first unit in the stratum of each draw, and the number of its last unit plus 1.

    Without strata, these are two numbers, such as `(0, 3)` for three units. With strata, they are two arrays (units,),
    because the number of draws from each stratum is its number of units. Strata of 2 and 1 units give `[0, 0, 2]` and
    `[2, 2, 3]`.
    """
    if not stratum_sizes:
        return 0, unit_count
    ends_of_strata = np.cumsum(stratum_sizes)  # (strata,)
    ends = np.repeat(ends_of_strata, stratum_sizes)  # (units,): the end of the stratum of each unit
    sizes = np.repeat(stratum_sizes, stratum_sizes)
    return ends - sizes, ends


def count_drawn_units(drawn_units: NDArray[np.int64]) -> Counts:
    """Return how often each unit was drawn in each resample: (resamples, units).

    `drawn_units` (resamples, units) has the units that were drawn for each resample: `[[0, 0, 2]]` gives `[[2, 0, 1]]`.
    The array is used as working memory and must not be used afterwards.
    """
    resample_count, unit_count = drawn_units.shape
    # Unit u of resample r gets the number r * unit_count + u, so that one call counts the units of all resamples.
    first_number_of_resample = np.arange(0, resample_count * unit_count, unit_count, dtype=np.int64)
    drawn_units += first_number_of_resample[:, np.newaxis]
    counts: NDArray[np.intp] = np.bincount(drawn_units.ravel(), minlength=resample_count * unit_count)
    return counts.reshape(resample_count, unit_count)


def random_sign_flips(seed: int, unit_count: int, resample_count: int) -> Iterator[Counts]:
    """Yield random sign flips of two systems, as chunks (resamples, units) of zeros and ones.

    The number is 1 if the systems exchange their statistics in the unit, which happens with probability 1/2.
    """
    word_count = math.ceil(unit_count / 64)  # words of 64 bits, with a bit for each unit
    for generator, row_count in _chunks_of_resamples(seed, _SIGN_FLIPS, unit_count, resample_count):
        words = generator.integers(0, 2**64 - 1, size=(row_count, word_count), dtype=np.uint64, endpoint=True)
        bytes_of_words = words.astype("<u8").view(np.uint8)  # (rows, 8 * words), in the same order on all machines
        # Each bit becomes a number. Surplus bits at the end of a row are dropped.
        yield np.unpackbits(bytes_of_words, axis=1, count=unit_count, bitorder="little")


class _Chunk(NamedTuple):
    """Resamples that are drawn together: the random generator that draws them, and their number."""

    generator: np.random.Generator
    row_count: int


def _chunks_of_resamples(seed: int, purpose: int, unit_count: int, resample_count: int) -> Iterator[_Chunk]:
    """Yield the chunks in which resamples are drawn from a seed, for a purpose such as `_SIGN_FLIPS`.

    Chunks are small enough for their draws to fit in memory. Every block of `RESAMPLES_PER_BLOCK` resamples has its own
    generator, so that the resamples do not depend on the size of the chunks. The chunks of a block share this
    generator, so each chunk must be drawn before the next one is requested.
    """
    rows_of_chunk = max(1, CELLS_PER_CHUNK // unit_count)
    for start_of_block in range(0, resample_count, RESAMPLES_PER_BLOCK):
        generator = generator_of(seed, purpose, start_of_block // RESAMPLES_PER_BLOCK)
        end_of_block = min(start_of_block + RESAMPLES_PER_BLOCK, resample_count)
        for start in range(start_of_block, end_of_block, rows_of_chunk):
            yield _Chunk(generator, row_count=min(rows_of_chunk, end_of_block - start))


def all_sign_flips(unit_count: int) -> Iterator[Counts]:
    """Yield all 2^unit_count sign flips of two systems, as chunks (sign flips, units) of zeros and ones.

    The number is 1 if the systems exchange their statistics in the unit. Row n contains the binary digits of n,
    beginning with the lowest digit: 00, 10, 01, 11 for two units.
    """
    rows_of_chunk = max(1, CELLS_PER_CHUNK // unit_count)
    bit_positions = np.arange(unit_count, dtype=np.int64)
    for start in range(0, 2**unit_count, rows_of_chunk):
        stop = min(start + rows_of_chunk, 2**unit_count)
        numbers = np.arange(start, stop, dtype=np.int64)
        yield (numbers[:, np.newaxis] >> bit_positions) & 1


def resampled_integer_sums(statistics: ExactStatistics, draws: Iterable[Counts]) -> Iterator[Floats]:
    """Yield the integer sums of all systems in each resample, in chunks (resamples, systems, integer columns).

    `draws` says how often each unit was drawn, in chunks (resamples, units). Each unit is added as often as it was
    drawn. The chunks are regrouped so that each matrix product is either large or so small that the BLAS library does
    not use threads. Threads wait for one another at every product, and on a busy machine each wait can last as long as
    the time slice of another process.
    """
    rows_at_once = min(_rows_of_product(statistics), _MOST_ROWS)
    for weights in _regroup_rows(draws, rows_at_once, statistics.unit_count):
        yield statistics.weighted_integer_sums(weights)


def _rows_of_product(statistics: ExactStatistics) -> int:
    """Return the number of resamples whose sums are computed by one matrix product.

    The product multiplies the draws (resamples, units) by the integers (units, integers of a unit).
    """
    # In a small product, each resample takes one multiplication for every integer of every unit.
    rows_without_threads: int = _MULTIPLICATIONS_WITHOUT_THREADS // statistics.integers.size
    if rows_without_threads >= _FEWEST_ROWS:
        return rows_without_threads
    # In a large product, neither the draws nor the sums may take too much memory. Both have a row for each resample.
    integers_of_unit: int = statistics.integers[0].size
    longest_row = max(statistics.unit_count, integers_of_unit)
    return max(1, _CELLS_OF_LARGE_PRODUCT // longest_row)


def _regroup_rows(chunks: Iterable[Counts], rows_of_group: int, unit_count: int) -> Iterator[Floats]:
    """Yield the rows of all chunks (rows, units) in groups of `rows_of_group` rows; the last group may be smaller.

    All groups are written to the same array, so a group is valid only until the next one is requested.
    """
    group: Floats = np.empty((rows_of_group, unit_count))
    filled_rows = 0
    for chunk in chunks:
        # An earlier chunk may have filled a part of the group. The first piece has just enough rows to complete it, and
        # every other piece has the rows of a whole new group.
        missing_rows = rows_of_group - filled_rows
        for piece in _cut_rows(chunk, rows_of_first_piece=missing_rows, rows_of_piece=rows_of_group):
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

    `sums_by_permutation` (M, systems, integers) has the integer sums of the systems over the units of the group, in M
    permutations of the group. A permutation of all units consists of one permutation of each group. For each of N
    permutations of all units, `chosen_permutations` (N,) has the number (from 0 to M - 1) of the permutation of this
    group.
    """

    sums_by_permutation: NDArray[Any]
    chosen_permutations: NDArray[np.integer[Any]]


def permuted_integer_sums(statistics: ExactStatistics, permutation_count: int, seed: int | None) -> Iterator[Floats]:
    """Yield the integer sums of the systems after permuting the statistics of each unit among them.

    The sums come in chunks (permutations, systems, integers). With a seed, the permutations are random, and
    `permutation_count` is their number. Consecutive units form about 64 groups, and at least 256 random permutations of
    each group are drawn first. To make a permutation of all units, one of these is chosen at random for each group, and
    their sums are added up. Since all permutations of a group are equally likely, so are all permutations of all units.

    Without a seed, each of the (systems!)^units permutations is made once, and `permutation_count` must be their
    number.
    """
    # A column in which all systems have the same integers is not permuted, because its sums never change.
    integers = statistics.integers  # (units, systems, integer columns)
    differs_from_first_system = integers != integers[:, :1]
    varying_columns = np.flatnonzero(differs_from_first_system.any(axis=(0, 1)))
    varying_integers = _as_small_integers(integers[..., varying_columns])
    total = statistics.total_integer_sums()
    for start in range(0, permutation_count, _PERMUTATIONS_AT_ONCE):
        stop = min(start + _PERMUTATIONS_AT_ONCE, permutation_count)
        varying_sums = _permuted_sums(varying_integers, np.arange(start, stop, dtype=np.int64), seed)
        # The columns that are the same in all systems are added again here. The sums of all columns take more memory
        # than those of the varying columns, so they are made for fewer permutations at once.
        for first in range(0, len(varying_sums), _MOST_ROWS):
            yield _add_constant_columns(varying_sums[first : first + _MOST_ROWS], varying_columns, total)


def _as_small_integers(integers: Floats) -> NDArray[Any]:
    """Return integers (units, systems, integers) as the smallest type that can hold their sums over all units.

    Numbers of a smaller type can be moved faster.
    """
    largest_sum = int(np.abs(integers).max(initial=0)) * len(integers)
    # For a negative number numpy returns a signed type. Such a type has one more value below zero than above it.
    smallest_type = np.min_scalar_type(-largest_sum - 1)
    return np.ascontiguousarray(integers, dtype=smallest_type)


def _permuted_sums(integers: NDArray[Any], numbers: NDArray[np.int64], seed: int | None) -> NDArray[Any]:
    """Return the integer sums of the systems in N permutations of all units: (N, systems, integers).

    `integers` has the shape (units, systems, integers). `numbers` (N,) are the numbers of the permutations. Without a
    seed, each number is a position in the list of all permutations. With a seed, the permutations are random. Their
    first number is then part of the key of the random generator, so that each call draws different permutations.
    """
    if seed is None:
        groups = _all_permuted_units(integers, numbers)
    else:
        groups = _draw_permuted_groups(integers, int(numbers[0]), len(numbers), seed)
    sums: NDArray[Any] = np.zeros((len(numbers), *integers.shape[1:]), dtype=integers.dtype)
    for group in groups:
        # No choice is out of range. The mode `clip` skips the check for this, which takes time.
        sums += np.take(group.sums_by_permutation, group.chosen_permutations, axis=0, mode="clip")
    return sums


def _add_constant_columns(varying_sums: NDArray[Any], varying_columns: NDArray[np.intp], total: Floats) -> Floats:
    """Return integer sums (permutations, systems, integers), after adding the columns that are never permuted.

    `varying_sums` (permutations, systems, varying columns) has the sums of the `varying_columns`. The other columns are
    copied from `total` (systems, integers).
    """
    sums = np.repeat(total[np.newaxis], len(varying_sums), axis=0)  # `total` once for each permutation
    sums[..., varying_columns] = varying_sums
    return sums


def _all_permuted_units(integers: NDArray[Any], numbers: NDArray[np.int64]) -> Iterator[_PermutedGroup]:
    """Yield each unit as a group of its own, with all permutations of the systems in this unit.

    `integers` has the shape (units, systems, integers). `numbers` (N,) are the numbers of permutations of all units.
    Each digit of a number is the order of the systems in one unit, beginning with the lowest digit. The base is the
    number of orders, systems!. For example, two systems have two orders in each unit, so three units have 2^3
    permutations. Number 6 is 011, written from the lowest binary digit: order 0 in the first unit and order 1 in the
    other two.
    """
    unit_count, system_count, _ = integers.shape
    all_orders = all_permutations(range(system_count))
    orders = np.array(list(all_orders))  # (systems!, systems)
    order_count = len(orders)
    for unit in range(unit_count):
        order_numbers = numbers // order_count**unit % order_count  # the digit of the unit in each number
        sums = integers[unit][orders]  # (systems!, systems, integers): the unit in each order of the systems
        yield _PermutedGroup(sums_by_permutation=sums, chosen_permutations=order_numbers)


def _draw_permuted_groups(
    integers: NDArray[Any], first_number: int, permutation_count: int, seed: int
) -> Iterator[_PermutedGroup]:
    """Yield groups of consecutive units with random permutations of the systems in each unit.

    A group has the sums of each of its own permutations. For each of the `permutation_count` permutations of all units,
    it also has the index of the group's permutation to use. In this way, a few hundred permutations of a group serve
    any number of permutations of all units. `integers` has the shape (units, systems, integers). `first_number` is the
    number of the first permutation of all units, which is part of the key of the random generator.
    """
    unit_count, system_count, _ = integers.shape
    generator = generator_of(seed, _PERMUTATIONS, first_number)
    # A group does not need more permutations than are made of all units. If there are many units, it gets fewer to save
    # time, but at least 256.
    group_permutation_count = max(256, min(_UNIT_PERMUTATIONS // unit_count, permutation_count))
    # Each unit draws its orders from these random orders of the systems, which is faster than shuffling the systems.
    # There are four times as many orders as a unit draws, so that two units seldom draw the same one.
    unshuffled_orders = np.tile(np.arange(system_count), (4 * group_permutation_count, 1))
    orders = generator.permuted(unshuffled_orders, axis=1)  # (orders, systems)
    group_size = max(1, unit_count // _GROUPS)
    for first_unit in range(0, unit_count, group_size):
        group = integers[first_unit : first_unit + group_size]
        sums_by_permutation = _draw_group_sums(generator, group, orders, group_permutation_count)
        chosen_permutations = generator.integers(0, group_permutation_count, permutation_count)
        yield _PermutedGroup(sums_by_permutation, chosen_permutations)


def _draw_group_sums(
    generator: np.random.Generator, group: NDArray[Any], orders: NDArray[np.int64], permutation_count: int
) -> NDArray[Any]:
    """Return the integer sums of the systems over the units of a group, in random permutations of the systems.

    The result has the shape (permutations, systems, integers). `group` (units, systems, integers) has the integers of
    the units. For each permutation, each unit draws one of the `orders` (orders, systems) of the systems at random.
    """
    sums: NDArray[Any] = np.zeros((permutation_count, *group.shape[1:]), dtype=group.dtype)
    for integers_of_unit in group:
        order_numbers = generator.integers(0, len(orders), permutation_count)
        drawn_orders = orders[order_numbers]  # (permutations, systems)
        # No order is out of range. The mode `clip` skips the check for this, which takes time.
        sums += np.take(integers_of_unit, drawn_orders, axis=0, mode="clip")
    return sums
