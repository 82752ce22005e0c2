"""Every JSON object that a command of the tests writes is held against the schemas of the package."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from cs_score.base.documents import KINDS, json_text, schema_of

LARGEST: Final = 1 << 20
"""Bytes of an object that is looked at; larger ones hold more of the same."""

CAN_VALIDATE: Final = importlib.util.find_spec("jsonschema") is not None


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """The schemas by name, as they are printed."""
    return {kind: json.loads(json_text(schema_of(kind))) for kind in sorted(KINDS)}


def closed(schema: Any) -> Any:
    """The schema without room for keys that it does not name: readers expect new ones, and we must not forget any."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(value) for key, value in schema.items()}
    return {"additionalProperties": False, **found} if "properties" in found and "type" in found else found


def name_of(value: dict[str, Any]) -> str | None:
    """The schema that describes an object; None for SARIF and for a failure."""
    if "$schema" in value or value.get("kind") == "error":
        return None
    assert "kind" in value, f"no schema describes an object with the keys {', '.join(value)}"
    return str(value["kind"])


@cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(closed(schemas()[name]))


def check(value: dict[str, Any]) -> None:
    """Raises what jsonschema raises where an object is not as its schema says."""
    if "kind" not in value and isinstance(value.get("signature"), dict) and "kind" in value["signature"]:
        value = value["signature"]  # below the measures of an official evaluator
    name = name_of(value)
    if name is not None:
        _validator(name).validate(value)


def check_written(stdout: bytes, files: dict[str, bytes]) -> None:
    """The objects among what a command has printed and written."""
    if CAN_VALIDATE:
        for value in _objects([stdout, *(data for name, data in files.items() if name.endswith(".json"))]):
            check(value)


def _objects(texts: list[bytes]) -> Iterator[dict[str, Any]]:
    for text in texts:
        if text.lstrip().startswith(b"{") and len(text) <= LARGEST:
            try:
                yield json.loads(text)
            except ValueError:  # more than an object was printed
                continue
