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
from typing import Final, TypeVar

from cs_score.base.display import one_line, terminal_safe
from cs_score.base.errors import CsScoreError, InputError, OutputError, UsageError
from cs_score.base.outputs import Existing, OutputPlan, PlannedOutput, encoded, outputs_together
from cs_score.base.runtime import paused_collector
from cs_score.base.sources import Input, name_of, open_source
from cs_score.cli import output as terminal
from cs_score.cli.core import Command, Finished, Line, Misuse, Option, Parameter, Reference, Status, command
from cs_score.cli.options import report_on_stderr, taken
from cs_score.cli.output import STDOUT, Destination, file_named, say, write_text
from cs_score.coldstart.layouts import detect_schema
from cs_score.coldstart.linking import members
from cs_score.coldstart.options import Justifications, is_nothing, listed
from cs_score.coldstart.outputs import closing_line, doubly_encoded, report_text
from cs_score.coldstart.queries import QueryFiles, load_queries
from cs_score.preparation import queries as preparing
from cs_score.preparation.assessments import CheckedPool, check_pool
from cs_score.preparation.documents import DocumentList, read_document_list
from cs_score.preparation.pooling import Depth, documents_per_node, kept_lines
from cs_score.preparation.queries import read_groups, resample_lines
from cs_score.preparation.runs import LANGUAGES, CheckedRun, Limits, check_run, differences, sort_by_language
from cs_score.problems.codes import Severity
from cs_score.problems.log import ProblemLog, RecordingLog
from cs_score.problems.reports import OPTION as PROBLEMS
from cs_score.problems.reports import write_problems

_SHOWN: Final = 50
"""Further fatal conditions that are listed; a run of a million bad lines must not fill a terminal."""

NONE: Final = "none"

DOCUMENTS: Final = Option("-docs FILE", "Documents of the task: DOCID, LENGTH and FILE, separated by tabs")
CHECK: Final = Option("--check", "Only check, and write no output")
DIFF: Final = Option("--diff", "Show the changes on standard output, as a unified diff in the order of the file")
_GROUND_TRUTH: Final = Option("-groundtruth", "Accepted and without effect")
_JUSTIFICATIONS: Final = "Justifications allowed: A for each node and document, B for each node; 0-9 or M"
_ANY_JUSTIFICATIONS: Final = Option("-justifications A:B", _JUSTIFICATIONS, "M:M")
_FEW_JUSTIFICATIONS: Final = Option("-justifications A:B", _JUSTIFICATIONS, "1:3")
_NEW_REPORT: Final = "Where to report problems: a new file, stdout or stderr"
_QUERIES: Final = Parameter("queryfile", "The queries")


def program(
    name: str, options: Iterable[Option], *words: Parameter, writes: Callable[[Line], Iterable[PlannedOutput]],
    error_file: Existing | None = Existing.REFUSED, errors: str = _NEW_REPORT, encoded_once: bool = False, example: str,
) -> Callable[[Callable[[Line, Session], int]], Callable[[str], Command]]:  # fmt: skip
    """Make the command of a program: what is read and written is checked, then the work is done in a session.

    `writes` makes the files that a command line asks for beside reports, `error_file` says what becomes of an error
    file that is there (None: the program reports nothing), `errors` is the help of its switch; `encoded_once`: its
    report is.
    """
    reports = [] if error_file is None else [Option("-error_file FILE", errors, "STDERR"), *taken("--problems --force")]

    def planned(line: Line) -> OutputPlan:
        outputs = [*writes(line)]
        if error_file is not None:
            outputs += Destination.of_report(line.text("-error_file")).planned("-error_file", error_file)
        outputs += PROBLEMS.outputs(line.get("--problems"))
        read = (word for parameter, word in zip(words, line.words) if not parameter.is_output)
        inputs = [name_of(member) for word in read for member in members(word)]
        if (documents := line.get("-docs")) is not None:
            inputs.append(documents)
            if os.path.isfile(documents) and any(os.path.exists(output.path) for output in outputs):
                with contextlib.suppress(InputError):  # said when the list is read
                    inputs += read_document_list(documents).files.values()
        return line.plan(outputs, inputs)

    def decorated(work: Callable[[Line, Session], int]) -> Callable[[str], Command]:
        def run(line: Line) -> int:
            try:
                plan = planned(line)
            except CsScoreError as error:
                write_text("stderr", f"cs-score {name}: {error}\n")
                return Status.REFERENCE
            plan.clear()
            session = Session(f"cs-score {name}", line, encoded_once=encoded_once)
            try:
                with paused_collector(), outputs_together():
                    return work(line, session)
            except CsScoreError as error:
                return session.give_up(error)

        return command(name, (*options, *reports), *words, contract=Reference, example=example)(run)

    return decorated


