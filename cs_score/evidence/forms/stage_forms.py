"""Recognises the form of files that a stage of SciFact refuses, and returns the remedy."""

from __future__ import annotations

from typing import Any, Final

from cs_score.evidence.forms import claim_lines
from cs_score.evidence.forms import scifact_forms as scifact
from cs_score.evidence.forms.files import Advice
from cs_score.evidence.forms.form import AS_IT_IS, Files, Remedy

WANTED: Final = {
    "retrieval": '{"claim_id": 1, "doc_ids": [11]}',
    "rationale": '{"claim_id": 1, "evidence": {"11": [2]}}',
    "label": '{"claim_id": 1, "labels": {"11": {"label": "SUPPORT", "confidence": 0.9}}}',
}
"""An example of a line of predictions for each stage."""

_KEY_BY_STAGE: Final = {stage: key for key, stage in claim_lines.STAGES.items()}


def find_remedy(stage: str, line_values: Any, files: Files) -> Remedy:
    """Return the remedy for a file that a stage refuses, given the values of its lines, which may have any type."""
    if files.is_gold:
        return scifact.find_remedy(line_values, files)
    example_as_advice = Advice(
        "", f"each line of predictions is to be like {WANTED[stage]}, or of the leaderboard's form"
    )
    if not line_values or not all(isinstance(line_value, dict) for line_value in line_values):
        return example_as_advice
    stage_of_file = claim_lines.stage_of(line_values[0])
    if stage_of_file is not None and stage_of_file != stage:
        command = claim_lines.stage_command(files, stage_of_file)
        if command is not None:
            return Advice(f"this is the file of another stage, {stage_of_file}", command)
    key = _KEY_BY_STAGE[stage]
    is_of_stage = all("claim_id" in line_value and key in line_value for line_value in line_values)
    is_of_leaderboard = all("id" in line_value and "evidence" in line_value for line_value in line_values)
    if is_of_stage or is_of_leaderboard:
        return AS_IT_IS
    return example_as_advice
