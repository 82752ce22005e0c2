"""Tables: what stands in one, and how it looks as text, TSV, Markdown, LaTeX, HTML and data frame, for all there are.

Texts of inputs are untrusted: each renderer escapes them for where they go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

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

# ---- What stands in a table

Value: TypeAlias = str | int | float | None
Row: TypeAlias = Mapping[str, Any] | Record
"""Values by the keys of the columns; a key that a row lacks is an empty cell."""

Rows: TypeAlias = Callable[[Any], Iterable[Row]]


class Format(Enum):
    """How people are shown the numbers of a column; files for programs have them in full."""

    PLAIN = ".4f"  # of numbers with a fraction
    GAIN = "+z.4f"
    CONTRIBUTION = "+z.6f"
    P = "p"  # as PLAIN; what is smaller but not 0 is <0.0001
    SHARE = ".1%"


class Column(Record):
    """A column: the key of its values, its heading where that is another, and what the values mean."""

    key: str
    heading: str = ""
    format: Format = Format.PLAIN
    meaning: str = ""

    @property
    def title(self) -> str:
        """What stands above it in tables for people."""
        return self.heading or self.key


class Layout(Record):
    """A table of a document. The name is that of its file; `rows` finds its rows in a document.

    For people: `shown` are the keys of the columns, all unless given; there is a table for each value of the column
    `by`, which stands for % in the title; tables of less than `fewest` rows are left out, and the whole table where it
    is not `for_people`; one that is not an `is_file` is for them alone. `most` says which rows they see of many: the
    first ones (top), all (whole), or some at equal distances (spread), `longest` how many characters of a text. `total`
    counts all rows there are where a document does not hold them all.
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
        return tuple(column.key for column in self.columns)

    def table(self, document: Any) -> Table:
        """The table of one document."""
        keys = self.keys
        rows = [
            tuple(map(row.get, keys)) if isinstance(row, Mapping) else tuple(getattr(row, key, None) for key in keys)
            for row in self.rows(document)
        ]
        return Table(self, rows, len(rows) if self.total is None else self.total(document))


