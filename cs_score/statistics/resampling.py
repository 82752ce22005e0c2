"""Systems on the same units, resampled: scores and differences of scores with percentile, BCa or t intervals.

BCa's acceleration is estimated by the jackknife (Efron 1987; Efron and Tibshirani 1993, eq. 14.9, 14.14, 14.15).
Resamples that tie with the point count half, as in scipy. Resamples without a score (0/0) are left out of all of it.
Formulas and sources: docs/statistics/intervals-and-tests.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.base.runtime import Late
from cs_score.measures.registry import Ratio, SumsFormula
from cs_score.statistics.arithmetic import Floats, contributions, exact_statistics, noise, ratios_of, scores_of
from cs_score.statistics.distributions import t_limit
from cs_score.statistics.draws import bootstrap_counts, digit_sums
from cs_score.statistics.options import (
    ALL_EQUAL,
    FEW,
    ONE_RESAMPLE,
    ONE_UNIT,
    OUTSIDE,
    Note,
    Resampling,
    note_on_faultless_score,
    notes_on_intervals,
)
from cs_score.statistics.results import Interval, ScoreIntervals
from cs_score.statistics.units import UnitTable

if TYPE_CHECKING:
    import statistics

    import numpy as np
    from numpy.typing import ArrayLike
else:
    np, statistics = Late("numpy"), Late("statistics")

MOST_UNDEFINED: Final = 0.2
"""The share of undefined resamples above which nothing is said from the others."""


def defined_resamples(resampled: Floats) -> Floats | None:
    """Return the resamples (N,) or (systems, N) in which all scores are defined; None where fewer than 80 % are.

    A resample in which a denominator is 0 has no score: it says nothing, and not that the score is 0.
    """
    is_undefined = np.asarray(np.atleast_2d(np.isnan(resampled)).any(axis=0))
    undefined_count = int(np.count_nonzero(is_undefined))
    if undefined_count > MOST_UNDEFINED * len(is_undefined):
        return None
    if undefined_count == 0:
        return resampled
    return resampled[..., ~is_undefined]


# ---- Systems


class Systems:
    """Systems on the same units with their scores, and with the scores of resamples of the units.

    `matrices` has the statistics (units, k) of each system, `formula` makes the scores of their sums. `ids` name the
    units for clusters, whose units are added up to one. `settings` are the settings for these units, `notes` hold for
    all intervals. Raises InputError without units, for a unit without a cluster, and for a statistic that is not a
    finite number.
    """

    def __init__(
        self,
        matrices: Sequence[ArrayLike],
        formula: SumsFormula,
        resampling: Resampling | None = None,
        ids: Sequence[str] = (),
    ) -> None:
        ids = ids or [""] * len(np.asarray(matrices[0]))
        settings = resampling or Resampling()
        settled = settings.for_units(ids, has_differences=len(matrices) > 1)
        self.settings = settled.settings
        self.notes = notes_on_intervals(len(ids), self.settings, settled.design)
        self.formula = formula
        self.statistics = exact_statistics(matrices, settled.design)
        self.units = self.statistics.units

    def scores(self, sums: Floats) -> Floats:
        """Return the scores (..., m) of digit sums; 0 for 0/0."""
        return scores_of(self.formula, self.statistics.values(sums))

    def _defined_scores(self, sums: Floats) -> Floats:
        """Return the scores (..., m) of digit sums; not a number for 0/0."""
        values = self.statistics.values(sums)
        scores = scores_of(self.formula, values)
        return np.where(ratios_of(self.formula, values).denominator == 0, np.nan, scores)

    @property
    def rows(self) -> list[Floats]:
        """The statistics (units, k) of each system, those of the units of a cluster added up."""
        values = self.statistics.values(self.statistics.digits)
        return [values[:, system] for system in range(values.shape[1])]

    @cached_property
    def points(self) -> Floats:
        """The scores on all units: (systems, measures)."""
        return self.scores(self.statistics.total())

    @cached_property
    def ratios(self) -> Ratio:
        """The numerators and denominators of each unit by itself: (units, systems, measures) each."""
        return ratios_of(self.formula, self.statistics.values(self.statistics.digits))

    def unit_ratio(self, system: int, measure: int) -> Ratio:
        """Return the numerators and denominators (units,) of one system under one measure."""
        return Ratio(self.ratios.numerator[:, system, measure], self.ratios.denominator[:, system, measure])

    @cached_property
    def resampled(self) -> Floats:
        """The scores in every resample, (measures, systems, N); the same draws for all make differences paired."""
        resampled: Floats = np.empty((*self.points.T.shape, self.settings.resamples))
        draws = bootstrap_counts(self.settings.seed, self.units, self.settings.resamples, self.statistics.strata)
        start = 0
        for sums in digit_sums(self.statistics, draws):
            scores = self._defined_scores(sums)
            resampled[..., start : start + len(scores)] = scores.transpose(2, 1, 0)
            start += len(scores)
            del sums, scores  # before the next ones are made
        return resampled

    @cached_property
    def _jackknife(self) -> Floats:
        """The scores without each unit in turn, (units, systems, measures); none where no BCa interval needs them."""
        if self.settings.method != "bca" or self.units < 2:
            return np.empty((0, *self.points.shape))
        return self._defined_scores(self.statistics.total() - self.statistics.digits)

    # -- Scores

    def score(self, system: int, measure: int) -> Interval:
        """Return the score of a system with its interval."""
        point = float(self.points[system, measure])
        sample = _Resampled(
            point=point,
            resampled=self.resampled[measure, system],
            jackknife=self._jackknife[:, system, measure],
            rounding=float(noise(point)),
        )
        counted_units = int(np.count_nonzero(self.ratios.denominator[:, system, measure]))
        return self._bootstrap_interval(sample, counted_units, is_score=True)

    # -- Differences

    def resampled_difference(self, first: int, second: int, measure: int) -> Floats:
        """Return the score of the second system minus that of the first, in each resample (N,)."""
        return np.asarray(self.resampled[measure, second] - self.resampled[measure, first])

    def difference(self, first: int, second: int, measure: int) -> Interval:
        """Return the score of the second system minus that of the first, with its interval."""
        first_score, second_score = self.points[[first, second], measure].tolist()
        point = second_score - first_score
        if self.settings.differences == "t":
            return self._paired_t_interval(point, first, second, measure)
        sample = _Resampled(
            point=point,
            resampled=self.resampled_difference(first, second, measure),
            jackknife=self._jackknife[:, second, measure] - self._jackknife[:, first, measure],
            rounding=float(noise(max(abs(first_score), abs(second_score)))),
        )
        has_denominator = self.ratios.denominator[:, [first, second], measure].any(axis=1)
        return self._bootstrap_interval(sample, int(np.count_nonzero(has_denominator)), is_score=False)

    def _paired_t_interval(self, point: float, first: int, second: int, measure: int) -> Interval:
        """Return the difference of two scores with its paired t interval, from what each unit contributes to it.

        The variance of the sum of contributions is that of sampling within each stratum; a stratum of one unit adds
        nothing to it. Degrees of freedom are the units less the strata.
        """
        shares = contributions(self.unit_ratio(first, measure), self.unit_ratio(second, measure))
        if shares is None:
            return _with_one_note(point, None, None, Note("WITHHELD", "no interval: a score is 0/0"))
        sizes = self.statistics.strata or (self.units,)
        freedom = self.units - len(sizes)
        if freedom == 0:
            return _with_one_note(point, point, point, ONE_UNIT)
        variance = 0.0
        start = 0
        for size in sizes:
            stratum = shares[start : start + size]
            start += size
            if size > 1:
                variance += size * float(stratum.var(ddof=1))
        reach = t_limit(self.settings.level / 2, freedom) * math.sqrt(variance)
        if reach <= float(noise(*self.points[[first, second], measure])):  # rounding is no spread
            return _with_one_note(point, point, point, ALL_EQUAL)
        return Interval(point, point - reach, point + reach)

    # -- Bootstrap intervals

    def _bootstrap_interval(self, sample: _Resampled, counted_units: int, *, is_score: bool) -> Interval:
        """Return the bootstrap interval of a score (`is_score`) or of a difference of scores.

        `counted_units` is the number of units with a denominator.
        """
        undefined_count = int(np.count_nonzero(np.isnan(sample.resampled)))
        defined = defined_resamples(sample.resampled)
        if defined is None:
            text = f"no interval: {undefined_count} of {len(sample.resampled)} resamples are 0/0"
            return _with_one_note(sample.point, None, None, Note("WITHHELD", text), undefined_count)
        limits = self._limits(sample._replace(resampled=defined))
        notes = list(limits.notes)
        if is_score and ALL_EQUAL in notes and sample.point in (0.0, 1.0):
            notes.append(note_on_faultless_score(sample.point, counted_units, self.settings))
        elif counted_units < FEW <= self.units:
            text = (
                f"only {counted_units} of {self.units} units count: bootstrap limits and p are too narrow below {FEW}"
            )
            notes.append(Note("FEW_UNITS", text))
        if undefined_count:
            text = f"{undefined_count} of {len(sample.resampled)} resamples left out (0/0)"
            notes.append(Note("LEFT_OUT", text))
        note_text = "; ".join(note.text for note in notes)
        return Interval(sample.point, limits.low, limits.high, undefined_count, note_text, tuple(notes))

    def _limits(self, sample: _Resampled) -> _BootstrapLimits:
        """Return the limits from resamples that all have a score, with notes on how they came about."""
        point = sample.point
        if self.units == 1:
            return _BootstrapLimits(point, point, (ONE_UNIT,))
        lowest = float(sample.resampled.min())
        highest = float(sample.resampled.max())
        if len(sample.resampled) > 1 and highest - lowest <= sample.rounding:
            # Rounding is no spread; the limits are the score itself where the resamples agree with it.
            limit = point if abs(lowest - point) <= sample.rounding else lowest
            return _BootstrapLimits(limit, limit, (ALL_EQUAL,))
        level = self.settings.level
        tails = (level / 2, 1 - level / 2)
        notes: tuple[Note, ...] = ()
        if self.settings.method == "bca":
            bca_tails = _bca_tails(sample, level)
            if bca_tails is None:
                notes = (OUTSIDE,)
            else:
                tails = bca_tails
        low, high = np.quantile(sample.resampled, np.asarray(tails), method="linear").tolist()
        if len(sample.resampled) == 1:
            notes = (ONE_RESAMPLE,)
        return _BootstrapLimits(low, high, notes)


class _Resampled(NamedTuple):
    """A score or difference on all units, in each resample (N,), and without each unit in turn (units,).

    `rounding` is the largest difference that rounding may put between two such numbers.
    """

    point: float
    resampled: Floats
    jackknife: Floats
    rounding: float


class _BootstrapLimits(NamedTuple):
    """The limits of a bootstrap interval, and notes on how they came about."""

    low: float
    high: float
    notes: tuple[Note, ...]


def _with_one_note(
    point: float, low: float | None, high: float | None, note: Note, undefined_resamples: int = 0
) -> Interval:
    """Return an interval with one note."""
    return Interval(point, low, high, undefined_resamples, note.text, (note,))


def _bca_tails(sample: _Resampled, level: float) -> tuple[float, float] | None:
    """Return the probabilities at which BCa cuts the sorted resamples, in place of level / 2 and 1 - level / 2.

    With the median bias z0, the acceleration a and z = Phi^-1(level / 2), the lower one is
    Phi(z0 + (z0 + z) / (1 - a (z0 + z))); the upper one has -z for z. None where the median bias is infinite.
    """
    below_count = np.count_nonzero(sample.resampled < sample.point - sample.rounding)
    not_above_count = np.count_nonzero(sample.resampled <= sample.point + sample.rounding)
    share_below = (below_count + not_above_count) / (2 * len(sample.resampled))  # ties count half
    if not 0.0 < share_below < 1.0:
        return None
    normal = statistics.NormalDist()
    bias = normal.inv_cdf(share_below)
    acceleration = _acceleration(sample.jackknife[~np.isnan(sample.jackknife)], sample.rounding)
    z = normal.inv_cdf(level / 2)  # that of 1 - level / 2 is its negative; 1 - level / 2 may round to 1
    return _bca_tail(z, bias, acceleration), _bca_tail(-z, bias, acceleration)


def _acceleration(jackknife: Floats, rounding: float) -> float:
    """Return a sixth of the skewness of the jackknife influences; 0 where they vary by no more than rounding.

    `jackknife` (units,) are the scores without each unit in turn; the influence of a unit is their mean less its own.
    """
    if len(jackknife) == 0:
        return 0.0
    influences = np.ascontiguousarray(jackknife.mean() - jackknife)
    largest = float(np.abs(influences).max())
    if largest <= rounding:
        return 0.0
    influences /= largest  # the skewness has no unit; tiny influences must not underflow
    squares = influences * influences
    total = float(squares.sum())
    return float((squares * influences).sum()) / (6 * total * math.sqrt(total))


def _bca_tail(z: float, bias: float, acceleration: float) -> float:
    """Return Phi(bias + (bias + z) / (1 - acceleration (bias + z))), the adjusted probability of the normal quantile z.

    Beyond the pole, which |acceleration| <= 1/6 keeps six standard errors away, it is 0 or 1.
    """
    shifted = bias + z
    remaining = 1 - acceleration * shifted
    if remaining <= 0:
        return 1.0 if shifted > 0 else 0.0
    return statistics.NormalDist().cdf(bias + shifted / remaining)


# ---- Intervals of one system


def score_intervals(
    table: UnitTable, measures: Sequence[str], formula: SumsFormula, resampling: Resampling
) -> ScoreIntervals:
    """Return the intervals of the scores of a run, by measure.

    `formula` makes a score for each of `measures` of the column sums of `table`. Raises InputError without units.
    """
    if not measures:
        settled = resampling.for_units(table.ids)
        notes = notes_on_intervals(len(table.ids), settled.settings, settled.design)
        return ScoreIntervals(settled.settings, len(table.ids), {}, notes)
    systems = Systems([table.rows], formula, resampling, table.ids)
    interval_by_measure = {measure: systems.score(0, column) for column, measure in enumerate(measures)}
    return ScoreIntervals(systems.settings, len(table.ids), interval_by_measure, systems.notes)


def bootstrap_intervals(
    statistics: ArrayLike, formula: SumsFormula, resampling: Resampling | None = None, *, units: Sequence[str] = ()
) -> tuple[Interval, ...]:
    """Return the interval of each score that `formula` makes of the column sums of `statistics` (units, k).

    `units` are the ids of the units, which clusters need. Raises InputError without units, and for a statistic that is
    not a finite number.
    """
    systems = Systems([statistics], formula, resampling, units)
    return tuple([systems.score(0, measure) for measure in range(systems.points.shape[1])])
