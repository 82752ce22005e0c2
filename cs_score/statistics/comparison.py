"""Two or more systems on the same units: their families of tests, effects, ranks and tiers.

*Effects and equivalence* rest on what each unit adds to a difference, times the number of units.
Sources: docs/statistics/intervals-and-tests.md, families.md, power.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from cs_score.base.errors import UsageError
from cs_score.base.records import asdict, replace
from cs_score.base.runtime import Late
from cs_score.measures.registry import Ratio, SumsFormula
from cs_score.statistics.arithmetic import Floats, contributions, noise
from cs_score.statistics.equivalence import EquivalenceTest, are_right_or_wrong, equivalence_test
from cs_score.statistics.families import (
    FamilyTests,
    family_pairs,
    family_tests,
    groups_of_copies,
    holm,
    units_with_content,
)
from cs_score.statistics.options import Note, Resampling, common_only, copies, governed, never_significant
from cs_score.statistics.resampling import Systems, defined
from cs_score.statistics.results import (
    Comparison,
    Equivalence,
    Interval,
    MeasureComparison,
    PairedSystems,
    RankedSystem,
)
from cs_score.statistics.units import AlignedUnits, UnitTable, aligned
from cs_score.statistics.verdicts import verdict_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Late("numpy")

# ---- Effects, ranks and tiers


def effect_of(first: Ratio, second: Ratio) -> dict[str, Any]:
    """The size of `second - first` in fields of `PairedSystems`; those that do not exist are left out.

    Wins, ties and losses of the second go by the sign of what each unit adds to the difference. The score of a unit
    alone would not do: a system that is right where the other says nothing has 1 against 0/0, and a false alarm scores
    0 like silence. None where a score is undefined.
    """
    shares = contributions(first, second)
    if shares is None:
        return {"wins": None, "ties": None, "losses": None}
    largest = noise(first.numerator, first.denominator, second.numerator, second.denominator)
    slack = 2 * largest / (np.sum(first.denominator) + np.sum(second.denominator))
    units = len(shares)
    wins, losses = int(np.count_nonzero(shares > slack)), int(np.count_nonzero(-shares > slack))
    ties = units - wins - losses
    found = {"wins": wins, "ties": ties, "losses": losses}
    if units < 2:
        return found
    differences = shares * units
    deviation = float(differences.std(ddof=1))
    if deviation <= 4 * float(np.max(noise(differences))):  # all the same, but for rounding
        return {**found, "standard_deviation": 0.0}
    return {**found, "standard_deviation": deviation, "effect_size": float(differences.mean()) / deviation}


def ranks(scores: Floats) -> NDArray[np.int64]:
    """The ranks of scores (systems, ...) along the first axis, one more than the number of systems with a higher score;
    scores that are equal within rounding share the better rank.
    """
    better = np.ones(scores.shape, dtype=np.int64)
    for rival in scores:
        better += rival - scores > noise(rival, scores)
    return better


def rank_ranges(resampled: Floats, level: float) -> list[tuple[int, int]]:
    """Per system the lowest and the highest rank over the resamples (systems, N) in which all scores are defined; where
    these are too few, any rank. Of the N sorted ranks floor(N * level / 2) are dropped at either end: the central 95 %
    at 0.05.
    """
    found = defined(resampled)
    if found is None:
        return [(1, len(resampled))] * len(resampled)
    ordered = np.sort(ranks(found), axis=1)
    count = ordered.shape[1]
    dropped = min(int(count * level / 2 + 1e-9), (count - 1) // 2)  # 100 * 0.58 is 57.99999999999999
    return [(int(row[dropped]), int(row[count - 1 - dropped])) for row in ordered]


def tiers(order: Sequence[int], differ: Callable[[int, int], bool]) -> dict[int, int]:
    """The tier of each system, from 1, for systems listed from best to worst.

    A system joins the current tier unless it differs (`differ(best, system)`: significantly, after correction) from the
    best of that tier, which is its first; then it opens the next one. Members may differ from one another, and a system
    may be indistinguishable from members of the tier above: "indistinguishable" is not transitive, and tiers do not
    pretend that it is.
    """
    assigned: dict[int, int] = {}
    best, tier = -1, 0
    for system in order:
        if not tier or differ(best, system):
            best, tier = system, tier + 1
        assigned[system] = tier
    return assigned


# ---- All of it

_MOST_SCORES: Final = 1 << 27
"""Scores of resamples, at 8 bytes each, up to which their number grows by itself."""


def compare_tables(
    tables: Mapping[str, UnitTable],
    measures: Sequence[str],
    formula: SumsFormula,
    resampling: Resampling | None = None,
    *,
    common: bool = False,
    primary: str | None = None,
    has_signs: bool = False,
    equivalence: float | None = None,
) -> Comparison:
    """Compare systems by name, on the units that all have where they are `common`; refused if they differ otherwise.

    `formula` gives one score per name in `measures`; `primary` is the one that is not exploratory, the first unless
    given; `equivalence` is the margin of that test. Without settings there are as many resamples as significance needs.
    Raises UsageError for fewer than two systems and a margin that is no number above 0, InputError, naming units, where
    they differ or cannot be resampled.
    """
    if equivalence is not None and not 0 < equivalence < math.inf:
        raise UsageError(f"the margin of an equivalence is a number above 0, not {equivalence:g}")
    if len(tables) < 2:
        raise UsageError("a comparison needs at least two systems")
    names = tuple(tables)
    settings = resampling or Resampling(can_grow=True)
    pairs = family_pairs(names, settings)
    of_all = aligned(tables, common=common)
    systems = _resampled(of_all, measures, formula, settings, pairs=len(pairs))
    tested = family_tests(systems, pairs, has_signs=has_signs)
    primary = primary or measures[0]
    primary_column = list(measures).index(primary)
    never = _never_significant(systems, tested)
    compared = []
    for column, measure in enumerate(measures):
        paired = _paired(systems, names, tested, column, equivalence)
        # What a measure shares with the primary one is said once, of the whole comparison.
        own_notes = () if never[column] == never[primary_column] else never[column]
        compared.append(
            MeasureComparison(
                measure=measure,
                exploratory=measure != primary,
                family=tested.family,
                systems=_ranked(systems, names, tested, column),
                pairs=paired,
                verdict=verdict_of(paired, tested.family, measure, settings.level),
                notes=(*own_notes, *_disagreements(paired, settings.level)),
            )
        )
    near_copies = copies(groups_of_copies(systems, names, pairs, primary_column))
    of_common = (common_only(len(of_all.ids), of_all.dropped),) if common else ()
    notes = (*of_common, *never[primary_column], *near_copies, *systems.notes)
    return Comparison(
        task="",
        measure=primary,
        systems=names,
        units=len(of_all.ids),
        resampling=systems.settings,
        notes=notes,
        dropped=of_all.dropped if common else UNSET,
        measures=tuple(compared),
    )


def _resampled(
    of_all: AlignedUnits, measures: Sequence[str], formula: SumsFormula, settings: Resampling, *, pairs: int
) -> Systems:
    """Return the systems with as many resamples as significance needs, where their number may grow."""
    corrected = pairs if settings.correction_in_force == "holm" else 1
    settings = settings.enough_for(corrected, _MOST_SCORES // (len(of_all.rows) * len(measures)))
    systems = Systems(list(of_all.rows.values()), formula, settings, of_all.ids)
    if len(measures) != systems.points.shape[1]:
        raise ValueError(f"{len(measures)} names for {systems.points.shape[1]} measures")
    return systems


def _disagreements(pairs: Sequence[PairedSystems], level: float) -> tuple[Note, ...]:
    """Return a note on the pairs whose interval says otherwise than the corrected test."""
    return governed([f"{pair.a} and {pair.b}" for pair in pairs if pair.disagrees(level)])


def _never_significant(systems: Systems, tested: FamilyTests) -> list[tuple[Note, ...]]:
    """Return for each measure a note where no difference could have been significant under it."""
    level = systems.settings.level
    return [never_significant(tested.family, units, level) for units in units_with_content(systems)]


def _paired(
    systems: Systems, names: Sequence[str], tested: FamilyTests, column: int, margin: float | None
) -> tuple[PairedSystems, ...]:
    """Return the pairs of the family under one measure; their tests of equivalence are corrected together."""
    numerator = systems.ratios.numerator[..., column]
    denominator = systems.ratios.denominator[..., column]
    ratio_of = [Ratio(numerator[:, place], denominator[:, place]) for place in range(len(names))]
    can_be_binary = not systems.settings.clusters
    pairs, tests = [], []
    for (first, second), p, p_adjusted in zip(tested.pairs, tested.p[column], tested.p_adjusted[column]):
        is_binary = are_right_or_wrong(ratio_of[first]) and are_right_or_wrong(ratio_of[second])
        pairs.append(
            PairedSystems(
                a=names[first],
                b=names[second],
                **_named("difference", systems.difference(first, second, column)),
                p=p,
                p_adjusted=p_adjusted,
                are_right_or_wrong=can_be_binary and is_binary,
                **effect_of(ratio_of[first], ratio_of[second]),
            )
        )
        if margin is not None:
            test = equivalence_test(ratio_of[first], ratio_of[second], margin, can_be_binary=can_be_binary)
            tests.append(test)
    if margin is None:
        return tuple(pairs)
    equivalences = _corrected_equivalences(tests, margin, systems.settings.level)
    return tuple(replace(pair, equivalence=own) for pair, own in zip(pairs, equivalences))


def _corrected_equivalences(tests: Sequence[EquivalenceTest], margin: float, level: float) -> list[Equivalence]:
    """Return the outcome of each test of equivalence, p-values corrected by Holm for all that have one."""
    corrected = iter(holm([test.p for test in tests if test.p is not None]))
    found = []
    for test in tests:
        p_adjusted = None if test.p is None else next(corrected)
        is_equivalent = test.is_certain if p_adjusted is None else p_adjusted <= level
        found.append(Equivalence(margin, test.p, p_adjusted, is_equivalent, test.test, test.reason))
    return found


def _ranked(systems: Systems, names: Sequence[str], tested: FamilyTests, column: int) -> tuple[RankedSystem, ...]:
    """The systems from best to worst under one measure."""
    level, adjusted = systems.settings.level, tested.adjusted(column)
    rank = ranks(systems.points[:, column]).tolist()
    order = sorted(range(len(rank)), key=rank.__getitem__)  # equal systems as they were given
    tier: Mapping[int, int | None] = dict.fromkeys(order)
    if not systems.settings.baseline:
        tier = tiers(order, lambda best, system: adjusted[frozenset((best, system))] <= level)
    ranges = rank_ranges(systems.resampled[column], level)
    return tuple(
        RankedSystem(
            name=names[system],
            **_named("score", systems.score(system, column)),
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
