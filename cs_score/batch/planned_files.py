"""The files that a batch writes, replaces or removes, before it touches any of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from cs_score.batch.batch import folder_of_run
from cs_score.batch.plan.plan import Plan
from cs_score.batch.plan.runs import FILES, RunFile
from cs_score.batch.store.state import files_in, is_leftover, is_of_run
from cs_score.foundation.planned_outputs import Existing, OutputPlan, PlannedOutput


def planned_batch(
    plan: Plan,
    out: str,
    runs: Sequence[RunFile],
    gold: Iterable[str],
    problems: Sequence[PlannedOutput],
    forced: bool,
) -> OutputPlan:
    """What a batch into the folder `out` reads and writes; `gold` are the inputs of all runs."""
    paths = [*(os.path.join(out, name) for name in FILES), *files_in(out, is_leftover)]
    for run in runs:
        for policy in plan.policy_names():
            paths += _in_folder_of_run(folder_of_run(out, plan, run.name, policy), problems)
    outputs = [PlannedOutput("--out", path, Existing.REPLACED) for path in dict.fromkeys(paths)]
    return OutputPlan((*gold, *(run.file.name for run in runs)), (*outputs, *problems), forced, folder=out)


def _in_folder_of_run(folder: str, others: Iterable[PlannedOutput]) -> Iterator[str]:
    """The files that scoring a run replaces or removes there, and the names of `others` that it may use as well."""
    yield from files_in(folder, is_of_run)
    for other in others:
        where, name = os.path.split(os.path.realpath(other.path))
        if is_of_run(name) and where == os.path.realpath(folder) and not os.path.exists(other.path):
            yield os.path.join(folder, name)
