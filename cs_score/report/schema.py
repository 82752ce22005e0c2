"""Whether a value is as one of the package's JSON Schemas says. Covers the keywords that these schemas use.

A library for this would be one more thing to install, and takes many times as long for a large analysis.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from cs_score.base.records import Record

_FOLDER: Final = files("cs_score") / "schemas"

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}

_LIMITS: Final[Mapping[str, tuple[Callable[[float, float], bool], str]]] = {
    "minimum": (operator.ge, "at least"),
    "maximum": (operator.le, "at most"),
    "exclusiveMinimum": (operator.gt, "above"),
    "exclusiveMaximum": (operator.lt, "below"),
}


class Fault(Record):
    """What is wrong, and where: `/mistakes/3/gain`; the whole value is at the empty place."""

    place: str
    problem: str


@cache
def schema_named(name: str) -> Mapping[str, Any]:
    """A schema of the package."""
    schema: Mapping[str, Any] = json.loads((_FOLDER / f"{name}.schema.json").read_bytes())
    return schema


def first_fault(value: object, schema: Mapping[str, Any]) -> Fault | None:
    """The first place where a value is not as a schema says."""
    return next(_faults(value, schema, schema, ""), None)


def _faults(value: object, schema: Mapping[str, Any], root: Mapping[str, Any], place: str) -> Iterator[Fault]:
    if "$ref" in schema:
        yield from _faults(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, place)
    if "anyOf" in schema:
        found = [next(_faults(value, choice, root, place), None) for choice in schema["anyOf"]]
        if None not in found:
            yield from (fault for fault in found[:1] if fault is not None)
    if (problem := _problem(value, schema)) is not None:
        yield Fault(place, problem)
    elif isinstance(value, dict):
        yield from _faults_of_object(value, schema, root, place)
    elif isinstance(value, list) and "items" in schema:
        for at, each in enumerate(value):
            yield from _faults(each, schema["items"], root, f"{place}/{at}")


def _faults_of_object(
    value: Mapping[str, object], schema: Mapping[str, Any], root: Mapping[str, Any], place: str
) -> Iterator[Fault]:
    for key in schema.get("required", ()):
        if key not in value:
            yield Fault(place, f"{key} is missing")
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties", {})
    for key, each in value.items():
        yield from _faults(key, schema.get("propertyNames", {}), root, place)
        yield from _faults(each, properties.get(key, others), root, f"{place}/{key}")


def _problem(value: object, schema: Mapping[str, Any]) -> str | None:
    """What is wrong with a value itself."""
    wanted = schema.get("type", list(_TYPES))
    kinds = [wanted] if isinstance(wanted, str) else wanted
    if not any(_is(value, kind) for kind in kinds):
        return f"must be {' or '.join(kinds)}"
    if "const" in schema and not _same(value, schema["const"]):
        return f"must be {json.dumps(schema['const'])}"
    if "enum" in schema and not any(_same(value, each) for each in schema["enum"]):
        return f"must be one of {json.dumps(schema['enum'])}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        for keyword, (holds, words) in _LIMITS.items():
            if keyword in schema and not holds(value, schema[keyword]):
                return f"must be {words} {schema[keyword]}"
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        return "is not written like that"
    return None


def _is(value: object, kind: str) -> bool:
    """Whether a value is of a type; to Python alone, a truth value is a number as well."""
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _same(one: object, other: object) -> bool:
    """Whether two values are equal in JSON; to Python, 1 is a truth value as well."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)
