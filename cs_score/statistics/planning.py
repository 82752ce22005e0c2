"""What a test set can show of a difference.

Power rests on what each unit adds to a difference, times the number of units (`arithmetic.contributions`), whose mean
is the difference of the scores. A paired t test of those n numbers, with n - 1 degrees of freedom, has the power

    P(|T| > c),   T noncentral t with shift effect * sqrt(n),   effect = difference / standard deviation of the numbers

Sources: docs/statistics/power.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import UNSET, UnsetType

from cs_score.base.documents import Document
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record
from cs_score.measures.registry import chosen
from cs_score.statistics.distributions import root_of, t_limit, t_tail
from cs_score.statistics.results import Comparison

MOST_UNITS: Final = 1_000_000_000
"""Units that nobody will ever have."""

MOST_POWER: Final = 0.9999

NO_NAMES: Final = ("", "")
"""The pair of a standard deviation that somebody has from elsewhere."""

STEPS: Final = 24
"""Steps of a curve."""


def power_of(effect: float, units: float, level: float) -> float:
    """The probability that a paired t test of two sides calls an effect, in standard deviations, significant."""
    limit = t_limit(level / 2, units - 1)
    shift = effect * math.sqrt(units)
    return t_tail(limit, units - 1, shift) + t_tail(limit, units - 1, -shift)


def detectable_effect(units: float, level: float, power: float) -> float:
    """The smallest effect, in standard deviations, that the test calls significant with this probability."""
    limit = t_limit(level / 2, units - 1)
    shift = root_of(lambda x: t_tail(limit, units - 1, x) + t_tail(limit, units - 1, -x) - power, 3.0)
    return shift / math.sqrt(units)


def needed_units(effect: float, level: float, power: float) -> int | None:
    """The fewest units with which the test calls an effect significant so probably; None above a thousand million."""
    few, many = 1, 2
    while power_of(effect, many, level) < power:
        few, many = many, many * 2
        if many > MOST_UNITS:
            return None
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if power_of(effect, middle, level) >= power else (middle, many)
    return many


# ---- A design


class PlannedPair(Record):
    """Two systems: how much their units' differences vary, what can be detected, and how many units a difference needs.

    `needed` is None where no difference was named, or even a thousand million units are too few.
    """

    a: str
    b: str
    standard_deviation: float
    detectable: float
    needed: int | None


class Point(Record):
    """The power of the test for a difference and a number of units."""

    units: int
    difference: float
    power: float


class Power(Document, frozen=True, kw_only=True, tag="power"):
    """What a paired t test of two sides at the level `alpha` shows of systems that differ.

    With `units` units it calls the difference `detectable` significant with the probability `power`, and it needs
    `needed` units for `difference`. `standard_deviation` is that of the units' differences: of several pairs the
    largest, so that what is said holds for all of them. `curve` is the power by difference, for the number of units and
    for twice and four times as many.
    """

    schema_version: Literal[1] = 1
    alpha: float
    power: float
    standard_deviation: float
    units: int | UnsetType = UNSET
    detectable: float | UnsetType = UNSET
    difference: float | UnsetType = UNSET
    needed: int | UnsetType | None = UNSET
    pairs: tuple[PlannedPair, ...] = ()
    curve: tuple[Point, ...] = ()


def planned(
    deviations: Mapping[tuple[str, str], float],
    units: int | None,
    difference: float | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    *,
    task: str = "",
    measure: str | UnsetType = UNSET,
) -> Power:
    """What so many units show, and how many a difference needs, given the standard deviation of each pair. Raises
    UsageError for what is no level, power, number of units or number above 0, and for neither units nor a difference.
    """
    if not 0 < alpha < power < 1 or power > MOST_POWER:
        raise UsageError(f"alpha and power are 0 < alpha < power <= {MOST_POWER}, not {alpha:g} and {power:g}")
    if units is not None and units < 2:
        raise UsageError(f"a paired test needs at least two units, not {units}")
    if not all(0 < number < math.inf for number in (*deviations.values(), 1.0 if difference is None else difference)):
        raise UsageError("the standard deviation and the difference are numbers above 0")
    if units is None and difference is None:
        raise UsageError("there is nothing to plan: give the number of units or a difference")
    largest = max(deviations.values())
    smallest = None if units is None else detectable_effect(units, alpha, power)
    needed: dict[float, int | None] = dict.fromkeys(deviations.values())
    if difference is not None:
        needed = {each: needed_units(difference / each, alpha, power) for each in needed}
    shown = units or needed[largest] or MOST_UNITS
    top = 2 * largest * (smallest or detectable_effect(shown, alpha, power))
    return Power(
        task=task,
        measure=measure,
        alpha=alpha,
        power=power,
        standard_deviation=largest,
        units=UNSET if units is None else units,
        detectable=UNSET if smallest is None else smallest * largest,
        difference=UNSET if difference is None else difference,
        needed=UNSET if difference is None else needed[largest],
        pairs=tuple(
            PlannedPair(*names, each, (smallest or 0.0) * each, needed[each])
            for names, each in deviations.items()
            if names != NO_NAMES
        ),
        curve=tuple(
            Point(number, top * step / STEPS, power_of(top * step / STEPS / largest, number, alpha))
            for number in (shown, 2 * shown, 4 * shown)
            for step in range(STEPS + 1)
        ),
    )


def of_comparison(comparison: Comparison, measure: str | None = None, *asked: Any) -> Power:
    """What the units of a comparison show of its pairs, under a measure; unless given the one that ranks. `asked` are
    difference, alpha and power as in `planned`. Raises UsageError for a measure that was not compared, InputError where
    the differences of no pair vary.
    """
    names = [each.measure for each in comparison.measures]
    wanted = comparison.primary.measure if measure is None else chosen(names, [measure])[0]
    pairs = comparison.measures[names.index(wanted)].pairs
    deviations = {(pair.a, pair.b): pair.standard_deviation for pair in pairs if pair.standard_deviation}
    if not deviations:
        reason = "there is one unit only" if comparison.units < 2 else "no pair differs from unit to unit"
        raise InputError(f"nothing can be planned from this comparison by {wanted}: {reason}")
    units = comparison.primary.family.clusters or comparison.units
    return planned(deviations, units, *asked, task=comparison.task, measure=wanted)
