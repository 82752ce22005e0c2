"""Percentile, BCa and paired t intervals for the scores of systems, and for differences of scores. The limits of a
percentile interval are quantiles of the scores in bootstrap resamples, which draw units with replacement. BCa corrects
these limits for bias and skewness.

All systems are scored on the same resamples of the units. The acceleration of BCa is estimated by the jackknife (Efron
1987; Efron and Tibshirani 1993, eq. 14.9, 14.14, 14.15). As in scipy, resamples with the same score as all units count
half when its bias is estimated. Resamples without a score (0/0) are left out of all computations.
Formulas and sources: docs/statistics/intervals-and-tests.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.base.runtime import Late
from cs_score.measures import Ratio, SumsFormula
from cs_score.statistics.arithmetic import (
    Floats,
    exact_statistics,
    possible_rounding,
    ratios_of,
    scores_of,
    unit_contributions,
)
from cs_score.statistics.distributions import t_limit
from cs_score.statistics.draws import bootstrap_counts, resampled_integer_sums
from cs_score.statistics.resampling_settings import (
    ALL_EQUAL,
    BCA_UNDEFINED,
    FEWEST_RELIABLE_UNITS,
    ONE_RESAMPLE,
    ONE_UNIT,
    Note,
    Resampling,
    note_on_all_or_nothing_score,
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
"""If a larger share of the resamples is undefined, the other resamples are not used either."""


def defined_resamples(resampled: Floats) -> Floats | None:
    """Return the resampled scores without the resamples in which the score of any system is undefined.

    `resampled` has the scores (N,) of one system or (systems, N) of several systems in N resamples. A score is
    undefined (not a number) if its denominator is 0 in the resample, which is not the same as a score of 0. Returns
    None if fewer than 80 % of the resamples are defined.
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
    """Systems on the same units: their scores on all units and in bootstrap resamples, and intervals of the scores.

    `statistics` has the statistics of the units, written in integers, so that sums are not rounded (`ExactStatistics`).
    `settings` are the settings of resampling, completed for these units, and `formula` computes the scores from sums of
    statistics. `unit_count` is the number of units in a resample, or the number of clusters if units are drawn in
    clusters. `notes` apply to all intervals.
    """

    def __init__(
        self,
        matrices: Sequence[ArrayLike],
        formula: SumsFormula,
        resampling: Resampling | None = None,
        ids: Sequence[str] = (),
    ) -> None:
        """Store the statistics of the systems, and choose the interval methods that suit the number of units.

        `matrices` has the statistics (units, k) of each system, and `formula` computes the scores from the sums of the
        k statistics. `resampling` has the settings; the default is `Resampling()`. `ids` are the ids of the units,
        which are only needed if the settings have clusters. Resamples are drawn when they are first used.

        Raises InputError if there is no unit, if a unit has no cluster, or if a statistic is not a finite number.
        """
        unit_count = len(np.asarray(matrices[0]))
        unit_ids = ids or [""] * unit_count  # without clusters only the number of the ids matters
        given_settings = Resampling() if resampling is None else resampling
        resampling_of_units = given_settings.choose_methods_for_units(unit_ids, has_differences=len(matrices) > 1)
        cluster_design = resampling_of_units.cluster_design
        self.settings = resampling_of_units.settings  # with the interval methods chosen
        self.notes = notes_on_intervals(len(unit_ids), self.settings, cluster_design)
        self.formula = formula
        self.statistics = exact_statistics(matrices, cluster_design)
        self.unit_count = self.statistics.unit_count

    def scores_of_integer_sums(self, integer_sums: Floats) -> Floats:
        """Return the scores (..., measures) that follow from sums over units. A score of 0/0 counts as 0.

        `integer_sums` (..., integer columns) are the sums of the integers in which the statistics are written. They are
        exact, and are converted to sums of statistics here.
        """
        statistic_sums = self.statistics.to_statistics(integer_sums)
        return scores_of(self.formula, statistic_sums)

    def _scores_or_nan(self, integer_sums: Floats) -> Floats:
        """Return the scores (..., measures) that follow from sums over units. A score of 0/0 is NaN.

        `integer_sums` (..., integer columns) are the sums of the integers in which the statistics are written. They are
        exact, and are converted to sums of statistics here.
        """
        statistic_sums = self.statistics.to_statistics(integer_sums)
        scores = scores_of(self.formula, statistic_sums)
        is_undefined = ratios_of(self.formula, statistic_sums).denominator == 0
        return np.where(is_undefined, np.nan, scores)

    @property
    def unit_statistics(self) -> list[Floats]:
        """The statistics (units, k) of each system. If units are drawn in clusters, a row is the sum of a cluster."""
        statistics = self.statistics.to_statistics(self.statistics.integers)  # (units, systems, k)
        return [statistics[:, system] for system in range(statistics.shape[1])]

    @cached_property
    def observed_scores(self) -> Floats:
        """The scores of the systems on all units: (systems, measures)."""
        return self.scores_of_integer_sums(self.statistics.total_integer_sums())

    @cached_property
    def unit_ratios(self) -> Ratio:
        """The numerators and the denominators of the scores of each unit: (units, systems, measures) each."""
        return ratios_of(self.formula, self.statistics.to_statistics(self.statistics.integers))

    def unit_ratios_of(self, system_index: int, measure_index: int) -> Ratio:
        """Return the numerator and the denominator of each unit, for one system and one measure: (units,) each."""
        numerators = self.unit_ratios.numerator[:, system_index, measure_index]
        denominators = self.unit_ratios.denominator[:, system_index, measure_index]
        return Ratio(numerators, denominators)

    @cached_property
    def resampled_scores(self) -> Floats:
        """The scores in each of N resamples: (measures, systems, N). A score of 0/0 is NaN.

        In each resample, all systems have the same units, so the scores of two systems can be subtracted.
        """
        system_count, measure_count = self.observed_scores.shape
        resampled: Floats = np.empty((measure_count, system_count, self.settings.resamples))
        draws = bootstrap_counts(
            self.settings.seed, self.unit_count, self.settings.resamples, self.statistics.stratum_sizes
        )
        start = 0
        for sums in resampled_integer_sums(self.statistics, draws):
            scores = self._scores_or_nan(sums)  # (some resamples, systems, measures)
            stop = start + len(scores)
            resampled[..., start:stop] = scores.transpose(2, 1, 0)
            start = stop
            del sums, scores  # frees their memory before the next chunk is made
        return resampled

    @cached_property
    def _jackknife(self) -> Floats:
        """The jackknife scores: the scores that leave out each unit in turn, (units, systems, measures).

        Only BCa intervals need them. For other intervals the array is empty.
        """
        if self.settings.method != "bca" or self.unit_count < 2:
            return np.empty((0, *self.observed_scores.shape))
        integers_of_units = self.statistics.integers  # (units, systems, integer columns)
        sums_without_unit = self.statistics.total_integer_sums() - integers_of_units
        return self._scores_or_nan(sums_without_unit)

    # -- Scores

    def score_interval(self, system_index: int, measure_index: int) -> Interval:
        """Return the score of one system under one measure, with its bootstrap interval."""
        score = float(self.observed_scores[system_index, measure_index])
        sample = _BootstrapSample(
            point=score,
            resampled=self.resampled_scores[measure_index, system_index],  # the first axis has the measures
            jackknife=self._jackknife[:, system_index, measure_index],
            rounding=float(possible_rounding(score)),
        )
        effective_units = self._count_effective_units([system_index], measure_index)
        return self._bootstrap_interval(sample, effective_units, is_score=True)

    def _count_effective_units(self, system_indices: Sequence[int], measure_index: int) -> int:
        """Return the number of units whose denominator is not 0 for at least one of the given systems.

        Other units do not affect the scores of these systems.
        """
        denominators = self.unit_ratios.denominator[:, system_indices, measure_index]  # (units, systems)
        is_effective = denominators.any(axis=1)
        return int(np.count_nonzero(is_effective))

    # -- Differences

    def resampled_differences(self, first: int, second: int, measure_index: int) -> Floats:
        """Return the score of the second system minus that of the first in each of N resamples: (N,)."""
        second_scores = self.resampled_scores[measure_index, second]
        first_scores = self.resampled_scores[measure_index, first]
        return np.asarray(second_scores - first_scores)

    def difference_interval(self, first: int, second: int, measure_index: int) -> Interval:
        """Return the score of the second system minus that of the first, with its interval.

        `first` and `second` are the positions of the systems. The settings decide whether the interval is a paired t
        interval or a bootstrap interval.
        """
        if self.settings.differences == "t":
            return self._paired_t_interval(first, second, measure_index)
        first_jackknife = self._jackknife[:, first, measure_index]  # a score for each unit left out: (units,)
        second_jackknife = self._jackknife[:, second, measure_index]
        sample = _BootstrapSample(
            point=self._observed_difference(first, second, measure_index),
            resampled=self.resampled_differences(first, second, measure_index),
            jackknife=second_jackknife - first_jackknife,
            rounding=self._rounding_of_scores(first, second, measure_index),
        )
        effective_units = self._count_effective_units([first, second], measure_index)
        return self._bootstrap_interval(sample, effective_units, is_score=False)

    def _observed_difference(self, first: int, second: int, measure_index: int) -> float:
        """Return the score of the second system minus that of the first, on all units."""
        first_score, second_score = self.observed_scores[[first, second], measure_index].tolist()
        return float(second_score - first_score)

    def _rounding_of_scores(self, first: int, second: int, measure_index: int) -> float:
        """Return the largest difference between two equal scores of this size that rounding can cause."""
        first_score, second_score = self.observed_scores[[first, second], measure_index]
        return float(possible_rounding(first_score, second_score))

    def _paired_t_interval(self, first: int, second: int, measure_index: int) -> Interval:
        """Return the score of the second system minus that of the first, with its paired t interval.

        The limits are difference +- t * standard error. If a score is 0/0, there are no limits. If there is only one
        unit, or if the units differ only by rounding, both limits are equal to the difference.
        """
        difference = self._observed_difference(first, second, measure_index)
        first_ratios = self.unit_ratios_of(first, measure_index)
        second_ratios = self.unit_ratios_of(second, measure_index)
        contributions = unit_contributions(first_ratios, second_ratios)  # (units,)
        if contributions is None:
            return _without_limits(difference, Note("WITHHELD", "no interval: a score is 0/0"))
        half_width = self._half_width_of_t(contributions)
        if half_width is None:
            return _with_equal_limits(difference, ONE_UNIT)
        if half_width <= self._rounding_of_scores(first, second, measure_index):
            return _with_equal_limits(difference, ALL_EQUAL)
        return Interval(difference, low=difference - half_width, high=difference + half_width)

    def _half_width_of_t(self, contributions: Floats) -> float | None:
        """Return t * standard error of a difference that is the sum of the `contributions` (units,) of all units.

        The degrees of freedom are the number of units minus the number of strata. Returns None if this is 0.
        """
        stratum_sizes = self.statistics.stratum_sizes or (self.unit_count,)
        degrees_of_freedom = self.unit_count - len(stratum_sizes)
        if degrees_of_freedom == 0:
            return None
        standard_error = math.sqrt(_variance_of_sum(contributions, stratum_sizes))
        tail = self.settings.significance_level / 2  # 0.025 on either side of a 95 % interval
        return t_limit(tail, degrees_of_freedom) * standard_error

    # -- Bootstrap intervals

    def _bootstrap_interval(self, sample: _BootstrapSample, effective_units: int, *, is_score: bool) -> Interval:
        """Return the bootstrap interval of a score, or of a difference of two scores, with notes for readers.

        `effective_units` is the number of units whose denominator is not 0. `is_score` is True for a score, and False
        for a difference. The interval has no limits if more than 20 % of the resamples are undefined.
        """
        undefined_count = int(np.count_nonzero(np.isnan(sample.resampled)))
        defined = defined_resamples(sample.resampled)
        if defined is None:
            text = f"no interval: {undefined_count} of {len(sample.resampled)} resamples are 0/0"
            return _without_limits(sample.point, Note("WITHHELD", text), undefined_count)
        limits = self._limits(sample._replace(resampled=defined))
        # If all units are right, or all are wrong, every resample has the same score, and the limits are meaningless. A
        # note then gives the plausible share of other units (rule of three) instead of the note on few units.
        is_all_or_nothing = is_score and sample.point in (0.0, 1.0) and ALL_EQUAL in limits.notes
        notes_on_units = self._notes_on_units(sample.point, effective_units, is_all_or_nothing=is_all_or_nothing)
        notes_on_resamples = _notes_on_left_out(undefined_count, len(sample.resampled))
        notes = (*limits.notes, *notes_on_units, *notes_on_resamples)
        note_text = "; ".join(note.text for note in notes)
        return Interval(sample.point, limits.low, limits.high, undefined_count, note=note_text, notes=notes)

    def _notes_on_units(self, point: float, effective_units: int, *, is_all_or_nothing: bool) -> list[Note]:
        """Return a note on the units if the score or difference is all or nothing, or if few units affect it.

        `point` is the score or difference. A score is all or nothing if it is 1 in all resamples, or 0 in all of them.
        `effective_units` is the number of units whose denominator is not 0.
        """
        if is_all_or_nothing:
            return [note_on_all_or_nothing_score(point, effective_units, self.settings)]
        if effective_units < FEWEST_RELIABLE_UNITS <= self.unit_count:
            return [_note_on_few_effective_units(effective_units, self.unit_count)]
        return []

    def _limits(self, sample: _BootstrapSample) -> _BootstrapLimits:
        """Return the percentile or BCa limits, as the settings say, from resamples that all have a score.

        If both limits are equal, a note says why. Another note says why there are percentile limits instead of BCa
        limits.
        """
        if self.unit_count == 1:
            return _BootstrapLimits(sample.point, sample.point, (ONE_UNIT,))
        lowest = float(sample.resampled.min())
        highest = float(sample.resampled.max())
        if len(sample.resampled) == 1:
            return _BootstrapLimits(lowest, lowest, (ONE_RESAMPLE,))
        if highest - lowest <= sample.rounding:
            return _equal_limits(sample, lowest)
        if self.settings.method == "bca":
            return _bca_limits(sample, self.settings.significance_level)
        return _percentile_limits(sample, self.settings.significance_level)


