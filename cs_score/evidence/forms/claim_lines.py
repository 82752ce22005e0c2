"""Forms of files with a claim a line, which SciFact and claim verification have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from cs_score.evidence.forms.files import Advice
from cs_score.evidence.forms.form import Answer, Change, Files

GOLD_LINE: Final = '{"id": 1, "evidence": {"11": [{"sentences": [2], "label": "SUPPORT"}]}, "cited_doc_ids": [11]}'
"""A line of gold as both tasks read it."""

STAGES: Final = {"doc_ids": "retrieval", "evidence": "rationale", "labels": "label"}
"""The stages of SciFact's pipeline by the key that the lines of their files have beside `claim_id`."""

_WITH_VERDICT: Final = ("label", "sentences")


def is_entry(value: object) -> bool:
    """Return whether a value is an object with a label and sentences."""
    return isinstance(value, dict) and all(key in value for key in _WITH_VERDICT)


def evidence_of(lines: Iterable[Any]) -> list[object]:
    """Return what stands for each document in the evidence of all lines."""
    found: list[object] = []
    for line in lines:
        evidence = line.get("evidence")
        if isinstance(evidence, dict):
            found += evidence.values()
    return found


def have_evidence(lines: Iterable[Any]) -> bool:
    """Return whether every line has an id, and evidence that is an object or none at all."""
    return all("id" in line and _is_evidence(line.get("evidence", 0)) for line in lines)


def _is_evidence(value: object) -> bool:
    return value is None or isinstance(value, dict) or value == []


def are_entries(values: Sequence[object]) -> bool:
    """Return whether each value is an object with label and sentences."""
    return all(map(is_entry, values))


def are_lists_of_entries(values: Sequence[object]) -> bool:
    """Return whether each value is a list of objects with label and sentences."""
    return all(isinstance(value, list) and are_entries(value) for value in values)


def gold_form(lines: Sequence[dict[str, Any]]) -> Answer | None:
    """Return what has to be done about lines that are to be gold, None where their form is unknown or as wanted."""
    first = lines[0]
    if "evidence_doc_id" in first and "evidence_sentences" in first:
        return Change(_FROM_DATA_SET, "the rows are those of the Hugging Face data set, one for each document")
    if all("claim" in line and "evidence" not in line for line in lines):
        return Advice(
            "no line has evidence, as in the public test set, whose gold is kept by the owners of the leaderboard",
            f"score against a file with gold, such as claims_dev.jsonl, with lines like {GOLD_LINE}",
        )
    if "abstract" in first and "doc_id" in first:
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
"""The claims of rows of the data set, which has a row for each document of a claim, and for a claim without any."""


def stage_of(line: Mapping[str, Any]) -> str | None:
    """Return the stage of SciFact's pipeline whose file has such lines; None where it is of none."""
    if "claim_id" not in line:
        return None
    for key, stage in STAGES.items():
        if key in line:
            evidence = line.get("evidence")
            values = list(evidence.values()) if isinstance(evidence, dict) else []
            if key == "evidence" and values and not isinstance(values[0], list):
                return None
            return stage
    return None


def stage_command(files: Files, stage: str) -> str | None:
    """Return the command that scores a file of a stage, None where it would be refused."""
    found = files.scored_as("scifact", "--stage", stage, stage=stage)
    if found is None:
        found = files.scored_as("scifact", "--any-order", "--stage", stage, stage=stage, any_order=True)
    return found


def by_id(lines: Sequence[dict[str, Any]], files: Files) -> Change | None:
    """Return how an object with claims by their id becomes lines; None for anything else."""
    if len(lines) != 1 or "id" in lines[0] or not lines[0]:
        return None
    claims = lines[0]
    if not all(isinstance(claim, dict) for claim in claims.values()):
        return None
    key = "int(i)" if all(map(str.isdecimal, claims)) and files.has_number_ids() else "i"
    what = "the file is an object with claims by their id"
    if all("evidence" in claim for claim in claims.values()):
        return Change(f'[{{**c, "id": {key}}} for i, c in R[0].items()]', what)
    return Change(f'[{{"id": {key}, "evidence": c}} for i, c in R[0].items()]', what)


def listed_documents(lines: Sequence[dict[str, Any]], entry: str) -> Change | None:
    """Return how lines whose evidence is a list of documents get it by document; `entry` is what stands for one."""
    documents = [each for line in lines if isinstance(line.get("evidence"), list) for each in line["evidence"]]
    if not documents or not all(is_entry(each) and "doc_id" in each for each in documents):
        return None
    evidence = f'{{str(e["doc_id"]): {entry} for e in c["evidence"] or []}}'
    return Change(f'[{{**c, "evidence": {evidence}}} for c in R]', "evidence is a list of documents")
