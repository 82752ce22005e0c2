"""The outcome of one Cold Start run of a batch under one policy, and the files that a call for it alone would write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from cs_score.analysis.coldstart.scored import Scored as AnalysedRun
from cs_score.analysis.many.overview import collect_findings, unit_measure
from cs_score.base.errors import InputError
from cs_score.base.outputs import encoded
from cs_score.base.records import Record
from cs_score.batch.documents import OK, WITH_ERRORS, Outcome, ProblemPlace, RunScores
from cs_score.batch.plan import RunFile, RunFiles, Scored, outcome_of, page_name
from cs_score.coldstart import outputs
from cs_score.coldstart.documents import json_text
from cs_score.coldstart.gold import Run
from cs_score.coldstart.options import NamedPolicy
from cs_score.coldstart.result import Result, RunResult, ScoringStopped
from cs_score.coldstart.unit_statistics import intervals, summary_scores
from cs_score.measures.registry import COLD_START_MODE
from cs_score.preparation.runs import PreparedRun
from cs_score.problems.codes import Severity
from cs_score.problems.log import NO_PLACE, Occurrence, Problem, ProblemLog, RecordingLog
from cs_score.statistics.results import ScoreIntervals
from cs_score.tasks import task_named

if TYPE_CHECKING:
    from cs_score.batch.coldstart import PreparedColdStart


class Attempt(Record):
    """The scoring of a run under a policy, whether it comes to its end or not.

    `accounts` tell of each run that was converted or validated before; `log` has the problems of scoring.
    """

    prepared: PreparedColdStart
    run: RunFile
    accounts: list[PreparedRun]
    policy: NamedPolicy
    log: ProblemLog

    def finished(self, result: Result, loaded_runs: Sequence[Run]) -> Scored:
        """Return the outcome of a run that was scored to its end, with the files of a call for this run alone.

        A run without any line that could be scored has failed, but has files: a single call is content with it.
        """
        resampling = self.prepared.plan.resampling
        limits = [] if resampling is None else list(intervals(result, resampling))
        remarks = (*[account.account for account in self.accounts], *result.warnings)
        if result.runs:
            origin = self.prepared.origin(self.run, result.origin.inputs[-1], self.policy.name)
            outcome = self._make_outcome(
                result.problems,
                state=WITH_ERRORS if result.error_count else OK,
                signature=str(origin.signature),
                origin=origin,
                runs=tuple(self._scores_of_runs(result, limits)),
                remarks=remarks,
            )
        else:
            error = InputError("no line of it could be scored", file=self.run.file.name)
            outcome = self._make_outcome(result.problems, error, remarks=remarks)
        return Scored(outcome, self._files_and_pages(result, limits, loaded_runs))

    def stopped(self, error: InputError) -> Scored:
        """Return the failed outcome of a run whose scoring ended with an error, with the files that a call leaves then.

        Its problems are those that the single call would have met until the error.
        """
        problems = list(self.log)
        partial_result = error.partial if isinstance(error, ScoringStopped) else None
        remarks = () if partial_result is None else tuple(partial_result.warnings)
        outcome = self._make_outcome(problems, error, remarks=remarks)
        report = outputs.stopped_report(problems, error, self.prepared.plan.options.edition)
        return Scored(outcome, self._files_of_stopped(report, partial_result))

    # -- The outcome

    def _scores_of_runs(self, result: Result, limits: Sequence[ScoreIntervals]) -> Iterator[RunScores]:
        """Yield the scores of each run id, with intervals if there are `limits`, and what the run found."""
        for position, run in enumerate(result.runs):
            yield RunScores(
                run_id=run.run_id,
                scores=dict(run.scores),
                intervals=limits[position] if limits else UNSET,
                findings=collect_findings(run, self.prepared.target_index, self._measures_to_record(run, limits)),
                duplicates=run.duplicates,
                undefined=run.undefined or UNSET,
            )

    def _measures_to_record(self, run: RunResult, limits: Sequence[ScoreIntervals]) -> list[Any]:
        """Return the measures whose statistics by unit are recorded: only resampling needs those of all measures."""
        return list(summary_scores(run)) if limits else [unit_measure(self.prepared.gold)]

    def _make_outcome(
        self, scoring_problems: Iterable[Problem], error: InputError | None = None, **fields: Any
    ) -> Outcome:
        """Return an outcome whose problems are those that validation has found, then those of scoring.

        It has failed if there is an `error`. `fields` are further fields of the outcome.
        """
        problems: list[Problem] = []
        for account in self.accounts:
            problems += account.problems
        problems += scoring_problems
        count_by_severity = Counter[Severity]()
        for problem in problems:
            count_by_severity[problem.severity] += problem.occurrences
        return outcome_of(
            COLD_START_MODE,
            self.run,
            self.policy.name,
            failure=None if error is None else str(error),
            errors=count_by_severity[Severity.ERROR],
            warnings=count_by_severity[Severity.WARNING],
            problems=tuple(_problem_places(problems)),
            occurrences=self._own_occurrences(error),
            **fields,
        )

    def _own_occurrences(self, error: InputError | None) -> tuple[Occurrence, ...] | None:
        """Return the problems of the run itself with their details: those that are not problems of gold.

        Validation's problems and the `error` that ended the scoring are among them. Returns None if problems keep no
        details in this batch.
        """
        problems_of_gold = self.prepared.gold.problems
        if not (isinstance(self.log, RecordingLog) and isinstance(problems_of_gold, RecordingLog)):
            return None
        log = self.log.branch()
        for account in self.accounts:
            if isinstance(account.problems, RecordingLog):
                log.also_report(account.problems)
        if error is not None:
            log.fatal.append(error)
        return tuple(log.noted_since(problems_of_gold, self.run.file.name))

    # -- The files

    def _files_and_pages(
        self, result: Result, limits: Sequence[ScoreIntervals], loaded_runs: Sequence[Run]
    ) -> RunFiles:
        """Yield the name and the content of each file of a run that was scored to its end."""
        plan = self.prepared.plan
        if plan.with_json:
            yield "out.json", encoded(json_text(result, limits))
        yield from self._tables(result, limits)
        yield self._report_file(outputs.whole_report(result))
        yield from self._pages(result, loaded_runs)

    def _files_of_stopped(self, report: str, partial_result: Result | None) -> RunFiles:
        """Yield the name and the content of each file of a run whose scoring ended with an error."""
        if partial_result is not None:
            yield from self._tables(partial_result, was_stopped=True)
        yield self._report_file(report)

    def _tables(self, result: Result, limits: Sequence[ScoreIntervals] = (), *, was_stopped: bool = False) -> RunFiles:
        """Yield the tables of the scorer: `out.sf`, `out.debug`, `out.params` ..., whatever the run is called."""
        plan = self.prepared.plan
        file_names = [file.name for file in (*plan.queries, *plan.pool, self.run.file)]
        words = ["-output_file", "out", "-error_file", "out.errlog", *file_names]
        params = outputs.params_of(result.options, plan.switches, words, plan.folder, self.policy.texts)
        for ending, blocks in outputs.file_blocks(result, plan.layout, params, limits, was_stopped):
            yield f"out.{ending}", blocks

    def _report_file(self, report: str) -> tuple[str, list[bytes]]:
        """Return the name and the content of the report of problems."""
        return "out.errlog", [outputs.doubly_encoded(report, self.prepared.plan.options.edition)]

    def _pages(self, result: Result, loaded_runs: Sequence[Run]) -> RunFiles:
        """Yield the page of each run id, if pages are wanted; a run that cannot be analysed has none."""
        make_page = self.prepared.plan.page
        if make_page is None:
            return
        task = task_named(COLD_START_MODE)
        for position, (run, loaded_run) in enumerate(zip(result.runs, loaded_runs)):
            scored = AnalysedRun(
                run=loaded_run,
                run_id=run.run_id,
                policy=self.policy.policy,
                result=run,
                stopped=None,
                origin=run.origin or result.origin,
                signature=result.signature(run),
            )
            with suppress(InputError):
                yield page_name(position, len(result.runs)), encoded([make_page(task.analyze(scored))])


def _problem_places(problems: Iterable[Problem]) -> Iterator[ProblemPlace]:
    """Yield each place of each problem; file and line are empty if a problem belongs to none."""
    for problem in problems:
        for place in problem.places:
            has_place = place is not None and place.file != NO_PLACE
            yield ProblemPlace(
                severity=str(problem.severity),
                code=problem.code,
                message=problem.message,
                file=place.file if place is not None and has_place else "",
                line="" if place is None else str(place.line),
            )
