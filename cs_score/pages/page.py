"""A page as sections of facts, charts, tables and texts, and as one HTML file.

Texts of inputs are untrusted: the template and the renderer of tables escape them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeAlias

from cs_score.analysis.evidence.layouts import unit_name
from cs_score.base.display import cell, terminal_safe, with_minus_signs
from cs_score.base.errors import MissingExtraError
from cs_score.base.records import Record, asdict, field, replace
from cs_score.measures.registry import COLD_START_MODE
from cs_score.pages.charts import ChartTarget, Drawing, chart_style
from cs_score.tables.layout import Cell, Column, Format, Layout, Row, Table, html, words
from cs_score.tasks import mode_named

if TYPE_CHECKING:
    from jinja2 import Template

MOST_ROWS: Final = 20_000
"""Rows of a table that a page keeps."""

_MOST_ROWS_OF_SMALL_TABLE: Final = 25
"""Rows up to which a table has neither paging nor filters."""

# ---- The parts of a page


class ExpandableEntry(Record):
    """An entry that opens on a page: how a query, a line or a unit was scored.

    `head` names it. `steps` are the numbers of the texts that explain it, `groups` the keys of the entries below it, by
    title, and `drawing` is a chart beside the steps.
    """

    head: str
    steps: Sequence[int]
    groups: Sequence[tuple[str, Sequence[str]]] = ()
    drawing: Drawing | None = None


class Openings(Record, dict=True):
    """The entries of a page by key, and the texts of their steps.

    A text is a tree, with a line for each step that is indented by two spaces for each level, unless `are_trees` is
    false: then its lines stay as they are.
    """

    texts: Sequence[str] = ()
    are_trees: bool = True
    entries: Mapping[str, ExpandableEntry] = field(default_factory=dict)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each entry, by which the page's script finds it."""
        return {key: number for number, key in enumerate(self.entries)}

    def opening(self, text: str, key: str) -> Cell | str:
        """Return a cell below which an entry opens; the text alone if there is no entry with this key."""
        if key not in self.entries:
            return text
        return Cell(text, attributes=f' data-open="{self.numbers[key]}"')


class PageTable(Record):
    """A table as markup. Links lead to its `name`; one that `is_small` has neither paging nor filters."""

    name: str
    caption: str
    markup: str
    left_out: int
    is_small: bool
    block: ClassVar[str] = "table"


class Charts(Record):
    """Charts side by side, if there is room."""

    drawings: Sequence[Drawing]
    block: ClassVar[str] = "charts"


class PageFact(NamedTuple):
    """A number or a text, the name above it, and a detail in small letters below it."""

    name: str
    value: str
    detail: str = ""


class Facts(Record):
    """Facts side by side; those that are main ones are in large figures."""

    items: Sequence[PageFact]
    is_main: bool = False
    block: ClassVar[str] = "facts"


class Code(Record):
    """Lines that stay lines, such as commands."""

    lines: Sequence[str]
    block: ClassVar[str] = "code"


Block: TypeAlias = PageTable | Charts | Facts | Code | str
"""A part of a section; a text is a paragraph."""


class Section(Record):
    """A section of a page: its anchor, its heading and its blocks.

    The menu of the page calls it by its title, or by `menu_text` if that is given; an empty one leaves it out.
    """

    name: str
    title: str
    blocks: Sequence[Block]
    menu_text: str | None = None

    @property
    def menu(self) -> str:
        """The text of the section in the menu."""
        return self.title if self.menu_text is None else self.menu_text


class Page(Record):
    """A whole page."""

    title: str
    subtitle: str
    sections: Sequence[Section]
    openings: Openings = field(default_factory=Openings)


class Contradiction(NamedTuple):
    """A place of a document that contradicts another one, such as `/mistakes/3`; empty for the whole document."""

    place: str
    problem: str


