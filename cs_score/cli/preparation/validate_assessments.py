"""`cs-score validate-assessments QUERYFILE ASSESSMENTFILE` (specification of the companions, 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import encoded
from cs_score.base.planned_outputs import Existing
from cs_score.cli.destinations import Destination, write_result
from cs_score.cli.form import Parameter
from cs_score.cli.options import CommandLine, Option
from cs_score.cli.preparation.program import (
    DOCUMENTS,
    ERROR_FILE,
    GROUND_TRUTH,
    PROBLEMS,
    Program,
    Session,
    check_exists,
    document_list,
)
from cs_score.coldstart.options import Justifications
from cs_score.coldstart.query_files import load_queries
from cs_score.preparation.assessments import LANGUAGES, SortedAssessment, sort_by_language
from cs_score.preparation.runs import Limits, check_run
from cs_score.problems.codes import Severity

DEFAULT_LANGUAGES: Final = ":".join(LANGUAGES)
DEFAULT_PREFIX: Final = "none"

PROGRAM: Final = Program(
    "validate-assessments",
    (
        DOCUMENTS,
        ERROR_FILE,
        GROUND_TRUTH,
        Option("-languages", "LIST", "Checked and without effect", DEFAULT_LANGUAGES),
        Option("-output_file", "PREFIX", "Prefix of the files to write, or stdout or stderr", DEFAULT_PREFIX),
        *PROBLEMS,
    ),
    (
        Parameter("queryfile", "The slot-filling queries that were assessed"),
        Parameter("filename", "The assessments, or a folder of them"),
    ),
    outputs=lambda line: (
        planned for output in _outputs(line).values() for planned in output.planned("-output_file", Existing.CLEARED)
    ),
    work=lambda line, session: _validate(line, session),
)


def _validate(line: CommandLine, session: Session) -> int:
    query_file, assessment_file = line.words
    outputs = _outputs(line)
    session.report_to(line.text("-error_file", "stderr"))
    for language in filter(None, line.text("-languages", DEFAULT_LANGUAGES).split(":")):
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
    return session.finish(lambda: _write(found, outputs))


def _outputs(line: CommandLine) -> dict[str, Destination]:
    """The file of each language; a stream takes all of them."""
    prefix = Destination(line.text("-output_file", DEFAULT_PREFIX))
    if prefix.stream is not None:
        return dict.fromkeys(LANGUAGES, prefix)
    return {language: Destination(f"{prefix.text}.{language.lower()}") for language in LANGUAGES}


def _write(found: Sequence[SortedAssessment], outputs: dict[str, Destination]) -> None:
    if outputs[LANGUAGES[0]].stream is not None:
        write_result(outputs[LANGUAGES[0]], encoded(f"{one.text}\n" for one in found))
        return
    for language, output in outputs.items():
        write_result(output, encoded(f"{one.text}\n" for one in found if one.language == language))
