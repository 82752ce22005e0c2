"""Shared parts of the commands that are used before the scorer: checks of their files, and their error reports."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

from cs_score.base.errors import CsScoreError, InputError, OutputError
from cs_score.base.outputs import Existing, OutputPlan, PlannedOutput, outputs_together, utf8_blocks
from cs_score.base.runtime import paused_garbage_collection
from cs_score.base.sources import name_of
from cs_score.cli import output as terminal
from cs_score.cli.core import (
    Command,
    CommandLine,
    Option,
    Parameter,
    ReferenceCommand,
    Status,
    StatusWithResults,
    command,
)
from cs_score.cli.output import Destination, is_terminal, print_unless_quiet, write_text
from cs_score.cli.shared_options import select_options
from cs_score.coldstart.linking import expand_folder
from cs_score.coldstart.options import JustificationLimits
from cs_score.coldstart.output_files import closing_line, report_bytes, report_for_stderr, report_text
from cs_score.coldstart.queries import QueryFiles, load_queries
from cs_score.preparation.assessments import CheckedPool, check_pool
from cs_score.preparation.pooling import Depth
from cs_score.preparation.prepared_runs import CheckedRun, RunLimits, check_run
from cs_score.preparation.source_documents import DocumentList, read_document_list
from cs_score.problems.codes import Severity
from cs_score.problems.log import ProblemLog, RecordingLog
from cs_score.problems.reports import PROBLEMS_OPTION, write_problems

MOST_FATAL_LINES: Final = 50
"""How many fatal conditions are printed at most: a run may have a million bad lines."""

DOCUMENTS: Final = Option("-docs FILE", "Documents of the task: DOCID, LENGTH and FILE, separated by tabs")

Work: TypeAlias = Callable[[CommandLine, "Session"], int]
"""A function that does a program's work for a command line, in a session. It returns the exit status."""


class Program(NamedTuple):
    """A program that is used before the scorer, such as `validate-run`: how it is called, and which files it writes."""

    name: str
    options: tuple[Option, ...]
    """Its options without those for error reports, which are added."""
    parameters: tuple[Parameter, ...]
    planned_outputs: Callable[[CommandLine], Iterable[PlannedOutput]]
    """Returns the files that the program writes for a command line, without its error reports."""
    example: str
    """The words of an example of a call, which works with the sample files."""
    rule_for_existing_error_file: Existing | None = Existing.REFUSED
    """What happens to an error file that exists already; None for a program without an error report."""
    error_file_help: str = "Where to report problems: a new file, stdout or stderr"
    encodes_report_once: bool = False
    """Whether the error report is in UTF-8; other programs encode theirs twice, as the Perl programs do."""

    def as_command(self, do_work: Work) -> Callable[[str], Command]:
        """Decorate `do_work`, the function that does the work of this program: `@VALIDATE_RUN.as_command`.

        Returns a function that takes a task, such as `coldstart`, and returns the command of the program for it. The
        command is the same for every task.
        """
        options = list(self.options)
        # This rule applies only to programs with an error report.
        if self.rule_for_existing_error_file is not None:
            options.append(Option("-error_file FILE", self.error_file_help, "STDERR"))
            options.extend(select_options("--problems --force"))

        def run(command_line: CommandLine) -> int:
            """Run the program for a command line, and return the exit status."""
            return self._run(do_work, command_line)

        decorate = command(self.name, options, *self.parameters, command_class=ReferenceCommand, example=self.example)
        return decorate(run)

    def _run(self, do_work: Work, command_line: CommandLine) -> int:
        """Check the inputs and outputs of a command line, and do the program's work. Return the exit status.

        Errors are reported rather than raised.
        """
        command_name = f"cs-score {self.name}"
        try:
            output_plan = self._plan(command_line)
        except CsScoreError as error:
            write_text("stderr", f"{command_name}: {error}\n")
            return Status.REFERENCE_FAILURE
        output_plan.remove_earlier_files()
        session = Session(command_name, command_line, encodes_report_once=self.encodes_report_once)
        try:
            with paused_garbage_collection(), outputs_together():
                return do_work(command_line, session)
        except CsScoreError as error:
            return session.give_up(error)

    def _plan(self, command_line: CommandLine) -> OutputPlan:
        """Return the checked plan of inputs and outputs. Raises UsageError or OutputError if they overlap."""
        outputs = list(self.planned_outputs(command_line))
        outputs.extend(self._planned_error_file(command_line))
        outputs.extend(PROBLEMS_OPTION.outputs(command_line.get("--problems")))
        return command_line.plan(outputs, self._names_of_inputs(command_line, outputs))

    def _planned_error_file(self, command_line: CommandLine) -> Sequence[PlannedOutput]:
        """Return the file of -error_file as the only item; nothing if the report goes to a stream or there is none."""
        if self.rule_for_existing_error_file is None:
            return ()
        error_file = Destination.of_report(command_line.text("-error_file"))
        return error_file.planned("-error_file", self.rule_for_existing_error_file)

    def _names_of_inputs(self, command_line: CommandLine, outputs: Iterable[PlannedOutput]) -> list[str]:
        """Return the names of all files that the program reads, including files in folders and in the document list.

        The document list is read only if an output exists already, because this output could be one of the listed
        documents.
        """
        inputs: list[str] = []
        for parameter, word in zip(self.parameters, command_line.positional_words):
            if not parameter.is_output:
                inputs.extend(name_of(file) for file in expand_folder(word))
        document_list = command_line.get("-docs")
        if document_list is None:
            return inputs
        inputs.append(document_list)
        has_existing_output = any(os.path.exists(output.path) for output in outputs)
        if has_existing_output:
            inputs.extend(_documents_of(document_list))
        return inputs


