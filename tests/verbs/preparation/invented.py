"""Invented inputs for the programs before the scorer, and calls of those programs in a folder.

Other defaults than those of `tests.coldstart.lines`, which has what lines and queries are made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cs_score.base.records import Record, replace
from tests.coldstart import lines
from tests.coldstart.command import Outcome, score_in
from tests.coldstart.handmade import Folder
from tests.coldstart.lines import CHILDREN, SCHOOLS, Line

QUERY: Final = "CSX_ENG_979a86d86f"
OTHER: Final = "CSX_ENG_0123456789"


class AskedQuery(lines.AskedQuery):
    """A slot-filling query with one entry point."""

    id: str = QUERY
    name: str = "Ann"
    docids: tuple[str, ...] = ("ENG_A",)
    has_tags: bool = False


class RunLine(Line):
    """A line of a run; an answer about it stands in another document."""

    docid: str = "ENG_1"
    query: str = QUERY
    run_id: str = "r1"

    def child(self, value: str = "Yale", node: str | None = ":C1", slot: str = SCHOOLS, **changes: str) -> RunLine:
        """A line that answers the query about this answer."""
        below = RunLine(value, "ENG_9", query=self.follow_on, slot=slot, node=node, type="ORG")
        return replace(below, **changes)


class Judged(Record):
    """A line of an assessment file with ten columns."""

    code: str = "C"
    value_class: str = f"{QUERY}:1"
    value_mention: str = "NAM"
    class_mention: str = "NAM"
    value: str = "Bo"
    docid: str = "ENG_1"
    query: str = QUERY
    slot: str = CHILDREN
    span: str = "3-5"
    id: str = "a1"

    def text(self) -> str:
        line = Line(self.value, self.docid, query=self.query, slot=self.slot, span=self.span)
        return line.assessed(self.value_class, self.code, self.value_mention, self.class_mention, self.id)


class Inputs(Folder):
    """A folder with the inputs of a program."""

    def queries(self, *queries: lines.AskedQuery, name: str = "q.xml") -> str:
        """Write a query file; without queries one with the usual query."""
        bodies = "".join(query.xml() for query in queries or (AskedQuery(),))
        return self.write(name, f'<?xml version="1.0" encoding="UTF-8"?>\n<query_set>\n{bodies}</query_set>\n')

    def call(self, *words: str) -> Outcome:
        return score_in(self.folder, words)

    def validate(self, *switches: str, queries: str = "q.xml", run: str = "run.tab") -> Outcome:
        """Validate a run; the validated run goes to standard output."""
        return self.call("validate-run", "-output_file", "stdout", *switches, queries, run)


def written(outcome: Outcome) -> list[list[str]]:
    """Columns of the lines of a validated run on standard output."""
    assert outcome.status == 0, outcome.stderr
    return [line.split("\t") for line in outcome.stdout.decode().splitlines()]


def column(outcome: Outcome, number: int) -> list[str]:
    """One column of a validated run, counted from 0."""
    return [columns[number] for columns in written(outcome)]


def report_lines(outcome: Outcome) -> Sequence[str]:
    """The lines of the report on standard error that are not blank."""
    return [line for line in outcome.stderr.decode().splitlines() if line.strip()]
