"""`cs-score [switches] files...`: the Cold Start scorer's command line (specification 1)."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from cs_score.base.errors import CsScoreError, InputError, UsageError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.outputs import folder_beside, is_device
from cs_score.base.records import Record, replace
from cs_score.base.sources import InMemory, Input, name_of, open_source
from cs_score.cli.leaving import FAILED, Finished
from cs_score.cli.options import CommandLine
from cs_score.cli.scorer.call import Call, understand
from cs_score.cli.scorer.results import give_up, report, write_files, write_problems_file
from cs_score.cli.scorer.validated import knowledge_bases_in, load_prepared, signed_as_validated
from cs_score.coldstart.gold import Gold, Run, load_run, noting_folders, open_gold, with_pool
from cs_score.coldstart.linking import members
from cs_score.coldstart.result import Result, ScoringStopped
from cs_score.coldstart.scorer import Load, load_alone, run_files, score_apart, score_runs
from cs_score.coldstart.tables import check_fields
from cs_score.problems.log import ProblemLog

if TYPE_CHECKING:
    from cs_score.statistics.results import ScoreIntervals


def run(line: CommandLine) -> int:
    """Score as the command line says; returns the exit status, 0 or 255."""
    problems = ProblemLog()
    call: Call | None = None
    try:
        call = understand(line)
        problems = new_log(call.problems_file)
        with paused_collector():
            return _score(call, problems)
    except CsScoreError as error:
        return give_up(error, problems, call)


def _score(call: Call, problems: ProblemLog) -> Finished:
    with scored(call, problems) as scoring:
        result = scoring.result
        steps = (partial(write_files, call, result, scoring.intervals), partial(report, call, result))
        for step in reversed(steps) if call.options.edition.reports_first else steps:
            step()
        if call.problems_file is not None:
            write_problems_file(problems, call.problems_file)
    return Finished(FAILED if result.error_count else 0, scoring)


class Scoring(Record):
    """What a call has scored."""

    gold: Gold
    result: Result
    intervals: Sequence[ScoreIntervals]


@contextlib.contextmanager
def scored(call: Call, problems: ProblemLog) -> Iterator[Scoring]:
    """Score as a call asks for, once its inputs can be opened. Within, the text of a large run's debug file is there.

    Raises InputError; where scoring is stopped what is complete has been written.
    """
    _check_inputs(call)
    call = replace(call, knowledge_bases=call.knowledge_bases | knowledge_bases_in(call.files))
    call.plan.clear()
    gold = open_gold(call.query_files, call.options, problems)
    if not call.files:
        raise InputError(
            "EvaluationQueryOutput->new called with no filenames", remedy="name a run and its assessments, too"
        )
    gold = noting_folders(gold, call.files)
    with contextlib.ExitStack() as unfinished:
        result = _scored_in_parts(call, gold, unfinished) or _scored_whole(call, gold, problems)
        yield Scoring(gold, result, _intervals(call, result))


@contextlib.contextmanager
def scored_apart(call: Call, problems: ProblemLog) -> Iterator[Scoring]:
    """As `scored`, but each run by itself, over a pool that is read first wherever it stands among the files.

    Raises UsageError where no run is named, or no assessments.
    """
    call = replace(call, files=tuple(InMemory("-", sys.stdin.buffer.read()) if f == "-" else f for f in call.files))
    _check_inputs(call)
    call = replace(call, knowledge_bases=call.knowledge_bases | knowledge_bases_in(call.files))
    runs, assessments = _told_apart(call)
    call.plan.clear()
    wanted = call.options.runids
    options = replace(call.options, runids=None)
    gold = noting_folders(open_gold(call.query_files, options, problems), call.files)
    with contextlib.ExitStack() as unfinished:
        result = None
        if len(runs) == 1 and wanted is None:
            call = replace(call, files=(*assessments, *runs))
            result = _scored_in_parts(call, gold, unfinished)
        if result is None:
            gold = with_pool(gold, assessments, problems)
            result = score_apart(gold, runs, problems, _loader(call), wanted=wanted, validated=call.validates)
            check_fields(call.layout.fields)
        yield Scoring(gold, result, _intervals(call, result))


def _told_apart(call: Call) -> tuple[list[Input], list[Input]]:
    """The runs, with knowledge bases among them, and the assessments."""
    folders = [word for word in call.files if call.validates and isinstance(word, str) and os.path.isdir(word)]
    runs, assessments = run_files(call.files, {*call.knowledge_bases, *folders})
    for found, lacking in ((runs, "run"), (assessments, "assessments (pool)")):
        if not found:
            there = ", ".join(map(name_of, call.files)) or "no file beside the queries"
            raise UsageError(f"no {lacking} among the files: there is {there}; name queries, assessments and a run")
    if not call.query_files:
        raise UsageError("no query file (*.xml) among the files; name queries, assessments and a run")
    return runs, assessments


def _loader(call: Call) -> Load:
    def load(gold: Gold, files: Sequence[Input], problems: ProblemLog) -> Run:
        if not (call.validates or call.knowledge_bases):
            return load_alone(gold, files, problems)
        known = [file for file in files if file in call.knowledge_bases]
        return load_prepared(gold, files, known, problems, validates=call.validates)

    return load


def _intervals(call: Call, result: Result) -> Sequence[ScoreIntervals]:
    if call.resampling is None:
        return ()
    from cs_score.coldstart.unit_statistics import intervals

    return intervals(result, call.resampling)


def _scored_in_parts(call: Call, gold: Gold, unfinished: contextlib.ExitStack) -> Result | None:
    """The result of a large run scored in parts; None where it is small, or has to be scored whole.

    The text of its debug file lies in a folder that goes with `unfinished`.
    """
    needs_all = call.validates or call.knowledge_bases or call.json_file is not None or call.problems_file is not None
    parts = 1 if needs_all else call.division.parts_of(call.files)
    if parts == 1:
        return None
    from cs_score.base.processes import processors
    from cs_score.coldstart.parts import score_in_parts

    try:
        check_fields(call.layout.fields)
    except InputError:  # it comes after what is fatal in the files
        return None
    jobs = call.division.jobs or processors()
    path = None if call.output is None or call.output.stream is not None else f"{call.output.text}.debug"
    beside = None if path is None or is_device(path) else path
    return score_in_parts(
        gold, list(map(name_of, call.files)), parts, jobs, unfinished.enter_context(folder_beside(beside))
    )


def _scored_whole(call: Call, gold: Gold, problems: ProblemLog) -> Result:
    """Load all files and score the runs. The files of completed stages are written before ScoringStopped is raised."""
    try:
        if call.validates or call.knowledge_bases:
            validates = call.validates
            run = load_prepared(gold, call.files, call.knowledge_bases, problems, validates=validates)
        else:
            run = load_run(gold, call.files, problems=problems)
        if run.run_ids:
            check_fields(call.layout.fields)
        result = score_runs(run, call.options.policy, problems)
        return signed_as_validated(result) if call.validates else result
    except ScoringStopped as stop:
        write_files(call, stop.partial, was_stopped=True)
        raise


def _check_inputs(call: Call) -> None:
    """Raises InputError where an input cannot be opened."""
    for given in (*call.query_files, *(member for word in call.files for member in members(word))):
        if given != "-" and not isinstance(given, InMemory):
            with open_source(given):
                pass


def new_log(problems_file: str | None) -> ProblemLog:
    """A log that keeps all details where they are written to a file."""
    if problems_file is None:
        return ProblemLog()
    from cs_score.problems.occurrences import RecordingLog

    return RecordingLog()
