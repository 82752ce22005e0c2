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
from cs_score.statistics.arithmetic import (
    Floats,
    contributions,
    exact_statistics,
    possible_rounding,
    ratios_of,
    scores_of,
)
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
    """Return the resampled scores without the resamples in which a score is undefined (not a number).

    `resampled` are the scores (N,) of one system or (systems, N) of several in N resamples. A resample in which the
    denominator of a score is 0 has no score, which is not the same as a score of 0. Returns None if fewer than 80 % of
    the resamples are defined.
    """
    undefined_scores = np.atleast_2d(np.isnan(resampled))  # (systems, N)
    is_undefined = np.asarray(undefined_scores.any(axis=0))
    undefined_count = int(np.count_nonzero(is_undefined))
    if undefined_count > MOST_UNDEFINED * len(is_undefined):
        return None
    if undefined_count == 0:
        return resampled
    return resampled[..., ~is_undefined]


# ---- Systems


class ResampledSystems:
    """Systems on the same units: their scores, the scores in resamples of the units, and intervals made of these.

    `settings` are the settings that hold for these units, and `units` is the number of units that are drawn: that of
    the clusters if units are drawn in clusters. `notes` hold for all intervals.
    """

    def __init__(
        self,
        matrices: Sequence[ArrayLike],
        formula: SumsFormula,
        resampling: Resampling | None = None,
        ids: Sequence[str] = (),
    ) -> None:
        """Take the statistics of systems, and settle how their units are drawn; resamples are drawn when needed.

        `matrices` has the statistics (units, k) of each system, and `formula` makes the scores of their sums.
        `resampling` are the settings, the usual ones unless given. `ids` are the ids of the units; only settings with
        clusters need them.

        Raises InputError if there is no unit, a unit has no cluster or a statistic is not a finite number.
        """
        if not ids:
            unit_count = len(np.asarray(matrices[0]))
            ids = [""] * unit_count
        if resampling is None:
            resampling = Resampling()
        draw_settings = resampling.for_units(ids, has_differences=len(matrices) > 1)
        self.settings = draw_settings.settings
        self.notes = notes_on_intervals(len(ids), self.settings, draw_settings.design)
        self.formula = formula
        self.statistics = exact_statistics(matrices, draw_settings.design)
        self.units = self.statistics.units

    def scores(self, sums: Floats) -> Floats:
        """Return the scores (..., measures) that sums of digits (..., digit columns) give. A score of 0/0 is 0."""
        return scores_of(self.formula, self.statistics.from_digit_sums(sums))

    def _defined_scores(self, sums: Floats) -> Floats:
        """Return the scores (..., measures) that sums of digits give, but not a number for a score of 0/0."""
        statistic_sums = self.statistics.from_digit_sums(sums)
        scores = scores_of(self.formula, statistic_sums)
        is_undefined = ratios_of(self.formula, statistic_sums).denominator == 0
        return np.where(is_undefined, np.nan, scores)

    @property
    def rows(self) -> list[Floats]:
        """The statistics (units, k) of each system; if units are drawn in clusters, the sums of each cluster."""
        statistics = self.statistics.from_digit_sums(self.statistics.digits)  # (units, systems, k)
        return [statistics[:, system] for system in range(statistics.shape[1])]

    @cached_property
    def points(self) -> Floats:
        """The scores on all units: (systems, measures)."""
        return self.scores(self.statistics.total_digit_sums())

    @cached_property
    def ratios(self) -> Ratio:
        """The numerators and the denominators of the scores of each unit: (units, systems, measures) each."""
        return ratios_of(self.formula, self.statistics.from_digit_sums(self.statistics.digits))

    def unit_ratio(self, system: int, measure: int) -> Ratio:
        """Return the numerators and denominators (units,) of one system under one measure."""
        return Ratio(self.ratios.numerator[:, system, measure], self.ratios.denominator[:, system, measure])

    @cached_property
    def resampled(self) -> Floats:
        """The scores in each of N resamples, (measures, systems, N); not a number for 0/0.

        All systems have the same units in a resample, so that their scores can be subtracted.
        """
        system_count, measure_count = self.points.shape
        resampled: Floats = np.empty((measure_count, system_count, self.settings.resamples))
        draws = bootstrap_counts(self.settings.seed, self.units, self.settings.resamples, self.statistics.strata)
        start = 0
        for sums in digit_sums(self.statistics, draws):
            scores = self._defined_scores(sums)  # (some resamples, systems, measures)
            stop = start + len(scores)
            resampled[..., start:stop] = scores.transpose(2, 1, 0)
            start = stop
            del sums, scores  # frees their memory before the next ones are made
        return resampled

    @cached_property
    def _jackknife(self) -> Floats:
        """The scores without each unit in turn, (units, systems, measures).

        Only BCa intervals need them; for other intervals the array is empty.
        """
        if self.settings.method != "bca" or self.units < 2:
            return np.empty((0, *self.points.shape))
        sums_without_unit = self.statistics.total_digit_sums() - self.statistics.digits
        return self._defined_scores(sums_without_unit)

    # -- Scores

    def score(self, system: int, measure: int) -> Interval:
        """Return the score of a system under a measure, both given by position, with its bootstrap interval."""
        score = float(self.points[system, measure])
        sample = _BootstrapSample(
            point=score,
            resampled=self.resampled[measure, system],
            jackknife=self._jackknife[:, system, measure],
            rounding=float(possible_rounding(score)),
        )
        # Only units with a denominator count for the score.
        denominators = self.ratios.denominator[:, system, measure]
        counted_units = int(np.count_nonzero(denominators))
        return self._bootstrap_interval(sample, counted_units, is_score=True)

    # -- Differences

    def resampled_difference(self, first: int, second: int, measure: int) -> Floats:
        """Return the score of the second system minus that of the first, in each of the N resamples: (N,)."""
        return np.asarray(self.resampled[measure, second] - self.resampled[measure, first])

    def difference(self, first: int, second: int, measure: int) -> Interval:
        """Return the score of the second system minus that of the first, with its interval.

        Systems and measure are given by position. The interval is a paired t interval if the settings say so,
        otherwise a bootstrap interval.
        """
        first_score, second_score = self.points[[first, second], measure].tolist()
        difference = second_score - first_score
        if self.settings.differences == "t":
            return self._paired_t_interval(difference, first, second, measure)
        sample = _BootstrapSample(
            point=difference,
            resampled=self.resampled_difference(first, second, measure),
            jackknife=self._jackknife[:, second, measure] - self._jackknife[:, first, measure],
            rounding=float(possible_rounding(first_score, second_score)),
        )
        denominators = self.ratios.denominator[:, [first, second], measure]
        counted_units = int(np.count_nonzero(denominators.any(axis=1)))
        return self._bootstrap_interval(sample, counted_units, is_score=False)

    def _paired_t_interval(self, difference: float, first: int, second: int, measure: int) -> Interval:
        """Return the difference of the scores of two systems with its paired t interval: difference +- t * error.

        The variance of the difference is that of the sum of the contributions of all units. There are as many degrees
        of freedom as units, less one for each stratum.
        """
        shares = contributions(self.unit_ratio(first, measure), self.unit_ratio(second, measure))
        if shares is None:
            return _with_one_note(difference, None, None, Note("WITHHELD", "no interval: a score is 0/0"))
        stratum_sizes = self.statistics.strata or (self.units,)
        freedom = self.units - len(stratum_sizes)
        if freedom == 0:
            return _with_one_note(difference, difference, difference, ONE_UNIT)
        standard_error = math.sqrt(_variance_of_sum(shares, stratum_sizes))
        half_width = t_limit(self.settings.level / 2, freedom) * standard_error
        first_score, second_score = self.points[[first, second], measure]
        if half_width <= float(possible_rounding(first_score, second_score)):
            # The units differ by no more than rounding.
            return _with_one_note(difference, difference, difference, ALL_EQUAL)
        return Interval(difference, low=difference - half_width, high=difference + half_width)

    # -- Bootstrap intervals

    def _bootstrap_interval(self, sample: _BootstrapSample, counted_units: int, *, is_score: bool) -> Interval:
        """Return the bootstrap interval of a score (`is_score`) or of a difference of scores, with notes on it.

        `counted_units` is the number of units whose denominator is not 0. There are no limits if more than 20 % of the
        resamples are undefined.
        """
        resample_count = len(sample.resampled)
        undefined_count = int(np.count_nonzero(np.isnan(sample.resampled)))
        defined = defined_resamples(sample.resampled)
        if defined is None:
            text = f"no interval: {undefined_count} of {resample_count} resamples are 0/0"
            return _with_one_note(sample.point, None, None, Note("WITHHELD", text), undefined_count)

        limits = self._limits(sample._replace(resampled=defined))
        notes = list(limits.notes)
        is_faultless = is_score and sample.point in (0.0, 1.0)
        if is_faultless and ALL_EQUAL in notes:
            notes.append(note_on_faultless_score(sample.point, counted_units, self.settings))
        elif counted_units < FEW <= self.units:
            text = (
                f"only {counted_units} of {self.units} units count: bootstrap limits and p are too narrow below {FEW}"
            )
            notes.append(Note("FEW_UNITS", text))
        if undefined_count:
            text = f"{undefined_count} of {resample_count} resamples left out (0/0)"
            notes.append(Note("LEFT_OUT", text))
        return Interval(
            point=sample.point,
            low=limits.low,
            high=limits.high,
            undefined_resamples=undefined_count,
            note="; ".join(note.text for note in notes),
            notes=tuple(notes),
        )

    def _limits(self, sample: _BootstrapSample) -> _BootstrapLimits:
        """Return the percentile or BCa limits, as the settings say, from resamples that all have a score.

        The notes say why the limits are equal to one another, or why they are percentile limits and not BCa limits.
        """
        point = sample.point
        if self.units == 1:
            return _BootstrapLimits(point, point, (ONE_UNIT,))
        lowest = float(sample.resampled.min())
        highest = float(sample.resampled.max())
        if len(sample.resampled) == 1:
            return _BootstrapLimits(lowest, lowest, (ONE_RESAMPLE,))
        if highest - lowest <= sample.rounding:
            # The resamples differ by rounding only. If they agree with the score, the score itself is the limit.
            limit = point if abs(lowest - point) <= sample.rounding else lowest
            return _BootstrapLimits(limit, limit, (ALL_EQUAL,))

        # The shares of the resamples that lie below the lower and below the upper limit.
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
        return _BootstrapLimits(low, high, notes)


