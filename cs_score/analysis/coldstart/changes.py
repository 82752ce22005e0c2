"""Changes to the files of a run, as lines deleted and appended, and what depends on them; no file is written or read.

Lines go with those whose query they alone have created; a class is found by an accepted answer written as a run line,
with the answers that it stands below.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final, TypeAlias

from cs_score.base.display import one_line
from cs_score.base.records import Record
from cs_score.coldstart import tab_files
from cs_score.coldstart.gold import Run
from cs_score.coldstart.lines import CORRECT, Assessment, LinkedQuery, Response, SkippedLine
from cs_score.coldstart.options import Policy
from cs_score.coldstart.queries import NODE_TYPES, find_predicate

ReadLine: TypeAlias = Response | SkippedLine
"""A line that was linked: it counts, or it was skipped and has only created a query (rule follow-on-queries)."""

Place: TypeAlias = tuple[str, int]
"""A line's file and its number there."""


class RunFile(Record):
    """One file of a run with all its lines in order; `ends` are the indexes of responses at which it ends, one for each
    time that it was loaded.
    """

    name: str
    schema: tab_files.Schema
    lines: Sequence[ReadLine | tab_files.UnreadLine]
    ends: Sequence[int]

    @property
    def first(self) -> int:
        """The number of the line that decides the layout (rule lines)."""
        return next((line.number for line in self.lines if not tab_files.is_blank_or_comment(line.text)), 0)

    @property
    def last(self) -> int:
        return self.lines[-1].number if self.lines else 0

    def why_unreadable(self, gone: Container[int], added: Iterable[str]) -> str | None:
        """Why nothing could be read from the file without the lines of some numbers and with others at its end; None
        where it could. A file of size zero is passed over.
        """
        has_blank = False
        for text in chain((line.text for line in self.lines if line.number not in gone), added):
            if tab_files.is_blank_or_comment(text):
                has_blank = True
                continue
            schema = tab_files.detect_schema(tab_files.split_columns(text))
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
    twins: Mapping[Place, list[Response]]
    copies: Mapping[tuple[str, str], list[int]]


def files_of(run: Run) -> RunFiles:
    lines: dict[str, dict[int, Response]] = defaultdict(dict)
    ends: dict[str, list[int]] = defaultdict(list)
    twins: dict[Place, list[Response]] = {}
    name, number = "", 0
    for line in run.links.responses:
        if name and (line.file != name or line.number <= number):
            ends[name].append(line.index)
        name, number = line.file, line.number
        first = lines[name].setdefault(number, line)
        if first is not line:
            twins.setdefault((name, number), [first]).append(line)
    ends[name].append(len(run.links.responses))
    others: dict[str, list[SkippedLine | tab_files.UnreadLine]] = defaultdict(list)
    for other in chain[SkippedLine | tab_files.UnreadLine](run.links.skipped, run.links.unread):
        others[other.file].append(other)
    copies: dict[tuple[str, str], list[int]] = defaultdict(list)
    for unread in run.links.unread:
        copies[unread.file, unread.text].append(unread.number)
    files = {
        name: RunFile(
            name, schema, sorted([*lines[name].values(), *others[name]], key=attrgetter("number")), ends[name]
        )
        for name, schema in run.layouts.items()
        if schema.kind is tab_files.FileKind.RUN
    }
    return RunFiles(files, {name: rank for rank, name in enumerate(run.layouts)}, twins, copies)


