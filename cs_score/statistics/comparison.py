"""Two or more systems compared on the same units: tests of pairs, sizes of differences, ranks and tiers.

Sizes of differences and tests of equivalence rest on what each unit contributes to a difference, times the number of
units: the mean of these numbers is the difference of the scores.
Sources: docs/statistics/intervals-and-tests.md, families.md, power.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec import UNSET

from cs_score.base.errors import UsageError
from cs_score.base.records import Record, asdict, replace
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
from cs_score.statistics.options import (
    Note,
    Resampling,
    note_on_common_units,
    note_on_copies,
    note_on_disagreements,
    note_on_no_significance,
)
from cs_score.statistics.resampling import Systems, defined_resamples
from cs_score.statistics.results import (
    Comparison,
    Equivalence,
    Interval,
    MeasureComparison,
    PairedSystems,
    RankedSystem,
)
from cs_score.statistics.units import AlignedUnits, UnitTable, align_systems
from cs_score.statistics.verdicts import verdict_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Late("numpy")

# ---- Sizes of differences


def effect_of(first: Ratio, second: Ratio) -> dict[str, Any]:
    """Return the size of `second - first` by the names of fields of `PairedSystems`.

    The ratios have the numerator and the denominator of each unit. A unit is a win of the second system where it adds
    to the difference, a loss where it takes from it. The score of a unit alone would not do: a system that is right
    where the other says nothing has 1 against 0/0, and a false alarm scores 0 like silence.

    Where a score is undefined, `wins`, `ties` and `losses` are None. `standard_deviation` (of the units' differences)
    and `effect_size` (their mean over it) are left out where they do not exist.
    """
    shares = contributions(first, second)
    if shares is None:
        return {"wins": None, "ties": None, "losses": None}
    largest_rounding = noise(first.numerator, first.denominator, second.numerator, second.denominator)
    rounding = 2 * largest_rounding / (np.sum(first.denominator) + np.sum(second.denominator))
    units = len(shares)
    wins = int(np.count_nonzero(shares > rounding))
    losses = int(np.count_nonzero(-shares > rounding))
    effect: dict[str, Any] = {"wins": wins, "ties": units - wins - losses, "losses": losses}
    if units < 2:
        return effect
    differences = shares * units
    deviation = float(differences.std(ddof=1))
    if deviation <= 4 * float(np.max(noise(differences))):  # all the same, but for rounding
        effect["standard_deviation"] = 0.0
        return effect
    effect["standard_deviation"] = deviation
    effect["effect_size"] = float(differences.mean()) / deviation
    return effect


# ---- Ranks and tiers


def rank_systems(scores: Floats) -> NDArray[np.int64]:
    """Return the ranks of scores (systems, ...) along the first axis, from 1 for the highest score.

    A rank is one more than the number of systems with a higher score; scores that are equal within rounding share the
    better rank. `[0.5, 0.9, 0.5]` gives `[2, 1, 2]`.
    """
    ranks = np.ones(scores.shape, dtype=np.int64)
    for rival_scores in scores:
        ranks += rival_scores - scores > noise(rival_scores, scores)
    return ranks


class RankRange(NamedTuple):
    """The lowest and the highest rank of a system over resamples, without the extremes."""

    low: int
    high: int


def rank_ranges(resampled: Floats, level: float) -> list[RankRange]:
    """Return the range of the rank of each system over the resamples (systems, N) in which all scores are defined.

    Of the N sorted ranks floor(N * level / 2) are left out at either end: at 0.05 the range is the central 95 %. Where
    too few resamples are defined, a system may have any rank.
    """
    defined = defined_resamples(resampled)
    system_count = len(resampled)
    if defined is None:
        return [RankRange(1, system_count)] * system_count
    sorted_ranks = np.sort(rank_systems(defined), axis=1)
    rank_count = sorted_ranks.shape[1]
    left_out = min(int(rank_count * level / 2 + 1e-9), (rank_count - 1) // 2)  # 100 * 0.58 is 57.99999999999999
    return [RankRange(int(ranks[left_out]), int(ranks[rank_count - 1 - left_out])) for ranks in sorted_ranks]


def assign_tiers(order: Sequence[int], differs: Callable[[int, int], bool]) -> dict[int, int]:
    """Return the tier of each system, from 1, for systems listed from best to worst.

    A system joins the current tier unless it differs from the best of that tier, which is its first; then it opens the
    next one. `differs(best, system)` says whether two systems differ significantly after correction.

    Members may differ from one another, and a system may be indistinguishable from members of the tier above:
    "indistinguishable" is not transitive, and tiers do not pretend that it is.
    """
    tier_by_system: dict[int, int] = {}
    best_of_tier = -1
    tier = 0
    for system in order:
        if tier == 0 or differs(best_of_tier, system):
            best_of_tier = system
            tier += 1
        tier_by_system[system] = tier
    return tier_by_system


# ---- Comparisons

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
    """Return the comparison of systems, by name, under some measures.

    `tables` are the statistics of the systems; `formula` makes a score for each of `measures` of their column sums.
    With `common` they are compared on the units that all of them have; otherwise all must have the same units.
    `primary` is the measure that is not exploratory, the first one unless given. With `has_signs` two systems whose
    units are right or wrong get the exact sign test. `equivalence` is the margin of a test of equivalence. Without
    `resampling` there are as many resamples as significance needs.

    Raises UsageError for fewer than two systems and a margin that is no number above 0, InputError, naming units, where
    the units of the systems differ or cannot be resampled.
    """
    if equivalence is not None and not 0 < equivalence < math.inf:
        raise UsageError(f"the margin of an equivalence is a number above 0, not {equivalence:g}")
    if len(tables) < 2:
        raise UsageError("a comparison needs at least two systems")
    names = tuple(tables)
    resampling = resampling or Resampling(can_grow=True)
    pairs = family_pairs(names, resampling)
    units = align_systems(tables, common=common)
    systems = _resample_systems(units, measures, formula, resampling, pair_count=len(pairs))
    tested = family_tests(systems, pairs, has_signs=has_signs)

    primary = primary or measures[0]
    primary_column = list(measures).index(primary)
    tested_systems = _TestedSystems(names, systems, tested)
    significance_notes = tested_systems.significance_notes()
    compared_measures = []
    for column, measure in enumerate(measures):
        compared = tested_systems.compare_under(column, measure, equivalence)
        notes = compared.notes
        if significance_notes[column] != significance_notes[primary_column]:
            # A note that is the same for the primary measure is made once, for the whole comparison.
            notes = (*significance_notes[column], *notes)
        compared_measures.append(replace(compared, exploratory=measure != primary, notes=notes))

    comparison_notes = tested_systems.notes(primary_column)
    if common:
        comparison_notes = (note_on_common_units(len(units.ids), units.dropped), *comparison_notes)
    return Comparison(
        task="",
        measure=primary,
        systems=names,
        units=len(units.ids),
        resampling=systems.settings,
        notes=comparison_notes,
        dropped=units.dropped if common else UNSET,
        measures=tuple(compared_measures),
    )


def _resample_systems(
    units: AlignedUnits, measures: Sequence[str], formula: SumsFormula, resampling: Resampling, *, pair_count: int
) -> Systems:
    """Return the systems, with as many resamples as significance needs where their number may grow.

    Raises ValueError where the formula does not make a score for each measure.
    """
    corrected_pairs = pair_count if resampling.correction_in_force == "holm" else 1
    most_resamples = _MOST_SCORES // (len(units.rows) * len(measures))
    resampling = resampling.enough_for(corrected_pairs, most_resamples)
    systems = Systems(list(units.rows.values()), formula, resampling, units.ids)
    score_count = systems.points.shape[1]
    if len(measures) != score_count:
        raise ValueError(f"{len(measures)} names for {score_count} measures")
    return systems


class _TestedSystems(Record):
    """Systems by name, and the tests of a family of pairs of them, under several measures (columns)."""

    names: Sequence[str]
    systems: Systems
    tested: FamilyTests

    @property
    def level(self) -> float:
        """The level of the tests."""
        return self.systems.settings.level

    def significance_notes(self) -> list[tuple[Note, ...]]:
        """Return for each measure a note where no difference could have been significant under it, else no note."""
        notes = []
        for units in units_with_content(self.systems):
            notes.append(note_on_no_significance(self.tested.family, units, self.level))
        return notes

    def notes(self, primary_column: int) -> tuple[Note, ...]:
        """Return the notes that hold for all measures, or for the primary one: significance, near-copies, intervals."""
        copies = groups_of_copies(self.systems, self.names, self.tested.pairs, primary_column)
        return (*self.significance_notes()[primary_column], *note_on_copies(copies), *self.systems.notes)

    def compare_under(self, column: int, measure: str, margin: float | None) -> MeasureComparison:
        """Return the systems and pairs under the measure of a column, with a note on pairs whose interval disagrees.

        With a `margin` the pairs have tests of equivalence.
        """
        pairs = self._paired_systems(column, margin)
        disagreeing_pairs = [f"{pair.a} and {pair.b}" for pair in pairs if pair.disagrees(self.level)]
        return MeasureComparison(
            measure=measure,
            exploratory=False,
            family=self.tested.family,
            systems=self._ranked_systems(column),
            pairs=pairs,
            verdict=verdict_of(pairs, self.tested.family, measure, self.level),
            notes=note_on_disagreements(disagreeing_pairs),
        )

    def _paired_systems(self, column: int, margin: float | None) -> tuple[PairedSystems, ...]:
        """Return the pairs of the family under the measure of a column; tests of equivalence are corrected together."""
        systems = self.systems
        tested = self.tested
        unit_ratios = [systems.unit_ratio(system, column) for system in range(len(self.names))]
        has_single_units = not systems.settings.clusters
        pairs = []
        equivalence_tests = []
        for (first, second), p, p_adjusted in zip(tested.pairs, tested.p[column], tested.p_adjusted[column]):
            is_binary = are_right_or_wrong(unit_ratios[first]) and are_right_or_wrong(unit_ratios[second])
            pairs.append(
                PairedSystems(
                    a=self.names[first],
                    b=self.names[second],
                    **_interval_fields("difference", systems.difference(first, second, column)),
                    p=p,
                    p_adjusted=p_adjusted,
                    are_right_or_wrong=has_single_units and is_binary,
                    **effect_of(unit_ratios[first], unit_ratios[second]),
                )
            )
            if margin is not None:
                equivalence_tests.append(
                    equivalence_test(unit_ratios[first], unit_ratios[second], margin, can_be_binary=has_single_units)
                )
        if margin is None:
            return tuple(pairs)
        equivalences = _correct_equivalences(equivalence_tests, margin, self.level)
        return tuple([replace(pair, equivalence=equivalence) for pair, equivalence in zip(pairs, equivalences)])

    def _ranked_systems(self, column: int) -> tuple[RankedSystem, ...]:
        """Return the systems from best to worst under the measure of a column, equal systems in the order given."""
        systems = self.systems
        ranks = rank_systems(systems.points[:, column]).tolist()
        order = sorted(range(len(ranks)), key=lambda system: ranks[system])
        tier_by_system: Mapping[int, int | None] = dict.fromkeys(order)
        if not systems.settings.baseline:
            p_by_pair = self.tested.adjusted(column)
            tier_by_system = assign_tiers(
                order, lambda best, system: p_by_pair[frozenset((best, system))] <= self.level
            )
        ranges = rank_ranges(systems.resampled[column], self.level)
        ranked_systems = []
        for system in order:
            ranked_systems.append(
                RankedSystem(
                    name=self.names[system],
                    **_interval_fields("score", systems.score(system, column)),
                    rank=ranks[system],
                    rank_low=ranges[system].low,
                    rank_high=ranges[system].high,
                    tier=tier_by_system[system],
                )
            )
        return tuple(ranked_systems)


def _correct_equivalences(tests: Sequence[EquivalenceTest], margin: float, level: float) -> list[Equivalence]:
    """Return the outcome of each test of equivalence, with p-values corrected by Holm for all tests that have one."""
    corrected_p_values = iter(holm([test.p for test in tests if test.p is not None]))
    equivalences = []
    for test in tests:
        if test.p is None:
            p_adjusted = None
            is_equivalent = test.is_certain
        else:
            p_adjusted = next(corrected_p_values)
            is_equivalent = p_adjusted <= level
        equivalences.append(
            Equivalence(
                margin=margin,
                p=test.p,
                p_adjusted=p_adjusted,
                equivalent=is_equivalent,
                test=test.test,
                reason=test.reason,
            )
        )
    return equivalences


def _interval_fields(name: str, interval: Interval) -> dict[str, Any]:
    """Return the fields of an interval by name, its `point` by another name: `score` or `difference`."""
    fields = asdict(interval)
    fields[name] = fields.pop("point")
    return fields
