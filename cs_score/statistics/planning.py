"""Power analysis: the difference between two systems that a test set can detect, and the units that a difference needs.
The power of a test is the probability that it calls a difference significant. The effect size is the difference in
standard deviations of the units' differences.

If all units are right or wrong, power is that of the exact sign test (`sign_test`). Otherwise it is that of the paired
t test of the differences of the units. The difference of a unit is its contribution to the difference of the scores
(`arithmetic.unit_contributions`) times the number of units, so that the mean of the differences is the difference of
the scores. With n units the power is

    P(|T| > c),   effect size = difference / standard deviation of the differences of the units

where T is noncentral t with n - 1 degrees of freedom and the noncentrality effect size * sqrt(n), and c is the critical
value. With 20 or more units the randomisation test has nearly the same power.
Source: docs/statistics/power.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.base.display import number_with_noun
from cs_score.base.documents import Document
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, replace
from cs_score.base.signature import answered_only_lines
from cs_score.measures import select_names
from cs_score.statistics.distributions import root_of, smallest_sufficient, t_limit, t_tail
from cs_score.statistics.resampling_settings import FEWEST_RELIABLE_UNITS, Note
from cs_score.statistics.results import MeasureComparison, PairedSystems, SystemComparison
from cs_score.statistics.sign_test import MOST_UNITS_COMPUTED_EXACTLY, OutcomeShares, SignTest, shares_of_outcomes

MOST_UNITS: Final = 1_000_000_000
"""The largest number of units that a plan may need. Nobody will ever have more."""

MOST_POWER: Final = 0.9999
"""The largest power that a user can ask for."""

STEPS: Final = 24
"""The number of steps from the first to the last point of a power curve."""

_HALVINGS: Final = 40
"""After so many halvings of the interval from 0 to 1 a difference is known to twelve digits."""

PlannedTest: TypeAlias = Literal["t", "sign"]

# ---- The paired t test


def power_of_t_test(effect_size: float, unit_count: float, significance_level: float) -> float:
    """Return the power of a two-sided paired t test: the probability of finding a significant difference.

    `effect_size` is the mean of the units' differences divided by their standard deviation. The number of units need
    not be a whole number, because the formula is continuous.
    """
    noncentrality = effect_size * math.sqrt(unit_count)
    return _power_at_noncentrality(noncentrality, unit_count, significance_level)


def _power_at_noncentrality(noncentrality: float, unit_count: float, significance_level: float) -> float:
    """Return the power of a two-sided paired t test, given the noncentrality: effect size * sqrt(units)."""
    degrees_of_freedom = unit_count - 1
    critical_value = t_limit(significance_level / 2, degrees_of_freedom)
    p_above = t_tail(critical_value, degrees_of_freedom, noncentrality)
    # P(T < -c) with the noncentrality d is P(T > c) with -d, as the distribution is mirrored.
    p_below = t_tail(critical_value, degrees_of_freedom, -noncentrality)
    return p_above + p_below


def detectable_effect_size(unit_count: float, significance_level: float, power: float) -> float:
    """Return the smallest effect size that a two-sided paired t test on so many units detects with the given power.

    The effect size is the mean of the differences of the units divided by their standard deviation.
    """
    # Power increases with the noncentrality, so that it has the given value at a single noncentrality.
    smallest_noncentrality = root_of(
        lambda noncentrality: _power_at_noncentrality(noncentrality, unit_count, significance_level) - power, start=3.0
    )
    return smallest_noncentrality / math.sqrt(unit_count)


def units_for_t_test(effect_size: float, significance_level: float, power: float) -> int | None:
    """Return the smallest number of units on which a two-sided paired t test detects an effect with the given power.

    `effect_size` is the mean of the differences of the units divided by their standard deviation. Returns None if even
    `MOST_UNITS` are too few.
    """
    return smallest_sufficient(
        lambda unit_count: power_of_t_test(effect_size, unit_count, significance_level) >= power,
        start=2,
        largest=MOST_UNITS,
    )


# ---- Power analyses


class DetectionGoal(Record):
    """The goal of a test: to detect a difference between two systems at the level `alpha` with a probability (`power`).

    The difference is None if the user named none.
    """

    difference: float | None = None
    alpha: float = 0.05
    power: float = 0.8

    def __post_init__(self) -> None:
        """Raise UsageError if level and power are out of range, or if the difference is not a number above 0."""
        are_in_order = 0 < self.alpha < self.power < 1
        if not are_in_order or self.power > MOST_POWER:
            raise UsageError(
                f"alpha and power are 0 < alpha < power <= {MOST_POWER}, not {self.alpha:g} and {self.power:g}"
            )
        if self.difference is not None and not 0 < self.difference < math.inf:
            # `_check_plan` raises an error with the same message for a wrong standard deviation.
            raise UsageError("the standard deviation and the difference are numbers above 0")


class TTestPowerAnalysis(Record, frozen=True):
    """The power analysis of two systems that are compared by a paired t test, because their units are graded.

    `standard_deviation` is that of the differences of the units. `a` and `b` are the names of the systems, or empty.
    """

    standard_deviation: float
    a: str = ""
    b: str = ""

    test: Literal["t"] = "t"
    differing_share: None = None

    def power(self, difference: float, unit_count: int, alpha: float) -> float:
        """Return the probability that the test calls the difference significant."""
        effect_size = difference / self.standard_deviation
        return power_of_t_test(effect_size, unit_count, alpha)

    def detectable_difference(self, unit_count: int, goal: DetectionGoal) -> float:
        """Return the smallest difference that a test on so many units detects with the power of the goal."""
        effect_size = detectable_effect_size(unit_count, goal.alpha, goal.power)
        return effect_size * self.standard_deviation

    def needed_units(self, difference: float, goal: DetectionGoal) -> int | None:
        """Return the fewest units that detect the difference with the power of the goal.

        Returns None if even `MOST_UNITS` are too few.
        """
        effect_size = difference / self.standard_deviation
        return units_for_t_test(effect_size, goal.alpha, goal.power)


class SignTestPowerAnalysis(Record, frozen=True):
    """The power analysis of two systems that are compared by the exact sign test: their units are right or wrong.

    `differing_share` is the share of units in which the systems differ. For a difference above this share it is assumed
    that they differ in a share of units as large as the difference, and that one system wins all of these.
    `standard_deviation` is that of the differences of the units. `a` and `b` are the names of the systems, or empty.
    """

    differing_share: float
    standard_deviation: float
    a: str = ""
    b: str = ""

    test: Literal["sign"] = "sign"

    def power(self, difference: float, unit_count: int, alpha: float) -> float:
        """Return the probability that the test calls the difference significant.

        For more than `MOST_UNITS_COMPUTED_EXACTLY` units this is the power of the t test, which is nearly the same.
        """
        shares = shares_of_outcomes(difference, self.differing_share)
        if unit_count > MOST_UNITS_COMPUTED_EXACTLY:
            return power_of_t_test(_effect_size(shares), unit_count, alpha)
        return SignTest(shares, alpha).power(unit_count)

    def detectable_difference(self, unit_count: int, goal: DetectionGoal) -> float | None:
        """Return the smallest difference that a test on so many units detects with the power of the goal.

        Returns None if the test does not even detect a difference of 1, which is the largest possible difference.
        """
        if self.power(1.0, unit_count, goal.alpha) < goal.power:
            return None
        too_small = 0.0
        large_enough = 1.0
        for _ in range(_HALVINGS):
            middle = (too_small + large_enough) / 2
            if self.power(middle, unit_count, goal.alpha) < goal.power:
                too_small = middle
            else:
                large_enough = middle
        return large_enough

    def needed_units(self, difference: float, goal: DetectionGoal) -> int | None:
        """Return the fewest units that detect the difference with the power of the goal.

        The power of this test sometimes falls as units are added. Therefore, the next nine numbers of units must reach
        the power, too. If more than `MOST_UNITS_COMPUTED_EXACTLY` units are needed, the number is computed for the t
        test instead. Returns None if the difference is above 1, or if even `MOST_UNITS` are too few.
        """
        if difference > 1:
            return None
        shares = shares_of_outcomes(difference, self.differing_share)
        # `SignTest` also tries the next nine numbers. It returns None if more than `MOST_UNITS_COMPUTED_EXACTLY` units
        # are needed.
        units_of_sign_test = SignTest(shares, goal.alpha).needed_units(goal.power)
        if units_of_sign_test is not None:
            return units_of_sign_test
        # The result is None if more than `MOST_UNITS` are needed.
        return units_for_t_test(_effect_size(shares), goal.alpha, goal.power)


PowerAnalysis: TypeAlias = TTestPowerAnalysis | SignTestPowerAnalysis


def _effect_size(shares: OutcomeShares) -> float:
    """Return the difference of two systems divided by the standard deviation of the differences of their units.

    `shares` has the shares of the units that one system wins and loses. If it wins all units, the effect size is
    infinite.
    """
    if shares.standard_deviation == 0:  # also if no unit differs, but then there is no power analysis
        return math.inf
    return (shares.wins - shares.losses) / shares.standard_deviation


# ---- Plans


class PlannedPair(Record):
    """Two systems: how their units differ, what can be detected, and how many units a difference needs.

    `test` is the exact sign test for units that are right or wrong, `differing` then the share of units in which the
    systems differ. `detectable` is None where no difference is detected with so few units; `needed` is None where no
    difference was named, or even a thousand million units are too few.
    """

    a: str
    b: str
    standard_deviation: float
    detectable: float | None
    needed: int | None
    test: PlannedTest = "t"
    differing: float | None = None


class Point(Record):
    """The power of the test for a difference and a number of units."""

    units: int
    difference: float
    power: float


class PowerPlan(Document, frozen=True, kw_only=True, tag="power"):
    """What a two-sided test at the level `alpha` shows of two systems.

    With `units` units it calls the difference `detectable` significant with the probability `power`, and it needs
    `needed` units for `difference`. Of several pairs that is said of the one that needs the most, with its `test` and
    `standard_deviation`, so that it holds for all of them. `curve` is the power by difference, for the number of units
    and for twice and four times as many; `notes` say what a reader must know of it.
    """

    schema_version: Literal[2] = 2
    alpha: float
    power: float
    test: PlannedTest
    standard_deviation: float
    differing: float | None = None
    units: int | UnsetType = UNSET
    detectable: float | UnsetType | None = UNSET
    difference: float | UnsetType = UNSET
    needed: int | UnsetType | None = UNSET
    pairs: tuple[PlannedPair, ...] = ()
    curve: tuple[Point, ...] = ()
    notes: tuple[Note, ...] = ()


class _PairPlan(Record, frozen=True, dict=True):
    """A plan for a comparison of two systems: their power analysis, the number of units, and the goal.

    `units` is None if the number of units is not known. `detectable_difference` and `needed_units` take long to compute
    and are therefore cached.
    """

    analysis: PowerAnalysis
    units: int | None
    goal: DetectionGoal

    @cached_property
    def detectable_difference(self) -> float | None:
        """The smallest difference that the units detect with the power of the goal.

        It is None if they detect no difference, or if their number is not known.
        """
        if self.units is None:
            return None
        return self.analysis.detectable_difference(self.units, self.goal)

    @cached_property
    def needed_units(self) -> int | None:
        """The smallest number of units that detect the difference of the goal.

        It is None if even `MOST_UNITS` are too few, or if the goal names no difference.
        """
        if self.goal.difference is None:
            return None
        return self.analysis.needed_units(self.goal.difference, self.goal)

    @property
    def demand(self) -> tuple[float, float, float]:
        """A key that orders plans by how large a test set they need: `(0.031, 1200, 0.42)`.

        It has the detectable difference, the number of units needed, and the standard deviation.
        """
        difference = math.inf if self.detectable_difference is None else self.detectable_difference
        units = math.inf if self.needed_units is None else self.needed_units
        return difference, units, self.analysis.standard_deviation

    @property
    def has_named_systems(self) -> bool:
        """Whether the systems have names. They have none if the user gave their standard deviation instead of runs."""
        return bool(self.analysis.a)

    def pair(self) -> PlannedPair:
        """Return the plan of one pair of systems as documents have it."""
        analysis = self.analysis
        return PlannedPair(
            a=analysis.a,
            b=analysis.b,
            standard_deviation=analysis.standard_deviation,
            detectable=self.detectable_difference,
            needed=self.needed_units,
            test=analysis.test,
            differing=analysis.differing_share,
        )


def plan_test(
    analyses: Sequence[PowerAnalysis],
    units: int | None,
    goal: DetectionGoal | None = None,
    *,
    task: str = "",
    measure: str | UnsetType = UNSET,
) -> PowerPlan:
    """Return the smallest difference that `units` units can detect, and how many units the goal's difference needs.

    `analyses` has a power analysis for each pair of systems. The result is that of the pair that needs the largest test
    set, so that it holds for all pairs. `units` is None if the number of units is not known. `task` and `measure` are
    only recorded in the result.

    Raises UsageError if there are fewer than two units, if a standard deviation is not a number above 0, or if neither
    the number of units nor a difference is given.
    """
    if goal is None:
        goal = DetectionGoal()
    _check_plan(analyses, units, goal)
    plans = [_PairPlan(analysis, units, goal) for analysis in analyses]
    most_demanding = max(plans, key=lambda plan: plan.demand)
    # Fields about the number of units or the difference exist only if these are known.
    return PowerPlan(
        task=task,
        measure=measure,
        alpha=goal.alpha,
        power=goal.power,
        test=most_demanding.analysis.test,
        standard_deviation=most_demanding.analysis.standard_deviation,
        differing=most_demanding.analysis.differing_share,
        units=UNSET if units is None else units,
        detectable=UNSET if units is None else most_demanding.detectable_difference,
        difference=UNSET if goal.difference is None else goal.difference,
        needed=UNSET if goal.difference is None else most_demanding.needed_units,
        pairs=tuple(plan.pair() for plan in plans if plan.has_named_systems),
        curve=tuple(_power_curve(most_demanding)),
        notes=tuple(_notes(most_demanding)),
    )


def _check_plan(analyses: Sequence[PowerAnalysis], units: int | None, goal: DetectionGoal) -> None:
    """Raise UsageError if a plan cannot be made from these power analyses, this number of units, and this goal.

    It cannot if there are fewer than two units, if a standard deviation is not a number above 0, or if neither the
    number of units nor a difference is given.
    """
    if units is not None and units < 2:
        raise UsageError(f"a paired test needs at least two units, not {units}")
    if not all(0 < analysis.standard_deviation < math.inf for analysis in analyses):
        raise UsageError("the standard deviation and the difference are numbers above 0")
    if units is None and goal.difference is None:
        raise UsageError("there is nothing to plan: give the number of units or a difference")


def _power_curve(plan: _PairPlan) -> Iterator[Point]:
    """Yield the points of power curves, for the number of units of a plan and for twice and four times as many.

    The differences range from 0 to twice the detectable difference, in equal steps. If the plan does not give the
    number of units, the number that its difference needs is used; if that is unknown, too, `MOST_UNITS` is used.
    """
    first_unit_count = plan.units or plan.needed_units or MOST_UNITS
    largest_difference = _largest_difference_of_curve(plan, first_unit_count)
    for unit_count in (first_unit_count, 2 * first_unit_count, 4 * first_unit_count):
        for step in range(STEPS + 1):
            difference = largest_difference * step / STEPS
            power = plan.analysis.power(difference, unit_count, plan.goal.alpha)
            yield Point(unit_count, difference, power)


def _largest_difference_of_curve(plan: _PairPlan, units: int) -> float:
    """Return the largest difference of a power curve: twice the difference that a test on `units` units can detect.

    It is 1 if the test cannot detect any difference. If units are either right or wrong, it is at most 1, because two
    systems cannot differ by more.
    """
    if plan.units is None:
        # The plan has no detectable difference. The difference that `units` units can detect is used instead.
        detectable = plan.analysis.detectable_difference(units, plan.goal)
    else:
        detectable = plan.detectable_difference
    if not detectable:
        return 1.0
    are_right_or_wrong = plan.analysis.test == "sign"  # the sign test is only planned for such units
    return min(1.0, 2 * detectable) if are_right_or_wrong else 2 * detectable


def _notes(plan: _PairPlan) -> Iterator[Note]:
    """Yield a note if a plan has few units, and another one if it has too few to detect any difference.

    If the systems have names, the standard deviation was estimated from these units and not given by the user. Then the
    note on few units says that the standard deviation is hardly known.
    """
    if plan.units is None:
        return
    units_text = number_with_noun(plan.units, "unit")
    if plan.units < FEWEST_RELIABLE_UNITS:
        text = f"{units_text} only: below {FEWEST_RELIABLE_UNITS} such a plan is a hint at most"
        if plan.has_named_systems:
            text += ", and how much units differ is hardly known from so few"
        yield Note("FEW_UNITS", text)
    if plan.detectable_difference is None:
        yield Note("NEVER_SIGNIFICANT", f"{units_text} are too few: no difference is found with that power")


def plan_from_comparison(
    comparison: SystemComparison, measure: str | None = None, goal: DetectionGoal | None = None
) -> PowerPlan:
    """Return the power plan of the pairs of systems in a comparison, under one measure.

    The plan says which difference the units of the comparison can detect. `measure` defaults to the primary measure.
    `goal` has the power and the level of the test and, optionally, the difference to detect; it defaults to
    `DetectionGoal()`. Raises UsageError if the comparison does not have the measure. Raises InputError if no pair has
    differences that vary from unit to unit, because then there is no standard deviation to plan with.
    """
    compared = _comparison_under(comparison, measure)
    analyses = _power_analyses(compared.pairs)
    if not analyses:
        reason = "there is one unit only" if comparison.units < 2 else "no pair differs from unit to unit"
        raise InputError(f"nothing can be planned from this comparison by {compared.measure}: {reason}")
    # If units are drawn in clusters, the clusters are the units of the tests.
    cluster_count = comparison.primary.family.clusters
    drawn_count = comparison.units if cluster_count is None else cluster_count
    plan = plan_test(analyses, drawn_count, goal, task=comparison.task, measure=compared.measure)
    return replace(plan, notes=plan.notes + _notes_on_answered_units(comparison))


def _power_analyses(pairs: Iterable[PairedSystems]) -> list[PowerAnalysis]:
    """Return the power analysis of each pair whose difference varies from unit to unit."""
    analyses = []
    for pair in pairs:
        power_analysis = power_analysis_of(pair)
        if power_analysis is not None:
            analyses.append(power_analysis)
    return analyses


def _notes_on_answered_units(comparison: SystemComparison) -> tuple[Note, ...]:
    """Return a note that names the systems that were scored only on the units that they answer, or an empty tuple."""
    lines = answered_only_lines(comparison.origins)
    if not lines:
        return ()
    return (Note("ANSWERED_ONLY", "; ".join(lines)),)


def _comparison_under(comparison: SystemComparison, measure: str | None) -> MeasureComparison:
    """Return the part of a comparison about one measure, by default the primary measure.

    Raises UsageError if the comparison does not have the measure.
    """
    if measure is None:
        return comparison.primary
    names = [compared.measure for compared in comparison.measures]
    name = select_names(names, [measure])[0]
    return comparison.measures[names.index(name)]


def power_analysis_of(pair: PairedSystems) -> PowerAnalysis | None:
    """Return the power analysis of two systems, given the result of their comparison.

    Returns None if the standard deviation of the differences of the units is 0 or does not exist.
    """
    if not pair.standard_deviation:
        return None
    # The sign test counts units that are right for one system only. Without these counts, the t test is planned.
    if not pair.are_right_or_wrong or pair.wins is None or pair.losses is None or pair.ties is None:
        return TTestPowerAnalysis(standard_deviation=pair.standard_deviation, a=pair.a, b=pair.b)
    differing_count = pair.wins + pair.losses
    unit_count = differing_count + pair.ties
    return SignTestPowerAnalysis(
        differing_share=differing_count / unit_count, standard_deviation=pair.standard_deviation, a=pair.a, b=pair.b
    )
