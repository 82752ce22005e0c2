"""What is printed of a comparison: the numbers where they belong, and names that do no harm."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cs_score.base.display import cell, escape_latex, escape_markdown
from cs_score.base.records import asdict, replace
from cs_score.statistics.options import Family, Note, Resampling, common_only, governed, notes_of
from cs_score.statistics.results import Comparison, Interval, MeasureComparison, PairedSystems, RankedSystem
from cs_score.tables.statistics import WRITERS

HOSTILE = "x\x1b[2J|&\\_\t\n`$%#{}<b>\"*[](http://a.example)~^--'\u202e\udc80@me"

SETTINGS = Resampling(10_000, 3, 99.9, "bca", "claim")


def comparison(score: Interval, difference: Interval, names: tuple[str, str], **given: Any) -> Comparison:
    limits = [{key: value for key, value in asdict(each).items() if key != "point"} for each in (score, difference)]
    pair = PairedSystems(
        a=names[0], b=names[1], difference=difference.point, **limits[1], p=0.00005, p_adjusted=0.0001,
        p_bootstrap=0.0123, wins=5, ties=2, losses=1,
    )  # fmt: skip
    ranked = tuple(
        RankedSystem(name=name, score=score.point, **limits[0], rank=rank, rank_low=1, rank_high=2, tier=rank)
        for rank, name in enumerate(names, 1)
    )
    family = Family("holm", 1, 999, None, 2, "randomisation", False, names[0])
    measures = tuple(MeasureComparison(f"F_{n}", n > 1, family, ranked, (pair,), governed(names)) for n in (1, 2))
    settings = {"units": 8, "resampling": SETTINGS, "notes": (), **given}
    return Comparison(task="claims", measure="F_1", systems=names, measures=measures, **settings)


def small(first: str) -> Comparison:
    """A comparison written by hand, so that every printed number can be told from every other."""
    score = Interval(0.25, 0.0, 0.375, 0.0625, note="a note", notes=(Note("A_NOTE", "a note"),))
    return comparison(score, Interval(-0.00001, -0.5, 0.25, 0.2), (first, "run_2"))


def noted(name: str) -> Comparison:
    """Everything that can be said of a whole comparison, and a score without an interval."""
    undefined = Interval(0.0, None, None, None, 2, "no interval: because", (Note("WITHHELD", "no interval: because"),))
    dropped = {name: ("u1", "u2"), "B": ()}
    notes = (common_only(5, dropped), *notes_of(5, Resampling(3)))
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
    name: str, made: Callable[[str], Comparison]
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
