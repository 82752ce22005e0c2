"""Collect all lines of the files of a run in order, for changes to the files and for explanations of their lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TypeAlias

from cs_score.base.display import one_line
from cs_score.base.records import Record
from cs_score.coldstart.file_columns import FileKind, Schema, detect_schema
from cs_score.coldstart.gold import Run
from cs_score.coldstart.lines import Response, SkippedLine
from cs_score.coldstart.tab_files import UnreadLine, is_blank_or_comment, split_columns

LinkedLine: TypeAlias = Response | SkippedLine
"""A line that was linked to its query: a response, or a skipped line that has created a follow-on query."""

AnyLine: TypeAlias = Response | SkippedLine | UnreadLine

LinePlace: TypeAlias = tuple[str, int]
"""The name of a line's file, and its number in the file."""


class RunFile(Record):
    """A file of a run with all its lines in order, read or not.

    `ends` has, for each time that the file was loaded, the number of responses that all files had given by then. If it
    was loaded several times, `responses_by_repeated_line` has the several responses of a line by its number.
    `copies_by_text` has the numbers of the lines that repeat an earlier line and are not read (rule lines).
    """

    name: str
    schema: Schema
    lines: Sequence[AnyLine]
    ends: Sequence[int]
    responses_by_repeated_line: Mapping[int, Sequence[Response]]
    copies_by_text: Mapping[str, Sequence[int]]

    @property
    def last_number(self) -> int:
        """The number of the last line; 0 for a file without lines."""
        return self.lines[-1].number if self.lines else 0

    def why_unreadable(self, removed_places: Container[LinePlace], added_texts: Sequence[str]) -> str | None:
        """Return why the file could not be read after some lines were removed and others added; None if it could.

        The layout of a file depends on its first line that is neither blank nor a comment, so that removing that line
        may make the file unreadable. An empty file is no obstacle, since the scorer ignores it.
        """
        layout_line = self._layout_line()
        if layout_line is None or (self.name, layout_line.number) not in removed_places:
            return None
        is_empty = True
        for text in self._texts_after_change(removed_places, added_texts):
            is_empty = False
            if not is_blank_or_comment(text):
                return self._why_other_layout(text)
        return None if is_empty else f"only blank lines and comments would be left of {self.name}"

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
        """Return that the file would get another layout if it began with this text; None if it would keep its own."""
        schema = detect_schema(split_columns(first_text))
        if schema is self.schema:
            return None
        layout = "no layout" if schema is None else f"another layout ({schema.name})"
        return f"the first line that would be left of {self.name} has {layout}: {one_line(first_text)}"


def files_of_run(run: Run) -> dict[str, RunFile]:
    """Return the run files by name, in load order, each with the lines of all runs in it."""
    responses_by_file, repeated_by_file = _responses_of_files(run.links.responses)
    ends_by_file = _ends_of_files(run.links.responses)
    other_lines_by_file: dict[str, list[AnyLine]] = defaultdict(list)
    for skipped in run.links.skipped_lines:
        other_lines_by_file[skipped.file].append(skipped)
    copies_by_file: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for unread in run.links.unread_lines:
        other_lines_by_file[unread.file].append(unread)
        copies_by_file[unread.file][unread.text].append(unread.number)
    files: dict[str, RunFile] = {}
    for name, schema in run.layouts.items():
        if schema.kind is not FileKind.RUN:
            continue
        lines: list[AnyLine] = list(responses_by_file[name].values())
        lines += other_lines_by_file[name]
        files[name] = RunFile(
            name=name,
            schema=schema,
            lines=sorted(lines, key=attrgetter("number")),
            ends=ends_by_file[name],
            responses_by_repeated_line=repeated_by_file[name],
            copies_by_text=copies_by_file[name],
        )
    return files


def _responses_of_files(
    responses: Iterable[Response],
) -> tuple[dict[str, dict[int, Response]], dict[str, dict[int, list[Response]]]]:
    """Return the responses of each file by line number, and the responses of lines that were loaded several times.

    A line is loaded again if its file is loaded again. The first dictionary has the first response of every line; the
    second one has all responses of the lines that have several.
    """
    first_by_file: dict[str, dict[int, Response]] = defaultdict(dict)
    repeated_by_file: dict[str, dict[int, list[Response]]] = defaultdict(dict)
    for response in responses:
        first = first_by_file[response.file].setdefault(response.number, response)
        if first is not response:
            repeated_by_file[response.file].setdefault(response.number, [first]).append(response)
    return first_by_file, repeated_by_file


def _ends_of_files(responses: Sequence[Response]) -> dict[str, list[int]]:
    """Return for each file, and each time that it was loaded, how many responses of all files were loaded by then."""
    ends_by_file: dict[str, list[int]] = defaultdict(list)
    file_name = ""
    last_number = 0
    for response in responses:
        is_next_load = response.file != file_name or response.number <= last_number  # numbers rise within a file
        if file_name and is_next_load:
            ends_by_file[file_name].append(response.index)
        file_name = response.file
        last_number = response.number
    ends_by_file[file_name].append(len(responses))
    return ends_by_file
