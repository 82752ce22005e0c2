"""A whole batch: many runs scored against the same gold standard, each as if it were alone, and their tables."""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from cs_score.base.display import join_first
from cs_score.base.documents import json_text
from cs_score.base.errors import CsScoreError, InputError, OutputError, UsageError
from cs_score.base.outputs import encoded, folder_made, outputs_at_once, outputs_together, write_whole
from cs_score.base.processes import processes_for
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_collector
from cs_score.base.signature import RUN
from cs_score.base.sources import InputDigest
from cs_score.verbs.batch import store
from cs_score.verbs.batch.documents import FAILED, LeaderboardDocument, Outcome
from cs_score.verbs.batch.inputs import BatchRunFile, InputFile
from cs_score.verbs.batch.layout import INDEX, PROBLEMS, is_page
from cs_score.verbs.batch.leaderboard import make_leaderboard
from cs_score.verbs.batch.lock import locked
from cs_score.verbs.batch.plan import BatchOptions, Plan, Prepared, ScoredInBatch
from cs_score.verbs.batch.progress import Progress
from cs_score.verbs.batch.tables import document_of, files_of, overview_of, problem_lines, write_problem_report
from cs_score.verbs.batch.workers import Job, Scorer, dask_backend, local_backend, run_jobs


class BatchResult(Record):
    """The outcomes of a batch, its leaderboard, and how many of the outcomes (`kept`) come from an earlier batch."""

    outcomes: tuple[Outcome, ...]
    leaderboard: LeaderboardDocument
    kept: int


def run_batch(
    plan: Plan, runs: Sequence[BatchRunFile], options: BatchOptions, remark: Callable[[str], None]
) -> BatchResult:
    """Score all runs and write their files and the tables of the batch into the folder `options.out`.

    A run that cannot be scored has a failed outcome, and the other runs are still scored. `remark` prints a line.

    Raises UsageError or OutputError, before anything is changed, for outputs that are impossible, and for runs of
    several editions without `options.mix_editions`. Raises CsScoreError if nothing can be scored: gold is unusable, the
    folder is in use, no Dask scheduler answers.
    """
    outputs = store.planned_batch(plan, runs, options)
    outputs.check()
    outputs.clear()
    runs = [replace(run, file=InputFile.of(run.file.name)) for run in runs]
    edition_by_run = _edition_by_run(plan, runs, may_differ=options.mix_editions)
    with outputs_at_once(), folder_made(options.out, "-o"), locked(options.out) as lock_remark:
        if lock_remark is not None:
            remark(lock_remark)
        store.clear_leftovers(options.out)
        with paused_collector():
            prepared = plan.prepare()
        measure = _ranking_measure(options.measure, prepared.measures())
        batch = _Batch(prepared, runs, options, remark)
        jobs = batch.find_jobs()
        kept = len(batch.outcome_by_key)
        if jobs:
            batch.run(jobs)
        outcomes = batch.ordered_outcomes()
        board = make_leaderboard(outcomes, plan.task, measure, plan.headline(), edition_by_run)
        _remark_missing_ranks(board, remark)
        _write_tables(prepared, outcomes, board, options)
        return BatchResult(outcomes, board, kept)


def _edition_by_run(plan: Plan, runs: Iterable[BatchRunFile], *, may_differ: bool) -> dict[str, str]:
    """Return the edition of the scorer that each run follows; an empty dictionary if all follow the same.

    Raises UsageError if they differ and may not.
    """
    edition_by_run = {run.name: run.edition or plan.edition for run in runs}
    editions = dict.fromkeys(edition_by_run.values())
    if len(editions) == 1:
        return {}
    if not may_differ:
        raise UsageError(
            f"the runs follow {' and '.join(editions)}, whose scores cannot be compared; make a batch of each, or say "
            "--mix-editions for one leaderboard"
        )
    return edition_by_run


def _ranking_measure(requested: str | None, hops_by_measure: Mapping[str, Sequence[str]]) -> str:
    """Return the measure that ranks the runs: the requested one, such as `SF-F1@1`, or the first if none is requested.

    Raises UsageError if no run can have the requested measure.
    """
    if requested is None:
        return next(iter(hops_by_measure))
    name, at_sign, hop = requested.partition("@")
    if name in hops_by_measure:
        has_known_hop = hop in hops_by_measure[name]
        if has_known_hop or not at_sign:
            return requested
    choices = []
    for measure, hops in hops_by_measure.items():
        choices.append(f"{measure} (@{', @'.join(hops)})" if hops else measure)
    raise UsageError(f"--measure {requested}: no run can have this measure here; there are {', '.join(choices)}")


