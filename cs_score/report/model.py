"""What a page is made of: sections with facts, charts, tables and texts, all of them still untrusted text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, TypeAlias

from cs_score.base.records import Record, field, force_setattr
from cs_score.report import MOST_ROWS
from cs_score.report.charts.drawing import Drawing


class Link(Record):
    """A cell that opens a table with only the rows whose column `column` is `value`."""

    text: str | int
    table: str
    column: str
    value: str


class Details(Record):
    """A cell that opens: `summary` is what is shown of it, `items` are names with texts."""

    summary: str
    items: Sequence[tuple[str, str]]


class Opening(Record):
    """A cell below which a thing of the page opens, by its number."""

    text: str
    thing: int


class Away(Record):
    """A cell that leads to another page of the same folder; nowhere without an address. `shade` colours it."""

    value: str | float
    address: str
    shade: int | None = None


class Thing(Record):
    """What opens: `head` names it, `steps` are numbers of texts, `groups` other things below it by their keys.

    `drawing` is shown beside the steps.
    """

    head: str
    steps: Sequence[int]
    groups: Sequence[tuple[str, Sequence[str]]] = ()
    drawing: Drawing | None = None


class Told(Record):
    """The things of a page by their keys, and their texts: trees, a line for each step, indented by two spaces, or
    lines that stay as they are.
    """

    texts: Sequence[str] = ()
    are_trees: bool = True
    things: Mapping[str, Thing] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        force_setattr(self, "numbers", {key: number for number, key in enumerate(self.things)})

    def opening(self, text: str, key: str) -> Value:
        """The text, opening what is told of the key; alone where there is nothing."""
        return Opening(text, self.numbers[key]) if key in self.numbers else text


Value: TypeAlias = "str | int | float | Link | Details | Opening | Away | None"

ColumnKind: TypeAlias = Literal["text", "score", "gain", "count"]
"""Texts stand to the left. Scores have four decimals, gains a sign as well, and the exact value for sorting."""


class Column(Record):
    """A column: the `key` by which an address names it, its heading, and what its cells are."""

    key: str
    title: str
    kind: ColumnKind = "text"


class Table(Record):
    """A table by the `name` by which an address calls it. `is_small` has neither paging nor filters."""

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    left_out: int = 0
    is_small: bool = False
    block: ClassVar[str] = "table"


class Charts(Record):
    """Charts side by side, where there is room."""

    drawings: Sequence[Drawing]
    block: ClassVar[str] = "charts"


class Facts(Record):
    """Numbers or texts with what they are, `main` ones in large figures; `detail` stands below, such as an interval."""

    items: Sequence[tuple[str, str, str]]
    is_main: bool = False
    block: ClassVar[str] = "facts"


class Text(Record):
    """A paragraph."""

    text: str
    block: ClassVar[str] = "text"


class Code(Record):
    """Lines that stay lines, such as commands."""

    lines: Sequence[str]
    block: ClassVar[str] = "code"


Block: TypeAlias = Table | Charts | Facts | Text | Code


class Section(Record):
    """A part of a page: the anchor, the heading, and what stands there."""

    name: str
    title: str
    blocks: Sequence[Block]


class Page(Record):
    """All of a page."""

    title: str
    subtitle: str
    sections: Sequence[Section]
    told: Told = Told()


def kept(rows: Sequence[Sequence[Value]]) -> tuple[Sequence[Sequence[Value]], int]:
    """The rows that a page keeps, and how many it leaves out."""
    return rows[:MOST_ROWS], max(0, len(rows) - MOST_ROWS)
