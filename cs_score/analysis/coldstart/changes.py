"""Make changes to the files of a run: lines that are removed or added, together with the lines that depend on them. A
line of the first hop creates the follow-on query about its answer, which lines of the second hop answer.

No file is read or written here. Removing a line also removes the lines that answer a follow-on query which it alone has
created. To find a missed class, an accepted answer of the pool is added as a line of the run, after the answers that
lead to its query.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Final, TypeAlias

from cs_score.analysis.coldstart.run_files import LinePlace, LinkedLine, RunFile, files_of_run
from cs_score.base.records import Record
from cs_score.coldstart import tab_files
from cs_score.coldstart.file_columns import FileKind
from cs_score.coldstart.gold import Run
from cs_score.coldstart.lines import CORRECT, Assessment, LinkedQuery, Response, SkippedLine
from cs_score.coldstart.options import Policy
from cs_score.coldstart.queries import NODE_TYPES, find_predicate


class At(Record):
    """A line by its file and its number there, from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        """Return the place in words: `run.tab line 7`."""
        return f"{self.file} line {self.line}"


class Change(Record):
    """Lines to remove from the files of a run and lines to add, so that anybody can score the changed files.

    `removed_places` are the places of all removed lines, and `removed_indexes` are the indexes of the responses among
    them. The other removed lines either were skipped or repeat a removed response and would be read instead of it. The
    `added_lines` go to the end of one file; their index and number count from 0 within the change, and they do not have
    a node yet. `policy` is the policy to score under, if the change replaces it.
    """

    removed_indexes: frozenset[int] = frozenset()
    removed_places: frozenset[LinePlace] = frozenset()
    added_lines: Sequence[Response] = ()
    policy: Policy | None = None

    @property
    def added_texts(self) -> list[str]:
        """The texts of the lines to add."""
        return [line.text for line in self.added_lines]


_NO_CHANGE: Final = Change()

_LoadPosition: TypeAlias = tuple[float, int]
"""The rank of a file in load order, and the number of a line in it: earlier lines have smaller positions."""

_AFTER_ALL_LINES: Final[_LoadPosition] = (math.inf, 0)
"""The load position of a line that does not exist: behind all others."""


class FollowOnLines:
    """The lines of runs and pool that create follow-on queries, and the lines that answer them. A line creates the
    follow-on query about its answer; its `follow_on_id` is the short id of this query. A line that answers the query is
    only read if an earlier line has created it.

    `lines_answering` has the lines of the run files that answer each follow-on query, and `lines_creating` has the
    lines that create it, both by the short id of the query. Skipped lines are included, since they create and answer
    queries like other lines. A line of the pool depends on the run if no earlier line of the pool creates its query, so
    that a line of the run must create it. `pool_line_depending_on_run_by_query` has the first such line for each
    follow-on query.
    """

    def __init__(self, run: Run, position_by_file: Mapping[str, int]) -> None:
        """Collect the lines of a run and of its pool; `position_by_file` has the positions of files in load order."""
        self._position_by_file = position_by_file
        self.lines_answering: dict[str, list[LinkedLine]] = defaultdict(list)
        self.lines_creating: dict[str, list[LinkedLine]] = defaultdict(list)
        # The position of the first line of the pool that creates each follow-on query, by the short id of the query.
        self._first_creating_position_in_pool: dict[str, _LoadPosition] = {}
        # The first line of the pool with a query that only lines of the run create, by the short id of the query.
        self.pool_line_depending_on_run_by_query: dict[str, Assessment | SkippedLine] = {}
        run_lines = _linked_lines_of_run(run)
        pool_lines = sorted(_linked_lines_of_pool(run), key=self.position)
        answered_ids = _answered_follow_ons([*run_lines, *pool_lines])
        self._collect_run_lines(run_lines, answered_ids)
        self._collect_pool_lines(pool_lines, answered_ids)

    def _collect_run_lines(self, lines: Iterable[LinkedLine], answered_ids: Container[str]) -> None:
        """Enter the lines of the run files in `lines_answering` and `lines_creating`.

        `answered_ids` are the short ids of all follow-on queries that lines answer. Other queries are not needed.
        """
        for line in lines:
            if line.query.is_follow_on:
                self.lines_answering[line.query.short_id].append(line)
            if line.follow_on_id in answered_ids:
                self.lines_creating[line.follow_on_id].append(line)

    def _collect_pool_lines(self, lines: Iterable[Assessment | SkippedLine], answered_ids: Container[str]) -> None:
        """Enter the lines of the pool in `pool_line_depending_on_run_by_query`, and the first positions that create
        queries.

        `lines` are the pool in load order, and `answered_ids` are the short ids of all follow-on queries with answers.
        """
        for line in lines:
            short_id = line.query.short_id
            has_creating_line = short_id in self._first_creating_position_in_pool  # an earlier line of the pool
            if line.query.is_follow_on and not has_creating_line:
                self.pool_line_depending_on_run_by_query.setdefault(short_id, line)
            if line.follow_on_id in answered_ids:
                self._first_creating_position_in_pool.setdefault(line.follow_on_id, self.position(line))

    def position(self, line: LinkedLine | Assessment) -> _LoadPosition:
        """Return the place of a line in load order: the position of its file, and its line number there."""
        return self._position_by_file[line.file], line.number

    def first_creating_position(self, short_id: str, removed_places: Container[LinePlace] = ()) -> _LoadPosition:
        """Return the position in load order of the first line of run and pool that creates a follow-on query.

        Lines at the removed places do not count. If no line creates it, the position is `_AFTER_ALL_LINES`.
        """
        first_position = self._first_creating_position_in_pool.get(short_id, _AFTER_ALL_LINES)
        for line in self.lines_creating.get(short_id, ()):
            if (line.file, line.number) not in removed_places:
                first_position = min(first_position, self.position(line))
        return first_position

    def lines_losing_query(self, short_id: str, removed_places: Container[LinePlace]) -> list[LinkedLine]:
        """Return the lines that answer a follow-on query but come before every line that would still create it.

        The scorer would not read these lines. Lines at the removed places do not create the query. If no other line
        creates it, all lines that answer the query are returned.
        """
        if short_id not in self.lines_answering:
            return []
        creating_position = self.first_creating_position(short_id, removed_places)
        return [line for line in self.lines_answering[short_id] if self.position(line) <= creating_position]


