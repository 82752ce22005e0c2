"""Scoring Cold Start runs, in the task's own words (specification 6 to 9).

`score_unit` is the whole of it: one LDC query with its entry points, or one query where there is no LDC index. A run is
its units in order: `score_runs` puts them together, and does what no unit can do by itself. Lines are read, linked
and held to the limits before, by `cs_score.coldstart.lines`, since what a line may name depends on all lines before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from cs_score.coldstart.counting.counts import Counting
from cs_score.coldstart.counting.projection import (
    ALL_LEVELS,
    ScoreRow,
    Table,
    averaged_table,
    counted_row,
    in_printing_order,
    ldc_tables,
)
from cs_score.coldstart.gold import Gold, QueryGold, noting_folders, open_gold
from cs_score.coldstart.judging.class_tree import place_responses
from cs_score.coldstart.judging.matching import check_discipline, compares_values, match
from cs_score.coldstart.lines.records import Assessment, Response
from cs_score.coldstart.options import MANY, Options, Policy
from cs_score.coldstart.origin import origin_of
from cs_score.coldstart.queries.predicates import find_predicate
from cs_score.coldstart.queries.query_set import Query
from cs_score.coldstart.ranking.average_precision import (
    ApTable,
    Nodes,
    Ranking,
    averaged_ap_table,
    ldc_mean_ap,
    rank_query,
    slot_filling_ap,
)
from cs_score.coldstart.remarks import (
    above_one,
    check_lines,
    remark_on_matches,
    remark_on_no_run,
    remarks_on_policy,
    remarks_on_runs,
    remarks_on_samples,
)
from cs_score.coldstart.resampling.sample_files import last_by_label, read_samples
from cs_score.coldstart.result import (
    AveragePrecision,
    PrecisionRecall,
    QueryResult,
    Result,
    RunResult,
    ScoringStopped,
    UnitResult,
)
from cs_score.coldstart.run import Run, UnitLines, load_run
from cs_score.foundation.errors import InputError
from cs_score.foundation.garbage_collection import paused_collector
from cs_score.foundation.sources import Input
from cs_score.problems.log import ProblemLog


def score(queries: Iterable[Input], files: Iterable[Input], options: Options | None = None) -> Result:
    """Score Cold Start runs.

    `queries`: query files; `files`: assessments and runs, told apart by their first line, in an order in which parent
    lines come first. Files are paths or open files. Raises UsageError for impossible options, and ScoringStopped (an
    InputError) where scoring cannot go on; what had been computed by then is its `partial` result.
    """
    options = options or Options()
    options.check()
    with paused_collector():
        given = list(files)
        gold = noting_folders(open_gold(queries, options), given)
        return score_runs(load_run(gold, given), options.policy)


# ---- One unit


@dataclass(frozen=True, slots=True)
class Unit:
    """What one unit is scored from: gold's side of its queries, by short id, and the lines of the run.

    `hop_limits` maps the short id of each query to the highest hop that is scored. `nodes` are those of all runs in
    the call, and `beside` is what scoring an earlier one found in this unit: AP pools them (specification 9.1).
    """

    id: str
    gold: Gold
    queries: Sequence[Query]
    hop_limits: Mapping[str, int]
    run: Run
    lines: UnitLines
    nodes: Nodes
    beside: UnitResult | None = None


def units_of(
    run: Run,
    run_id: str,
    hop_limits: Mapping[str, int] | None = None,
    so_far: Mapping[str, UnitResult] | None = None,
) -> Iterator[Unit]:
    """The units of a run with lines in the order of these, then the others that are selected.

    `hop_limits`: the queries to score, those of gold unless given; `so_far`: results of runs scored before.
    """
    gold = run.gold
    hop_limits = gold.hop_limits if hop_limits is None else hop_limits
    lines_of = run.lines.get(run_id, {})
    nodes = Nodes(run.links.nodes, run.limits.most)
    queries: dict[str, list[Query]] = {unit_id: [] for unit_id in lines_of}
    for query in gold.selected(hop_limits):
        queries.setdefault(gold.unit_of(query.base_id), []).append(query)
    for unit_id, of_unit in queries.items():
        beside = None if so_far is None else so_far.get(unit_id)
        yield Unit(unit_id, gold, of_unit, hop_limits, run, lines_of.get(unit_id, {}), nodes, beside)


def score_unit(unit: Unit, policy: Policy) -> UnitResult:
    """Match, place, label, count and rank the lines of one unit.

    Never raises for what is in the lines: the result tells where scoring has to stop, and the caller when.
    """
    problems = ProblemLog()
    try:
        matched = _match(unit, problems)  # 6: response -> assessment, or none
    except InputError as stop:
        return UnitResult(unit.id, {}, {}, (), problems, stop)
    beside = unit.beside
    counting = Counting(matched, policy, unit.run.limits.most, {} if beside is None else dict(beside.labels))
    golds = [unit.gold.of_query(query, unit.run.links) for query in unit.queries]
    counted = [_count(unit, gold, counting) for gold in golds]  # 7: labels, and a row for each inner class
    if beside is not None:
        matched = {**beside.matched, **matched}
    results = [  # 9: nodes, confidence, mapping, V, average precision
        result if result.uncounted else _rank(unit, gold, result, matched, counting)
        for gold, result in zip(golds, counted)
    ]
    return UnitResult(unit.id, matched, counting.labels, tuple(results), problems, None)


def _match(unit: Unit, problems: ProblemLog) -> dict[int, Assessment]:
    gold, links = unit.gold, unit.run.links
    matched: dict[int, Assessment] = {}
    for base_id, lines in unit.lines.items():
        by_value = gold.values_of(base_id, links)
        matched |= match(lines, by_value, links, gold.options.discipline, problems)
    return matched


def _count(unit: Unit, gold: QueryGold, counting: Counting) -> QueryResult:
    """Place the responses to one query in the tree of its classes, label and count them (7.3 to 7.7)."""
    query = gold.query
    if gold.tree is None:
        return QueryResult(query, problems=gold.problems, uncounted=gold.failure)
    tree = gold.tree.branch()
    try:
        members = place_responses(tree, unit.lines.get(query.base_id, ()), counting.matched, unit.run.links)
    except InputError as stop:
        return QueryResult(query, problems=gold.problems, uncounted=stop)
    most_hops = unit.hop_limits[query.short_id]
    tallies = tuple(tally for tally in counting.tally(tree, members) if tree.depth(tally.name) <= most_hops)
    return QueryResult(query, tallies, problems=gold.problems)


def _rank(
    unit: Unit, gold: QueryGold, counted: QueryResult, matched: Mapping[int, Assessment], counting: Counting
) -> QueryResult:
    """The rankings of one query at the levels that are scored."""
    query = gold.query
    single = [None if predicate is None else predicate.single for predicate in map(find_predicate, query.slots)]
    most = unit.run.limits.most
    rankings = rank_query(query, single, unit.nodes, gold.classes, matched, counting.labels, most)
    for ranking in rankings:
        if ranking.is_above_one:
            links = unit.run.links
            stop = above_one(ranking, links.root(query), links.nodes, MANY if most is None else str(most))
            return replace(counted, unranked=stop)
    kept = {"0", ALL_LEVELS, *map(str, range(1, unit.hop_limits[query.short_id] + 1))}
    return replace(counted, rankings=tuple(ranking for ranking in rankings if ranking.level in kept))


# ---- All units of the runs of one call


def score_runs(run: Run, policy: Policy, problems: ProblemLog | None = None) -> Result:
    """Score the runs of one call, one run id after the other.

    `problems` is added to; without it, what is found stands in the result only. Raises ScoringStopped as `score` does.
    """
    scoring = Scoring(run, policy, run.problems.branch() if problems is None else problems)
    runs: list[RunResult] = []
    try:
        check_lines(run)
        scoring.check_runs()
        for run_id in scoring.run_ids:
            units = scoring.score_units(run_id)
            runs.append(scoring.with_tables(run_id, units))
            scoring.check_something_scored(runs[-1])
            runs[-1] = scoring.with_average_precision(runs[-1], units)
            if scoring.options.samples is not None:
                runs[-1] = scoring.with_bootstrap(runs[-1], scoring.options.samples)
    except InputError as stop:
        raise ScoringStopped(stop, scoring.result(runs)) from None
    return scoring.result(runs)


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


class Scoring:
    """What the runs of one call share while they are scored one after the other.

    Three of the reference's habits reach from one run to the next: the nodes of all runs are ranked together (quirk of
    9.1), the rows of AP bear the id of the first run (9.8), and resampling narrows the queries of later runs (quirk 8).
    """

    def __init__(self, run: Run, policy: Policy, problems: ProblemLog) -> None:
        self._run = run
        self._policy = policy
        self._problems = problems
        gold = run.gold
        self.options = replace(gold.options, policy=policy, justifications=run.limits)
        self._hop_limits = gold.hop_limits
        self._units_so_far: dict[str, UnitResult] = {}
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

    def score_units(self, run_id: str) -> list[UnitResult]:
        """Score every unit that is selected or has lines. Raises InputError where matching or counting has to stop."""
        lines_of = self._run.lines.get(run_id, {})
        if lines_of:
            self._check_matching()
        units = units_of(self._run, run_id, self._hop_limits, self._units_so_far)
        found = [score_unit(unit, self._policy) for unit in units]
        if len(self.run_ids) > 1:
            self._units_so_far.update((unit.id, unit) for unit in found)
        for unit in found:
            self._problems.take_over(unit.problems)
            if unit.unmatched is not None:
                raise unit.unmatched
        lines = sum(len(lines) for of_unit in lines_of.values() for lines in of_unit.values())
        self.remark_on_matches(run_id, lines, any(map(partial(_has_met, lines_of=lines_of), found)))
        for query in _by_short_id(found):
            self._problems.take_over(query.problems)
            if query.uncounted is not None:
                raise query.uncounted
        return found

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
        sample_file = read_samples(samples_file)
        samples = sample_file.samples
        if not self._has_resampled:
            self._remarks += remarks_on_samples(samples_file, sample_file, table)
            self._has_resampled = True
        resampled = replace(run, bootstrap=bootstrap(run.tables, samples, table, self.options.metrics))
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
