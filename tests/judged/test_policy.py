"""Policies: what labels count, what cannot be a policy, and what is said where a label is on no side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.base.errors import InputError, UsageError
from cs_score.judged.policy import DUPLICATE, UNASSESSED, LabelPolicy, check_labels, guess_side, read_policy

_LABELS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: text not in (UNASSESSED, DUPLICATE)
)


@given(st.dictionaries(_LABELS, st.sampled_from(["right", "half", "wrong", "ignore"]), min_size=1))
def test_a_policy_is_read_as_it_is_written(sides: dict[str, str]) -> None:
    policy = LabelPolicy(sides)
    assert dict(read_policy(str(policy)).sides) == sides


def test_labels_count_1_one_half_0_or_nothing() -> None:
    policy = read_policy("right=A,half=B,wrong=C:D,ignore=E,right=F")
    assert policy.values == {
        "A": 1, "B": 0.5, "C": 0, "D": 0, "E": None, "F": 1, UNASSESSED: None, DUPLICATE: None,
    }  # fmt: skip


def test_a_file_holds_a_policy(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text(json.dumps({"right": ["yes, mostly"], "wrong": ["no"]}))
    assert str(read_policy(str(path))) == r"right=yes\, mostly,wrong=no"


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("right=A,wrong=A", "A is named twice"),
        ("good=A", "good"),
        ("right=", "empty"),
        ("right=A:", "empty"),
        ("right", "right=LABEL"),
        ("right=A=B", "right=LABEL"),
        ("right=UNASSESSED", "UNASSESSED cannot be right"),
        ("half=DUPLICATE", "DUPLICATE cannot be half"),
        ("rigth=A", "did you mean right"),
    ],
)
def test_what_is_no_policy(text: str, mentions: str) -> None:
    with pytest.raises(UsageError, match=mentions):
        read_policy(text)


@pytest.mark.parametrize("content", ["{", "[]", '{"right": "A"}', '{"right": [1]}', '{"good": ["A"]}'])
def test_a_file_that_holds_no_policy(tmp_path: Path, content: str) -> None:
    path = tmp_path / "policy.json"
    path.write_text(content)
    with pytest.raises(InputError, match="no policy"):
        read_policy(str(path))


def test_a_label_is_never_wrong_because_nobody_named_it() -> None:
    with pytest.raises(InputError) as refused:
        check_labels(None, {"CORRECT": 1427, "WRONG": 113}, "run.csv")
    assert "labels: CORRECT 1,427, WRONG 113" in str(refused.value)
    assert "--policy right=CORRECT,wrong=WRONG" in str(refused.value)
    with pytest.raises(InputError) as refused:
        check_labels(read_policy("right=CORRECT"), {"CORRECT": 3, "MAYBE": 1}, "run.csv")
    assert "MAYBE 1" in str(refused.value)
    assert "SIDE=MAYBE" in str(refused.value)


@pytest.mark.parametrize(
    ("label", "side"),
    [("Correct", "right"), ("1", "right"), ("UNSUPPORTED", "wrong"), ("n/a", "ignore"), ("not_supported", "wrong")],
)
def test_common_labels_are_guessed(label: str, side: str) -> None:
    assert guess_side(label) == side
    assert guess_side("plausible") is None
