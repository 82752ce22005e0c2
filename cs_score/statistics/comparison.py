"""Two or more systems on the same units: intervals, paired tests, ranks and tiers for every measure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from cs_score.foundation.errors import UsageError
from cs_score.foundation.signature import Origin
from cs_score.measures.formulas import Ratio
from cs_score.statistics import notes
from cs_score.statistics.arithmetic import Floats, Formula
from cs_score.statistics.exact_sums import exact_statistics
from cs_score.statistics.intervals import Interval, interval, jackknife_for
from cs_score.statistics.notes import Note
from cs_score.statistics.options import PAIRED_TESTS, PairedTest, Resampling
from cs_score.statistics.paired_tests import (
    Pair,
    UnitRecord,
    holm,
    is_enumerated,
    paired_bootstrap_p,
    randomisation_p,
    smallest_p,
    unit_record,
)
from cs_score.statistics.ranking import rank_ranges, ranks, tiers
from cs_score.statistics.resampling import bootstrap_scores, point_scores, unit_ratios
from cs_score.statistics.unit_alignment import common_units, same_units
from cs_score.statistics.unit_table import UnitTable

_MOST_SCORES: Final = 1 << 27
"""Scores of resamples, at 8 bytes each, up to which their number grows by itself."""


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """One system under one measure.

    `rank` counts from 1, equal systems sharing the better rank; `rank_low` to `rank_high` is the range of the rank
    over the resamples, without the extremes (`ranking.rank_ranges`); `tier` is explained in `ranking.tiers`.
    """

    system: str
    score: Interval
    rank: int
    rank_low: int
    rank_high: int
    tier: int


@dataclass(frozen=True, slots=True)
class PValues:
    """The p-value of one pair by one test, as it is and after Holm's correction over all pairs of the measure."""

    raw: float
    holm: float


@dataclass(frozen=True, slots=True)
class PairedSystems:
    """Two systems under one measure: `difference` is the score of `first` minus that of `second`.

    There is no `record` where one of the scores is undefined (0/0).
    """

    first: str
    second: str
    difference: Interval
    randomisation: PValues
    bootstrap: PValues
    record: UnitRecord | None

    def p_values(self, test: PairedTest) -> PValues:
        """The p-values of the test called `test`."""
        return self.randomisation if test == "randomisation" else self.bootstrap