class Session:
    """One call of a program: its log of problems, where the report goes, and how it ends."""

    def __init__(self, called: str, line: Line, *, encoded_once: bool) -> None:
        self._called, self._line, self._encoded_once = called, line, encoded_once
        self._problems_file = line.get("--problems")
        self.problems = ProblemLog() if self._problems_file is None else RecordingLog()
        self._errors = Destination("stderr")
        self._closing: Destination | None = None
        self._announced = ""
        self._is_reported = False

    def report_to(self, text: str | None = None, *, closing_only: bool = False) -> None:
        """Name the destination of the report, that of -error_file; until then it is standard error.

        With `closing_only` only announcements and the closing line go to standard output where that is named.
        """
        self._errors = Destination.of_report(self._line.text("-error_file") if text is None else text)
        if closing_only and self._errors.stream == "stdout":
            self._closing, self._errors = self._errors, Destination("stderr")

    def documents(self) -> DocumentList | None:
        """The list that -docs names, None without it. Raises InputError where it cannot be read."""
        name = self._line.get("-docs")
        return None if name is None else read_document_list(name)

    def queries(self, documents: DocumentList | None = None) -> QueryFiles:
        """The queries that the first word names."""
        lengths = None if documents is None else documents.lengths
        return load_queries([self._line.words[0]], None, self.problems, lengths)

    def checked(self, files: Sequence[str], most: Justifications | None = None, depth: str = "") -> CheckedRun:
        """These files as one run that answers the queries, held to `most` or what -justifications says."""
        documents, depth_limit = self.documents(), Depth.parse(depth)
        limits = Limits(most or Justifications.parse(self._line.text("-justifications")), depth_limit)
        for name in files:
            check_exists(name)
        allow_comments = "-allow_comments" in self._line
        queries = self.queries(documents)
        return check_run([*files], queries, limits, self.problems, documents, allow_comments=allow_comments)

    def checked_pool(self, file: str) -> CheckedPool:
        """Return all problems with assessments. Raises InputError where the file cannot be read, or is a run."""
        documents = self.documents()
        check_exists(file)
        queries = self.queries(documents)
        self.remark(*queries.remarks)
        lengths = None if documents is None else documents.lengths
        return check_pool(queries.table, [file], self.problems, lengths)

    def note_fatal(self, fatal: Iterable[InputError]) -> None:
        """Write the file of --problems with further fatal conditions."""
        self.problems.fatal += fatal
        self._write_problems()

    def announce(self, text: str) -> None:
        """A line that comes before the report."""
        self._announced += f"{text}\n"
        if self._errors.stream is not None:
            write_text((self._closing or self._errors).stream or "stderr", f"{text}\n")

    def remark(self, *texts: str) -> None:
        """Remarks beside the report, on standard error only."""
        for text in texts:
            say(f"{self._called}: warning: {InputError(text)}\n")

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
            self._closing.write(encoded((closing,)))
        elif errors and self._errors.stream == "stderr":
            write_text("stderr", f"{self._called}: {closing}" if terminal.is_quiet() else closing)
        else:
            self._say((closing,) if self._is_reported else chain((self._announced,), report, (closing,)))
        self._write_problems()
        return Finished(Status.REFERENCE if errors else 0, write)

    def close(self, report: str = "") -> None:
        """End without report where the reference writes none (rule report-of-the-first-round)."""
        self._say((report,) if self._errors.stream is not None else (self._announced, report))
        self._write_problems()

    def give_up(self, error: CsScoreError) -> int:
        """What was found so far, the other fatal conditions, and the line that says what ended the program."""
        further = [other for other in self.problems.fatal if other is not error]
        lines = [f"{other}\n" for other in further[:_SHOWN]]
        if len(further) > _SHOWN:
            lines.append(f"{len(further) - _SHOWN} more fatal conditions (--problems FILE lists all)\n")
        self.remark(*error.remarks)
        text = "".join((*(() if self._is_reported else self._report()), *lines))
        said = f"{self._called}: {error}\n"
        if self._errors.stream != "stderr":
            with contextlib.suppress(OutputError):
                self._say((self._announced, text, said))
            text = ""
        write_text("stderr", said if terminal.is_quiet() else text + said)
        if isinstance(error, InputError) and all(error is not other for other in self.problems.fatal):
            self.problems.fatal.append(error)
        if not isinstance(error, OutputError):  # with the results, or not at all
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
            self._errors.write(encoded(pieces) if self._encoded_once else map(doubly_encoded, pieces))

    def _write_problems(self) -> None:
        if isinstance(self.problems, RecordingLog) and self._problems_file is not None:
            write_problems(self.problems, self._problems_file)


