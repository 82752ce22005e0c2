"""Our own reading of the package's schemas says what the library for JSON Schema says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from cs_score.report.schema import first_fault, schema_named
from tests.cli.forms import fill
from tests.coldstart.command import score_in
from tests.schemas import schemas

KEYWORDS = {
    "$schema", "$id", "$ref", "$defs", "title", "description", "type", "properties", "required", "items", "anyOf",
    "additionalProperties", "const", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "pattern",
    "propertyNames",
}  # fmt: skip


def _changed(value: Any) -> Iterator[Any]:
    """The value with one part at a time made something else, or left out."""
    if isinstance(value, dict):
        for key in value:
            yield {other: each for other, each in value.items() if other != key}
            for each in _changed(value[key]):
                yield value | {key: each}
    elif isinstance(value, list):
        for at, item in enumerate(value[:1]):
            for each in _changed(item):
                yield [*value[:at], each, *value[at + 1 :]]
    others: list[Any] = [None, True, -7, 0.5, "x", [], {}]
    yield from (each for each in others if each != value or type(each) is not type(value))


def test_it_agrees_with_the_library(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="there is nothing to agree with")
    library = jsonschema.Draft202012Validator(schemas()["analysis-evidence"])
    fill(tmp_path)
    words = ["analyze", "claims", "--format=json", "--top=1", "--gold=gold.jsonl", "--predictions=more.jsonl"]
    analysis = json.loads(score_in(tmp_path, words).stdout)
    values = [analysis, *_changed(analysis)]
    found = [first_fault(value, schema_named("analysis-evidence")) is None for value in values]
    assert found == [library.is_valid(value) for value in values]
    assert True in found
    assert found.count(False) > 100


@pytest.mark.parametrize("name", [name for name in schemas() if name.startswith(("analysis-", "diff-"))])
def test_it_knows_every_keyword_that_the_schemas_use(name: str) -> None:
    assert set(_keywords(deepcopy(schemas()[name]))) <= KEYWORDS


def _keywords(schema: dict[str, Any]) -> Iterator[str]:
    for key, value in schema.items():
        yield key
        if key in ("properties", "$defs"):
            for each in value.values():
                yield from _keywords(each)
        elif key in ("items", "additionalProperties", "propertyNames") and isinstance(value, dict):
            yield from _keywords(value)
        elif key == "anyOf":
            for each in value:
                yield from _keywords(each)
