"""Tables: which rows and columns people see, that files hold every number, and that no text leaves its cell."""

from __future__ import annotations

import csv
import io
import math
import xml.etree.ElementTree as ElementTree
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from cs_score.tables.layout import Cell, Column, Format, Layout, columns, frame, html, latex, markdown, text, tsv

GAINS: Final = Layout(
    "gains",
    "Gains by %:",
    (
        *columns("side", "name", "gain", "count", gain=Format.GAIN),
        Column("note", "Remark", meaning="why there is none"),
    ),
    lambda document: document["gains"],
    by="side",
)
DOCUMENT: Final[dict[str, Any]] = {
    "gains": [
        {"side": "left", "name": "a", "gain": 0.25, "count": 3},
        {"side": "left", "name": "b", "gain": -0.0, "count": 12},
        {"side": "right", "name": "c", "gain": None, "count": 1, "note": "no such line"},
    ]
}
CELLS: Final = st.one_of(st.none(), st.text(), st.floats(allow_nan=False, allow_infinity=False), st.integers())


def test_text_has_a_table_for_each_part_and_no_empty_column() -> None:
    assert list(text(GAINS.table(DOCUMENT))) == [
        "", "Gains by left:", "name     gain  count", "a     +0.2500      3", "b     +0.0000     12",
        "", "Gains by right:", "name  count  Remark", "c         1  no such line",
    ]  # fmt: skip


def test_a_long_table_says_how_many_rows_there_are() -> None:
    first = text(GAINS.table(DOCUMENT), top=1)
    assert [line for line in first if "Gains" in line] == ["Gains by left (1 of 2):", "Gains by right:"]


def test_rows_at_equal_distances_span_the_table() -> None:
    sweep = Layout("sweep", "Sweep:", columns("threshold"), lambda numbers: [{"threshold": n} for n in numbers])
    spread = Layout("sweep", "Sweep:", columns("threshold"), sweep.rows, most="spread")
    assert [row for (row,) in spread.table(range(100)).for_people(top=4)[1]] == [0, 25, 50, 75]
    assert [row for (row,) in sweep.table(range(100)).for_people(top=4)[1]] == [0, 1, 2, 3]


def test_small_tables_and_those_for_programs_are_not_shown_to_people() -> None:
    for few in (
        Layout("few", "Few:", columns("name"), lambda _: [{"name": "a"}], fewest=2),
        Layout("raw", "Raw:", columns("name"), lambda _: [{"name": "a"}], for_people=False),
    ):
        assert list(text(few.table(None))) == []
        assert b"".join(tsv(few.table(None))) == b"name\na\n"


def test_latex_and_markdown_show_the_same_cells() -> None:
    assert list(latex(GAINS.table(DOCUMENT)))[4:6] == [r"a & $+0.2500$ & $3$ & - \\", r"b & $+0.0000$ & $12$ & - \\"]
    assert list(markdown(GAINS.table(DOCUMENT)))[:3] == [
        "| name | gain | count | Remark |",
        "| :--- | ---: | ---: | :--- |",
        "| a | +0.2500 | 3 | - |",
    ]


def test_small_p_values_are_not_shown_as_nothing() -> None:
    tested = Layout("p", "p:", columns("p", p=Format.P), lambda values: [{"p": value} for value in values])
    assert list(text(tested.table((0.00005, 0.05))))[3:] == ["<0.0001", " 0.0500"]


@given(st.lists(st.tuples(CELLS, CELLS), max_size=4))
def test_whatever_stands_in_a_table_keeps_to_its_cell(rows: list[tuple[Any, Any]]) -> None:
    layout = Layout(
        "any", "Any:", columns("one", "other"), lambda _: [dict(zip(("one", "other"), row)) for row in rows]
    )
    table = layout.table(None)
    lines = b"".join(tsv(table)).decode().split("\n")
    assert len(lines) == len(rows) + 2
    assert all(line.count("\t") == 1 for line in lines[:-1])
    for line, row in zip(lines[1:], rows):
        for cell, value in zip(line.split("\t"), row):
            if isinstance(value, float):
                assert math.copysign(1, float(cell)) == math.copysign(1, value)
                assert float(cell) == value
    if rows:
        parsed = ElementTree.fromstring("".join(html(table)))
        assert len(parsed.findall("tbody/tr")) == len(rows)
    assert len(list(markdown(table))) == len(rows) + 2
    assert len(list(latex(table))) == len(rows) + 6


def test_a_frame_has_the_columns_of_the_file() -> None:
    table = GAINS.table(DOCUMENT)
    written = next(csv.reader(io.StringIO(b"".join(tsv(table)).decode()), delimiter="\t"))
    assert list(frame(table).columns) == written
    assert len(frame(table)) == 3


def test_of_a_place_that_is_cut_the_line_stays() -> None:
    rows = [{"line": "a-long-folder/run.tab.txt:1234"}, {"line": "a text that is long"}]
    lines = list(text(Layout("places", "Places:", columns("line"), lambda found: found).table(rows), None, 12))
    assert lines[-2:] == ["…ab.txt:1234", "a text that…"]


def test_html_has_words_as_headings_meanings_exact_numbers_and_cells_that_lead() -> None:
    rows: list[dict[str, Any]] = [
        {"unit_id": Cell("<a>", '<a href="#x">', "</a>"), "f1": 1 / 3},
        {"unit_id": None, "f1": None},
    ]
    layout = Layout("t", "By & by:", (Column("unit_id"), Column("f1", "F1", meaning='of "all"')), lambda _: rows)
    assert list(html(layout.table(None))) == [
        '<table class="cs-score"><caption>By &amp; by</caption>',
        '<thead><tr><th scope="col" data-key="unit_id" class="text">Unit id</th>'
        '<th scope="col" data-key="f1" class="number" title="of &quot;all&quot;">F1</th></tr></thead><tbody>',
        '<tr><td><a href="#x">&lt;a&gt;</a></td><td class="number" data-exact="0.3333333333333333">0.3333</td></tr>',
        "<tr><td></td><td></td></tr>",
        "</tbody></table>",
    ]
