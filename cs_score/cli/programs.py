"""What the programs before the scorer share as commands: their files, their log of problems and their error report."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

from cs_score.base.errors import CsScoreError, InputError, OutputError
from cs_score.base.outputs import Existing, OutputPlan, PlannedOutput, encoded, outputs_together
from cs_score.base.runtime import paused_collector
from cs_score.base.sources import name_of
from cs_score.cli import output as terminal
from cs_score.cli.core import Command, Finished, Line, Option, Parameter, Reference, Status, command
from cs_score.cli.options import select_options
from cs_score.cli.output import Destination, say, write_text
from cs_score.cli.problem_report import report_on_stderr
from cs_score.coldstart.linking import members
from cs_score.coldstart.options import Justifications
from cs_score.coldstart.outputs import closing_line, doubly_encoded, report_text
from cs_score.coldstart.queries import QueryFiles, load_queries
from cs_score.preparation.assessments import CheckedPool, check_pool
from cs_score.preparation.documents import DocumentList, read_document_list
from cs_score.preparation.pooling import Depth
from cs_score.preparation.runs import CheckedRun, Limits, check_run
from cs_score.problems.codes import Severity
from cs_score.problems.log import ProblemLog, RecordingLog
from cs_score.problems.reports import OPTION as PROBLEMS
from cs_score.problems.reports import write_problems

MOST_FATAL_LINES: Final = 50
"""How many fatal conditions are listed: a run of a million bad lines must not fill a terminal."""

DOCUMENTS: Final = Option("-docs FILE", "Documents of the task: DOCID, LENGTH and FILE, separated by tabs")

Work: TypeAlias = Callable[[Line, "Session"], int]
"""The function that does a program's work for a command line; it returns the exit status."""


class Program(NamedTuple):
    """A program before the scorer: how it is called, and which files it writes."""

    name: str
    options: tuple[Option, ...]
    """Its options but for those of the error report."""
    parameters: tuple[Parameter, ...]
    planned_outputs: Callable[[Line], Iterable[PlannedOutput]]
    """Returns the files that a command line asks for, beside the reports of problems."""
    example: str
    """The words of a call that runs on the samples."""
    existing_error_file: Existing | None = Existing.REFUSED
    """What becomes of an error file that exists; None for a program without an error report."""
    error_file_help: str = "Where to report problems: a new file, stdout or stderr"
    encodes_report_once: bool = False
    """Whether the error report is plain UTF-8; other programs encode it twice, as the Perl programs do."""

    def command(self, work: Work) -> Callable[[str], Command]:
        """Return the function that makes the command, from the function that does its work (a decorator)."""
        options = list(self.options)
        if self.existing_error_file is not None:
            options.append(Option("-error_file FILE", self.error_file_help, "STDERR"))
            options.extend(select_options("--problems --force"))

        def run(line: Line) -> int:
            return self._run(work, line)

        return command(self.name, options, *self.parameters, contract=Reference, example=self.example)(run)

    def _run(self, work: Work, line: Line) -> int:
        """Check the inputs and outputs of the command line, then do the work. Return the exit status."""
        called = f"cs-score {self.name}"
        try:
            plan = self._plan(line)
        except CsScoreError as error:
            write_text("stderr", f"{called}: {error}\n")
            return Status.REFERENCE
        plan.clear()
        session = Session(called, line, encodes_report_once=self.encodes_report_once)
        try:
            with paused_collector(), outputs_together():
                return work(line, session)
        except CsScoreError as error:
            return session.give_up(error)

    def _plan(self, line: Line) -> OutputPlan:
        """Return the checked plan of inputs and outputs. Raises UsageError or OutputError where they collide."""
        outputs = list(self.planned_outputs(line))
        if self.existing_error_file is not None:
            error_file = Destination.of_report(line.text("-error_file"))
            outputs.extend(error_file.planned("-error_file", self.existing_error_file))
        outputs.extend(PROBLEMS.outputs(line.get("--problems")))
        return line.plan(outputs, self._inputs(line, outputs))

    def _inputs(self, line: Line, outputs: Iterable[PlannedOutput]) -> list[str]:
        """Return the names of all files that the command line reads, with those inside folders and document lists."""
        inputs: list[str] = []
        for parameter, word in zip(self.parameters, line.words):
            if not parameter.is_output:
                inputs.extend(name_of(member) for member in members(word))
        document_list = line.get("-docs")
        if document_list is not None:
            inputs.append(document_list)
            if any(os.path.exists(output.path) for output in outputs):
                inputs.extend(_documents_of(document_list))
        return inputs


