"""The bare call, `cs-score` without the name of a command, takes the switches of the Perl scorer and writes the same
files: tables of scores, a debug file, and an error report with the problems of the input.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cs_score.base import outputs as storage
from cs_score.base.errors import CsScoreError, InputError, OutputError
from cs_score.base.outputs import Existing, PlannedOutput
from cs_score.base.runtime import Late, paused_garbage_collection
from cs_score.base.sources import Input
from cs_score.cli import output as terminal
from cs_score.cli import run_options
from cs_score.cli import shared_options as options
from cs_score.cli.call import PROGRAM, Call
from cs_score.cli.core import CommandLine, Parameter, ReferenceCommand, Status, StatusWithResults, command
from cs_score.cli.output import STDERR, Destination, is_terminal, print_unless_quiet, warn, write_text
from cs_score.cli.run_inputs import load_with_preparation
from cs_score.coldstart import output_files as outputs
from cs_score.coldstart.gold import ColdStartGold, Run, load_run, open_gold, with_remarks_on_empty_folders
from cs_score.coldstart.result import Result, ScoringStopped
from cs_score.coldstart.scorer import score_runs
from cs_score.problems.log import Problem, ProblemLog

if TYPE_CHECKING:
    from cs_score.coldstart import score_documents as documents
    from cs_score.statistics.results import ScoreIntervals
else:
    documents = Late("cs_score.coldstart.score_documents")


@command(
    "",
    run_options.select_run_options(f"{run_options.OPTIONS_OF_CALLS} -error_file -output_file --json"),
    Parameter("files...", run_options.FILES),
    command_class=ReferenceCommand,
    example=options.EXAMPLE,
    sections=(run_options.OUTPUT_FILES, run_options.FIELDS, run_options.POLICIES, *run_options.LEGEND),
)
def bare(command_line: CommandLine) -> int:
    """Score runs, and write the same files as the Perl scorer. Return the exit status, 0 or 255.

    This function does the work of the bare call, which is `cs-score` without the name of a command.
    """
    problems = ProblemLog()
    call: Call | None = None  # stays None if the command line is wrong: then no file must be written
    try:
        call = _checked_call(command_line)
        problems = call.new_log()
        return _score_and_write(call, problems)
    except CsScoreError as error:
        return _report_failure(error, problems, call)


def _score_and_write(call: Call, problems: ProblemLog) -> StatusWithResults:
    """Score the runs of a call, and write its tables, its error report and the file of --problems.

    Returns the exit status, which also holds the result. Either all files are written or none of them. Problems of the
    input are added to `problems`. Raises InputError if a file is wrong, and OutputError if writing fails.
    """
    # While the block runs, the result can read the text of its debug file from a temporary folder.
    with paused_garbage_collection(), _score_as_one_run(call, problems) as result:
        intervals = call.intervals_of(result)
        with storage.outputs_together():
            _write_tables_and_report(call, result, intervals)
            call.write_problems(problems)
        status = Status.REFERENCE_FAILURE if result.error_count else Status.DONE
        return StatusWithResults(status, result)


def _write_tables_and_report(call: Call, result: Result, intervals: Sequence[ScoreIntervals]) -> None:
    """Write the tables of a result and its error report, in the order in which the edition of the scorer does it."""
    if call.edition.reports_before_scoring:
        _report_problems_and_averages(call, result)
        call.write(result, intervals)
    else:
        call.write(result, intervals)
        _report_problems_and_averages(call, result)


def _checked_call(command_line: CommandLine) -> Call:
    """Return the call of a command line after checking its inputs, outputs and options; no file is changed.

    The checks come in the order of the reference program, so that the same fault is reported first. Raises UsageError
    or OutputError.
    """
    tables = Destination(command_line.text("-output_file"))
    error_report = Destination.of_report(command_line.text("-error_file"))
    if tables.is_file:
        _check_prefix(tables.name)
    report_outputs = _planned_report(error_report)
    json_file = command_line.get("--json")
    further_outputs = list(report_outputs)
    if json_file is not None:  # the module of JSON documents takes time to load
        # This raises UsageError for a file without the ending `.json`.
        further_outputs.extend(documents.JSON_OPTION.outputs(json_file))
    # Making the call checks all outputs, and reads the options.
    return Call(command_line, further_outputs, tables, error_report, json_file=json_file)


def _check_prefix(prefix: str) -> None:
    """Raise OutputError, with a remedy, if the file `PREFIX.debug` cannot be written.

    The message begins with the words of the Perl scorer, including its mistake `.  . lc(DEBUG)`.
    """
    reason = storage.why_not_writable(f"{prefix}.debug")
    if reason is not None:
        raise OutputError(
            f"Could not open {prefix} .  . lc(DEBUG): {reason}; -output_file is a prefix: {prefix}.debug and others "
            "are written, into a folder that must be there"
        )


def _planned_report(error_report: Destination) -> Sequence[PlannedOutput]:
    """Return a list with the file of the error report; it is empty if the report goes to a stream.

    A file that exists is replaced only if it is the error report of a call that failed.
    """
    may_replace_report = outputs.is_report_of_failed_call(error_report.name)
    existing = Existing.REPLACED if may_replace_report else Existing.REFUSED
    return error_report.planned("-error_file", existing)


@contextlib.contextmanager
def _score_as_one_run(call: Call, problems: ProblemLog) -> Iterator[Result]:
    """Score all runs of a call as if they were one run, as the reference scorer does, and yield the result.

    The debug file of a large run is kept in a temporary folder until the block ends, so the result has to be written
    inside the block. Raises InputError if a file is wrong. If an error stops the scoring, the tables that are already
    complete are written before the error is raised.
    """
    call.check_inputs()
    knowledge_bases = call.knowledge_bases  # found by reading files, hence before outputs of an earlier call go
    call.plan.remove_earlier_files()  # so that nobody takes them for results of this call
    gold = _open_gold(call, problems)
    with contextlib.ExitStack() as folder_cleanup:
        result = call.score_in_parts(gold, call.run_and_pool_files, folder_cleanup)
        if result is None:  # the run is small, or cannot be divided
            result = _score_whole_run(call, gold, knowledge_bases, problems)
        yield result


def _open_gold(call: Call, problems: ProblemLog) -> ColdStartGold:
    """Read the queries of a call, and return them as gold that has no assessments yet.

    The gold has a remark on every folder without files to load. Raises InputError if the queries cannot be read, and if
    the call names no other files.
    """
    gold = open_gold(call.query_files, call.options, problems, validates=call.has_validation)
    if not call.run_and_pool_files:
        raise InputError(
            "EvaluationQueryOutput->new called with no filenames", remedy="name a run and its assessments, too"
        )
    return with_remarks_on_empty_folders(gold, call.run_and_pool_files)


def _score_whole_run(
    call: Call, gold: ColdStartGold, knowledge_bases: frozenset[Input], problems: ProblemLog
) -> Result:
    """Load all files of a call and score them as one run, not in parts. Return the result.

    Raises InputError if files cannot be loaded or scored. If the error is ScoringStopped, the tables that are already
    complete are written first.
    """
    try:
        run = _load_runs_as_one(call, gold, knowledge_bases, problems)
        return score_runs(run, call.options.policy, problems)
    except ScoringStopped as stop:
        call.write(stop.partial_result, was_stopped=True)
        raise


def _load_runs_as_one(call: Call, gold: ColdStartGold, knowledge_bases: frozenset[Input], problems: ProblemLog) -> Run:
    """Load the assessments and all runs of a call, in the order of the files, as a single run.

    `knowledge_bases` are the files that have to become runs first. With --validate the runs are validated. Raises
    InputError if a file is wrong.
    """
    if gold.validates or knowledge_bases:
        run = load_with_preparation(gold, call.run_and_pool_files, knowledge_bases, problems)
    else:
        run = load_run(gold, call.run_and_pool_files, problems=problems)
    if run.run_ids:  # the reference looks at -fields when it scores the first run, after reading all files
        outputs.check_fields(call.layout.fields)
    return run


def _report_problems_and_averages(call: Call, result: Result) -> None:
    """Print the warnings of a result, then write the error report, which ends with the numbers of problems.

    If the tables go to files and standard error is a terminal, the averages and the signature of each run are printed
    there, too. Averages are not printed if the edition of the scorer writes the report before the tables, since making
    the tables could still fail.
    """
    warn(*result.remarks)
    _write_error_report(call, result)
    writes_files = call.output is not None and call.output.stream is None
    if writes_files and is_terminal("stderr") and not call.edition.reports_before_scoring:
        for run in result.runs:
            print_unless_quiet(f"\n{outputs.averages_text(run)}\nsignature  {result.signature(run)}\n")


def _write_error_report(call: Call, result: Result) -> None:
    """Write the error report of a result to its destination, usually the one that -error_file names.

    On standard error, most editions print the report twice, as the reference program does. An edition with the report
    before the tables prints it once, like a report in a file or on standard output. With --quiet, only the line with
    the numbers of problems is printed on standard error, and only if there are errors.
    """
    destination = _destination_of_report(call)
    goes_to_stderr = destination.stream == "stderr"
    is_printed_twice = goes_to_stderr and not call.edition.reports_before_scoring
    closing = outputs.closing_line(result.error_count, result.warning_count)
    if goes_to_stderr and terminal.is_quiet():
        write_text("stderr", f"{PROGRAM}: {closing}" if result.error_count else "")
    elif is_printed_twice:
        report = outputs.report_for_stderr(result.problems, is_for_people=is_terminal("stderr"), twice=True)
        print_unless_quiet(report + closing)
    else:
        report = outputs.whole_report(result)
        report_bytes = outputs.report_bytes(report, call.edition)  # the reference encodes its files twice
        terminal.write_report(destination, report, [report_bytes])


def _destination_of_report(call: Call) -> Destination:
    """Return the destination of the error report, which is the value of -error_file with one exception.

    If both the tables and the report go to standard output and the tables come first, the reference scorer closes
    standard output after the tables, so its report is lost. In this case, cs-score writes the report to standard error.
    """
    stream_of_tables = None if call.output is None else call.output.stream
    share_stdout = call.error_report.stream == "stdout" and stream_of_tables == "stdout"
    if share_stdout and not call.edition.reports_before_scoring:
        return STDERR
    return call.error_report


def _report_failure(error: CsScoreError, problems: ProblemLog, call: Call | None) -> int:
    """Report the problems that were found before an error ended the scoring, and the error. Return the exit status.

    `call` is None if the command line is wrong. Then no file is written, because nobody has checked whether the outputs
    may be written.
    """
    problems_so_far = list(problems)
    error_report = STDERR if call is None else call.error_report
    # Problems are only printed if the report goes to standard error, not if it goes to a file or to standard output.
    shown_problems = problems_so_far if error_report.stream == "stderr" else []
    _print_failure(error, shown_problems)
    if call is None:
        return Status.REFERENCE_FAILURE
    if error_report.is_file:
        _write_report_of_failure(call, problems_so_far, error)
    # If an output could not be written, the file of --problems is not written either.
    if not isinstance(error, OutputError):
        with contextlib.suppress(CsScoreError):
            call.write_problems(problems, error)
    return Status.REFERENCE_FAILURE


def _print_failure(error: CsScoreError, problems: Sequence[Problem]) -> None:
    """Print on standard error the problems that were found before an error ended the scoring, and then the error.

    Remarks come first. If scoring was stopped, these begin with remarks on the partial result; the remarks of the error
    follow. Nothing is printed if standard error cannot be written.
    """
    with contextlib.suppress(OutputError):
        if isinstance(error, ScoringStopped):
            warn(*error.partial_result.remarks)
        warn(*error.remarks)
        print_unless_quiet(outputs.report_for_stderr(problems, is_for_people=is_terminal("stderr")))
        write_text("stderr", f"{PROGRAM}: {error}\n")


def _write_report_of_failure(call: Call, problems: Sequence[Problem], error: CsScoreError) -> None:
    """Write the problems and the error that ended the scoring to -error_file, as the reference scorer does.

    The file ends with a mark that tells the next call that it may replace the file. Nothing is written if the file
    cannot be written.
    """
    # Most editions of the reference encode the report twice, by mistake; the bytes have to be the same here.
    report = outputs.stopped_report(problems, error, call.edition) + outputs.MAY_BE_REPLACED
    with contextlib.suppress(OutputError):
        storage.write_whole(call.error_report.name, [outputs.report_bytes(report, call.edition)])
