"""A page as sections of facts, charts, tables and texts, and as one HTML file. A section has blocks; cells of tables
may be links to rows of other tables, or open an entry that explains them.

Texts of inputs are untrusted: the template and the renderer of tables escape them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeAlias

from cs_score.analysis.evidence.document_text import unit_name
from cs_score.base.display import safe_cell, terminal_safe, with_minus_signs
from cs_score.base.errors import MissingExtraError
from cs_score.base.records import Record, asdict, field, replace
from cs_score.measures import COLD_START_MODE
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
    """An entry that a reader of the page can open to see how a query, a line or a unit was scored.

    `head` names the entry. `steps` are the positions, in `ExpandableEntries.texts`, of the texts that explain it.
    `groups` has the entries below it, as pairs of a title and the keys of these entries. `drawing` is a chart next to
    the steps.
    """

    head: str
    steps: Sequence[int]
    groups: Sequence[tuple[str, Sequence[str]]] = ()
    drawing: Drawing | None = None


class ExpandableEntries(Record, dict=True):
    """The expandable entries of a page, by key, and the texts of their steps.

    The page has a single list of `texts`, and the steps of entries are positions in it. If `are_trees` is true, each
    text is a tree with a line for each step, indented by two spaces for each level. Otherwise its lines are shown as
    they are.
    """

    texts: Sequence[str] = ()
    are_trees: bool = True
    entry_by_key: Mapping[str, ExpandableEntry] = field(default_factory=dict)

    @cached_property
    def number_by_key(self) -> Mapping[str, int]:
        """The number of each entry, by which the page's script finds it."""
        return {key: number for number, key in enumerate(self.entry_by_key)}

    def cell_that_opens(self, text: str, key: str) -> Cell | str:
        """Return a table cell with a text, below which the entry with this key opens.

        If there is no such entry, the text itself is returned.
        """
        if key not in self.entry_by_key:
            return text
        return Cell(text, attributes=f' data-open="{self.number_by_key[key]}"')


class PageTable(Record):
    """A table of the page, as HTML in `markup`.

    Links on the page lead to its `name`. `left_out` is the number of rows that are not on the page. A small table
    (`is_small`) has neither paging nor filters.
    """

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
    """A number or a text in a box of its own, with its name above it and a detail in small letters below it."""

    name: str
    value: str
    detail: str = ""


class Facts(Record):
    """Facts side by side; in large figures if they are the main facts of the page (`is_main`)."""

    items: Sequence[PageFact]
    is_main: bool = False
    block: ClassVar[str] = "facts"


class Code(Record):
    """Lines that keep their line ends and are shown in a fixed-width font, such as commands."""

    lines: Sequence[str]
    block: ClassVar[str] = "code"


Block: TypeAlias = PageTable | Charts | Facts | Code | str
"""A part of a section; a text is a paragraph."""


