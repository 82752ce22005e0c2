"""Everything in assessments that scoring refuses, or that counts as nothing, by kind of problem."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from cs_score.base.display import some
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
"""Lines of one query that are looked for one after the other, each with all other lines of the query."""

# What differs from line to line in the messages of one kind: all behind the first of these.
_DETAILS: Final = re.compile(r"(, query = |: | in file: | loaded$).*", re.DOTALL)


class PoolProblem(Record):
    """A kind of problem: its name, whether scoring refuses such lines, and where they are."""

    text: str
    is_refused: bool
    places: Sequence[str]

    def __str__(self) -> str:
        """Return the line of the report."""
        effect = "scoring stops there" if self.is_refused else "counts as nothing"
        count = len(self.places)
        return f"{count} line{'s' if count > 1 else ''}: {self.text} ({effect}): {some(self.places, 5)}"


class CheckedPool(Record):
    """Assessments that were loaded as far as possible: kinds of problems, first the ones that stop scoring, remarks on
    the files, and the errors of lines that could not be loaded.
    """

    kinds: Sequence[PoolProblem]
    remarks: Sequence[str]
    fatal: Sequence[InputError]

    @property
    def is_refused(self) -> bool:
        """Return whether scoring stops at one of the lines."""
        return any(kind.is_refused for kind in self.kinds)


def check_pool(
    queries: QuerySet, files: Iterable[Input], problems: ProblemLog, documents: DocumentLengths | None = None
) -> CheckedPool:
    """Load assessments as far as possible and return all problems with them; `problems` is added to.

    Raises InputError where a file cannot be read, or is a run.
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
    """Return the kinds of problems; `problems` holds the reports on lines that could be loaded."""
    refused = [*fatal]
    tree_problems = ProblemLog()
    assessments_by_query = group_by_query(loading.links.assessments)
    for query in loading.table.scored_by_default():
        refused += _refused_by_classes(query, assessments_by_query.get(query.base_id, []), loading, tree_problems)
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
"""What is wrong with lines that are left out, by code."""


def _refused_by_classes(
    query: Query, lines: list[Assessment], loading: Loading, problems: ProblemLog
) -> Iterator[InputError]:
    """Yield the errors of the lines of a query that the tree of its classes cannot take."""
    links = loading.links
    for _ in range(MOST_REFUSED):
        log = ProblemLog()
        if not lines:
            return
        try:
            build_tree(links.root(query), lines, links, log, loading.table.edition)
        except InputError as error:
            yield error
            remaining = [line for line in lines if (line.file, f"line {line.number}") != (error.file, error.place)]
            if len(remaining) == len(lines):  # it names no line
                return
            lines = remaining
        else:
            problems.take_over(log)
            return


def _kind_of_error(error: InputError) -> str:
    """Return the message without the details of one line."""
    text = _DETAILS.sub("", error.problem)
    if error.code == "QUERY_NOT_LOADED":
        return f"a query that is not there; {error.remedy}"
    return text[:1].lower() + text[1:]


def _place_of_error(error: InputError) -> str:
    """Return the file and the line that an error names."""
    return " ".join([part for part in (error.file, error.place) if part])
