"""Tables, and comparisons made of them: what people see, that files hold every number, that no text leaves its cell."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cs_score.base.display import escape_latex, escape_markdown, safe_cell
from cs_score.base.records import asdict, replace
from cs_score.statistics.resampling_settings import (
    Family,
    Note,
    Resampling,
    note_on_common_units,
    note_on_disagreements,
    notes_on_intervals,
)
from cs_score.statistics.results import Interval, MeasureComparison, PairedSystems, RankedSystem, SystemComparison
from cs_score.tables.layout import Cell, Column, Format, Layout, columns, html, latex, markdown, text_lines, tsv
from cs_score.tables.statistics import WRITERS

GAINS: Final = Layout(
    "gains",
    "Gains by %:",
    (
        *columns("side", "name", "gain", "count", gain=Format.GAIN),
        Column("note", "Remark", meaning="why there is none"),
    ),
    lambda document: document["gains"],
    split_by="side",
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
    assert list(text_lines(GAINS.table(DOCUMENT))) == [
        "", "Gains by left:", "name     gain  count", "a     +0.2500      3", "b     +0.0000     12",
        "", "Gains by right:", "name  count  Remark", "c         1  no such line",
    ]  # fmt: skip


def test_small_p_values_are_not_shown_as_nothing() -> None:
    tested = Layout("p", "p:", columns("p", p=Format.P), lambda values: [{"p": value} for value in values])
    assert list(text_lines(tested.table((0.00005, 0.05))))[3:] == ["<0.0001", " 0.0500"]


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
        for text_, value in zip(line.split("\t"), row):
            if isinstance(value, float):
                assert math.copysign(1, float(text_)) == math.copysign(1, value)
                assert float(text_) == value
    if rows:
        parsed = ElementTree.fromstring("".join(html(table)))
        assert len(parsed.findall("tbody/tr")) == len(rows)
    assert len(list(markdown(table))) == len(rows) + 2
    assert len(list(latex(table))) == len(rows) + 6


def test_of_a_place_that_is_cut_the_line_stays() -> None:
    rows = [{"line": "a-long-folder/run.tab.txt:1234"}, {"line": "a text that is long"}]
    lines = list(text_lines(Layout("places", "Places:", columns("line"), lambda found: found).table(rows), None, 12))
    assert lines[-2:] == ["…run.tab.txt:1234", "a text that is l…"]


ID_OF_30: Final = "5ac2a912554299218029dae8-again"


def lines_of(columns_: tuple[Column, ...], row: dict[str, Any], width: int | None) -> list[str]:
    """Return the heading and the only row of a table."""
    return list(text_lines(Layout("units", "Units:", columns_, lambda found: found).table([row]), None, width))[-2:]


@pytest.mark.parametrize("key", ["unit", "query", "run", "name"])
def test_ids_are_never_cut_so_that_they_can_be_pasted(key: str) -> None:
    row = {key: ID_OF_30 * 2, "value": "a text that is longer than its column", "count": 7}
    _, line = lines_of(columns(key, "value", "count"), row, 40)
    assert line.split("  ")[0] == ID_OF_30 * 2
    assert "  a text …  " in line  # texts still are


def test_words_of_groups_without_blanks_are_ids_and_not_cut() -> None:
    row = {"dimension": "query", "group": ID_OF_30, "value": "v" * 60}
    _, line = lines_of(columns("dimension", "group", "value"), row, 40)
    assert line.startswith(f"query      {ID_OF_30}  ")
    _, line = lines_of(columns("dimension", "group"), {"dimension": "label", "group": "SUPPORT and CONTRADICT"}, 20)
    assert line == "label      SUPPORT …"


def test_without_a_width_nothing_is_cut() -> None:
    row = {"value": "v" * 300, "count": 7}
    _, line = lines_of(columns("value", "count"), row, None)
    assert line == f"{'v' * 300}      7"


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


HOSTILE = "x\x1b[2J|&\\_\t\n`$%#{}<b>\"*[](http://a.example)~^--'\u202e\udc80@me"

SETTINGS = Resampling(10_000, 3, 99.9, "bca", "claim")


def comparison(score: Interval, difference: Interval, names: tuple[str, str], **given: Any) -> SystemComparison:
    limits = [{key: value for key, value in asdict(each).items() if key != "point"} for each in (score, difference)]
    pair = PairedSystems(
        a=names[0], b=names[1], difference=difference.point, **limits[1], p=0.00005, p_adjusted=0.0001,
        wins=5, ties=2, losses=1,
    )  # fmt: skip
    ranked = tuple(
        RankedSystem(name=name, score=score.point, **limits[0], rank=rank, rank_low=1, rank_high=2, tier=rank)
        for rank, name in enumerate(names, 1)
    )
    family = Family("holm", 1, 999, None, 2, "randomisation", False, names[0])
    measures = tuple(
        MeasureComparison(f"F_{n}", n > 1, family, ranked, (pair,), notes=note_on_disagreements(names)) for n in (1, 2)
    )
    settings = {"units": 8, "resampling": SETTINGS, "notes": (), **given}
    return SystemComparison(task="claims", measure="F_1", systems=names, measures=measures, **settings)


def small(first: str) -> SystemComparison:
    """A comparison written by hand, so that every printed number can be told from every other."""
    score = Interval(0.25, 0.0, 0.375, note="a note", notes=(Note("A_NOTE", "a note"),))
    return comparison(score, Interval(-0.00001, -0.5, 0.25), (first, "run_2"))


def noted(name: str) -> SystemComparison:
    """Everything that can be said of a whole comparison, and a score without an interval."""
    undefined = Interval(0.0, None, None, 2, "no interval: because", (Note("WITHHELD", "no interval: because"),))
    dropped = {name: ("u1", "u2"), "B": ()}
    notes = (note_on_common_units(5, dropped), *notes_on_intervals(5, Resampling(3)))
    return comparison(undefined, undefined, (name, "B"), dropped=dropped, notes=notes, signatures={name: "F1|x"})


@pytest.mark.parametrize(
    ("low", "high", "p", "disagrees"),
    [
        (0.0, 0.5, 0.06, False), (-0.5, 0.0, 0.06, False), (0.0, 0.5, 0.05, True), (0.1, 2.0, 0.05, False),
        (0.1, 2.0, 0.06, True), (-2.0, -0.1, 0.01, False), (None, 0.5, 0.01, False), (-0.5, None, 0.01, False),
    ],
)  # fmt: skip
def test_whether_interval_and_test_agree(low: float | None, high: float | None, p: float, disagrees: bool) -> None:
    pair = replace(small("A").measures[0].pairs[0], low=low, high=high, p_adjusted=p)
    assert pair.disagrees(0.05) is disagrees


@pytest.mark.parametrize("made", [small, noted])
@pytest.mark.parametrize("name", list(WRITERS))
def test_a_hostile_name_adds_no_line_no_cell_and_no_control_character(
    name: str, made: Callable[[str], SystemComparison]
) -> None:
    plain, hostile = (WRITERS[name](made(first)) for first in ("A", HOSTILE))
    assert hostile.count("\n") == plain.count("\n")
    assert hostile.count("\t") == plain.count("\t")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", hostile)
    assert name not in ("markdown", "latex") or "<b>" not in hostile


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30))
@example(HOSTILE)
@example("www.a.example")
@example("\\")
@example("\\|")
def test_markdown_shows_the_name_as_it_is(name: str) -> None:
    escaped = escape_markdown(name)
    assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", escaped) == safe_cell(name)
    assert not re.search(r"(?<!\\)(?:\\\\)*[|*_`<>\[\]&#~$@:.]", escaped)


LATEX_SIGNS = {
    r"\textbackslash{}": "\\", r"\{": "{", r"\}": "}", r"\$": "$", r"\&": "&", r"\#": "#", r"\%": "%", r"\_": "_",
    r"\textasciicircum{}": "^", r"\textasciitilde{}": "~", r"\textless{}": "<", r"\textgreater{}": ">",
    r"\textbar{}": "|", r"\char34{}": '"', r"\char96{}": "`", "{[}": "[", "{]}": "]", "{*}": "*", "{}": "",
}  # fmt: skip
LATEX_TOKEN = re.compile("|".join(map(re.escape, LATEX_SIGNS)))


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30))
@example(HOSTILE)
@example("a--b---c''d,,e")
@example("\\\\[1em]")
def test_latex_sets_the_name_as_it_is(name: str) -> None:
    escaped = escape_latex(name)
    assert LATEX_TOKEN.sub(lambda match: LATEX_SIGNS[match.group()], escaped) == safe_cell(name)
    bare = LATEX_TOKEN.sub("\x00", escaped)
    assert not set(bare) & set('\\{}$&#%_^~<>|"`[]*')
    assert not re.search("--|''|,,", bare)
