"""Cold Start runs in a batch: queries and pool are read once, and each run is scored as if it were the only one.
*Gold* is the queries and the pool (assessments of responses). A *policy* says which responses count as right; a batch
scores each run under one or several policies.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

from msgspec import UNSET

from cs_score.analysis.coldstart.scored import AnalysedRun
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import utf8_blocks
from cs_score.base.records import Record, field, replace
from cs_score.base.signature import QUERY_LIST, SAMPLES
from cs_score.base.slices import load_from_command_package
from cs_score.base.sources import Input, InputDigest, name_of
from cs_score.coldstart import output_files as outputs
from cs_score.coldstart.gold import ColdStartGold, Run, open_gold, with_pool
from cs_score.coldstart.linking import RUN_SUFFIX
from cs_score.coldstart.options import JustificationLimits, NamedPolicy, Options, origin_of, read_policies
from cs_score.coldstart.output_files import ColumnLayout
from cs_score.coldstart.result import Result, ScoredRun, ScoringStopped
from cs_score.coldstart.score_documents import json_text
from cs_score.coldstart.scorer import OneRun, runs_of, score_runs, score_separately
from cs_score.coldstart.unit_statistics import intervals, resampled_unit, summary_scores
from cs_score.measures import COLD_START_MODE, LDC_MEAN, Measure, headline_names, rankable_measures
from cs_score.preparation.conversion import PreparationSettings, prepare_inputs
from cs_score.preparation.prepared_runs import Preparation, PreparedRun, load_prepared
from cs_score.problems.codes import Severity
from cs_score.problems.log import NO_SOURCE, Occurrence, Place, Problem, ProblemLog, RecordingLog
from cs_score.statistics.results import ScoreIntervals
from cs_score.tasks import task_named
from cs_score.verbs.batch.batch_documents import OK, WITH_ERRORS, Outcome, ProblemPlace, RunOrigin, RunScores
from cs_score.verbs.batch.folder_layout import RESERVED_NAMES, page_name
from cs_score.verbs.batch.input_files import BatchRunFile, InputFile
from cs_score.verbs.batch.overview import (
    Evaluation,
    TargetIndex,
    collect_findings,
    index_targets,
    score_found_targets,
    unit_measure,
)
from cs_score.verbs.batch.plan import Plan, PreparedGold, RunFiles, ScoredInBatch, outcome_of


class ColdStartPlan(Plan, kw_only=True):
    """The queries, pool and options by which all runs of a batch are scored.

    `policies` has at least one entry. `layout` and `with_json` choose the files of a run. `switches` are the words that
    a call of the scorer would have beside the policy, `folder` is the working folder of the user; both are written into
    `.params`. `named_files` are the files that options name, by role. If the plan `validates`, each run is validated
    before it is scored. With `has_problem_details`, problems keep their details. `editions` has a plan for each other
    edition of the scorer that some of the runs follow, by the name of the edition.
    """

    task: str = COLD_START_MODE
    queries: tuple[InputFile, ...]
    pool: tuple[InputFile, ...]
    options: Options
    policies: tuple[NamedPolicy, ...]
    layout: ColumnLayout = ColumnLayout()
    with_json: bool = False
    switches: tuple[str, ...] = ()
    folder: str = ""
    named_files: Mapping[str, InputFile] = field(default_factory=dict)
    validates: bool = False
    has_problem_details: bool = False
    editions: Mapping[str, ColdStartPlan] = field(default_factory=dict)

    def prepare(self) -> PreparedColdStart:
        """Read the queries and the pool of this plan. Raises CsScoreError if that fails."""
        return PreparedColdStart(self)

    @property
    def inputs(self) -> Sequence[InputFile]:
        """The queries, the pool, and the files that options name."""
        return [*self.queries, *self.pool, *self.named_files.values()]

    def measures(self) -> list[str]:
        """Return the names of the measures that can rank runs under these options, the headline measure first."""
        measures = rankable_measures(
            self.task, has_ldc_queries=self.options.expand is not None, has_rankings=self.options.edition.has_rankings
        )
        return [str(measure) for measure in measures]

    def headline(self) -> Sequence[str]:
        """Return the names of the few measures that readable leaderboards show, the most important first."""
        has_ldc_queries = self.options.expand is not None
        return headline_names(self.task, has_ldc_queries)

    @property
    def policy_names(self) -> Sequence[str]:
        """The names of the policies, in order."""
        return [policy.name for policy in self.policies]

    @property
    def edition(self) -> str:
        """The name of the edition of the scorer by which runs are scored."""
        return self.options.edition.name


def cold_start_plan(
    queries: Iterable[Input], pool: Iterable[Input], options: Options, policies: Sequence[NamedPolicy], **choices: Any
) -> ColdStartPlan:
    """Return the plan of a batch that scores runs against queries and a pool, under each of the `policies`.

    `choices` are further fields of the plan, such as `validates`. Raises InputError if an input that can be read only
    once, such as a pipe, cannot be read.
    """
    return ColdStartPlan(
        queries=tuple([InputFile.of(file) for file in queries]),
        pool=tuple([InputFile.of(file) for file in pool]),
        options=options,
        policies=tuple(policies),
        folder=os.getcwd(),  # the file `.params` of each run names this working folder
        named_files=_files_named_by(options),
        **choices,
    )


def _files_named_by(options: Options) -> dict[str, InputFile]:
    """Return the files that options name, by their roles: a list of queries, and samples of a pool.

    Either option takes the name of a file or a list of ids. A list of ids names no file.
    """
    named_files = {}
    if options.queries is not None and os.path.isfile(options.queries):
        named_files[QUERY_LIST] = InputFile(options.queries)
    if options.samples is not None and os.path.isfile(options.samples):
        named_files[SAMPLES] = InputFile(options.samples)
    return named_files


def policies_of_batch(
    options: Options,
    policy_texts: dict[str, str],
    policy_name: str,
    further_policies: Sequence[str],
    option: str = "--also-policy",
) -> list[NamedPolicy]:
    """Return the policies under which a batch scores: the policy of `options`, followed by the further policies.

    `policy_texts` are the values of the switches IGNORE, RIGHT and WRONG as the user typed them. `policy_name` is the
    name of the policy of `options`; if there is no other policy, it stays without a name. `further_policies` are texts
    such as `"sf"` or `"x:right=CORRECT"`. `option` is the option or argument that gave them, for messages.

    Raises UsageError if a text is not a policy, if a name is already taken, or if a folder cannot have the name.
    """
    named_policies = read_policies(further_policies, options, policy_texts, option)
    first_name = policy_name if named_policies else ""
    for policy in named_policies:
        if policy.name in RESERVED_NAMES:
            raise UsageError(f"{option} {policy.name}: that is a file of every batch; choose another name")
        if policy.name == first_name:
            raise UsageError(f"{option} {first_name} is the policy in force already")
    first_policy = NamedPolicy(first_name, options.policy, options.justifications, policy_texts)
    return [first_policy, *named_policies]


class PreparedColdStart(PreparedGold):
    """Queries and pool as they were read. Each run is loaded on top of them; loading changes nothing in them. A run may
    follow another *edition* (version of the scorer's rules) than the batch, under which gold is read once more.
    """

    plan: ColdStartPlan

    def __init__(self, plan: ColdStartPlan) -> None:
        """Read the queries and the pool of a plan, and keep their digests and the problems in them.

        `log_of_queries` has only the problems of the queries. If the plan does not ask for details of problems,
        `problem_occurrences` remains empty. Raises CsScoreError if an input cannot be read.
        """
        self.plan = plan
        outputs.check_fields(plan.layout.fields)
        self.log_of_queries = RecordingLog() if plan.has_problem_details else ProblemLog()
        self.gold = _read_gold(plan, self.log_of_queries)
        self.digests = self.gold.digests
        # Only a log of this class keeps the details of each problem, for the report of --problems.
        if isinstance(self.gold.problems, RecordingLog):
            self.problem_occurrences = tuple(self.gold.problems.occurrences())
        self._policy_by_name = {policy.name: policy for policy in plan.policies}
        self._noun_for_unit = resampled_unit(self.gold.has_clusters)  # "query" or "LDC query"
        self._prepared_by_edition: dict[str, PreparedColdStart] = {}

    def hops_by_measure(self) -> Mapping[str, Sequence[str]]:
        """Return the hops for which each measure exists, by the name of the measure, the headline measure first.

        `{"SF-F1": ["0", "1"], ...}` says that `SF-F1@0` and `SF-F1@1` exist.
        """
        existing_measures = rankable_measures(
            COLD_START_MODE,
            has_ldc_queries=bool(self.gold.query_set.ldc_id_by_query),
            has_rankings=self.plan.options.edition.has_rankings,
        )
        last_hop = max(self.gold.hop_limit_by_id.values(), default=0)
        return {str(measure): _hops_of_measure(measure, last_hop) for measure in existing_measures}

    @cached_property
    def target_index(self) -> TargetIndex:
        """The equivalence classes of the ground truth, which runs should find."""
        return index_targets(self.gold)

    @property
    def evaluation(self) -> Evaluation:
        """The properties of gold that are needed for the tables over all runs.

        They include the targets, which are the equivalence classes that runs should find, and a function that returns
        the scores of a run that finds certain targets.
        """
        return Evaluation(
            task=COLD_START_MODE,
            unit=self._noun_for_unit,
            measure=str(unit_measure(self.gold)),
            targets=self.target_index.targets,
            union_scores=partial(score_found_targets, self.gold, self.target_index),
        )

    def origin(self, run: BatchRunFile, digest: InputDigest, policy: str) -> RunOrigin:
        """Return the inputs and options from which the scores and files of a run under a policy are made.

        `digest` is the digest of the file of the run.
        """
        prepared_gold = self._for_edition(run.edition)
        if prepared_gold is not self:  # the run follows another edition, whose gold and options are prepared separately
            return prepared_gold.origin(run, digest, policy)
        options = self._policy_by_name[policy].options(self.plan.options)
        has_ldc_index = bool(self.gold.query_set.ldc_id_by_query)
        inputs = [*self.digests, digest]
        origin_of_scores = origin_of(options, inputs, has_ldc_index, are_runs_validated=self.plan.validates)
        layout = self.plan.layout
        return self.origin_in_batch(
            origin_of_scores,
            unit=self._noun_for_unit,  # the settings of intervals name what is resampled: "query"
            policy=policy,
            fields=layout.fields,
            tabs=layout.is_tab_separated,
            json=self.plan.with_json,
        )

    def _for_edition(self, edition: str) -> PreparedColdStart:
        """Return gold as it is read under an edition of the scorer; an empty edition means that of the batch.

        Gold of another edition is read when the first run of that edition is scored.
        """
        if edition not in self.plan.editions:  # the plan lists all editions of runs except its own
            return self
        if edition not in self._prepared_by_edition:
            self._prepared_by_edition[edition] = self.plan.editions[edition].prepare()
        return self._prepared_by_edition[edition]

    def score(self, run: BatchRunFile, policies: Sequence[str]) -> Iterator[ScoredInBatch]:
        """Score a run under each of the policies called `policies`, and yield its outcome and its files under each.

        A run that cannot be scored has a failed outcome. The run is loaded once for all policies in a row that have the
        same limits on justifications, because loading it depends on these limits alone.
        """
        prepared_gold = self._for_edition(run.edition)
        named_policies = [prepared_gold._policy_by_name[name] for name in policies]
        for limits, policies_with_limits in itertools.groupby(named_policies, key=attrgetter("justifications")):
            yield from prepared_gold._score_under_limits(run, limits, list(policies_with_limits))

    def _score_under_limits(
        self, run: BatchRunFile, limits: JustificationLimits, policies: Sequence[NamedPolicy]
    ) -> Iterator[ScoredInBatch]:
        """Load a run under limits on justifications, and yield its outcome under each policy with these limits."""
        loaded_run = _LoadedRun(self, run, limits)
        try:
            loaded_run.load()
        except InputError as error:
            for policy in policies:
                # The log of the loaded run has the problems that were found before the error. No policy adds to it.
                attempt = _Attempt(self, run, policy, loaded_run.prepared_runs, loaded_run.log)
                yield attempt.outcome_when_stopped(error)
            return
        for policy in policies:
            # Scoring adds problems, so each policy needs its own log.
            attempt = _Attempt(self, run, policy, loaded_run.prepared_runs, loaded_run.new_log())
            yield attempt.score(loaded_run)


def _read_gold(plan: ColdStartPlan, log_of_queries: ProblemLog) -> ColdStartGold:
    """Open and read the query files and pool files of a plan, and return the gold.

    Problems of the queries are added to the log. Raises CsScoreError if a file cannot be read.
    """
    gold_without_pool = open_gold(
        [file.open() for file in plan.queries],
        plan.options,
        log_of_queries,
        file_by_role={role: file.open() for role, file in plan.named_files.items()},
        validates=plan.validates,
    )
    return with_pool(gold_without_pool, [file.open() for file in plan.pool])


def _hops_of_measure(measure: Measure, last_hop: int) -> list[str]:
    """Return the hops (steps of a query) for which a measure exists: `["0", "1", "2"]` if `last_hop` is 2.

    `last_hop` is the last hop of any query. Averages of the table LDC-MEAN exist for hops 0 and 1 only.
    """
    if measure.table == LDC_MEAN and measure.average:
        last_hop = min(last_hop, 1)
    return [str(hop) for hop in range(last_hop + 1)]


class _LoadedRun:
    """The file of a run, converted and validated if necessary, and loaded on top of gold (queries and assessments).

    The file may contain several runs, each with its own run id.

    `prepared_runs` says what conversion and validation did to each of them. `log` has the problems found until `load`
    returned or raised an error.
    """

    def __init__(self, prepared_gold: PreparedColdStart, run_file: BatchRunFile, limits: JustificationLimits) -> None:
        """Prepare to load `run_file`.

        `limits` say how many justifications of an answer (lines that support the answer) count.
        """
        self.prepared_runs: list[PreparedRun] = []
        # At first, the log has only the problems of the queries, as if the scorer were called for this file alone: such
        # a call prepares a run before it reads the pool.
        self.log: ProblemLog = prepared_gold.log_of_queries
        self._gold = prepared_gold.gold
        self._plan = prepared_gold.plan
        self._run_file = run_file
        self._limits = limits
        self._preparation = Preparation()
        self._runs_in_file: list[OneRun] = []
        # A single run is loaded by `load`. If there are several runs, each is loaded when it is scored.
        self._loaded_single_run: Run | None = None
        self._loaded_run_by_id: dict[str, Run] = {}

    def load(self) -> None:
        """Convert and validate the file if necessary, and load its run on top of gold.

        If the file has several runs, each is loaded when it is scored. The steps are in the same order as in a call of
        the scorer for this file alone. Therefore, if a step raises an error, `log` has the same problems as in that
        call. Raises InputError if the file cannot be prepared or loaded.
        """
        # 1. Convert and validate. Until now `log` has only the problems of the queries.
        self._preparation = prepare_inputs([self._run_file.file.open()], self._preparation_settings())
        # 2. The scorer would read the pool now. The batch has already read it once for all runs, so `log` only takes
        # over the problems of the pool and of the queries.
        self.log = self._gold.problems.copy()
        # 3. Load the run. Its problems are added to `log`.
        if not self._preparation.files:  # the run is a folder whose files were removed after the runs had been listed
            folder = self._run_file.file.name
            raise InputError(f"no file *{RUN_SUFFIX} in it", file=folder, remedy="name the files of the run")
        self._runs_in_file = _chosen_runs(self._preparation.files, self._plan.options.runids)
        has_several_runs = self._runs_in_file[0].shares_file
        if not has_several_runs:
            self._loaded_single_run = load_prepared(self._gold, self._preparation, self._limits, self.log)

    def _preparation_settings(self) -> PreparationSettings:
        """Return the settings with which the file is converted and validated."""
        return PreparationSettings(
            queries=self._gold.query_set,
            limits=self._limits,
            validates=self._plan.validates,
            new_log=type(self.log),  # the log for the problems of a prepared run has the same class
            on_prepared=self._on_prepared,
        )

    def _on_prepared(self, prepared_run: PreparedRun) -> None:
        """Keep the record of the conversion and validation of a run.

        Raises InputError if the run must not be scored.
        """
        self.prepared_runs.append(prepared_run)
        prepared_run.raise_for_errors()

    def new_log(self) -> ProblemLog:
        """Return a new log of problems with which the run is scored under one policy.

        It begins with the problems of gold. If the file has a single run, the problems of this run follow.
        """
        if self._loaded_single_run is not None:
            return self._loaded_single_run.problems.copy()
        return self._gold.problems.copy()

    def score(self, policy: NamedPolicy, log: ProblemLog) -> Result:
        """Return the result of each run of the file under a policy; the runs are scored independently.

        Problems are added to `log`. Raises InputError if a run cannot be loaded or scored.
        """
        options = policy.options(self._gold.options)
        if self._loaded_single_run is not None:
            return score_runs(self._loaded_single_run, options.policy, log)
        return score_separately(replace(self._gold, options=options), self._runs_in_file, log, self._load_one)

    def _load_one(self, gold: ColdStartGold, one_run: OneRun, pool: Sequence[Input], log: ProblemLog) -> Run:
        """Load one of several runs of the file on top of `gold`, and return it; problems are added to `log`.

        The run is also stored in `_loaded_run_by_id`. `pool` is passed by `score_separately`; it is not used here,
        because gold already has it. Raises InputError if the run cannot be loaded.
        """
        run = load_prepared(one_run.restrict_gold(gold), self._preparation, self._limits, log)
        self._loaded_run_by_id[one_run.run_id] = run
        return run

    def runs_of(self, result: Result) -> list[Run]:
        """Return the loaded run from which each scored run of a result was made."""
        if self._loaded_single_run is not None:
            # The result has one run, or none if no line could be scored.
            return [self._loaded_single_run] * len(result.runs)
        return [self._loaded_run_by_id[run.run_id] for run in result.runs]


def _chosen_runs(files: Sequence[Input], run_ids: Sequence[str] | None) -> list[OneRun]:
    """Return the runs in some files that have one of the `run_ids`, in the order of the ids.

    All runs are returned if `run_ids` is None. Raises InputError if no run has one of the ids.
    """
    runs = runs_of(files)
    if run_ids is None:
        return runs
    chosen_runs = []
    for run_id in run_ids:
        chosen_runs += [run for run in runs if run.run_id == run_id]
    if not chosen_runs:
        known_ids = ", ".join([run.run_id for run in runs])
        raise InputError(f"no run called {' or '.join(run_ids)}; there is {known_ids}", file=name_of(files[0]))
    return chosen_runs


# ---- The outcome of a run


class _Attempt(Record):
    """The scoring of a run under a policy, which may be complete or stopped by an error. Its *outcome* is the record
    of the run: state, scores of each run id, problems. The files of the run come with it.

    `prepared_gold` has gold and the options. `prepared_runs` tell what conversion and validation did to the runs of the
    file. `log` has the problems of scoring.
    """

    prepared_gold: PreparedColdStart
    run: BatchRunFile
    policy: NamedPolicy
    prepared_runs: list[PreparedRun]
    log: ProblemLog

    def score(self, loaded_run: _LoadedRun) -> ScoredInBatch:
        """Score the run, which was loaded, and return its outcome with its files; an error makes a failed outcome."""
        try:
            result = loaded_run.score(self.policy, self.log)
        except InputError as error:
            return self.outcome_when_stopped(error)
        return self._outcome_when_finished(result, loaded_run.runs_of(result))

    def _outcome_when_finished(self, result: Result, loaded_runs: Sequence[Run]) -> ScoredInBatch:
        """Return the outcome of a run that was scored completely, with the files that scoring it alone would write.

        `loaded_runs` has the loaded run of each scored run in `result`. If no line of a run could be scored, the run
        has failed; it still has files, because scoring it alone would write them, too.
        """
        resampling = self.prepared_gold.plan.resampling
        score_intervals = [] if resampling is None else list(intervals(result, resampling))
        files = self._contents_of_files(result, score_intervals, loaded_runs)
        if result.runs:
            return ScoredInBatch(self._outcome_of_scores(result, score_intervals), files)
        error = InputError("no line of it could be scored", file=self.run.file.name)
        failed_outcome = self._make_outcome(result.problems, error, remarks=self._remarks_on(result))
        return ScoredInBatch(failed_outcome, files)

    def outcome_when_stopped(self, error: InputError) -> ScoredInBatch:
        """Return the failed outcome of a run whose scoring was stopped by an error.

        The problems and files are the same as if the scorer had been called for this run alone.
        """
        partial_result: Result | None = None
        remarks: list[str] = []
        if isinstance(error, ScoringStopped):
            partial_result = error.partial_result
            remarks += partial_result.remarks  # warnings of the scorer are remarks of the outcome
        problems = list(self.log)
        outcome = self._make_outcome(problems, error, remarks=tuple(remarks))
        report = outputs.stopped_report(problems, error, self.prepared_gold.plan.options.edition)
        return ScoredInBatch(outcome, self._files_of_stopped(report, partial_result))

    # -- The outcome

    def _outcome_of_scores(self, result: Result, score_intervals: Sequence[ScoreIntervals]) -> Outcome:
        """Return the outcome of a run that has scores: what they were made from, and the scores of each run id.

        `score_intervals` are the intervals of the scores, one entry for each run id; empty if nothing is resampled.
        """
        digest_of_run = result.origin.inputs[-1]  # gold comes before it
        origin = self.prepared_gold.origin(self.run, digest_of_run, self.policy.name)
        return self._make_outcome(
            result.problems,
            state=WITH_ERRORS if result.error_count else OK,
            signature=str(origin.signature),
            origin=origin,
            runs=tuple(self._scores_of_runs(result, score_intervals)),
            remarks=self._remarks_on(result),
        )

    def _remarks_on(self, result: Result) -> tuple[str, ...]:
        """Return what conversion and validation did to the runs of the file, then the warnings of the scoring."""
        preparation_notes = [prepared_run.preparation_note for prepared_run in self.prepared_runs]
        return (*preparation_notes, *result.remarks)

    def _scores_of_runs(self, result: Result, score_intervals: Sequence[ScoreIntervals]) -> Iterator[RunScores]:
        """Yield the scores of each run id in the file, with their intervals, if any.

        They include the findings of the run: which answers were right, and which were wrong.
        """
        for position, run in enumerate(result.runs):
            measures = self._measures_to_record(run, score_intervals)
            findings = collect_findings(run, self.prepared_gold.target_index, measures)
            yield RunScores(
                run_id=run.run_id,
                scores=dict(run.scores),
                intervals=score_intervals[position] if score_intervals else UNSET,
                findings=findings,
                duplicates=run.duplicate_count,
                undefined=run.undefined or UNSET,
            )

    def _measures_to_record(self, run: ScoredRun, score_intervals: Sequence[ScoreIntervals]) -> list[Any]:
        """Return the measures whose statistics by unit are recorded with a run.

        If `score_intervals` is empty, nothing is resampled. In this case one measure is enough, namely the measure that
        tables show for each unit.
        """
        if score_intervals:
            return list(summary_scores(run))  # its keys are the measures of the summary
        return [unit_measure(self.prepared_gold.gold)]

    def _make_outcome(
        self, scoring_problems: Iterable[Problem], error: InputError | None = None, **fields: Any
    ) -> Outcome:
        """Return an outcome of the run with the problems of validation, followed by the problems of scoring.

        If there is an `error`, the run has failed and the error is the reason. `fields` are further fields of the
        outcome.
        """
        problems = self._problems_of_validation() + list(scoring_problems)
        count_by_severity = _count_by_severity(problems)
        return outcome_of(
            COLD_START_MODE,
            self.run,
            self.policy.name,
            failure=None if error is None else str(error),
            errors=count_by_severity[Severity.ERROR],
            warnings=count_by_severity[Severity.WARNING],
            problems=tuple(_problem_places(problems)),
            occurrences=self._occurrences_of_run_problems(error),
            **fields,
        )

    def _problems_of_validation(self) -> list[Problem]:
        """Return the problems that conversion and validation met in the runs of the file."""
        problems: list[Problem] = []
        for prepared_run in self.prepared_runs:
            problems += prepared_run.problems
        return problems

    def _occurrences_of_run_problems(self, error: InputError | None) -> tuple[Occurrence, ...] | None:
        """Return the problems of the run itself with their details, but without the problems of gold.

        They include the problems of validation and the `error` that ended the scoring. Returns None if details of
        problems are not kept in this batch.
        """
        # The log began as a copy of the problems of gold, so these can be left out again.
        problems_of_gold = self.prepared_gold.gold.problems
        if not isinstance(self.log, RecordingLog) or not isinstance(problems_of_gold, RecordingLog):
            return None
        log = self.log.copy()
        for prepared_run in self.prepared_runs:
            if isinstance(prepared_run.problems, RecordingLog):
                log.also_report(prepared_run.problems)
        if error is not None:
            log.fatal_errors.append(error)
        return tuple(log.occurrences_since(problems_of_gold, self.run.file.name))

    # -- The files

    def _contents_of_files(
        self, result: Result, score_intervals: Sequence[ScoreIntervals], loaded_runs: Sequence[Run]
    ) -> RunFiles:
        """Yield the name and the content of each file of a run that was scored to its end."""
        plan = self.prepared_gold.plan
        if plan.with_json:
            yield "out.json", utf8_blocks(json_text(result, score_intervals))
        yield from self._contents_of_tables(result, score_intervals)
        yield self._report_file(outputs.whole_report(result))
        yield from self._contents_of_pages(result, loaded_runs)

    def _files_of_stopped(self, report: str, partial_result: Result | None) -> RunFiles:
        """Yield the name and the content of each file of a run whose scoring ended with an error."""
        if partial_result is not None:
            yield from self._contents_of_tables(partial_result, was_stopped=True)
        yield self._report_file(report)

    def _contents_of_tables(
        self, result: Result, score_intervals: Sequence[ScoreIntervals] = (), *, was_stopped: bool = False
    ) -> RunFiles:
        """Yield the name and the content of each table of the scorer: `out.sf`, `out.debug`, `out.params` ...

        If the scoring `was_stopped` by an error, the tables have the scores that were computed before the error.
        """
        plan = self.prepared_gold.plan
        words = self._words_of_single_call()  # of the command line
        params = outputs.params_text_of_options(result.options, plan.switches, words, plan.folder, self.policy.texts)
        for ending, blocks in outputs.file_blocks(result, plan.layout, params, score_intervals, was_stopped):
            yield f"out.{ending}", blocks

    def _words_of_single_call(self) -> list[str]:
        """Return the words of a call of the scorer for this run alone, which `out.params` records.

        They are `-output_file out -error_file out.errlog`, then the files of queries, of the pool and of the run.
        """
        plan = self.prepared_gold.plan
        words = ["-output_file", "out", "-error_file", "out.errlog"]
        words += [file.name for file in plan.queries]
        words += [file.name for file in plan.pool]
        words.append(self.run.file.name)
        return words

    def _report_file(self, report: str) -> tuple[str, list[bytes]]:
        """Return the name and the content of the report of problems."""
        return "out.errlog", [outputs.report_bytes(report, self.prepared_gold.plan.options.edition)]

    def _contents_of_pages(self, result: Result, loaded_runs: Sequence[Run]) -> RunFiles:
        """Yield the name and the content of the page of each run id, if the batch makes pages.

        A run that cannot be analysed has no page.
        """
        if self.prepared_gold.plan.make_page is None:
            return
        run_count = len(result.runs)
        for position, (scored_run, loaded_run) in enumerate(zip(result.runs, loaded_runs)):
            analysed_run = self._run_to_analyse(scored_run, loaded_run, result_of_file=result)
            page = _page_of_run(analysed_run, self.prepared_gold.plan.make_page)
            if page is not None:
                yield page_name(position, run_count), utf8_blocks([page])

    def _run_to_analyse(self, scored_run: ScoredRun, loaded_run: Run, result_of_file: Result) -> AnalysedRun:
        """Return the record that analyses need of a run: its scores, and the lines from which they were computed.

        `loaded_run` has the lines, over gold. `result_of_file` is the result of the file of the run, which may have
        several runs.
        """
        return AnalysedRun(
            run=loaded_run,
            run_id=scored_run.run_id,
            policy=self.policy.policy,
            result=scored_run,
            stopping_error=None,
            origin=scored_run.origin or result_of_file.origin,
            signature=result_of_file.signature(scored_run),
        )


def _page_of_run(run: AnalysedRun, make_page: Callable[[Any], str]) -> str | None:
    """Return the page of a scored run as HTML, or None if the run cannot be analysed.

    `make_page` makes a page of an analysis.
    """
    # The module `cs_score.verbs.analyze.by_task` is imported only here, because most batches make no pages.
    analyze_result = load_from_command_package("analyze", "by_task:analyze_result", needed_by="the page of a run")
    try:
        return make_page(analyze_result(task_named(COLD_START_MODE), run))
    except InputError:
        return None


def _count_by_severity(problems: Iterable[Problem]) -> Counter[Severity]:
    """Return how often problems of each severity were met: `{Severity.ERROR: 2, Severity.WARNING: 7}`."""
    count_by_severity = Counter[Severity]()
    for problem in problems:
        count_by_severity[problem.severity] += problem.occurrences
    return count_by_severity


def _problem_places(problems: Iterable[Problem]) -> Iterator[ProblemPlace]:
    """Yield a record for each place at which each problem was met."""
    for problem in problems:
        for place in problem.places:
            yield _problem_place(problem, place)


def _problem_place(problem: Problem, place: Place | None) -> ProblemPlace:
    """Return the record of a problem at one place.

    File and line are empty if `place` is None. The file alone is empty if the place is in no file.
    """
    file = ""
    line = ""
    if place is not None:
        line = str(place.line)
        if place.file != NO_SOURCE:
            file = place.file
    return ProblemPlace(
        severity=str(problem.severity), code=problem.code, message=problem.message, file=file, line=line
    )
