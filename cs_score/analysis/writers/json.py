"""An analysis as JSON: one object, a line for each row of its lists."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from cs_score.foundation.planned_outputs import Format, OwnOption

OPTION: Final = OwnOption(
    "--json",
    {".json": Format(re.compile(rb'\{\s*"schema_version": \d+,\s*"analysis": "'))},
    "analysis.json",
    takes_dash=True,
)
"""The option that names the file of this object."""


def json_text(analysis: Mapping[str, object]) -> Iterator[str]:
    """The object in pieces; ASCII only, so that no text of an input reaches a terminal unescaped."""
    for at, (name, value) in enumerate(analysis.items()):
        yield f"{',' if at else '{'}\n{_dump(name)}: "
        yield from _rows(value) if isinstance(value, list) else (_dump(value),)
    yield "\n}\n"


def _rows(rows: list[Any]) -> Iterator[str]:
    yield "["
    for at, row in enumerate(rows):
        yield f"{',' if at else ''}\n{_dump(row)}"
    yield "\n]"


def _dump(value: object) -> str:
    return json.dumps(value, allow_nan=False)
