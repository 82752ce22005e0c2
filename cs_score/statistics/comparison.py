"""Two or more systems on the same units: intervals, paired tests, ranks and tiers for every measure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET

from cs_score.base.errors import UsageError
from cs_score.base.records import asdict
from cs_score.statistics.arithmetic import ColumnFormula, exact_statistics
from cs_score.statistics.intervals import Resampled, resampled
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
)
from cs_score.statistics.planning import effect_of, with_equivalence
from cs_score.statistics.results import Comparison, Interval, MeasureComparison, PairedSystems, RankedSystem
from cs_score.statistics.units import UnitTable, aligned

_MOST_SCORES: Final = 1 << 27
"""Scores of resamples, at 8 bytes each, up to which their number grows by itself."""


def compare_tables(
    tables: Mapping[str, UnitTable],
    measures: Sequence[str],
    scores: ColumnFormula,
    resampling: Resampling | None = None,
    *,
    common: bool = False,
    primary: str | None = None,
    has_signs: bool = False,
    equivalence: float | None = None,
) -> Comparison:
    """Compare systems by name, on the units that all have where they are `common`; refused if they differ otherwise.

    `scores` gives one column per name in `measures`; a higher score is better. `primary` is the measure that is not
    exploratory, the first unless given; `has_signs` is as in `family_tests`; `equivalence` is the margin of that test.
    Without settings there are as many resamples as significance needs. Raises UsageError for fewer than two systems and
    a margin that is no number above 0, InputError, naming units, where they differ or cannot be resampled.
    """
    if equivalence is not None and not 0 < equivalence < math.inf:
        raise UsageError(f"the margin of an equivalence is a number above 0, not {equivalence:g}")
    if len(tables) < 2:
        raise UsageError("a comparison needs at least two systems")
    of_all = aligned(tables, common=common)
    names, units = tuple(tables), len(of_all.ids)
    settings, drawn = (resampling or Resampling(can_grow=True)).for_units(of_all.ids)
    statistics = exact_statistics(list(of_all.rows.values()), drawn)
    pairs = family_pairs(names, settings)
    corrected = len(pairs) if settings.correction_of(len(names)) == "holm" else 1
    settings = settings.enough_for(corrected, _MOST_SCORES // (len(names) * len(measures)))
    found = resampled(statistics, scores, settings)
    if len(measures) != found.points.shape[1]:
        raise ValueError(f"{len(measures)} names for {found.points.shape[1]} measures")
    tested = family_tests(statistics, scores, pairs, settings, has_signs=has_signs)
    primary = primary or measures[0]

    def compared(column: int, measure: str) -> MeasureComparison:
        paired = _paired(found, names, pairs, tested, column, equivalence)
        unsure = [f"{pair.a} and {pair.b}" for pair in paired if pair.disagrees(settings.level)]
        adjusted = dict(zip(map(frozenset, pairs), tested.p_adjusted[column]))
        ranked = _ranked(found, names, adjusted, column)
        return MeasureComparison(measure, measure != primary, tested.family, ranked, paired, governed(unsure))

    return Comparison(
        task="",
        measure=primary,
        systems=names,
        units=units,
        resampling=settings,
        notes=(
            *([common_only(units, of_all.dropped)] if common else ()),
            *never_significant(tested.family, statistics.units, settings.level),
            *notes_of(units, settings, drawn),
        ),
        dropped=of_all.dropped if common else UNSET,
        measures=tuple(compared(column, name) for column, name in enumerate(measures)),
    )


def _paired(
    found: Resampled,
    names: Sequence[str],
    pairs: Sequence[Pair],
    tested: FamilyTests,
    column: int,
    equivalence: float | None,
) -> tuple[PairedSystems, ...]:
    """The pairs of the family under one measure."""
    units, compared = found.statistics.units, []
    for place, (first, second) in enumerate(pairs):
        one, other = found.points[[first, second], column].tolist()
        compared.append(
            PairedSystems(
                a=names[first],
                b=names[second],
                **_named("difference", found.difference(first, second, column)),
                p=tested.p[column][place],
                p_adjusted=tested.p_adjusted[column][place],
                p_bootstrap=paired_bootstrap_p(other, one, found.resampled_difference(first, second, column), units),
                **effect_of(found.ratio(first, column), found.ratio(second, column)),
            )
        )
    if equivalence is None:
        return tuple(compared)
    return tuple(with_equivalence(compared, units, equivalence, found.settings.level))


def _ranked(
    found: Resampled, names: Sequence[str], adjusted: Mapping[frozenset[int], float], column: int
) -> tuple[RankedSystem, ...]:
    """The systems from best to worst under one measure, given the corrected p-values of the pairs."""
    level = found.settings.level
    rank = ranks(found.points[:, column]).tolist()
    order = sorted(range(len(rank)), key=rank.__getitem__)  # equal systems as they were given
    tier: Mapping[int, int | None] = dict.fromkeys(order)
    if not found.settings.baseline:
        tier = tiers(order, lambda best, system: adjusted[frozenset((best, system))] <= level)
    ranges = rank_ranges(found.resampled[column], level)
    return tuple(
        RankedSystem(
            name=names[system],
            **_named("score", found.score(system, column)),
            rank=rank[system],
            rank_low=ranges[system][0],
            rank_high=ranges[system][1],
            tier=tier[system],
        )
        for system in order
    )


def _named(name: str, interval: Interval) -> dict[str, Any]:
    """The fields of an interval, its point by another name."""
    return {name if key == "point" else key: value for key, value in asdict(interval).items()}
