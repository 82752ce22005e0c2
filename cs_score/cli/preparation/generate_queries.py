"""`cs-score generate-queries QUERYFILE OUTPUTFILE [RUNFILE]` (specification of the companions, 5)."""

from __future__ import annotations

from typing import Final

from cs_score.base.outputs import encoded
from cs_score.base.planned_outputs import Existing
from cs_score.cli.destinations import Destination, write_result
from cs_score.cli.form import Parameter
from cs_score.cli.options import CommandLine, Option
from cs_score.cli.preparation.program import (
    DOCUMENTS,
    ERROR_FILE,
    PROBLEMS,
    Program,
    Session,
    check_exists,
    document_list,
    justifications_switch,
)
from cs_score.coldstart.options import Justifications
from cs_score.coldstart.outputs import report_text
from cs_score.coldstart.query_files import load_queries
from cs_score.preparation.queries import first_round, query_file_text, second_round
from cs_score.preparation.runs import Limits, check_run

PROGRAM: Final = Program(
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
    outputs=lambda line: Destination(line.words[1]).planned("OUTPUTFILE", Existing.REPLACED),
    error_file=Existing.REPLACED,
    work=lambda line, session: _generate(line, session),
    encoded_once=True,
)


def _generate(line: CommandLine, session: Session) -> int:
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
