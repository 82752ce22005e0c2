"""Tables as text, tab-separated values, Markdown, LaTeX, HTML and data frames: each once, for every table there is.

Texts of inputs are untrusted: each renderer escapes them for where they go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from cs_score.base.display import LONGEST_LINE, aligned, cell, escape_latex, escape_markdown, one_line, spreadsheet_cell
from cs_score.base.errors import MissingExtraError
from cs_score.base.records import Record
from cs_score.tables.layout import Column, Format, Table, Value

if TYPE_CHECKING:
    import pandas

LONGEST_CELL: Final = 40
"""Characters of a text that a cell of a table for people has."""

TOP: Final = 20
"""Rows that people see of a long table unless they ask for another number."""


def shown(value: Value, column: Column, longest: int = LONGEST_CELL) -> str:
    """A value as people see it, on one line; `-` for none."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return cell(value, longest)
    if column.format is Format.GAIN:
        return f"{value:+z.4f}"
    if column.format is Format.CONTRIBUTION:
        return f"{value:+z.6f}"
    if column.format is Format.P:
        return "<0.0001" if 0 < value < 0.0001 else f"{value:.4f}"
    if column.format is Format.SHARE:
        return f"{value:.1%}"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def text(table: Table, top: int | None = TOP, width: int | None = None) -> Iterator[str]:
    """Lines with aligned columns below a title, a blank line before each table; what is no table for people is none.

    `top`: the rows of long tables, None for all. In lines of at most `width` columns texts are cut, the longest first,
    and then the last columns left out.
    """
    layout = table.layout
    for part in table.parts() if layout.for_people else ():
        if len(part.rows) < layout.fewest:
            continue
        head, rows = part.for_people(top)
        yield ""
        title = title_of(part)
        if len(rows) < part.total:
            title = f"{title.removesuffix(':')} ({len(rows)} of {part.total}):"
        yield from [title] if width is None else wrap(title, width)
        longest = [layout.longest] * len(head)
        cells = [[column.title for column in head], *([*map(shown, row, head, longest)] for row in rows)]
        to_the_right = _to_the_right(head, rows)
        yield from aligned(_fitted(cells, to_the_right, width), to_the_right) if rows else ["none"]


_PLACE: Final = re.compile(r".*:\d+")

_SHORTEST_CELL: Final = 8
"""Characters that are left of a text in a table that is too wide."""


def _fitted(cells: list[list[str]], are_numbers: list[bool], width: int | None) -> list[list[str]]:
    """Rows of cells that fit into lines of so many columns, with texts cut and the last columns left out."""
    widths = [max(map(len, column)) for column in zip(*cells)]
    while width is not None and sum(widths) + 2 * (len(widths) - 1) > width:
        texts = [at for at, size in enumerate(widths) if not are_numbers[at] and size > _SHORTEST_CELL]
        if texts:
            widths[max(texts, key=widths.__getitem__)] -= 1
        elif len(widths) > 1:
            widths.pop()
        else:
            break
    return [[_cut(text, most) for text, most in zip(row, widths)] for row in cells]


def _cut(text: str, most: int) -> str:
    """A text of at most so many characters; of a place, `FILE:LINE`, the end is kept."""
    if len(text) <= most:
        return text
    return f"\u2026{text[1 - most :]}" if _PLACE.fullmatch(text) else f"{text[: most - 1]}\u2026"


def tsv(table: Table) -> Iterator[bytes]:
    """UTF-8 text separated by tabs; numbers read back as the same, no text is a formula to a spreadsheet."""
    yield ("\t".join(table.keys) + "\n").encode()
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
    rule = ["---:" if right else ":---" for right in _to_the_right(head, rows)]
    yield _bars(escape_markdown(column.title) for column in head)
    yield _bars(rule)
    for row in rows:
        yield _bars(
            escape_markdown(value) if isinstance(value, str) else shown(value, column).replace("<", "&lt;")
            for value, column in zip(row, head)
        )


