"""Changes to the files of a run, as lines deleted and appended, and what depends on them; no file is written or read.

Of every line of the run's files the text is known: of those that count, of those that were skipped, and of those that
were passed over. Lines go with those whose query they alone have created; a class is found by
an accepted answer written as a run line, with the answers that it stands below (2).
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final, TypeAlias

from cs_score.base.display import one_line
from cs_score.base.records import Record
from cs_score.coldstart.gold import Run
from cs_score.coldstart.lines import CORRECT, Assessment, Response, SkippedLine
from cs_score.coldstart.queries import NODE_TYPES, find_predicate
from cs_score.coldstart.tab_files import (
    FileKind,
    Schema,
    UnreadLine,
    detect_schema,
    is_blank_or_comment,
    read_confidence,
    split_columns,
)

ReadLine: TypeAlias = Response | SkippedLine
"""A line that was linked: it counts, or it was skipped and has only created a query (rule follow-on-queries)."""

Place: TypeAlias = tuple[str, int]
"""A line's file and its number there."""


class RunFile(Record):
    """One file of a run: its layout, its lines in order by kind, and the number of its last line.

    `first` is the number of the line that decides the layout. `ends` are the indexes of responses at which it ends, one
    for each time that it was loaded.
    """

    name: str
    schema: Schema
    responses: Sequence[Response]
    skipped: Sequence[SkippedLine]
    unread: Sequence[UnreadLine]
    ends: Sequence[int]

    def lines(self) -> Iterator[Response | SkippedLine | UnreadLine]:
        return heapq.merge(self.responses, self.skipped, self.unread, key=attrgetter("number"))

    @property
    def first(self) -> int:
        return next((line.number for line in self.lines() if not is_blank_or_comment(line.text)), 0)

    @property
    def last(self) -> int:
        return max((lines[-1].number for lines in (self.responses, self.skipped, self.unread) if lines), default=0)

    def why_unreadable(self, gone: Container[int], added: Iterable[str]) -> str | None:
        """Why nothing could be read from the file without the lines of some numbers; None where it could.

        `added` are lines behind its last one. The first line that is neither blank nor a comment decides the layout
        (rule lines). A file of size zero is passed over (4).
        """
        has_blank = False
        for text in chain((line.text for line in self.lines() if line.number not in gone), added):
            if is_blank_or_comment(text):
                has_blank = True
                continue
            schema = detect_schema(split_columns(text))
            if schema is self.schema:
                return None
            found = "no layout" if schema is None else f"another layout ({schema.name})"
            return f"the first line that would be left of {self.name} has {found}: {one_line(text)}"
        return f"only blank lines and comments would be left of {self.name}" if has_blank else None


class RunFiles(Record):
    """The files of all runs of a call, by name.

    `order` has the rank of each file in load order, those of assessments among them; `twins` are the lines of a file
    that was named twice, by place; `copies` the numbers of the lines that repeat a line, by file and text (rule lines).
    """

    files: dict[str, RunFile]
    order: dict[str, int]
    twins: dict[Place, list[Response]]
    copies: dict[tuple[str, str], list[int]]


def files_of(run: Run) -> RunFiles:
    responses: dict[str, dict[int, Response]] = defaultdict(dict)
    ends: dict[str, list[int]] = defaultdict(list)
    twins: dict[Place, list[Response]] = {}
    name, number = "", 0
    for line in run.links.responses:
        if name and (line.file != name or line.number <= number):
            ends[name].append(line.index)
        name, number = line.file, line.number
        first = responses[name].setdefault(number, line)
        if first is not line:
            twins.setdefault((name, number), [first]).append(line)
    ends[name].append(len(run.links.responses))
    skipped: dict[str, list[SkippedLine]] = defaultdict(list)
    for skipped_line in run.links.skipped:
        skipped[skipped_line.file].append(skipped_line)
    unread: dict[str, list[UnreadLine]] = defaultdict(list)
    copies: dict[tuple[str, str], list[int]] = defaultdict(list)
    for unread_line in run.links.unread:
        unread[unread_line.file].append(unread_line)
        copies[unread_line.file, unread_line.text].append(unread_line.number)
    files = {
        name: RunFile(name, schema, [*responses[name].values()], skipped[name], unread[name], ends[name])
        for name, schema in run.layouts.items()
        if schema.kind is FileKind.RUN
    }
    return RunFiles(files, {name: rank for rank, name in enumerate(run.layouts)}, twins, copies)