class _BootstrapSample(NamedTuple):
    """A score or a difference of scores, and what it becomes when units are drawn anew or left out.

    `point` is its value on all units, `resampled` (N,) are its values in the resamples, and `jackknife` (units,) its
    values without each unit in turn. `rounding` is the largest difference that rounding may put between two of these.
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
    """Return the interval of a score or difference (`point`) whose limits have one note."""
    return Interval(point, low, high, undefined_resamples, note=note.text, notes=(note,))


def _variance_of_sum(shares: Floats, stratum_sizes: Sequence[int]) -> float:
    """Return the variance of the sum of what units contribute to a difference.

    `shares` (units,) are the contributions, stratum by stratum. A stratum of n units adds n times the variance of its
    contributions, and a stratum of one unit nothing.
    """
    variance = 0.0
    start = 0
    for size in stratum_sizes:
        shares_of_stratum = shares[start : start + size]
        start += size
        if size > 1:
            variance += size * float(shares_of_stratum.var(ddof=1))
    return variance


def _bca_tails(sample: _BootstrapSample, level: float) -> tuple[float, float] | None:
    """Return the shares of the resamples below the lower and below the upper BCa limit: `(0.031, 0.981)`.

    They take the place of level / 2 and 1 - level / 2. With the median bias z0 = Phi^-1(share of resamples below the
    score), the acceleration a and z = Phi^-1(level / 2), the lower one is Phi(z0 + (z0 + z) / (1 - a (z0 + z))); the
    upper one has -z for z. Returns None if all resamples are on one side of the score, where z0 is infinite.
    """
    # Resamples that are equal to the score within rounding count half.
    below_count = np.count_nonzero(sample.resampled < sample.point - sample.rounding)
    not_above_count = np.count_nonzero(sample.resampled <= sample.point + sample.rounding)
    share_below = (below_count + not_above_count) / (2 * len(sample.resampled))
    if not 0.0 < share_below < 1.0:
        return None
    normal = statistics.NormalDist()
    bias = normal.inv_cdf(share_below)
    defined_jackknife = sample.jackknife[~np.isnan(sample.jackknife)]
    acceleration = _acceleration(defined_jackknife, sample.rounding)
    z = normal.inv_cdf(level / 2)
    # The quantile of 1 - level / 2 is -z; it is not computed from 1 - level / 2, which may round to 1.
    lower_tail = _bca_tail(z, bias, acceleration)
    upper_tail = _bca_tail(-z, bias, acceleration)
    return lower_tail, upper_tail


def _acceleration(jackknife: Floats, rounding: float) -> float:
    """Return BCa's acceleration: sum(u^3) / (6 sum(u^2)^1.5) of the influences u of the units.

    `jackknife` (units,) are the scores without each unit in turn. The influence of a unit is the mean of these less the
    score without it. If the influences vary by no more than `rounding`, the acceleration is 0.
    """
    if len(jackknife) == 0:
        return 0.0
    influences = np.ascontiguousarray(jackknife.mean() - jackknife)
    largest = float(np.abs(influences).max())
    if largest <= rounding:
        return 0.0
    influences /= largest  # changes no result, but keeps squares of tiny influences from becoming 0
    squares = influences * influences
    sum_of_squares = float(squares.sum())
    sum_of_cubes = float((squares * influences).sum())
    return sum_of_cubes / (6 * sum_of_squares * math.sqrt(sum_of_squares))


def _bca_tail(z: float, bias: float, acceleration: float) -> float:
    """Return the share of resamples below a BCa limit: Phi(bias + (bias + z) / (1 - acceleration (bias + z))).

    `z` is the normal quantile of the share below the percentile limit. If the denominator is not above 0, which takes a
    `bias + z` of six standard errors or more, the share is 0 or 1.
    """
    shifted = bias + z
    denominator = 1 - acceleration * shifted
    if denominator <= 0:
        return 1.0 if shifted > 0 else 0.0
    return statistics.NormalDist().cdf(bias + shifted / denominator)


# ---- Intervals of one system


def score_intervals(
    table: UnitTable, measures: Sequence[str], formula: SumsFormula, resampling: Resampling
) -> ScoreIntervals:
    """Return the scores of a run with their intervals, by measure.

    `formula` makes a score for each of `measures` of the column sums of `table`. Raises InputError if there is no unit.
    """
    unit_count = len(table.ids)
    if not measures:
        # Without measures there is nothing to resample, but the settings are reported all the same.
        draw_settings = resampling.for_units(table.ids)
        notes = notes_on_intervals(unit_count, draw_settings.settings, draw_settings.design)
        return ScoreIntervals(draw_settings.settings, unit_count, scores={}, notes=notes)
    run = ResampledSystems([table.rows], formula, resampling, table.ids)
    interval_by_measure = {}
    for column, measure in enumerate(measures):
        interval_by_measure[measure] = run.score(0, column)
    return ScoreIntervals(run.settings, unit_count, scores=interval_by_measure, notes=run.notes)


def bootstrap_intervals(
    statistics: ArrayLike, formula: SumsFormula, resampling: Resampling | None = None, *, units: Sequence[str] = ()
) -> tuple[Interval, ...]:
    """Return each score that `formula` makes of the column sums of `statistics` (units, k), with its interval.

    `resampling` are the settings, the usual ones unless given. `units` are the ids of the units; only settings with
    clusters need them. Raises InputError if there is no unit, or a statistic is not a finite number.
    """
    run = ResampledSystems([statistics], formula, resampling, units)
    _, measure_count = run.points.shape
    return tuple([run.score(0, measure) for measure in range(measure_count)])
