"""What the analyses of all tasks share: outcomes of two sides, names of groups, significance, their JSON as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final, TypeAlias

from cs_score.statistics.results import Comparison

Both: TypeAlias = tuple[bool, bool]
"""Whether something holds in A, and in B."""


class Outcome(StrEnum):
    """How A and B fared; what is right in one of them may be wrong or missing in the other."""

    RIGHT_IN_BOTH = "right in both"
    RIGHT_IN_A = "right in A only"
    RIGHT_IN_B = "right in B only"
    WRONG_IN_BOTH = "wrong in both"
    WRONG_IN_A = "wrong in A only"
    WRONG_IN_B = "wrong in B only"
    MISSED = "missed in both"


def outcome_of(right: Both, wrong: Both) -> Outcome:
    """The outcome; it is told by what is right where anything is, otherwise by what is wrong."""
    if any(right):
        return Outcome.RIGHT_IN_BOTH if all(right) else Outcome.RIGHT_IN_A if right[0] else Outcome.RIGHT_IN_B
    if any(wrong):
        return Outcome.WRONG_IN_BOTH if all(wrong) else Outcome.WRONG_IN_A if wrong[0] else Outcome.WRONG_IN_B
    return Outcome.MISSED


UNKNOWN: Final = "unknown"
"""The group of what nothing tells the group of."""

_LONGEST_NUMBER: Final = 20
"""Digits; longer ones, which only texts of an input have, are ordered as texts."""


def place(group: str) -> tuple[bool, int, str]:
    """Sort key of groups: numbers by value, then texts."""
    is_number = group.isdecimal() and len(group) < _LONGEST_NUMBER
    return (not is_number, int(group) if is_number else 0, group)


def significance(compared: Comparison | None) -> dict[str, object]:
    """Interval, p-values and settings of a comparison of two systems by one measure; nulls where there is none."""
    if compared is None:
        return {"interval": None, "p": None, "resampling": None}
    pair = compared.measures[0].pairs[0]
    return {
        "interval": pair.difference.as_json(),
        "p": {"randomisation": pair.randomisation.raw, "bootstrap": pair.bootstrap.raw},
        "resampling": compared.resampling.as_json(),
    }


def significance_lines(compared: Comparison | None) -> list[str]:
    """The same as a line of text; none where there is none."""
    if compared is None:
        return []
    pair, settings = compared.measures[0].pairs[0], compared.resampling
    low, high = ("-" if limit is None else f"{limit:+.4f}" for limit in (pair.difference.low, pair.difference.high))
    return [
        f"{settings.confidence:g} % {settings.method} bootstrap interval of B - A: {low} to {high}; "
        f"p {pair.randomisation.raw:.4f} (randomisation), {pair.bootstrap.raw:.4f} (bootstrap)"
    ]


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