class Section(Record):
    """A section of a page: the name that links lead to, the heading, and the blocks below it.

    `menu_text` is the text of the section in the menu of the page: None for the heading, empty if the menu does not
    have the section.
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
    expandable_entries: ExpandableEntries = field(default_factory=ExpandableEntries)


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


def tables_of_document(
    layout: Layout, document: Any, name: str = "", *, is_small: bool = False, is_linked: bool = False
) -> Iterator[PageTable]:
    """Yield the tables of a document for a page.

    There is usually a single table. If the layout splits its rows by a column (`split_by`), there is one table for each
    value of that column. `name` is the name of the table in links; the default is the name of the layout. A small table
    (`is_small`) has neither paging nor filters, however many rows it has. Tables with few rows are always small, and
    tables without rows are left out. If links lead to rows of the table (`is_linked`), the table is never small, and it
    is yielded even if it has no rows.
    """
    for part in layout.table(document).parts():
        if part.rows or is_linked:
            has_few_rows = len(part.rows) <= _MOST_ROWS_OF_SMALL_TABLE
            is_part_small = (is_small or has_few_rows) and not is_linked
            yield _make_page_table(part, name or layout.name, is_part_small)


def _make_page_table(table: Table, name: str, is_small: bool) -> PageTable:
    """Return a table of a document as HTML, with at most `MOST_ROWS` rows.

    If the table is one of several parts, the name of the part is added to the name of the table ("groups" becomes
    "groups-slot") and replaces a "%" in the title.
    """
    row_count = len(table.rows)
    caption = table.layout.title.replace("%", words(table.split_value)).removesuffix(":")
    table_on_page = replace(table, rows=table.rows[:MOST_ROWS])
    # The document itself may list only some of its rows. In that case `total` is larger than the number of rows.
    whole_row_count = max(table.total, row_count)
    return PageTable(
        name=f"{name}-{slug(table.split_value)}" if table.split_value else name,
        caption=caption,
        markup="\n".join(html(table_on_page, caption=caption)),
        left_out=whole_row_count - len(table_on_page.rows),
        is_small=is_small,
    )


def layout_with_cells(
    layout: Layout,
    further_columns: Sequence[Column] = (),
    make_cell_by_key: Mapping[str, RowCell] | None = None,
    shown: Sequence[str] = (),
) -> Layout:
    """Return a layout with additional columns and with cells that only pages have, such as links.

    `make_cell_by_key` maps the key of each column with such cells to a function. The function makes a cell from the
    values of a row, by key, and from the number of the row (from 0). `shown` are the keys of the columns that the table
    shows. If it is empty (the default), all columns are shown, whatever the given layout shows.
    """
    columns = (*layout.columns, *further_columns)
    if make_cell_by_key is None:
        make_cell_by_key = {}
    # The rows of a layout are a function of the document. The new function adds the cells to the rows of the old one.
    return replace(
        layout,
        columns=columns,
        rows=lambda document: _rows_with_cells(layout.rows(document), make_cell_by_key),
        shown_keys=tuple(shown),
    )


def _rows_with_cells(rows: Iterable[Row], make_cell_by_key: Mapping[str, RowCell]) -> Iterator[Row]:
    """Yield rows of a table, in which cells of pages replace the plain values of their columns.

    `make_cell_by_key` has the function that makes the cells of a column, by the key of the column.
    """
    for row_number, row in enumerate(rows):
        value_by_key = row if isinstance(row, Mapping) else asdict(row)
        row_on_page = dict(value_by_key)
        for key, make_cell in make_cell_by_key.items():
            row_on_page[key] = make_cell(value_by_key, row_number)
        yield row_on_page


def charts_side_by_side(*drawings: Iterable[Drawing]) -> Charts:
    """Return the block of a page with all drawings of several charts, which are shown side by side."""
    return Charts([drawing for drawings_of_chart in drawings for drawing in drawings_of_chart])


_FORMATS: Final = {"largest": Format.GAIN, "p_above": Format.P, "p_baseline": Format.P}
"""The formats of columns that only tables of pages have."""


def table_of_rows(
    name: str,
    title: str,
    rows: Iterable[Row],
    headings: Mapping[str, str],
    *,
    is_small: bool = False,
    is_linked: bool = False,
) -> Iterator[PageTable]:
    """Yield a table that only pages have, made of some rows. It is left out if it has no rows.

    Each row maps the keys of columns to values. `headings` maps the key of each column to its heading; if a heading is
    empty, the words of the key are shown. A small table (`is_small`) has neither paging nor filters. If links lead to
    rows of the table (`is_linked`), it has filters and is yielded even if it has no rows.
    """
    columns = []
    for key, heading in headings.items():
        columns.append(Column(key, heading, _FORMATS.get(key, Format.PLAIN)))
    # A layout takes its rows from a document. These rows do not depend on a document, so None is passed as the
    # document.
    layout = Layout(name, title, tuple(columns), rows=lambda _: rows)
    return tables_of_document(layout, document=None, is_small=is_small, is_linked=is_linked)


def link_to_rows(value: str | int, target: ChartTarget) -> Cell:
    """Return a cell with a link to the rows of a table of the page that have a certain value in a column."""
    attributes = f'data-column="{escape(target.column)}" data-value="{escape(safe_cell(target.value))}"'
    return Cell(value, f'<a href="#{escape(target.table)}" {attributes}>', "</a>")


def link_to_file(value: str | float, address: str, shade: int | None = None) -> Cell:
    """Return a cell with a link to another file of the folder; without a link if the address is empty.

    `shade` is the number of a background colour in the style of pages, None for no colour.
    """
    css_class = "" if shade is None else f"shade{shade}"
    if not address:
        return Cell(value, kind=css_class)
    return Cell(value, f'<a href="{escape(address)}">', "</a>", kind=css_class)


def cell_with_details(summary: str, items: Iterable[tuple[str, str]]) -> Cell:
    """Return a cell that shows a summary, and below it, when a reader opens it, a list of names with their texts."""
    entries = []
    for name, text in items:
        entries.append(f"<dt>{escape(safe_cell(name))}</dt><dd>{escape(safe_cell(text))}</dd>")
    return Cell("", f"<details><summary>{escape(safe_cell(summary))}</summary><dl>{''.join(entries)}</dl></details>")


# ---- The names of units and keys on a page


def unit_noun(task: str) -> str:
    """Return the noun for a unit of a task: query, claim, instance or question."""
    return "query" if task == COLD_START_MODE else mode_named(task).unit


def unit_text(record: Any) -> str:
    """Return the id of the query or of the unit that a record is about.

    If several units of gold have the same id, each has a text of its own: "q1", "q1 (2)".
    """
    return str(record.query) if hasattr(record, "query") else unit_name(record)


def slug(key: str) -> str:
    """Return a text in a form for addresses: every character but ASCII letters and digits becomes a hyphen.

    "slot,hop" becomes "slot-hop".
    """
    return re.sub(r"[^A-Za-z0-9]", "-", key)


# ---- The file


def page_html(page: Page) -> str:
    """Return the page as a self-contained HTML file. Raises MissingExtraError if jinja2 is not installed."""
    template = page_template()
    from markupsafe import Markup

    # `Markup` marks a text as HTML, so that the template does not escape it.
    style = chart_style() + _read_template("page.css")
    script = _read_template("page.js")
    return template.render(
        page=page,
        style=Markup(style),
        script=Markup(script),
        policy=Markup(_content_policy(style, script)),  # the content security policy of the page
        newline=Markup("\n"),  # a line feed that the template does not strip
        packed_entries=Markup(_pack_entries(page.expandable_entries)),
    )


def _content_policy(style: str, script: str) -> str:
    """Return a policy under which a browser loads and runs nothing but exactly this style and this script."""
    return (
        f"default-src 'none'; style-src '{_policy_hash(style)}'; script-src '{_policy_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def page_template() -> Template:
    """Return the jinja2 template of all pages.

    Raises MissingExtraError without jinja2: commands call it before they compute anything.
    """
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ModuleNotFoundError:
        raise MissingExtraError("jinja2", "report") from None
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=_escape_controls, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["svg"] = lambda drawing: Markup(drawing.svg())
    environment.filters["markup"] = Markup
    environment.filters["minus"] = with_minus_signs
    return environment.from_string(_read_template("page.html"))


def _escape_controls(value: object) -> object:
    """Return a value for the template, with visible escapes in place of the control characters of a text.

    Characters that change the direction of writing are also escaped. HTML that the package has made is not changed.
    """
    is_html = hasattr(value, "__html__")  # as `Markup` has
    if isinstance(value, str) and not is_html:
        return safe_cell(value)  # escapes control characters
    return value


def _pack_entries(entries: ExpandableEntries) -> str:
    """Return the entries that a reader can open, packed for the page's script; an empty text if there are none.

    They are Base64 of deflated JSON. Base64 is safe inside HTML. Deflating makes the entries much smaller, since they
    repeat themselves.
    """
    if not entries.entry_by_key:
        return ""
    value = {
        "trees": entries.are_trees,
        "texts": [terminal_safe(text) for text in entries.texts],
        "entries": [_entry_for_script(entry, entries.number_by_key) for entry in entries.entry_by_key.values()],
    }
    json_text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    deflated = zlib.compress(json_text.encode("utf-8", "replace"), 6)
    return base64.b64encode(deflated).decode()


def _entry_for_script(entry: ExpandableEntry, number_by_key: Mapping[str, int]) -> list[object]:
    """Return an entry as the list that the page's script reads: its head, its steps, its groups, and its chart.

    The steps are positions in the page's list of texts. A group is a title and the numbers of other entries, which are
    looked up in `number_by_key`. The chart is SVG text, which is empty if there is no chart.
    """
    groups = []
    for title, keys in entry.groups:
        groups.append([title, [number_by_key[key] for key in keys]])
    svg = "" if entry.drawing is None else entry.drawing.svg()
    safe_head = safe_cell(entry.head)
    return [safe_head, list(entry.steps), groups, svg]


def _read_template(name: str) -> str:
    """Return the text of a file in the folder `templates`."""
    return (files("cs_score.pages") / "templates" / name).read_text("utf-8")


def _policy_hash(text: str) -> str:
    """Return the hash by which a Content-Security-Policy allows exactly this text: "sha256-" and Base64."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
