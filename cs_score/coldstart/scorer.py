"""Scoring Cold Start runs: read, link, match, categorise, count, project, rank (specification 3 to 9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cs_score.coldstart.counting.counts import Counting, Tally
from cs_score.coldstart.counting.projection import (
    ALL_LEVELS,
    ScoreRow,
    Table,
    averaged_table,
    counted_row,
    in_printing_order,
    ldc_tables,
)
from cs_score.coldstart.judging.class_tree import ClassTree, place_responses, plant_tree
from cs_score.coldstart.judging.matching import AssessmentIndex, Matcher, assessments_by_query
from cs_score.coldstart.lines.records import Assessment, Response
from cs_score.coldstart.loading import Evaluation, load_files, note_folders, open_evaluation
from cs_score.coldstart.options import MANY, Options
from cs_score.coldstart.queries.predicates import find_predicate
from cs_score.coldstart.queries.query_set import Query, report_languages, report_slots
from cs_score.coldstart.ranking.average_precision import Ranking, rank_query
from cs_score.coldstart.ranking.classes import AssessedClasses
from cs_score.coldstart.ranking.nodes import Nodes
from cs_score.coldstart.ranking.tables import ApTable, averaged_ap_table, ldc_mean_ap, slot_filling_ap
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
from cs_score.coldstart.result import AveragePrecision, PrecisionRecall, Result, RunResult, ScoringStopped
from cs_score.foundation.errors import InputError
from cs_score.foundation.garbage_collection import paused_collector
from cs_score.foundation.signature import Signature
from cs_score.foundation.sources import Input


def score(queries: Iterable[Input], files: Iterable[Input], options: Options | None = None) -> Result:
    """Score Cold Start runs.

    `queries`: query files; `files`: assessments and runs, told apart by their first line, in an order in which parent
    lines come first. Files are paths or open files. Raises UsageError for impossible options, and ScoringStopped (an
    InputError) where scoring cannot go on; what had been computed by then is its `partial` result.
    """
    options = options or Options()
    options.check()
    with paused_collector():
        evaluation = open_evaluation(queries, options)
        given = list(files)
        note_folders(evaluation, given)
        load_files(evaluation, given)
        return score_loaded(evaluation)


def score_loaded(evaluation: Evaluation) -> Result:
    """Score the runs of an evaluation whose files are loaded. Raises ScoringStopped as `score` does."""
    scoring = Scoring(evaluation)
    runs: list[RunResult] = []
    try:
        check_lines(evaluation)
        scoring.check_runs()
        for run_id in scoring.run_ids:
            runs.append(scoring.precision_and_recall(run_id))
            scoring.check_something_scored(runs[-1])
            runs[-1] = scoring.with_average_precision(runs[-1])
            if evaluation.options.samples is not None:
                runs[-1] = scoring.with_bootstrap(runs[-1], evaluation.options.samples)
    except InputError as stop:
        raise ScoringStopped(stop, scoring.result(runs)) from None
    return scoring.result(runs)


def score_rows(tallies: Iterable[Tally]) -> list[ScoreRow]:
    """The rows of the SF table, in printing order."""
    return in_printing_order(counted_row(tally.name, tally.counts) for tally in tallies)


class Scoring:
    """The indexes that every run is scored with, and what the responses of all runs have met so far."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._options = evaluation.options
        self._linker = evaluation.linker
        self._problems = evaluation.problems
        by_id = evaluation.queries.by_id
        self._hop_limits: Mapping[str, int] = evaluation.hop_limits
        self._selected = [by_id[short_id] for short_id in sorted(self._hop_limits)]
        # Run -> base id of a query -> the responses to it and to those that follow from it, in load order.
        self._responses: dict[str, dict[str, list[Response]]] = defaultdict(lambda: defaultdict(list))
        for response in self._linker.responses:
            self._responses[response.run_id][response.query.base_id].append(response)
        index = evaluation.index
        is_current = index is not None and index.size == len(self._linker.assessments)
        self._shared = index if is_current else None
        """The index that other scorings use as well, where there is one."""
        self._assessments = (
            assessments_by_query(self._linker.assessments) if self._shared is None else self._shared.by_query
        )
        self._matcher: Matcher | None = None
        self._nodes = Nodes(evaluation.linker.nodes, self._options.justifications.most)
        count = len(self._linker.responses)
        self.matched: list[Assessment | None] = [None] * count
        self._counting = Counting(self.matched, self._options)
        self.labels = self._counting.labels
        self.run_ids = sorted(self._responses) if self._options.runids is None else list(self._options.runids)
        """The runs to score, in order: those asked for, else all that lines were loaded of."""
        self._has_resampled = False
        self._remarks = [
            *evaluation.remarks,
            *remarks_on_policy(self._options.policy),
            *remarks_on_runs(evaluation, self.run_ids),
        ]

    def check_runs(self) -> None:
        """Remark on the absence of any run; what is scored in shares has one."""
        if not self.run_ids:
            self._remark(remark_on_no_run(self._evaluation))

    def precision_and_recall(self, run_id: str) -> RunResult:
        """Match the responses of a run, count them class by class, and project the counts."""
        tallies = self.tallies(run_id)
        run = self.projected(run_id, averaged_table(score_rows(tallies)))
        tallies.sort(key=lambda tally: tally.name)
        return replace(run, tallies=tuple(tallies), matched=tuple(self.matched), labels=tuple(self.labels))

    def tallies(self, run_id: str) -> list[Tally]:
        """Match the responses of a run and count them class by class; in the order of the queries' full ids."""
        by_query = self._responses.get(run_id, {})
        for responses in by_query.values():
            self._match(responses)
        lines = sum(map(len, by_query.values()))
        self._remark(remark_on_matches(self._evaluation, run_id, lines, any(map(self.has_met, by_query.values()))))
        of_queries = sorted(
            (query.full_id, self._tally_query(query, by_query.get(query.base_id, ()))) for query in self._selected
        )
        return [tally for _, of_query in of_queries for tally in of_query]

    def projected(self, run_id: str, sf: Table) -> RunResult:
        """The tables of a run with this SF table."""
        queries = self._evaluation.queries
        tables = PrecisionRecall(sf, *(ldc_tables(sf, queries) if queries.ldc_of else (None, None)))
        listed = self._evaluation.ldc_ids
        unit_of = {
            query.full_id: queries.by_id[queries.ldc_of[query.short_id]].full_id
            if query.short_id in queries.ldc_of
            else listed.get(query.short_id, query.full_id)
            for query in self._selected
        }
        return RunResult(run_id, tables, unit_of=unit_of)

    def check_something_scored(self, run: RunResult) -> None:
        """Raises InputError where no query is scored, or none has a row to project to LDC queries (13.1)."""
        if not self._selected or (self._evaluation.queries.ldc_of and not run.tables.sf.rows):
            raise InputError(
                "nothing to score: "
                + ("no query was chosen" if not self._selected else f"run {run.run_id} has no row"),
                remedy="-queries must name queries of the query files, and run or assessments must answer them",
            )

    def with_average_precision(self, run: RunResult) -> RunResult:
        """The run with its rankings. Raises InputError where an average precision exceeds 1."""
        rankings = self.rankings()
        # The rows of the report bear the id of the first run line of the input.
        run_id = self._linker.responses[0].run_id if self._linker.responses else run.run_id
        averaged = self.averaged(run_id, averaged_ap_table(slot_filling_ap(rankings)))
        return replace(run, average_precision=replace(averaged, rankings=tuple(rankings)))

    def rankings(self) -> list[Ranking]:
        """The rankings of the levels that are scored, by query and level. Raises InputError where one exceeds 1."""
        of_queries = sorted((query.full_id, self._rank(query)) for query in self._selected)
        return [ranking for _, of_query in of_queries for ranking in of_query]

    def averaged(self, run_id: str, sf: ApTable) -> AveragePrecision:
        """The AP report with this SF table; `run_id` is the run that its rows name."""
        queries = self._evaluation.queries
        return AveragePrecision(run_id, sf, ldc_mean_ap(sf, queries) if queries.ldc_of else None)

    def with_bootstrap(self, run: RunResult, samples_file: str) -> RunResult:
        """The run with the scores of its resamples. Raises InputError without LDC queries to resample (11.1)."""
        from cs_score.coldstart.resampling.resampled_tables import bootstrap

        queries = self._evaluation.queries
        if not queries.ldc_of:
            raise InputError(
                "queryid undefined in QuerySet->get()",
                remedy="-samples resamples LDC queries: give the LDC query file and -expand",
            )
        sample_file = read_samples(samples_file)
        samples = sample_file.samples
        if not self._has_resampled:
            self._remarks += remarks_on_samples(samples_file, sample_file, queries)
            self._has_resampled = True
        resampled = replace(
            run, bootstrap=bootstrap(dict(run.tables.variants), samples, queries, self._options.metrics)
        )
        last = last_by_label(samples)
        if last is not None:
            self._narrow(last.one_entry_point())
        return resampled

    def _narrow(self, drawn: Mapping[str, int]) -> None:
        """Score later runs on the last sample's queries only, draws as hop limits: quirk 8, kept and warned of."""
        by_id = self._evaluation.queries.by_id
        self._selected = [by_id[short_id] for short_id in sorted(drawn) if short_id in by_id]
        self._hop_limits = dict(drawn)

    def result(self, runs: Sequence[RunResult]) -> Result:
        """What has been computed, with the problems and remarks so far."""
        evaluation = self._evaluation
        return Result(
            self._options,
            tuple(runs),
            tuple(self._problems),
            tuple(self._remarks),
            bool(evaluation.queries.ldc_of),
            Signature("coldstart", self._options.as_json(), tuple(evaluation.digests)),
        )

    def has_met(self, responses: Iterable[Response]) -> bool:
        """Whether any of the responses met an assessment."""
        return any(self.matched[response.index] is not None for response in responses)

    def _remark(self, remark: str | None) -> None:
        if remark is not None:
            self._remarks.append(remark)

    def _match(self, responses: Sequence[Response]) -> None:
        if self._matcher is None:  # made late: a run without responses needs none, and an index may be impossible
            index = self._shared or AssessmentIndex(self._linker, self._options.discipline)
            self._matcher = Matcher(self._linker, index, self._problems)
        match, matched = self._matcher.match, self.matched
        for response in responses:
            matched[response.index] = match(response)

    def _tally_query(self, query: Query, responses: Iterable[Response]) -> list[Tally]:
        """The counts of each inner node of one query's tree, down to the last hop that is scored."""
        tree = self._tree(query)
        members = place_responses(tree, responses, self.matched, self._linker)
        hop_limit = self._hop_limits[query.short_id]
        return [tally for tally in self._counting.tally(tree, members) if tree.depth(tally.name) <= hop_limit]

    def _tree(self, query: Query) -> ClassTree:
        """The tree of a query with its assessments; where nothing is to be reported it is planted once for all runs."""
        planted = None if self._shared is None else self._shared.trees.get(query.short_id)
        if planted is not None:
            return planted.branch()
        before = self._problems.total
        if self._evaluation.queries.was_expanded:  # the reference makes a copy of the query here, and one for AP
            report_languages(query, self._problems, times=2)
            report_slots(query, self._problems, times=2)
        tree = plant_tree(
            self._linker.root(query), self._assessments.get(query.base_id, ()), self._linker, self._problems
        )
        if self._shared is not None and self._problems.total == before:
            self._shared.trees[query.short_id] = tree.branch()
        return tree

    def _classes(self, query: Query) -> AssessedClasses:
        """What the assessments of a query say of its classes; found once for all runs."""
        if self._shared is None:
            return AssessedClasses(self._assessments.get(query.base_id, ()))
        classes = self._shared.classes.get(query.base_id)
        if classes is None:
            classes = self._shared.classes[query.base_id] = AssessedClasses(self._assessments.get(query.base_id, ()))
        return classes

    def _rank(self, query: Query) -> list[Ranking]:
        """The rankings of one query at the levels that are scored."""
        single = [None if predicate is None else predicate.single for predicate in map(find_predicate, query.slots)]
        rankings = rank_query(
            query, single, self._nodes, self._classes(query),
            self.matched, self.labels, self._options.justifications.most,
        )  # fmt: skip
        for ranking in rankings:
            if ranking.is_above_one:
                most = self._options.justifications.most
                raise above_one(
                    ranking,
                    self._linker.root(query),
                    self._linker.nodes,
                    MANY if most is None else str(most),
                )
        kept = {"0", ALL_LEVELS, *map(str, range(1, self._hop_limits[query.short_id] + 1))}
        return [ranking for ranking in rankings if ranking.level in kept]