def check_exists(name: str) -> None:
    """Raises InputError where an input does not exist."""
    if name != "-" and not os.path.exists(name):
        raise InputError(f"File {name} does not exist", code="FILE_MISSING")


def write_difference(diff: Iterable[str], *, is_painted: bool = False) -> None:
    """A unified diff on standard output. What reaches a terminal must not move its cursor; a file gets it as it is."""
    if sys.stdout.isatty():
        diff = map(terminal_safe, diff)
    if is_painted and terminal.can_show_colours(sys.stdout):
        diff = map(terminal.with_changes, diff)
    STDOUT.write_safe(encoded(diff))


# ---- What the programs do


def _run_output(line: Line) -> Destination | None:
    text = line.text("-output_file")
    return None if text == NONE or "--check" in line else Destination(text)


@program(
    "validate-run",
    (
        Option("-allow_comments", "Cut off comments at the end of lines"),
        Option("-depth S:D", "Pooling: A or B, a colon and the number of nodes; 0 for none"),
        DOCUMENTS,
        _GROUND_TRUTH,
        _FEW_JUSTIFICATIONS,
        Option("-output_file FILE", "The validated run: a file, stdout, stderr or none", NONE),
        CHECK,
        DIFF,
    ),
    Parameter("queryfile", "The queries that the run answers"),
    Parameter("filename", "The run, or a folder of runs"),
    writes=lambda line: [] if (run := _run_output(line)) is None else run.planned("-output_file", Existing.REPLACED),
    example="-output_file valid.tab queries/sf-queries.xml submissions/tide-kb.tab.txt",
)
def validate_run(line: Line, session: Session) -> int:
    output = _run_output(line)
    session.report_to()
    checked = session.checked([line.words[1]], depth=line.text("-depth", ""))
    validated = checked.validated()
    session.remark(*validated.remarks)
    if (remark := checked.remark_on_node_ids()) is not None:
        session.remark(remark)
    if dropped := validated.dropped:
        session.remark(
            f"lines of {len(dropped)} queries are left out, because a line with the answer they ask about was skipped "
            f"(wrong slot or an empty column): {', '.join(dropped[:5])}{' ...' if len(dropped) > 5 else ''}"
        )

    def write() -> None:
        if output is not None:
            first = next(validated.pieces, "")
            if first and detect_schema(first.partition("\n")[0].split("\t")) is None:
                session.remark(
                    "the first line of the validated run fits no layout, so the scorer will not read it (usually a "
                    "confidence such as .5 or 1.); write that line otherwise"
                )
            output.write(encoded(chain((first,), validated.pieces)))
        if "--diff" in line:
            write_difference(differences(checked), is_painted=True)

    return session.finish(write)


