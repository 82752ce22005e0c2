"""What the programs before the scorer have in common: switches, the error destination, the report, the way they end.

Source: specification of the companions, section 1.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Final

from cs_score.base.errors import CsScoreError, InputError, OutputError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.outputs import encoded
from cs_score.base.planned_outputs import Existing, OutputPlan, PlannedOutput
from cs_score.base.sources import name_of
from cs_score.cli.destinations import Destination, is_quiet, say, write_result, write_text
from cs_score.cli.form import REFERENCE, Contract, Form
from cs_score.cli.leaving import FAILED, Finished
from cs_score.cli.options import FORCE, CommandLine, Option
from cs_score.cli.problem_display import report_on_stderr
from cs_score.coldstart.linking import members
from cs_score.coldstart.outputs import closing_line, doubly_encoded, report_text
from cs_score.preparation.documents import DocumentList, read_document_list
from cs_score.problems.codes import Severity
from cs_score.problems.log import ProblemLog
from cs_score.problems.occurrences import RecordingLog
from cs_score.problems.reports import OPTION as PROBLEMS_OPTION
from cs_score.problems.reports import write_problems

_SHOWN: Final = 50
"""Further fatal conditions that are listed; a run of a million bad lines must not fill a terminal."""

ALLOW_COMMENTS: Final = Option("-allow_comments", None, "Cut off comments at the end of lines")
DOCUMENTS: Final = Option("-docs", "FILE", "Documents of the task: DOCID, LENGTH and FILE, separated by tabs")
ERROR_FILE: Final = Option("-error_file", "FILE", "Where problems are reported: a new file, stdout or stderr", "STDERR")
GROUND_TRUTH: Final = Option("-groundtruth", None, "Accepted and without effect")
PROBLEMS: Final = (
    Option("--problems", "FILE", "Also write every problem to FILE (.json, .tsv or .sarif, perhaps compressed)"),
    FORCE,
)


def justifications_switch(default: str) -> Option:
    """The switch -justifications with a program's default."""
    return Option(
        "-justifications",
        "A:B",
        "Justifications allowed: A for each node and document, B for each node; 0-9 or M",
        default,
    )


Body = Callable[[CommandLine, "Session"], int]


class Program(Form, kw_only=True):
    """A program before the scorer: a form whose `work` is done in a session.

    `outputs` are the files that a command line asks for beside reports, `error_file` what becomes of an error file that
    is there (None: the program writes none); `encoded_once`: its report is.
    """

    outputs: Callable[[CommandLine], Iterable[PlannedOutput]]
    error_file: Existing | None = Existing.REFUSED
    work: Body
    contract: Contract = REFERENCE
    encoded_once: bool = False

    def run(self, line: CommandLine) -> int:
        """Check what is read and written, then do the work; returns the exit status."""
        try:
            plan = self.plan(line)
            plan.check()
        except CsScoreError as error:
            write_text("stderr", f"{self.called}: {error}\n")
            return FAILED
        plan.clear()
        session = Session(self, line.switches.get("--problems"), encoded_once=self.encoded_once)
        try:
            with paused_collector():
                return self.work(line, session)
        except CsScoreError as error:
            return session.give_up(error)

    def plan(self, line: CommandLine) -> OutputPlan:
        """What a call reads and writes. Raises UsageError for a name that --problems refuses."""
        outputs = [*self.outputs(line)]
        if self.error_file is not None:
            outputs += Destination(line.text("-error_file", "stderr")).planned("-error_file", self.error_file)
        outputs += PROBLEMS_OPTION.outputs(line.switches.get("--problems"))
        read = (word for parameter, word in zip(self.parameters, line.words) if not parameter.is_output)
        inputs = [name_of(member) for word in read for member in members(word)]
        documents = line.switches.get("-docs")
        if documents is not None:
            inputs.append(documents)
            if os.path.isfile(documents) and any(os.path.exists(output.path) for output in outputs):
                with contextlib.suppress(InputError):  # told when the list is read
                    inputs += read_document_list(documents).files.values()
        return OutputPlan(inputs, outputs, "--force" in line.switches)