def _linked_lines_of_run(run: Run) -> list[LinkedLine]:
    """Return the lines of the run files that have a query: all responses, then the skipped lines."""
    skipped_lines = _skipped_lines(run, run.links.skipped_lines, FileKind.RUN)
    return [*run.links.responses, *skipped_lines]


def _linked_lines_of_pool(run: Run) -> list[Assessment | SkippedLine]:
    """Return the lines of the pool that have a query: all assessments, then the skipped lines."""
    links = run.gold.links
    skipped_lines = _skipped_lines(run, links.skipped_lines, FileKind.ASSESSMENTS)
    return [*links.assessments, *skipped_lines]


def _answered_follow_ons(lines: Iterable[LinkedLine | Assessment]) -> set[str]:
    """Return the short ids of the follow-on queries that some lines answer; lines of the first hop answer none."""
    return {line.query.short_id for line in lines if line.query.is_follow_on}


def _skipped_lines(run: Run, lines: Iterable[SkippedLine], kind: FileKind) -> list[SkippedLine]:
    """Return the skipped lines in files of a kind: in run files, or in files of the pool."""
    return [line for line in lines if run.layouts[line.file].kind is kind]


class LineWriter:
    """Makes lines of a run from accepted answers of the pool.

    The lines have the smallest confidence in the run and node ids that the run does not use. They are meant for the end
    of `file`, the last file of the run; `has_nodes` says whether its layout has node ids.
    """

    def __init__(self, run: Run, run_id: str, files: Mapping[str, RunFile]) -> None:
        """Choose file, confidence, node ids and value types of new lines, modelled on the lines of the run `run_id`.

        New lines go into the file of the run's last line and get the lowest confidence in the run. `files` maps names
        to files.
        """
        self._run = run
        self._run_id = run_id
        model_lines = _lines_of_run_id(run, run_id)
        self.file = files[model_lines[-1].file]
        self.has_nodes = self.file.schema.position("NODEID") is not None
        least_confident = min(model_lines, key=attrgetter("confidence"))
        self._confidence = tab_files.read_confidence(_column_of_line(least_confident, _CONFIDENCE_COLUMN))
        self._node_stem = _unused_node_stem(model_lines)
        self._type_by_slot = _value_types(model_lines)

    def line_of_answer(self, answer: Assessment, index: int) -> Response:
        """Return a line of the run that gives an answer of the pool.

        `index` is the position of the line among all added lines, counted from 0. It also serves as the line number
        until rescoring numbers the added lines after the other lines of their file.
        """
        follow_on = self._run.links.find_follow_on(answer.follow_on_id)
        assert follow_on is not None  # loading the pool creates the follow-on query of every answer
        return Response(
            index=index,
            number=index,
            text="\t".join(self._columns_of_line(answer, index)),
            query=answer.query,
            run_id=self._run_id,
            confidence=self._confidence.value,
            node=None,
            follow_on=follow_on,
            file=self.file.name,
            stored_answer=answer.answer,
        )

    def _columns_of_line(self, answer: Assessment, index: int) -> list[str]:
        """Return the texts of the columns of a line that gives an answer of the pool.

        `index` is the position of the line among all added lines, counted from 0. The node id of line 0 is `:Found1`.
        """
        slot = answer.query.slots[0]  # a query asks for its first slot; its follow-on queries ask for the others
        text_by_column = self._columns_of_answer(answer)
        columns = [
            answer.query.full_id,
            slot,
            self._run_id,
            text_by_column["RELATION_PROVENANCE_TRIPLES"],
            text_by_column["VALUE"],
            self._value_type(slot),
            text_by_column["VALUE_PROVENANCE_TRIPLES"],
            self._confidence.text,
        ]
        if self.has_nodes:
            columns.append(f"{self._node_stem}{index + 1}")
        return columns

    def _columns_of_answer(self, answer: Assessment) -> dict[str, str]:
        """Return the texts of an assessment in the pool by the name of their column: `{"VALUE": "John Smith", ...}`."""
        names = self._run.layouts[answer.file].columns
        return dict(zip(names, tab_files.split_columns(answer.text)))

    def _value_type(self, slot: str) -> str:
        """Return the value type (column 6) of answers to a slot: the one that the run uses, or else the usual one."""
        if slot in self._type_by_slot:
            return self._type_by_slot[slot]
        predicate = find_predicate(slot)
        return "string" if predicate is None else predicate.usual_type


