"""The commands that turn a knowledge base into a run: `validate-kb` checks it, `resolve-queries` asks it queries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

from cs_score.base.documents import json_text
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import Existing, PlannedOutput, encoded, write_packed
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
    """Write pieces of text to a file, which is compressed if its ending says so, or to standard output for `-`.

    Raises OutputError.
    """
    if path == "-":
        STDOUT.write(encoded(pieces))
    else:
        write_packed(path, encoded(pieces))


# ---- validate-kb


def _outputs_of_validate_kb(line: CommandLine) -> Iterator[PlannedOutput]:
    """Yield the files for statistics. The files with the knowledge base are checked later, when their folder is."""
    if "--check" in line:
        return
    statistics_file = line.get("-stats_file")
    if statistics_file is not None:
        yield from Destination(statistics_file).planned("-stats_file", Existing.REPLACED)
    yield from writers.JSON_OPTION.outputs(line.get("--json"))


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
    existing_error_file=Existing.REPLACED,
    error_file_help="Where to report problems: a file, stdout or stderr",
    encodes_report_once=True,
)


@VALIDATE_KB.command
def validate_kb(line: CommandLine, session: Session) -> int:
    """Check a knowledge base, and write it in the formats of -output. Return the exit status.

    The command line is checked in the order of the reference program, so that the same fault is reported first.
    """
    # The options.
    kb_file = line.words[0]
    if not os.path.exists(kb_file):  # `-` does not mean standard input here
        raise InputError(f"File {kb_file} does not exist", code="FILE_MISSING")
    task = line.text("-task").upper()
    if task not in TASKS:
        known_tasks = ", ".join(sorted(TASKS))
        raise UsageError(f"Unknown task: {task} (known tasks are [{known_tasks}]")
    folder = writers.output_folder(line.get("-output_dir"), kb_file)
    session.report_to(closing_only=True)
    labels = frozenset(line.text("-labels").upper().split(":"))
    if TAC not in labels:
        session.announce(f"WARNING: '{TAC}' not included in output labels")
    is_check_only = "--check" in line
    formats = NONE if is_check_only else line.text("-output")
    outputs = writers.KbOutputs(
        folder=folder,
        paths=writers.output_paths(formats, folder, kb_file),
        labels=labels,
        link_kb=line.text("-linkkb").upper(),
    )
    predicates = PredicateTable()
    predicates_file = line.get("-predicates")
    if predicates_file is not None:
        load_predicates(predicates_file, predicates)
    multiple = line.text("-multiple").upper()
    if multiple not in tuple(KeptJustifications):
        choices = ", ".join(sorted(KeptJustifications))
        raise UsageError(f"Argument to -multiple switch must be one of [{choices}]")
    session.problems.ignored = ignored_codes(line.text("-ignore"))
    options = KbOptions(
        task=task,
        kept_justifications=KeptJustifications(multiple),
        documents=session.read_documents(),
        table=predicates,
    )

    # The checks, and then the outputs. A knowledge base with errors is not written.
    with open_source(kb_file, stdin_as_dash=False) as source:
        kb = validation.validate_kb(source, options, session.problems)
    session.report()
    if not session.has_errors:
        outputs.write(kb)
        if not is_check_only:
            _write_statistics(kb, line)
        if "--diff" in line:
            write_difference(writers.differences(kb, labels))
    return session.end(kb)


def _write_statistics(kb: KnowledgeBase, line: CommandLine) -> None:
    """Write the statistics of a knowledge base to the files of -stats_file and --json. Raises OutputError."""
    statistics_file = line.get("-stats_file")
    json_file = line.get("--json")
    if statistics_file is None and json_file is None:
        return
    statistics = writers.statistics_of(kb)
    if statistics_file is not None:
        Destination(statistics_file).write(encoded(writers.statistics_text(statistics)))
    if json_file is not None:
        _write_or_print(json_file, [json_text(statistics)])


# ---- resolve-queries


def _outputs_of_resolve_queries(line: CommandLine) -> Iterator[PlannedOutput]:
    """Yield the files for the run and for the explanation."""
    yield from Destination(line.words[2]).planned("OUTPUTFILE", Existing.REPLACED)
    yield from EXPLANATION.outputs(line.get("--explain"))


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
    existing_error_file=Existing.REPLACED,
    error_file_help="Where statistics are reported: a file or stderr",
    encodes_report_once=True,
)


@RESOLVE_QUERIES.command
def resolve_queries(line: CommandLine, session: Session) -> int:
    """Answer queries from a validated knowledge base, and write the answers as a run.

    Return the exit status 0, and the resolution as the value of the command.
    """
    # Where to report, and the queries.
    _queries_file, kb_file, output_file = line.words
    error_file = Destination.of_report(line.text("-error_file"))
    is_stream = error_file.stream is not None
    session.report_to("stderr" if is_stream else error_file.name)
    query_files = session.read_queries()
    session.remark(*query_files.remarks)
    _announce_unless_validated(kb_file, session)
    queries = list(query_files.query_set.by_id.values())
    _remark_on_entry_points(queries, session)

    # The answers, and how the entry points were found.
    with open_source(kb_file) as source:
        kb = ValidatedKb(source, queries)
    resolution = Resolution(kb, queries)
    Destination(output_file).write(encoded(resolution.lines))
    explanation_file = line.get("--explain")
    if explanation_file is not None:
        _write_or_print(explanation_file, explanation_text(resolution))

    # The report, which ends with the statistics.
    report = "".join(report_text(session.problems))
    write_text("stderr", report)
    session.close(resolution.statistics())
    return StatusWithResults(Status.DONE, resolution)


def _announce_unless_validated(kb_file: str, session: Session) -> None:
    """Warn if the name of a knowledge base file shows that it was not validated, as kb.tac does.

    A name without an ending, such as kb, shows nothing.
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
