"""Groups, confusions and reliability of small Cold Start runs, worked by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.analysis.coldstart.confidence import BINS, Judged, reliability
from cs_score.analysis.coldstart.groups import MOST_VALUES
from cs_score.base.records import replace, to_builtins
from tests.coldstart.command import score_in
from tests.coldstart.worlds import Answer, Assessment, Query, Response, Slot, World

CHILDREN: Final = Query("Q_0001", (Slot("per:children"),), ("ENG_DOC", "SPA_DOC"))
BORN: Final = Query("Q_0002", (Slot("per:city_of_birth", single=True),), ("ENG_DOC2",))
CLOSE: Final = 1e-12


def analysed(folder: Path, world: World, *switches: str) -> dict[str, Any]:
    outcome = score_in(folder, ["analyze", "-expand", "LAW", *switches, "--format=json", *world.write(folder)])
    assert outcome.status == 0, outcome.stderr
    found: dict[str, Any] = json.loads(outcome.stdout)
    return found


def by_name(analysis: Mapping[str, Any], dimension: str) -> dict[str, dict[str, Any]]:
    return {group["group"]: group for group in analysis["groups"][dimension]}


def counts(groups: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[int, ...]]:
    names = ("ground_truth", "submitted", "right", "wrong", "ignored")
    return {key: tuple(group["counts"][name] for name in names) for key, group in groups.items()}


def given_once(answers: Sequence[Answer], confidence: str = "0.5") -> tuple[Response, ...]:
    return tuple(Response(answer, confidence, f":N{at}") for at, answer in enumerate(answers))


# ---- Groups


def _small() -> World:
    """Two entry points: one right, one wrong and one unassessed line; a class found, one missed in Chinese."""
    english, spanish = CHILDREN.sf_queries()
    ann, bo, eve, odd = (
        Answer(english, "per:children", value, docid)
        for value, docid in (("Ann", "ENG_1"), ("Bo", "CMN_1"), ("Eve", "SPA_1"), ("Odd", "XYZ_1"))
    )
    pool = (
        Assessment(ann, "C", f"{english}:1"),
        Assessment(bo, "C", f"{english}:2", mention="NOM", ec_mention="NOM"),
        Assessment(eve, "W", "0"),
        Assessment(Answer(spanish, "per:children", "Una", "SPA_2"), "C", f"{spanish}:1"),
    )
    return World((CHILDREN,), pool, given_once((ann, eve, odd)))


def test_groups_of_a_small_run(tmp_path: Path) -> None:
    found = analysed(tmp_path, _small(), "--measure", "SF-ALL-Micro-F1")
    language = by_name(found, "language")
    assert list(language) == ["SPA", "CMN", "ENG", "unknown"]  # two in Spanish: a wrong line, and a missed class
    assert counts(language) == {
        "ENG": (1, 1, 1, 0, 0), "SPA": (1, 1, 0, 1, 0), "CMN": (1, 0, 0, 0, 0), "unknown": (0, 1, 0, 0, 1),
    }  # fmt: skip
    assert [group["mistakes"] for group in language.values()] == [2, 1, 0, 0]
    assert language["SPA"]["share"] == 2 / 3
    assert (language["ENG"]["precision"], language["ENG"]["recall"], language["CMN"]["recall"]) == (1.0, 1.0, 0.0)
    mentions = counts(by_name(found, "mention_type"))
    assert {name: numbers[0] for name, numbers in mentions.items()} == {"NAM": 2, "NOM": 1, "unknown": 0}
    assert counts(by_name(found, "category")) == {
        "CORRECT": (1, 1, 1, 0, 0), "INCORRECT": (0, 1, 0, 1, 0), "UNASSESSED": (0, 1, 0, 0, 1),
        "MISSED": (2, 0, 0, 0, 0),
    }  # fmt: skip
    types = counts(by_name(found, "value_type"))
    assert {name: numbers[:2] for name, numbers in types.items()} == {"per": (1, 3), "unknown": (2, 0)}


@pytest.mark.parametrize("duplicates", ["-ignore", "-right"])
def test_a_class_belongs_to_the_line_that_found_it(duplicates: str, tmp_path: Path) -> None:
    """The pool has it in English first; the run finds it in Chinese, and then in Spanish, as a duplicate."""
    (query, _) = CHILDREN.sf_queries()
    answers = [Answer(query, "per:children", "Ann", f"{language}_1") for language in ("ENG", "CMN", "SPA")]
    pool = tuple(Assessment(answer, "C", f"{query}:1") for answer in answers)
    run = tuple(Response(answer, "0.5", ":A") for answer in answers[1:])
    sides = {"-right": "CORRECT", "-wrong": "INCORRECT:INCORRECT_PARENT:INEXACT", "-ignore": "UNASSESSED"}
    sides[duplicates] += ":DUPLICATE"
    switches = [word for side in sides.items() for word in side]
    duplicate = (0, 1, 1, 0, 0) if duplicates == "-right" else (0, 1, 0, 0, 1)
    found = analysed(tmp_path, World((CHILDREN,), pool, run), *switches)
    assert counts(by_name(found, "language")) == {"CMN": (1, 1, 1, 0, 0), "SPA": duplicate}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("W", {"ENG": (1, 0, 0, 0, 0), "SPA": (0, 1, 0, 1, 0)}),
        ("2", {"CMN": (1, 1, 1, 0, 0)}),
        ("12", {"ENG": (1, 1, 1, 0, 0), "CMN": (0, 1, 1, 0, 0)}),
    ],
)
def test_a_slot_with_one_value_has_one_class_to_find(
    given: str, expected: Mapping[str, tuple[int, ...]], tmp_path: Path
) -> None:
    """That of the first line that found one, else the first of the pool; here a second right answer counts, too."""
    (query,) = BORN.sf_queries()
    answers = {
        name: Answer(query, "per:city_of_birth", f"P{name}", f"{language}_1")
        for name, language in (("1", "ENG"), ("2", "CMN"), ("W", "SPA"))
    }
    pool = [Assessment(answers[name], "C", f"{query}:{name}") for name in "12"]
    world = World((BORN,), (*pool, Assessment(answers["W"], "W", "0")), given_once([answers[name] for name in given]))
    found = analysed(tmp_path, world, "-right", "CORRECT:DUPLICATE", "-ignore", "UNASSESSED")
    assert counts(by_name(found, "language")) == expected


def test_ldc_max_counts_the_entry_point_that_represents_its_query(tmp_path: Path) -> None:
    for measure, expected in (("LDC-MAX-ALL-Micro-F1", (2, 3, 1, 1, 1)), ("LDC-MEAN-ALL-Macro-F1", (3, 3, 1, 1, 1))):
        found = analysed(tmp_path, _small(), "--measure", measure)
        assert list(counts(by_name(found, "slot")).values()) == [expected]


def test_dimensions_are_crossed(tmp_path: Path) -> None:
    found = analysed(tmp_path, _small(), "--by", "language, judgment", "--by", "hop,slot", "--measure", "SF-AP")
    assert list(found["groups"])[-2:] == ["language,judgment", "hop,slot"]
    groups = by_name(found, "language,judgment")
    assert all(", ".join(group["values"]) == name for name, group in groups.items())
    assert counts(groups) == {
        "CMN, CORRECT": (1, 0, 0, 0, 0), "ENG, CORRECT": (1, 1, 1, 0, 0), "SPA, CORRECT": (1, 0, 0, 0, 0),
        "SPA, INCORRECT": (0, 1, 0, 1, 0), "unknown, UNASSESSED": (0, 1, 0, 0, 1),
    }  # fmt: skip


# ---- Confusions


def test_lines_by_slot_and_category_and_near_misses(tmp_path: Path) -> None:
    (query, _), (born,) = CHILDREN.sf_queries(), BORN.sf_queries()
    ann, bo, eve = (
        Answer(query, "per:children", value, docid)
        for value, docid in (("Ann", "ENG_1"), ("Bo", "ENG_2"), ("Eve", "ENG_3"))
    )
    again = replace(ann, docid="ENG_5")
    pool = (
        *(Assessment(answer, "C", f"{query}:1") for answer in (ann, again)),
        *(Assessment(answer, "W", "0") for answer in (bo, eve)),
    )
    lines = (
        ann,  # right
        again,  # correct, too, and a duplicate: no mistake to explain
        bo,  # wrong, and nothing else is near
        replace(ann, docid="ENG_2"),  # unassessed: accepted elsewhere, and the place is known with Bo
        replace(bo, docid="ENG_1"),  # unassessed: Bo is wrong elsewhere, and the place is known with Ann
        replace(eve, docid="ENG_9"),  # unassessed: Eve is wrong elsewhere
        Answer(born, "per:city_of_birth", "Ann", "ENG_4"),  # unassessed: Ann is known in another query only
    )
    found = analysed(tmp_path, World((CHILDREN, BORN), pool, given_once(lines)))["confusions"]
    assert [tuple(each.values()) for each in found["slots"]] == [
        ("per:children", "UNASSESSED", 3),
        ("per:children", "CORRECT", 2),
        ("per:children", "INCORRECT", 1),
        ("per:city_of_birth", "UNASSESSED", 1),
    ]
    keys = ("category", "lines", "same_place", "same_place_accepted", "same_value", "same_value_accepted")
    near = [("UNASSESSED", 4, 2, 1, 3, 1), ("INCORRECT", 1, 0, 0, 0, 0)]
    assert found["near"] == [dict(zip(keys, row)) for row in near]
    assert found["wrong_values"] == [{"slot": "per:children", "value": "Bo", "count": 1}]


def test_the_most_frequent_wrong_values_come_first(tmp_path: Path) -> None:
    (query, _) = CHILDREN.sf_queries()
    values = ["Twice", "Thrice", *(f"V{at:03d}" for at in range(MOST_VALUES)), "Thrice", "Twice", "Thrice"]
    answers = [Answer(query, "per:children", value, f"ENG_{at}") for at, value in enumerate(values)]
    pool = tuple(Assessment(answer, "W", "0") for answer in answers)
    found = analysed(tmp_path, World((CHILDREN,), pool, given_once(answers)))["confusions"]["wrong_values"]
    assert [(each["value"], each["count"]) for each in found[:3]] == [("Thrice", 3), ("Twice", 2), ("V000", 1)]
    assert len(found) == MOST_VALUES


# ---- Reliability


@pytest.mark.parametrize(
    ("judged", "brier", "ece", "auc"),
    [
        # Bins of one line each: |0 - 0.2|, |1 - 0.4|, |0 - 0.4|, |1 - 0.9|; of four pairs 3.5 are won.
        ([(0.2, False), (0.4, True), (0.4, False), (0.9, True)], 0.57 / 4, 1.3 / 4, 3.5 / 4),
        ([(1.0, at < 10) for at in range(20)], 0.5, 0.5, 0.5),  # as many bins without as with right lines
        ([(0.25, True)], 0.75**2, 0.75, None),
        ([(0.25, False)], 0.25**2, 0.25, None),
        ([], None, None, None),
    ],
)
def test_reliability_by_hand(judged: list[Judged], brier: float | None, ece: float | None, auc: float | None) -> None:
    found = reliability(judged)
    for number, expected in ((found.brier, brier), (found.ece, ece), (found.auc, auc)):
        assert number == (expected if expected is None else pytest.approx(expected, abs=CLOSE))
    assert found.lines == len(judged)


def test_bins_are_of_equal_size() -> None:
    """Twenty-three lines: bins end before line 2, 4, 6, 9, 11, 13, 16, 18, 20 and 23."""
    found = reliability([(at / 100, at % 2 == 0) for at in range(1, 24)])
    assert [each.lines for each in found.bins] == [2, 2, 2, 3, 2, 2, 3, 2, 2, 3]
    expected = {"lines": 3, "low": 0.07, "high": 0.09, "confidence": pytest.approx(0.08, abs=CLOSE), "right": 1 / 3}
    assert to_builtins(found.bins[3]) == expected


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


def _reliability(folder: Path, confidences: str, *switches: str) -> dict[str, Any]:
    """Of lines that are correct (two of one class), incorrect and unassessed, in turn, with these confidences."""
    (query, _) = CHILDREN.sf_queries()
    answers = [Answer(query, "per:children", f"V{at}", f"ENG_{at}") for at in range(4)]
    pool = [Assessment(answers[at], "C", f"{query}:1") for at in (0, 1)] + [Assessment(answers[2], "W", "0")]
    run = [Response(answer, text, f":N{at}") for at, (answer, text) in enumerate(zip(answers, confidences.split()))]
    world = World((CHILDREN,), tuple(pool), tuple(run))
    found: dict[str, Any] = analysed(folder, world, "--measure", "SF-ALL-Micro-F1", *switches)["reliability"]
    return found


def test_reliability_over_judgments_and_over_labels(tmp_path: Path) -> None:
    """Over judgments every assessed line counts once, whatever the policy; over labels only what counts."""
    lines = "0.5 0.6 0.25 0.9"
    found = _reliability(tmp_path, lines)
    assert found["lines"] == 3  # two correct lines of one class, and an incorrect one
    assert found["brier"] == pytest.approx((0.5**2 + 0.4**2 + 0.25**2) / 3, abs=CLOSE)
    assert found["labels"]["lines"] == 2  # a right line and a wrong one; its duplicate is ignored
    assert found["labels"]["brier"] == (0.5**2 + 0.25**2) / 2
    other = _reliability(tmp_path, lines, "-right", "CORRECT:INEXACT", "-wrong", "INCORRECT:DUPLICATE")
    assert {**other, "labels": None} == {**found, "labels": None}
    for category, number in (("DUPLICATE", 3), ("UNASSESSED", 2)):
        ignored = "UNASSESSED" if category == "DUPLICATE" else "DUPLICATE"
        wrong = ("-wrong", f"INCORRECT:INCORRECT_PARENT:INEXACT:{category}", "-ignore", ignored)
        assert _reliability(tmp_path, lines, *wrong)["labels"]["lines"] == number


def test_confidences_are_those_that_the_scorer_reads(tmp_path: Path) -> None:
    """What is no confidence counts as 1.0."""
    found = _reliability(tmp_path, "0.5 0.6 1.5 0.9")
    assert [each["confidence"] for each in found["bins"]] == [0.5, 0.6, 1.0]
    assert found["auc"] == 0.0
