"""Score Cold Start runs: each unit separately, then the tables and rankings of a run. A unit is an LDC query with its
entry points (mentions of its entity), or a single query if there are no LDC queries. The gold has the queries and the
assessments.

`score_unit` scores one unit: it matches the lines to assessments, counts them, and ranks the nodes.
`score_runs` combines the units of a run to its result. Lines have been read, linked and checked against the limits
before, since the queries that a line may name depend on all lines before it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from cs_score.base.display import join_first
from cs_score.base.errors import InputError, UsageError, did_you_mean
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_garbage_collection
from cs_score.base.signature import RUN, Origin
from cs_score.base.sources import Input, InputDigest, name_of, open_source
from cs_score.coldstart import judging
from cs_score.coldstart.file_columns import FileKind
from cs_score.coldstart.gold import ColdStartGold, QueryGold, Run, ScoringUnit, load_run, units_of
from cs_score.coldstart.judging import Counting, Labels
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.linking import expand_folder, kind_of
from cs_score.coldstart.options import DUPLICATE, MANY, SCORED_SEPARATELY, SIDES, Policy, is_left_out, origin_of
from cs_score.coldstart.queries import Query, parse_query_id
from cs_score.coldstart.ranking import RankedNode, Ranker, Ranking, is_in_ranked_node
from cs_score.coldstart.result import (
    ALL_LEVELS,
    QueryResult,
    Result,
    ScoredRun,
    ScoreRow,
    ScoringStopped,
    UnitResult,
    add_ldc_tables,
    average_precision_of,
    averaged_table,
    in_printing_order,
    ranked_rows,
)
from cs_score.coldstart.tab_files import line_blocks, read_tab_file
from cs_score.problems.codes import Severity
from cs_score.problems.log import ProblemLog

if TYPE_CHECKING:
    from cs_score.coldstart.samples import Sample


def _remarks_on_call(run: Run, policy: Policy) -> list[str]:
    """Return remarks on parts of a call that can be scored but were probably not intended by the user.

    The remarks are about categories on several sides of the policy, about several runs in one call, and about lines of
    the second hop that come before their parent line.
    """
    remarks = _remarks_on_policy(policy)
    if len(run.run_ids) > 1:
        remarks.append(_remark_on_several_runs(run.run_ids))
        has_samples_option = not is_left_out(run.gold.options.samples)
        if has_samples_option:  # resampling the first run narrows the queries of the later ones
            remarks.append(_SAMPLES_WITH_SEVERAL_RUNS)
    if run.links.lines_without_parent:
        remarks.append(_remark_on_lines_without_parent(run.links.lines_without_parent))
    return remarks


_SAMPLES_WITH_SEVERAL_RUNS: Final = (
    "-samples with several runs: the resampling of the first run narrows the queries of all later ones, whose scores "
    "are then wrong; score each run by itself"
)


def _remark_on_several_runs(run_ids: Sequence[str]) -> str:
    """Return the remark that average precision is computed for all runs of a call together.

    `run_ids` are the ids of the runs. The remark advises to score each run by itself.
    """
    return (
        f"{len(run_ids)} runs are scored in one invocation ({join_first(run_ids)}): average precision pools the "
        "nodes of all of them, so score each run by itself to compare them by AP"
    )


def _remark_on_lines_without_parent(lines: Sequence[Response]) -> str:
    """Return the remark on lines of the second hop whose parent line (which gives the first answer) is not before them.

    The remark names the places of the lines, and the node of the first of them.
    """
    places = join_first(line.place for line in lines)
    return (
        f"{len(lines)} second-hop line(s) come before their parent line or have none ({places}): their nodes, such as "
        f"{lines[0].node}, are missing from average precision; put parent lines first"
    )


def _remarks_on_policy(policy: Policy) -> list[str]:
    """Return a remark on each category that a policy puts on several sides.

    A side is one of right, wrong and ignored. A category, such as `INEXACT`, belongs on one of them.
    """
    remarks = []
    for category, sides in _sides_by_category(policy).items():
        if len(sides) > 1:
            remarks.append(_remark_on_category(category, sides, policy.duplicate_side))
    return remarks


def _sides_by_category(policy: Policy) -> dict[str, list[str]]:
    """Return the sides of a policy on which each category of responses is: `{"INEXACT": ["RIGHT", "IGNORE"]}`.

    The sides have the order in which policies are applied: RIGHT, WRONG, IGNORE.
    """
    sides_by_category: dict[str, list[str]] = defaultdict(list)
    for side in SIDES:
        for category in policy.categories_on(side):
            sides_by_category[category].append(side)
    return sides_by_category


def _remark_on_category(category: str, sides: Sequence[str], duplicate_side: str | None) -> str:
    """Return the remark on a category that is on several `sides` of a policy, such as `["RIGHT", "IGNORE"]`.

    Duplicates count on one side only, the `duplicate_side`. Responses of other categories count on each side.
    """
    if category == DUPLICATE:
        effect = f"duplicates count as {duplicate_side} only, the last of these"
    else:
        effect = f"such responses count {len(sides)} times; name it once"
    switches = " and ".join(f"-{side.lower()}" for side in sides)
    return f"{category} is in {switches}: {effect}"


def _error_of_score_above_one(
    ranking: Ranking, lines_by_node: Mapping[str, Sequence[Response]], most_justifications: int | None
) -> InputError:
    """Return the error for a ranking whose average precision is above 1 (rule above-one).

    The message names the query, the nodes and the lines, and suggests a command. `lines_by_node` maps the full id of
    each node, such as `CSX_ENG_00fb79cef8:E1`, to its lines in the run. `most_justifications` is the number of
    justifications that a node may have, or None for any number.
    """
    reason, nodes = _cause_of_excess(ranking)
    node_texts = [_node_text(node, lines_by_node.get(node.name, [node.first_line])) for node in nodes]
    run_file = nodes[0].first_line.file
    command = _validation_command(run_file, most_justifications)
    return InputError(
        f"AP is greater than 1.0: {ranking.score:.4f} for query {ranking.query}, level {ranking.level}, "
        f"because {reason} ({join_first(node_texts, separator='; ')})",
        file=run_file,
        remedy=f"a run must be validated before it is scored: {command} (QUERIES.xml: the slot-filling queries; "
        "cs-score validate-queries -expand makes them from others), or score with --validate",
        code="AP_ABOVE_ONE",
    )


def _cause_of_excess(ranking: Ranking) -> tuple[str, list[RankedNode]]:
    """Return the reason why the average precision of a ranking is above 1, and the nodes that are the cause.

    The value of a node is above 1 if several of its lines come from the same document. If no node has a value above 1,
    there are more right nodes than answers to be found.
    """
    overvalued_nodes = [node for node in ranking.nodes if node.value > 1]
    if overvalued_nodes:
        return "several lines of one node come from one document", overvalued_nodes
    right_nodes = [node for node in ranking.nodes if node.value > 0]
    return "more than one node of a single-valued slot is right", right_nodes


def _node_text(node: RankedNode, lines: Sequence[Response]) -> str:
    """Return a description of a ranked node and its lines: `node CSX_1:E1, run.tab line 3, 4, V = 2.0000`.

    V is the value of the node in average precision. If the lines come from several files, all files are named before
    the line numbers.
    """
    files = " and ".join(dict.fromkeys(line.file for line in lines))
    numbers = join_first(line.number for line in lines)
    return f"node {node.name}, {files} line {numbers}, V = {node.value:.4f}"


def _validation_command(run_file: str, most_justifications: int | None) -> str:
    """Return the command with which the user can remove the surplus lines of a run.

    `most_justifications` is the number of justifications that a node may have, or None for any number.
    """
    import shlex  # short runs start without it

    limit = MANY if most_justifications is None else most_justifications
    validated_file = f"{run_file}.valid"
    return (
        f"cs-score validate-run -justifications 1:{limit} -output_file {shlex.quote(validated_file)} QUERIES.xml "
        f"{shlex.quote(run_file)}"
    )


def slot_filling_rows(units: Iterable[UnitResult]) -> list[ScoreRow]:
    """Return the rows of slot-filling scores in printing order, from the results of the units of a run."""
    rows: list[ScoreRow] = []
    # Different queries may have rows with the same name. These rows must keep the order of the queries, so sorting by
    # name is not enough.
    for query_result in _in_table_order(units):
        rows += query_result.rows
    return in_printing_order(rows)


def rankings_of(units: Sequence[UnitResult]) -> list[Ranking]:
    """Return the rankings of all queries of a run, sorted by query and level, from the results of its units.

    Raises InputError if a query could not be ranked, because an average precision would be above 1.
    """
    # If there are several errors, the reference scorer reports the error of the query that it scores first.
    for query_result in _in_scoring_order(units):
        if query_result.ranking_error is not None:
            raise query_result.ranking_error
    rankings: list[Ranking] = []
    for query_result in _in_table_order(units):
        rankings += query_result.rankings
    return rankings


def _in_table_order(units: Iterable[UnitResult]) -> list[QueryResult]:
    """Return the results of the queries of all units, sorted by full id, which is the order of tables."""
    return sorted(_queries_of(units), key=lambda query_result: query_result.query.full_id)


def _in_scoring_order(units: Iterable[UnitResult]) -> list[QueryResult]:
    """Return the results of the queries of all units, sorted by short id, the order in which the reference scores."""
    return sorted(_queries_of(units), key=lambda query_result: query_result.query.short_id)


def _queries_of(units: Iterable[UnitResult]) -> list[QueryResult]:
    """Return the results of the queries of all units in one list, in the order of the units.

    A unit is an LDC query with a query for each of its entry points, or a single query.
    """
    query_results: list[QueryResult] = []
    for unit in units:
        query_results += unit.queries
    return query_results


def _unit_results_by_run_and_unit(results: Iterable[ScoredRun]) -> dict[str, dict[str, UnitResult]]:
    """Return the results of units by run id, then by the id of the unit: `{"RUN1": {"CS14_0001": ...}}`."""
    results_by_run_and_unit = {}
    for result in results:
        results_by_run_and_unit[result.run_id] = {unit_result.id: unit_result for unit_result in result.units}
    return results_by_run_and_unit


def _line_count(lines_by_unit: Mapping[str, Mapping[str, Sequence[Response]]]) -> int:
    """Return the number of lines of a run, which are given by the id of their unit, then by the id of their query."""
    line_count = 0
    for lines_by_query in lines_by_unit.values():
        line_count += sum(len(lines) for lines in lines_by_query.values())
    return line_count


class RankingRows(NamedTuple):
    """The data for the average precision of a run: a row for each ranking, and whether any node is ranked."""

    rows: Iterable[ScoreRow]
    has_ranked_nodes: bool


class CallScorer:
    """Score the runs of one call one after the other.

    As in the reference scorer, runs that were scored before have three effects on a run. The nodes of all runs are
    ranked together. The rows of average precision have the id of the first run (rule pooled-runs). After a run was
    resampled, only the queries of its last resample are scored (rule samples-narrow-later-runs).
    """

    def __init__(
        self, loaded_runs: Run, policy: Policy, problems: ProblemLog, results_to_reuse: Iterable[ScoredRun] = ()
    ) -> None:
        """Prepare to score the runs of one call. `loaded_runs` contains their lines.

        Problems are added to `problems`. `results_to_reuse` are results of the same lines under another policy. The
        assessments of responses are taken from these results, because the policy has no effect on matching.
        """
        self._loaded_runs = loaded_runs
        self._gold = loaded_runs.gold
        self._problems = problems
        # The limits on justifications are recorded as the option `justifications`.
        self.options = replace(loaded_runs.gold.options, policy=policy, justifications=loaded_runs.limits)
        self.edition = loaded_runs.gold.query_set.edition
        self.remarks = [*loaded_runs.remarks, *_remarks_on_call(loaded_runs, policy)]
        self._hop_limit_by_id = loaded_runs.gold.hop_limit_by_id
        # The last result of each unit among the runs of this call that were scored before.
        self._result_by_unit_of_earlier_runs: dict[str, UnitResult] = {}
        self._results_to_reuse_by_run_and_unit = _unit_results_by_run_and_unit(results_to_reuse)
        self._has_remarks_on_samples = False  # remarks on the file of samples are made only once
        # Some editions write the report before scoring, so the report does not include the problems found by scoring.
        self._problems_before_scoring = tuple(problems) if self.edition.reports_before_scoring else None

    def score_by_stage(self, run_id: str, results: list[ScoredRun]) -> None:
        """Score a run stage by stage (`results_by_stage`), and keep its latest result at the end of `results`.

        `results` contains the results of the earlier runs of the call. Raises InputError for a fatal condition. In that
        case, the list contains the result of the last completed stage, which can still be written.
        """
        units = self.score_units(run_id)
        position = len(results)
        for result in self.results_by_stage(run_id, slot_filling_rows(units), units):
            # The first result is appended; each later result replaces the result of the previous stage.
            results[position:] = [result]

    def score_units(self, run_id: str) -> list[UnitResult]:
        """Score all units of a run, report their problems and remarks, and return their results.

        Raises InputError if responses cannot be matched to assessments, or cannot be counted.
        """
        lines_by_unit = self._loaded_runs.lines_by_run_and_unit.get(run_id, {})
        if lines_by_unit:
            self._check_discipline()
        units = self._score_each_unit(run_id)
        # Problems are reported in the order of the reference, which matches all lines of a run before it counts any.
        self._report_matching(units)
        self.remark_on_matches(run_id, _line_count(lines_by_unit), _has_match(units, lines_by_unit))
        self._report_counting(units)
        return units

    def _score_each_unit(self, run_id: str) -> list[UnitResult]:
        """Return the results of all units of a run. Each contains the problems of its unit; errors are not raised.

        If the call has several runs, the results are kept for the runs that are scored later.
        """
        units = units_of(
            self._loaded_runs,
            run_id,
            self._hop_limit_by_id,
            units_of_earlier_runs=self._result_by_unit_of_earlier_runs,  # all nodes are ranked together
            results_to_reuse=self._results_to_reuse_by_run_and_unit.get(run_id),  # they have this run's assessments
        )
        unit_results = [score_unit(unit, self.options.policy) for unit in units]
        if len(self._loaded_runs.run_ids) > 1:
            for unit_result in unit_results:
                self._result_by_unit_of_earlier_runs[unit_result.id] = unit_result
        return unit_results

    def _report_matching(self, units: Iterable[UnitResult]) -> None:
        """Report the problems that were found when responses were matched to assessments, unit by unit.

        Raises the InputError of the first unit whose responses could not be matched.
        """
        for unit_result in units:
            self._problems.add_all(unit_result.problems)
            if unit_result.matching_error is not None:
                raise unit_result.matching_error

    def _report_counting(self, units: Iterable[UnitResult]) -> None:
        """Report the problems that were found when responses were counted, query by query.

        Raises the InputError of the first query whose responses could not be counted.
        """
        for query_result in _in_scoring_order(units):
            self._problems.add_all(query_result.problems)
            if query_result.counting_error is not None:
                raise query_result.counting_error

    def _check_discipline(self) -> None:
        """Raise InputError if the discipline is unknown, or if it needs classes that cannot be found.

        A discipline that compares the texts of answers needs the class of the query of every assessment.
        """
        judging.check_discipline(self.options.discipline)
        if judging.compares_values(self.options.discipline):
            for assessment in self._gold.links.assessments:
                # This raises the error; the class itself is not needed here.
                self._loaded_runs.links.class_of_query(assessment.query)

    def remark_on_matches(self, run_id: str, line_count: int, has_match: bool) -> None:
        """Add a remark if a run has no lines (`line_count` is 0), or if none of its lines has an assessment."""
        if line_count == 0:
            self.remarks.append(
                f"no line of run {run_id} was loaded, so it is scored as if it had answered nothing; is the id right?"
            )
        elif not has_match:
            self.remarks.append(self._remark_without_match(run_id, line_count))

    def _remark_without_match(self, run_id: str, line_count: int) -> str:
        """Return a remark that no line of a run has an assessment, with the likely reason.

        Usually the pool (the file of assessments) is missing, or the wrong pool was given.
        """
        has_pool = any(schema.kind is not FileKind.RUN for schema in self._loaded_runs.layouts.values())
        if not has_pool:
            return (
                f"no file holds assessments, so all {line_count} lines of run {run_id} are unassessed; name the pool, "
                "too"
            )
        hint = "" if self.options.queries is None else ", and are their queries among those of -queries"
        return (
            f"none of the {line_count} lines of run {run_id} met an assessment; is this the right assessment "
            f"file{hint}?"
        )

    def results_by_stage(
        self,
        run_id: str,
        rows: Iterable[ScoreRow],
        units: Sequence[UnitResult] = (),
        ranking_rows: RankingRows | None = None,
    ) -> Iterator[ScoredRun]:
        """Yield the result of a run after each of up to three stages: tables, average precision and resamples.

        If a stage raises an error, the caller can still write the result of the previous stage. `rows` are the rows of
        the table of slot-filling scores in printing order, and `units` are the results of the units. For a run that was
        scored in parts, `units` is empty, and average precision is computed from `ranking_rows` instead.

        Raises InputError if there is nothing to score, if an average precision is above 1, and if there are no LDC
        queries to resample.
        """
        result = self._with_tables(run_id, rows, units)
        yield result
        self._check_rows(result)
        if self.edition.has_rankings:
            result = self._with_average_precision(result, ranking_rows)
            yield result
        samples_name = self.options.samples
        # Nothing is resampled without the switch `-samples` (None), or with `-samples 0` (`is_left_out`).
        if samples_name is not None and not is_left_out(samples_name):
            yield self._with_bootstrap(result, samples_name)

    def _with_tables(self, run_id: str, rows: Iterable[ScoreRow], units: Sequence[UnitResult]) -> ScoredRun:
        """Return the result of a run with its tables of precision and recall, without average precision.

        `rows` are the rows of slot-filling scores in printing order, and `units` are the results of the units. The
        result also records the cluster of each query, which is the id of its LDC query: the queries of an LDC query are
        resampled together.
        """
        gold = self._gold
        sf = averaged_table(rows)
        cluster_by_query = {
            query.full_id: gold.cluster_of(query) for query in gold.selected_queries(self._hop_limit_by_id)
        }
        if cluster_by_query:
            # A row may also belong to a query that is not scored, if the assessments of another query name its classes.
            cluster_by_query |= gold.clusters_of_unscored_queries(row.name.partition(":")[0] for row in sf.rows)
        tables = add_ldc_tables(sf, gold.query_set)
        return ScoredRun(run_id, tables, tuple(units), cluster_by_query=cluster_by_query)

    def _with_average_precision(self, run: ScoredRun, ranking_rows: RankingRows | None) -> ScoredRun:
        """Return the result of a run with its average precision, which is computed from the rows of its rankings.

        `ranking_rows` is given if the run was scored in parts; otherwise the rows are computed from the results of the
        units. Raises InputError if an average precision would be above 1.
        """
        rankings = rankings_of(run.units)
        if ranking_rows is None:
            # The rankings also contain nodes of earlier runs. Only the run's own lines show whether it has a node for
            # any of the scored queries, whose ids are the keys of `cluster_by_query`.
            has_ranked_nodes = self._has_ranked_line(run.run_id, query_ids=run.cluster_by_query)
            ranking_rows = RankingRows(ranked_rows(rankings), has_ranked_nodes)
        # As in the reference scorer, the rows of all runs of a call show the same run id, but the scores belong to this
        # run.
        printed_run_id = self._run_id_in_rankings(run.run_id)
        average_precision = average_precision_of(printed_run_id, ranking_rows.rows, self._gold.query_set, rankings)
        average_precision = replace(average_precision, has_ranked_nodes=ranking_rows.has_ranked_nodes)
        return replace(run, average_precision=average_precision)

    def _run_id_in_rankings(self, fallback_id: str) -> str:
        """Return the run id to show in the rows of average precision: the id in the first run line of the input.

        The rows of all runs of a call show the same id (rule average-precision). Return `fallback_id` if no run line
        was read.
        """
        responses = self._loaded_runs.links.responses
        return responses[0].run_id if responses else fallback_id

    def _check_rows(self, run: ScoredRun) -> None:
        """Raise InputError if no query is scored, or if the tables of LDC queries would have no rows.

        See the rule nothing-to-score.
        """
        if not run.cluster_by_query:  # there is a cluster for each scored query
            reason = "no query was chosen"
        elif self._gold.query_set.ldc_id_by_query and not run.tables.sf.rows:
            reason = f"run {run.run_id} has no row"
        else:
            return
        raise InputError(
            f"nothing to score: {reason}",
            remedy="-queries must name queries of the query files, and run or assessments must answer them",
        )

    def _has_ranked_line(self, run_id: str, query_ids: Collection[str]) -> bool:
        """Return whether the run has a line whose node can be ranked for one of the queries.

        `query_ids` are the full ids of the queries.
        """
        for lines_by_query in self._loaded_runs.lines_by_run_and_unit.get(run_id, {}).values():
            for lines in lines_by_query.values():
                if any(is_in_ranked_node(line, query_ids) for line in lines):
                    return True
        return False

    def _with_bootstrap(self, run: ScoredRun, samples_name: str) -> ScoredRun:
        """Return the result of a run with the values of its resamples.

        A resample is a list of LDC queries that were drawn at random. `samples_name` is the name of the file of
        resamples. As in the reference scorer, runs that are scored after this one are restricted to the queries of the
        last resample (rule samples-narrow-later-runs). Raises InputError if there are no LDC queries.
        """
        from cs_score.coldstart import query_resampling as resampling  # few calls resample

        self._check_ldc_queries()
        sample_file = self._gold.samples
        if not self._has_remarks_on_samples:
            self.remarks += sample_file.remarks(samples_name, self._gold.query_set)
            self._has_remarks_on_samples = True
        bootstrap = resampling.bootstrap(
            run.tables, run.tables.score_by_measure, sample_file.samples, self.options.metrics
        )
        # This concerns the runs scored after this one; the result of this run has all its queries.
        self._narrow_to_last_sample(sample_file.samples)
        return replace(run, bootstrap=bootstrap)

    def _check_ldc_queries(self) -> None:
        """Raise InputError if there are no LDC queries, which are the queries that resamples consist of."""
        if not self._gold.query_set.ldc_id_by_query:
            raise InputError(
                "queryid undefined in QuerySet->get()",
                remedy="-samples resamples LDC queries: give the LDC query file and -expand",
            )

    def _narrow_to_last_sample(self, samples: Sequence[Sample]) -> None:
        """Restrict the runs that are scored after this one to the queries of the last resample.

        The reference scorer does the same (rule samples-narrow-later-runs). The last resample is the one with the
        greatest label, compared as text. The number of times it draws a query becomes the hop limit of that query.
        """
        if samples:
            last_resample = max(samples, key=lambda sample: sample.label)
            draw_count_by_query = last_resample.draw_counts_of_first_entry_points()
            self._hop_limit_by_id = dict(draw_count_by_query)

    def result(self, runs: Sequence[ScoredRun]) -> Result:
        """Return the result of the call from the results of its runs, with the problems and the remarks.

        In editions that write the report before they score, the result has only the problems that loading found.
        """
        problems = self._problems_before_scoring
        if problems is None:
            problems = tuple(self._problems)
        return Result(
            options=self.options,
            runs=tuple(runs),
            problems=problems,
            remarks=tuple(self.remarks),
            has_ldc_index=self._has_ldc_queries,
            origin=self._origin(),
            empty_folders=tuple([folder.name for folder in self._gold.empty_folders]),
        )

    @property
    def _has_ldc_queries(self) -> bool:
        """Whether the queries are entry points of LDC queries, so that there are tables of LDC-MAX and LDC-MEAN."""
        return bool(self._gold.query_set.ldc_id_by_query)

    def _origin(self) -> Origin:
        """Return the origin of the scores: the task, the options, and the files that were read.

        It also says if a run was scored separately from the other runs of its file.
        """
        are_runs_validated = self._gold.validates
        origin = origin_of(
            self.options, self._loaded_runs.digests, self._has_ldc_queries, are_runs_validated=are_runs_validated
        )
        if self._gold.only_run_id is not None:
            return origin.with_option(SCORED_SEPARATELY, True)
        return origin


def _has_match(units: Iterable[UnitResult], lines_by_unit: Mapping[str, Mapping[str, Sequence[Response]]]) -> bool:
    """Return whether at least one line of a run was matched to an assessment.

    `lines_by_unit` maps the id of each unit to its lines in the run, grouped by the id of their query.
    """
    for unit in units:
        for lines in lines_by_unit.get(unit.id, {}).values():
            # Only lines of this run are checked, because the unit also has assessments of lines of earlier runs.
            if any(line.index in unit.assessment_by_index for line in lines):
                return True
    return False


def score_runs(
    loaded_runs: Run, policy: Policy, problems: ProblemLog | None = None, results_to_reuse: Iterable[ScoredRun] = ()
) -> Result:
    """Score the runs of a call one after the other, in the order of their ids, and return the result of the call.

    `loaded_runs` contains the lines of all these runs. Problems are added to `problems` if it is given.
    `results_to_reuse` are results of the same lines under another policy or other limits, from which the assessments of
    responses are taken. Raises ScoringStopped if scoring fails; the exception contains the results that were computed
    before the error.
    """
    if problems is None:
        problems = loaded_runs.problems.copy()
    scorer = CallScorer(loaded_runs, policy, problems, results_to_reuse)
    results: list[ScoredRun] = []
    try:
        _check_loaded(loaded_runs)
        if not loaded_runs.run_ids:
            scorer.remarks.append(_remark_on_missing_run(loaded_runs))
        for run_id in loaded_runs.run_ids:
            # The result of the run is stored in `results` after each stage, so that it is available if a later stage
            # fails.
            scorer.score_by_stage(run_id, results)
    except InputError as error:
        raise ScoringStopped(error, scorer.result(results)) from None
    return scorer.result(results)


def _check_loaded(loaded_runs: Run) -> None:
    """Raise InputError if no line of the files was accepted, or if there are errors that prevent scoring.

    A pool without accepted lines is not an error in itself; the runs are then scored as unassessed.
    """
    has_files = bool(loaded_runs.layouts)  # files of size zero have no layout and only cause a warning
    has_lines = bool(loaded_runs.links.responses or loaded_runs.gold.links.assessments)
    has_pool = any(schema.kind is FileKind.ASSESSMENTS for schema in loaded_runs.layouts.values())
    has_only_refused_runs = has_files and not has_lines and not has_pool
    if has_only_refused_runs:
        problem = f"nothing was loaded: no line of {join_first(loaded_runs.layouts)} was accepted"
        raise InputError(problem, remedy="the problems reported say why")
    error_count = loaded_runs.problems.count(Severity.ERROR)
    # Editions that write the report before they score stop if it has errors.
    if loaded_runs.gold.query_set.edition.reports_before_scoring and error_count > 0:
        raise InputError(f"{error_count} error{'s' if error_count > 1 else ''} encountered")


def _remark_on_missing_run(loaded_runs: Run) -> str:
    """Return the remark that nothing was scored, which says why there is no run.

    Either no line of the run files was accepted, or none of the files is a run.
    """
    run_files = [name for name, layout in loaded_runs.layouts.items() if layout.kind is FileKind.RUN]
    if run_files:
        return f"nothing was scored: no line of {join_first(run_files)} was accepted"
    pool_in_brackets = f" ({join_first(loaded_runs.layouts)}: assessments)" if loaded_runs.layouts else ""
    return f"nothing was scored: none of the files is a run with lines{pool_in_brackets}; name the run, too"


def score_unit(unit: ScoringUnit, policy: Policy, is_ranked: bool = True) -> UnitResult:
    """Score a unit and return its result: the assessments and labels of its lines, its counts and its rankings.

    If `is_ranked` is False, there are no rankings. Errors are not raised but stored: an error in matching in the result
    of the unit, and an error in counting or ranking in the result of the query.
    """
    matching_result = unit.result_to_reuse  # from a scoring under another policy; the policy has no effect on matching
    if matching_result is None:
        matching_result = _match_unit(unit)
    if matching_result.matching_error is not None:
        return matching_result
    gold_of_queries = [unit.gold.gold_of_query(query, unit.run.links) for query in unit.queries]
    result_without_rankings = _count_unit(unit, matching_result, gold_of_queries, policy)
    if is_ranked and unit.gold.query_set.edition.has_rankings:
        return _rank_unit(unit, result_without_rankings, gold_of_queries)
    return result_without_rankings


def _match_unit(unit: ScoringUnit) -> UnitResult:
    """Match the lines of a unit to assessments, and return the result without labels and queries.

    The result has the assessments and the problems of matching, or the error that stopped it.
    """
    problems = ProblemLog()
    assessment_by_index: Mapping[int, Assessment] = {}
    error_of_matching = None
    try:
        assessment_by_index = _match_lines(unit, problems)
    except InputError as error:
        error_of_matching = error
    return UnitResult(
        id=unit.id,
        assessment_by_index=assessment_by_index,
        labels_by_index={},
        queries=(),
        problems=problems,
        matching_error=error_of_matching,
    )


def _count_unit(
    unit: ScoringUnit, matching_result: UnitResult, gold_of_queries: Sequence[QueryGold], policy: Policy
) -> UnitResult:
    """Label and count the lines of each query of a unit, and return the result of the unit without rankings.

    `matching_result` contains the assessments of the lines, and `gold_of_queries` the ground truth of each query. The
    result also contains the assessments and labels of lines of earlier runs, because the nodes of all runs are ranked
    together, as in the reference scorer.
    """
    labels_by_index: dict[int, Labels] = {}
    assessment_by_index = matching_result.assessment_by_index
    if unit.result_of_earlier_run is not None:
        labels_by_index.update(unit.result_of_earlier_run.labels_by_index)
        assessment_by_index = {**unit.result_of_earlier_run.assessment_by_index, **assessment_by_index}
    counting = Counting(
        matching_result.assessment_by_index,  # only lines of this run are counted
        policy,
        unit.run.limits.justifications_per_node,
        labels_by_index,  # `_count_query` adds the labels of this run
        unit.gold.query_set.edition,
    )
    query_results = tuple([_count_query(unit, gold, counting) for gold in gold_of_queries])
    return UnitResult(
        id=unit.id,
        assessment_by_index=assessment_by_index,
        labels_by_index=labels_by_index,
        queries=query_results,
        problems=matching_result.problems,
    )


def _rank_unit(
    unit: ScoringUnit, result_without_rankings: UnitResult, gold_of_queries: Sequence[QueryGold]
) -> UnitResult:
    """Return the result of a unit with the rankings of its queries.

    `gold_of_queries` has the ground truth of each query, in the order of the queries.
    """
    query_results = []
    for gold, query_result in zip(gold_of_queries, result_without_rankings.queries):
        if query_result.counting_error is None:
            query_results.append(_rank_query(unit, gold, result_without_rankings, query_result))
        else:
            query_results.append(query_result)
    return replace(result_without_rankings, queries=tuple(query_results))


def _match_lines(unit: ScoringUnit, problems: ProblemLog) -> Mapping[int, Assessment]:
    """Return the assessments of the lines of a unit by line index; lines without an assessment have no entry.

    Lines with several correct assessments are reported to `problems`. Raises InputError if the texts of answers must be
    compared but the query of an answer has no class.
    """
    links = unit.run.links
    discipline = unit.gold.options.discipline
    # The base id (`00fb79cef8`) belongs to the query of the first hop, and to all lines about its follow-on queries.
    base_ids = dict.fromkeys(query.base_id for query in unit.queries)
    assessment_by_index: dict[int, Assessment] = {}
    for base_id in base_ids:
        if base_id in unit.lines_by_query:
            judgement_by_value = unit.gold.judgements_by_value(base_id, links)
            lines = unit.lines_by_query[base_id]
            assessment_by_index |= judging.find_assessments(lines, judgement_by_value, links, discipline, problems)
    return assessment_by_index


def _count_query(unit: ScoringUnit, gold: QueryGold, counting: Counting) -> QueryResult:
    """Return the result of a query with the counts of its rows, or with the error that prevents counting.

    Each row counts the responses below one query or class. Rows of hops that are not scored for the query are left out.
    """
    query = gold.query
    if gold.tree is None:
        return QueryResult(query, problems=gold.problems, counting_error=gold.failure)
    tree = gold.tree.copy()  # classes that only the run has are added to the copy
    lines = unit.lines_by_query.get(query.base_id, ())
    try:
        responses_by_class = judging.place_responses(tree, lines, counting.assessment_by_index, unit.run.links)
    except InputError as error:
        return QueryResult(query, problems=gold.problems, counting_error=error)
    tallies = []
    for tally in counting.tally(tree, responses_by_class):
        row_name = tally.name  # the query, or the class of the first hop above the counted classes
        hop_limit = _hop_limit_of_row(row_name, unit, query)
        if tree.depth(row_name) <= hop_limit:
            tallies.append(tally)
    return QueryResult(query, tuple(tallies), problems=gold.problems)


def _hop_limit_of_row(row_name: str, unit: ScoringUnit, query: Query) -> int:
    """Return the highest hop whose rows are scored for the query in the name of a row.

    The row belongs to the results of `query`, which is nearly always the query in its name. However, a row may be named
    after a class of another query if assessments of `query` name that class. The result is 0 if the other query is not
    scored.
    """
    full_id = row_name.partition(":")[0]  # `CSX_ENG_00fb79cef8:1:2` -> `CSX_ENG_00fb79cef8`
    if full_id == query.full_id:
        return unit.hop_limit_by_id[query.short_id]  # limits are given by `00fb79cef8`
    parts = parse_query_id(full_id)
    if parts is None:
        return 0
    return unit.hop_limit_by_id.get(parts.base_id, 0)


def _rank_query(unit: ScoringUnit, gold: QueryGold, unit_result: UnitResult, query_result: QueryResult) -> QueryResult:
    """Return the result of a query with its rankings, or with the error that prevents ranking.

    There is one ranking of nodes for each level, that is, for each hop and for all hops together (`ALL`). The error
    occurs if the average precision of a ranking would be above 1. `unit_result` contains the assessments and labels of
    the lines of the unit, and `query_result` is the result of the query without rankings.
    """
    query = gold.query
    most_justifications = unit.run.limits.justifications_per_node
    ranker = Ranker(gold.classes, unit_result.assessment_by_index, unit_result.labels_by_index, most_justifications)
    rankings = ranker.rankings(query, unit.nodes.nodes_of_query(query.full_id))
    for ranking in rankings:
        if ranking.exceeds_ground_truth:  # the run gives more answers than can be found, which the task does not allow
            error = _error_of_score_above_one(ranking, unit.run.links.lines_by_node, most_justifications)
            return replace(query_result, ranking_error=error)
    return replace(query_result, rankings=_rankings_of_scored_hops(rankings, unit, gold))


def _rankings_of_scored_hops(rankings: Iterable[Ranking], unit: ScoringUnit, gold: QueryGold) -> tuple[Ranking, ...]:
    """Return the rankings of a query except those of hops that are not scored for it; `ALL` is always kept.

    Some editions keep the rankings of all hops.
    """
    if gold.classes.edition.ranks_all_levels:
        return tuple(rankings)
    hop_limit = unit.hop_limit_by_id[gold.query.short_id]
    return tuple([ranking for ranking in rankings if _is_scored_level(ranking.level, hop_limit)])


def _is_scored_level(level: str, hop_limit: int) -> bool:
    """Return whether a level is scored; `hop_limit` is the highest hop that is scored for the query."""
    is_always_scored = level in ("0", ALL_LEVELS)
    return is_always_scored or int(level) <= hop_limit


# ---- Runs that are scored separately

# A function that loads a run to be scored against gold, after the assessments in the given files.
LoadRun: TypeAlias = Callable[[ColdStartGold, "OneRun", Sequence[Input], ProblemLog], Run]


class OneRun(Record):
    """One run of a file that is scored separately; `shares_file` tells whether the file also contains other runs."""

    file: Input
    run_id: str
    shares_file: bool = False

    def restrict_gold(self, gold: ColdStartGold) -> ColdStartGold:
        """Return the gold for loading this run alone: if other runs share its file, their lines are not loaded."""
        if not self.shares_file:
            return gold
        return replace(gold, options=replace(gold.options, runids=(self.run_id,)), only_run_id=self.run_id)


def split_runs_and_assessments(
    files: Iterable[Input], knowledge_bases: Collection[Input] = ()
) -> tuple[list[Input], list[Input]]:
    """Return two lists: the run files among `files`, and the files with assessments.

    If a folder is given, all files in it are taken. `knowledge_bases` are files that are runs whatever they look like.
    Raises InputError for an empty file, and for a file that is neither a run nor assessments.
    """
    runs: list[Input] = []
    assessments: list[Input] = []
    for file_or_folder in files:
        for file in expand_folder(file_or_folder):
            if file in knowledge_bases or _is_run_file(file):
                runs.append(file)
            else:
                assessments.append(file)
    return runs, assessments


def _is_run_file(file: Input) -> bool:
    """Return whether a file is a run; otherwise it has assessments.

    Raises InputError for an empty file, and for a file of an unknown layout.
    """
    kind = kind_of(file)
    if kind is None:
        raise InputError("empty: neither a run nor assessments", file=name_of(file))
    return kind is FileKind.RUN


def runs_of(
    files: Iterable[Input], knowledge_bases: Collection[Input] = (), run_ids: Sequence[str] | None = None
) -> list[OneRun]:
    """Return the runs in run files, in the order of the files.

    If `run_ids` is given, only runs with these ids are returned, in the order of the ids. A file may hold several runs,
    and several files may hold a run with the same id. `knowledge_bases` are the files that hold a knowledge base, which
    is one run. Raises UsageError for an id that no file has.
    """
    runs: list[OneRun] = []
    for file in files:
        ids_in_file = _run_ids(file, is_knowledge_base=file in knowledge_bases)
        for run_id in ids_in_file:
            runs.append(OneRun(file, run_id, shares_file=len(ids_in_file) > 1))
    if run_ids is None:
        return runs
    return _choose_runs(runs, run_ids)


def _choose_runs(runs: Sequence[OneRun], run_ids: Iterable[str]) -> list[OneRun]:
    """Return the runs with one of these ids, in the order of the ids. Raises UsageError for an id that no run has."""
    all_ids = list(dict.fromkeys(run.run_id for run in runs))
    chosen_runs = []
    for run_id in run_ids:
        if run_id not in all_ids:
            raise UsageError(f"no run called {run_id}; there are {', '.join(all_ids)}{did_you_mean(run_id, all_ids)}")
        chosen_runs += [run for run in runs if run.run_id == run_id]
    return chosen_runs


_BLOCK_SIZE: Final = 1 << 16


def _run_ids(file: Input, *, is_knowledge_base: bool) -> list[str]:
    """Return the ids of the runs in a file, in the order of their first lines: `["RUN1", "RUN2"]`.

    In a run file, the id is in the third column; in a knowledge base, it is in the first line. A file without lines
    counts as one run with an empty id.
    """
    if is_knowledge_base:
        return [_first_line(file)]
    # Most files contain one run. Comparing the third columns shows this without reading the lines in detail.
    possible_ids = _possible_run_ids(file)
    if len(possible_ids) == 1:
        return [possible_ids.pop().decode("utf-8", "replace")]
    return _run_ids_of_lines(file)  # several ids, or `[""]` for a file without lines


def _first_line(file: Input) -> str:
    """Return the first line of a file without the white space around it.

    In a knowledge base this is the id of the run, such as `TIDE_KB`.
    """
    with open_source(file) as source:
        first_line = source.read_bytes().partition(b"\n")[0]
    return first_line.decode("utf-8", "replace").strip()


def _run_ids_of_lines(file: Input) -> list[str]:
    """Return the distinct run ids in the accepted lines of a run file, or one empty id if no line is accepted."""
    with open_source(file) as source:
        tab_file = read_tab_file(source, ProblemLog())
        if tab_file is None:
            return [""]
        run_ids: dict[str, None] = {}  # its keys are an ordered set
        for _, _, columns in tab_file.lines:
            run_ids[columns[2]] = None  # the third column of a run line is the run id
    return list(run_ids) or [""]


def _possible_run_ids(file: Input) -> set[bytes]:
    """Return the distinct texts in the third column of a run file, which holds the run ids: `{b"RUN1", b"RUN2"}`.

    The result may also contain texts from comments and from lines with too few columns.
    """
    possible_ids = set()
    with open_source(file) as source:
        for block in line_blocks(source, _BLOCK_SIZE):
            possible_ids |= _possible_run_ids_in(block.split(b"\n"))
    return possible_ids


def _possible_run_ids_in(lines: Iterable[bytes]) -> set[bytes]:
    """Return the distinct texts in the third column of the lines. In a run line, this column is the run id.

    Lines with three or fewer columns are skipped, because a run line has more.
    """
    possible_ids = set()
    for line in lines:
        columns = line.split(b"\t", 3)
        if len(columns) > 3:
            possible_ids.add(columns[2])
    return possible_ids


def load_separately(
    gold: ColdStartGold, run: OneRun, pool: Sequence[Input] = (), problems: ProblemLog | None = None
) -> Run:
    """Load one run with the assessments of `pool`, and return it without the lines of other runs in its file.

    `gold` has the queries, the options and, unless they are in `pool`, the assessments.
    """
    return load_run(run.restrict_gold(gold), [*pool, run.file], problems=problems)


def score_each(gold: ColdStartGold, runs: Sequence[OneRun], load: LoadRun = load_separately) -> list[Result]:
    """Score each of the runs separately, and return their results in the same order.

    `gold` has the queries and the assessments. Raises InputError for the first run that cannot be scored; the error
    names the file of the run.
    """
    with paused_garbage_collection():
        return [_score_one_run(gold, run, gold.problems.copy(), load) for run in runs]


def score_separately(
    gold: ColdStartGold,
    runs: Sequence[OneRun],
    problems: ProblemLog,
    load: LoadRun = load_separately,
    pool: Sequence[Input] = (),
) -> Result:
    """Score each of the runs separately, and return one result that holds the results of all of them.

    `pool` has the files with assessments, unless these are part of `gold`. Problems are added to `problems`, and `load`
    is called to load each run. Raises InputError for the first run that cannot be scored; the error names the file of
    the run.
    """
    results = [_score_one_run(gold, run, problems, load, pool) for run in runs]
    if len(results) == 1:
        return results[0]
    joined = replace(
        results[0], runs=_runs_with_origins(results), problems=tuple(problems), remarks=_distinct_remarks(results)
    )
    return _with_joint_origin(joined, runs, _inputs_of_all(results), are_runs_validated=gold.validates)


def _with_joint_origin(
    joined: Result, runs: Sequence[OneRun], inputs: list[InputDigest], *, are_runs_validated: bool
) -> Result:
    """Return the `joined` result of separately scored runs with a common origin, which has their options and inputs.

    `inputs` are the files that were read for the `runs`, which were scored with the same options. The origin also
    records that the runs were scored separately, because scoring them together gives different scores.
    """
    options = joined.options
    if any(run.shares_file for run in runs):
        # If a file contains several runs, the options name the chosen runs. The file was read once for each of its
        # runs, but the origin names it only once. Files with a single run were read once, so they are not repeated.
        options = replace(options, runids=tuple(run.run_id for run in runs))
        inputs = list(dict.fromkeys(inputs))
    origin = origin_of(options, inputs, joined.has_ldc_index, are_runs_validated=are_runs_validated)
    return replace(joined, options=options, origin=origin.with_option(SCORED_SEPARATELY, True))


def _runs_with_origins(results: Iterable[Result]) -> tuple[ScoredRun, ...]:
    """Return the only run of each result with its own origin, which differs from the origin of the combined result."""
    return tuple([replace(result.runs[0], origin=result.origin) for result in results])


def _distinct_remarks(results: Iterable[Result]) -> tuple[str, ...]:
    """Return the remarks of several results in their original order, without repetitions."""
    remarks: dict[str, None] = {}  # its keys are an ordered set
    for result in results:
        remarks |= dict.fromkeys(result.remarks)
    return tuple(remarks)


def _inputs_of_all(results: Sequence[Result]) -> list[InputDigest]:
    """Return the files that were read for several results: the queries and the pool once, and the file of each run."""
    inputs = list(results[0].origin.inputs)
    for result in results[1:]:
        inputs += [run_input for run_input in result.origin.inputs if run_input.role == RUN]
    return inputs


def _score_one_run(
    gold: ColdStartGold, one_run: OneRun, problems: ProblemLog, load: LoadRun, pool: Sequence[Input] = ()
) -> Result:
    """Load one run with `load`, score it, and return its result.

    Raises InputError if the run cannot be scored, or if it has no line. The error names the file of the run.
    """
    try:
        run = load(gold, one_run, pool, problems)
        result = score_runs(run, gold.options.policy, problems)
        _check_scored(result)
    except InputError as error:
        if error.file is None:
            error.file = name_of(one_run.file)
        raise
    return result


def _check_scored(result: Result) -> None:
    """Raise ScoringStopped, with this result, if the result has no run."""
    if not result.runs:
        raise ScoringStopped(InputError("no line that could be scored"), result)
