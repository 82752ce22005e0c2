"""Forms of SciFact's files."""

from __future__ import annotations

from typing import Any, Final

from cs_score.evidence.forms import claim_lines
from cs_score.evidence.forms.claim_lines import are_entries, are_lists_of_entries, evidence_of, have_evidence
from cs_score.evidence.forms.files import Advice
from cs_score.evidence.forms.form import AS_IT_IS, Answer, Change, Files

WANTED_GOLD: Final = f"each line of gold is to be like {claim_lines.GOLD_LINE}"
WANTED_PREDICTIONS: Final = (
    'each line of predictions is to be like {"id": 1, "evidence": {"11": {"label": "SUPPORT", "sentences": [2]}}}'
)


def form_of(lines: Any, files: Files) -> Answer:
    """Return what has to be done about the lines of a file, whatever these are."""
    if not lines or not all(isinstance(line, dict) for line in lines):
        return Advice("", WANTED_GOLD if files.is_gold else WANTED_PREDICTIONS)
    return _form_of_gold(lines) if files.is_gold else _form_of_predictions(lines, files)


def _form_of_gold(lines: list[dict[str, Any]]) -> Answer:
    known = claim_lines.gold_form(lines)
    if known is not None:
        return known
    if have_evidence(lines) and are_lists_of_entries(evidence_of(lines)):
        return AS_IT_IS
    return Advice("", WANTED_GOLD)


def _form_of_predictions(lines: list[dict[str, Any]], files: Files) -> Answer:
    entries = evidence_of(lines)
    if have_evidence(lines) and are_entries(entries):
        return AS_IT_IS
    stage = claim_lines.stage_of(lines[0])
    if stage is not None:
        command = claim_lines.stage_command(files, stage)
        if command is not None:
            return Advice(f"this is the file of a stage, {stage}", command)
    if all("claim_id" in line and "evidence" in line for line in lines) and are_entries(entries):
        renamed = '[{"id": c["claim_id"], "evidence": c["evidence"]} for c in R]'
        return Change(renamed, "the ids are called claim_id")
    if have_evidence(lines) and entries and all(isinstance(each, list) for each in entries):
        return _form_with_lists(entries, files)
    if "predicted_label" in lines[0]:
        return Advice("these are predictions of FEVER", WANTED_PREDICTIONS)
    change = claim_lines.listed_documents(lines, '{"label": e["label"], "sentences": e["sentences"]}')
    if change is None:
        change = claim_lines.by_id(lines, files)
    return change or Advice("", WANTED_PREDICTIONS)


def _form_with_lists(entries: list[object], files: Files) -> Answer:
    """Return what has to be done about predictions with a list of entries for each document, as claims has them."""
    if not are_lists_of_entries(entries):
        return Advice("the evidence of each document is a list", WANTED_PREDICTIONS)
    command = files.scored_as("claims")
    what = "the evidence of each document is a list of entries, as cs-score claims scores it"
    if command is not None:
        return Advice(what, command)
    if all(isinstance(each, list) and len(each) == 1 for each in entries):
        return Change('[{**c, "evidence": {d: e[0] for d, e in (c["evidence"] or {}).items()}} for c in R]', what)
    return Advice("the evidence of each document is a list", WANTED_PREDICTIONS)