def _lines_of_run_id(run: Run, run_id: str) -> list[Response]:
    """Return the responses of a run of the call, in load order; if it has none, the responses of all runs."""
    own_lines = [line for line in run.links.responses if line.run_id == run_id]
    return own_lines or run.links.responses


_VALUE_TYPE_COLUMN: Final = 6
_CONFIDENCE_COLUMN: Final = 8
"""Numbers of columns, from 1. They are the same in both layouts of runs with a value type, of 2015 and of 2017."""


def _column_of_line(line: Response, column_number: int) -> str:
    """Return the text in a column of a run line; columns are numbered from 1."""
    return line.text.split("\t")[column_number - 1]


def _unused_node_stem(lines: Sequence[Response]) -> str:
    """Return the beginning of new node ids: `:Found`, followed by underscores if some line already contains it."""
    stem = ":Found"
    while any(stem in line.text for line in lines):
        stem += "_"
    return stem


def _value_types(lines: Sequence[Response]) -> dict[str, str]:
    """Return the value type of each slot, taken from the first line whose answer to the slot was assessed.

    Lines with an unknown value type are ignored.
    """
    type_by_slot: dict[str, str] = {}
    for line in reversed(lines):  # so that earlier lines overwrite later ones
        if line.follow_on.first_assessment is None:
            continue
        value_type = _column_of_line(line, _VALUE_TYPE_COLUMN)
        if value_type.lower() in NODE_TYPES:
            type_by_slot[line.query.slots[0]] = value_type
    return type_by_slot


