"""Tables of documents, and how they are written as text, TSV, Markdown, LaTeX, HTML and data frames.

Texts of inputs are untrusted: each format escapes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from cs_score.base.display import (
    LONGEST_LINE,
    align_columns,
    cell,
    escape_latex,
    escape_markdown,
    one_line,
    spreadsheet_cell,
    with_minus_signs,
)
from cs_score.base.errors import MissingExtraError
from cs_score.base.records import Record

if TYPE_CHECKING:
    import pandas

LONGEST_CELL: Final = 40
"""Characters of a text that a cell of a table for people has."""

TOP: Final = 20
"""Rows that people see of a long table unless they ask for another number."""

# ---- A table

Value: TypeAlias = str | int | float | None
Row: TypeAlias = Mapping[str, Any] | Record
"""Values by the keys of the columns; a key that a row lacks is an empty cell."""

Rows: TypeAlias = Callable[[Any], Iterable[Row]]
"""A function that finds the rows of a table in a document."""


class Format(Enum):
    """The format of the numbers of a column in tables for people; files for programs have numbers in full."""

    PLAIN = ".4f"  # of numbers with a fraction
    GAIN = "+z.4f"
    CONTRIBUTION = "+z.6f"
    P = "p"  # as PLAIN; what is smaller but not 0 is <0.0001
    SHARE = ".1%"


class Column(Record):
    """A column: the key of its values, its heading if that differs from the key, and what the values mean."""

    key: str
    heading: str = ""
    format: Format = Format.PLAIN
    meaning: str = ""

    @property
    def title(self) -> str:
        """The heading of the column in tables for people."""
        return self.heading or self.key


class Layout(Record):
    """The layout of a table: its name, which is that of its file, its columns, and how `rows` are found in a document.

    Files for programs have all columns and rows. In tables for people:

    * `shown` are the keys of the columns; all unless given.
    * `by` is a column whose values each have a table of their own, with the value in the place of % in the title.
    * Tables with fewer rows than `fewest` are left out, and so is a table that is not `for_people`.
    * `most` chooses the rows of a long table: the first ones (top), all (whole), or some at equal distances (spread).
    * `longest` is the number of characters that are left of a text.
    * `total` counts all rows, if a document does not hold them all.

    A table that is not an `is_file` is for people alone.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Rows
    shown: tuple[str, ...] = ()
    by: str = ""
    fewest: int = 0
    for_people: bool = True
    is_file: bool = True
    most: Literal["top", "whole", "spread"] = "top"
    total: Callable[[Any], int] | None = None
    longest: int = 40

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the columns, as the first line of a file for programs names them."""
        return tuple([column.key for column in self.columns])

    def table(self, document: Any) -> Table:
        """Return the table of a document."""
        keys = self.keys
        rows = []
        for row in self.rows(document):
            if isinstance(row, Mapping):
                values = [row.get(key) for key in keys]
            else:
                values = [getattr(row, key, None) for key in keys]
            rows.append(tuple(values))
        total = len(rows) if self.total is None else self.total(document)
        return Table(self, rows, total)


class PeopleTable(NamedTuple):
    """The columns and rows of a table that people see; each row has a value for each of these columns."""

    columns: list[Column]
    rows: list[list[Value]]


class Table(Record):
    """A layout with the rows of a document; each row has a value for each column, None for an empty cell."""

    layout: Layout
    rows: Sequence[tuple[Value, ...]]
    total: int

    @property
    def part(self) -> str:
        """The value that all rows have in the column `by`; empty if there is no such column, or no row."""
        if not self.layout.by or not self.rows:
            return ""
        position = self.layout.keys.index(self.layout.by)
        return str(self.rows[0][position])

    @property
    def title(self) -> str:
        """The title of the table; one of several tables has the value of the column `by` in it."""
        title = self.layout.title
        return title.replace("%", cell(self.part)) if self.layout.by and self.rows else title

    def parts(self) -> Iterator[Table]:
        """Yield a table for each value of the column `by`; the table itself if there is no such column."""
        if not self.layout.by:
            yield self
            return
        position = self.layout.keys.index(self.layout.by)
        rows_by_value: dict[Value, list[tuple[Value, ...]]] = {}
        for row in self.rows:
            rows_by_value.setdefault(row[position], []).append(row)
        for rows in rows_by_value.values():
            yield Table(self.layout, rows, len(rows))

    def for_people(self, top: int | None = None) -> PeopleTable:
        """Return the columns and rows that people see; of a long table about `top` rows, None for all.

        Columns without any value are left out.
        """
        rows = self._rows_for_people(top)
        keys = self.layout.keys
        positions = []
        for key in self.layout.shown or keys:
            if key == self.layout.by:
                continue
            position = keys.index(key)
            if not rows or any(row[position] is not None for row in rows):
                positions.append(position)
        shown_columns = [self.layout.columns[position] for position in positions]
        return PeopleTable(shown_columns, [[row[position] for position in positions] for row in rows])

    def _rows_for_people(self, top: int | None) -> Sequence[tuple[Value, ...]]:
        """Return the rows that people see of a long table, as the layout chooses them."""
        if top is None or self.layout.most == "whole":
            return self.rows
        if self.layout.most == "top":
            return self.rows[:top]
        distance = -(-len(self.rows) // top)
        return self.rows[:: max(1, distance)]


def columns(*keys: str, **formats: Format) -> tuple[Column, ...]:
    """Return columns whose headings are their keys; `formats` are those of some by key."""
    return tuple([Column(key, format=formats.get(key, Format.PLAIN)) for key in keys])


def headed(**headings: str) -> tuple[Column, ...]:
    """Return columns with headings: `headed(a="A", score="Score")`."""
    return tuple([Column(key, heading) for key, heading in headings.items()])


# ---- Text


def shown(value: Value, column: Column, longest: int = LONGEST_CELL) -> str:
    """Return a value as people see it, on one line: `0.1235`, `<0.0001`, `12.5%`, `-` for none; texts are cut."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return cell(value, longest)
    if column.format is Format.P:
        return "<0.0001" if 0 < value < 0.0001 else f"{value:.4f}"
    if column.format is Format.PLAIN and isinstance(value, int):
        return str(value)
    return format(value, column.format.value)


