"""Runs before they are scored: loaded with all their problems, repaired, cut to limits, written, shown as a diff.

A diff keeps the order of the input, since a validated run is
sorted, which would drown the changes: each line stands beside the lines that are written for it, or alone.
"""

from __future__ import annotations

import hashlib
import string
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias

from cs_score.base.display import one_line
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record
from cs_score.base.runtime import paused_collector
from cs_score.base.sources import Input, open_source
from cs_score.coldstart.lines import LinkedQuery, Response
from cs_score.coldstart.linking import Loading
from cs_score.coldstart.options import Justifications
from cs_score.coldstart.queries import QueryFiles
from cs_score.coldstart.tab_files import read_confidence
from cs_score.preparation.documents import DocumentList, verify_fillers
from cs_score.preparation.pooling import Depth, discard_beyond
from cs_score.problems.log import Detail, ProblemLog

_LETTERS: Final = 4

CONTEXT: Final = 3
"""Unchanged lines that a diff shows around a change."""

WrittenLine: TypeAlias = tuple[str, Response]
"""A line of a validated run with its line feed, and the run line that it stands for."""


class Limits(Record):
    """What a run is held to: justifications per node, and how deep it is taken (None: all of it)."""

    justifications: Justifications
    depth: Depth | None = None


class ValidatedRun(Record):
    """A run as it is written: its text in pieces of whole lines, and what is said of it beside the report.

    `dropped` are the queries whose lines are left out without a word in the report, by full id.
    """

    pieces: Iterator[str]
    remarks: Sequence[str]
    dropped: Sequence[str]


class CheckedRun(Record):
    """A run that has been loaded and checked; nothing of it may be used where its problems hold errors."""

    loading: Loading

    def validated(self) -> ValidatedRun:
        """The run as it is written."""
        links, marked, bad = self.loading.links, self.loading.discard.marked, self._bad_queries()
        dropped = {
            line.query.full_id
            for line in (links.responses if bad else ())
            if line.query.short_id in bad and line.index not in marked
        }
        pieces = ("".join([text for text, _ in lines]) for lines in self._lines_of_queries())
        return ValidatedRun(pieces, self.loading.remarks, sorted(dropped))

    def lines(self) -> Iterator[WrittenLine]:
        """The lines of the validated run, in their order, each with the run line that it stands for."""
        return chain.from_iterable(self._lines_of_queries())

    def _bad_queries(self) -> frozenset[str]:
        """Short ids of the queries that ask about an answer of a line that was skipped (quirk 3)."""
        return frozenset(line.target for line in self.loading.links.skipped)

    def _lines_of_queries(self) -> Iterator[list[WrittenLine]]:
        """The lines of a validated run in the order of the file, those of one query at a time.

        All lines get the run id of the first (quirk 2). Queries may bring node ids along (quirk 1). Where a line has
        none, one is made up from letters: the reference draws them, here equal inputs give equal ones (quirk 13).
        """
        responses = self.loading.links.responses
        run_id = responses[0].run_id if responses else ""
        digest = hashlib.sha256("".join(given.sha256 for given in self.loading.digests).encode()).digest()
        letters = "".join(string.ascii_letters[byte % len(string.ascii_letters)] for byte in digest[:_LETTERS])
        bad_queries, queries = self._bad_queries(), self.loading.table.by_id
        by_query: dict[LinkedQuery, list[Response]] = defaultdict(list)
        for response in responses:
            if response.index not in self.loading.discard.marked:
                by_query[response.query].append(response)
        made = 0
        before = ""
        # Sorted twice, by one key each: that takes half the time of comparing pairs.
        for query in sorted(sorted(by_query, key=attrgetter("short_id")), key=attrgetter("level")):
            if query.short_id in bad_queries:
                continue
            loaded = queries.get(query.short_id)
            query_node = loaded.node_id if loaded is not None else None
            lines: list[WrittenLine] = []
            for response in sorted(by_query[query], key=lambda line: (-line.confidence, line.number)):
                made += 1
                columns = response.text.split("\t")
                relation, value, provenance = response.kept or (columns[3], columns[4], columns[6])
                confidence = columns[7]
                if "." not in confidence or "e" in confidence:
                    confidence = read_confidence(confidence).text
                node = query_node or (f":NIL_{letters}{made:09d}" if response.node is None else columns[8])
                text = (
                    f"{columns[0]}\t{columns[1]}\t{run_id}\t{relation}\t{value}\t{columns[5].upper()}\t"
                    f"{provenance}\t{confidence}\t{node}\n"
                )
                if text != before:
                    lines.append((text, response))
                    before = text
            yield lines


