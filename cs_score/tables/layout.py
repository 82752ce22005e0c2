"""Make tables of documents, and write them as text, TSV, Markdown, LaTeX, HTML and data frames. A layout has the
columns of a table and a function that returns its rows; tables for people may be shorter than those for programs.

Cells may hold texts from input files, which are not trusted: each format escapes them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from cs_score.base.display import (
    LONGEST_LINE,
    align_columns,
    escape_latex,
    escape_markdown,
    one_line,
    safe_cell,
    spreadsheet_cell,
    with_minus_signs,
)
from cs_score.base.errors import MissingExtraError
from cs_score.base.records import Record

if TYPE_CHECKING:
    import pandas

LONGEST_CELL: Final = 40
"""The largest number of characters in a cell of a table for people; longer texts are cut."""

TOP: Final = 20
"""The largest number of rows in a table for people, unless they ask for another number."""

# ---- A table

Value: TypeAlias = str | int | float | None
Row: TypeAlias = Mapping[str, Any] | Record
"""The values of a row by the keys of the columns; if a key is missing, the cell is empty."""

Rows: TypeAlias = Callable[[Any], Iterable[Row]]
"""A function that returns the rows of a table from a document."""


class Format(Enum):
    """The format of the numbers of a column in tables for people; files for programs have all digits."""

    PLAIN = ".4f"  # whole numbers have no fraction
    GAIN = "+z.4f"
    CONTRIBUTION = "+z.6f"
    P = "p"  # as PLAIN, but `<0.0001` for smaller numbers except 0
    SHARE = ".1%"


class Column(Record):
    """A column of a table: the key of its values, its heading (by default the key), and what the values mean."""

    key: str
    heading: str = ""
    format: Format = Format.PLAIN
    meaning: str = ""

    @property
    def title(self) -> str:
        """The heading of the column in tables for people."""
        return self.heading or self.key


class Layout(Record):
    """The layout of a table: its name, its columns, and a function `rows` that takes a document and returns the rows.

    For programs, the table is written to the file `NAME.tsv`, which has all columns and rows. If `for_files` is False,
    the table is only for people; if `for_people` is False, it is only a file. In tables for people:

    * `shown_keys` are the keys of the columns that are shown; by default, all columns are.
    * `split_by` is the key of a column. Each of its values has a table of its own, with the value in place of % in the
      title.
    * A table with fewer rows than `min_rows` is left out.
    * `row_selection` says which rows of a long table are shown: the first ones (`top`), all rows (`whole`), or rows at
      equal distances (`spread`).
    * `max_text_length` is the largest number of characters of a text; longer texts are cut.
    * `total` returns the number of all rows, for documents that hold only some of them.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Rows
    shown_keys: tuple[str, ...] = ()
    split_by: str = ""
    min_rows: int = 0
    for_people: bool = True
    for_files: bool = True
    row_selection: Literal["top", "whole", "spread"] = "top"
    total: Callable[[Any], int] | None = None
    max_text_length: int = 40

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the columns in their order; they are the first line of the file for programs."""
        return tuple([column.key for column in self.columns])

    def table(self, document: Any) -> Table:
        """Return the table of a document: its rows, with a value for each column of the layout.

        A row has None in a column for which the document has no value.
        """
        keys = self.keys
        rows = []
        for row in self.rows(document):
            if isinstance(row, Mapping):
                values = [row.get(key) for key in keys]
            else:  # a record with the keys as names of its fields
                values = [getattr(row, key, None) for key in keys]
            rows.append(tuple(values))
        total = len(rows)
        if self.total is not None:
            total = self.total(document)  # the document may hold only some of its rows
        return Table(self, rows, total)


class PeopleTable(NamedTuple):
    """The columns and rows that are shown to people; each row has a value for each of these columns."""

    columns: list[Column]
    rows: list[list[Value]]


class Table(Record):
    """A table: its layout, and rows with a value for each column; None is an empty cell. If the layout has `split_by`,
    the key of a column, people see a separate table for each value of this column.

    `total` is the number of all rows. It is larger than the number of `rows` if the document does not hold them all.
    """

    layout: Layout
    rows: Sequence[tuple[Value, ...]]
    total: int

    @property
    def split_value(self) -> str:
        """The value of the column `split_by` in the first row, such as "org:founded"; empty if the table is not split.

        In the tables of `parts` all rows have this value.
        """
        if not self.layout.split_by or not self.rows:
            return ""
        position = self.layout.keys.index(self.layout.split_by)
        return str(self.rows[0][position])

    @property
    def title(self) -> str:
        """The title of the table. A % in it is replaced by the value of the column `split_by`, if there is one."""
        title = self.layout.title
        if self.layout.split_by and self.rows:
            return title.replace("%", safe_cell(self.split_value))
        return title

    def parts(self) -> Iterator[Table]:
        """Yield a table for each value of the column `split_by`, with the rows of this value.

        If the layout does not have this column, the only part is the table itself.
        """
        if not self.layout.split_by:
            yield self
            return
        position = self.layout.keys.index(self.layout.split_by)
        rows_by_value: dict[Value, list[tuple[Value, ...]]] = {}
        for row in self.rows:
            rows_by_value.setdefault(row[position], []).append(row)
        for rows in rows_by_value.values():
            yield Table(self.layout, rows, total=len(rows))

    def for_people(self, most_rows: int | None = None) -> PeopleTable:
        """Return the columns and rows that are shown to people.

        Columns without any values are left out, unless the table has no rows. `most_rows` is the largest number of
        rows, or None for all rows; the layout says which rows are shown.
        """
        rows = self._rows_for_people(most_rows)
        positions = self._shown_positions(rows)
        shown_columns = [self.layout.columns[position] for position in positions]
        shown_rows = []
        for row in rows:
            shown_rows.append([row[position] for position in positions])
        return PeopleTable(shown_columns, shown_rows)

    def _shown_positions(self, rows: Sequence[tuple[Value, ...]]) -> list[int]:
        """Return the positions of the columns in `rows` that are shown to people.

        The column `split_by` is left out, since its value is in the title. Columns without any value are left out, too.
        If there are no rows, no column counts as empty, so that the headings are shown.
        """
        keys = self.layout.keys
        has_rows = bool(rows)
        positions = []
        for key in self.layout.shown_keys or keys:
            position = keys.index(key)
            is_empty = has_rows and all(row[position] is None for row in rows)
            if key != self.layout.split_by and not is_empty:
                positions.append(position)
        return positions

    def _rows_for_people(self, most_rows: int | None) -> Sequence[tuple[Value, ...]]:
        """Return the rows that are shown to people: at most `most_rows` (None for all), chosen as the layout says."""
        row_selection = self.layout.row_selection
        if most_rows is None or row_selection == "whole":
            return self.rows
        if row_selection == "top":
            return self.rows[:most_rows]
        # "spread": rows at equal distances
        distance = max(1, math.ceil(len(self.rows) / most_rows))
        return self.rows[::distance]


def columns(*keys: str, **formats: Format) -> tuple[Column, ...]:
    """Return columns whose headings are their keys, as in `columns("unit", "gain", gain=Format.GAIN)`.

    `formats` has the formats of numbers by key; the others are plain.
    """
    return tuple([Column(key, format=formats.get(key, Format.PLAIN)) for key in keys])


def headed(**headings: str) -> tuple[Column, ...]:
    """Return columns from their keys and headings: `headed(a="A", score="Score")`."""
    return tuple([Column(key, heading) for key, heading in headings.items()])


# ---- Text


def shown(value: Value, column: Column, max_text_length: int = LONGEST_CELL) -> str:
    """Return a value of a column as text for people, on one line: `0.1235`, `<0.0001`, `12.5%`, or `-` for None.

    A text is cut if it has more than `max_text_length` characters.
    """
    if value is None:
        return "-"
    if isinstance(value, str):
        return safe_cell(value, max_text_length)
    if column.format is Format.P:  # a p-value
        is_too_small = 0 < value < 0.0001
        return "<0.0001" if is_too_small else f"{value:.4f}"
    if column.format is Format.PLAIN and isinstance(value, int):
        return str(value)
    return format(value, column.format.value)


def text_lines(table: Table, most_rows: int | None = TOP, width: int | None = None) -> Iterator[str]:
    """Yield the lines of a table for people. Each part has a blank line, a title, and aligned columns.

    `most_rows` is the largest number of rows, or None for all rows. `width` is the width of the terminal. If a line is
    wider, texts are cut, starting with the longest, and then the last columns are left out. Ids are never cut. If
    `width` is None, nothing is cut.
    """
    layout = table.layout
    if not layout.for_people:
        return
    for part in table.parts():
        if len(part.rows) >= layout.min_rows:
            yield ""
            yield from _lines_of_part(part, most_rows, width)


def _lines_of_part(part: Table, most_rows: int | None, width: int | None) -> Iterator[str]:
    """Yield the lines of one table: its title and its aligned columns, or "none" if it has no rows.

    `most_rows` is the largest number of rows, or None for all rows. `width` is the width of the terminal; if it is
    None, nothing is cut.
    """
    shown_columns, rows = part.for_people(most_rows)
    title = _title_with_counts(part, len(rows))
    if width is None:
        yield title
    else:
        yield from wrap(title, width)
    if rows:
        yield from _aligned_lines(shown_columns, rows, part.layout.max_text_length, width)
    else:
        yield "none"


def _title_with_counts(table: Table, shown_count: int) -> str:
    """Return the title of a table; if only some rows are shown, it says how many: "By slot (10 of 35):"."""
    if shown_count >= table.total:
        return table.title
    return f"{table.title.removesuffix(':')} ({shown_count} of {table.total}):"


def _aligned_lines(
    shown_columns: list[Column], rows: list[list[Value]], max_text_length: int, width: int | None
) -> Iterable[str]:
    """Return the headings and rows of a table as lines with aligned columns.

    Texts are cut to `max_text_length` characters. If a line is still wider than `width`, texts are cut further, and
    then the last columns are left out. If `width` is None, no column is left out, and only texts of more than
    `LONGEST_LINE` characters are cut.
    """
    if width is None:
        max_text_length = LONGEST_LINE
    cells = [[column.title for column in shown_columns]]
    for row in rows:
        cells.append([_cell_for_people(value, column, max_text_length) for value, column in zip(row, shown_columns)])
    if width is not None:
        cells = _fit_cells(shown_columns, rows, cells, width)
    column_count = len(cells[0])  # without the columns that were left out
    are_numbers = _are_numbers(shown_columns, rows)[:column_count]
    return align_columns(cells, are_numbers)


_PLACE_PATTERN: Final = re.compile(r".*:\d+")

_GAP_WIDTH: Final = 2
"""The number of blanks between two columns."""

_SHORTEST_CELL: Final = 8
"""The smallest number of characters to which a text is cut in a table that is too wide."""

_ID_KEYS: Final = frozenset({"unit", "query", "run", "run_id", "name", "system", "a", "b", "node", "class", "about"})
"""The keys of columns with ids. Ids are never cut, because users copy them into options such as --unit and --run."""

_GROUP_KEYS: Final = frozenset({"group", "dimension", "category", "kind", "what"})
"""The keys of columns with texts that may be ids: if there is no blank in such a text, it is not cut."""


def _is_never_cut(value: Value, column: Column) -> bool:
    """Return whether a value must be shown in full, because it is an id or may be an id."""
    if column.key in _ID_KEYS:
        return True
    # The name of a group may be an id, such as that of a query. Ids do not contain spaces.
    return column.key in _GROUP_KEYS and isinstance(value, str) and " " not in value


def _cell_for_people(value: Value, column: Column, max_text_length: int) -> str:
    """Return a value as text for people: ids in full, other texts cut to `max_text_length` characters.

    Even an id is cut to `LONGEST_LINE` characters.
    """
    if _is_never_cut(value, column):
        max_text_length = LONGEST_LINE
    return shown(value, column, max_text_length)


def _smallest_width(texts: Sequence[str], values: Sequence[Value], column: Column) -> int:
    """Return the smallest width to which a column of texts may be cut.

    Ids are never cut, nor are the titles of columns with ids or groups. A place in a file, such as `runs/a.tab:12`,
    keeps the name of the file and the line number. `texts` are the `values` as they are shown.
    """
    longest_text = max([len(text) for text in texts])
    smallest_widths = [min(_SHORTEST_CELL, longest_text)]
    if column.key in _ID_KEYS | _GROUP_KEYS:
        smallest_widths.append(len(column.title))
    for text, value in zip(texts, values):
        kept_text = text if _is_never_cut(value, column) else _kept_part(text)
        smallest_widths.append(len(kept_text))
    return max(smallest_widths)


def _kept_part(text: str) -> str:
    """Return the part of a text that must not be cut. In a place in a file, this is the file name and the line number.

    For example, "runs/a.tab:12" gives "…a.tab:12". For any other text, the result is empty.
    """
    if not _PLACE_PATTERN.fullmatch(text):
        return ""
    _, slash, file_and_line = text.rpartition("/")
    return f"\u2026{file_and_line}" if slash else text


def _count_of_fitting_columns(widths: Sequence[int], are_numbers: Sequence[bool], width: int) -> int:
    """Return how many of the first columns fit into a line of `width` if their texts are cut as far as possible.

    At least one column is shown. `widths` are the widths of the columns before texts are cut.
    """
    width_of_line = 0
    count = 0
    for column_width, is_number in zip(widths, are_numbers):
        smallest_width = column_width if is_number else min(column_width, _SHORTEST_CELL)
        gap = _GAP_WIDTH if count > 0 else 0
        width_of_line += gap + smallest_width
        if count > 0 and width_of_line > width:
            break
        count += 1
    return count


def _fitted_widths(
    widths: Sequence[int], narrowest: Sequence[int], are_numbers: Sequence[bool], width: int
) -> list[int]:
    """Return widths of columns with which a line has at most `width` characters.

    Columns of texts become narrower, always the widest one first, but none becomes narrower than its smallest width in
    `narrowest`. The line stays wider than `width` if that is not enough.
    """
    fitted = list(widths)
    total_gap = _GAP_WIDTH * (len(fitted) - 1)
    text_positions = [position for position, is_number in enumerate(are_numbers) if not is_number]
    while sum(fitted) + total_gap > width:
        # Take one character from the widest column that may become narrower.
        shrinkable_positions = [position for position in text_positions if fitted[position] > narrowest[position]]
        if not shrinkable_positions:
            break
        widest_position = max(shrinkable_positions, key=lambda position: fitted[position])
        fitted[widest_position] -= 1
    return fitted


def _cut(text: str, max_text_length: int) -> str:
    """Return a text cut to at most `max_text_length` characters, with an ellipsis in place of the rest.

    Texts are cut at the end, except for places in a file (`FILE:LINE`), which are cut at the beginning.
    """
    if len(text) <= max_text_length:
        return text
    kept_length = max_text_length - 1
    if _PLACE_PATTERN.fullmatch(text):
        return "\u2026" + text[-kept_length:]
    return text[:kept_length] + "\u2026"


def _fit_cells(
    shown_columns: list[Column], rows: list[list[Value]], cells: list[list[str]], width: int
) -> list[list[str]]:
    """Return the cells of a table, cut so that its lines have at most `width` characters.

    `cells` has the headings, followed by the values of `rows` as texts. If cutting texts is not enough, the last
    columns are left out. Ids are never cut, so lines with long ids may still be wider.
    """
    are_numbers = _are_numbers(shown_columns, rows)
    whole_widths = [_longest_length(texts_of_column) for texts_of_column in zip(*cells)]
    # First choose the columns that fit with the shortest texts; then cut their texts no more than is needed.
    column_count = _count_of_fitting_columns(whole_widths, are_numbers, width)
    smallest_widths = _smallest_widths(shown_columns[:column_count], rows, cells[1:])
    fitted_widths = _fitted_widths(whole_widths[:column_count], smallest_widths, are_numbers[:column_count], width)
    fitted_cells = []
    for row_of_cells in cells:
        # `fitted_widths` has one width for each column that is kept, so `zip` leaves out the others.
        fitted_cells.append([_cut(text, max_text_length) for text, max_text_length in zip(row_of_cells, fitted_widths)])
    return fitted_cells


def _longest_length(texts: Iterable[str]) -> int:
    """Return the number of characters of the longest of some texts."""
    return max([len(text) for text in texts])


def _smallest_widths(
    shown_columns: Sequence[Column], rows: Sequence[Sequence[Value]], texts: Sequence[Sequence[str]]
) -> list[int]:
    """Return the smallest width to which each column may be cut; `texts` are the values of `rows` as they are shown."""
    widths = []
    for position, column in enumerate(shown_columns):
        texts_of_column = [row[position] for row in texts]
        values_of_column = [row[position] for row in rows]
        widths.append(_smallest_width(texts_of_column, values_of_column, column))
    return widths


# ---- TSV, Markdown and LaTeX


def tsv(table: Table) -> Iterator[bytes]:
    """Yield the lines of a table for programs, as UTF-8 with tabs between the cells; the first line has the keys.

    Numbers have all digits, so that reading them gives the same numbers. Texts that a spreadsheet could take for a
    formula are escaped.
    """
    head_line = "\t".join(table.layout.keys) + "\n"
    yield head_line.encode()
    for row in table.rows:
        line = "\t".join([exact_cell(value) for value in row]) + "\n"
        yield line.encode("utf-8", "backslashreplace")


def exact_cell(value: Value) -> str:
    """Return a value as the text of a cell in a file for programs: all digits of a number, empty for None.

    Texts that a spreadsheet could take for a formula are escaped.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return spreadsheet_cell(value)
    if isinstance(value, float):
        return repr(float(value))  # without `float`, NumPy numbers would show their type
    return str(value)


