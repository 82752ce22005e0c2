"""Plan a comparison: what difference a test set detects, and how many units a difference needs.

Power is that of the test that a comparison makes of one pair. For units that are right or wrong that is the exact sign
test (`sign_test`). For all others it is planned by the paired t test of what each unit contributes to a difference
(`arithmetic.unit_contributions`), times the number of units; the mean of these numbers is the difference of the scores:

    P(|T| > c),   T noncentral t with shift effect * sqrt(n),   effect = difference / standard deviation of the numbers

with n - 1 degrees of freedom; from 20 units on the randomisation test has nearly the same power.
Source: docs/statistics/power.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.base.display import number_with_noun
from cs_score.base.documents import Document
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, replace
from cs_score.base.signature import answered_only_lines
from cs_score.measures.registry import select_names
from cs_score.statistics.distributions import root_of, t_limit, t_tail
from cs_score.statistics.options import FEWEST_RELIABLE_UNITS, Note
from cs_score.statistics.results import MeasureComparison, PairedSystems, SystemComparison
from cs_score.statistics.sign_test import MOST_UNITS_COMPUTED_EXACTLY, OutcomeShares, SignTest, shares_of_outcomes

MOST_UNITS: Final = 1_000_000_000
"""The most units that are planned for; nobody will ever have more."""

MOST_POWER: Final = 0.9999
"""The largest power that can be asked for."""

STEPS: Final = 24
"""Steps from the first to the last point of a power curve."""

_HALVINGS: Final = 40
"""Halvings of the interval from 0 to 1 after which a difference is known to twelve digits."""

PlannedTest: TypeAlias = Literal["t", "sign"]

# ---- The paired t test


def power_of_t_test(effect: float, units: float, level: float) -> float:
    """Return the power of a two-sided paired t test at a level: the probability that it calls an effect significant.

    `effect` is the mean of the units' differences divided by their standard deviation.
    """
    shift = effect * math.sqrt(units)
    return _power_at_shift(shift, units, level)


def _power_at_shift(shift: float, units: float, level: float) -> float:
    """Return P(|T| > c), where T is noncentral t with this shift and c the limit of a two-sided test at the level."""
    degrees_of_freedom = units - 1
    limit = t_limit(level / 2, degrees_of_freedom)
    return t_tail(limit, degrees_of_freedom, shift) + t_tail(limit, degrees_of_freedom, -shift)


def effect_for_t_test(units: float, level: float, power: float) -> float:
    """Return the smallest effect that a two-sided paired t test of so many units detects with the power.

    The effect is the mean of the units' differences divided by their standard deviation.
    """
    # The shift at which the test has just this power; power rises with the shift.
    smallest_shift = root_of(lambda shift: _power_at_shift(shift, units, level) - power, start=3.0)
    return smallest_shift / math.sqrt(units)


def units_for_t_test(effect: float, level: float, power: float) -> int | None:
    """Return the fewest units with which a two-sided paired t test detects an effect with the power.

    The effect is the mean of the units' differences divided by their standard deviation. Returns None if even
    `MOST_UNITS` are too few.
    """
    # Doubled until it is enough; then the interval between too few and enough is halved.
    too_few = 1
    enough = 2
    while power_of_t_test(effect, enough, level) < power:
        too_few = enough
        enough *= 2
        if enough > MOST_UNITS:
            return None
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if power_of_t_test(effect, middle, level) >= power:
            enough = middle
        else:
            too_few = middle
    return enough


# ---- Designs


class Aim(Record):
    """The aim of a test: its level `alpha`, its power, and the difference to be detected, None unless it was named."""

    difference: float | None = None
    alpha: float = 0.05
    power: float = 0.8

    def __post_init__(self) -> None:
        if not 0 < self.alpha < self.power < 1 or self.power > MOST_POWER:
            raise UsageError(
                f"alpha and power are 0 < alpha < power <= {MOST_POWER}, not {self.alpha:g} and {self.power:g}"
            )
        if self.difference is not None and not 0 < self.difference < math.inf:
            raise UsageError("the standard deviation and the difference are numbers above 0")


class TTestPowerAnalysis(Record, frozen=True):
    """Two systems whose units are graded, compared by a paired t test.

    `standard_deviation` is that of the units' differences; `a` and `b` are the names of the systems, if they have any.
    """

    standard_deviation: float
    a: str = ""
    b: str = ""

    test: Literal["t"] = "t"
    differing: None = None

    def power(self, difference: float, units: int, alpha: float) -> float:
        """Return the probability that the test calls the difference significant."""
        return power_of_t_test(difference / self.standard_deviation, units, alpha)

    def detectable_difference(self, units: int, aim: Aim) -> float:
        """Return the smallest difference that so many units detect with the power of the aim."""
        return effect_for_t_test(units, aim.alpha, aim.power) * self.standard_deviation

    def needed_units(self, difference: float, aim: Aim) -> int | None:
        """Return the fewest units that detect the difference with the power of the aim.

        Returns None if even `MOST_UNITS` are too few.
        """
        return units_for_t_test(difference / self.standard_deviation, aim.alpha, aim.power)


class SignTestPowerAnalysis(Record, frozen=True):
    """Two systems whose units are right or wrong, compared by the exact sign test.

    `differing` is the share of units in which they differ. Every difference up to this share is planned for with it;
    for a larger difference all units that differ are won.
    """

    differing: float
    standard_deviation: float
    a: str = ""
    b: str = ""

    test: Literal["sign"] = "sign"

    def power(self, difference: float, units: int, alpha: float) -> float:
        """Return the probability that the test calls the difference significant.

        For more than `MOST_UNITS_COMPUTED_EXACTLY` units it is the power of the t test, which is nearly the same.
        """
        shares = shares_of_outcomes(difference, self.differing)
        if units > MOST_UNITS_COMPUTED_EXACTLY:
            return power_of_t_test(_effect(shares), units, alpha)
        return SignTest(shares, alpha).power(units)

    def detectable_difference(self, units: int, aim: Aim) -> float | None:
        """Return the smallest difference that so many units detect with the power of the aim.

        Returns None if they do not even detect a difference of 1, the largest of all.
        """
        if self.power(1.0, units, aim.alpha) < aim.power:
            return None
        too_small = 0.0
        large_enough = 1.0
        for _ in range(_HALVINGS):
            middle = (too_small + large_enough) / 2
            if self.power(middle, units, aim.alpha) < aim.power:
                too_small = middle
            else:
                large_enough = middle
        return large_enough

    def needed_units(self, difference: float, aim: Aim) -> int | None:
        """Return the fewest units that detect the difference with the power of the aim.

        The power of this test sometimes falls as units are added. Therefore the next nine numbers of units must reach
        the power, too. If more than `MOST_UNITS_COMPUTED_EXACTLY` units are needed, the number is that of the t test.
        Returns None if the difference is above 1, or if even `MOST_UNITS` are too few.
        """
        if difference > 1:
            return None
        shares = shares_of_outcomes(difference, self.differing)
        units = SignTest(shares, aim.alpha).needed_units(aim.power)
        if units is not None:
            return units
        return units_for_t_test(_effect(shares), aim.alpha, aim.power)


Design: TypeAlias = TTestPowerAnalysis | SignTestPowerAnalysis


def _effect(shares: OutcomeShares) -> float:
    """Return the difference of two systems divided by the standard deviation of the units' differences.

    `shares` are the shares of units that are won and lost. If all units are won, the effect is infinite.
    """
    if not shares.deviation:
        return math.inf
    return (shares.wins - shares.losses) / shares.deviation


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


class _Plan(Record, frozen=True, dict=True):
    """A plan for two systems: their design, the number of units (None if it is not known), and the aim.

    `detectable_difference` and `needed_units` take long and are computed once.
    """

    design: Design
    units: int | None
    aim: Aim

    @cached_property
    def detectable_difference(self) -> float | None:
        """The smallest difference that these units detect.

        It is None if they detect no difference, or if their number is not known.
        """
        if self.units is None:
            return None
        return self.design.detectable_difference(self.units, self.aim)

    @cached_property
    def needed_units(self) -> int | None:
        """The number of units that detect the difference of the aim.

        It is None if even `MOST_UNITS` are too few, or if the aim names no difference.
        """
        if self.aim.difference is None:
            return None
        return self.design.needed_units(self.aim.difference, self.aim)

    @property
    def demand(self) -> tuple[float, float, float]:
        """How much the plan asks of a test set, to be compared with other plans.

        It is the detectable difference, then the number of units needed, then the standard deviation.
        """
        difference = math.inf if self.detectable_difference is None else self.detectable_difference
        units = math.inf if self.needed_units is None else self.needed_units
        return difference, units, self.design.standard_deviation

    def pair(self) -> PlannedPair:
        """Return the plan in the form that documents have."""
        design = self.design
        return PlannedPair(
            a=design.a,
            b=design.b,
            standard_deviation=design.standard_deviation,
            detectable=self.detectable_difference,
            needed=self.needed_units,
            test=design.test,
            differing=design.differing,
        )


def plan_test(
    designs: Sequence[Design],
    units: int | None,
    aim: Aim | None = None,
    *,
    task: str = "",
    measure: str | UnsetType = UNSET,
) -> PowerPlan:
    """Return the smallest difference that so many units detect, and how many units the difference of the aim needs.

    `designs` has a design for each pair of systems, and the result holds for all of them: it is that of the pair that
    needs the most. `units` is None if their number is not known. `task` and `measure` are only recorded. Raises
    UsageError for fewer than two units, for a standard deviation that is no number above 0, and if neither the number
    of units nor a difference is given.
    """
    if aim is None:
        aim = Aim()
    if units is not None and units < 2:
        raise UsageError(f"a paired test needs at least two units, not {units}")
    if not all(0 < design.standard_deviation < math.inf for design in designs):
        raise UsageError("the standard deviation and the difference are numbers above 0")
    if units is None and aim.difference is None:
        raise UsageError("there is nothing to plan: give the number of units or a difference")
    plans = [_Plan(design, units, aim) for design in designs]
    hardest = max(plans, key=lambda plan: plan.demand)
    has_named_systems = bool(hardest.design.a)
    # Fields about the number of units or the difference exist only if these are known.
    return PowerPlan(
        task=task,
        measure=measure,
        alpha=aim.alpha,
        power=aim.power,
        test=hardest.design.test,
        standard_deviation=hardest.design.standard_deviation,
        differing=hardest.design.differing,
        units=UNSET if units is None else units,
        detectable=UNSET if units is None else hardest.detectable_difference,
        difference=UNSET if aim.difference is None else aim.difference,
        needed=UNSET if aim.difference is None else hardest.needed_units,
        pairs=tuple(plan.pair() for plan in plans if plan.design.a),
        curve=tuple(_power_curve(hardest)),
        notes=tuple(_notes(hardest, is_from_runs=has_named_systems)),
    )


def _power_curve(plan: _Plan) -> Iterator[Point]:
    """Yield the power by difference, for the number of units of a plan and for twice and four times as many.

    Differences go from 0 to twice the detectable one, in equal steps. If the plan has no number of units, it is the
    number that its difference needs.
    """
    design = plan.design
    if plan.units:
        units = plan.units
        detectable = plan.detectable_difference
    else:
        units = plan.needed_units or MOST_UNITS
        detectable = design.detectable_difference(units, plan.aim)
    largest_difference = 1.0
    if detectable:
        largest_difference = 2 * detectable
    if design.test == "sign":
        largest_difference = min(1.0, largest_difference)  # scores of right and wrong units differ by no more
    for unit_count in (units, 2 * units, 4 * units):
        for step in range(STEPS + 1):
            difference = largest_difference * step / STEPS
            yield Point(unit_count, difference, design.power(difference, unit_count, plan.aim.alpha))


def _notes(plan: _Plan, *, is_from_runs: bool) -> Iterator[Note]:
    """Yield the notes on a plan: that its units are few, or too few to detect anything.

    If `is_from_runs`, the differences of units were estimated from these units and not given.
    """
    units = plan.units
    if units is None:
        return
    units_text = number_with_noun(units, "unit")
    if units < FEWEST_RELIABLE_UNITS:
        text = f"{units_text} only: below {FEWEST_RELIABLE_UNITS} such a plan is a hint at most"
        if is_from_runs:
            text += ", and how much units differ is hardly known from so few"
        yield Note("FEW_UNITS", text)
    if plan.detectable_difference is None:
        yield Note("NEVER_SIGNIFICANT", f"{units_text} are too few: no difference is found with that power")


def plan_from_comparison(comparison: SystemComparison, measure: str | None = None, aim: Aim | None = None) -> PowerPlan:
    """Return what difference the units of a comparison detect in each of its pairs under a measure.

    The measure is the primary one unless given. Raises UsageError for a measure that was not compared, and InputError
    if there is nothing to plan from: in each pair all units differ by the same amount.
    """
    compared = _comparison_under(comparison, measure)
    designs = []
    for pair in compared.pairs:
        design = power_analysis_of(pair)
        if design is not None:
            designs.append(design)
    if not designs:
        reason = "there is one unit only" if comparison.units < 2 else "no pair differs from unit to unit"
        raise InputError(f"nothing can be planned from this comparison by {compared.measure}: {reason}")
    units = comparison.primary.family.clusters or comparison.units
    plan = plan_test(designs, units, aim, task=comparison.task, measure=compared.measure)
    lines = answered_only_lines(comparison.origins)
    if not lines:
        return plan
    note = Note("ANSWERED_ONLY", "; ".join(lines))
    return replace(plan, notes=(*plan.notes, note))


def _comparison_under(comparison: SystemComparison, measure: str | None) -> MeasureComparison:
    """Return the comparison of the systems under one measure, the primary one if `measure` is None.

    Raises UsageError for a measure that was not compared.
    """
    if measure is None:
        return comparison.primary
    names = [compared.measure for compared in comparison.measures]
    name = select_names(names, [measure])[0]
    return comparison.measures[names.index(name)]


def power_analysis_of(pair: PairedSystems) -> Design | None:
    """Return the design of a test of two systems, as a comparison of them found their units to differ.

    Returns None if the standard deviation of the units' differences is 0 or does not exist.
    """
    if not pair.standard_deviation:
        return None
    t_design = TTestPowerAnalysis(standard_deviation=pair.standard_deviation, a=pair.a, b=pair.b)
    if not pair.are_right_or_wrong:
        return t_design
    if pair.wins is None or pair.losses is None or pair.ties is None:
        return t_design
    differing_count = pair.wins + pair.losses
    unit_count = differing_count + pair.ties
    return SignTestPowerAnalysis(
        differing=differing_count / unit_count, standard_deviation=pair.standard_deviation, a=pair.a, b=pair.b
    )