class _BootstrapSample(NamedTuple):
    """The values of a score, or of a difference of two scores, from which its bootstrap interval is computed.

    `point` is the value on all units, `resampled` (N,) has the values in N resamples, and `jackknife` (units,) the
    values on all units but one. Two values that differ by at most `rounding` count as equal.
    """

    point: float
    resampled: Floats
    jackknife: Floats
    rounding: float


class _BootstrapLimits(NamedTuple):
    """The limits of a bootstrap interval, and notes on how they were computed."""

    low: float
    high: float
    notes: tuple[Note, ...]


def _equal_limits(sample: _BootstrapSample, resampled_score: float) -> _BootstrapLimits:
    """Return the limits of a sample in which all resamples have the same score, up to rounding.

    If this score agrees with the score on all units, the latter is the limit.
    """
    agrees = abs(resampled_score - sample.point) <= sample.rounding
    limit = sample.point if agrees else resampled_score
    return _BootstrapLimits(limit, limit, (ALL_EQUAL,))


def _percentile_limits(sample: _BootstrapSample, significance_level: float) -> _BootstrapLimits:
    """Return the limits between which the central share 1 - level of the resamples lies."""
    low, high = np.quantile(
        sample.resampled, [significance_level / 2, 1 - significance_level / 2], method="linear"
    ).tolist()
    return _BootstrapLimits(low, high, notes=())


