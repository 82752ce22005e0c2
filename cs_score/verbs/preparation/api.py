"""Check runs before they are submitted or scored, for Python programs."""

from __future__ import annotations

import os
from collections.abc import Iterable

from cs_score.api import arguments
from cs_score.api.arguments import Files, Limits, checked
from cs_score.api.result_tables import OCCURRENCES
from cs_score.api.shown import Shown
from cs_score.base.errors import UsageError
from cs_score.base.outputs import Existing, OutputPlan, PlannedOutput, utf8_blocks, write_whole
from cs_score.base.sources import Input, name_of, rereadable
from cs_score.coldstart.options import path_of
from cs_score.coldstart.queries import load_queries
from cs_score.preparation.pooling import Depth
from cs_score.preparation.prepared_runs import RunLimits, ValidatedText, check_run
from cs_score.preparation.source_documents import DocumentList, read_document_list
from cs_score.problems.codes import Severity
from cs_score.problems.log import RecordingLog
from cs_score.tables.layout import Table


class ValidatedRun(Shown):
    """A run that was checked: its problems and, unless these are errors, its corrected text; made by `validate_run`.

    Its table `problems` has the problems in the order of files, lines and codes; `cs-score problems CODE` explains a
    code.
    """

    _main_table = "problems"

    def __init__(self, text: str | None, problems: RecordingLog, remarks: tuple[str, ...], inputs: list[str]) -> None:
        """Make the record of a checked run. `text` is the corrected run, or None if the run has errors.

        `problems` and `remarks` are the results of the check. `inputs` are the names of all files that were read, which
        `write` refuses to overwrite.
        """
        self._text = text
        self._problems = problems
        self._remarks = remarks
        self._inputs = inputs

    @property
    def errors(self) -> int:
        """How often errors occurred; a run with errors has no validated text."""
        return self._problems.count(Severity.ERROR)

    @property
    def warnings(self) -> int:
        """How often warnings occurred: lines were corrected, or left out."""
        return self._problems.count(Severity.WARNING)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know beside the problems, one line each."""
        return self._remarks

    @property
    def text(self) -> str:
        """The text of the validated run. Raises UsageError if the run has errors."""
        if self._text is None:
            raise UsageError(f"the run has {self.errors} errors, so there is no validated run; rows() lists them")
        return self._text

    @checked
    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the validated run; the file appears whole or not at all.

        Raises UsageError if the run has errors or the file is an input, and OutputError if the file cannot be written.
        """
        text = self.text  # raises UsageError if the run has errors
        name_in_messages = "path"  # the name of the argument
        output = PlannedOutput(name_in_messages, path=os.fspath(path), existing=Existing.REPLACED)
        OutputPlan(self._inputs, [output]).check()
        write_whole(path, utf8_blocks([text]))

    def __str__(self) -> str:
        """Return the validated run, or one line about a run with errors."""
        return repr(self) if self._text is None else self._text

    def __repr__(self) -> str:
        lines = "no lines"
        if self._text is not None:
            line_count = self._text.count("\n")
            lines = f"{line_count} lines"
        return f"<validated run: {lines}, {self.errors} errors, {self.warnings} warnings>"

    def _tables(self) -> Iterable[Table]:
        """Return the only table, that of the problems."""
        return [OCCURRENCES.table(self._problems.occurrences())]


@checked
def validate_run(
    run: Files,
    queries: Files,
    *,
    expand: str | None = None,
    justifications: Limits = "1:3",
    documents: str | os.PathLike[str] | None = None,
    depth: str = "",
    allow_comments: bool = False,
) -> ValidatedRun:
    """Check a run before it is submitted or scored, and correct its lines where possible.

    `run` is a file, a folder or several of them, and `queries` are the files of the queries that it answers. If
    `expand` is given, such as `ISLE26`, each entry point of a query becomes a query of its own, and the ids of these
    queries begin with the given text. `justifications` limits the justifications of a node: `1:3` keeps one from each
    document, and three in all. `documents` is a file that lists the documents of the task. `depth` is the pooling
    depth: `A:10` keeps the best ten nodes of the run, and `B:10` the best ten nodes of each query. If `allow_comments`
    is true, comments at the ends of lines are removed. The result has no text if the run has errors.

    Raises UsageError for impossible arguments, and InputError for files that cannot be read and for lines that answer
    no query.
    """
    files, query_files = _files_of_run_and_queries(run, queries)
    limits = RunLimits(arguments.read_limits(justifications), Depth.parse(depth))
    document_list = _read_documents(documents)
    problems = RecordingLog()
    loaded_queries = load_queries(query_files, expand, problems, _lengths_of(document_list))
    repeatable_files = [rereadable(file) for file in files]
    checked_run = check_run(
        repeatable_files, loaded_queries, limits, problems, document_list, allow_comments=allow_comments
    )
    validated_text = checked_run.validated_text()  # after this, all problems of the run are in the log
    text = None if problems.has_errors else "".join(validated_text.pieces)
    inputs = [name_of(file) for file in (*files, *query_files)]
    return ValidatedRun(text, problems, _remarks_on(validated_text), inputs)


def _files_of_run_and_queries(run: Files, queries: Files) -> tuple[list[Input], list[Input]]:
    """Return the files of a run and of its queries as lists. Raises UsageError if one of the lists is empty."""
    files = arguments.files_of(run, "run")
    query_files = arguments.files_of(queries, "queries")
    if not files or not query_files:
        raise UsageError("validate_run takes at least one run file and one query file")
    return files, query_files


def _lengths_of(document_list: DocumentList | None) -> dict[str, float] | None:
    """Return the lengths of the listed documents in characters, by document id, or None if there is no list."""
    return None if document_list is None else document_list.length_by_docid


def _read_documents(documents: str | os.PathLike[str] | None) -> DocumentList | None:
    """Return the documents of the task, read from the file that lists them, or None if no file is given.

    Justifications may only name these documents. Raises InputError if the file cannot be read.
    """
    list_file = path_of(documents, "documents")
    return None if list_file is None else read_document_list(list_file)


def _remarks_on(validated_text: ValidatedText) -> tuple[str, ...]:
    """Return the remarks on a validated run, with a remark on each query whose lines are left out."""
    remarks = list(validated_text.remarks)
    for query_id in validated_text.dropped_query_ids:
        remarks.append(f"lines of query {query_id} are left out: a line that it hangs on was skipped")
    return tuple(remarks)
