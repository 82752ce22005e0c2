"""Lists of names in options: a name may contain the characters that separate names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cs_score.base.separators import SEPARATORS, escape_separators, split_unescaped, unescape_separators

NAMES = st.text(alphabet=st.one_of(st.sampled_from(SEPARATORS + "\\"), st.characters()), max_size=8)


@given(st.lists(NAMES, min_size=1, max_size=5), st.sampled_from(SEPARATORS))
def test_names_are_read_as_they_were_written(names: list[str], separator: str) -> None:
    text = separator.join(escape_separators(name) for name in names)
    assert [unescape_separators(part) for part in split_unescaped(text, separator)] == names


def test_parts_keep_their_backslashes_for_the_next_split() -> None:
    assert split_unescaped(r"right=a\,b:c,wrong=d", ",") == [r"right=a\,b:c", "wrong=d"]


def test_a_backslash_before_another_character_belongs_to_the_name() -> None:
    assert unescape_separators("a\\b\\") == "a\\b\\"
