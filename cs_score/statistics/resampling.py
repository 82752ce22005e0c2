"""Scores of the whole set, of the set without each unit in turn, and of bootstrap resamples of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from functools import partial
from typing import Final, TypeVar

import numpy as np

from cs_score.measures.formulas import Ratio
from cs_score.statistics.arithmetic import Floats, Formula, ratios_of
from cs_score.statistics.draws import BLOCK, CHUNK_CELLS, Counts, bootstrap_counts
from cs_score.statistics.exact_sums import ExactStatistics
from cs_score.statistics.options import Resampling

_Result = TypeVar("_Result")

MOST_UNDEFINED: Final = 0.2
"""The share of undefined resamples above which nothing is said from the others."""

_TASK: Final = 16 * BLOCK
"""Resamples that one task of an executor makes."""

_SERIAL_PRODUCT: Final = 1 << 18
"""Multiplications in a product of matrices that OpenBLAS does without threads; changes no result."""

_FEWEST_ROWS: Final = 32
"""Rows below which the overhead of a product counts more than its threads."""

_SUM_CELLS: Final = 1 << 21
"""Resamples times units, or times digits, of one product of matrices, at 8 bytes each; changes no result."""


def scores_of(formula: Formula, sums: Floats) -> Floats:
    """The scores (..., m) of sums (..., k). Raises ValueError where the formula does not keep its contract."""
    rows = sums.reshape(-1, sums.shape[-1])
    scores = np.asarray(formula(rows), dtype=np.float64)
    if scores.ndim != 2 or len(scores) != len(rows):
        raise ValueError(f"a formula must give one row of scores per row of sums, not {scores.shape} for {rows.shape}")
    if not np.isfinite(scores).all():
        raise ValueError("a formula gave a score that is not a finite number")
    return scores.reshape(*sums.shape[:-1], scores.shape[1])


def _defined_scores_of(formula: Formula, sums: Floats) -> Floats:
    """The scores (..., m) of sums (..., k), not a number where the denominator is 0."""
    scores = scores_of(formula, sums)
    denominators = ratios_of(formula, sums.reshape(-1, sums.shape[-1])).denominator
    return np.where(denominators.reshape(scores.shape) == 0, np.nan, scores)


def defined(resampled: Floats) -> Floats | None:
    """The resamples (N,) or (systems, N) in which all scores are defined; None where fewer than 80 % are.

    A resample in which a denominator is 0 has no score: it says nothing, and not that the score is 0.
    """
    undefined = np.asarray(np.atleast_2d(np.isnan(resampled)).any(axis=0))
    count = int(np.count_nonzero(undefined))
    if count > MOST_UNDEFINED * len(undefined):
        return None
    return resampled[..., ~undefined] if count else resampled


def point_scores(statistics: ExactStatistics, formula: Formula) -> Floats:
    """The scores of each system on all units: (systems, measures)."""
    return scores_of(formula, statistics.values(statistics.total()))


def unit_ratios(statistics: ExactStatistics, formula: Formula) -> Ratio:
    """What each unit adds to what is divided, and to what divides: (units, systems, measures) each."""
    rows = statistics.values(statistics.digits)
    ratios = ratios_of(formula, rows.reshape(-1, rows.shape[-1]))
    return Ratio(*(part.reshape(*rows.shape[:-1], -1) for part in (ratios.numerator, ratios.denominator)))


def jackknife_scores(statistics: ExactStatistics, formula: Formula) -> Floats:
    """The scores of each system without each unit in turn: (units, systems, measures). Needs two units.

    Not a number where the others give 0/0.
    """
    return _defined_scores_of(formula, statistics.values(statistics.total() - statistics.digits))


def bootstrap_scores(
    statistics: ExactStatistics,
    formula: Formula,
    resampling: Resampling,
    *,
    executor: Executor | None = None,
    cells: int = CHUNK_CELLS,
) -> Floats:
    """The scores of every bootstrap resample: (measures, systems, resamples); not a number where a resample gives 0/0.

    All systems get the same draws, which makes differences between them paired. `executor` spreads the work (the
    formula must then be picklable for a pool of processes) and `cells` bounds the memory of the draws; neither
    changes a bit of the result. The result takes 8 bytes per score.
    """
    task = partial(_bootstrap_task, statistics, formula, resampling.seed, cells)
    parts = [part for _, part in over_resamples(task, resampling.resamples, executor)]
    return np.concatenate(parts, axis=-1)


def _bootstrap_task(statistics: ExactStatistics, formula: Formula, seed: int, cells: int, resamples: range) -> Floats:
    draws = bootstrap_counts(seed, statistics.units, resamples, cells=cells)
    scores = [_defined_scores_of(formula, statistics.values(sums)) for sums in digit_sums(statistics, draws)]
    return np.ascontiguousarray(np.concatenate(scores).transpose(2, 1, 0))


def digit_sums(statistics: ExactStatistics, draws: Iterable[tuple[int, Counts]]) -> Iterator[Floats]:
    """The digit sums (N, systems, digits) of consecutive draws, gathered into products of matrices of a good size.

    That is either so small that a BLAS library does not use threads, or large: its threads wait for one another at
    every product, and on a busy machine each wait can last as long as another process is let run.
    """
    rows = _SERIAL_PRODUCT // statistics.digits.size
    if rows < _FEWEST_ROWS:
        rows = max(1, _SUM_CELLS // max(statistics.units, statistics.digits[0].size))
    weights: Floats = np.empty((min(rows, _TASK), statistics.units))
    filled = 0
    for _, drawn in draws:
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


def over_resamples(
    task: Callable[[range], _Result], resamples: int, executor: Executor | None
) -> Iterator[tuple[range, _Result]]:
    """`task` over consecutive ranges that make up 0 ... resamples - 1, in order, here or on the executor."""
    ranges = [range(first, min(first + _TASK, resamples)) for first in range(0, resamples, _TASK)]
    results = map(task, ranges) if executor is None else executor.map(task, ranges)
    return zip(ranges, results)
