"""How keys and units of the JSON are called on a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from cs_score.measures.registry import COLD_START_MODE

_UNITS: Final = {COLD_START_MODE: "query", "r4c": "instance", "hotpotqa": "question"}
_MANY: Final = {"query": "queries"}


def unit_name(mode: str) -> str:
    """What a unit of a mode is called: a query, claim, instance or question."""
    return _UNITS.get(mode, "claim")


def unit_names(mode: str) -> str:
    """The same for several of them."""
    name = unit_name(mode)
    return _MANY.get(name, f"{name}s")


def words(key: str) -> str:
    """A key as words."""
    return key.replace("_", " ").replace("ldc ", "LDC ")


def headed(key: str) -> str:
    """A key as the heading of a column."""
    text = words(key)
    return text[:1].upper() + text[1:]


def slug(key: str) -> str:
    """A key as a part of an address."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in key)


def as_text(value: object) -> str:
    """A value of a predictions file: texts as they are, everything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def unit_text(record: Mapping[str, Any]) -> str:
    """The query or the unit that a record is about, as text; repetitions of an id are told apart."""
    if "query" in record:
        query: str = record["query"]
        return query
    occurrence = record.get("occurrence", 1)
    return as_text(record["unit"]) + (f" ({occurrence})" if occurrence > 1 else "")
