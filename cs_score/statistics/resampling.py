"""Scores of the whole set, of the set without each unit in turn, and of bootstrap resamples of it.

Resample number r belongs to block r // BLOCK, and every block has a generator of its own, PCG64 seeded with (seed,
purpose, block). The draws do not depend on the size of the chunks in which they are made. All draws are integers of
64 bits from numpy's Generator, hence the same on every platform; a test holds the first of them, because numpy may
change Generator (not PCG64 itself) from one release to another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import permutations as permutations_of
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from cs_score.base.runtime import Late
from cs_score.measures.registry import Ratio
from cs_score.statistics.arithmetic import ColumnFormula, ExactStatistics, Floats
from cs_score.statistics.options import Resampling

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

MOST_UNDEFINED: Final = 0.2
"""The share of undefined resamples above which nothing is said from the others."""

_MOST_ROWS: Final = 16 * BLOCK
"""Resamples whose sums are made at once; changes no result."""

_SERIAL_PRODUCT: Final = 1 << 18
"""Multiplications in a product of matrices that OpenBLAS does without threads; changes no result."""

_FEWEST_ROWS: Final = 32
"""Rows below which the overhead of a product counts more than its threads."""

_SUM_CELLS: Final = 1 << 21
"""Resamples times units, or times digits, of one product of matrices, at 8 bytes each; changes no result."""


_BOOTSTRAP, _SWAPS, _PERMUTATIONS = range(3)
"""Purposes, which keep the draws of one seed apart."""


def generator_of(seed: int, *key: int) -> np.random.Generator:
    """The generator of a seed for a purpose, and a part of its draws."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


_Draw: TypeAlias = "Callable[[np.random.Generator, int], Counts]"


def bootstrap_counts(seed: int, units: int, resamples: int, strata: Sequence[int] = ()) -> Iterator[Counts]:
    """The bootstrap resamples in chunks of counts: a row per resample, a column per unit, how often that was drawn.

    Every row sums to `units`, and over each of the `strata`, so many consecutive units, to their number.
    """
    ends = np.repeat(np.cumsum(strata), strata) if strata else units
    starts = ends - np.repeat(strata, strata) if strata else 0

    def draw(generator: np.random.Generator, rows: int) -> Counts:
        indices = generator.integers(starts, ends, size=(rows, units), dtype=np.int64)
        indices += np.arange(0, rows * units, units, dtype=np.int64)[:, np.newaxis]  # one counter for all rows
        counts: NDArray[np.intp] = np.bincount(indices.ravel(), minlength=rows * units)
        return counts.reshape(rows, units)

    return _chunks(seed, _BOOTSTRAP, units, resamples, draw)


