"""Invented evaluations whose runs break every limit, as hypothesis draws them: queries, assessments and a run.

What the documentation names as exceptions of the laws is left out: answers that two nodes share, lines that become
equal, node ids of odd form, confidences that fit no layout in a first line.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from hypothesis import strategies as st

from benchmarks.generate import follow_on_id
from cs_score.base.records import Record
from tests.coldstart.worlds import BASE, FIRST_SLOTS, SECOND_SLOTS, Slot, World
from tests.coldstart.worlds import Query as LdcQuery

DOCUMENTS: Final = ("ENG_1", "ENG_2", "ENG_3", "ENG_4")
VALUES: Final = ("Ann", "Zoë", "日本", 'He said "hi"', "back\\slash", "# no comment", " x  y ")
CONFIDENCES: Final = ("1", "1.0", "0.25", "0.5", "0.50", "5.0e-01", "0.9", "0.1", "2.0e-03", "0.999999999999999")


class Messy(Record):
    """An evaluation: its query file, its pool, its run."""

    queries: str
    pool: str
    run: str

    def write(self, folder: Path) -> None:
        for name, text in (("queries.xml", self.queries), ("pool.tab", self.pool), ("run.tab", self.run)):
            (folder / name).write_bytes(text.encode())


class _Builder:
    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._pool: tuple[list[str], list[str]] = ([], [])
        self._run: tuple[list[str], list[str]] = ([], [])
        self._lines = 0

    def build(self) -> Messy:
        queries = []
        for number in range(self._number(1, 2)):
            slots = [self._draw(st.sampled_from(FIRST_SLOTS))]
            if self._draw(st.booleans()):
                slots.append(self._draw(st.sampled_from(SECOND_SLOTS)))
            query = LdcQuery(f"CSX_{number:04d}", tuple(slots), (f"ENG_Q{number}",))
            queries.append(query)
            self._first_hop(query.sf_queries()[0], query.slots)
        pool = "".join(f"{line}\n" for hop in self._pool for line in hop)
        run = "".join(f"{line}\n" for hop in self._run for line in hop)
        return Messy(World(tuple(queries), (), ()).query_xml(), pool, run)

    def _number(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def _first_hop(self, query: str, slots: tuple[Slot, ...]) -> None:
        classes: dict[str, str] = {}  # follow-on query -> class of the answer it asks about
        for node in range(self._number(1, 3)):
            for _ in range(self._number(1, 4)):
                span, document, value = f"{node}00-{node}50", self._pick(DOCUMENTS), self._pick(VALUES)
                follow_on = follow_on_id(query, value, f"{document}:{span}")
                value_class = f"{query}:{self._number(1, 2)}" if self._number(0, 3) else "0"
                self._line(query, slots[0], document, span, value, f":E{node}", value_class, hop=0)
                if value_class != "0":
                    classes[follow_on] = value_class
                if len(slots) > 1 and self._draw(st.booleans()):
                    self._second_hop(follow_on, slots[1], classes.get(follow_on), node)

    def _second_hop(self, query: str, slot: Slot, parent_class: str | None, parent: int) -> None:
        for _ in range(self._number(1, 3)):
            child = self._number(0, 1)
            span = f"{parent}{child}00-{parent}{child}50"
            value_class = f"{parent_class}:{self._number(1, 2)}" if parent_class and self._number(0, 3) else None
            self._line(query, slot, self._pick(DOCUMENTS), span, self._pick(VALUES), f":C{child}", value_class, hop=1)

    def _line(
        self, query: str, slot: Slot, document: str, span: str, value: str, node: str, value_class: str | None, hop: int
    ) -> None:
        """A line of the run with a justification of its own, and its assessment unless the class is None."""
        self._lines += 1
        relation, provenance = f"{document}:{self._lines}-{self._lines + 20}", f"{document}:{span}"
        columns = (query, slot.name, "R1", relation, value, self._pick(("PER", "per")), provenance)
        self._run[hop].append("\t".join((*columns, self._pick(CONFIDENCES), node)))
        if value_class is not None:
            code = "W" if value_class == "0" else "C"
            first = (f"a{self._lines}", f"{query}:{slot.name}", relation, value, provenance, code, "NAM", "C")
            self._pool[hop].append("\t".join((*first, value_class, "0" if value_class == "0" else "NAM")))

    def _pick(self, choices: tuple[str, ...]) -> str:
        return self._draw(st.sampled_from(choices))


@st.composite
def messy(draw: st.DrawFn) -> Messy:
    """Evaluations of a few dozen lines."""
    return _Builder(draw).build()


__all__ = ["BASE", "Messy", "messy"]
