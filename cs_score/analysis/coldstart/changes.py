"""Changes to the files of a run, as lines deleted and appended, and what depends on them; no file is written or read.

Lines go with those whose query they alone have created; a class is found by an accepted answer written as a run line,
with the answers that it stands below.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final, TypeAlias

from cs_score.base.display import one_line
from cs_score.base.records import Record
from cs_score.coldstart import tab_files
from cs_score.coldstart.gold import Run
from cs_score.coldstart.layouts import FileKind, Schema, detect_schema
from cs_score.coldstart.lines import CORRECT, Assessment, LinkedQuery, Response, SkippedLine
from cs_score.coldstart.options import Policy
from cs_score.coldstart.queries import NODE_TYPES, find_predicate

ReadLine: TypeAlias = Response | SkippedLine
"""A line that was linked: it counts, or it was skipped and has only created a query (rule follow-on-queries)."""

Place: TypeAlias = tuple[str, int]
"""A line's file and its number there."""


class RunFile(Record):
    """One file of a run with all its lines in order; `ends` are the indexes of responses at which it ends, one for each
    time that it was loaded. `twins` are the responses of a line that was loaded several times, by its number, `copies`
    the numbers of the lines that repeat a text (rule lines).
    """

    name: str
    schema: Schema
    lines: Sequence[ReadLine | tab_files.UnreadLine]
    ends: Sequence[int]
    twins: Mapping[int, Sequence[Response]]
    copies: Mapping[str, Sequence[int]]

    @property
    def last(self) -> int:
        return self.lines[-1].number if self.lines else 0

    def why_unreadable(self, gone: Container[Place], added: Iterable[str]) -> str | None:
        """Why nothing could be read from the file without some lines and with others at its end; None where it could,
        or is of size zero: such a file is passed over.
        """
        first = next((line for line in self.lines if not tab_files.is_blank_or_comment(line.text)), None)
        if first is None or (self.name, first.number) not in gone:  # the line that decides the layout is there
            return None
        has_blank = False
        for text in chain((line.text for line in self.lines if (self.name, line.number) not in gone), added):
            if tab_files.is_blank_or_comment(text):
                has_blank = True
                continue
            schema = detect_schema(tab_files.split_columns(text))
            if schema is self.schema:
                return None
            found = "no layout" if schema is None else f"another layout ({schema.name})"
            return f"the first line that would be left of {self.name} has {found}: {one_line(text)}"
        return f"only blank lines and comments would be left of {self.name}" if has_blank else None


def run_files(run: Run) -> dict[str, RunFile]:
    """The files of all runs of a call, by name."""
    lines: dict[str, dict[int, Response]] = defaultdict(dict)
    ends: dict[str, list[int]] = defaultdict(list)
    twins: dict[str, dict[int, list[Response]]] = defaultdict(dict)
    name, number = "", 0
    for line in run.links.responses:
        if name and (line.file != name or line.number <= number):
            ends[name].append(line.index)
        name, number = line.file, line.number
        first = lines[name].setdefault(number, line)
        if first is not line:
            twins[name].setdefault(number, [first]).append(line)
    ends[name].append(len(run.links.responses))
    others: dict[str, list[SkippedLine | tab_files.UnreadLine]] = defaultdict(list)
    for other in chain[SkippedLine | tab_files.UnreadLine](run.links.skipped, run.links.unread):
        others[other.file].append(other)
    copies: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for unread in run.links.unread:
        copies[unread.file][unread.text].append(unread.number)
    return {
        name: RunFile(
            name, schema, sorted([*lines[name].values(), *others[name]], key=attrgetter("number")), ends[name],
            twins[name], copies[name],
        )
        for name, schema in run.layouts.items()
        if schema.kind is FileKind.RUN
    }  # fmt: skip


