"""Find the lines, queries, classes, nodes and answers of a run that the selectors of `explain` name, such as `--line
run.tab:7` or `--class CS17_ENG_0001:2`. If there is nothing of a name, an InputError suggests the nearest names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from os.path import basename
from typing import NamedTuple

from cs_score.analysis.coldstart.run_files import AnyLine, RunFile
from cs_score.base.errors import InputError, UsageError, did_you_mean
from cs_score.coldstart.lines import LinkedQuery, Response, link_follow_on
from cs_score.coldstart.queries import Query, parse_query_id
from cs_score.verbs.explain.run_explanation.indexed_run import IndexedRun

_LONGEST_TO_COMPARE = 200
"""The most characters of an answer for which the nearest answers are searched."""


class ClassOfQuery(NamedTuple):
    """A class by its name, and the short id of its query."""

    name: str
    base_id: str


class Selectors:
    """Finds what selectors name in a run. Every method raises InputError if there is nothing of that name."""

    def __init__(self, indexed_run: IndexedRun) -> None:
        """Prepare to find lines, queries, classes, nodes and answers in a scored run."""
        self._indexed_run = indexed_run
        self._links = indexed_run.run.links
        self._query_by_id = indexed_run.run.gold.query_set.by_id
        self._why_stopped = None if indexed_run.fatal_error is None else f"scoring stopped: {indexed_run.fatal_error}"

    # -- Lines

    def lines_at(self, selector: str) -> Sequence[AnyLine]:
        """Return the lines named by a selector, such as `run.tab:12`.

        A selector without a file, such as `12`, selects the line with this number in each file. Raises UsageError if
        the selector has no number, and InputError if there is no such line.
        """
        file_name, _, number = selector.rpartition(":")
        # A line number never has 12 digits, and int() refuses numbers with thousands of digits.
        is_number_of_line = number.isascii() and number.isdecimal() and len(number) < 12
        if not is_number_of_line:
            raise UsageError(f"--line {selector}: the number of a line is needed, 12 or FILE:12")
        files = self._files_called(file_name)
        lines: list[AnyLine] = []
        for file in files:
            lines += [line for line in file.lines if line.number == int(number)]
        if not lines:
            self._refuse_pool(file_name)  # gives a clearer message than "no such run file"
            raise self._no_such_line_error(selector, file_name, files)
        return lines

    def _files_called(self, name: str) -> list[RunFile]:
        """Return the run files whose path or file name is `name`, or all run files if the name is empty."""
        files_by_name = self._indexed_run.files
        if not name:
            return list(files_by_name.values())
        if name in files_by_name:
            return [files_by_name[name]]
        return [file for file in files_by_name.values() if basename(file.name) == name]

    def _refuse_pool(self, name: str) -> None:
        """Raise InputError if only a pool file has this name, because the lines of the pool cannot be explained."""
        if self._files_called(name):
            return
        input_files = self._indexed_run.run.layouts  # the names of all files that were loaded, with their layouts
        for file in input_files:
            if name in (file, basename(file)):
                raise InputError(f"{file} is a pool, not a run", remedy="ask for a class of it with --class")

    def _no_such_line_error(self, selector: str, file_name: str, files: Sequence[RunFile]) -> InputError:
        """Return the error for a line that does not exist.

        `files` are the run files that match the `file_name` of the selector. The remedy lists the line numbers of these
        files, or those of all run files if no file matches.
        """
        problem = f"there is no line {selector} to explain"
        if not files:
            problem = self._no_such_file_text(file_name)
        if self._indexed_run.fatal_error:
            return InputError(problem, remedy=f"reading stopped: {self._indexed_run.fatal_error}")
        possible_files = files or self._indexed_run.files.values()
        ranges = [f"{file.name} has lines 1 to {file.last_number}" for file in possible_files]
        return InputError(problem, remedy=", ".join(ranges) or "no run was loaded")

    def _no_such_file_text(self, name: str) -> str:
        """Return the sentence that there is no run file with a name, or no run at all if the name is empty."""
        if not name:
            return "there is no run"
        paths = list(self._indexed_run.files)
        names = paths + [basename(path) for path in paths]
        return f"there is no run file {name}{did_you_mean(name, names)}"

    # -- Queries

    def queries_of(self, text: str) -> Sequence[LinkedQuery]:
        """Return the queries that a text names, either by their full id or by a short id without the prefix.

        For an LDC query, the queries of all its entry points are returned. For a follow-on query, only the query itself
        is.
        """
        parts = parse_query_id(text)
        short_id = "" if parts is None else parts.short_id  # no query has an empty id
        queries = self._queries_with_id(short_id)
        # A text with another prefix has the same short id, but does not name the query.
        if not queries or text not in (short_id, self._full_id_of(short_id)):
            raise self._nothing_called_error("query", text, self._ids_of_all_queries())
        return queries

    def _queries_with_id(self, short_id: str) -> list[LinkedQuery]:
        """Return the queries with a short id: a query of a query file, otherwise a follow-on query, otherwise no query.

        For the id of an LDC query, the queries of all its entry points are returned.
        """
        query = self._query_by_id.get(short_id)
        if query is None:
            follow_on = self._follow_on_with_id(short_id)
            return [] if follow_on is None else [follow_on]
        # An LDC query has been expanded into one query for each of its entry points.
        base_ids = query.expansion_ids or (short_id,)
        return [self._links.linked_query_of(self._query_by_id[base_id]) for base_id in base_ids]

    def _full_id_of(self, short_id: str) -> str:
        """Return the full id of the query with a short id: `00fb79cef8` -> `CSSF17_ENG_00fb79cef8`.

        Return an empty text if there is no such query.
        """
        if short_id in self._query_by_id:
            return self._query_by_id[short_id].full_id
        follow_on = self._follow_on_with_id(short_id)
        return "" if follow_on is None else follow_on.full_id

    def _ids_of_all_queries(self) -> list[str]:
        """Return the full ids of the queries of the query files and of the follow-on queries that lines answer."""
        ids = [query.full_id for query in self._query_by_id.values()]
        return [*ids, *self._links.queries]

    def _follow_on_with_id(self, short_id: str) -> LinkedQuery | None:
        """Return the follow-on query with a short id, or None if no line of the run or the pool has created it."""
        follow_on = self._links.find_follow_on(short_id)
        if follow_on is None or follow_on.query is None:
            return None
        return link_follow_on(follow_on.query, short_id)

    # -- Classes

    def classes_of(self, text: str) -> Sequence[ClassOfQuery]:
        """Return the class with a name, `QUERY:1` or `QUERY:1:2`; for an LDC query one class of each entry point."""
        query_id, colon, components = text.partition(":")
        query = self._query_called(query_id)
        classes: list[ClassOfQuery] = []
        if query is not None and colon:
            classes = self._existing_classes(query, components)
        if not classes:
            raise self._nothing_called_error("class", text, self._accepted_classes())
        return classes

    def _existing_classes(self, query: Query, components: str) -> list[ClassOfQuery]:
        """Return the class of a query with the components `1` or `1:2`; for an LDC query one of each entry point."""
        classes: list[ClassOfQuery] = []
        for base_id in query.expansion_ids or (query.short_id,):
            name = f"{self._query_by_id[base_id].full_id}:{components}"
            if self._is_class(name, base_id):
                classes.append(ClassOfQuery(name, base_id))
        return classes

    def _accepted_classes(self) -> list[str]:
        """Return the names of all classes that have an accepted answer in the pool."""
        names: dict[str, None] = {}  # its keys are an ordered set
        for assessments in self._indexed_run.run.gold.assessments_by_query.values():
            for assessment in assessments:
                if assessment.is_accepted:
                    names[assessment.value_class] = None
        return list(names)

    def _query_called(self, query_id: str) -> Query | None:
        """Return the query of the query files with this full or short id, or None if there is none."""
        for query in self._query_by_id.values():
            if query_id in (query.full_id, query.short_id):
                return query
        return None

    def _is_class(self, name: str, base_id: str) -> bool:
        """Return whether the pool or a line of the run has a class; `base_id` is the short id of its query."""
        assessments = self._indexed_run.run.gold.assessments_by_query.get(base_id, ())
        if any(assessment.value_class == name for assessment in assessments):
            return True
        placement = self._indexed_run.query(base_id).placement
        return placement is not None and name in placement.tree.parent_by_class

    # -- Nodes and answers

    def nodes_of(self, text: str) -> Sequence[str]:
        """Return the full ids of the nodes that a text names: the text itself, or all ids that end with its component.

        The text is either a full id such as `CS17_ENG_0001:E1`, or an id as written in the lines of a run, such as
        `:E1` or `E1`.
        """
        node_names = self._nodes_of_run()
        if text in node_names:
            return [text]
        nodes = [name for name in node_names if _last_component(name) == text.removeprefix(":")]
        if not nodes:
            possible_ids = node_names + [_last_component(name) for name in node_names]
            remedy = "" if node_names else "the run has no node ids (eight columns)"
            raise self._nothing_called_error("node", text, possible_ids, remedy)
        return nodes

    def _nodes_of_run(self) -> list[str]:
        """Return the full ids of the nodes that have lines of the run, such as `CS17_ENG_0001:E1`."""
        node_names: list[str] = []
        for name, lines in self._links.lines_by_node.items():
            if any(self._indexed_run.is_of_run(line) for line in lines):
                node_names.append(name)
        return node_names

    def lines_with_answer(self, text: str) -> Sequence[Response]:
        """Return the lines whose answer matches a text, in which `*` means any text: `New*` matches `New York`."""
        lines_of_run = [line for line in self._links.responses if self._indexed_run.is_of_run(line)]
        lines = [line for line in lines_of_run if matches_pattern(line.value, text)]
        if lines:
            return lines
        advice = ""  # none for a long text: to compare it with all values would take too long
        if len(text) < _LONGEST_TO_COMPARE:
            advice = did_you_mean(text, dict.fromkeys([line.value for line in lines_of_run]))
        raise InputError(f"no line of the run gives the answer {text}{advice}", remedy=self._remedy_for_answer(text))

    def _remedy_for_answer(self, text: str) -> str | None:
        """Return a hint to explain the class of an answer instead, if the answer is in the pool but not in the run.

        For any other answer, return the reason why scoring stopped, or None if it did not stop.
        """
        for assessment in self._indexed_run.run.gold.links.assessments:
            if assessment.is_accepted and matches_pattern(assessment.value, text):
                return f"the pool has it in class {assessment.value_class}; ask for that with --class"
        return self._why_stopped

    def _nothing_called_error(self, kind: str, text: str, known_names: Iterable[str], remedy: str = "") -> InputError:
        """Return the error that there is no `kind` (query, class, node) called `text`, with the nearest known names."""
        message = f"there is no {kind} {text}{did_you_mean(text, known_names)}"
        return InputError(message, remedy=remedy or self._why_stopped)


def _last_component(node_name: str) -> str:
    """Return the last component of a full node id: `CS17_ENG_0001:E1` -> `E1`."""
    return node_name.rpartition(":")[2]


def matches_pattern(value: str, pattern: str) -> bool:
    """Return whether a value matches a pattern in which `*` means any text: `J*Smith` matches `John Smith`.

    The pieces between the stars are searched from left to right, each after the one before. The groups of the regular
    expression are atomic, so that it never goes back and takes little time for any pattern.
    """
    if "*" not in pattern:
        return value == pattern
    first, *middle_pieces, last = [re.escape(piece) for piece in pattern.split("*")]
    expression = first
    for piece in middle_pieces:
        expression += f"(?>.*?{piece})"
    expression += f".*{last}"
    return re.fullmatch(expression, value, re.DOTALL) is not None
