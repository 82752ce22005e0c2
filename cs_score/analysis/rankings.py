"""Rankings of many runs: how far they agree, how firm first places are, which rows differ by more than chance. A
ranking orders runs by a measure under a policy. Kendall's tau-b says how far two rankings agree, from -1 to 1.

Rankings by different measures and under different policies are compared by Kendall's tau-b (1945):

    (concordant - discordant) / sqrt((pairs - ties in x) * (pairs - ties in y))

A row of a leaderboard is tested against the row above it because of its score, not because somebody chose the two. So
its p-value is that of two named systems, corrected for all pairs of systems that might have become neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Final, TypeAlias

from cs_score.base.records import Record, field, replace
from cs_score.base.runtime import Late
from cs_score.measures import COLD_START_MODE, Ratio, SumsFormula, formula_of, parse_measure, ratios, sum_columns_of
from cs_score.statistics.arithmetic import TIE_TOLERANCE, Floats, possible_rounding
from cs_score.statistics.comparison import assign_tiers, size_of_difference
from cs_score.statistics.families import (
    MOST_SYSTEMS,
    FamilyTests,
    count_units_with_content,
    family_pairs,
    family_tests,
    groups_of_copies,
)
from cs_score.statistics.resampling import ResampledSystems, defined_resamples
from cs_score.statistics.resampling_settings import Family, Note, Resampling, note_on_copies, note_on_no_significance
from cs_score.statistics.units import Unit, UnitTable, units_of
from cs_score.statistics.verdicts import verdict_of
from cs_score.tasks import mode_named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Late("numpy")

# ---- Measures of runs by their units

Values: TypeAlias = tuple[float | None, ...]
"""A value of each measure; None where it is undefined."""


class MeasureFormula(Record):
    """Some measures of a task as one formula over the statistics of units, such as a unit's number of right answers.

    `names` are the measures, `columns` the statistics that `formula` needs, in its order. Tables of runs may lack some
    columns and units.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    formula: SumsFormula

    def rows(self, table: UnitTable, units: Sequence[Unit]) -> list[tuple[float, ...]]:
        """Return a row of statistics for each of `units`, with the columns that the formula needs, in its order.

        A unit that the table does not have gets zeros. So does a column that it does not have, such as one of a hop
        that no query asks for.
        """
        is_already_in_order = table.columns == self.columns and list(units) == units_of(table.ids)
        if is_already_in_order:
            return list(table.rows)
        row_by_unit = dict(zip(units_of(table.ids), table.rows))
        zeros = (0.0,) * len(table.columns)
        rows_of_table = [row_by_unit.get(unit, zeros) for unit in units]
        return self._select_columns(table.columns, rows_of_table)

    def _select_columns(self, columns: Sequence[str], rows: Iterable[Sequence[float]]) -> list[tuple[float, ...]]:
        """Return rows with the columns that the formula needs, in its order; a column that they lack has zeros.

        `columns` are the columns that the rows have: the row `(3, 4)` of the columns b and a gives `(4, 0.0)` for a
        formula of a and c.
        """
        positions = [columns.index(column) if column in columns else None for column in self.columns]
        selected_rows = []
        for row in rows:
            selected_row = [0.0 if position is None else row[position] for position in positions]
            selected_rows.append(tuple(selected_row))
        return selected_rows

    def values(self, table: UnitTable, values_by_row: dict[tuple[float, ...], Values]) -> dict[Unit, Values]:
        """Return the values of the measures in each single unit, from 0 to 1; None for a value of 0/0.

        Many units have the same row of statistics. `values_by_row` therefore keeps the values by row: earlier ones are
        taken from it, and new ones are added.
        """
        units = units_of(table.ids)
        rows = self.rows(table, units)
        for row in dict.fromkeys(rows):
            if row not in values_by_row:
                values = [_quotient(ratio) for ratio in ratios(self.formula, row)]
                values_by_row[row] = tuple(values)
        return {unit: values_by_row[row] for unit, row in zip(units, rows)}

    def systems(self, tables: Iterable[UnitTable], units: Sequence[Unit], resampling: Resampling) -> ResampledSystems:
        """Return the scores of runs on these units, and in random resamples of the units (`resampling`).

        `tables` are the statistics of the units of each run.
        """
        rows_of_runs = [self.rows(table, units) for table in tables]
        unit_ids = [unit_id for unit_id, _ in units]
        return ResampledSystems(rows_of_runs, self.formula, resampling, unit_ids)


