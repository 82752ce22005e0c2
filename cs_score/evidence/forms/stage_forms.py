"""Recognises the form of files that a stage of SciFact refuses, and returns the remedy.
A stage retrieves documents, selects sentences or predicts labels. `line_values` are the JSON values of the lines of a
file. The remedy is a change of these values by a Python expression, or advice in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from cs_score.evidence.forms import claim_lines
from cs_score.evidence.forms import scifact_forms as scifact
from cs_score.evidence.forms.files import Advice
from cs_score.evidence.forms.form import NO_CHANGE, Files, Remedy

WANTED: Final = {
    "retrieval": '{"claim_id": 1, "doc_ids": [11]}',
    "rationale": '{"claim_id": 1, "evidence": {"11": [2]}}',
    "label": '{"claim_id": 1, "labels": {"11": {"label": "SUPPORT", "confidence": 0.9}}}',
}
"""An example of a line of predictions for each stage."""

_KEY_BY_STAGE: Final = {stage: key for key, stage in claim_lines.STAGES.items()}


def find_remedy(stage: str, line_values: Any, files: Files) -> Remedy:
    """Return the remedy for a file that a stage refuses, given the values of its lines, which may have any type."""
    if files.gold_is_refused:
        return scifact.find_remedy(line_values, files)
    remedy: Remedy | None = None
    if line_values and all(isinstance(line_value, dict) for line_value in line_values):
        remedy = _find_predictions_remedy(stage, line_values, files)
    example = f"each line of predictions is to be like {WANTED[stage]}, or of the leaderboard's form"
    return remedy or Advice(action=example)


def _find_predictions_remedy(stage: str, line_values: Sequence[dict[str, Any]], files: Files) -> Remedy | None:
    """Return the remedy for lines of predictions that a stage refuses, or None if their form is not recognised.

    For lines in the form of another stage, the remedy is the advice to score that stage. For lines in the form of the
    stage itself or of the leaderboard, it is `NO_CHANGE`, because the stage refused them for a reason other than their
    form.
    """
    if claim_lines.stage_of(line_values[0]) != stage:
        advice = claim_lines.find_stage_advice(line_values, files, "this is the file of another stage")
        if advice is not None:
            return advice
    key = _KEY_BY_STAGE[stage]
    is_of_stage = all("claim_id" in line_value and key in line_value for line_value in line_values)
    is_of_leaderboard = all("id" in line_value and "evidence" in line_value for line_value in line_values)
    return NO_CHANGE if is_of_stage or is_of_leaderboard else None
