"""Validating a run: all problems are reported, some are repaired, and what exceeds the limits is left out.

Source: specification of the companions, section 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from cs_score.base.garbage_collection import paused_collector
from cs_score.base.records import Record
from cs_score.base.sources import Input
from cs_score.coldstart.linking import Loading
from cs_score.coldstart.query_files import QueryFiles
from cs_score.preparation.documents import DocumentList
from cs_score.preparation.runs.run_loading import Limits, load_checked, open_checks
from cs_score.preparation.runs.run_writing import WrittenLine, node_letters, written_lines
from cs_score.problems.log import ProblemLog


class ValidatedRun(Record):
    """A run as it is written: its text in pieces of whole lines, and what is said of it beside the report.

    `dropped` are the queries whose lines are left out without a word in the report, by full id.
    """

    pieces: Iterator[str]
    remarks: Sequence[str]
    dropped: Sequence[str]


class CheckedRun(Record):
    """A run that has been loaded and checked; nothing of it may be used where `problems` holds errors."""

    loading: Loading

    @property
    def problems(self) -> ProblemLog:
        """What was found."""
        return self.loading.problems

    @property
    def bad_queries(self) -> frozenset[str]:
        """Short ids of the queries that ask about an answer of a line that was skipped (quirk 3)."""
        return frozenset(line.target for line in self.loading.links.skipped)

    def lines(self) -> Iterator[WrittenLine]:
        """The lines of the validated run, in their order, each with the run line that it stands for."""
        return chain.from_iterable(self.lines_of_queries())

    def validated(self) -> ValidatedRun:
        """The run as it is written."""
        pieces = ("".join([text for text, _ in lines]) for lines in self.lines_of_queries())
        return ValidatedRun(pieces, self.loading.remarks, self.silently_dropped())

    def lines_of_queries(self) -> Iterator[list[WrittenLine]]:
        """The same lines, those of one query at a time."""
        queries = self.loading.table.by_id
        return written_lines(
            self.loading.links.responses,
            self.loading.discard.marked,
            self.bad_queries,
            {short_id: query.node_id for short_id, query in queries.items() if query.node_id},
            node_letters(self.loading.digests),
        )

    def silently_dropped(self) -> list[str]:
        """Full ids of the bad queries whose lines are left out without a word in the report, sorted."""
        bad, marked = self.bad_queries, self.loading.discard.marked
        responses = self.loading.links.responses if bad else ()
        dropped = (line.query for line in responses if line.query.short_id in bad and line.index not in marked)
        return sorted({query.full_id for query in dropped})


def check_run(
    run: list[Input],
    queries: QueryFiles,
    limits: Limits,
    problems: ProblemLog,
    documents: DocumentList | None = None,
    *,
    allow_comments: bool = False,
) -> CheckedRun:
    """Load a run, which may be several files or folders, and check it.

    Raises InputError for fatal conditions, once as much as possible has been read; `problems` then holds what was
    found.
    """
    with paused_collector():
        loading = open_checks(queries, limits, documents, problems)
        load_checked(loading, run, limits, documents, allow_comments=allow_comments)
    return CheckedRun(loading)
