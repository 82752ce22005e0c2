"""The commands that turn a knowledge base into a run: `validate-kb` checks it, `resolve-queries` asks it queries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

from cs_score.base.documents import json_text
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import Existing, PlannedOutput, utf8_blocks, write_packed
from cs_score.base.sources import open_source
from cs_score.cli.core import CommandLine, Option, Parameter, Status, StatusWithResults
from cs_score.cli.output import STDOUT, Destination, write_text
from cs_score.coldstart.output_files import report_text
from cs_score.coldstart.queries import Query
from cs_score.verbs.knowledge_base import validation, writers
from cs_score.verbs.knowledge_base.assertions import KnowledgeBase
from cs_score.verbs.knowledge_base.building import KbOptions, KeptJustifications
from cs_score.verbs.knowledge_base.kb_file import TASKS
from cs_score.verbs.knowledge_base.predicates import TAC, PredicateTable, load_predicates
from cs_score.verbs.knowledge_base.resolution import EXPLANATION, Resolution, ValidatedKb, explanation_text
from cs_score.verbs.knowledge_base.validation import IGNORED_BY_DEFAULT, ignored_codes
from cs_score.verbs.preparation.command import CHECK_OPTION, DIFF_OPTION, NONE, write_difference
from cs_score.verbs.preparation.programs import DOCUMENTS, Program, Session


def _write_or_print(path: str, pieces: Iterable[str]) -> None:
    """Write pieces of text to a file (compressed if its ending says so), or to standard output if the name is `-`.

    Raises OutputError if writing fails.
    """
    if path == "-":
        STDOUT.write(utf8_blocks(pieces))
    else:
        write_packed(path, utf8_blocks(pieces))


# ---- validate-kb


def _outputs_of_validate_kb(command_line: CommandLine) -> Iterator[PlannedOutput]:
    """Yield the output files for statistics and for --json, which are checked before the command runs.

    The files of the knowledge base and their folder are checked by the command itself. With --check there are no
    outputs, because nothing is written.
    """
    if "--check" in command_line:
        return
    statistics_file = command_line.get("-stats_file")
    if statistics_file is not None:
        yield from Destination(statistics_file).planned("-stats_file", Existing.REPLACED)
    yield from writers.JSON_OPTION.outputs(command_line.get("--json"))


VALIDATE_KB: Final = Program(
    name="validate-kb",
    options=(
        DOCUMENTS,
        Option("-ignore LIST", "Colon-separated warnings that are not reported", IGNORED_BY_DEFAULT),
        Option("-labels LIST", "Colon-separated labels of the predicates to write", TAC),
        Option("-linkkb NAME", "The knowledge base whose links name entities in edl output", "LDC2015E42"),
        Option("-multiple M", "Justifications kept of a relation: one, oneperdoc or many", KeptJustifications.MANY),
        Option("-output LIST", "Colon-separated formats: tac, edl, eal, nug, sen, none", NONE),
        Option("-output_dir DIR", "Folder of the outputs", "that of the knowledge base"),
        Option("-predicates FILE", "Predicates of your own, in a file LABEL.predicates.txt"),
        Option("-stats_file FILE", "Write statistics to FILE; an existing one is overwritten"),
        Option("-task TASK", "What is validated: CSKB, CSED or CSEDL", "CSKB"),
        CHECK_OPTION,
        DIFF_OPTION,
        Option("--json [FILE.json]", "Statistics as JSON; without FILE to standard output"),
    ),
    parameters=(Parameter("filename", "The knowledge base"),),
    planned_outputs=_outputs_of_validate_kb,
    example="-output tac -output_dir . submissions/tide.tac",
    rule_for_existing_error_file=Existing.REPLACED,
    error_file_help="Where to report problems: a file, stdout or stderr",
    encodes_report_once=True,
)


@VALIDATE_KB.as_command
def validate_kb(command_line: CommandLine, session: Session) -> int:
    """Check a knowledge base, and write it in the formats of -output. Return the exit status.

    The command line is checked in the order of the reference program, so that the same fault is reported first.
    """
    kb_file = command_line.positional_words[0]
    if not os.path.exists(kb_file):  # `-` does not mean standard input here
        raise InputError(f"File {kb_file} does not exist", code="FILE_MISSING")
    task = _validation_task(command_line)
    folder = writers.output_folder(command_line.get("-output_dir"), kb_file)
    session.send_report_to(command_line.text("-error_file"), keeps_stdout_short=True)
    outputs = _kb_outputs(command_line, folder, session)
    table = _read_predicates(command_line)
    kept_justifications = _kept_justifications(command_line)
    session.problems.ignored = ignored_codes(command_line.text("-ignore"))
    documents = session.read_documents()
    options = KbOptions(task=task, kept_justifications=kept_justifications, documents=documents, table=table)
    with open_source(kb_file, dash_is_stdin=False) as source:
        kb = validation.validate_kb(source, options, session.problems)
    session.report_problems()
    # A knowledge base with errors is not written.
    if not session.has_errors:
        _write_kb(kb, outputs, command_line)
    return session.end_report(kb)


def _validation_task(command_line: CommandLine) -> str:
    """Return the validation task of a command line, such as "CSKB". Raises UsageError for an unknown task."""
    task = command_line.text("-task").upper()
    if task not in TASKS:
        known_tasks = ", ".join(sorted(TASKS))
        raise UsageError(f"Unknown task: {task} (known tasks are [{known_tasks}]")
    return task


def _kb_outputs(command_line: CommandLine, folder: str, session: Session) -> writers.KbOutputs:
    """Return the outputs in this folder that a command line asks for. With --check there are none.

    A label denotes the predicates from one source; for example, TAC denotes the predicates of the evaluation. Warns if
    TAC is not among the labels of the predicates to write. Raises UsageError if a format is unknown or an output exists
    already.
    """
    predicate_labels = frozenset(command_line.text("-labels").upper().split(":"))
    if TAC not in predicate_labels:
        session.announce(f"WARNING: '{TAC}' not included in output labels")
    formats = NONE if "--check" in command_line else command_line.text("-output")
    kb_file = command_line.positional_words[0]
    return writers.KbOutputs(
        folder=folder,
        paths=writers.output_paths(formats, folder, kb_file),
        labels=predicate_labels,
        link_kb=command_line.text("-linkkb").upper(),
    )


def _read_predicates(command_line: CommandLine) -> PredicateTable:
    """Return the predicates of the evaluation and those defined in the file named by -predicates.

    Raises InputError if this file is invalid.
    """
    table = PredicateTable()
    predicates_file = command_line.get("-predicates")
    if predicates_file is not None:
        load_predicates(predicates_file, table)
    return table


def _kept_justifications(command_line: CommandLine) -> KeptJustifications:
    """Return the value of -multiple, which says how many justifications of a relation are kept.

    Raises UsageError for an unknown word.
    """
    word = command_line.text("-multiple").upper()
    if word not in tuple(KeptJustifications):
        choices = ", ".join(sorted(KeptJustifications))
        raise UsageError(f"Argument to -multiple switch must be one of [{choices}]")
    return KeptJustifications(word)


def _write_kb(kb: KnowledgeBase, outputs: writers.KbOutputs, command_line: CommandLine) -> None:
    """Write a knowledge base in all requested formats, and the requested statistics and differences.

    With --check, no statistics are written. Raises OutputError if writing fails.
    """
    outputs.write(kb)
    if "--check" not in command_line:
        _write_statistics(kb, command_line)
    if "--diff" in command_line:
        write_difference(writers.differences(kb, outputs.labels))


def _write_statistics(kb: KnowledgeBase, command_line: CommandLine) -> None:
    """Write the statistics of a knowledge base to the files of -stats_file and --json.

    Raises OutputError if writing fails.
    """
    statistics_file = command_line.get("-stats_file")
    json_file = command_line.get("--json")
    if statistics_file is None and json_file is None:
        return
    statistics = writers.statistics_of(kb)
    if statistics_file is not None:
        Destination(statistics_file).write(utf8_blocks(writers.statistics_text(statistics)))
    if json_file is not None:
        _write_or_print(json_file, [json_text(statistics)])


# ---- resolve-queries


def _outputs_of_resolve_queries(command_line: CommandLine) -> Iterator[PlannedOutput]:
    """Yield the files for the run and for the explanation."""
    yield from Destination(command_line.positional_words[2]).planned("OUTPUTFILE", Existing.REPLACED)
    yield from EXPLANATION.outputs(command_line.get("--explain"))


RESOLVE_QUERIES: Final = Program(
    name="resolve-queries",
    options=(Option("--explain FILE.tsv", "Also show which mentions each entry point met; - for standard output"),),
    parameters=(
        Parameter("queryfile", "The queries, one entry point each"),
        Parameter("runfile", "The validated knowledge base"),
        Parameter("output_file", "The run to write: a file, stdout or stderr"),
    ),
    planned_outputs=_outputs_of_resolve_queries,
    example="queries/sf-queries.xml tide.tac.valid tide.tab.txt",
    rule_for_existing_error_file=Existing.REPLACED,
    error_file_help="Where statistics are reported: a file or stderr",
    encodes_report_once=True,
)


@RESOLVE_QUERIES.as_command
def resolve_queries(command_line: CommandLine, session: Session) -> int:
    """Answer queries from a validated knowledge base, and write the answers as a run.

    Return the exit status 0. The returned object also holds the answers, so that no time is spent on freeing them.
    """
    _queries_file, kb_file, output_file = command_line.positional_words  # the session reads the file of queries
    error_file = Destination.of_report(command_line.text("-error_file"))
    # The report goes to a file or to standard error, never to standard output.
    is_file = error_file.stream is None
    session.send_report_to(error_file.name if is_file else "stderr")
    queries = _read_queries(kb_file, session)
    resolution = _answer_queries(kb_file, queries)
    Destination(output_file).write(utf8_blocks(resolution.lines))
    explanation_file = command_line.get("--explain")
    if explanation_file is not None:
        _write_or_print(explanation_file, explanation_text(resolution))
    write_text("stderr", "".join(report_text(session.problems)))
    session.write_whole_report(resolution.statistics())  # the statistics end the report
    return StatusWithResults(Status.DONE, resolution)


def _answer_queries(kb_file: str, queries: list[Query]) -> Resolution:
    """Return the answers to queries from the knowledge base in a file. Raises InputError if it cannot be read."""
    with open_source(kb_file) as source:
        kb = ValidatedKb(source, queries)
    return Resolution(kb, queries)


def _read_queries(kb_file: str, session: Session) -> list[Query]:
    """Return the queries to answer from the knowledge base `kb_file`.

    Remarks are printed on the files of the queries, on the name of `kb_file`, and on queries with several entry points.
    Raises InputError if the queries cannot be read.
    """
    query_files = session.read_queries()
    session.remark(*query_files.remarks)
    _warn_unless_validated(kb_file, session)
    queries = list(query_files.query_set.by_id.values())
    _remark_on_entry_points(queries, session)
    return queries


def _warn_unless_validated(kb_file: str, session: Session) -> None:
    """Warn if a knowledge base was probably not validated: its file has a name such as kb.tac, without ".valid".

    There is no warning for a name without any ending, such as kb.
    """
    name = os.path.basename(kb_file)
    has_ending = "." in name
    if has_ending and ".valid" not in name:
        session.announce(f"WARNING: {kb_file} might not be a validated Cold Start run file (it doesn't contain .valid)")


def _remark_on_entry_points(queries: Iterable[Query], session: Session) -> None:
    """Print a remark on each query with several entry points, because only the first one is used."""
    for query in queries:
        if len(query.entry_points) > 1:
            session.remark(f"query {query.full_id} has several entry points; only the first is used")