def text(table: Table, top: int | None = TOP, width: int | None = None) -> Iterator[str]:
    """Yield the lines of a table for people: a blank line, the title, and aligned columns; for each part of the table.

    `top` is the number of rows of a long table, None for all. If lines are wider than `width` columns of a terminal,
    texts are cut, the longest first, and then the last columns are left out; ids are never cut. None for a width:
    nothing is cut to fit.
    """
    layout = table.layout
    if not layout.for_people:
        return
    for part in table.parts():
        if len(part.rows) < layout.fewest:
            continue
        shown_columns, rows = part.for_people(top)
        yield ""
        title = part.title
        if len(rows) < part.total:
            title = f"{title.removesuffix(':')} ({len(rows)} of {part.total}):"
        yield from [title] if width is None else wrap(title, width)
        if rows:
            yield from _aligned_lines(shown_columns, rows, layout.longest, width)
        else:
            yield "none"


def _aligned_lines(
    shown_columns: list[Column], rows: list[list[Value]], longest: int, width: int | None
) -> Iterable[str]:
    """Return the headings and rows of a table as aligned lines; without a width texts are not cut."""
    if width is None:
        longest = LONGEST_LINE
    cells = [[column.title for column in shown_columns]]
    for row in rows:
        cells.append([_cell_for_people(value, column, longest) for value, column in zip(row, shown_columns)])
    if width is not None:
        cells = _fitted(shown_columns, rows, cells, width)
    are_numbers = _are_numbers(shown_columns, rows)
    return align_columns(cells, are_numbers[: len(cells[0])])


_PLACE: Final = re.compile(r".*:\d+")

