"""Documents from Python: results and findings that were stored as JSON, and are read back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from cs_score.api.batches import Leaderboard
from cs_score.api.evidence import EvidenceResult, loaded_evidence
from cs_score.api.findings import Analysis, Comparison, Difference, Explanation
from cs_score.api.many import Assessors, PoolBias, Power, SampledPool
from cs_score.api.runs import RunResult, loaded_result
from cs_score.api.shown import refuse_incomplete
from cs_score.base.documents import document_in, document_record, read_document
from cs_score.base.errors import UsageError
from cs_score.base.sources import Input, name_of
from cs_score.coldstart.documents import Scores
from cs_score.report.documents import checked as checked_document
from cs_score.verification.recorded import scores_in

Finding: TypeAlias = (
    Analysis | Difference | Explanation | Comparison | Leaderboard | Power | PoolBias | SampledPool | Assessors
)
"""Everything that is found of results and written as JSON."""

_KINDS: Final[Mapping[Any, Any]] = {
    "analysis": Analysis,
    "difference": Difference,
    "explanation": Explanation,
    "comparison": Comparison,
    "leaderboard": Leaderboard,
    "power": Power,
    "pool-bias": PoolBias,
    "sampled-pool": SampledPool,
    "assessors": Assessors,
}
"""The class of each kind of document."""


def load(given: Input) -> RunResult | EvidenceResult | Finding:
    """Return the result, analysis, difference, ... that JSON of `to_json` or `--format json` holds.

    `given` is a path, an open file, or the text itself. What is loaded has the scores, tables, text and signature of
    what was stored. What needs the files (`rescore`, `explain`, `compare`, `analyze`, `write` of a run) raises
    UsageError. Raises InputError for what is no such JSON, and for that of a version with another schema.
    """
    if isinstance(given, str) and given.lstrip()[:1] in ("{", "["):
        name = "the JSON"
        value = document_in(given, name)
    elif isinstance(given, (str, os.PathLike)) or hasattr(given, "read"):
        name = name_of(given)
        value = read_document(given)
    else:
        raise UsageError(f"load takes a path, an open file or JSON text, not {given!r}")
    kind = str(value.get("kind"))
    loaded: RunResult | EvidenceResult | Finding
    loaded = _load_finding(kind, value, name) if kind in _KINDS else _load_result(value, name)
    refuse_incomplete(loaded, name)
    return loaded


def _load_finding(kind: str, value: Mapping[str, Any], name: str) -> Any:
    """Return the finding of a kind that a document holds. Raises InputError, which calls the document `name`."""
    read = checked_document if kind in ("analysis", "difference") else document_record
    return _KINDS[kind](read(value, name))


def _load_result(value: Mapping[str, Any], name: str) -> Any:
    """Return the result that a document holds. Raises InputError, which calls the document `name`."""
    scores = scores_in(value, name)
    if isinstance(scores, Scores):
        return loaded_result(scores, name)
    return loaded_evidence(scores, name)