def _bca_limits(sample: _BootstrapSample, significance_level: float) -> _BootstrapLimits:
    """Return the BCa limits of a sample, or its percentile limits with a note if BCa is undefined."""
    tails = _bca_tails(sample, significance_level)
    if tails is None:
        return _percentile_limits(sample, significance_level)._replace(notes=(BCA_UNDEFINED,))
    low, high = np.quantile(sample.resampled, tails, method="linear").tolist()
    return _BootstrapLimits(low, high, notes=())


def _notes_on_left_out(undefined_count: int, resample_count: int) -> tuple[Note, ...]:
    """Return a note if resamples without a score were left out; no note otherwise."""
    if undefined_count == 0:
        return ()
    return (Note("LEFT_OUT", f"{undefined_count} of {resample_count} resamples left out (0/0)"),)


def _note_on_few_effective_units(effective_units: int, unit_count: int) -> Note:
    """Return the note that few of the units affect a score, because the denominators of all others are 0."""
    text = (
        f"only {effective_units} of {unit_count} units count: bootstrap limits and p are too narrow below "
        f"{FEWEST_RELIABLE_UNITS}"
    )
    return Note("FEW_UNITS", text)


def _without_limits(point: float, note: Note, undefined_resamples: int = 0) -> Interval:
    """Return `point`, a score or difference, as an interval without limits; `note` says why there are none."""
    return Interval(point, None, None, undefined_resamples, note=note.text, notes=(note,))


