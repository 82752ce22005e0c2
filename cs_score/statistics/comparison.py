"""Two or more systems on the same units: intervals, paired tests, ranks and tiers for every measure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Sized
from itertools import combinations
from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from cs_score.base.errors import UsageError
from cs_score.base.late import Late
from cs_score.base.records import Record, asdict
from cs_score.measures.formulas import Ratio
from cs_score.statistics.arithmetic import Floats, Formula, exact_statistics
from cs_score.statistics.intervals import interval, jackknife_for
from cs_score.statistics.options import (
    PAIRED_TESTS,
    PairedTest,
    Resampling,
    common_only,
    is_enumerated,
    never_significant,
    notes_of,
)
from cs_score.statistics.paired_tests import (
    Pair,
    holm,
    paired_bootstrap_p,
    randomisation_p,
    rank_ranges,
    ranks,
    tiers,
    unit_record,
)
from cs_score.statistics.planning import effect_of, equivalences
from cs_score.statistics.resampling import bootstrap_scores, point_scores, unit_ratios
from cs_score.statistics.results import (
    Comparison,
    Equivalence,
    Interval,
    MeasureComparison,
    PairedSystems,
    PValues,
    RankedSystem,
)
from cs_score.statistics.units import UnitTable, common_units, same_units

if TYPE_CHECKING:
    from concurrent.futures import Executor

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
    test: PairedTest = "randomisation",
    equivalence: float | None = None,
    dropped: Mapping[str, tuple[str, ...]] | None = None,
    executor: Executor | None = None,
) -> Comparison:
    """Compare systems by name, given their statistics (units, k) in the same order of `units`.

    `scores` gives one column per name in `measures`; a higher score is better. `dropped` are units of systems that are
    not among `units`, `equivalence` the margin of that test. The executor spreads the resampling.
    Without settings, or where these let their number grow, there are as many resamples as significance needs.
    Raises UsageError for fewer than two systems, an unknown test and a margin that is no number above 0, InputError
    where statistics cannot be resampled.
    """
    _check(systems, test, equivalence)
    statistics = exact_statistics(list(systems.values()))
    if statistics.units != len(units):
        raise ValueError(f"{len(units)} units for matrices of {statistics.units} rows")
    points = point_scores(statistics, scores)
    if len(measures) != points.shape[1]:
        raise ValueError(f"{len(measures)} names for {points.shape[1]} measures")
    pairs = list(combinations(range(len(systems)), 2))
    settings = (resampling or Resampling(can_grow=True)).enough_for(len(pairs), _MOST_SCORES // points.size)
    found = _Found(
        tuple(systems),
        settings,
        test,
        equivalence,
        pairs,
        points,
        jackknife_for(settings, statistics, scores),
        unit_ratios(statistics, scores),
        bootstrap_scores(statistics, scores, settings, executor=executor),
        randomisation_p(statistics, scores, pairs, settings, executor=executor),
    )
    compared = []
    for column, measure in enumerate(measures):
        of_pairs = _pairs(found, column)
        compared.append(MeasureComparison(measure, _ranked(found, column, of_pairs), of_pairs))
    return Comparison(
        task="",
        systems=found.names,
        units=len(units),
        resampling=settings,
        test=test,
        enumerated=is_enumerated(len(units), settings.resamples),
        notes=(
            *(() if dropped is None else (common_only(len(units), dropped),)),
            *never_significant(test, len(units), len(systems), settings),
            *notes_of(len(units), settings),
        ),
        dropped=UNSET if dropped is None else dropped,
        measures=tuple(compared),
    )


def compare_tables(
    tables: Mapping[str, UnitTable],
    measures: Sequence[str],
    scores: Formula,
    resampling: Resampling | None = None,
    *,
    common: bool = False,
    test: PairedTest = "randomisation",
    equivalence: float | None = None,
    executor: Executor | None = None,
) -> Comparison:
    """`compare` for the tables of a mode, by system name.

    With `common` the systems are compared on the units that all have; otherwise systems with different units are
    refused. Raises InputError, naming units, and what `compare` raises.
    """
    _check(tables, test, equivalence)
    aligned = common_units(tables) if common else same_units(tables)
    dropped = aligned.dropped if common else None
    return compare(
        aligned.rows,
        aligned.ids,
        measures,
        scores,
        resampling,
        test=test,
        equivalence=equivalence,
        dropped=dropped,
        executor=executor,
    )


def _check(systems: Sized, test: PairedTest, equivalence: float | None) -> None:
    """Raises UsageError for fewer than two systems, an unknown test, and a margin that is no number above 0."""
    if equivalence is not None and not 0 < equivalence < math.inf:
        raise UsageError(f"the margin of an equivalence is a number above 0, not {equivalence:g}")
    if len(systems) < 2:
        raise UsageError("a comparison needs at least two systems")
    if test not in PAIRED_TESTS:
        raise UsageError(f"no paired test called {test}; there are {', '.join(PAIRED_TESTS)}")


class _Found(Record):
    """What all measures are read from; shapes as in `resampling`."""

    names: tuple[str, ...]
    resampling: Resampling
    test: PairedTest
    equivalence: float | None
    pairs: list[Pair]
    points: Floats
    jackknife: Floats
    unit: Ratio
    resampled: Floats
    randomisation: list[list[float]]

    def ratio(self, system: int, column: int) -> Ratio:
        """What each unit adds to either side of a score."""
        return Ratio(self.unit.numerator[:, system, column], self.unit.denominator[:, system, column])


def _pairs(found: _Found, column: int) -> tuple[PairedSystems, ...]:
    units = len(found.unit.denominator)
    differences: list[Interval] = []
    bootstrap: list[float] = []
    for first, second in found.pairs:
        resampled = found.resampled[column, second] - found.resampled[column, first]
        jackknife = found.jackknife[:, second, column] - found.jackknife[:, first, column]
        one, other = found.points[[first, second], column].tolist()
        counted = np.count_nonzero(found.unit.denominator[:, [first, second], column].any(axis=1))
        scale = max(abs(one), abs(other))
        differences.append(
            interval(other - one, resampled, jackknife, units, found.resampling, counted=int(counted), scale=scale)
        )
        bootstrap.append(paired_bootstrap_p(other, one, resampled, units))
    randomisation = [of_measures[column] for of_measures in found.randomisation]
    records = [unit_record(found.ratio(second, column), found.ratio(first, column)) for first, second in found.pairs]
    effects = [
        effect_of(found.ratio(first, column), found.ratio(second, column), record)
        for (first, second), record in zip(found.pairs, records)
    ]
    equal: Sequence[Equivalence | None] = [None] * len(effects)
    if found.equivalence is not None:
        sizes = [difference.point for difference in differences]
        deviations = [effect.standard_deviation for effect in effects]
        equal = equivalences(sizes, deviations, units, found.equivalence, found.resampling.level)
    return tuple(
        PairedSystems(
            found.names[first],
            found.names[second],
            difference,
            PValues(*of_randomisation),
            PValues(*of_bootstrap),
            record[0],
            record[1],
            record[2],
            effect.standard_deviation,
            effect.effect_size,
            effect.superiority,
            equivalence,
        )
        for (first, second), difference, of_randomisation, of_bootstrap, record, effect, equivalence in zip(
            found.pairs,
            differences,
            zip(randomisation, holm(randomisation)),
            zip(bootstrap, holm(bootstrap)),
            records,
            effects,
            equal,
        )
    )


def _ranked(found: _Found, column: int, pairs: tuple[PairedSystems, ...]) -> tuple[RankedSystem, ...]:
    level, points = found.resampling.level, found.points[:, column]
    adjusted = {frozenset(pair): entry.p_values(found.test).holm for pair, entry in zip(found.pairs, pairs)}
    rank = ranks(points).tolist()
    order = sorted(range(len(points)), key=rank.__getitem__)  # equal systems as they were given
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
                **asdict(score),
                system=found.names[system],
                rank=rank[system],
                rank_low=low,
                rank_high=high,
                tier=tier[system],
            )
        )
    return tuple(ranked)