def _remark_missing_ranks(board: LeaderboardDocument, remark: Callable[[str], None]) -> None:
    """Print a remark if runs have scores, but none has one by the measure that ranks them."""
    has_scores = any(row.scores for row in board.rows)
    has_ranks = any(board.measure in row.scores for row in board.rows)
    if has_scores and not has_ranks:
        remark(f"no run has a score {board.measure}, so none has a rank")


def _write_tables(
    prepared: Prepared, outcomes: Sequence[Outcome], board: LeaderboardDocument, options: BatchOptions
) -> None:
    """Write the leaderboard and all other tables of a batch, and its problems if `options` ask for them.

    They appear together or not at all. Only the leaderboard has runs that follow another edition than the batch.
    """
    plan: Plan = prepared.plan
    other_editions = {row.run for row in board.rows if row.edition and row.edition != plan.edition}
    outcomes_of_edition = [outcome for outcome in outcomes if outcome.run not in other_editions]
    overview = overview_of(outcomes_of_edition, board, prepared.evaluation)
    document = document_of(overview, board, pages=plan.page is not None)
    files: dict[str, Iterable[bytes]] = {**files_of(board, overview)}
    files[PROBLEMS] = problem_lines(outcomes)
    files["leaderboard.json"] = encoded([json_text(board)])
    files["batch.json"] = encoded([json_text(document)])
    if plan.page is not None:
        files[INDEX] = encoded([plan.page(document)])
    with outputs_together():
        for name, blocks in files.items():
            write_whole(os.path.join(options.out, name), blocks)
        if options.problems is not None:
            write_problem_report(options.problems, prepared.occurrences, outcomes)


# ---- The runs of a batch


class _Key(NamedTuple):
    """A run under a policy: the name of the run in the batch, and the policy's name."""

    run: str
    policy: str


