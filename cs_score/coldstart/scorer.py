"""Scoring Cold Start runs: each unit by itself, then the tables and rankings of a run.

`score_unit` is the whole of it: one LDC query with its entry points, or one query where there is no LDC index. A run is
its units in order: `score_runs` puts them together, and does what no unit can do by itself. Lines are read, linked
and held to the limits before, since what a line may name depends on all lines before it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from cs_score.base.display import some
from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_collector
from cs_score.base.signature import RUN
from cs_score.base.sources import Input, name_of, open_source
from cs_score.coldstart import judging
from cs_score.coldstart import result as tables
from cs_score.coldstart.gold import Gold, QueryGold, Run, Unit, load_run, units_of
from cs_score.coldstart.judging import Counting, Labels
from cs_score.coldstart.layouts import FileKind
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.linking import kind_of, members
from cs_score.coldstart.options import APART, DUPLICATE, MANY, SIDES, Policy, is_nothing, origin_of
from cs_score.coldstart.queries import parse_query_id
from cs_score.coldstart.ranking import Ranker, Ranking, is_in_ranked_node
from cs_score.coldstart.result import QueryResult, Result, RunResult, ScoreRow, ScoringStopped, UnitResult
from cs_score.coldstart.tab_files import line_blocks, read_tab_file
from cs_score.problems.codes import Severity
from cs_score.problems.log import ProblemLog


def _remarks(run: Run, policy: Policy) -> Iterator[str]:
    """What is hardly meant: an item of the policy on several sides, several runs, lines before their parent line."""
    named = [(item, side) for side in SIDES for item in policy.items(side)]
    for item in dict.fromkeys(item for item, _ in named):
        sides = [side for other, side in named if other == item]
        switches = " and ".join(f"-{side.lower()}" for side in sides)
        if len(sides) > 1 and item == DUPLICATE:
            yield f"DUPLICATE is in {switches}: duplicates count as {policy.duplicate_side} only, the last of these"
        elif len(sides) > 1:
            yield f"{item} is in {switches}: such responses count {len(sides)} times; name it once"
    run_ids, without_parent = run.run_ids, run.links.without_parent
    if len(run_ids) > 1:
        yield (
            f"{len(run_ids)} runs are scored in one invocation ({some(run_ids)}): average precision pools the nodes "
            "of all of them, so score each run by itself to compare them by AP"
        )
        if not is_nothing(run.gold.options.samples):
            yield (
                "-samples with several runs: the resampling of the first run narrows the queries of all later ones, "
                "whose scores are then wrong; score each run by itself"
            )
    if without_parent:
        lines = some(response.place for response in without_parent)
        yield (
            f"{len(without_parent)} second-hop line(s) come before their parent line or have none ({lines}): their "
            f"nodes, such as {without_parent[0].node}, are missing from average precision; put parent lines first"
        )


def _above_one(ranking: Ranking, lines_of: Mapping[str, Sequence[Response]], most: int | None) -> InputError:
    """The condition that average precision exceeds 1: query, nodes, lines, and what to do (rule above-one)."""
    import shlex  # short runs start without it

    reason = "several lines of one node come from one document"
    nodes = [node for node in ranking.nodes if node.value > 1]
    if not nodes:
        reason = "more than one node of a single-valued slot is right"
        nodes = [node for node in ranking.nodes if node.value > 0]
    shown = []
    for node in nodes:
        lines = lines_of.get(node.name, [node.first_line])
        files = " and ".join(dict.fromkeys(line.file for line in lines))
        shown.append(f"node {node.name}, {files} line {some(line.number for line in lines)}, V = {node.value:.4f}")
    run = nodes[0].first_line.file if nodes else "RUN"
    return InputError(
        f"AP is greater than 1.0: {ranking.score:.4f} for query {ranking.query}, level {ranking.level}, "
        f"because {reason} ({some(shown, separator='; ')})",
        file=nodes[0].first_line.file if nodes else None,
        remedy="a run must be validated before it is scored: cs-score validate-run -justifications "
        f"1:{MANY if most is None else most} -output_file {shlex.quote(f'{run}.valid')} QUERIES.xml "
        f"{shlex.quote(run)} (QUERIES.xml: the slot-filling queries; cs-score validate-queries -expand makes them from "
        "others), or score with --validate",
        code="AP_ABOVE_ONE",
    )


def score_rows(units: Iterable[UnitResult]) -> list[ScoreRow]:
    return tables.in_printing_order(row for query in _queries(units, "full_id") for row in query.rows)


def rankings_of(units: Sequence[UnitResult]) -> list[Ranking]:
    """The rankings of the levels that are scored, by query and level. Raises InputError where one exceeds 1."""
    for query in _queries(units, "short_id"):  # the order in which the reference scores them
        if query.unranked is not None:
            raise query.unranked
    return [ranking for query in _queries(units, "full_id") for ranking in query.rankings]


def _queries(units: Iterable[UnitResult], order: str) -> list[QueryResult]:
    return sorted((query for unit in units for query in unit.queries), key=lambda result: getattr(result.query, order))


class Combining:
    """What the runs of one call share while they are scored one after the other. Three habits of the reference reach
    from one run to the next: the nodes of all runs are ranked together and the rows of AP bear the id of the first
    run (rule pooled-runs), and resampling narrows the queries of later runs (rule samples-narrow-later-runs).
    """

    def __init__(self, run: Run, policy: Policy, problems: ProblemLog, before: Iterable[RunResult] = ()) -> None:
        """`problems` is added to; `before`: results of the same runs under another policy."""
        self._run, self._gold, self._problems = run, run.gold, problems
        self.options = replace(run.gold.options, policy=policy, justifications=run.limits)
        self.edition = run.gold.table.edition
        self.remarks = [*run.remarks, *_remarks(run, policy)]
        self._hop_limits = run.gold.hop_limits
        self._units_so_far: dict[str, UnitResult] = {}
        self._units_before = {result.run_id: {unit.id: unit for unit in result.units} for result in before}
        self._has_resampled = False
        self._reported = tuple(problems) if self.edition.reports_first else None

    def score_units(self, run_id: str) -> list[UnitResult]:
        """Score every unit of a run. Raises InputError where matching or counting has to stop."""
        lines_of = self._run.lines.get(run_id, {})
        if lines_of:
            judging.check_discipline(self.options.discipline)
            if judging.compares_values(self.options.discipline):  # by class, which must be known of each assessed query
                for assessment in self._gold.links.assessments:
                    self._run.links.class_of_query(assessment.query)
        before = self._units_before.get(run_id)
        of_run = units_of(self._run, run_id, self._hop_limits, self._units_so_far, before)
        units = [score_unit(unit, self.options.policy) for unit in of_run]
        if len(self._run.run_ids) > 1:
            self._units_so_far.update((unit.id, unit) for unit in units)
        for unit in units:
            self._problems.take_over(unit.problems)
            if unit.unmatched is not None:
                raise unit.unmatched
        lines = sum(len(of_query) for of_unit in lines_of.values() for of_query in of_unit.values())
        of_units = ((unit.matched, of_query) for unit in units for of_query in lines_of.get(unit.id, {}).values())
        has_met = any(line.index in matched for matched, of_query in of_units for line in of_query)
        self.remark_on_matches(run_id, lines, has_met)
        for query in _queries(units, "short_id"):
            self._problems.take_over(query.problems)
            if query.uncounted is not None:
                raise query.uncounted
        return units

    def remark_on_matches(self, run_id: str, lines: int, has_met: bool) -> None:
        """Remark where a run has no line, or none of them met an assessment: usually a wrong id or pool."""
        if not lines:
            remark = (
                f"no line of run {run_id} was loaded, so it is scored as if it had answered nothing; is the id right?"
            )
        elif has_met:
            return
        elif all(schema.kind is FileKind.RUN for schema in self._run.layouts.values()):
            remark = (
                f"no file holds assessments, so all {lines} lines of run {run_id} are unassessed; name the pool, too"
            )
        else:
            hint = "" if self.options.queries is None else ", and are their queries among those of -queries"
            found = f"none of the {lines} lines of run {run_id} met an assessment"
            remark = f"{found}; is this the right assessment file{hint}?"
        self.remarks.append(remark)

    def stages(
        self,
        run_id: str,
        rows: Iterable[ScoreRow],
        units: Sequence[UnitResult] = (),
        ap_rows: Iterable[ScoreRow] | None = None,
        has_ranked_nodes: bool | None = None,
    ) -> Iterator[RunResult]:
        """The result of a run as far as it is computed: tables (rule averages), average precision, resamples. `rows`
        are those of SF in printing order; where there are no units, `ap_rows` are those of rankings, and
        `has_ranked_nodes` says whether any of these ranks a node of the run. Raises InputError where
        no query is scored, none has a row to project to LDC queries, AP exceeds 1, and there are no LDC queries to
        resample.
        """
        gold, table = self._gold, self._gold.table
        unit_of = {query.full_id: gold.cluster_of(query) for query in gold.selected(self._hop_limits)}
        sf = tables.averaged_table(rows)
        if unit_of:
            unit_of |= gold.clusters_of_others(row.name.partition(":")[0] for row in sf.rows)
        run = RunResult(run_id, tables.projected(sf, table), tuple(units), unit_of=unit_of)
        yield run
        if not unit_of or (table.ldc_of and not sf.rows):
            raise InputError(
                "nothing to score: " + (f"run {run_id} has no row" if unit_of else "no query was chosen"),
                remedy="-queries must name queries of the query files, and run or assessments must answer them",
            )
        if self.edition.has_rankings:
            rankings = rankings_of(units)
            ordered = tables.ranked_rows(rankings) if ap_rows is None else ap_rows
            # The rows of the report bear the id of the first run line of the input (rule average-precision).
            first = next((line.run_id for line in self._run.links.responses), run_id)
            ranked = tables.averaged_rankings(first, ordered, table, rankings)
            if has_ranked_nodes is None:
                has_ranked_nodes = self._has_ranked_line(run_id, unit_of)
            run = replace(run, average_precision=replace(ranked, has_ranked_nodes=has_ranked_nodes))
            yield run
        if self.options.samples is not None and not is_nothing(self.options.samples):
            yield self._with_bootstrap(run, self.options.samples)

    def _has_ranked_line(self, run_id: str, query_ids: Collection[str]) -> bool:
        """Return whether a line of the run is in a node that the rankings of these queries can have."""
        for lines_by_query in self._run.lines.get(run_id, {}).values():
            for lines in lines_by_query.values():
                if any(is_in_ranked_node(line, query_ids) for line in lines):
                    return True
        return False

    def _with_bootstrap(self, run: RunResult, name: str) -> RunResult:
        from cs_score.coldstart import resampling  # few calls resample

        table = self._gold.table
        if not table.ldc_of:
            raise InputError(
                "queryid undefined in QuerySet->get()",
                remedy="-samples resamples LDC queries: give the LDC query file and -expand",
            )
        file = self._gold.samples
        if not self._has_resampled:
            self.remarks += file.remarks(name, table)
            self._has_resampled = True
        drawn = resampling.bootstrap(run.tables, run.tables.measures, file.samples, self.options.metrics)
        last = max(file.samples, key=lambda sample: sample.label, default=None)
        if last is not None:  # later runs are scored on its queries only, draws as hop limits
            self._hop_limits = dict(last.one_entry_point())
        return replace(run, bootstrap=drawn)

    def result(self, runs: Sequence[RunResult]) -> Result:
        has_ldc_index = bool(self._gold.table.ldc_of)
        origin = origin_of(self.options, self._run.digests, has_ldc_index, validated=self._gold.validates)
        if self._gold.alone is not None:
            origin = origin.with_option(APART, True)
        problems = tuple(self._problems) if self._reported is None else self._reported
        return Result(self.options, tuple(runs), problems, tuple(self.remarks), has_ldc_index, origin)


def score_runs(
    run: Run, policy: Policy, problems: ProblemLog | None = None, before: Iterable[RunResult] = ()
) -> Result:
    """Score the runs of one call, one run id after the other. `problems` is added to if given; `before`: results of the
    same lines under another policy or other limits, whose matches are taken over. Raises ScoringStopped with what had
    been computed by then.
    """
    combining = Combining(run, policy, run.problems.branch() if problems is None else problems, before)
    runs: list[RunResult] = []
    try:
        has_lines = run.links.responses or run.gold.links.assessments
        has_pool = any(schema.kind is FileKind.ASSESSMENTS for schema in run.layouts.values())
        if run.layouts and not has_lines and not has_pool:  # files of size zero are only warned of
            problem = f"nothing was loaded: no line of {some(run.layouts)} was accepted"
            raise InputError(problem, remedy="the problems reported say why")
        if combining.edition.reports_first and (errors := run.problems.count(Severity.ERROR)):
            raise InputError(f"{errors} error{'s' if errors > 1 else ''} encountered")
        if not run.run_ids:
            files = [name for name, schema in run.layouts.items() if schema.kind is FileKind.RUN]
            found = f" ({some(run.layouts)}: assessments)" if run.layouts else ""
            why = f"none of the files is a run with lines{found}; name the run, too"
            why = f"no line of {some(files)} was accepted" if files else why
            combining.remarks.append(f"nothing was scored: {why}")
        for at, run_id in enumerate(run.run_ids):
            units = combining.score_units(run_id)
            for stage in combining.stages(run_id, score_rows(units), units):
                runs[at:] = [stage]
    except InputError as stop:
        raise ScoringStopped(stop, combining.result(runs)) from None
    return combining.result(runs)


def score_unit(unit: Unit, policy: Policy, is_ranked: bool = True) -> UnitResult:
    """Match, place, label, count and, where rankings are wanted, rank the lines of one unit. Never raises for what is
    in the lines: the result says where scoring has to stop.
    """
    matching = unit.before
    if matching is None:
        problems, links, found = ProblemLog(), unit.run.links, dict[int, Assessment]()
        discipline = unit.gold.options.discipline
        try:
            for base_id in dict.fromkeys(query.base_id for query in unit.queries if query.base_id in unit.lines):
                by_value = unit.gold.values_of(base_id, links)
                found |= judging.match(unit.lines[base_id], by_value, links, discipline, problems)
        except InputError as stop:
            return UnitResult(unit.id, {}, {}, (), problems, stop)
        matching = UnitResult(unit.id, found, {}, (), problems)
    matched, beside, edition = matching.matched, unit.beside, unit.gold.table.edition
    counting = Counting(matched, policy, unit.run.limits.most, {} if beside is None else dict(beside.labels), edition)
    golds = [unit.gold.of_query(query, unit.run.links) for query in unit.queries]
    results = [_count(unit, gold, counting) for gold in golds]
    if beside is not None:
        matched = {**beside.matched, **matched}
    if is_ranked and edition.has_rankings:
        results = [
            result if result.uncounted else _rank(unit, gold, result, matched, counting.labels_by_index)
            for gold, result in zip(golds, results)
        ]
    return UnitResult(unit.id, matched, counting.labels_by_index, tuple(results), matching.problems)


def _count(unit: Unit, gold: QueryGold, counting: Counting) -> QueryResult:
    """Return the rows of a query, those up to its hop limit."""
    query = gold.query
    if gold.tree is None:
        return QueryResult(query, problems=gold.problems, uncounted=gold.failure)
    tree = gold.tree.branch()
    lines = unit.lines.get(query.base_id, ())
    try:
        responses_by_class = judging.place_responses(tree, lines, counting.assessment_by_index, unit.run.links)
    except InputError as stop:
        return QueryResult(query, problems=gold.problems, uncounted=stop)
    tallies = []
    for tally in counting.tally(tree, responses_by_class):
        row_query_id = tally.name.partition(":")[0]
        most_hops = unit.hop_limits[query.short_id]
        if row_query_id != query.full_id:  # classes of other queries have rows there; where these are not chosen, hop 0
            parts = parse_query_id(row_query_id)
            most_hops = 0 if parts is None else unit.hop_limits.get(parts.base, 0)
        if tree.depth(tally.name) <= most_hops:
            tallies.append(tally)
    return QueryResult(query, tuple(tallies), problems=gold.problems)


def _rank(
    unit: Unit, gold: QueryGold, counted: QueryResult, matched: Mapping[int, Assessment], labels: Mapping[int, Labels]
) -> QueryResult:
    """Return the result of a query with the rankings of its levels, or with why it cannot be ranked."""
    query = gold.query
    most = unit.run.limits.most
    ranker = Ranker(gold.classes, matched, labels, most)
    rankings = ranker.rankings(query, unit.nodes.nodes_of_query(query.full_id))
    for ranking in rankings:
        if ranking.exceeds_ground_truth:  # the run names more than there is to be found, which the task does not allow
            return replace(counted, unranked=_above_one(ranking, unit.run.links.nodes, most))
    if not gold.classes.edition.ranks_all_levels:
        most_hops = unit.hop_limits[query.short_id]
        rankings = [
            ranking
            for ranking in rankings
            if ranking.level in ("0", tables.ALL_LEVELS) or int(ranking.level) <= most_hops
        ]
    return replace(counted, rankings=tuple(rankings))


# Loads a run over gold that has its pool; further assessments come before it.
Load: TypeAlias = Callable[[Gold, "OneRun", Sequence[Input], ProblemLog], Run]


class OneRun(Record):
    """A run among the files: its id, and whether its file holds others, whose lines are left out."""

    file: Input
    run_id: str
    is_shared: bool = False

    def over(self, gold: Gold) -> Gold:
        """Gold for loading this run alone."""
        if not self.is_shared:
            return gold
        return replace(gold, options=replace(gold.options, runids=(self.run_id,)), alone=self.run_id)


def run_files(files: Iterable[Input], known: Collection[Input] = ()) -> tuple[list[Input], list[Input]]:
    """The runs and the assessments among files; `known` are runs whatever they look like. Raises InputError for a file
    that is neither, and for an empty one.
    """
    runs, assessments = list[Input](), list[Input]()
    for member in (member for given in files for member in members(given)):
        kind = FileKind.RUN if member in known else kind_of(member)
        if kind is None:
            raise InputError("empty: neither a run nor assessments", file=name_of(member))
        (runs if kind is FileKind.RUN else assessments).append(member)
    return runs, assessments


def runs_of(files: Iterable[Input], known: Collection[Input] = (), wanted: Sequence[str] | None = None) -> list[OneRun]:
    """The runs of run files; with `wanted` those of these ids, in their order. `known` are knowledge bases, whose first
    line is the id. Raises UsageError for an id that no file has.
    """
    runs: list[OneRun] = []
    for file in files:
        run_ids = _run_ids(file, is_knowledge_base=file in known)
        runs += [OneRun(file, run_id, len(run_ids) > 1) for run_id in run_ids]
    if wanted is None:
        return runs
    there = list(dict.fromkeys(run.run_id for run in runs))
    for run_id in wanted:
        if run_id not in there:
            raise UsageError(f"no run called {run_id}; there are {', '.join(there)}{nearest(run_id, there)}")
    return [run for run_id in wanted for run in runs if run.run_id == run_id]


_BLOCK: Final = 1 << 16


def _run_ids(file: Input, *, is_knowledge_base: bool) -> list[str]:
    """The ids of the runs in a file, in the order of their first lines."""
    with open_source(file) as source:
        if is_knowledge_base:
            return [source.read_bytes().partition(b"\n")[0].decode("utf-8", "replace").strip()]
        third = {
            columns[2]
            for block in line_blocks(source, _BLOCK)
            for columns in (line.split(b"\t", 3) for line in block.split(b"\n"))
            if len(columns) > 3
        }
    if len(third) == 1:
        return [third.pop().decode("utf-8", "replace")]
    with open_source(file) as source:
        tab_file = read_tab_file(source, ProblemLog())
        found = dict.fromkeys(columns[2] for _, _, columns in tab_file.lines) if tab_file else {}
    return list(found) or [""]


def load_alone(gold: Gold, run: OneRun, pool: Sequence[Input] = (), problems: ProblemLog | None = None) -> Run:
    return load_run(run.over(gold), [*pool, run.file], problems=problems)


def score_each(gold: Gold, runs: Sequence[OneRun], load: Load = load_alone) -> list[Result]:
    """The result of each run by itself, in order, over gold that has its pool. Raises InputError."""
    with paused_collector():
        return [_score_alone(gold, run, gold.problems.branch(), load) for run in runs]


def score_apart(
    gold: Gold, runs: Sequence[OneRun], problems: ProblemLog, load: Load = load_alone, pool: Sequence[Input] = ()
) -> Result:
    """One result of runs that are scored each by itself; `pool`: assessments that gold has not. Raises InputError."""
    results = [_score_alone(gold, run, problems, load, pool) for run in runs]
    if len(results) == 1:
        return results[0]
    first, options = results[0], results[0].options
    further = (each for other in results[1:] for each in other.origin.inputs if each.role == RUN)
    inputs = [*first.origin.inputs, *further]
    if any(run.is_shared for run in runs):
        inputs = list(dict.fromkeys(inputs))
        options = replace(options, runids=tuple(run.run_id for run in runs))
    origin = origin_of(options, inputs, first.has_ldc_index, validated=gold.validates)
    return replace(
        first,
        options=options,
        runs=tuple(replace(result.runs[0], origin=result.origin) for result in results),
        problems=tuple(problems),
        warnings=tuple(dict.fromkeys(remark for result in results for remark in result.warnings)),
        origin=origin.with_option(APART, True),
    )


def _score_alone(gold: Gold, one: OneRun, problems: ProblemLog, load: Load, pool: Sequence[Input] = ()) -> Result:
    try:
        run = load(gold, one, pool, problems)
        result = score_runs(run, gold.options.policy, problems)
        if not result.runs:
            raise ScoringStopped(InputError("no line that could be scored"), result)
    except InputError as error:
        if error.file is None:
            error.file = name_of(one.file)
        raise
    return result
