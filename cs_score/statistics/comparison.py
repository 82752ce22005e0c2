"""Two or more systems on the same units: intervals, paired tests, ranks and tiers for every measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from concurrent.futures import Executor
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from cs_score.base.errors import UsageError
from cs_score.base.records import Record, replace
from cs_score.measures.formulas import Ratio
from cs_score.statistics.arithmetic import Floats, Formula
from cs_score.statistics.comparison_result import Comparison, MeasureComparison, PairedSystems, PValues, RankedSystem
from cs_score.statistics.exact_sums import exact_statistics
from cs_score.statistics.intervals import Interval, interval, jackknife_for
from cs_score.statistics.options import PAIRED_TESTS, PairedTest, Resampling
from cs_score.statistics.paired_tests import Pair, holm, paired_bootstrap_p, randomisation_p, unit_record
from cs_score.statistics.ranking import rank_ranges, ranks, tiers
from cs_score.statistics.resampling import bootstrap_scores, point_scores, unit_ratios
from cs_score.statistics.unit_alignment import common_units, same_units
from cs_score.statistics.unit_table import UnitTable

_MOST_SCORES: Final = 1 << 27
"""Scores of resamples, at 8 bytes each, up to which their number grows by itself."""


def compare(
    systems: Mapping[str, ArrayLike],
    units: Sequence[str],
    measures: Sequence[str],
    scores: Formula,
    resampling: Resampling | None = None,
    *,
    test: PairedTest = "randomisation",
    executor: Executor | None = None,
) -> Comparison:
    """Compare systems by name, given their statistics (units, k) in the same order of `units`.

    `scores` gives one column per name in `measures`; a higher score is better. The executor spreads the resampling.
    Without settings, or where these let their number grow, there are as many resamples as significance needs.
    Raises UsageError for fewer than two systems or an unknown test, InputError where statistics cannot be resampled.
    """
    _check(systems, test)
    statistics = exact_statistics(list(systems.values()))
    if statistics.units != len(units):
        raise ValueError(f"{len(units)} units for matrices of {statistics.units} rows")
    points = point_scores(statistics, scores)
    if len(measures) != points.shape[1]:
        raise ValueError(f"{len(measures)} names for {points.shape[1]} measures")
    pairs = list(combinations(range(len(systems)), 2))
    settings = (resampling or Resampling(can_grow=True)).enough_for(len(pairs), _MOST_SCORES // points.size)
    materials = _Materials(
        names=tuple(systems),
        resampling=settings,
        test=test,
        pairs=pairs,
        points=points,
        jackknife=jackknife_for(settings, statistics, scores),
        unit=unit_ratios(statistics, scores),
        resampled=bootstrap_scores(statistics, scores, settings, executor=executor),
        randomisation=randomisation_p(statistics, scores, pairs, settings, executor=executor),
    )
    compared = tuple(_measure(materials, column, name) for column, name in enumerate(measures))
    return Comparison(materials.names, statistics.units, settings, test, compared)


def compare_tables(
    tables: Mapping[str, UnitTable],
    measures: Sequence[str],
    scores: Formula,
    resampling: Resampling | None = None,
    *,
    common: bool = False,
    test: PairedTest = "randomisation",
    executor: Executor | None = None,
) -> Comparison:
    """`compare` for the tables of a mode, by system name.

    With `common` the systems are compared on the units that all have; otherwise systems with different units are
    refused. Raises InputError, naming units, and what `compare` raises.
    """
    _check(tables, test)
    aligned = common_units(tables) if common else same_units(tables)
    compared = compare(aligned.rows, aligned.ids, measures, scores, resampling, test=test, executor=executor)
    return replace(compared, dropped=aligned.dropped) if common else compared


def _check(systems: Sized, test: PairedTest) -> None:
    """Raises UsageError for fewer than two systems and an unknown test."""
    if len(systems) < 2:
        raise UsageError("a comparison needs at least two systems")
    if test not in PAIRED_TESTS:
        raise UsageError(f"no paired test called {test}; there are {', '.join(PAIRED_TESTS)}")


class _Materials(Record):
    """What all measures are read from; shapes as in `resampling`."""

    names: tuple[str, ...]
    resampling: Resampling
    test: PairedTest
    pairs: list[Pair]
    points: Floats
    jackknife: Floats
    unit: Ratio
    resampled: Floats
    randomisation: list[list[float]]

    def ratio(self, system: int, column: int) -> Ratio:
        """What each unit adds to either side of a score."""
        return Ratio(self.unit.numerator[:, system, column], self.unit.denominator[:, system, column])


def _measure(materials: _Materials, column: int, name: str) -> MeasureComparison:
    pairs = _pairs(materials, column)
    return MeasureComparison(name, _ranked(materials, column, pairs), pairs)


def _pairs(materials: _Materials, column: int) -> tuple[PairedSystems, ...]:
    units = len(materials.unit.denominator)
    points = materials.points[:, column]
    differences: list[Interval] = []
    bootstrap: list[float] = []
    for first, second in materials.pairs:
        resampled = materials.resampled[column, second] - materials.resampled[column, first]
        jackknife = materials.jackknife[:, second, column] - materials.jackknife[:, first, column]
        one, other = float(points[first]), float(points[second])
        scale = max(abs(one), abs(other))
        sides = [materials.ratio(system, column).denominator for system in (first, second)]
        counted = int(np.count_nonzero((sides[0] != 0) | (sides[1] != 0)))
        differences.append(
            interval(other - one, resampled, jackknife, units, materials.resampling, counted=counted, scale=scale)
        )
        bootstrap.append(paired_bootstrap_p(other, one, resampled, units))
    return tuple(
        PairedSystems(
            materials.names[first],
            materials.names[second],
            difference,
            randomisation,
            resampling,
            unit_record(materials.ratio(second, column), materials.ratio(first, column)),
        )
        for (first, second), difference, randomisation, resampling in zip(
            materials.pairs,
            differences,
            _corrected([row[column] for row in materials.randomisation]),
            _corrected(bootstrap),
        )
    )


def _corrected(p_values: list[float]) -> list[PValues]:
    return [PValues(raw, adjusted) for raw, adjusted in zip(p_values, holm(p_values))]


def _ranked(materials: _Materials, column: int, pairs: tuple[PairedSystems, ...]) -> tuple[RankedSystem, ...]:
    level = materials.resampling.level
    adjusted = {frozenset(pair): entry.p_values(materials.test).holm for pair, entry in zip(materials.pairs, pairs)}
    points = materials.points[:, column]
    rank = ranks(points)
    order = sorted(range(len(points)), key=lambda system: int(rank[system]))  # equal systems as they were given
    tier = tiers(order, lambda best, system: adjusted[frozenset((best, system))] <= level)
    ranges = rank_ranges(materials.resampled[column], level)
    return tuple(
        RankedSystem(
            materials.names[system],
            interval(
                float(points[system]),
                materials.resampled[column, system],
                materials.jackknife[:, system, column],
                len(materials.unit.denominator),
                materials.resampling,
                counted=int(np.count_nonzero(materials.ratio(system, column).denominator)),
            ),
            int(rank[system]),
            *ranges[system],
            tier[system],
        )
        for system in order
    )