class Removal(Record):
    """Lines that go together: `responses` by index, and the places of all of them in load order.

    Among the places are those of skipped lines, and those of repetitions in the same file, of which the first would be
    read otherwise.
    """

    responses: frozenset[int] = frozenset()
    places: tuple[Place, ...] = ()


NOTHING: Final = Removal()

_Position: TypeAlias = tuple[float, int]
"""The rank of a file in load order, and the number of a line."""

_NEVER: Final[_Position] = (math.inf, 0)


class Dependents:
    """What depends on the lines of all runs of a call.

    A line may name a query that an earlier line has created, by giving the answer that it asks about. Lines that were
    skipped create queries and depend on them like the others; those of the pool create queries and never go.
    """

    def __init__(self, run: Run, files: RunFiles) -> None:
        self._files = files
        skipped = (line for line in run.links.skipped if run.layouts[line.file].kind is FileKind.RUN)
        lines: list[ReadLine] = [*run.links.responses, *skipped]
        in_pool = run.gold.links
        pool: list[Assessment | SkippedLine] = [*in_pool.assessments]
        pool += (line for line in in_pool.skipped if run.layouts[line.file].kind is FileKind.ASSESSMENTS)
        self._asking: dict[str, list[ReadLine]] = defaultdict(list)
        for line in lines:
            if line.query.level:
                self._asking[line.query.short_id].append(line)
        asked = {*self._asking, *(line.query.short_id for line in pool if line.query.level)}
        self._giving: dict[str, list[ReadLine]] = defaultdict(list)
        for line in lines:
            if line.target in asked:
                self._giving[line.target].append(line)
        self._in_pool: dict[str, _Position] = {}
        for pool_line in pool:
            if pool_line.target in asked:
                first = self._in_pool.get(pool_line.target, _NEVER)
                self._in_pool[pool_line.target] = min(first, self._position(pool_line))
        # The first line of the pool that answers each query which only lines of runs have created before it.
        self._leaning: dict[str, Assessment | SkippedLine] = {}
        for pool_line in sorted(pool, key=self._position):
            short_id = pool_line.query.short_id
            if pool_line.query.level and self._in_pool.get(short_id, _NEVER) > self._position(pool_line):
                self._leaning.setdefault(short_id, pool_line)

    def asking(self, target: str) -> Sequence[ReadLine]:
        return self._asking.get(target, ())

    def giving(self, target: str) -> Sequence[ReadLine]:
        return self._giving.get(target, ())

    def first_given(self, target: str, gone: Container[Place] = ()) -> _Position:
        """Where the answer that is asked about is first given by what remains."""
        left = (self._position(line) for line in self.giving(target) if (line.file, line.number) not in gone)
        return min(min(left, default=_NEVER), self._in_pool.get(target, _NEVER))

    def with_dependents(self, lines: Iterable[ReadLine], before: Removal = NOTHING) -> Removal:
        """These lines, what depends on them and on nothing that stays, and the repetitions of all of these.

        Those of `before` are gone already, with what depends on them.
        """
        gone, responses = dict.fromkeys(before.places), set(before.responses)
        waiting = list(lines)
        while waiting:
            line = waiting.pop()
            place = line.file, line.number
            if place in gone:
                continue
            gone[place] = None
            if isinstance(line, Response):
                responses.update(each.index for each in self._files.twins.get(place, (line,)))
            gone.update(((line.file, number), None) for number in self._files.copies.get((line.file, line.text), ()))
            if line.target in self._asking:
                first = self.first_given(line.target, gone)
                waiting += (each for each in self._asking[line.target] if self._position(each) <= first)
        if len(self._files.files) == 1:  # whose lines need no other key: a twentieth of a sweep
            return Removal(frozenset(responses), tuple(sorted(gone)))
        order = self._files.order
        return Removal(frozenset(responses), tuple(sorted(gone, key=lambda place: (order[place[0]], place[1]))))

    def why_stranded(self, removal: Removal) -> str | None:
        """Why the pool could not be read any more: a line of it asks about an answer that only these lines give."""
        gone = set(removal.places) if self._leaning else set()
        for target, line in self._leaning.items():
            if self.first_given(target, gone) >= self._position(line):
                return f"Query {line.query.full_id} not loaded ({line.file} line {line.number})"
        return None

    def _position(self, line: ReadLine | Assessment) -> _Position:
        return self._files.order[line.file], line.number


class AddedLine(Record):
    """A line appended to a file of the run: the answer that it gives, its confidence and node id, its whole text."""

    assessment: Assessment
    file: str
    confidence: float
    node_id: str | None
    text: str


