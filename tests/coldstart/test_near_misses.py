"""Unassessed answers that equal assessed ones but for what is hardly meant are counted in one line."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.base.records import replace
from cs_score.coldstart.near_misses import small_differences
from tests.coldstart.command import score_in
from tests.coldstart.handmade import Inputs
from tests.coldstart.lines import Line
from tests.documents import ROOT

ZOE = Line("Zoë Ek")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Zoë Ek ", ["blanks"]),
        ("Zoë\u00a0Ek", ["blanks"]),
        ("Zoë\u200b Ek", ["blanks"]),
        (unicodedata.normalize("NFD", "Zoë Ek"), ["Unicode form"]),
        ("zoë EK", ["letter case"]),
        (unicodedata.normalize("NFD", " zoë Ek"), ["blanks", "Unicode form", "letter case"]),
        ("Zoë Ek", []),
        ("Zoe Ek", []),
    ],
)
def test_what_differs_is_named(text: str, names: list[str]) -> None:
    assert small_differences(text, "Zoë Ek") == names
    assert small_differences("Zoë Ek", text) == names


@given(st.text(), st.text())
def test_order_does_not_matter_and_equal_texts_do_not_differ(text: str, other: str) -> None:
    assert small_differences(text, other) == small_differences(other, text)
    assert small_differences(text, text) == []


def said_of(inputs: Inputs, *lines: Line) -> str:
    inputs.run(*lines)
    outcome = inputs.call(files=("pool.tab", "run.tab"))
    assert b"equal assessed" not in outcome.stderr  # the call without a command says what the reference says
    scored = score_in(inputs.folder, ["score", "-expand", "CSX", "queries.xml", "pool.tab", "run.tab"])
    assert scored.status == 0
    return scored.stderr.decode()


def test_answers_that_differ_slightly_are_counted(inputs: Inputs) -> None:
    inputs.pool(ZOE.judged("1"))
    said = said_of(inputs, ZOE, replace(ZOE, value="zoë Ek", node=":E2"), replace(ZOE, value="Al", node=":E3"))
    assert "1 of 2 unassessed answers equal assessed ones but for letter case (run.tab line 2)" in said
    assert "unassessed answers" not in said_of(inputs, ZOE, replace(ZOE, value="Al", node=":E3"))


@pytest.mark.parametrize(("shift", "where"), [(1, "1 character after"), (-2, "2 characters before")])
def test_a_shift_of_all_offsets_is_told(shift: int, where: str, inputs: Inputs) -> None:
    places = [(13, 15), (40, 47), (60, 66)]
    lines = [Line(f"N{start}", span=f"{start}-{end}", node=f":E{start}") for start, end in places]
    inputs.pool(*(line.judged(str(number)) for number, line in enumerate(lines, 1)))
    shifted = [
        replace(line, span=f"{start + shift}-{end + shift}") for line, (start, end) in zip(lines, places, strict=True)
    ]
    said = said_of(inputs, *shifted)
    assert f"3 of 3 unassessed answers start {where} assessed ones of the same text (run.tab line 1," in said
    assert "shifted" not in said_of(inputs, *lines)
    assert "shifted" not in said_of(inputs, *shifted[:2])


@pytest.mark.parametrize("parts", ["1", "2"])
def test_what_was_not_sought_in_a_run_scored_in_parts_is_said(parts: str) -> None:
    words = ["score", "-expand", "ISLE26", "queries/ldc-queries.xml", "assessments/pool-2016.tab", "--parts", parts]
    said = score_in(ROOT, [*words, "submissions/tide-kb.tab.txt"]).stderr.decode()
    assert ("is not searched for answers that nearly equal assessed ones; --parts 1 does that" in said) == (
        parts == "2"
    )


def test_offsets_of_hundreds_of_digits_are_no_shift(inputs: Inputs) -> None:
    huge = "9" * 400
    inputs.pool(ZOE.judged("1"))
    said = said_of(inputs, replace(ZOE, span=f"{huge}-{huge}"))
    assert "Traceback" not in said
