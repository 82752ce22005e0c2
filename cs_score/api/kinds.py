"""The kinds of records of a result: found by name, and their fields with the types of these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, TypeVar

from cs_score.base.errors import UsageError
from cs_score.base.nearest import nearest

Record = TypeVar("Record")

Values: TypeAlias = tuple[object, ...]
"""The fields of one record, in their order."""


def known(records: Mapping[str, Record], kind: str) -> Record:
    """The record of a kind. Raises UsageError where there is none."""
    if kind not in records:
        raise UsageError(f"no records called {kind!r}; there are {', '.join(records)}{nearest(str(kind), records)}")
    return records[kind]


def field_types(record: type) -> dict[str, str]:
    """The fields of a record with their types, as they are written above."""
    return {
        name: str(getattr(given, "__forward_arg__", given))  # a named tuple keeps them as references to come
        for name, given in record.__annotations__.items()
    }
