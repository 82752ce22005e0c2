"""A change to the files of a run, as lines deleted and appended, and what hangs on it; no file is written or read.

Of every line of the run's files the text is known: of those that count, of those that were skipped, and of those that
were passed over. Lines go with those whose query they alone have created (insight specification 1); a class is found by
an accepted answer written as a run line, with the answers that it hangs below (2).
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias

from cs_score.base.display import one_line
from cs_score.base.records import Record
from cs_score.coldstart.gold import Run
from cs_score.coldstart.lines import CORRECT, Assessment, Links, Response, SkippedLine
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


_Position: TypeAlias = tuple[float, int]
"""The rank of a file in load order, and the number of a line."""

_Key: TypeAlias = int | Place
"""What tells a line from all others: the index of one that counts, the place of one that was skipped."""

_BEFORE_ALL: Final[_Position] = (-1, 0)
_NEVER: Final[_Position] = (math.inf, 0)


class Removal(Record):
    """Lines that go together: `responses` by index, and the places of all of them in load order.

    Among the places are those of skipped lines, and those of repetitions in the same file, of which the first would be
    read otherwise.
    """

    responses: frozenset[int] = frozenset()
    places: tuple[Place, ...] = ()


NOTHING: Final = Removal()


class _PoolLine(NamedTuple):
    """A line of the pool: its position, the query that it answers, its place."""

    at: _Position
    query_id: str
    file: str
    number: int


class Dependents:
    """What hangs below the lines of all runs of a call.

    A line may name a query that an earlier line has created, by giving the answer that it asks about. Lines that were
    skipped create queries and depend on them like the others; those of the pool create queries and never go.
    """

    def __init__(self, run: Run, files: RunFiles) -> None:
        self._files = files
        skipped = [line for line in run.links.skipped if run.layouts[line.file].kind is FileKind.RUN]
        lines: list[ReadLine] = [*run.links.responses, *skipped]
        self._skipped = frozenset((line.file, line.number) for line in skipped)
        self._asking: dict[str, list[ReadLine]] = defaultdict(list)
        for line in lines:
            if line.query.level:
                self._asking[line.query.short_id].append(line)
        asked = {*self._asking, *(line.query.short_id for line in _pool_lines(run, run.links) if line.query.level)}
        self._giving: dict[str, list[ReadLine]] = defaultdict(list)
        for line in lines:
            if line.target in asked:
                self._giving[line.target].append(line)
        self._in_pool = self._first_in_pool(run, asked)
        self._leaning = self._pool_lines_leaning_on_runs(run)

    def asking(self, target: str) -> list[ReadLine]:
        """The lines that answer the query about an answer, by its short id."""
        return self._asking.get(target, [])

    def giving(self, target: str) -> list[ReadLine]:
        """The lines that give an answer which other lines ask about."""
        return self._giving.get(target, [])

    def with_dependents(self, lines: Iterable[ReadLine], before: Removal = NOTHING) -> Removal:
        """These lines, what depends on them and on nothing that stays, and the repetitions of all of these.

        Those of `before` are gone already, with what depends on them.
        """
        return self._removal(self._going(lines, before), before)

    def _going(self, lines: Iterable[ReadLine], before: Removal) -> list[ReadLine]:
        """These lines and what depends on them, as far as they are not gone already."""
        gone: set[_Key] = {*before.responses, *(self._skipped.intersection(before.places) if self._skipped else ())}
        found: list[ReadLine] = []
        waiting = list(self._with_twins(lines))
        while waiting:
            line = waiting.pop()
            if (key := _key(line)) in gone:
                continue
            gone.add(key)
            found.append(line)
            if line.target in self._asking:
                waiting += self._with_twins(self._left_without(line.target, gone))
        return found

    def why_stranded(self, removal: Removal) -> str | None:
        """Why the pool could not be read any more: a line of it asks about an answer that only these lines give."""
        gone = set(removal.places) if self._leaning else set()
        for target, asked in self._leaning.items():
            left = (line for line in self._giving[target] if (line.file, line.number) not in gone)
            if not any(self._position(line) < asked.at for line in left):
                return f"Query {asked.query_id} not loaded ({asked.file} line {asked.number})"
        return None

    def _left_without(self, target: str, gone: Container[_Key]) -> Iterator[ReadLine]:
        """The lines that ask about an answer which no remaining line before them gives."""
        first = min((self._position(line) for line in self._giving[target] if _key(line) not in gone), default=_NEVER)
        first = min(first, self._in_pool.get(target, _NEVER))
        return (line for line in self._asking[target] if self._position(line) <= first)

    def _with_twins(self, lines: Iterable[ReadLine]) -> Iterator[ReadLine]:
        """Lines with those that stand in the same place of a file which was loaded twice."""
        twins = self._files.twins
        if not twins:
            return iter(lines)
        return chain.from_iterable(twins.get((line.file, line.number), (line,)) for line in lines)

    def _removal(self, lines: Iterable[ReadLine], before: Removal) -> Removal:
        places = dict.fromkeys(before.places)
        responses: list[int] = []
        for line in lines:
            if isinstance(line, Response):
                responses.append(line.index)
            places[line.file, line.number] = None
            for number in self._files.copies.get((line.file, line.text), ()):
                places[line.file, number] = None
        order = self._files.order
        if len(self._files.files) == 1:  # whose lines need no other key: a twentieth of a sweep
            ordered = sorted(places)
        else:
            ordered = sorted(places, key=lambda place: (order[place[0]], place[1]))
        return Removal(before.responses.union(responses), tuple(ordered))

    def _position(self, line: ReadLine) -> _Position:
        return self._files.order[line.file], line.number

    def _first_in_pool(self, run: Run, asked: Container[str]) -> dict[str, _Position]:
        """Where the pool first gives each answer that run lines ask about."""
        first: dict[str, _Position] = {}
        for links, is_before in ((run.gold.links, run.gold.links is not run.links), (run.links, False)):
            for line in _pool_lines(run, links):
                if line.target in asked:
                    at = _BEFORE_ALL if is_before else (self._files.order[line.file], line.number)
                    first[line.target] = min(first.get(line.target, _NEVER), at)
        return first

    def _pool_lines_leaning_on_runs(self, run: Run) -> dict[str, _PoolLine]:
        """The first line of the pool that answers each query which only lines of runs have created before it."""
        leaning: dict[str, _PoolLine] = {}
        for line in _pool_lines(run, run.links):  # none where the pool was loaded before any run
            query, at = line.query, (self._files.order[line.file], line.number)
            if query.level and self._in_pool.get(query.short_id, _NEVER) > at:
                asked = _PoolLine(at, query.full_id, line.file, line.number)
                leaning[query.short_id] = min(leaning.get(query.short_id, asked), asked)
        return leaning


def _pool_lines(run: Run, links: Links) -> Iterator[Assessment | SkippedLine]:
    yield from links.assessments
    yield from (line for line in links.skipped if run.layouts[line.file].kind is FileKind.ASSESSMENTS)


def _key(line: ReadLine) -> _Key:
    return line.index if isinstance(line, Response) else (line.file, line.number)


_ANY_TYPE: Final = "string"
"""The value type of answers to a slot of which nothing is known."""


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

    def __init__(self, run: Run, run_id: str, files: RunFiles) -> None:
        self._layouts = run.layouts
        self._run_id = run_id
        # A run that was asked for and has no line is written like the others of the call.
        lines = [line for line in run.links.responses if line.run_id == run_id] or run.links.responses
        self.file: RunFile = files.files[lines[-1].file]
        """The file that lines are appended to."""
        least = min(lines, key=lambda line: line.confidence)
        self._confidence = read_confidence(least.text.split("\t")[7])
        self._node_stem = _unused_stem(lines)
        self._type_of = _value_types(lines)
        self._of_class: dict[str, Assessment] = {}
        self._accepted_with: dict[str, Assessment] = {}
        for assessment in run.gold.links.assessments:
            if assessment.is_accepted:
                _prefer_correct(self._of_class, assessment.value_class, assessment)
                _prefer_correct(self._accepted_with, assessment.target, assessment)
        answered = (*self._of_class.values(), *self._accepted_with.values())
        self._asked = {each.query.short_id for each in answered}
        self._given = _given_by_lines(run, run_id, self._asked)
        self._run, self._order = run, files.order

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
        chain = [assessment]
        query = assessment.query
        while query.parent is not None and not self._is_given(query.short_id, gone, given):
            parent = self._accepted_with.get(query.short_id)
            if parent is None:
                break
            chain.append(parent)
            query = parent.query
        return tuple(self._line(each, others + at) for at, each in enumerate(reversed(chain), 1))

    def why_unlinkable(self, added: Sequence[AddedLine], given: Container[str] = ()) -> str | None:
        """Why the first of the lines that find a class could not be read; None where it could.

        Its query may be one that no accepted answer leads to: then a line of the pool has to create it before. `given`
        as in `lines`.
        """
        if not added:
            return None
        query = added[0].assessment.query
        if query.parent is None or query.short_id in given or self._run.gold.links is not self._run.links:
            return None
        created_in = self._created_in.get(query.short_id)
        if created_in is not None and created_in <= self._order[added[0].file]:
            return None
        return f"Query {query.full_id} not loaded"

    @cached_property
    def _created_in(self) -> dict[str, int]:
        """The first file with a line that creates a query, by the query's id: its place in load order."""
        links, order = self._run.links, self._order
        created_in: dict[str, int] = {}
        lines: Iterable[ReadLine | Assessment] = chain(links.responses, links.skipped, links.assessments)
        for line in lines:
            if (target := line.target) in self._asked:
                created_in[target] = min(created_in.get(target, len(order)), order[line.file])
        return created_in

    def _is_given(self, target: str, gone: Container[Place], given: Container[str]) -> bool:
        return target in given or any(place not in gone for place in self._given.get(target, ()))

    def _line(self, assessment: Assessment, number: int) -> AddedLine:
        pool_columns = dict(zip(self._layouts[assessment.file].columns, split_columns(assessment.text)))
        slot = assessment.query.slots[0]
        predicate = find_predicate(slot)
        value_type = self._type_of.get(slot) or (_ANY_TYPE if predicate is None else predicate.usual)
        columns = [
            assessment.query.full_id,
            slot,
            self._run_id,
            pool_columns["RELATION_PROVENANCE_TRIPLES"],
            pool_columns["VALUE"],
            value_type,
            pool_columns["VALUE_PROVENANCE_TRIPLES"],
            self._confidence.text,
        ]
        node_id = None if self.file.schema.position("NODEID") is None else f"{self._node_stem}{number}"
        if node_id is not None:
            columns.append(node_id)
        return AddedLine(assessment, self.file.name, self._confidence.value, node_id, "\t".join(columns))


