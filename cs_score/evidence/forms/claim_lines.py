"""Recognises forms of files with a claim on each line, for the tasks SciFact and claim verification.
`line_values` are the JSON values of the lines of a file. The remedy for it is advice in words, or a change: a Python
expression for the new list of these values, in which `R` is the old list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from cs_score.evidence.forms.files import Advice
from cs_score.evidence.forms.form import Files, FormChange, Remedy

GOLD_LINE: Final = '{"id": 1, "evidence": {"11": [{"sentences": [2], "label": "SUPPORT"}]}, "cited_doc_ids": [11]}'
"""A line of gold as both tasks read it."""

STAGES: Final = {"doc_ids": "retrieval", "evidence": "rationale", "labels": "label"}
"""The stages of SciFact's pipeline, by the key that lines of their files have in addition to `claim_id`."""

_ENTRY_KEYS: Final = ("label", "sentences")


def is_entry(value: object) -> bool:
    """Return whether a value is an object with a label and sentences."""
    return isinstance(value, dict) and all(key in value for key in _ENTRY_KEYS)


def are_entries(values: Sequence[object]) -> bool:
    """Return whether each value is an entry of evidence: an object with a label and sentences."""
    return all(is_entry(value) for value in values)


def are_lists_of_entries(values: Sequence[object]) -> bool:
    """Return whether each value is a list of entries of evidence: objects with a label and sentences."""
    return all(isinstance(value, list) and are_entries(value) for value in values)


def evidence_values(line_values: Iterable[Any]) -> list[object]:
    """Return the values of all documents in the evidence of all lines.

    For the line {"evidence": {"11": [2], "12": 5}} they are [2] and 5. A value may have any type. Lines whose evidence
    is not an object are left out.
    """
    values: list[object] = []
    for line_value in line_values:
        evidence = line_value.get("evidence")
        if isinstance(evidence, dict):
            values += evidence.values()
    return values


def have_evidence(line_values: Iterable[Any]) -> bool:
    """Return whether every line has an id, and evidence that is an object, null or an empty list."""
    for line_value in line_values:
        if "id" not in line_value or "evidence" not in line_value:
            return False
        evidence = line_value["evidence"]
        is_null_or_empty_list = evidence is None or evidence == []
        if not is_null_or_empty_list and not isinstance(evidence, dict):
            return False
    return True


def find_gold_remedy(line_values: Sequence[dict[str, Any]]) -> Remedy | None:
    """Return the remedy for the lines of a file that should be gold, or None if their form is not recognised.

    Only the forms that SciFact and claim verification have in common are recognised.
    """
    first_value = line_values[0]
    if "evidence_doc_id" in first_value and "evidence_sentences" in first_value:
        return FormChange(_FROM_DATA_SET, "the rows are those of the Hugging Face data set, one for each document")
    if all(_is_claim_without_evidence(line_value) for line_value in line_values):
        return Advice(
            "no line has evidence, as in the public test set, whose gold is kept by the owners of the leaderboard",
            f"score against a file with gold, such as claims_dev.jsonl, with lines like {GOLD_LINE}",
        )
    if "abstract" in first_value and "doc_id" in first_value:
        return Advice("this is the corpus of abstracts", f"gold is the file of claims, with lines like {GOLD_LINE}")
    return None


def _is_claim_without_evidence(line_value: Mapping[str, Any]) -> bool:
    """Return whether a line has the text of a claim and no evidence, as the lines of the public test set."""
    return "claim" in line_value and "evidence" not in line_value


_NEW_CLAIM: Final = (
    'G.setdefault(r["id"], {"id": r["id"], "claim": r.get("claim"), '
    '"cited_doc_ids": r.get("cited_doc_ids", []), "evidence": {}})'
)
_SET_OF_ROW: Final = '{"sentences": r["evidence_sentences"], "label": r["evidence_label"]}'
_FROM_DATA_SET: Final = (
    f"(lambda G: [{_NEW_CLAIM} for r in R] and "
    f'[G[r["id"]]["evidence"].setdefault(str(r["evidence_doc_id"]), []).append({_SET_OF_ROW}) '
    'for r in R if r["evidence_doc_id"]] is not None and G.values())({})'
)
"""The Python expression that converts the rows of the Hugging Face data set to claims.

The data set has a row for each document of a claim, and one row for a claim without documents.
"""


def stage_of(line_value: Mapping[str, Any]) -> str | None:
    """Return the stage of SciFact's pipeline whose files have lines like this one, or None if there is no such stage.

    For the line {"claim_id": 1, "doc_ids": [11]} it is "retrieval".
    """
    if "claim_id" not in line_value:
        return None
    for key, stage in STAGES.items():
        if key in line_value:
            if key == "evidence" and not _is_evidence_of_rationales(line_value[key]):
                return None
            return stage
    return None


