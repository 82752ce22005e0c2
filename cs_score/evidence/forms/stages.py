"""Forms of the files of SciFact's stages."""

from __future__ import annotations

from typing import Any, Final

from cs_score.evidence.forms import claim_lines, scifact
from cs_score.evidence.forms.files import Advice
from cs_score.evidence.forms.form import AS_IT_IS, Answer, Files

WANTED: Final = {
    "retrieval": '{"claim_id": 1, "doc_ids": [11]}',
    "rationale": '{"claim_id": 1, "evidence": {"11": [2]}}',
    "label": '{"claim_id": 1, "labels": {"11": {"label": "SUPPORT", "confidence": 0.9}}}',
}
"""A line of predictions by stage."""


def form_of(stage: str, lines: Any, files: Files) -> Answer:
    """Return what has to be done about the lines of a file of a stage, whatever these are."""
    if files.is_gold:
        return scifact.form_of(lines, files)
    wanted = Advice("", f"each line of predictions is to be like {WANTED[stage]}, or of the leaderboard's form")
    if not lines or not all(isinstance(line, dict) for line in lines):
        return wanted
    other = claim_lines.stage_of(lines[0])
    if other is not None and other != stage:
        command = claim_lines.stage_command(files, other)
        if command is not None:
            return Advice(f"this is the file of another stage, {other}", command)
    key = next(key for key, name in claim_lines.STAGES.items() if name == stage)
    is_of_stage = all("claim_id" in line and key in line for line in lines)
    is_of_leaderboard = all("id" in line and "evidence" in line for line in lines)
    return AS_IT_IS if is_of_stage or is_of_leaderboard else wanted
