"""A whole batch: many runs scored against the same gold standard, each as if it were alone, and their tables. The
*outcome* of a run under a policy says whether it was scored, and has its scores. It is stored in the folder of the run.
"""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cs_score.base.display import join_first
from cs_score.base.documents import json_text
from cs_score.base.errors import CsScoreError, InputError, OutputError, UsageError
from cs_score.base.outputs import folder_made, outputs_immediately, outputs_together, utf8_blocks, write_whole
from cs_score.base.processes import process_count_for
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_garbage_collection
from cs_score.base.signature import RUN
from cs_score.base.sources import InputDigest
from cs_score.verbs.batch import store
from cs_score.verbs.batch.batch_documents import FAILED, LeaderboardDocument, Outcome
from cs_score.verbs.batch.batch_tables import (
    overview_document,
    overview_of_outcomes,
    problem_table_lines,
    table_files,
    write_problem_report,
)
from cs_score.verbs.batch.folder_layout import INDEX, PROBLEMS, is_page
from cs_score.verbs.batch.input_files import BatchRunFile, InputFile
from cs_score.verbs.batch.leaderboard import make_leaderboard
from cs_score.verbs.batch.lock import locked
from cs_score.verbs.batch.plan import BatchOptions, Plan, PreparedGold, ScoredInBatch
from cs_score.verbs.batch.progress import Progress
from cs_score.verbs.batch.workers import Job, Scorer, dask_backend, local_backend, run_jobs


class BatchResult(Record):
    """The outcomes of a batch, its leaderboard, and the number of outcomes that were kept from an earlier batch."""

    outcomes: tuple[Outcome, ...]
    leaderboard: LeaderboardDocument
    kept_count: int


def run_batch(
    plan: Plan, runs: Sequence[BatchRunFile], options: BatchOptions, remark: Callable[[str], None]
) -> BatchResult:
    """Score all runs and write their files and the tables of the batch into the folder `options.out`.

    A run that cannot be scored has a failed outcome, and the other runs are still scored. `remark` prints a line.

    Raises UsageError or OutputError, before anything is changed, if the outputs are impossible, or if runs follow
    several editions without `options.mix_editions`. Raises CsScoreError if nothing can be scored because gold is
    unusable, the folder is in use, or no Dask scheduler answers.
    """
    outputs = store.planned_batch(plan, runs, options)
    outputs.check()
    outputs.remove_earlier_files()
    # A pipe can be read only once. `InputFile.of` reads a pipe now and keeps its bytes in memory.
    repeatable_runs = [replace(run, file=InputFile.of(run.file.name)) for run in runs]
    edition_by_run = _edition_by_run(plan, repeatable_runs, may_differ=options.mix_editions)
    with _folder_of_batch(options.out, remark):
        with paused_garbage_collection():
            prepared_gold = plan.prepare()
        return _score_and_rank(_Batch(prepared_gold, repeatable_runs, options, remark), edition_by_run)


@contextlib.contextmanager
def _folder_of_batch(folder: str, remark: Callable[[str], None]) -> Iterator[None]:
    """Make the output folder of a batch, and lock it for this process until the context is left.

    Each file in the folder appears as soon as it is complete (`outputs_immediately`), so that a later batch can resume.
    The temporary files of an earlier batch that was killed are removed. If that batch had locked the folder, `remark`
    prints a line. Raises UsageError if another batch is at work in the folder, and OutputError if the folder cannot be
    made.
    """
    with outputs_immediately(), folder_made(folder, "-o"), locked(folder) as lock_remark:
        # The remark is about the lock of an earlier batch, which was killed; None if there was no such lock.
        if lock_remark is not None:
            remark(lock_remark)
        store.clear_leftovers(folder)
        yield


