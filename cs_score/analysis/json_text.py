"""The JSON of an analysis, a difference or an explanation as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping


def json_text(value: Mapping[str, object]) -> Iterator[str]:
    """A JSON object in pieces, a line for each of its keys and for each item of a list; ASCII only."""
    for at, (key, content) in enumerate(value.items()):
        yield f"{',' if at else '{'}\n{json.dumps(key)}: "
        if isinstance(content, list) and content:
            yield from (f"{',' if row else '['}\n {json.dumps(item)}" for row, item in enumerate(content))
            yield "\n]"
        else:
            yield json.dumps(content)
    yield "\n}\n"