def _documents_of(document_list: str) -> list[str]:
    """Return the files in a document list; none if it cannot be read. The program reports later why it cannot."""
    if not os.path.isfile(document_list):
        return []
    try:
        return list(read_document_list(document_list).file_by_docid.values())
    except InputError:
        return []


class Session:
    """One call of a program such as `validate-run`. It reads the inputs, collects their problems, and writes the error
    report. The report lists these problems, and ends with a closing line that states the numbers of errors and
    warnings.

    A program reads and checks its inputs, calls `report_problems`, writes its results if there are no errors, and
    finally calls `end_report`.
    """

    def __init__(self, command_name: str, command_line: CommandLine, *, encodes_report_once: bool) -> None:
        """Start a call with an empty log of problems. Messages begin with `command_name`.

        If `encodes_report_once` is true, the error report is in UTF-8. Otherwise, it is encoded to UTF-8 twice, as in
        the reference program.
        """
        self._command_name = command_name
        self._command_line = command_line
        self._encodes_report_once = encodes_report_once
        self._problems_output = command_line.get("--problems")
        self.problems = ProblemLog() if self._problems_output is None else RecordingLog()
        # The destination of the error report. Its parts are written to a stream one by one, but to a file all at once
        # at the end.
        self._report_destination = Destination("stderr")
        # The destination of announcements and the closing line, if they are not part of the error report.
        self._closing_line_destination: Destination | None = None
        # Announcements are warnings above the error report, for example that a file was not validated. They are kept
        # here if the report is written to a file.
        self._announcements = ""
        self._report_pieces: list[str] = []
        self._is_report_printed = False
        self._error_count = 0
        self._warning_count = 0

    # ---- Inputs

    def read_documents(self) -> DocumentList | None:
        """Return the document list of -docs, None without that option. Raises InputError if it cannot be read."""
        name = self._command_line.get("-docs")
        return None if name is None else read_document_list(name)

    def read_queries(self, documents: DocumentList | None = None) -> QueryFiles:
        """Return the queries in the file that the first word names; problems are added to the log.

        The offsets in them are checked against the lengths of `documents`.
        """
        lengths = None if documents is None else documents.length_by_docid
        query_file = self._command_line.positional_words[0]
        return load_queries([query_file], id_base=None, problems=self.problems, length_by_document=lengths)

    def check_runs(
        self, files: Sequence[str], justifications: JustificationLimits | None = None, depth: str = ""
    ) -> CheckedRun:
        """Read files as one run with answers to the queries, and return it after all checks.

        `justifications` limits the number of justifications; the default is the value of -justifications. `depth` is
        the value of -depth: `B:5` keeps the best five nodes of each query, and an empty string keeps all nodes. Raises
        InputError if a file cannot be read.
        """
        documents = self.read_documents()
        depth_limit = Depth.parse(depth)
        if justifications is None:
            justifications = JustificationLimits.parse(self._command_line.text("-justifications"))
        for file in files:
            check_exists(file)
        queries = self.read_queries(documents)
        return check_run(
            list(files),
            queries,
            RunLimits(justifications, depth_limit),
            self.problems,
            documents,
            allow_comments="-allow_comments" in self._command_line,
        )

    def check_assessments(self, file: str) -> CheckedPool:
        """Return the problems that scoring would have with the assessments in a file, grouped by kind.

        Remarks on the queries are printed. Raises InputError if the file cannot be read, and if it is a run.
        """
        documents = self.read_documents()
        check_exists(file)
        queries = self.read_queries(documents)
        self.remark(*queries.remarks)
        lengths = None if documents is None else documents.length_by_docid
        return check_pool(queries.query_set, [file], self.problems, lengths)

    # ---- Reports

    def send_report_to(self, destination_text: str, *, keeps_stdout_short: bool = False) -> None:
        """Set the destination of the error report: a path, `stdout` or `stderr`, usually the value of -error_file.

        Until this method is called, the report goes to standard error. If `keeps_stdout_short` is true, only
        announcements (lines above the report) and the closing line go to standard output, and the report goes to
        standard error.
        """
        self._report_destination = Destination.of_report(destination_text)
        if keeps_stdout_short and self._report_destination.stream == "stdout":
            self._closing_line_destination = self._report_destination
            self._report_destination = Destination("stderr")

    def announce(self, text: str) -> None:
        """Add a line above the error report. It is printed at once, or kept if the report is written to a file."""
        self._announcements += f"{text}\n"
        if self._closing_line_destination is not None:  # announcements have the same destination as the closing line
            write_text("stdout", f"{text}\n")
        elif self._report_destination.stream is not None:
            write_text(self._report_destination.stream, f"{text}\n")

    def remark(self, *texts: str) -> None:
        """Print warnings that are not part of the error report on standard error, one line each."""
        for text in texts:
            print_unless_quiet(f"{self._command_name}: warning: {InputError(text)}\n")

    def add_fatal(self, fatal: Iterable[InputError]) -> None:
        """Add fatal conditions to the log of problems, and write the file of --problems."""
        self.problems.fatal_errors.extend(fatal)
        self._write_problems()

    @property
    def has_errors(self) -> bool:
        """Whether `report_problems` has reported an error. In this case, most programs write no results."""
        return self._error_count > 0

    def report_problems(self) -> None:
        """Report the problems found. A stream gets the report at once; `end_report` writes it to a file.

        Problems that are found later, while results are being written, are not reported.
        """
        self._error_count = self.problems.count(Severity.ERROR)
        self._warning_count = self.problems.count(Severity.WARNING)
        self._report_pieces = list(self._problem_texts())
        if self._report_destination.stream is not None:
            self._write_report(self._report_pieces)
            self._is_report_printed = True

    def end_report(self, results: object) -> int:
        """Finish the error report with its closing line, and write the file of --problems. Return the exit status.

        The status holds `results`, so that they are not freed before the process ends, which would only take time.
        """
        self._write_closing_line(closing_line(self._error_count, self._warning_count))
        self._write_problems()
        status = Status.REFERENCE_FAILURE if self.has_errors else Status.DONE
        return StatusWithResults(status, results)

    def _write_closing_line(self, closing: str) -> None:
        """Write the closing line with the numbers of problems. If the report goes to a file, write it first."""
        if self.has_errors and self._report_destination.stream == "stderr":
            # The report has been printed, or suppressed by --quiet. In either case, the closing line is printed, with
            # the name of the command.
            beginning = f"{self._command_name}: " if terminal.is_quiet() else ""
            write_text("stderr", f"{beginning}{closing}")
        elif self._closing_line_destination is not None:
            # At the request of the command, standard output gets only announcements and this line.
            self._closing_line_destination.write(utf8_blocks((closing,)))
        elif self._is_report_printed:
            # The report has gone to a stream, and only its last line is missing.
            self._write_report([closing])
        else:
            # The report goes to a file, which is written all at once.
            self._write_report([self._announcements, *self._report_pieces, closing])

    def write_whole_report(self, report: str) -> None:
        """Write `report` as the error report, then write the file of --problems.

        Programs without a closing line call this instead of `report_problems` and `end_report`.
        """
        if self._report_destination.stream is not None:  # announcements have been printed already
            self._write_report([report])
        else:
            self._write_report([self._announcements, report])
        self._write_problems()

    def give_up(self, error: CsScoreError) -> int:
        """Report the problems found, any fatal problems, and the error that ended the program.

        Return the exit status.
        """
        report = ""
        if not self._is_report_printed:  # the error may have ended the program before its report
            report = "".join(self._problem_texts())
        report += self._further_fatal_lines(error)
        self.remark(*error.remarks)
        self._write_report_with_error(report, f"{self._command_name}: {error}\n")
        self._log_error(error)
        # If an output could not be written, the file of --problems is not written either.
        if not isinstance(error, OutputError):
            with contextlib.suppress(OutputError):
                self._write_problems()
        return Status.REFERENCE_FAILURE

    def _log_error(self, error: CsScoreError) -> None:
        """Add an error about an input to the fatal conditions in the log of problems, unless it is there already."""
        is_logged = any(fatal is error for fatal in self.problems.fatal_errors)
        if isinstance(error, InputError) and not is_logged:
            self.problems.fatal_errors.append(error)

    def _write_report_with_error(self, report: str, error_line: str) -> None:
        """Write an error report and the line on the error that ended the program.

        The report goes where the user wants it; standard error always gets the error and, with --quiet, nothing else.
        """
        if self._report_destination.stream != "stderr":
            with contextlib.suppress(OutputError):
                self._write_report([self._announcements, report, error_line])
            write_text("stderr", error_line)
        elif terminal.is_quiet():
            write_text("stderr", error_line)
        else:
            write_text("stderr", report + error_line)

    def _further_fatal_lines(self, error: CsScoreError) -> str:
        """Return a line for each fatal condition except `error`, up to a limit, and a line that counts the others."""
        other_conditions = [fatal for fatal in self.problems.fatal_errors if fatal is not error]
        lines = [f"{fatal}\n" for fatal in other_conditions[:MOST_FATAL_LINES]]
        unlisted_count = len(other_conditions) - MOST_FATAL_LINES
        if unlisted_count > 0:
            lines.append(f"{unlisted_count} more fatal conditions (--problems FILE lists all)\n")
        return "".join(lines)

    def _problem_texts(self) -> Iterable[str]:
        """Return the problems that were found as texts: shortened for a terminal, else as the reference writes them."""
        if self._report_destination.stream == "stderr":
            return [report_for_stderr(self.problems, is_for_people=is_terminal("stderr"))]
        return report_text(self.problems)

    def _write_report(self, pieces: Iterable[str]) -> None:
        """Write pieces of the error report to its destination, in the encoding of the reference program.

        Most reference programs encode their reports to UTF-8 twice, so that `é` becomes `Ã©`.
        """
        if self._report_destination.stream == "stderr":
            print_unless_quiet("".join(pieces))
        elif self._encodes_report_once:
            self._report_destination.write(utf8_blocks(pieces))
        else:
            self._report_destination.write(report_bytes(piece) for piece in pieces)

    def _write_problems(self) -> None:
        """Write the file of --problems, if that option was typed."""
        if isinstance(self.problems, RecordingLog) and self._problems_output is not None:
            write_problems(self.problems, self._problems_output)


def check_exists(file: str) -> None:
    """Raise InputError if an input file does not exist; `-` is standard input and always exists."""
    if file != "-" and not os.path.exists(file):
        raise InputError(f"File {file} does not exist", code="FILE_MISSING")
