"""Several runs, each scored by itself over a pool that is read once: average precision never pools their nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, TypeAlias

from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_collector
from cs_score.base.signature import RUN
from cs_score.base.sources import Input, name_of, open_source
from cs_score.coldstart.gold import Gold, Run, load_run
from cs_score.coldstart.linking import kind_of, members
from cs_score.coldstart.options import APART, origin_of
from cs_score.coldstart.result import Result, ScoringStopped
from cs_score.coldstart.scorer import score_runs
from cs_score.coldstart.tab_files import FileKind, line_blocks, read_tab_file
from cs_score.problems.log import ProblemLog

Load: TypeAlias = Callable[[Gold, "OneRun", Sequence[Input], ProblemLog], Run]
"""Loads a run over gold that has its pool; further assessments come before it."""


class OneRun(Record):
    """A run among the files: its id, and whether its file holds others, whose lines are left out."""

    file: Input
    run_id: str
    is_shared: bool = False

    def over(self, gold: Gold) -> Gold:
        """Gold for loading this run alone."""
        if not self.is_shared:
            return gold
        return replace(gold, options=replace(gold.options, runids=(self.run_id,)), alone=self.run_id)


def run_files(files: Iterable[Input], known: Collection[Input] = ()) -> tuple[list[Input], list[Input]]:
    """The runs and the assessments among files, which are paths or in memory; `known` are runs whatever they look like.
    Raises InputError for a file that is neither, and for an empty one.
    """
    runs: list[Input] = []
    assessments: list[Input] = []
    for given in files:
        for member in members(given):
            if member in known:
                runs.append(member)
                continue
            kind = kind_of(member)
            if kind is None:
                raise InputError("empty: neither a run nor assessments", file=name_of(member))
            (runs if kind is FileKind.RUN else assessments).append(member)
    return runs, assessments


def runs_of(files: Iterable[Input], known: Collection[Input] = (), wanted: Sequence[str] | None = None) -> list[OneRun]:
    """The runs of run files, each of those in a file; with `wanted` those of these ids, in their order. `known` are
    knowledge bases, whose first line is the id. Raises UsageError for an id that no file has.
    """
    runs: list[OneRun] = []
    for file in files:
        run_ids = _run_ids(file, is_knowledge_base=file in known)
        runs += [OneRun(file, run_id, len(run_ids) > 1) for run_id in run_ids]
    if wanted is None:
        return runs
    there = list(dict.fromkeys(run.run_id for run in runs))
    for run_id in wanted:
        if run_id not in there:
            raise UsageError(f"no run called {run_id}; there are {', '.join(there)}{nearest(run_id, there)}")
    return [run for run_id in wanted for run in runs if run.run_id == run_id]


_BLOCK: Final = 1 << 16


def _run_ids(file: Input, *, is_knowledge_base: bool) -> list[str]:
    """The ids of the runs in a file, in the order of their first lines."""
    with open_source(file) as source:
        if is_knowledge_base:
            return [source.read_bytes().partition(b"\n")[0].decode("utf-8", "replace").strip()]
        third = {
            columns[2]
            for block in line_blocks(source, _BLOCK)
            for columns in (line.split(b"\t", 3) for line in block.split(b"\n"))
            if len(columns) > 3
        }
    if len(third) == 1:
        return [third.pop().decode("utf-8", "replace")]
    with open_source(file) as source:
        tab_file = read_tab_file(source, ProblemLog())
        found = dict.fromkeys(columns[2] for _, _, columns in tab_file.lines) if tab_file else {}
    return list(found) or [""]


def load_alone(gold: Gold, run: OneRun, pool: Sequence[Input] = (), problems: ProblemLog | None = None) -> Run:
    return load_run(run.over(gold), [*pool, run.file], problems=problems)


def score_each(gold: Gold, runs: Sequence[OneRun], load: Load = load_alone) -> list[Result]:
    """The result of each run by itself, in order, over gold that has its pool. Raises InputError."""
    with paused_collector():
        return [_score_alone(gold, run, gold.problems.branch(), load) for run in runs]


def score_apart(
    gold: Gold, runs: Sequence[OneRun], problems: ProblemLog, load: Load = load_alone, pool: Sequence[Input] = ()
) -> Result:
    """One result of runs that are scored each by itself; `problems` is a branch of those of gold, `pool` assessments
    that gold has not. Raises InputError.
    """
    results = [_score_alone(gold, run, problems, load, pool) for run in runs]
    if len(results) == 1:
        return results[0]
    first, options = results[0], results[0].options
    inputs = [
        *first.origin.inputs,
        *(each for other in results[1:] for each in other.origin.inputs if each.role == RUN),
    ]
    if any(run.is_shared for run in runs):
        inputs = list(dict.fromkeys(inputs))
        options = replace(options, runids=tuple(run.run_id for run in runs))
    origin = origin_of(options, inputs, first.has_ldc_index, validated=gold.validates)
    return replace(
        first,
        options=options,
        runs=tuple(replace(result.runs[0], origin=result.origin) for result in results),
        problems=tuple(problems),
        warnings=tuple(dict.fromkeys(remark for result in results for remark in result.warnings)),
        origin=origin.with_option(APART, True),
    )


def _score_alone(gold: Gold, one: OneRun, problems: ProblemLog, load: Load, pool: Sequence[Input] = ()) -> Result:
    try:
        run = load(gold, one, pool, problems)
        result = score_runs(run, gold.options.policy, problems)
        if not result.runs:
            raise ScoringStopped(InputError("no line that could be scored"), result)
    except InputError as error:
        if error.file is None:
            error.file = name_of(one.file)
        raise
    return result