def _score_and_rank(batch: _Batch, edition_by_run: Mapping[str, str]) -> BatchResult:
    """Score the runs that no earlier batch has scored, rank all runs, and write the tables of the batch.

    `edition_by_run` has the edition of the scorer that each run follows; it is empty if all runs follow the same
    edition. Raises UsageError if no run can have the measure by which runs are ranked.
    """
    measure = _ranking_measure(batch.options.measure, batch.prepared_gold.hops_by_measure())
    kept_count = batch.score_runs()  # the number of outcomes kept from an earlier batch
    outcomes = batch.ordered_outcomes()
    board = make_leaderboard(outcomes, batch.plan.task, measure, batch.plan.headline(), edition_by_run)
    _remark_missing_ranks(board, batch.remark)
    _write_tables(batch.prepared_gold, outcomes, board, batch.options)
    return BatchResult(outcomes, board, kept_count)


def _edition_by_run(plan: Plan, runs: Iterable[BatchRunFile], *, may_differ: bool) -> dict[str, str]:
    """Return the edition of the scorer that each run follows, by the name of the run.

    Returns an empty dictionary if all runs follow the same edition. Raises UsageError if their editions differ, unless
    they `may_differ`.
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
    """Return the measure that ranks the runs: the requested one, or the first if none is requested.

    `hops_by_measure` has the hops for which each measure exists: with `{"SF-F1": ["0", "1"]}`, `SF-F1`, `SF-F1@0` and
    `SF-F1@1` can be requested. Raises UsageError if no run can have the requested measure.
    """
    if requested is None:
        return next(iter(hops_by_measure))
    name, at_sign, hop = requested.partition("@")
    is_for_all_hops = not at_sign
    if name in hops_by_measure and (is_for_all_hops or hop in hops_by_measure[name]):
        return requested
    choices = _measures_in_words(hops_by_measure)
    raise UsageError(f"--measure {requested}: no run can have this measure here; there are {choices}")


def _measures_in_words(hops_by_measure: Mapping[str, Sequence[str]]) -> str:
    """Return the names of measures for a message, each with the hops that can be asked for: `"SF-F1 (@0, @1), F1"`."""
    texts = []
    for measure, hops in hops_by_measure.items():
        if hops:
            texts.append(f"{measure} (@{', @'.join(hops)})")
        else:
            texts.append(measure)
    return ", ".join(texts)


def _remark_missing_ranks(board: LeaderboardDocument, remark: Callable[[str], None]) -> None:
    """Print a remark if runs have scores, but none has one by the measure that ranks them."""
    has_scores = any(row.scores for row in board.rows)
    has_ranks = any(board.measure in row.scores for row in board.rows)
    if has_scores and not has_ranks:
        remark(f"no run has a score {board.measure}, so none has a rank")


def _write_tables(
    prepared_gold: PreparedGold, outcomes: Sequence[Outcome], board: LeaderboardDocument, options: BatchOptions
) -> None:
    """Write the leaderboard and all other tables of a batch, and its problems if `options` ask for them.

    The files appear together or not at all.
    """
    content_by_name = _contents_of_tables(prepared_gold, outcomes, board)
    with outputs_together():
        for name, content in content_by_name.items():
            write_whole(os.path.join(options.out, name), content)
        if options.problems is not None:
            write_problem_report(options.problems, prepared_gold.problem_occurrences, outcomes)


def _contents_of_tables(
    prepared_gold: PreparedGold, outcomes: Sequence[Outcome], board: LeaderboardDocument
) -> dict[str, Iterable[bytes]]:
    """Return the content of each table and page over all runs of a batch by file name, such as `batch.json`.

    The leaderboard and the table of problems include all runs. The overview does not include runs that follow another
    edition of the scorer. Together, the overview and the leaderboard are the document in `batch.json` and on the page.
    """
    plan: Plan = prepared_gold.plan
    comparable_outcomes = _outcomes_of_edition(outcomes, board, plan.edition)
    overview = overview_of_outcomes(comparable_outcomes, board, prepared_gold.evaluation)
    batch_document = overview_document(overview, board, pages=plan.make_page is not None)
    content_by_name: dict[str, Iterable[bytes]] = {**table_files(board, overview)}
    content_by_name[PROBLEMS] = problem_table_lines(outcomes)
    content_by_name["leaderboard.json"] = utf8_blocks([json_text(board)])
    content_by_name["batch.json"] = utf8_blocks([json_text(batch_document)])
    if plan.make_page is not None:
        content_by_name[INDEX] = utf8_blocks([plan.make_page(batch_document)])
    return content_by_name


def _outcomes_of_edition(outcomes: Iterable[Outcome], board: LeaderboardDocument, edition: str) -> list[Outcome]:
    """Return the outcomes of the runs that follow the edition of the batch.

    Runs that follow another edition are only in the leaderboard and in the table of problems, because the other tables
    compare answers that were judged by the same rules.
    """
    runs_of_other_editions = set()
    for row in board.rows:  # rows name their edition only if the runs follow several editions
        if row.edition and row.edition != edition:
            runs_of_other_editions.add(row.run)
    return [outcome for outcome in outcomes if outcome.run not in runs_of_other_editions]


# ---- The runs of a batch


class _RunAndPolicy(NamedTuple):
    """A run under a policy: the name of the run in the batch, and the policy's name."""

    run: str
    policy: str


