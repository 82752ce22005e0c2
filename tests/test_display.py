"""Untrusted text in messages and tables."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.base.display import number_with_noun, one_line, safe_cell, spreadsheet_cell, terminal_safe

HIDDEN = [
    character
    for character in map(chr, range(sys.maxunicode + 1))
    if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cs") and character != "\ufeff"
]


def test_nothing_hidden_reaches_a_terminal() -> None:
    for character in HIDDEN:
        shown = one_line(character)
        assert shown.isascii(), repr(character)
        assert shown.isprintable(), repr(character)
        assert terminal_safe(character) == (character if character in "\t\n" else shown)


@pytest.mark.parametrize("text", ["é", "王小明", "a b", "e\u0301", "😀", "\u00a0", "ا", "־"])
def test_what_is_seen_stays_as_it_is(text: str) -> None:
    assert one_line(text) == terminal_safe(text) == safe_cell(text) == text


@given(st.text())
def test_a_cell_is_one_line_without_tabs_and_no_formula(text: str) -> None:
    shown = spreadsheet_cell(text)
    assert not {"\t", "\n", "\r"} & set(shown)
    assert shown[:1] not in tuple("=+-@")


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "unit", "0 units"),
        (1, "LDC query", "1 LDC query"),
        (2, "LDC query", "2 LDC queries"),
        (3, "day", "3 days"),
        (7405, "question", "7,405 questions"),
    ],
)
def test_a_number_has_separators_and_its_noun_the_right_form(number: int, noun: str, text: str) -> None:
    assert number_with_noun(number, noun) == text
