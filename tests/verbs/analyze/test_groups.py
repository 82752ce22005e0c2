"""Groups, confusions and reliability of small Cold Start runs, worked by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.verbs.analyze.confusions import MOST_VALUES
from cs_score.verbs.analyze.reliability import BINS, FEWEST_CALIBRATED, Judged, reliability
from tests.coldstart.command import score_in
from tests.coldstart.worlds import Answer, Assessment, Query, Response, Slot, World

CHILDREN: Final = Query("Q_0001", (Slot("per:children"),), ("ENG_DOC", "SPA_DOC"))
BORN: Final = Query("Q_0002", (Slot("per:city_of_birth", single=True),), ("ENG_DOC2",))
ENGLISH, SPANISH = CHILDREN.sf_queries()
(CITY,) = BORN.sf_queries()


def child(value: str, docid: str, query: str = ENGLISH) -> Answer:
    return Answer(query, "per:children", value, docid)


def right(answer: Answer, value_class: object = 1, **mentions: str) -> Assessment:
    return Assessment(answer, "C", f"{answer.query}:{value_class}", **mentions)


def wrong(answer: Answer) -> Assessment:
    return Assessment(answer, "W", "0")


def analysed(
    folder: Path, pool: list[Assessment], run: list[Answer], *switches: str, confidences: str = ""
) -> dict[str, Any]:
    given = confidences.split() or ["0.5"] * len(run)
    lines = tuple(Response(answer, text, f":N{at}") for at, (answer, text) in enumerate(zip(run, given)))
    world = World((CHILDREN, BORN), tuple(pool), lines)
    outcome = score_in(folder, ["analyze", "-expand", "LAW", *switches, "--format=json", *world.write(folder)])
    assert outcome.status == 0, outcome.stderr
    found: dict[str, Any] = json.loads(outcome.stdout)
    return found


def counts(analysis: Mapping[str, Any], dimension: str) -> dict[str, tuple[int, ...]]:
    names = ("ground_truth", "submitted", "right", "wrong", "ignored")
    groups = analysis["groups"][dimension]
    return {group["group"]: tuple(group["counts"][name] for name in names) for group in groups}


ANN, BO, EVE = child("Ann", "ENG_1"), child("Bo", "CMN_1"), child("Eve", "SPA_1")
SMALL_POOL = [
    right(ANN),
    right(BO, 2, mention="NOM", ec_mention="NOM"),
    wrong(EVE),
    right(child("U", "SPA_2", SPANISH)),
]
SMALL_RUN = [ANN, EVE, child("Odd", "XYZ_1")]
"""One right, one wrong and one unassessed line; a class found, one missed in Chinese, one of another entry point."""


def test_groups_of_a_small_run(tmp_path: Path) -> None:
    switches = ("--by", "language, judgment", "--by", "hop,slot", "--measure", "SF-ALL-Micro-F1")
    found = analysed(tmp_path, SMALL_POOL, SMALL_RUN, *switches)
    language = {group["group"]: group for group in found["groups"]["language"]}
    assert list(language) == ["SPA", "CMN", "ENG", "unknown"]  # two in Spanish: a wrong line, and a missed class
    assert [group["mistakes"] for group in language.values()] == [2, 1, 0, 0]
    assert language["SPA"]["share"] == 2 / 3
    assert (language["ENG"]["precision"], language["ENG"]["recall"], language["CMN"]["recall"]) == (1.0, 1.0, 0.0)
    assert counts(found, "language") == {
        "ENG": (1, 1, 1, 0, 0), "SPA": (1, 1, 0, 1, 0), "CMN": (1, 0, 0, 0, 0), "unknown": (0, 1, 0, 0, 1),
    }  # fmt: skip
    mentions = counts(found, "mention_type")
    assert {name: numbers[0] for name, numbers in mentions.items()} == {"NAM": 2, "NOM": 1, "unknown": 0}
    assert counts(found, "category") == {
        "CORRECT": (1, 1, 1, 0, 0), "INCORRECT": (0, 1, 0, 1, 0), "UNASSESSED": (0, 1, 0, 0, 1),
        "MISSED": (2, 0, 0, 0, 0),
    }  # fmt: skip
    types = counts(found, "value_type")
    assert {name: numbers[:2] for name, numbers in types.items()} == {"per": (1, 3), "unknown": (2, 0)}
    assert list(found["groups"])[-2:] == ["language,judgment", "hop,slot"]
    assert all(", ".join(group["values"]) == group["group"] for group in found["groups"]["language,judgment"])
    assert counts(found, "language,judgment") == {
        "CMN, CORRECT": (1, 0, 0, 0, 0), "ENG, CORRECT": (1, 1, 1, 0, 0), "SPA, CORRECT": (1, 0, 0, 0, 0),
        "SPA, INCORRECT": (0, 1, 0, 1, 0), "unknown, UNASSESSED": (0, 1, 0, 0, 1),
    }  # fmt: skip


@pytest.mark.parametrize("duplicates", ["-ignore", "-right"])
def test_a_class_belongs_to_the_line_that_found_it(duplicates: str, tmp_path: Path) -> None:
    """The pool has it in English first; the run finds it in Chinese, and then in Spanish, as a duplicate."""
    answers = [child("Ann", f"{language}_1") for language in ("ENG", "CMN", "SPA")]
    sides = {"-right": "CORRECT", "-wrong": "INCORRECT:INCORRECT_PARENT:INEXACT", "-ignore": "UNASSESSED"}
    sides[duplicates] += ":DUPLICATE"
    switches = [word for side in sides.items() for word in side]
    found = analysed(tmp_path, [*map(right, answers)], answers[1:], *switches)
    duplicate = (0, 1, 1, 0, 0) if duplicates == "-right" else (0, 1, 0, 0, 1)
    assert counts(found, "language") == {"CMN": (1, 1, 1, 0, 0), "SPA": duplicate}


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
    places = {"1": "ENG_1", "2": "CMN_1", "W": "SPA_1"}
    answers = {name: Answer(CITY, "per:city_of_birth", f"P{name}", docid) for name, docid in places.items()}
    pool = [right(answers["1"]), right(answers["2"], 2), wrong(answers["W"])]
    found = analysed(
        tmp_path, pool, [answers[name] for name in given], "-right", "CORRECT:DUPLICATE", "-ignore", "UNASSESSED"
    )
    assert counts(found, "language") == expected


def test_ldc_max_counts_the_entry_point_that_represents_its_query(tmp_path: Path) -> None:
    for measure, expected in (("LDC-MAX-ALL-Micro-F1", (2, 3, 1, 1, 1)), ("LDC-MEAN-ALL-Macro-F1", (3, 3, 1, 1, 1))):
        found = analysed(tmp_path, SMALL_POOL, SMALL_RUN, "--measure", measure)
        assert counts(found, "slot")["per:children"] == expected


def test_lines_by_slot_and_category_near_misses_and_wrong_values(tmp_path: Path) -> None:
    ann, again, bo, eve = child("Ann", "ENG_1"), child("Ann", "ENG_5"), child("Bo", "ENG_2"), child("Eve", "ENG_3")
    often = [child(value, f"SPA_{at}") for at, value in enumerate(["Twice", "Thrice", "Thrice", "Twice", "Thrice"])]
    rare = [child(f"V{at:03d}", f"CMN_{at}") for at in range(MOST_VALUES)]
    run = [
        ann,  # right
        again,  # correct, too, and a duplicate: no mistake to explain
        bo,  # wrong, and nothing else is near
        child("Ann", "ENG_2"),  # unassessed: accepted elsewhere, and the place is known with Bo
        child("Bo", "ENG_1"),  # unassessed: Bo is wrong elsewhere, and the place is known with Ann
        child("Eve", "ENG_9"),  # unassessed: Eve is wrong elsewhere
        Answer(CITY, "per:city_of_birth", "Ann", "ENG_4"),  # unassessed: Ann is known in another query only
    ]
    pool = [right(ann), right(again), wrong(bo), wrong(eve)]
    found = analysed(tmp_path, pool, run)["confusions"]
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
    values = analysed(tmp_path, [*map(wrong, [*often, *rare])], [*often, *rare])["confusions"]["wrong_values"]
    assert [(each["value"], each["count"]) for each in values[:3]] == [("Thrice", 3), ("Twice", 2), ("V000", 1)]
    assert len(values) == MOST_VALUES


@given(st.lists(st.tuples(st.integers(1, 20).map(lambda at: at / 20), st.booleans()), max_size=160))
def test_reliability_is_what_its_definitions_say(judged: list[tuple[float, bool]]) -> None:
    lines = sorted([Judged(*line) for line in judged], key=lambda line: line.confidence)
    found, ends = reliability(lines), [len(lines) * number // BINS for number in range(BINS + 1)]
    bins = [lines[start:end] for start, end in pairwise(ends) if start < end]  # of equal size
    means = [[sum(column) / len(each) for column in zip(*each)] for each in bins]
    assert [(each.lines, each.low, each.high) for each in found.bins] == [(len(b), b[0][0], b[-1][0]) for b in bins]
    assert [[each.confidence, each.right] for each in found.bins] == [pytest.approx(mean) for mean in means]
    brier = [(confidence - is_right) ** 2 for confidence, is_right in lines]
    ece = [abs(confidence - share) * len(each) for (confidence, share), each in zip(means, bins)]
    won = [
        1.0 if confidence > other else 0.5 if confidence == other else 0.0
        for confidence, is_right in lines if is_right
        for other, is_right_too in lines if not is_right_too
    ]  # fmt: skip
    assert found.lines == len(lines)
    if len(lines) < FEWEST_CALIBRATED:
        assert found.ece is None
        ece = []
    for number, terms, size in (
        (found.brier, brier, len(lines)),
        (found.ece, ece, len(lines)),
        (found.auc, won, len(won)),
    ):
        assert number == (pytest.approx(sum(terms) / size) if terms else None)


def test_reliability_counts_every_assessed_line_once(tmp_path: Path) -> None:
    """Whatever the policy makes of it. What is no confidence counts as 1.0."""
    answers = [child(f"V{at}", f"ENG_{at}") for at in range(4)]
    pool = [right(answers[0]), right(answers[1]), wrong(answers[2])]

    def reliability(*switches: str, confidences: str = "0.5 0.6 0.25 0.9") -> dict[str, Any]:
        words = ("--measure", "SF-ALL-Micro-F1", *switches)
        found: dict[str, Any] = analysed(tmp_path, pool, answers, *words, confidences=confidences)["reliability"]
        return found

    found = reliability()
    assert found["lines"] == 3  # two correct lines of one class, and an incorrect one
    assert found["brier"] == pytest.approx((0.5**2 + 0.4**2 + 0.25**2) / 3)
    assert reliability("-right", "CORRECT:INEXACT", "-wrong", "INCORRECT:DUPLICATE") == found
    beyond = reliability(confidences="0.5 0.6 1.5 0.9")
    assert ([each["confidence"] for each in beyond["bins"]], beyond["auc"]) == ([0.5, 0.6, 1.0], 0.0)