class _Batch:
    """Scores the runs of a batch against the same gold, and writes their files into the output folder.

    The outcome of a run under one policy says whether the run was scored, and has its scores and the names of its
    files. `score_runs` does the work, and `ordered_outcomes` returns the outcomes.
    """

    def __init__(
        self,
        prepared_gold: PreparedGold,
        runs: Sequence[BatchRunFile],
        options: BatchOptions,
        remark: Callable[[str], None],
    ) -> None:
        """Prepare to score `runs` against the gold in `prepared_gold`; `remark` prints a line."""
        self.prepared_gold = prepared_gold
        self.plan: Plan = prepared_gold.plan
        self.options = options
        self.remark = remark
        self._runs = runs
        self._folder_by_run_and_policy: dict[_RunAndPolicy, str] = {}
        for run in runs:
            for policy in self.plan.policy_names:
                folder = store.folder_of_run(options.out, self.plan, run.name, policy)
                self._folder_by_run_and_policy[_RunAndPolicy(run.name, policy)] = folder
        self._outcome_by_run_and_policy: dict[_RunAndPolicy, Outcome] = {}

    def score_runs(self) -> int:
        """Give each run an outcome under each policy, and return how many outcomes were kept from an earlier batch.

        With the option `resume` the outcomes of an earlier batch are kept. All other runs are scored. A remark is
        printed if the output folder has results of runs that do not belong to this batch.
        """
        self._remark_other_results()
        if self.options.resume:
            self._keep_earlier_outcomes()
        kept_count = len(self._outcome_by_run_and_policy)
        self._score_remaining_runs()
        return kept_count

    def ordered_outcomes(self) -> tuple[Outcome, ...]:
        """Return all outcomes in the order of the runs, for each run in the order of the policies.

        Call it when every run has an outcome under every policy.
        """
        return tuple([self._outcome_by_run_and_policy[key] for key in self._folder_by_run_and_policy])

    def _remark_other_results(self) -> None:
        """Print a remark if the output folder holds records of runs that are not in this batch."""
        out = self.options.out
        other_folders = _folders_with_record(out).difference(self._folder_by_run_and_policy.values())
        if other_folders:
            names = join_first([os.path.relpath(folder, out) for folder in sorted(other_folders)])
            self.remark(f"{out} holds results of other runs, too ({names}); the leaderboard has those of this call")

    def _keep_earlier_outcomes(self) -> None:
        """Take over the outcomes that an earlier batch recorded in the output folder, so that `--resume` can go on.

        The outcome of a run is taken over if the batch scored the same file with the same gold and options.
        """
        for run in self._runs:
            try:
                digest = run.file.digest(RUN)
            except InputError:  # the worker that reads the file again reports the reason
                continue
            for policy in self.plan.policy_names:
                outcome = self._earlier_outcome(run, digest, policy)
                if outcome is not None:
                    self._outcome_by_run_and_policy[_RunAndPolicy(run.name, policy)] = outcome

    def _earlier_outcome(self, run: BatchRunFile, digest: InputDigest, policy: str) -> Outcome | None:
        """Return the outcome of a run that an earlier batch recorded, or None if the run must be scored again.

        A run is scored again, with a remark, if its record or one of its files was changed. It is also scored again if
        the earlier batch did not make everything that this batch needs. `digest` is the digest of the run's file.
        """
        folder = self._folder_by_run_and_policy[_RunAndPolicy(run.name, policy)]
        try:
            outcome = store.read_whole_run(folder, self.prepared_gold.origin(run, digest, policy))
        except store.ChangedFileError as error:
            changed_file = str(error)  # the text of the error is the name of the file
            self.remark(f"{changed_file} is not as this version writes it; {run.name} is scored again")
            return None
        if outcome is None or not self._has_all_parts(outcome):
            return None
        return outcome

    def _has_all_parts(self, outcome: Outcome) -> bool:
        """Return whether a recorded outcome has all that this batch needs: its page, and the details of its problems.

        Either is needed only if the options of the batch ask for it.
        """
        has_problem_details = outcome.occurrences is not None
        if self.options.problems is not None and not has_problem_details:
            return False
        has_page = any(is_page(file.name) for file in outcome.files)
        return has_page or self.plan.make_page is None

    def _score_remaining_runs(self) -> None:
        """Score the runs that have no outcome yet, on this machine or on a Dask cluster.

        Each outcome is stored as soon as it is known.
        """
        jobs = self._remaining_jobs()
        if not jobs:
            return
        progress = Progress(self.options.show_progress, self.options.seconds_between_lines, len(jobs))
        try:
            if self.options.dask is None:
                self._score_on_this_machine(jobs, progress)
            else:
                self._score_on_cluster(jobs, self.options.dask, progress)
        finally:  # no worker writes any more
            self._clear_leftovers(jobs)

    def _clear_leftovers(self, jobs: Iterable[Job]) -> None:
        """Remove the temporary files that workers have left in the folders of runs, as when they were killed."""
        for job in jobs:
            for policy in job.folder_by_policy:
                store.clear_leftovers(self._folder_by_run_and_policy[_RunAndPolicy(job.run.name, policy)])

    def _score_on_this_machine(self, jobs: Sequence[Job], progress: Progress) -> None:
        """Score runs in processes of this machine, and store their outcomes."""
        scorer = Scorer(self.plan, self.prepared_gold)
        process_count = min(process_count_for(self.options.jobs), len(jobs))
        with local_backend(scorer, process_count) as backend:
            self._store_all(run_jobs(jobs, backend, progress))

    def _score_on_cluster(self, jobs: Sequence[Job], address: str, progress: Progress) -> None:
        """Score runs on the Dask cluster whose scheduler answers at `address`, and store their outcomes."""
        scorer = Scorer(self.plan.for_remote_worker(ships_inputs=self.options.ships_inputs))
        with dask_backend(scorer, address) as backend:
            remote_jobs = self._jobs_for_remote_workers(jobs)
            self._store_all(run_jobs(remote_jobs, backend, progress))

    def _remaining_jobs(self) -> list[Job]:
        """Return a job for each run that has no outcome yet under some policy; the job names these policies."""
        jobs = []
        for run in self._runs:
            folder_by_policy = self._folders_to_fill(run)
            if folder_by_policy:
                jobs.append(Job(self.plan.task, run, folder_by_policy))
        return jobs

    def _folders_to_fill(self, run: BatchRunFile) -> dict[str, str | None]:
        """Return the folders into which a worker writes the files of a run: an absolute path for each policy.

        Policies under which the run already has an outcome are left out. If inputs are shipped, the path is None,
        because the worker may be on another machine, where the folder does not exist.
        """
        folder_by_policy: dict[str, str | None] = {}
        for policy in self.plan.policy_names:
            key = _RunAndPolicy(run.name, policy)
            if key not in self._outcome_by_run_and_policy:
                folder = os.path.abspath(self._folder_by_run_and_policy[key])
                folder_by_policy[policy] = None if self.options.ships_inputs else folder
        return folder_by_policy

    def _jobs_for_remote_workers(self, jobs: Iterable[Job]) -> list[Job]:
        """Return the jobs with files that workers on other machines can read.

        A run whose file cannot be read gets no job; failed outcomes are stored for it at once.
        """
        remote_jobs = []
        for job in jobs:
            try:
                file = job.run.file.for_remote_worker(ships_inputs=self.options.ships_inputs)
            except CsScoreError as error:
                self._store_all(job.failed_outcomes(str(error)))
                continue
            remote_run = replace(job.run, file=file)
            remote_jobs.append(replace(job, run=remote_run))
        return remote_jobs

    def _store_all(self, results: Iterable[ScoredInBatch]) -> None:
        """Store the outcomes and files of runs as they are scored."""
        for scored_run in results:
            self._store(scored_run)

    def _store(self, scored_run: ScoredInBatch) -> None:
        """Store the outcome of a run, and write the files that came with it into the output folder."""
        outcome = self._written_outcome(scored_run)
        key = _RunAndPolicy(outcome.run, outcome.policy)
        if outcome.state == FAILED and not outcome.files:
            store.remove_run_files(self._folder_by_run_and_policy[key])  # files of an earlier batch are out of date
        self._outcome_by_run_and_policy[key] = outcome

    def _written_outcome(self, scored_run: ScoredInBatch) -> Outcome:
        """Write the files that came with an outcome to the folder of its run, and return the outcome with their names.

        Returns a failed outcome if the files cannot be written, or if the worker did not read the same inputs as this
        process. The latter may happen if the worker's machine has a different file at the same path.
        """
        outcome = scored_run.outcome
        folder = self._folder_by_run_and_policy[_RunAndPolicy(outcome.run, outcome.policy)]
        try:
            self._check_inputs_of_worker(outcome)
            if not scored_run.files:
                return outcome
            return store.write_run(folder, outcome, scored_run.files)
        except OutputError as error:
            return _failed_outcome_for(outcome, reason=str(error))  # of the same run and policy

    def _check_inputs_of_worker(self, outcome: Outcome) -> None:
        """Raise OutputError if the worker that scored a run read other bytes of gold than this process.

        That happens if a file on the machine of the worker has the path of a file of this machine. A failed outcome
        names no inputs, so it passes.
        """
        if not outcome.origin:
            return
        inputs_of_worker = {(file.name, file.sha256) for file in outcome.origin.inputs}
        for file in self.prepared_gold.digests:
            if (file.name, file.sha256) not in inputs_of_worker:
                raise OutputError(
                    f"the worker read another {file.name} than this machine; put it on shared storage or ship inputs"
                )


def _folders_with_record(out: str) -> set[str]:
    """Return the folders of runs in the output folder `out` that hold a record: `RUN` or `POLICY/RUN`, below `out`."""
    record_folders = set()
    for folder_pattern in ("*", os.path.join("*", "*")):
        record_pattern = os.path.join(glob.escape(out), folder_pattern, store.SIGNATURE)
        for path in glob.glob(record_pattern):
            record_folders.add(os.path.dirname(path))
    return record_folders


def _failed_outcome_for(outcome: Outcome, reason: str) -> Outcome:
    """Return a failed outcome in place of `outcome`, for the same run and policy; `reason` says why the run failed."""
    return Outcome(
        task=outcome.task, run=outcome.run, file=outcome.file, policy=outcome.policy, state=FAILED, failure=reason
    )
