"""The Cold Start scorer in a batch: queries and pool are loaded and indexed once, each run starts from there."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from itertools import chain, groupby
from operator import attrgetter
from typing import Any

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.scored import Scored as Analysed
from cs_score.analysis.many.overview import Evaluation, ToFind, run_findings, to_find, union_scores, unit_measure
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import encoded
from cs_score.base.records import Record, field, replace
from cs_score.base.signature import QUERY_LIST, SAMPLES
from cs_score.base.sources import Input, InputDigest, name_of
from cs_score.batch.documents import OK, WITH_ERRORS, Outcome, ProblemPlace, RunOrigin, RunScores
from cs_score.batch.plan import RESERVED, InputFile, Plan, Prepared, RunFile, RunFiles, Scored, outcome_of, page_name
from cs_score.coldstart import outputs
from cs_score.coldstart.documents import json_text
from cs_score.coldstart.gold import Gold, Run, open_gold, with_pool
from cs_score.coldstart.linking import RUN_SUFFIX
from cs_score.coldstart.options import Justifications, NamedPolicy, Options, origin_of, read_policies
from cs_score.coldstart.outputs import Layout
from cs_score.coldstart.result import Result, ScoringStopped
from cs_score.coldstart.scorer import OneRun, runs_of, score_apart, score_runs
from cs_score.coldstart.unit_statistics import intervals, resampled_unit, summary_scores
from cs_score.measures.registry import COLD_START_MODE, LDC_MEAN, headline, rankable
from cs_score.preparation.inputs import PreparationSettings, prepare_inputs
from cs_score.preparation.runs import PreparedRun, load_prepared
from cs_score.problems.codes import Severity
from cs_score.problems.log import NO_PLACE, Problem, ProblemLog, RecordingLog
from cs_score.statistics.results import ScoreIntervals
from cs_score.tasks import task_named


class ColdStartPlan(Plan, kw_only=True):
    """Queries, pool and options of all runs, and the plans of runs that follow other editions, by edition.

    `policies` has one entry at least; `named` are the files that options name, by role. `layout` and `with_json` choose
    the files of a run; `switches` are the words of a call of the scorer beside the policy, `folder` is the working
    folder of the user, both for the `.params` file. With `validates` each run is validated in memory before it is
    scored; with `records` problems keep their details.
    """

    task: str = COLD_START_MODE
    queries: tuple[InputFile, ...]
    pool: tuple[InputFile, ...]
    options: Options
    policies: tuple[NamedPolicy, ...]
    layout: Layout = Layout()
    with_json: bool = False
    switches: tuple[str, ...] = ()
    folder: str = ""
    named: Mapping[str, InputFile] = field(default_factory=dict)
    validates: bool = False
    records: bool = False
    editions: Mapping[str, ColdStartPlan] = field(default_factory=dict)

    def prepare(self) -> PreparedColdStart:
        return PreparedColdStart(self)

    @property
    def inputs(self) -> Sequence[InputFile]:
        return (*self.queries, *self.pool, *self.named.values())

    def measures(self) -> list[str]:
        """Return the measures that the options allow, the headline measure first."""
        rankable_measures = rankable(
            self.task, with_ldc=self.options.expand is not None, has_rankings=self.options.edition.has_rankings
        )
        return [str(measure) for measure in rankable_measures]

    def headline(self) -> Sequence[str]:
        return headline(self.task, self.options.expand is not None)

    @property
    def policy_names(self) -> Sequence[str]:
        return [policy.name for policy in self.policies]

    @property
    def edition(self) -> str:
        return self.options.edition.name


def cold_start_plan(
    queries: Iterable[Input],
    pool: Iterable[Input],
    options: Options,
    texts: dict[str, str],
    policy: str,
    also: Sequence[str],
    *,
    option: str = "--also-policy",
    **choices: Any,
) -> ColdStartPlan:
    """The plan of runs under the policy of `options`, typed as `texts`, and those that the words `also` stand for.

    The former is called `policy` where there are others; messages call these by `option`. Raises UsageError for what is
    no policy or has a name that cannot be, InputError where what can be read only once cannot be read.
    """
    others = read_policies(also, options, texts, "--also-policy")
    name = policy if others else ""
    for each in others:
        if each.name in RESERVED:
            raise UsageError(f"--also-policy {each.name}: that is a file of every batch; choose another name")
        if each.name == name:
            raise UsageError(f"{option} {name} is the policy in force already")
    named = ((QUERY_LIST, options.queries), (SAMPLES, options.samples))  # these options take a list, too
    return ColdStartPlan(
        queries=tuple(map(InputFile.of, queries)),
        pool=tuple(map(InputFile.of, pool)),
        options=options,
        policies=(NamedPolicy(name, options.policy, options.justifications, texts), *others),
        folder=os.getcwd(),
        named={role: InputFile(value) for role, value in named if value is not None and os.path.isfile(value)},
        **choices,
    )


class PreparedColdStart(Prepared):
    """Queries and pool as loaded. Every run is laid over them."""

    plan: ColdStartPlan

    def __init__(self, plan: ColdStartPlan) -> None:
        self.plan = plan
        outputs.check_fields(plan.layout.fields)
        held = {role: given.open() for role, given in plan.named.items()}
        self.log_of_queries = RecordingLog() if plan.records else ProblemLog()
        queries = [given.open() for given in plan.queries]
        gold = open_gold(queries, plan.options, self.log_of_queries, file_by_role=held, validates=plan.validates)
        self.gold = gold = with_pool(gold, [given.open() for given in plan.pool])
        self.digests = gold.digests
        log = gold.problems
        self.occurrences = tuple(log.occurrences()) if isinstance(log, RecordingLog) else ()
        self._policies = {policy.name: policy for policy in plan.policies}
        self._unit = resampled_unit(gold.has_clusters)
        self._editions: dict[str, PreparedColdStart] = {}

    def measures(self) -> Mapping[str, Sequence[str]]:
        hops = [str(hop) for hop in range(max(self.gold.hop_limits.values(), default=0) + 1)]
        # LDC-MEAN has the classes of later hops in the row of the class above them.
        return {
            str(measure): hops[:2] if measure.table == LDC_MEAN and measure.average else hops
            for measure in rankable(
                COLD_START_MODE,
                with_ldc=bool(self.gold.table.ldc_of),
                has_rankings=self.plan.options.edition.has_rankings,
            )
        }

    @cached_property
    def sought(self) -> ToFind:
        return to_find(self.gold)

    @property
    def evaluation(self) -> Evaluation:
        union = partial(union_scores, self.gold, self.sought)
        return Evaluation(COLD_START_MODE, self._unit, str(unit_measure(self.gold)), self.sought.wanted, union)

    def origin(self, run: RunFile, digest: InputDigest, policy: str) -> RunOrigin:
        if (other := self._following(run)) is not self:
            return other.origin(run, digest, policy)
        layout, options = self.plan.layout, self._policies[policy].options(self.plan.options)
        has_ldc_index = bool(self.gold.table.ldc_of)
        origin = origin_of(options, (*self.digests, digest), has_ldc_index, validated=self.plan.validates)
        return self.run_origin(
            origin, self._unit, policy=policy, fields=layout.fields, tabs=layout.tabs, json=self.plan.with_json
        )

    def _following(self, run: RunFile) -> PreparedColdStart:
        """Gold as the edition reads it that a run follows."""
        if run.follow not in self.plan.editions:
            return self
        if run.follow not in self._editions:
            self._editions[run.follow] = self.plan.editions[run.follow].prepare()
        return self._editions[run.follow]

    def score(self, run: RunFile, policies: Sequence[str]) -> Iterator[Scored]:
        """The run under each policy. It is loaded once for all policies with the same limits on justifications."""
        gold = self._following(run)
        chosen = (gold._policies[name] for name in policies)
        for limits, group in groupby(chosen, key=attrgetter("justifications")):
            yield from gold._score_under(run, limits, list(group))

    def _score_under(self, run: RunFile, limits: Justifications, policies: Sequence[NamedPolicy]) -> Iterator[Scored]:
        made: list[PreparedRun] = []
        loaded: dict[str, Run] = {}
        attempt = partial(_Attempt, self, run, made)

        def met(one: PreparedRun) -> None:
            made.append(one)
            one.check()

        log = self.log_of_queries  # a single call has read nothing else when it prepares a run
        try:
            settings = PreparationSettings(
                queries=self.gold.table,
                limits=limits,
                validates=self.plan.validates,
                new_log=type(log),
                on_prepared=met,
            )
            prepared = prepare_inputs([run.file.open()], settings)
            log = self.gold.problems.branch()
            if not prepared.files:  # a folder that has been made since the runs were looked for
                raise InputError(f"no file *{RUN_SUFFIX} in it", file=run.file.name, remedy="name the files of the run")
            runs = self._chosen(prepared.files)
            alone = None if runs[0].is_shared else load_prepared(self.gold, prepared, limits, log)
        except InputError as error:
            for policy in policies:
                yield attempt(policy, log).stopped(error)
            return

        def load(gold: Gold, one: OneRun, pool: Sequence[Input], log: ProblemLog) -> Run:
            loaded[one.run_id] = load_prepared(one.over(gold), prepared, limits, log)
            return loaded[one.run_id]

        for policy in policies:
            options, log = policy.options(self.gold.options), (alone or self.gold).problems.branch()
            try:
                if alone is not None:
                    result = score_runs(alone, options.policy, log)
                else:
                    result = score_apart(replace(self.gold, options=options), runs, log, load)
            except InputError as error:
                yield attempt(policy, log).stopped(error)
            else:
                yield attempt(policy, log).whole(result, [alone or loaded[each.run_id] for each in result.runs])

    def _chosen(self, files: Sequence[Input]) -> list[OneRun]:
        """The runs of a file that -runids choose, in its order. Raises InputError where there are none."""
        runs, asked = runs_of(files), self.plan.options.runids
        chosen = runs if asked is None else [one for run_id in asked for one in runs if one.run_id == run_id]
        if not chosen:
            there = ", ".join(one.run_id for one in runs)
            raise InputError(f"no run called {' or '.join(asked or ())}; there is {there}", file=name_of(files[0]))
        return chosen


class _Attempt(Record):
    """A run that is scored under a policy: `made` is what became of its file before that, `log` what was met since."""

    prepared: PreparedColdStart
    run: RunFile
    made: list[PreparedRun]
    policy: NamedPolicy
    log: ProblemLog

    def whole(self, result: Result, loaded: Sequence[Run]) -> Scored:
        """What came of it, and the files of a call of the scorer for this run alone."""
        prepared, resampling = self.prepared, self.prepared.plan.resampling
        limits = () if resampling is None else intervals(result, resampling)
        of_runs: Sequence[ScoreIntervals | UnsetType] = limits or [UNSET] * len(result.runs)
        runs = []
        for each, of_run in zip(result.runs, of_runs):
            # Statistics of all measures are needed for resampling only.
            measures = list(summary_scores(each)) if of_run else [unit_measure(prepared.gold)]
            found = run_findings(each, prepared.sought, measures)
            runs.append(
                RunScores(
                    run_id=each.run_id,
                    scores=dict(each.scores),
                    intervals=of_run,
                    findings=found,
                    duplicates=each.duplicates,
                    undefined=each.undefined or UNSET,
                )
            )
        origin = prepared.origin(self.run, result.origin.inputs[-1], self.policy.name)
        remarks = (*(one.account for one in self.made), *result.warnings)
        if not result.runs:  # the files are those of a single call, which is content with an empty run
            error = InputError("no line of it could be scored", file=self.run.file.name)
            outcome = self._outcome(result.problems, error, remarks=remarks)
        else:
            outcome = self._outcome(
                result.problems,
                state=WITH_ERRORS if result.error_count else OK,
                signature=str(origin.signature),
                origin=origin,
                runs=tuple(runs),
                remarks=remarks,
            )
        files = self._files(outputs.whole_report(result), result, limits)
        return Scored(outcome, chain(files, self._pages(result, loaded)))

    def stopped(self, error: InputError) -> Scored:
        """A run that could not be scored to its end, with the files that a single call leaves of it.

        The log has the problems that the single call would have met until then.
        """
        problems, partial = list(self.log), error.partial if isinstance(error, ScoringStopped) else None
        report = outputs.stopped_report(problems, error, self.prepared.plan.options.edition)
        outcome = self._outcome(problems, error, remarks=tuple(partial.warnings) if partial is not None else ())
        return Scored(outcome, self._files(report, partial, was_stopped=True))

    def _outcome(self, of_scorer: Iterable[Problem], error: InputError | None = None, **found: Any) -> Outcome:
        """Its problems are those that validation has found, then those of the scorer.

        With details they are what was met beyond what all runs share, what validation found, and the `error`.
        """
        problems = [*chain.from_iterable(one.problems for one in self.made), *of_scorer]
        times = Counter[Severity]()
        for problem in problems:
            times[problem.severity] += problem.occurrences
        occurrences, shared = None, self.prepared.gold.problems
        if isinstance(self.log, RecordingLog) and isinstance(shared, RecordingLog):
            noted = self.log.branch()
            for one in self.made:
                if isinstance(one.problems, RecordingLog):
                    noted.also_report(one.problems)
            noted.fatal += [] if error is None else [error]
            occurrences = tuple(noted.noted_since(shared, self.run.file.name))
        places = tuple(
            ProblemPlace(
                str(problem.severity),
                problem.code,
                problem.message,
                "" if place is None or place.file == NO_PLACE else place.file,
                "" if place is None else str(place.line),
            )
            for problem in problems
            for place in problem.places
        )
        return outcome_of(
            COLD_START_MODE, self.run, self.policy.name, failure=None if error is None else str(error),
            errors=times[Severity.ERROR], warnings=times[Severity.WARNING], problems=places, occurrences=occurrences,
            **found,
        )  # fmt: skip

    def _files(
        self, report: str, result: Result | None, limits: Sequence[ScoreIntervals] = (), was_stopped: bool = False
    ) -> RunFiles:
        """The files of a call, whatever the run is called; `report` is its `.errlog`."""
        plan = self.prepared.plan
        if result is not None:
            if plan.with_json and not was_stopped:
                yield "out.json", encoded(json_text(result, limits))
            files = (given.name for given in (*plan.queries, *plan.pool, self.run.file))
            rest = ("-output_file", "out", "-error_file", "out.errlog", *files)
            params = outputs.params_of(result.options, plan.switches, rest, plan.folder, self.policy.texts)
            for ending, blocks in outputs.file_blocks(result, plan.layout, params, limits, was_stopped):
                yield f"out.{ending}", blocks
        yield "out.errlog", [outputs.doubly_encoded(report, plan.options.edition)]

    def _pages(self, result: Result, loaded: Sequence[Run]) -> RunFiles:
        """The page of each run id, where pages are wanted; none of one that cannot be analysed."""
        if (page := self.prepared.plan.page) is None:
            return
        task = task_named(COLD_START_MODE)
        for at, (run, lines) in enumerate(zip(result.runs, loaded)):
            origin, signature = run.origin or result.origin, result.signature(run)
            scored = Analysed(lines, run.run_id, self.policy.policy, run, None, origin, signature)
            with suppress(InputError):
                yield page_name(at, len(result.runs)), encoded([page(task.analyze(scored))])