def _quotient(ratio: Ratio) -> float | None:
    """Return numerator / denominator, or None for 0/0."""
    if not ratio.denominator:
        return None
    quotient: float = ratio.numerator / ratio.denominator
    return quotient


def measure_formula(task: str, measure_names: Sequence[str]) -> MeasureFormula:
    """Return the formula that computes measures from the statistics of a task's units.

    Raises UsageError for a name that is not the name of a measure of the task.
    """
    if task == COLD_START_MODE:
        measures = [parse_measure(measure_name) for measure_name in measure_names]
        return MeasureFormula(
            names=tuple(measure_names), columns=sum_columns_of(measures), formula=formula_of(measures)
        )
    mode = mode_named(task)  # the rules of an evidence task
    return MeasureFormula(names=tuple(measure_names), columns=mode.columns, formula=mode.formula_of(measure_names))


def units_of_runs(ids_of_runs: Iterable[tuple[str, ...]]) -> list[Unit]:
    """Return all units that any run has, in the order in which they are first met.

    `ids_of_runs` has the ids of the units of each run.
    """
    units: dict[Unit, None] = {}
    for ids in dict.fromkeys(ids_of_runs):  # most runs have the same units
        units.update(dict.fromkeys(units_of(ids)))
    return list(units)


# ---- Which rows of a ranking differ by more than chance


class TestedRow(Record):
    """What the tests say of a row of a leaderboard.

    `tier` counts from 1; `p_above` is the corrected p-value of the difference from the row above, None for the first.
    Where only the pairs with a baseline are tested, there are no tiers, and `p_baseline` is that of the difference from
    the baseline. `effect_size` is the standardised difference from the row above or the baseline; `wins` are the units
    that speak for this row, `losses` those against it.
    """

    tier: int | None = None
    p_above: float | None = None
    p_baseline: float | None = None
    effect_size: float | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None


class RowTests(Record):
    """The tests of the rows of a ranking: their family, a verdict in words, and what a reader must know.

    Without a family nothing was tested; `verdict` is empty then.
    """

    rows: Sequence[TestedRow]
    family: Family | None = None
    verdict: str = ""
    notes: tuple[Note, ...] = ()


class _RowPair(Record):
    """Two rows of a ranking: their names, the score of `b` minus that of `a`, the corrected p-value."""

    a: str
    b: str
    difference: float
    p_adjusted: float