def markdown(table: Table, most_rows: int | None = None) -> Iterator[str]:
    """Yield the lines of a table in GitHub Markdown; `most_rows` is the largest number of rows, or None for all."""
    shown_columns, rows = table.for_people(most_rows)
    are_numbers = _are_numbers(shown_columns, rows)
    yield _markdown_row([escape_markdown(column.title) for column in shown_columns])
    yield _markdown_row(["---:" if is_number else ":---" for is_number in are_numbers])
    for row in rows:
        yield _markdown_row([_markdown_cell(value, column) for value, column in zip(row, shown_columns)])


def _markdown_row(cells: Iterable[str]) -> str:
    """Return cells as a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def _markdown_cell(value: Value, column: Column) -> str:
    """Return a value as the text of a cell in Markdown."""
    if isinstance(value, str):
        return escape_markdown(value)
    return shown(value, column).replace("<", "&lt;")  # the only special character in a number, as in "<0.001"


def latex(table: Table, most_rows: int | None = None) -> Iterator[str]:
    """Yield the lines of a table as a LaTeX `tabular` for the package booktabs.

    `most_rows` is the largest number of rows, or None for all.
    """
    shown_columns, rows = table.for_people(most_rows)
    are_numbers = _are_numbers(shown_columns, rows)
    alignment = "".join(["r" if is_number else "l" for is_number in are_numbers])
    yield rf"\begin{{tabular}}{{{alignment}}}"
    yield r"\toprule"
    yield latex_row([escape_latex(column.title) for column in shown_columns])
    yield r"\midrule"
    for row in rows:
        yield latex_row([_latex_cell(value, column) for value, column in zip(row, shown_columns)])
    yield r"\bottomrule"
    yield r"\end{tabular}"


def latex_row(cells: Iterable[str]) -> str:
    """Return cells as a row of a LaTeX table."""
    return " & ".join(cells) + r" \\"


def _latex_cell(value: Value, column: Column) -> str:
    """Return a value as the text of a cell in LaTeX, a hyphen for None and for an empty text.

    Numbers are in math mode, which shows a hyphen as a minus sign.
    """
    if value is None or isinstance(value, str):
        return escape_latex(value or "-")
    number = shown(value, column).replace("%", r"\%")
    return f"${number}$"


# ---- HTML


class Cell(Record):
    """A cell of an HTML table with markup before and after its value, further attributes, and a class (`kind`)."""

    value: Value
    before: str = ""
    after: str = ""
    attributes: str = ""
    kind: str = ""


def html(
    table: Table, most_rows: int | None = None, *, caption: str | None = None, max_text_length: int = LONGEST_LINE
) -> Iterator[str]:
    """Yield the lines of a table in HTML. Rounded numbers have their exact value in an attribute, for sorting.

    A value may be a `Cell` with markup. By default, the heading of a column is its key in words. `most_rows` is the
    largest number of rows, or None for all. `caption` defaults to the title. Texts are cut to `max_text_length`
    characters.
    """
    shown_columns, rows = table.for_people(most_rows)
    title = table.title.removesuffix(":") if caption is None else caption
    yield f'<table class="cs-score"><caption>{escaped(title)}</caption>'
    heads = []
    for column, is_number in zip(shown_columns, _are_numbers(shown_columns, rows)):
        heads.append(_head_cell(column, "number" if is_number else "text"))
    yield f"<thead><tr>{''.join(heads)}</tr></thead><tbody>"
    for row in rows:
        cells = [_data_cell(value, column, max_text_length) for value, column in zip(row, shown_columns)]
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"


def _head_cell(column: Column, kind: str) -> str:
    """Return the heading of a column in HTML, with the meaning of its values as a tooltip.

    `kind` is the class of the heading: `number` or `text`.
    """
    meaning = f' title="{escaped(column.meaning)}"' if column.meaning else ""
    heading = escaped(column.heading or title_case(column.key))
    return f'<th scope="col" data-key="{escaped(column.key)}" class="{kind}"{meaning}>{heading}</th>'


def _data_cell(value: Value | Cell, column: Column, max_text_length: int) -> str:
    """Return a cell of an HTML table, `<td>...</td>`, from a value or a `Cell` with markup.

    Texts are cut to `max_text_length` characters. A cell with neither a value nor markup is empty. A cell that has
    markup but no value shows a hyphen as its value.
    """
    marked_value = value if isinstance(value, Cell) else Cell(value)
    if marked_value == Cell(None):
        return "<td></td>"
    content = escaped(shown(marked_value.value, column, max_text_length))
    if not _is_text(marked_value):
        content = with_minus_signs(content)
    attributes = _attributes_of_cell(marked_value)
    return f"<td{attributes}>{marked_value.before}{content}{marked_value.after}</td>"


def _attributes_of_cell(marked_value: Cell) -> str:
    """Return the attributes of a cell in HTML: ` class="number" data-exact="-0.25"`, or an empty text."""
    classes = [] if _is_text(marked_value) else ["number"]
    if marked_value.kind:
        classes.append(marked_value.kind)
    attributes = f' class="{" ".join(classes)}"' if classes else ""
    if isinstance(marked_value.value, float | int):
        attributes += _exact_attribute(marked_value.value)
    return attributes + marked_value.attributes


def _exact_attribute(value: float) -> str:
    """Return an attribute with the exact value of a number, for the page's script to sort and copy.

    The result is empty for numbers that are shown exactly. Fractions are not, because they are rounded, and neither are
    negative numbers, which are shown with a minus sign instead of a hyphen.
    """
    is_shown_exactly = isinstance(value, int) and value >= 0
    return "" if is_shown_exactly else f' data-exact="{exact_cell(value)}"'


def words(key: str) -> str:
    """Return a key as words for people: `ldc_query` -> `LDC query`."""
    return key.replace("_", " ").replace("ldc ", "LDC ")


def title_case(key: str) -> str:
    """Return a key as a heading: `effect_size` -> `Effect size`."""
    text = words(key)
    return text[:1].upper() + text[1:]


def escaped(value: str) -> str:
    """Return a text on one line with the special characters of HTML escaped."""
    return escape(one_line(value))


# ---- Data frames

_LARGEST_WHOLE: Final = (1 << 63) - 1
"""The largest whole number that a column of whole numbers of pandas can hold."""


def frame(table: Table) -> pandas.DataFrame:
    """Return a pandas data frame with all columns and rows of a table.

    A column of texts that repeat becomes a categorical column, with the categories in the order of their first rows.
    Whole numbers have the type `Int64` if some are missing; other missing numbers are NaN. Raises MissingExtraError if
    pandas is not installed, which is part of the extra `frames`.
    """
    try:
        import pandas
    except ModuleNotFoundError:
        raise MissingExtraError("pandas", "frames") from None
    series_by_key = {}
    for position, key in enumerate(table.layout.keys):
        values = [row[position] for row in table.rows]
        series_by_key[key] = _series(pandas, values)
    return pandas.DataFrame(series_by_key, copy=False)


def _series(pandas: Any, values: Sequence[Value]) -> Any:
    """Return the values of a column as an array or series of pandas, with integers, floats, categories or objects.

    `pandas` is the module. It is an argument because it is imported only if it is needed.
    """
    distinct_values = dict.fromkeys([value for value in values if value is not None])
    types = {type(value) for value in distinct_values}
    has_large_number = any(_is_too_large(value) for value in distinct_values)
    has_only_whole_numbers = types == {int}
    if has_only_whole_numbers and not has_large_number:
        return pandas.array(values, dtype="Int64" if None in values else "int64")
    has_only_numbers = types <= {int, float}
    if has_only_numbers and not has_large_number:
        return pandas.array(values, dtype="float64")
    occur_twice_on_average = len(distinct_values) * 2 <= len(values)
    if types == {str} and occur_twice_on_average:  # categories save memory: each text is kept only once
        categories = pandas.Index(list(distinct_values), dtype=object)
        return pandas.Categorical(values, categories=categories)
    return pandas.Series(values, dtype=object)


def _is_too_large(value: Value) -> bool:
    """Return whether a value is a whole number that a column of whole numbers of pandas cannot hold."""
    return isinstance(value, int) and abs(value) > _LARGEST_WHOLE


# ---- All formats


def _are_numbers(shown_columns: list[Column], rows: list[list[Value]]) -> list[bool]:
    """Return whether the values of each column are numbers, which are aligned to the right: `[False, True]`."""
    are_numbers = []
    for position in range(len(shown_columns)):
        are_numbers.append(not any(_is_text(row[position]) for row in rows))
    return are_numbers


def _is_text(value: Value | Cell) -> bool:
    """Return whether a value, or the value of a `Cell`, is a text."""
    if isinstance(value, Cell):
        value = value.value
    return isinstance(value, str)
