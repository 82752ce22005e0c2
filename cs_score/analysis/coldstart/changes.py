"""Changes to the files of a run: lines that are removed or added, together with the lines that depend on them.

No file is read or written here. Removing a line also removes the lines whose query it alone has created. A missed class
is found by an accepted answer of the pool, which is added as a line of the run behind the answers above it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final, TypeAlias

from cs_score.analysis.coldstart.run_files import LinePlace, LinkedLine, RunFile, files_of_run
from cs_score.base.records import Record
from cs_score.coldstart import tab_files
from cs_score.coldstart.gold import Run
from cs_score.coldstart.layouts import FileKind
from cs_score.coldstart.lines import CORRECT, Assessment, LinkedQuery, Response, SkippedLine
from cs_score.coldstart.options import Policy
from cs_score.coldstart.queries import NODE_TYPES, find_predicate


class At(Record):
    """A line by its file and its number there, from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file} line {self.line}"


class Change(Record):
    """Lines to remove from the files of a run and lines to add, so that anybody can score the changed files.

    `places` are all removed lines; `responses` are the indexes of those among them that are responses. The other ones
    were skipped, or repeat a removed line, and would be read in its place. The lines `added` go to the end of one file;
    their index and number count from 0 within the change, and they have no node yet. `policy` is the policy to score
    under if it is another one.
    """

    responses: frozenset[int] = frozenset()
    places: frozenset[LinePlace] = frozenset()
    added: Sequence[Response] = ()
    policy: Policy | None = None

    @property
    def added_texts(self) -> list[str]:
        """Return the lines to add, as texts."""
        return [line.text for line in self.added]


_NO_CHANGE: Final = Change()

_LoadPosition: TypeAlias = tuple[float, int]
"""The rank of a file in load order, and the number of a line in it: earlier lines have smaller positions."""

_NEVER: Final[_LoadPosition] = (math.inf, 0)
"""The load position of a line that does not exist: behind all others."""


class FollowOnLines:
    """The lines of runs and pool that create follow-on queries, and those that answer them.

    A line creates the follow-on query about its answer. A line that answers this query is only read if a line before it
    has created the query. `answering` and `creating` have the lines of the run files by the short id of a follow-on
    query: the lines that answer it, and the lines that give the answer it asks about. Skipped lines are among them,
    since they create queries and depend on them like the others.
    """

    def __init__(self, run: Run, rank_by_file: Mapping[str, int]) -> None:
        """Collect the lines; `rank_by_file` is the load order of the files."""
        self._rank_by_file = rank_by_file
        self.answering: dict[str, list[LinkedLine]] = defaultdict(list)
        self.creating: dict[str, list[LinkedLine]] = defaultdict(list)
        self._first_in_pool: dict[str, _LoadPosition] = {}
        self.pool_lines_needing_run: dict[str, Assessment | SkippedLine] = {}
        """The first line of the pool that answers each follow-on query that no earlier line of the pool creates."""

        run_lines: list[LinkedLine] = [*run.links.responses]
        run_lines += _skipped_lines(run, run.links.skipped, FileKind.RUN)
        pool_lines: list[Assessment | SkippedLine] = [*run.gold.links.assessments]
        pool_lines += _skipped_lines(run, run.gold.links.skipped, FileKind.ASSESSMENTS)
        pool_lines.sort(key=self.position)
        for line in run_lines:
            if line.query.level:
                self.answering[line.query.short_id].append(line)
        answered_ids = set(self.answering)
        answered_ids.update([line.query.short_id for line in pool_lines if line.query.level])
        for line in run_lines:
            if line.target in answered_ids:
                self.creating[line.target].append(line)
        for pool_line in pool_lines:
            short_id = pool_line.query.short_id
            if pool_line.query.level and short_id not in self._first_in_pool:
                self.pool_lines_needing_run.setdefault(short_id, pool_line)
            if pool_line.target in answered_ids:
                self._first_in_pool.setdefault(pool_line.target, self.position(pool_line))

    def position(self, line: LinkedLine | Assessment) -> _LoadPosition:
        """Return the position of a line in load order."""
        return self._rank_by_file[line.file], line.number

    def creation_of(self, short_id: str, removed_places: Container[LinePlace] = ()) -> _LoadPosition:
        """Return the position of the first line that creates a follow-on query, once some lines are removed.

        It is `_NEVER`, behind all lines, if no line is left that creates the query.
        """
        positions = [
            self.position(line)
            for line in self.creating.get(short_id, ())
            if (line.file, line.number) not in removed_places
        ]
        positions.append(self._first_in_pool.get(short_id, _NEVER))
        return min(positions)

    def lines_losing_query(self, short_id: str, removed_places: Container[LinePlace]) -> list[LinkedLine]:
        """Return the lines whose follow-on query would not be created before them, once some lines are removed."""
        creation = self.creation_of(short_id, removed_places)
        return [line for line in self.answering[short_id] if self.position(line) <= creation]