def _with_equal_limits(point: float, note: Note) -> Interval:
    """Return an interval whose limits are both `point`, a score or difference; `note` says why they are equal."""
    return Interval(point, low=point, high=point, note=note.text, notes=(note,))


def _variance_of_sum(contributions: Floats, stratum_sizes: Sequence[int]) -> float:
    """Return the variance of the sum of the contributions (units,) of all units to a difference.

    The units of each stratum follow one another. A stratum of n units adds n times the variance of its contributions,
    and a stratum of one unit adds nothing.
    """
    variance = 0.0
    start = 0
    for size in stratum_sizes:
        contributions_in_stratum = contributions[start : start + size]
        start += size
        if size > 1:
            variance += size * float(contributions_in_stratum.var(ddof=1))
    return variance


def _bca_tails(sample: _BootstrapSample, significance_level: float) -> tuple[float, float] | None:
    """Return the shares of the resamples below the lower and the upper BCa limit: `(0.031, 0.981)`.

    They take the place of the shares level / 2 and 1 - level / 2 of a percentile interval. Let z0 = Phi^-1(share of
    resamples below the score) be the median bias, a the acceleration, and z = Phi^-1(level / 2). The lower share is
    Phi(z0 + (z0 + z) / (1 - a (z0 + z))), which `_bca_tail` computes, and the upper share is the same with -z instead
    of z. Returns None if all resamples lie on one side of the score, so that z0 is infinite.
    """
    share_below = _share_below_point(sample)
    if not 0.0 < share_below < 1.0:
        return None
    normal = statistics.NormalDist()
    bias = normal.inv_cdf(share_below)
    defined_jackknife = sample.jackknife[~np.isnan(sample.jackknife)]
    acceleration = _acceleration(defined_jackknife, sample.rounding)
    z = normal.inv_cdf(significance_level / 2)
    # The normal quantile of 1 - level / 2 is -z. It is not computed from 1 - level / 2, which may be rounded to 1.
    lower_tail = _bca_tail(z, bias, acceleration)
    upper_tail = _bca_tail(-z, bias, acceleration)
    return lower_tail, upper_tail