class _PairTests(Record):
    """The resampled runs of a ranking, and the corrected p-value of each pair of their positions. A row of a
    leaderboard is a run, and rows are known by their positions, from the best.
    """

    systems: ResampledSystems
    p_by_pair: Mapping[frozenset[int], float]

    def tiers(self) -> list[TestedRow]:
        """Return for each row, from the best, its tier and its difference from the row above it.

        Tier 1 has the best rows. A row begins a new tier if it differs significantly from the first row of the tier
        above.
        """
        row_count = len(self.systems.observed_scores)
        tier_by_row = assign_tiers(range(row_count), self._differs)
        tested_rows = [TestedRow(tier=tier_by_row[0])]
        for row in range(1, row_count):
            row_above = row - 1
            tested_row = self._compare_row(row_above, row)
            tested_rows.append(replace(tested_row, tier=tier_by_row[row], p_above=self._p_value(row_above, row)))
        return tested_rows

    def against_baseline(self, baseline: int) -> list[TestedRow]:
        """Return each row with its difference from the row of the baseline, which itself has no difference."""
        tested_rows = []
        for row in range(len(self.systems.observed_scores)):
            if row == baseline:
                tested_rows.append(TestedRow())
            else:
                tested_row = self._compare_row(baseline, row)
                tested_rows.append(replace(tested_row, p_baseline=self._p_value(baseline, row)))
        return tested_rows

    def _compare_row(self, other_row: int, row: int) -> TestedRow:
        """Return a row with its effect size, wins, ties and losses against another row, by the only measure.

        A win is a unit in which `row` is better than `other_row`. The effect size is positive if `row` is better.
        """
        only_measure = 0  # the position of the measure
        other_ratios = self.systems.unit_ratios_of(other_row, only_measure)
        ratios_of_row = self.systems.unit_ratios_of(row, only_measure)
        size = size_of_difference(other_ratios, ratios_of_row)
        return TestedRow(effect_size=size.effect_size, wins=size.wins, ties=size.ties, losses=size.losses)

    def _p_value(self, other_row: int, row: int) -> float:
        """Return the corrected p-value of the difference between two rows."""
        return self.p_by_pair[frozenset((other_row, row))]

    def _differs(self, other_row: int, row: int) -> bool:
        """Return whether two rows differ significantly."""
        return self._p_value(other_row, row) <= self.systems.settings.significance_level


def compare_rows(
    run_names: Sequence[str], tables: Sequence[UnitTable], formula: MeasureFormula, resampling: Resampling
) -> RowTests:
    """Test which rows of a leaderboard differ significantly from each other, or from the baseline of `resampling`.

    `run_names` and `tables` are the names and tables of the runs, from best to worst by the only measure of `formula`.
    If a run was not scored on a unit, its summands for this unit are zeros. Without units, no row differs from another.
    If there are more than `MOST_SYSTEMS` runs and no baseline, nothing is tested. The command `compare` makes the same
    tests for the same runs.
    """
    units = units_of_runs(table.ids for table in tables)
    run_count = len(tables)
    if not units or run_count < 2:
        return RowTests(_equal_rows(run_count))
    if run_count > MOST_SYSTEMS and not resampling.baseline:
        untested_rows = [TestedRow()] * run_count
        return RowTests(untested_rows, notes=(_note_of_too_many_pairs(run_count),))
    pairs = family_pairs(run_names, resampling)
    systems = formula.systems(tables, units, resampling)
    tests = family_tests(systems, pairs)
    row_pairs = _row_pairs(run_names, systems, tests)
    return RowTests(
        rows=_tested_rows(systems, tests),
        family=tests.family,
        verdict=verdict_of(row_pairs, tests.family, formula.names[0], systems.settings.significance_level),
        notes=_notes_on_rows(run_names, systems, tests),
    )


def _equal_rows(row_count: int) -> list[TestedRow]:
    """Return rows that do not differ: all are in tier 1. The first row has no p-value, because no row is above it."""
    if row_count == 0:
        return []
    first_row = TestedRow(tier=1)
    other_rows = [TestedRow(tier=1, p_above=1.0)] * (row_count - 1)
    return [first_row, *other_rows]


def _tested_rows(systems: ResampledSystems, tests: FamilyTests) -> list[TestedRow]:
    """Return each row with its difference from the baseline, or with its tier if there is no baseline.

    A tier is a group of rows that do not differ significantly from its best row.
    """
    pair_tests = _PairTests(systems, tests.adjusted_p_by_pair())
    if not systems.settings.baseline:
        return pair_tests.tiers()
    baseline, _ = tests.pairs[0]  # the baseline is the first of every pair
    return pair_tests.against_baseline(baseline)


def _row_pairs(run_names: Sequence[str], systems: ResampledSystems, tests: FamilyTests) -> list[_RowPair]:
    """Return the tested pairs of rows with the difference of their scores under the only measure."""
    scores = systems.observed_scores[:, 0].tolist()
    row_pairs = []
    for (first, second), p in zip(tests.pairs, tests.p_adjusted[0]):
        row_pairs.append(_RowPair(run_names[first], run_names[second], scores[second] - scores[first], p))
    return row_pairs


