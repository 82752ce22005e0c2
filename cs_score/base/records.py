"""Records: values with named, typed fields. Everything that is written as JSON is a record, and is read back as one.

msgspec makes a class in a few microseconds and an instance in a twentieth of one, and checks types where JSON is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, dataclass_transform

import msgspec
from msgspec import Struct, convert, field
from msgspec.structs import asdict, astuple, force_setattr, replace

__all__ = ["Record", "Struct", "asdict", "astuple", "convert", "field", "force_setattr", "replace", "to_builtins"]


def to_builtins(value: object) -> Any:
    """Return a record as dictionaries, lists, texts and numbers, as they are written as JSON.

    A sequence of any class becomes a list.
    """
    return msgspec.to_builtins(value, enc_hook=_as_list)


def _as_list(value: Any) -> list[Any]:
    """Return a sequence as a list. Raises NotImplementedError for another value, as msgspec expects it."""
    if isinstance(value, Sequence):
        return list(value)
    raise NotImplementedError(f"{type(value).__name__} is no value of JSON")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Record(Struct, frozen=True):
    """Base of all records: they cannot be changed once they are made, and are equal where their fields are equal.

    A record that is only equal to itself says `eq=False`, one with cached properties `dict=True`.
    """
