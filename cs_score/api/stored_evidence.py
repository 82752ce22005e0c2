"""A result of an evidence mode that was stored as JSON, without its predictions."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from cs_score.api.coldstart.stored import MALFORMED, check_version, not_whole, plain_texts
from cs_score.api.evidence import EvidenceResult
from cs_score.base.errors import InputError
from cs_score.evidence.report import SCHEMA_VERSION
from cs_score.evidence.result import Mode
from cs_score.statistics.units import UnitTable
from cs_score.verification.recorded import origin_of


def stored_evidence(told: Mapping[str, Any], mode_name: str, name: str) -> EvidenceResult:
    """The result that a JSON object tells. Raises InputError where it is none."""
    mode: Mode = importlib.import_module(f"cs_score.evidence.{mode_name}").MODE
    signature = told["signature"]
    check_version(signature.get("schema_version"), SCHEMA_VERSION, name)
    if "units" not in signature:
        raise InputError(
            "stored without the statistics of the units", file=name, remedy="--json FILE and to_json store them"
        )
    try:
        origin = origin_of(signature, name, "signature")
        units = _units(signature["units"], mode)
        scores = {measure: _number(_score(told, measure)) for measure in mode.measures}
    except MALFORMED as error:
        raise not_whole(error, name) from None
    return EvidenceResult(scores, units, origin, (), told)


def _units(told: Mapping[str, Any], mode: Mode) -> UnitTable:
    columns = plain_texts(told["columns"])
    ids = plain_texts(told["ids"])
    rows = [tuple(map(_number, row)) for row in told["rows"]]
    if columns != mode.columns or len(rows) != len(ids) or any(len(row) != len(columns) for row in rows):
        raise ValueError("units")
    return UnitTable(ids, columns, rows)


def _score(told: Mapping[str, Any], measure: str) -> object:
    """A score by its name; the official evaluator of R4C groups them."""
    group, _, aspect = measure.partition("_")
    return told[measure] if measure in told else told[group][aspect]


def _number(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise TypeError(f"{given!r} where a number should be")
    return given
