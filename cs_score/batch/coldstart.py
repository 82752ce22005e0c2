"""The Cold Start scorer in a batch: queries and pool are loaded and indexed once, each run starts from there."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from itertools import chain, groupby
from operator import attrgetter
from typing import Any, Final

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.scored import Scored as Analysed
from cs_score.analysis.many.overview import Evaluation, ToFind, run_findings, to_find, union_scores, unit_measure
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import encoded
from cs_score.base.records import field, replace
from cs_score.base.signature import QUERY_LIST, SAMPLES
from cs_score.base.sources import Input, InputDigest, name_of
from cs_score.batch.documents import OK, WITH_ERRORS, Outcome, ProblemPlace, RunOrigin, RunScores
from cs_score.batch.plan import RESERVED, InputFile, Plan, Prepared, RunFile, RunFiles, Scored, outcome_of, page_name
from cs_score.coldstart import outputs
from cs_score.coldstart.documents import json_text
from cs_score.coldstart.gold import Gold, Run, open_gold, with_pool
from cs_score.coldstart.options import Justifications, NamedPolicy, Options, origin_of, read_policies
from cs_score.coldstart.outputs import Layout
from cs_score.coldstart.result import Result, ScoringStopped
from cs_score.coldstart.scorer import OneRun, runs_of, score_apart, score_runs
from cs_score.coldstart.unit_statistics import intervals, resampled_unit, summary_scores
from cs_score.knowledge_base.validation import prepared_files
from cs_score.measures.registry import COLD_START_MODE, LDC_MEAN, rankable
from cs_score.preparation.runs import PreparedRun, load_prepared
from cs_score.problems.codes import Severity
from cs_score.problems.log import NO_PLACE, Problem, ProblemLog, RecordingLog
from cs_score.statistics.results import ScoreIntervals
from cs_score.tasks import task_named

PREFIX: Final = "out"
"""Files of a run are called `out.sf`, `out.summary` and so on, whatever the run is called."""


class ColdStartPlan(Plan, kw_only=True):
    """Queries, pool and options of all runs, and the plans of runs that follow other editions, by edition.

    `policies` has one entry at least. `layout` and `with_json` choose the files of a run; `switches` are the words of a
    call of the scorer beside the policy, `folder` is the working folder of the user, both for the `.params` file. With
    `validates` each run is validated in memory before it is scored; with `records` problems keep their details.
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
    query_list: InputFile | None = None
    samples: InputFile | None = None
    validates: bool = False
    records: bool = False
    editions: Mapping[str, ColdStartPlan] = field(default_factory=dict)

    def prepare(self) -> PreparedColdStart:
        return PreparedColdStart(self)

    @property
    def inputs(self) -> Sequence[InputFile]:
        return [file for file in (*self.queries, *self.pool, self.query_list, self.samples) if file is not None]

    @property
    def has_ldc_queries(self) -> bool:
        return self.options.expand is not None

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
    **others: Any,
) -> ColdStartPlan:
    """The plan of runs under the policy of `options`, typed as `texts`, and those that the words `also` stand for.

    The former is called `policy` where there are others; messages call these by `option`. Raises UsageError for what is
    no policy or has a name that cannot be, InputError where what can be read only once cannot be read.
    """
    named = read_policies(also, options, texts, "--also-policy")
    name = policy if named else ""
    for each in named:
        if each.name in RESERVED:
            raise UsageError(f"--also-policy {each.name}: that is a file of every batch; choose another name")
        if each.name == name:
            raise UsageError(f"{option} {name} is the policy in force already")
    query_list, samples = (  # these options take a list, too
        InputFile(value) if value is not None and os.path.isfile(value) else None
        for value in (options.queries, options.samples)
    )
    return ColdStartPlan(
        queries=tuple(map(InputFile.of, queries)),
        pool=tuple(map(InputFile.of, pool)),
        options=options,
        policies=(NamedPolicy(name, options.policy, options.justifications, texts), *named),
        folder=os.getcwd(),
        query_list=query_list,
        samples=samples,
        **others,
    )