class _Batch:
    """Scores the runs of a batch, and writes their files into the output folder.

    `outcome_by_key` has the outcomes so far: those of an earlier batch, then that of each run when a worker has scored
    it.
    """

    def __init__(
        self, prepared: Prepared, runs: Sequence[BatchRunFile], options: BatchOptions, remark: Callable[[str], None]
    ) -> None:
        """Prepare to score `runs` against gold as `prepared`; `remark` prints a line."""
        self._prepared = prepared
        self._plan: Plan = prepared.plan
        self._runs = runs
        self._options = options
        self._remark = remark
        self._folder_by_key: dict[_Key, str] = {}
        for run in runs:
            for policy in self._plan.policy_names:
                folder = store.folder_of_run(options.out, self._plan, run.name, policy)
                self._folder_by_key[_Key(run.name, policy)] = folder
        self.outcome_by_key: dict[_Key, Outcome] = {}

    def ordered_outcomes(self) -> tuple[Outcome, ...]:
        """Return all outcomes in the order of the runs, for each run in the order of the policies."""
        return tuple([self.outcome_by_key[key] for key in self._folder_by_key])

    def find_jobs(self) -> list[Job]:
        """Return the runs that must be scored. With `--resume`, outcomes of an earlier batch are first taken over."""
        self._remark_other_results()
        jobs = []
        for run in self._runs:
            digest = self._digest_for_resuming(run)
            folder_by_policy: dict[str, str | None] = {}
            for policy in self._plan.policy_names:
                key = _Key(run.name, policy)
                earlier_outcome = None if digest is None else self._earlier_outcome(run, digest, policy)
                if earlier_outcome is not None:
                    self.outcome_by_key[key] = earlier_outcome
                elif self._options.ships:  # the worker may not see the folder
                    folder_by_policy[policy] = None
                else:
                    folder_by_policy[policy] = os.path.abspath(self._folder_by_key[key])
            if folder_by_policy:
                jobs.append(Job(self._plan.task, run, folder_by_policy))
        return jobs

    def _remark_other_results(self) -> None:
        """Print a remark if the output folder holds records of runs that are not in this batch."""
        out = self._options.out
        record_folders = set()
        for folders_between in (["*"], ["*", "*"]):  # RUN/, or POLICY/RUN/
            pattern = os.path.join(glob.escape(out), *folders_between, store.SIGNATURE)
            record_folders.update([os.path.dirname(path) for path in glob.glob(pattern)])
        other_folders = sorted(record_folders.difference(self._folder_by_key.values()))
        if other_folders:
            names = join_first([os.path.relpath(folder, out) for folder in other_folders])
            self._remark(f"{out} holds results of other runs, too ({names}); the leaderboard has those of this call")

    def _digest_for_resuming(self, run: BatchRunFile) -> InputDigest | None:
        """Return the digest of a run's file, by which its earlier outcome is recognised; None without `--resume`.

        It is also None for a file that cannot be read: the worker that reads it again reports the reason.
        """
        if self._options.resume:
            with contextlib.suppress(InputError):
                return run.file.digest(RUN)
        return None

    def _earlier_outcome(self, run: BatchRunFile, digest: InputDigest, policy: str) -> Outcome | None:
        """Return the outcome of a run that an earlier batch has recorded, or None if the run must be scored again.

        A run is scored again if its record or one of its files was changed, or if details of its problems or its pages
        are wanted now and missing.
        """
        folder = self._folder_by_key[_Key(run.name, policy)]
        try:
            outcome = store.read_whole_run(folder, self._prepared.origin(run, digest, policy))
        except store.UnfitError as error:
            self._remark(f"{error} is not as this version writes it; {run.name} is scored again")
            return None
        if outcome is None:
            return None
        lacks_problems = self._options.problems is not None and outcome.occurrences is None
        lacks_pages = self._plan.page is not None and not any(is_page(file.name) for file in outcome.files)
        if lacks_problems or lacks_pages:
            return None
        return outcome

    def run(self, jobs: Sequence[Job]) -> None:
        """Score runs on this machine or on a Dask cluster, and store each outcome as soon as it is known."""
        progress = Progress(self._options.progress, self._options.every, len(jobs))
        try:
            if self._options.dask is None:
                scorer = Scorer(self._plan, self._prepared)
                process_count = min(processes_for(self._options.jobs), len(jobs))
                with local_backend(scorer, process_count) as backend:
                    self._store_all(run_jobs(jobs, backend, progress))
            else:
                scorer = Scorer(self._plan.for_remote_worker(ships=self._options.ships))
                with dask_backend(scorer, self._options.dask) as backend:
                    self._store_all(run_jobs(self._jobs_to_send(jobs), backend, progress))
        finally:  # no worker writes any more
            for job in jobs:
                for policy in job.folder_by_policy:
                    store.clear_leftovers(self._folder_by_key[_Key(job.run.name, policy)])

    def _jobs_to_send(self, jobs: Iterable[Job]) -> list[Job]:
        """Return the jobs with inputs that workers on other machines can read.

        A job whose run cannot be read is left out; its failed outcomes are stored.
        """
        jobs_to_send = []
        for job in jobs:
            try:
                file = job.run.file.for_remote_worker(ships=self._options.ships)
            except CsScoreError as error:
                self._store_all(job.fail(str(error)))
            else:
                jobs_to_send.append(replace(job, run=replace(job.run, file=file)))
        return jobs_to_send

    def _store_all(self, results: Iterable[ScoredInBatch]) -> None:
        """Store the outcomes and files of runs as they are scored."""
        for scored in results:
            self._store(scored)

    def _store(self, scored: ScoredInBatch) -> None:
        """Store the outcome of a run, and write the files that came with it into the output folder.

        A failed outcome is stored instead if the worker read other inputs than this process (its machine may have
        another file at the same path), or if the files cannot be written.
        """
        outcome = scored.outcome
        key = _Key(outcome.run, outcome.policy)
        folder = self._folder_by_key[key]
        try:
            self._check_inputs_of_worker(outcome)
            if scored.files:
                outcome = store.write_run(folder, outcome, scored.files)
        except OutputError as error:
            outcome = Outcome(
                task=outcome.task,
                run=outcome.run,
                file=outcome.file,
                policy=outcome.policy,
                state=FAILED,
                failure=str(error),
            )
        if outcome.state == FAILED and not outcome.files:
            store.clear(folder)  # files of an earlier batch are out of date
        self.outcome_by_key[key] = outcome

    def _check_inputs_of_worker(self, outcome: Outcome) -> None:
        """Raise OutputError if a worker read another content of a shared input than this process."""
        if not outcome.origin:
            return
        inputs_of_worker = {(file.name, file.sha256) for file in outcome.origin.inputs}
        for file in self._prepared.digests:
            if (file.name, file.sha256) not in inputs_of_worker:
                raise OutputError(
                    f"the worker read another {file.name} than this machine; put it on shared storage or ship inputs"
                )