_SHORTEST_CELL: Final = 8
"""Characters that are left of a text in a table that is too wide."""

_ID_KEYS: Final = frozenset({"unit", "query", "run", "run_id", "name", "system", "a", "b", "node", "class", "about"})
"""Columns of ids, which users paste into options such as --unit and --run: no table cuts them."""

_GROUP_KEYS: Final = frozenset({"group", "dimension", "category", "kind", "what"})
"""Columns whose words may be ids: a text without blanks is not cut."""


def _is_whole(value: Value, column: Column) -> bool:
    """Return whether a value is never cut: ids, and words that may be ids."""
    if column.key in _ID_KEYS:
        return True
    return column.key in _GROUP_KEYS and isinstance(value, str) and " " not in value


def _cell_for_people(value: Value, column: Column, longest: int) -> str:
    """Return a value as people see it: ids whole, other texts cut to `longest` characters."""
    return shown(value, column, LONGEST_LINE if _is_whole(value, column) else longest)


def _narrowest(texts: Sequence[str], values: Sequence[Value], column: Column) -> int:
    """Return the width below which a column of texts is not cut: ids are left whole, and of places the file name."""
    narrowest = min(_SHORTEST_CELL, max([len(text) for text in texts]))
    if column.key in _ID_KEYS | _GROUP_KEYS:
        narrowest = max(narrowest, len(column.title))
    for text, value in zip(texts, values):
        if _is_whole(value, column):
            narrowest = max(narrowest, len(text))
        elif _PLACE.fullmatch(text) and "/" in text:
            narrowest = max(narrowest, len(text.rsplit("/", 1)[-1]) + 1)  # 1: the sign of what was cut
        elif _PLACE.fullmatch(text):
            narrowest = max(narrowest, len(text))
    return narrowest


def _shown_count(widths: Sequence[int], are_numbers: Sequence[bool], width: int) -> int:
    """Return how many columns, from the first, fit into a width when their texts are as short as texts get."""
    total = 0
    for count, (column_width, is_number) in enumerate(zip(widths, are_numbers)):
        total += column_width if is_number else min(column_width, _SHORTEST_CELL)
        if total + 2 * count > width:
            return max(1, count)
    return len(widths)


def _fitted_widths(
    widths: Sequence[int], narrowest: Sequence[int], are_numbers: Sequence[bool], width: int
) -> list[int]:
    """Return the widths of columns that fit into a width: texts become narrower, the widest first.

    Where ids need more, the table stays wider than that.
    """
    fitted = list(widths)
    while sum(fitted) + 2 * (len(fitted) - 1) > width:
        widest = None
        for place, column_width in enumerate(fitted):
            if are_numbers[place] or column_width <= narrowest[place]:
                continue
            if widest is None or column_width > fitted[widest]:
                widest = place
        if widest is None:
            break
        fitted[widest] -= 1
    return fitted


def _cut(text: str, most: int) -> str:
    """Return a text of at most so many characters; of a place, `FILE:LINE`, the end is left."""
    if len(text) <= most:
        return text
    if _PLACE.fullmatch(text):
        return f"\u2026{text[1 - most :]}"
    return f"{text[: most - 1]}\u2026"


def _fitted(
    shown_columns: list[Column], rows: list[list[Value]], cells: list[list[str]], width: int
) -> list[list[str]]:
    """Return the cells, those of the heading first, in lines of at most `width` columns.

    Texts are cut and then the last columns left out. Ids are never cut: lines with long ids are wider.
    """
    are_numbers = _are_numbers(shown_columns, rows)
    widths = []
    for texts_of_column in zip(*cells):
        widths.append(max([len(text) for text in texts_of_column]))
    count = _shown_count(widths, are_numbers, width)
    narrowest_widths = []
    for position in range(count):
        texts = [row[position] for row in cells[1:]]
        values = [row[position] for row in rows]
        narrowest_widths.append(_narrowest(texts, values, shown_columns[position]))
    fitted_widths = _fitted_widths(widths[:count], narrowest_widths, are_numbers[:count], width)
    fitted_cells = []
    for row_of_cells in cells:
        fitted_cells.append([_cut(text, most) for text, most in zip(row_of_cells, fitted_widths)])
    return fitted_cells


