"""What the programs before the scorer have in common: switches, the error destination, the report, the way they end.

Source: specification of the companions, section 1.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from cs_score.cli.destinations import Destination, why_not_writable, write_report, write_text
from cs_score.cli.leaving import Finished
from cs_score.cli.switches import (
    CommandLine,
    HelpWanted,
    Switch,
    SwitchError,
    VersionWanted,
    read_command_line,
    switch_help,
)
from cs_score.coldstart.writers.report import closing_line, doubly_encoded, report_text
from cs_score.collector import paused_collector
from cs_score.errors import CsScoreError, InputError, OutputError, UsageError
from cs_score.outputs import encoded
from cs_score.preparation.documents import DocumentList, read_document_list
from cs_score.problem_reports import RecordingLog, report_format, write_problems
from cs_score.problems import ProblemLog, Severity
from cs_score.version import REFERENCE_VERSION

FAILED: Final = 255
"""Exit status for errors, fatal conditions and wrong usage."""

_SHOWN: Final = 50
"""Further fatal conditions that are listed; a run of a million bad lines must not fill a terminal."""

ALLOW_COMMENTS: Final = Switch("-allow_comments", None, "Cut off comments at the end of lines")
DOCUMENTS: Final = Switch("-docs", "FILE", "Documents of the task: DOCID, LENGTH and FILE, separated by tabs")
ERROR_FILE: Final = Switch("-error_file", "FILE", "Where problems are reported: a new file, stdout or stderr", "STDERR")
GROUND_TRUTH: Final = Switch("-groundtruth", None, "Accepted and without effect")
PROBLEMS: Final = Switch("--problems", "FILE", "Also write every problem to FILE (.json, .tsv or .sarif)")
COMMON: Final = (
    Switch("-help", None, "Show this text"),
    Switch("-h", None, "Show this text"),
    Switch("-version", None, "Show the version of the reference programs that is followed"),
)


def justifications_switch(default: str) -> Switch:
    """The switch -justifications with a program's default."""
    return Switch(
        "-justifications",
        "A:B",
        "Justifications allowed: A for each node and document, B for each node; 0-9 or M",
        default,
    )


@dataclass(frozen=True, slots=True)
class Parameter:
    """A word that is no switch: the name that messages use, and its help."""

    name: str
    help: str
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """A program before the scorer: its name, what it does, its switches and parameters in order."""

    name: str
    summary: str
    switches: tuple[Switch, ...]
    parameters: tuple[Parameter, ...]

    @property
    def called(self) -> str:
        """How it is called."""
        return f"cs-score {self.name}"

    def usage(self) -> str:
        """The text of `-help`; it names every switch."""
        shown = " ".join(
            f"[{parameter.name.upper()}]" if parameter.is_optional else parameter.name.upper()
            for parameter in self.parameters
        )
        parameters = "\n".join(f"  {parameter.name:<16} {parameter.help}" for parameter in self.parameters)
        return (
            f"{self.called}:  {self.summary}\n\n"
            f"Usage: {self.called} {{-switch {{-switch ...}}}} {shown}\n\n"
            f"Legal switches are:\n{switch_help(self.switches)}\n\n"
            f"Parameters are:\n{parameters}\n"
        )

    def read(self, words: Sequence[str]) -> CommandLine:
        """Switches and parameters. Raises SwitchError for a wrong number of parameters, and as read_command_line."""
        line = read_command_line(words, self.switches)
        for number, parameter in enumerate(self.parameters):
            if number >= len(line.words) and not parameter.is_optional:
                raise SwitchError(f"ERROR: Not enough arguments; {parameter.name} must be provided")
        if len(line.words) > len(self.parameters):
            raise SwitchError("ERROR: Too many arguments")
        return line


