"""A task that the package does not have: its own module and a row in the table are enough for every verb."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from cs_score.analysis.evidence.task import EvidenceTask
from cs_score.base.sources import Source
from cs_score.evidence import reading
from cs_score.evidence.result import Mode, ReportRow, Result, means
from cs_score.statistics.units import UnitTable
from cs_score.tasks import TASKS
from cs_score.tasks.task import Examiner, Fault, Part
from tests.evidence.command import cs_score
from tests.freeze.calls import REPOSITORY

MODE = Mode("exact", "item", ("items", "accuracy"), means, ("accuracy",), (ReportRow("all", ("accuracy",)),))


class Exact(Result):
    mode: ClassVar[Mode] = MODE

    items: Sequence[tuple[str, Any, Any]]

    def explained(self, position: int) -> list[str]:
        return ["gold {1}, predicted {2}".format(*self.items[position])]


def answers(source: Source) -> Mapping[str, Any]:
    return reading.as_object(reading.json_document(source), "the file")


def read_gold(gold: Any) -> reading.Gold[Mapping[str, Any]]:
    return reading.read(gold, "gold", answers)


def score(gold: Any, predictions: Any) -> Exact:
    known = gold if isinstance(gold, reading.Gold) else read_gold(gold)
    given = reading.read(predictions, "predictions", answers)
    items = [(item, answer, given.content.get(item)) for item, answer in known.content.items()]
    table = UnitTable(tuple(known.content), MODE.columns, [(1, float(one == other)) for _, one, other in items])
    return Exact.of(table, known, given, items=items)


class ExactExaminer(Examiner[Exact]):
    kinds: ClassVar[tuple[str, ...]] = ("wrong",)

    def unit(self, position: int) -> Any:
        return self.result.items[position][0]

    def written(self, position: int) -> Any:
        return self.result.items[position][2]

    def row(self, position: int, prediction: Any) -> tuple[float, ...]:
        return 1, float(prediction == self.result.items[position][1])

    def parts(self, position: int, prediction: Any) -> Iterator[Part]:
        gold = self.result.items[position][1]
        faults = () if prediction == gold else (Fault("wrong", None, prediction, gold),)
        yield Part("answer", gold, not faults, None if prediction is None else str(prediction), faults)

    def corrected(self, position: int, prediction: Any, faults: Iterable[Fault]) -> Any:
        return next((fault.gold for fault in faults), prediction)


TASK = EvidenceTask(MODE, read_gold, score, ExactExaminer, "Score exact matches", "Objects from item to answer.")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(TASKS, "exact", "tests.test_tasks:TASK")
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
    assert "claims, r4c, hotpotqa, exact likewise" in printed("help")


def test_a_process_that_has_not_scored_verifies_a_batch_of_a_sixth_task(folder: Path) -> None:
    assert "0.7778  ok" in printed("batch", "exact", "--gold", "gold.json", "-o", "scores", "a.json", "b.json")
    enter = "from cs_score.tasks import TASKS; TASKS['exact'] = 'tests.test_tasks:TASK'"
    call = f"{enter}; from cs_score.__main__ import console; console()"
    words, known = [sys.executable, "-c", call, "verify", "scores"], {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    outcome = subprocess.run(words, cwd=folder, env=known, capture_output=True, text=True, check=False)
    assert "reproduced" in outcome.stdout, outcome.stderr
