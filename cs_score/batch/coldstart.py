"""The Cold Start scorer in a batch: queries and pool are loaded and indexed once, each run starts from there."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from itertools import chain, groupby
from typing import Final

from cs_score.analysis.many.findings import ToFind, run_findings, to_find, union_scores, unit_measure
from cs_score.analysis.many.overview import Evaluation
from cs_score.base.errors import InputError
from cs_score.base.outputs import encoded
from cs_score.base.records import Record, replace
from cs_score.base.signing.origin import QUERY_LIST, SAMPLES, Origin
from cs_score.base.sources import Input, InputDigest
from cs_score.batch.plan import (
    FAILED,
    OK,
    WITH_ERRORS,
    MakePage,
    Outcome,
    Plan,
    RunScores,
    Scored,
    page_name,
    problem_places,
)
from cs_score.batch.runs import InputFile, RunFile
from cs_score.coldstart.documents import json_text
from cs_score.coldstart.editions import LATEST, Edition
from cs_score.coldstart.gold import Gold, Run, open_gold, with_pool
from cs_score.coldstart.options import Justifications, NamedPolicy, Options, origin_of
from cs_score.coldstart.outputs import (
    Invocation,
    Layout,
    check_fields,
    doubly_encoded,
    file_blocks,
    stopped_report,
    whole_report,
)
from cs_score.coldstart.result import Result, ScoringStopped
from cs_score.coldstart.scorer import score_runs
from cs_score.coldstart.unit_statistics import intervals, resampled_unit, summary_scores
from cs_score.knowledge_base.validation import resolve_knowledge_bases
from cs_score.measures.registry import COLD_START_MODE, LDC_MEAN, headline, rankable
from cs_score.preparation.prevalidation import (
    Preparation,
    PreparedRun,
    load_prepared,
    validate_runs,
)
from cs_score.problems.codes import Severity
from cs_score.problems.log import Problem, ProblemLog
from cs_score.problems.occurrences import Occurrence, RecordingLog
from cs_score.statistics.options import Resampling
from cs_score.statistics.results import ScoreIntervals

PREFIX: Final = "out"
"""Files of a run are called `out.sf`, `out.summary` and so on, whatever the run is called."""


class SingleCall(Record):
    """A call of the scorer for one run alone.

    `layout` and `with_json` choose its files. `switches` are its words beside the policy, `folder` is the working
    folder of the user: both are only for the `.params` file.
    """

    layout: Layout
    with_json: bool
    switches: tuple[str, ...]
    folder: str
    edition: Edition = LATEST

    def files(
        self,
        result: Result,
        policy: NamedPolicy,
        inputs: Sequence[str],
        report: str,
        intervals: Sequence[ScoreIntervals] = (),
        *,
        was_stopped: bool = False,
    ) -> Iterator[tuple[str, Iterable[bytes]]]:
        """The name and content of each file; `inputs` names what the call reads, `report` is its `.errlog`."""
        if self.with_json and not was_stopped:
            yield f"{PREFIX}.json", encoded(json_text(result, intervals))
        words = list(self.switches)
        if self.edition.has_limits:
            words += ["-justifications", str(policy.justifications)]
        for side, text in policy.texts.items():
            words += [f"-{side.lower()}", text]
        words += ["-output_file", PREFIX, "-error_file", f"{PREFIX}.errlog", *inputs]
        has_samples = result.options.samples is not None
        invocation = Invocation(
            time.localtime(), self.folder, ["cs-score", *map(shlex.quote, words)], policy.texts, has_samples
        )
        for ending, blocks in file_blocks(result, self.layout, invocation, intervals, was_stopped):
            yield f"{PREFIX}.{ending}", blocks
        yield from self.report_only(report)

    def report_only(self, report: str) -> Iterator[tuple[str, Iterable[bytes]]]:
        """The report alone: of a run that came to nothing there is no other file."""
        yield f"{PREFIX}.errlog", [doubly_encoded(report, self.edition)]


class ColdStartPlan(Record):
    """Queries, pool and options of all runs.

    `policies` has one entry at least; `call` says what is written for a run. `resampling` asks for intervals. With
    `validates` each run is validated in memory before it is scored; with `records` every problem is kept with its
    details. `page` makes the page of a run from its analysis, None where there is to be none.
    """

    queries: tuple[InputFile, ...]
    pool: tuple[InputFile, ...]
    options: Options
    policies: tuple[NamedPolicy, ...]
    call: SingleCall
    query_list: InputFile | None = None
    samples: InputFile | None = None
    resampling: Resampling | None = None
    validates: bool = False
    records: bool = False
    page: MakePage | None = None

    def prepare(self) -> PreparedColdStart:
        """Load and index queries and pool. Raises CsScoreError where no run can be scored against them."""
        check_fields(self.call.layout.fields)
        located = replace(
            self.options,
            queries=self.options.queries if self.query_list is None else self.query_list.on_disk(),
            samples=self.options.samples if self.samples is None else self.samples.on_disk(),
        )
        problems = RecordingLog() if self.records else ProblemLog()
        gold = open_gold([given.open() for given in self.queries], located, problems)
        gold = with_pool(gold, [given.open() for given in self.pool])
        return PreparedColdStart(self, gold, problems, _as_named(gold.digests, self.options))

    def measures(self) -> Sequence[str]:
        return list(map(str, rankable(COLD_START_MODE, self.options.expand is not None)))

    def headline(self) -> Sequence[str]:
        return headline(COLD_START_MODE, self.options.expand is not None)

    def policy_names(self) -> Sequence[str]:
        return [policy.name for policy in self.policies]

    def travelling(self, ship: bool) -> Plan:
        def travel(given: InputFile) -> InputFile:
            return given.loaded() if ship else given.located()

        return replace(
            self,
            queries=tuple(map(travel, self.queries)),
            pool=tuple(map(travel, self.pool)),
            query_list=None if self.query_list is None else travel(self.query_list),
            samples=None if self.samples is None else travel(self.samples),
        )


class PreparedColdStart:
    """Queries and pool as loaded. Every run is laid over them."""

    def __init__(self, plan: ColdStartPlan, gold: Gold, of_queries: ProblemLog, digests: Sequence[InputDigest]) -> None:
        """`of_queries`: the problems before the pool was loaded; `digests`: those of all inputs that runs share, by
        the names that the user gave them.
        """
        self._plan = plan
        self._gold = gold
        self._of_queries = of_queries
        self.digests = tuple(digests)
        self._policies = {policy.name: policy for policy in plan.policies}

    @property
    def occurrences(self) -> Sequence[Occurrence]:
        log = self._gold.problems
        return tuple(log.occurrences()) if isinstance(log, RecordingLog) else ()

    def measures(self) -> Mapping[str, Sequence[str]]:
        hops = [str(hop) for hop in range(max(self._gold.hop_limits.values(), default=0) + 1)]
        # LDC-MEAN has the classes of later hops in the row of the class above them.
        return {
            str(measure): hops[:2] if measure.table == LDC_MEAN and measure.average else hops
            for measure in rankable(COLD_START_MODE, bool(self._gold.table.ldc_of))
        }

    def signature(self, run: InputDigest, policy: str) -> Mapping[str, object]:
        call = self._plan.call
        resampling = self._plan.resampling
        if resampling is not None:
            resampling = replace(resampling, unit=resampled_unit(self._gold.has_clusters))
        return {
            **self._origin(self._policies[policy], run).as_json(),
            "policy": policy,
            "fields": list(call.layout.fields),
            "tabs": call.layout.tabs,
            "json": call.with_json,
            "bootstrap": None if resampling is None else resampling.as_json(),
        }

    def score(self, run: RunFile, policies: Sequence[str]) -> Iterator[Scored]:
        """The run under each policy. It is loaded once for all policies with the same limits on justifications."""
        chosen = [self._policies[name] for name in policies]
        for _, group in groupby(chosen, key=lambda policy: policy.justifications):
            yield from self._score_group(run, list(group))

    def _score_group(self, run: RunFile, policies: Sequence[NamedPolicy]) -> Iterator[Scored]:
        limits = policies[0].options(self._gold.options).justifications
        prepared = Preparation([run.file.open()])
        log = self._of_queries  # a single call has read nothing else when it prepares a run
        try:
            prepared = self._prepared(prepared.files, limits)
            for one in prepared.runs:
                one.check()
            log = self._gold.problems.branch()
            loaded = load_prepared(self._gold, prepared, limits, log)
        except InputError as error:
            for policy in policies:
                yield self._stopped(run, policy, log, error, prepared.runs)
            return
        for policy in policies:
            log = loaded.problems.branch()
            try:
                result = score_runs(loaded, policy.options(self._gold.options).policy, log)
            except InputError as error:
                yield self._stopped(run, policy, log, error, prepared.runs)
                continue
            yield self._whole(run, policy, loaded, log, self._as_asked(result, policy), prepared.runs)

    def _prepared(self, files: Sequence[Input], limits: Justifications) -> Preparation:
        """A run as it is scored: resolved where it is a knowledge base, and validated where that is wanted."""
        new_log = type(self._of_queries)
        resolved = resolve_knowledge_bases(files, self._gold.table, new_log)
        if not self._plan.validates or any(one.problems.has_errors for one in resolved.runs):
            return resolved
        validated = validate_runs(resolved.files, self._gold.table, limits, new_log)
        return Preparation(validated.files, [*resolved.runs, *validated.runs])

    def _as_asked(self, result: Result, policy: NamedPolicy) -> Result:
        """The result with the options as the user gave them: a worker may read an option's file from elsewhere."""
        origin = self._origin(policy, *result.origin.inputs[len(self.digests) :])
        return replace(result, options=policy.options(self._plan.options), origin=origin)

    def _origin(self, policy: NamedPolicy, *run: InputDigest) -> Origin:
        """The origin of what is made from these files of a run, as a single call has it."""
        options = policy.options(self._plan.options)
        has_ldc_index = bool(self._gold.table.ldc_of)
        return origin_of(options, (*self.digests, *run), has_ldc_index, validated=self._plan.validates)

    def _whole(
        self,
        run: RunFile,
        policy: NamedPolicy,
        loaded: Run,
        log: ProblemLog,
        result: Result,
        validated: Sequence[PreparedRun],
    ) -> Scored:
        resampling = self._plan.resampling
        of_runs = () if resampling is None else intervals(result, resampling)
        # Statistics of all measures are needed for resampling only.
        findings = [
            run_findings(
                of_run, self._sought, [unit_measure(self._gold)] if resampling is None else list(summary_scores(of_run))
            )
            for of_run in result.runs
        ]
        outcome = replace(
            self._outcome(run, policy, log, result.problems, validated),
            state=WITH_ERRORS if result.error_count else OK,
            scores=tuple(RunScores(of_run.run_id, of_run.scores) for of_run in result.runs),
            remarks=(*(one.account for one in validated), *result.warnings),
            signature=self.signature(loaded.digests[-1], policy.name),
            intervals=tuple(of_run.as_json() for of_run in of_runs),
            findings=tuple(of_run.as_json() for of_run in findings),
        )
        report = whole_report(result.problems, result.error_count, result.warning_count, self._plan.call.edition)
        files = self._plan.call.files(result, policy, self._inputs(run), report, of_runs)
        return Scored(outcome, chain(files, self._pages(loaded, policy, result)))

    def _stopped(
        self,
        run: RunFile,
        policy: NamedPolicy,
        log: ProblemLog,
        error: InputError,
        validated: Sequence[PreparedRun],
    ) -> Scored:
        """A run that could not be scored to its end, with the files that a single call leaves of it.

        `log` has the problems that the single call would have met until then.
        """
        problems = list(log)
        partial = error.partial if isinstance(error, ScoringStopped) else None
        outcome = replace(
            self._outcome(run, policy, log, problems, validated, error),
            remarks=() if partial is None else partial.warnings,
            failure=str(error),
        )
        call = self._plan.call
        report = stopped_report(problems, error, call.edition)
        if partial is None:
            return Scored(outcome, call.report_only(report))
        asked = self._as_asked(partial, policy)
        return Scored(outcome, call.files(asked, policy, self._inputs(run), report, was_stopped=True))

    def _outcome(
        self,
        run: RunFile,
        policy: NamedPolicy,
        log: ProblemLog,
        problems: Iterable[Problem],
        validated: Sequence[PreparedRun],
        error: InputError | None = None,
    ) -> Outcome:
        """The problems of a run, those that validation has found before those of the scorer."""
        found = [*(problem for one in validated for problem in one.problems), *problems]
        times = Counter[Severity]()
        for problem in found:
            times[problem.severity] += problem.occurrences
        return Outcome(
            run.name,
            run.file.name,
            policy.name,
            FAILED,
            errors=times[Severity.ERROR],
            warnings=times[Severity.WARNING],
            problems=tuple(place for problem in found for place in problem_places(problem)),
            occurrences=self._noted(run, log, validated, error),
        )

    def _pages(self, loaded: Run, policy: NamedPolicy, result: Result) -> Iterator[tuple[str, Iterable[bytes]]]:
        """The page of each run id, where pages are wanted; none of one that cannot be analysed."""
        page = self._plan.page
        if page is None:
            return
        from cs_score.analysis.coldstart.analysis import analyze
        from cs_score.analysis.coldstart.scored import Scored as Analysed

        for at, of_run in enumerate(result.runs):
            signature = result.signature(of_run)
            scored = Analysed(loaded, of_run.run_id, policy.policy, of_run, None, result.origin, signature)
            with suppress(InputError):
                yield page_name(at, len(result.runs)), encoded([page(analyze(scored).as_json())])

    @cached_property
    def _sought(self) -> ToFind:
        return to_find(self._gold)

    @property
    def evaluation(self) -> Evaluation:
        return Evaluation(
            COLD_START_MODE,
            resampled_unit(self._gold.has_clusters),
            str(unit_measure(self._gold)),
            self._sought.wanted,
            partial(union_scores, self._gold, self._sought),
        )

    def _inputs(self, run: RunFile) -> list[str]:
        """The files of a single call, in its order."""
        return [given.name for given in (*self._plan.queries, *self._plan.pool, run.file)]

    def _noted(
        self, run: RunFile, log: ProblemLog, validated: Iterable[PreparedRun], error: InputError | None
    ) -> tuple[Occurrence, ...] | None:
        """What a log holds of a run beyond what all runs share, with what validation found and what stopped it."""
        shared = self._gold.problems
        if not isinstance(log, RecordingLog) or not isinstance(shared, RecordingLog):
            return None
        noted = log.branch()
        for one in validated:
            if isinstance(one.problems, RecordingLog):
                noted.also_report(one.problems)
        if error is not None:
            noted.fatal.append(error)
        return tuple(noted.noted_since(shared, run.file.name))


def _as_named(digests: Sequence[InputDigest], asked: Options) -> list[InputDigest]:
    """The digests with the files of options called as the user called them, wherever they were read from."""
    names = {QUERY_LIST: asked.queries, SAMPLES: asked.samples}
    return [replace(digest, name=names.get(digest.role) or digest.name) for digest in digests]
