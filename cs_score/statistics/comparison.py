"""Two or more systems compared on the same units: tests of pairs, sizes of differences, ranks and tiers. A system is a
run among several, and a family is the set of pairs that are tested together. Systems of a tier do not differ
significantly from the best system of it.

The difference of a unit is its contribution to the difference of two scores, times the number of units. The mean of
these numbers is the difference of the scores. Effect sizes and tests of equivalence are computed from them.
Sources: docs/statistics/intervals-and-tests.md, families.md, power.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.base.errors import UsageError
from cs_score.base.records import Record, replace
from cs_score.base.runtime import Late
from cs_score.measures import Ratio, SumsFormula
from cs_score.statistics.arithmetic import Floats, possible_rounding, unit_contributions
from cs_score.statistics.equivalence import EquivalenceTest, are_right_or_wrong, equivalence_test
from cs_score.statistics.families import (
    FamilyTests,
    count_units_with_content,
    family_pairs,
    family_tests,
    groups_of_copies,
    holm,
)
from cs_score.statistics.resampling import ResampledSystems, defined_resamples
from cs_score.statistics.resampling_settings import (
    Note,
    Resampling,
    note_on_common_units,
    note_on_copies,
    note_on_disagreements,
    note_on_no_significance,
)
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
    """The size of the difference between two systems: in how many units each is better, and the effect size.

    `wins`, `ties` and `losses` are the numbers of units that favour the second system, neither, and the first.
    `standard_deviation` is the standard deviation of the differences of the units, and `effect_size` is the mean
    difference divided by it. Values that do not exist are None. This applies to all values if a score is 0/0, to the
    standard deviation if there is only one unit, and to the effect size if all units differ by the same amount.
    """

    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    standard_deviation: float | None = None
    effect_size: float | None = None


def size_of_difference(first: Ratio, second: Ratio) -> DifferenceSize:
    """Return the size of the difference `second - first` of two systems: wins, ties, losses and effect size.

    Each ratio has the numerator and the denominator of every unit. The second system wins a unit that increases the
    difference, and loses a unit that decreases it. Comparing the scores within a unit would not work. A system that
    gives no answer may not have a score in the unit (0/0). Even if it has the score 0, a wrong answer with the same
    score makes the difference worse.
    """
    contributions = unit_contributions(first, second)  # (units,)
    if contributions is None:
        return DifferenceSize()
    size = _count_wins(contributions, _rounding_of_contributions(first, second))
    unit_count = len(contributions)
    if unit_count < 2:
        return size
    differences = contributions * unit_count  # their mean is the difference of the scores
    return _with_effect_size(size, differences)


def _with_effect_size(size: DifferenceSize, differences: Floats) -> DifferenceSize:
    """Return the size of a difference with the standard deviation of the differences (units,) and the effect size.

    There is no effect size if the standard deviation is 0.
    """
    standard_deviation = _standard_deviation(differences)
    if standard_deviation == 0:
        return size._replace(standard_deviation=0.0)
    effect_size = float(differences.mean()) / standard_deviation
    return size._replace(standard_deviation=standard_deviation, effect_size=effect_size)


def _rounding_of_contributions(first: Ratio, second: Ratio) -> Floats:
    """Return how large the contribution of each unit to a difference of scores can be by rounding alone: (units,).

    `first` and `second` have the numerator and the denominator of every unit for each of the two systems.
    """
    rounding_of_numbers = possible_rounding(first.numerator, first.denominator, second.numerator, second.denominator)
    # `unit_contributions` divides differences of these numbers by the mean of the two total denominators.
    mean_total_denominator = (np.sum(first.denominator) + np.sum(second.denominator)) / 2
    return np.asarray(rounding_of_numbers / mean_total_denominator)


def _count_wins(contributions: Floats, rounding: Floats) -> DifferenceSize:
    """Return how many units the second system wins, ties and loses; the other fields of the result are None.

    `contributions` (units,) are the contributions of the units to the difference of the scores, second minus first. A
    unit is a win if its contribution is above its `rounding` (units,), and a loss if it is below -`rounding`.
    """
    wins = int(np.count_nonzero(contributions > rounding))
    losses = int(np.count_nonzero(-contributions > rounding))
    ties = len(contributions) - wins - losses
    return DifferenceSize(wins=wins, ties=ties, losses=losses)


def _standard_deviation(differences: Floats) -> float:
    """Return the standard deviation of the differences (units,) of units, or 0 if they only differ by rounding."""
    standard_deviation = float(differences.std(ddof=1))
    # A difference is computed from four rounded numbers: the numerator and the denominator of each system.
    largest_rounding = 4 * float(np.max(possible_rounding(differences)))
    return 0.0 if standard_deviation <= largest_rounding else standard_deviation


# ---- Ranks and tiers


def rank_systems(scores: Floats) -> NDArray[np.int64]:
    """Return the rank of each system by its score: `[0.5, 0.9, 0.5]` gives `[2, 1, 2]`.

    The first axis of `scores` has the systems. If `scores` has further axes, such as (systems, resamples), the systems
    are ranked in each resample. The rank of a system is one more than the number of systems with a higher score.
    Systems whose scores are equal within rounding therefore share the better rank.
    """
    ranks = np.ones(scores.shape, dtype=np.int64)
    for scores_of_rival in scores:
        rival_is_better = scores_of_rival - scores > possible_rounding(scores_of_rival, scores)
        ranks += rival_is_better
    return ranks


class RankRange(NamedTuple):
    """The best (`low`) and the worst (`high`) rank of a system in the resamples, excluding extreme ranks."""

    low: int
    high: int


def rank_ranges(resampled_scores: Floats, significance_level: float) -> list[RankRange]:
    """Return the range of each system's rank in the resamples: at the level 0.05 the central 95 % of its ranks.

    `resampled_scores` are the scores (systems, N) in N resamples. Resamples in which a score is undefined are left out.
    If there are too many of these, the range of each system includes all ranks. Of the N sorted ranks, floor(N * level
    / 2) are left out at each end.
    """
    system_count = len(resampled_scores)
    defined_scores = defined_resamples(resampled_scores)
    if defined_scores is None:
        return [RankRange(1, system_count)] * system_count
    ranks = rank_systems(defined_scores)  # (systems, N)
    sorted_ranks = np.sort(ranks, axis=1)
    resample_count = sorted_ranks.shape[1]
    left_out_count = _left_out_count(resample_count, significance_level)  # floor(N * level / 2)
    lowest_ranks = sorted_ranks[:, left_out_count].tolist()
    highest_ranks = sorted_ranks[:, resample_count - 1 - left_out_count].tolist()
    return [RankRange(low, high) for low, high in zip(lowest_ranks, highest_ranks)]


def _left_out_count(resample_count: int, significance_level: float) -> int:
    """Return how many of the sorted ranks are left out at each end: 250 of 10,000 at the level 0.05.

    At least one rank remains.
    """
    # Rounding errors must not change the whole number: 100 * 0.58 is 57.99999999999999 in floating point.
    rounded_down = int(resample_count * significance_level / 2 + 1e-9)
    return min(rounded_down, (resample_count - 1) // 2)


def assign_tiers(systems_from_best: Sequence[int], differs: Callable[[int, int], bool]) -> dict[int, int]:
    """Return the tier of each system: `{0: 1, 2: 1, 1: 2}`. Tier 1 has the best systems.

    `systems_from_best` are the positions of the systems, beginning with the best system. A system belongs to the same
    tier as the system before it, unless it differs significantly from the first system of that tier. In this case it is
    the first system of the next tier. `differs(first, system)` says whether two systems differ significantly.

    "Does not differ significantly" is not transitive. Two members of a tier may therefore differ significantly, and a
    system need not differ from the members of the tier above.
    """
    tier_by_system: dict[int, int] = {}
    first_of_tier: int | None = None
    tier = 0
    for system in systems_from_best:
        if first_of_tier is None or differs(first_of_tier, system):
            first_of_tier = system
            tier += 1
        tier_by_system[system] = tier
    return tier_by_system


# ---- Comparisons

_MOST_SCORES: Final = 1 << 27
"""The largest number of resampled scores, at 8 bytes each, unless the user names a larger number of resamples."""


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
    """Compare systems by some measures, and return scores with intervals, ranks, tiers and tests of pairs.

    `tables` has the statistics of each system by its name, and `formula` computes a score for each of `measures` from
    their column sums. `primary` is the measure that is not exploratory; the default is the first measure. If
    `resampling` is None, the number of resamples is large enough for the difference of a pair to be significant.

    If `common` is true, the systems are compared on the units that all of them have; otherwise they must have the same
    units. If `with_sign_test` is true, two systems whose units are right or wrong are compared by the exact sign test.
    `equivalence` is the margin of a test of equivalence, which tests whether the systems of each pair differ by less
    than the margin.

    Raises UsageError if there are fewer than two systems, or if the margin is not a number above 0. Raises InputError
    with the names of units if the units of the systems differ or cannot be resampled.
    """
    _check_margin(equivalence)
    if len(tables) < 2:
        raise UsageError("a comparison needs at least two systems")
    if resampling is None:
        resampling = Resampling(can_grow=True)
    if primary is None:
        primary = measures[0]
    names = tuple(tables)
    pairs = family_pairs(names, resampling)
    units = align_systems(tables, common=common)
    systems = _systems_to_resample(units, measures, formula, resampling, pair_count=len(pairs))
    tests = family_tests(systems, pairs, with_sign_test=with_sign_test)
    tested_systems = _TestedSystems(names, measures, primary, systems, tests)
    comparison = tested_systems.comparison(unit_count=len(units.ids), margin=equivalence)
    return _with_dropped_units(comparison, units) if common else comparison


def _with_dropped_units(comparison: SystemComparison, units: AlignedUnits) -> SystemComparison:
    """Return a comparison on the common units with the units that were left out, and a note that names them."""
    note = note_on_common_units(len(units.ids), units.dropped)
    return replace(comparison, dropped=units.dropped, notes=(note, *comparison.notes))


def _check_margin(margin: float | None) -> None:
    """Raise UsageError if the margin of a test of equivalence is not a number above 0. None means no such test."""
    if margin is not None and not 0 < margin < math.inf:
        raise UsageError(f"the margin of an equivalence is a number above 0, not {margin:g}")


def _systems_to_resample(
    units: AlignedUnits, measures: Sequence[str], formula: SumsFormula, resampling: Resampling, *, pair_count: int
) -> ResampledSystems:
    """Return the systems, with settings for enough resamples to find significant differences among the pairs.

    The number of resamples is increased only if the settings allow it. Raises ValueError if the formula does not
    compute a score for each measure.
    """
    scores_per_resample = len(units.rows) * len(measures)
    settings = _with_enough_resamples(resampling, pair_count, scores_per_resample)
    matrix_of_each_system = list(units.rows.values())
    systems = ResampledSystems(matrix_of_each_system, formula, settings, units.ids)
    # The number of scores that the formula computes is known only after calling it.
    _, score_count = systems.observed_scores.shape
    if len(measures) != score_count:
        raise ValueError(f"{len(measures)} names for {score_count} measures")
    return systems


def _with_enough_resamples(resampling: Resampling, pair_count: int, scores_per_resample: int) -> Resampling:
    """Return the settings with enough resamples for significant differences, but no more than memory can hold.

    Only Holm's correction needs more resamples for more pairs. `scores_per_resample` is the number of scores in memory
    for each resample.
    """
    corrected_pairs = pair_count if resampling.correction_in_force == "holm" else 1
    most_resamples = _MOST_SCORES // scores_per_resample
    return resampling.with_enough_resamples(corrected_pairs, most_resamples)


class _Placement(NamedTuple):
    """The rank of a system, the range of its rank in the resamples, and its tier. With a baseline it has no tier."""

    rank: int
    rank_range: RankRange
    tier: int | None


class _TestedSystems(Record):
    """Systems with their names, and the tests of a family of pairs of these systems. A family is the set of pairs that
    are tested together. Systems, measures and pairs are identified by their positions.

    The systems are compared under one or more measures. One of these is the primary measure, and any others are
    exploratory.
    """

    names: Sequence[str]
    measures: Sequence[str]
    primary: str
    systems: ResampledSystems
    tests: FamilyTests

    @property
    def significance_level(self) -> float:
        """The significance level of the tests: `0.05`."""
        return self.systems.settings.significance_level

    @property
    def primary_index(self) -> int:
        """The position of the primary measure among the measures: `0`."""
        return list(self.measures).index(self.primary)

    def comparison(self, unit_count: int, margin: float | None) -> SystemComparison:
        """Return the comparison of the systems on `unit_count` units, under all measures.

        If there is a `margin`, each pair has a test of equivalence: whether the systems differ by less than this. The
        name of the task is left empty.
        """
        significance_notes_by_measure = self._significance_notes_by_measure()
        return SystemComparison(
            task="",
            measure=self.primary,
            systems=tuple(self.names),
            units=unit_count,
            resampling=self.systems.settings,
            notes=self._notes(significance_notes_by_measure[self.primary_index]),
            measures=self._compare_under_all(significance_notes_by_measure, margin),
        )

    def _notes(self, significance_notes: tuple[Note, ...]) -> tuple[Note, ...]:
        """Return the notes on the whole comparison: on significance, on near-copies and on intervals.

        The `significance_notes` and the note on near-copies are about the primary measure.
        """
        copies = groups_of_copies(self.systems, self.names, self.tests.pairs, self.primary_index)
        return significance_notes + note_on_copies(copies) + self.systems.notes

    def _significance_notes_by_measure(self) -> list[tuple[Note, ...]]:
        """Return, for each measure in order, the note that no difference could have been significant.

        The tuple for a measure is empty if a difference could have been significant.
        """
        unit_count_by_measure = count_units_with_content(self.systems)
        notes_by_measure = []
        for unit_count in unit_count_by_measure:
            notes_by_measure.append(note_on_no_significance(self.tests.family, unit_count, self.significance_level))
        return notes_by_measure

    def _compare_under_all(
        self, significance_notes_by_measure: Sequence[tuple[Note, ...]], margin: float | None
    ) -> tuple[MeasureComparison, ...]:
        """Return the comparison of the systems under each measure.

        The note that no difference could have been significant is left out if it is the same as for the primary
        measure, because that note is shown for the whole comparison.
        """
        notes_of_primary = significance_notes_by_measure[self.primary_index]
        comparisons = []
        for measure_index, notes_of_measure in enumerate(significance_notes_by_measure):
            shown_notes = () if notes_of_measure == notes_of_primary else notes_of_measure
            comparisons.append(self._compare_under(measure_index, margin, shown_notes))
        return tuple(comparisons)

    def _compare_under(
        self, measure_index: int, margin: float | None, significance_notes: tuple[Note, ...]
    ) -> MeasureComparison:
        """Return the comparison of the systems under one measure. All measures but the primary one are exploratory.

        The comparison has the `significance_notes`, and a note on pairs whose interval and test disagree. If there is a
        `margin`, each pair has a test of equivalence.
        """
        measure = self.measures[measure_index]
        pairs = self._paired_systems(measure_index, margin)
        disagreeing_pairs = [f"{pair.a} and {pair.b}" for pair in pairs if pair.disagrees(self.significance_level)]
        return MeasureComparison(
            measure=measure,
            exploratory=measure != self.primary,
            family=self.tests.family,
            systems=self._ranked_systems(measure_index),
            pairs=pairs,
            verdict=verdict_of(pairs, self.tests.family, measure, self.significance_level),
            notes=significance_notes + note_on_disagreements(disagreeing_pairs),
        )

    def _paired_systems(self, measure_index: int, margin: float | None) -> tuple[PairedSystems, ...]:
        """Return the results of all pairs under one measure, with tests of equivalence if there is a margin."""
        equivalences: Sequence[Equivalence | None] = [None] * len(self.tests.pairs)
        if margin is not None:
            equivalences = self._test_equivalences(measure_index, margin)
        paired_systems = []
        for pair_index, equivalence in enumerate(equivalences):
            paired_systems.append(self._compare_pair(pair_index, measure_index, equivalence))
        return tuple(paired_systems)

    def _compare_pair(self, pair_index: int, measure_index: int, equivalence: Equivalence | None) -> PairedSystems:
        """Return the difference of one pair under one measure, with its interval, p-values, wins and losses."""
        first, second = self.tests.pairs[pair_index]
        first_ratio = self.systems.unit_ratios_of(first, measure_index)
        second_ratio = self.systems.unit_ratios_of(second, measure_index)
        interval = self.systems.difference_interval(first, second, measure_index)
        size = size_of_difference(first_ratio, second_ratio)
        return PairedSystems(
            a=self.names[first],
            b=self.names[second],
            difference=interval.point,
            low=interval.low,
            high=interval.high,
            p=self.tests.p[measure_index][pair_index],
            p_adjusted=self.tests.p_adjusted[measure_index][pair_index],
            wins=size.wins,
            ties=size.ties,
            losses=size.losses,
            standard_deviation=size.standard_deviation,
            effect_size=size.effect_size,
            equivalence=equivalence,
            are_right_or_wrong=self._have_binary_units(first_ratio, second_ratio),
            undefined_resamples=interval.undefined_resamples,
            note=interval.note,
            notes=interval.notes,
        )

    def _have_binary_units(self, first_ratio: Ratio, second_ratio: Ratio) -> bool:
        """Return whether all units of two systems are right (1/1) or wrong (0/1), and are drawn individually."""
        has_single_units = not self.systems.settings.clusters
        return has_single_units and are_right_or_wrong(first_ratio) and are_right_or_wrong(second_ratio)

    def _test_equivalences(self, measure_index: int, margin: float) -> list[Equivalence]:
        """Return the test of equivalence of each pair under one measure, corrected for the number of pairs."""
        # A cluster is a sum of units, which may happen to be 1/1. Only units that are drawn individually can be called
        # right or wrong (1/1 or 0/1).
        has_single_units = not self.systems.settings.clusters
        equivalence_tests = []
        for first, second in self.tests.pairs:
            first_ratio = self.systems.unit_ratios_of(first, measure_index)  # of each unit
            second_ratio = self.systems.unit_ratios_of(second, measure_index)
            test = equivalence_test(first_ratio, second_ratio, margin, can_be_binary=has_single_units)
            equivalence_tests.append(test)
        return _correct_equivalences(equivalence_tests, margin, self.significance_level)

    def _ranked_systems(self, measure_index: int) -> tuple[RankedSystem, ...]:
        """Return the systems from best to worst under one measure. Systems of the same rank keep their order."""
        ranks = rank_systems(self.systems.observed_scores[:, measure_index]).tolist()
        systems_from_best = sorted(range(len(ranks)), key=lambda system: ranks[system])
        tier_by_system = self._tiers(systems_from_best, measure_index)
        ranges = rank_ranges(self.systems.resampled_scores[measure_index], self.significance_level)
        ranked_systems = []
        for system in systems_from_best:
            placement = _Placement(ranks[system], ranges[system], tier_by_system.get(system))
            ranked_systems.append(self._ranked_system(system, measure_index, placement))
        return tuple(ranked_systems)

    def _ranked_system(self, system_index: int, measure_index: int, placement: _Placement) -> RankedSystem:
        """Return the score of one system under one measure, with its interval and its placement among the systems."""
        interval = self.systems.score_interval(system_index, measure_index)
        return RankedSystem(
            name=self.names[system_index],
            score=interval.point,
            low=interval.low,
            high=interval.high,
            rank=placement.rank,
            rank_low=placement.rank_range.low,
            rank_high=placement.rank_range.high,
            tier=placement.tier,
            undefined_resamples=interval.undefined_resamples,
            note=interval.note,
            notes=interval.notes,
        )

    def _tiers(self, systems_from_best: Sequence[int], measure_index: int) -> dict[int, int]:
        """Return the tier of each system under one measure, given the systems in the order of their ranks.

        If there is a baseline, no system has a tier, because not all pairs were tested.
        """
        if self.systems.settings.baseline:
            return {}
        p_by_pair = self.tests.adjusted_p_by_pair(measure_index)
        significant_pairs = {pair for pair, p in p_by_pair.items() if p <= self.significance_level}
        return assign_tiers(
            systems_from_best, differs=lambda first, system: frozenset((first, system)) in significant_pairs
        )


def _correct_equivalences(
    tests: Sequence[EquivalenceTest], margin: float, significance_level: float
) -> list[Equivalence]:
    """Return the outcome of each test of equivalence, corrected by Holm's method for the number of p-values.

    `margin` is the difference from which two systems are no longer equivalent.
    """
    corrected_p_by_test = _corrected_p_by_test(tests)
    equivalences = []
    for index, test in enumerate(tests):
        p_adjusted = corrected_p_by_test.get(index)
        equivalences.append(_equivalence_of(test, p_adjusted, margin, significance_level))
    return equivalences


def _equivalence_of(
    test: EquivalenceTest, p_adjusted: float | None, margin: float, significance_level: float
) -> Equivalence:
    """Return the outcome of a test of equivalence as documents have it, with its corrected p-value if it has one."""
    return Equivalence(
        margin=margin,
        p=test.p_value,
        p_adjusted=p_adjusted,
        equivalent=_is_equivalent(test, p_adjusted, significance_level),
        test=test.method,
        reason=test.reason,
    )


def _corrected_p_by_test(tests: Sequence[EquivalenceTest]) -> dict[int, float]:
    """Return the p-values of tests, corrected by Holm's method, by the position of the test: `{0: 0.02, 2: 0.04}`.

    Tests without a p-value are left out.
    """
    p_by_test = {index: test.p_value for index, test in enumerate(tests) if test.p_value is not None}
    corrected_p_values = holm(list(p_by_test.values()))
    return dict(zip(p_by_test, corrected_p_values))


def _is_equivalent(test: EquivalenceTest, p_adjusted: float | None, significance_level: float) -> bool:
    """Return whether two systems are equivalent: they are if the corrected p-value of the test is at most the level.

    If the test has no p-value, its outcome says whether they are equivalent.
    """
    if p_adjusted is None:
        return test.is_equivalent_without_test
    return p_adjusted <= significance_level
