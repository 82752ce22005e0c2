"""Results read back from JSON."""

from __future__ import annotations

import os

from cs_score.api.coldstart.results import RunResult
from cs_score.api.coldstart.stored import Stored
from cs_score.api.evidence import EvidenceResult
from cs_score.api.insight import Analysis, Difference, stored_insight
from cs_score.api.stored_evidence import stored_evidence
from cs_score.base.documents import Json, document_in, read_document
from cs_score.base.errors import InputError, UsageError
from cs_score.base.sources import Input, name_of
from cs_score.measures.registry import COLD_START_MODE, MEASURES


def load(given: Input) -> RunResult | EvidenceResult | Analysis | Difference:
    """A result, an analysis or a difference from the JSON that `to_json` and the option `--json` make.

    `given` is a path, an open file, or the text itself. What is loaded has the scores, records, frames and the
    signature of what was stored. What needs the files (`rescore`, `write`, `explain`, `compare`, `analyze`) raises
    UsageError. Raises InputError for what is no such JSON, and for that of a version with another schema.
    """
    name, told = _read(given)
    if "measure" in told and {"mistakes", "answers"} & told.keys():
        return stored_insight(told, name)
    signature = told.get("signature")
    mode = signature.get("mode") if isinstance(signature, dict) else None
    if mode == COLD_START_MODE:
        return RunResult(Stored(told, name))
    if not isinstance(mode, str) or mode not in MEASURES:
        raise InputError("no result of cs-score", file=name, remedy="cs.load reads what to_json and --json make")
    return stored_evidence(told, mode, name)


def _read(given: Input) -> tuple[str, dict[str, Json]]:
    """What messages call the JSON, and its object."""
    if isinstance(given, str) and given.lstrip()[:1] in ("{", "["):
        return "the JSON", document_in(given, "the JSON")
    if isinstance(given, (str, os.PathLike)) or hasattr(given, "read"):
        return name_of(given), read_document(given)
    raise UsageError(f"load takes a path, an open file or JSON text, not {given!r}")
