"""Forms of files with a claim on each line, which SciFact and claim verification have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from cs_score.evidence.forms.files import Advice
from cs_score.evidence.forms.form import Files, FormChange, Remedy

GOLD_LINE: Final = '{"id": 1, "evidence": {"11": [{"sentences": [2], "label": "SUPPORT"}]}, "cited_doc_ids": [11]}'
"""A line of gold as both tasks read it."""

STAGES: Final = {"doc_ids": "retrieval", "evidence": "rationale", "labels": "label"}
"""The stages of SciFact's pipeline by the key that the lines of their files have beside `claim_id`."""

_ENTRY_KEYS: Final = ("label", "sentences")


def is_entry(value: object) -> bool:
    """Return whether a value is an object with a label and sentences."""
    return isinstance(value, dict) and all(key in value for key in _ENTRY_KEYS)


def are_entries(values: Sequence[object]) -> bool:
    """Return whether each value is an object with a label and sentences."""
    return all(is_entry(value) for value in values)


def are_lists_of_entries(values: Sequence[object]) -> bool:
    """Return whether each value is a list of objects with a label and sentences."""
    return all(isinstance(value, list) and are_entries(value) for value in values)


def evidence_values(lines: Iterable[Any]) -> list[object]:
    """Return the values of the documents in the evidence of all lines, such as [2] and 5 for the line

        {"evidence": {"11": [2], "12": 5}}

    A value may be of any type. Lines whose evidence is no object are left out.
    """
    values: list[object] = []
    for line in lines:
        evidence = line.get("evidence")
        if isinstance(evidence, dict):
            values += evidence.values()
    return values


def have_evidence(lines: Iterable[Any]) -> bool:
    """Return whether every line has an id, and evidence that is an object, null or an empty list."""
    for line in lines:
        if "id" not in line or "evidence" not in line:
            return False
        evidence = line["evidence"]
        is_null_or_empty_list = evidence is None or evidence == []
        if not is_null_or_empty_list and not isinstance(evidence, dict):
            return False
    return True


def find_gold_remedy(lines: Sequence[dict[str, Any]]) -> Remedy | None:
    """Return the remedy for lines that should be gold, in forms that both tasks know; None for any other form."""
    first_line = lines[0]
    if "evidence_doc_id" in first_line and "evidence_sentences" in first_line:
        return FormChange(_FROM_DATA_SET, "the rows are those of the Hugging Face data set, one for each document")
    are_claims_without_evidence = all("claim" in line and "evidence" not in line for line in lines)
    if are_claims_without_evidence:
        return Advice(
            "no line has evidence, as in the public test set, whose gold is kept by the owners of the leaderboard",
            f"score against a file with gold, such as claims_dev.jsonl, with lines like {GOLD_LINE}",
        )
    if "abstract" in first_line and "doc_id" in first_line:
        return Advice("this is the corpus of abstracts", f"gold is the file of claims, with lines like {GOLD_LINE}")
    return None


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
"""The Python expression that makes claims of the rows of the data set.

It has a row for each document of a claim, and one row for a claim without documents.
"""


def stage_of(line: Mapping[str, Any]) -> str | None:
    """Return the stage of SciFact's pipeline that reads files with lines like this one; None if no stage does.

    The line {"claim_id": 1, "doc_ids": [11]}, for example, is of the stage "retrieval".
    """
    if "claim_id" not in line:
        return None
    if "doc_ids" in line:
        return STAGES["doc_ids"]
    if "evidence" in line:
        return STAGES["evidence"] if _is_evidence_of_rationales(line["evidence"]) else None
    if "labels" in line:
        return STAGES["labels"]
    return None


def _is_evidence_of_rationales(evidence: object) -> bool:
    """Return whether evidence may be of the stage of rationales: its first document, if there is one, has a list."""
    if not isinstance(evidence, dict) or not evidence:
        return True
    value_of_first_document = next(iter(evidence.values()))
    return isinstance(value_of_first_document, list)


def stage_command(files: Files, stage: str) -> str | None:
    """Return the command that scores the files as a stage of SciFact; None if the stage would refuse them.

    The claims are matched by id, with `--any-order`, only if the stage refuses the files otherwise.
    """
    command = files.command_for_task("scifact", "--stage", stage, stage=stage)
    if command is None:
        command = files.command_for_task("scifact", "--any-order", "--stage", stage, stage=stage, any_order=True)
    return command


def change_for_claims_by_id(lines: Sequence[dict[str, Any]], files: Files) -> FormChange | None:
    """Return the change for a file that is an object with claims by their id; None for another form.

    `lines` are the values of the lines of the file. The change makes a line of each claim, with its id.
    """
    if len(lines) != 1:
        return None
    [claim_by_id] = lines
    if not claim_by_id or "id" in claim_by_id:
        return None
    if not all(isinstance(claim, dict) for claim in claim_by_id.values()):
        return None
    # Keys of JSON are text. The ids must be numbers if gold's are, so that they are equal.
    can_be_numbers = all(claim_id.isdecimal() for claim_id in claim_by_id)
    id_expression = "int(i)" if can_be_numbers and files.has_number_ids() else "i"
    have_evidence_key = all("evidence" in claim for claim in claim_by_id.values())
    if have_evidence_key:
        expression = f'[{{**c, "id": {id_expression}}} for i, c in R[0].items()]'
    else:  # each claim is the evidence itself
        expression = f'[{{"id": {id_expression}, "evidence": c}} for i, c in R[0].items()]'
    return FormChange(expression, "the file is an object with claims by their id")


def change_for_listed_documents(lines: Sequence[dict[str, Any]], document_expression: str) -> FormChange | None:
    """Return the change for lines whose evidence is a list of documents, each with `doc_id`; None for another form.

    The change makes an object by document of each list. `document_expression` is the Python expression for the value
    of a document in that object; in it `e` is the document as the list has it.
    """
    documents: list[Any] = []
    for line in lines:
        if isinstance(line.get("evidence"), list):
            documents += line["evidence"]
    have_ids = all(is_entry(document) and "doc_id" in document for document in documents)
    if not documents or not have_ids:
        return None
    evidence_expression = f'{{str(e["doc_id"]): {document_expression} for e in c["evidence"] or []}}'
    expression = f'[{{**c, "evidence": {evidence_expression}}} for c in R]'
    return FormChange(expression, "evidence is a list of documents")
