"""What is printed of a comparison: the numbers where they belong, and names that do no harm."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cs_score.base.display import cell
from cs_score.base.markup import escape_latex, escape_markdown
from cs_score.base.records import replace
from cs_score.statistics.comparison import compare
from cs_score.statistics.comparison_result import Comparison, MeasureComparison, PairedSystems, PValues, RankedSystem
from cs_score.statistics.comparison_writers import WRITERS
from cs_score.statistics.comparison_writers.tsv import COLUMNS
from cs_score.statistics.intervals import Interval
from cs_score.statistics.notes import Note
from cs_score.statistics.options import Resampling
from cs_score.statistics.paired_tests import UnitRecord
from tests.statistics.cases import FORMULA, MEASURES, system

HOSTILE = "x\x1b[2J|&\\_\t\n`$%#{}<b>\"*[](http://a.example)~^--'\u202e\udc80@me"

SETTINGS = Resampling(10_000, 3, 99.9, "bca", "claim")


def small(first: str = "run 1", second: str = "run_2") -> Comparison:
    """A comparison written by hand, so that every printed number can be told from every other."""
    better = Interval(0.75, 0.5, 1.0, 0.125, 8, SETTINGS)
    worse = Interval(0.25, 0.0, 0.375, 0.0625, 8, SETTINGS, (Note("A_NOTE", "a note"),))
    difference = Interval(-0.00001, -0.5, 0.25, 0.2, 8, SETTINGS)
    pair = PairedSystems(first, second, difference, PValues(0.00005, 0.0001), PValues(0.0123, 1.0), UnitRecord(5, 2, 1))
    ranked = (RankedSystem(first, better, 1, 1, 2, 1), RankedSystem(second, worse, 2, 1, 3, 2))
    return Comparison((first, second), 8, SETTINGS, "bootstrap", (MeasureComparison("F_1", ranked, (pair,)),))


def test_text() -> None:
    assert WRITERS["text"](small()) == (
        "F_1\n"
        "Tier  Rank  Ranks  System   Score     Low    High  Std. error  Note\n"
        "   1     1    1-2  run 1   0.7500  0.5000  1.0000      0.1250\n"
        "   2     2    1-3  run_2   0.2500  0.0000  0.3750      0.0625  a note\n"
        "\n"
        "First  Second  Difference      Low     High  p (rand.)    Holm  p (boot.)    Holm  Wins  Ties  Losses\n"
        "run 1  run_2      +0.0000  -0.5000  +0.2500    <0.0001  0.0001     0.0123  1.0000     5     2       1\n"
        "\n"
        "2 systems on 8 units of resampling (claim).\n"
        "Low and High: 99.9 % BCa bootstrap interval, 10000 resamples, seed 3.\n"
        "Ranks: central 99.9 % of the ranks over the resamples.\n"
        "Tier: systems that do not differ significantly from the best of the tier by the paired bootstrap "
        "(p after Holm's correction above 0.001).\n"
        "Difference: second minus first. p: two-sided, by exact randomisation (all 2^8 exchanges) and by the paired "
        "bootstrap, each also with Holm's correction over the pairs of the measure. Wins, Ties, Losses: units that "
        "speak for the second, for neither, for the first.\n"
        "Note: 8 units only: below 20 the bootstrap's intervals are too narrow and its p-values too small, a hint at "
        "most.\n"
    )


def test_markdown() -> None:
    lines = WRITERS["markdown"](small()).splitlines()
    assert lines[:6] == [
        "### F\\_1",
        "",
        "| Tier | Rank | Ranks | System | Score | Low | High | Std. error | Note |",
        "| ---: | ---: | ---: | :--- | ---: | ---: | ---: | ---: | :--- |",
        "| 1 | 1 | 1-2 | run 1 | 0.7500 | 0.5000 | 1.0000 | 0.1250 |  |",
        "| 2 | 2 | 1-3 | run\\_2 | 0.2500 | 0.0000 | 0.3750 | 0.0625 | a note |",
    ]
    assert (
        "| run 1 | run\\_2 | +0.0000 | -0.5000 | +0.2500 | &lt;0.0001 | 0.0001 | 0.0123 | 1.0000 | 5 | 2 | 1 |" in lines
    )


def test_latex() -> None:
    lines = WRITERS["latex"](small()).splitlines()
    assert lines[1] == r"\paragraph{F\_1}"
    assert r"$2$ & $2$ & 1-3 & run\_2 & $0.2500$ & $0.0000$ & $0.3750$ & $0.0625$ & a note \\" in lines
    assert (
        r"run 1 & run\_2 & $+0.0000$ & $-0.5000$ & $+0.2500$ & $<0.0001$ & $0.0001$ & $0.0123$ & $1.0000$"
        r" & $5$ & $2$ & $1$ \\"
    ) in lines
    assert r"Low and High: 99.9 \% BCa bootstrap interval, 10000 resamples, seed 3." in lines
    assert lines.count(r"\end{tabular}") == 2


def test_tsv_in_full_precision() -> None:
    header, *rows, note = [line.split("\t") for line in WRITERS["tsv"](small()).splitlines()]
    assert header == list(COLUMNS)
    assert all(len(row) == len(COLUMNS) for row in (*rows, note))
    assert {name for name, value in zip(COLUMNS, note) if value} == {"kind", "note"}
    assert note[1] == "note"
    second, difference = dict(zip(COLUMNS, rows[1])), dict(zip(COLUMNS, rows[2]))
    assert {name: value for name, value in second.items() if value} == {
        "measure": "F_1", "kind": "system", "system": "run_2", "point": "0.25", "low": "0.0", "high": "0.375",
        "standard_error": "0.0625", "rank": "2", "rank_low": "1", "rank_high": "3", "tier": "2", "note": "a note",
    }  # fmt: skip
    assert {name: value for name, value in difference.items() if value} == {
        "measure": "F_1", "kind": "difference", "system": "run 1", "second": "run_2", "point": "-1e-05",
        "low": "-0.5", "high": "0.25", "standard_error": "0.2", "p_randomisation": "5e-05",
        "p_randomisation_holm": "0.0001", "p_bootstrap": "0.0123", "p_bootstrap_holm": "1.0",
        "wins": "5", "ties": "2", "losses": "1",
    }  # fmt: skip


def test_json_is_the_comparison() -> None:
    assert json.loads(WRITERS["json"](small(HOSTILE))) == small(HOSTILE).as_json()


@pytest.mark.parametrize("name", list(WRITERS))
def test_a_hostile_name_adds_no_line_and_no_control_character(name: str) -> None:
    plain, hostile = (WRITERS[name](small(first)) for first in ("run 1", HOSTILE))
    assert hostile.count("\n") == plain.count("\n")
    assert hostile.count("\t") == plain.count("\t")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", hostile)
    hostile.encode("utf-8")


def noted(name: str = "A") -> Comparison:
    """Everything that can be said of a whole comparison, and a score without an interval."""
    undefined = Interval(0.0, None, None, None, 5, Resampling(3), (Note("WITHHELD", "no interval: because"),), 2)
    ranked = RankedSystem(name, undefined, 1, 1, 2, 1)
    pair = PairedSystems(name, "B", undefined, PValues(1.0, 1.0), PValues(1.0, 1.0), None)
    measure = MeasureComparison("F1", (ranked,), (pair,))
    return Comparison((name, "B"), 5, Resampling(3), "randomisation", (measure,), {}, {name: ("u1", "u2"), "B": ()})


@pytest.mark.parametrize("name", list(WRITERS))
def test_every_format_has_all_notes(name: str) -> None:
    plain = re.sub(r"\\(?=[^a-z])|{}", "", WRITERS[name](noted()))
    compared = noted()
    assert [note.code for note in compared.notes] == ["COMMON_UNITS", "NEVER_SIGNIFICANT", "FEW_UNITS", "FEW_RESAMPLES"]
    for note in compared.notes:
        assert note.text in plain
    assert "no interval: because" in plain
    assert "do not differ significantly" not in plain


def test_what_there_is_not_is_a_hyphen_for_people_and_nothing_for_programs() -> None:
    lines = WRITERS["text"](noted()).splitlines()
    assert lines[2].split()[:8] == ["1", "1", "1-2", "A", "0.0000", "-", "-", "-"]
    assert lines[5].split()[8:13] == ["1.0000", "-", "-", "-", "no"]
    rows = [dict(zip(COLUMNS, line.split("\t"))) for line in WRITERS["tsv"](noted()).splitlines()[1:]]
    assert {(row["low"], row["wins"]) for row in rows} == {("", "")}
    assert json.loads(WRITERS["json"](noted()))["measures"][0]["systems"][0]["undefined_resamples"] == 2


@pytest.mark.parametrize("name", list(WRITERS))
def test_hostile_names_in_notes_do_no_harm(name: str) -> None:
    plain, hostile = (WRITERS[name](noted(first)) for first in ("A", HOSTILE))
    assert hostile.count("\n") == plain.count("\n")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", hostile)
    if name in ("markdown", "latex"):
        assert "<b>" not in hostile


@pytest.mark.parametrize("name", list(WRITERS))
def test_every_writer_ends_its_last_line(name: str) -> None:
    text = WRITERS[name](small())
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_long_and_wide_names_are_cut_and_aligned() -> None:
    lines = WRITERS["text"](small("漢字", "e\u0301")).splitlines()
    assert lines[2].startswith("   1     1    1-2  漢字    0.7500")
    assert lines[3].startswith("   2     2    1-3  e\u0301       0.2500")
    assert max(map(len, WRITERS["text"](small("x" * 10**6)).splitlines())) < 1000


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30))
@example(HOSTILE)
@example("www.a.example")
@example("\\")
@example("\\|")
def test_markdown_shows_the_name_as_it_is(name: str) -> None:
    escaped = escape_markdown(name)
    assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", escaped) == cell(name)
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
    assert LATEX_TOKEN.sub(lambda match: LATEX_SIGNS[match.group()], escaped) == cell(name)
    bare = LATEX_TOKEN.sub("\x00", escaped)
    assert not set(bare) & set('\\{}$&#%_^~<>|"`[]*')
    assert not re.search("--|''|,,", bare)


def test_a_whole_comparison_in_every_format() -> None:
    systems = {"A": system(0.6), "B": system(0.4, seed=2), "C": system(0.5, seed=3)}
    compared = compare(systems, ["u"] * 60, MEASURES, FORMULA, Resampling(99))
    texts = {name: write(compared) for name, write in WRITERS.items()}
    assert all(texts[name].count("Difference") >= 3 for name in ("text", "markdown", "latex"))
    assert texts["tsv"].count("\n") == 1 + 3 * (3 + 3)
    without_notes = replace(compared, measures=compared.measures[:1])
    assert "Note" not in WRITERS["text"](without_notes)
