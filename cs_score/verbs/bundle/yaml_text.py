"""Writes dictionaries, lists and simple values as YAML, a text format with a line for each member, as in `title: "x"`.
Every text is in double quotes as in JSON, which YAML reads as the same text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

Value: TypeAlias = "str | int | float | bool | Sequence[Value] | Mapping[str, Value] | None"
"""A value of a YAML document."""


def yaml_text(value: Mapping[str, Value]) -> str:
    """Return a mapping as a YAML document: `{"title": "x"}` -> `title: "x"` and a line feed."""
    return "".join([f"{line}\n" for line in _lines(value)])


def _lines(value: Mapping[str, Value] | Sequence[Value]) -> Iterator[str]:
    """Yield the lines of YAML for a mapping or a sequence that is not empty: `title: "x"` or `- 1`."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from _lines_of_member(f"{name}:", member)
    else:
        for member in value:
            yield from _lines_of_item(member)


def _lines_of_member(head: str, value: Value) -> Iterator[str]:
    """Yield the lines of a member of a mapping. The first line begins with `head`, its name and a colon: `title:`."""
    if _is_nested(value):
        yield head
        yield from [f"  {line}" for line in _lines(value)]  # type: ignore[arg-type]  # it is nested
    else:
        yield f"{head} {_scalar(value)}"


def _lines_of_item(value: Value) -> Iterator[str]:
    """Yield the lines of an item of a sequence. The first line begins with a dash, the others are indented."""
    if not _is_nested(value):
        yield f"- {_scalar(value)}"
        return
    beginning = "- "
    for line in _lines(value):  # type: ignore[arg-type]  # it is nested
        yield f"{beginning}{line}"
        beginning = "  "


def _is_nested(value: Value) -> bool:
    """Return whether a value is written on several lines, as a mapping or a sequence that is not empty is."""
    return isinstance(value, Mapping | list | tuple) and bool(value)


def _scalar(value: Value) -> str:
    """Return a value as one line of YAML, which is the same as in JSON: "x" in double quotes, `{}`, `[]`, `true`."""
    return json.dumps(value, ensure_ascii=False)