def latex(table: Table, top: int | None = None) -> Iterator[str]:
    """Lines of a `tabular` for the package booktabs. Numbers go into mathematics, where a hyphen is a minus sign."""
    head, rows = table.for_people(top)
    yield rf"\begin{{tabular}}{{{''.join('r' if right else 'l' for right in _to_the_right(head, rows))}}}"
    yield r"\toprule"
    yield " & ".join(escape_latex(column.title) for column in head) + r" \\"
    yield r"\midrule"
    for row in rows:
        cells = (_latex_cell(value, column) for value, column in zip(row, head))
        yield " & ".join(cells) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _latex_cell(value: Value, column: Column) -> str:
    if value is None or isinstance(value, str):
        return escape_latex(value or "-")
    return f"${shown(value, column)}$".replace("%", r"\%")


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
    """Lines of an HTML table; a rounded number's exact value is there for sorting. Values may be cells.

    Keys of columns stand as words where there is no heading; `longest` are the characters that are left of a text.
    """
    head, rows = table.for_people(top)
    kinds = ["number" if right else "text" for right in _to_the_right(head, rows)]
    title = title_of(table).removesuffix(":") if caption is None else caption
    yield f'<table class="cs-score"><caption>{escaped(title)}</caption>'
    yield "<thead><tr>" + "".join(map(_heading, head, kinds)) + "</tr></thead><tbody>"
    for row in rows:
        yield "<tr>" + "".join(_data(value, column, longest) for value, column in zip(row, head)) + "</tr>"
    yield "</tbody></table>"


def _heading(column: Column, kind: str) -> str:
    meaning = f' title="{escaped(column.meaning)}"' if column.meaning else ""
    words = column.heading or title_case(column.key)
    return f'<th scope="col" data-key="{escaped(column.key)}" class="{kind}"{meaning}>{escaped(words)}</th>'


def _data(value: Value | Cell, column: Column, longest: int) -> str:
    given = value if isinstance(value, Cell) else Cell(value)
    if given.value is None and given == Cell(None):
        return "<td></td>"
    is_text = isinstance(given.value, str)
    kinds = " ".join(filter(None, ("" if is_text else "number", given.kind)))
    attributes = f' class="{kinds}"' if kinds else ""
    if isinstance(given.value, float):
        attributes += f' data-exact="{exact(given.value)}"'
    content = escaped(shown(given.value, column, longest))
    return f"<td{attributes}{given.attributes}>{given.before}{content}{given.after}</td>"


def words(key: str) -> str:
    """A key as words."""
    return key.replace("_", " ").replace("ldc ", "LDC ")


def title_case(key: str) -> str:
    """A key as a heading."""
    return words(key)[:1].upper() + words(key)[1:]


def escaped(value: str) -> str:
    """A text for HTML, on one line."""
    return escape(one_line(value))


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
        if kinds <= {int, float}:
            whole = "Int64" if len(known) and None in values else "int64"
            return pandas.array(values, dtype=whole if kinds == {int} else "float64")
        if kinds == {str} and len(known) * 2 <= len(values):
            return pandas.Categorical(values, categories=pandas.Index(list(known), dtype=object))
        return pandas.Series(values, dtype=object)

    columns = list(zip(*table.rows)) or [()] * len(table.keys)
    return pandas.DataFrame({key: series(values) for key, values in zip(table.keys, columns)}, copy=False)


def title_of(table: Table) -> str:
    """What stands above a table."""
    layout = table.layout
    if not layout.by or not table.rows:
        return layout.title
    return layout.title.replace("%", cell(str(table.rows[0][table.keys.index(layout.by)]), LONGEST_CELL))


def _to_the_right(head: list[Column], rows: list[list[Value]]) -> list[bool]:
    """Whether a column holds no text."""
    return [not any(isinstance(_plain(row[at]), str) for row in rows) for at in range(len(head))]


def _plain(value: Any) -> Value:
    return value.value if isinstance(value, Cell) else value


def _bars(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
