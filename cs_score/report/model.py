"""What a page is made of: sections with facts, charts, tables and texts, all of them still untrusted text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeAlias

from cs_score.base.records import Record, field
from cs_score.measures.registry import COLD_START_MODE
from cs_score.report import MOST_ROWS
from cs_score.report.drawing import Drawing
from cs_score.tables.layout import Column, Format

Document: TypeAlias = Mapping[str, Any]
"""What a page is made from, or a row of it."""


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
    """A cell below which an entry of the page opens, by its number."""

    text: str
    thing: int


class Away(Record):
    """A cell that leads to another page of the same folder; nowhere without an address. `shade` colours it."""

    value: str | float
    address: str
    shade: int | None = None


class Entry(Record):
    """What opens: `head` names it, `steps` are numbers of texts, `groups` other entries below it by their keys.

    `drawing` is shown beside the steps.
    """

    head: str
    steps: Sequence[int]
    groups: Sequence[tuple[str, Sequence[str]]] = ()
    drawing: Drawing | None = None


class Openings:
    """The entries of a page by their keys, and the texts of their steps: trees, a line for each step, indented by two
    spaces, or lines that stay as they are.
    """

    def __init__(
        self, texts: Sequence[str] = (), *, are_trees: bool = True, entries: Mapping[str, Entry] | None = None
    ) -> None:
        self.texts = texts
        self.are_trees = are_trees
        self.entries = entries or {}
        self.numbers = {key: number for number, key in enumerate(self.entries)}

    def opening(self, text: str, key: str) -> Value:
        """The text, opening the entry of that key; alone where there is none."""
        return Opening(text, self.numbers[key]) if key in self.numbers else text


Value: TypeAlias = "str | int | float | Link | Details | Opening | Away | None"


class Table(Record):
    """A table by the `name` by which an address calls it. `is_small` has neither paging nor filters.

    Columns of `texts` stand to the left, all others are numbers.
    """

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    texts: frozenset[int]
    left_out: int
    is_small: bool
    block: ClassVar[str] = "table"


class Charts(Record):
    """Charts side by side, where there is room."""

    drawings: Sequence[Drawing]
    block: ClassVar[str] = "charts"


class Facts(Record):
    """Numbers or texts with what they are, `main` ones in large figures; the third text stands below."""

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
    openings: Openings = field(default_factory=Openings)


_GAINS: Final = frozenset({"gain", "largest", "contribution"})
"""Columns of differences, which are shown with a sign."""


def headed(**headings: str) -> tuple[Column, ...]:
    """Columns by their keys, by which addresses name them."""
    return tuple(
        Column(key, heading, Format.GAIN if key in _GAINS else Format.PLAIN) for key, heading in headings.items()
    )


def table_of(
    name: str,
    caption: str,
    columns: Sequence[Column],
    rows: Iterable[Document],
    *,
    is_small: bool | None = None,
    count: int = 0,
    is_whole: bool = False,
) -> Table:
    """A table of as many rows as a page keeps; columns without any value are left out of one that is not whole.

    It is small where it has few rows, unless `is_small` says; `count` is how many rows there are, if not these alone.
    """
    cells = [[row.get(column.key) for column in columns] for row in rows]
    is_whole = is_whole or not cells
    used = [at for at in range(len(columns)) if is_whole or any(row[at] not in (None, "") for row in cells)]
    kept = [[row[at] for at in used] for row in cells[:MOST_ROWS]]
    texts = frozenset(
        at for at in range(len(used)) if any(isinstance(row[at], _TEXTS) or _is_named(row[at]) for row in kept)
    )
    left_out = max(count, len(cells)) - len(kept)
    small = len(cells) <= 25 if is_small is None else is_small
    return Table(name, caption, [columns[at] for at in used], kept, texts, left_out, small)


_TEXTS: Final = (str, Details, Opening)


def _is_named(value: Value) -> bool:
    return isinstance(value, Away) and isinstance(value.value, str)


# ---- How keys, units and values of the JSON are called on a page


def unit_name(task: str) -> str:
    """What a unit of a task is called: a query, claim, instance or question."""
    return {COLD_START_MODE: "query", "r4c": "instance", "hotpotqa": "question"}.get(task, "claim")


def words(key: str) -> str:
    """A key as words."""
    return key.replace("_", " ").replace("ldc ", "LDC ")


def title_of(key: str) -> str:
    """A key as a heading."""
    return words(key)[:1].upper() + words(key)[1:]


def slug(key: str) -> str:
    """A key as a part of an address."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in key)


def as_text(value: object) -> str:
    """A value of a predictions file: texts as they are, everything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def unit_text(record: Document) -> str:
    """The query or the unit that a record is about, as text; repetitions of an id are numbered."""
    if "query" in record:
        return str(record["query"])
    occurrence = record.get("occurrence", 1)
    return as_text(record["unit"]) + (f" ({occurrence})" if occurrence > 1 else "")
