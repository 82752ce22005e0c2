"""A comparison as JSON."""

from __future__ import annotations

import json
import re
from typing import Final

from cs_score.base.planned_outputs import Format, OwnOption
from cs_score.statistics.comparison_result import Comparison

OPTION: Final = OwnOption(
    "--json",
    # The names of systems may be longer than the beginning that is looked at.
    {
        ".json": Format(
            re.compile(
                rb'\{\s*(?:"schema_version":\s*\d+,\s*)?"systems":\s*\[(?:\s*"(?:[^"\\]|\\.)*",?)+(?:\s*\],\s*"units":|\Z)'
            )
        )
    },
    "comparison.json",
    takes_dash=True,
)
"""The option that names the file of this object."""


def comparison_json(comparison: Comparison) -> str:
    """`Comparison.as_json`, indented by two blanks; ASCII only, so that no name can reach a terminal unescaped."""
    return json.dumps(comparison.as_json(), indent=2, allow_nan=False) + "\n"
