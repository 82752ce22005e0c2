"""The files of a run line by line: which lines they have, and whether they can be read when some of them are gone.

Of every line the text is known: of those that count, of those that were skipped, and of those that were passed over.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final, TypeAlias

from cs_score.base.display import one_line
from cs_score.base.records import Record
from cs_score.coldstart.gold import Run
from cs_score.coldstart.lines import Response, SkippedLine, UnreadLine
from cs_score.coldstart.tab_files import FileKind, Schema, detect_schema, is_blank_or_comment, split_columns

ReadLine: TypeAlias = Response | SkippedLine
"""A line that was linked: it counts, or it was skipped and has only created a query (specification 4.9)."""

Place: TypeAlias = tuple[str, int]
"""A line's file and its number there."""

_number: Final = attrgetter("number")


class RunFile(Record):
    """One file of a run: its layout, its lines in order by kind, and the number of its last line.

    `first` is the number of the line that tells the layout. `ends` are the indexes of responses at which it ends, one
    for each time that it was loaded.
    """

    name: str
    schema: Schema
    responses: Sequence[Response]
    skipped: Sequence[SkippedLine]
    unread: Sequence[UnreadLine]
    first: int
    last: int
    ends: tuple[int, ...]

    def why_unreadable(self, gone: Container[int], added: Iterable[str]) -> str | None:
        """Why nothing could be read from the file without the lines of some numbers; None where it could.

        `added` are lines behind its last one. The first line that is neither blank nor a comment tells the layout
        (specification 4.1). A file of size zero is passed over (4).
        """
        has_blank = False
        left = (line.text for line in self._all_lines() if line.number not in gone)
        for text in chain(left, added):
            if is_blank_or_comment(text):
                has_blank = True
                continue
            schema = detect_schema(split_columns(text))
            if schema is self.schema:
                return None
            found = "no layout" if schema is None else f"another layout ({schema.name})"
            return f"the first line that would be left of {self.name} has {found}: {one_line(text)}"
        return f"only blank lines and comments would be left of {self.name}" if has_blank else None

    def _all_lines(self) -> Iterator[Response | SkippedLine | UnreadLine]:
        return heapq.merge(self.responses, self.skipped, self.unread, key=_number)


class RunFiles(Record):
    """The files of all runs of a call, by name.

    `order` has the rank of each file in load order, those of assessments among them; `twins` are the lines of a file
    that was named twice, by place; `copies` the numbers of the lines that repeat a line, by file and text (4.2).
    """

    files: dict[str, RunFile]
    order: dict[str, int]
    twins: dict[Place, list[Response]]
    copies: dict[tuple[str, str], list[int]]


def files_of(run: Run) -> RunFiles:
    """The files of the runs of a call."""
    links = run.links
    order = {name: rank for rank, name in enumerate(run.layouts)}
    names = [name for name, schema in run.layouts.items() if schema.kind is FileKind.RUN]
    responses, ends = _by_file(links.responses)
    is_twice = any(len(of_file) > 1 for of_file in ends.values())
    skipped: dict[str, list[SkippedLine]] = defaultdict(list)
    for line in links.skipped:
        skipped[line.file].append(line)
    unread: dict[str, list[UnreadLine]] = defaultdict(list)
    copies: dict[tuple[str, str], list[int]] = defaultdict(list)
    for passed in links.unread:
        unread[passed.file].append(passed)
        copies[passed.file, passed.text].append(passed.number)
    twins: dict[Place, list[Response]] = defaultdict(list)
    for response in links.responses if is_twice else ():
        twins[response.file, response.number].append(response)
    files = {}
    for name in names:
        lines = (responses.get(name, []), skipped[name], unread[name])
        content = (line for of_kind in lines for line in of_kind if not is_blank_or_comment(line.text))
        first = min((line.number for line in content), default=0)
        last = max((of_kind[-1].number for of_kind in lines if of_kind), default=0)
        files[name] = RunFile(name, run.layouts[name], *lines, first, last, tuple(ends.get(name, ())))
    return RunFiles(files, order, dict(twins), dict(copies))


def _by_file(responses: Sequence[Response]) -> tuple[dict[str, list[Response]], dict[str, list[int]]]:
    """Responses by file, each place once; and the indexes at which each file ends, once for each time it was loaded."""
    by_file: dict[str, list[Response]] = {}
    ends: dict[str, list[int]] = defaultdict(list)
    name, last = "", 0
    of_file: list[Response] = []
    for response in responses:
        if response.file != name or response.number <= last:
            if name:
                ends[name].append(response.index)
            name = response.file
            of_file = [] if name in by_file else by_file.setdefault(name, [])
        of_file.append(response)
        last = response.number
    if name:
        ends[name].append(len(responses))
    return by_file, ends