def _prefer_correct(known: dict[str, Assessment], key: str, assessment: Assessment) -> None:
    """Keep the first correct assessment of those with this key, the first of all where none is correct."""
    if key not in known or (assessment.judgment == CORRECT and known[key].judgment != CORRECT):
        known[key] = assessment


def _unused_stem(lines: Iterable[Response]) -> str:
    """How node ids begin that no line has."""
    stem = ":Found"
    while any(stem in line.text for line in lines):
        stem += "_"
    return stem


def _value_types(lines: Iterable[Response]) -> dict[str, str]:
    """The value type of each slot, as the first line has it whose answer the pool knows."""
    types: dict[str, str] = {}
    for line in lines:
        slot = line.query.slots[0]
        if slot not in types and line.follow_on.assessment is not None:
            written = line.text.split("\t", 6)[5]
            if written.lower() in NODE_TYPES:
                types[slot] = written
    return types


def _given_by_lines(run: Run, run_id: str, targets: Container[str]) -> dict[str, list[Place]]:
    """The lines of a run, skipped ones among them, that give the answers which these queries ask about."""
    given: dict[str, list[Place]] = defaultdict(list)
    for line in run.links.responses:
        if line.target in targets and line.run_id == run_id:
            given[line.target].append((line.file, line.number))
    for skipped in run.links.skipped:
        if run.layouts[skipped.file].kind is FileKind.RUN and split_columns(skipped.text)[2] == run_id:
            given[skipped.target].append((skipped.file, skipped.number))
    return given


class Change(Record):
    """Lines that go and lines that come, so that anybody can score the changed files; `added` ones are for one file."""

    removal: Removal = NOTHING
    added: Sequence[AddedLine] = ()

    @property
    def size(self) -> int:
        """How many lines more the files have; fewer where it is negative."""
        return len(self.added) - len(self.removal.places)

    def as_json(self) -> dict[str, object]:
        """`removed`: file and line of each line deleted; `added`: the text of each line appended."""
        return {
            "removed": [{"file": file, "line": number} for file, number in self.removal.places],
            "added": [line.text for line in self.added],
        }

    def why_unreadable(self, files: RunFiles) -> str | None:
        """Why a file could not be read any more; None where all can."""
        for name, file in files.files.items():
            if (name, file.first) in self.removal.places:
                gone = {number for of_file, number in self.removal.places if of_file == name}
                reason = file.why_unreadable(gone, [line.text for line in self.added if line.file == name])
                if reason is not None:
                    return reason
        return None
