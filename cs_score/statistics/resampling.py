"""Systems on the same units, resampled: scores with percentile and BCa intervals; random swaps and permutations.

Resample number r belongs to block r // BLOCK, and every block has a generator of its own, PCG64 seeded with (seed,
purpose, block). The draws do not depend on the size of the chunks in which they are made. All draws are integers of
64 bits from numpy's Generator, hence the same on every platform; a test holds the first of them, because numpy may
change Generator (not PCG64 itself) from one release to another.

BCa's acceleration is estimated by the jackknife (Efron 1987; Efron and Tibshirani 1993, eq. 14.9, 14.14, 14.15).
Resamples that tie with the point count half, as in scipy. Resamples without a score (0/0) are left out of all of it.
Formulas and sources: docs/statistics/intervals-and-tests.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import permutations as permutations_of
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from cs_score.base.runtime import Late
from cs_score.measures.registry import Ratio, SumsFormula
from cs_score.statistics.arithmetic import (
    ExactStatistics,
    Floats,
    contributions,
    exact_statistics,
    noise,
    parts_of,
    scores_of,
)
from cs_score.statistics.distributions import t_limit
from cs_score.statistics.options import (
    ALL_EQUAL,
    FEW,
    ONE_RESAMPLE,
    ONE_UNIT,
    OUTSIDE,
    Note,
    Resampling,
    faultless,
    notes_of,
)
from cs_score.statistics.results import Interval, ScoreIntervals
from cs_score.statistics.units import UnitTable

if TYPE_CHECKING:
    import statistics

    import numpy as np
    from numpy.typing import ArrayLike, NDArray
else:
    np, statistics = Late("numpy"), Late("statistics")

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

# ---- Draws

_BOOTSTRAP, _SWAPS, _PERMUTATIONS = range(3)
"""Purposes, which keep the draws of one seed apart."""


def generator_of(seed: int, *key: int) -> np.random.Generator:
    """The generator of a seed for a purpose, and a part of its draws."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def bootstrap_counts(seed: int, units: int, resamples: int, strata: Sequence[int] = ()) -> Iterator[Counts]:
    """Resamples in chunks of counts: a row per resample, a column per unit, how often that was drawn. Rows sum to
    `units`, and over each of the `strata`, so many consecutive units, to their number.
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
    """Swaps in chunks of flags: a row per resample, a column per unit, 1 with probability 1/2 where two systems
    exchange it.
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


