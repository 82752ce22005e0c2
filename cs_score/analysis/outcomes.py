"""What the analyses of all tasks share: the head of a difference, outcomes of two sides, the order of groups."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from textwrap import wrap
from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.base.display import aligned, cell, one_line
from cs_score.base.documents import Document
from cs_score.base.records import Record, asdict, to_builtins
from cs_score.base.signing.origin import Origin
from cs_score.statistics.options import Note, Resampling, sentences
from cs_score.statistics.results import Interval

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


class Significance(Record):
    """The p-values of a difference by test."""

    randomisation: float
    bootstrap: float


class TwoSided(Document, frozen=True, kw_only=True):
    """The head of a difference: why B scores otherwise than A under a measure.

    `names` are what people call A and B, `a` and `b` their scores, 0..1. `interval` is that of the difference; it and
    the p-values are null where the two cannot be compared unit by unit. Of units and answers at most `top` are listed.
    """

    a: float
    b: float
    difference: float
    names: dict[str, str]
    top: int | UnsetType = UNSET
    interval: Interval | None
    p: Significance | None
    resampling: Resampling | None
    notes: tuple[Note, ...]
    signatures: dict[str, str]
    origins: dict[str, Origin]


def heading(difference: TwoSided, what: str, width: int, title: str) -> list[str]:
    """The scores of both sides (`what` says what they are of), the difference with its interval, the notes."""
    sides = [(side, f"{score:.4f}", cell(difference.names[side.lower()], 40)) for side, score in
             zip("AB", (difference.a, difference.b))]  # fmt: skip
    rows = [("", "score", what), *sides, ("B - A", f"{difference.difference:+.4f}", "")]
    lines = [title, *aligned(rows, (False, True, False))]
    if difference.interval is not None and difference.p is not None and difference.resampling is not None:
        limits = (difference.interval.low, difference.interval.high)
        low, high = ("-" if limit is None else f"{limit:+.4f}" for limit in limits)
        tests = ", ".join(f"{p:.4f} ({test})" for test, p in asdict(difference.p).items())
        settings = difference.resampling
        kind = f"{settings.confidence:g} % {settings.method} bootstrap interval"
        lines += wrap(f"{kind} of B - A: {low} to {high}; p {tests}", width)
    return [*lines, *(line for note in sentences(difference.notes) for line in wrap(one_line(note), width))]


def as_builtins(document: Any, top: int | None = None) -> Mapping[str, Any]:
    """A document as it is written as JSON."""
    if hasattr(document, "as_json"):
        found: Mapping[str, Any] = document.as_json() if top is None else document.as_json(top)
        return found
    return dict(to_builtins(document))


def json_text(value: Mapping[str, object]) -> Iterator[str]:
    """A JSON object in pieces, a line for each of its keys and for each item of a list; ASCII only."""
    for at, (key, content) in enumerate(value.items()):
        yield f"{',' if at else '{'}\n{json.dumps(key)}: "
        if isinstance(content, list | tuple) and content:
            yield from (f"{',' if row else '['}\n {json.dumps(item)}" for row, item in enumerate(content))
            yield "\n]"
        else:
            yield json.dumps(content)
    yield "\n}\n"
