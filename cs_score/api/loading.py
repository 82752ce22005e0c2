"""The function that reads results and findings back from their JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from cs_score.analysis.recorded import read_whole_scores
from cs_score.api.prediction_results import loaded_evidence
from cs_score.api.run_results import loaded_result
from cs_score.api.shown import ShownDocument, refuse_incomplete
from cs_score.base.documents import document_in, document_record, read_document
from cs_score.base.errors import UsageError
from cs_score.base.runtime import load_value
from cs_score.base.sources import Input, name_of
from cs_score.coldstart.score_documents import RunScoresDocument
from cs_score.pages.making import checked_document
from cs_score.verbs import SLICES


def _collect_classes() -> dict[str, str]:
    """Return the class of each kind of finding by the kind: `{"analysis": "api.findings:Analysis", ...}`."""
    class_by_kind: dict[str, str] = {}
    for slice_ in SLICES:  # the folders of commands; each lists the findings that its commands make
        class_by_kind.update(slice_.findings)
    return class_by_kind


_CLASS_BY_KIND: Final = _collect_classes()


def load(given: Input) -> ShownDocument:
    """Return a result, an analysis or another finding that `to_json` or `--format json` has stored.

    `given` is a path, an open file, or the JSON text itself. The loaded object has the same scores, tables, text and
    signature as the stored one. Methods and functions that need the scored files (`rescore`, `explain`, `compare`,
    `analyze`, `write` of a run) raise UsageError for it. Raises InputError for a file that holds no such JSON, and
    for JSON with another version of the schema.
    """
    name, value = _name_and_value(given)
    kind = str(value.get("kind"))
    result = _load_finding(kind, value, name) if kind in _CLASS_BY_KIND else _load_result(value, name)
    refuse_incomplete(result, name)
    return result


def _name_and_value(given: Input) -> tuple[str, Mapping[str, Any]]:
    """Return the name of a JSON file for messages, and the JSON object in it as a dictionary.

    `given` is a path or an open file, or JSON text, which is called "the JSON" in messages. Raises UsageError for
    anything else, and InputError for JSON that cannot be read.
    """
    if isinstance(given, str) and given.lstrip().startswith(("{", "[")):  # no path begins like this
        return "the JSON", document_in(given, "the JSON")
    if isinstance(given, (str, os.PathLike)) or hasattr(given, "read"):
        return name_of(given), read_document(given)
    raise UsageError(f"load takes a path, an open file or JSON text, not {given!r}")


def _load_finding(kind: str, value: Mapping[str, Any], name: str) -> ShownDocument:
    """Return the finding, such as an analysis, that the JSON object `value` holds.

    `kind` is one of the names in `_CLASS_BY_KIND`. Raises InputError for an invalid document; the message calls it
    `name`.
    """
    # In analyses and differences, parts may contradict each other: `checked_document` refuses that.
    read_record = checked_document if kind in ("analysis", "difference") else document_record
    document = read_record(value, name)
    make_finding = load_value(f"cs_score.{_CLASS_BY_KIND[kind]}", needed_by=f"the {kind}")
    finding: ShownDocument = make_finding(document)
    return finding


def _load_result(value: Mapping[str, Any], name: str) -> ShownDocument:
    """Return the result that the JSON object `value` holds, of a Cold Start run or of a task of evidence.

    Raises InputError for an invalid document; the message calls it `name`.
    """
    scores = read_whole_scores(value, name)
    if isinstance(scores, RunScoresDocument):
        return loaded_result(scores, name)
    return loaded_evidence(scores, name)
