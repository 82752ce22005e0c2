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
from typing import TYPE_CHECKING

from cs_score.base.records import Record
from cs_score.base.runtime import Late
from cs_score.measures.registry import Ratio
from cs_score.statistics.arithmetic import (
    ColumnFormula,
    ColumnMeasures,
    ExactStatistics,
    Floats,
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


class Resampled(Record, eq=False):
    """The scores of systems on the same units, and what is needed for their intervals.

    `points` (systems, measures) are those on all units, `resampled` (measures, systems, N) those in each resample,
    `jackknife` (units, systems, measures) those without each unit, looked at for BCa only: not a number where one is
    undefined. `ratios` (units, systems, measures) are what each unit adds to either side of a score.
    """

    settings: Resampling
    statistics: ExactStatistics
    points: Floats
    resampled: Floats
    jackknife: Floats
    ratios: Ratio

    def ratio(self, system: int, measure: int) -> Ratio:
        """What each unit adds to either side of a score."""
        return Ratio(self.ratios.numerator[:, system, measure], self.ratios.denominator[:, system, measure])

    def score(self, system: int, measure: int) -> Interval:
        """A score with its interval."""
        counted = np.count_nonzero(self.ratios.denominator[:, system, measure])
        jackknife = self.jackknife[:, system, measure]
        return self._interval(
            float(self.points[system, measure]), self.resampled[measure, system], jackknife, int(counted)
        )

    def resampled_difference(self, first: int, second: int, measure: int) -> Floats:
        """The score of the second minus that of the first, in each resample."""
        return np.asarray(self.resampled[measure, second] - self.resampled[measure, first])

    def difference(self, first: int, second: int, measure: int) -> Interval:
        """The score of the second minus that of the first, with its interval."""
        one, other = self.points[[first, second], measure].tolist()
        counted = np.count_nonzero(self.ratios.denominator[:, [first, second], measure].any(axis=1))
        jackknife = self.jackknife[:, second, measure] - self.jackknife[:, first, measure]
        resampled = self.resampled_difference(first, second, measure)
        return self._interval(other - one, resampled, jackknife, int(counted), max(abs(one), abs(other)))

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
        error: float | None
        if found is None:
            text = f"no interval: {undefined} of {len(resampled)} resamples are 0/0"
            (low, high, error), notes = (None, None, None), [Note("WITHHELD", text)]
        else:
            units = self.statistics.units
            slack = float(noise(point if scale is None else scale))
            (low, high, error), notes = _limits(
                point, found, jackknife[~np.isnan(jackknife)], units, self.settings, slack
            )
            if ALL_EQUAL in notes and scale is None and point in (0.0, 1.0):
                notes.append(faultless(point, counted, self.settings))
            elif counted < FEW <= units:
                text = f"only {counted} of {units} units count: bootstrap limits and p are too narrow below {FEW}"
                notes.append(Note("FEW_UNITS", text))
            if undefined:
                notes.append(Note("LEFT_OUT", f"{undefined} of {len(resampled)} resamples left out (0/0)"))
        return Interval(point, low, high, error, undefined, "; ".join(note.text for note in notes), tuple(notes))


def resampled(statistics: ExactStatistics, formula: ColumnFormula, settings: Resampling) -> Resampled:
    """Resample the units of systems."""
    points = point_scores(statistics, formula)
    has_jackknife = settings.method == "bca" and statistics.units > 1
    return Resampled(
        settings,
        statistics,
        points,
        bootstrap_scores(statistics, formula, settings),
        jackknife_scores(statistics, formula) if has_jackknife else np.empty((0, *points.shape)),
        unit_ratios(statistics, formula),
    )


def score_intervals(
    table: UnitTable, measures: Sequence[str], formula: ColumnMeasures, resampling: Resampling
) -> ScoreIntervals:
    """The intervals of `measures`, which `formula` makes of column sums. Raises InputError where there is no unit."""
    settings, drawn = resampling.for_units(table.ids)
    found: Sequence[Interval] = ()
    if measures:
        found = bootstrap_intervals(table.rows, ColumnFormula(formula), settings, units=table.ids)
    units = len(table.ids)
    return ScoreIntervals(settings, units, dict(zip(measures, found)), notes_of(units, settings, drawn))


def bootstrap_intervals(
    statistics: ArrayLike, formula: ColumnFormula, resampling: Resampling | None = None, *, units: Sequence[str] = ()
) -> tuple[Interval, ...]:
    """The interval of each score of `formula` over the units (rows) of `statistics` (units, k), with ids for clusters.

    Raises InputError where there is no unit or a statistic is not a finite number.
    """
    settings, drawn = (resampling or Resampling()).for_units(units or [""] * len(np.asarray(statistics)))
    found = resampled(exact_statistics([statistics], drawn), formula, settings)
    return tuple(found.score(0, measure) for measure in range(found.points.shape[1]))


def _limits(
    point: float, resampled: Floats, jackknife: Floats, units: int, resampling: Resampling, slack: float
) -> tuple[tuple[float, float, float], list[Note]]:
    """Low, high and standard error, and notes on how they came about."""
    if units == 1:
        return (point, point, 0.0), [ONE_UNIT]
    lowest, highest = float(resampled.min()), float(resampled.max())
    if len(resampled) > 1 and highest - lowest <= slack:
        # Rounding is no spread; the limits are the score itself where the resamples agree with it.
        limit = point if abs(lowest - point) <= slack else lowest
        return (limit, limit, 0.0), [ALL_EQUAL]
    tails = (resampling.level / 2, 1 - resampling.level / 2)
    notes: list[Note] = []
    if resampling.method == "bca":
        adjusted = _bca_cuts(point, resampled, jackknife, resampling.level, slack)
        tails, notes = adjusted or tails, [] if adjusted else [OUTSIDE]
    low, high = np.quantile(resampled, np.asarray(tails), method="linear").tolist()
    if len(resampled) == 1:
        return (low, high, 0.0), [ONE_RESAMPLE]
    return (low, high, float(resampled.std(ddof=1))), notes


def _bca_cuts(
    point: float, resampled: Floats, jackknife: Floats, level: float, slack: float
) -> tuple[float, float] | None:
    """The probabilities at which BCa cuts the sorted resamples; None where the median bias is infinite."""
    below = np.count_nonzero(resampled < point - slack)
    not_above = np.count_nonzero(resampled <= point + slack)
    share = (below + not_above) / (2 * len(resampled))
    if not 0.0 < share < 1.0:
        return None
    standard = statistics.NormalDist()
    bias, acceleration = standard.inv_cdf(share), _acceleration(jackknife, slack)

    def cut(normal: float) -> float:
        shifted = bias + normal
        remaining = 1 - acceleration * shifted
        if remaining <= 0:  # beyond the pole, which |acceleration| <= 1/6 keeps six standard errors away
            return 1.0 if shifted > 0 else 0.0
        return standard.cdf(bias + shifted / remaining)

    normal = standard.inv_cdf(level / 2)  # that of 1 - level / 2 is its negative; 1 - level / 2 may round to 1
    return cut(normal), cut(-normal)


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
