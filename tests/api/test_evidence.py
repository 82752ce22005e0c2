"""The evidence modes from Python: the scores, records, explanations and JSON of the commands."""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import cs_score as cs
from cs_score.base.records import asdict
from cs_score.tasks import COLD_START, TASKS, task_named
from tests.coldstart.command import score_in
from tests.evidence.recorded import FAMILIES, example
from tests.evidence.test_command import UNITS, files, words
from tests.schemas import check

SCORERS: Final[dict[str, Callable[..., cs.EvidenceResult]]] = {
    name: getattr(cs, name) for name in TASKS if name != COLD_START
}
"""A function of its own for every task."""

modes = pytest.mark.parametrize("mode", FAMILIES)


def _scored(mode: str) -> cs.EvidenceResult:
    gold, predictions = files(mode)
    return SCORERS[mode](gold=gold, predictions=str(predictions))


@modes
def test_scores_and_json_are_those_of_the_command(mode: str, tmp_path: Path) -> None:
    outcome = score_in(tmp_path, words(mode, "-o", "result.json"))
    result = _scored(mode)
    written = outcome.files["result.json"]
    told = json.loads(written)["signature"]
    assert json.loads(result.to_json()) == told
    assert cs.load(written.decode()).to_json() == result.to_json()
    check(told)
    assert (result.task, str(result.signature)) == (mode, told["signature"])
    module = importlib.import_module(f"cs_score.evidence.{mode}")
    assert tuple(result.scores) == module.MODE.measures


@modes
def test_functions_take_the_options_of_their_task(mode: str) -> None:
    task: Any = task_named(mode)
    known = inspect.signature(SCORERS[mode]).parameters.values()
    found = {each.name: each.default for each in known if each.kind is each.KEYWORD_ONLY}
    assert found == asdict(task.mode.options())


@modes
def test_a_loaded_result_is_that_which_was_stored(mode: str) -> None:
    result = _scored(mode)
    loaded: Any = cs.load(result.to_json())
    assert type(loaded) is cs.EvidenceResult
    for name in ("scores", "signature", "units", "tables"):
        assert getattr(loaded, name) == getattr(result, name)
    assert (loaded.rows(), loaded.to_json(), repr(loaded)) == (result.rows(), result.to_json(), repr(result))
    assert str(loaded) in str(result)
    with pytest.raises(cs.UsageError, match="explain needs the predictions, which JSON does not hold; score their"):
        loaded.explain(UNITS[mode])


@modes
def test_text_explanation_and_tables_are_those_of_the_command(mode: str, tmp_path: Path) -> None:
    result, unit = _scored(mode), UNITS[mode]
    assert f"{result}\n" == score_in(tmp_path, words(mode)).stdout.decode()
    told = ["explain", *words(mode, "--unit", unit)]
    assert f"{result.explain(unit)}\n" == score_in(tmp_path, told).stdout.decode()
    score_in(tmp_path, words(mode, "--per-item", "per-item.tsv"))
    paths = result.write(tmp_path / "out")
    assert [Path(path).name for path in paths] == ["out.json", "out.tsv"]
    assert (tmp_path / "out.tsv").read_bytes() == (tmp_path / "per-item.tsv").read_bytes()
    assert (tmp_path / "out.json").read_text() == result.to_json()
    assert result.write(tmp_path / "out") == paths
    (tmp_path / "out.tsv").write_text("mine")
    with pytest.raises(cs.UsageError, match=r"out\.tsv exists; name another prefix"):
        result.write(tmp_path / "out")
    assert {row["measure"]: row["score"] for row in result.rows("scores")} == result.scores


def test_rescoring_takes_the_options_of_the_task() -> None:
    gold, predictions = files("r4c")
    with open(predictions, "rb") as file:
        result = cs.r4c(gold, file, references=2)
    assert result.rescore(references=3).to_json() == cs.r4c(gold, predictions).to_json()
    known = "references, ignore_missing, answered_only"
    with pytest.raises(cs.UsageError, match=f"rescore of r4c takes {known}, not any_order"):
        result.rescore(any_order=True)
    loaded: Any = cs.load(result.to_json())
    with pytest.raises(cs.UsageError, match="rescore needs the predictions, which JSON does not hold"):
        loaded.rescore()


def test_objects_and_open_files_are_scored_as_files_are() -> None:
    gold, predictions = files("scifact")
    wanted = _scored("scifact").scores
    with open(gold, encoding="utf-8") as one, open(predictions, "rb") as other:
        assert cs.scifact(one, other).scores == wanted
    objects, lines = example("scifact")
    assert cs.scifact(objects, lines[::-1], any_order=True).scores == cs.scifact(objects, lines).scores == wanted


@pytest.mark.parametrize(
    ("mode", "arguments", "said"),
    [
        ("scifact", {"gold": 5, "predictions": []}, "gold takes a path, an open file, or what its JSON holds, not 5"),
        ("claims", {"gold": [], "predictions": b"x"}, "predictions takes a path, an open file, or what its JSON holds"),
        ("r4c", {"gold": {}, "predictions": {}, "references": 4}, "reference"),
    ],
)
def test_arguments_are_checked(mode: str, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(cs.UsageError, match=said):
        SCORERS[mode](**arguments)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda told: told.pop("units"), "stored without the statistics of the units; -o FILE.json and"),
        (lambda told: told.update(schema_version=0), "schema_version: is 0, where this version of cs-score reads 5"),
        (lambda told: told["scores"].pop("abstract_label_only_f1"), "scores: are not the measures of scifact"),
        (lambda told: told["units"]["rows"].pop(), "units: does not have a row for each of ids"),
        (lambda told: told["units"]["rows"][0].append("x"), r"units\.rows\[0\]\[8\]: Expected"),
        (lambda told: told.update(signature={"kind": "score"}), "signature: Expected `str`, got `object`"),
        (lambda told: told.update(task="nothing"), "no result of cs-score"),
        (lambda told: told["origin"].update(version="9"), "signature: is not that of its origin"),
        (lambda told: told["origin"].update(task="claims"), r"origin\.task: is claims"),
    ],
)
def test_what_is_no_whole_result_is_refused(change: Callable[[Any], object], said: str) -> None:
    told = json.loads(_scored("scifact").to_json())
    change(told)
    with pytest.raises(cs.InputError, match=said):
        cs.load(json.dumps(told))