def _chunks(
    seed: int, purpose: int, units: int, resamples: int, draw: Callable[[np.random.Generator, int], Counts]
) -> Iterator[Counts]:
    chunk = max(1, CHUNK_CELLS // units)
    for block in range(-(-resamples // BLOCK)):
        generator = generator_of(seed, purpose, block)
        end = min((block + 1) * BLOCK, resamples)
        for first in range(block * BLOCK, end, chunk):
            yield draw(generator, min(chunk, end - first))


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


# ---- Scores


def defined(resampled: Floats) -> Floats | None:
    """The resamples (N,) or (systems, N) in which all scores are defined; None where fewer than 80 % are. A resample in
    which a denominator is 0 has no score: it says nothing, and not that the score is 0.
    """
    undefined = np.asarray(np.atleast_2d(np.isnan(resampled)).any(axis=0))
    count = int(np.count_nonzero(undefined))
    if count > MOST_UNDEFINED * len(undefined):
        return None
    return resampled[..., ~undefined] if count else resampled


class Systems:
    """The statistics (units, k) of systems on the same units, the scores that a formula makes of them, and settings.

    `ids` name the units for clusters, whose units are added up to one. Raises InputError where there is no unit or no
    cluster of one, or a statistic is not a finite number.
    """

    def __init__(
        self,
        matrices: Sequence[ArrayLike],
        formula: SumsFormula,
        resampling: Resampling | None = None,
        ids: Sequence[str] = (),
    ) -> None:
        ids = ids or [""] * len(np.asarray(matrices[0]))
        given = resampling or Resampling()
        self.settings, drawn = given.for_units(ids, has_differences=len(matrices) > 1)
        self.notes = notes_of(len(ids), self.settings, drawn)
        self.formula, self.statistics = formula, exact_statistics(matrices, drawn)
        self.units = self.statistics.units

    def scores(self, sums: Floats) -> Floats:
        """The scores (..., m) of digit sums."""
        return scores_of(self.formula, self.statistics.values(sums))

    def _where_defined(self, sums: Floats) -> Floats:
        """The same, not a number where the denominator is 0."""
        values = self.statistics.values(sums)
        scores = scores_of(self.formula, values)
        return np.where(parts_of(self.formula, values).denominator == 0, np.nan, scores)

    @property
    def rows(self) -> list[Floats]:
        """The statistics of each system, (units, k), clusters added up."""
        values = self.statistics.values(self.statistics.digits)
        return [values[:, system] for system in range(values.shape[1])]

    @cached_property
    def points(self) -> Floats:
        """The scores on all units: (systems, measures)."""
        return self.scores(self.statistics.total())

    @cached_property
    def ratios(self) -> Ratio:
        """What each unit adds to what is divided, and to what divides: (units, systems, measures) each."""
        return parts_of(self.formula, self.statistics.values(self.statistics.digits))

    @cached_property
    def resampled(self) -> Floats:
        """The scores in every resample, (measures, systems, N); the same draws for all make differences paired."""
        found: Floats = np.empty((*self.points.T.shape, self.settings.resamples))
        draws = bootstrap_counts(self.settings.seed, self.units, self.settings.resamples, self.statistics.strata)
        start = 0
        for sums in digit_sums(self.statistics, draws):
            scores = self._where_defined(sums)
            found[..., start : start + len(scores)] = scores.transpose(2, 1, 0)
            start += len(scores)
            del sums, scores  # before the next ones are made
        return found

    @cached_property
    def _jackknife(self) -> Floats:
        """The scores without each unit in turn, (units, systems, measures); none where BCa does not ask for them."""
        if self.settings.method != "bca" or self.units < 2:
            return np.empty((0, *self.points.shape))
        return self._where_defined(self.statistics.total() - self.statistics.digits)

    def score(self, system: int, measure: int) -> Interval:
        """A score with its interval."""
        point, resampled = float(self.points[system, measure]), self.resampled[measure, system]
        counted = np.count_nonzero(self.ratios.denominator[:, system, measure])
        return self._interval(point, resampled, self._jackknife[:, system, measure], int(counted))

    def resampled_difference(self, first: int, second: int, measure: int) -> Floats:
        """The score of the second minus that of the first, in each resample."""
        return np.asarray(self.resampled[measure, second] - self.resampled[measure, first])

    def difference(self, first: int, second: int, measure: int) -> Interval:
        """Return the score of the second minus that of the first, with its interval."""
        one, other = self.points[[first, second], measure].tolist()
        if self.settings.differences == "t":
            return self._paired_t_interval(other - one, first, second, measure)
        counted = np.count_nonzero(self.ratios.denominator[:, [first, second], measure].any(axis=1))
        jackknife = self._jackknife[:, second, measure] - self._jackknife[:, first, measure]
        resampled = self.resampled_difference(first, second, measure)
        return self._interval(other - one, resampled, jackknife, int(counted), max(abs(one), abs(other)))

    def _paired_t_interval(self, point: float, first: int, second: int, measure: int) -> Interval:
        """Return the difference of two scores with its paired t interval, from what each unit contributes to it.

        The variance of the sum of contributions is that of sampling within each stratum; a stratum of one unit adds
        nothing to it. Degrees of freedom are the units less the strata.
        """
        shares = self._contributions(first, second, measure)
        if shares is None:
            return _withheld(point, Note("WITHHELD", "no interval: a score is 0/0"))
        sizes = self.statistics.strata or (self.units,)
        freedom = self.units - len(sizes)
        if freedom == 0:
            return _noted(point, point, point, ONE_UNIT)
        variance, start = 0.0, 0
        for size in sizes:
            stratum = shares[start : start + size]
            start += size
            if size > 1:
                variance += size * float(stratum.var(ddof=1))
        reach = t_limit(self.settings.level / 2, freedom) * math.sqrt(variance)
        if reach <= float(noise(*self.points[[first, second], measure])):  # rounding is no spread
            return _noted(point, point, point, ALL_EQUAL)
        return Interval(point, point - reach, point + reach)

    def _contributions(self, first: int, second: int, measure: int) -> Floats | None:
        """Return what each unit adds to the score of the second minus that of the first; None where one is 0/0."""
        numerator = self.ratios.numerator[..., measure]
        denominator = self.ratios.denominator[..., measure]
        return contributions(
            Ratio(numerator[:, first], denominator[:, first]), Ratio(numerator[:, second], denominator[:, second])
        )

    def _interval(
        self, point: float, resampled: Floats, jackknife: Floats, counted: int, scale: float | None = None
    ) -> Interval:
        """The interval of one number from its resamples (N,) and its jackknife values (units,).

        `counted` is the number of units with a denominator, `scale` that of the numbers that rounding errors come from,
        where it is not the point itself.
        """
        found = defined(resampled)
        undefined = int(np.count_nonzero(np.isnan(resampled)))
        low: float | None
        high: float | None
        if found is None:
            text = f"no interval: {undefined} of {len(resampled)} resamples are 0/0"
            low, high, notes = None, None, [Note("WITHHELD", text)]
        else:
            slack = float(noise(point if scale is None else scale))
            low, high, notes = self._limits(point, found, jackknife[~np.isnan(jackknife)], slack)
            if ALL_EQUAL in notes and scale is None and point in (0.0, 1.0):
                notes.append(faultless(point, counted, self.settings))
            elif counted < FEW <= self.units:
                text = f"only {counted} of {self.units} units count: bootstrap limits and p are too narrow below {FEW}"
                notes.append(Note("FEW_UNITS", text))
            if undefined:
                notes.append(Note("LEFT_OUT", f"{undefined} of {len(resampled)} resamples left out (0/0)"))
        return Interval(point, low, high, undefined, "; ".join(note.text for note in notes), tuple(notes))

    def _limits(
        self, point: float, resampled: Floats, jackknife: Floats, slack: float
    ) -> tuple[float, float, list[Note]]:
        """Return the limits and notes on how they came about."""
        if self.units == 1:
            return point, point, [ONE_UNIT]
        lowest, highest = float(resampled.min()), float(resampled.max())
        if len(resampled) > 1 and highest - lowest <= slack:
            # Rounding is no spread; the limits are the score itself where the resamples agree with it.
            limit = point if abs(lowest - point) <= slack else lowest
            return limit, limit, [ALL_EQUAL]
        level = self.settings.level
        tails, notes = (level / 2, 1 - level / 2), list[Note]()
        if self.settings.method == "bca":
            adjusted = _bca_cuts(point, resampled, jackknife, level, slack)
            tails, notes = adjusted or tails, [] if adjusted else [OUTSIDE]
        low, high = np.quantile(resampled, np.asarray(tails), method="linear").tolist()
        if len(resampled) == 1:
            return low, high, [ONE_RESAMPLE]
        return low, high, notes


def _noted(point: float, low: float | None, high: float | None, note: Note) -> Interval:
    """Return an interval with one note."""
    return Interval(point, low, high, note=note.text, notes=(note,))


def _withheld(point: float, note: Note) -> Interval:
    """Return a number without an interval, and why it has none."""
    return _noted(point, None, None, note)


def _bca_cuts(
    point: float, resampled: Floats, jackknife: Floats, level: float, slack: float
) -> tuple[float, float] | None:
    """The probabilities at which BCa cuts the sorted resamples; None where the median bias is infinite."""
    below = np.count_nonzero(resampled < point - slack)
    not_above = np.count_nonzero(resampled <= point + slack)
    share = (below + not_above) / (2 * len(resampled))
    if not 0.0 < share < 1.0:
        return None
    acceleration = 0.0  # a sixth of the skewness of the jackknife influences
    influences = np.ascontiguousarray(jackknife.mean() - jackknife) if len(jackknife) else jackknife
    largest = float(np.abs(influences).max(initial=0.0))
    if largest > slack:
        influences /= largest  # the skewness has no unit; tiny influences must not underflow
        squares = influences * influences
        total = float(squares.sum())
        acceleration = float((squares * influences).sum()) / (6 * total * math.sqrt(total))
    standard = statistics.NormalDist()
    bias = standard.inv_cdf(share)

    def cut(normal: float) -> float:
        shifted = bias + normal
        remaining = 1 - acceleration * shifted
        if remaining <= 0:  # beyond the pole, which |acceleration| <= 1/6 keeps six standard errors away
            return 1.0 if shifted > 0 else 0.0
        return standard.cdf(bias + shifted / remaining)

    normal = standard.inv_cdf(level / 2)  # that of 1 - level / 2 is its negative; 1 - level / 2 may round to 1
    return cut(normal), cut(-normal)


def score_intervals(
    table: UnitTable, measures: Sequence[str], formula: SumsFormula, resampling: Resampling
) -> ScoreIntervals:
    """The intervals of `measures`, which `formula` makes of column sums. Raises InputError where there is no unit."""
    if not measures:
        settings, drawn = resampling.for_units(table.ids)
        return ScoreIntervals(settings, len(table.ids), {}, notes_of(len(table.ids), settings, drawn))
    systems = Systems([table.rows], formula, resampling, table.ids)
    found = {measure: systems.score(0, at) for at, measure in enumerate(measures)}
    return ScoreIntervals(systems.settings, len(table.ids), found, systems.notes)


def bootstrap_intervals(
    statistics: ArrayLike, formula: SumsFormula, resampling: Resampling | None = None, *, units: Sequence[str] = ()
) -> tuple[Interval, ...]:
    """The interval of each score of `formula` over the units (rows) of `statistics` (units, k), with ids for clusters.

    Raises InputError where there is no unit or a statistic is not a finite number.
    """
    systems = Systems([statistics], formula, resampling, units)
    return tuple(systems.score(0, measure) for measure in range(systems.points.shape[1]))
