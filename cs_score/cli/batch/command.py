"""`cs-score batch`: many runs against one gold standard, on one machine or several."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from cs_score.base.display import one_line
from cs_score.base.errors import OutputError, UsageError
from cs_score.base.planned_outputs import OutputPlan
from cs_score.base.records import Record
from cs_score.base.sources import is_pipe
from cs_score.batch.batch import BatchOptions, BatchResult, run_batch
from cs_score.batch.execution.progress import Progress
from cs_score.batch.execution.run_tasks import Backend
from cs_score.batch.plan.inputs import InputFile
from cs_score.batch.plan.plan import Plan, Prepared
from cs_score.batch.plan.runs import RunFile, find_runs
from cs_score.batch.planned_files import planned_batch
from cs_score.batch.store.outcomes import FAILED
from cs_score.batch.store.pages import MakePage
from cs_score.batch.tables.leaderboard_writers import leaderboard_text
from cs_score.cli.destinations import is_quiet, print_text, say
from cs_score.cli.options import CommandLine
from cs_score.measures.registry import find

SHOWN: Final = 10
"""Rows of the leaderboard that are printed."""

INTERRUPTED: Final = 130


class Choices(Record):
    """What both forms of the command line say beside the scoring; `gold` are the files that all runs share."""

    out: str
    runs: tuple[str, ...]
    runs_from: str | None = None
    sort_by: str | None = None
    jobs: int | None = None
    dask: str | None = None
    ship_inputs: bool = False
    resume: bool = False
    gold: tuple[str, ...] = ()
    problems: str | None = None
    forced: bool = False
    html: bool = False


def choices_of(line: CommandLine, runs: Sequence[str], gold: tuple[str, ...], jobs: int | None) -> Choices:
    """What the command line says of the batch."""
    return Choices(
        out=line.text("--out", ""),
        runs=tuple(runs),
        runs_from=line.switches.get("--runs-from"),
        sort_by=line.switches.get("--sort-by"),
        jobs=jobs,
        dask=line.switches.get("--dask"),
        ship_inputs="--ship-inputs" in line.switches,
        resume="--resume" in line.switches,
        gold=gold,
        problems=line.switches.get("--problems"),
        forced="--force" in line.switches,
        html="--html" in line.switches,
    )


def held(path: str) -> InputFile:
    """An input as all runs share it: standard input and pipes can be read only once."""
    given = InputFile(path)
    return given.loaded() if path == "-" or is_pipe(path) else given


def page_maker_if(wanted: bool) -> MakePage | None:
    """What makes pages, where they are wanted. Raises MissingExtraError where it lacks a package."""
    if not wanted:
        return None
    from cs_score.report.documents import page_maker

    return page_maker()


def score_batch(plan: Plan, choices: Choices, members: Sequence[str]) -> int:
    """Find the runs, score them, print the top of the leaderboard; the exit status.

    `members`: endings of the files of a folder that are runs. Raises CsScoreError where nothing can be scored.
    """
    measure = None if choices.sort_by is None else _measure(choices.sort_by, plan.measures())
    if choices.dask is not None and choices.jobs is not None:
        raise UsageError("--jobs is for this machine; with --dask the workers of the cluster are used")
    if choices.ship_inputs and choices.dask is None:
        raise UsageError("--ship-inputs goes with --dask")
    runs, remarks = find_runs(choices.runs, choices.runs_from, members)
    for text in remarks:
        _tell(text)
    outputs = _outputs(plan, choices, runs)
    outputs.check()
    outputs.clear()
    runs = [_fit_for_task(given, choices) for given in runs]
    index = page_maker_if(choices.html)
    options = BatchOptions(choices.out, measure, choices.resume, choices.ship_inputs, choices.problems, index)
    try:
        result = run_batch(plan, runs, options, _opener(choices, len(runs)), _watch, _tell)
    except KeyboardInterrupt:
        _tell(f"interrupted; the runs in {choices.out} are whole, and the same command with --resume goes on")
        return INTERRUPTED
    _report(result, choices.out)
    return 1 if result.failed else 0


def _measure(wanted: str, known: Sequence[str]) -> str:
    measure = find(wanted, known)
    if measure is None:
        raise UsageError(f"--sort-by {wanted}: no such measure; there are {', '.join(known)}")
    return measure


def _outputs(plan: Plan, choices: Choices, runs: Sequence[RunFile]) -> OutputPlan:
    """What is read and written. Raises UsageError for a file name that --problems refuses."""
    from cs_score.problems.reports import OPTION

    shared = choices.gold if choices.runs_from is None else (*choices.gold, choices.runs_from)
    return planned_batch(
        plan,
        choices.out,
        runs,
        shared,
        tuple(OPTION.outputs(choices.problems)),
        choices.forced,
        with_pages=choices.html,
    )


def _fit_for_task(given: RunFile, choices: Choices) -> RunFile:
    if given.file.name == "-" or is_pipe(given.file.name):
        return RunFile(given.name, given.file.loaded())
    if choices.dask is not None and not choices.ship_inputs:
        return RunFile(given.name, given.file.located())
    return given


def _opener(choices: Choices, runs: int) -> Callable[[str, Plan, Prepared], contextlib.AbstractContextManager[Backend]]:
    @contextlib.contextmanager
    def open_backend(batch: str, plan: Plan, prepared: Prepared) -> Iterator[Backend]:
        if choices.dask is not None:
            from cs_score.batch.execution.dask_cluster import dask_backend

            with dask_backend(batch, plan.travelling(choices.ship_inputs), choices.dask) as backend:
                yield backend
            return
        from cs_score.base.processes import processes_for
        from cs_score.batch.execution.executors import local_backend

        with local_backend(batch, plan, prepared, min(processes_for(choices.jobs), runs)) as backend:
            yield backend

    return open_backend


@contextlib.contextmanager
def _watch(total: int) -> Iterator[Progress]:
    if is_quiet():
        with open(os.devnull, "w") as nothing:
            yield Progress(nothing, total)
        return
    progress = Progress(sys.stderr, total)
    try:
        yield progress
    finally:
        progress.close()


def _tell(text: str) -> None:
    with contextlib.suppress(OutputError):
        say(f"cs-score: {one_line(text)}\n")


def _report(result: BatchResult, out: str) -> None:
    print_text(leaderboard_text(result.leaderboard, SHOWN))
    scored = sum(outcome.state != FAILED for outcome in result.outcomes)
    parts = [f"{scored} scored" if not result.kept else f"{scored} scored ({result.kept} of them before)"]
    if failed := len(result.outcomes) - scored:
        parts.append(f"{failed} failed")
    if with_errors := result.failed - failed:
        parts.append(f"{with_errors} of those scored with errors in the input")
    if result.failed:
        parts[-1] += f" (see {os.path.join(out, 'problems.tsv')})"
    parts.append(f"all ranks in {os.path.join(out, 'leaderboard.tsv')}")
    _tell("; ".join(parts))
