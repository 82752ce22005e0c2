"""Find all lines of assessments at which scoring would stop, or which have no effect, by kind of problem."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from cs_score.base.display import join_first
from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import Input
from cs_score.coldstart.gold import group_by_query
from cs_score.coldstart.judging import build_tree
from cs_score.coldstart.layouts import FileKind
from cs_score.coldstart.lines import Assessment
from cs_score.coldstart.linking import Loading
from cs_score.coldstart.options import Justifications
from cs_score.coldstart.queries import Query, QuerySet
from cs_score.coldstart.tab_files import DocumentLengths
from cs_score.problems.log import ProblemLog

MOST_REFUSED: Final = 1000
"""The largest number of lines that are found for one query; finding each needs all other lines of the query."""

# The part of a message that differs from line to line: the text from the first of these on.
_DETAILS: Final = re.compile(r"(, query = |: | in file: | loaded$).*", re.DOTALL)


class PoolProblem(Record):
    """A kind of problem: a text that describes it, whether scoring stops at such lines, and their places."""

    text: str
    is_refused: bool
    places: Sequence[str]

    def __str__(self) -> str:
        """Return the line of the report."""
        effect = "scoring stops there" if self.is_refused else "counts as nothing"
        count = len(self.places)
        return f"{count} line{'s' if count > 1 else ''}: {self.text} ({effect}): {join_first(self.places, 5)}"


class CheckedPool(Record):
    """The problems of assessments that were loaded as far as possible.

    `kinds` are the kinds of problems; problems that stop scoring come first. `remarks` are about the files. `fatal` are
    the errors of lines that could not be loaded.
    """

    kinds: Sequence[PoolProblem]
    remarks: Sequence[str]
    fatal: Sequence[InputError]

    @property
    def is_refused(self) -> bool:
        """Whether scoring would stop at any of the lines."""
        return any(kind.is_refused for kind in self.kinds)


def check_pool(
    queries: QuerySet, files: Iterable[Input], problems: ProblemLog, documents: DocumentLengths | None = None
) -> CheckedPool:
    """Return all problems of assessments, which are loaded as far as possible; reports are added to `problems`.

    If `documents` is given, provenances are checked against it. Raises InputError for a file that cannot be read, and
    for a run.
    """
    fatal: list[InputError] = []
    limits = Justifications(None, None)
    loading = Loading(queries, limits, problems, document_lengths=documents, on_error=fatal.append)
    loading.load(files)
    for name, schema in loading.layouts.items():
        if schema.kind is FileKind.RUN:
            raise InputError("this is a run", file=name, remedy="cs-score validate-run validates runs")
    return CheckedPool(_pool_problems(loading, fatal, problems), loading.remarks, fatal)


def _pool_problems(loading: Loading, fatal: Iterable[InputError], problems: ProblemLog) -> list[PoolProblem]:
    """Return the kinds of problems, from the errors of lines that could not be loaded and the reports on others."""
    refused = [*fatal]
    tree_problems = ProblemLog()
    assessments_by_query = group_by_query(loading.links.assessments)
    for query in loading.table.scored_by_default():
        refused += _errors_of_classes(query, assessments_by_query.get(query.base_id, []), loading, tree_problems)
    places_by_text: dict[str, list[str]] = {}
    for error in refused:
        places_by_text.setdefault(_kind_of_error(error), []).append(_place_of_error(error))
    kinds = [PoolProblem(text, True, places) for text, places in places_by_text.items()]
    uncounted: dict[str, list[str]] = {}
    for log in (problems, tree_problems):
        for place, problem in log.by_place():
            if problem.code in _UNCOUNTED:
                uncounted.setdefault(_UNCOUNTED[problem.code], []).append(str(place))
    return [*kinds, *(PoolProblem(text, False, places) for text, places in uncounted.items())]


_UNCOUNTED: Final = {
    "DUPLICATE_LINE": "a repeated line",
    "EMPTY_FIELD": "an empty column",
    "UNEXPECTED_ASSESSMENT_ENTRY": "a wrong answer to a query about an answer that nobody accepted",
    "WRONG_NUM_ENTRIES": "a wrong number of columns",
    "WRONG_SLOT_NAME": "a slot that the query does not ask for",
}
"""The description of the problem of lines that scoring leaves out, by problem code."""


def _errors_of_classes(
    query: Query, lines: list[Assessment], loading: Loading, problems: ProblemLog
) -> Iterator[InputError]:
    """Yield the errors of the assessments of a query whose equivalence classes do not fit into the tree of its classes.

    The tree is built again and again, each time without the line of the last error. Problems of the last tree are added
    to `problems`.
    """
    links = loading.links
    for _ in range(MOST_REFUSED):
        log = ProblemLog()
        if not lines:
            return
        try:
            build_tree(links.linked_query(query), lines, links, log, loading.table.edition)
        except InputError as error:
            yield error
            remaining = [line for line in lines if (line.file, f"line {line.number}") != (error.file, error.place)]
            if len(remaining) == len(lines):  # the error names no line
                return
            lines = remaining
        else:
            problems.add_all(log)
            return


def _kind_of_error(error: InputError) -> str:
    """Return the message of an error without the details of its line, so that errors of one kind have one text."""
    text = _DETAILS.sub("", error.problem)
    if error.code == "QUERY_NOT_LOADED":
        return f"a query that is not there; {error.remedy}"
    return text[:1].lower() + text[1:]


def _place_of_error(error: InputError) -> str:
    """Return the file and the line that an error names: `pool.tab line 3`."""
    return " ".join([part for part in (error.file, error.place) if part])
