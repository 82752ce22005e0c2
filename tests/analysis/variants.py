"""Invented worlds written in other ways: layouts, several files, odd lines, other orders and switches."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from hypothesis import strategies as st

from cs_score.base.records import Record
from cs_score.coldstart.options import Justifications, Options, Policy
from tests.analysis.rewriting import Call
from tests.coldstart.worlds import BASE, World

ALL_WRONG: Final = Policy(wrong=("INCORRECT", "INCORRECT_PARENT", "INEXACT", "UNASSESSED", "DUPLICATE"), ignore=())
POLICIES: Final = (
    Policy(),
    ALL_WRONG,
    Policy(right=("CORRECT", "INEXACT"), wrong=("INCORRECT", "INCORRECT_PARENT"), ignore=("UNASSESSED",)),
    Policy(wrong=("INCORRECT", "INCORRECT_PARENT", "INEXACT", "DUPLICATE"), ignore=("UNASSESSED",)),
)


class Variant(Record):
    """How a world is written and scored.

    `has_nodes`: with node ids; `few_nodes`: lines share node ids; `is_pool_first`: the pool comes before the run;
    `has_runs`: some lines are of another run.
    """

    has_nodes: bool
    few_nodes: bool
    is_pool_first: bool
    policy: Policy
    justifications: str
    discipline: str
    has_runs: bool

    def write(self, world: World, folder: Path, data: st.DataObject) -> Call:
        """Write the files; what is drawn from `data` are odd lines and where files are cut."""
        (folder / "queries.xml").write_text(world.query_xml())
        (folder / "pool.tab").write_text(world.pool_text())
        lines = [self._written(line) for line in world.run_text().splitlines()]
        lines = data.draw(_odd(lines, self.has_runs)) if lines else []
        cut = data.draw(st.one_of(*[st.just(len(lines))] * 3, st.integers(0, len(lines))))
        runs = []
        for name, part in (("one.tab", lines[:cut]), ("two.tab", lines[cut:])):
            (folder / name).write_text("".join(f"{line}\n" for line in part))
            runs.append(name)
        files = ("pool.tab", *runs) if self.is_pool_first else (*runs, "pool.tab")
        options = Options(
            expand=BASE,
            policy=self.policy,
            justifications=Justifications.parse(self.justifications),
            discipline=self.discipline,
        )
        switches = (
            *("-expand", BASE, "-justifications", self.justifications, "-discipline", self.discipline),
            *(word for side, text in self.policy.texts().items() for word in (f"-{side.lower()}", text)),
        )
        return Call(folder, switches, ("queries.xml",), files, options)

    def _written(self, line: str) -> str:
        columns = line.split("\t")
        if self.few_nodes:
            columns[8] = columns[8][:2]
        return "\t".join(columns if self.has_nodes else columns[:8])


def variants() -> st.SearchStrategy[Variant]:
    """Ways to write and score a world."""
    return st.builds(
        Variant,
        st.sampled_from((True, True, False)),
        st.booleans(),
        st.booleans(),
        st.sampled_from(POLICIES),
        st.sampled_from(("1:3", "1:1", "M:M", "2:9", "1:M")),
        st.sampled_from(("ASSESSED", "STRING_CASE", "STRING_EXACT")),
        st.sampled_from((False, False, False, True)),
    )


@st.composite
def _odd(draw: st.DrawFn, lines: list[str], has_runs: bool) -> list[str]:
    """Lines with some repeated, given with another justification, slot, run or confidence, or cut short."""
    found: list[str] = []
    for line in lines:
        columns = line.split("\t")
        found.append(line)
        kind = draw(
            st.sampled_from(("",) * 8 + ("again", "justified", "slot", "short", "comment", "confidence", "run"))
        )
        if kind == "again":
            found.append(line)
        elif kind == "justified":
            columns[3] = columns[3].replace(":20-", ":21-")
            found.append("\t".join(columns))
        elif kind == "slot":
            columns[1] = "per:spouse"
            found.insert(draw(st.integers(len(found) - 1, len(found))), "\t".join(columns))
        elif kind == "short":
            found.append("\t".join(columns[:5]))
        elif kind == "comment":
            found.append("# a comment")
        elif kind == "confidence":
            columns[7] = "1.5"
            found.append("\t".join(columns))
        elif kind == "run" and has_runs:
            columns[2] = "runB"
            found[-1] = "\t".join(columns)
    return found
