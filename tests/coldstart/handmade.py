"""Small evaluations made by hand: lines with everything but the telling column filled in, and outputs taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from cs_score.base.records import Record, replace
from cs_score.coldstart.queries import follow_on_id, slot_filling_id
from tests.coldstart.command import Outcome, score_in
from tests.coldstart.worlds import Row, Scored, score

CHILDREN: Final = "per:children"
SCHOOLS: Final = "per:schools_attended"
BIRTHPLACE: Final = "per:city_of_birth"
AGE: Final = "per:age"
"""The last two take one value, the first two a list."""

LISTS: Final = (CHILDREN, SCHOOLS)
Q: Final = "CSX_ENG_00fb79cef8"
"""The query of entry point N_ENG_Q, 5 to 9, with the slots `LISTS`."""


def sf_query(slots: tuple[str, ...] = LISTS, docid: str = "N_ENG_Q", language: str = "ENG") -> str:
    """Full id of the query that `-expand CSX` makes of an entry point at characters 5 to 9."""
    return f"CSX_{language}_{slot_filling_id(docid, '5', '9', slots)}"


class Line(Record):
    """A run line; its answer stands at characters 3 to 5 of `document`. Without node it has eight columns."""

    value: str = "Bo"
    document: str = "N_ENG_1"
    node: str | None = ":E1"
    confidence: str = "0.9"
    query: str = Q
    slot: str = CHILDREN
    run_id: str = "runA"
    relation: str = ""
    span: str = ""

    @property
    def _places(self) -> tuple[str, str]:
        return self.relation or f"{self.document}:1-20", self.span or f"{self.document}:3-5"

    @property
    def follow_on(self) -> str:
        """Full id of the query that the answer makes."""
        return f"{self.query}_{follow_on_id(self.query, self.value, self._places[1])}"

    def child(self, value: str = "Sch", node: str | None = ":C1", slot: str = SCHOOLS) -> Line:
        """An answer about this one, in the same document."""
        return replace(self, value=value, query=self.follow_on, slot=slot, node=node, relation="", span="")

    def text(self) -> str:
        relation, span = self._places
        columns = [self.query, self.slot, self.run_id, relation, self.value, "PER", span, self.confidence]
        return "\t".join([*columns, *([] if self.node is None else [self.node])])

    def judged(self, ec: str = "0", code: str = "", mention: str = "NAM", ec_mention: str = "NAM") -> str:
        """An assessment of this answer; `ec` without the query's id. Correct if it has a class, else wrong."""
        relation, span = self._places
        name = "0" if ec == "0" else f"{_base(self.query)}:{ec}"
        code = code or ("W" if ec == "0" else "C")
        ec_mention = "0" if ec == "0" else ec_mention
        answer = (f"{self.query}:{self.slot}", relation, self.value, span)
        return "\t".join(("a1", *answer, code, mention, "C", name, ec_mention))


def _base(query: str) -> str:
    return "_".join(query.split("_")[:3])


def query_xml(number: int = 1, slots: tuple[str, ...] = LISTS, docids: tuple[str, ...] = ("N_ENG_Q",)) -> str:
    """An LDC query whose entry points stand at characters 5 to 9 of their documents."""
    mentions = "".join(f"<mention><docid>{d}</docid><beg>5</beg><end>9</end></mention>" for d in docids)
    tags = "".join(f"<slot{hop}>{slot}</slot{hop}>" for hop, slot in enumerate(slots))
    return f'<query id="CSX_{number:04d}"><mentions>{mentions}</mentions><enttype>per</enttype>{tags}</query>'


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


class Inputs(Record):
    """The files of an evaluation. What is there of pool and run is scored, in this order, unless files are named."""

    folder: Path

    def _written(self) -> list[str]:
        return [name for name in ("pool.tab", "run.tab") if (self.folder / name).exists()]

    def write(self, name: str, *lines: str | Line) -> None:
        texts = [line if isinstance(line, str) else line.text() for line in lines]
        (self.folder / name).write_bytes("".join(f"{text}\n" for text in texts).encode())

    def queries(self, *queries: str) -> None:
        self.write("queries.xml", "<query_set>", *(queries or (query_xml(),)), "</query_set>")

    def pool(self, *lines: str) -> None:
        self.write("pool.tab", *lines)

    def run(self, *lines: str | Line, name: str = "run.tab") -> None:
        self.write(name, *lines)

    def score(self, *switches: str, files: tuple[str, ...] = (), status: int = 0) -> Scored:
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


def report(scored: Scored) -> str:
    return scored.outcome.files["out.errlog"].decode()


def row(scored: Scored, name: str, level: str | None = None) -> Row:
    """The one row of this name (and level) in the SF table."""
    (found,) = (row for row in scored.named(name) if level in (None, row.level))
    return found


def blocks(scored: Scored) -> list[Block]:
    """Part 1 of the debug file."""
    part = scored.outcome.files["out.debug"].decode().partition("AP COMPUTATION")[0]
    return [block for section in part.split("=" * 80 + "\n")[1:] for block in _blocks_of(section)]


def _blocks_of(section: str) -> Iterator[Block]:
    name, _, rest = section.partition("\n")
    for text in rest.split("." * 80 + "\n")[:-1]:
        cells = dict(re.findall(r"^\t([A-Z ]+):\t(.*)$", text, re.MULTILINE))
        headings = ("FQNODEID", "SUBMISSION", "ASSESSMENT", "PREPOLICY ASSESSMENT", "POSTPOLICY ASSESSMENT")
        yield Block(name, *(cells[heading] for heading in headings))


def labels(scored: Scored) -> list[str]:
    """The categories after the policies, in the order of the debug file."""
    return [block.after for block in blocks(scored)]


def ranking(scored: Scored, level: str = "0") -> list[Ranked]:
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


def average_precision(scored: Scored, level: str = "0", name: str = Q) -> float:
    return scored.average_precision["SF", name, level]
