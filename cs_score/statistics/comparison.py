"""Two or more systems compared on the same units: tests of pairs, sizes of differences, ranks and tiers.

Sizes of differences and tests of equivalence rest on what each unit contributes to a difference, times the number of
units: the mean of these numbers is the difference of the scores.
Sources: docs/statistics/intervals-and-tests.md, families.md, power.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import UNSET

from cs_score.base.errors import UsageError
from cs_score.base.records import Record, replace
from cs_score.base.runtime import Late
from cs_score.measures.registry import Ratio, SumsFormula
from cs_score.statistics.arithmetic import Floats, possible_rounding, unit_contributions
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
from cs_score.statistics.resampling import ResampledSystems, defined_resamples
from cs_score.statistics.results import Equivalence, MeasureComparison, PairedSystems, RankedSystem, SystemComparison
from cs_score.statistics.units import AlignedUnits, UnitTable, align_systems
from cs_score.statistics.verdicts import verdict_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Late("numpy")

# ---- Sizes of differences


class DifferenceSize(NamedTuple):
    """How large the difference between two systems is, told by the units.

    `wins`, `ties` and `losses` are the numbers of units that speak for the second system, for neither, and for the
    first. `standard_deviation` is that of the units' differences, `effect_size` their mean divided by it. None is what
    does not exist: everything if a score is 0/0, the standard deviation of a single unit, the effect size if all units
    differ by the same amount.
    """

    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    standard_deviation: float | None = None
    effect_size: float | None = None


def size_of_difference(first: Ratio, second: Ratio) -> DifferenceSize:
    """Return how large the difference `second - first` of two systems is.

    The ratios have the numerator and the denominator of each unit. The second system wins a unit that adds to the
    difference, and loses a unit that takes from it. The scores of the unit would not tell: a system that is right where
    the other says nothing has 1 against 0/0, and a false alarm scores 0 like silence.
    """
    shares = unit_contributions(first, second)
    if shares is None:
        return DifferenceSize()

    # A unit is won or lost if it contributes more than the rounding of its numerators and denominators may.
    unit_count = len(shares)
    rounding_of_sums = possible_rounding(first.numerator, first.denominator, second.numerator, second.denominator)
    mean_of_denominators = (np.sum(first.denominator) + np.sum(second.denominator)) / 2
    rounding = rounding_of_sums / mean_of_denominators
    wins = int(np.count_nonzero(shares > rounding))
    losses = int(np.count_nonzero(-shares > rounding))
    ties = unit_count - wins - losses
    if unit_count < 2:
        return DifferenceSize(wins, ties, losses)

    differences = shares * unit_count  # their mean is the difference of the scores
    deviation = float(differences.std(ddof=1))
    largest_rounding = float(np.max(possible_rounding(differences)))
    if deviation <= 4 * largest_rounding:
        return DifferenceSize(wins, ties, losses, standard_deviation=0.0)
    effect_size = float(differences.mean()) / deviation
    return DifferenceSize(wins, ties, losses, standard_deviation=deviation, effect_size=effect_size)


# ---- Ranks and tiers


def rank_systems(scores: Floats) -> NDArray[np.int64]:
    """Return the rank of each system by its score: `[0.5, 0.9, 0.5]` gives `[2, 1, 2]`.

    The first axis of `scores` (systems, ...) are the systems. If there are more axes, such as resamples, the systems
    are ranked in each resample. A rank is one more than the number of systems with a higher score, so that systems
    whose scores are equal within rounding share the better rank.
    """
    ranks = np.ones(scores.shape, dtype=np.int64)
    for scores_of_rival in scores:
        has_better_rival = scores_of_rival - scores > possible_rounding(scores_of_rival, scores)
        ranks += has_better_rival
    return ranks


class RankRange(NamedTuple):
    """The best (`low`) and the worst (`high`) rank of a system over resamples, without the extremes."""

    low: int
    high: int


def rank_ranges(resampled: Floats, level: float) -> list[RankRange]:
    """Return the range of each system's rank over resamples: at the level 0.05 the central 95 % of its ranks.

    `resampled` are the scores (systems, N) in N resamples. Only resamples in which all scores are defined count; if
    they are too few, a system may have any rank. Of N sorted ranks floor(N * level / 2) are left out at either end.
    """
    system_count = len(resampled)
    defined_scores = defined_resamples(resampled)
    if defined_scores is None:
        return [RankRange(1, system_count)] * system_count
    ranks = rank_systems(defined_scores)  # (systems, N)
    sorted_ranks = np.sort(ranks, axis=1)
    rank_count = sorted_ranks.shape[1]
    # The addend covers rounding: 100 * 0.58 is 57.99999999999999. At least one rank remains.
    left_out = min(int(rank_count * level / 2 + 1e-9), (rank_count - 1) // 2)
    lowest_ranks = sorted_ranks[:, left_out].tolist()
    highest_ranks = sorted_ranks[:, rank_count - 1 - left_out].tolist()
    return [RankRange(low, high) for low, high in zip(lowest_ranks, highest_ranks)]


def assign_tiers(order: Sequence[int], differs: Callable[[int, int], bool]) -> dict[int, int]:
    """Return the tier of each system: 1 for systems that do not differ significantly from the best one, then 2 and on.

    `order` are the systems from best to worst, by their positions. A system belongs to the current tier unless it
    differs from the first system of the tier; then it is the first of the next tier. `differs(first, system)` says
    whether two systems differ significantly after correction.

    Two members of a tier may differ from each other, and a system may not differ from members of the tier above:
    "does not differ significantly" is not transitive.
    """
    tier_by_system: dict[int, int] = {}
    first_of_tier: int | None = None
    tier = 0
    for system in order:
        if first_of_tier is None or differs(first_of_tier, system):
            first_of_tier = system
            tier += 1
        tier_by_system[system] = tier
    return tier_by_system


# ---- Comparisons

_MOST_SCORES: Final = 1 << 27
"""The most scores of resamples, at 8 bytes each, that are made without the user asking for them."""


def compare_tables(
    tables: Mapping[str, UnitTable],
    measures: Sequence[str],
    formula: SumsFormula,
    resampling: Resampling | None = None,
    *,
    common: bool = False,
    primary: str | None = None,
    with_sign_test: bool = False,
    equivalence: float | None = None,
) -> SystemComparison:
    """Return the comparison of systems under some measures: scores with intervals, ranks, tiers and tests of pairs.

    `tables` has the statistics of each system by its name. `formula` makes a score for each of `measures` of their
    column sums. `primary` is the measure that is not exploratory, the first one unless given. Without `resampling`
    there are as many resamples as significance needs.

    If `common`, the systems are compared on the units that all of them have; otherwise all must have the same units.
    If `with_sign_test`, two systems whose units are right or wrong are compared by the exact sign test. With the margin
    `equivalence` it is also tested whether the systems of each pair differ by less than this.

    Raises UsageError for fewer than two systems and for a margin that is no number above 0; InputError, with the names
    of units, if the units of the systems differ or cannot be resampled.
    """
    if equivalence is not None and not 0 < equivalence < math.inf:
        raise UsageError(f"the margin of an equivalence is a number above 0, not {equivalence:g}")
    if len(tables) < 2:
        raise UsageError("a comparison needs at least two systems")

    # All systems are resampled and tested together.
    names = tuple(tables)
    if resampling is None:
        resampling = Resampling(can_grow=True)
    pairs = family_pairs(names, resampling)
    units = align_systems(tables, common=common)
    systems = _systems_to_resample(units, measures, formula, resampling, pair_count=len(pairs))
    tests = family_tests(systems, pairs, with_sign_test=with_sign_test)
    tested_systems = _TestedSystems(names, systems, tests)

    if primary is None:
        primary = measures[0]
    primary_column = list(measures).index(primary)
    comparison_notes = tested_systems.notes(primary_column)
    if common:
        comparison_notes = (note_on_common_units(len(units.ids), units.dropped), *comparison_notes)
    return SystemComparison(
        task="",
        measure=primary,
        systems=names,
        units=len(units.ids),
        resampling=systems.settings,
        notes=comparison_notes,
        dropped=units.dropped if common else UNSET,
        measures=_compare_under_all(tested_systems, measures, primary, equivalence),
    )


def _systems_to_resample(
    units: AlignedUnits, measures: Sequence[str], formula: SumsFormula, resampling: Resampling, *, pair_count: int
) -> ResampledSystems:
    """Return the systems, ready to be resampled as often as significance needs, if the number of resamples may grow.

    Raises ValueError if the formula does not make a score for each measure.
    """
    corrected_pairs = pair_count if resampling.correction_in_force == "holm" else 1
    scores_of_resample = len(units.rows) * len(measures)
    enough_resamples = resampling.with_enough_resamples(
        corrected_pairs, most_resamples=_MOST_SCORES // scores_of_resample
    )
    matrices = list(units.rows.values())
    systems = ResampledSystems(matrices, formula, enough_resamples, units.ids)
    score_count = systems.observed_scores.shape[1]
    if len(measures) != score_count:
        raise ValueError(f"{len(measures)} names for {score_count} measures")
    return systems


class _TestedSystems(Record):
    """Systems with their names, and the tests of a family of their pairs.

    Systems and measures are given by position; a `column` is the position of a measure.
    """

    names: Sequence[str]
    systems: ResampledSystems
    tests: FamilyTests

    @property
    def level(self) -> float:
        """The level of the tests."""
        return self.systems.settings.level

    def significance_notes(self) -> list[tuple[Note, ...]]:
        """Return for each measure a note if no difference could have been significant under it, otherwise no note."""
        notes = []
        for units in units_with_content(self.systems):
            notes.append(note_on_no_significance(self.tests.family, units, self.level))
        return notes

    def notes(self, primary_column: int) -> tuple[Note, ...]:
        """Return the notes on the whole comparison: on significance, near-copies and intervals.

        Those on significance and near-copies are about the primary measure.
        """
        notes_on_significance = self.significance_notes()[primary_column]
        copies = groups_of_copies(self.systems, self.names, self.tests.pairs, primary_column)
        return notes_on_significance + note_on_copies(copies) + self.systems.notes

    def compare_under(self, column: int, measure: str, margin: float | None) -> MeasureComparison:
        """Return the systems and pairs under a measure, with a note on pairs whose interval and test disagree.

        With a `margin` the pairs have tests of equivalence. The comparison is not exploratory: `_compare_under_all`
        says which ones are.
        """
        pairs = self._paired_systems(column, margin)
        disagreeing_pairs = [f"{pair.a} and {pair.b}" for pair in pairs if pair.disagrees(self.level)]
        return MeasureComparison(
            measure=measure,
            exploratory=False,
            family=self.tests.family,
            systems=self._ranked_systems(column),
            pairs=pairs,
            verdict=verdict_of(pairs, self.tests.family, measure, self.level),
            notes=note_on_disagreements(disagreeing_pairs),
        )

    def _paired_systems(self, column: int, margin: float | None) -> tuple[PairedSystems, ...]:
        """Return the pairs of the family under a measure, each with a test of equivalence if there is a margin."""
        equivalences: Sequence[Equivalence | None] = [None] * len(self.tests.pairs)
        if margin is not None:
            equivalences = self._test_equivalences(column, margin)
        paired_systems = []
        for place, equivalence in enumerate(equivalences):
            paired_systems.append(self._compare_pair(place, column, equivalence))
        return tuple(paired_systems)

    def _compare_pair(self, place: int, column: int, equivalence: Equivalence | None) -> PairedSystems:
        """Return the pair at a place of the family under a measure: difference, interval, p-values, wins and losses."""
        first, second = self.tests.pairs[place]
        first_ratio = self.systems.unit_ratios_of(first, column)
        second_ratio = self.systems.unit_ratios_of(second, column)
        interval = self.systems.difference_interval(first, second, column)
        size = size_of_difference(first_ratio, second_ratio)
        has_binary_units = are_right_or_wrong(first_ratio) and are_right_or_wrong(second_ratio)
        has_single_units = not self.systems.settings.clusters
        return PairedSystems(
            a=self.names[first],
            b=self.names[second],
            difference=interval.point,
            low=interval.low,
            high=interval.high,
            p=self.tests.p[column][place],
            p_adjusted=self.tests.p_adjusted[column][place],
            wins=size.wins,
            ties=size.ties,
            losses=size.losses,
            standard_deviation=size.standard_deviation,
            effect_size=size.effect_size,
            equivalence=equivalence,
            are_right_or_wrong=has_binary_units and has_single_units,
            undefined_resamples=interval.undefined_resamples,
            note=interval.note,
            notes=interval.notes,
        )

    def _test_equivalences(self, column: int, margin: float) -> list[Equivalence]:
        """Return for each pair whether its systems differ by less than the margin; all tests are corrected together."""
        has_single_units = not self.systems.settings.clusters
        equivalence_tests = []
        for first, second in self.tests.pairs:
            first_ratio = self.systems.unit_ratios_of(first, column)
            second_ratio = self.systems.unit_ratios_of(second, column)
            test = equivalence_test(first_ratio, second_ratio, margin, can_be_binary=has_single_units)
            equivalence_tests.append(test)
        return _correct_equivalences(equivalence_tests, margin, self.level)

    def _ranked_systems(self, column: int) -> tuple[RankedSystem, ...]:
        """Return the systems from best to worst under a measure; systems of the same rank are in the order given."""
        systems = self.systems
        ranks = rank_systems(systems.observed_scores[:, column]).tolist()
        order = sorted(range(len(ranks)), key=lambda system: ranks[system])
        tier_by_system = self._tiers(order, column)
        ranges = rank_ranges(systems.resampled_scores[column], self.level)
        ranked_systems = []
        for system in order:
            interval = systems.score_interval(system, column)
            ranked_systems.append(
                RankedSystem(
                    name=self.names[system],
                    score=interval.point,
                    low=interval.low,
                    high=interval.high,
                    rank=ranks[system],
                    rank_low=ranges[system].low,
                    rank_high=ranges[system].high,
                    tier=tier_by_system.get(system),
                    undefined_resamples=interval.undefined_resamples,
                    note=interval.note,
                    notes=interval.notes,
                )
            )
        return tuple(ranked_systems)

    def _tiers(self, order: Sequence[int], column: int) -> dict[int, int]:
        """Return the tier of each system under a measure, given the systems from best to worst.

        With a baseline there are no tiers, since not all pairs were tested.
        """
        if self.systems.settings.baseline:
            return {}
        p_by_pair = self.tests.adjusted_p_by_pair(column)
        differing_pairs = {pair for pair, p in p_by_pair.items() if p <= self.level}
        return assign_tiers(order, differs=lambda first, system: frozenset((first, system)) in differing_pairs)


def _compare_under_all(
    tested_systems: _TestedSystems, measures: Sequence[str], primary: str, margin: float | None
) -> tuple[MeasureComparison, ...]:
    """Return the comparison of the systems under each measure; all measures but the primary one are exploratory.

    A note that no difference could have been significant is left out if the primary measure has the same one, since it
    is shown for the whole comparison.
    """
    significance_notes = tested_systems.significance_notes()
    notes_of_primary = significance_notes[list(measures).index(primary)]
    comparisons = []
    for column, measure in enumerate(measures):
        comparison = tested_systems.compare_under(column, measure, margin)
        notes = comparison.notes
        if significance_notes[column] != notes_of_primary:
            notes = significance_notes[column] + notes
        comparisons.append(replace(comparison, exploratory=measure != primary, notes=notes))
    return tuple(comparisons)


def _correct_equivalences(tests: Sequence[EquivalenceTest], margin: float, level: float) -> list[Equivalence]:
    """Return the outcome of each test of equivalence, with Holm's correction for the number of tests with a p-value.

    Two systems are equivalent if the corrected p-value is at most `level`. Without a p-value the test itself says so.
    """
    p_by_place = {place: test.p for place, test in enumerate(tests) if test.p is not None}
    corrected_p_values = holm(list(p_by_place.values()))
    corrected_p_by_place = dict(zip(p_by_place, corrected_p_values))
    equivalences = []
    for place, test in enumerate(tests):
        p_adjusted = corrected_p_by_place.get(place)
        is_equivalent = test.is_certain if p_adjusted is None else p_adjusted <= level
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
