"""How keys and units of the JSON are called on a page."""

from __future__ import annotations

from typing import Final

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
    return key.replace("_", " ")


def slug(key: str) -> str:
    """A key as a part of an address."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in key)
