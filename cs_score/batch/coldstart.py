"""The Cold Start scorer in a batch: queries and pool are loaded and indexed once, each run starts from there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from itertools import chain, groupby
from typing import Final

from msgspec import UNSET

from cs_score.analysis.coldstart.scored import Scored as Analysed
from cs_score.analysis.many.overview import Evaluation, ToFind, run_findings, to_find, union_scores, unit_measure
from cs_score.analysis.outcomes import as_builtins
from cs_score.base.errors import InputError
from cs_score.base.outputs import encoded
from cs_score.base.records import field, replace
from cs_score.base.signature import QUERY_LIST, SAMPLES
from cs_score.base.sources import Input, InputDigest, name_of
from cs_score.batch.documents import FAILED, OK, WITH_ERRORS, Outcome, ProblemPlace, RunOrigin, RunScores
from cs_score.batch.plan import Plan, Prepared, Scored, page_name
from cs_score.batch.runs import InputFile, RunFile
from cs_score.coldstart.documents import json_text
from cs_score.coldstart.gold import Gold, Run, open_gold, with_pool
from cs_score.coldstart.options import NamedPolicy, Options, origin_of
from cs_score.coldstart.outputs import (
    Layout,
    check_fields,
    doubly_encoded,
    file_blocks,
    params_of,
    stopped_report,
    whole_report,
)
from cs_score.coldstart.result import Result, ScoringStopped
from cs_score.coldstart.scorer import score_runs
from cs_score.coldstart.several import OneRun, runs_of, score_apart
from cs_score.coldstart.unit_statistics import intervals, resampled_unit, summary_scores
from cs_score.knowledge_base.validation import resolve_knowledge_bases
from cs_score.measures.registry import COLD_START_MODE, LDC_MEAN, rankable
from cs_score.preparation.prevalidation import Preparation, PreparedRun, load_prepared, validate_runs
from cs_score.problems.codes import Severity
from cs_score.problems.log import NO_PLACE, Occurrence, Problem, ProblemLog, RecordingLog
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
        """Load and index queries and pool. Raises CsScoreError where no run can be scored against them."""
        return PreparedColdStart(self)

    @property
    def has_ldc_queries(self) -> bool:
        return self.options.expand is not None

    def policy_names(self) -> Sequence[str]:
        return [policy.name for policy in self.policies]

    def edition_of(self, run: RunFile) -> str:
        return run.follow or self.options.edition.name


class PreparedColdStart(Prepared):
    """Queries and pool as loaded. Every run is laid over them."""

    plan: ColdStartPlan

    def __init__(self, plan: ColdStartPlan) -> None:
        super().__init__(plan)
        check_fields(plan.layout.fields)
        located = {QUERY_LIST: plan.query_list, SAMPLES: plan.samples}
        paths = {role: given.on_disk() for role, given in located.items() if given is not None}
        self._of_queries = RecordingLog() if plan.records else ProblemLog()
        queries = [given.open() for given in plan.queries]
        gold = open_gold(queries, plan.options, self._of_queries, paths=paths, validates=plan.validates)
        self._gold = gold = with_pool(gold, [given.open() for given in plan.pool])
        self.digests = gold.digests
        log = gold.problems
        self.occurrences: Sequence[Occurrence] = tuple(log.occurrences()) if isinstance(log, RecordingLog) else ()
        self._policies = {policy.name: policy for policy in plan.policies}
        self._unit = resampled_unit(gold.has_clusters)
        self._editions: dict[str, PreparedColdStart] = {}

    def measures(self) -> Mapping[str, Sequence[str]]:
        hops = [str(hop) for hop in range(max(self._gold.hop_limits.values(), default=0) + 1)]
        # LDC-MEAN has the classes of later hops in the row of the class above them.
        return {
            str(measure): hops[:2] if measure.table == LDC_MEAN and measure.average else hops
            for measure in rankable(COLD_START_MODE, bool(self._gold.table.ldc_of))
        }

    @cached_property
    def _sought(self) -> ToFind:
        return to_find(self._gold)

    @property
    def evaluation(self) -> Evaluation:
        union = partial(union_scores, self._gold, self._sought)
        return Evaluation(COLD_START_MODE, self._unit, str(unit_measure(self._gold)), self._sought.wanted, union)

    def origin(self, run: RunFile, digest: InputDigest, policy: str) -> RunOrigin:
        if (other := self._following(run)) is not self:
            return other.origin(run, digest, policy)
        layout, options = self.plan.layout, self._policies[policy].options(self.plan.options)
        has_ldc_index = bool(self._gold.table.ldc_of)
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
        chosen = [gold._policies[name] for name in policies]
        for _, group in groupby(chosen, key=lambda policy: policy.justifications):
            yield from gold._score_group(run, list(group))

    def _score_group(self, run: RunFile, policies: Sequence[NamedPolicy]) -> Iterator[Scored]:
        limits = policies[0].options(self._gold.options).justifications
        prepared = Preparation([run.file.open()])
        log = self._of_queries  # a single call has read nothing else when it prepares a run
        new_log = type(log)
        loaded: dict[str, Run] = {}
        try:
            prepared = resolve_knowledge_bases(prepared.files, self._gold.table, new_log)
            if self.plan.validates and not any(one.problems.has_errors for one in prepared.runs):
                validated = validate_runs(prepared.files, self._gold.table, limits, new_log)
                prepared = Preparation(validated.files, [*prepared.runs, *validated.runs])
            for one in prepared.runs:
                one.check()
            log = self._gold.problems.branch()
            runs = self._chosen(prepared.files)
            alone = None if runs[0].is_shared else load_prepared(self._gold, prepared, limits, log)
        except InputError as error:
            for policy in policies:
                yield self._stopped(run, policy, log, error, prepared.runs)
            return

        def load(gold: Gold, one: OneRun, pool: Sequence[Input], log: ProblemLog) -> Run:
            loaded[one.run_id] = load_prepared(one.over(gold), prepared, limits, log)
            return loaded[one.run_id]

        for policy in policies:
            options = policy.options(self._gold.options)
            log = (alone or self._gold).problems.branch()
            try:
                if alone is not None:
                    result = score_runs(alone, options.policy, log)
                else:
                    result = score_apart(replace(self._gold, options=options), runs, log, load)
            except InputError as error:
                yield self._stopped(run, policy, log, error, prepared.runs)
                continue
            of_runs = [alone or loaded[each.run_id] for each in result.runs]
            yield self._whole(run, policy, of_runs, log, result, prepared.runs)

    def _chosen(self, files: Sequence[Input]) -> list[OneRun]:
        """The runs of a file that -runids choose, in its order. Raises InputError where there are none."""
        runs, asked = runs_of(files), self.plan.options.runids
        chosen = runs if asked is None else [one for run_id in asked for one in runs if one.run_id == run_id]
        if not chosen:
            there = ", ".join(one.run_id for one in runs)
            raise InputError(f"no run called {' or '.join(asked or ())}; there is {there}", file=name_of(files[0]))
        return chosen

    def _whole(
        self, run: RunFile, policy: NamedPolicy, loaded: Sequence[Run], log: ProblemLog, result: Result,
        validated: Sequence[PreparedRun],
    ) -> Scored:  # fmt: skip
        resampling = self.plan.resampling
        of_runs = () if resampling is None else intervals(result, resampling)
        # Statistics of all measures are needed for resampling only.
        measures = [unit_measure(self._gold)]
        scores = [
            RunScores(
                each.run_id,
                dict(each.scores),
                UNSET if not of_runs else of_runs[at],
                run_findings(each, self._sought, list(summary_scores(each)) if of_runs else measures),
                each.duplicates,
            )
            for at, each in enumerate(result.runs)
        ]
        origin = self.origin(run, result.origin.inputs[-1], policy.name)
        outcome = replace(
            self._outcome(run, policy, log, result.problems, validated),
            signature=str(origin.signature),
            origin=origin,
            state=WITH_ERRORS if result.error_count else OK,
            runs=tuple(scores),
            remarks=(*(one.account for one in validated), *result.warnings),
        )
        files = self._files(run, result, policy, whole_report(result), of_runs)
        return Scored(outcome, chain(files, self._pages(loaded, policy, result)))

    def _stopped(
        self, run: RunFile, policy: NamedPolicy, log: ProblemLog, error: InputError, validated: Sequence[PreparedRun]
    ) -> Scored:
        """A run that could not be scored to its end, with the files that a single call leaves of it.

        `log` has the problems that the single call would have met until then.
        """
        problems = list(log)
        partial = error.partial if isinstance(error, ScoringStopped) else None
        outcome = replace(
            self._outcome(run, policy, log, problems, validated, error),
            remarks=() if partial is None else tuple(partial.warnings),
            failure=str(error),
        )
        report = stopped_report(problems, error, self.plan.options.edition)
        if partial is None:
            return Scored(outcome, self._report(report))
        return Scored(outcome, self._files(run, partial, policy, report, was_stopped=True))

    def _outcome(
        self, run: RunFile, policy: NamedPolicy, log: ProblemLog, problems: Iterable[Problem],
        validated: Sequence[PreparedRun], error: InputError | None = None,
    ) -> Outcome:  # fmt: skip
        """A failed run with its problems, those that validation has found before those of the scorer.

        The problems of the run itself are what `log` holds beyond what all runs share, what validation found, and what
        stopped the run.
        """
        found = [*(problem for one in validated for problem in one.problems), *problems]
        times = Counter[Severity]()
        for problem in found:
            times[problem.severity] += problem.occurrences
        occurrences = None
        shared = self._gold.problems
        if isinstance(log, RecordingLog) and isinstance(shared, RecordingLog):
            noted = log.branch()
            for one in validated:
                if isinstance(one.problems, RecordingLog):
                    noted.also_report(one.problems)
            if error is not None:
                noted.fatal.append(error)
            occurrences = tuple(noted.noted_since(shared, run.file.name))
        return Outcome(
            task=COLD_START_MODE,
            run=run.name,
            file=run.file.name,
            policy=policy.name,
            state=FAILED,
            errors=times[Severity.ERROR],
            warnings=times[Severity.WARNING],
            problems=tuple(place for problem in found for place in _places(problem)),
            occurrences=occurrences,
        )

    def _files(
        self, run: RunFile, result: Result, policy: NamedPolicy, report: str,
        intervals: Sequence[ScoreIntervals] = (), *, was_stopped: bool = False,
    ) -> Iterator[tuple[str, Iterable[bytes]]]:  # fmt: skip
        """The files of a call of the scorer for this run alone; `report` is its `.errlog`."""
        plan = self.plan
        if plan.with_json and not was_stopped:
            yield f"{PREFIX}.json", encoded(json_text(result, intervals))
        files = (given.name for given in (*plan.queries, *plan.pool, run.file))
        rest = ("-output_file", PREFIX, "-error_file", f"{PREFIX}.errlog", *files)
        params = params_of(result.options, plan.switches, rest, plan.folder, policy.texts)
        for ending, blocks in file_blocks(result, plan.layout, params, intervals, was_stopped):
            yield f"{PREFIX}.{ending}", blocks
        yield from self._report(report)

    def _report(self, report: str) -> Iterator[tuple[str, Iterable[bytes]]]:
        yield f"{PREFIX}.errlog", [doubly_encoded(report, self.plan.options.edition)]

    def _pages(
        self, loaded: Sequence[Run], policy: NamedPolicy, result: Result
    ) -> Iterator[tuple[str, Iterable[bytes]]]:
        """The page of each run id, where pages are wanted; none of one that cannot be analysed."""
        page = self.plan.page
        if page is None:
            return
        for at, (of_run, lines) in enumerate(zip(result.runs, loaded)):
            origin, signature = of_run.origin or result.origin, result.signature(of_run)
            scored = Analysed(lines, of_run.run_id, policy.policy, of_run, None, origin, signature)
            with suppress(InputError):
                yield (
                    page_name(at, len(result.runs)),
                    encoded([page(as_builtins(task_named(COLD_START_MODE).analyze(scored)))]),
                )


def _places(problem: Problem) -> Iterator[ProblemPlace]:
    for place in problem.places:
        file = "" if place is None or place.file == NO_PLACE else place.file
        line = "" if place is None else str(place.line)
        yield ProblemPlace(str(problem.severity), problem.code, problem.message, file, line)