def _share_below_point(sample: _BootstrapSample) -> float:
    """Return the share of resamples below the score. Resamples that equal it within rounding count half."""
    below_count = np.count_nonzero(sample.resampled < sample.point - sample.rounding)
    not_above_count = np.count_nonzero(sample.resampled <= sample.point + sample.rounding)
    # This is the mean of both counts: resamples below the score are in both, and resamples equal to it are in one.
    return float((below_count + not_above_count) / (2 * len(sample.resampled)))


def _acceleration(jackknife: Floats, rounding: float) -> float:
    """Return the acceleration of BCa: sum(u^3) / (6 sum(u^2)^1.5), where u are the influences of the units.

    `jackknife` (units,) has the scores that leave out each unit in turn. The influence of a unit is the mean of these
    scores minus the score without this unit. If no influence is larger than `rounding`, the acceleration is 0.
    """
    if len(jackknife) == 0:
        return 0.0
    influences = np.ascontiguousarray(jackknife.mean() - jackknife)  # (units,)
    largest = float(np.abs(influences).max())
    if largest <= rounding:
        return 0.0
    influences /= largest  # changes no result, but prevents squares of tiny influences from becoming 0
    squares = influences * influences
    sum_of_squares = float(squares.sum())
    sum_of_cubes = float((squares * influences).sum())
    return sum_of_cubes / (6 * sum_of_squares * math.sqrt(sum_of_squares))