class PageMaker:
    """Makes the page of a kind of documents, and its charts by their kind."""

    CHARTS: ClassVar[Mapping[str, Callable[[Any], Iterable[Drawing]]]]
    """The methods that draw the charts of a kind, by the name that `cs-score plot` takes."""

    def __init__(self, document: Any) -> None:
        """Make the page of `document`."""
        self.document = document

    def page(self) -> Page:
        """Return the page, with all sections that the document has anything for."""
        raise NotImplementedError

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield the places of the document that contradict other ones, which no schema can say. By default none."""
        yield from ()


# ---- Tables and their cells

RowCell: TypeAlias = Callable[[Mapping[str, Any], int], object]
"""A function that makes a cell from the values of a row and its number."""


def tables(layout: Layout, document: Any, name: str = "", *, is_small: bool | None = None) -> Iterator[PageTable]:
    """Yield the table of a document, or one for each value of the column `by` of the layout.

    The table is called `name`, or as the layout. It is small if it has few rows, unless `is_small` says otherwise. A
    table without rows is left out unless it is not small: links lead to it.
    """
    for part in layout.table(document).parts():
        if part.rows or is_small is False:
            yield _table(part, name or layout.name, is_small)


def _table(table: Table, name: str, is_small: bool | None) -> PageTable:
    """Return a table of a document as markup, with as many rows as a page keeps."""
    row_count = len(table.rows)
    if table.part:
        name = f"{name}-{slug(table.part)}"
    caption = table.layout.title.replace("%", words(table.part)).removesuffix(":")
    kept_rows = replace(table, rows=table.rows[:MOST_ROWS])
    return PageTable(
        name=name,
        caption=caption,
        markup="\n".join(html(kept_rows, caption=caption)),
        left_out=max(table.total, row_count) - min(row_count, MOST_ROWS),
        is_small=row_count <= _MOST_ROWS_OF_SMALL_TABLE if is_small is None else is_small,
    )


def with_cells(
    layout: Layout,
    further_columns: Sequence[Column] = (),
    cells: Mapping[str, RowCell] | None = None,
    shown: Sequence[str] = (),
) -> Layout:
    """Return a layout with further columns, and with cells, by the key of their column, that are made for the page.

    It shows the columns whose keys are `shown`, or all.
    """
    cell_by_key = cells or {}

    def rows(document: Any) -> Iterator[Row]:
        for row_number, row in enumerate(layout.rows(document)):
            values = row if isinstance(row, Mapping) else asdict(row)
            made_cells = {key: make_cell(values, row_number) for key, make_cell in cell_by_key.items()}
            yield {**values, **made_cells}

    return replace(layout, columns=(*layout.columns, *further_columns), rows=rows, shown=tuple(shown))


def charts(*drawings: Iterable[Drawing]) -> Charts:
    """Return charts of several kinds side by side."""
    return Charts([drawing for kind in drawings for drawing in kind])


_FORMATS: Final = {"largest": Format.GAIN, "p_above": Format.P, "p_baseline": Format.P}
"""The formats of columns that only tables of pages have."""


def table_of(
    name: str, title: str, rows: Iterable[Row], headings: Mapping[str, str], *, is_small: bool | None = None
) -> Iterator[PageTable]:
    """Yield a table that only a page has, if it has rows, as `tables` does.

    `headings` are those of its columns by key; an empty one is the key in words.
    """
    columns = [Column(key, heading, _FORMATS.get(key, Format.PLAIN)) for key, heading in headings.items()]
    return tables(Layout(name, title, tuple(columns), lambda _: rows), None, is_small=is_small)


def link(value: str | int, target: ChartTarget) -> Cell:
    """Return a cell that leads to a table of the page and filters its rows."""
    attributes = f'data-column="{escape(target.column)}" data-value="{escape(cell(target.value))}"'
    return Cell(value, f'<a href="#{escape(target.table)}" {attributes}>', "</a>")


def away(value: str | float, address: str, shade: int | None = None) -> Cell:
    """Return a cell that links to another page of the folder, or to none without an address; `shade` colours it."""
    kind = "" if shade is None else f"shade{shade}"
    if not address:
        return Cell(value, kind=kind)
    return Cell(value, f'<a href="{escape(address)}">', "</a>", kind=kind)


def details(summary: str, items: Iterable[tuple[str, str]]) -> Cell:
    """Return a cell that shows `summary`, and opens to show `items`, which are names with texts."""
    rows = "".join([f"<dt>{escape(cell(name))}</dt><dd>{escape(cell(text))}</dd>" for name, text in items])
    return Cell("", f"<details><summary>{escape(cell(summary))}</summary><dl>{rows}</dl></details>")


# ---- The names of units and keys on a page


def unit_of(task: str) -> str:
    """Return the noun for a unit of a task: query, claim, instance or question."""
    return "query" if task == COLD_START_MODE else mode_named(task).unit


def unit_text(record: Any) -> str:
    """Return the query or the unit of a record. If an id is repeated, each repetition has a different text."""
    return str(record.query) if hasattr(record, "query") else unit_name(record)


def slug(key: str) -> str:
    """Return a key as a part of an address: `slot,hop` -> `slot-hop`."""
    return "".join([letter if letter.isascii() and letter.isalnum() else "-" for letter in key])


# ---- The file


def page_html(page: Page) -> str:
    """Return the page as one HTML file, which loads nothing. Raises MissingExtraError without jinja2."""
    template = page_template()
    from markupsafe import Markup

    style = chart_style() + _resource("page.css")
    script = _resource("page.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return template.render(
        page=page,
        style=Markup(style),
        script=Markup(script),
        policy=Markup(policy),
        newline=Markup("\n"),
        packed=Markup(_packed(page.openings)),
    )


@cache
def page_template() -> Template:
    """Return the template of all pages; to be called before anything is computed, as it raises MissingExtraError."""
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ModuleNotFoundError:
        raise MissingExtraError("jinja2", "report") from None
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=_without_controls, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["svg"] = lambda drawing: Markup(drawing.svg())
    environment.filters["markup"] = Markup
    environment.filters["minus"] = with_minus_signs
    return environment.from_string(_resource("page.html"))


def _without_controls(value: object) -> object:
    """Return a value for the page; control characters and changes of direction in a text become visible escapes."""
    is_markup = hasattr(value, "__html__")
    if isinstance(value, str) and not is_markup:
        return cell(value)
    return value


def _packed(openings: Openings) -> str:
    """Return the entries that open as Base64 of deflated JSON, which is safe inside HTML; empty if there are none.

    They are large, repeat themselves, and are shown one at a time. An entry is a list: its head, the numbers of its
    texts, its groups of other entries by number, and its chart as SVG.
    """
    if not openings.entries:
        return ""
    entries = []
    for entry in openings.entries.values():
        groups = [[title, [openings.numbers[key] for key in keys]] for title, keys in entry.groups]
        svg = "" if entry.drawing is None else entry.drawing.svg()
        entries.append([cell(entry.head), list(entry.steps), groups, svg])
    texts = [terminal_safe(text) for text in openings.texts]
    value = {"trees": openings.are_trees, "texts": texts, "entries": entries}
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return base64.b64encode(zlib.compress(data, 6)).decode()


def _resource(name: str) -> str:
    """Return the text of a file of the templates."""
    return (files("cs_score.pages") / "templates" / name).read_text("utf-8")


def _digest(text: str) -> str:
    """Return the hash by which a Content-Security-Policy allows exactly this text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
