"""Putting units together: the tables, averages and rankings of a run, and what reaches from one run to the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.coldstart.counting.projection import (
    ScoreRow,
    Table,
    averaged_table,
    counted_row,
    in_printing_order,
    ldc_tables,
)
from cs_score.coldstart.judging.matching import check_discipline, compares_values
from cs_score.coldstart.lines.records import Response
from cs_score.coldstart.options import Policy
from cs_score.coldstart.origin import origin_of
from cs_score.coldstart.queries.query_set import Query
from cs_score.coldstart.ranking.average_precision import Ranking
from cs_score.coldstart.ranking.tables import ApTable, averaged_ap_table, ldc_mean_ap, slot_filling_ap
from cs_score.coldstart.remarks import (
    remark_on_matches,
    remark_on_no_run,
    remarks_on_policy,
    remarks_on_runs,
    remarks_on_samples,
)
from cs_score.coldstart.resampling.sample_files import last_by_label
from cs_score.coldstart.result import AveragePrecision, PrecisionRecall, QueryResult, Result, RunResult, UnitResult
from cs_score.coldstart.run import Run, UnitLines
from cs_score.coldstart.units import Unit, units_of
from cs_score.problems.log import ProblemLog


def score_rows(units: Iterable[UnitResult]) -> list[ScoreRow]:
    """The rows of the SF table, in printing order."""
    tallies = (tally for query in _by_full_id(units) for tally in query.tallies)
    return in_printing_order(counted_row(tally.name, tally.counts) for tally in tallies)


def rankings_of(units: Sequence[UnitResult]) -> list[Ranking]:
    """The rankings of the levels that are scored, by query and level. Raises InputError where one exceeds 1."""
    for query in _by_short_id(units):
        if query.unranked is not None:
            raise query.unranked
    return [ranking for query in _by_full_id(units) for ranking in query.rankings]


class Combining:
    """What the runs of one call share while they are scored one after the other.

    Three of the reference's habits reach from one run to the next: the nodes of all runs are ranked together (quirk of
    9.1), the rows of AP bear the id of the first run (9.8), and resampling narrows the queries of later runs (quirk 8).
    """

    def __init__(self, run: Run, policy: Policy, problems: ProblemLog, before: Iterable[RunResult] = ()) -> None:
        """`problems` is added to; `before`: results of the same runs under another policy."""
        self._run = run
        self._problems = problems
        gold = run.gold
        self.options = replace(gold.options, policy=policy, justifications=run.limits)
        self._hop_limits = gold.hop_limits
        self._units_so_far: dict[str, UnitResult] = {}
        self._units_before = {result.run_id: {unit.id: unit for unit in result.units} for result in before}
        self._has_resampled = False
        self.run_ids = run.run_ids
        self._remarks = [
            *run.remarks,
            *remarks_on_policy(policy),
            *remarks_on_runs(run, self.run_ids),
        ]

    @property
    def _selected(self) -> list[Query]:
        return self._run.gold.selected(self._hop_limits)

    def check_runs(self) -> None:
        """Remark on the absence of any run; what is scored in parts has one."""
        if not self.run_ids:
            self._remarks.append(remark_on_no_run(self._run))

    def units(self, run_id: str) -> Iterator[Unit]:
        """Every unit of a run that is selected or has lines. Raises InputError where nothing could be matched."""
        if self._run.lines.get(run_id):
            self._check_matching()
        return units_of(self._run, run_id, self._hop_limits, self._units_so_far, self._units_before.get(run_id))

    def take(self, run_id: str, units: Sequence[UnitResult]) -> None:
        """Take up what scoring the units of a run found. Raises InputError where matching or counting has to stop."""
        if len(self.run_ids) > 1:
            self._units_so_far.update((unit.id, unit) for unit in units)
        for unit in units:
            self._problems.take_over(unit.problems)
            if unit.unmatched is not None:
                raise unit.unmatched
        lines_of = self._run.lines.get(run_id, {})
        lines = sum(len(lines) for of_unit in lines_of.values() for lines in of_unit.values())
        self.remark_on_matches(run_id, lines, any(map(partial(_has_met, lines_of=lines_of), units)))
        for query in _by_short_id(units):
            self._problems.take_over(query.problems)
            if query.uncounted is not None:
                raise query.uncounted

    def remark_on_matches(self, run_id: str, lines: int, has_met: bool) -> None:
        """Remark where a run has no line, or none of them met an assessment."""
        remark = remark_on_matches(self._run, run_id, lines, has_met)
        if remark is not None:
            self._remarks.append(remark)

    def _check_matching(self) -> None:
        """Raises InputError for an unknown discipline, and where the class of an assessed query is not known."""
        gold = self._run.gold
        check_discipline(self.options.discipline)
        if compares_values(self.options.discipline):
            for assessment in gold.links.assessments:
                self._run.links.class_of_query(assessment.query)

    def with_tables(self, run_id: str, units: Sequence[UnitResult]) -> RunResult:
        """The counts of a run, projected (specification 8)."""
        return replace(self.projected(run_id, averaged_table(score_rows(units))), units=tuple(units))

    def projected(self, run_id: str, sf: Table) -> RunResult:
        """The tables of a run with this SF table."""
        gold = self._run.gold
        table = gold.table
        tables = PrecisionRecall(sf, *(ldc_tables(sf, table) if table.ldc_of else (None, None)))
        return RunResult(run_id, tables, unit_of={query.full_id: gold.cluster_of(query) for query in self._selected})

    def check_something_scored(self, run: RunResult) -> None:
        """Raises InputError where no query is scored, or none has a row to project to LDC queries (13.1)."""
        selected = self._selected
        if not selected or (self._run.gold.table.ldc_of and not run.tables.sf.rows):
            raise InputError(
                "nothing to score: " + ("no query was chosen" if not selected else f"run {run.run_id} has no row"),
                remedy="-queries must name queries of the query files, and run or assessments must answer them",
            )

    def with_average_precision(self, run: RunResult, units: Sequence[UnitResult]) -> RunResult:
        """The run with its rankings. Raises InputError where an average precision exceeds 1."""
        rankings = rankings_of(units)
        # The rows of the report bear the id of the first run line of the input.
        responses = self._run.links.responses
        run_id = responses[0].run_id if responses else run.run_id
        averaged = self.averaged(run_id, averaged_ap_table(slot_filling_ap(rankings)))
        return replace(run, average_precision=replace(averaged, rankings=tuple(rankings)))

    def averaged(self, run_id: str, sf: ApTable) -> AveragePrecision:
        """The AP report with this SF table; `run_id` is the run that its rows name."""
        table = self._run.gold.table
        return AveragePrecision(run_id, sf, ldc_mean_ap(sf, table) if table.ldc_of else None)

    def with_bootstrap(self, run: RunResult, samples_file: str) -> RunResult:
        """The run with the scores of its resamples. Raises InputError without LDC queries to resample (11.1)."""
        from cs_score.coldstart.resampling.resampled_tables import bootstrap

        table = self._run.gold.table
        if not table.ldc_of:
            raise InputError(
                "queryid undefined in QuerySet->get()",
                remedy="-samples resamples LDC queries: give the LDC query file and -expand",
            )
        sample_file = self._run.gold.samples_of(samples_file)
        samples = sample_file.samples
        if not self._has_resampled:
            self._remarks += remarks_on_samples(samples_file, sample_file, table)
            self._has_resampled = True
        metrics = self.options.metrics
        resampled = replace(run, bootstrap=bootstrap(run.tables.sf, run.tables.measures, samples, table, metrics))
        last = last_by_label(samples)
        if last is not None:  # later runs are scored on its queries only, draws as hop limits (quirk 8, warned of)
            self._hop_limits = dict(last.one_entry_point())
        return resampled

    def result(self, runs: Sequence[RunResult]) -> Result:
        """What has been computed, with the problems and remarks so far."""
        has_ldc_index = bool(self._run.gold.table.ldc_of)
        return Result(
            self.options,
            tuple(runs),
            tuple(self._problems),
            tuple(self._remarks),
            has_ldc_index,
            origin_of(self.options, self._run.digests, has_ldc_index, validated=False),
        )


def _has_met(unit: UnitResult, lines_of: Mapping[str, UnitLines]) -> bool:
    """Whether any line of a run in this unit met an assessment."""
    lines: Iterable[Response] = (line for lines in lines_of.get(unit.id, {}).values() for line in lines)
    return bool(unit.matched) and any(line.index in unit.matched for line in lines)


def _by_short_id(units: Iterable[UnitResult]) -> list[QueryResult]:
    """The queries of all units in the order in which the reference scores them."""
    return sorted((query for unit in units for query in unit.queries), key=lambda result: result.query.short_id)


def _by_full_id(units: Iterable[UnitResult]) -> list[QueryResult]:
    return sorted((query for unit in units for query in unit.queries), key=lambda result: result.query.full_id)