def _of_queries(line: Line) -> Iterator[PlannedOutput]:
    yield from file_named(line.words[1]).planned("OUTPUTFILE", Existing.REFUSED)
    if (index := line.get("-index_file")) is not None:
        yield from Destination(index).planned("-index_file", Existing.REFUSED)


_Choice = TypeVar("_Choice", bound=StrEnum)


def _choice(line: Line, name: str, choices: Iterable[_Choice]) -> _Choice:
    text, known = line.text(name).lower(), {choice.value: choice for choice in choices}
    if text not in known:
        raise UsageError(f"Unknown {name} argument: {text}; choose {', '.join(known)}")
    return known[text]


@program(
    "validate-queries",
    (
        Option("-dups VALUE", "Queries that share entry points: none, ignore, delete", NONE),
        Option("-expand", "Write one query for each entry point"),
        Option("-index_file FILE", "Names of expanded queries, each with the name it comes from"),
        Option("-languages LIST", "Colon-separated languages to write; empty for all", "ENGLISH:CHINESE:SPANISH"),
        Option("-query_base BASE", "Beginning of the names of expanded queries", "TAC2015CS"),
        Option("-retain_sf", "Leave out event and sentiment slots"),
        Option("-subtypes VALUE", "Places that do not fit: none, repair, delete-slot, delete-query", NONE),
        Option("-types VALUE", "Slots that do not fit: none, delete-slot, delete-query", NONE),
    ),
    _QUERIES,
    Parameter("outputfile", "A new file for the validated queries"),
    writes=_of_queries,
    example="-expand -query_base ISLE26 queries/ldc-queries.xml expanded.xml",
)
def validate_queries(line: Line, session: Session) -> int:
    options = preparing.QueryOptions(
        types=_choice(line, "-types", preparing.TYPE_ACTIONS),
        places=_choice(line, "-subtypes", preparing.Misfit),
        duplicates=_choice(line, "-dups", preparing.Duplicates),
        base=line.text("-query_base") if "-expand" in line else None,
        languages=None if is_nothing(line.text("-languages")) else frozenset(listed(line.text("-languages"))),
        only_slot_filling="-retain_sf" in line,
    )
    session.report_to()
    queries = session.queries()
    session.remark(*queries.remarks)
    session.remark(*preparing.remarks_on_types(queries.table.by_id.values(), options.types, line.words[0]))
    validated = preparing.validate_queries(queries.table, options, session.problems)
    text = preparing.query_file_text(validated.queries)

    def write() -> None:
        file_named(line.words[1]).write(encoded((text,)))
        if (index := line.get("-index_file")) is not None:
            Destination(index).write(encoded(f"{expanded}\t{origin}\n" for expanded, origin in validated.index))

    return session.finish(write, write_in_spite_of_errors=True)


@program(
    "generate-queries",
    (DOCUMENTS, _ANY_JUSTIFICATIONS, Option("-valid", "Escape the names taken from the run, so that the file is XML")),
    _QUERIES,
    Parameter("outputfile", "The queries to write: a file, stdout or stderr"),
    Parameter("[runfile]", "Answers to the first round"),
    writes=lambda line: Destination(line.words[1]).planned("OUTPUTFILE", Existing.REPLACED),
    example="queries/sf-queries.xml round2.xml submissions/tide-kb.tab.txt",
    error_file=Existing.REPLACED,
    encoded_once=True,
)
def generate_queries(line: Line, session: Session) -> int:
    output, runs = Destination(line.words[1]), list[Input](line.words[2:])
    session.report_to()
    session.documents()  # must be readable; nothing is checked against it
    queries = session.queries()
    limits = Limits(Justifications.parse(line.text("-justifications")))
    session.remark(*queries.remarks)
    if not runs:
        text = preparing.query_file_text(preparing.first_round(queries.table.by_id.values()))
        output.write(encoded((text,)))
        session.close("" if "-error_file" in line else "".join(report_text(session.problems)))
        return 0
    check_exists(line.words[2])
    checked = check_run(runs, queries, limits, session.problems)
    text = preparing.query_file_text(preparing.second_round(checked.loading.links.responses, is_xml="-valid" in line))
    return session.finish(lambda: output.write(encoded((text,))))