class At(Record):
    """A line by its file and its number there, from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file} line {self.line}"


class Change(Record):
    """Lines that go and lines that come, so that anybody can score the changed files.

    `responses` are those that go by index, `places` all of them: skipped lines are among them, and repetitions in the
    same file, of which the first would be read otherwise. `added` come to the end of one file: index and number count
    them, and their node is not known. `policy` is the one to score under where that is another.
    """

    responses: frozenset[int] = frozenset()
    places: frozenset[Place] = frozenset()
    added: Sequence[Response] = ()
    policy: Policy | None = None

    @property
    def texts(self) -> list[str]:
        """The lines that come."""
        return [line.text for line in self.added]


_NOTHING: Final = Change()

_Position: TypeAlias = tuple[float, int]
"""The rank of a file in load order, and the number of a line."""

_NEVER: Final[_Position] = (math.inf, 0)


class Editor:
    """Makes changes to the files of a call with one run, or several of which one is changed.

    A line may name a query that an earlier line has created, by giving the answer that it asks about. Lines that were
    skipped create queries and depend on them like the others; those of the pool create queries and never go. Lines that
    come are appended to the run's last file (`file`), with the smallest confidence of the run and new node ids.
    """

    def __init__(self, run: Run, run_id: str) -> None:
        self._run, self._run_id, self.files = run, run_id, run_files(run)
        self.order = {name: rank for rank, name in enumerate(run.layouts)}
        lines: list[ReadLine] = [*run.links.responses, *self._skipped(run.links.skipped, FileKind.RUN)]
        of_pool = run.gold.links
        pool: list[Assessment | SkippedLine] = [*of_pool.assessments]
        pool = sorted([*pool, *self._skipped(of_pool.skipped, FileKind.ASSESSMENTS)], key=self._position)
        # By short id the lines that answer each follow-on query, and those that give the answer which it asks about.
        self.asking: dict[str, list[ReadLine]] = defaultdict(list)
        self.giving: dict[str, list[ReadLine]] = defaultdict(list)
        for line in lines:
            if line.query.level:
                self.asking[line.query.short_id].append(line)
        asked = {*self.asking, *(line.query.short_id for line in pool if line.query.level)}
        for line in lines:
            if line.target in asked:
                self.giving[line.target].append(line)
        self._in_pool: dict[str, _Position] = {}
        # The first line of the pool that answers each query which only lines of runs have created before it.
        self._leaning: dict[str, Assessment | SkippedLine] = {}
        for pool_line in pool:
            if pool_line.query.level and pool_line.query.short_id not in self._in_pool:
                self._leaning.setdefault(pool_line.query.short_id, pool_line)
            if pool_line.target in asked:
                self._in_pool.setdefault(pool_line.target, self._position(pool_line))
        # A run that was asked for and has no line is written like the others of the call.
        own = [line for line in run.links.responses if line.run_id == run_id] or run.links.responses
        self.file = self.files[own[-1].file]
        self.has_nodes = self.file.schema.position("NODEID") is not None
        self._confidence = tab_files.read_confidence(min(own, key=attrgetter("confidence")).text.split("\t")[7])
        self._node_stem = ":Found"
        while any(self._node_stem in line.text for line in own):
            self._node_stem += "_"
        known = (line for line in reversed(own) if line.follow_on.assessment is not None)
        types = ((line.query.slots[0], line.text.split("\t", 6)[5]) for line in known)
        self._type_of = {slot: written for slot, written in types if written.lower() in NODE_TYPES}
        self.answers = self._first_accepted(attrgetter("value_class"))
        self._accepted_with = self._first_accepted(attrgetter("target"))

    def _first_accepted(self, key: Callable[[Assessment], str]) -> dict[str, Assessment]:
        """The first correct assessment, else the first inexact one, of each class or answer."""
        found: dict[str, Assessment] = {}
        for each in self._run.gold.links.assessments:
            known = found.get(key(each)) if each.is_accepted else each
            if known is None or (each.judgment == CORRECT and known.judgment != CORRECT):
                found[key(each)] = each
        return found

    def _skipped(self, lines: Iterable[SkippedLine], kind: FileKind) -> Iterator[SkippedLine]:
        return (line for line in lines if self._run.layouts[line.file].kind is kind)

    def _position(self, line: ReadLine | Assessment) -> _Position:
        return self.order[line.file], line.number

    def absence(self, lines: Iterable[ReadLine], before: Change = _NOTHING) -> Change:
        """The absence of these lines, of what depends on them and on nothing that stays, and of all their repetitions.

        Those of `before` are gone already, with what depends on them.
        """
        gone, responses, waiting = set(before.places), set(before.responses), list(lines)
        while waiting:
            line = waiting.pop()
            place = line.file, line.number
            if place in gone:
                continue
            gone.add(place)
            file = self.files[line.file]
            if isinstance(line, Response):
                responses.update(each.index for each in file.twins.get(line.number, (line,)))
            gone.update((line.file, number) for number in file.copies.get(line.text, ()))
            if line.target in self.asking:
                first = self._first_given(line.target, gone)
                waiting += (each for each in self.asking[line.target] if self._position(each) <= first)
        return Change(frozenset(responses), frozenset(gone))

    def removed(self, change: Change) -> list[At]:
        """The lines that go, in load order."""
        return [At(*place) for place in sorted(change.places, key=lambda place: (self.order[place[0]], place[1]))]

    def found(
        self, assessments: Iterable[Assessment], gone: Container[Place] = (), *, only_linkable: bool = False
    ) -> tuple[Response, ...]:
        """The lines that give these answers, each once, parents first.

        An answer that a query asks about is given, too, where no line of the run gives it; `gone` are lines that are
        not there any more. With `only_linkable` answers whose query would not be known are left out.
        """
        added: dict[str, Response] = {}
        targets: set[str] = set()
        for assessment in assessments:
            if assessment.text in added:
                continue
            answers = [assessment]
            while (query := answers[-1].query).parent is not None and not (
                query.short_id in targets
                or any(
                    (line.file, line.number) not in gone and tab_files.split_columns(line.text)[2] == self._run_id
                    for line in self.giving.get(query.short_id, ())
                )
            ):
                if query.short_id not in self._accepted_with:
                    break
                answers.append(self._accepted_with[query.short_id])
            if only_linkable and self._why_unlinkable(query, targets) is not None:
                continue
            for answer in reversed(answers):
                added[answer.text] = self._line(answer, len(added))
                targets.add(answer.target)
        return tuple(added.values())

    def _line(self, answer: Assessment, at: int) -> Response:
        pool_columns = dict(zip(self._run.layouts[answer.file].columns, tab_files.split_columns(answer.text)))
        slot = answer.query.slots[0]
        predicate = find_predicate(slot)
        columns = [
            answer.query.full_id,
            slot,
            self._run_id,
            pool_columns["RELATION_PROVENANCE_TRIPLES"],
            pool_columns["VALUE"],
            self._type_of.get(slot) or ("string" if predicate is None else predicate.usual),
            pool_columns["VALUE_PROVENANCE_TRIPLES"],
            self._confidence.text,
            *([f"{self._node_stem}{at + 1}"] if self.has_nodes else []),
        ]
        follow_on = self._run.links.follow_on(answer.target)
        assert follow_on is not None
        return Response(
            at, at, "\t".join(columns), answer.query, self._run_id, self._confidence.value, None, follow_on,
            self.file.name, answer.answer,
        )  # fmt: skip

    def refusal(self, change: Change) -> str | None:
        """Why the changed files could not be scored, as far as that can be known without scoring; None otherwise."""
        run, gone = self._run, change.responses
        for file in self.files.values() if change.places else ():
            reason = file.why_unreadable(change.places, change.texts if file is self.file else ())
            if reason is not None:
                return reason
        for target, line in self._leaning.items():  # the pool may ask about an answer that only these lines give
            if self._first_given(target, change.places) >= self._position(line):
                return f"Query {line.query.full_id} not loaded ({line.file} line {line.number})"
        if change.added:
            return self._why_unlinkable(change.added[0].query)
        if gone and len(run.links.responses) == len(gone) and not run.gold.links.assessments:
            return "no line would be left"
        of_run = chain.from_iterable(unit.values() for unit in run.lines.get(self._run_id, {}).values())
        is_empty = all(line.index in gone for lines in of_run for line in lines)
        if gone and run.gold.options.runids is None and is_empty:
            return f"no line of run {self._run_id} would be left, so that nothing would be scored"
        return None

    def _why_unlinkable(self, query: LinkedQuery, given: Container[str] = ()) -> str | None:
        """Why a line at the end of `file` that answers a query could not be read; None where it could.

        The query may be one that no accepted answer leads to: then a line of the pool has to create it before. `given`
        are queries that added lines create.
        """
        if query.parent is None or query.short_id in given:
            return None
        created_in, _ = self._first_given(query.short_id)
        return None if created_in <= self.order[self.file.name] else f"Query {query.full_id} not loaded"

    def _first_given(self, target: str, gone: Container[Place] = ()) -> _Position:
        """Where the answer that is asked about is first given by what remains."""
        left = (self._position(line) for line in self.giving.get(target, ()) if (line.file, line.number) not in gone)
        return min(min(left, default=_NEVER), self._in_pool.get(target, _NEVER))
