"""Validating a large run part by part, in several processes.

What is written and reported is that of `check_run`. What only the whole run can tell - which of several fatal
conditions is the first, how several runs mix, the numbers of nodes that are made up - is left to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.coldstart.parts import (
    Cut,
    DividedFile,
    NeedsWholeError,
    cut_queries,
    divide_files,
    load_part,
    map_parts,
    queries_of_part,
)
from cs_score.coldstart.query_files import QueryFiles
from cs_score.coldstart.tab_files import RUN_2017
from cs_score.preparation.runs.run_loading import Limits, open_checks
from cs_score.preparation.runs.run_validation import CheckedRun, ValidatedRun
from cs_score.problems.log import ProblemLog

_OfQuery: TypeAlias = tuple[str, str]
"""The short id of a query, and its lines in the validated run."""


class _Task(Record):
    """What all parts have in common."""

    queries: QueryFiles
    limits: Limits
    files: Sequence[DividedFile]
    cut: Cut


class _CheckedPart(Record):
    """What checking one part gave: the runs that lines were accepted of, and by hop the lines of each query."""

    run_ids: frozenset[str]
    lines: Mapping[int, Sequence[_OfQuery]]
    dropped: Sequence[str]
    problems: ProblemLog


def validate_in_parts(
    run: str, queries: QueryFiles, limits: Limits, problems: ProblemLog, parts: int, jobs: int
) -> ValidatedRun | None:
    """Check a run, which may be a folder, in at most `parts` parts, `jobs` of them at a time.

    None: it must be checked in one piece, and nothing was added to `problems`.
    """
    try:
        return _validate(run, queries, limits, problems, parts, jobs)
    except (NeedsWholeError, InputError):
        return None


def _validate(
    run: str, queries: QueryFiles, limits: Limits, problems: ProblemLog, parts: int, jobs: int
) -> ValidatedRun:
    cut = cut_queries(queries.table, parts)
    if cut is None or limits.depth is not None or problems.fatal:
        raise NeedsWholeError
    found = ProblemLog()
    loading = open_checks(queries, limits, None, found)
    files = divide_files(loading, [run], cut)
    if any(file.schema is not RUN_2017 for file in files):
        raise NeedsWholeError
    task = _Task(queries, limits, files, cut)
    checked = map_parts(partial(_check_part, task), len(cut.queries), jobs)
    if len(frozenset[str]().union(*(part.run_ids for part in checked))) > 1:
        raise NeedsWholeError
    for part in checked:
        found.take_over(part.problems)
    problems.take_over(found)
    dropped = sorted(chain.from_iterable(part.dropped for part in checked))
    return ValidatedRun(_merged([part.lines for part in checked]), loading.remarks, dropped)


def _merged(parts: Sequence[Mapping[int, Sequence[_OfQuery]]]) -> Iterator[str]:
    """The lines of all queries, first hop first, by short id."""
    for level in sorted(set(chain.from_iterable(parts))):
        of_level = chain.from_iterable(lines.get(level, ()) for lines in parts)
        yield from (text for _, text in sorted(of_level, key=itemgetter(0)))


def _check_part(task: _Task, part: int) -> _CheckedPart:
    """Link the lines of one part, and write those that are left.

    Raises NeedsWholeError, also for what is fatal: another part may hold an earlier line that is.
    """
    queries = replace(task.queries, table=queries_of_part(task.queries.table, task.cut, part))
    checked = CheckedRun(open_checks(queries, task.limits, None, ProblemLog()))
    links = checked.loading.links
    try:
        load_part(checked.loading, task.files, part)
    except InputError:
        raise NeedsWholeError from None
    responses = links.responses
    if checked.problems.fatal or links.without_parent or any(response.node is None for response in responses):
        raise NeedsWholeError
    lines: dict[int, list[_OfQuery]] = {}
    for of_query in checked.lines_of_queries():
        if of_query:
            query = of_query[0][1].query
            lines.setdefault(query.level, []).append((query.short_id, "".join([text for text, _ in of_query])))
    run_ids = frozenset(response.run_id for response in responses)
    return _CheckedPart(run_ids, lines, checked.silently_dropped(), checked.problems)