@program(
    "package-output",
    (DOCUMENTS, _ANY_JUSTIFICATIONS),
    Parameter("queryfile", "The queries of the first round"),
    Parameter("round1file", "Answers to the first round"),
    Parameter("round2file", "Answers to the second round"),
    Parameter("outputfile", "A new file for the run"),
    writes=lambda line: file_named(line.words[3]).planned("OUTPUTFILE", Existing.REFUSED),
    example="queries/sf-queries.xml round1.tab round2.tab run.tab",
)
def package_output(line: Line, session: Session) -> int:
    session.report_to()
    checked = session.checked(line.words[1:3])
    session.remark(*checked.loading.remarks)
    run_ids = {response.run_id for response in checked.loading.links.responses}
    if len(run_ids) > 1:
        session.problems.add("MISMATCHED_RUNID", ",".join(sorted(run_ids)))
        session.problems.end_if_fatal()
    return session.finish(lambda: file_named(line.words[3]).write(encoded(checked.validated().pieces)))


def _outputs_by_language(line: Line) -> dict[str, Destination]:
    """The file of each language; a stream takes all of them."""
    prefix = Destination(line.text("-output_file"))
    if prefix.stream is not None:
        return dict.fromkeys(LANGUAGES, prefix)
    return {language: Destination(f"{prefix.text}.{language.lower()}") for language in LANGUAGES}


@program(
    "validate-assessments",
    (
        DOCUMENTS,
        _GROUND_TRUTH,
        Option("--all-problems", "Report all lines that scoring refuses or leaves out, by kind; write no output"),
        Option("-languages LIST", "Checked and without effect", ":".join(LANGUAGES)),
        Option("-output_file PREFIX", "Prefix of the files to write, or stdout or stderr", NONE),
    ),
    Parameter("queryfile", "The slot-filling queries that were assessed"),
    Parameter("filename", "The assessments, or a folder of them"),
    writes=lambda line: chain.from_iterable(
        output.planned("-output_file", Existing.CLEARED) for output in _outputs_by_language(line).values()
    ),
    example="-output_file pool queries/sf-queries.xml assessments/pool-2016.tab",
)
def validate_assessments(line: Line, session: Session) -> int:
    outputs, file = _outputs_by_language(line), line.words[1]
    session.report_to()
    for language in filter(None, line.text("-languages").split(":")):
        if language not in LANGUAGES:
            raise UsageError(f"Unexpected language {language} for -languages; choose {', '.join(LANGUAGES)}")
    if "--all-problems" in line:
        return _report_pool(session, file)
    checked = session.checked([file], Justifications(None, None))
    if checked.loading.links.responses:
        raise InputError("this is a run", file=file, remedy="cs-score validate-run validates runs")
    session.remark(*checked.loading.remarks)
    is_sound = not session.problems.count(Severity.ERROR)
    found = list(sort_by_language(checked.loading)) if is_sound else []

    def write() -> None:
        stream = outputs[LANGUAGES[0]].stream is not None
        for language, output in [("", outputs[LANGUAGES[0]])] if stream else outputs.items():
            output.write(encoded(f"{text}\n" for found_in, text in found if found_in == language or stream))

    return session.finish(write)


def _report_pool(session: Session, file: str) -> int:
    """Print every kind of problem that scoring has with assessments; the exit status."""
    pool = session.checked_pool(file)
    session.remark(*pool.remarks)
    lines = [str(kind) for kind in pool.kinds] or ["no line that scoring refuses or leaves out"]
    write_text("stdout", "".join(f"{one_line(text)}\n" for text in lines))
    session.note_fatal(pool.fatal)
    return Finished(Status.REFERENCE if pool.is_refused else 0, pool)