def _is_evidence_of_rationales(evidence: object) -> bool:
    """Return whether evidence may belong to the stage of rationales, in which each document has a list of sentences.

    Only the first document is checked.
    """
    if not isinstance(evidence, dict) or not evidence:
        return True  # there is no document to disprove it
    value_of_first_document = next(iter(evidence.values()))
    return isinstance(value_of_first_document, list)


def action_to_score_stage(files: Files, stage: str) -> str | None:
    """Return the advice to score the files as a stage of SciFact: "write cs-score scifact --stage ...".

    Return None if the stage would also refuse the files. The option `--any-order` is included only if the stage would
    refuse the files without it.
    """
    action = files.action_to_score_as("scifact", stage=stage)
    if action is None:
        action = files.action_to_score_as("scifact", any_order=True, stage=stage)
    return action


def find_stage_advice(line_values: Sequence[Mapping[str, Any]], files: Files, file_in_words: str) -> Advice | None:
    """Return the advice to score the files as the stage of SciFact recognised by the first line of the predictions.

    `file_in_words` is the beginning of the advice, such as "this is the file of a stage". Return None if the line does
    not have the form of any stage, or if the stage would refuse the files.
    """
    stage = stage_of(line_values[0])
    if stage is None:
        return None
    action = action_to_score_stage(files, stage)
    if action is None:
        return None
    return Advice(f"{file_in_words}, {stage}", action)


def change_for_claims_by_id(line_values: Sequence[dict[str, Any]], files: Files) -> FormChange | None:
    """Return the change for a file that is an object with claims by their id, or None for any other form.

    The change puts each claim on a line of its own, with its id.
    """
    if len(line_values) != 1 or not _is_object_with_claims(line_values[0]):
        return None
    [claim_by_id] = line_values
    id_expression = _id_expression(claim_by_id, files)
    # In the expressions, `i` is the id of a claim and `c` is its value in the object. If ids remain text, they are
    # '[{**c, "id": i} for i, c in R[0].items()]' and '[{"id": i, "evidence": c} for i, c in R[0].items()]'.
    have_evidence_key = all("evidence" in claim for claim in claim_by_id.values())
    if have_evidence_key:
        expression = f'[{{**c, "id": {id_expression}}} for i, c in R[0].items()]'
    else:  # each claim is the evidence itself
        expression = f'[{{"id": {id_expression}, "evidence": c}} for i, c in R[0].items()]'
    return FormChange(expression, "the file is an object with claims by their id")


def _is_object_with_claims(value: Mapping[str, Any]) -> bool:
    """Return whether an object seems to hold claims by their ids: {"1": {...}, "2": {...}}.

    All its values are then objects. An object with the key `id` is a claim itself.
    """
    if not value or "id" in value:
        return False
    return all(isinstance(claim, dict) for claim in value.values())


def _id_expression(ids: Iterable[str], files: Files) -> str:
    """Return the Python expression that converts a text `i`, which is a key of a JSON object, to the id of a claim.

    The expression is `int(i)` if the ids of gold are numbers, so that the ids match, and `i` otherwise. `ids` are the
    keys of the object.
    """
    can_be_numbers = all(claim_id.isdecimal() for claim_id in ids)
    return "int(i)" if can_be_numbers and files.has_number_ids() else "i"


def change_for_listed_documents(line_values: Sequence[dict[str, Any]], document_expression: str) -> FormChange | None:
    """Return the change for lines whose evidence is a list of documents with `doc_id`, or None for any other form.

    The change replaces each list with an object that has a value for each document. `document_expression` is the Python
    expression for this value, in which the variable `e` is the document in the list.
    """
    documents: list[Any] = []
    for line_value in line_values:
        if isinstance(line_value.get("evidence"), list):
            documents += line_value["evidence"]
    have_ids = all(is_entry(document) and "doc_id" in document for document in documents)
    if not documents or not have_ids:
        return None
    # For the document expression `[e]`, the two expressions below are:
    # '{str(e["doc_id"]): [e] for e in c["evidence"] or []}'
    # '[{**c, "evidence": {str(e["doc_id"]): [e] for e in c["evidence"] or []}} for c in R]'
    evidence_expression = '{str(e["doc_id"]): ' + document_expression + ' for e in c["evidence"] or []}'
    expression = '[{**c, "evidence": ' + evidence_expression + "} for c in R]"
    return FormChange(expression, "evidence is a list of documents")
