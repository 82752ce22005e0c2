"""Small invented evaluations as hypothesis draws them, written to files, and the tables of a score read back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from hypothesis import strategies as st

from cs_score.base.records import Record, replace
from tests.coldstart.command import Outcome, score_in
from tests.coldstart.lines import AskedQuery, Line, name_hash

BASE: Final = "LAW"
RUN_ID: Final = "runA"


class Slot(NamedTuple):
    """A slot name and whether it takes one value."""

    name: str
    single: bool = False


FIRST_SLOTS: Final = (Slot("per:children"), Slot("per:city_of_birth", single=True))
SECOND_SLOTS: Final = (Slot("per:schools_attended"), Slot("per:age", single=True))


class Query(Record):
    """An LDC query: its id, its slots, and the document of each entry point."""

    ldc: str
    slots: tuple[Slot, ...]
    docids: tuple[str, ...]

    def sf_queries(self) -> list[str]:
        """Full ids of the SF queries that `-expand` makes, in entry-point order."""
        slots = ":".join(slot.name for slot in self.slots)
        return [f"{BASE}_{d[:3]}_{name_hash(f'{d}:5:9:{slots}', 10)}" for d in self.docids]

    def xml(self) -> str:
        return AskedQuery(self.ldc, tuple(slot.name for slot in self.slots), "N", self.docids).xml()


class Answer(Record):
    """A filler for the query with this full id, with its place in one document."""

    query: str
    slot: str
    value: str
    docid: str

    def line(self, confidence: str = "", node: str = "") -> Line:
        spans = {"span": "30-40", "relation": f"{self.docid}:20-90"}
        return Line(self.value, self.docid, confidence, node, self.query, self.slot, RUN_ID, **spans)

    def follow_on(self) -> str:
        """Full id of the query that this answer makes."""
        return self.line().follow_on


class Assessment(Record):
    """An assessed answer; `ec` is "0" unless `code` is C or X."""

    answer: Answer
    code: str
    ec: str
    mention: str = "NAM"
    ec_mention: str = "NAM"

    def line(self) -> str:
        ec_mention = self.ec_mention if self.ec != "0" else "0"
        return self.answer.line().assessed(self.ec, self.code, self.mention, ec_mention, f"a_{self.answer.docid}")


class Response(Record):
    """A submitted answer."""

    answer: Answer
    confidence: str
    node: str

    def line(self) -> str:
        return self.answer.line(self.confidence, self.node).text()


class World(Record):
    """Queries, pool and run; parents stand before children in both."""

    queries: tuple[Query, ...]
    pool: tuple[Assessment, ...]
    run: tuple[Response, ...]

    def query_xml(self) -> str:
        queries = "".join(query.xml() for query in self.queries)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<query_set>\n{queries}</query_set>\n'

    def pool_text(self) -> str:
        return "".join(f"{assessment.line()}\n" for assessment in self.pool)

    def run_text(self) -> str:
        return "".join(f"{response.line()}\n" for response in self.run)

    def adding(self, *responses: Response) -> World:
        return replace(self, run=(*self.run, *responses))

    def write(self, folder: Path) -> list[str]:
        """Write the three files into `folder`; their names, in the conventional order."""
        texts = {"queries.xml": self.query_xml(), "pool.tab": self.pool_text(), "run.tab": self.run_text()}
        for name, text in texts.items():
            (folder / name).write_bytes(text.encode())
        return list(texts)


VALUES: Final = ("Ann", "Bo Q", "Zoë", "日本", 'He said "hi"', "back\\slash", "a/b", "😀")
_CONFIDENCES: Final = st.integers(1, 99).map(lambda hundredths: f"0.{hundredths:02d}")


class _Builder:
    """Draws one world. Every answer has a document of its own, so that V and AP stay within 1."""

    def __init__(self, draw: st.DrawFn, *, perfect: bool) -> None:
        self._draw = draw
        self._perfect = perfect
        self._documents = 0
        self._pool: tuple[list[Assessment], list[Assessment]] = ([], [])
        self._run: tuple[list[Response], list[Response]] = ([], [])

    def world(self) -> World:
        queries = tuple(self._query(number) for number in range(1, self._number(1, 2) + 1))
        for query in queries:
            for sf_query in query.sf_queries():
                self._first_hop(sf_query, query.slots)
        return World(queries, (*self._pool[0], *self._pool[1]), (*self._run[0], *self._run[1]))

    def _number(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def _query(self, number: int) -> Query:
        slots = [self._draw(st.sampled_from(FIRST_SLOTS))]
        if self._draw(st.booleans()):
            slots.append(self._draw(st.sampled_from(SECOND_SLOTS)))
        languages = self._draw(st.lists(st.sampled_from(("ENG", "CMN", "SPA")), min_size=1, max_size=2, unique=True))
        return Query(f"CSX_{number:04d}", tuple(slots), tuple(f"{language}_Q{number}" for language in languages))

    def _first_hop(self, query: str, slots: Sequence[Slot]) -> None:
        for number in range(1, self._number(1 if self._perfect else 0, 1 if slots[0].single else 3) + 1):
            node = f":E{number}"
            submitted = self._members(query, slots[0], f"{query}:{number}", node, hop=0)
            if len(slots) == 2 and submitted:
                parent = self._draw(st.sampled_from(submitted))
                for below in range(1, self._number(1 if self._perfect else 0, 1 if slots[1].single else 2) + 1):
                    ec = f"{query}:{number}:{below}"
                    self._members(parent.answer.follow_on(), slots[1], ec, f":F{below}", hop=1)
        if not self._perfect:
            for number in range(self._number(0, 2)):
                self._wrong(query, slots, f":W{number}")

    def _members(self, query: str, slot: Slot, ec: str, node: str, hop: int) -> list[Response]:
        """Up to three assessments of one class; those that the run has found, in one node or several."""
        submitted = []
        for number in range(self._number(1, 3)):
            answer = self._answer(query, slot)
            code = "C" if self._perfect or number == 0 else self._draw(st.sampled_from("CX"))
            mention = "NAM" if self._perfect else self._draw(st.sampled_from(("NAM", "NAM", "NOM")))
            self._pool[hop].append(Assessment(answer, code, ec, mention))
            if self._perfect or self._draw(st.booleans()):
                # Another node splits the class; hop 1 and single-valued slots keep to one.
                apart = not self._perfect and hop == 0 and not slot.single and self._draw(st.booleans())
                submitted.append(self._submit(answer, f"{node}s{number}" if apart else node, hop))
        return submitted

    def _wrong(self, query: str, slots: Sequence[Slot], node: str) -> None:
        """An incorrect or unassessed answer, perhaps with a child."""
        answer = self._answer(query, slots[0])
        if self._draw(st.booleans()):
            self._pool[0].append(Assessment(answer, "W", "0"))
        if self._draw(st.booleans()):
            parent = self._submit(answer, node, hop=0)
            if len(slots) == 2 and self._draw(st.booleans()):
                self._submit(self._answer(parent.answer.follow_on(), slots[1]), ":F", hop=1)

    def _answer(self, query: str, slot: Slot) -> Answer:
        self._documents += 1
        return Answer(query, slot.name, self._draw(st.sampled_from(VALUES)), f"ENG_{self._documents}")

    def _submit(self, answer: Answer, node: str, hop: int) -> Response:
        response = Response(answer, self._draw(_CONFIDENCES), node)
        self._run[hop].append(response)
        return response


@st.composite
def worlds(draw: st.DrawFn, *, perfect: bool = False) -> World:
    """Worlds of a few dozen lines. In a `perfect` one the run is the pool: every class found, nothing else said."""
    return _Builder(draw, perfect=perfect).world()


class Row(NamedTuple):
    """A line of the SF table: its name, level, counts by header, and P, R, F1. Macro rows have no counts."""

    name: str
    level: str
    counts: dict[str, int]
    scores: tuple[float, float, float]


class AnalysedRun(NamedTuple):
    """A scored world: the outcome and its tables. `average_precision` by (section title, row name, level)."""

    outcome: Outcome
    sf: list[Row]
    average_precision: dict[tuple[str, str, str], float]

    def rows(self) -> list[Row]:
        """The rows of queries and classes."""
        return [row for row in self.sf if not row.name.startswith("ALL-")]

    def named(self, name: str) -> list[Row]:
        return [row for row in self.sf if row.name == name]

    def tables(self) -> dict[str, bytes]:
        """All outputs but the parameters, which show the time, and the report."""
        return {k: v for k, v in self.outcome.files.items() if k not in ("out.params", "out.errlog")}


def score(folder: Path, files: Sequence[str], *switches: str, status: int = 0) -> AnalysedRun:
    """Score the files with all outputs, tab separated, and read the tables back."""
    for path in folder.glob("out.*"):
        path.unlink()
    words = ("-tabs", "-expand", BASE, "-output_file", "out", "-error_file", "out.errlog", *switches, *files)
    outcome = score_in(folder, words)
    assert outcome.status == status, (outcome.stderr, outcome.files.get("out.errlog"))
    return AnalysedRun(outcome, _sf_rows(outcome.files["out.sf"]), _ap_rows(outcome.files.get("out.ap", b"")))


def _sf_rows(table: bytes) -> list[Row]:
    lines = [line.split("\t") for line in table.decode().split("\n")]
    header = lines[0]
    rows = []
    for line in lines:
        if len(line) == 1 or line == header:  # each run has a header of its own
            continue
        counts = {key: int(cell) for key, cell in list(zip(header, line))[3:-3] if cell.strip()}
        precision, recall, f1 = map(float, line[-3:])
        rows.append(Row(line[0], line[2], counts, (precision, recall, f1)))
    return rows


def _ap_rows(table: bytes) -> dict[tuple[str, str, str], float]:
    found = {}
    section = ""
    for line in table.decode().split("\n"):
        cells = line.split("\t")
        if len(cells) == 4 and cells[3] != "AP":
            found[section, cells[0], cells[2]] = float(cells[3])
        elif ": " in line:
            section = line.split(":")[0]
    return found