def swap_flags(seed: int, units: int, resamples: int) -> Iterator[Counts]:
    """The random swaps in chunks of flags: a row per resample, a column per unit, 1 with probability 1/2 where the two
    systems exchange the unit.
    """
    words = -(-units // 64)

    def draw(generator: np.random.Generator, rows: int) -> Counts:
        drawn = generator.integers(0, 2**64 - 1, size=(rows, words), dtype=np.uint64, endpoint=True)
        return np.unpackbits(drawn.astype("<u8").view(np.uint8), axis=1, count=units, bitorder="little")

    return _chunks(seed, _SWAPS, units, resamples, draw)


def all_swaps(units: int) -> Iterator[Counts]:
    """All 2^units swaps, in chunks like those of `swap_flags`: the digits of their numbers."""
    chunk = max(1, CHUNK_CELLS // units)
    places = np.arange(units, dtype=np.int64)
    for first in range(0, 2**units, chunk):
        numbers = np.arange(first, min(first + chunk, 2**units), dtype=np.int64)
        yield (numbers[:, np.newaxis] >> places) & 1


def _chunks(seed: int, purpose: int, units: int, resamples: int, draw: _Draw) -> Iterator[Counts]:
    chunk = max(1, CHUNK_CELLS // units)
    for block in range(-(-resamples // BLOCK)):
        generator = generator_of(seed, purpose, block)
        end = min((block + 1) * BLOCK, resamples)
        for first in range(block * BLOCK, end, chunk):
            yield draw(generator, min(chunk, end - first))


def scores_of(formula: ColumnFormula, sums: Floats) -> Floats:
    """The scores (..., m) of sums (..., k). Raises ValueError where one is not finite."""
    scores = formula(sums.reshape(-1, sums.shape[-1]))
    if not np.isfinite(scores).all():
        raise ValueError("a formula gave a score that is not a finite number")
    return scores.reshape(*sums.shape[:-1], scores.shape[1])


def _defined_scores_of(formula: ColumnFormula, sums: Floats) -> Floats:
    """The scores (..., m) of sums (..., k), not a number where the denominator is 0."""
    scores = scores_of(formula, sums)
    denominators = formula.ratios(sums.reshape(-1, sums.shape[-1])).denominator
    return np.where(denominators.reshape(scores.shape) == 0, np.nan, scores)


def defined(resampled: Floats) -> Floats | None:
    """The resamples (N,) or (systems, N) in which all scores are defined; None where fewer than 80 % are. A resample in
    which a denominator is 0 has no score: it says nothing, and not that the score is 0.
    """
    undefined = np.asarray(np.atleast_2d(np.isnan(resampled)).any(axis=0))
    count = int(np.count_nonzero(undefined))
    if count > MOST_UNDEFINED * len(undefined):
        return None
    return resampled[..., ~undefined] if count else resampled


def point_scores(statistics: ExactStatistics, formula: ColumnFormula) -> Floats:
    """The scores of each system on all units: (systems, measures)."""
    return scores_of(formula, statistics.values(statistics.total()))


def unit_ratios(statistics: ExactStatistics, formula: ColumnFormula) -> Ratio:
    """What each unit adds to what is divided, and to what divides: (units, systems, measures) each."""
    rows = statistics.values(statistics.digits)
    ratios = formula.ratios(rows.reshape(-1, rows.shape[-1]))
    return Ratio(*(part.reshape(*rows.shape[:-1], -1) for part in (ratios.numerator, ratios.denominator)))


def jackknife_scores(statistics: ExactStatistics, formula: ColumnFormula) -> Floats:
    """The scores of each system without each unit in turn: (units, systems, measures), not a number where the others
    give 0/0. Needs two units.
    """
    return _defined_scores_of(formula, statistics.values(statistics.total() - statistics.digits))


def bootstrap_scores(statistics: ExactStatistics, formula: ColumnFormula, resampling: Resampling) -> Floats:
    """The scores of every bootstrap resample: (measures, systems, resamples); not a number where a resample gives 0/0.

    All systems get the same draws, which makes differences between them paired.
    """
    found: Floats = np.empty((*point_scores(statistics, formula).T.shape, resampling.resamples))
    draws = bootstrap_counts(resampling.seed, statistics.units, resampling.resamples, statistics.strata)
    start = 0
    for sums in digit_sums(statistics, draws):
        scores = _defined_scores_of(formula, statistics.values(sums))
        found[..., start : start + len(scores)] = scores.transpose(2, 1, 0)
        start += len(scores)
        del sums, scores  # before the next ones are made
    return found


def digit_sums(statistics: ExactStatistics, draws: Iterable[Counts]) -> Iterator[Floats]:
    """The digit sums (N, systems, digits) of consecutive draws, gathered into products of matrices of a good size.

    That is either so small that a BLAS library does not use threads, or large: its threads wait for one another at
    every product, and on a busy machine each wait can last as long as another process is let run.
    """
    rows = _SERIAL_PRODUCT // statistics.digits.size
    if rows < _FEWEST_ROWS:
        rows = max(1, _SUM_CELLS // max(statistics.units, statistics.digits[0].size))
    weights: Floats = np.empty((min(rows, _MOST_ROWS), statistics.units))
    filled = 0
    for drawn in draws:
        taken = 0
        while taken < len(drawn):
            count = min(len(weights) - filled, len(drawn) - taken)
            weights[filled : filled + count] = drawn[taken : taken + count]
            filled, taken = filled + count, taken + count
            if filled == len(weights):
                yield statistics.weighted(weights)
                filled = 0
    if filled:
        yield statistics.weighted(weights[:filled])


_AT_ONCE: Final = 1 << 14
"""Permutations whose sums are held in memory at the same time. Part of the meaning of a seed, like the next two."""

_DRAWN: Final = 1 << 18
"""Permutations of single units that are drawn, but at least 256 for each unit."""

_GROUPS: Final = 64
"""Groups that the units are divided into, as far as there are so many."""


def permuted_sums(statistics: ExactStatistics, permutations: int, seed: int | None) -> Iterator[Floats]:
    """The digit sums (N, systems, digits) of the systems where each unit's rows are permuted among them at random.

    Without a seed all systems! ** units permutations are made once, which must be `permutations`. Otherwise consecutive
    units form some 64 groups; for each group joint permutations are drawn, at least 256 and the more the fewer units
    there are, of which each permutation of all units takes one. So each is uniform, and two have hardly anything in
    common.
    """
    systems = statistics.digits.shape[1]
    varying = np.flatnonzero((statistics.digits != statistics.digits[:, :1]).any(axis=(0, 1)))
    rows = statistics.digits[..., varying]
    largest = int(np.abs(rows).max(initial=0)) * statistics.units
    rows = np.ascontiguousarray(rows, dtype=np.min_scalar_type(-largest - 1))  # small numbers are moved faster
    for first in range(0, permutations, _AT_ONCE):
        numbers = np.arange(first, min(first + _AT_ONCE, permutations), dtype=np.int64)
        sums = np.zeros((len(numbers), systems, len(varying)), dtype=rows.dtype)
        for table, chosen in _permuted_groups(rows, numbers, seed):
            sums += np.take(table, chosen, axis=0, mode="clip")  # none is out of range, and need not be checked
        for start in range(0, len(sums), _MOST_ROWS):
            part = np.repeat(statistics.total()[np.newaxis], len(sums[start : start + _MOST_ROWS]), axis=0)
            part[..., varying] = sums[start : start + _MOST_ROWS]
            yield part


def _permuted_groups(
    rows: NDArray[Any], numbers: NDArray[np.int64], seed: int | None
) -> Iterator[tuple[NDArray[Any], NDArray[np.integer[Any]]]]:
    """For each group of units the sums of its permuted rows, and which of them each permutation takes."""
    units, systems, _ = rows.shape
    if seed is None:
        every = np.array(list(permutations_of(range(systems))))
        for unit in range(units):
            yield rows[unit][every], numbers // len(every) ** unit % len(every)
        return
    generator = generator_of(seed, _PERMUTATIONS, int(numbers[0]))
    pool = max(256, min(_DRAWN // units, len(numbers)))
    some = generator.permuted(np.tile(np.arange(systems), (4 * pool, 1)), axis=1)
    size = max(1, units // _GROUPS)
    for first in range(0, units, size):
        table = np.zeros((pool, *rows.shape[1:]), dtype=rows.dtype)
        for row in rows[first : first + size]:
            table += np.take(row, some[generator.integers(0, len(some), pool)], axis=0, mode="clip")
        yield table, generator.integers(0, pool, len(numbers))
