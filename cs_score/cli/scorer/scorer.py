"""`cs-score [switches] files...`: the Cold Start scorer's command line (specification 1)."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from cs_score.cli.destinations import Destination, say, write_report, write_text, write_to_stream
from cs_score.cli.leaving import Finished
from cs_score.cli.options import CommandLine
from cs_score.cli.parts_options import Sharing, read_sharing
from cs_score.cli.problem_display import report_on_stderr
from cs_score.cli.resampling_options import read_resampling
from cs_score.cli.scorer.options import layout_of, options_of, policy_texts
from cs_score.cli.scorer.usage import DEFAULTS, PROGRAM
from cs_score.cli.scorer.validated import (
    knowledge_bases_in,
    load_prepared,
    new_log,
    own_outputs,
    signed_as_validated,
    write_problems_file,
)
from cs_score.coldstart.gold import Gold, noting_folders, open_gold
from cs_score.coldstart.lines.loading import members
from cs_score.coldstart.options import Options
from cs_score.coldstart.queries.query_files import is_query_file
from cs_score.coldstart.result import Result, ScoringStopped
from cs_score.coldstart.run import load_run
from cs_score.coldstart.scorer import score_runs
from cs_score.coldstart.writers.fields import check_fields
from cs_score.coldstart.writers.files import Layout, file_blocks, parts, written
from cs_score.coldstart.writers.params import Invocation
from cs_score.coldstart.writers.report import closing_line, doubly_encoded, stopped_report, whole_report
from cs_score.coldstart.writers.tables import averages_text
from cs_score.foundation.errors import CsScoreError, InputError, OutputError
from cs_score.foundation.garbage_collection import paused_collector
from cs_score.foundation.outputs import encoded, folder_beside, is_device, write_packed, write_whole
from cs_score.foundation.planned_outputs import Existing, OutputPlan, PlannedOutput, why_not_writable
from cs_score.foundation.sources import name_of, open_source
from cs_score.problems.log import ProblemLog

if TYPE_CHECKING:
    from cs_score.statistics.options import Resampling
    from cs_score.statistics.score_intervals import ScoreIntervals

FAILED: Final = 255
"""Exit status of the reference scorer for errors and fatal conditions."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command line that has been understood and checked."""

    plan: OutputPlan
    options: Options
    layout: Layout
    output: Destination
    errors: Destination
    query_files: tuple[str, ...]
    files: tuple[str, ...]
    knowledge_bases: frozenset[str]
    invocation: Invocation
    json_file: str | None
    problems_file: str | None
    validates: bool
    resampling: Resampling | None
    sharing: Sharing


def run(line: CommandLine) -> int:
    """Score as the command line says; returns the exit status, 0 or 255."""
    problems = ProblemLog()
    command: Command | None = None
    try:
        command = _understand(line)
        problems = new_log(command.problems_file)
        with paused_collector():
            return _score(command, problems)
    except CsScoreError as error:
        return _give_up(error, problems, command)


def _understand(line: CommandLine) -> Command:
    """Check the command line in the reference's order, so that the same fault is named first; touches no file."""
    output = Destination(line.text("-output_file", DEFAULTS["-output_file"]))
    if output.stream is None and (reason := why_not_writable(f"{output.text}.debug")) is not None:
        raise OutputError(
            f"Could not open {output.text} .  . lc(DEBUG): {reason}; -output_file is a prefix: {output.text}.debug and "
            "others are written, into a folder that must be there"
        )
    errors = Destination(line.text("-error_file", DEFAULTS["-error_file"]))
    plan = _plan(line, output, errors)
    plan.check()
    options = options_of(line)
    return Command(
        plan,
        options,
        layout_of(line),
        output,
        errors,
        tuple(word for word in line.words if is_query_file(word)),
        (*(word for word in line.words if not is_query_file(word)), *line.texts("--knowledge-base")),
        frozenset(line.texts("--knowledge-base")),
        Invocation(
            time.localtime(), os.getcwd(), (PROGRAM, *line.typed), policy_texts(line), options.samples is not None
        ),
        line.switches.get("--json"),
        line.switches.get("--problems"),
        "--validate" in line.switches,
        read_resampling(line.switches),
        read_sharing(line),
    )


def _plan(line: CommandLine, output: Destination, errors: Destination) -> OutputPlan:
    """What the call reads and writes. Raises UsageError for an own option's file that cannot be called so."""
    named = (*line.words, *filter(None, map(line.switches.get, ("-queries", "-samples"))))
    outputs: list[PlannedOutput] = []
    if output.stream is None:
        paths = [f"{output.text}.{file.ending}" for file in written(line.switches)]
        outputs += [PlannedOutput("-output_file", path, Existing.CLEARED) for path in paths]
    outputs += errors.planned("-error_file", Existing.REFUSED)
    outputs += own_outputs(line)
    return OutputPlan(
        [name_of(member) for word in named for member in members(word)], outputs, "--force" in line.switches
    )


