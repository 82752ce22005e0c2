"""Recognises the form of files that the claims task refuses, and returns the remedy.
`line_values` are the JSON values of the lines of a file. The remedy is a change, which is a Python expression for the
new list of these values (`R` is the old list), or advice in words.
"""

from __future__ import annotations

from typing import Any, Final

from cs_score.evidence.forms import claim_lines
from cs_score.evidence.forms.claim_lines import are_entries, are_lists_of_entries, evidence_values
from cs_score.evidence.forms.files import Advice
from cs_score.evidence.forms.form import NO_CHANGE, Files, FormChange, Remedy

WANTED_GOLD: Final = f"each line of gold is to be like {claim_lines.GOLD_LINE}"
WANTED_PREDICTIONS: Final = (
    'each line of predictions is to be like {"id": 1, "label": "SUPPORT", "evidence": '
    '{"11": [{"label": "SUPPORT", "sentences": [2]}]}}'
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

    The remedy is `NO_CHANGE` if the lines have the form of gold.
    """
    have_ids = all("id" in line_value for line_value in line_values)
    is_gold = have_ids and are_lists_of_entries(evidence_values(line_values))
    # Such rows look like gold, because they lack the key `evidence`, whose value could be wrong.
    are_hugging_face_rows = "evidence_doc_id" in line_values[0]
    if is_gold and not are_hugging_face_rows:
        return NO_CHANGE
    remedy = claim_lines.find_gold_remedy(line_values)
    if remedy is not None:
        return remedy
    return NO_CHANGE if is_gold else Advice(action=WANTED_GOLD)


def _find_predictions_remedy(line_values: list[dict[str, Any]], files: Files) -> Remedy:
    """Return the remedy for a file with these lines that should be predictions.

    The remedy is `NO_CHANGE` if the lines have the form of predictions.
    """
    # The Python expression for the predicted entries of a document, which is `e` in a list of documents.
    entries_expression = '[{"label": e["label"], "sentences": e["sentences"]}]'
    change = claim_lines.change_for_listed_documents(line_values, entries_expression)
    if change is not None:
        return change
    have_ids = all("id" in line_value for line_value in line_values)
    is_of_fever = "predicted_label" in line_values[0]
    if have_ids and not is_of_fever:
        return _find_remedy_with_ids(line_values, files)
    remedy = claim_lines.find_stage_advice(line_values, files, "this is the file of a stage of SciFact")
    if remedy is not None:
        return remedy
    return _find_remedy_without_ids(line_values, files)


def _find_remedy_without_ids(line_values: list[dict[str, Any]], files: Files) -> Remedy:
    """Return the remedy for predictions of FEVER, and for predictions whose lines have no key `id`.

    The lines may have the key `claim_id` instead, or the file may be an object with claims by their id. For any other
    form, the remedy is the advice to write predictions like an example.
    """
    have_claim_ids = all("claim_id" in line_value for line_value in line_values)
    if have_claim_ids and are_lists_of_entries(evidence_values(line_values)):
        # In each claim `c`, the key "claim_id" is replaced by "id"; `k` and `v` are its other keys and values.
        expression = '[{**{k: v for k, v in c.items() if k != "claim_id"}, "id": c["claim_id"]} for c in R]'
        return FormChange(expression, "the ids are called claim_id")
    if "predicted_label" in line_values[0]:
        return Advice("these are predictions of FEVER", WANTED_PREDICTIONS)
    return claim_lines.change_for_claims_by_id(line_values, files) or Advice(action=WANTED_PREDICTIONS)


def _find_remedy_with_ids(line_values: list[dict[str, Any]], files: Files) -> Remedy:
    """Return the remedy for predictions whose lines have ids. Only the form of their evidence can be wrong."""
    values = evidence_values(line_values)
    if are_lists_of_entries(values):  # {"id": 1, "evidence": {"11": [{"sentences": [2], "label": "SUPPORT"}]}}
        have_objects_as_evidence = all(isinstance(line_value.get("evidence", {}), dict) for line_value in line_values)
        if have_objects_as_evidence:
            return NO_CHANGE
        # In each claim `c`, an empty object replaces null, an empty list, or missing evidence.
        expression = '[{**c, "evidence": c.get("evidence") or {}} for c in R]'
        return FormChange(expression, 'a claim without evidence has "evidence": {}')
    if values and are_entries(values):  # {"id": 1, "evidence": {"11": {"sentences": [2], "label": "SUPPORT"}}}
        return _find_remedy_for_objects(files)
    return Advice(action=WANTED_PREDICTIONS)


def _find_remedy_for_objects(files: Files) -> Remedy:
    """Return the remedy for predictions with an object for each document, which is the form of the scifact task.

    The remedy is to score the files with that task, or to change them if that task would refuse them.
    """
    diagnosis = "the evidence of each document is one object, as cs-score scifact scores it"
    action = files.action_to_score_as("scifact")
    if action is None:
        action = files.action_to_score_as("scifact", any_order=True)
    if action is not None:
        return Advice(diagnosis, action)
    # In each claim `c`, the entry `e` of every document `d` is replaced by a list with this entry:
    # {"11": {"label": "SUPPORT", "sentences": [2]}} becomes {"11": [{"label": "SUPPORT", "sentences": [2]}]}.
    expression = '[{**c, "evidence": {d: [e] for d, e in (c.get("evidence") or {}).items()}} for c in R]'
    return FormChange(expression, diagnosis)