def _documents_of(document_list: str) -> list[str]:
    """Return the files that a document list names; none where it cannot be read, which is reported later."""
    if not os.path.isfile(document_list):
        return []
    try:
        return list(read_document_list(document_list).files.values())
    except InputError:
        return []


class Session:
    """One call of a program: its inputs, its log of problems, where the error report goes, and how the call ends.

    A program reads and checks its inputs, calls `report`, writes its results if there is no error, and calls `end`.
    """

    def __init__(self, called: str, line: Line, *, encodes_report_once: bool) -> None:
        self._called = called
        self._line = line
        self._encodes_report_once = encodes_report_once
        self._problems_file = line.get("--problems")
        self.problems = ProblemLog() if self._problems_file is None else RecordingLog()
        self._error_report = Destination("stderr")
        self._closing_destination: Destination | None = None
        self._announcements = ""
        self._report_pieces: list[str] = []
        self._is_report_printed = False
        self._errors = 0
        self._warnings = 0

    # ---- Inputs

    def read_documents(self) -> DocumentList | None:
        """Return the list that -docs names, None without it. Raises InputError where it cannot be read."""
        name = self._line.get("-docs")
        return None if name is None else read_document_list(name)

    def read_queries(self, documents: DocumentList | None = None) -> QueryFiles:
        """Return the queries of the file that the first word names."""
        lengths = None if documents is None else documents.lengths
        return load_queries([self._line.words[0]], None, self.problems, lengths)

    def check_runs(
        self, files: Sequence[str], justifications: Justifications | None = None, depth: str = ""
    ) -> CheckedRun:
        """Return the files, checked as one run that answers the queries.

        `justifications` limit the run; without them the option -justifications does. Raises InputError where a file
        cannot be read.
        """
        documents = self.read_documents()
        depth_limit = Depth.parse(depth)
        if justifications is None:
            justifications = Justifications.parse(self._line.text("-justifications"))
        for file in files:
            check_exists(file)
        queries = self.read_queries(documents)
        return check_run(
            list(files),
            queries,
            Limits(justifications, depth_limit),
            self.problems,
            documents,
            allow_comments="-allow_comments" in self._line,
        )

    def check_pool(self, file: str) -> CheckedPool:
        """Return all problems with assessments. Raises InputError where the file cannot be read, or is a run."""
        documents = self.read_documents()
        check_exists(file)
        queries = self.read_queries(documents)
        self.remark(*queries.remarks)
        lengths = None if documents is None else documents.lengths
        return check_pool(queries.table, [file], self.problems, lengths)

    # ---- Reports

    def report_to(self, text: str | None = None, *, closing_only: bool = False) -> None:
        """Send the error report to `text`, else to the value of -error_file; before this call it is standard error.

        With `closing_only` only announcements and the closing line go to standard output where that is named.
        """
        if text is None:
            text = self._line.text("-error_file")
        self._error_report = Destination.of_report(text)
        if closing_only and self._error_report.stream == "stdout":
            self._closing_destination = self._error_report
            self._error_report = Destination("stderr")

    def announce(self, text: str) -> None:
        """Print or keep a line that comes before the error report."""
        self._announcements += f"{text}\n"
        if self._error_report.stream is not None:
            destination = self._closing_destination or self._error_report
            write_text(destination.stream or "stderr", f"{text}\n")

    def remark(self, *texts: str) -> None:
        """Print remarks on standard error, beside the error report."""
        for text in texts:
            say(f"{self._called}: warning: {InputError(text)}\n")

    def add_fatal(self, fatal: Iterable[InputError]) -> None:
        """Add fatal conditions to the log of problems, and write the file of --problems."""
        self.problems.fatal.extend(fatal)
        self._write_problems()

    @property
    def has_errors(self) -> bool:
        """Whether the error report has an error, so that most programs write no results."""
        return self._errors > 0

    def report(self) -> None:
        """Report the problems so far: a stream gets them now, a file at the end.

        Problems that are met while results are written are not reported.
        """
        self._errors = self.problems.count(Severity.ERROR)
        self._warnings = self.problems.count(Severity.WARNING)
        self._report_pieces = list(self._problem_texts())
        if self._error_report.stream is not None:
            self._write_report(self._report_pieces)
            self._is_report_printed = True

    def end(self, results: object) -> int:
        """Write the rest of the error report with its closing line. Return the exit status.

        The status keeps `results`, so that a process that ends with it need not free them.
        """
        closing = closing_line(self._errors, self._warnings)
        if self._closing_destination is not None and not self.has_errors:
            self._closing_destination.write(encoded((closing,)))
        elif self.has_errors and self._error_report.stream == "stderr":
            write_text("stderr", f"{self._called}: {closing}" if terminal.is_quiet() else closing)
        elif self._is_report_printed:
            self._write_report([closing])
        else:
            self._write_report([self._announcements, *self._report_pieces, closing])
        self._write_problems()
        return Finished(Status.REFERENCE if self.has_errors else Status.DONE, results)

    def close(self, report: str = "") -> None:
        """End with this report and without a closing line, where the reference program writes none."""
        if self._error_report.stream is not None:
            self._write_report([report])
        else:
            self._write_report([self._announcements, report])
        self._write_problems()

    def give_up(self, error: CsScoreError) -> int:
        """Report the problems so far, the fatal conditions, and the error that ended the program. Return the status."""
        text = "" if self._is_report_printed else "".join(self._problem_texts())
        text += self._further_fatal_lines(error)
        self.remark(*error.remarks)
        error_line = f"{self._called}: {error}\n"
        if self._error_report.stream != "stderr":
            with contextlib.suppress(OutputError):
                self._write_report([self._announcements, text, error_line])
            text = ""
        write_text("stderr", error_line if terminal.is_quiet() else text + error_line)
        is_logged = any(fatal is error for fatal in self.problems.fatal)
        if isinstance(error, InputError) and not is_logged:
            self.problems.fatal.append(error)
        # Where an output could not be written, the file of --problems does not appear either.
        if not isinstance(error, OutputError):
            with contextlib.suppress(OutputError):
                self._write_problems()
        return Status.REFERENCE

    def _further_fatal_lines(self, error: CsScoreError) -> str:
        """Return a line for each fatal condition but `error`, and a last one that counts those beyond the limit."""
        further = [fatal for fatal in self.problems.fatal if fatal is not error]
        lines = [f"{fatal}\n" for fatal in further[:MOST_FATAL_LINES]]
        if len(further) > MOST_FATAL_LINES:
            lines.append(f"{len(further) - MOST_FATAL_LINES} more fatal conditions (--problems FILE lists all)\n")
        return "".join(lines)

    def _problem_texts(self) -> Iterable[str]:
        """Return the problems so far as texts: shortened for standard error, as the reference writes them elsewhere."""
        if self._error_report.stream == "stderr":
            return [report_on_stderr(self.problems)]
        return report_text(self.problems)

    def _write_report(self, pieces: Iterable[str]) -> None:
        """Write pieces of the error report in the encoding of this program."""
        if self._error_report.stream == "stderr":
            say("".join(pieces))
        elif self._encodes_report_once:
            self._error_report.write(encoded(pieces))
        else:
            self._error_report.write(doubly_encoded(piece) for piece in pieces)

    def _write_problems(self) -> None:
        """Write the file of --problems, if it is asked for."""
        if isinstance(self.problems, RecordingLog) and self._problems_file is not None:
            write_problems(self.problems, self._problems_file)


def check_exists(file: str) -> None:
    """Raise InputError where an input does not exist; `-` is standard input."""
    if file != "-" and not os.path.exists(file):
        raise InputError(f"File {file} does not exist", code="FILE_MISSING")