def _score(command: Command, problems: ProblemLog) -> Finished:
    _check_inputs(command)
    command = replace(command, knowledge_bases=command.knowledge_bases | knowledge_bases_in(command.files))
    command.plan.clear()
    gold = open_gold(command.query_files, command.options, problems)
    if not command.files:
        raise InputError(
            "EvaluationQueryOutput->new called with no filenames", remedy="name a run and its assessments, too"
        )
    gold = noting_folders(gold, command.files)
    with contextlib.ExitStack() as unfinished:
        result = _scored_in_shares(command, gold, unfinished) or _scored_whole(command, gold, problems)
        _write_files(command, result, _intervals(command, result))
        _report(command, result)
        if command.problems_file is not None:
            write_problems_file(problems, command.problems_file)
    return Finished(FAILED if result.error_count else 0, (gold, result))


def _intervals(command: Command, result: Result) -> Sequence[ScoreIntervals]:
    if command.resampling is None:
        return ()
    from cs_score.coldstart.run_intervals import intervals

    return intervals(result, command.resampling)


def _scored_in_shares(command: Command, gold: Gold, unfinished: contextlib.ExitStack) -> Result | None:
    """The result of a large run scored in shares; None where it is small, or has to be scored whole.

    The text of its debug file lies in a folder that goes with `unfinished`.
    """
    needs_all = (
        command.validates
        or command.knowledge_bases
        or command.json_file is not None
        or command.problems_file is not None
    )
    shares = 1 if needs_all else command.sharing.shares_of(command.files)
    if shares == 1:
        return None
    from cs_score.coldstart.partition.scoring import score_in_shares
    from cs_score.foundation.processes import processors

    try:
        check_fields(command.layout.fields)
    except InputError:  # it comes after what is fatal in the files
        return None
    jobs = command.sharing.jobs or processors()
    path = f"{command.output.text}.debug"
    beside = None if command.output.stream is not None or is_device(path) else path
    return score_in_shares(gold, command.files, shares, jobs, unfinished.enter_context(folder_beside(beside)))


def _scored_whole(command: Command, gold: Gold, problems: ProblemLog) -> Result:
    """Load all files and score the runs. The files of completed stages are written before ScoringStopped is raised."""
    try:
        if command.validates or command.knowledge_bases:
            validates = command.validates
            run = load_prepared(gold, command.files, command.knowledge_bases, problems, validates=validates)
        else:
            run = load_run(gold, command.files, problems=problems)
        if run.run_ids:
            check_fields(command.layout.fields)
        result = score_runs(run, command.options.policy, problems)
        return signed_as_validated(result) if command.validates else result
    except ScoringStopped as stop:
        _write_files(command, stop.partial, was_stopped=True)
        raise


def _check_inputs(command: Command) -> None:
    """Raises InputError where an input cannot be opened."""
    for given in (*command.query_files, *(member for word in command.files for member in members(word))):
        if given != "-":
            with open_source(given):
                pass


def _write_files(
    command: Command, result: Result, of_runs: Sequence[ScoreIntervals] = (), *, was_stopped: bool = False
) -> None:
    if command.json_file is not None and not was_stopped:
        _write_json(command.json_file, result, of_runs)
    if command.output.stream is not None:
        for blocks in parts(result, command.layout, command.invocation, of_runs):
            write_to_stream(command.output, blocks)
        return
    for ending, blocks in file_blocks(result, command.layout, command.invocation, of_runs, was_stopped):
        write_whole(f"{command.output.text}.{ending}", blocks)


def _write_json(path: str, result: Result, of_runs: Sequence[ScoreIntervals]) -> None:
    from cs_score.coldstart.writers.json_result import json_text

    if path == "-":
        write_to_stream(Destination("stdout"), encoded(json_text(result, of_runs)))
    else:
        write_packed(path, encoded(json_text(result, of_runs)))


def _report(command: Command, result: Result) -> None:
    """Remarks on standard error, then the report, twice as the reference writes it, and its closing line."""
    _remark(result.warnings)
    # Where both go to standard output the reference has closed it by now and its report is lost.
    lost = command.errors.stream == "stdout" and command.output.stream == "stdout"
    errors = command.errors if not lost else Destination("stderr")
    if errors.stream == "stderr":
        say(report_on_stderr(result.problems, twice=True) + closing_line(result.error_count, result.warning_count))
    else:
        text = whole_report(result.problems, result.error_count, result.warning_count)
        write_report(errors, text, [doubly_encoded(text)])
    if command.output.stream is None and sys.stderr is not None and sys.stderr.isatty():
        say("".join(f"\n{averages_text(run)}\nsignature  {result.signature(run)}\n" for run in result.runs))


def _remark(remarks: Sequence[str]) -> None:
    for remark in remarks:
        say(f"{PROGRAM}: warning: {InputError(remark)}\n")


def _give_up(error: CsScoreError, problems: ProblemLog, command: Command | None) -> int:
    """The problems so far and one line that says what ended the scoring, there and on standard error.

    No file is written where there is no command: its outputs have not passed all checks.
    """
    collected = list(problems)
    errors = Destination("stderr") if command is None else command.errors
    with contextlib.suppress(OutputError):
        if isinstance(error, ScoringStopped):
            _remark(error.partial.warnings)
        if errors.stream == "stderr":
            say(report_on_stderr(collected))
        write_text("stderr", f"{PROGRAM}: {error}\n")
    with contextlib.suppress(OutputError):
        if errors.stream is None:
            write_whole(errors.text, [doubly_encoded(stopped_report(collected, error))])
    if command is not None and command.problems_file is not None:
        with contextlib.suppress(CsScoreError):
            write_problems_file(problems, command.problems_file, error)
    return FAILED
