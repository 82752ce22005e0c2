"""Recorded cases of judged answers: scores, units, how each line counted, and what was left out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from cs_score.judged.answer_faults import SIDE_BY_VALUE
from cs_score.judged.counting import UnitCount, judge_lines
from cs_score.judged.pool import MODE
from tests.evidence.command import cs_score

GOLDEN: Final = Path(__file__).parent / "golden"
CASES: Final = sorted(path.parent for path in GOLDEN.glob("*/case.json"))
TOLERANCE: Final = 1e-12

_NAMES: Final = {"right": "right", "answered": "answered", "found": "found", "wanted": "wanted", "p": "precision"}


def _case(folder: Path) -> Mapping[str, Any]:
    case: Mapping[str, Any] = json.loads((folder / "case.json").read_text("utf-8"))
    return case


def _with(expectation: str) -> list[Path]:
    return [folder for folder in CASES if expectation in _case(folder)["expected"]]


@pytest.mark.parametrize("folder", _with("scores"), ids=lambda folder: folder.name)
def test_case_that_is_scored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    case = _case(folder)
    expected = case["expected"]
    options = dict(zip(case["args"][2::2], case["args"][3::2]))
    gold, run = options.pop("--gold", None), options.pop("--predictions")
    result = MODE.score(gold, run, **{name.lstrip("-"): value for name, value in options.items()})
    assert result.scores == pytest.approx(expected["scores"], abs=TOLERANCE)
    assert set(result.undefined) == {"ap"} - set(expected["scores"])
    for unit, row in zip(result.units, result.table.rows):
        counts = dict(zip(UnitCount._fields, row))
        for name, column in _NAMES.items():
            if name != "p" or counts["wanted"]:  # the precision of a unit that wants nothing is in no mean
                assert counts[column] == pytest.approx(expected["units"][unit.id][name], abs=TOLERANCE)
    lines = {}
    for unit in result.units:
        for line in judge_lines(unit.prediction, unit.gold):
            lines[str(line.line.number)] = [line.label, line.class_name, SIDE_BY_VALUE[line.value]]
    assert lines == expected["lines"]


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_case_by_the_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    case = _case(folder)
    expected = case["expected"]
    outcome = cs_score(*case["args"], "--format", "json")
    if "refused" in expected:
        assert outcome.status in (1, 2)
        complaint = outcome.err.rstrip("\n")
        assert complaint.startswith("cs-score: ")
        assert "\n" not in complaint
        assert re.search(expected.get("mentions") or "", complaint)
        return
    assert outcome.status == 0, outcome.err
    assert outcome.scores == pytest.approx(expected["scores"], abs=TOLERANCE)
    assert (f"{expected['left_out']} answer" in outcome.err) is bool(expected["left_out"])
    assert (f"{expected['repeated']} line" in outcome.err) is bool(expected["repeated"])