def _skipped_lines(run: Run, lines: Iterable[SkippedLine], kind: FileKind) -> list[SkippedLine]:
    """Return the skipped lines in files of one kind: run files, or files of the pool."""
    return [line for line in lines if run.layouts[line.file].kind is kind]


class LineWriter:
    """Writes accepted answers of the pool as lines of a run.

    The lines have the smallest confidence in the run and node ids that the run does not use. They go to the end of
    `file`, the last one of the run; `has_nodes` says whether its layout has node ids.
    """

    def __init__(self, run: Run, run_id: str, files: Mapping[str, RunFile]) -> None:
        """Look up the file, confidence and value types that lines of the run have."""
        self._run = run
        self._run_id = run_id
        own_lines = [line for line in run.links.responses if line.run_id == run_id]
        if not own_lines:  # a run without lines is written like the other runs of the call
            own_lines = run.links.responses
        self.file = files[own_lines[-1].file]
        self.has_nodes = self.file.schema.position("NODEID") is not None
        least_confident = min(own_lines, key=attrgetter("confidence"))
        self._confidence = tab_files.read_confidence(least_confident.text.split("\t")[7])
        self._node_stem = _unused_node_stem(own_lines)
        self._type_by_slot = _value_types(own_lines)

    def write(self, answer: Assessment, index: int) -> Response:
        """Return the line that gives an answer of the pool; `index` is its place among the added lines, from 0."""
        pool_columns = dict(zip(self._run.layouts[answer.file].columns, tab_files.split_columns(answer.text)))
        slot = answer.query.slots[0]
        columns = [
            answer.query.full_id,
            slot,
            self._run_id,
            pool_columns["RELATION_PROVENANCE_TRIPLES"],
            pool_columns["VALUE"],
            self._value_type(slot),
            pool_columns["VALUE_PROVENANCE_TRIPLES"],
            self._confidence.text,
        ]
        if self.has_nodes:
            columns.append(f"{self._node_stem}{index + 1}")
        follow_on = self._run.links.follow_on(answer.target)
        assert follow_on is not None
        return Response(
            index=index,
            number=index,
            text="\t".join(columns),
            query=answer.query,
            run_id=self._run_id,
            confidence=self._confidence.value,
            node=None,
            follow_on=follow_on,
            file=self.file.name,
            stored_answer=answer.answer,
        )

    def _value_type(self, slot: str) -> str:
        """Return the value type (column 6) for answers to a slot: that of the run, else the usual one of the slot."""
        if slot in self._type_by_slot:
            return self._type_by_slot[slot]
        predicate = find_predicate(slot)
        return "string" if predicate is None else predicate.usual


def _unused_node_stem(lines: Sequence[Response]) -> str:
    """Return the beginning of node ids that no line has: `:Found`, with as many underscores as are needed."""
    stem = ":Found"
    while any(stem in line.text for line in lines):
        stem += "_"
    return stem