# ---- TSV, Markdown and LaTeX


def tsv(table: Table) -> Iterator[bytes]:
    """Yield the lines of a table as UTF-8 separated by tabs, for programs.

    Numbers are read back as the same, and no text is a formula to a spreadsheet.
    """
    yield ("\t".join(table.layout.keys) + "\n").encode()
    for row in table.rows:
        cells = [exact(value) for value in row]
        yield ("\t".join(cells) + "\n").encode("utf-8", "backslashreplace")


def exact(value: Value) -> str:
    """Return the cell of a value in a file for programs; empty for None."""
    if value is None:
        return ""
    if isinstance(value, str):
        return spreadsheet_cell(value)
    return repr(float(value)) if isinstance(value, float) else str(value)


def markdown(table: Table, top: int | None = None) -> Iterator[str]:
    """Yield the lines of a table in Markdown as GitHub reads it; `top` is the number of rows, None for all."""
    shown_columns, rows = table.for_people(top)
    yield _markdown_row([escape_markdown(column.title) for column in shown_columns])
    yield _markdown_row(["---:" if is_number else ":---" for is_number in _are_numbers(shown_columns, rows)])
    for row in rows:
        yield _markdown_row([_markdown_cell(value, column) for value, column in zip(row, shown_columns)])


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(value: Value, column: Column) -> str:
    """Return the cell of a value in Markdown."""
    if isinstance(value, str):
        return escape_markdown(value)
    return shown(value, column).replace("<", "&lt;")


def latex(table: Table, top: int | None = None) -> Iterator[str]:
    """Yield the lines of a table as a LaTeX `tabular` for the package booktabs; `top` is the number of rows."""
    shown_columns, rows = table.for_people(top)
    alignment = ["r" if is_number else "l" for is_number in _are_numbers(shown_columns, rows)]
    yield rf"\begin{{tabular}}{{{''.join(alignment)}}}"
    yield r"\toprule"
    yield _latex_row([escape_latex(column.title) for column in shown_columns])
    yield r"\midrule"
    for row in rows:
        yield _latex_row([_latex_cell(value, column) for value, column in zip(row, shown_columns)])
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_cell(value: Value, column: Column) -> str:
    """Return the cell of a value in LaTeX; numbers are mathematics, where a hyphen is a minus sign."""
    if value is None or isinstance(value, str):
        return escape_latex(value or "-")
    return f"${shown(value, column)}$".replace("%", r"\%")


# ---- HTML


class Cell(Record):
    """A cell of an HTML table that does more than show its value: markup before and after it, attributes and class."""

    value: Value
    before: str = ""
    after: str = ""
    attributes: str = ""
    kind: str = ""


def html(
    table: Table, top: int | None = None, *, caption: str | None = None, longest: int = LONGEST_LINE
) -> Iterator[str]:
    """Yield the lines of a table in HTML, with the exact value of each rounded number for sorting.

    Values may be cells. A column without a heading has its key in words. `top` is the number of rows, None for all;
    `caption` is the title unless given; `longest` is the number of characters that are left of a text.
    """
    shown_columns, rows = table.for_people(top)
    title = table.title.removesuffix(":") if caption is None else caption
    yield f'<table class="cs-score"><caption>{escaped(title)}</caption>'
    heads = []
    for column, is_number in zip(shown_columns, _are_numbers(shown_columns, rows)):
        heads.append(_head_cell(column, "number" if is_number else "text"))
    yield f"<thead><tr>{''.join(heads)}</tr></thead><tbody>"
    for row in rows:
        cells = [_data_cell(value, column, longest) for value, column in zip(row, shown_columns)]
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"


