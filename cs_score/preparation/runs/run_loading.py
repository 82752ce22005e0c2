"""Loading what the programs before the scorer check: one input against one query file (companions, 1.5 and 1.6)."""

from __future__ import annotations

from collections.abc import Iterable

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import Input
from cs_score.coldstart.linking import Loading, Reading, loading_of
from cs_score.coldstart.options import Justifications
from cs_score.coldstart.query_files import QueryFiles
from cs_score.preparation.documents import DocumentList
from cs_score.preparation.runs.fillers import verify_fillers
from cs_score.preparation.runs.pooling import Depth, Pooling
from cs_score.problems.log import Detail, ProblemLog


class Limits(Record):
    """What a run is held to: justifications per node, and how deep it is taken (None: all of it)."""

    justifications: Justifications
    depth: Depth | None = None


def open_checks(queries: QueryFiles, limits: Limits, documents: DocumentList | None, problems: ProblemLog) -> Loading:
    """What files are loaded into to be checked; nothing yet."""
    lengths = None if documents is None else documents.lengths
    loading = loading_of(queries.table, limits.justifications, problems, documents=lengths)
    loading.remarks += queries.remarks
    loading.digests += queries.digests
    return loading


def load_checked(
    loading: Loading,
    files: Iterable[Input],
    limits: Limits,
    documents: DocumentList | None = None,
    *,
    allow_comments: bool = False,
) -> None:
    """Load files in order as one input; every problem of every line goes into its log.

    Fatal conditions are collected as well, as far as the lines after them can be read. At the end the first of them is
    raised as InputError.
    """
    problems = loading.problems
    pooling = None if limits.depth is None else Pooling(limits.depth, limits.justifications.most, problems)

    def after_run() -> None:
        if pooling is not None and not problems.fatal:
            pooling.apply(loading.links.responses, loading.discard.marked)

    end: InputError | None = None
    try:
        loading.load(files, Reading(allow_comments, problems.fatal.append, after_run))
    except InputError as error:
        end = error
    if documents is not None:
        _verify_fillers(loading, documents)
    if end is not None:
        problems.fatal.append(end)
    problems.end_if_fatal()
    report_run_ids(loading)


def _verify_fillers(loading: Loading, documents: DocumentList) -> None:
    """Check the fillers; a missing document takes its place among the fatal conditions of lines."""
    for lines in (loading.links.responses, loading.links.assessments):
        try:
            verify_fillers(lines, loading.layouts, documents, loading.problems)
        except InputError as error:
            loading.problems.fatal.append(error)
    files = {name: number for number, name in enumerate(loading.layouts)}

    def load_order(error: InputError) -> tuple[int, int]:
        line = (error.place or "").removeprefix("line ")
        return files.get(error.file or "", -1), int(line) if line.isdecimal() else 0

    loading.problems.fatal.sort(key=load_order)


def report_run_ids(loading: Loading) -> None:
    """Warn of each line whose run id is not that of the first line."""
    responses = loading.links.responses
    if len({line.run_id for line in responses}) < 2:
        return
    first = responses[0].run_id
    for line in responses:
        if line.run_id != first:
            loading.problems.add(
                "MULTIPLE_RUNIDS", first, line.run_id, place=line.place, detail=Detail("RUNID", line.run_id, first)
            )