class At(Record):
    """A line by its file and its number there, from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file} line {self.line}"


class Change(Record):
    """Lines that go and lines that come, so that anybody can score the changed files.

    `responses` are those that go by index, `places` all of them in load order: skipped lines are among them, and
    repetitions in the same file, of which the first would be read otherwise. `added` come to the end of one file: index
    and number count them, and their node is not known. `policy` is the one to score under where that is another.
    """

    responses: frozenset[int] = frozenset()
    places: tuple[Place, ...] = ()
    added: Sequence[Response] = ()
    policy: Policy | None = None

    @property
    def removed(self) -> list[At]:
        return [At(*place) for place in self.places]

    @property
    def texts(self) -> list[str]:
        """The lines that come."""
        return [line.text for line in self.added]


_Position: TypeAlias = tuple[float, int]
"""The rank of a file in load order, and the number of a line."""

_NEVER: Final[_Position] = (math.inf, 0)


class Dependents:
    """What depends on the lines of all runs of a call.

    A line may name a query that an earlier line has created, by giving the answer that it asks about. Lines that were
    skipped create queries and depend on them like the others; those of the pool create queries and never go.
    """

    def __init__(self, run: Run) -> None:
        def of_kind(lines: Iterable[SkippedLine], kind: tab_files.FileKind) -> list[SkippedLine]:
            return [line for line in lines if run.layouts[line.file].kind is kind]

        self.files = files_of(run)
        lines: list[ReadLine] = [*run.links.responses, *of_kind(run.links.skipped, tab_files.FileKind.RUN)]
        of_pool = run.gold.links
        pool: list[Assessment | SkippedLine] = [*of_pool.assessments]
        pool = sorted([*pool, *of_kind(of_pool.skipped, tab_files.FileKind.ASSESSMENTS)], key=self._position)
        self.asking: dict[str, list[ReadLine]] = {}
        """The lines that answer each follow-on query, by its short id."""
        for line in lines:
            if line.query.level:
                self.asking.setdefault(line.query.short_id, []).append(line)
        asked = {*self.asking, *(line.query.short_id for line in pool if line.query.level)}
        self.giving: dict[str, list[ReadLine]] = {}
        """The lines that give the answer which each of these queries asks about."""
        for line in lines:
            if line.target in asked:
                self.giving.setdefault(line.target, []).append(line)
        self._in_pool: dict[str, _Position] = {}
        # The first line of the pool that answers each query which only lines of runs have created before it.
        self._leaning: dict[str, Assessment | SkippedLine] = {}
        for pool_line in pool:
            if pool_line.query.level and pool_line.query.short_id not in self._in_pool:
                self._leaning.setdefault(pool_line.query.short_id, pool_line)
            if pool_line.target in asked:
                self._in_pool.setdefault(pool_line.target, self._position(pool_line))

    def first_given(self, target: str, gone: Container[Place] = ()) -> _Position:
        """Where the answer that is asked about is first given by what remains."""
        left = (self._position(line) for line in self.giving.get(target, ()) if (line.file, line.number) not in gone)
        return min(min(left, default=_NEVER), self._in_pool.get(target, _NEVER))

    def with_dependents(self, lines: Iterable[ReadLine], before: Change | None = None) -> Change:
        """The absence of these lines, of what depends on them and on nothing that stays, and of all their repetitions.

        Those of `before` are gone already, with what depends on them.
        """
        before = before or Change()
        gone, responses = dict.fromkeys(before.places), set(before.responses)
        waiting = list(lines)
        while waiting:
            line = waiting.pop()
            place = line.file, line.number
            if place in gone:
                continue
            gone[place] = None
            if isinstance(line, Response):
                responses.update(each.index for each in self.files.twins.get(place, (line,)))
            gone.update(((line.file, number), None) for number in self.files.copies.get((line.file, line.text), ()))
            if line.target in self.asking:
                first = self.first_given(line.target, gone)
                waiting += (each for each in self.asking[line.target] if self._position(each) <= first)
        order = self.files.order
        # Lines of one file need no other key: a twentieth of a sweep.
        key = None if len(self.files.files) == 1 else lambda place: (order[place[0]], place[1])
        return Change(frozenset(responses), tuple(sorted(gone, key=key)))

    def why_stranded(self, places: Iterable[Place]) -> str | None:
        """Why the pool could not be read without these lines: a line of it asks about an answer that only they give."""
        gone = set(places) if self._leaning else set()
        for target, line in self._leaning.items():
            if self.first_given(target, gone) >= self._position(line):
                return f"Query {line.query.full_id} not loaded ({line.file} line {line.number})"
        return None

    def _position(self, line: ReadLine | Assessment) -> _Position:
        return self.files.order[line.file], line.number


class Finding:
    """Writes the lines by which a run would find classes that it has missed.

    They are appended to the run's last file, with the smallest confidence of the run and node ids that no line has.
    """

    def __init__(self, run: Run, run_id: str) -> None:
        self._run, self._run_id, self.dependents = run, run_id, Dependents(run)
        # A run that was asked for and has no line is written like the others of the call.
        lines = [line for line in run.links.responses if line.run_id == run_id] or run.links.responses
        self.file: RunFile = self.dependents.files.files[lines[-1].file]
        """The file that lines are appended to."""
        least = min(lines, key=attrgetter("confidence"))
        self._confidence = tab_files.read_confidence(least.text.split("\t")[7])
        self.has_nodes = self.file.schema.position("NODEID") is not None
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
        # The first correct assessment, else the first inexact one, of each class and of each answer.
        self.answers: dict[str, Assessment] = {}
        self._accepted_with: dict[str, Assessment] = {}
        for assessment in run.gold.links.assessments:
            if assessment.is_accepted:
                for known, key in ((self.answers, assessment.value_class), (self._accepted_with, assessment.target)):
                    if key not in known or (assessment.judgment == CORRECT and known[key].judgment != CORRECT):
                        known[key] = assessment

    def lines(
        self, *assessments: Assessment, gone: Container[Place] = (), only_linkable: bool = False
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
            while (query := answers[-1].query).parent is not None and not self._is_given(query.short_id, gone, targets):
                if query.short_id not in self._accepted_with:
                    break
                answers.append(self._accepted_with[query.short_id])
            if only_linkable and self.why_unlinkable(query, targets) is not None:
                continue
            for answer in reversed(answers):
                added[answer.text] = self._line(answer, len(added))
                targets.add(answer.target)
        return tuple(added.values())

    def why_unlinkable(self, query: LinkedQuery, given: Container[str] = ()) -> str | None:
        """Why a line that answers a query could not be read; None where it could.

        The query may be one that no accepted answer leads to: then a line of the pool has to create it before. `given`
        are queries that added lines create.
        """
        if query.parent is None or query.short_id in given:
            return None
        created_in, _ = self.dependents.first_given(query.short_id)
        is_before = created_in <= self.dependents.files.order[self.file.name]
        return None if is_before else f"Query {query.full_id} not loaded"

    def _is_given(self, target: str, gone: Container[Place], given: Container[str]) -> bool:
        return target in given or any(
            (line.file, line.number) not in gone and tab_files.split_columns(line.text)[2] == self._run_id
            for line in self.dependents.giving.get(target, ())
        )

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
            self.file.name, answer.docid, answer.answer,
        )  # fmt: skip
