"""Several runs against the same queries and assessments, each scored as if it were alone.

Scored in one evaluation, runs would meet in average precision, which pools their nodes (specification 9.1).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, TypeAlias

from cs_score.base.errors import InputError, UsageError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.records import replace
from cs_score.base.signing.origin import RUN
from cs_score.base.sources import InMemory, Input, name_of
from cs_score.coldstart.gold import Gold, open_gold, with_pool
from cs_score.coldstart.lines.layouts import FileKind
from cs_score.coldstart.lines.loading import kind_of, members
from cs_score.coldstart.options import Options
from cs_score.coldstart.origin import as_validated
from cs_score.coldstart.result import Result, ScoringStopped
from cs_score.coldstart.run import Run, load_run
from cs_score.coldstart.scorer import score_runs
from cs_score.problems.log import ProblemLog


def run_files(files: Iterable[Input], known: Collection[Input] = ()) -> tuple[list[Input], list[Input]]:
    """The runs and the assessments among files, told apart by their first line; a folder stands for its members.

    `known` are runs whatever they look like. Files are read again when they are scored, so that they have to be paths
    or lie in memory.
    Raises InputError for a file that is neither, and for an empty one, of which nobody can tell.
    """
    runs: list[Input] = []
    assessments: list[Input] = []
    for given in files:
        for member in members(given):
            if member in known:
                runs.append(member)
                continue
            kind = kind_of(member)
            if isinstance(member, InMemory):
                member.seek(0)
            if kind is None:
                raise InputError("empty: neither a run nor assessments", file=name_of(member))
            (runs if kind is FileKind.RUN else assessments).append(member)
    return runs, assessments


Load: TypeAlias = Callable[[Gold, Sequence[Input], ProblemLog], Run]
"""Loads a run over gold that has its pool, such as `load_run` with a log of problems."""

APART: Final = "runs_apart"
"""The option in the origin of a result of several runs that were scored each by itself."""


def load_alone(gold: Gold, files: Sequence[Input], problems: ProblemLog) -> Run:
    """The run in a file as the scorer loads it."""
    return load_run(gold, files, problems=problems)


def score_separately(
    queries: Sequence[Input], assessments: Sequence[Input], runs: Sequence[Input], options: Options | None = None
) -> list[Result]:
    """The result of each run file by itself, in order.

    Raises InputError for a file that holds several runs, and what `score` raises.
    """
    options = options or Options()
    options.check()
    with paused_collector():
        gold = with_pool(open_gold(queries, options), assessments)
        return [_score_alone(gold, file, gold.problems.branch(), load_alone) for file in runs]


def score_apart(
    gold: Gold,
    runs: Sequence[Input],
    problems: ProblemLog,
    load: Load = load_alone,
    *,
    wanted: Collection[str] | None = None,
    validated: bool = False,
) -> Result:
    """One result of run files that are scored each by itself; `wanted` are the run ids to score, all unless given.

    What is found goes into `problems`, a branch of those of gold. Raises UsageError for a run id that no file has, and
    InputError as `score_separately`.
    """
    results = [_score_alone(gold, file, problems, load) for file in runs]
    if validated:
        results = [replace(result, origin=as_validated(result.origin)) for result in results]
    if wanted is not None:
        there = {result.runs[0].run_id for result in results}
        for run_id in wanted:
            if run_id not in there:
                raise UsageError(f"no run called {run_id}; there are {', '.join(sorted(there))}")
        results = [result for run_id in wanted for result in results if result.runs[0].run_id == run_id]
    if len(results) == 1:
        return results[0]
    first, *others = (result.origin for result in results)
    inputs = (*first.inputs, *(given for origin in others for given in origin.inputs if given.role == RUN))
    return replace(
        results[0],
        runs=tuple(replace(result.runs[0], origin=result.origin) for result in results),
        problems=tuple(problems),
        warnings=tuple(dict.fromkeys(remark for result in results for remark in result.warnings)),
        origin=replace(first, inputs=inputs).with_option(APART, True),
    )


def _score_alone(gold: Gold, file: Input, problems: ProblemLog, load: Load) -> Result:
    """The result of one run file on what is loaded. Errors that name no file get its name."""
    try:
        run = load(gold, [file], problems)
        if len(run.run_ids) > 1:
            raise InputError(
                f"{len(run.run_ids)} runs in one file ({', '.join(run.run_ids)})",
                remedy="each run has a file of its own; the call without a command takes such a file as the reference "
                "does, which ranks the nodes of all its runs together",
            )
        result = score_runs(run, gold.options.policy, problems)
        if not result.runs:
            raise ScoringStopped(InputError("no line that could be scored"), result)
    except InputError as error:
        if error.file is None:
            error.file = name_of(file)
        raise
    return result
