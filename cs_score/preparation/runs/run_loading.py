"""Loading what the programs before the scorer check: one input against one query file (companions, 1.5 and 1.6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cs_score.coldstart.lines.justifications import DiscardRules
from cs_score.coldstart.lines.linking import Linker
from cs_score.coldstart.loading import Evaluation, Queries, Reading, load_files
from cs_score.coldstart.options import Justifications, Options
from cs_score.foundation.errors import InputError
from cs_score.foundation.sources import Input
from cs_score.preparation.documents import DocumentList
from cs_score.preparation.runs.fillers import verify_fillers
from cs_score.preparation.runs.pooling import Depth, Pooling
from cs_score.problems.log import Detail, ProblemLog


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run is held to: justifications per node, and how deep it is taken (None: all of it)."""

    justifications: Justifications
    depth: Depth | None = None


def open_checks(queries: Queries, limits: Limits, documents: DocumentList | None, problems: ProblemLog) -> Evaluation:
    """An evaluation that files can be loaded into and checked."""
    linker = Linker(queries.table, problems, documents=None if documents is None else documents.lengths, no_node="0")
    return Evaluation(
        Options(justifications=limits.justifications), problems, queries.table, {}, linker,
        DiscardRules(limits.justifications, problems), remarks=list(queries.remarks), digests=list(queries.digests),
    )  # fmt: skip


def load_checked(
    evaluation: Evaluation,
    files: Iterable[Input],
    limits: Limits,
    documents: DocumentList | None = None,
    *,
    allow_comments: bool = False,
) -> None:
    """Load files in order as one input; every problem of every line goes into the evaluation's log.

    Fatal conditions are collected as well, as far as the lines after them can be read. At the end the first of them is
    raised as InputError.
    """
    problems = evaluation.problems
    pooling = None if limits.depth is None else Pooling(limits.depth, limits.justifications.most, problems)

    def after_run() -> None:
        if pooling is not None and not problems.fatal:
            pooling.apply(evaluation.linker.responses, evaluation.linker.nodes, evaluation.discard.marked)

    end: InputError | None = None
    try:
        load_files(evaluation, files, Reading(allow_comments, problems.fatal.append, after_run))
    except InputError as error:
        end = error
    if documents is not None:
        _verify_fillers(evaluation, documents)
    if end is not None:
        problems.fatal.append(end)
    problems.end_if_fatal()
    report_run_ids(evaluation)


def _verify_fillers(evaluation: Evaluation, documents: DocumentList) -> None:
    """Check the fillers; a missing document takes its place among the fatal conditions of lines."""
    for lines in (evaluation.linker.responses, evaluation.linker.assessments):
        try:
            verify_fillers(lines, evaluation.layouts, documents, evaluation.problems)
        except InputError as error:
            evaluation.problems.fatal.append(error)
    files = {name: number for number, name in enumerate(evaluation.layouts)}

    def load_order(error: InputError) -> tuple[int, int]:
        line = (error.place or "").removeprefix("line ")
        return files.get(error.file or "", -1), int(line) if line.isdecimal() else 0

    evaluation.problems.fatal.sort(key=load_order)


def report_run_ids(evaluation: Evaluation) -> None:
    """Warn of each line whose run id is not that of the first line."""
    responses = evaluation.linker.responses
    if len({line.run_id for line in responses}) < 2:
        return
    first = responses[0].run_id
    for line in responses:
        if line.run_id != first:
            evaluation.problems.add(
                "MULTIPLE_RUNIDS", first, line.run_id, place=line.place, detail=Detail("RUNID", line.run_id, first)
            )