@dataclass(frozen=True, slots=True)
class MeasureComparison:
    """All systems under one measure, from best to worst, and all pairs, in the order in which the systems were
    given."""

    measure: str
    systems: tuple[RankedSystem, ...]
    pairs: tuple[PairedSystems, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two or more systems on the same units.

    `test` is the one that decides about the tiers, at the level 1 - confidence, after Holm's correction. `origins`
    tell by system what its scores were computed from, where that is known. `dropped` are the units that were left out
    of each system to compare all on the same; None where all units had to be the same.
    """

    systems: tuple[str, ...]
    units: int
    resampling: Resampling
    test: PairedTest
    measures: tuple[MeasureComparison, ...]
    origins: Mapping[str, Origin] = field(default_factory=dict)
    dropped: Mapping[str, tuple[str, ...]] | None = None

    @property
    def is_enumerated(self) -> bool:
        """Whether randomisation has made every exchange of units, so that its p-values are exact."""
        return is_enumerated(self.units, self.resampling.resamples)

    @property
    def can_be_significant(self) -> bool:
        """Whether any difference could have been called significant by the test that decides about the tiers."""
        return self._smallest_p * self._pairs <= self.resampling.level

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader must know about all of it; notes on single numbers stand with their intervals."""
        told = [] if self.dropped is None else [notes.common_only(self.units, self.dropped)]
        if not self.can_be_significant:
            resamples = math.ceil(self._pairs / self.resampling.level)
            least = smallest_p(self.test, self.units, resamples) * self._pairs
            can_help = resamples > self.resampling.resamples and least <= self.resampling.level
            remedy = (
                f"that takes {resamples} resamples (--bootstrap {resamples})"
                if can_help
                else f"{self.units} units are too few for that, whatever the number of resamples"
            )
            told.append(notes.never_significant(self._pairs, self._smallest_p, self.resampling.level, remedy))
        return (*told, *notes.of_resampling(self.units, self.resampling))

    @property
    def _pairs(self) -> int:
        return math.comb(len(self.systems), 2)

    @property
    def _smallest_p(self) -> float:
        return smallest_p(self.test, self.units, self.resampling.resamples)

    def as_json(self) -> dict[str, object]:
        """The comparison as a JSON object."""
        return {
            "systems": list(self.systems),
            "units": self.units,
            "resampling": self.resampling.as_json(),
            "test": self.test,
            "enumerated": self.is_enumerated,
            "notes": notes.as_json(self.notes),
            **({} if self.dropped is None else {"dropped": {name: list(ids) for name, ids in self.dropped.items()}}),
            "measures": [
                {
                    "measure": measure.measure,
                    "systems": [_system_json(entry) for entry in measure.systems],
                    "pairs": [_pair_json(pair) for pair in measure.pairs],
                }
                for measure in self.measures
            ],
            **({"signatures": {name: each.as_json() for name, each in self.origins.items()}} if self.origins else {}),
        }


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
    if len(systems) < 2:
        raise UsageError("a comparison needs at least two systems")
    if test not in PAIRED_TESTS:
        raise UsageError(f"no paired test called {test}; there are {', '.join(PAIRED_TESTS)}")
    names = tuple(systems)
    statistics = exact_statistics([systems[name] for name in names])
    if statistics.units != len(units):
        raise ValueError(f"{len(units)} units for matrices of {statistics.units} rows")
    points = point_scores(statistics, scores)
    if len(measures) != points.shape[1]:
        raise ValueError(f"{len(measures)} names for {points.shape[1]} measures")
    pairs = list(combinations(range(len(names)), 2))
    settings = (resampling or Resampling(can_grow=True)).enough_for(len(pairs), _MOST_SCORES // points.size)
    materials = _Materials(
        names=names,
        resampling=settings,
        test=test,
        pairs=pairs,
        points=points,
        jackknife=jackknife_for(settings, statistics, scores),
        unit=unit_ratios(statistics, scores),
        resampled=bootstrap_scores(statistics, scores, settings, executor=executor),
        randomisation=randomisation_p(statistics, scores, pairs, settings, executor=executor),
    )
    return Comparison(
        names,
        statistics.units,
        settings,
        test,
        tuple(_measure(materials, column, name) for column, name in enumerate(measures)),
    )


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
    if len(tables) < 2:
        raise UsageError("a comparison needs at least two systems")
    aligned = common_units(tables) if common else same_units(tables)
    compared = compare(aligned.rows, aligned.ids, measures, scores, resampling, test=test, executor=executor)
    return replace(compared, dropped=aligned.dropped) if common else compared


@dataclass(frozen=True, slots=True)
class _Materials:
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
        resampled = materials.resampled[column, first] - materials.resampled[column, second]
        jackknife = materials.jackknife[:, first, column] - materials.jackknife[:, second, column]
        one, other = float(points[first]), float(points[second])
        scale = max(abs(one), abs(other))
        sides = [materials.ratio(system, column).denominator for system in (first, second)]
        counted = int(np.count_nonzero((sides[0] != 0) | (sides[1] != 0)))
        differences.append(
            interval(one - other, resampled, jackknife, units, materials.resampling, counted=counted, scale=scale)
        )
        bootstrap.append(paired_bootstrap_p(one, other, resampled, units))
    return tuple(
        PairedSystems(
            materials.names[first],
            materials.names[second],
            difference,
            randomisation,
            resampling,
            unit_record(materials.ratio(first, column), materials.ratio(second, column)),
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


def _system_json(entry: RankedSystem) -> dict[str, object]:
    return {
        "system": entry.system,
        **entry.score.as_json(),
        "rank": entry.rank,
        "rank_low": entry.rank_low,
        "rank_high": entry.rank_high,
        "tier": entry.tier,
    }


def _pair_json(pair: PairedSystems) -> dict[str, object]:
    return {
        "first": pair.first,
        "second": pair.second,
        "difference": pair.difference.as_json(),
        "randomisation": {"p": pair.randomisation.raw, "p_holm": pair.randomisation.holm},
        "bootstrap": {"p": pair.bootstrap.raw, "p_holm": pair.bootstrap.holm},
        **(dict.fromkeys(("wins", "ties", "losses")) if pair.record is None else asdict(pair.record)),
    }
