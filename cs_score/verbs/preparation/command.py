"""The commands that are used before the scorer: they validate, make and package queries, runs and assessments. Each
follows a reference program; its call has a session, which reads the inputs and reports their problems.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Final, TypeVar

from cs_score.base.display import one_line, terminal_safe
from cs_score.base.errors import CsScoreError, InputError, UsageError
from cs_score.base.outputs import Existing, PlannedOutput, utf8_blocks
from cs_score.base.sources import open_source
from cs_score.cli import output as terminal
from cs_score.cli.core import (
    CommandLine,
    Misuse,
    Option,
    Parameter,
    ReferenceCommand,
    Status,
    StatusWithResults,
    command,
)
from cs_score.cli.output import STDOUT, Destination, file_named, write_text
from cs_score.cli.run_options import select_run_options
from cs_score.cli.shared_options import select_options
from cs_score.coldstart.file_columns import detect_schema
from cs_score.coldstart.options import JustificationLimits, is_left_out, split_at_colons
from cs_score.coldstart.output_files import report_text
from cs_score.coldstart.queries import QueryFiles, QuerySet
from cs_score.preparation.pooling import documents_per_node, kept_lines
from cs_score.preparation.prepared_runs import (
    LANGUAGES,
    CheckedRun,
    RunLimits,
    ValidatedText,
    check_run,
    differences,
    lines_by_language,
)
from cs_score.preparation.query_files import (
    TYPE_ACTIONS,
    DuplicateAction,
    MisfitAction,
    QueryOptions,
    queries_of_first_round,
    queries_of_second_round,
    query_file_text,
    read_groups,
    remarks_on_types,
    repair_queries,
    resample_lines,
)
from cs_score.problems.codes import Severity
from cs_score.verbs.preparation.programs import DOCUMENTS, Program, Session, check_exists

NONE: Final = "none"
"""The value of an option for an output file if nothing is to be written."""

CHECK_OPTION: Final = Option("--check", "Only check, and write no output")
DIFF_OPTION: Final = Option("--diff", "Show the changes on standard output, as a unified diff in the order of the file")
_GROUND_TRUTH: Final = Option("-groundtruth", "Accepted and without effect")
_JUSTIFICATIONS: Final = "Justifications allowed: A for each node and document, B for each node; 0-9 or M"
_ANY_JUSTIFICATIONS: Final = Option("-justifications A:B", _JUSTIFICATIONS, "M:M")
_FEW_JUSTIFICATIONS: Final = Option("-justifications A:B", _JUSTIFICATIONS, "1:3")
_QUERIES: Final = Parameter("queryfile", "The queries")

MOST_LISTED_QUERIES: Final = 5
"""How many queries are listed in a remark."""


def write_difference(diff: Iterable[str], *, has_colours: bool = False) -> None:
    """Print the lines of a unified diff on standard output.

    On a terminal, control characters are escaped, and added and removed lines are coloured if `has_colours` is true. In
    a file, the lines are unchanged, so that programs such as `patch` can apply the diff.
    """
    if sys.stdout.isatty():
        diff = (terminal_safe(text) for text in diff)
    if has_colours and terminal.can_show_colours(sys.stdout):
        diff = (terminal.with_coloured_changes(text) for text in diff)
    # Control characters are escaped by now; the colour codes must not be.
    STDOUT.write_unescaped(utf8_blocks(diff))


# ---- validate-run


def _destination_of_run(command_line: CommandLine) -> Destination | None:
    """Return the destination of the validated run; None if it is not written."""
    text = command_line.text("-output_file")
    if text == NONE or "--check" in command_line:
        return None
    return Destination(text)


def _outputs_of_validate_run(command_line: CommandLine) -> Iterable[PlannedOutput]:
    """Return the file for the validated run; nothing if it goes to a stream or is not written."""
    destination = _destination_of_run(command_line)
    if destination is None:
        return []
    return destination.planned("-output_file", Existing.REPLACED)


VALIDATE_RUN: Final = Program(
    name="validate-run",
    options=(
        Option("-allow_comments", "Cut off comments at the end of lines"),
        Option(
            "-depth S:D",
            "Pooling: A:D keeps the best D nodes of the run, B:D those of each query (D x D of the second hop); 0 "
            "keeps all",
        ),
        DOCUMENTS,
        _GROUND_TRUTH,
        _FEW_JUSTIFICATIONS,
        Option("-output_file FILE", "The validated run: a file, stdout, stderr or none", NONE),
        CHECK_OPTION,
        DIFF_OPTION,
    ),
    parameters=(
        Parameter("queryfile", "The queries that the run answers"),
        Parameter("filename", "The run, or a folder of runs"),
    ),
    planned_outputs=_outputs_of_validate_run,
    example="-output_file valid.tab queries/sf-queries.xml submissions/tide-kb.tab.txt",
)


@VALIDATE_RUN.as_command
def validate_run(command_line: CommandLine, session: Session) -> int:
    """Check a run, and write the validated run, which the scorer can read. Return the exit status.

    A run with errors is not written.
    """
    run_file = command_line.positional_words[1]  # follows the query file, which the session reads
    session.send_report_to(command_line.text("-error_file"))
    checked_run = session.check_runs([run_file], depth=command_line.text("-depth", ""))
    validated_text = checked_run.validated_text()  # after this, all problems of the run are in the log
    _remark_on_run(checked_run, validated_text, session)
    session.report_problems()
    if not session.has_errors:
        destination = _destination_of_run(command_line)
        if destination is not None:
            _write_run(validated_text, destination, session)
        if "--diff" in command_line:
            write_difference(differences(checked_run), has_colours=True)
    # The exit status keeps both alive, so that the process ends without spending time on freeing them.
    return session.end_report((checked_run, validated_text))


def _remark_on_run(checked_run: CheckedRun, validated_text: ValidatedText, session: Session) -> None:
    """Print remarks on a checked run: on its lines, its node ids, and the queries that were left out.

    `checked_run` has the lines of the run as they were read, and `validated_text` has the lines to be written.
    """
    session.remark(*validated_text.remarks)
    remark_on_node_ids = checked_run.remark_on_node_ids()
    if remark_on_node_ids is not None:
        session.remark(remark_on_node_ids)
    if validated_text.dropped_query_ids:
        session.remark(_remark_on_dropped_queries(validated_text.dropped_query_ids))


def _remark_on_dropped_queries(queries: Sequence[str]) -> str:
    """Return a remark that names the queries whose lines are left out of the validated run."""
    names = ", ".join(queries[:MOST_LISTED_QUERIES])
    if len(queries) > MOST_LISTED_QUERIES:
        names += " ..."
    return (
        f"lines of {len(queries)} queries are left out, because a line with the answer they ask about was skipped "
        f"(wrong slot or an empty column): {names}"
    )


def _write_run(validated_text: ValidatedText, destination: Destination, session: Session) -> None:
    """Write a validated run, and print a remark if its first line would keep the scorer from reading it.

    Raises OutputError if writing fails.
    """
    first_piece = next(validated_text.pieces, "")
    if first_piece and not _begins_like_run(first_piece):
        session.remark(
            "the first line of the validated run fits no layout, so the scorer will not read it (usually a "
            "confidence such as .5 or 1.); write that line otherwise"
        )
    all_pieces = itertools.chain([first_piece], validated_text.pieces)
    destination.write(utf8_blocks(all_pieces))


def _begins_like_run(text: str) -> bool:
    """Return whether the first line of a text fits a layout of runs, by which the scorer recognises them."""
    first_line = text.partition("\n")[0]
    return detect_schema(first_line.split("\t")) is not None


# ---- validate-queries


def _outputs_of_validate_queries(command_line: CommandLine) -> Iterator[PlannedOutput]:
    """Yield the files for the validated queries and for the index of expanded queries.

    The queries are always written to a file, even one called `stdout`. An index with this name is printed instead.
    """
    yield from file_named(command_line.positional_words[1]).planned("OUTPUTFILE", Existing.REFUSED)
    index_file = command_line.get("-index_file")
    if index_file is not None:
        yield from Destination(index_file).planned("-index_file", Existing.REFUSED)


VALIDATE_QUERIES: Final = Program(
    name="validate-queries",
    options=(
        Option("-dups VALUE", "Queries that share entry points: none, ignore, delete", NONE),
        Option("-expand", "Write one query for each entry point"),
        Option("-index_file FILE", "Names of expanded queries, each with the name it comes from"),
        Option("-languages LIST", "Colon-separated languages to write; empty for all", "ENGLISH:CHINESE:SPANISH"),
        Option("-query_base BASE", "Beginning of the names of expanded queries", "TAC2015CS"),
        Option("-retain_sf", "Leave out event and sentiment slots"),
        Option("-subtypes VALUE", "Places that do not fit: none, repair, delete-slot, delete-query", NONE),
        Option("-types VALUE", "Slots that do not fit: none, delete-slot, delete-query", NONE),
    ),
    parameters=(_QUERIES, Parameter("outputfile", "A new file for the validated queries")),
    planned_outputs=_outputs_of_validate_queries,
    example="-expand -query_base ISLE26 queries/ldc-queries.xml expanded.xml",
)


@VALIDATE_QUERIES.as_command
def validate_queries(command_line: CommandLine, session: Session) -> int:
    """Check a query file, and write the queries with the changes of the options. Return the exit status.

    The queries are written even if there are errors, as the reference program does.
    """
    options = _query_options(command_line)
    session.send_report_to(command_line.text("-error_file"))
    query_file, output_file = command_line.positional_words
    loaded_queries = session.read_queries()
    _remark_on_queries(loaded_queries, query_file, options, session)
    validated = repair_queries(loaded_queries.query_set, options, session.problems)
    text = query_file_text(validated.queries)
    session.report_problems()
    file_named(output_file).write(utf8_blocks([text]))
    _write_index(validated.index, command_line.get("-index_file"))
    return session.end_report(validated)


def _remark_on_queries(loaded_queries: QueryFiles, file_name: str, options: QueryOptions, session: Session) -> None:
    """Print the remarks on a query file, and remarks on the entity types of its queries."""
    session.remark(*loaded_queries.remarks)
    queries = loaded_queries.query_set.by_id.values()
    session.remark(*remarks_on_types(queries, options.type_action, file_name))


def _write_index(index: Iterable[tuple[str, str]], file: str | None) -> None:
    """Write the index of expanded queries: on each line, the ids of an expanded query and of its original query.

    Nothing is written if `file` is None. Raises OutputError if writing fails.
    """
    if file is None:
        return
    lines = [f"{expanded_id}\t{original_id}\n" for expanded_id, original_id in index]
    Destination(file).write(utf8_blocks(lines))


def _query_options(command_line: CommandLine) -> QueryOptions:
    """Return the command-line options for changing queries. Raises UsageError for an unknown value.

    The option -types names the action for queries whose slots have different entity types, such as a person and a
    company. The option -subtypes names the action for queries whose slots have different kinds of places, such as a
    city and a country.
    """
    languages = command_line.text("-languages")
    return QueryOptions(
        type_action=_read_choice(command_line, "-types", TYPE_ACTIONS),
        place_action=_read_choice(command_line, "-subtypes", MisfitAction),
        duplicate_action=_read_choice(command_line, "-dups", DuplicateAction),
        expanded_id_base=command_line.text("-query_base") if "-expand" in command_line else None,
        languages=None if is_left_out(languages) else frozenset(split_at_colons(languages)),
        only_slot_filling="-retain_sf" in command_line,
    )


_Choice = TypeVar("_Choice", bound=StrEnum)


def _read_choice(command_line: CommandLine, option: str, choices: Iterable[_Choice]) -> _Choice:
    """Return the value of an option as one of `choices`; letter case does not matter. Raises UsageError for others."""
    text = command_line.text(option).lower()
    choice_by_name = {choice.value: choice for choice in choices}
    if text not in choice_by_name:
        names = ", ".join(choice_by_name)
        raise UsageError(f"Unknown {option} argument: {text}; choose {names}")
    return choice_by_name[text]


# ---- generate-queries


def _outputs_of_generate_queries(command_line: CommandLine) -> Iterable[PlannedOutput]:
    """Return the file for the queries; nothing if they go to a stream."""
    return Destination(command_line.positional_words[1]).planned("OUTPUTFILE", Existing.REPLACED)


GENERATE_QUERIES: Final = Program(
    name="generate-queries",
    options=(
        DOCUMENTS,
        _ANY_JUSTIFICATIONS,
        Option("-valid", "Escape the names taken from the run, so that the file is XML"),
    ),
    parameters=(
        _QUERIES,
        Parameter("outputfile", "The queries to write: a file, stdout or stderr"),
        Parameter("[runfile]", "Answers to the first round"),
    ),
    planned_outputs=_outputs_of_generate_queries,
    example="queries/sf-queries.xml round2.xml submissions/tide-kb.tab.txt",
    rule_for_existing_error_file=Existing.REPLACED,
    encodes_report_once=True,
)


@GENERATE_QUERIES.as_command
def generate_queries(command_line: CommandLine, session: Session) -> int:
    """Write the queries of the first round or, if a run is named, of the second round. Return the exit status.

    The first round asks for the first slot of each query; the second round asks about the answers of the run.
    """
    session.send_report_to(command_line.text("-error_file"))
    # Nothing is checked against the documents. The list of documents (-docs) is read only because the reference program
    # reports an error if it cannot be read.
    session.read_documents()
    queries = session.read_queries()
    limits = RunLimits(JustificationLimits.parse(command_line.text("-justifications")))
    session.remark(*queries.remarks)
    has_run = len(command_line.positional_words) > 2  # queries, output and run
    if has_run:
        return _write_second_round(command_line, queries, limits, session)
    destination = Destination(command_line.positional_words[1])
    return _write_first_round(queries.query_set, destination, session, has_error_file="-error_file" in command_line)


def _write_second_round(command_line: CommandLine, queries: QueryFiles, limits: RunLimits, session: Session) -> int:
    """Check the run named on the command line, and write the queries about its answers. Return the exit status.

    If the run has errors, only the error report is written. Raises InputError if a file is invalid, and OutputError if
    writing fails.
    """
    _query_file, output_file, run_file = command_line.positional_words
    check_exists(run_file)
    checked_run = check_run([run_file], queries, limits, session.problems)
    responses = checked_run.loading.links.responses
    # Names from the run are escaped only with -valid, which makes the query file valid XML.
    queries_about_answers = queries_of_second_round(responses, is_xml="-valid" in command_line)
    text = query_file_text(queries_about_answers)
    session.report_problems()
    if not session.has_errors:
        Destination(output_file).write(utf8_blocks([text]))
    return session.end_report(checked_run)


def _write_first_round(queries: QuerySet, destination: Destination, session: Session, *, has_error_file: bool) -> int:
    """Write the queries of the first round and the error report, and return the exit status 0.

    If `has_error_file` is true, the report is empty, because the reference program leaves the error file empty in this
    round. Raises OutputError if writing fails.
    """
    text = query_file_text(queries_of_first_round(queries.by_id.values()))
    destination.write(utf8_blocks([text]))
    report = "" if has_error_file else "".join(report_text(session.problems))
    session.write_whole_report(report)
    return Status.DONE


# ---- package-output


def _outputs_of_package_output(command_line: CommandLine) -> Iterable[PlannedOutput]:
    """Return the file for the run."""
    return file_named(command_line.positional_words[3]).planned("OUTPUTFILE", Existing.REFUSED)


PACKAGE_OUTPUT: Final = Program(
    name="package-output",
    options=(DOCUMENTS, _ANY_JUSTIFICATIONS),
    parameters=(
        Parameter("queryfile", "The queries of the first round"),
        Parameter("round1file", "Answers to the first round"),
        Parameter("round2file", "Answers to the second round"),
        Parameter("outputfile", "A new file for the run"),
    ),
    planned_outputs=_outputs_of_package_output,
    example="queries/sf-queries.xml round1.tab round2.tab run.tab",
)


@PACKAGE_OUTPUT.as_command
def package_output(command_line: CommandLine, session: Session) -> int:
    """Write the answers to both rounds as one run. Return the exit status.

    It is an error if the answers have different run ids.
    """
    # The first word is the query file, which the session reads.
    _query_file, first_round_file, second_round_file, output_file = command_line.positional_words
    session.send_report_to(command_line.text("-error_file"))
    checked_run = session.check_runs([first_round_file, second_round_file])
    session.remark(*checked_run.loading.remarks)
    _check_run_ids(checked_run, session)
    session.report_problems()
    if not session.has_errors:
        validated_text = checked_run.validated_text()
        file_named(output_file).write(utf8_blocks(validated_text.pieces))
    return session.end_report(checked_run)


def _check_run_ids(checked_run: CheckedRun, session: Session) -> None:
    """Add an error to the log of problems if the answers have several run ids, and end the program if it is fatal."""
    run_ids = {response.run_id for response in checked_run.loading.links.responses}
    if len(run_ids) > 1:
        session.problems.add("MISMATCHED_RUNID", ",".join(sorted(run_ids)))
        session.problems.end_if_fatal()


# ---- validate-assessments


def _destination_by_language(command_line: CommandLine) -> dict[str, Destination]:
    """Return the destination of the assessments by language: a file for each language, or one stream for all."""
    prefix = Destination(command_line.text("-output_file"))
    if prefix.stream is not None:
        return dict.fromkeys(LANGUAGES, prefix)
    return {language: Destination(f"{prefix.name}.{language.lower()}") for language in LANGUAGES}


def _outputs_of_validate_assessments(command_line: CommandLine) -> Iterator[PlannedOutput]:
    """Yield the file for the assessments of each language."""
    for destination in _destination_by_language(command_line).values():
        yield from destination.planned("-output_file", Existing.CLEARED)


VALIDATE_ASSESSMENTS: Final = Program(
    name="validate-assessments",
    options=(
        DOCUMENTS,
        _GROUND_TRUTH,
        Option("--all-problems", "Report all lines that scoring refuses or leaves out, by kind; write no output"),
        Option("-languages LIST", "Checked and without effect", ":".join(LANGUAGES)),
        Option("-output_file PREFIX", "Prefix of the files to write, or stdout or stderr", NONE),
    ),
    parameters=(
        Parameter("queryfile", "The slot-filling queries that were assessed"),
        Parameter("filename", "The assessments, or a folder of them"),
    ),
    planned_outputs=_outputs_of_validate_assessments,
    example="-output_file pool queries/sf-queries.xml assessments/pool-2016.tab",
)


@VALIDATE_ASSESSMENTS.as_command
def validate_assessments(command_line: CommandLine, session: Session) -> int:
    """Check assessments, and write a file with the assessments of each language. Return the exit status."""
    file = command_line.positional_words[1]  # follows the query file, which the session reads
    session.send_report_to(command_line.text("-error_file"))
    _check_languages(command_line.text("-languages"))
    if "--all-problems" in command_line:
        return _print_problem_kinds(session, file)
    checked_assessments = _check_assessments(session, file)
    assessments = _assessments_with_language(session, checked_assessments)
    session.report_problems()
    if not session.has_errors:
        _write_assessments(assessments, _destination_by_language(command_line))
    return session.end_report(checked_assessments)


def _assessments_with_language(session: Session, checked_assessments: CheckedRun) -> list[tuple[str, str]]:
    """Return the lines for the files of all languages, each with the language of its file; none if there are errors.

    For example `("ENGLISH", "CSSF15_ENG_01\t...")`. Raises InputError if mention types contradict each other.
    """
    if session.problems.count(Severity.ERROR):
        return []
    return list(lines_by_language(checked_assessments.loading))


def _check_assessments(session: Session, file: str) -> CheckedRun:
    """Return the assessments of a file after all checks, and print remarks on them. Raises InputError for a run.

    Assessments are loaded and checked in the same way as runs.
    """
    no_limits = JustificationLimits(None, None)
    checked_assessments = session.check_runs([file], no_limits)
    if checked_assessments.loading.links.responses:
        raise InputError("this is a run", file=file, remedy="cs-score validate-run validates runs")
    session.remark(*checked_assessments.loading.remarks)
    return checked_assessments


def _check_languages(text: str) -> None:
    """Raise UsageError if the colon-separated list names an unknown language."""
    for language in text.split(":"):
        if language and language not in LANGUAGES:
            raise UsageError(f"Unexpected language {language} for -languages; choose {', '.join(LANGUAGES)}")


def _write_assessments(assessments: Sequence[tuple[str, str]], destination_by_language: dict[str, Destination]) -> None:
    """Write each assessment to the destination of its language.

    If all destinations are the same stream, the assessments are written to it in their original order. An assessment is
    a pair of its language and its line: `("ENGLISH", "CSSF15_ENG_01\t...")`. Raises OutputError if writing fails.
    """
    first_destination = destination_by_language[LANGUAGES[0]]
    if first_destination.stream is not None:  # then this stream is the destination of all languages
        all_lines = [f"{text}\n" for _, text in assessments]
        first_destination.write(utf8_blocks(all_lines))
        return
    for language, destination in destination_by_language.items():
        lines = [f"{text}\n" for language_of_text, text in assessments if language_of_text == language]
        destination.write(utf8_blocks(lines))


def _print_problem_kinds(session: Session, file: str) -> int:
    """Print each kind of problem for which scoring rejects or skips assessments of a file. Return the exit status.

    The exit status indicates failure if scoring would reject the file. It also holds the checked assessments, so that
    no time is spent on freeing them before the process ends.
    """
    checked_pool = session.check_assessments(file)
    session.remark(*checked_pool.remarks)
    problem_texts = [str(kind) for kind in checked_pool.problem_kinds]
    if not problem_texts:
        problem_texts = ["no line that scoring refuses or leaves out"]
    lines = [f"{one_line(text)}\n" for text in problem_texts]
    write_text("stdout", "".join(lines))
    session.add_fatal(checked_pool.fatal_errors)
    status = Status.REFERENCE_FAILURE if checked_pool.is_refused else Status.DONE
    return StatusWithResults(status, checked_pool)


# ---- apply-k


def _outputs_of_apply_k(command_line: CommandLine) -> Iterable[PlannedOutput]:
    """Return the file for the lines that are kept."""
    return file_named(command_line.positional_words[1]).planned("OUTPUTFILE", Existing.REPLACED)


APPLY_K: Final = Program(
    name="apply-k",
    options=(Option("-error_file FILE", "Accepted and without effect", "STDERR"), _FEW_JUSTIFICATIONS),
    parameters=(Parameter("runfile", "The run"), Parameter("outputfile", "The file for the lines that are kept")),
    planned_outputs=_outputs_of_apply_k,
    rule_for_existing_error_file=None,
    example="submissions/tide-kb.tab.txt shorter.tab.txt",
)


@APPLY_K.as_command
def apply_k(command_line: CommandLine, session: Session) -> int:
    """Write the lines of a run whose documents are among the first K documents of their node. Return 0.

    K is the second number of -justifications. If the letter M is given instead, it is read as 0, so that every line is
    left out (in other commands, it means no limit). The lines that are left out are printed on standard error.
    """
    run_file, output_file = command_line.positional_words
    most_documents = documents_per_node(command_line.text("-justifications"))
    if most_documents == 0:
        session.remark("-justifications leaves no document for a node (M counts as 0 here): every line is discarded")
    lines = _lines_of_run(run_file)
    kept_texts, discard_messages = _divide_lines(lines, most_documents)
    file_named(output_file).write(utf8_blocks(kept_texts))
    _print_with_escapes("".join(discard_messages))
    # The exit status holds the lists, so that no time is spent on freeing them before the process ends.
    return StatusWithResults(Status.DONE, (lines, kept_texts, discard_messages))


def _divide_lines(lines: Sequence[str], most_documents: int) -> tuple[list[str], list[str]]:
    """Return the lines of a run that are kept, and a message about each of the others, all with line feeds.

    For each node, the lines from its first `most_documents` documents are kept. The message about any other line is the
    line itself, prefixed with `--discarding: `.
    """
    kept_texts = []
    discard_messages = []
    for text, is_kept in zip(lines, kept_lines(lines, most_documents)):
        if is_kept:
            kept_texts.append(f"{text}\n")
        else:
            discard_messages.append(f"--discarding: {text}\n")
    return kept_texts, discard_messages


def _print_with_escapes(text: str) -> None:
    r"""Print lines of a file on standard error, with escapes such as `\xff` for bytes that are not UTF-8."""
    text_bytes = text.encode("utf-8", "surrogateescape")
    write_text("stderr", text_bytes.decode("utf-8", "backslashreplace"))


def _lines_of_run(run_file: str) -> list[str]:
    """Return the lines of a run without line feeds. Bytes that are not UTF-8 become surrogate characters."""
    with open_source(run_file) as source:
        lines = source.read_bytes().decode("utf-8", "surrogateescape").split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


# ---- Two programs with contracts of their own


class _Superseded(ReferenceCommand):
    """The command of a program that another one has replaced: it accepts any words, and shows its help and version."""

    def parse(self, typed: Sequence[str]) -> CommandLine:
        """Return the command line; the first word may be an option for help or a version."""
        with contextlib.suppress(UsageError):  # any other word is accepted and ignored
            command_line = super().parse(typed[:1])
            if command_line.help_or_version:
                return command_line
        return CommandLine(typed)


@command(
    "expand-queries",
    (),
    Parameter("[files...]", "Ignored"),
    command_class=_Superseded,
    example="queries/ldc-queries.xml",
)
def expand_queries(command_line: CommandLine) -> int:
    """Print which program has replaced this one. Return 0."""
    write_text("stderr", "cs-score expand-queries has been superseded by cs-score validate-queries -expand\n")
    return Status.DONE


# There is no negative number, which would be read as a switch. Numbers with more digits are not accepted.
_NUMBER_PATTERN: Final = re.compile(r"\s*\+?(\d{1,18}(\.\d*)?(e\+?\d{1,2})?)\s*", re.ASCII | re.IGNORECASE)
_SEED_PATTERN: Final = re.compile(r"\d{1,100}", re.ASCII)


@command(
    "samples",
    (
        *select_run_options("-error_file"),
        Option("-output_file FILE", "Where to write the resamples: a file, stdout or stderr", "stdout"),
        *select_options("--seed"),
    ),
    Parameter("num_samples", "Number of resamples"),
    Parameter("queries", "File with lines LDC_ID SF_ID: the SF queries of each LDC query"),
    command_class=ReferenceCommand,
    example="-output_file resamples.txt 1000 queries/queryids.txt",
)
def samples(command_line: CommandLine) -> int:
    """Write bootstrap resamples of LDC queries, drawn with replacement. Return the exit status.

    Each line has the number of a resample, then its LDC queries with their SF queries: `1 LDC_ID:SF_ID,SF_ID ...`.
    """
    seed = _read_seed(command_line)
    destination = Destination(command_line.text("-output_file"))
    error_file = Destination.of_report(command_line.text("-error_file"))
    try:
        _check_outputs_of_samples(command_line, destination, error_file)
    except CsScoreError as error:
        write_text("stderr", f"cs-score samples: {error}\n")
        return Status.REFERENCE_FAILURE
    number_text, queries_file = command_line.positional_words
    try:
        report = _write_samples(number_text, queries_file, seed, destination)
    except CsScoreError as error:
        error_file.write(utf8_blocks([f"{error}\n"]))
        return Status.REFERENCE_FAILURE
    # The text is printed on standard error, but encoded before it is written to a file.
    terminal.write_report(error_file, report, utf8_blocks([report]))
    return Status.DONE


def _read_seed(command_line: CommandLine) -> int:
    """Return the value of --seed. Raises Misuse, an error of wrong usage, if it is not a whole number."""
    seed = command_line.text("--seed")
    if not _SEED_PATTERN.fullmatch(seed):
        problem = f"--seed takes a whole number of at least 0, not {seed}"
        raise Misuse(problem, f"ERROR: {problem}")
    return int(seed)


def _check_outputs_of_samples(command_line: CommandLine, destination: Destination, error_file: Destination) -> None:
    """Raise UsageError or OutputError if the destination of the resamples or of the error report is not allowed.

    Both `num_samples` and `queries` are checked as inputs, because users easily swap them.
    """
    outputs = destination.planned("-output_file", Existing.REPLACED)
    outputs += error_file.planned("-error_file", Existing.REFUSED)
    # The plan itself is not needed, but making it checks the outputs.
    command_line.plan(outputs, command_line.positional_words)


def _read_number(text: str) -> int | None:
    """Return the number of resamples given in a text, without its decimals: `1e3` -> 1000, `10.5` -> 10.

    The result is None if the text is not a number.
    """
    match = _NUMBER_PATTERN.fullmatch(text)
    return None if match is None else int(Decimal(match.group(1)))


def _write_samples(number_text: str, queries_file: str, seed: int, destination: Destination) -> str:
    """Write resamples, and return the text of the error report, which is empty if there are no warnings.

    A resample draws groups of queries; the slot-filling queries made from the same LDC query form a group. The report
    has a warning if `number_text` (the number of resamples) is not a number, in which case nothing is written. It also
    has a warning if `queries_file` lists no queries, in which case the resamples are empty. Raises InputError if a file
    is invalid, and OutputError if writing fails.
    """
    number = _read_number(number_text)
    query_groups = read_groups(queries_file)
    destination.write(utf8_blocks(resample_lines(query_groups, number or 0, seed)))
    report = ""
    if number is None:
        report += f"WARNING: {one_line(number_text)} is not a number of samples: no sample written\n"
    if not query_groups:
        report += f"WARNING: no queries in {one_line(queries_file)}: the samples are empty\n"
    return report