class Session:
    """One call of a program: its log of problems, where the report goes, and how it ends."""

    def __init__(self, program: Program, problems_file: str | None, *, encoded_once: bool = False) -> None:
        self.problems = ProblemLog()
        self._program = program
        self._encoded_once = encoded_once
        self._problems_file = problems_file
        self._errors = Destination("stderr")
        self._closing: Destination | None = None
        self._announced = ""
        self._is_reported = False
        if problems_file is not None:
            self.problems = RecordingLog()

    def report_to(self, text: str, *, closing_only: bool = False) -> Destination:
        """Name the destination of the report; until then it is standard error.

        With `closing_only` only announcements and the closing line go to standard output where that is named, and the
        report to standard error (knowledge bases, quirk 2).
        """
        self._errors = Destination(text)
        if closing_only and self._errors.stream == "stdout":
            self._closing, self._errors = self._errors, Destination("stderr")
        return self._errors

    def announce(self, text: str) -> None:
        """A line that comes before the report."""
        self._announced += f"{text}\n"
        if self._errors.stream is not None:
            write_text((self._closing or self._errors).stream or "stderr", f"{text}\n")

    def remark(self, text: str) -> None:
        """A remark beside the report, on standard error only."""
        say(f"{self._program.called}: warning: {InputError(text)}\n")

    def finish(self, write: Callable[[], None], *, write_in_spite_of_errors: bool = False) -> int:
        """Report; write the results unless there are errors; the closing line; the exit status."""
        errors, warnings = (self.problems.count(severity) for severity in (Severity.ERROR, Severity.WARNING))
        closing = closing_line(errors, warnings)
        report: Iterable[str] = self._report()
        if self._errors.stream is not None:
            self._say(report)
            self._is_reported = True
        if not errors or write_in_spite_of_errors:
            report = list(report)  # without what is found while results are written
            write()
        if self._closing is not None and not errors:
            write_result(self._closing, encoded((closing,)))
        elif errors and self._errors.stream == "stderr":
            write_text("stderr", f"{self._program.called}: {closing}" if is_quiet() else closing)
        else:
            self._say((closing,) if self._is_reported else chain((self._announced,), report, (closing,)))
        self._write_problems()
        return Finished(FAILED if errors else 0, write)

    def close(self, report: str = "") -> None:
        """End without report where the reference writes none (quirk 23)."""
        self._say((report,) if self._errors.stream is not None else (self._announced, report))
        self._write_problems()

    def give_up(self, error: CsScoreError) -> int:
        """What was found so far, the other fatal conditions, and the line that says what ended the program."""
        further = [other for other in self.problems.fatal if other is not error]
        lines = [f"{other}\n" for other in further[:_SHOWN]]
        if len(further) > _SHOWN:
            lines.append(f"{len(further) - _SHOWN} more fatal conditions (--problems FILE lists all)\n")
        text = "".join((*(() if self._is_reported else self._report()), *lines))
        said = f"{self._program.called}: {error}\n"
        if self._errors.stream != "stderr":
            with contextlib.suppress(OutputError):
                self._say((self._announced, text, said))
            text = ""
        write_text("stderr", said if is_quiet() else text + said)
        if isinstance(error, InputError) and all(error is not other for other in self.problems.fatal):
            self.problems.fatal.append(error)
        with contextlib.suppress(OutputError):
            self._write_problems()
        return FAILED

    def _report(self) -> Iterable[str]:
        if self._errors.stream == "stderr":
            return (report_on_stderr(self.problems),)
        return report_text(self.problems)

    def _say(self, pieces: Iterable[str]) -> None:
        if self._errors.stream == "stderr":
            say("".join(pieces))
        else:
            write_result(self._errors, encoded(pieces) if self._encoded_once else map(doubly_encoded, pieces))

    def _write_problems(self) -> None:
        if isinstance(self.problems, RecordingLog) and self._problems_file is not None:
            write_problems(self.problems, self._problems_file)


def document_list(line: CommandLine) -> DocumentList | None:
    """The list that -docs names, None without it. Raises InputError where it cannot be read."""
    name = line.switches.get("-docs")
    return None if name is None else read_document_list(name)


def check_exists(name: str) -> None:
    """Raises InputError where an input does not exist."""
    if name != "-" and not os.path.exists(name):
        raise InputError(f"File {name} does not exist", code="FILE_MISSING")
