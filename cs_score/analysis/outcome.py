"""How two results fared with the same thing: an answer, a fact, an abstract."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

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
