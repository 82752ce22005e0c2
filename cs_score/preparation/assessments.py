"""Find all lines of assessments at which scoring would stop, or which have no effect, by kind of problem."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from cs_score.base.display import join_first
from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import Input
from cs_score.coldstart.file_columns import FileKind
from cs_score.coldstart.gold import group_by_query
from cs_score.coldstart.judging import build_tree
from cs_score.coldstart.lines import Assessment
from cs_score.coldstart.linking import Loading, LoadingSettings
from cs_score.coldstart.options import JustificationLimits
from cs_score.coldstart.queries import Query, QuerySet
from cs_score.coldstart.tab_files import DocumentLengths
from cs_score.problems.log import ProblemLog

MOST_REFUSED: Final = 1000
"""The largest number of lines that are found for a query; finding each needs all other lines of the query."""

# The part of a message that differs from line to line: the text from the first of these on.
_DETAILS_PATTERN: Final = re.compile(r"(, query = |: | in file: | loaded$).*", re.DOTALL)


class PoolProblem(Record):
    """A kind of problem: its description, whether it stops scoring, and the places of the lines that have it."""

    description: str
    is_refused: bool
    places: Sequence[str]

    def __str__(self) -> str:
        """Return the line of the report: `2 lines: an empty column (counts as nothing): pool.tab line 3, ...`."""
        effect = "scoring stops there" if self.is_refused else "counts as nothing"
        count = len(self.places)
        lines = "1 line" if count == 1 else f"{count} lines"
        return f"{lines}: {self.description} ({effect}): {join_first(self.places, 5)}"


class CheckedPool(Record):
    """The problems of assessments that were loaded as far as possible.

    `problem_kinds` are the kinds of problems, beginning with those that stop scoring. `remarks` are about the files.
    `fatal_errors` are the errors of lines that could not be loaded.
    """

    problem_kinds: Sequence[PoolProblem]
    remarks: Sequence[str]
    fatal_errors: Sequence[InputError]

    @property
    def is_refused(self) -> bool:
        """Whether scoring would stop at any of the lines."""
        return any(kind.is_refused for kind in self.problem_kinds)


def check_pool(
    queries: QuerySet, files: Iterable[Input], problems: ProblemLog, documents: DocumentLengths | None = None
) -> CheckedPool:
    """Return the problems of assessments that would stop scoring, or make it leave out a line, grouped by kind.

    The files are loaded as scoring loads them, but loading goes on after an error. Each problem is also added to the
    log `problems`, as scoring would report it. `documents` has the lengths of the documents; if it is given, the
    offsets of provenances must not exceed them. Raises InputError for a file that cannot be read, and for a file that
    is a run.
    """
    fatal_errors: list[InputError] = []
    limits = JustificationLimits(None, None)  # no limits: all lines are loaded
    settings = LoadingSettings(document_lengths=documents, on_error=fatal_errors.append)
    loading = Loading(queries, limits, problems, settings=settings)
    loading.load(files)
    for name, layout in loading.layouts.items():
        if layout.kind is FileKind.RUN:
            raise InputError("this is a run", file=name, remedy="cs-score validate-run validates runs")
    return CheckedPool(_pool_problems(loading, fatal_errors, problems), loading.remarks, fatal_errors)


def _pool_problems(loading: Loading, fatal_errors: Iterable[InputError], problems: ProblemLog) -> list[PoolProblem]:
    """Return the kinds of problems of loaded assessments. Kinds that stop scoring come first.

    `fatal_errors` are the errors of lines that could not be loaded, and `problems` has the problems of the other lines.
    """
    # Scoring stops at lines that cannot be loaded, and at lines whose equivalence classes contradict each other.
    tree_problems = ProblemLog()  # other problems of classes, added by the next call
    errors_of_classes = _errors_of_all_queries(loading, tree_problems)
    errors = [*fatal_errors, *errors_of_classes]
    problem_kinds = []
    for description, places in _places_of_errors(errors).items():
        problem_kinds.append(PoolProblem(description, is_refused=True, places=places))
    # Scoring skips lines with other problems.
    for description, places in _places_of_uncounted_lines((problems, tree_problems)).items():
        problem_kinds.append(PoolProblem(description, is_refused=False, places=places))
    return problem_kinds


def _errors_of_all_queries(loading: Loading, problems: ProblemLog) -> list[InputError]:
    """Return the errors of assessments whose equivalence classes (groups of synonymous answers) contradict each other.

    Problems that do not stop scoring are added to `problems`.
    """
    assessments_by_query = group_by_query(loading.links.assessments)
    errors: list[InputError] = []
    # These are the queries that are scored unless the user chooses others.
    for query in loading.query_set.default_queries():
        assessments = assessments_by_query.get(query.base_id, [])
        errors += _errors_of_classes(query, assessments, loading, problems)
    return errors


def _places_of_errors(errors: Iterable[InputError]) -> dict[str, list[str]]:
    """Return the places of errors by the kind of error: `{"unknown judgment": ["pool.tab line 3"]}`."""
    places_by_kind: dict[str, list[str]] = defaultdict(list)
    for error in errors:
        places_by_kind[_kind_of_error(error)].append(_place_of_error(error))
    return places_by_kind


def _places_of_uncounted_lines(logs: Iterable[ProblemLog]) -> dict[str, list[str]]:
    """Return the places of lines that scoring leaves out, by the description of their problem.

    `logs` have the problems of the lines: `{"an empty column": ["pool.tab line 3"]}`.
    """
    places_by_description: dict[str, list[str]] = defaultdict(list)
    for log in logs:
        for place, problem in log.by_place():
            if problem.code in _UNCOUNTED:
                places_by_description[_UNCOUNTED[problem.code]].append(str(place))
    return places_by_description


_UNCOUNTED: Final = {
    "DUPLICATE_LINE": "a repeated line",
    "EMPTY_FIELD": "an empty column",
    "UNEXPECTED_ASSESSMENT_ENTRY": "a wrong answer to a query about an answer that nobody accepted",
    "WRONG_NUM_ENTRIES": "a wrong number of columns",
    "WRONG_SLOT_NAME": "a slot that the query does not ask for",
}
"""The description of the problem of lines that scoring leaves out, by problem code."""


def _errors_of_classes(
    query: Query, assessments: Sequence[Assessment], loading: Loading, problems: ProblemLog
) -> list[InputError]:
    """Return the errors of a query's assessments whose equivalence classes contradict each other.

    An equivalence class contains answers with the same meaning. The classes of a query and of its follow-on queries
    form a tree. The tree is built repeatedly, each time without the line that caused the previous error, until there is
    no error or `MOST_REFUSED` errors have been found. If a tree without errors is found, its other problems are added
    to `problems`.
    """
    errors: list[InputError] = []
    remaining = list(assessments)
    while remaining and len(errors) < MOST_REFUSED:  # each round builds the whole tree, which takes time
        problems_of_tree = ProblemLog()
        error = _error_of_tree(query, remaining, loading, problems_of_tree)
        if error is None:
            problems.add_all(problems_of_tree)
            return errors
        errors.append(error)
        lines_without_error = [line for line in remaining if not _is_about(error, line)]
        if len(lines_without_error) == len(remaining):  # the error names no line that could be left out
            return errors
        remaining = lines_without_error
    return errors


def _error_of_tree(
    query: Query, assessments: Sequence[Assessment], loading: Loading, problems: ProblemLog
) -> InputError | None:
    """Return the error that occurs when the tree of the equivalence classes of a query is built, None if none does.

    Other problems of the tree are added to `problems`.
    """
    links = loading.links
    try:
        build_tree(links.linked_query_of(query), assessments, links, problems, loading.query_set.edition)
    except InputError as error:
        return error
    return None


def _is_about(error: InputError, line: Assessment) -> bool:
    """Return whether an error is about a certain line, which it names as its place."""
    return error.file == line.file and error.place == f"line {line.number}"


def _kind_of_error(error: InputError) -> str:
    """Return the message of an error without details such as ids, so that it is the same for all errors of one kind.

    For example, `Correct entry without equivalence class, query = 00fb79cef8 at line 3` becomes `correct entry without
    equivalence class`.
    """
    if error.code == "QUERY_NOT_LOADED":
        # `_DETAILS_PATTERN` removes the end of a message, but in this one the query id is in the middle. The remedy
        # says why the query is missing.
        return f"a query that is not there; {error.remedy}"
    text = _DETAILS_PATTERN.sub("", error.problem)
    return text[:1].lower() + text[1:]


def _place_of_error(error: InputError) -> str:
    """Return the file and the line that an error names: `pool.tab line 3`."""
    return " ".join([part for part in (error.file, error.place) if part])
