"""Forms of the files of claim verification."""

from __future__ import annotations

from typing import Any, Final

from cs_score.evidence.forms import claim_lines
from cs_score.evidence.forms.claim_lines import are_entries, are_lists_of_entries, evidence_of
from cs_score.evidence.forms.files import Advice
from cs_score.evidence.forms.form import AS_IT_IS, Answer, Change, Files

WANTED_GOLD: Final = f"each line of gold is to be like {claim_lines.GOLD_LINE}"
WANTED_PREDICTIONS: Final = (
    'each line of predictions is to be like {"id": 1, "label": "SUPPORT", "evidence": '
    '{"11": [{"label": "SUPPORT", "sentences": [2]}]}}'
)


def form_of(lines: Any, files: Files) -> Answer:
    """Return what has to be done about the lines of a file, whatever these are."""
    if not lines or not all(isinstance(line, dict) for line in lines):
        return Advice("", WANTED_GOLD if files.is_gold else WANTED_PREDICTIONS)
    entries = evidence_of(lines)
    if files.is_gold:
        return _form_of_gold(lines, entries)
    return _form_of_predictions(lines, entries, files)


def _form_of_gold(lines: list[dict[str, Any]], entries: list[object]) -> Answer:
    if "evidence_doc_id" in lines[0]:
        known = claim_lines.gold_form(lines)
        if known is not None:
            return known
    if all("id" in line for line in lines) and are_lists_of_entries(entries):
        return AS_IT_IS
    return claim_lines.gold_form(lines) or Advice("", WANTED_GOLD)


def _form_of_predictions(lines: list[dict[str, Any]], entries: list[object], files: Files) -> Answer:
    change = claim_lines.listed_documents(lines, '[{"label": e["label"], "sentences": e["sentences"]}]')
    if change is not None:
        return change
    if all("id" in line for line in lines) and "predicted_label" not in lines[0]:
        return _form_with_ids(lines, entries, files)
    stage = claim_lines.stage_of(lines[0])
    if stage is not None:
        command = claim_lines.stage_command(files, stage)
        if command is not None:
            return Advice(f"this is the file of a stage of SciFact, {stage}", command)
    if all("claim_id" in line for line in lines) and are_lists_of_entries(entries):
        renamed = '[{**{k: v for k, v in c.items() if k != "claim_id"}, "id": c["claim_id"]} for c in R]'
        return Change(renamed, "the ids are called claim_id")
    if "predicted_label" in lines[0]:
        return Advice("these are predictions of FEVER", WANTED_PREDICTIONS)
    return claim_lines.by_id(lines, files) or Advice("", WANTED_PREDICTIONS)


def _form_with_ids(lines: list[dict[str, Any]], entries: list[object], files: Files) -> Answer:
    """Return what has to be done about predictions that have ids."""
    is_without_evidence = any(not isinstance(line.get("evidence", {}), dict) for line in lines)
    if are_lists_of_entries(entries):
        if is_without_evidence:
            emptied = '[{**c, "evidence": c.get("evidence") or {}} for c in R]'
            return Change(emptied, 'a claim without evidence has "evidence": {}')
        return AS_IT_IS
    if entries and are_entries(entries):
        what = "the evidence of each document is one object, as cs-score scifact scores it"
        command = files.scored_as("scifact")
        if command is None:
            command = files.scored_as("scifact", "--any-order", any_order=True)
        if command is not None:
            return Advice(what, command)
        listed = '{d: [e] for d, e in (c.get("evidence") or {}).items()}'
        return Change(f'[{{**c, "evidence": {listed}}} for c in R]', what)
    return Advice("", WANTED_PREDICTIONS)
