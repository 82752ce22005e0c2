"""Validating a large run share by share, in several processes.

What is written and reported is that of `check_run`. What only the whole run can tell - which of several fatal
conditions is the first, how several runs mix, the numbers of nodes that are made up - is left to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import TypeAlias

from cs_score.coldstart.lines.layouts import RUN_2017
from cs_score.coldstart.partition.parts import Cut, SharedFile, cut_queries, load_share, share_files, share_queries
from cs_score.coldstart.partition.workers import NeedsWholeError, map_shares
from cs_score.coldstart.queries.loading import QueryFiles
from cs_score.foundation.errors import InputError
from cs_score.preparation.runs.run_loading import Limits, open_checks
from cs_score.preparation.runs.run_validation import CheckedRun, ValidatedRun
from cs_score.problems.log import ProblemLog

_OfQuery: TypeAlias = tuple[str, str]
"""The short id of a query, and its lines in the validated run."""


@dataclass(frozen=True, slots=True)
class _Task:
    """What all shares have in common."""

    queries: QueryFiles
    limits: Limits
    files: Sequence[SharedFile]
    cut: Cut


@dataclass(frozen=True, slots=True)
class _CheckedShare:
    """What checking one share gave: the runs that lines were accepted of, and by hop the lines of each query."""

    run_ids: frozenset[str]
    lines: Mapping[int, Sequence[_OfQuery]]
    dropped: Sequence[str]
    problems: ProblemLog


def validate_in_shares(
    run: str, queries: QueryFiles, limits: Limits, problems: ProblemLog, shares: int, jobs: int
) -> ValidatedRun | None:
    """Check a run, which may be a folder, in at most `shares` shares, `jobs` of them at a time.

    None: it must be checked in one piece, and nothing was added to `problems`.
    """
    try:
        return _validate(run, queries, limits, problems, shares, jobs)
    except (NeedsWholeError, InputError):
        return None


def _validate(
    run: str, queries: QueryFiles, limits: Limits, problems: ProblemLog, shares: int, jobs: int
) -> ValidatedRun:
    cut = cut_queries(queries.table, shares)
    if cut is None or limits.depth is not None or problems.fatal:
        raise NeedsWholeError
    found = ProblemLog()
    loading = open_checks(queries, limits, None, found)
    files = share_files(loading, [run], cut)
    if any(file.schema is not RUN_2017 for file in files):
        raise NeedsWholeError
    task = _Task(queries, limits, files, cut)
    checked = map_shares(partial(_check_share, task), len(cut.queries), jobs)
    if len(frozenset[str]().union(*(share.run_ids for share in checked))) > 1:
        raise NeedsWholeError
    for share in checked:
        found.take_over(share.problems)
    problems.take_over(found)
    dropped = sorted(chain.from_iterable(share.dropped for share in checked))
    return ValidatedRun(_merged([share.lines for share in checked]), loading.remarks, dropped)


def _merged(shares: Sequence[Mapping[int, Sequence[_OfQuery]]]) -> Iterator[str]:
    """The lines of all queries, first hop first, by short id."""
    for level in sorted(set(chain.from_iterable(shares))):
        of_level = chain.from_iterable(lines.get(level, ()) for lines in shares)
        yield from (text for _, text in sorted(of_level, key=itemgetter(0)))


def _check_share(task: _Task, share: int) -> _CheckedShare:
    """Link the lines of one share, and write those that are left.

    Raises NeedsWholeError, also for what is fatal: another share may hold an earlier line that is.
    """
    queries = replace(task.queries, table=share_queries(task.queries.table, task.cut, share))
    checked = CheckedRun(open_checks(queries, task.limits, None, ProblemLog()))
    links = checked.loading.links
    try:
        load_share(checked.loading, task.files, share)
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
    return _CheckedShare(run_ids, lines, checked.silently_dropped(), checked.problems)
