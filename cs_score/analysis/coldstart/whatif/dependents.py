"""Which lines go with a line: those whose query no remaining line has created before them (insight specification 1)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from cs_score.analysis.coldstart.whatif.files import Place, ReadLine, RunFiles
from cs_score.base.records import Record
from cs_score.coldstart.gold import Run
from cs_score.coldstart.lines import Assessment, Links, Response, SkippedLine
from cs_score.coldstart.tab_files import FileKind

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