class Table(Record):
    """A layout with the rows of one document, a value for each column (None: an empty cell)."""

    layout: Layout
    rows: Sequence[tuple[Value, ...]]
    total: int

    @property
    def part(self) -> str:
        """The value of the column `by` of which this table is the part."""
        by = self.layout.by
        return str(self.rows[0][self.layout.keys.index(by)]) if by and self.rows else ""

    @property
    def title(self) -> str:
        """What stands above it."""
        title = self.layout.title
        return title.replace("%", cell(self.part)) if self.layout.by and self.rows else title

    def parts(self) -> Iterator[Table]:
        """A table for each value of the column `by`; the table itself where there is no such column."""
        if not self.layout.by:
            yield self
            return
        at = self.layout.keys.index(self.layout.by)
        parts: dict[Value, list[tuple[Value, ...]]] = {}
        for row in self.rows:
            parts.setdefault(row[at], []).append(row)
        yield from (Table(self.layout, rows, len(rows)) for rows in parts.values())

    def for_people(self, top: int | None = None) -> tuple[list[Column], list[list[Value]]]:
        """The columns that people see, those without any value left out, and their values in the rows that they see
        (None: in all rows).
        """
        rows = self.rows
        if top is not None and self.layout.most == "top":
            rows = rows[:top]
        elif top is not None and self.layout.most == "spread":
            rows = rows[:: max(1, -(-len(rows) // top))]
        keys = self.layout.keys
        shown = [keys.index(key) for key in self.layout.shown or keys if key != self.layout.by]
        filled = [at for at in shown if not rows or any(row[at] is not None for row in rows)]
        return [self.layout.columns[at] for at in filled], [[row[at] for at in filled] for row in rows]


def columns(*keys: str, **formats: Format) -> tuple[Column, ...]:
    """Columns whose headings are their keys; `formats` by key."""
    return tuple(Column(key, format=formats.get(key, Format.PLAIN)) for key in keys)


def headed(**headings: str) -> tuple[Column, ...]:
    """Columns by their keys, with headings."""
    return tuple(Column(key, heading) for key, heading in headings.items())


# ---- How it looks


def shown(value: Value, column: Column, longest: int = LONGEST_CELL) -> str:
    """A value as people see it, on one line; `-` for none."""
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
    """Lines with aligned columns below a title, a blank line before each table; what is no table for people is none.

    `top`: the rows of long tables, None for all. In lines of at most `width` columns texts are cut, the longest first,
    and then the last columns left out; ids are never cut. None for a width: nothing is cut to fit.
    """
    layout = table.layout
    for part in table.parts() if layout.for_people else ():
        if len(part.rows) < layout.fewest:
            continue
        head, rows = part.for_people(top)
        yield ""
        title = part.title
        if len(rows) < part.total:
            title = f"{title.removesuffix(':')} ({len(rows)} of {part.total}):"
        yield from [title] if width is None else wrap(title, width)
        longest = LONGEST_LINE if width is None else layout.longest
        cells = [[column.title for column in head]]
        for row in rows:
            cells.append([_cell_for_people(value, column, longest) for value, column in zip(row, head)])
        if not rows:
            yield "none"
            continue
        if width is not None:
            cells = _fitted(head, rows, cells, width)
        yield from align_columns(cells, _to_the_right(head, rows)[: len(cells[0])])


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
    narrowest = min(_SHORTEST_CELL, max(map(len, texts)))
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
    head: Sequence[Column], rows: Sequence[Sequence[Value]], cells: list[list[str]], width: int
) -> list[list[str]]:
    """Return the cells, those of the heading first, in lines of at most `width` columns.

    Texts are cut and then the last columns left out. Ids are never cut: lines with long ids are wider.
    """
    are_numbers = _to_the_right(list(head), [list(row) for row in rows])
    widths = [max(map(len, column)) for column in zip(*cells)]
    count = _shown_count(widths, are_numbers, width)
    narrowest = []
    for place in range(count):
        texts = [row[place] for row in cells[1:]]
        narrowest.append(_narrowest(texts, [row[place] for row in rows], head[place]))
    fitted = _fitted_widths(widths[:count], narrowest, are_numbers[:count], width)
    return [[_cut(text, most) for text, most in zip(row, fitted)] for row in cells]


def tsv(table: Table) -> Iterator[bytes]:
    """UTF-8 text separated by tabs; numbers read back as the same, no text is a formula to a spreadsheet."""
    yield ("\t".join(table.layout.keys) + "\n").encode()
    for row in table.rows:
        yield ("\t".join(map(exact, row)) + "\n").encode("utf-8", "backslashreplace")


def exact(value: Value) -> str:
    """A cell of a file for programs; empty for none."""
    if value is None:
        return ""
    if isinstance(value, str):
        return spreadsheet_cell(value)
    return repr(float(value)) if isinstance(value, float) else str(value)


def markdown(table: Table, top: int | None = None) -> Iterator[str]:
    """Lines of a table as CommonMark with GitHub's tables has it."""
    head, rows = table.for_people(top)
    lines = [[escape_markdown(column.title) for column in head]]
    lines.append(["---:" if right else ":---" for right in _to_the_right(head, rows)])
    for row in rows:
        lines.append(
            [
                escape_markdown(value) if isinstance(value, str) else shown(value, column).replace("<", "&lt;")
                for value, column in zip(row, head)
            ]
        )
    yield from (f"| {' | '.join(cells)} |" for cells in lines)


def latex(table: Table, top: int | None = None) -> Iterator[str]:
    """Lines of a `tabular` for the package booktabs. Numbers go into mathematics, where a hyphen is a minus sign."""
    head, rows = table.for_people(top)

    def cell(value: Value, column: Column) -> str:
        if value is None or isinstance(value, str):
            return escape_latex(value or "-")
        return f"${shown(value, column)}$".replace("%", r"\%")

    yield rf"\begin{{tabular}}{{{''.join('r' if right else 'l' for right in _to_the_right(head, rows))}}}"
    yield r"\toprule"
    yield " & ".join(escape_latex(column.title) for column in head) + r" \\"
    yield r"\midrule"
    yield from (" & ".join(map(cell, row, head)) + r" \\" for row in rows)
    yield r"\bottomrule"
    yield r"\end{tabular}"


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
    """Lines of an HTML table; a rounded number's exact value is there for sorting. Values may be cells. Keys of columns
    stand as words where there is no heading; `longest` are the characters that are left of a text.
    """
    head, rows = table.for_people(top)
    kinds = ["number" if right else "text" for right in _to_the_right(head, rows)]
    title = table.title.removesuffix(":") if caption is None else caption
    yield f'<table class="cs-score"><caption>{escaped(title)}</caption>'
    heads = []
    for column, kind in zip(head, kinds):
        meaning = f' title="{escaped(column.meaning)}"' if column.meaning else ""
        words = escaped(column.heading or title_case(column.key))
        heads.append(f'<th scope="col" data-key="{escaped(column.key)}" class="{kind}"{meaning}>{words}</th>')
    yield "<thead><tr>" + "".join(heads) + "</tr></thead><tbody>"
    for row in rows:
        yield "<tr>" + "".join(_data(value, column, longest) for value, column in zip(row, head)) + "</tr>"
    yield "</tbody></table>"


def _data(value: Value | Cell, column: Column, longest: int) -> str:
    given = value if isinstance(value, Cell) else Cell(value)
    if given == Cell(None):
        return "<td></td>"
    kinds = " ".join(filter(None, ("" if isinstance(given.value, str) else "number", given.kind)))
    attributes = f' class="{kinds}"' if kinds else ""
    if isinstance(given.value, float | int):
        attributes += _exact_attribute(given.value)
    content = escaped(shown(given.value, column, longest))
    if not isinstance(given.value, str):
        content = with_minus_signs(content)
    return f"<td{attributes}{given.attributes}>{given.before}{content}{given.after}</td>"


def _exact_attribute(value: float) -> str:
    """Return the attribute with which a script sorts and copies a number that is shown in another form."""
    if isinstance(value, int) and value >= 0:
        return ""
    return f' data-exact="{exact(value)}"'


def words(key: str) -> str:
    """A key as words."""
    return key.replace("_", " ").replace("ldc ", "LDC ")


def title_case(key: str) -> str:
    """A key as a heading."""
    return words(key)[:1].upper() + words(key)[1:]


def escaped(value: str) -> str:
    """A text for HTML, on one line."""
    return escape(one_line(value))


_LARGEST_WHOLE: Final = (1 << 63) - 1
"""The largest whole number in a column of whole numbers of pandas."""


def frame(table: Table) -> pandas.DataFrame:
    """A data frame with all columns of the table.

    Texts that repeat are categories in the order in which they were met; whole numbers of which some are missing are
    `Int64`, other missing numbers NaN. Raises MissingExtraError without pandas, which the extra `frames` brings.
    """
    try:
        import pandas
    except ModuleNotFoundError:
        raise MissingExtraError("pandas", "frames") from None

    def series(values: Sequence[Value]) -> Any:
        known = dict.fromkeys(value for value in values if value is not None)
        kinds = set(map(type, known))
        is_large = any(isinstance(value, int) and abs(value) > _LARGEST_WHOLE for value in known)
        if kinds <= {int, float} and not is_large:
            whole = "Int64" if len(known) and None in values else "int64"
            return pandas.array(values, dtype=whole if kinds == {int} else "float64")
        if kinds == {str} and len(known) * 2 <= len(values):
            return pandas.Categorical(values, categories=pandas.Index(list(known), dtype=object))
        return pandas.Series(values, dtype=object)

    keys = table.layout.keys
    columns = list(zip(*table.rows)) or [()] * len(keys)
    return pandas.DataFrame({key: series(values) for key, values in zip(keys, columns)}, copy=False)


def _to_the_right(head: list[Column], rows: list[list[Value]]) -> list[bool]:
    """Whether a column holds no text."""
    values: list[list[Any]] = [[row[at] for row in rows] for at in range(len(head))]
    return [
        not any(isinstance(each.value if isinstance(each, Cell) else each, str) for each in column) for column in values
    ]