class PreparedColdStart(Prepared):
    """Queries and pool as loaded. Every run is laid over them."""

    plan: ColdStartPlan

    def __init__(self, plan: ColdStartPlan) -> None:
        self.plan = plan
        outputs.check_fields(plan.layout.fields)
        located = {QUERY_LIST: plan.query_list, SAMPLES: plan.samples}
        held = {role: given.open() for role, given in located.items() if given is not None}
        self.log_of_queries = RecordingLog() if plan.records else ProblemLog()
        queries = [given.open() for given in plan.queries]
        gold = open_gold(queries, plan.options, self.log_of_queries, held=held, validates=plan.validates)
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
            for measure in rankable(COLD_START_MODE, bool(self.gold.table.ldc_of))
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
            yield from _Scoring(gold, run).under(limits, list(group))


class _Scoring:
    """A run over gold that is prepared; what was made of its file, and met there, before it is scored."""

    def __init__(self, prepared: PreparedColdStart, run: RunFile) -> None:
        self._prepared, self._plan, self._gold, self._run = prepared, prepared.plan, prepared.gold, run
        self._made: list[PreparedRun] = []

    def under(self, limits: Justifications, policies: Sequence[NamedPolicy]) -> Iterator[Scored]:
        """The run under policies with these limits on justifications."""
        gold, plan, loaded = self._gold, self._plan, dict[str, Run]()
        log = self._prepared.log_of_queries  # a single call has read nothing else when it prepares a run
        try:
            files = [self._run.file.open()]
            prepared = prepared_files(
                files, gold.table, limits, validate=plan.validates, new_log=type(log), made=self._made
            )
            log = gold.problems.branch()
            runs = self._chosen(prepared.files)
            alone = None if runs[0].is_shared else load_prepared(gold, prepared, limits, log)
        except InputError as error:
            for policy in policies:
                yield self._stopped(policy, log, error)
            return

        def load(gold: Gold, one: OneRun, pool: Sequence[Input], log: ProblemLog) -> Run:
            loaded[one.run_id] = load_prepared(one.over(gold), prepared, limits, log)
            return loaded[one.run_id]

        for policy in policies:
            options = policy.options(gold.options)
            log = (alone or gold).problems.branch()
            try:
                if alone is not None:
                    result = score_runs(alone, options.policy, log)
                else:
                    result = score_apart(replace(gold, options=options), runs, log, load)
            except InputError as error:
                yield self._stopped(policy, log, error)
            else:
                yield self._whole(policy, log, result, [alone or loaded[each.run_id] for each in result.runs])

    def _chosen(self, files: Sequence[Input]) -> list[OneRun]:
        """The runs of a file that -runids choose, in its order. Raises InputError where there are none."""
        runs, asked = runs_of(files), self._plan.options.runids
        chosen = runs if asked is None else [one for run_id in asked for one in runs if one.run_id == run_id]
        if not chosen:
            there = ", ".join(one.run_id for one in runs)
            raise InputError(f"no run called {' or '.join(asked or ())}; there is {there}", file=name_of(files[0]))
        return chosen

    def _whole(self, policy: NamedPolicy, log: ProblemLog, result: Result, loaded: Sequence[Run]) -> Scored:
        prepared, resampling = self._prepared, self._plan.resampling
        limits = () if resampling is None else intervals(result, resampling)
        of_runs: Sequence[ScoreIntervals | UnsetType] = limits or [UNSET] * len(result.runs)
        runs = []
        for each, of_run in zip(result.runs, of_runs):
            # Statistics of all measures are needed for resampling only.
            measures = list(summary_scores(each)) if of_run else [unit_measure(self._gold)]
            found = run_findings(each, prepared.sought, measures)
            runs.append(RunScores(each.run_id, dict(each.scores), of_run, found, each.duplicates))
        origin = prepared.origin(self._run, result.origin.inputs[-1], policy.name)
        outcome = self._outcome(
            policy,
            log,
            result.problems,
            state=WITH_ERRORS if result.error_count else OK,
            signature=str(origin.signature),
            origin=origin,
            runs=tuple(runs),
            remarks=(*(one.account for one in self._made), *result.warnings),
        )
        files = self._files(policy, outputs.whole_report(result), result, limits)
        return Scored(outcome, chain(files, self._pages(loaded, policy, result)))

    def _stopped(self, policy: NamedPolicy, log: ProblemLog, error: InputError) -> Scored:
        """A run that could not be scored to its end, with the files that a single call leaves of it.

        `log` has the problems that the single call would have met until then.
        """
        problems, partial = list(log), error.partial if isinstance(error, ScoringStopped) else None
        remarks = () if partial is None else tuple(partial.warnings)
        report = outputs.stopped_report(problems, error, self._plan.options.edition)
        outcome = self._outcome(policy, log, problems, error, remarks=remarks)
        return Scored(outcome, self._files(policy, report, partial, was_stopped=True))

    def _outcome(
        self,
        policy: NamedPolicy,
        log: ProblemLog,
        of_scorer: Iterable[Problem],
        error: InputError | None = None,
        **found: Any,
    ) -> Outcome:
        """What became of the run, with its problems: those that validation has found, then those of the scorer.

        With details they are what `log` holds beyond what all runs share, what validation found, and the `error`.
        """
        problems = [*chain.from_iterable(one.problems for one in self._made), *of_scorer]
        times = Counter[Severity]()
        for problem in problems:
            times[problem.severity] += problem.occurrences
        occurrences, shared = None, self._gold.problems
        if isinstance(log, RecordingLog) and isinstance(shared, RecordingLog):
            noted = log.branch()
            for one in self._made:
                if isinstance(one.problems, RecordingLog):
                    noted.also_report(one.problems)
            if error is not None:
                noted.fatal.append(error)
            occurrences = tuple(noted.noted_since(shared, self._run.file.name))
        return outcome_of(
            COLD_START_MODE,
            self._run,
            policy.name,
            failure=None if error is None else str(error),
            errors=times[Severity.ERROR],
            warnings=times[Severity.WARNING],
            problems=tuple(
                ProblemPlace(
                    str(problem.severity),
                    problem.code,
                    problem.message,
                    "" if place is None or place.file == NO_PLACE else place.file,
                    "" if place is None else str(place.line),
                )
                for problem in problems
                for place in problem.places
            ),
            occurrences=occurrences,
            **found,
        )

    def _files(
        self,
        policy: NamedPolicy,
        report: str,
        result: Result | None,
        intervals: Sequence[ScoreIntervals] = (),
        *,
        was_stopped: bool = False,
    ) -> RunFiles:
        """The files of a call of the scorer for this run alone; `report` is its `.errlog`."""
        plan = self._plan
        if result is not None:
            if plan.with_json and not was_stopped:
                yield f"{PREFIX}.json", encoded(json_text(result, intervals))
            files = (given.name for given in (*plan.queries, *plan.pool, self._run.file))
            rest = ("-output_file", PREFIX, "-error_file", f"{PREFIX}.errlog", *files)
            params = outputs.params_of(result.options, plan.switches, rest, plan.folder, policy.texts)
            for ending, blocks in outputs.file_blocks(result, plan.layout, params, intervals, was_stopped):
                yield f"{PREFIX}.{ending}", blocks
        yield f"{PREFIX}.errlog", [outputs.doubly_encoded(report, plan.options.edition)]

    def _pages(self, loaded: Sequence[Run], policy: NamedPolicy, result: Result) -> RunFiles:
        """The page of each run id, where pages are wanted; none of one that cannot be analysed."""
        if (page := self._plan.page) is None:
            return
        task = task_named(COLD_START_MODE)
        for at, (run, lines) in enumerate(zip(result.runs, loaded)):
            origin, signature = run.origin or result.origin, result.signature(run)
            scored = Analysed(lines, run.run_id, policy.policy, run, None, origin, signature)
            with suppress(InputError):
                yield page_name(at, len(result.runs)), encoded([page(task.analyze(scored))])
