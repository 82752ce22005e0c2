"""Recognises the form of files that the scifact task refuses, and returns the remedy.
`line_values` are the JSON values of the lines of a file. The remedy is a change, which is a Python expression for the
new list of these values (`R` is the old list), or advice in words.
"""

from __future__ import annotations

from typing import Any, Final

from cs_score.evidence.forms import claim_lines
from cs_score.evidence.forms.claim_lines import are_entries, are_lists_of_entries, evidence_values, have_evidence
from cs_score.evidence.forms.files import Advice
from cs_score.evidence.forms.form import NO_CHANGE, Files, FormChange, Remedy

WANTED_GOLD: Final = f"each line of gold is to be like {claim_lines.GOLD_LINE}"
WANTED_PREDICTIONS: Final = (
    'each line of predictions is to be like {"id": 1, "evidence": {"11": {"label": "SUPPORT", "sentences": [2]}}}'
)


def find_remedy(line_values: Any, files: Files) -> Remedy:
    """Return the remedy for a refused file, given the JSON values (of any type) on its lines.

    `files` tells whether this is gold or predictions.
    """
    are_objects = bool(line_values) and all(isinstance(line_value, dict) for line_value in line_values)
    if files.gold_is_refused:
        return _find_gold_remedy(line_values) if are_objects else Advice(action=WANTED_GOLD)
    return _find_predictions_remedy(line_values, files) if are_objects else Advice(action=WANTED_PREDICTIONS)


def _find_gold_remedy(line_values: list[dict[str, Any]]) -> Remedy:
    """Return the remedy for a file with these lines that should be gold.

    The remedy is `NO_CHANGE` if the lines have the form of gold. In this case, the task refused the file for another
    reason.
    """
    remedy = claim_lines.find_gold_remedy(line_values)
    if remedy is not None:
        return remedy
    if have_evidence(line_values) and are_lists_of_entries(evidence_values(line_values)):
        return NO_CHANGE
    return Advice(action=WANTED_GOLD)


def _find_predictions_remedy(line_values: list[dict[str, Any]], files: Files) -> Remedy:
    """Return the remedy for a refused file of predictions with these lines.

    The remedy is `NO_CHANGE` if the lines have the form of predictions. In this case, the task refused the file for
    another reason.
    """
    document_values = evidence_values(line_values)
    # {"id": 1, "evidence": {"11": {"label": "SUPPORT", "sentences": [2]}}}
    if have_evidence(line_values) and are_entries(document_values):
        return NO_CHANGE
    # {"claim_id": 1, "doc_ids": [11]}: the output of a stage of a SciFact system, here the retrieval of abstracts
    advice = claim_lines.find_stage_advice(line_values, files, "this is the file of a stage")
    if advice is not None:
        return advice
    # {"claim_id": 1, "evidence": {"11": {"label": "SUPPORT", "sentences": [2]}}}
    if _have_claim_ids(line_values) and are_entries(document_values):
        expression = '[{"id": c["claim_id"], "evidence": c["evidence"]} for c in R]'
        return FormChange(expression, "the ids are called claim_id")
    # {"id": 1, "evidence": {"11": [{"label": "SUPPORT", "sentences": [2]}]}}
    has_only_lists = bool(document_values) and all(isinstance(value, list) for value in document_values)
    if have_evidence(line_values) and has_only_lists:
        return _find_remedy_for_lists(document_values, files)
    return _find_remedy_for_other_task(line_values, files)


def _have_claim_ids(line_values: list[dict[str, Any]]) -> bool:
    """Return whether each line has evidence, and its id under the key `claim_id`."""
    return all("claim_id" in line_value and "evidence" in line_value for line_value in line_values)


def _find_remedy_for_other_task(line_values: list[dict[str, Any]], files: Files) -> Remedy:
    """Return the remedy for predictions of FEVER, for lists of documents, and for an object with claims by their id.

    For any other form, the remedy is the advice to follow the example of the right form.
    """
    if "predicted_label" in line_values[0]:
        return Advice("these are predictions of FEVER", WANTED_PREDICTIONS)
    # The Python expression for the predicted entry of a document, which is `e` in a list of documents.
    entry_expression = '{"label": e["label"], "sentences": e["sentences"]}'
    change = claim_lines.change_for_listed_documents(line_values, entry_expression)
    if change is None:
        change = claim_lines.change_for_claims_by_id(line_values, files)
    return change or Advice(action=WANTED_PREDICTIONS)


def _find_remedy_for_lists(values: list[Any], files: Files) -> Remedy:
    """Return the remedy for predictions with a list for each document, which is the form of the claims task.

    `values` are the JSON values of all documents of all lines. The remedy is the advice to use that task, or else a
    change that replaces the lists with entries. If neither is possible, the remedy is the advice to follow the example
    of the right form.
    """
    example_as_advice = Advice("the evidence of each document is a list", WANTED_PREDICTIONS)
    if not are_lists_of_entries(values):
        return example_as_advice
    diagnosis = "the evidence of each document is a list of entries, as cs-score claims scores it"
    action = files.action_to_score_as("claims")
    if action is not None:
        return Advice(diagnosis, action)
    if all(len(entries) == 1 for entries in values):
        # In each claim `c`, the list `e` of every document `d` is replaced by its only entry.
        expression = '[{**c, "evidence": {d: e[0] for d, e in (c["evidence"] or {}).items()}} for c in R]'
        return FormChange(expression, diagnosis)
    return example_as_advice
