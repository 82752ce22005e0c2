"""What wrong lines say instead: by slot and category, by value, and near to what the pool has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from cs_score.analysis.coldstart.groups import MOST_VALUES
from cs_score.base.records import replace
from tests.coldstart.command import score_in
from tests.coldstart.worlds import Answer, Assessment, Query, Response, Slot, World

CHILDREN: Final = Query("Q_0001", (Slot("per:children"),), ("ENG_DOC",))
BORN: Final = Query("Q_0002", (Slot("per:city_of_birth", single=True),), ("ENG_DOC2",))


def _confusions(folder: Path, world: World) -> dict[str, Any]:
    files = world.write(folder)
    outcome = score_in(folder, ["analyze", "-expand", "LAW", "--format", "json", *files])
    assert score_in(folder, ["analyze", "-expand", "LAW", "-o", "tables", *files]).status == 0
    assert outcome.status == 0, outcome.stderr
    found: dict[str, Any] = json.loads(outcome.stdout)["confusions"]
    return found


def _world() -> World:
    (query,), (born,) = CHILDREN.sf_queries(), BORN.sf_queries()
    ann = Answer(query, "per:children", "Ann", "ENG_1")
    bo = Answer(query, "per:children", "Bo", "ENG_2")
    eve = Answer(query, "per:children", "Eve", "ENG_3")
    city = Answer(born, "per:city_of_birth", "Ann", "ENG_4")
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
        city,  # unassessed: Ann is known in another query only
    )
    run = tuple(Response(answer, "0.5", f":N{at}") for at, answer in enumerate(lines))
    return World((CHILDREN, BORN), pool, run)


def test_lines_by_slot_and_category_and_near_misses(tmp_path: Path) -> None:
    found = _confusions(tmp_path, _world())
    assert found["slots"] == [
        {"slot": "per:children", "category": "UNASSESSED", "count": 3},
        {"slot": "per:children", "category": "CORRECT", "count": 2},
        {"slot": "per:children", "category": "INCORRECT", "count": 1},
        {"slot": "per:city_of_birth", "category": "UNASSESSED", "count": 1},
    ]
    assert found["near"] == [
        {
            "category": "UNASSESSED", "lines": 4, "same_place": 2, "same_place_accepted": 1, "same_value": 3,
            "same_value_accepted": 1,
        },
        {
            "category": "INCORRECT", "lines": 1, "same_place": 0, "same_place_accepted": 0, "same_value": 0,
            "same_value_accepted": 0,
        },
    ]  # fmt: skip
    assert found["wrong_values"] == [{"slot": "per:children", "value": "Bo", "count": 1}]
    header, first, second = (tmp_path / "tables/confusions.tsv").read_text().splitlines()
    cells = [dict(zip(header.split("\t"), line.split("\t"))) for line in (first, second)]
    assert [(each["slot"], each["UNASSESSED"], each["CORRECT"], each["INEXACT"]) for each in cells] == [
        ("per:children", "3", "2", ""),
        ("per:city_of_birth", "1", "0", ""),
    ]
    assert (tmp_path / "tables/near_misses.tsv").read_text().splitlines()[1] == "UNASSESSED\t4\t2\t1\t3\t1"


def test_the_most_frequent_wrong_values_come_first(tmp_path: Path) -> None:
    (query,) = CHILDREN.sf_queries()
    values = ["Twice", "Thrice", *(f"V{at:03d}" for at in range(MOST_VALUES)), "Thrice", "Twice", "Thrice"]
    answers = [Answer(query, "per:children", value, f"ENG_{at}") for at, value in enumerate(values)]
    pool = tuple(Assessment(answer, "W", "0") for answer in answers)
    run = tuple(Response(answer, "0.5", f":N{at}") for at, answer in enumerate(answers))
    found = _confusions(tmp_path, World((CHILDREN,), pool, run))["wrong_values"]
    assert [(each["value"], each["count"]) for each in found[:3]] == [("Thrice", 3), ("Twice", 2), ("V000", 1)]
    assert len(found) == MOST_VALUES
