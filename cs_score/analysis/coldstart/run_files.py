"""Collect all lines of the files of a run in order, for changes to the files and for explanations of their lines. A
line that answers a query is a response; other lines were skipped (they only create a query) or not read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from cs_score.base.display import one_line
from cs_score.base.records import Record
from cs_score.coldstart.file_columns import FileKind, Schema, detect_schema
from cs_score.coldstart.gold import Run
from cs_score.coldstart.lines import Links, Response, SkippedLine
from cs_score.coldstart.tab_files import UnreadLine, is_blank_or_comment, split_columns

LinkedLine: TypeAlias = Response | SkippedLine
"""A line that was linked to its query: a response, or a skipped line that has created a follow-on query."""

AnyLine: TypeAlias = Response | SkippedLine | UnreadLine

LinePlace: TypeAlias = tuple[str, int]
"""The name of a line's file, and its number in the file."""


class RunFile(Record):
    """A file of a run with all its lines in order, whether they were read or not.

    `loaded_line_counts` has, for each time that the file was loaded, the number of responses that all files had given
    by then. If the file was loaded several times, `repeated_responses_by_number` has all responses of a line by its
    number. `copy_numbers_by_text` has the numbers of the lines that repeat an earlier line and are not read (rule
    lines).
    """

    name: str
    schema: Schema
    lines: Sequence[AnyLine]
    loaded_line_counts: Sequence[int]
    repeated_responses_by_number: Mapping[int, Sequence[Response]]
    copy_numbers_by_text: Mapping[str, Sequence[int]]

    @property
    def last_number(self) -> int:
        """The number of the last line; 0 for a file without lines."""
        return self.lines[-1].number if self.lines else 0

    def why_unreadable(self, removed_places: Container[LinePlace], added_texts: Sequence[str]) -> str | None:
        """Return why the file could not be read after lines were removed and added, or None if it could be read.

        The layout of a file depends on its first line that is neither blank nor a comment. Removing this line may make
        the file unreadable, unless the whole file becomes empty: the scorer ignores empty files.
        """
        layout_line = self._layout_line()
        if layout_line is None or (self.name, layout_line.number) not in removed_places:
            return None
        has_lines = False
        for text in self._texts_after_change(removed_places, added_texts):
            if not is_blank_or_comment(text):
                return self._why_other_layout(text)  # this line would determine the layout
            has_lines = True
        return f"only blank lines and comments would be left of {self.name}" if has_lines else None

    def _layout_line(self) -> AnyLine | None:
        """Return the line from which the layout is detected: the first one that is neither blank nor a comment."""
        for line in self.lines:
            if not is_blank_or_comment(line.text):
                return line
        return None

    def _texts_after_change(self, removed_places: Container[LinePlace], added_texts: Sequence[str]) -> Iterator[str]:
        """Yield the text of each line that the file would have after a change."""
        for line in self.lines:
            if (self.name, line.number) not in removed_places:
                yield line.text
        yield from added_texts

    def _why_other_layout(self, first_text: str) -> str | None:
        """Return a message if the file would have another layout with this text as its first line.

        The result is None if the layout stays the same.
        """
        schema = detect_schema(split_columns(first_text))
        if schema is self.schema:
            return None
        layout = "no layout" if schema is None else f"another layout ({schema.name})"
        return f"the first line that would be left of {self.name} has {layout}: {one_line(first_text)}"


def files_of_run(run: Run) -> dict[str, RunFile]:
    """Return the run files by name, in load order, each with the lines of all runs in it."""
    lines = _LinesByFile(run.links)
    schemas = {name: schema for name, schema in run.layouts.items() if schema.kind is FileKind.RUN}
    return {name: lines.run_file(name, schema) for name, schema in schemas.items()}


