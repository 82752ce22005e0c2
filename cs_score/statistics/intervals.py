"""Bootstrap confidence intervals: percentile and BCa.

The percentile interval cuts the same share off either end of the sorted scores of the resamples (Efron and Tibshirani
1993, ch. 13). BCa shifts the two cuts for median bias, estimated by the share of resamples below the point, and for
acceleration - the standard error's dependence on the score - estimated by the jackknife (Efron 1987; Efron and
Tibshirani 1993, eq. 14.9, 14.14, 14.15). Resamples that tie with the point count half, as in scipy. Quantiles
interpolate linearly between the sorted scores, numpy's default (definition 7 of Hyndman and Fan 1996). The standard
error is the standard deviation of the scores of the resamples, with N - 1 in the divisor. Resamples without a score
(0/0) are left out of all of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from cs_score.base.records import replace
from cs_score.base.runtime import Late
from cs_score.statistics.arithmetic import (
    ColumnFormula,
    ColumnMeasures,
    ExactStatistics,
    Floats,
    Formula,
    exact_statistics,
    noise,
)
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
from cs_score.statistics.resampling import bootstrap_scores, defined, jackknife_scores, point_scores, unit_ratios
from cs_score.statistics.results import Interval, ScoreIntervals
from cs_score.statistics.units import UnitTable

if TYPE_CHECKING:
    import statistics

    import numpy as np
    from numpy.typing import ArrayLike
else:
    np, statistics = Late("numpy"), Late("statistics")

_NO_NOTES: Final[tuple[Note, ...]] = ()


def score_intervals(
    table: UnitTable, measures: Sequence[str], formula: ColumnMeasures, resampling: Resampling
) -> ScoreIntervals:
    """The intervals of `measures`, which `formula` makes of the column sums of `table`.

    Raises InputError where there is no unit.
    """
    settings, drawn = resampling.for_units(table.ids)
    found: Sequence[Interval] = ()
    if measures:
        found = bootstrap_intervals(table.rows, ColumnFormula(formula), settings, units=table.ids)
    units = len(table.ids)
    return ScoreIntervals(settings, units, dict(zip(measures, found)), notes_of(units, settings, drawn))


def bootstrap_intervals(
    statistics: ArrayLike, formula: Formula, resampling: Resampling | None = None, *, units: Sequence[str] = ()
) -> tuple[Interval, ...]:
    """The interval of each score of `formula` over the units (rows) of `statistics` (units, k).

    `units` are their ids, for clusters. Raises InputError where there is no unit or a statistic is not a finite number.
    """
    settings, drawn = (resampling or Resampling()).for_units(units or [""] * len(np.asarray(statistics)))
    exact = exact_statistics([statistics], drawn)
    points = point_scores(exact, formula)[0]
    jackknife = jackknife_for(settings, exact, formula)[:, 0, :]
    resampled = bootstrap_scores(exact, formula, settings)[:, 0, :]
    counted = np.count_nonzero(unit_ratios(exact, formula).denominator[:, 0, :], axis=0)
    return tuple(
        interval(
            float(point),
            resampled[measure],
            jackknife[:, measure],
            exact.units,
            settings,
            counted=int(counted[measure]),
        )
        for measure, point in enumerate(points)
    )


def interval(
    point: float,
    resampled: Floats,
    jackknife: Floats,
    units: int,
    resampling: Resampling,
    *,
    counted: int,
    scale: float | None = None,
) -> Interval:
    """The interval of one score from its bootstrap distribution (N,) and its jackknife values (units,).

    `jackknife` is looked at for BCa only; in both, a score that is not a number is undefined. `counted` is the number
    of units with a denominator. `scale` is the size of the numbers that rounding errors come from: for a difference of
    scores that of the scores; by default that of the point.
    """
    found = defined(resampled)
    if found is None:
        undefined = int(np.count_nonzero(np.isnan(resampled)))
        text = f"no interval: {undefined} of {len(resampled)} resamples are 0/0"
        return _noted(Interval(point, None, None, None, undefined), (Note("WITHHELD", text),))
    low, high, error, notes = _limits(point, found, jackknife[~np.isnan(jackknife)], units, resampling, scale)
    if ALL_EQUAL in notes and scale is None and point in (0.0, 1.0):
        notes = (*notes, faultless(point, counted, resampling))
    elif counted < FEW <= units:
        text = f"only {counted} of {units} units count: bootstrap limits and p are too narrow below {FEW}"
        notes = (*notes, Note("FEW_UNITS", text))
    undefined = len(resampled) - len(found)
    if undefined:
        notes = (*notes, Note("LEFT_OUT", f"{undefined} of {len(resampled)} resamples left out (0/0)"))
    return _noted(Interval(point, low, high, error, undefined), notes)


def _noted(found: Interval, notes: tuple[Note, ...]) -> Interval:
    return replace(found, note="; ".join(note.text for note in notes), notes=notes)


def _limits(
    point: float, resampled: Floats, jackknife: Floats, units: int, resampling: Resampling, scale: float | None
) -> tuple[float, float, float, tuple[Note, ...]]:
    """Low, high and standard error, and notes on how they came about."""
    slack = float(noise(point if scale is None else scale))
    if units == 1:
        return point, point, 0.0, (ONE_UNIT,)
    lowest, highest = float(resampled.min()), float(resampled.max())
    if len(resampled) > 1 and highest - lowest <= slack:
        # Rounding is no spread; the limits are the score itself where the resamples agree with it.
        limit = point if abs(lowest - point) <= slack else lowest
        return limit, limit, 0.0, (ALL_EQUAL,)
    cuts, notes = (resampling.level / 2, 1 - resampling.level / 2), _NO_NOTES
    if resampling.method == "bca":
        adjusted = _bca_cuts(point, resampled, jackknife, resampling.level, slack)
        cuts, notes = (adjusted, notes) if adjusted else (cuts, (OUTSIDE,))
    low, high = np.quantile(resampled, np.asarray(cuts), method="linear").tolist()
    if len(resampled) == 1:
        return low, high, 0.0, (ONE_RESAMPLE,)
    return low, high, float(resampled.std(ddof=1)), notes


def jackknife_for(resampling: Resampling, statistics: ExactStatistics, formula: Formula) -> Floats:
    """The jackknife scores (units, systems, measures) for `interval`; none where it does not look at them."""
    if resampling.method == "bca" and statistics.units > 1:
        return jackknife_scores(statistics, formula)
    return point_scores(statistics, formula)[np.newaxis][:0]


def _bca_cuts(
    point: float, resampled: Floats, jackknife: Floats, level: float, slack: float
) -> tuple[float, float] | None:
    """The probabilities at which BCa cuts the sorted resamples; None where the median bias is infinite."""
    below = np.count_nonzero(resampled < point - slack)
    not_above = np.count_nonzero(resampled <= point + slack)
    share = (below + not_above) / (2 * len(resampled))
    if not 0.0 < share < 1.0:
        return None
    bias = statistics.NormalDist().inv_cdf(share)
    acceleration = _acceleration(jackknife, slack)
    normal = statistics.NormalDist().inv_cdf(
        level / 2
    )  # that of 1 - level / 2 is its negative; 1 - level / 2 may round to 1
    return _bca_cut(normal, bias, acceleration), _bca_cut(-normal, bias, acceleration)


def _bca_cut(normal: float, bias: float, acceleration: float) -> float:
    shifted = bias + normal
    remaining = 1 - acceleration * shifted
    if remaining <= 0:  # beyond the pole, which |acceleration| <= 1/6 keeps six standard errors away
        return 1.0 if shifted > 0 else 0.0
    return statistics.NormalDist().cdf(bias + shifted / remaining)


def _acceleration(jackknife: Floats, slack: float) -> float:
    """A sixth of the skewness of the jackknife influences (Efron and Tibshirani 1993, eq. 14.15); 0 without spread."""
    if not len(jackknife):
        return 0.0
    influences = np.ascontiguousarray(jackknife.mean() - jackknife)
    if float(np.abs(influences).max()) <= slack:
        return 0.0
    influences /= np.abs(influences).max()  # the skewness has no unit; tiny influences must not underflow
    squares = influences * influences
    total = float(squares.sum())
    return float((squares * influences).sum()) / (6 * total * math.sqrt(total))