def _head_cell(column: Column, kind: str) -> str:
    """Return the heading of a column in HTML; a pointer over it shows what the values mean."""
    meaning = f' title="{escaped(column.meaning)}"' if column.meaning else ""
    heading = escaped(column.heading or title_case(column.key))
    return f'<th scope="col" data-key="{escaped(column.key)}" class="{kind}"{meaning}>{heading}</th>'


def _data_cell(value: Value | Cell, column: Column, longest: int) -> str:
    """Return a value, or a cell with markup, in HTML."""
    data = value if isinstance(value, Cell) else Cell(value)
    if data == Cell(None):
        return "<td></td>"
    is_text = isinstance(data.value, str)
    kinds = [] if is_text else ["number"]
    if data.kind:
        kinds.append(data.kind)
    attributes = f' class="{" ".join(kinds)}"' if kinds else ""
    if isinstance(data.value, float | int):
        attributes += _exact_attribute(data.value)
    content = escaped(shown(data.value, column, longest))
    if not is_text:
        content = with_minus_signs(content)
    return f"<td{attributes}{data.attributes}>{data.before}{content}{data.after}</td>"


def _exact_attribute(value: float) -> str:
    """Return the attribute with which a script sorts and copies a number that is shown in another form."""
    if isinstance(value, int) and value >= 0:
        return ""
    return f' data-exact="{exact(value)}"'


def words(key: str) -> str:
    """Return a key as words: `ldc_query` -> `LDC query`."""
    return key.replace("_", " ").replace("ldc ", "LDC ")


def title_case(key: str) -> str:
    """Return a key as a heading: `effect_size` -> `Effect size`."""
    text = words(key)
    return text[:1].upper() + text[1:]


def escaped(value: str) -> str:
    """Return a text for HTML, on one line."""
    return escape(one_line(value))


# ---- Data frames

_LARGEST_WHOLE: Final = (1 << 63) - 1
"""The largest whole number in a column of whole numbers of pandas."""


def frame(table: Table) -> pandas.DataFrame:
    """Return a data frame with all columns of the table.

    Texts that repeat are categories in the order in which they were met; whole numbers of which some are missing are
    `Int64`, other missing numbers NaN. Raises MissingExtraError without pandas, which the extra `frames` brings.
    """
    try:
        import pandas
    except ModuleNotFoundError:
        raise MissingExtraError("pandas", "frames") from None
    keys = table.layout.keys
    values_of_columns = list(zip(*table.rows)) or [()] * len(keys)
    series_by_key = {key: _series(pandas, values) for key, values in zip(keys, values_of_columns)}
    return pandas.DataFrame(series_by_key, copy=False)


def _series(pandas: Any, values: Sequence[Value]) -> Any:
    """Return the values of a column in the form of pandas, the package, that fits their types."""
    distinct_values = dict.fromkeys([value for value in values if value is not None])
    types = {type(value) for value in distinct_values}
    is_large = any(isinstance(value, int) and abs(value) > _LARGEST_WHOLE for value in distinct_values)
    if types <= {int, float} and not is_large:
        if types != {int}:
            return pandas.array(values, dtype="float64")
        return pandas.array(values, dtype="Int64" if None in values else "int64")
    if types == {str} and len(distinct_values) * 2 <= len(values):
        return pandas.Categorical(values, categories=pandas.Index(list(distinct_values), dtype=object))
    return pandas.Series(values, dtype=object)


# ---- All formats


def _are_numbers(shown_columns: list[Column], rows: list[list[Value]]) -> list[bool]:
    """Return for each column whether it holds no text: it is then aligned to the right."""
    are_numbers = []
    for position in range(len(shown_columns)):
        are_numbers.append(not any(_is_text(row[position]) for row in rows))
    return are_numbers


def _is_text(value: Value | Cell) -> bool:
    """Return whether a value, or the value of a cell, is a text."""
    if isinstance(value, Cell):
        value = value.value
    return isinstance(value, str)