def _notes_on_rows(run_names: Sequence[str], systems: ResampledSystems, tests: FamilyTests) -> tuple[Note, ...]:
    """Return notes if no difference of rows could have been significant, and if runs are nearly the same."""
    [unit_count] = count_units_with_content(systems)  # there is one number, as there is only one measure
    copies = groups_of_copies(systems, run_names, tests.pairs)
    notes_on_significance = note_on_no_significance(tests.family, unit_count, systems.settings.significance_level)
    notes_on_near_copies = note_on_copies(copies)
    return notes_on_significance + notes_on_near_copies


def _note_of_too_many_pairs(run_count: int) -> Note:
    """Return the note that so many runs are too many to test all their pairs."""
    text = (
        f"no tests of pairs: all pairs are tested of at most {MOST_SYSTEMS} runs, and there are {run_count:,}; "
        "--baseline RUN tests each run against one of them"
    )
    return Note("TOO_MANY_PAIRS", text)


# ---- Kendall's tau-b


@lru_cache(maxsize=256)
def _pair_signs(scores: tuple[float, ...]) -> list[int]:
    """Return for each pair of runs 1 if the first has the higher score, -1 if the second has, and 0 for a tie.

    `(0.3, 0.1, 0.3)` gives `[1, 0, -1]`. Scores that differ by no more than rounding are tied.
    """
    signs = []
    for score, other_score in combinations(scores, 2):
        if math.isclose(score, other_score, rel_tol=TIE_TOLERANCE):
            signs.append(0)
        elif score > other_score:
            signs.append(1)
        else:
            signs.append(-1)
    return signs


def tau_b(first: Iterable[float], second: Iterable[float]) -> float | None:
    """Return Kendall's tau-b of two rankings, -1 to 1, from the scores of the same runs in each.

    The scores 3, 2, 1 and 2, 3, 1 give (2 - 1) / 3. Returns None if all runs are tied in one of the rankings.
    """
    first_signs = _pair_signs(tuple(first))
    second_signs = _pair_signs(tuple(second))
    first_untied = sum(abs(sign) for sign in first_signs)
    second_untied = sum(abs(sign) for sign in second_signs)
    if first_untied == 0 or second_untied == 0:
        return None
    concordant_less_discordant = sum(sign_a * sign_b for sign_a, sign_b in zip(first_signs, second_signs))
    return concordant_less_discordant / math.sqrt(first_untied * second_untied)


FEW_RUNS: Final = 6
"""The number of runs below which even a perfect correlation may be chance: of five runs one order in 120 agrees."""


def tau_in_words(tau: float | None, run_count: int) -> str:
    """Return the agreement of two rankings in words. A remark is added if there are few runs, which say little.

    `tau_in_words(0.5, 8)` gives `tau-b of the two rankings: 0.5000, from 8 runs, 28 pairs.`
    """
    if tau is None:
        return "tau-b of the two rankings: undefined, since all runs are tied."
    text = f"tau-b of the two rankings: {tau:.4f}"
    if run_count == 2:
        return f"{text}; of two runs it says only whether they change places."
    pair_count = math.comb(run_count, 2)
    remark = "; so few say little" if run_count < FEW_RUNS else ""
    return f"{text}, from {run_count} runs, {pair_count} pairs{remark}."


def ranks_of(scores: Sequence[float]) -> list[int]:
    """Return the rank of each score, from 1 for the highest: `[0.5, 0.9, 0.5]` gives `[2, 1, 2]`.

    Scores that differ by no more than rounding share the better rank.
    """
    ranks = []
    for score in scores:
        better_scores = [rival for rival in scores if rival - score > TIE_TOLERANCE * abs(rival)]
        ranks.append(1 + len(better_scores))
    return ranks


