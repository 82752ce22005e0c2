"""Facts as JSON: an object for each record, with the names of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def as_json(value: Any) -> Any:
    """What `json` writes, of facts and what they hold."""
    if isinstance(value, tuple | list):
        return [as_json(each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): as_json(each) for key, each in value.items()}
    if hasattr(value, "__struct_fields__"):
        return {name: as_json(getattr(value, name)) for name in value.__struct_fields__}
    return value
