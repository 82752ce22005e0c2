"""Compute the difference that changes to its files make to the scores of a run. Every measure is computed from sums
over units (an LDC query with its entry points, or a query of its own): each unit adds one summand to every sum.

After a change only the units that it affects are scored again, and the differences of their summands are added to the
sums. This is also true of LDC-MAX and LDC-MEAN, since all entry points of an LDC query are in the same unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from cs_score.analysis.coldstart.changes import Change
from cs_score.analysis.coldstart.rescoring import Rescoring
from cs_score.analysis.coldstart.scored import AnalysedRun
from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.coldstart.gold import Run
from cs_score.coldstart.ranking import is_in_ranked_node
from cs_score.coldstart.result import (
    ALL_LEVELS,
    NO_RANKED_NODE,
    EntryPointRows,
    LdcQueryRows,
    ScoreRow,
    UnitResult,
    best_entry_point,
    ldc_means,
)
from cs_score.coldstart.unit_statistics import RowSums
from cs_score.measures import LDC_MAX, LDC_MEAN, SF, Measure, divide, formula_of, sum_columns_of


class Effect(Record):
    """The scores after a change, and their differences to the scores before it, by measure.

    They are None if the scorer would not give a score; `reason` says why.
    """

    differences: Mapping[str, float | None]
    reason: str | None = None
    scores: Mapping[str, float | None] = {}

    @property
    def score(self) -> float | None:
        """The score by the first measure, which is the analysed measure."""
        return next(iter(self.scores.values()))

    @property
    def gain(self) -> float | None:
        """The difference in the score by the first measure."""
        return next(iter(self.differences.values()))


class ScoredChange(Record, eq=False):
    """A change with the results of all units after it, so that scoring a larger change can start from there.

    `summands_by_unit` has the amounts that each unit adds to the sums of all columns, and `totals` has the sums over
    all units. `ranking_error_by_unit` has the message of the error for each unit whose nodes could not be ranked.
    """

    change: Change
    unit_by_id: Mapping[str, UnitResult]
    summands_by_unit: Mapping[str, Sequence[float]]
    totals: Sequence[float]
    ranking_error_by_unit: Mapping[str, str]


class _RescoredSummands(NamedTuple):
    """A unit that was scored again after a change, and the amounts that it adds to the sums of all columns."""

    unit: UnitResult
    summands: Sequence[float]


class _Scores(NamedTuple):
    """The score by each measure, None if the scorer would not give it, and the reason why one is None."""

    by_measure: dict[str, float | None]
    reason: str | None


_SF_ROWS: Final = f"{SF}:{ALL_LEVELS}:row"
"""The column of sums that counts the rows of the SF table."""


class Effects:
    """Computes the effects of changes to the files of one run on its scores. An effect is the score of the changed
    files minus the score of the original files, both as the scorer would give them.

    `editor` makes the changes, `unchanged` has the results before any change, and `scores` are the scores of the
    original files by measure.
    """

    def __init__(self, scored: AnalysedRun, measures: Sequence[Measure], rescoring: Rescoring | None = None) -> None:
        """Compute the scores of the unchanged run by some measures; changed scores are then compared with them.

        The first measure is the analysed one. The run must have a score by each measure. `rescoring` scores changed
        units again; it can be shared by all `Effects` of the same run.
        """
        self._scored = scored
        self._measures = tuple(measures)
        self._formula = formula_of(measures)
        self._rescoring = Rescoring(scored) if rescoring is None else rescoring
        self.editor = self._rescoring.editor
        # Without measures of rankings, such as average precision, the nodes need not be ranked.
        self._is_ranked = any(measure.is_of_rankings for measure in measures)
        # A score is undefined after a change if its table would have no rows: the rows are counted like other sums.
        self._row_count_column_by_measure = {measure: _row_count_column(measure) for measure in measures}
        # Turns the rows of a unit into the unit's summand for each column.
        self._row_sums = RowSums(self._columns_of_sums())
        self.unchanged = self._score_unchanged()
        self.scores = self._scores_from(self.unchanged.totals, self.unchanged.ranking_error_by_unit).by_measure

    @property
    def first_score(self) -> float | None:
        """The score of the original files by the first measure."""
        return next(iter(self.scores.values()))

    def _columns_of_sums(self) -> list[str]:
        """Return the columns of sums from which scores are computed, and the columns that count rows, each once."""
        columns = list(sum_columns_of(self._measures))
        columns += self._row_count_column_by_measure.values()
        columns.append(_SF_ROWS)
        return list(dict.fromkeys(columns))

    @cached_property
    def _ranks_all_levels(self) -> bool:
        """Whether the edition has rankings over all hops."""
        return self._scored.run.gold.query_set.edition.ranks_all_levels

    @cached_property
    def _entry_points_by_unit(self) -> Mapping[str, list[str]]:
        """The short ids of the entry points of each LDC query, by its id: `{"CS14_0001": ["00fb79cef8", ...]}`."""
        queries = self._scored.run.gold.query_set
        entry_points_by_unit: dict[str, list[str]] = {}
        for ldc_id in dict.fromkeys(queries.ldc_id_by_query.values()):
            expansion_ids = queries.by_id[ldc_id].expansion_ids or ()
            entry_points_by_unit[ldc_id] = list(dict.fromkeys(expansion_ids))
        return entry_points_by_unit

    def _score_unchanged(self) -> ScoredChange:
        """Return the results of all units before any change, with the sums over them."""
        units = self._scored.result.units
        summands_by_unit = {unit.id: self._summands_of_unit(unit, self._scored.run) for unit in units}
        return ScoredChange(
            change=Change(),
            unit_by_id={unit.id: unit for unit in units},
            summands_by_unit=summands_by_unit,
            totals=self._add_up(summands_by_unit.values()),
            ranking_error_by_unit=_ranking_errors_by_unit(units),
        )

    def _add_up(self, summands_of_units: Iterable[Sequence[float]]) -> Sequence[float]:
        """Return the sum of each column over some units, followed by the number of ranked nodes of all these units."""
        sum_count = len(self._row_sums.columns) + 1  # one for the ranked nodes
        totals = [0.0] * sum_count
        for summands in summands_of_units:
            totals = [total + summand for total, summand in zip(totals, summands)]
        return totals

    def for_measures(self, measures: Sequence[Measure]) -> Effects:
        """Return an object that computes the effects of changes to the same run on other measures."""
        if self._measures == tuple(measures):
            return self
        return Effects(self._scored, measures, self._rescoring)

    def for_first_measure(self) -> Effects:
        """Return an object that computes the effects on the analysed measure alone, which takes less time."""
        return self.for_measures(self._measures[:1])

    def effect_of(self, change: Change) -> Effect:
        """Return the effect of a change to the files of the run on its scores.

        If the scorer would refuse the changed files, the effect has the reason but no scores and no differences.
        """
        try:
            rescored_units = list(self._rescore(change, self.unchanged))
        except InputError as refusal:
            return self._effect_of_refused(refusal)
        totals = self._totals_after(self.unchanged, rescored_units)
        return self._effect_from_totals(totals, _ranking_errors_after_rescoring(self.unchanged, rescored_units))

    def effect_after(self, results_before: ScoredChange, change: Change) -> tuple[Effect, ScoredChange]:
        """Return the effect of a change on the original scores, and the results of all units after the change.

        `results_before` has the results after an earlier change, which is a part of this change. Only units that differ
        from these results are scored again. If the scorer would refuse the changed files, `results_before` is returned
        with the effect.
        """
        try:
            rescored_units = list(self._rescore(change, results_before))
        except InputError as refusal:
            return self._effect_of_refused(refusal), results_before
        scored_change = self._scored_change(change, results_before, rescored_units)
        return self._effect_from_totals(scored_change.totals, scored_change.ranking_error_by_unit), scored_change

    def _scored_change(
        self, change: Change, results_before: ScoredChange, rescored_units: Sequence[_RescoredSummands]
    ) -> ScoredChange:
        """Return the results of all units after a change: new ones for the `rescored_units`, old ones for all others.

        `results_before` has the results after an earlier change, which is a part of this change.
        """
        new_unit_by_id = {unit.id: unit for unit, _ in rescored_units}
        new_summands_by_unit = {unit.id: summands for unit, summands in rescored_units}
        return ScoredChange(
            change=change,
            unit_by_id={**results_before.unit_by_id, **new_unit_by_id},
            summands_by_unit={**results_before.summands_by_unit, **new_summands_by_unit},
            totals=self._totals_after(results_before, rescored_units),
            ranking_error_by_unit=_ranking_errors_after_rescoring(results_before, rescored_units),
        )

    def _rescore(self, change: Change, results_before: ScoredChange) -> Iterator[_RescoredSummands]:
        """Yield the units whose results after a change differ from `results_before`, scored again.

        `results_before` has the results after an earlier change, which is a part of this change. Raises InputError if
        the scorer would refuse the changed files.
        """
        rescored_units = self._rescoring.rescore(
            change, results_before.change, results_before.unit_by_id, is_ranked=self._is_ranked
        )
        for unit, run in rescored_units:
            yield _RescoredSummands(unit, self._summands_of_unit(unit, run))

    def _totals_after(
        self, results_before: ScoredChange, rescored_units: Iterable[_RescoredSummands]
    ) -> Sequence[float]:
        """Return the sums over all units after replacing some units of `results_before` with the `rescored_units`."""
        totals = results_before.totals
        for unit, summands in rescored_units:
            old_summands = results_before.summands_by_unit[unit.id]
            totals = [total + new - old for total, new, old in zip(totals, summands, old_summands)]
        return totals

    def _effect_of_refused(self, refusal: InputError) -> Effect:
        """Return the effect of a change that the scorer would refuse: no scores and no differences, with the reason."""
        no_scores = dict.fromkeys(self.scores)
        return Effect(differences=no_scores, reason=str(refusal), scores=no_scores)

    def _effect_from_totals(self, totals: Sequence[float], ranking_error_by_unit: Mapping[str, str]) -> Effect:
        """Return the effect of a change, computed from the sums over all units after the change.

        `ranking_error_by_unit` has the message of the error for each unit whose nodes could not be ranked.
        """
        scores, reason = self._scores_from(totals, ranking_error_by_unit)
        differences = {name: _difference(scores[name], old_score) for name, old_score in self.scores.items()}
        return Effect(differences=differences, reason=reason, scores=scores)

    def _scores_from(self, totals: Sequence[float], ranking_error_by_unit: Mapping[str, str]) -> _Scores:
        """Return the scores that follow from the sums over all units, as the scorer would give them.

        If several scores are missing, the reason says why a unit could not be ranked, or else why the first
        score is missing. `ranking_error_by_unit` has the message of the error for each unit whose nodes could not be
        ranked.
        """
        sum_by_column = dict(zip(self._row_sums.columns, totals))
        has_ldc_queries = bool(self._entry_points_by_unit)
        if has_ldc_queries and not sum_by_column[_SF_ROWS]:  # the tables of LDC queries would have nothing to average
            names = [str(measure) for measure in self._measures]
            return _Scores(dict.fromkeys(names), "nothing to score: no row would be left")
        why_unranked = next(iter(ranking_error_by_unit.values()), None)
        ranked_node_count = totals[-1]
        if why_unranked is None and not ranked_node_count:
            why_unranked = NO_RANKED_NODE
        return self._scores_with_reason(self._formula(totals, divide), sum_by_column, why_unranked)

    def _scores_with_reason(
        self, values: Iterable[float], sum_by_column: Mapping[str, float], why_unranked: str | None
    ) -> _Scores:
        """Return the score by each measure, and the reason why one of them is missing.

        `values` are the scores given by the formulas of the measures. `sum_by_column` has the sums over all units,
        including the numbers of rows. `why_unranked` is the reason why there is no average precision, or None if there
        is one.
        """
        scores: dict[str, float | None] = {}
        reasons: list[str] = []
        for measure, value in zip(self._measures, values):
            reason = self._why_undefined(measure, sum_by_column, why_unranked)
            scores[str(measure)] = value if reason is None else None
            if reason is not None:
                reasons.append(reason)
        return _Scores(scores, _main_reason(reasons, why_unranked))

    def _why_undefined(
        self, measure: Measure, sum_by_column: Mapping[str, float], why_unranked: str | None
    ) -> str | None:
        """Return why the scorer would not give a score by a measure, or None if it would give one.

        `sum_by_column` has the sums over all units, including the numbers of rows, such as `{"SF:1:row": 12.0}`.
        `why_unranked` is the reason why there is no average precision, or None if there is one.
        """
        if measure.is_of_rankings and why_unranked is not None:
            return why_unranked
        row_count = sum_by_column[self._row_count_column_by_measure[measure]]
        if row_count == 0:
            return f"there would be no row of hop {measure.level}"
        return None

    def _summands_of_unit(self, unit: UnitResult, run: Run) -> Sequence[float]:
        """Return the amounts that a unit adds to the sums of the columns, followed by its number of ranked nodes.

        `run` has the lines from which the unit was scored.
        """
        summands = [0.0] * len(self._row_sums.columns)
        results = sorted(unit.queries, key=lambda result: result.query.short_id)
        self._add_counts(summands, unit.id, {result.query.short_id: result.rows for result in results})
        if self._is_ranked:
            self._add_rankings(summands, unit.id, {result.query.short_id: result.ranked_rows for result in results})
        return [*summands, self._count_ranked_nodes(unit, run)]

    def _add_counts(self, summands: list[float], unit_id: str, rows_by_query: Mapping[str, Sequence[ScoreRow]]) -> None:
        """Add the counts of a unit to its `summands`, from the rows of its queries.

        LDC-MAX uses the rows of the entry point with the highest F1, and LDC-MEAN uses the means over all entry points
        that have rows (rules ldc-max, ldc-mean).
        """
        # Rows of these tables have counts, which are added to the sums of their hop and to the sums over all hops.
        for rows in rows_by_query.values():
            self._row_sums.add(summands, SF, rows, is_counted=True, adds_to_level_all=True)
        entry_points = self._entry_points_with_rows(unit_id, rows_by_query)
        if not entry_points:
            return
        best_rows = best_entry_point(entry_points).rows
        self._row_sums.add(summands, LDC_MAX, best_rows, is_counted=True, adds_to_level_all=True)
        means = ldc_means([LdcQueryRows(unit_id, entry_points)])
        self._row_sums.add(summands, LDC_MEAN, means, is_counted=True, adds_to_level_all=True)

    def _add_rankings(
        self, summands: list[float], unit_id: str, rows_by_query: Mapping[str, Sequence[ScoreRow]]
    ) -> None:
        """Add the scores of the rankings of a unit to its `summands`, from the ranked rows of its queries.

        LDC-MAX has no rankings. LDC-MEAN uses the means over all entry points that have rows.
        """
        # Rankings only add to the sums over all hops if the edition ranks the nodes of all hops together.
        adds_to_level_all = self._ranks_all_levels
        for rows in rows_by_query.values():
            self._row_sums.add(summands, SF, rows, is_counted=False, adds_to_level_all=adds_to_level_all)
        entry_points = self._entry_points_with_rows(unit_id, rows_by_query)
        if entry_points:
            means = ldc_means([LdcQueryRows(unit_id, entry_points)])
            self._row_sums.add(summands, LDC_MEAN, means, is_counted=False, adds_to_level_all=adds_to_level_all)

    def _entry_points_with_rows(
        self, unit_id: str, rows_by_query: Mapping[str, Sequence[ScoreRow]]
    ) -> list[EntryPointRows]:
        """Return the rows of the entry points of a unit; none if the unit is not an LDC query."""
        entry_points = []
        for short_id in self._entry_points_by_unit.get(unit_id, ()):
            if rows_by_query.get(short_id):
                entry_points.append(EntryPointRows(short_id, rows_by_query[short_id]))
        return entry_points

    def _count_ranked_nodes(self, unit: UnitResult, run: Run) -> int:
        """Return the number of the run's ranked nodes in a unit, or of their lines; either is 0 if no node is ranked.

        A run without ranked nodes has no average precision. If several runs are scored together, the rankings contain
        the nodes of all runs. In this case, the lines of this run in ranked nodes are counted instead.
        """
        if len(self._scored.run.run_ids) > 1:
            return self._count_ranked_lines(unit, run)
        node_count = 0
        for result in unit.queries:
            for ranking in result.rankings:
                if ranking.level == ALL_LEVELS:
                    node_count += len(ranking.nodes)
        return node_count

    def _count_ranked_lines(self, unit: UnitResult, run: Run) -> int:
        """Return how many lines of the run in a unit belong to a node that is ranked."""
        query_ids = {result.query.full_id for result in unit.queries}
        lines_by_query = run.lines_by_run_and_unit.get(self._scored.run_id, {}).get(unit.id, {})
        line_count = 0
        for lines in lines_by_query.values():
            line_count += sum([is_in_ranked_node(line, query_ids) for line in lines])
        return line_count


def _difference(score: float | None, old_score: float | None) -> float | None:
    """Return a score minus the score before a change, or None if either of them is undefined."""
    if score is None or old_score is None:
        return None
    return score - old_score


def _main_reason(reasons: Sequence[str], why_unranked: str | None) -> str | None:
    """Return the reason to give for missing scores: that a unit could not be ranked, or else the first reason.

    `why_unranked` is the reason why there is no average precision, or None if there is one. Returns None if there are
    no reasons, since no score is missing. The reason `NO_RANKED_NODE` does not take precedence, because it is not an
    error of a unit.
    """
    has_unit_failed = why_unranked is not None and why_unranked != NO_RANKED_NODE
    if has_unit_failed and why_unranked in reasons:
        return why_unranked
    return reasons[0] if reasons else None


def _row_count_column(measure: Measure) -> str:
    """Return the column in which the rows of a measure's table are counted: `SF:ALL:row`, `SF:1:ranking`."""
    kind = "ranking" if measure.is_of_rankings else "row"
    return f"{measure.table}:{measure.level}:{kind}"


def _ranking_errors_after_rescoring(
    results_before: ScoredChange, rescored_units: Iterable[_RescoredSummands]
) -> Mapping[str, str]:
    """Return why units cannot be ranked, by unit id, after `rescored_units` replace units of `results_before`."""
    new_units = [unit for unit, _ in rescored_units]
    ranking_error_by_unit = dict(results_before.ranking_error_by_unit)
    for unit in new_units:
        ranking_error_by_unit.pop(unit.id, None)
    return ranking_error_by_unit | _ranking_errors_by_unit(new_units)


def _ranking_errors_by_unit(units: Iterable[UnitResult]) -> dict[str, str]:
    """Return why units could not be ranked, by the id of the unit; units that were ranked are left out."""
    ranking_error_by_unit: dict[str, str] = {}
    for unit in units:
        for result in unit.queries:
            if result.ranking_error is not None:
                ranking_error_by_unit.setdefault(unit.id, str(result.ranking_error))
    return ranking_error_by_unit