def _value_types(lines: Sequence[Response]) -> dict[str, str]:
    """Return the value type of each slot, as the first line with an assessed answer to it gives it."""
    type_by_slot: dict[str, str] = {}
    for line in reversed(lines):
        if line.follow_on.assessment is None:
            continue
        value_type = line.text.split("\t", 6)[5]
        if value_type.lower() in NODE_TYPES:
            type_by_slot[line.query.slots[0]] = value_type
    return type_by_slot


class Editor:
    """Makes changes to the files of one run; the files may hold other runs, which stay as they are.

    `files` are the run files by name, `rank_by_file` is the load order of all files. `extended_file` is the file that
    added lines go to, and `has_nodes` says whether it has node ids. `answer_by_class` has the answer of the pool by
    which each class would be found.
    """

    def __init__(self, run: Run, run_id: str) -> None:
        """Index the lines of a call in which `run_id` is the run to change."""
        self._run = run
        self._run_id = run_id
        self.files = files_of_run(run)
        self.rank_by_file = {name: rank for rank, name in enumerate(run.layouts)}
        self.follow_on_lines = FollowOnLines(run, self.rank_by_file)
        self._writer = LineWriter(run, run_id, self.files)
        self.extended_file = self._writer.file
        self.has_nodes = self._writer.has_nodes
        self.answer_by_class = _best_accepted(run.gold.links.assessments, attrgetter("value_class"))
        self._answer_by_target = _best_accepted(run.gold.links.assessments, attrgetter("target"))

    def without_lines(self, lines: Iterable[LinkedLine], earlier: Change = _NO_CHANGE) -> Change:
        """Return the change that removes lines, their repetitions, and all lines that cannot be read without them.

        The lines removed by an `earlier` change are removed, too.
        """
        places = set(earlier.places)
        responses = set(earlier.responses)
        lines_to_remove = list(lines)
        while lines_to_remove:
            line = lines_to_remove.pop()
            if (line.file, line.number) in places:
                continue
            places.add((line.file, line.number))
            file = self.files[line.file]
            if isinstance(line, Response):
                repeated_responses = file.responses_by_repeated_line.get(line.number, (line,))
                responses.update([response.index for response in repeated_responses])
            places.update([(line.file, number) for number in file.copies_by_text.get(line.text, ())])
            if line.target in self.follow_on_lines.answering:
                lines_to_remove += self.follow_on_lines.lines_losing_query(line.target, places)
        return Change(frozenset(responses), frozenset(places))

    def removed_lines(self, change: Change) -> list[At]:
        """Return the places of the lines that a change removes, in load order."""
        places = sorted(change.places, key=lambda place: (self.rank_by_file[place[0]], place[1]))
        return [At(*place) for place in places]

    def lines_giving(
        self,
        assessments: Iterable[Assessment],
        removed_places: Container[LinePlace] = (),
        *,
        only_linkable: bool = False,
    ) -> tuple[Response, ...]:
        """Return the lines to add so that the run gives the answers of some assessments, each answer once.

        An answer of a later hop needs the answer above it: if no line of the run gives that one, or only lines that are
        removed, it is added before. With `only_linkable` the answers whose query nothing would create are left out.
        """
        added_by_text: dict[str, Response] = {}
        added_targets: set[str] = set()
        for assessment in assessments:
            if assessment.text in added_by_text:
                continue
            answers = self._with_missing_parents(assessment, added_targets, removed_places)
            if only_linkable and self._why_unlinkable(answers[-1].query, added_targets) is not None:
                continue
            for answer in reversed(answers):
                added_by_text[answer.text] = self._writer.write(answer, len(added_by_text))
                added_targets.add(answer.target)
        return tuple(added_by_text.values())

    def _with_missing_parents(
        self, assessment: Assessment, added_targets: Container[str], removed_places: Container[LinePlace]
    ) -> list[Assessment]:
        """Return an assessment, then assessments of the answers above it that no line would give, hop by hop."""
        answers = [assessment]
        while True:
            query = answers[-1].query
            if query.parent is None or query.short_id in added_targets or self._is_created(query, removed_places):
                return answers
            if query.short_id not in self._answer_by_target:
                return answers
            answers.append(self._answer_by_target[query.short_id])

    def _is_created(self, query: LinkedQuery, removed_places: Container[LinePlace]) -> bool:
        """Return whether a line of the run that is not removed creates a follow-on query."""
        for line in self.follow_on_lines.creating.get(query.short_id, ()):
            is_removed = (line.file, line.number) in removed_places
            if not is_removed and tab_files.split_columns(line.text)[2] == self._run_id:
                return True
        return False

    def why_refused(self, change: Change) -> str | None:
        """Return why the scorer would refuse the changed files; None if nothing speaks against them.

        Reasons that only appear when lines are scored are not looked for.
        """
        reason = self._why_unreadable(change) or self._why_pool_unlinkable(change)
        if reason is not None:
            return reason
        if change.added:
            return self._why_unlinkable(change.added[0].query)
        return self._why_nothing_left(change)

    def _why_unreadable(self, change: Change) -> str | None:
        """Return why a changed file could not be read; None if all could."""
        if not change.places:
            return None
        for file in self.files.values():
            added_texts = change.added_texts if file is self.extended_file else []
            reason = file.why_unreadable(change.places, added_texts)
            if reason is not None:
                return reason
        return None

    def _why_pool_unlinkable(self, change: Change) -> str | None:
        """Return why a line of the pool could not be read: it answers a query that only removed lines create."""
        for short_id, line in self.follow_on_lines.pool_lines_needing_run.items():
            creation = self.follow_on_lines.creation_of(short_id, change.places)
            if creation >= self.follow_on_lines.position(line):
                return f"Query {line.query.full_id} not loaded ({line.file} line {line.number})"
        return None

    def _why_unlinkable(self, query: LinkedQuery, added_targets: Container[str] = ()) -> str | None:
        """Return why a line at the end of the extended file could not answer a query; None if it could.

        A follow-on query must be created by a line before, or by an added line (`added_targets`).
        """
        if query.parent is None or query.short_id in added_targets:
            return None
        file_rank, _ = self.follow_on_lines.creation_of(query.short_id)
        if file_rank <= self.rank_by_file[self.extended_file.name]:
            return None
        return f"Query {query.full_id} not loaded"

    def _why_nothing_left(self, change: Change) -> str | None:
        """Return that a change leaves no line to score; None if it leaves some or removes none."""
        run = self._run
        if not change.responses:
            return None
        if len(run.links.responses) == len(change.responses) and not run.gold.links.assessments:
            return "no line would be left"
        if run.gold.options.runids is None and self._is_run_removed(change):
            return f"no line of run {self._run_id} would be left, so that nothing would be scored"
        return None

    def _is_run_removed(self, change: Change) -> bool:
        """Return whether a change removes all lines of the run."""
        for lines_by_query in self._run.lines.get(self._run_id, {}).values():
            for lines in lines_by_query.values():
                if not all(line.index in change.responses for line in lines):
                    return False
        return True


def _best_accepted(assessments: Iterable[Assessment], key: Callable[[Assessment], str]) -> dict[str, Assessment]:
    """Return the first correct assessment, or else the first inexact one, by class or answer, which is the `key`."""
    best_by_key: dict[str, Assessment] = {}
    for assessment in assessments:
        if not assessment.is_accepted:
            continue
        best = best_by_key.get(key(assessment))
        if best is None or (assessment.judgment == CORRECT and best.judgment != CORRECT):
            best_by_key[key(assessment)] = assessment
    return best_by_key