def check_run(
    run: list[Input],
    queries: QueryFiles,
    limits: Limits,
    problems: ProblemLog,
    documents: DocumentList | None = None,
    *,
    allow_comments: bool = False,
) -> CheckedRun:
    """Load a run, which may be several files or folders, as one input; every problem of every line goes into the log.

    Fatal conditions are collected as well, as far as the lines after them can be read. At the end the first of them is
    raised as InputError; `problems` then holds what was found.
    """
    lengths = None if documents is None else documents.lengths
    depth = limits.depth

    def after_run() -> None:
        if depth is not None and not problems.fatal:
            most = limits.justifications.most
            discard_beyond(depth, most, loading.links.responses, loading.discard.marked, problems)

    loading = Loading(
        queries.table,
        limits.justifications,
        problems,
        documents=lengths,
        allow_comments=allow_comments,
        note=problems.fatal.append,
        after_run=after_run,
    )
    loading.remarks += queries.remarks
    loading.digests += queries.digests

    with paused_collector():
        end: InputError | None = None
        try:
            loading.load(run)
        except InputError as error:
            end = error
        if documents is not None:
            _verify_fillers(loading, documents)
        if end is not None:
            problems.fatal.append(end)
        problems.end_if_fatal()
        responses = loading.links.responses
        first = responses[0].run_id if responses else ""
        for line in responses:
            if line.run_id != first:
                detail = Detail("RUNID", line.run_id, first)
                problems.add("MULTIPLE_RUNIDS", first, line.run_id, place=line.place, detail=detail)
    return CheckedRun(loading)


def _verify_fillers(loading: Loading, documents: DocumentList) -> None:
    """Check the fillers; a missing document takes its place among the fatal conditions of lines."""
    fatal = loading.problems.fatal
    for lines in (loading.links.responses, loading.links.assessments):
        try:
            verify_fillers(lines, loading.layouts, documents, loading.problems)
        except InputError as error:
            fatal.append(error)
    files = {name: number for number, name in enumerate(loading.layouts)}

    def load_order(error: InputError) -> tuple[int, int]:
        line = (error.place or "").removeprefix("line ")
        return files.get(error.file or "", -1), int(line) if line.isdecimal() else 0

    fatal.sort(key=load_order)


class _Pair(NamedTuple):
    """A line as given, and the lines that are written for it."""

    old: str
    new: Sequence[str]

    @property
    def is_kept(self) -> bool:
        return len(self.new) == 1 and self.new[0] == self.old


def differences(checked: CheckedRun) -> Iterator[str]:
    """The unified diff of each file of a run, in load order; a file without changes gives nothing.

    Raises UsageError for a run from standard input, which cannot be read twice.
    """
    written: dict[str, dict[int, tuple[str]]] = defaultdict(dict)
    for text, response in checked.lines():
        written[response.file][response.number] = (text.removesuffix("\n"),)
    for name in checked.loading.layouts:
        if name == "-":
            raise UsageError("--diff reads the run twice; give it as a file")
        yield from file_differences(name, written[name])


def file_differences(name: str, written: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """The unified diff of a file and the lines that are written for its lines, by their numbers from 1."""
    with open_source(name) as source:
        old = source.read_bytes().decode("utf-8").split("\n")
    ends_with_newline = not old[-1]
    if ends_with_newline:
        old.pop()
    pairs = [_Pair(text, written.get(number, ())) for number, text in enumerate(old, 1)]
    last = len(pairs) - 1
    changed = [at for at, pair in enumerate(pairs) if not pair.is_kept or (at == last and not ends_with_newline)]
    if not changed:
        return
    shown = one_line(name)
    yield f"--- {shown}\n+++ {shown} (validated)\n"
    new_start = 1
    done = 0
    for start, end in _hunks(changed, len(pairs)):
        new_start += sum(len(pair.new) for pair in pairs[done:start])
        hunk = pairs[start:end]
        new_size = sum(len(pair.new) for pair in hunk)
        new_first = new_start if new_size else new_start - 1
        yield f"@@ -{start + 1},{len(hunk)} +{new_first},{new_size} @@\n"
        yield from _hunk_lines(hunk, lacks_newline=end == len(pairs) and not ends_with_newline)
        new_start += new_size
        done = end


def _hunks(changed: list[int], size: int) -> Iterator[tuple[int, int]]:
    """Stretches around the changes, as half-open ranges of lines from 0."""
    start = max(changed[0] - CONTEXT, 0)
    end = changed[0] + CONTEXT + 1
    for at in changed[1:]:
        if at - CONTEXT > end:
            yield start, min(end, size)
            start = at - CONTEXT
        end = at + CONTEXT + 1
    yield start, min(end, size)


def _hunk_lines(hunk: list[_Pair], *, lacks_newline: bool) -> Iterator[str]:
    """The lines of a hunk: of a stretch of changes first what is removed, then what is added."""
    added: list[str] = []
    for at, pair in enumerate(hunk):
        is_unterminated = lacks_newline and at == len(hunk) - 1
        if pair.is_kept and not is_unterminated:
            yield from added
            added = []
            yield f" {pair.old}\n"
            continue
        yield f"-{pair.old}\n"
        if is_unterminated:
            yield "\\ No newline at end of file\n"
        added += [f"+{line}\n" for line in pair.new]
    yield from added
