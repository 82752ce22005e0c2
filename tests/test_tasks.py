"""A task that the package does not have: its own module and a row in the table are enough for every verb."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cs_score.base.sources import Source
from cs_score.evidence import reading
from cs_score.evidence.mode import Fault, Mode, PairedUnit, Part, ReportRow, Row, Unit
from cs_score.tasks import TASKS
from tests.evidence.command import cs_score
from tests.freeze.calls import REPOSITORY


class Exact(Mode):
    name = "exact"
    unit = "item"
    columns = ("items", "accuracy")
    headings = ("accuracy",)
    rows = (ReportRow("all", ("accuracy",)),)
    kinds = ("wrong",)
    summary = "Score exact matches"
    files = "Objects from item to answer."

    def gold(self, source: Source) -> reading.Object:
        return reading.as_object(reading.json_document(source), "the file")

    predictions = gold

    def pair_units(self, gold: Any, predictions: Any, options: Any) -> tuple[Iterable[PairedUnit], Iterable[str]]:
        return [(item, answer, predictions.content.get(item)) for item, answer in gold.content.items()], ()

    def row(self, unit: Unit) -> Row:
        return 1, float(unit.prediction == unit.gold)

    def explain_unit(self, unit: Unit, row: Row) -> Iterator[str]:
        yield f"gold {unit.gold}, predicted {unit.prediction}"

    def parts(self, unit: Unit, measure: str) -> Iterator[Part]:
        right, given = unit.prediction == unit.gold, unit.prediction
        faults = () if right else (Fault(kind="wrong", part=None, predicted=given, gold=unit.gold),)
        yield Part(
            noun="answer",
            value=unit.gold,
            is_right=right,
            judgment=None if given is None else str(given),
            faults=faults,
        )

    def correct_faults(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        return next((fault.gold for fault in faults), unit.prediction)


MODE = Exact()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(TASKS, "exact", "tests.test_tasks:MODE")
    gold = {str(number): number % 3 for number in range(9)}
    for name, content in {"gold": gold, "a": {**gold, "1": 7, "2": 8}, "b": {**gold, "2": 8}}.items():
        Path(f"{name}.json").write_text(json.dumps(content))
    return tmp_path


def printed(*words: str) -> str:
    outcome = cs_score(*words)
    assert outcome.status == 0, outcome.err
    return outcome.out


def test_every_verb_takes_a_sixth_task(folder: Path) -> None:
    assert "0.7778" in printed("exact", "gold.json", "a.json")
    found = json.loads(printed("analyze", "exact", "gold.json", "a.json", "--format", "json"))
    assert (found["task"], found["score"], [each["unit"] for each in found["mistakes"]]) == ("exact", 7 / 9, ["1", "2"])
    assert found["budget"][0]["cumulated"] == 1.0
    different = json.loads(printed("diff", "exact", "gold.json", "a.json", "b.json", "--format", "json"))
    assert [(each["unit"], each["contribution"]) for each in different["units"]] == [("1", pytest.approx(1 / 9))]
    assert "gold 1, predicted 7" in printed("explain", "exact", "gold.json", "a.json", "--unit", "1")
    assert "accuracy" in printed("compare", "exact", "gold.json", "a.json", "b.json", "--bootstrap", "99")
    assert "kept" in printed("check", "exact", "gold.json", "a.json", "--min", "accuracy=0.7")
    assert "accuracy" in printed("power", "exact", "gold.json", "a.json", "b.json")
    assert printed("report", "exact", "gold.json", "a.json", "-o", "a.html") == ""
    assert ">Item</th>" in Path("a.html").read_text()
    assert "claims, r4c, hotpotqa, pool, exact likewise" in printed("help")


def test_a_process_that_has_not_scored_verifies_a_batch_of_a_sixth_task(folder: Path) -> None:
    assert "0.7778  ok" in printed("batch", "exact", "--gold", "gold.json", "-o", "scores", "a.json", "b.json")
    enter = "from cs_score.tasks import TASKS; TASKS['exact'] = 'tests.test_tasks:MODE'"
    call = f"{enter}; from cs_score.__main__ import console; console()"
    words, known = [sys.executable, "-c", call, "verify", "scores"], {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    outcome = subprocess.run(words, cwd=folder, env=known, capture_output=True, text=True, check=False)
    assert "reproduced" in outcome.stdout, outcome.stderr
