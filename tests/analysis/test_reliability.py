"""How far confidences can be relied on, worked by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.analysis.coldstart.confidence import BINS, Judged, reliability
from cs_score.base.records import to_builtins
from tests.coldstart.command import score_in
from tests.coldstart.worlds import Answer, Assessment, Query, Response, Slot, World

CLOSE: Final = 1e-12


def test_four_lines_by_hand() -> None:
    """Bins of one line each: |0 - 0.2|, |1 - 0.4|, |0 - 0.4|, |1 - 0.9|; of four pairs 3.5 are won."""
    found = reliability([(0.2, False), (0.4, True), (0.4, False), (0.9, True)])
    assert found.brier == pytest.approx((0.04 + 0.36 + 0.16 + 0.01) / 4, abs=CLOSE)
    assert found.ece == pytest.approx((0.2 + 0.6 + 0.4 + 0.1) / 4, abs=CLOSE)
    assert found.auc == 3.5 / 4
    assert [to_builtins(each) for each in found.bins[:2]] == [
        {"lines": 1, "low": 0.2, "high": 0.2, "confidence": 0.2, "right": 0.0},
        {"lines": 1, "low": 0.4, "high": 0.4, "confidence": 0.4, "right": 1.0},
    ]


def test_bins_are_of_equal_size() -> None:
    """Twenty-three lines: bins end before line 2, 4, 6, 9, 11, 13, 16, 18, 20 and 23."""
    judged = [(at / 100, at % 2 == 0) for at in range(1, 24)]
    found = reliability(judged)
    assert [each.lines for each in found.bins] == [2, 2, 2, 3, 2, 2, 3, 2, 2, 3]
    fourth = found.bins[3]
    assert (fourth.low, fourth.high) == (0.07, 0.09)
    assert fourth.confidence == pytest.approx(0.08, abs=CLOSE)
    assert fourth.right == 1 / 3


def test_certain_lines_that_are_right_half_of_the_time() -> None:
    found = reliability([(1.0, at < 10) for at in range(20)])
    assert (found.brier, found.auc) == (0.5, 0.5)
    assert found.ece == 0.5  # as many bins without as with right lines


@pytest.mark.parametrize("is_right", [True, False])
def test_one_class_alone_has_no_area(is_right: bool) -> None:
    found = reliability([(0.25, is_right)])
    assert (found.lines, found.auc) == (1, None)
    assert found.brier == (0.75**2 if is_right else 0.25**2)


def test_no_line_at_all() -> None:
    assert to_builtins(reliability([])) == {"lines": 0, "bins": [], "brier": None, "ece": None, "auc": None}


@given(st.lists(st.tuples(st.integers(1, 20).map(lambda at: at / 20), st.booleans()), max_size=60))
def test_the_numbers_are_what_their_definitions_say(lines: list[Judged]) -> None:
    found = reliability(sorted(lines, key=lambda line: line[0]))
    assert sum(each.lines for each in found.bins) == found.lines == len(lines)
    assert len(found.bins) == min(BINS, len(lines))
    assert all(abs(each.lines - len(lines) / BINS) <= 1 for each in found.bins)
    pairs = [
        1.0 if right > wrong else 0.5 if right == wrong else 0.0
        for right, is_right in lines if is_right
        for wrong, is_right_too in lines if not is_right_too
    ]  # fmt: skip
    assert found.auc == (pytest.approx(sum(pairs) / len(pairs), abs=CLOSE) if pairs else None)
    for number in (found.brier, found.ece):
        assert number is None if not lines else number is not None and 0 <= number <= 1


CHILDREN: Final = Query("Q_0001", (Slot("per:children"),), ("ENG_DOC",))


def _analysed(folder: Path, confidences: str, *switches: str) -> dict[str, Any]:
    """Of lines that are correct (two of one class), incorrect and unassessed, in turn, with these confidences."""
    (query,) = CHILDREN.sf_queries()
    answers = [Answer(query, "per:children", f"V{at}", f"ENG_{at}") for at in range(4)]
    pool = [Assessment(answers[at], "C", f"{query}:1") for at in (0, 1)] + [Assessment(answers[2], "W", "0")]
    run = [Response(answer, text, f":N{at}") for at, (answer, text) in enumerate(zip(answers, confidences.split()))]
    files = World((CHILDREN,), tuple(pool), tuple(run)).write(folder)
    words = ["analyze", "-expand", "LAW", "--measure", "SF-ALL-Micro-F1", *switches, "--format", "json", *files]
    outcome = score_in(folder, words)
    assert outcome.status == 0, outcome.stderr
    found: dict[str, Any] = json.loads(outcome.stdout)["reliability"]
    return found


def test_over_judgments_every_assessed_line_counts_once_whatever_the_policy(tmp_path: Path) -> None:
    found = _analysed(tmp_path, "0.5 0.6 0.25 0.9")
    assert found["lines"] == 3  # two correct lines of one class, and an incorrect one
    assert found["brier"] == pytest.approx((0.5**2 + 0.4**2 + 0.25**2) / 3, abs=CLOSE)
    inexact_right = _analysed(
        tmp_path, "0.5 0.6 0.25 0.9", "-right", "CORRECT:INEXACT", "-wrong", "INCORRECT:DUPLICATE"
    )
    assert {**inexact_right, "labels": None} == {**found, "labels": None}


def test_over_labels_lines_that_are_not_assessed_or_do_not_count_are_left_out(tmp_path: Path) -> None:
    found = _analysed(tmp_path, "0.5 0.6 0.25 0.9")["labels"]
    assert found["lines"] == 2  # a right line and a wrong one; its duplicate is ignored
    assert found["brier"] == (0.5**2 + 0.25**2) / 2
    wrong = ("-wrong", "INCORRECT:INCORRECT_PARENT:INEXACT:DUPLICATE", "-ignore", "UNASSESSED")
    assert _analysed(tmp_path, "0.5 0.6 0.25 0.9", *wrong)["labels"]["lines"] == 3
    wrong = ("-wrong", "INCORRECT:INCORRECT_PARENT:INEXACT:UNASSESSED", "-ignore", "DUPLICATE")
    assert _analysed(tmp_path, "0.5 0.6 0.25 0.9", *wrong)["labels"]["lines"] == 2


def test_confidences_are_those_that_the_scorer_reads(tmp_path: Path) -> None:
    """What is no confidence counts as 1.0 (specification 4.3)."""
    found = _analysed(tmp_path, "0.5 0.6 1.5 0.9")
    assert [each["confidence"] for each in found["bins"]] == [0.5, 0.6, 1.0]
    assert found["auc"] == 0.0
