"""Lines that are like most take short ways through the linking; whatever they hold, the long ways link them alike."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cs_score.coldstart.provenance import RELATION_SPANS, VALUE_SPANS, are_plain, read_provenance

_OFFSETS: Final = ("0", "1", "003", "3", "5", "20", "199", "200", "201", "9" * 15, "9" * 16)
_DOCUMENTS: Final = ("N_ENG_1", "N_ENG_1", "N_ENG_1", "OTHER-1.x", "Š 2", "")


@st.composite
def provenances(draw: st.DrawFn) -> str:
    """A column of spans: mostly of one document, in any order, of any length, separated by anything."""
    document = draw(st.sampled_from(_DOCUMENTS))
    offsets = st.tuples(st.sampled_from(_OFFSETS), st.sampled_from(_OFFSETS))
    spans = draw(st.lists(offsets, min_size=1, max_size=5))
    texts = [f"{draw(st.sampled_from((document,) * 5 + ('N_ENG_2',)))}:{start}-{end}" for start, end in spans]
    return draw(st.sampled_from((",", ",", ",", ";", ", "))).join(texts)


@settings(max_examples=600)
@given(provenances(), provenances(), st.sampled_from((None, {"N_ENG_1": 200.0}, {})))
def test_what_is_plain_is_canonical_and_has_no_faults(
    relation: str, provenance: str, documents: dict[str, float] | None
) -> None:
    read = (
        read_provenance(relation, RELATION_SPANS, documents),
        read_provenance(provenance, VALUE_SPANS, documents),
    )
    if are_plain(relation, provenance, documents):
        assert [column.canonical for column in read] == [relation, provenance]
        assert [column.problems for column in read] == [(), ()]
        assert read[0].docid == read[1].docid


@pytest.mark.parametrize(
    ("relation", "plain"),
    [
        ("D:1-200", True),
        ("D:1-201", False),
        ("D:3-2", False),
        ("D:1-5,D:3-9", True),
        ("D:1-5,D:3-9,D:9-9,D:10-209", True),
        ("D:1-5,D:3-9,D:9-9,D:10-210", False),
        ("D:1-5,D:3-9,D:9-9,D:10-11,D:12-13", False),
        ("D:3-9,D:1-5", False),
        ("D:3-9,D:3-8", False),
        ("D:1-5,E:3-9", False),
        ("D:1-5;D:3-9", False),
        (" D:1-5", False),
        ("E:1-5", False),
    ],
)
def test_spans_that_need_no_second_look(relation: str, plain: bool) -> None:
    assert are_plain(relation, "D:3-5") is plain
    assert are_plain(relation, "D:3-5", {"D": 209.0}) is plain
    assert not are_plain(relation, "D:3-5,D:1-2")


def test_the_last_of_several_spans_must_lie_in_its_document() -> None:
    assert are_plain("D:1-2,D:3-9", "D:3-5", {"D": 9.0})
    assert not are_plain("D:1-2,D:3-9", "D:3-5", {"D": 8.0})
    assert not are_plain("D:1-2", "D:3-5,D:6-9", {"D": 8.0})
