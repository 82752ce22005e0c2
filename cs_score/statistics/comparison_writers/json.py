"""A comparison as JSON."""

from __future__ import annotations

import json

from cs_score.statistics.comparison import Comparison


def comparison_json(comparison: Comparison) -> str:
    """`Comparison.as_json`, indented by two blanks; ASCII only, so that no name can reach a terminal unescaped."""
    return json.dumps(comparison.as_json(), indent=2, allow_nan=False) + "\n"
