"""The programs from a knowledge base to a run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from cs_score.base.documents import json_text
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import Existing, PlannedOutput, encoded, write_packed
from cs_score.base.sources import open_source
from cs_score.cli.companions import CHECK, DIFF, DOCUMENTS, NONE, Session, program, write_difference
from cs_score.cli.core import Finished, Line, Option, Parameter
from cs_score.cli.output import STDOUT, Destination, write_text
from cs_score.coldstart.outputs import report_text
from cs_score.knowledge_base import validation, writers
from cs_score.knowledge_base.building import KbOptions, Multiple
from cs_score.knowledge_base.kb_file import TASKS
from cs_score.knowledge_base.predicates import TAC, PredicateTable, load_predicates
from cs_score.knowledge_base.resolution import EXPLANATION, Resolution, ValidatedKb, explanation_text
from cs_score.knowledge_base.validation import IGNORED_BY_DEFAULT, ignored_codes


def _outputs_of_kb(line: Line) -> Iterator[PlannedOutput]:
    """The files of statistics; those of the formats must be new, and are checked with their folder."""
    if "--check" not in line:
        if (path := line.get("-stats_file")) is not None:
            yield from Destination(path).planned("-stats_file", Existing.REPLACED)
        yield from writers.JSON_OPTION.outputs(line.get("--json"))


def _write(path: str, pieces: Iterable[str]) -> None:
    """Write the file of an own option, for which `-` is standard output."""
    if path == "-":
        STDOUT.write(encoded(pieces))
    else:
        write_packed(path, encoded(pieces))


@program(
    "validate-kb",
    (
        DOCUMENTS,
        Option("-ignore LIST", "Colon-separated warnings that are not reported", IGNORED_BY_DEFAULT),
        Option("-labels LIST", "Colon-separated labels of the predicates to write", TAC),
        Option("-linkkb NAME", "The knowledge base whose links name entities in edl output", "LDC2015E42"),
        Option("-multiple M", "Justifications kept of a relation: one, oneperdoc or many", Multiple.MANY),
        Option("-output LIST", "Colon-separated formats: tac, edl, eal, nug, sen, none", NONE),
        Option("-output_dir DIR", "Folder of the outputs", "that of the knowledge base"),
        Option("-predicates FILE", "Predicates of your own, in a file LABEL.predicates.txt"),
        Option("-stats_file FILE", "Write statistics to FILE; an existing one is overwritten"),
        Option("-task TASK", "What is validated: CSKB, CSED or CSEDL", "CSKB"),
        CHECK,
        DIFF,
        Option("--json [FILE.json]", "Statistics as JSON; without FILE to standard output"),
    ),
    Parameter("filename", "The knowledge base"),
    writes=_outputs_of_kb,
    example="-output tac -output_dir . submissions/tide.tac",
    error_file=Existing.REPLACED,
    errors="Where to report problems: a file, stdout or stderr",
    encoded_once=True,
)
def validate_kb(line: Line, session: Session) -> int:
    """Check the command line in the reference's order, so that the same fault is named first; then validate."""
    kb_file = line.words[0]
    if not os.path.exists(kb_file):
        raise InputError(f"File {kb_file} does not exist", code="FILE_MISSING")
    task = line.text("-task").upper()
    if task not in TASKS:
        raise UsageError(f"Unknown task: {task} (known tasks are [{', '.join(sorted(TASKS))}]")
    folder = writers.output_folder(line.get("-output_dir"), kb_file)
    session.report_to(closing_only=True)
    labels = frozenset(line.text("-labels").upper().split(":"))
    if TAC not in labels:
        session.announce(f"WARNING: '{TAC}' not included in output labels")
    paths = writers.output_paths(NONE if "--check" in line else line.text("-output"), folder, kb_file)
    outputs = writers.KbOutputs(folder, paths, labels, line.text("-linkkb").upper())
    table = PredicateTable()
    if (predicates := line.get("-predicates")) is not None:
        load_predicates(predicates, table)
    multiple = line.text("-multiple").upper()
    if multiple not in tuple(Multiple):
        raise UsageError(f"Argument to -multiple switch must be one of [{', '.join(sorted(Multiple))}]")
    session.problems.ignored = ignored_codes(line.text("-ignore"))
    options = KbOptions(task, Multiple(multiple), session.documents(), table)
    with open_source(kb_file, stdin_as_dash=False) as source:
        base = validation.validate_kb(source, options, session.problems)

    def write() -> None:
        outputs.write(base)
        if "--check" not in line and line.first("-stats_file --json"):
            statistics = writers.statistics_of(base)
            if (path := line.get("-stats_file")) is not None:
                Destination(path).write(encoded(writers.statistics_text(statistics)))
            if (path := line.get("--json")) is not None:
                _write(path, [json_text(statistics)])
        if "--diff" in line:
            write_difference(writers.differences(base, labels))

    return session.finish(write)


def _outputs_of_run(line: Line) -> Iterator[PlannedOutput]:
    yield from Destination(line.words[2]).planned("OUTPUTFILE", Existing.REPLACED)
    yield from EXPLANATION.outputs(line.get("--explain"))


@program(
    "resolve-queries",
    (Option("--explain FILE.tsv", "Also show which mentions each entry point met; - for standard output"),),
    Parameter("queryfile", "The queries, one entry point each"),
    Parameter("runfile", "The validated knowledge base"),
    Parameter("output_file", "The run to write: a file, stdout or stderr"),
    writes=_outputs_of_run,
    example="queries/sf-queries.xml tide.tac.valid tide.tab.txt",
    error_file=Existing.REPLACED,
    errors="Where statistics are reported: a file or stderr",
    encoded_once=True,
)
def resolve_queries(line: Line, session: Session) -> int:
    _, kb_file, output_file = line.words
    errors = Destination.of_report(line.text("-error_file"))
    session.report_to("stderr" if errors.stream is not None else errors.text)
    queries = session.queries()
    session.remark(*queries.remarks)
    name = os.path.basename(kb_file)
    if "." in name and ".valid" not in name:
        session.announce(f"WARNING: {kb_file} might not be a validated Cold Start run file (it doesn't contain .valid)")
    asked = list(queries.table.by_id.values())
    for query in asked:
        if len(query.entry_points) > 1:
            session.remark(f"query {query.full_id} has several entry points; only the first is used")
    with open_source(kb_file) as source:
        kb = ValidatedKb(source, asked)
    resolution = Resolution(kb, asked)
    Destination(output_file).write(encoded(resolution.lines))
    if (path := line.get("--explain")) is not None:
        _write(path, explanation_text(resolution))
    write_text("stderr", "".join(report_text(session.problems)))
    session.close(resolution.statistics())
    return Finished(0, resolution)