class Session:
    """One call of a program: its log of problems, where the report goes, and how it ends."""

    def __init__(self, program: Program, problems_file: str | None, *, encoded_once: bool = False) -> None:
        self.problems = ProblemLog()
        self._program = program
        self._encoded_once = encoded_once
        self._problems_file = problems_file
        self._errors = Destination("stderr")
        self._is_reported = False
        if problems_file is not None:
            self.problems = RecordingLog()

    def report_to(self, text: str, *, may_exist: bool = False) -> Destination:
        """Name the destination of the report. Raises UsageError where a file exists that must not, or OutputError."""
        errors = Destination(text)
        if errors.stream is None:
            if not may_exist and os.path.exists(text):
                raise UsageError(f"File {text} already exists; -error_file must name a new file")
            _check_writable(text)
        self._errors = errors
        return errors

    def remark(self, text: str) -> None:
        """A remark beside the report, on standard error only."""
        write_text("stderr", f"{self._program.called}: warning: {InputError(text)}\n")

    def finish(self, write: Callable[[], None], *, write_in_spite_of_errors: bool = False) -> int:
        """Report; write the results unless there are errors; the closing line; the exit status."""
        errors, warnings = (self.problems.count(severity) for severity in (Severity.ERROR, Severity.WARNING))
        report = "".join(report_text(self.problems))
        closing = closing_line(errors, warnings)
        if self._errors.stream is not None:
            self._say(report)
            self._is_reported = True
        if not errors or write_in_spite_of_errors:
            write()
        self._say(closing if self._errors.stream is not None else report + closing)
        self._write_problems()
        return Finished(FAILED if errors else 0, write)

    def close(self, report: str = "") -> None:
        """End without report where the reference writes none (quirk 23)."""
        self._say(report)
        self._write_problems()

    def give_up(self, error: CsScoreError) -> int:
        """What was found so far, the other fatal conditions, and the line that says what ended the program."""
        further = [other for other in self.problems.fatal if other is not error]
        lines = [f"{other}\n" for other in further[:_SHOWN]]
        if len(further) > _SHOWN:
            lines.append(f"{len(further) - _SHOWN} more fatal conditions (--problems FILE lists all)\n")
        text = "".join((*(() if self._is_reported else report_text(self.problems)), *lines))
        said = f"{self._program.called}: {error}\n"
        if self._errors.stream != "stderr":
            with contextlib.suppress(OutputError):
                self._say(f"{text}{said}")
            text = ""
        write_text("stderr", text + said)
        if isinstance(error, InputError) and all(error is not other for other in self.problems.fatal):
            self.problems.fatal.append(error)
        with contextlib.suppress(OutputError):
            self._write_problems()
        return FAILED

    def _say(self, text: str) -> None:
        write_report(self._errors, text, encoded((text,)) if self._encoded_once else [doubly_encoded(text)])

    def _write_problems(self) -> None:
        if isinstance(self.problems, RecordingLog) and self._problems_file is not None:
            write_problems(self.problems, self._problems_file)


Body = Callable[[CommandLine, Session], int]


def run_program(program: Program, words: Sequence[str], body: Body, *, encoded_once: bool = False) -> int:
    """Run a program: usage and version, then its body; returns the exit status."""
    try:
        line = program.read(words)
    except HelpWanted:
        write_text("stdout", program.usage())
        return 0
    except VersionWanted:
        write_text("stdout", f"{program.called} version {REFERENCE_VERSION}\n")
        return 0
    except SwitchError as error:
        write_text("stdout", f"{error}\n\n{program.usage()}")
        return FAILED
    try:
        session = Session(program, _problems_file(line), encoded_once=encoded_once)
    except CsScoreError as error:
        write_text("stderr", f"{program.called}: {error}\n")
        return FAILED
    try:
        with paused_collector():
            return body(line, session)
    except CsScoreError as error:
        return session.give_up(error)


def _problems_file(line: CommandLine) -> str | None:
    """The file that --problems names. Raises UsageError or OutputError as `check_problems_file`."""
    path = line.switches.get("--problems")
    if path is not None:
        check_problems_file(path, line.words)
    return path


def check_problems_file(path: str, inputs: Iterable[str]) -> None:
    """Raises UsageError or OutputError where a problems file has no known format, is an input or cannot be made."""
    report_format(path)
    check_output(os.path.join(os.curdir, path) if Destination(path).stream else path, inputs)


def _check_writable(path: str) -> None:
    if (reason := why_not_writable(path)) is not None:
        raise OutputError(f"Could not open {path}: {reason}")


def check_output(text: str, inputs: Iterable[str], *, must_be_new: bool = False) -> Destination:
    """The destination of a result. Raises OutputError or UsageError where it cannot be made or is an input.

    An output that must be new is a file, whatever its name.
    """
    output = Destination(text)
    if output.stream is not None:
        if not must_be_new:
            return output
        output = Destination(os.path.join(os.curdir, text))
    if must_be_new and os.path.exists(text):
        raise UsageError(f"File {text} already exists; the output must be a new file")
    if os.path.exists(text) and any(os.path.exists(name) and os.path.samefile(name, text) for name in inputs):
        raise UsageError(f"{text} is an input; choose another name for the output")
    _check_writable(text)
    return output


def forget_earlier(output: Destination) -> None:
    """Remove the file of an earlier call, so that it cannot be taken for the result of one that fails."""
    if output.stream is None and os.path.isfile(output.text):
        with contextlib.suppress(OSError):
            os.unlink(output.text)


def document_list(line: CommandLine) -> DocumentList | None:
    """The list that -docs names, None without it. Raises InputError where it cannot be read."""
    name = line.switches.get("-docs")
    return None if name is None else read_document_list(name)


def check_exists(name: str) -> None:
    """Raises InputError where an input does not exist."""
    if name != "-" and not os.path.exists(name):
        raise InputError(f"File {name} does not exist", code="FILE_MISSING")
