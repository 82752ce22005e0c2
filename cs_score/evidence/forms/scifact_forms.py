"""Recognises the form of files that the scifact task refuses, and returns the remedy."""

from __future__ import annotations

from typing import Any, Final

from cs_score.evidence.forms import claim_lines
from cs_score.evidence.forms.claim_lines import are_entries, are_lists_of_entries, evidence_values, have_evidence
from cs_score.evidence.forms.files import Advice
from cs_score.evidence.forms.form import AS_IT_IS, Files, FormChange, Remedy

WANTED_GOLD: Final = f"each line of gold is to be like {claim_lines.GOLD_LINE}"
WANTED_PREDICTIONS: Final = (
    'each line of predictions is to be like {"id": 1, "evidence": {"11": {"label": "SUPPORT", "sentences": [2]}}}'
)


def find_remedy(line_values: Any, files: Files) -> Remedy:
    """Return the remedy for a file with these JSON values on its lines. The values may have any type."""
    are_objects = bool(line_values) and all(isinstance(line_value, dict) for line_value in line_values)
    if files.is_gold:
        return _find_gold_remedy(line_values) if are_objects else Advice("", WANTED_GOLD)
    return _find_predictions_remedy(line_values, files) if are_objects else Advice("", WANTED_PREDICTIONS)


def _find_gold_remedy(line_values: list[dict[str, Any]]) -> Remedy:
    """Return the remedy for the lines of a file that should be gold."""
    remedy = claim_lines.find_gold_remedy(line_values)
    if remedy is not None:
        return remedy
    if have_evidence(line_values) and are_lists_of_entries(evidence_values(line_values)):
        return AS_IT_IS
    return Advice("", WANTED_GOLD)


def _find_predictions_remedy(line_values: list[dict[str, Any]], files: Files) -> Remedy:
    """Return the remedy for the lines of a file that should be predictions."""
    values = evidence_values(line_values)
    if have_evidence(line_values) and are_entries(values):
        return AS_IT_IS
    stage = claim_lines.stage_of(line_values[0])
    if stage is not None:
        command = claim_lines.stage_command(files, stage)
        if command is not None:
            return Advice(f"this is the file of a stage, {stage}", command)
    have_claim_ids = all("claim_id" in line_value and "evidence" in line_value for line_value in line_values)
    if have_claim_ids and are_entries(values):
        expression = '[{"id": c["claim_id"], "evidence": c["evidence"]} for c in R]'
        return FormChange(expression, "the ids are called claim_id")
    has_only_lists = bool(values) and all(isinstance(value, list) for value in values)
    if have_evidence(line_values) and has_only_lists:
        return _find_remedy_for_lists(values, files)
    if "predicted_label" in line_values[0]:
        return Advice("these are predictions of FEVER", WANTED_PREDICTIONS)
    change = claim_lines.change_for_listed_documents(line_values, '{"label": e["label"], "sentences": e["sentences"]}')
    if change is None:
        change = claim_lines.change_for_claims_by_id(line_values, files)
    return change or Advice("", WANTED_PREDICTIONS)


def _find_remedy_for_lists(values: list[Any], files: Files) -> Remedy:
    """Return the remedy for predictions that have a list for each document, which is the form of the claims task.

    `values` are the JSON values of all documents of all lines.
    """
    if not are_lists_of_entries(values):
        return Advice("the evidence of each document is a list", WANTED_PREDICTIONS)
    diagnosis = "the evidence of each document is a list of entries, as cs-score claims scores it"
    command = files.command_for_task("claims")
    if command is not None:
        return Advice(diagnosis, command)
    if all(len(entries) == 1 for entries in values):
        expression = '[{**c, "evidence": {d: e[0] for d, e in (c["evidence"] or {}).items()}} for c in R]'
        return FormChange(expression, diagnosis)
    return Advice("the evidence of each document is a list", WANTED_PREDICTIONS)
