"""Invented inputs for the programs before the scorer, and calls of those programs in a folder.

Follow-on ids are hashed by the benchmark's generator, which shares no code with cs-score.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.generate import follow_on_id
from cs_score.base.records import Record, replace
from tests.coldstart.command import Outcome, score_in

CHILDREN: Final = "per:children"
SCHOOLS: Final = "per:schools_attended"
QUERY: Final = "CSX_ENG_979a86d86f"
OTHER: Final = "CSX_ENG_0123456789"


class AskedQuery(Record):
    """A query of a query file, with one entry point unless `body` says otherwise."""

    id: str = QUERY
    slots: tuple[str, ...] = (CHILDREN, SCHOOLS)
    name: str = "Ann"
    docid: str = "ENG_A"
    begin: str = "5"
    end: str = "9"
    enttype: str = "per"
    more: str = ""
    has_tags: bool = False

    def xml(self) -> str:
        point = f"<name>{self.name}</name><docid>{self.docid}</docid><beg>{self.begin}</beg><end>{self.end}</end>"
        if self.has_tags:
            point = f"<mentions><mention>{point}</mention></mentions>"
        slots = "".join(f"<slot{hop}>{slot}</slot{hop}>" for hop, slot in enumerate(self.slots))
        return f'<query id="{self.id}">{point}<enttype>{self.enttype}</enttype>{self.more}{slots}</query>\n'


class RunLine(Record):
    """A line of a run; `node` None gives a line of eight columns."""

    value: str = "Bo"
    docid: str = "ENG_1"
    confidence: str = "0.9"
    node: str | None = ":E1"
    query: str = QUERY
    slot: str = CHILDREN
    run_id: str = "r1"
    span: str = "3-5"
    type: str = "PER"
    relation: str = ""

    def text(self) -> str:
        columns = [self.query, self.slot, self.run_id, self.relation or f"{self.docid}:1-20", self.value, self.type]
        columns += [f"{self.docid}:{self.span}", self.confidence]
        return "\t".join(columns if self.node is None else [*columns, self.node])

    def child(self, **changes: str) -> RunLine:
        """A line that answers the query about this answer."""
        query = follow_on_id(self.query, self.value, f"{self.docid}:{self.span}")
        return replace(RunLine("Yale", "ENG_9", query=query, slot=SCHOOLS, node=":C1", type="ORG"), **changes)


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
        spans = f"{self.docid}:1-20", self.value, f"{self.docid}:{self.span}"
        first = (self.id, f"{self.query}:{self.slot}", *spans, self.code)
        return "\t".join((*first, self.value_mention, "C", self.value_class, self.class_mention))


class Inputs:
    """A folder with the inputs of a program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_bytes(text.encode())
        return name

    def queries(self, *queries: AskedQuery, name: str = "q.xml") -> str:
        """Write a query file; without queries one with the usual query."""
        bodies = "".join(query.xml() for query in queries or (AskedQuery(),))
        return self.write(name, f'<?xml version="1.0" encoding="UTF-8"?>\n<query_set>\n{bodies}</query_set>\n')

    def lines(self, *lines: RunLine | Judged, name: str = "run.tab") -> str:
        """Write a run or an assessment file."""
        return self.write(name, "".join(f"{line.text()}\n" for line in lines))

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
