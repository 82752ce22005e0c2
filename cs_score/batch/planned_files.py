"""The files that a batch writes, replaces or removes, before it touches any of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from cs_score.base.errors import UsageError
from cs_score.base.planned_outputs import Existing, Format, OutputPlan, PlannedOutput
from cs_score.batch.batch import folder_of_run
from cs_score.batch.plan.plan import Plan
from cs_score.batch.plan.runs import FILES, INDEX, RunFile
from cs_score.batch.store.state import files_in, is_leftover, is_of_run

_BEGINNINGS: Final = {
    "leaderboard.tsv": rb"rank\tpolicy\trun\t",
    "leaderboard.json": rb'\{\s*(?:"schema_version":\s*\d+,\s*)?"sorted_by":',
    "leaderboard.md": rb"\| Rank \| ",
    "leaderboard.tex": rb"% \\usepackage\{booktabs\}",
    "answers.tsv": rb"policy\tpart\tunit\t",
    "agreement.tsv": rb"policy\twhat\trun\t",
    "stability.tsv": rb"what\tmeasure\tpolicy\t",
    "batch.json": rb'\{"schema_version": \d+, "mode": ',
    INDEX: rb'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="generator" content="cs-sc',
    "problems.tsv": rb"run\tpolicy\tseverity\tcode\t",
}
"""How the tables of batches begin: somebody else's file of such a name is not replaced without --force."""


def planned_batch(
    plan: Plan,
    out: str,
    runs: Sequence[RunFile],
    shared: Iterable[str],
    problems: Sequence[PlannedOutput],
    forced: bool,
    *,
    with_pages: bool = False,
) -> OutputPlan:
    """What a batch into the folder `out` reads and writes; `shared` are the inputs of all runs.

    Raises UsageError where a link lies in the place of a folder: what it leads to is no part of the batch.
    """
    index = os.path.join(out, INDEX)
    paths = [*(os.path.join(out, name) for name in FILES if name != INDEX), *files_in(out, is_leftover)]
    folders = [folder_of_run(out, plan, run.name, policy) for run in runs for policy in plan.policy_names()]
    for folder in folders:
        for place in (os.path.dirname(folder), folder)[len(plan.policy_names()) == 1 :]:
            if os.path.islink(place):
                raise UsageError(f"{place} is a link, where --out makes a folder; remove it, or take another --out")
        paths += _in_folder_of_run(folder, problems)
    outputs = [_planned(path) for path in dict.fromkeys(paths)]
    if with_pages:
        outputs.append(_planned(index))
    elif _planned(index).is_recognised():  # an earlier batch's, which would tell of other scores
        outputs.append(PlannedOutput("--out", index, Existing.CLEARED))
    return OutputPlan((*shared, *(run.file.name for run in runs)), (*outputs, *problems), forced, folder=out)


def _planned(path: str) -> PlannedOutput:
    beginning = _BEGINNINGS.get(os.path.basename(path))
    if beginning is None:
        return PlannedOutput("--out", path, Existing.REPLACED)
    return PlannedOutput("--out", path, Existing.KNOWN, Format(re.compile(beginning)))


def _in_folder_of_run(folder: str, others: Iterable[PlannedOutput]) -> Iterator[str]:
    """The files that scoring a run replaces or removes there, and the names of `others` that it may use as well."""
    yield from files_in(folder, is_of_run)
    for other in others:
        where, name = os.path.split(os.path.realpath(other.path))
        if is_of_run(name) and where == os.path.realpath(folder) and not os.path.exists(other.path):
            yield os.path.join(folder, name)
