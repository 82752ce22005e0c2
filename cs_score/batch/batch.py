"""A whole batch: prepare gold, skip what is done, score the rest, and write the tables over all runs."""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set

from cs_score.base.errors import CsScoreError, InputError, OutputError, UsageError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.outputs import make_folder
from cs_score.base.records import Record
from cs_score.base.signing.origin import RUN
from cs_score.batch.execution import Backend, Delivery, Task, Watcher, failures, run_tasks
from cs_score.batch.leaderboard import Leaderboard, make_leaderboard, write_leaderboard
from cs_score.batch.overview import overview_of, write_overview, write_problem_report, write_problem_table
from cs_score.batch.plan import FAILED, MakePage, Outcome, Plan, Prepared, is_page
from cs_score.batch.runs import InputFile, RunFile
from cs_score.batch.store import (
    SIGNATURE,
    UnfitError,
    clear,
    clear_leftovers,
    folder_of_run,
    locked,
    read_whole_run,
    write_run,
)

OpenBackend = Callable[[str, Plan, Prepared], contextlib.AbstractContextManager[Backend]]
"""Makes the executor of a batch from its id, its plan and the gold prepared here."""


class BatchOptions(Record):
    """What a batch may choose beside the scoring.

    `out` is the output folder, `measure` ranks the leaderboard (None: the usual one of the mode), `resume` keeps runs
    that are scored already; with `ships` workers receive the bytes of all inputs and return those of all outputs.
    `problems` names a file for all problems with their details, which the plan then has to ask for; `index` makes the
    page of the whole batch, where the plan makes the pages of runs.
    """

    out: str
    measure: str | None
    resume: bool = False
    ships: bool = False
    problems: str | None = None
    index: MakePage | None = None


class BatchResult(Record):
    """The outcomes in the order of runs and policies, the leaderboard, and how many runs were kept from before."""

    outcomes: tuple[Outcome, ...]
    leaderboard: Leaderboard
    kept: int

    @property
    def failed(self) -> int:
        """How many scorings did not come to their end, or met problems that are errors."""
        return sum(outcome.state == FAILED or outcome.errors > 0 for outcome in self.outcomes)


def run_batch(
    plan: Plan,
    runs: Sequence[RunFile],
    options: BatchOptions,
    open_backend: OpenBackend,
    watch: Callable[[int], contextlib.AbstractContextManager[Watcher]],
    remark: Callable[[str], None],
) -> BatchResult:
    """Score all runs into `options.out`; what is wrong with one of them stands in its outcome.

    `watch` opens a progress display, `remark` prints a line. Raises CsScoreError where nothing can be scored: gold is
    unusable, the folder cannot be written or is in use, no executor answers.
    """
    make_folder(options.out, "-o")
    policies = plan.policy_names()
    with locked(options.out) as taken_over:
        if taken_over is not None:
            remark(taken_over)
        clear_leftovers(options.out)
        with paused_collector():
            prepared = plan.prepare()
        measure = _measure(options.measure, prepared.measures())
        folders = {folder_of_run(options.out, plan, run.name, policy) for run in runs for policy in policies}
        if others := _other_results(options.out, folders):
            remark(f"{options.out} holds results of other runs, too ({others}); the leaderboard has those of this call")
        found: dict[tuple[str, str], Outcome] = {}
        tasks = [task for run in runs if (task := _task(run, plan, prepared, options, found, remark)) is not None]
        kept = len(found)
        try:
            if tasks:
                with open_backend(os.urandom(16).hex(), plan, prepared) as backend, watch(len(tasks)) as watcher:
                    todo = list(_sent(tasks, options, found)) if options.ships else tasks
                    for deliveries in run_tasks(todo, backend, watcher):
                        for delivery in deliveries:
                            outcome = _stored(_checked(delivery, prepared), options, plan)
                            found[outcome.run, outcome.policy] = outcome
        finally:  # no worker writes any more
            for task in tasks:
                for policy in task.folders:
                    clear_leftovers(folder_of_run(options.out, plan, task.run.name, policy))
        outcomes = tuple(found[run.name, policy] for run in runs for policy in policies)
        board = make_leaderboard(outcomes, policies, measure, plan.headline())
        if not any(measure in row.scores for row in board.rows) and any(row.scores for row in board.rows):
            remark(f"no run has a score {measure}, so none has a rank")
        write_leaderboard(options.out, board)
        overview = overview_of(outcomes, policies, board, prepared.evaluation)
        write_overview(options.out, overview, board, options.index)
        write_problem_table(options.out, outcomes)
        if options.problems is not None:
            write_problem_report(options.problems, prepared.occurrences, outcomes)
        return BatchResult(outcomes, board, kept)