# ---- How firm rankings are


class RankingLimits(Record):
    """The limits of an interval, None where resamples gave none."""

    low: float | None
    high: float | None


class RunRanking(Record):
    """A ranking of all runs."""

    measure: str
    policy: str


class RankingPair(Record):
    """Kendall's tau-b of two rankings."""

    a: RunRanking
    b: RunRanking
    tau: float | None
    interval: RankingLimits | None


class FirstPlace(RunRanking):
    """The runs in first place of a ranking, by position, and how firm that is.

    `shares` has for each run of the batch the share of resamples in which it is first, ties split evenly: None for a
    run without a score, and for all where nothing was resampled or too many resamples have no score.
    """

    first_positions: tuple[int, ...] = field(name="runs")
    shares: tuple[float | None, ...]


class Stability(Record):
    """How far rankings agree."""

    pairs: tuple[RankingPair, ...]
    first_places: tuple[FirstPlace, ...] = field(name="first")


ScoresByRanking: TypeAlias = Mapping[RunRanking, Sequence[float | None]]
"""The score of each run, by position, in each ranking; None where it has none."""


def compare_rankings(
    scores_by_ranking: ScoresByRanking,
    resampled_by_ranking: Mapping[RunRanking, Floats] | None = None,
    excluded_share: float = 0.05,
) -> Stability:
    """Return how well each pair of rankings agrees (tau-b), and how certain the first place of each ranking is.

    `resampled_by_ranking` has the scores (runs, N) of each ranking in the same N resamples. If it is given, tau-b gets
    an interval, computed from the runs with a score in all rankings, and each run gets the share of resamples in which
    it is first. The interval covers all resampled values except for the `excluded_share`: 0.05 for a 95 % interval.
    """
    resampled_taus = None
    if resampled_by_ranking:
        resampled_taus = _resampled_taus(scores_by_ranking, resampled_by_ranking)
    first_places = []
    for ranking, scores in scores_by_ranking.items():
        resampled_scores = resampled_by_ranking[ranking] if resampled_by_ranking else None
        first_places.append(_first_place(ranking, scores, resampled_scores))
    pairs = _ranking_pairs(scores_by_ranking, resampled_taus, excluded_share)
    return Stability(tuple(pairs), tuple(first_places))


def _resampled_taus(scores_by_ranking: ScoresByRanking, resampled_by_ranking: Mapping[RunRanking, Floats]) -> Floats:
    """Return tau-b of each pair of rankings in each of N resamples: (N, rankings, rankings).

    Only the runs with a score in all rankings are compared. `resampled_by_ranking` has the scores (runs, N) of each
    ranking in the resamples.
    """
    common_positions = _positions_with_all_scores(scores_by_ranking)
    scores_of_common_runs = [resampled_by_ranking[ranking][common_positions] for ranking in scores_by_ranking]
    return _taus_of_resamples(np.stack(scores_of_common_runs))


def _ranking_pairs(
    scores_by_ranking: ScoresByRanking, resampled_taus: Floats | None, excluded_share: float
) -> list[RankingPair]:
    """Return tau-b of each pair of rankings, with its interval if there are resamples.

    `resampled_taus` (N, rankings, rankings) has tau-b in N resamples. The interval leaves out the `excluded_share` of
    these values: 0.05 for a 95 % interval.
    """
    pairs = []
    for (index_a, a), (index_b, b) in combinations(enumerate(scores_by_ranking), 2):
        tau = _tau_of_common_runs(scores_by_ranking[a], scores_by_ranking[b])
        limits = None
        if resampled_taus is not None and tau is not None:
            limits = _limits_of(resampled_taus[:, index_a, index_b], excluded_share)
        pairs.append(RankingPair(a, b, tau, limits))
    return pairs


