"""`cs-score resolve-queries QUERYFILE RUNFILE OUTPUT_FILE` (specification of knowledge bases, 16)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from cs_score.base.outputs import encoded, write_packed
from cs_score.base.planned_outputs import Existing, PlannedOutput
from cs_score.base.sources import open_source
from cs_score.cli.destinations import Destination, write_result, write_text
from cs_score.cli.form import Parameter
from cs_score.cli.leaving import Finished
from cs_score.cli.options import CommandLine, Option
from cs_score.cli.preparation.program import (
    PROBLEMS,
    Program,
    Session,
)
from cs_score.coldstart.outputs import report_text
from cs_score.coldstart.query_files import load_queries
from cs_score.knowledge_base.resolution import (
    EXPLANATION,
    Resolution,
    documents_of,
    explanation_text,
    read_validated,
    resolve,
    slots_of,
)

PROGRAM: Final = Program(
    "resolve-queries",
    (
        Option("-error_file", "FILE", "Where statistics are reported: a file or stderr", "STDERR"),
        Option("--explain", "FILE.tsv", "Also show which mentions each entry point met; - for standard output"),
        *PROBLEMS,
    ),
    (
        Parameter("queryfile", "The queries, one entry point each"),
        Parameter("runfile", "The validated knowledge base"),
        Parameter("output_file", "The run to write: a file, stdout or stderr", is_output=True),
    ),
    outputs=lambda line: _outputs(line),
    error_file=Existing.REPLACED,
    work=lambda line, session: _resolve(line, session),
    encoded_once=True,
)


def _resolve(line: CommandLine, session: Session) -> int:
    query_file, kb_file, output_file = line.words
    errors = Destination(line.text("-error_file", "stderr"))
    session.report_to("stderr" if errors.stream is not None else errors.text)
    output = Destination(output_file)
    queries = load_queries([query_file], None, session.problems)
    for remark in queries.remarks:
        session.remark(remark)
    name = os.path.basename(kb_file)
    if "." in name and ".valid" not in name:
        session.announce(f"WARNING: {kb_file} might not be a validated Cold Start run file (it doesn't contain .valid)")
    asked = list(queries.table.by_id.values())
    for query in asked:
        if len(query.entry_points) > 1:
            session.remark(f"query {query.full_id} has several entry points; only the first is used")
    with open_source(kb_file) as source:
        kb = read_validated(source, slots_of(asked), documents_of(asked))
    resolution = resolve(kb, asked)
    write_result(output, encoded(resolution.lines))
    _explain(resolution, line.switches.get("--explain"))
    write_text("stderr", "".join(report_text(session.problems)))
    session.close(resolution.statistics())
    return Finished(0, resolution)


def _outputs(line: CommandLine) -> Iterator[PlannedOutput]:
    yield from Destination(line.words[2]).planned("OUTPUTFILE", Existing.REPLACED)
    yield from EXPLANATION.outputs(line.switches.get("--explain"))


def _explain(resolution: Resolution, path: str | None) -> None:
    """Write the table of entry points where it is wanted; `-` is standard output."""
    if path == "-":
        write_result(Destination("stdout"), encoded(explanation_text(resolution)))
    elif path is not None:
        write_packed(path, encoded(explanation_text(resolution)))
