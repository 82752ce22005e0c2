"""FEVER as a task from outside: recorded cases, rules by hand, bad input, and the verbs of the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from cs_score_fever import MODE, Claim, Prediction

import cs_score as cs
from cs_score.tasks import InputError, Unit

GOLDEN: Final = Path(__file__).parent / "golden"


@pytest.mark.parametrize("folder", sorted(GOLDEN.iterdir()), ids=lambda folder: folder.name)
def test_recorded_case(folder: Path) -> None:
    case = json.loads((folder / "case.json").read_text("utf-8"))
    result = MODE.score(str(folder / "gold.jsonl"), str(folder / "predictions.jsonl"))
    assert result.scores == pytest.approx(case["expected"]["scores"], abs=1e-12)


def _gold(label: str = "SUPPORTS", groups: Any = (((1, 2, "A", 0),),), **more: Any) -> dict[str, Any]:
    return {"label": label, "evidence": [[list(entry) for entry in group] for group in groups], **more}


def _given(label: str = "SUPPORTS", evidence: Any = (("A", 0),), **more: Any) -> dict[str, Any]:
    return {"predicted_label": label, "predicted_evidence": [list(entry) for entry in evidence], **more}


def _scores(gold: Any, given: Any, **options: Any) -> dict[str, float]:
    return dict(MODE.score([gold], [given], **options).scores)


def test_only_the_first_five_sentences_count() -> None:
    others = [("B", number) for number in range(5)]
    late = _scores(_gold(), _given(evidence=[*others, ("A", 0)]))
    assert (late["fever_score"], late["label_accuracy"], late["evidence_recall"]) == (0, 1, 0)
    in_time = _scores(_gold(), _given(evidence=[*others[:4], ("A", 0)]))
    assert (in_time["fever_score"], in_time["evidence_precision"]) == (1, 0.2)


def test_repeated_entries_count_each_time() -> None:
    assert _scores(_gold(), _given(evidence=[("A", 0), ("A", 0), ("B", 1)]))["evidence_precision"] == 2 / 3


def test_claims_that_cannot_be_verified_need_no_evidence() -> None:
    gold = _gold("NOT ENOUGH INFO", [[(1, None, None, None)]])
    scores = _scores(gold, _given("not enough info", []))
    assert (scores["fever_score"], scores["evidence_precision"], scores["evidence_recall"]) == (1, 1, 0)


def test_without_evidence_precision_is_1_and_f1_0_is_remarked() -> None:
    assert _scores(_gold(), _given(evidence=[]))["evidence_precision"] == 1
    result = MODE.score([_gold()], [_given(evidence=[("B", 0)])])
    assert result.scores["evidence_f1"] == 0
    assert "divides by zero" in result.notices[0]


def test_any_order_pairs_by_id() -> None:
    gold = [_gold(id=1), _gold("REFUTES", id=2)]
    given = [_given("REFUTES", id=2), _given(id=1)]
    with pytest.raises(InputError, match="--any-order"):
        MODE.score(gold, given)
    assert MODE.score(gold, given, any_order=True).scores["fever_score"] == 1


@pytest.mark.parametrize(
    ("gold", "given", "mentions"),
    [
        ({"evidence": []}, _given(), "'label' is missing"),
        (_gold("MAYBE"), _given(), "MAYBE"),
        (_gold(), {"predicted_label": "SUPPORTS"}, "'predicted_evidence' is missing"),
        (_gold(), _given(evidence=[("A", True)]), "whole number"),
        (_gold(), _given(evidence=[("A", 1.0)]), "whole number"),
        (_gold(), _given(evidence=[("A", 1, 2)]), "3 members"),
        (_gold(id=1), _given(id=2), "id 2"),
    ],
)
def test_bad_lines_are_refused_with_their_place(gold: Any, given: Any, mentions: str) -> None:
    with pytest.raises(InputError, match=mentions) as refused:
        MODE.score([gold], [given])
    assert refused.value.place is not None


@pytest.mark.parametrize("kind", MODE.kinds)
def test_what_is_corrected_is_no_mistake_any_more(kind: str) -> None:
    claim = Claim(1, "REFUTES", ((("A", 0), ("A", 1)),))
    given = Prediction(1, "SUPPORTS", (("B", 0), *((("C", n)) for n in range(4)), ("A", 0)))
    unit = Unit(1, claim, given, ("gold", "predictions"))
    faults = [fault for fault in MODE.faults(unit, "fever_score") if fault.kind == kind]
    assert faults
    corrected = unit._replace(prediction=MODE.prediction_from_json(MODE.correct_faults(unit, faults)))
    assert kind not in {fault.kind for fault in MODE.faults(corrected, "fever_score")}


def test_the_command_and_python_know_the_task(tmp_path: Path) -> None:
    folder = GOLDEN / "fever_visible_001"
    files = ["--gold", str(folder / "gold.jsonl"), "--predictions", str(folder / "predictions.jsonl")]
    command = [sys.executable, "-m", "cs_score"]
    for verb in ("score", "analyze", "explain"):
        subprocess.run([*command, verb, "fever", *files], check=True, capture_output=True)
    written = str(tmp_path / "result.json")
    subprocess.run([*command, "score", "fever", *files, "-o", written], check=True)
    assert "cs-score-fever=0.1.0" in Path(written).read_text()
    subprocess.run([*command, "verify", written], check=True, capture_output=True)
    batch = [*files[:2], files[3], "-o", str(tmp_path / "scored"), "--jobs", "2"]
    subprocess.run([*command, "batch", "fever", *batch], check=True, capture_output=True)
    assert "fever" in subprocess.run([*command, "help"], check=True, capture_output=True, text=True).stdout
    result = cs.task("fever").score(files[1], files[3])
    assert result.scores["label_accuracy"] == pytest.approx(3 / 7)