class Editor:
    """Makes changes to the files of one run. Other runs in the same files are not changed.

    `files` are the run files by name, and `position_by_file` has the positions of files in load order. Lines are added
    at the end of `file_of_added_lines`; `has_nodes` says whether its layout has node ids.
    """

    def __init__(self, run: Run, run_id: str) -> None:
        """Index the lines of all runs; `run_id` names the run to change."""
        self._run = run
        self._run_id = run_id
        self.files = files_of_run(run)
        # The layouts have the names of the files in load order.
        self.position_by_file = {name: position for position, name in enumerate(run.layouts)}
        self.follow_on_lines = FollowOnLines(run, self.position_by_file)
        self._writer = LineWriter(run, run_id, self.files)
        self.file_of_added_lines = self._writer.file
        self.has_nodes = self._writer.has_nodes

    @cached_property
    def answer_by_class(self) -> Mapping[str, Assessment]:
        """The answer of the pool that is added to find a class, by the name of the class."""
        return _best_accepted(self._run.gold.links.assessments, attrgetter("value_class"))

    @cached_property
    def _parent_answer_by_query(self) -> Mapping[str, Assessment]:
        """The answer of the pool that a follow-on query is about, by the short id of the query: its parent answer.

        A line with this answer is added to a run to create the query.
        """
        return _best_accepted(self._run.gold.links.assessments, attrgetter("follow_on_id"))

    def removal_of(self, lines: Iterable[LinkedLine], earlier_change: Change = _NO_CHANGE) -> Change:
        """Return the change that removes some lines, their copies, and all lines that cannot be read without them.

        The lines removed by an `earlier_change` are removed as well.
        """
        places = set(earlier_change.removed_places)
        indexes = set(earlier_change.removed_indexes)
        lines_to_remove = list(lines)
        while lines_to_remove:
            line = lines_to_remove.pop()
            if (line.file, line.number) not in places:
                places.update(self._places_of_line_and_copies(line))
                indexes.update(self._indexes_of_line(line))
                lines_to_remove += self.follow_on_lines.lines_losing_query(line.follow_on_id, places)
        return Change(removed_indexes=frozenset(indexes), removed_places=frozenset(places))

    def _places_of_line_and_copies(self, line: LinkedLine) -> list[LinePlace]:
        """Return the place of a line, then the places of its copies in the same file: `[("run.tab", 7), ...]`.

        A copy is not read as long as the file has the line itself. If only this line were removed, it would be read.
        """
        copy_numbers = self.files[line.file].copy_numbers_by_text.get(line.text, ())
        return [(line.file, number) for number in (line.number, *copy_numbers)]

    def _indexes_of_line(self, line: LinkedLine) -> list[int]:
        """Return the indexes of all responses from a line: usually one, or several if its file was loaded repeatedly.

        Return an empty list for a skipped line, which does not give a response.
        """
        if not isinstance(line, Response):
            return []
        responses = self.files[line.file].repeated_responses_by_number.get(line.number, (line,))
        return [response.index for response in responses]

    def places_removed_by(self, change: Change) -> list[At]:
        """Return the places of the lines that a change removes, in load order."""
        places = [At(file_name, line_number) for file_name, line_number in change.removed_places]
        return sorted(places, key=lambda place: (self.position_by_file[place.file], place.line))

    def lines_to_add(
        self,
        assessments: Iterable[Assessment],
        removed_places: Container[LinePlace] = (),
        *,
        skips_unlinkable: bool = False,
    ) -> tuple[Response, ...]:
        """Return the lines to add so that the run gives the answers of some assessments, each answer once.

        An answer of a later hop needs a line with its parent answer, that is, the answer that its query asks about. If
        the run has no such line (other than at `removed_places`), a line with the parent answer is added before it.
        With `skips_unlinkable`, an answer is left out if no line would create its query.
        """
        line_by_text: dict[str, Response] = {}  # by the text of the answer in the pool
        created_query_ids: set[str] = set()  # of the queries about the added answers
        for assessment in assessments:
            if assessment.text in line_by_text:
                continue
            chain = self._missing_parents_and_answer(assessment, created_query_ids, removed_places)
            # Each answer of the chain creates the query of the next one; only the first query may lack a line.
            if skips_unlinkable and self._why_unlinkable(chain[0].query, created_query_ids) is not None:
                continue
            for answer in chain:
                index = len(line_by_text)
                line_by_text[answer.text] = self._writer.line_of_answer(answer, index)
                created_query_ids.add(answer.follow_on_id)
        return tuple(line_by_text.values())

    def _missing_parents_and_answer(
        self, assessment: Assessment, created_query_ids: Container[str], removed_places: Container[LinePlace]
    ) -> list[Assessment]:
        """Return the parent answers of an assessment that the run lacks, from the first hop on, then the assessment.

        `created_query_ids` are the short ids of the follow-on queries that added lines create. Lines at
        `removed_places` do not count as lines of the run.
        """
        answers = [assessment]
        while self._needs_parent(answers[0].query, created_query_ids, removed_places):
            parent = self._parent_answer_by_query[answers[0].query.short_id]
            answers.insert(0, parent)
        return answers

    def _needs_parent(
        self, query: LinkedQuery, created_query_ids: Container[str], removed_places: Container[LinePlace]
    ) -> bool:
        """Return whether a line with a query's parent answer is missing and can be added because the pool has one.

        The line with the parent answer creates the query. Queries of the first hop need no such line.
        `created_query_ids` are the short ids of the follow-on queries that added lines create; lines at
        `removed_places` do not create queries.
        """
        if query.parent is None or query.short_id in created_query_ids:
            return False
        if self._is_created_by_run(query, removed_places):
            return False
        return query.short_id in self._parent_answer_by_query

    def _is_created_by_run(self, query: LinkedQuery, removed_places: Container[LinePlace]) -> bool:
        """Return whether a line of the run creates a follow-on query; lines at the removed places do not count."""
        for line in self.follow_on_lines.lines_creating.get(query.short_id, ()):
            is_removed = (line.file, line.number) in removed_places
            run_id = tab_files.split_columns(line.text)[2]  # the column of the run id; the files may hold several runs
            if run_id == self._run_id and not is_removed:
                return True
        return False

    def why_refused(self, change: Change) -> str | None:
        """Return why the scorer would refuse to read the changed files, or None if it would read all of them.

        The scorer may still refuse to score files that it can read; only scoring shows whether it does.
        """
        reason = self._why_unreadable(change) or self._why_pool_unlinkable(change)
        if reason is not None:
            return reason
        if change.added_lines:
            # The first line needs a query that a line of the files creates; `lines_to_add` takes care of the others.
            return self._why_unlinkable(change.added_lines[0].query)
        return self._why_nothing_left(change)

    def _why_unreadable(self, change: Change) -> str | None:
        """Return why one of the changed files could not be read, or None if all files could be read."""
        if not change.removed_places:
            return None  # only the removal of lines can make a file unreadable: added lines have the file's layout
        for file in self.files.values():
            added_texts = change.added_texts if file is self.file_of_added_lines else []
            reason = file.why_unreadable(change.removed_places, added_texts)
            if reason is not None:
                return reason
        return None

    def _why_pool_unlinkable(self, change: Change) -> str | None:
        """Return why a line of the pool could not be read after a change, or None if all of them could be read.

        A line cannot be read if it answers a query that only removed lines create.
        """
        for short_id, line in self.follow_on_lines.pool_line_depending_on_run_by_query.items():
            creating_position = self.follow_on_lines.first_creating_position(short_id, change.removed_places)
            if creating_position >= self.follow_on_lines.position(line):  # or no line is left to create the query
                return f"Query {line.query.full_id} not loaded ({line.file} line {line.number})"
        return None

    def _why_unlinkable(self, query: LinkedQuery, created_query_ids: Container[str] = ()) -> str | None:
        """Return why an added line could not answer a query, or None if it could.

        A follow-on query must be created by an earlier line, or by an added line. `created_query_ids` are the short ids
        of the queries that added lines create.
        """
        if query.parent is None or query.short_id in created_query_ids:
            return None
        file_position, _ = self.follow_on_lines.first_creating_position(query.short_id)
        # Lines are added at the end of a file, so that all other lines of the file are earlier.
        if file_position <= self.position_by_file[self.file_of_added_lines.name]:
            return None
        return f"Query {query.full_id} not loaded"

    def _why_nothing_left(self, change: Change) -> str | None:
        """Return why nothing would be left to score after a change, or None if lines are left or none were removed."""
        run = self._run
        if not change.removed_indexes:
            return None
        is_every_line_removed = len(run.links.responses) == len(change.removed_indexes)
        if is_every_line_removed and not run.gold.links.assessments:  # the scorer needs lines of a run or of a pool
            return "no line would be left"
        if run.gold.options.runids is None and self._is_run_removed(change):
            return f"no line of run {self._run_id} would be left, so that nothing would be scored"
        return None

    def _is_run_removed(self, change: Change) -> bool:
        """Return whether a change removes all lines of the run."""
        lines_by_unit_and_query = self._run.lines_by_run_and_unit.get(self._run_id, {})
        for lines_by_query in lines_by_unit_and_query.values():
            for lines in lines_by_query.values():
                if not all(line.index in change.removed_indexes for line in lines):
                    return False
        return True


def _best_accepted(assessments: Iterable[Assessment], key_of: Callable[[Assessment], str]) -> dict[str, Assessment]:
    """Return for each key the first correct assessment, or else the first inexact one.

    `key_of` returns the key of an assessment: its class, or the follow-on query about its answer.
    """
    best_by_key: dict[str, Assessment] = {}
    for assessment in assessments:
        if not assessment.is_accepted:
            continue
        key = key_of(assessment)
        best = best_by_key.get(key)
        if best is None or (assessment.judgment == CORRECT and best.judgment != CORRECT):
            best_by_key[key] = assessment
    return best_by_key
