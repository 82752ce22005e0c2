"""`cs-score package-output QUERYFILE ROUND1FILE ROUND2FILE OUTPUTFILE` (specification of the companions, 6)."""

from __future__ import annotations

from typing import Final

from cs_score.base.outputs import encoded
from cs_score.base.planned_outputs import Existing
from cs_score.cli.destinations import file_named, write_result
from cs_score.cli.form import Parameter
from cs_score.cli.options import CommandLine
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
from cs_score.coldstart.query_files import load_queries
from cs_score.preparation.runs import Limits, check_run
from cs_score.problems.log import ProblemLog

PROGRAM: Final = Program(
    "package-output",
    (DOCUMENTS, ERROR_FILE, justifications_switch("M:M"), *PROBLEMS),
    (
        Parameter("queryfile", "The queries of the first round"),
        Parameter("round1file", "Answers to the first round"),
        Parameter("round2file", "Answers to the second round"),
        Parameter("outputfile", "A new file for the run", is_output=True),
    ),
    outputs=lambda line: file_named(line.words[3]).planned("OUTPUTFILE", Existing.REFUSED),
    work=lambda line, session: _package(line, session),
)


def _package(line: CommandLine, session: Session) -> int:
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