def _bca_tail(z: float, bias: float, acceleration: float) -> float:
    """Return the share of resamples below a BCa limit: Phi(bias + (bias + z) / (1 - acceleration (bias + z))).

    `z` is the normal quantile of the share of resamples below the percentile limit. The formula is meaningless if its
    denominator is not positive; the share is then 0 or 1. This hardly ever happens: the acceleration is at most 1/6, so
    `bias + z` would have to be at least 6 standard errors of the normal distribution.
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
    """Return the scores of a run with their intervals, by the name of the measure.

    `formula` computes a score for each of `measures` from the column sums of `table`. Raises InputError if there is no
    unit.
    """
    if not measures:
        return _intervals_without_measures(table.ids, resampling)
    systems = ResampledSystems([table.rows], formula, resampling, table.ids)  # the run is the only system
    interval_by_measure = {}
    for measure_index, measure in enumerate(measures):
        interval_by_measure[measure] = systems.score_interval(0, measure_index)
    return ScoreIntervals(systems.settings, len(table.ids), scores=interval_by_measure, notes=systems.notes)


def _intervals_without_measures(unit_ids: Sequence[str], resampling: Resampling) -> ScoreIntervals:
    """Return the intervals of a run without measures: there are none, but the settings of resampling are reported."""
    resampling_of_units = resampling.choose_methods_for_units(unit_ids)
    settings = resampling_of_units.settings
    notes = notes_on_intervals(len(unit_ids), settings, resampling_of_units.cluster_design)
    return ScoreIntervals(settings, len(unit_ids), scores={}, notes=notes)


def bootstrap_intervals(
    statistics: ArrayLike, formula: SumsFormula, resampling: Resampling | None = None, *, units: Sequence[str] = ()
) -> tuple[Interval, ...]:
    """Return the scores of one system with their bootstrap intervals, in the order of the formula.

    `formula` computes the scores from the column sums of `statistics` (units, k). `resampling` has the settings; the
    default is `Resampling()`. `units` are the ids of the units, which are only needed if the settings have clusters.
    Raises InputError if there is no unit, or if a statistic is not a finite number.
    """
    systems = ResampledSystems([statistics], formula, resampling, units)  # with a single system
    _, measure_count = systems.observed_scores.shape
    return tuple([systems.score_interval(0, measure_index) for measure_index in range(measure_count)])
