"""Worlds of one hop through the Cold Start scorer and through `pool`: the same micro and macro scores."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.coldstart.command import json_in
from tests.coldstart.worlds import BASE, VALUES, Answer, Assessment, Query, Response, Slot, World

LABELS: Final = {"C": "CORRECT", "W": "INCORRECT", "X": "INEXACT"}
SLOT: Final = Slot("per:children")


@st.composite
def _worlds(draw: st.DrawFn) -> World:
    """Draw queries of one slot with a few classes, of which the run finds some, and answers that are wrong or new."""
    queries = tuple(Query(f"CSX_{number:04d}", (SLOT,), (f"ENG_Q{number}",)) for number in range(1, 4))
    pool = []
    run: list[Response] = []
    for query in queries:
        [name] = query.sf_queries()
        for number in range(draw(st.integers(1, 5))):
            answer = Answer(name, SLOT.name, draw(st.sampled_from(VALUES)), f"ENG_{query.ldc}_{number}")
            code = draw(st.sampled_from("CCWX"))
            class_name = "0" if code == "W" else f"{name}:{draw(st.integers(1, 3))}"
            pool.append(Assessment(answer, code, class_name))
            if draw(st.booleans()):
                run.append(Response(answer, f"0.{draw(st.integers(1, 9))}", f":E{len(run)}"))
        for number in range(draw(st.integers(0, 2))):
            answer = Answer(name, SLOT.name, draw(st.sampled_from(VALUES)), f"ENG_{query.ldc}_new{number}")
            run.append(Response(answer, "0.5", f":E{len(run)}"))
    assume(run)
    return World(queries, tuple(pool), tuple(run))


def _rows_of(world: World) -> tuple[list[list[str]], list[list[str]]]:
    """Return the tables of assessments and run of a world."""
    assessments = [["unit", "answer", "evidence", "label", "class"]]
    for each in world.pool:
        name = "" if each.ec == "0" else each.ec
        assessments.append([each.answer.query, each.answer.value, each.answer.docid, LABELS[each.code], name])
    run = [["unit", "answer", "evidence", "confidence"]]
    for response in world.run:
        answer = response.answer
        run.append([answer.query, answer.value, answer.docid, response.confidence])
    return assessments, run


def _write(path: Path, rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


@settings(max_examples=60)
@given(_worlds(), st.sampled_from(["right", "wrong"]), st.sampled_from(["wrong", "ignore"]))
def test_one_hop_worlds_score_as_in_cold_start(world: World, inexact: str, unassessed: str) -> None:
    """Duplicates are ignored: Cold Start's precision never counts them as wrong, and its recall counts right ones."""
    sides: dict[str, list[str]] = {"right": ["CORRECT"], "wrong": ["INCORRECT"], "ignore": ["DUPLICATE"]}
    sides[inexact].append("INEXACT")
    sides[unassessed].append("UNASSESSED")
    pool_policy = ",".join(f"{side}={':'.join(labels)}" for side, labels in sides.items())
    cold_start_policy = f"{pool_policy}:INCORRECT_PARENT,justifications=M:M"
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = world.write(folder)
        found = json_in(folder, "score", "-expand", BASE, *files, "--policy", cold_start_policy, "--all")
        expected = found["runs"][0]["scores"]
        assessments, run = _rows_of(world)
        _write(folder / "assessments.csv", assessments)
        _write(folder / "run.csv", run)
        judged = json_in(folder, "score", "pool", "assessments.csv", "run.csv", "--policy", pool_policy)
        pairs = {
            f"{average}-{letter}": f"SF-ALL-{average.capitalize()}-{letter.upper()}"
            for average in ("micro", "macro")
            for letter in ("p", "r", "f1")
        }
        for own, theirs in pairs.items():
            assert judged[own] == pytest.approx(expected[theirs], abs=1e-12), own
