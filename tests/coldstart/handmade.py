"""Small evaluations made by hand: lines with everything but the telling column filled in, and outputs taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from cs_score.base.records import Record
from tests.coldstart.command import Outcome, score_in
from tests.coldstart.lines import Line, Q, query_xml
from tests.coldstart.worlds import AnalysedRun, Row, score


class Block(NamedTuple):
    """A response of the debug file: the row it stands under, and the texts after its headings."""

    row: str
    node: str
    submission: str
    assessment: str
    before: str
    after: str


class Ranked(Record):
    """A node of a ranking in the debug file, by query, level and name."""

    query: str
    level: str
    node: str
    confidence: str
    mapped: str
    value: str


class Written(Protocol):
    """What stands in a file as a line."""

    def text(self) -> str: ...


class Folder(Record):
    """A folder with the inputs of a program."""

    folder: Path

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_bytes(text.encode())
        return name

    def lines(self, *lines: str | Written, name: str = "run.tab") -> str:
        """Write a run or assessments."""
        texts = (line if isinstance(line, str) else line.text() for line in lines)
        return self.write(name, "".join(f"{text}\n" for text in texts))


class Inputs(Folder):
    """The files of an evaluation. What is there of pool and run is scored, in this order, unless files are named."""

    def _written(self) -> list[str]:
        return [name for name in ("pool.tab", "run.tab") if (self.folder / name).exists()]

    def queries(self, *queries: str) -> None:
        self.lines("<query_set>", *(queries or (query_xml(),)), "</query_set>", name="queries.xml")

    def pool(self, *lines: str) -> None:
        self.lines(*lines, name="pool.tab")

    def run(self, *lines: str | Line, name: str = "run.tab") -> None:
        self.lines(*lines, name=name)

    def score(self, *switches: str, files: tuple[str, ...] = (), status: int = 0) -> AnalysedRun:
        """Score with all outputs in files, which must be there."""
        names = ("queries.xml", *(files or self._written()))
        return score(self.folder, names, "-expand", "CSX", *switches, status=status)

    def call(self, *switches: str, files: tuple[str, ...] = ()) -> Outcome:
        """Score with the outputs in files and the report on standard error."""
        words = ("-expand", "CSX", "-output_file", "call", *switches, "queries.xml", *(files or self._written()))
        return score_in(self.folder, words)

    def refusal(self, *switches: str, files: tuple[str, ...] = ()) -> str:
        """The line that ends a scoring with status 255; problems met before may stand above it."""
        outcome = self.call(*switches, files=files)
        assert outcome.status == 255
        said = (outcome.stdout + outcome.stderr).decode()
        assert "Traceback" not in said
        return said.splitlines()[-1]


def report(scored: AnalysedRun) -> str:
    return scored.outcome.files["out.errlog"].decode()


def row(scored: AnalysedRun, name: str, level: str | None = None) -> Row:
    """The one row of this name (and level) in the SF table."""
    (found,) = (row for row in scored.named(name) if level in (None, row.level))
    return found


def blocks(scored: AnalysedRun) -> list[Block]:
    """Part 1 of the debug file."""
    part = scored.outcome.files["out.debug"].decode().partition("AP COMPUTATION")[0]
    return [block for section in part.split("=" * 80 + "\n")[1:] for block in _blocks_of(section)]


def _blocks_of(section: str) -> Iterator[Block]:
    name, _, rest = section.partition("\n")
    for text in rest.split("." * 80 + "\n")[:-1]:
        cells = dict(re.findall(r"^\t([A-Z ]+):\t(.*)$", text, re.MULTILINE))
        headings = ("FQNODEID", "SUBMISSION", "ASSESSMENT", "PREPOLICY ASSESSMENT", "POSTPOLICY ASSESSMENT")
        yield Block(name, *(cells[heading] for heading in headings))


def labels(scored: AnalysedRun) -> list[str]:
    """The categories after the policies, in the order of the debug file."""
    return [block.after for block in blocks(scored)]


def ranking(scored: AnalysedRun, level: str = "0") -> list[Ranked]:
    """The ranked nodes of one level, query by query, of part 2 of the debug file."""
    part = scored.outcome.files["out.debug"].decode().partition("AP COMPUTATION")[2]
    found = []
    for section in part.split("=" * 80 + "\n"):
        if not section.startswith("QUERY_ID"):
            continue  # responses of the next run
        query, of_level = (re.findall(rf"^{name}: +(.*)$", section, re.MULTILINE)[0] for name in ("QUERY_ID", "LEVEL"))
        for line in section.partition("MAPPED_EC V\n")[2].split("\n"):
            cells = line.split(" ")
            if of_level == level and len(cells) == 5 and cells[0].isdigit():
                found.append(Ranked(query, of_level, *cells[1:]))
    return found


def average_precision(scored: AnalysedRun, level: str = "0", name: str = Q) -> float:
    return scored.average_precision["SF", name, level]
