"""Explanations of many lines take time in proportion to them, and patterns of answers never long."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.analysis.coldstart.explanation import explanation
from cs_score.analysis.coldstart.explanation.explanation import is_answer
from cs_score.base.records import replace
from tests.growth import assert_steps_grow_in_proportion, steps
from tests.preparation.invented import QUERY, Inputs, Judged, RunLine

FILES = ("q.xml", "run.tab", "qrel")


@pytest.mark.parametrize("has_one_node", [True, False])
@pytest.mark.parametrize("pool", ["none", "one class", "a class for each", "the same value", "the same document"])
def test_all_lines_of_a_node_or_class(
    pool: str, has_one_node: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explanation, "MOST_SCORED_AGAIN", 1)

    def prepared(size: int) -> Callable[[], object]:
        inputs = Inputs(tmp_path)
        inputs.queries()
        run, judged = [], []
        for at in range(size):
            value = f"Bo{at + 1}" if pool in ("a class for each", "the same document") else "Bo"
            run.append(RunLine(value, f"ENG_{at}", node=":E1" if has_one_node else f":E{at}"))
            one = Judged(id=f"a{at}", value=value, docid=f"ENG_{at}", value_class=f"{QUERY}:{value[2:] or 1}")
            if pool == "the same document":
                one = replace(one, value=f"Zo{at}", docid="ENG_1", span=f"{at}-{at + 3}")
            judged.append(replace(one, docid=f"ENG_{size + at}") if pool == "the same value" else one)
        inputs.lines(*run)
        inputs.lines(*judged[: 1 if pool == "none" else size], name="qrel")
        return lambda: inputs.call("explain", "--answer", "*", *FILES)

    assert_steps_grow_in_proportion(prepared, 40)


def test_effects_of_lines_beyond_those_that_are_scored_again_are_not_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = Inputs(tmp_path)
    inputs.queries()
    inputs.lines(*(RunLine(docid=f"ENG_{number}", node=f":E{number}") for number in range(4)))
    inputs.lines(Judged(), name="qrel")
    monkeypatch.setattr(explanation, "MOST_SCORED_AGAIN", 5)
    found = json.loads(inputs.call("explain", "--answer", "B*", "--line", "4", "--format=json", *FILES).stdout)["lines"]
    assert [line["summary"]["line"] for line in found] == [4, 1, 2, 3, 4]
    assert [None in line["effect"]["effects"].values() for line in found] == [False, False, False, True, True]
    assert found[3]["effect"]["reason"] == "not computed for so many lines; --line 3 asks for it"
    assert found[3]["effect"]["removed"] == [{"file": "run.tab", "line": 3}]


@given(st.text("ab*", max_size=8), st.text("ab", max_size=8))
def test_patterns_mean_what_they_meant(pattern: str, value: str) -> None:
    wanted = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)
    assert is_answer(pattern, value) is (wanted.fullmatch(value) is not None)


def test_a_pattern_of_many_stars_takes_one_search_for_each() -> None:
    pattern, value = "*a" * 40 + "*b", "a" * 20_000
    assert not is_answer(pattern, value)
    assert is_answer(pattern, value + "b")
    assert steps(lambda: is_answer(pattern, value + "b")) < 300