class Finding:
    """Writes the lines by which a run would find classes that it has missed.

    They are appended to the run's last file, with the smallest confidence of the run and node ids that no line has.
    """

    def __init__(self, run: Run, run_id: str, files: RunFiles, dependents: Dependents) -> None:
        self._run, self._run_id, self._order, self._dependents = run, run_id, files.order, dependents
        # A run that was asked for and has no line is written like the others of the call.
        lines = [line for line in run.links.responses if line.run_id == run_id] or run.links.responses
        self.file: RunFile = files.files[lines[-1].file]
        """The file that lines are appended to."""
        least = min(lines, key=lambda line: line.confidence)
        self._confidence = read_confidence(least.text.split("\t")[7])
        self._node_stem = ":Found"
        while any(self._node_stem in line.text for line in lines):
            self._node_stem += "_"
        self._type_of: dict[str, str] = {}
        for line in lines:
            slot = line.query.slots[0]
            if slot not in self._type_of and line.follow_on.assessment is not None:
                written = line.text.split("\t", 6)[5]
                if written.lower() in NODE_TYPES:
                    self._type_of[slot] = written
        self._of_class: dict[str, Assessment] = {}
        self._accepted_with: dict[str, Assessment] = {}
        for assessment in run.gold.links.assessments:
            if assessment.is_accepted:
                for known, key in ((self._of_class, assessment.value_class), (self._accepted_with, assessment.target)):
                    if key not in known or (assessment.judgment == CORRECT and known[key].judgment != CORRECT):
                        known[key] = assessment

    def answer(self, name: str) -> Assessment | None:
        """The accepted assessment that a class is found by: the first correct one, else the first inexact one."""
        return self._of_class.get(name)

    def lines(
        self, assessment: Assessment, gone: Container[Place] = (), given: Container[str] = (), others: int = 0
    ) -> tuple[AddedLine, ...]:
        """The lines that give this answer, parents first.

        An answer that a query asks about is given, too, where no line of the run gives it. `gone` are lines that are
        not in the run any more; `given` are answers that lines give which are added already, by the ids of the queries
        about them, and `others` is the number of those lines.
        """
        answers = [assessment]
        query = assessment.query
        while query.parent is not None and not self._is_given(query.short_id, gone, given):
            parent = self._accepted_with.get(query.short_id)
            if parent is None:
                break
            answers.append(parent)
            query = parent.query
        return tuple(self._line(each, others + at) for at, each in enumerate(reversed(answers), 1))

    def why_unlinkable(self, added: Sequence[AddedLine], given: Container[str] = ()) -> str | None:
        """Why the first of the lines that find a class could not be read; None where it could.

        Its query may be one that no accepted answer leads to: then a line of the pool has to create it before. `given`
        as in `lines`.
        """
        query = added[0].assessment.query if added else None
        if query is None or query.parent is None or query.short_id in given:
            return None
        created_in, _ = self._dependents.first_given(query.short_id)
        return None if created_in <= self._order[added[0].file] else f"Query {query.full_id} not loaded"

    def _is_given(self, target: str, gone: Container[Place], given: Container[str]) -> bool:
        return target in given or any(
            (line.file, line.number) not in gone and split_columns(line.text)[2] == self._run_id
            for line in self._dependents.giving(target)
        )

    def _line(self, assessment: Assessment, number: int) -> AddedLine:
        pool_columns = dict(zip(self._run.layouts[assessment.file].columns, split_columns(assessment.text)))
        slot = assessment.query.slots[0]
        predicate = find_predicate(slot)
        columns = [
            assessment.query.full_id,
            slot,
            self._run_id,
            pool_columns["RELATION_PROVENANCE_TRIPLES"],
            pool_columns["VALUE"],
            self._type_of.get(slot) or ("string" if predicate is None else predicate.usual),
            pool_columns["VALUE_PROVENANCE_TRIPLES"],
            self._confidence.text,
        ]
        node_id = None if self.file.schema.position("NODEID") is None else f"{self._node_stem}{number}"
        if node_id is not None:
            columns.append(node_id)
        return AddedLine(assessment, self.file.name, self._confidence.value, node_id, "\t".join(columns))


class At(Record):
    """A line by its file and its number there, from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file} line {self.line}"


class Change(Record):
    """Lines that go and lines that come, so that anybody can score the changed files; `added` ones are for one file."""

    removal: Removal = NOTHING
    added: Sequence[AddedLine] = ()


def places_of(change: Change) -> list[At]:
    return [At(*place) for place in change.removal.places]


def texts_of(change: Change) -> list[str]:
    return [line.text for line in change.added]
