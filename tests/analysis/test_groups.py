"""Groups of a Cold Start run: they add up to the table, and say what the pool knows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.coldstart.command import score_in
from tests.coldstart.worlds import Answer, Assessment, Query, Response, Slot, World

CROSSED: Final = "slot,language,judgment"


CHILDREN: Final = Query("Q_0001", (Slot("per:children"),), ("ENG_DOC", "SPA_DOC"))


def _small() -> World:
    """Two entry points: one right, one wrong and one unassessed line; a class found, one missed in Chinese."""
    english, spanish = CHILDREN.sf_queries()
    ann, bo = Answer(english, "per:children", "Ann", "ENG_1"), Answer(english, "per:children", "Bo", "CMN_1")
    eve = Answer(english, "per:children", "Eve", "SPA_1")
    pool = (
        Assessment(ann, "C", f"{english}:1"),
        Assessment(bo, "C", f"{english}:2", mention="NOM", ec_mention="NOM"),
        Assessment(eve, "W", "0"),
        Assessment(Answer(spanish, "per:children", "Una", "SPA_2"), "C", f"{spanish}:1"),
    )
    odd = Answer(english, "per:children", "Odd", "XYZ_1")
    run = (Response(ann, "0.9", ":A"), Response(eve, "0.8", ":B"), Response(odd, "0.1", ":C"))
    return World((CHILDREN,), pool, run)


def _groups(folder: Path, measure: str, *switches: str) -> dict[str, dict[str, dict[str, Any]]]:
    files = _small().write(folder)
    words = ["analyze", "-expand", "LAW", "--measure", measure, *switches, "--format=json", *files]
    outcome = score_in(folder, words)
    assert outcome.status == 0, outcome.stderr
    found = json.loads(outcome.stdout)["groups"]
    return {dimension: {group["group"]: group for group in groups} for dimension, groups in found.items()}


def _counts(group: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(group["counts"][name] for name in ("ground_truth", "submitted", "right", "wrong", "ignored"))


def test_groups_of_a_small_run(tmp_path: Path) -> None:
    groups = _groups(tmp_path, "SF-ALL-Micro-F1")
    language = groups["language"]
    assert list(language) == ["SPA", "CMN", "ENG", "unknown"]  # two in Spanish: a wrong line, and a missed class
    assert {name: _counts(group) for name, group in language.items()} == {
        "ENG": (1, 1, 1, 0, 0), "SPA": (1, 1, 0, 1, 0), "CMN": (1, 0, 0, 0, 0), "unknown": (0, 1, 0, 0, 1),
    }  # fmt: skip
    assert [group["mistakes"] for group in language.values()] == [2, 1, 0, 0]
    assert language["SPA"]["share"] == 2 / 3
    assert (language["ENG"]["precision"], language["ENG"]["recall"], language["CMN"]["recall"]) == (1.0, 1.0, 0.0)
    assert {name: _counts(group)[0] for name, group in groups["mention_type"].items()} == {
        "NAM": 2, "NOM": 1, "unknown": 0,
    }  # fmt: skip
    assert {name: _counts(group) for name, group in groups["category"].items()} == {
        "CORRECT": (1, 1, 1, 0, 0), "INCORRECT": (0, 1, 0, 1, 0), "UNASSESSED": (0, 1, 0, 0, 1),
        "MISSED": (2, 0, 0, 0, 0),
    }  # fmt: skip
    assert {name: _counts(group)[:2] for name, group in groups["value_type"].items()} == {
        "per": (1, 3),
        "unknown": (2, 0),
    }


@pytest.mark.parametrize("duplicates", ["-ignore", "-right"])
def test_a_class_belongs_to_the_line_that_found_it(duplicates: str, tmp_path: Path) -> None:
    """The pool has it in English first; the run finds it in Chinese, and then in Spanish, as a duplicate."""
    (query, _) = CHILDREN.sf_queries()
    english, chinese, spanish = (
        Answer(query, "per:children", "Ann", f"{language}_1") for language in ("ENG", "CMN", "SPA")
    )
    pool = tuple(Assessment(answer, "C", f"{query}:1") for answer in (english, chinese, spanish))
    run = tuple(Response(answer, "0.5", ":A") for answer in (chinese, spanish))
    files = World((CHILDREN,), pool, run).write(tmp_path)
    sides = {"-right": "CORRECT", "-wrong": "INCORRECT:INCORRECT_PARENT:INEXACT", "-ignore": "UNASSESSED"}
    sides[duplicates] += ":DUPLICATE"
    switches = [word for side in sides.items() for word in side]
    outcome = score_in(tmp_path, ["analyze", "-expand", "LAW", *switches, "--format=json", *files])
    assert outcome.status == 0, outcome.stderr
    groups = {group["group"]: _counts(group) for group in json.loads(outcome.stdout)["groups"]["language"]}
    duplicate = (0, 1, 1, 0, 0) if duplicates == "-right" else (0, 1, 0, 0, 1)
    assert groups == {"CMN": (1, 1, 1, 0, 0), "SPA": duplicate}


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
    born = Query("Q_0002", (Slot("per:city_of_birth", single=True),), ("ENG_DOC",))
    (query,) = born.sf_queries()
    answers = {
        name: Answer(query, "per:city_of_birth", f"P{name}", f"{language}_1")
        for name, language in (("1", "ENG"), ("2", "CMN"), ("W", "SPA"))
    }
    pool = [Assessment(answers[name], "C", f"{query}:{name}") for name in "12"]
    run = tuple(Response(answers[name], "0.5", f":{name}") for name in given)
    files = World((born,), (*pool, Assessment(answers["W"], "W", "0")), run).write(tmp_path)
    switches = ("-expand", "LAW", "-right", "CORRECT:DUPLICATE", "-ignore", "UNASSESSED")
    outcome = score_in(tmp_path, ["analyze", *switches, "--format=json", *files])
    assert outcome.status == 0, outcome.stderr
    groups = {group["group"]: _counts(group) for group in json.loads(outcome.stdout)["groups"]["language"]}
    assert groups == expected


def test_ldc_max_counts_the_entry_point_that_represents_its_query(tmp_path: Path) -> None:
    (group,) = _groups(tmp_path, "LDC-MAX-ALL-Micro-F1")["slot"].values()
    assert _counts(group) == (2, 3, 1, 1, 1)
    (group,) = _groups(tmp_path, "LDC-MEAN-ALL-Macro-F1")["slot"].values()
    assert _counts(group) == (3, 3, 1, 1, 1)


def test_dimensions_are_crossed(tmp_path: Path) -> None:
    groups = _groups(tmp_path, "SF-ALL-Micro-F1", "--by", "language, judgment", "--by", "hop,slot")
    assert list(groups)[-2:] == ["language,judgment", "hop,slot"]
    assert {name: (group["values"], _counts(group)) for name, group in groups["language,judgment"].items()} == {
        "CMN, CORRECT": (["CMN", "CORRECT"], (1, 0, 0, 0, 0)),
        "ENG, CORRECT": (["ENG", "CORRECT"], (1, 1, 1, 0, 0)),
        "SPA, CORRECT": (["SPA", "CORRECT"], (1, 0, 0, 0, 0)),
        "SPA, INCORRECT": (["SPA", "INCORRECT"], (0, 1, 0, 1, 0)),
        "unknown, UNASSESSED": (["unknown", "UNASSESSED"], (0, 1, 0, 0, 1)),
    }
    text = score_in(
        tmp_path, ["analyze", "-expand", "LAW", "--by", "language,judgment", "--all", *_small().write(tmp_path)]
    )
    assert b"By language,judgment, the most mistakes first:\n" in text.stdout