class _LinesByFile:
    """The lines of a run by the name of their file, from which the run files are made."""

    def __init__(self, links: Links) -> None:
        """Divide the responses, the skipped lines and the unread lines of a run among their files."""
        self._responses = _responses_of_files(links.responses)
        self._loaded_line_counts_by_file = _loaded_line_counts_by_file(links.responses)
        # Lines without a response: skipped lines, which only create a query, and unread lines, such as repeated lines.
        self._unscored_lines_by_file = _unscored_lines_of_files(links)
        self._unread_numbers_by_file_and_text = _unread_numbers_by_file_and_text(links.unread_lines)

    def run_file(self, name: str, schema: Schema) -> RunFile:
        """Return the file with this name and layout, with all its lines sorted by their numbers."""
        lines: list[AnyLine] = list(self._responses.first_by_file[name].values())
        lines += self._unscored_lines_by_file[name]
        return RunFile(
            name=name,
            schema=schema,
            lines=sorted(lines, key=attrgetter("number")),
            loaded_line_counts=self._loaded_line_counts_by_file[name],
            repeated_responses_by_number=self._responses.repeated_by_file[name],
            # Copies of a line are unread, and have its text.
            copy_numbers_by_text=self._unread_numbers_by_file_and_text[name],
        )


def _unscored_lines_of_files(links: Links) -> dict[str, list[SkippedLine | UnreadLine]]:
    """Return the lines of each file that gave no response, since they were skipped or not read, by the file's name."""
    lines_by_file: dict[str, list[SkippedLine | UnreadLine]] = defaultdict(list)
    lines: list[SkippedLine | UnreadLine] = [*links.skipped_lines, *links.unread_lines]
    for line in lines:
        lines_by_file[line.file].append(line)
    return lines_by_file


def _unread_numbers_by_file_and_text(unread_lines: Iterable[UnreadLine]) -> dict[str, dict[str, list[int]]]:
    """Return the numbers of unread lines by the name of their file and by their text.

    The unread lines include lines that repeat another line of their file; they have the same text as this line.
    """
    numbers_by_file: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for line in unread_lines:
        numbers_by_file[line.file][line.text].append(line.number)
    return numbers_by_file


class _FileResponses(NamedTuple):
    """The responses of each file by the name of the file and by line number.

    A line is loaded again if its file is loaded again. `first_by_file` has the first response of every line, and
    `repeated_by_file` all responses of the lines that have several.
    """

    first_by_file: dict[str, dict[int, Response]]
    repeated_by_file: dict[str, dict[int, list[Response]]]


def _responses_of_files(responses: Iterable[Response]) -> _FileResponses:
    """Return the responses of each file by line number, and the responses of lines that were loaded several times."""
    first_by_file: dict[str, dict[int, Response]] = defaultdict(dict)
    repeated_by_file: dict[str, dict[int, list[Response]]] = defaultdict(dict)
    for response in responses:
        first_response = first_by_file[response.file].setdefault(response.number, response)
        if first_response is response:
            continue
        responses_of_line = repeated_by_file[response.file].setdefault(response.number, [first_response])
        responses_of_line.append(response)
    return _FileResponses(first_by_file, repeated_by_file)


def _loaded_line_counts_by_file(responses: Sequence[Response]) -> dict[str, list[int]]:
    """Return the number of responses that had been loaded after each file, by the name of the file.

    If `a.tab` with three responses is loaded before `b.tab` with two, the result is `{"a.tab": [3], "b.tab": [5]}`. A
    file that is loaded several times has one number for each time.
    """
    loaded_line_counts: dict[str, list[int]] = defaultdict(list)
    for response, next_response in pairwise(responses):
        # Line numbers rise within a file, unless it is loaded again.
        is_last_of_file = next_response.file != response.file or next_response.number <= response.number
        if is_last_of_file:
            loaded_line_count = next_response.index  # indexes count the responses of all files from 0
            loaded_line_counts[response.file].append(loaded_line_count)
    if responses:
        loaded_line_counts[responses[-1].file].append(len(responses))
    return loaded_line_counts
