"""Runs validated from Python, as `cs-score validate-run` does."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from cs_score.api.arguments import Files, Limits, checked, file_of, files_of, held, limits_of
from cs_score.api.shown import Shown
from cs_score.api.tables import OCCURRENCES
from cs_score.base.errors import UsageError
from cs_score.base.outputs import Existing, OutputPlan, PlannedOutput, encoded, write_whole
from cs_score.base.sources import name_of
from cs_score.coldstart.queries import load_queries
from cs_score.preparation.documents import read_document_list
from cs_score.preparation.pooling import Depth
from cs_score.preparation.runs import Limits as RunLimits
from cs_score.preparation.runs import check_run
from cs_score.problems.codes import Severity
from cs_score.problems.log import RecordingLog
from cs_score.tables.layout import Table


class ValidatedRun(Shown):
    """A run that was checked, and what it is once all that can be corrected is; made by `validate_run`.

    Its table `problems` has the problems in the order of files, lines and codes; `cs-score problems CODE` explains a
    code.
    """

    _default = "problems"

    def __init__(self, text: str | None, problems: RecordingLog, remarks: tuple[str, ...], inputs: list[str]) -> None:
        self._text = text
        self._problems = problems
        self._remarks = remarks
        self._inputs = inputs

    @property
    def errors(self) -> int:
        """Occurrences of errors; a run with errors cannot be validated."""
        return self._problems.count(Severity.ERROR)

    @property
    def warnings(self) -> int:
        """Occurrences of warnings: what was corrected, or left out."""
        return self._problems.count(Severity.WARNING)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know beside the problems, one line each."""
        return self._remarks

    @property
    def text(self) -> str:
        """The validated run. Raises UsageError where the run has errors."""
        if self._text is None:
            raise UsageError(f"the run has {self.errors} errors, so there is no validated run; rows() lists them")
        return self._text

    @checked
    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the validated run; the file appears whole or not at all.

        Raises UsageError where the run has errors or the file is an input, OutputError where it cannot be written.
        """
        text = self.text
        OutputPlan(self._inputs, [PlannedOutput("path", os.fspath(path), Existing.REPLACED)]).check()
        write_whole(path, encoded((text,)))

    def __str__(self) -> str:
        """The validated run, or of one with errors one line."""
        return repr(self) if self._text is None else self._text

    def __repr__(self) -> str:
        lines = "no lines" if self._text is None else f"{self._text.count(chr(10))} lines"
        return f"<validated run: {lines}, {self.errors} errors, {self.warnings} warnings>"

    def _makers(self) -> Mapping[str, Callable[[], Table]]:
        return {"problems": lambda: OCCURRENCES.table(self._problems.occurrences())}

    def _notes(self) -> Sequence[str]:
        return self.remarks


# Long for what its arguments mean.
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
    """Check a run before it is submitted or scored, and correct what can be corrected.

    `run` is a file, a folder or several; `queries` are those that it answers (`expand` as for `prepare`).
    `justifications` limits what supports a node, `documents` lists the documents of the task, `depth` is the pooling
    depth (`A:10`, `B:10`); with `allow_comments` comments at the ends of lines are cut off. See the companions, 2.

    Raises UsageError for impossible arguments, InputError for what cannot be read and for lines that answer no query.
    """
    files, query_files = files_of(run, "run"), files_of(queries, "queries")
    if not files or not query_files:
        raise UsageError("validate_run takes at least one run file and one query file")
    limits = RunLimits(limits_of(justifications), Depth.parse(depth))
    list_file = file_of(documents, "documents")
    known = None if list_file is None else read_document_list(list_file)
    problems = RecordingLog()
    loaded = load_queries(query_files, expand, problems, None if known is None else known.lengths)
    opened = [held(file).open() for file in files]
    checked = check_run(opened, loaded, limits, problems, known, allow_comments=allow_comments)
    validated = checked.validated()
    text = None if problems.has_errors else "".join(validated.pieces)
    dropped = [
        f"lines of query {query} are left out: a line that it hangs on was skipped" for query in validated.dropped
    ]
    inputs = [name_of(file) for file in (*files, *query_files)]
    return ValidatedRun(text, problems, (*validated.remarks, *dropped), inputs)
