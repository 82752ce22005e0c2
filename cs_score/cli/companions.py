"""The programs before the scorer: validating, making and packaging queries, runs and assessments."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeVar

from cs_score.base.display import one_line, terminal_safe
from cs_score.base.errors import CsScoreError, InputError, OutputError, UsageError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.outputs import encoded
from cs_score.base.planned_outputs import Existing, OutputPlan, PlannedOutput
from cs_score.base.records import Record
from cs_score.base.sources import name_of, open_source
from cs_score.cli.core import FORCE, Finished, Line, Misuse, Option, Parameter, Reference, Status
from cs_score.cli.options import report_on_stderr
from cs_score.cli.output import (
    Destination,
    can_show_colours,
    file_named,
    is_quiet,
    say,
    with_changes,
    write_report,
    write_result,
    write_text,
)
from cs_score.coldstart.linking import members
from cs_score.coldstart.options import Justifications
from cs_score.coldstart.outputs import closing_line, doubly_encoded, report_text
from cs_score.coldstart.queries import load_queries
from cs_score.coldstart.samples import read_groups, resample_lines
from cs_score.coldstart.tab_files import detect_schema
from cs_score.preparation.assessments import LANGUAGES, SortedAssessment, sort_by_language
from cs_score.preparation.documents import DocumentList, read_document_list
from cs_score.preparation.pooling import Depth, documents_per_node, kept_lines
from cs_score.preparation.queries import (
    SUBTYPE_ACTIONS,
    TYPE_ACTIONS,
    Duplicates,
    HopChecks,
    QueryOptions,
    first_round,
    query_file_text,
    second_round,
    validate_queries,
)
from cs_score.preparation.runs import CheckedRun, Limits, ValidatedRun, check_run, differences
from cs_score.problems.codes import Severity
from cs_score.problems.log import ProblemLog
from cs_score.problems.occurrences import RecordingLog
from cs_score.problems.reports import OPTION as PROBLEMS_OPTION
from cs_score.problems.reports import write_problems

if TYPE_CHECKING:
    pass


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


class Program(Reference):
    """A program before the scorer: a command whose `work` is done in a session.

    `outputs` are the files that a command line asks for beside reports, `error_file` what becomes of an error file that
    is there (None: the program writes none); `encoded_once`: its report is.
    """

    def __init__(
        self,
        name: str,
        options: Sequence[Option],
        parameters: Sequence[Parameter],
        outputs: Callable[[Line], Iterable[PlannedOutput]],
        error_file: Existing | None = Existing.REFUSED,
        *,
        work: Callable[[Line, Session], int],
        encoded_once: bool = False,
    ) -> None:
        super().__init__(name, options, parameters, body=self.run)
        self.outputs, self.error_file, self.work, self.encoded_once = outputs, error_file, work, encoded_once

    def run(self, line: Line) -> int:
        """Check what is read and written, then do the work; returns the exit status."""
        try:
            plan = self.plan(line)
            plan.check()
        except CsScoreError as error:
            write_text("stderr", f"{self.called}: {error}\n")
            return Status.REFERENCE
        plan.clear()
        session = Session(self, line.switches.get("--problems"), encoded_once=self.encoded_once)
        try:
            with paused_collector():
                return self.work(line, session)
        except CsScoreError as error:
            return session.give_up(error)

    def plan(self, line: Line) -> OutputPlan:
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
        return Finished(Status.REFERENCE if errors else 0, write)

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
        return Status.REFERENCE

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


def document_list(line: Line) -> DocumentList | None:
    """The list that -docs names, None without it. Raises InputError where it cannot be read."""
    name = line.switches.get("-docs")
    return None if name is None else read_document_list(name)


def check_exists(name: str) -> None:
    """Raises InputError where an input does not exist."""
    if name != "-" and not os.path.exists(name):
        raise InputError(f"File {name} does not exist", code="FILE_MISSING")


NO_OUTPUT: Final = "none"


def _validate_run(line: Line, session: Session) -> int:
    query_file, run_file = line.words
    output = _run_output(line)
    session.report_to(line.text("-error_file", "stderr"))
    documents = document_list(line)
    depth = Depth.parse(line.text("-depth", ""))
    limits = Limits(Justifications.parse(line.text("-justifications", "1:3")), depth)
    check_exists(run_file)
    lengths = None if documents is None else documents.lengths
    queries = load_queries([query_file], None, session.problems, lengths)
    allow_comments = "-allow_comments" in line.switches
    checked = check_run([run_file], queries, limits, session.problems, documents, allow_comments=allow_comments)
    validated = checked.validated()
    for remark in validated.remarks:
        session.remark(remark)
    if dropped := validated.dropped:
        session.remark(
            f"lines of {len(dropped)} queries are left out, because a line with the answer they ask about was skipped "
            f"(wrong slot or an empty column): {', '.join(dropped[:5])}{' ...' if len(dropped) > 5 else ''}"
        )
    return session.finish(
        lambda: _write_run(validated, output, session, checked if "--diff" in line.switches else None)
    )


def _run_output(line: Line) -> Destination | None:
    text = line.text("-output_file", NO_OUTPUT)
    return None if text == NO_OUTPUT or "--check" in line.switches else Destination(text)


def _write_run(validated: ValidatedRun, output: Destination | None, session: Session, shown: CheckedRun | None) -> None:
    """Write the validated run, and show how it differs from the run that was checked."""
    if output is not None:
        pieces = validated.pieces
        first = next(pieces, "")
        if first and detect_schema(first.partition("\n")[0].split("\t")) is None:
            session.remark(
                "the first line of the validated run fits no layout, so the scorer will not read it (usually a "
                "confidence such as .5 or 1.); write that line otherwise"
            )
        write_result(output, encoded(chain((first,), pieces)))
    if shown is not None:
        diff: Iterable[str] = differences(shown)
        # What reaches a terminal must not move its cursor; a file or a pipe gets the lines as they are.
        if sys.stdout.isatty():
            diff = map(terminal_safe, diff)
        if can_show_colours(sys.stdout):
            diff = map(with_changes, diff)
        write_result(Destination("stdout"), encoded(diff))


DEFAULT_BASE: Final = "TAC2015CS"


DEFAULT_LANGUAGES: Final = "ENGLISH:CHINESE:SPANISH"


_Choice = TypeVar("_Choice", bound=StrEnum)


def _validate_queries(line: Line, session: Session) -> int:
    query_file, output_file = line.words
    output, index = file_named(output_file), _index(line)
    checks = HopChecks(_choice(line, "-types", TYPE_ACTIONS), _choice(line, "-subtypes", SUBTYPE_ACTIONS))
    duplicates = _choice(line, "-dups", tuple(Duplicates))
    session.report_to(line.text("-error_file", "stderr"))
    base = line.text("-query_base", DEFAULT_BASE) if "-expand" in line.switches else None
    languages = frozenset(filter(None, line.text("-languages", DEFAULT_LANGUAGES).split(":")))
    options = QueryOptions(checks, duplicates, base, languages, "-retain_sf" in line.switches)
    queries = load_queries([query_file], None, session.problems)
    for remark in queries.remarks:
        session.remark(remark)
    validated = validate_queries(queries.table, options, session.problems)
    text = query_file_text(validated.queries)

    def write() -> None:
        write_result(output, encoded((text,)))
        if index is not None:
            pairs = "".join(f"{expanded}\t{origin}\n" for expanded, origin in validated.index)
            write_result(index, encoded((pairs,)))

    return session.finish(write, write_in_spite_of_errors=True)


def _choice(line: Line, name: str, choices: Sequence[_Choice]) -> _Choice:
    text = line.text(name, "none").lower()
    for choice in choices:
        if choice.value == text:
            return choice
    raise UsageError(f"Unknown {name} argument: {text}; choose {', '.join(choice.value for choice in choices)}")


def _outputs_of_queries(line: Line) -> Iterator[PlannedOutput]:
    yield from file_named(line.words[1]).planned("OUTPUTFILE", Existing.REFUSED)
    if (index := _index(line)) is not None:
        yield from index.planned("-index_file", Existing.REFUSED)


def _index(line: Line) -> Destination | None:
    name = line.switches.get("-index_file")
    return None if name is None else Destination(name)


class _Superseded(Reference):
    """A program that accepts any words; it has help and version."""

    def _spelled(self, typed: Sequence[str]) -> tuple[list[str] | None, list[str], str | None]:
        try:
            found = super()._spelled(typed[:1])
        except UsageError:
            found = [], [], None
        return found if found[0] is None else ([], list(typed), None)


def _say_what_replaces_it(line: Line) -> int:
    write_text("stderr", "cs-score expand-queries has been superseded by cs-score validate-queries -expand\n")
    return 0


def _generate(line: Line, session: Session) -> int:
    query_file, output_file, *runs = line.words
    output = Destination(output_file)
    errors = line.switches.get("-error_file")
    session.report_to(errors or "stderr")
    document_list(line)  # must be readable; nothing is checked against it (5.2)
    queries = load_queries([query_file], None, session.problems)
    limits = Limits(Justifications.parse(line.text("-justifications", "M:M")))
    for remark in queries.remarks:
        session.remark(remark)
    if not runs:
        text = query_file_text(first_round(queries.table.by_id.values()))
        write_result(output, encoded((text,)))
        session.close("" if errors is not None else "".join(report_text(session.problems)))
        return 0
    check_exists(runs[0])
    checked = check_run(list(runs), queries, limits, session.problems)
    generated = second_round(checked.loading.links.responses, is_xml="-valid" in line.switches)
    text = query_file_text(generated)
    return session.finish(lambda: write_result(output, encoded((text,))))


def _package(line: Line, session: Session) -> int:
    query_file, *rounds, output_file = line.words
    session.report_to(line.text("-error_file", "stderr"))
    documents = document_list(line)
    limits = Limits(Justifications.parse(line.text("-justifications", "M:M")))
    for name in rounds:
        check_exists(name)
    lengths = None if documents is None else documents.lengths
    queries = load_queries([query_file], None, session.problems, lengths)
    checked = check_run(list(rounds), queries, limits, session.problems, documents)
    for remark in checked.loading.remarks:
        session.remark(remark)
    _check_run_ids({response.run_id for response in checked.loading.links.responses}, session.problems)
    return session.finish(lambda: write_result(file_named(output_file), encoded(checked.validated().pieces)))


def _check_run_ids(run_ids: set[str], problems: ProblemLog) -> None:
    """Raises InputError where the rounds have more than one run id (9, rule 7)."""
    if len(run_ids) > 1:
        problems.add("MISMATCHED_RUNID", ",".join(sorted(run_ids)))
        problems.end_if_fatal()


ASSESSED_LANGUAGES: Final = ":".join(LANGUAGES)


DEFAULT_PREFIX: Final = "none"


def _validate_assessments(line: Line, session: Session) -> int:
    query_file, assessment_file = line.words
    outputs = _outputs_by_language(line)
    session.report_to(line.text("-error_file", "stderr"))
    for language in filter(None, line.text("-languages", ASSESSED_LANGUAGES).split(":")):
        if language not in LANGUAGES:
            raise UsageError(f"Unexpected language {language} for -languages; choose {', '.join(LANGUAGES)}")
    documents = document_list(line)
    check_exists(assessment_file)
    lengths = None if documents is None else documents.lengths
    queries = load_queries([query_file], None, session.problems, lengths)
    limits = Limits(Justifications(None, None))
    checked = check_run([assessment_file], queries, limits, session.problems, documents)
    if checked.loading.links.responses:
        raise InputError("this is a run", file=assessment_file, remedy="cs-score validate-run validates runs")
    for remark in checked.loading.remarks:
        session.remark(remark)
    is_sound = not session.problems.count(Severity.ERROR)
    found = list(sort_by_language(checked.loading)) if is_sound else []
    return session.finish(lambda: _write_by_language(found, outputs))


def _outputs_by_language(line: Line) -> dict[str, Destination]:
    """The file of each language; a stream takes all of them."""
    prefix = Destination(line.text("-output_file", DEFAULT_PREFIX))
    if prefix.stream is not None:
        return dict.fromkeys(LANGUAGES, prefix)
    return {language: Destination(f"{prefix.text}.{language.lower()}") for language in LANGUAGES}


def _write_by_language(found: Sequence[SortedAssessment], outputs: dict[str, Destination]) -> None:
    if outputs[LANGUAGES[0]].stream is not None:
        write_result(outputs[LANGUAGES[0]], encoded(f"{one.text}\n" for one in found))
        return
    for language, output in outputs.items():
        write_result(output, encoded(f"{one.text}\n" for one in found if one.language == language))


DEFAULT_JUSTIFICATIONS: Final = "1:3"


def _filter(line: Line, session: Session) -> int:
    run_file, output_file = line.words
    most = documents_per_node(line.text("-justifications", DEFAULT_JUSTIFICATIONS))
    if most == 0:
        session.remark("-justifications leaves no document for a node (M counts as 0 here): every line is discarded")
    with paused_collector():
        with open_source(run_file) as source:
            lines = source.read_bytes().decode("utf-8", "surrogateescape").split("\n")
        if not lines[-1]:
            lines.pop()
        kept = kept_lines(lines, most)
    blocks = encoded(f"{text}\n" for text, is_kept in zip(lines, kept) if is_kept)
    write_result(file_named(output_file), blocks)
    discarded = [f"--discarding: {text}\n" for text, is_kept in zip(lines, kept) if not is_kept]
    write_text("stderr", "".join(discarded).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))
    return Finished(0, (lines, kept))


DEFAULT_SEED: Final = "0"


SAMPLE_SWITCHES: Final = (
    Option("-error_file", "FILE", "Where to report problems: a new file, stdout or stderr", "stderr"),
    Option("-output_file", "FILE", "Where to write the resamples: a file, stdout or stderr", "stdout"),
    Option("--seed", "S", "Whole number of at least 0; equal seeds give equal bytes", DEFAULT_SEED),
)


# A negative number is a switch; one with too many digits to be meant is none.
_NUMBER: Final = re.compile(r"\s*\+?(\d{1,18}(\.\d*)?(e\+?\d{1,2})?)\s*", re.ASCII | re.IGNORECASE)


_SEED: Final = re.compile(r"\d{1,100}", re.ASCII)


class _Command(Record):
    """A command line that has been understood."""

    num_samples: str
    queries: str
    output: str
    errors: str
    seed: int


def _samples(line: Line) -> int:
    num_samples, queries = line.words
    seed = line.text("--seed", DEFAULT_SEED)
    if not _SEED.fullmatch(seed):
        problem = f"--seed takes a whole number of at least 0, not {seed}"
        raise Misuse(problem, f"ERROR: {problem}")
    output, errors = line.text("-output_file", "stdout"), line.text("-error_file", "stderr")
    command = _Command(num_samples, queries, output, errors, int(seed))
    try:
        _plan_of_samples(command).check()
    except CsScoreError as error:
        write_text("stderr", f"cs-score samples: {error}\n")
        return Status.REFERENCE
    try:
        report = _draw(command)
    except CsScoreError as error:
        write_result(Destination(command.errors), encoded([f"{error}\n"]))
        return Status.REFERENCE
    write_report(Destination(command.errors), report, encoded([report]))
    return 0


def _plan_of_samples(command: _Command) -> OutputPlan:
    outputs = (
        *Destination(command.output).planned("-output_file", Existing.REPLACED),
        *Destination(command.errors).planned("-error_file", Existing.REFUSED),
    )
    # A file in place of the number is an input, too: the two words are easily swapped.
    return OutputPlan([command.num_samples, command.queries], outputs)


def _draw(command: _Command) -> str:
    """Write the resamples; returns what there is to report."""
    number = _NUMBER.fullmatch(command.num_samples)
    groups = read_groups(command.queries)
    resamples = int(Decimal(number.group(1))) if number else 0
    write_result(Destination(command.output), encoded(resample_lines(groups, resamples, command.seed)))
    warnings = []
    if number is None:
        warnings.append(f"WARNING: {one_line(command.num_samples)} is not a number of samples: no sample written\n")
    if not groups:
        warnings.append(f"WARNING: no queries in {one_line(command.queries)}: the samples are empty\n")
    return "".join(warnings)


# ---- The programs


def validate_run() -> Reference:
    """QUERYFILE RUNFILE (specification of the companions, 2)."""
    return Program(
        "validate-run",
        (
            ALLOW_COMMENTS,
            Option("-depth", "S:D", "Pooling: A or B, a colon and the number of nodes; 0 for none"),
            DOCUMENTS,
            ERROR_FILE,
            GROUND_TRUTH,
            justifications_switch("1:3"),
            Option("-output_file", "FILE", "The validated run: a file, stdout, stderr or none", NO_OUTPUT),
            Option("--check", None, "Only check: write no run, whatever -output_file says"),
            Option(
                "--diff", None, "Show on standard output how the run is changed, as a unified diff in its own order"
            ),
            *PROBLEMS,
        ),
        (
            Parameter("queryfile", "The queries that the run answers"),
            Parameter("filename", "The run, or a folder of runs"),
        ),
        lambda line: () if (output := _run_output(line)) is None else output.planned("-output_file", Existing.REPLACED),
        work=_validate_run,
    )


def validate_queries_program() -> Reference:
    """QUERYFILE OUTPUTFILE (3)."""
    return Program(
        "validate-queries",
        (
            Option("-dups", "VALUE", "Queries that share entry points: none, ignore, delete", "none"),
            ERROR_FILE,
            Option("-expand", None, "Write one query for each entry point"),
            Option("-index_file", "FILE", "Names of expanded queries, each with the name it comes from"),
            Option("-languages", "LIST", "Colon-separated languages to write; empty for all", DEFAULT_LANGUAGES),
            Option("-query_base", "BASE", "Beginning of the names of expanded queries", DEFAULT_BASE),
            Option("-retain_sf", None, "Leave out event and sentiment slots"),
            Option("-subtypes", "VALUE", "Places that do not fit: none, repair, delete-slot, delete-query", "none"),
            Option("-types", "VALUE", "Slots that do not fit: none, delete-slot, delete-query", "none"),
            *PROBLEMS,
        ),
        (
            Parameter("queryfile", "The queries"),
            Parameter("outputfile", "A new file for the validated queries", is_output=True),
        ),
        _outputs_of_queries,
        work=_validate_queries,
    )


def expand_queries() -> Reference:
    """Any words (4)."""
    return _Superseded(
        "expand-queries",
        (),
        (Parameter("files", "Not looked at", is_optional=True, is_repeated=True),),
        body=_say_what_replaces_it,
    )


def generate_queries() -> Reference:
    """QUERYFILE OUTPUTFILE [RUNFILE] (5)."""
    return Program(
        "generate-queries",
        (
            DOCUMENTS,
            ERROR_FILE,
            justifications_switch("M:M"),
            Option("-valid", None, "Escape the names taken from the run, so that the file is XML"),
            *PROBLEMS,
        ),
        (
            Parameter("queryfile", "The queries"),
            Parameter("outputfile", "The queries to write: a file, stdout or stderr", is_output=True),
            Parameter("runfile", "Answers to the first round", is_optional=True),
        ),
        lambda line: Destination(line.words[1]).planned("OUTPUTFILE", Existing.REPLACED),
        error_file=Existing.REPLACED,
        work=_generate,
        encoded_once=True,
    )


def package_output() -> Reference:
    """QUERYFILE ROUND1FILE ROUND2FILE OUTPUTFILE (6)."""
    return Program(
        "package-output",
        (DOCUMENTS, ERROR_FILE, justifications_switch("M:M"), *PROBLEMS),
        (
            Parameter("queryfile", "The queries of the first round"),
            Parameter("round1file", "Answers to the first round"),
            Parameter("round2file", "Answers to the second round"),
            Parameter("outputfile", "A new file for the run", is_output=True),
        ),
        lambda line: file_named(line.words[3]).planned("OUTPUTFILE", Existing.REFUSED),
        work=_package,
    )


def validate_assessments() -> Reference:
    """QUERYFILE ASSESSMENTFILE (7)."""
    return Program(
        "validate-assessments",
        (
            DOCUMENTS,
            ERROR_FILE,
            GROUND_TRUTH,
            Option("-languages", "LIST", "Checked and without effect", ASSESSED_LANGUAGES),
            Option("-output_file", "PREFIX", "Prefix of the files to write, or stdout or stderr", DEFAULT_PREFIX),
            *PROBLEMS,
        ),
        (
            Parameter("queryfile", "The slot-filling queries that were assessed"),
            Parameter("filename", "The assessments, or a folder of them"),
        ),
        lambda line: (
            planned
            for output in _outputs_by_language(line).values()
            for planned in output.planned("-output_file", Existing.CLEARED)
        ),
        work=_validate_assessments,
    )


def apply_k() -> Reference:
    """RUNFILE OUTPUTFILE (8)."""
    return Program(
        "apply-k",
        (
            Option("-error_file", "FILE", "Accepted and without effect", "STDERR"),
            justifications_switch(DEFAULT_JUSTIFICATIONS),
        ),
        (
            Parameter("runfile", "The run"),
            Parameter("outputfile", "The file for the lines that are kept", is_output=True),
        ),
        # Standard output has no special name here.
        lambda line: file_named(line.words[1]).planned("OUTPUTFILE", Existing.REPLACED),
        error_file=None,
        work=_filter,
    )


def samples() -> Reference:
    """NUM_SAMPLES QUERIES (specification of the scorer, 11.4)."""
    return Reference(
        "samples",
        SAMPLE_SWITCHES,
        (
            Parameter("num_samples", "Number of resamples"),
            Parameter("queries", "File with lines LDC_ID SF_ID: the SF queries of each LDC query"),
        ),
        body=_samples,
    )