def _measure(wanted: str | None, known: Mapping[str, Sequence[str]]) -> str:
    """The measure that ranks the runs. Raises UsageError where none of them can have it."""
    if wanted is None:
        return next(iter(known))
    name, at, hop = wanted.partition("@")
    if name in known and (not at or hop in known[name]):
        return wanted
    there = ", ".join(f"{name} (@{', @'.join(hops)})" if hops else name for name, hops in known.items())
    raise UsageError(f"--measure {wanted}: no run can have this measure here; there are {there}")


def _other_results(out: str, folders: Set[str]) -> str:
    """The runs in the output folder, of a policy or not, that this batch does not score; empty if there are none."""
    patterns = (os.path.join(glob.escape(out), *depth, SIGNATURE) for depth in ("*", ("*", "*")))
    found = sorted({os.path.dirname(path) for pattern in patterns for path in glob.glob(pattern)} - folders)
    names = [os.path.relpath(folder, out) for folder in found]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _task(
    run: RunFile,
    plan: Plan,
    prepared: Prepared,
    options: BatchOptions,
    found: dict[tuple[str, str], Outcome],
    remark: Callable[[str], None],
) -> Task | None:
    """What is left to do for a run; whole outcomes of an earlier batch go into `found`."""
    folders: dict[str, str | None] = {}
    digest = None
    if options.resume:
        with contextlib.suppress(InputError):
            digest = run.file.digest(RUN)
    for policy in plan.policy_names():
        folder = folder_of_run(options.out, plan, run.name, policy)
        earlier = None
        if digest is not None:
            try:
                earlier = read_whole_run(folder, prepared.signature(digest, policy))
            except UnfitError as error:
                remark(f"{error} is not as this version writes it; {run.name} is scored again")
        if earlier is None or _lacks(earlier, options):
            folders[policy] = None if options.ships else os.path.abspath(folder)
        else:
            found[run.name, policy] = earlier
    return Task(run, folders) if folders else None


def _lacks(earlier: Outcome, options: BatchOptions) -> bool:
    """Whether an outcome of before has not all that is wanted now."""
    has_page = any(is_page(written.name) for written in earlier.files)
    return (options.problems is not None and earlier.occurrences is None) or (
        options.index is not None and not has_page
    )


def _sent(tasks: Sequence[Task], options: BatchOptions, found: dict[tuple[str, str], Outcome]) -> Iterator[Task]:
    """The tasks with the bytes of their runs; one whose run cannot be read has failed here already."""
    for task in tasks:
        try:
            yield Task(RunFile(task.run.name, task.run.file.loaded()), task.folders)
        except CsScoreError as error:
            for delivery in failures(task, str(error)):
                found[delivery.outcome.run, delivery.outcome.policy] = delivery.outcome


def _failed(outcome: Outcome, reason: str) -> Delivery:
    return failures(Task(RunFile(outcome.run, InputFile(outcome.file)), {outcome.policy: None}), reason)[0]


def _checked(delivery: Delivery, prepared: Prepared) -> Delivery:
    """The delivery, failed if its worker prepared something else: another file may lie under the same path there."""
    inputs = delivery.outcome.signature.get("inputs", ())
    seen = {(given["name"], given["sha256"]) for given in inputs} if isinstance(inputs, list) else set()
    for digest in prepared.digests:
        if seen and (digest.name, digest.sha256) not in seen:
            reason = f"the worker read another {digest.name} than this machine; put it on shared storage or ship inputs"
            return _failed(delivery.outcome, reason)
    return delivery


def _stored(delivery: Delivery, options: BatchOptions, plan: Plan) -> Outcome:
    """The outcome once its files are in the output folder."""
    outcome = delivery.outcome
    folder = folder_of_run(options.out, plan, outcome.run, outcome.policy)
    if delivery.contents:
        try:
            return write_run(folder, outcome, [(name, [data]) for name, data in delivery.contents.items()])
        except OutputError as error:
            return _failed(outcome, str(error)).outcome
    if outcome.state == FAILED and not outcome.files:
        clear(folder)  # files of an earlier batch are out of date
    return outcome