@program(
    "apply-k",
    (Option("-error_file FILE", "Accepted and without effect", "STDERR"), _FEW_JUSTIFICATIONS),
    Parameter("runfile", "The run"),
    Parameter("outputfile", "The file for the lines that are kept"),
    writes=lambda line: file_named(line.words[1]).planned("OUTPUTFILE", Existing.REPLACED),
    error_file=None,
    example="submissions/tide-kb.tab.txt shorter.tab.txt",
)
def apply_k(line: Line, session: Session) -> int:
    run_file, output_file = line.words
    most = documents_per_node(line.text("-justifications"))
    if most == 0:
        session.remark("-justifications leaves no document for a node (M counts as 0 here): every line is discarded")
    with open_source(run_file) as source:
        lines = source.read_bytes().decode("utf-8", "surrogateescape").split("\n")
    if not lines[-1]:
        lines.pop()
    kept = kept_lines(lines, most)
    file_named(output_file).write(encoded(f"{text}\n" for text, is_kept in zip(lines, kept) if is_kept))
    discarded = "".join(f"--discarding: {text}\n" for text, is_kept in zip(lines, kept) if not is_kept)
    write_text("stderr", discarded.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))
    return Finished(0, (lines, kept))


# ---- Two that are otherwise


class _Superseded(Reference):
    """A program that accepts any words; it has help and version."""

    def read(self, typed: Sequence[str]) -> Line:
        with contextlib.suppress(UsageError):
            if (line := super().read(typed[:1])).page:
                return line
        return Line(typed)


@command(
    "expand-queries", (), Parameter("[files...]", "Ignored"), contract=_Superseded, example="queries/ldc-queries.xml"
)
def expand_queries(line: Line) -> int:
    """Take any words."""
    write_text("stderr", "cs-score expand-queries has been superseded by cs-score validate-queries -expand\n")
    return Status.DONE


# A negative number is a switch; one with too many digits to be meant is none.
_NUMBER: Final = re.compile(r"\s*\+?(\d{1,18}(\.\d*)?(e\+?\d{1,2})?)\s*", re.ASCII | re.IGNORECASE)
_SEED: Final = re.compile(r"\d{1,100}", re.ASCII)


@command(
    "samples",
    (
        *taken("-error_file"),
        Option("-output_file FILE", "Where to write the resamples: a file, stdout or stderr", "stdout"),
        *taken("--seed"),
    ),
    Parameter("num_samples", "Number of resamples"),
    Parameter("queries", "File with lines LDC_ID SF_ID: the SF queries of each LDC query"),
    contract=Reference,
    example="-output_file resamples.txt 1000 queries/queryids.txt",
)
def samples(line: Line) -> int:
    if not _SEED.fullmatch(seed := line.text("--seed")):
        problem = f"--seed takes a whole number of at least 0, not {seed}"
        raise Misuse(problem, f"ERROR: {problem}")
    output, errors = Destination(line.text("-output_file")), Destination.of_report(line.text("-error_file"))
    outputs = output.planned("-output_file", Existing.REPLACED) + errors.planned("-error_file", Existing.REFUSED)
    try:
        line.plan(outputs, line.words)  # the number, too: the two words are easily swapped
    except CsScoreError as error:
        write_text("stderr", f"cs-score samples: {error}\n")
        return Status.REFERENCE
    given, queries = line.words
    number = _NUMBER.fullmatch(given)
    try:
        groups = read_groups(queries)
        resamples = int(Decimal(number.group(1))) if number else 0
        output.write(encoded(resample_lines(groups, resamples, int(seed))))
    except CsScoreError as error:
        errors.write(encoded([f"{error}\n"]))
        return Status.REFERENCE
    report = "" if number else f"WARNING: {one_line(given)} is not a number of samples: no sample written\n"
    report += "" if groups else f"WARNING: no queries in {one_line(queries)}: the samples are empty\n"
    terminal.write_report(errors, report, encoded([report]))
    return 0