def _positions_with_all_scores(scores_by_ranking: ScoresByRanking) -> list[int]:
    """Return the positions of the runs that have a score in all rankings."""
    scores_of_runs = zip(*scores_by_ranking.values())
    return [position for position, scores in enumerate(scores_of_runs) if None not in scores]


def _tau_of_common_runs(scores_a: Sequence[float | None], scores_b: Sequence[float | None]) -> float | None:
    """Return Kendall's tau-b of two rankings over the runs that have a score in both, or None if it is undefined."""
    common_a = []
    common_b = []
    for score_a, score_b in zip(scores_a, scores_b):
        if score_a is not None and score_b is not None:
            common_a.append(score_a)
            common_b.append(score_b)
    return tau_b(common_a, common_b)


def _limits_of(resampled_taus: Floats, excluded_share: float) -> RankingLimits | None:
    """Return the limits of the resampled values of tau-b after cutting off half of the `excluded_share` at each end.

    `resampled_taus` (N,) are the values of tau-b in N resamples. Returns None if tau-b is undefined in too many of
    them.
    """
    taus = defined_resamples(resampled_taus)
    if taus is None:
        return None
    half_share = excluded_share / 2
    low, high = np.quantile(taus, [half_share, 1 - half_share], method="linear").tolist()
    return RankingLimits(low, high)


def _first_place(ranking: RunRanking, scores: Sequence[float | None], resampled_scores: Floats | None) -> FirstPlace:
    """Return the runs in first place of a ranking, and the share of resamples in which each run is first.

    `scores` has the score of each run, or None for a run without a score; runs are identified by their positions in
    `scores`. `resampled_scores` are the scores (runs, N) in N resamples; without them, there are no shares.
    """
    score_by_position = {position: score for position, score in enumerate(scores) if score is not None}
    best_score = max(score_by_position.values(), default=0.0)
    # Scores that differ by no more than rounding share the first place.
    lowest_in_first_place = best_score - TIE_TOLERANCE * abs(best_score)
    first_positions = [position for position, score in score_by_position.items() if score >= lowest_in_first_place]
    share_by_position: Mapping[int, float | None] = {}
    if resampled_scores is not None and score_by_position:
        share_by_position = _share_by_position(list(score_by_position), resampled_scores)
    shares = [share_by_position.get(position) for position in range(len(scores))]
    return FirstPlace(
        measure=ranking.measure, policy=ranking.policy, first_positions=tuple(first_positions), shares=tuple(shares)
    )


def _share_by_position(positions: Sequence[int], resampled_scores: Floats) -> dict[int, float | None]:
    """Return the share of resamples in which a run is first, by the position of the run: `{0: 0.75, 2: 0.25}`.

    Only the runs at the given positions are compared. `resampled_scores` are the scores (runs, N) of all runs in N
    resamples. All shares are None if too many resamples have no score.
    """
    shares = first_place_shares(resampled_scores[positions])
    return dict(zip(positions, shares))


def resample_scores(
    tables: Sequence[UnitTable | None], units: Sequence[Unit], formula: MeasureFormula, resampling: Resampling
) -> list[Floats]:
    """Return the scores (runs, N) of runs in N resamples of `units`, for each measure of a formula.

    The resamples are the same for all runs. A score is not a number if the run has no table (None), or the score is
    undefined in the resample.
    """
    table_by_position = {position: table for position, table in enumerate(tables) if table is not None}
    scores: Floats = np.full((len(formula.names), len(tables), resampling.resamples), np.nan)
    if units and table_by_position:
        systems = formula.systems(table_by_position.values(), units, resampling)
        positions_with_table = list(table_by_position)
        scores[:, positions_with_table] = systems.resampled_scores
    return list(scores)


