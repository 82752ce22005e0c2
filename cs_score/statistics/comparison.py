"""Two or more systems on the same units: intervals, paired tests, ranks and tiers for every measure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from cs_score.base.errors import UsageError
from cs_score.base.records import Record, asdict, replace
from cs_score.base.runtime import Late
from cs_score.measures.registry import Ratio
from cs_score.statistics.arithmetic import Floats, Formula, exact_statistics
from cs_score.statistics.intervals import interval, jackknife_for
from cs_score.statistics.options import Resampling, common_only, governed, never_significant, notes_of
from cs_score.statistics.paired_tests import (
    FamilyTests,
    Pair,
    family_pairs,
    family_tests,
    paired_bootstrap_p,
    rank_ranges,
    ranks,
    tiers,
    unit_record,
)
from cs_score.statistics.planning import effect_of, equivalences
from cs_score.statistics.resampling import bootstrap_scores, point_scores, unit_ratios
from cs_score.statistics.results import Comparison, Interval, MeasureComparison, PairedSystems, RankedSystem
from cs_score.statistics.units import UnitTable, common_units, same_units

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike
else:
    np = Late("numpy")

_MOST_SCORES: Final = 1 << 27
"""Scores of resamples, at 8 bytes each, up to which their number grows by itself."""


def compare(
    systems: Mapping[str, ArrayLike],
    units: Sequence[str],
    measures: Sequence[str],
    scores: Formula,
    resampling: Resampling | None = None,
    *,
    primary: str | None = None,
    has_signs: bool = False,
    equivalence: float | None = None,
    dropped: Mapping[str, tuple[str, ...]] | None = None,
) -> Comparison:
    """Compare systems by name, given their statistics (units, k) in the same order of `units`.

    `scores` gives one column per name in `measures`; a higher score is better. `primary` is the measure that is not
    exploratory, the first unless given; `has_signs` is as in `family_tests`. `dropped` are units of systems that are
    not among `units`, `equivalence` the margin of that test.
    Without settings, or where these let their number grow, there are as many resamples as significance needs.
    Raises UsageError for fewer than two systems and a margin that is no number above 0, InputError where statistics
    cannot be resampled.
    """
    _check(systems, equivalence)
    rows = len(np.asarray(next(iter(systems.values()))))
    if rows != len(units):
        raise ValueError(f"{len(units)} units for matrices of {rows} rows")
    settings, drawn = (resampling or Resampling(can_grow=True)).for_units(units)
    statistics = exact_statistics(list(systems.values()), drawn)
    points = point_scores(statistics, scores)
    if len(measures) != points.shape[1]:
        raise ValueError(f"{len(measures)} names for {points.shape[1]} measures")
    pairs = family_pairs(list(systems), settings)
    corrected = len(pairs) if settings.correction_of(len(systems)) == "holm" else 1
    settings = settings.enough_for(corrected, _MOST_SCORES // points.size)
    found = _Found(
        tuple(systems),
        settings,
        equivalence,
        pairs,
        points,
        jackknife_for(settings, statistics, scores),
        unit_ratios(statistics, scores),
        bootstrap_scores(statistics, scores, settings),
        family_tests(statistics, scores, pairs, settings, has_signs=has_signs),
    )
    primary = primary or measures[0]
    return Comparison(
        task="",
        measure=primary,
        systems=found.names,
        units=rows,
        resampling=settings,
        notes=(
            *(() if dropped is None else (common_only(rows, dropped),)),
            *never_significant(found.tested.family, statistics.units, settings.level),
            *notes_of(rows, settings, drawn),
        ),
        dropped=UNSET if dropped is None else dropped,
        measures=tuple(_compared(found, column, name, primary) for column, name in enumerate(measures)),
    )


def _compared(found: _Found, column: int, measure: str, primary: str) -> MeasureComparison:
    pairs, level = _pairs(found, column), found.resampling.level
    notes = governed([f"{pair.a} and {pair.b}" for pair in pairs if pair.disagrees(level)])
    ranked = _ranked(found, column, pairs)
    return MeasureComparison(measure, measure != primary, found.tested.family, ranked, pairs, notes)


def compare_tables(
    tables: Mapping[str, UnitTable],
    measures: Sequence[str],
    scores: Formula,
    resampling: Resampling | None = None,
    *,
    common: bool = False,
    primary: str | None = None,
    has_signs: bool = False,
    equivalence: float | None = None,
) -> Comparison:
    """`compare` for the tables of a mode, by system name.

    With `common` the systems are compared on the units that all have; otherwise systems with different units are
    refused. Raises InputError, naming units, and what `compare` raises.
    """
    _check(tables, equivalence)
    aligned = common_units(tables) if common else same_units(tables)
    dropped = aligned.dropped if common else None
    return compare(
        aligned.rows, aligned.ids, measures, scores, resampling, primary=primary, has_signs=has_signs,
        equivalence=equivalence,
        dropped=dropped,
    )  # fmt: skip


def _check(systems: Sized, equivalence: float | None) -> None:
    if equivalence is not None and not 0 < equivalence < math.inf:
        raise UsageError(f"the margin of an equivalence is a number above 0, not {equivalence:g}")
    if len(systems) < 2:
        raise UsageError("a comparison needs at least two systems")


class _Found(Record):
    """What all measures are read from; shapes as in `resampling`."""

    names: tuple[str, ...]
    resampling: Resampling
    equivalence: float | None
    pairs: list[Pair]
    points: Floats
    jackknife: Floats
    unit: Ratio
    resampled: Floats
    tested: FamilyTests

    def ratio(self, system: int, column: int) -> Ratio:
        """What each unit adds to either side of a score."""
        return Ratio(self.unit.numerator[:, system, column], self.unit.denominator[:, system, column])


def _pairs(found: _Found, column: int) -> tuple[PairedSystems, ...]:
    units = len(found.unit.denominator)
    compared = []
    for place, (first, second) in enumerate(found.pairs):
        resampled = found.resampled[column, second] - found.resampled[column, first]
        jackknife = found.jackknife[:, second, column] - found.jackknife[:, first, column]
        one, other = found.points[[first, second], column].tolist()
        counted = np.count_nonzero(found.unit.denominator[:, [first, second], column].any(axis=1))
        limits = interval(
            other - one, resampled, jackknife, units, found.resampling, counted=int(counted),
            scale=max(abs(one), abs(other)),
        )  # fmt: skip
        record = unit_record(found.ratio(second, column), found.ratio(first, column))
        effect = effect_of(found.ratio(first, column), found.ratio(second, column), record)
        compared.append(
            PairedSystems(
                a=found.names[first],
                b=found.names[second],
                difference=limits.point,
                **_limits(limits),
                p=found.tested.p[column][place],
                p_adjusted=found.tested.p_adjusted[column][place],
                p_bootstrap=paired_bootstrap_p(other, one, resampled, units),
                wins=record[0],
                ties=record[1],
                losses=record[2],
                **effect,
            )
        )
    if found.equivalence is not None:
        sizes, deviations = [pair.difference for pair in compared], [pair.standard_deviation for pair in compared]
        equal = equivalences(sizes, deviations, units, found.equivalence, found.resampling.level)
        compared = [replace(pair, equivalence=each) for pair, each in zip(compared, equal)]
    return tuple(compared)


def _limits(found: Interval) -> dict[str, Any]:
    """All of an interval but what it is the interval of."""
    return {name: value for name, value in asdict(found).items() if name != "point"}


def _ranked(found: _Found, column: int, pairs: tuple[PairedSystems, ...]) -> tuple[RankedSystem, ...]:
    level, points = found.resampling.level, found.points[:, column]
    rank = ranks(points).tolist()
    order = sorted(range(len(points)), key=rank.__getitem__)  # equal systems as they were given
    tier: Mapping[int, int | None] = dict.fromkeys(order)
    if not found.resampling.baseline:
        adjusted = {frozenset(pair): entry.p_adjusted for pair, entry in zip(found.pairs, pairs)}
        tier = tiers(order, lambda best, system: adjusted[frozenset((best, system))] <= level)
    ranges = rank_ranges(found.resampled[column], level)
    ranked = []
    for system in order:
        score = interval(
            float(points[system]),
            found.resampled[column, system],
            found.jackknife[:, system, column],
            len(found.unit.denominator),
            found.resampling,
            counted=int(np.count_nonzero(found.ratio(system, column).denominator)),
        )
        low, high = ranges[system]
        ranked.append(
            RankedSystem(
                name=found.names[system],
                score=score.point,
                **_limits(score),
                rank=rank[system],
                rank_low=low,
                rank_high=high,
                tier=tier[system],
            )
        )
    return tuple(ranked)
