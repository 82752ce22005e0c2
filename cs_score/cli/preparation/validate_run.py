"""`cs-score validate-run QUERYFILE RUNFILE` (specification of the companions, 2)."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import chain
from typing import Final

from cs_score.base.display import terminal_safe
from cs_score.base.outputs import encoded
from cs_score.base.planned_outputs import Existing
from cs_score.cli import colour
from cs_score.cli.destinations import Destination, write_result
from cs_score.cli.form import Parameter
from cs_score.cli.options import CommandLine, Option
from cs_score.cli.preparation.program import (
    ALLOW_COMMENTS,
    DOCUMENTS,
    ERROR_FILE,
    GROUND_TRUTH,
    PROBLEMS,
    Program,
    Session,
    check_exists,
    document_list,
    justifications_switch,
)
from cs_score.coldstart.options import Justifications
from cs_score.coldstart.query_files import load_queries
from cs_score.coldstart.tab_files import detect_schema
from cs_score.preparation.pooling import Depth
from cs_score.preparation.runs import CheckedRun, Limits, ValidatedRun, check_run, differences

NO_OUTPUT: Final = "none"

PROGRAM: Final = Program(
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
        Option("--diff", None, "Show on standard output how the run is changed, as a unified diff in its own order"),
        *PROBLEMS,
    ),
    (Parameter("queryfile", "The queries that the run answers"), Parameter("filename", "The run, or a folder of runs")),
    outputs=lambda line: () if (output := _output(line)) is None else output.planned("-output_file", Existing.REPLACED),
    work=lambda line, session: _validate(line, session),
)


def _validate(line: CommandLine, session: Session) -> int:
    query_file, run_file = line.words
    output = _output(line)
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
    return session.finish(lambda: _write(validated, output, session, checked if "--diff" in line.switches else None))


def _output(line: CommandLine) -> Destination | None:
    text = line.text("-output_file", NO_OUTPUT)
    return None if text == NO_OUTPUT or "--check" in line.switches else Destination(text)


def _write(validated: ValidatedRun, output: Destination | None, session: Session, shown: CheckedRun | None) -> None:
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
        if colour.is_wanted(sys.stdout):
            diff = map(colour.with_changes, diff)
        write_result(Destination("stdout"), encoded(diff))