def first_place_shares(resampled_scores: Floats) -> list[float | None]:
    """Return for each run the share of resamples in which its score is the highest.

    `resampled_scores` are the scores (runs, N) in N resamples. If several runs are in first place of a resample, each
    of them gets an equal part of it. All shares are None if too many resamples have no score.
    """
    scores = defined_resamples(resampled_scores)
    if scores is None:
        return [None] * len(resampled_scores)
    best_scores = scores.max(axis=0)  # (N,)
    is_first = scores >= best_scores - possible_rounding(best_scores)
    first_count = is_first.sum(axis=0)  # the number of runs in first place of each resample
    shares = (is_first / first_count).mean(axis=1)
    return [float(share) for share in shares]


_CELLS_AT_ONCE: Final = 1 << 17
"""Rankings times pairs of runs times resamples that are compared at once. It bounds memory and changes no result."""


def _taus_of_resamples(scores: Floats) -> Floats:
    """Return tau-b of each pair of rankings in each of N resamples: (N, rankings, rankings).

    `scores` (rankings, runs, N) are the scores in the resamples. A value is NaN if tau-b is undefined or a run has no
    score. The resamples are processed in parts that fit into memory.
    """
    ranking_count, run_count, resample_count = scores.shape
    pair_count = math.comb(run_count, 2)
    resamples_at_once = max(1, _CELLS_AT_ONCE // max(1, ranking_count * pair_count))
    taus: Floats = np.empty((resample_count, ranking_count, ranking_count))
    for start in range(0, resample_count, resamples_at_once):
        stop = start + resamples_at_once
        taus[start:stop] = _taus_at_once(np.ascontiguousarray(scores[..., start:stop]))
    return taus


def _taus_at_once(scores: Floats) -> Floats:
    """Return tau-b of each pair of rankings in each of N resamples, (N, rankings, rankings), all computed at once.

    Let C and D be the numbers of concordant and discordant pairs of runs, and let u be the number of pairs that are not
    tied in a ranking. Then tau-b of the rankings i and j is (C - D) / sqrt(u_i * u_j). To compute C - D, the signs of
    each pair in both rankings are multiplied, and the products are added up. For a ranking with itself, this sum is u.
    `scores` (rankings, runs, N) are the scores in the resamples. A value is NaN if tau-b is undefined or a run has no
    score.
    """
    signs = _signs_of_pairs(scores)  # (N, rankings, pairs of runs); 0 if a score is missing
    # (N, rankings, rankings); all products are whole numbers, so their sum is exact in any order.
    concordant_less_discordant = (signs @ signs.transpose(0, 2, 1)).astype(np.float64)
    untied_counts = np.diagonal(concordant_less_discordant, axis1=1, axis2=2)  # u: (N, rankings)
    products_of_untied = untied_counts[:, :, np.newaxis] * untied_counts[:, np.newaxis, :]  # u_i * u_j
    with np.errstate(invalid="ignore"):
        taus: Floats = concordant_less_discordant / np.sqrt(products_of_untied)
    lacks_score = np.asarray(np.isnan(scores).any(axis=1)).T  # any run: from (rankings, N) to (N, rankings)
    is_undefined = lacks_score[:, :, np.newaxis] | lacks_score[:, np.newaxis, :]  # i or j lacks a score
    taus[is_undefined] = np.nan
    return taus


def _signs_of_pairs(scores: Floats) -> NDArray[np.float32]:
    """Return the sign of each pair of runs in each of N resamples and each ranking: (N, rankings, pairs of runs).

    The sign is 1 if the first run has the higher score, -1 if the second run has the higher score, and 0 for a tie.
    `scores` (rankings, runs, N) are the scores in the resamples.
    """
    run_count = scores.shape[1]
    first_runs, second_runs = np.triu_indices(run_count, k=1)  # all pairs of runs
    first_scores = scores[:, first_runs]  # (rankings, pairs of runs, N)
    second_scores = scores[:, second_runs]
    differences = first_scores - second_scores
    rounding = TIE_TOLERANCE * np.maximum(first_scores, second_scores)  # no score is negative
    signs = (differences > rounding).astype(np.float32) - (differences < -rounding)
    return np.asarray(signs.transpose(2, 0, 1))  # from (rankings, pairs of runs, N) to resamples first
